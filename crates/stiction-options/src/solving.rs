//! What counts as a solved step, and what happens to one that is not.

use super::error::SchemeError;

/// When a step is solved, and what happens if it is not.   [STEP-19]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solving {
    /// Residuals of steps with the second-order cone.
    pub residual: Residuals,
    /// Largest number of times an unsolved step is halved, 0 to 10. The substeps are reported.   [STEP-13] Default 6. The reference
    /// chooses its own steps and accepts only the default or 0.
    pub halve_steps: u32,
    /// What happens to a step that is still not solved then.
    pub on_unsolved: OnUnsolved,
}

impl Default for Solving {
    fn default() -> Self {
        Self { residual: Residuals::default(), halve_steps: HALVINGS, on_unsolved: OnUnsolved::default() }
    }
}

/// Residuals of a step with the second-order cone; those left out are those of the accuracy of its solver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residuals {
    /// Residual at which every method stops.
    pub aim: Option<f64>,
    /// Residual up to which a solution is accepted after the cheap methods.
    pub accept: Option<f64>,
    /// Residual up to which a solution is accepted after all methods; above it the step is not solved.
    pub refuse: Option<f64>,
}

/// What happens to a step that is not solved, not even in parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnsolved {
    /// The simulation stops with an error before the step.
    #[default]
    Stop,
    /// The best solution found is taken, whatever its residual. Reports and summaries say so.
    Accept,
}

impl OnUnsolved {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Accept => "accept",
        }
    }
}

/// Default of [`Solving::halve_steps`]. An eighth of a step is a different problem, and usually an easier one; linkages that whip through a
/// singular position need up to a sixty-fourth.
pub(super) const HALVINGS: u32 = 6;

/// Largest number of step halvings: 1024 substeps instead of one step.
const MOST_HALVINGS: u32 = 10;

impl Solving {
    /// Refuses numbers out of range.
    pub(super) fn validate(&self) -> Result<(), SchemeError> {
        let fail = |field, reason| Err(SchemeError { field, reason });
        if self.halve_steps > MOST_HALVINGS {
            return fail("halve_steps", format!("must be at most {MOST_HALVINGS}, but is {}", self.halve_steps));
        }
        let Residuals { aim, accept, refuse } = self.residual;
        let mut least: Option<(&str, f64)> = None;
        for (name, value) in [("aim", aim), ("accept", accept), ("refuse", refuse)] {
            let Some(value) = value else { continue };
            if !(value > 0.0 && value <= 1.0) {
                return fail("residual", format!("`{name}` must be above 0 and at most 1, but is {value}"));
            }
            if let Some((smaller, bound)) = least.filter(|(_, bound)| value < *bound) {
                let reason = format!("`{name}` is {value}, but must be at least `{smaller}`, which is {bound}");
                return fail("residual", reason);
            }
            least = Some((name, value));
        }
        Ok(())
    }
}
