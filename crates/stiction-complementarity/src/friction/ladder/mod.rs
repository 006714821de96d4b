//! The ladder for frictional problems: an ordered list of solver methods (rungs), each checked by the residual of the problem.
//!
//! Rungs, in order:
//!
//! 1. The dense active-set method, for small problems with contacts, limits or friction. If it fails, the single-pivot method continues from zero or from the active-set
//!    method's last initial iterate, whichever has the smaller residual.
//! 2. The linear solve, if all laws are equalities: joints and couplings without contacts. It ends at rounding level even if they are redundant.
//!    The other rungs follow only if the factors would fill in or the factorisation fails. Inconsistent (contradicting) joints are not solved.
//! 3. Gauss-Seidel, because most problems are easy or warm-started. It continues while its convergence rate predicts an end that is
//!    cheaper than factorisations.
//! 4. Semismooth Newton, if Gauss-Seidel came close; with an assembled W always.
//! 5. The interior point, polished: Newton steps continue from its impulses. Stacks and mass ratios do not slow it down.
//! 6. Single pivots from the best impulses so far, for problems in which rounding decides which contacts are closed; then the interior point
//!    from a second start, polished in the same way.
//! 7. The last resort: pseudo-transient continuation from the result of Gauss-Seidel, for collapsing piles.
//!
//! Ladders for steps and for islands have three residuals instead of one ([`Policy`]). Islands of a large problem also have fewer rungs,
//! [`FrictionLadder::ISLAND_RUNGS`].
//!
//! The rungs are a list, [`FrictionLadder::DEFAULT_RUNGS`] unless [`FrictionLadder::with_rungs`] gives another. `docs/ablation.md` says what
//! is lost without each of them.
//!
//! Every rung that runs is recorded, and the impulses of least residual are kept. In simulations stick recovery may replace them by others
//! within the tolerance, whose residual may be larger. All decisions depend on counts and residuals, never on the clock.

mod construction;
mod policy;
mod rung;
mod runs;
mod schedule;

use super::active_set::FrictionActiveSet;
use super::equality::EqualitySolver;
use super::interior_point::{FrictionInteriorPoint, START_WEIGHTS};
use super::newton::FrictionNewton;
use super::nsgs::FrictionNsgs;
use super::proximal::FrictionProximalNewton;
use super::single_pivot::FrictionSinglePivot;
use super::stick_recovery::StickRecovery;
use super::{FrictionProblem, FrictionSolution, Operator};
use crate::interrupt;
use crate::outcome::{Ending, Status};
use crate::problem::Problem;
use crate::solver::Solver;
pub use policy::Policy;
pub use rung::{Accuracy, FrictionRung, FrictionRungRecord};
use schedule::{NEWTON_START_RESIDUAL, NEWTON_STEPS, PSEUDO_TRANSIENT, SHORT_NEWTON_STEPS};

/// Ladder of solver methods for [`FrictionProblem`], with their scratch memory.
#[derive(Clone, Debug)]
pub struct FrictionLadder {
    rungs: Vec<FrictionRung>,
    accuracy: Accuracy,
    tolerance: f64,
    /// Largest residual at which the active-set method and single pivots suffice (`Progress::small_methods_sufficed`), within which proximal Newton counts as solved,
    /// and up to which the linear solve is solved loosely.
    acceptable_residual: f64,
    /// Largest residual at which expensive rungs are skipped: the last resort, the repetition from zero and proximal Newton from zero; on islands and with
    /// other accuracies than `Exact` also the interior point ([`Self::runs`]). The acceptable one without a policy, and with `Exact` and few contacts.
    accept: f64,
    /// Largest residual of a solution; the acceptable one without a policy. Between the tolerance and this residual a result is solved loosely.
    /// The linear solve compares with the acceptable one instead.
    refuse: f64,
    /// True for islands of a large problem.
    is_for_islands: bool,
    active_set: FrictionActiveSet,
    equality: EqualitySolver,
    /// Gauss-Seidel between two estimates of its rate.
    gauss_seidel: FrictionNsgs,
    /// A few Gauss-Seidel iterations between the interior point and Newton.
    short_gauss_seidel: FrictionNsgs,
    newton: FrictionNewton,
    /// Newton's method to rounding level.
    refinement: FrictionNewton,
    interior_point: FrictionInteriorPoint,
    proximal: FrictionProximalNewton,
    single_pivot: FrictionSinglePivot,
    /// Stick recovery, for simulations.
    stick_recovery: Option<StickRecovery>,
    /// Result of the rung that ran last.
    candidate: FrictionSolution,
    scratch: FrictionSolution,
    /// Result of the warm- or cold-started Gauss-Seidel rung: the iterate that solved the problem, or that of least residual in its last interval. If the
    /// rung was skipped, the best impulses of the rungs before it.
    gauss_seidel_end: FrictionSolution,
    /// Interior-point iterate of least residual.
    interior_point_best: FrictionSolution,
    records: Vec<FrictionRungRecord>,
}

