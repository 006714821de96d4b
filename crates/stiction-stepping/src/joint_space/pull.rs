//! Rotors, dampers, springs and motors along a freedom: inertia and force.

use nalgebra::Vector3;
use stiction_multibody::{Joint, JointDof, Model, Motor};

use super::Driven;
use crate::reduced::Reduced;

/// Inertia c and force f₀ along a freedom.   [DRIVE-2]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pull {
    /// A, the part of `inertia` that acts in no time too.
    pub(crate) rotor: f64,
    /// c.
    pub(crate) inertia: f64,
    /// f₀.
    pub(crate) force: f64,
}

impl Pull {
    /// Of what the freedom itself has, at a coordinate and rate.
    pub(super) fn of_joint_dof(joint_dof: &JointDof, (coordinate, rate): (f64, f64), h: f64) -> Self {
        let JointDof { stiffness: k, damping: d, armature, rest, .. } = *joint_dof;
        Self {
            rotor: armature,
            inertia: armature + h * d + h * h * k,
            force: -k * (coordinate + h * rate - rest) - d * rate,
        }
    }

    /// Adds a motor without a row of its own.   [DRIVE-3]
    fn add_motor(&mut self, motor: &Motor, (coordinate, rate): (f64, f64), (time, h): (f64, f64)) {
        let Force { constant, slope } = Force::of(motor, coordinate, time, h);
        if slope < 0.0 {
            self.inertia -= h * slope;
            self.force += constant + slope * rate;
            return;
        }
        // What pushes with its speed is not stable at any step, and not taken at its end; then limits of its force are known too.
        let [least, most] = bounds(motor, 1.0);
        self.force += (constant + slope * rate).clamp(least, most);
    }
}

/// The force F₀ + F₁ φ̇⁺ of a motor at a freedom, before it is clamped.   [DRIVE-3]
pub(super) struct Force {
    pub(super) constant: f64,
    pub(super) slope: f64,
}

impl Force {
    pub(super) fn of(motor: &Motor, coordinate: f64, time: f64, h: f64) -> Self {
        let mut control = motor.control.value(time);
        if let Some([least, most]) = motor.control_limits {
            // `clamp` hands on what is no number, and `prepare` refuses it.
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

/// The limits of a motor's force at the freedom, times a number.
pub(super) fn bounds(motor: &Motor, factor: f64) -> [f64; 2] {
    motor.force_limits.map_or([f64::NEG_INFINITY, f64::INFINITY], |limits| {
        let [x, y] = limits.map(|force| factor * motor.gear * force);
        [x.min(y), x.max(y)]
    })
}

/// Whether limits of force make a row of a motor: those of a force that does not follow the motion are known before.
pub(super) fn is_clamped(motor: &Motor, h: f64) -> bool {
    motor.force_limits.is_some() && slope(motor, h) < 0.0
}

/// Everything along a freedom but what has rows.
pub(super) fn pull(model: &Model, joint: &Joint, driven: &Driven, (time, h): (f64, f64)) -> Pull {
    let at = (driven.coordinate, driven.rate);
    let mut pull = joint.joint_dofs().get(driven.id.1).map_or_else(Pull::default, |f| Pull::of_joint_dof(f, at, h));
    for motor in model.motors_along(driven.place).filter(|motor| !is_clamped(motor, h)) {
        pull.add_motor(motor, at, (time, h));
    }
    pull
}

/// The same of one axis of a spherical joint that has turned by `turned` about it, and turns with `rate`.
pub(super) fn pull_about(joint_dof: &JointDof, (turned, rate): (f64, f64), h: f64) -> Pull {
    // The spring pulls the two frames together: what a single number calls its rest has no meaning about three axes.
    Pull::of_joint_dof(&JointDof { rest: 0.0, ..*joint_dof }, (turned, rate), h)
}

/// Rotor, damper and spring of a spherical joint of the forest, about all axes of the link.
pub(super) fn pull_ball((model, joint): (&Model, &Joint), first: usize, h: f64, reduced: &mut Reduced) {
    let Some(joint_dof) = joint.joint_dofs().first() else { return };
    let turned: Vector3<f64> = reduced.ball_turn(model.forest(), first);
    for (k, turned) in (first..).zip(turned.iter()) {
        let rate = reduced.before.get(k).copied().unwrap_or(0.0);
        reduced.add_pull(k, &pull_about(joint_dof, (*turned, rate), h));
    }
}
