//! The elementary constraints joints are made of: coincidence, offset, perpendicularity and distance.
//!
//! p_a and p_b are the origins of the joint frames on the two bodies, aᵢ and bⱼ their axes, all in world coordinates. Rows
//! are wrenches: the rate of Φ is the power of the row's wrenches on the twists of the bodies, Φ̇ = w_a · ν_a + w_b · ν_b.
//! The term of a prescribed body is its part of ∂Φ/∂t.

use nalgebra::{Matrix3, Vector3};

use super::Joint;
use crate::{Configuration, Twist, Wrench};

/// One scalar constraint. Numbers are axes: 0, 1, 2 for x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// Φ = e · (p_b − p_a) along a world axis.   [JOINT-1]
    Coincide(usize),
    /// Φ = aᵢ · (p_b − p_a): no motion of b along an axis of a.   [JOINT-2]
    Offset(usize),
    /// Φ = aᵢ · bⱼ: the axes stay perpendicular.   [JOINT-3]
    Perpendicular(usize, usize),
    /// Φ = |p_b − p_a| − L.   [JOINT-4]
    Distance,
}

/// A constraint evaluated: its error and its Jacobian as wrenches on the two bodies, Φ̇ = w_a · ν_a + w_b · ν_b.   [JOINT-5]
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Φ.
    pub value: f64,
    /// The wrench of a unit multiplier on the first body.
    pub a: Wrench,
    /// The wrench of a unit multiplier on the second body.
    pub b: Wrench,
}

/// The joint frames of one joint in world coordinates.
pub(crate) struct Frames {
    /// Arms from the body reference points to p_a and p_b.
    arm_a: Vector3<f64>,
    arm_b: Vector3<f64>,
    /// p_b − p_a.
    between: Vector3<f64>,
    /// Arm from the reference point of body a to p_b.
    arm_a_to_b: Vector3<f64>,
    pub(super) axes_a: Matrix3<f64>,
    pub(super) axes_b: Matrix3<f64>,
}

impl Frames {
    pub(crate) fn new(joint: &Joint, at: &Configuration) -> Self {
        let (pose_a, pose_b) = (at.pose(joint.a.0), at.pose(joint.b.0));
        let (frame_a, frame_b) = (&joint.a.1, &joint.b.1);
        let arm_a = pose_a.rotation * frame_a.translation.vector;
        let arm_b = pose_b.rotation * frame_b.translation.vector;
        let between = pose_b.translation.vector + arm_b - pose_a.translation.vector - arm_a;
        Self {
            arm_a,
            arm_b,
            between,
            arm_a_to_b: arm_a + between,
            axes_a: *(pose_a.rotation * frame_a.rotation).matrix(),
            axes_b: *(pose_b.rotation * frame_b.rotation).matrix(),
        }
    }
}

impl Constraint {
    /// Its row; `rest` is the length L of a distance.
    pub(crate) fn evaluate(self, at: &Frames, rest: f64) -> Row {
        match self {
            Self::Coincide(axis) => along(Vector3::ith(axis, 1.0), at),
            Self::Offset(axis) => offset(axis, at),
            Self::Perpendicular(i, j) => {
                let (u, w): (Vector3<f64>, Vector3<f64>) = (at.axes_a.column(i).into(), at.axes_b.column(j).into());
                let torque = u.cross(&w);
                Row { value: u.dot(&w), a: Wrench::of_torque(torque), b: Wrench::of_torque(-torque) }
            }
            Self::Distance => {
                let length = at.between.norm();
                // Coincident points have no direction. Any direction keeps the row finite; x is chosen.
                let u = if length > 0.0 { at.between / length } else { Vector3::x() };
                Row { value: length - rest, ..along(u, at) }
            }
        }
    }
}

impl Constraint {
    /// First-order change of the wrenches of its row under small displacements and rotations of the bodies.   [JOINT-7]
    pub(crate) fn change(self, at: &Frames, (a, b): (&Twist, &Twist)) -> (Wrench, Wrench) {
        let (arm_a, arm_b) = (a.angular.cross(&at.arm_a), b.angular.cross(&at.arm_b));
        let between = b.linear + arm_b - a.linear - arm_a;
        // δ(r × f) = δr × f + r × δf.
        let force = |f: &Vector3<f64>, df: Vector3<f64>, arm: &Vector3<f64>, d_arm: &Vector3<f64>| Wrench {
            linear: df,
            angular: d_arm.cross(f) + arm.cross(&df),
        };
        let both =
            |d: &Vector3<f64>, dd: Vector3<f64>| (force(&-d, -dd, &at.arm_a, &arm_a), force(d, dd, &at.arm_b, &arm_b));
        match self {
            Self::Coincide(axis) => both(&Vector3::ith(axis, 1.0), Vector3::zeros()),
            Self::Offset(axis) => {
                let d: Vector3<f64> = at.axes_a.column(axis).into();
                let dd = a.angular.cross(&d);
                (force(&-d, -dd, &at.arm_a_to_b, &(arm_a + between)), force(&d, dd, &at.arm_b, &arm_b))
            }
            Self::Perpendicular(i, j) => {
                let (u, w): (Vector3<f64>, Vector3<f64>) = (at.axes_a.column(i).into(), at.axes_b.column(j).into());
                let torque = a.angular.cross(&u).cross(&w) + u.cross(&b.angular.cross(&w));
                (Wrench::of_torque(torque), Wrench::of_torque(-torque))
            }
            Self::Distance => {
                let length = at.between.norm();
                if length == 0.0 {
                    return Default::default();
                }
                let u = at.between / length;
                both(&u, (between - u * u.dot(&between)) / length)
            }
        }
    }
}

/// Row of Φ = aᵢ · (p_b − p_a). The axis rotates with body a, so the reaction on a acts at p_b.
pub(super) fn offset(axis: usize, at: &Frames) -> Row {
    let d: Vector3<f64> = at.axes_a.column(axis).into();
    Row { value: d.dot(&at.between), a: Wrench::of_force(-d, &at.arm_a_to_b), b: Wrench::of_force(d, &at.arm_b) }
}

/// Row of Φ = d · (p_b − p_a) for a direction d that does not rotate with the bodies.
fn along(d: Vector3<f64>, at: &Frames) -> Row {
    Row { value: d.dot(&at.between), a: Wrench::of_force(-d, &at.arm_a), b: Wrench::of_force(d, &at.arm_b) }
}
