//! Double pendulum advanced in the velocities of P1 and the angular velocities of both bodies, which are not those of the tree. For them
//! the errors of an independent implementation are known to three digits.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use stiction_multibody::rotation::from_rotation_vector;
use stiction_schemes::HybridState;
use stiction_testkit::{Reference, reference};

use super::pendulum::{Pendulum, angle, rotations_in};

/// Orientations of both bodies, their angular velocities in their own axes, and the pendulum of the tree with this state.
struct Absolute {
    pendulum: Pendulum,
    e: [UnitQuaternion<f64>; 2],
    omega: [Vector3<f64>; 2],
}

fn quaternion(q: &[f64]) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(Quaternion::new(q[0], q[1], q[2], q[3]))
}

impl Absolute {
    fn new(case: &Reference, part: &str) -> Self {
        let pendulum = Pendulum::exact(case, part);
        let first = quaternion(&pendulum.state.q[3..7]);
        let e = [first, first * quaternion(&pendulum.state.q[7..])];
        Self { pendulum, e, omega: [Vector3::zeros(); 2] }
    }

    /// ω_B = Rᵀ ω_A + ω with R and ω the relative orientation and angular velocity. Its derivative has −ω × Rᵀ ω_A, which is a separate
    /// velocity product of the tree.
    fn step(&mut self, h: f64) {
        let relative = self.e[0].inverse() * self.e[1];
        let carried = relative.inverse() * self.omega[0];
        let turning = self.omega[1] - carried;
        let state = &mut self.pendulum.state;
        state.q[3..7].copy_from_slice(&[self.e[0].w, self.e[0].i, self.e[0].j, self.e[0].k]);
        state.q[7..].copy_from_slice(&[relative.w, relative.i, relative.j, relative.k]);
        state.v[3..6].copy_from_slice(self.omega[0].as_slice());
        state.v[6..].copy_from_slice(turning.as_slice());
        self.pendulum.step(h);
        let HybridState { v, .. } = &self.pendulum.state;
        let part = |first: usize| Vector3::new(v[first], v[first + 1], v[first + 2]);
        let first = part(3);
        self.omega = [first, relative.inverse() * first + part(6) - turning.cross(&carried) * h];
        for (e, omega) in self.e.iter_mut().zip(&self.omega) {
            *e *= from_rotation_vector(&(omega * h));
        }
    }

    fn run_to(&mut self, end: f64, h: f64) {
        while self.pendulum.state.time < end - 0.5 * h {
            self.step(h);
        }
    }

    /// Centre of mass of the two rods of length 1.
    fn centre(&self) -> Vector3<f64> {
        self.pendulum.p1() - self.e[0] * Vector3::z() * 0.75 - self.e[1] * Vector3::z() * 0.25
    }
}

#[test]
fn c27_errors_of_an_independent_implementation() {
    let case = reference("c27");
    let row = case.table("derived.sliding.motion").pop().unwrap();
    let exact = rotations_in(&row);
    let close = case.number("tolerance.scheme.rel");
    let agrees = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < close, "{found} {expected}");
    for scheme in case.table("scheme") {
        let mut pendulum = Absolute::new(&case, "sliding");
        pendulum.run_to(row["t"], scheme["h"]);
        let p1 = pendulum.pendulum.p1() - Vector3::new(row["p1_x"], row["p1_y"], 0.0);
        let found = [
            (angle(&pendulum.e[0].to_rotation_matrix(), &exact[0]), "rotation_error_a"),
            (angle(&pendulum.e[1].to_rotation_matrix(), &exact[1]), "rotation_error_b"),
            (p1.norm(), "p1_error"),
        ];
        for (error, name) in found {
            agrees(error, scheme[name]);
        }
    }
    for scheme in case.table("scheme_drift") {
        let mut pendulum = Absolute::new(&case, "drift");
        let start = pendulum.centre();
        for (time, name) in [(1.0, "at_1"), (2.0, "at_2")] {
            pendulum.run_to(time, scheme["h"]);
            agrees(pendulum.centre().x - start.x, scheme[name]);
        }
    }
}
