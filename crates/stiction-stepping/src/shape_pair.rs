//! Two shapes that may touch, and their contact points.   [STEP-6]

use nalgebra::Vector3;
use stiction_geometry::{ContactPoint, Pose};
use stiction_multibody::{BodyId, Configuration, ContactId, ContactRule, Layer, Model, ShapeId, ShapeOnBody};

use crate::{
    Contact, CornerLogic, Detector, Margin, Scheme, Start, StepCause, Workspace,
    contact::OverlapLeft,
    surface_motion::{is_kinematic, material_displacement},
    sweep,
    tangents::tangents,
};

/// One of two shapes that may touch.
pub(crate) struct Side<'a> {
    pub(crate) id: ShapeId,
    pub(crate) body: BodyId,
    pub(crate) shape: &'a ShapeOnBody,
}

impl<'a> Side<'a> {
    pub(crate) fn new(model: &'a Model, index: usize) -> Option<Self> {
        let (id, body, shape) = model.shape(index)?;
        Some(Self { id, body, shape })
    }

    pub(crate) fn pose(&self, at: &Configuration) -> Pose {
        at.pose(self.body) * self.shape.local
    }
}

/// Two shapes that may touch, with their contact rule.
pub(crate) struct Pair<'a> {
    pub(crate) a: Side<'a>,
    pub(crate) b: Side<'a>,
    pub(crate) rule: &'a ContactRule,
    pub(crate) layer: Option<Layer>,
    pub(crate) gamma: f64,
    /// True if one of them has prescribed motion.
    pub(crate) prescribed: bool,
    /// True if their impulses act at a common point.   [STEP-17]
    pub(crate) has_common_point: bool,
}

impl<'a> Pair<'a> {
    pub(crate) fn new(start: &Start<'a>, (i, j): (usize, usize)) -> Option<Self> {
        let (model, scheme) = (start.model, start.scheme);
        let (a, b) = (Side::new(model, i)?, Side::new(model, j)?);
        let rule = model.contact_rule(a.body, b.body);
        let gamma = rule.gamma.unwrap_or(scheme.gamma);
        let prescribed = is_kinematic(model, a.body) || is_kinematic(model, b.body);
        let layer = model.layer_by(rule, (a.body, b.body));
        let both_move = model.unknowns(a.body).is_some() && model.unknowns(b.body).is_some();
        let has_common_point = both_move && scheme.has_common_points();
        Some(Self { a, b, rule, layer, gamma, prescribed, has_common_point })
    }

    /// Writes the contact points within a margin at the given poses; those of close pairs in chains where the detector can.
    pub(crate) fn points(
        &self,
        start: &Start,
        [pose_a, pose_b]: [&Pose; 2],
        (close, margin): (bool, f64),
        (detector, out): (&mut dyn Detector, &mut Vec<ContactPoint>),
    ) -> Result<(), StepCause> {
        out.clear();
        let (a, b) = ((&self.a.shape.shape, pose_a), (&self.b.shape.shape, pose_b));
        if close && detector.contacts_in_chains(a, b, margin, out) {
            return Ok(());
        }
        detector.contacts(a, b, margin, out)?;
        if start.scheme.corners != CornerLogic::Conjunctive {
            let (i, j) = (self.a.id.index(), self.b.id.index());
            start.model.drop_contacts_inside_unions((i, pose_a), (j, pose_b), out);
        }
        Ok(())
    }

    /// Writes the contact points at the start of the step of a pair with prescribed motion, whose points at the end are those in the workspace, and corrects
    /// these if a surface has passed through the other one.   [STEP-20]
    pub(crate) fn points_of_prescribed(
        &self,
        start: &Start,
        detector: &mut dyn Detector,
        ends: [&Pose; 2],
        (close, margin, slack): (bool, f64, f64),
        ws: &mut Workspace,
    ) -> Result<(), StepCause> {
        let moved = displacement(&self.a, &self.b, ws);
        let may_pass = self.gamma > 0.0 && moved > 0.0;
        if ws.detection.points.is_empty() && !may_pass {
            return Ok(());
        }
        let wide = margin + slack + moved;
        let at_start = [&self.a, &self.b].map(|side| side.pose(&ws.kinematics.linear_start));
        self.points(start, at_start.each_ref(), (close, wide), (detector, &mut ws.detection.points_start))?;
        if !may_pass || ws.detection.points_start.is_empty() {
            return Ok(());
        }
        let is_empty = ws.detection.points.is_empty();
        if is_empty {
            self.points(start, ends, (close, wide), (detector, &mut ws.detection.points))?;
        }
        let mut points = std::mem::take(&mut ws.detection.points);
        let advance = |at: &ContactPoint| {
            let of = |side: &Side, point: &Vector3<f64>| sweep::displacement_from(side.body, point, ws);
            at.normal.dot(&(of(&self.b, &at.point_b.coords) - of(&self.a, &at.point_a.coords)))
        };
        let has_passed = sweep::take_passed(&mut points, &ws.detection.points_start, margin + slack, advance);
        ws.detection.points = points;
        if is_empty && !has_passed {
            ws.detection.points.clear();
        }
        Ok(())
    }

