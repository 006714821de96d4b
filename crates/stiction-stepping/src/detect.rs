//! Detection of the contacts within reach of the step.

use nalgebra::Vector3;
use stiction_geometry::{ContactPoint, Pose, chains};
use stiction_multibody::{
    BodyId, BodyKind, Configuration, ContactId, ContactRule, Layer, Model, ShapeId, ShapeOnBody, apply_inverse_mass,
    external_wrenches, limits, mass_block,
};

use crate::{
    Contact, CornerLogic, Detector, Dynamics, Margin, Scheme, Start, StepCause, Workspace, corners, forest,
    joint_space,
    pairs::find_pairs,
    remembered::{self, unfinished_features},
    springs, support_points,
    surface_motion::{is_kinematic, material_displacement, turns_in_first_kick, write_surface_motion},
    tangents::tangents,
    velocity_terms,
};

/// Prepares the workspace for a step: configuration, applied wrenches, reach of bodies.
pub fn prepare(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    let &Start { model, state, h, .. } = start;
    ws.kinematics.start.update(model, &state.q, &state.v, state.time);
    ws.kinematics.before.clone_from(&state.v);
    ws.solution.balanced_step_size = 0.0;
    ws.detection.close_pairs.clear();
    forest::read(start, ws);
    external_wrenches(model, &ws.kinematics.start, state.time, &mut ws.kinematics.applied);
    ws.kinematics.withdrawn.clear();
    springs::prepare(start, ws);
    joint_space::prepare(start, ws)?;
    weigh_forces(start, ws);
    velocity_terms::add(start, ws);
    if let Some(body) = ws.kinematics.applied.iter().position(|w| !(w.linear.sum() + w.angular.sum()).is_finite()) {
        return Err(StepCause::non_finite("applied force", model.bodies().get(body).map(|b| b.name.as_str())));
    }
    forest::accelerate(start, ws)?;
    joint_space::find_leads(start, ws);
    measure_reach(model, h, ws);
    if start.scheme.dynamics == Dynamics::Quasistatic {
        without_inertia(start, ws);
    }
    Ok(())
}

/// Scales all forces to the part that acts.   [STEP-18]
fn weigh_forces(start: &Start, ws: &mut Workspace) {
    let weight = start.force_weight();
    if weight == 1.0 {
        return;
    }
    ws.kinematics.applied.iter_mut().for_each(|wrench| *wrench = wrench.scaled(weight));
    if let Some(reduced) = &mut ws.reduced {
        reduced.forces.tau.iter_mut().for_each(|tau| *tau *= weight);
    }
}

/// Sets the reach of quasistatic bodies, which prescribed bodies push.   [QS-1]
fn without_inertia(start: &Start, ws: &mut Workspace) {
    let &Start { model, state, h, .. } = start;
    let mut pushed = 0.0_f64;
    for &id in model.kinematic_bodies() {
        let Some((body, BodyKind::Kinematic(motion))) = model.body(id).map(|body| (body, &body.kind)) else { continue };
        let (from, to) = (ws.kinematics.start.pose(id), motion.at(state.time_after(h).0).pose());
        let turned = (to.rotation.matrix() - from.rotation.matrix()).norm();
        pushed = pushed.max((to.translation.vector - from.translation.vector).norm() + turned * body.radius());
    }
    for (index, (id, body)) in model.iter_bodies().enumerate() {
        if body.mobility().is_none() {
            continue;
        }
        let twist = ws.kinematics.start.twist(id);
        if let Some(reach) = ws.detection.reach.get_mut(index) {
            let before = (twist.linear.norm() + body.radius() * twist.angular.norm()) * h;
            *reach = before.max(pushed);
        }
    }
}

/// Finds the support points and potential contacts of a step, linearised at q ⊕ h v̂ with the linearisation velocity v̂ in the workspace.
pub fn detect(start: &Start, detector: &mut dyn Detector, ws: &mut Workspace) -> Result<(), StepCause> {
    let &Start { model, scheme, .. } = start;
    configure(start, ws);
    for &id in model.kinematic_bodies() {
        let (pose, twist) = (ws.kinematics.linear_end.pose(id), ws.kinematics.linear_end.twist(id));
        let sum =
            pose.translation.vector.sum() + pose.rotation.matrix().sum() + twist.linear.sum() + twist.angular.sum();
        if !sum.is_finite() {
            return Err(StepCause::non_finite("prescribed motion", model.body(id).map(|b| b.name.as_str())));
        }
    }
    support_points::place(start, ws);
    find_pairs(model, scheme, detector, ws);
    remembered::add_unfinished_pairs(start, &mut ws.detection.pairs);
    narrow_phase(start, detector, ws)
}

