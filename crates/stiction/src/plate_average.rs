//! Averages over the periods of a vibrating plate: mean velocity and mean position of a part. PLT-6.

use nalgebra::{Point3, Vector3};
use stiction_geometry::Pose;

/// Mean motion of a part in one period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodAverage {
    /// Middle of the period, s.
    pub time: f64,
    /// Mean velocity, world axes, m/s.
    pub velocity: Vector3<f64>,
    /// Mean position in the frame of the plate, m.
    pub position: Vector3<f64>,
}

/// Averages over consecutive periods from t = 0, accumulated step by step.
///
/// Velocities and positions are those at the end of each step and hold for the whole step, as in the scheme itself. A step across
/// the end of a period is divided between the two periods.
#[derive(Clone, Debug)]
pub struct PlateAverage {
    period: f64,
    finished: u64,
    velocity: Vector3<f64>,
    position: Vector3<f64>,
}

impl PlateAverage {
    /// Creates averages over periods of this length, s.
    pub fn new(period: f64) -> Self {
        Self { period, finished: 0, velocity: Vector3::zeros(), position: Vector3::zeros() }
    }

    /// Adds a step of length h, at most one period, that ended at `time` with the plate at `plate` and the part at `position` with
    /// `velocity`. Returns the period that the step completed, if any.
    pub fn add(
        &mut self,
        (time, h): (f64, f64),
        plate: &Pose,
        position: Point3<f64>,
        velocity: Vector3<f64>,
    ) -> Option<PeriodAverage> {
        let local = plate.inverse_transform_point(&position).coords;
        let end = self.period * (self.finished + 1) as f64;
        // Time is a sum of steps: a step that ends within rounding of the end of the period completes it.
        if time < end - 1e-9 * h {
            self.velocity += velocity * h;
            self.position += local * h;
            return None;
        }
        let inside = (end - (time - h)).clamp(0.0, h);
        let average = PeriodAverage {
            time: end - 0.5 * self.period,
            velocity: (self.velocity + velocity * inside) / self.period,
            position: (self.position + local * inside) / self.period,
        };
        (self.velocity, self.position) = (velocity * (h - inside), local * (h - inside));
        self.finished += 1;
        Some(average)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_velocity_is_its_own_average() {
        let (mut averages, h, velocity) = (PlateAverage::new(0.03), 0.007, Vector3::new(2.0, -1.0, 0.0));
        let plate = Pose::translation(0.0, 0.0, 0.5);
        let mut found = Vec::new();
        for k in 1..=100 {
            let time = h * f64::from(k);
            found.extend(averages.add((time, h), &plate, Point3::new(3.0, 0.0, 0.5), velocity));
        }
        assert_eq!(found.len(), 23);
        for (k, average) in found.iter().enumerate() {
            assert!((average.velocity - velocity).norm() < 1e-13);
            assert!((average.position - Vector3::new(3.0, 0.0, 0.0)).norm() < 1e-13);
            assert!((average.time - 0.03 * (k as f64 + 0.5)).abs() < 1e-15);
        }
    }

    #[test]
    fn a_step_across_the_end_is_divided() {
        let (mut averages, plate) = (PlateAverage::new(1.0), Pose::identity());
        let at = |x: f64| (Point3::new(x, 0.0, 0.0), Vector3::new(x, 0.0, 0.0));
        let mut add = |time, x| averages.add((time, 0.75), &plate, at(x).0, at(x).1);
        assert_eq!(add(0.75, 4.0), None);
        let first = add(1.5, 8.0).unwrap();
        assert_eq!((first.velocity.x, first.position.x, first.time), (5.0, 5.0, 0.5));
        let second = add(2.25, 16.0).unwrap();
        assert_eq!((second.velocity.x, second.time), (0.5 * 8.0 + 0.5 * 16.0, 1.5));
    }
}
