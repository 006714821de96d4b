//! A row between two bounds: a limit of a joint, a motor, dry friction.   [SET-9]

/// lower ≤ r ≤ upper. Of a contact without friction 0 ≤ r.
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

/// Which bound an impulse is at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Held {
    Lower,
    Upper,
    Between,
}

impl Bounds {
    /// The impulse nearest to `r`.
    pub(super) fn clip(&self, r: f64) -> f64 {
        r.max(self.lower).min(self.upper)
    }

    /// Where an impulse belongs that would like to be `r`, a bound included.
    pub(super) fn side(&self, r: f64) -> Held {
        if r <= self.lower || self.lower == self.upper {
            Held::Lower
        } else if r >= self.upper {
            Held::Upper
        } else {
            Held::Between
        }
    }

    /// ‖r − P(r − u)‖² of the row.   [CONE-5]
    pub(super) fn violation(&self, r: f64, u: f64) -> f64 {
        let away = r - self.clip(r - u);
        away * away
    }
}