/// Updates poses and twists where the constraints are linearised, with prescribed bodies at both ends of the step.
fn configure(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, state, h, .. } = start;
    if let (Some(reduced), false) = (&mut ws.reduced, ws.kinematics.linearisation_velocity.is_empty()) {
        reduced.linearise_ahead(start, (&mut ws.kinematics.predicted, &mut ws.kinematics.linearisation_velocity));
        ws.kinematics.linear_start.update(
            model,
            &ws.kinematics.predicted,
            &ws.kinematics.linearisation_velocity,
            state.time,
        );
    } else if ws.kinematics.linearisation_velocity.is_empty() {
        if let Some(reduced) = &mut ws.reduced {
            reduced.linearise_at_start();
        }
        ws.kinematics.linear_start.copy_from(&ws.kinematics.start);
    } else {
        model.integrate(
            &state.q,
            &ws.kinematics.linearisation_velocity,
            h,
            scheme.orientation,
            &mut ws.kinematics.predicted,
        );
        ws.kinematics.linear_start.update(
            model,
            &ws.kinematics.predicted,
            &ws.kinematics.linearisation_velocity,
            state.time,
        );
    }
    ws.kinematics.linear_end.copy_from(&ws.kinematics.linear_start);
    // The exact time the next step starts from: prescribed displacements must add up.
    ws.kinematics.linear_end.move_prescribed(model, state.time_after(h).0);
}

/// Computes the reach (|v| + |a| h) h of the fastest point of every body; prescribed bodies have none.   [STEP-6]
fn measure_reach(model: &Model, h: f64, ws: &mut Workspace) {
    ws.detection.reach.clear();
    for (index, (id, _)) in model.iter_bodies().enumerate() {
        let radius = model.radius(id);
        let twist = ws.kinematics.start.twist(id);
        if let (Some((mobility, range)), Some(_)) = (model.unknowns(id), &ws.reduced) {
            debug_assert_eq!(ws.free_body_velocities.len(), model.dof(), "v_free of the bodies has all velocities");
            let free = mobility.twist(ws.free_body_velocities.get(range).unwrap_or_default());
            let (change, turn) = (free.linear - twist.linear, free.angular - twist.angular);
            let speed = twist.linear.norm() + radius * twist.angular.norm();
            ws.detection.reach.push((speed + change.norm() + radius * turn.norm()) * h);
            continue;
        }
        let reach = match (mass_block(model, &ws.kinematics.start, index), ws.kinematics.applied.get(index)) {
            (Some((mobility, mass, inertia)), Some(wrench)) => {
                let a = apply_inverse_mass(mobility, mass, &inertia, wrench);
                let speed = twist.linear.norm() + radius * twist.angular.norm();
                let acceleration = a.linear.norm() + radius * a.angular.norm();
                (speed + acceleration * h) * h
            }
            // Prescribed bodies are at their end pose: only the others have to reach them.
            _ => 0.0,
        };
        ws.detection.reach.push(reach);
    }
}

fn narrow_phase(start: &Start, detector: &mut dyn Detector, ws: &mut Workspace) -> Result<(), StepCause> {
    let model = start.model;
    ws.constraints.contacts.clear();
    let pairs = std::mem::take(&mut ws.detection.pairs);
    let owner = |index| model.shape(index).map_or(BodyId::WORLD, |(_, body, _)| body);
    let result = pairs.iter().try_for_each(|&(i, j)| {
        pair_contacts(start, detector, (i, j), ws).map_err(|cause| cause.between(model, (owner(i), owner(j))))
    });
    ws.detection.pairs = pairs;
    result?;
    // Pairs are sorted; within a pair the order of features makes the result independent of the narrow phase.
    ws.constraints.contacts.sort_unstable_by_key(|contact| contact.id);
    let mut contacts = std::mem::take(&mut ws.constraints.contacts);
    let turns = |contact: &Contact| [contact.a, contact.b].into_iter().any(|id| turns_in_first_kick(start, id, ws));
    if contacts.iter().any(turns) {
        springs::find_ahead(start, ws, 0.5 * start.h);
    }
    let written = contacts.iter_mut().try_for_each(|contact| {
        let middle = find_middle(start, detector, contact, ws)?;
        write_surface_motion(start, (contact, middle), ws);
        Ok(())
    });
    ws.constraints.contacts = contacts;
    written?;
    if let Some(bad) = ws.constraints.contacts.iter().find(|c| !(c.gap_end.is_finite() && c.gap_start.is_finite())) {
        return Err(StepCause::non_finite("gap", model.body(bad.a).map(|b| b.name.as_str())));
    }
    forest::drop_immovable(start, ws);
    corners::select_faces(start, ws);
    Ok(())
}

