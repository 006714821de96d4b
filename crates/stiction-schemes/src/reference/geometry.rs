//! Contacts at one configuration: contact points and relative velocities.

use nalgebra::{Point3, Vector3};
use stiction_geometry::ContactPoint;
use stiction_multibody::{BodyId, Configuration, ContactId, Dimension, Model, Wrench};

use stiction_stepping::{Detector, StepCause, stages::tangents};

/// Pair of features that touch or may touch soon, with the velocities at the time of detection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) id: ContactId,
    pub(super) a: BodyId,
    pub(super) b: BodyId,
    pub(super) point: Point3<f64>,
    pub(super) arm_a: Vector3<f64>,
    pub(super) arm_b: Vector3<f64>,
    pub(super) normal: Vector3<f64>,
    /// Tangents as long as the semi-axes of the friction ellipse.
    pub(super) tangents: [Vector3<f64>; 2],
    pub(super) gap: f64,
    pub(super) mu: f64,
    pub(super) torsion: f64,
    pub(super) restitution: f64,
    /// Number of friction rows: none, the tangent of the plane, two in space, three with torsion.
    pub(super) friction_rows: usize,
    /// Velocity of surface b against surface a, belts included.
    pub(super) relative: Vector3<f64>,
    /// Angular velocity of b against a.
    pub(super) turning: Vector3<f64>,
}

impl Touch {
    /// n · (v_b − v_a), the rate of the gap.
    pub(super) fn opening(&self) -> f64 {
        self.normal.dot(&self.relative)
    }

    /// Slip in the scaled rows of the friction ellipsoid, as many components as there are friction rows.   [FRIC-3]
    pub(super) fn slip(&self) -> [f64; 3] {
        let [t, o] = &self.tangents;
        let all = [t.dot(&self.relative), o.dot(&self.relative), self.torsion * self.normal.dot(&self.turning)];
        std::array::from_fn(|k| if k < self.friction_rows { all[k] } else { 0.0 })
    }

    /// Wrenches of its rows: the normal, then the friction rows.   [STEP-7]
    pub(super) fn rows(&self) -> impl Iterator<Item = (Wrench, Wrench)> {
        let along = |d: Vector3<f64>| (Wrench::of_force(-d, &self.arm_a), Wrench::of_force(d, &self.arm_b));
        let [t, o] = self.tangents;
        let spin = self.normal * self.torsion;
        let all = [along(self.normal), along(t), along(o), (Wrench::of_torque(-spin), Wrench::of_torque(spin))];
        all.into_iter().take(1 + self.friction_rows)
    }
}

/// Detects contacts.
pub(super) struct ContactFinder<'a> {
    pub(super) model: &'a Model,
    pub(super) detector: &'a mut dyn Detector,
    points: Vec<ContactPoint>,
}

impl<'a> ContactFinder<'a> {
    pub(super) fn new(model: &'a Model, detector: &'a mut dyn Detector) -> Self {
        Self { model, detector, points: Vec::new() }
    }

    /// Pairs of shapes whose boxes come within `margin` of each other.
    pub(super) fn pairs(&mut self, at: &Configuration, margin: f64) -> Vec<(usize, usize)> {
        let model = self.model;
        let boxes: Vec<_> = model
            .shapes()
            .map(|(_, body, shape)| shape.shape.aabb(&(at.pose(body) * shape.local)).map(|b| b.padded(0.5 * margin)))
            .collect();
        let mut pairs = Vec::new();
        self.detector.pairs(&boxes, &|i, j| model.shapes_may_collide(i, j), &mut pairs);
        pairs
    }

    /// Contacts of these pairs with a gap up to `margin`, in the order of their ids.
    pub(super) fn touches(
        &mut self,
        at: &Configuration,
        time: f64,
        pairs: &[(usize, usize)],
        margin: f64,
    ) -> Result<Vec<Touch>, StepCause> {
        let mut found = Vec::new();
        for &(i, j) in pairs {
            let model = self.model;
            debug_assert!(model.shape(i).is_some() && model.shape(j).is_some(), "shapes {i} and {j} exist");
            let (Some((shape_a, a, on_a)), Some((shape_b, b, on_b))) = (model.shape(i), model.shape(j)) else {
                continue;
            };
            self.points.clear();
            let (pose_a, pose_b) = (at.pose(a) * on_a.local, at.pose(b) * on_b.local);
            self.detector.contacts((&on_a.shape, &pose_a), (&on_b.shape, &pose_b), margin, &mut self.points)?;
            model.drop_contacts_inside_unions((i, &pose_a), (j, &pose_b), &mut self.points);
            for point in &self.points {
                let id = ContactId { shape_a, shape_b, feature: point.feature };
                found.push(touch(model, at, time, (id, a, b), point));
            }
        }
        found.sort_unstable_by_key(|touch| touch.id);
        Ok(found)
    }
}

fn touch(
    model: &Model,
    at: &Configuration,
    time: f64,
    (id, a, b): (ContactId, BodyId, BodyId),
    point: &ContactPoint,
) -> Touch {
    let rule = model.contact_rule(a, b);
    let (arm_a, arm_b) =
        (point.point_a.coords - at.pose(a).translation.vector, point.point_b.coords - at.pose(b).translation.vector);
    let (twist_a, twist_b) = (at.twist(a), at.twist(b));
    let friction_rows = match (rule.friction > 0.0, model.dimension()) {
        (false, _) => 0,
        (true, Dimension::Planar) => 1,
        (true, _) => 2 + usize::from(rule.torsion > 0.0),
    };
    Touch {
        id,
        a,
        b,
        point: point.point_b,
        arm_a,
        arm_b,
        normal: point.normal.into_inner(),
        tangents: tangents(&point.normal, rule, model.dimension(), at),
        gap: point.gap,
        mu: rule.friction,
        torsion: rule.torsion,
        restitution: rule.restitution,
        friction_rows,
        relative: twist_b.at(&arm_b) + belt(model, b, time) - twist_a.at(&arm_a) - belt(model, a, time),
        turning: twist_b.angular - twist_a.angular,
    }
}

/// Velocity of a surface relative to its body.
fn belt(model: &Model, id: BodyId, time: f64) -> Vector3<f64> {
    let belt = model.body(id).and_then(|body| body.surface_velocity.as_ref());
    belt.map_or_else(Vector3::zeros, |belt| Vector3::from_fn(|k, _| belt[k].value(time)))
}
