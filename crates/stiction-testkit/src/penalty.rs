//! Penalty model for comparison with exact contact: a planar box on an undamped spring at its deepest vertex.
//!
//! The box falls flat onto the ground y = 0. Contact is one spring of stiffness k at the deepest vertex, without damping,
//! friction or a second contact. Only one of the two lower vertices carries load at a time, so the box never comes to rest
//! but rocks from one to the other [Berard2009, fig. 2.7]. With a complementarity step the same box comes to rest at the first
//! impact.
//!
//! In a flat drop both lower vertices are equally deep. Then the first one (the left) carries load, as in every program that
//! selects a single deepest vertex; this starts the rocking.

/// A box and its spring. The defaults are the box 1 m × 0.5 m of 1 kg, dropped by 0.1 m, k = 10⁴ N/m.
#[derive(Clone, Copy, Debug)]
pub struct PenaltyBox {
    /// Width in metres.
    pub width: f64,
    /// Height in metres.
    pub height: f64,
    /// Mass in kilograms, spread evenly.
    pub mass: f64,
    /// Gap under the box at the start, in metres.
    pub drop_height: f64,
    /// Stiffness of the spring, in newtons per metre.
    pub stiffness: f64,
    /// Gravity, in metres per second squared.
    pub gravity: f64,
}

impl Default for PenaltyBox {
    fn default() -> Self {
        Self { width: 1.0, height: 0.5, mass: 1.0, drop_height: 0.1, stiffness: 1e4, gravity: 9.81 }
    }
}

/// Height, angle and their rates; there is no horizontal motion.
#[derive(Clone, Copy)]
struct Motion {
    y: f64,
    angle: f64,
    v_y: f64,
    omega: f64,
}

impl PenaltyBox {
    /// Simulates `seconds` from rest and returns the root mean square of the angular rate (rad/s) over the last one.
    ///
    /// The integrator is semi-implicit Euler: rates first, from the forces at the start of the step, then positions from
    /// the new rates. It is symplectic, so it neither damps nor excites the rocking.
    pub fn rms_angular_rate(&self, seconds: u32, steps_per_second: u32) -> f64 {
        let h = 1.0 / f64::from(steps_per_second);
        let mut motion = Motion { y: self.drop_height + 0.5 * self.height, angle: 0.0, v_y: 0.0, omega: 0.0 };
        let mut sum = 0.0;
        for _ in 0..seconds {
            sum = 0.0;
            for _ in 0..steps_per_second {
                self.advance(&mut motion, h);
                sum += motion.omega * motion.omega;
            }
        }
        (sum * h).sqrt()
    }

    fn advance(&self, motion: &mut Motion, h: f64) {
        let inertia = self.mass * (self.width * self.width + self.height * self.height) / 12.0;
        let (arm_x, height) = self.deepest_vertex(motion);
        let force = self.stiffness * (-height).max(0.0);
        motion.v_y += h * (force / self.mass - self.gravity);
        motion.omega += h * arm_x * force / inertia;
        motion.y += h * motion.v_y;
        motion.angle += h * motion.omega;
    }

    /// Horizontal arm from the centre, and height above the ground, of the deepest vertex; the first of equals.
    fn deepest_vertex(&self, motion: &Motion) -> (f64, f64) {
        let (sin, cos) = libm::sincos(motion.angle);
        let (a, b) = (0.5 * self.width, 0.5 * self.height);
        [(-a, -b), (a, -b), (a, b), (-a, b)]
            .map(|(x, y)| (cos * x - sin * y, motion.y + sin * x + cos * y))
            .into_iter()
            .reduce(|deepest, vertex| if vertex.1 < deepest.1 { vertex } else { deepest })
            .unwrap_or((0.0, motion.y))
    }
}

#[cfg(test)]
mod tests {
    use super::PenaltyBox;

    #[test]
    fn the_box_never_stops_rocking() {
        for steps_per_second in [10_000, 20_000, 40_000] {
            let rate = PenaltyBox::default().rms_angular_rate(5, steps_per_second);
            assert!(rate > 1e-2, "rms angular rate {rate} rad/s with {steps_per_second} steps per second");
        }
    }

    /// Without contact the box does not rotate: the rocking comes from the contact model alone.
    #[test]
    fn free_flight_does_not_turn() {
        let high = PenaltyBox { drop_height: 1000.0, ..PenaltyBox::default() };
        assert_eq!(high.rms_angular_rate(2, 1000), 0.0);
    }
}
