//! Bound on the speed at which open joints close and overlapping bodies separate.

use super::error::SchemeError;

/// Largest bound, m/s or rad/s: larger ones are typing mistakes.
const MOST: f64 = 1e9;

/// Largest speed at which the weight γ_b closes an open joint, and γ separates bodies that overlap.   [STAB-9] [STAB-13]
///
/// Drift that a step makes is removed in the next one in addition, so that joints of fast mechanisms stay closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosingSpeed {
    /// Speed at which a position error closes, m/s. Default 1: an error of 0.1 m closes in 0.1 s.
    pub linear: f64,
    /// Speed at which an error of directions closes, rad/s. Default 5: an error of 1 rad closes in 0.2 s.
    pub angular: f64,
    /// Speed at which γ separates bodies that overlap, m/s. Default 1: an overlap of 0.1 m opens in 0.1 s.   [STAB-13]
    pub overlap: f64,
}

impl ClosingSpeed {
    /// No bound, as published schemes have it: an error Φ closes within a step, at the speed γ_b Φ/h, and an overlap ψ opens at γ ψ/h.
    pub const UNBOUNDED: Self = Self { linear: f64::INFINITY, angular: f64::INFINITY, overlap: f64::INFINITY };

    /// Checks the numbers.
    pub(super) fn validate(self) -> Result<(), SchemeError> {
        let speeds = [("linear", self.linear), ("angular", self.angular), ("overlap", self.overlap)];
        match speeds
            .into_iter()
            .find(|(_, speed)| speed.is_nan() || *speed <= 0.0 || (speed.is_finite() && *speed > MOST))
        {
            Some((name, speed)) => {
                let reason = format!(
                    "the {name} speed must be from 0 to {MOST:e} or unbounded, but is {speed}; with joint_gamma = 0 joints do not close"
                );
                Err(SchemeError { field: "joint_closing_speed", reason })
            }
            None => Ok(()),
        }
    }
}

impl Default for ClosingSpeed {
    fn default() -> Self {
        Self { linear: 1.0, angular: 5.0, overlap: 1.0 }
    }
}
