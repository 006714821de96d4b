//! The penalty model for comparison with exact contact: a planar box on an undamped spring at its deepest vertex.
//!
//! In a flat drop both lower vertices are equally deep. The first one (the left) then carries the load, as in every program that
//! uses the deepest vertex; that choice starts the rocking.

use crate::{CaseError, Reference};

/// A box and its spring.
#[derive(Clone, Copy, Debug)]
pub(super) struct PenaltyBox {
    half: [f64; 2],
    mass: f64,
    stiffness: f64,
    gravity: f64,
    /// Height of the centre, angle, and their rates; there is no horizontal motion.
    pub(super) y: f64,
    pub(super) angle: f64,
    pub(super) v_y: f64,
    pub(super) omega: f64,
}

impl PenaltyBox {
    pub(super) fn read(case: &Reference) -> Result<Self, CaseError> {
        let half = [0.5 * case.parameter("width")?, 0.5 * case.parameter("height")?];
        Ok(Self {
            half,
            mass: case.parameter("mass")?,
            stiffness: case.parameter("stiffness")?,
            gravity: case.parameter("gravity")?,
            y: case.parameter("drop_height")? + half[1],
            angle: 0.0,
            v_y: 0.0,
            omega: 0.0,
        })
    }

    /// Semi-implicit Euler: rates from the forces at the start of the step, positions from the new rates. It is symplectic, so it
    /// neither damps nor amplifies the rocking.
    pub(super) fn advance(&mut self, h: f64) {
        let [a, b] = self.half;
        let inertia = self.mass * (a * a + b * b) / 3.0;
        let (arm, height) = self.deepest_vertex();
        let force = self.stiffness * (-height).max(0.0);
        self.v_y += h * (force / self.mass - self.gravity);
        self.omega += h * arm * force / inertia;
        self.y += h * self.v_y;
        self.angle += h * self.omega;
    }

    /// Horizontal arm from the centre, and height above the ground, of the deepest vertex; the first of equals.
    fn deepest_vertex(&self) -> (f64, f64) {
        let (sin, cos) = libm::sincos(self.angle);
        let [a, b] = self.half;
        [(-a, -b), (a, -b), (a, b), (-a, b)]
            .map(|(x, y)| (cos * x - sin * y, self.y + sin * x + cos * y))
            .into_iter()
            .reduce(|deepest, vertex| if vertex.1 < deepest.1 { vertex } else { deepest })
            .unwrap_or((0.0, self.y))
    }
}
