//! Rotors, dampers, springs and motors along a joint DOF as inertia and force.

use nalgebra::Vector3;
use stiction_multibody::{Joint, JointDof, Model, Motor, Wrench};

use crate::{
    Start, Workspace,
    joint_space_dof::{ImplicitForce, JointSpaceDof},
    rates::side_rate,
    reduced::Reduced,
};

impl ImplicitForce {
    /// Force of armature, damper and spring of the DOF itself, at a coordinate and rate.
    pub(super) fn of_joint_dof(joint_dof: &JointDof, (coordinate, rate): (f64, f64), h: f64) -> Self {
        let JointDof { stiffness: k, damping: d, armature, rest, .. } = *joint_dof;
        Self {
            rotor: armature,
            inertia: armature + h * d + h * h * k,
            force: -k * (coordinate + h * rate - rest) - d * rate,
        }
    }

    /// Adds a motor that needs no row.   [JSPACE-3]
    fn add_motor(&mut self, motor: &Motor, (coordinate, rate): (f64, f64), (time, h): (f64, f64)) {
        let MotorForce { constant, slope } = MotorForce::of(motor, coordinate, time, h);
        if slope < 0.0 {
            self.inertia -= h * slope;
            self.force += constant + slope * rate;
            return;
        }
        // A force that grows with the rate is unstable at any step size and is treated explicitly; its limits then apply directly.
        let [least, most] = bounds(motor, 1.0);
        self.force += (constant + slope * rate).clamp(least, most);
    }
}

/// Force F₀ + F₁ φ̇⁺ of a motor at a joint DOF, before its limits.   [JSPACE-3]
pub(super) struct MotorForce {
    pub(super) constant: f64,
    pub(super) slope: f64,
}

impl MotorForce {
    pub(super) fn of(motor: &Motor, coordinate: f64, time: f64, h: f64) -> Self {
        let mut control = motor.control.value(time);
        if let Some([least, most]) = motor.control_limits {
            // `clamp` passes NaN on, and `prepare` rejects it.
            control = control.clamp(least, most);
        }
        let ([b0, b1, _], gear) = (motor.bias, motor.gear);
        Self { constant: gear * (motor.gain * control + b0 + b1 * gear * coordinate), slope: slope(motor, h) }
    }
}

fn slope(motor: &Motor, h: f64) -> f64 {
    let [_, b1, b2] = motor.bias;
    motor.gear * motor.gear * (b1 * h + b2)
}

/// Limits of a motor's force at the joint DOF, times a factor.
pub(super) fn bounds(motor: &Motor, factor: f64) -> [f64; 2] {
    motor.force_limits.map_or([f64::NEG_INFINITY, f64::INFINITY], |limits| {
        let [x, y] = limits.map(|force| factor * motor.gear * force);
        [x.min(y), x.max(y)]
    })
}

/// True if the force limits of a motor need a row; those of an explicit force do not.
pub(super) fn is_clamped(motor: &Motor, h: f64) -> bool {
    motor.force_limits.is_some() && slope(motor, h) < 0.0
}

/// Total force along a DOF, without motors that need rows.
pub(super) fn implicit_force(
    model: &Model,
    joint: &Joint,
    actuated: &JointSpaceDof,
    (time, h): (f64, f64),
) -> ImplicitForce {
    let at = (actuated.coordinate, actuated.rate);
    let mut implicit_force = joint
        .joint_dofs()
        .get(actuated.id.1)
        .map_or_else(ImplicitForce::default, |f| ImplicitForce::of_joint_dof(f, at, h));
    for motor in model.motors_along(actuated.place).filter(|motor| !is_clamped(motor, h)) {
        implicit_force.add_motor(motor, at, (time, h));
    }
    implicit_force
}

/// Force about one axis of a spherical joint that has turned by `turned` about it and turns with `rate`.
fn implicit_force_about(joint_dof: &JointDof, (turned, rate): (f64, f64), h: f64) -> ImplicitForce {
    // The spring acts towards coincident frames: a scalar rest angle is meaningless about three axes.
    ImplicitForce::of_joint_dof(&JointDof { rest: 0.0, ..*joint_dof }, (turned, rate), h)
}

/// Total force along a DOF at a coordinate and rate that are known, and the inertia of its rotor.   [STEP-18]
pub(super) fn explicit_force(
    model: &Model,
    joint: &Joint,
    (actuated, at): (&JointSpaceDof, (f64, f64)),
    time: f64,
) -> ImplicitForce {
    let joint_dof = joint.joint_dofs().get(actuated.id.1).copied().unwrap_or_default();
    let passive = explicit(&joint_dof, at);
    let of_motor = |motor: &Motor| {
        let MotorForce { constant, slope } = MotorForce::of(motor, at.0, time, 0.0);
        let [least, most] = bounds(motor, 1.0);
        (constant + slope * at.1).clamp(least, most)
    };
    let motors: f64 = model.motors_along(actuated.place).map(of_motor).sum();
    ImplicitForce { force: passive.force + motors, ..passive }
}

/// Force of spring and damper at a coordinate and rate that are known, and the inertia of the rotor.
fn explicit(joint_dof: &JointDof, at: (f64, f64)) -> ImplicitForce {
    let armature = joint_dof.armature;
    ImplicitForce { inertia: armature, ..ImplicitForce::of_joint_dof(joint_dof, at, 0.0) }
}

/// Force about one axis of a spherical joint, as the kick has it.
///
/// `at` is the rotation about the axis and its rate at the start of the kick, `rate` that with which the first half of a step moved the joint.
pub(super) fn spherical_force(start: &Start, joint_dof: &JointDof, at: (f64, f64), rate: f64) -> ImplicitForce {
    if start.moves() {
        return implicit_force_about(joint_dof, at, start.force_duration());
    }
    explicit(&JointDof { rest: 0.0, ..*joint_dof }, (at.0 - 0.5 * start.h * rate, rate))
}

/// Torque of spring and damper of a spherical joint on its second body, as the second kick has it, about all axes.   [STEP-18]
pub(super) fn spherical_torque(start: &Start, ws: &Workspace, (joint, number): (&Joint, usize)) -> Vector3<f64> {
    let (Some(row), Some(joint_dof)) = (joint.coordinate(number, &ws.kinematics.start), joint.joint_dofs().get(number))
    else {
        return Vector3::zeros();
    };
    let turned = row.b.angular * (row.value - joint_dof.initial);
    Vector3::from_fn(|axis, _| {
        let about = Wrench::of_torque(Vector3::ith(axis, 1.0));
        let rate_of = |body, wrench: &Wrench| side_rate(start.model, &ws.solution.velocity, body, wrench);
        let rate = rate_of(joint.b.0, &about) - rate_of(joint.a.0, &about);
        spherical_force(start, joint_dof, (turned[axis], rate), rate).force
    })
}

/// Adds rotor, damper and spring of a spherical joint of the forest, about all axes of the link.
pub(super) fn add_spherical_force(start: &Start, joint: &Joint, first: usize, reduced: &mut Reduced) {
    let Some(joint_dof) = joint.joint_dofs().first() else { return };
    let turned: Vector3<f64> = reduced.spherical_rotation_vector(start.model.forest(), first);
    for (k, turned) in (first..).zip(turned.iter()) {
        let of = |v: &[f64]| v.get(k).copied().unwrap_or(0.0);
        let force = spherical_force(start, joint_dof, (*turned, of(&reduced.before)), of(&reduced.velocity));
        reduced.add_implicit_force(k, &force);
    }
}
