//! Goal of the part, and the distance of a pose from it.

use std::f64::consts::TAU;

use serde::Serialize;

use super::{PushError, error::within};

/// Goal pose with tolerances.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Goal {
    /// Position of the centre of mass, m.
    pub position: [f64; 2],
    /// Angle, rad.
    pub angle: f64,
    /// Tolerance of the position, m.
    pub position_tolerance: f64,
    /// Tolerance of the angle, rad.
    pub angle_tolerance: f64,
    /// Order n of the rotational symmetry: the part looks the same after one n-th of a turn.
    pub symmetry: u32,
}

/// Distance of a pose from the goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Miss {
    /// Distance of the positions, m.
    pub distance: f64,
    /// Angle between the orientations, by the shorter way, rad.
    pub angle: f64,
}

impl Goal {
    /// A pose with its tolerances, in metres and radians.
    pub fn new(position: [f64; 2], angle: f64, tolerance: (f64, f64)) -> Result<Self, PushError> {
        let far = (-1e6, 1e6);
        for x in position {
            within("goal", x, far)?;
        }
        Ok(Self {
            position,
            angle: within("goal", angle, far)?,
            position_tolerance: within("tolerance", tolerance.0, (1e-9, 1e6))?,
            angle_tolerance: within("tolerance", tolerance.1, (1e-9, TAU))?,
            symmetry: 1,
        })
    }

    /// The same goal for a part that looks the same after one n-th of a turn.
    pub fn with_symmetry(self, symmetry: u32) -> Result<Self, PushError> {
        within("symmetry", f64::from(symmetry), (1.0, 1000.0))?;
        Ok(Self { symmetry, ..self })
    }

    /// Distance of the pose (x, y, angle) from the goal.   [STUDY-3]
    pub fn miss(&self, [x, y, angle]: [f64; 3]) -> Miss {
        let period = TAU / f64::from(self.symmetry);
        let turned = angle - self.angle;
        Miss {
            distance: libm::hypot(x - self.position[0], y - self.position[1]),
            angle: (turned - period * (turned / period).round()).abs(),
        }
    }

    /// The larger of the two misses in units of its tolerance: at most 1 if the goal is reached.   [STUDY-3]
    pub fn ratio(&self, miss: &Miss) -> f64 {
        (miss.distance / self.position_tolerance).max(miss.angle / self.angle_tolerance)
    }

    /// Sum of the squares of both misses in units of their tolerances. Refinement minimises it: it is smooth where [`Self::ratio`] has a
    /// kink.
    pub(super) fn cost(&self, miss: &Miss) -> f64 {
        let (d, a) = (miss.distance / self.position_tolerance, miss.angle / self.angle_tolerance);
        d * d + a * a
    }

    /// True if the goal is reached.
    pub fn is_reached(&self, miss: &Miss) -> bool {
        self.ratio(miss) <= 1.0
    }
}
