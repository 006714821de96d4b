//! Poses and twists of the bodies of a model, from its state and from its forest.

mod forest;

use nalgebra::Vector3;
use stiction_geometry::Pose;

use crate::{Body, BodyKind, Configuration, Mobility, Model, Twist, rotation};

impl Configuration {
    /// Computes the poses and twists of all bodies: of dynamic ones from q and v, of kinematic ones from their motion at `t`.
    pub fn update(&mut self, model: &Model, q: &[f64], v: &[f64], t: f64) {
        debug_assert!(q.len() >= model.coordinates(), "q has {} of {} coordinates", q.len(), model.coordinates());
        debug_assert!(v.len() >= model.dof(), "v has {} of {} velocities", v.len(), model.dof());
        debug_assert_eq!(model.layout().len(), model.bodies().len(), "one slot per body");
        self.poses.resize(model.bodies().len(), Pose::identity());
        self.twists.resize(model.bodies().len(), Twist::default());
        let slots = self.poses.iter_mut().zip(&mut self.twists);
        for ((body, range), (pose, twist)) in model.bodies().iter().zip(model.layout()).zip(slots) {
            (*pose, *twist) = match &body.kind {
                BodyKind::Fixed => (fixed_pose(body), Twist::default()),
                BodyKind::Kinematic(motion) => {
                    let sample = motion.at(t);
                    (sample.pose(), sample.twist)
                }
                BodyKind::Dynamic { mobility, .. } => (
                    pose_of(*mobility, q.get(range.q.clone()).unwrap_or_default()),
                    mobility.twist(v.get(range.v.clone()).unwrap_or_default()),
                ),
            };
        }
    }

    /// Moves the kinematic bodies to time `t`; all others keep their pose and twist.
    pub fn move_prescribed(&mut self, model: &Model, t: f64) {
        for &id in model.kinematic_bodies() {
            let Some(BodyKind::Kinematic(motion)) = model.bodies().get(id.index()).map(|b| &b.kind) else {
                debug_assert!(false, "body {} is listed as kinematic, but is not", id.index());
                continue;
            };
            let sample = motion.at(t);
            debug_assert!(id.index() < self.poses.len(), "the configuration is not one of this model");
            if let (Some(pose), Some(twist)) = (self.poses.get_mut(id.index()), self.twists.get_mut(id.index())) {
                (*pose, *twist) = (sample.pose(), sample.twist);
            }
        }
    }
}

fn fixed_pose(body: &Body) -> Pose {
    Pose::from_parts(body.position.into(), body.orientation.to_rotation_matrix())
}

/// Pose of a dynamic body from its coordinates.
fn pose_of(mobility: Mobility, q: &[f64]) -> Pose {
    match (mobility, q) {
        (Mobility::PlanarParticle, &[x, y]) => Pose::translation(x, y, 0.0),
        (Mobility::Planar, &[x, y, angle]) => Pose::from_parts(Vector3::new(x, y, 0.0).into(), rotation::planar(angle)),
        (Mobility::Particle, &[x, y, z]) => Pose::translation(x, y, z),
        (Mobility::Free, &[x, y, z, ..]) => {
            Pose::from_parts(Vector3::new(x, y, z).into(), rotation::quaternion_of(q).to_rotation_matrix())
        }
        _ => Pose::identity(),
    }
}