/// State of a run between two rungs.
struct Progress {
    /// Least residual so far.
    best: f64,
    /// True if the active-set method and single pivots ended within the acceptable residual. Gauss-Seidel and Newton, which would stop
    /// there too, are skipped.
    small_methods_sufficed: bool,
    /// Initial iterate of Gauss-Seidel, and of the methods that continue from it.
    start: InitialIterate,
    /// Residual of Gauss-Seidel; infinite before it ran.
    gauss_seidel_residual: f64,
}

/// Initial iterate of Gauss-Seidel.
#[derive(Clone, Copy, PartialEq)]
enum InitialIterate {
    /// Warm start.
    Warm,
    /// Zero.
    Zero,
    /// Zero, after all rungs failed from the warm start.
    ZeroAfterWarm,
}

impl InitialIterate {
    fn of(guess: Option<&FrictionSolution>) -> Self {
        if guess.is_some() { Self::Warm } else { Self::Zero }
    }
}

impl Default for FrictionLadder {
    fn default() -> Self {
        Self::new(Accuracy::default())
    }
}

impl FrictionLadder {
    /// Rungs of a new ladder, in order. Gauss-Seidel runs from the warm start or from zero, the interior point from two initial iterates, and single
    /// pivots both before Gauss-Seidel and after the interior point.
    pub const DEFAULT_RUNGS: [FrictionRung; 10] = [
        FrictionRung::ActiveSet,
        FrictionRung::Linear,
        FrictionRung::SinglePivot,
        FrictionRung::WarmGaussSeidel,
        FrictionRung::ColdGaussSeidel,
        FrictionRung::SemismoothNewton,
        FrictionRung::InteriorPoint,
        FrictionRung::LateSinglePivot,
        FrictionRung::InteriorPointRestart,
        FrictionRung::PseudoTransient,
    ];

    /// Rungs for an island of a large problem, of which at most five run: active sets if it has few contacts, proximal Newton from the warm
    /// start and from zero, and the interior point from its two starts. Equalities alone are solved by the linear solve.
    pub const ISLAND_RUNGS: [FrictionRung; 6] = [
        FrictionRung::ActiveSet,
        FrictionRung::Linear,
        FrictionRung::ProximalNewton,
        FrictionRung::ColdProximalNewton,
        FrictionRung::InteriorPoint,
        FrictionRung::InteriorPointRestart,
    ];

    /// Rungs of the last run, in order.
    pub fn records(&self) -> &[FrictionRungRecord] {
        &self.records
    }

    /// Rungs, in order.
    pub fn rungs(&self) -> &[FrictionRung] {
        &self.rungs
    }

    /// Replaces the rungs. The active-set method, the linear solve and the first single pivots run before all others wherever they stand in the list.
    #[must_use]
    pub fn with_rungs(mut self, rungs: &[FrictionRung]) -> Self {
        self.rungs.clear();
        self.rungs.extend_from_slice(rungs);
        self
    }

    /// Removes a rung.
    #[must_use]
    pub fn without(mut self, rung: FrictionRung) -> Self {
        self.rungs.retain(|kept| *kept != rung);
        self
    }

    /// True if a rung of the loop runs on this problem, after what the rungs before it reached. The active-set method, the linear solve and the first
    /// single pivots run before the loop, so they are not among them.
    ///
    /// With an assembled W every factorisation is expensive, so Newton always runs before the interior point. Matrix-free it does so
    /// only from a small residual.
    fn runs(&self, rung: FrictionRung, problem: &FrictionProblem, progress: &Progress) -> bool {
        let assembled = matches!(problem.operator(), Operator::Assembled(_));
        let real_time = self.accuracy == Accuracy::RealTime;
        let Progress { best, small_methods_sufficed, start, gauss_seidel_residual } = *progress;
        let last_pass = start == InitialIterate::ZeroAfterWarm;
        let applies = match rung {
            FrictionRung::ActiveSet | FrictionRung::Linear | FrictionRung::SinglePivot => false,
            FrictionRung::WarmGaussSeidel => start == InitialIterate::Warm && !small_methods_sufficed,
            FrictionRung::ColdGaussSeidel => start != InitialIterate::Warm && !small_methods_sufficed,
            FrictionRung::SemismoothNewton => {
                !small_methods_sufficed && (assembled || gauss_seidel_residual <= NEWTON_START_RESIDUAL)
            }
            FrictionRung::InteriorPoint | FrictionRung::InteriorPointRestart => {
                let bounded = self.is_for_islands || self.accuracy != Accuracy::Exact;
                !(last_pass || bounded && best <= self.accept)
            }
            FrictionRung::ProximalNewton => !assembled && !last_pass,
            FrictionRung::ColdProximalNewton => !assembled && !last_pass && best > self.accept,
            FrictionRung::LateSinglePivot => !last_pass && FrictionSinglePivot::applies(problem),
            _ => true,
        };
        applies && !(rung.is_last_resort() && (real_time || best <= self.accept))
    }

