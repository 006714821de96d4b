//! Policy of a solve: the residual to aim at, and those at which a solution is accepted or refused.

use super::Accuracy;
use crate::problem::OptionError;

/// Residuals [CONE-5] that decide how much work a problem is worth. `aim` ≤ `accept` ≤ `refuse`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Residual at which methods stop. With `Exact` they aim at a hundredth of it, with few contacts and on islands. Newton's polish on islands is content
    /// with it; proximal Newton too, after at most eight further steps towards 3 % of it, or towards rounding near the solution [PROX-7].
    pub aim: f64,
    /// Residual up to which a solution is accepted without the expensive rungs: the interior point, proximal Newton from zero, and the last resort. With
    /// `Exact` and few contacts all rungs run above `aim`, and this residual has no effect.
    pub accept: f64,
    /// Residual above which a solution is refused after all rungs: the problem counts as unsolved.
    pub refuse: f64,
}

impl Policy {
    /// Policy of an accuracy.
    pub fn new(accuracy: Accuracy) -> Self {
        match accuracy {
            Accuracy::RealTime => Self { aim: 1e-3, accept: 1e-2, refuse: 1e-1 },
            Accuracy::Balanced => Self { aim: 1e-6, accept: 1e-4, refuse: 1e-3 },
            Accuracy::Exact => Self { aim: 1e-8, accept: 1e-6, refuse: 1e-4 },
        }
    }

    /// This policy with other residuals, where they are given. Residuals that are not given stay in order with those that are.
    #[must_use]
    pub fn with(self, aim: Option<f64>, accept: Option<f64>, refuse: Option<f64>) -> Self {
        let most = accept.or(refuse).unwrap_or(f64::INFINITY);
        let aim = aim.unwrap_or_else(|| self.aim.min(most));
        let accept = accept.unwrap_or_else(|| self.accept.min(refuse.unwrap_or(f64::INFINITY)).max(aim));
        Self { aim, accept, refuse: refuse.unwrap_or_else(|| self.refuse.max(accept)) }
    }

    /// Rejects residuals that are not positive, not finite or not ascending.
    pub fn validate(&self) -> Result<(), OptionError> {
        let mut least = f64::MIN_POSITIVE;
        for (name, value, range) in
            [("aim", self.aim, "(0, ∞)"), ("accept", self.accept, "[aim, ∞)"), ("refuse", self.refuse, "[accept, ∞)")]
        {
            if !(value.is_finite() && value >= least) {
                return Err(OptionError { name, value, range });
            }
            least = value;
        }
        Ok(())
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::new(Accuracy::default())
    }
}
