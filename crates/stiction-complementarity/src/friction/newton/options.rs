//! Options of the semismooth Newton method.

use crate::problem::OptionError;

/// Options of [`FrictionNewton`](super::FrictionNewton). All are dimensionless.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionNewtonOptions {
    /// Residual [CONE-5] at which the method ends with `Solved`. Default 1e-12; rounding limits most problems to between 1e-16
    /// and 1e-12.
    pub tolerance: f64,
    /// Residual up to which the method ends with `Solved` if a step no longer halves it. Default 1e-9.
    pub acceptable_residual: f64,
    /// Largest number of Newton steps. Default 50.
    pub max_steps: u32,
    /// Largest initial proximal weight α of u + α/ρ (r − r̄) [NEWTON-3]. 1/ρ is the mean diagonal of W + diag c over the rows of a part of the
    /// friction, and the own entry of any other row; in the first row of each block it is a third of that. The method begins with the square root of the initial residual if that is
    /// smaller. Default 1e-2.
    pub proximal: f64,
    /// Least α. The relative error of the factorisation is about 1e-16/α. Default 1e-9.
    pub least_proximal: f64,
    /// Largest α. Default 1.
    pub largest_proximal: f64,
    /// Factor on α after a proximal problem is solved. After `inner_steps` steps or a failed step the factor is the
    /// inverse square. Default 0.1.
    pub shrink_factor: f64,
    /// Factor by which the norm of the Alart-Curnier function must fall until a proximal problem counts as solved. Default 0.1.
    pub inner_accuracy: f64,
    /// Largest number of steps of a proximal problem; then α is increased. Default 10.
    pub inner_steps: u32,
    /// Parameter σ of the sufficient decrease condition. A step of length t is accepted if its merit is at most
    /// (1 − 2 σ t) max(last, bound · centre), with the merits of the last iterate and of the proximal centre [NEWTON-6]. Default 1e-4.
    pub sufficient_decrease: f64,
    /// Nonmonotone bound: largest ratio of the merit to that of the proximal centre r̄ in the line search. Full steps across kinks increase the
    /// merit for some steps. Each failed proximal problem divides the ratio by 100, each solved one multiplies it by 10. Default 1e6.
    pub nonmonotone_bound: f64,
    /// Largest number of halvings of a step before it counts as failed. Default 8.
    pub max_halvings: u32,
    /// Largest number of consecutive failed steps. Default 3.
    pub max_failures: u32,
}

impl Default for FrictionNewtonOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            acceptable_residual: 1e-9,
            max_steps: 50,
            proximal: 1e-2,
            least_proximal: 1e-9,
            largest_proximal: 1.0,
            shrink_factor: 0.1,
            inner_accuracy: 0.1,
            inner_steps: 10,
            sufficient_decrease: 1e-4,
            nonmonotone_bound: 1e6,
            max_halvings: 8,
            max_failures: 3,
        }
    }
}

impl FrictionNewtonOptions {
    /// Rejects options outside of their ranges.
    pub fn validate(&self) -> Result<(), OptionError> {
        let positive = [
            ("tolerance", self.tolerance),
            ("acceptable_residual", self.acceptable_residual),
            ("least_proximal", self.least_proximal),
            ("proximal", self.proximal),
            ("largest_proximal", self.largest_proximal),
            ("nonmonotone_bound", self.nonmonotone_bound),
        ];
        for (name, value) in positive {
            if !(value.is_finite() && value > 0.0) {
                return Err(OptionError { name, value, range: "(0, ∞)" });
            }
        }
        let fractions = [
            ("shrink_factor", self.shrink_factor),
            ("inner_accuracy", self.inner_accuracy),
            ("sufficient_decrease", self.sufficient_decrease),
        ];
        for (name, value) in fractions {
            if !(value > 0.0 && value < 1.0) {
                return Err(OptionError { name, value, range: "(0, 1)" });
            }
        }
        if self.acceptable_residual < self.tolerance {
            return Err(OptionError {
                name: "acceptable_residual",
                value: self.acceptable_residual,
                range: "[tolerance, ∞)",
            });
        }
        if !(self.least_proximal..=self.largest_proximal).contains(&self.proximal) {
            let range = "[least_proximal, largest_proximal]";
            return Err(OptionError { name: "proximal", value: self.proximal, range });
        }
        Ok(())
    }
}