    /// Runs one rung, records it, and keeps its impulses if they are the best so far.
    fn run_and_record(
        &mut self,
        rung: FrictionRung,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        best: &mut f64,
        solution: &mut FrictionSolution,
    ) -> FrictionRungRecord {
        let iterations = match rung {
            FrictionRung::SinglePivot | FrictionRung::LateSinglePivot | FrictionRung::ActiveSet => {
                self.run_rung(rung, problem, Some(solution))
            }
            _ => self.run_rung(rung, problem, guess),
        };
        let record = FrictionRungRecord { rung, residual: problem.residual(&self.candidate).value, iterations };
        self.records.push(record);
        if record.residual < *best {
            *best = record.residual;
            solution.r.clone_from(&self.candidate.r);
        }
        record
    }

    /// Runs one rung into `self.candidate` and returns its iterations. Rungs with a warm start take it from `guess`.
    fn run_rung(&mut self, rung: FrictionRung, problem: &FrictionProblem, guess: Option<&FrictionSolution>) -> u32 {
        match rung {
            FrictionRung::ActiveSet => self.active_set.run(problem, guess, &mut self.candidate).iterations,
            FrictionRung::Linear => self.equality.run(self.tolerance, problem, guess, &mut self.candidate).iterations,
            FrictionRung::WarmGaussSeidel => self.run_gauss_seidel(problem, guess),
            FrictionRung::ColdGaussSeidel => self.run_gauss_seidel(problem, None),
            FrictionRung::InteriorPoint => self.run_interior_point(problem, START_WEIGHTS[0]),
            FrictionRung::InteriorPointRestart => self.run_interior_point(problem, START_WEIGHTS[1]),
            FrictionRung::ProximalNewton => self.run_proximal(problem, guess),
            FrictionRung::ColdProximalNewton => self.run_cold_proximal(problem),
            FrictionRung::SemismoothNewton => {
                let assembled = matches!(problem.operator(), Operator::Assembled(_));
                let max_steps = if assembled { NEWTON_STEPS } else { SHORT_NEWTON_STEPS };
                let start = Some(&self.gauss_seidel_end);
                self.newton.run_at_most(max_steps, problem, start, &mut self.candidate).iterations
            }
            FrictionRung::PseudoTransient => {
                let start = Some(&self.gauss_seidel_end);
                self.newton.run_pseudo_transient(PSEUDO_TRANSIENT, problem, start, &mut self.candidate).iterations
            }
            FrictionRung::SinglePivot | FrictionRung::LateSinglePivot => guess.map_or(0, |guess| {
                self.single_pivot.run(self.tolerance, problem, guess, &mut self.candidate).iterations
            }),
        }
    }

    /// Runs the single-pivot method from the best impulses so far. If the result is acceptable, it runs the active-set method once more to refine it.
    ///
    /// The best impulses are those at the last start of the active-set method, or zero if that has a smaller residual.
    ///
    /// Returns the number of iterations. At the stick-slip transition both may stop short of the tolerance, and Gauss-Seidel and Newton
    /// stop there too. If the residual is acceptable, the caller therefore skips these two and continues with the interior point from its
    /// own start. Otherwise it runs all rungs.
    fn continue_active_set(
        &mut self,
        problem: &FrictionProblem,
        best: &mut f64,
        solution: &mut FrictionSolution,
    ) -> u32 {
        let pivots = self.run_and_record(FrictionRung::SinglePivot, problem, None, best, solution).iterations;
        if *best > self.acceptable_residual {
            return pivots;
        }
        pivots + self.run_and_record(FrictionRung::ActiveSet, problem, None, best, solution).iterations
    }

    /// Record of least residual.
    fn best_record(&self) -> Option<&FrictionRungRecord> {
        self.records.iter().min_by(|a, b| a.residual.total_cmp(&b.residual))
    }
}

