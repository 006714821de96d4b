//! Formulation of the problem and extraction of its solution.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by panicking")]

mod cone;
mod failures;
mod polygon;
mod slack;
mod warm_start;
mod working_set;

use nalgebra::Vector3;
use stiction_multibody::{BodyBuilder, BodyId, Dimension, JointDof, JointKind, Model};

use crate::tests::support::{Case, builder, disc, floor, friction};
use crate::{Coordinates, FrictionSet, Margin, Scheme};

pub(crate) const COORDINATES: [Coordinates; 3] =
    [Coordinates::Maximal, Coordinates::Reduced, Coordinates::DivideAndConquer];

pub(crate) const FRICTION_SETS: [FrictionSet; 3] = [FrictionSet::Quadratic, FrictionSet::Polygon, FrictionSet::Box];

/// Arm of two links with a spring, dry friction and a limit, over a floor, and a free disc on the floor that overlaps it a little.
pub(crate) fn arm() -> Model {
    let mut builder = builder(Dimension::Planar, friction(0.4));
    builder.body(BodyBuilder::fixed("floor").shape(floor(Dimension::Planar))).unwrap();
    let upper = builder.body(BodyBuilder::planar("upper", 1.5, 0.1).position(0.5, 1.0, 0.0)).unwrap();
    let lower = builder.body(disc("lower", 2.0, 0.3).position(1.2, 0.3, 0.0)).unwrap();
    builder.body(disc("disc", 0.7, 0.25).position(1.7472, 0.25, 0.0)).unwrap();
    let mut hinge = |name: &str, bodies, x: f64| {
        builder.joint_at(name, JointKind::Revolute, bodies, Vector3::new(x, 1.0, 0.0), Vector3::z()).unwrap()
    };
    let shoulder = hinge("shoulder", (BodyId::WORLD, upper), 0.0);
    let elbow = hinge("elbow", (upper, lower), 1.0);
    let spring = JointDof { stiffness: 20.0, damping: 0.5, armature: 0.05, rest: 0.3, ..JointDof::default() };
    builder.joint_dof((shoulder, 0), spring).unwrap();
    let limited = JointDof { limits: Some([-0.5, 0.0]), friction: 0.3, ..JointDof::default() };
    builder.joint_dof((elbow, 0), limited).unwrap();
    builder.build().unwrap()
}

pub(crate) fn arm_case(coordinates: Coordinates, friction: FrictionSet) -> Case {
    let scheme = Scheme { coordinates, friction, margin: Margin::Fixed(0.05), ..Scheme::default() };
    Case::new(arm(), scheme, 0.01)
}
