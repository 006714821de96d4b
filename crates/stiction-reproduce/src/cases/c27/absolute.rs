//! The pendulum advanced in the velocity of P1 and the angular velocities of both bodies, which are not those of the tree. In
//! these velocities the errors of an independent implementation are known to three digits.

use nalgebra::{Rotation3, UnitQuaternion, Vector3};
use stiction::multibody::rotation::from_rotation_vector;

use crate::cases::space_pendulum::Pendulum;
use crate::{CaseError, Reference};

/// Orientations of both bodies in the world, their angular velocities in body axes, and the pendulum that is set to them.
pub(super) struct Absolute {
    pendulum: Pendulum,
    e: [UnitQuaternion<f64>; 2],
    omega: [Vector3<f64>; 2],
}

impl Absolute {
    pub(super) fn new(case: &Reference, part: &str) -> Result<Self, CaseError> {
        let mut pendulum = Pendulum::new(case, part)?;
        let [a, b] = pendulum.orientations().map(|turn| UnitQuaternion::from_rotation_matrix(&turn));
        Ok(Self { pendulum, e: [a, a * b], omega: [Vector3::zeros(); 2] })
    }

    /// ω_B = Rᵀ ω_A + ω with R and ω the relative orientation and angular velocity; its derivative contains −ω × Rᵀ ω_A, which the
    /// tree has as a velocity product.
    fn step(&mut self, h: f64) -> Result<(), CaseError> {
        let relative = self.e[0].inverse() * self.e[1];
        let carried = relative.inverse() * self.omega[0];
        let turning = self.omega[1] - carried;
        self.pendulum.set([self.e[0], relative], [self.omega[0], turning]);
        let _ = self.pendulum.step(h)?;
        let [first, second] = self.pendulum.angular_velocities();
        self.omega = [first, relative.inverse() * first + second - turning.cross(&carried) * h];
        for (e, omega) in self.e.iter_mut().zip(&self.omega) {
            *e *= from_rotation_vector(&(omega * h));
        }
        Ok(())
    }

    pub(super) fn run_to(&mut self, end: f64, h: f64) -> Result<(), CaseError> {
        while self.pendulum.state.time < end - 0.5 * h {
            self.step(h)?;
        }
        Ok(())
    }

    pub(super) fn p1(&self) -> Vector3<f64> {
        self.pendulum.p1()
    }

    /// Orientation of a, and of b relative to a.
    pub(super) fn orientations(&self) -> [Rotation3<f64>; 2] {
        [self.e[0], self.e[0].inverse() * self.e[1]].map(UnitQuaternion::to_rotation_matrix)
    }

    /// Centre of mass of the two rods, which have equal mass.
    pub(super) fn centre(&self) -> Vector3<f64> {
        let along = Vector3::z() * self.pendulum.length();
        self.p1() - self.e[0] * along * 0.75 - self.e[1] * along * 0.25
    }
}
