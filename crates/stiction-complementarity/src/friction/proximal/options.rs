//! Options of the proximal Newton method in body velocities.

use crate::problem::OptionError;

/// Options of [`FrictionProximalNewton`](super::FrictionProximalNewton). All are dimensionless.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionProximalNewtonOptions {
    /// Residual [CONE-5] within which the method ends with `Solved`. It continues to 3 % of it, for at most eight more Newton steps. Default 1e-8.
    pub tolerance: f64,
    /// Largest number of Newton steps. Default 60.
    pub max_steps: u32,
    /// Initial proximal weight α, relative to the diagonal of W [PROX-1]. Default 0.1.
    pub proximal: f64,
    /// Least α. The last change of the impulses has a relative rounding error of about 1e-16/α. Default 1e-10.
    pub least_proximal: f64,
    /// Largest α. Default 10.
    pub largest_proximal: f64,
    /// Factor on α after a proximal problem that was not solved. Default 4.
    pub growth: f64,
    /// Largest number of consecutive proximal problems that are not solved. Default 6.
    pub max_failures: u32,
    /// Factor on α after a proximal problem that took several steps. Default 0.5.
    pub shrink: f64,
    /// Factor on α after a proximal problem that took a single full step. Default 0.1.
    pub fast_shrink: f64,
    /// Error of a proximal problem at which it counts as solved, relative to the distance from its centre, both in the energy norm
    /// [PROX-4]. Default 0.1.
    pub inner_accuracy: f64,
    /// Largest number of steps of a proximal problem; then α is increased. Default 12.
    pub inner_steps: u32,
    /// Largest number of halvings of a step. Default 6.
    pub max_halvings: u32,
}

impl Default for FrictionProximalNewtonOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            max_steps: 60,
            proximal: 0.1,
            least_proximal: 1e-10,
            largest_proximal: 10.0,
            growth: 4.0,
            max_failures: 6,
            shrink: 0.5,
            fast_shrink: 0.1,
            inner_accuracy: 0.1,
            inner_steps: 12,
            max_halvings: 6,
        }
    }
}

impl FrictionProximalNewtonOptions {
    /// Rejects options outside of their ranges.
    pub fn validate(&self) -> Result<(), OptionError> {
        let positive = [
            ("tolerance", self.tolerance),
            ("least_proximal", self.least_proximal),
            ("proximal", self.proximal),
            ("largest_proximal", self.largest_proximal),
            ("inner_accuracy", self.inner_accuracy),
        ];
        for (name, value) in positive {
            if !(value.is_finite() && value > 0.0) {
                return Err(OptionError { name, value, range: "(0, ∞)" });
            }
        }
        if !(self.growth.is_finite() && self.growth > 1.0) {
            return Err(OptionError { name: "growth", value: self.growth, range: "(1, ∞)" });
        }
        for (name, value) in [("shrink", self.shrink), ("fast_shrink", self.fast_shrink)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(OptionError { name, value, range: "(0, 1)" });
            }
        }
        if !(self.least_proximal..=self.largest_proximal).contains(&self.proximal) {
            let range = "[least_proximal, largest_proximal]";
            return Err(OptionError { name: "proximal", value: self.proximal, range });
        }
        Ok(())
    }
}