/// Place of a contact in the middle of a step of second order, if the bodies keep their velocities; none if its prescribed velocity does not depend on
/// that, or if the contact is at another feature there.   [STEP-8]
fn find_middle(
    start: &Start,
    detector: &mut dyn Detector,
    contact: &Contact,
    ws: &mut Workspace,
) -> Result<Option<Vector3<f64>>, StepCause> {
    if !turns_in_first_kick(start, contact.a, ws) && !turns_in_first_kick(start, contact.b, ws) {
        return Ok(None);
    }
    let ContactId { shape_a, shape_b, feature } = contact.id;
    let Some(pair) = Pair::new(start, (shape_a.index(), shape_b.index())) else { return Ok(None) };
    let reach = |id: BodyId| ws.detection.reach.get(id.index()).copied().unwrap_or(0.0);
    let moved = displacement(&pair.a, &pair.b, ws);
    let margin = contact.gap_start.abs() + reach(contact.a) + reach(contact.b) + moved;
    let (pose_a, pose_b) = (pair.a.pose(&ws.kinematics.ahead), pair.b.pose(&ws.kinematics.ahead));
    let close = ws.detection.close_pairs.contains(&(shape_a, shape_b));
    let points = &mut ws.detection.points;
    pair.points(start, [&pose_a, &pose_b], (close, margin), (detector, points))?;
    let found = points.iter().find(|point| point.feature == feature);
    Ok(found.map(|point| (point.point_a.coords + point.point_b.coords) * 0.5))
}

/// One of two shapes that may touch.
struct Side<'a> {
    id: ShapeId,
    body: BodyId,
    shape: &'a ShapeOnBody,
}

impl<'a> Side<'a> {
    fn new(model: &'a Model, index: usize) -> Option<Self> {
        let (id, body, shape) = model.shape(index)?;
        Some(Self { id, body, shape })
    }

    fn pose(&self, at: &Configuration) -> Pose {
        at.pose(self.body) * self.shape.local
    }
}

/// Two shapes that may touch, with their contact rule.
struct Pair<'a> {
    a: Side<'a>,
    b: Side<'a>,
    rule: &'a ContactRule,
    layer: Option<Layer>,
    gamma: f64,
    /// True if one of them has prescribed motion.
    prescribed: bool,
    /// True if their impulses act at a common point.   [STEP-17]
    has_common_point: bool,
}

