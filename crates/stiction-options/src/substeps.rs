//! Division of steps.

use super::error::SchemeError;

/// Division of every step into equal parts, and into those that compliant layers need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Substeps {
    /// Number of equal parts, 1 to 1000. Default 1.
    pub count: u32,
    /// True if a part is divided at the first touch of a compliant layer.   [SOFT-10]
    pub locate_contacts: bool,
    /// Smallest number of parts in the natural period of a pressed layer, up to 10000; 0 does not divide.   [SOFT-10]
    pub steps_per_period: u32,
}

impl Default for Substeps {
    fn default() -> Self {
        Self { count: 1, locate_contacts: false, steps_per_period: 0 }
    }
}

/// Largest number of equal parts of a step.
const MOST_PARTS: u32 = 1000;

/// Largest number of parts of a natural period.
const MOST_STEPS_PER_PERIOD: u32 = 10_000;

impl Substeps {
    /// Refuses numbers out of range.
    pub(super) fn validate(&self) -> Result<(), SchemeError> {
        let fail = |field, reason| Err(SchemeError { field, reason });
        if !(1..=MOST_PARTS).contains(&self.count) {
            return fail("substeps", format!("must be a whole number from 1 to {MOST_PARTS}, but is {}", self.count));
        }
        if self.steps_per_period > MOST_STEPS_PER_PERIOD {
            let reason = format!("must be at most {MOST_STEPS_PER_PERIOD}, but is {}", self.steps_per_period);
            return fail("steps_per_period", reason);
        }
        Ok(())
    }
}