impl Solver<FrictionProblem> for FrictionLadder {
    fn rung(&self) -> Option<&'static str> {
        self.best_record().map(|record| record.rung.name())
    }

    fn run(
        &mut self,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        self.records.clear();
        // Refinements swap these three, so each needs room for the largest problem so far.
        for impulses in [&mut self.candidate.r, &mut self.scratch.r, &mut solution.r] {
            impulses.reserve(problem.rows().saturating_sub(impulses.len()));
        }
        let tolerance = self.tolerance;
        let (mut total, mut active_set_residual) = (0_u32, f64::INFINITY);
        let is_linear = self.rungs.contains(&FrictionRung::Linear) && EqualitySolver::applies(problem);
        if !is_linear && self.rungs.contains(&FrictionRung::ActiveSet) && FrictionActiveSet::applies(problem) {
            total = self.active_set.run(problem, guess, &mut self.candidate).iterations;
            let residual = match &mut self.stick_recovery {
                Some(stick_recovery) => stick_recovery.evaluate(problem, &self.candidate.r),
                None => problem.residual(&self.candidate).value,
            };
            self.records.push(FrictionRungRecord { rung: FrictionRung::ActiveSet, residual, iterations: total });
            if residual <= tolerance {
                solution.r.clone_from(&self.candidate.r);
                if let Some(stick_recovery) = &mut self.stick_recovery {
                    stick_recovery.run_evaluated(problem, tolerance, &mut solution.r);
                }
                return Ending::new(Status::Solved, total);
            }
            active_set_residual = residual;
        }
        solution.r.clear();
        solution.r.resize(problem.rows(), 0.0);
        let mut best = problem.residual(solution).value;
        if best <= tolerance * 1e-6 {
            return Ending::new(Status::Solved, 0);
        }
        if active_set_residual < best {
            best = active_set_residual;
            solution.r.clone_from(&self.candidate.r);
        }
        if is_linear {
            let record = self.run_and_record(FrictionRung::Linear, problem, guess, &mut best, solution);
            total = total.saturating_add(record.iterations);
            if self.equality.has_run() {
                // Joints that contradict each other have no solution, and these impulses leave the least residual.
                let status = match best {
                    best if best <= tolerance => Status::Solved,
                    best if best <= self.acceptable_residual => Status::SolvedLoosely,
                    _ => Status::BudgetExhausted,
                };
                return Ending::new(status, total);
            }
        }
        let mut small_methods_sufficed = false;
        let continues = self.rungs.contains(&FrictionRung::SinglePivot);
        if continues && active_set_residual.is_finite() && FrictionSinglePivot::applies(problem) {
            total = total.saturating_add(self.continue_active_set(problem, &mut best, solution));
            small_methods_sufficed = best <= self.acceptable_residual;
        }
        self.gauss_seidel_end.r.clone_from(&solution.r);
        let warm =
            self.rungs.iter().any(|rung| matches!(rung, FrictionRung::WarmGaussSeidel | FrictionRung::ProximalNewton));
        let mut guess =
            guess.filter(|guess| warm && !small_methods_sufficed && problem.residual(guess).value.is_finite());
        let mut progress = Progress {
            best,
            small_methods_sufficed,
            start: InitialIterate::of(guess),
            gauss_seidel_residual: f64::INFINITY,
        };
        loop {
            for k in 0..self.rungs.len() {
                let rung = self.rungs[k];
                if progress.best <= tolerance || interrupt::is_requested() {
                    break;
                }
                if !self.runs(rung, problem, &progress) {
                    continue;
                }
                let record = self.run_and_record(rung, problem, guess, &mut progress.best, solution);
                total = total.saturating_add(record.iterations);
                if matches!(rung, FrictionRung::WarmGaussSeidel | FrictionRung::ColdGaussSeidel) {
                    progress.gauss_seidel_residual = record.residual;
                }
            }
            // A warm start may lead to where nothing converges: the rungs that began there begin once more, from zero.
            if progress.start != InitialIterate::Warm
                || progress.best <= self.accept
                || self.accuracy == Accuracy::RealTime
                || self.is_for_islands
                || interrupt::is_requested()
            {
                break;
            }
            (guess, progress.start) = (None, InitialIterate::ZeroAfterWarm);
        }
        let best = progress.best;
        if best > self.refuse {
            return Ending::new(Status::BudgetExhausted, total);
        }
        if !self.is_for_islands || active_set_residual.is_finite() {
            self.refine_and_recover_stick(problem, best, solution);
        }
        Ending::new(if best <= tolerance { Status::Solved } else { Status::SolvedLoosely }, total)
    }
}