impl<'a> Pair<'a> {
    fn new(start: &Start<'a>, (i, j): (usize, usize)) -> Option<Self> {
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
    fn points(
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

    /// Margin of gaps for contacts, and additional distance for the geometry at the end of the step, m.
    fn margin_and_slack(&self, scheme: &Scheme, ws: &Workspace) -> (f64, f64) {
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
    fn gaps(&self, h: f64, point: &ContactPoint, ws: &Workspace) -> (f64, f64) {
        let gap_start = if self.prescribed { gap_at_start(point, &self.a, &self.b, ws) } else { point.gap };
        let moving = if ws.kinematics.linearisation_velocity.is_empty() { 0.0 } else { h };
        (gap_start, gap_start - moving * approach(point, &self.a, &self.b, ws))
    }

    /// Points of the two bodies at which the impulses act: the surface points, and between two moving bodies a common one, so that the impulses
    /// keep the angular momentum while the gap is open.   [STEP-17]
    fn points_of_impulse(&self, point: &ContactPoint) -> [Vector3<f64>; 2] {
        let [a, b] = [point.point_a.coords, point.point_b.coords];
        if self.has_common_point { [(a + b) * 0.5; 2] } else { [a, b] }
    }

    /// Contact at a point, which may have alternatives.
    #[inline]
    fn contact(
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
            directions: 0..0,
            friction_bounds: 0..0,
        }
    }
}

fn pair_contacts(
    start: &Start,
    detector: &mut dyn Detector,
    pair: (usize, usize),
    ws: &mut Workspace,
) -> Result<(), StepCause> {
    let (model, scheme) = (start.model, start.scheme);
    let (Some(&pose_a), Some(&pose_b)) = (ws.detection.shape_poses.get(pair.0), ws.detection.shape_poses.get(pair.1))
    else {
        return Ok(());
    };
    let Some(pair) = Pair::new(start, pair) else { return Ok(()) };
    let (a, b) = (&pair.a, &pair.b);
    let (margin, slack) = pair.margin_and_slack(scheme, ws);
    let close = ws.detection.close_pairs.contains(&(a.id, b.id));
    pair.points(start, [&pose_a, &pose_b], (close, margin + slack), (detector, &mut ws.detection.points))?;
    if pair.prescribed && !ws.detection.points.is_empty() {
        let wide = margin + slack + displacement(a, b, ws);
        let (pose_a, pose_b) = (a.pose(&ws.kinematics.linear_start), b.pose(&ws.kinematics.linear_start));
        pair.points(start, [&pose_a, &pose_b], (close, wide), (detector, &mut ws.detection.points_start))?;
    }
    let mut contacts = std::mem::take(&mut ws.constraints.contacts);
    let first = contacts.len();
    for chain in chains(&ws.detection.points) {
        // At velocity level only touching contacts count, and alternatives are apart if one of them is.
        let touches = pair.gamma > 0.0 || chain.iter().all(|point| pair.gaps(start.h, point, ws).1 <= margin);
        for point in chain.iter().filter(|_| touches) {
            let (gap_start, _) = pair.gaps(start.h, point, ws);
            contacts.push(pair.contact(model, (point, chain.len() > 1), gap_start, ws));
        }
    }
    let found = add_unfinished_contacts(start, detector, &pair, (&mut contacts, first), ws);
    ws.constraints.contacts = contacts;
    found
}

/// Adds the contacts of a pair that are out of reach but unfinished; those from `first` on belong to the pair.   [SOFT-4] [IMPACT-1]
fn add_unfinished_contacts(
    start: &Start,
    detector: &mut dyn Detector,
    pair: &Pair,
    (contacts, first): (&mut Vec<Contact>, usize),
    ws: &mut Workspace,
) -> Result<(), StepCause> {
    let (a, b) = (&pair.a, &pair.b);
    let is_known = |contacts: &[Contact], feature| contacts.iter().skip(first).any(|c| c.id.feature == feature);
    let unfinished = || unfinished_features(start, (a.id, b.id));
    if !unfinished().any(|feature| !is_known(contacts, feature)) {
        return Ok(());
    }
    let (pose_a, pose_b) = (a.pose(&ws.kinematics.linear_end), b.pose(&ws.kinematics.linear_end));
    pair.points(start, [&pose_a, &pose_b], (false, limits::LENGTH), (detector, &mut ws.detection.points))?;
    for feature in unfinished() {
        let point = ws.detection.points.iter().find(|point| point.feature == feature && !is_known(contacts, feature));
        if let Some(point) = point {
            let (gap_start, _) = pair.gaps(start.h, point, ws);
            contacts.push(pair.contact(start.model, (point, false), gap_start, ws));
        }
    }
    Ok(())
}

/// Normal velocity n · (v_b − v_a) of the dynamic bodies at the linearisation: the rate at which predicted geometry opened the gap.
fn approach(point: &ContactPoint, a: &Side, b: &Side, ws: &Workspace) -> f64 {
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
fn displacement(a: &Side, b: &Side, ws: &Workspace) -> f64 {
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
fn gap_at_start(point: &ContactPoint, a: &Side, b: &Side, ws: &Workspace) -> f64 {
    if let Some(same) = ws.detection.points_start.iter().find(|p| p.feature == point.feature) {
        return same.gap;
    }
    let moved_b = material_displacement(b.body, &point.point_b.coords, ws);
    let moved_a = material_displacement(a.body, &point.point_a.coords, ws);
    point.gap - point.normal.dot(&(moved_b - moved_a))
}
