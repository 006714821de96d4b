//! Bounded rows: joint limits, motors, dry friction.   [SET-9]

/// Bounds lower ≤ r ≤ upper of a row; [0, ∞) for a contact without friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { lower: 0.0, upper: f64::INFINITY }
    }
}

/// Active bound of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ActiveBound {
    Lower,
    Upper,
    Neither,
}

impl Bounds {
    /// Projection of `r` onto the bounds.
    pub(super) fn clip(&self, r: f64) -> f64 {
        r.max(self.lower).min(self.upper)
    }

    /// Bound that is active for the unconstrained impulse `r`.
    pub(super) fn active(&self, r: f64) -> ActiveBound {
        if r <= self.lower || self.lower == self.upper {
            ActiveBound::Lower
        } else if r >= self.upper {
            ActiveBound::Upper
        } else {
            ActiveBound::Neither
        }
    }

    /// Squared natural map (r − P(r − u))² of the row, accurate to rounding of r: the plain formula of [CONE-5].
    pub(super) fn violation_squared(&self, r: f64, u: f64) -> f64 {
        let difference = r - self.clip(r - u);
        difference * difference
    }
}
