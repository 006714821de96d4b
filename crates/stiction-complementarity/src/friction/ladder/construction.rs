//! Construction of ladders: accuracies, tolerances, and the options of the methods.

use super::schedule::{
    ACTIVE_SET_STARTS, ISLAND_ACTIVE_SET_STARTS, NEWTON_STEPS, RATE_INTERVAL, ROUNDING_RESIDUAL, STEP_TOLERANCE,
};
use super::{Accuracy, FrictionLadder, Policy};
use crate::friction::FrictionSolution;
use crate::friction::active_set::{FrictionActiveSet, FrictionActiveSetOptions};
use crate::friction::equality::EqualitySolver;
use crate::friction::interior_point::{FrictionInteriorPoint, FrictionInteriorPointOptions};
use crate::friction::newton::{FrictionNewton, FrictionNewtonOptions};
use crate::friction::nsgs::{FrictionNsgs, FrictionNsgsOptions};
use crate::friction::proximal::FrictionProximalNewton;
use crate::friction::single_pivot::FrictionSinglePivot;
use crate::friction::stick_recovery::StickRecovery;
use crate::problem::OptionError;

impl FrictionLadder {
    /// Ladder with the tolerance of an accuracy and [`Self::DEFAULT_RUNGS`].
    pub fn new(accuracy: Accuracy) -> Self {
        Self::build(accuracy, accuracy.tolerance())
    }

    /// Ladder with [`Self::DEFAULT_RUNGS`] that ends at this residual [CONE-5].
    pub fn with_tolerance(tolerance: f64) -> Result<Self, OptionError> {
        if tolerance.is_finite() && tolerance > 0.0 {
            Ok(Self::build(Accuracy::Exact, tolerance))
        } else {
            Err(OptionError { name: "tolerance", value: tolerance, range: "(0, ∞)" })
        }
    }

    /// Adds stick recovery and the refinement of small problems to rounding level.   [STICK-1]
    ///
    /// Both are for simulations, in which slip that the residual does not resolve would accumulate from step to step.
    #[must_use]
    pub fn with_stick_recovery(mut self) -> Self {
        self.stick_recovery = Some(StickRecovery::default());
        self
    }

    /// Calls a result up to this residual solved loosely, and skips for it the rung of last resort, the repetition from zero, with other accuracies than
    /// `Exact` the interior point and, after the active-set method and single pivots, Gauss-Seidel and semismooth Newton.
    #[must_use]
    pub fn with_acceptable_residual(mut self, residual: f64) -> Self {
        self.acceptable_residual = residual.max(self.tolerance);
        (self.accept, self.refuse) = (self.acceptable_residual, self.acceptable_residual);
        self
    }

    /// Ladder for the steps of simulations with few contacts.
    ///
    /// With `Exact` it tries to reach a hundredth of the aimed residual, and all rungs run above the aimed one: the stepper tries shorter steps before it
    /// accepts a larger residual. The other accuracies leave the interior point and the rung of last resort out at residuals that the policy accepts.
    pub fn for_steps(accuracy: Accuracy, policy: Policy) -> Result<Self, OptionError> {
        policy.validate()?;
        let mut ladder = if accuracy == Accuracy::Exact {
            Self::build(accuracy, STEP_TOLERANCE * policy.aim)
                .with_acceptable_residual(policy.aim)
                .with_stick_recovery()
        } else {
            let ladder = Self::build(accuracy, policy.aim);
            Self { accept: policy.accept, ..ladder }
        };
        ladder.refuse = policy.refuse;
        Ok(ladder)
    }

    /// Ladder for an island of a large problem: few rungs, each with bounded work.
    ///
    /// The interior point runs only above the residual that the policy accepts. Refinement and stick recovery are limited to islands with few
    /// contacts.
    pub fn for_islands(accuracy: Accuracy, policy: Policy) -> Result<Self, OptionError> {
        policy.validate()?;
        let fraction = if accuracy == Accuracy::Exact { STEP_TOLERANCE } else { 1.0 };
        let mut ladder = Self::build(accuracy, fraction * policy.aim).with_rungs(&Self::ISLAND_RUNGS);
        (ladder.acceptable_residual, ladder.is_for_islands) = (policy.aim, true);
        let newton = FrictionNewtonOptions { acceptable_residual: policy.aim, ..*ladder.newton.options() };
        ladder.newton = FrictionNewton::with_options(newton).unwrap_or_default();
        (ladder.accept, ladder.refuse) = (policy.accept, policy.refuse);
        let active_set = FrictionActiveSetOptions {
            max_starts: ISLAND_ACTIVE_SET_STARTS,
            max_continuations: 0,
            ..ladder.active_set.options()
        };
        ladder.active_set = FrictionActiveSet::with_options(active_set).unwrap_or_default();
        Ok(ladder)
    }

    fn build(accuracy: Accuracy, tolerance: f64) -> Self {
        debug_assert!(tolerance > 0.0 && tolerance.is_finite(), "the options below are valid for such tolerances only");
        let gauss_seidel = |max_iterations| {
            let options = FrictionNsgsOptions {
                max_iterations,
                tolerance,
                check_every: max_iterations,
                stall_after: 0,
                ..FrictionNsgsOptions::default()
            };
            FrictionNsgs::with_options(options).unwrap_or_default()
        };
        let newton = FrictionNewtonOptions {
            tolerance: 0.1 * tolerance,
            acceptable_residual: tolerance,
            max_steps: NEWTON_STEPS,
            ..FrictionNewtonOptions::default()
        };
        let refinement = FrictionNewtonOptions {
            tolerance: ROUNDING_RESIDUAL,
            acceptable_residual: ROUNDING_RESIDUAL,
            max_steps: 8,
            ..newton
        };
        let interior_point = FrictionInteriorPointOptions { tolerance, ..FrictionInteriorPointOptions::default() };
        let active_set = FrictionActiveSetOptions {
            tolerance,
            max_starts: ACTIVE_SET_STARTS,
            max_continuations: 1,
            ..FrictionActiveSetOptions::default()
        };
        Self {
            rungs: Self::DEFAULT_RUNGS.to_vec(),
            accuracy,
            tolerance,
            acceptable_residual: tolerance,
            accept: tolerance,
            refuse: tolerance,
            is_for_islands: false,
            active_set: FrictionActiveSet::with_options(active_set).unwrap_or_default(),
            equality: EqualitySolver::default(),
            gauss_seidel: gauss_seidel(RATE_INTERVAL),
            short_gauss_seidel: gauss_seidel(5),
            newton: FrictionNewton::with_options(newton).unwrap_or_default(),
            refinement: FrictionNewton::with_options(refinement).unwrap_or_default(),
            interior_point: FrictionInteriorPoint::with_options(interior_point).unwrap_or_default(),
            proximal: FrictionProximalNewton::default(),
            single_pivot: FrictionSinglePivot::default(),
            stick_recovery: None,
            candidate: FrictionSolution::default(),
            scratch: FrictionSolution::default(),
            gauss_seidel_end: FrictionSolution::default(),
            interior_point_best: FrictionSolution::default(),
            records: Vec::new(),
        }
    }
}
