//! The knobs of the semismooth Newton method, with formula, unit and default.

use crate::problem::OptionError;

/// Options of [`FrictionNewton`](super::FrictionNewton). All but the counts are dimensionless.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionNewtonOptions {
    /// `Solved` is claimed at residual ≤ `tolerance`, the residual of [CONE-5]. Default 1e-12; rounding stops most
    /// problems between 1e-16 and 1e-12.
    pub tolerance: f64,
    /// Where no step helps any more, `Solved` is still claimed at residual ≤ `acceptable`. Default 1e-9.
    pub acceptable: f64,
    /// Newton steps, the unit of the budget. Default 50.
    pub max_steps: u32,
    /// Largest proximal weight α to begin with: u + α/ρ (r − r̄), with 1/ρ the mean diagonal of W [NEWTON-3]. The method
    /// begins with the root of the residual of the guess, if that is less. Default 1e-2.
    pub proximal: f64,
    /// Least α; the factorisation loses about α⁻¹ · 1e-16 of its accuracy. Default 1e-9.
    pub least_proximal: f64,
    /// Largest α. Default 1.
    pub largest_proximal: f64,
    /// Factor on α after a proximal problem is solved; the square of its inverse when that took more than `inner_steps`,
    /// or after a failed step. Default 0.1.
    pub shrink: f64,
    /// A proximal problem counts as solved when its map has fallen to this fraction. Default 0.1.
    pub inner_accuracy: f64,
    /// Steps after which a proximal problem is given up for one with larger α. Default 10.
    pub inner_steps: u32,
    /// A step of length t is accepted at merit ≤ (1 − 2 σ t) max(last, slack · anchor), σ = `sufficient_decrease`, with
    /// the merits of the last iterate and of the anchor [NEWTON-6]. Default 1e-4.
    pub sufficient_decrease: f64,
    /// How far the merit may rise above that of the anchor. Kinks are crossed by full steps that make things worse for
    /// a while; each proximal problem given up costs a factor 100, each one solved wins back 10. Default 1e6.
    pub slack: f64,
    /// Halvings of a step before it counts as failed. Default 8.
    pub max_halvings: u32,
    /// Failed steps in a row before the method gives up. Default 3.
    pub max_failures: u32,
}

impl Default for FrictionNewtonOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            acceptable: 1e-9,
            max_steps: 50,
            proximal: 1e-2,
            least_proximal: 1e-9,
            largest_proximal: 1.0,
            shrink: 0.1,
            inner_accuracy: 0.1,
            inner_steps: 10,
            sufficient_decrease: 1e-4,
            slack: 1e6,
            max_halvings: 8,
            max_failures: 3,
        }
    }
}

impl FrictionNewtonOptions {
    /// Refuses numbers that make no sense.
    pub fn validate(&self) -> Result<(), OptionError> {
        let positive = [
            ("tolerance", self.tolerance),
            ("acceptable", self.acceptable),
            ("least_proximal", self.least_proximal),
            ("proximal", self.proximal),
            ("largest_proximal", self.largest_proximal),
            ("slack", self.slack),
        ];
        for (name, value) in positive {
            if !(value.is_finite() && value > 0.0) {
                return Err(OptionError { name, value, range: "(0, ∞)" });
            }
        }
        let fractions = [
            ("shrink", self.shrink),
            ("inner_accuracy", self.inner_accuracy),
            ("sufficient_decrease", self.sufficient_decrease),
        ];
        for (name, value) in fractions {
            if !(value > 0.0 && value < 1.0) {
                return Err(OptionError { name, value, range: "(0, 1)" });
            }
        }
        if self.acceptable < self.tolerance {
            return Err(OptionError { name: "acceptable", value: self.acceptable, range: "[tolerance, ∞)" });
        }
        if !(self.least_proximal..=self.largest_proximal).contains(&self.proximal) {
            let range = "[least_proximal, largest_proximal]";
            return Err(OptionError { name: "proximal", value: self.proximal, range });
        }
        Ok(())
    }
}
