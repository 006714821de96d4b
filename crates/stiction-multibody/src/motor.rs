//! Motors and couplings of joints.

use crate::{
    Expression, JointId, ModelError,
    check::{Check, limits},
};

/// A joint DOF: the joint, and the number of the DOF in it.
pub type JointDofId = (JointId, usize);

/// An actuator of a joint DOF with coordinate φ: force = gear · clamp(gain u + b₀ + b₁ gear φ + b₂ gear φ̇).   [JSPACE-3]
#[derive(Clone, Debug)]
pub struct Motor {
    /// Unique name.
    pub name: String,
    /// Joint DOF that it actuates.
    pub joint_dof: JointDofId,
    /// The control u, a function of time.
    pub control: Expression,
    /// Range to which the control is clamped.
    pub control_limits: Option<[f64; 2]>,
    /// Range to which the force before the gear is clamped.
    pub force_limits: Option<[f64; 2]>,
    /// Ratio of motor speed to joint speed.
    pub gear: f64,
    /// Force per control.
    pub gain: f64,
    /// b₀, b₁, b₂: constant force, force per coordinate, and force per speed.
    pub bias: [f64; 3],
}

impl Motor {
    /// A motor with force u.
    pub fn torque(name: impl Into<String>, joint_dof: JointDofId, control: Expression) -> Self {
        Self {
            name: name.into(),
            joint_dof,
            control,
            control_limits: None,
            force_limits: None,
            gear: 1.0,
            gain: 1.0,
            bias: [0.0; 3],
        }
    }

    /// A position servo with the set point u: force k (u − φ) − d φ̇.
    pub fn position(
        name: impl Into<String>,
        joint_dof: JointDofId,
        control: Expression,
        (stiffness, damping): (f64, f64),
    ) -> Self {
        Self { gain: stiffness, bias: [0.0, -stiffness, -damping], ..Self::torque(name, joint_dof, control) }
    }

    /// A velocity servo with the set point u: force k (u − φ̇).
    pub fn velocity(name: impl Into<String>, joint_dof: JointDofId, control: Expression, gain: f64) -> Self {
        Self { gain, bias: [0.0, 0.0, -gain], ..Self::torque(name, joint_dof, control) }
    }

    /// Force along its joint DOF at a coordinate and its rate.   [JSPACE-3]
    pub fn force(&self, coordinate: f64, rate: f64, time: f64) -> f64 {
        let clamp = |x: f64, range: Option<[f64; 2]>| range.map_or(x, |[least, most]| x.max(least).min(most));
        let [constant, stiffness, damping] = self.bias;
        let control = clamp(self.control.value(time), self.control_limits);
        let acting = self.gain * control + constant + self.gear * (stiffness * coordinate + damping * rate);
        self.gear * clamp(acting, self.force_limits)
    }

    pub(crate) fn checked(self, check: &Check) -> Result<Self, ModelError> {
        check.bounded("gear", self.gear, limits::LOAD)?;
        check.bounded("gain", self.gain, limits::LOAD)?;
        check.constants("control", std::slice::from_ref(&self.control), limits::LOAD)?;
        self.bias.iter().try_for_each(|&b| check.bounded("bias", b, limits::LOAD).map(drop))?;
        for (field, range) in [("control_limits", self.control_limits), ("force_limits", self.force_limits)] {
            let Some([least, most]) = range else { continue };
            check.bounded(field, least, limits::LOAD)?;
            check.bounded(field, most, limits::LOAD)?;
            if least > most {
                return Err(check.error(field, "must be the least value and then the greatest"));
            }
        }
        Ok(self)
    }
}

/// A coupling of joint DOFs: the follower φ = Σ cₖ ψᵏ of the leader ψ, or φ = c₀ without a leader.   [JSPACE-4]
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// Unique name.
    pub name: String,
    /// Joint DOF that follows.
    pub follower: JointDofId,
    /// Joint DOF that leads.
    pub leader: Option<JointDofId>,
    /// c₀ … c₄.
    pub polynomial: [f64; 5],
}

impl Coupling {
    /// Value of the polynomial at the coordinate of the leader, and its slope.
    pub fn at(&self, leader: f64) -> (f64, f64) {
        self.polynomial.iter().rev().fold((0.0, 0.0), |(value, slope), c| (value * leader + c, slope * leader + value))
    }

    pub(crate) fn checked(self, check: &Check) -> Result<Self, ModelError> {
        self.polynomial.iter().try_for_each(|&c| check.bounded("polynomial", c, limits::LENGTH).map(drop))?;
        Ok(self)
    }
}