    /// Margin of gaps for contacts, and additional distance for the geometry at the end of the step, m.
    pub(crate) fn margin_and_slack(&self, scheme: &Scheme, ws: &Workspace) -> (f64, f64) {
        let reach = |side: &Side| ws.detection.reach.get(side.body.index()).copied().unwrap_or(0.0);
        let both = reach(&self.a) + reach(&self.b);
        let margin = match self.rule.margin.map_or(scheme.margin, Margin::Fixed) {
            Margin::Fixed(margin) => margin,
            // At velocity level a contact is either touching or absent.
            Margin::Automatic if self.gamma == 0.0 => scheme.touch_threshold,
            Margin::Automatic => both,
        };
        // A prescribed surface may separate within the step; for γ = 0 its contact at the start counts. Predicted geometry has moved by
        // the reach of the bodies.
        let slack = match (self.gamma == 0.0, !ws.kinematics.linearisation_velocity.is_empty()) {
            (false, _) => 0.0,
            (true, false) if !self.prescribed => 0.0,
            (true, false) => displacement(&self.a, &self.b, ws),
            (true, true) => displacement(&self.a, &self.b, ws) + both,
        };
        (margin, slack)
    }

    /// Gaps ψ with prescribed bodies at the start of the step: at the linearisation, and traced back to q.
    pub(crate) fn gaps(&self, h: f64, point: &ContactPoint, ws: &Workspace) -> (f64, f64) {
        let gap_start = if self.prescribed { gap_at_start(point, &self.a, &self.b, ws) } else { point.gap };
        let moving = if ws.kinematics.linearisation_velocity.is_empty() { 0.0 } else { h };
        (gap_start, gap_start - moving * approach(point, &self.a, &self.b, ws))
    }

    /// Points of the two bodies at which the impulses act: the surface points, and between two moving bodies a common one, so that the impulses
    /// keep the angular momentum while the gap is open.   [STEP-17]
    pub(crate) fn points_of_impulse(&self, point: &ContactPoint) -> [Vector3<f64>; 2] {
        let [a, b] = [point.point_a.coords, point.point_b.coords];
        if self.has_common_point { [(a + b) * 0.5; 2] } else { [a, b] }
    }

    /// Contact at a point, which may have alternatives.
    #[inline]
    pub(crate) fn contact(
        &self,
        model: &Model,
        (point, has_alternatives): (&ContactPoint, bool),
        gap_start: f64,
        ws: &Workspace,
    ) -> Contact {
        let Self { a, b, rule, gamma, .. } = self;
        let points = self.points_of_impulse(point);
        let arm = |of: &Side, point: Vector3<f64>| point - ws.kinematics.linear_end.pose(of.body).translation.vector;
        Contact {
            id: ContactId { shape_a: a.id, shape_b: b.id, feature: point.feature },
            chain: point.chain,
            has_alternatives,
            a: a.body,
            b: b.body,
            point: point.point_b,
            arm_a: arm(a, points[0]),
            arm_b: arm(b, points[1]),
            normal: point.normal.into_inner(),
            gap_start,
            gap_end: point.gap,
            mu: rule.friction,
            tangents: tangents(&point.normal, rule, model.dimension(), &ws.kinematics.linear_end),
            torsion: rule.torsion,
            friction_options: rule.friction_options(),
            restitution: rule.restitution,
            layer: self.layer,
            gamma: *gamma,
            surface_velocity: Vector3::zeros(),
            surface_spin: 0.0,
            surface_rotation: Vector3::zeros(),
            bias: 0.0,
            overlap: OverlapLeft::default(),
            directions: 0..0,
            friction_bounds: 0..0,
        }
    }
}

/// Normal velocity n · (v_b − v_a) of the dynamic bodies at the linearisation: the rate at which predicted geometry opened the gap.
pub(crate) fn approach(point: &ContactPoint, a: &Side, b: &Side, ws: &Workspace) -> f64 {
    let of = |side: &Side, at: &Vector3<f64>| match ws.detection.reach.get(side.body.index()) {
        Some(&reach) if reach > 0.0 => {
            let arm = at - ws.kinematics.linear_end.pose(side.body).translation.vector;
            ws.kinematics.linear_start.twist(side.body).at(&arm)
        }
        // Only dynamic bodies have a reach.
        _ => Vector3::zeros(),
    };
    point.normal.dot(&(of(b, &point.point_b.coords) - of(a, &point.point_a.coords)))
}

/// Upper bound of the displacement of the prescribed surfaces of a pair near the other shape, from the poses at both ends.
pub(crate) fn displacement(a: &Side, b: &Side, ws: &Workspace) -> f64 {
    let centre = b.pose(&ws.kinematics.linear_end).translation.vector;
    let centre_a = a.pose(&ws.kinematics.linear_end).translation.vector;
    let size = |s: &Side| s.shape.radius().unwrap_or(0.0);
    let moved = |body: BodyId, near: &Vector3<f64>| material_displacement(body, near, ws).norm();
    let turned = |body: BodyId| {
        (ws.kinematics.linear_end.pose(body).rotation.matrix()
            - ws.kinematics.linear_start.pose(body).rotation.matrix())
        .norm()
    };
    moved(a.body, &centre) + turned(a.body) * size(b) + moved(b.body, &centre_a) + turned(b.body) * size(a)
}

/// Gap ψ(q, t) of the features that meet at the end of the step.
///
/// The gap of features that do not meet at its start is traced back along the normal: ψ(q, t⁺) − n · (Δx_b − Δx_a).
pub(crate) fn gap_at_start(point: &ContactPoint, a: &Side, b: &Side, ws: &Workspace) -> f64 {
    if let Some(same) = ws.detection.points_start.iter().find(|p| p.feature == point.feature) {
        return same.gap;
    }
    let moved_b = material_displacement(b.body, &point.point_b.coords, ws);
    let moved_a = material_displacement(a.body, &point.point_a.coords, ws);
    point.gap - point.normal.dot(&(moved_b - moved_a))
}
