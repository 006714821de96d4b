//! The ladder for frictional problems: methods in the order they are tried, each graded by the problem.
//!
//! Few contacts are solved at once, or else by single changes of mode from where that ended. Otherwise sweeps come first, because most
//! problems are easy or warm, and go on as long as their rate promises an end that is cheaper than factorisations. Then the interior point, which does not care for stacks
//! and mass ratios, polished by Newton; single changes of mode, where rounding decides who touches; the interior point from another start;
//! Newton after more sweeps; the third start of the interior point; ADMM as
//! another start for Newton; the flow that sweeps drift along, followed by implicit steps; relaxed sweeps; and the slow reference
//! where it can be afforded. Every rung taken is recorded, the best impulses of all are the answer, and every decision is made
//! by counts and residuals, never by the clock.

mod rung;

use super::active_set::{FrictionActiveSet, FrictionActiveSetOptions, REFINED};
use super::admm::{FrictionAdmm, FrictionAdmmOptions};
use super::interior_point::{FrictionInteriorPoint, FrictionInteriorPointOptions, STARTS};
use super::newton::{FrictionNewton, FrictionNewtonOptions};
use super::nsgs::{FrictionNsgs, FrictionNsgsOptions};
use super::reference::FrictionReference;
use super::single_pivot::FrictionSinglePivot;
use super::stick_recovery::StickRecovery;
use super::{FrictionProblem, FrictionSolution, Operator};
use crate::outcome::{Ending, Status};
use crate::problem::{OptionError, Problem};
use crate::solver::Solver;
pub use rung::{Accuracy, FrictionRung, FrictionRungRecord};

/// The most rows for which the reference, which is dense and cubic, is asked.
pub(crate) const REFERENCE_ROWS: usize = 400;

/// The most rows for which a solution is refined beyond the tolerance, the most for which slow contacts settle, and the
/// residual that is left to rounding.
const REFINED_ROWS: usize = 120;
const SETTLED_ROWS: usize = 600;
const ROUNDING: f64 = 1e-15;

/// Starts of the method for few contacts before single changes of mode end what it began.
const ACTIVE_SET_STARTS: u32 = 6;

/// Sweeps between two looks at the rate.
const CHUNK: u32 = 10;

/// Sweeps before each of the first two looks, through bodies: towers and walls show at once that sweeps lead nowhere.
const GLANCE: u32 = 4;

/// Sweeps where time presses.
const REAL_TIME: u32 = 50;

/// The interior point costs about as much as this many sweeps, through bodies.
const INTERIOR_POINT: f64 = 150.0;

/// Where W is explicit its factors fill, and sweeps are cheap beside them: so many are made whatever their rate.
const ASSEMBLED_ITERATIONS: f64 = 200.0;

/// A residual from which Newton alone is worth a try before the interior point.
const NEAR: f64 = 1e-3;

/// Steps of Newton from near, after the interior point or ADMM, and where nothing cheaper is left.
const FROM_NEAR: u32 = 20;
const POLISH: u32 = 40;
const NEWTON: u32 = 100;

/// Steps of Newton's method along the flow and the weight of its first step, from the best answer and from the sweeps.
const PSEUDO_TRANSIENT_FROM_BEST: (u32, f64) = (500, 1e-3);
const PSEUDO_TRANSIENT_FROM_GAUSS_SEIDEL: (u32, f64) = (5000, 0.1);

/// Steps of the interior point from each start.
const INTERIOR_STEPS: u32 = 60;

/// When the interior point has not arrived after this many steps, and again after each so many more, Newton is tried for a number of steps as soon as
/// the residual is small: where it is large, the path is in the middle of a fold.
const ON_THE_WAY: OnTheWay = OnTheWay { first: 28, again: 10, residual: 2e-5, steps: 24 };

struct OnTheWay {
    first: u32,
    again: u32,
    residual: f64,
    steps: u32,
}

/// The ladder of methods for [`FrictionProblem`], with their scratch memory.
#[derive(Clone, Debug)]
pub struct FrictionLadder {
    accuracy: Accuracy,
    tolerance: f64,
    /// What is good enough before dear rungs are climbed.
    acceptable: f64,
    active_set: FrictionActiveSet,
    quick: FrictionNsgs,
    more: FrictionNsgs,
    few: FrictionNsgs,
    relaxed: FrictionNsgs,
    newton: FrictionNewton,
    refiner: FrictionNewton,
    interior_point: FrictionInteriorPoint,
    admm: FrictionAdmm,
    reference: FrictionReference,
    single_pivot: FrictionSinglePivot,
    /// For simulations; none where an answer within tolerance is enough.
    stick_recovery: Option<StickRecovery>,
    candidate: FrictionSolution,
    scratch: FrictionSolution,
    /// Where the sweeps ended.
    swept: FrictionSolution,
    /// The best of the interior point.
    inside: FrictionSolution,
    records: Vec<FrictionRungRecord>,
}

impl Default for FrictionLadder {
    fn default() -> Self {
        Self::new(Accuracy::default())
    }
}

impl FrictionLadder {
    /// The ladder for an accuracy.
    pub fn new(accuracy: Accuracy) -> Self {
        Self::aimed_at(accuracy, accuracy.tolerance())
    }

    /// All rungs, aimed at this residual [CONE-5] instead of that of an accuracy.
    pub fn with_tolerance(tolerance: f64) -> Result<Self, OptionError> {
        if tolerance.is_finite() && tolerance > 0.0 {
            Ok(Self::aimed_at(Accuracy::Exact, tolerance))
        } else {
            Err(OptionError { name: "tolerance", value: tolerance, range: "(0, ∞)" })
        }
    }

    /// Prefers stick to slips so slow that the residual cannot tell them apart, and refines small problems to rounding:
    /// what a simulation wants, in which such errors would add up step by step.   [STICK-1]
    #[must_use]
    pub fn recovering_stick(mut self) -> Self {
        self.stick_recovery = Some(StickRecovery::default());
        self
    }

    /// Is content with this residual once the rungs that are cheap have been tried; the others are for what is worse.
    #[must_use]
    pub fn accepting(mut self, residual: f64) -> Self {
        self.acceptable = residual.max(self.tolerance);
        self
    }

    fn aimed_at(accuracy: Accuracy, tolerance: f64) -> Self {
        let sweeps = |max_iterations, check_every, stall_after, relaxation| {
            let options = FrictionNsgsOptions {
                max_iterations,
                tolerance,
                check_every,
                relaxation,
                stall_after,
                ..FrictionNsgsOptions::default()
            };
            FrictionNsgs::with_options(options).unwrap_or_default()
        };
        let newton = FrictionNewtonOptions {
            tolerance: 0.1 * tolerance,
            acceptable: tolerance,
            max_steps: NEWTON,
            ..FrictionNewtonOptions::default()
        };
        let refiner = FrictionNewtonOptions { tolerance: ROUNDING, acceptable: ROUNDING, max_steps: 8, ..newton };
        let interior_point = FrictionInteriorPointOptions { tolerance, ..FrictionInteriorPointOptions::default() };
        let admm = FrictionAdmmOptions { tolerance, max_iterations: 200, ..FrictionAdmmOptions::default() };
        let active_set = FrictionActiveSetOptions {
            tolerance,
            max_starts: ACTIVE_SET_STARTS,
            max_paths: 1,
            ..FrictionActiveSetOptions::default()
        };
        Self {
            accuracy,
            tolerance,
            acceptable: tolerance,
            active_set: FrictionActiveSet::with_options(active_set).unwrap_or_default(),
            quick: sweeps(CHUNK, CHUNK, 0, 1.0),
            more: sweeps(160, 10, 100, 1.0),
            few: sweeps(5, 5, 0, 1.0),
            relaxed: sweeps(20_000, 10, 2000, 0.5),
            newton: FrictionNewton::with_options(newton).unwrap_or_default(),
            refiner: FrictionNewton::with_options(refiner).unwrap_or_default(),
            interior_point: FrictionInteriorPoint::with_options(interior_point).unwrap_or_default(),
            admm: FrictionAdmm::with_options(admm).unwrap_or_default(),
            reference: FrictionReference::default(),
            single_pivot: FrictionSinglePivot::default(),
            stick_recovery: None,
            candidate: FrictionSolution::default(),
            scratch: FrictionSolution::default(),
            swept: FrictionSolution::default(),
            inside: FrictionSolution::default(),
            records: Vec::new(),
        }
    }

    /// The rungs that the last run took, in order.
    pub fn records(&self) -> &[FrictionRungRecord] {
        &self.records
    }

    /// The rungs after the sweeps, which ended at `swept`. With explicit W every factorisation is dear, so what the sweeps
    /// began is finished first; through bodies only where they came near.
    fn rungs(&self, problem: &FrictionProblem, swept: f64) -> impl Iterator<Item = FrictionRung> + use<> {
        use FrictionRung::{
            Admm, InteriorPoint, MoreGaussSeidel, Newton, PseudoTransient, Reference, RelaxedGaussSeidel, SecondStart,
            SinglePivot, ThirdStart,
        };
        let explicit = matches!(problem.operator(), Operator::Assembled(_));
        let (real_time, rows) = (self.accuracy == Accuracy::RealTime, problem.rows());
        let single_pivot = FrictionSinglePivot::applies(problem);
        let worthwhile = move |rung: &FrictionRung| match rung {
            Newton => explicit || swept <= NEAR,
            MoreGaussSeidel => !explicit,
            SinglePivot => single_pivot,
            Reference => rows <= REFERENCE_ROWS,
            _ => true,
        };
        let order = [
            Newton,
            InteriorPoint,
            SinglePivot,
            SecondStart,
            MoreGaussSeidel,
            ThirdStart,
            Admm,
            PseudoTransient,
            RelaxedGaussSeidel,
            Reference,
        ];
        order.into_iter().filter(move |rung| worthwhile(rung) && !(real_time && rung.is_expensive()))
    }

    /// Runs one rung, records it, and keeps its answer where that is the best so far.
    fn take(
        &mut self,
        rung: FrictionRung,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        best: &mut f64,
        solution: &mut FrictionSolution,
    ) -> FrictionRungRecord {
        let iterations = match rung {
            FrictionRung::RelaxedGaussSeidel
            | FrictionRung::PseudoTransient
            | FrictionRung::SinglePivot
            | FrictionRung::ActiveSet => self.run_rung(rung, problem, Some(solution)),
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

    /// Runs one rung, from `guess` where it takes one, into `self.candidate` and returns its iterations.
    fn run_rung(&mut self, rung: FrictionRung, problem: &FrictionProblem, guess: Option<&FrictionSolution>) -> u32 {
        match rung {
            FrictionRung::ActiveSet => self.active_set.run(problem, guess, &mut self.candidate).iterations,
            FrictionRung::WarmGaussSeidel => self.sweep(problem, guess),
            FrictionRung::ColdGaussSeidel => self.sweep(problem, None),
            FrictionRung::InteriorPoint => self.run_interior_point(problem, STARTS[0]),
            FrictionRung::SecondStart => self.run_interior_point(problem, STARTS[1]),
            FrictionRung::ThirdStart => self.run_interior_point(problem, STARTS[2]),
            FrictionRung::Reference => self.reference.run(problem, None, &mut self.candidate).iterations,
            FrictionRung::Newton => {
                let explicit = matches!(problem.operator(), Operator::Assembled(_));
                let most = if explicit { NEWTON } else { FROM_NEAR };
                self.newton.run_at_most(most, problem, Some(&self.swept), &mut self.candidate).iterations
            }
            FrictionRung::MoreGaussSeidel => {
                let sweeps = self.more.run(problem, Some(&self.swept), &mut self.candidate).iterations;
                sweeps + self.polish(problem, NEWTON)
            }
            FrictionRung::Admm => {
                let steps = self.admm.run(problem, None, &mut self.candidate).iterations;
                steps + self.polish(problem, POLISH)
            }
            FrictionRung::PseudoTransient => self.run_pseudo_transient(problem, guess),
            FrictionRung::SinglePivot => guess.map_or(0, |guess| {
                self.single_pivot.run(self.tolerance, problem, guess, &mut self.candidate).iterations
            }),
            FrictionRung::RelaxedGaussSeidel => {
                let sweeps = self.relaxed.run(problem, guess, &mut self.candidate).iterations;
                sweeps + self.polish(problem, NEWTON)
            }
        }
    }

    /// Single changes of mode end what guesses of all modes began, and one more guess refines what they found; returns their number. At the edge of sticking
    /// both may stop short of the tolerance; then sweeps and Newton, which stop there too, are left out, and the interior point comes from its own start.
    fn finish_active_set(&mut self, problem: &FrictionProblem, best: &mut f64, solution: &mut FrictionSolution) -> u32 {
        let changes = self.take(FrictionRung::SinglePivot, problem, None, best, solution).iterations;
        if *best > self.acceptable {
            return changes;
        }
        changes + self.take(FrictionRung::ActiveSet, problem, None, best, solution).iterations
    }

    /// The best of the rungs taken.
    fn best_record(&self) -> Option<&FrictionRungRecord> {
        self.records.iter().min_by(|a, b| a.residual.total_cmp(&b.residual))
    }

    /// A few more steps of Newton's method where they are cheap: at the edge of sticking velocities are known to
    /// residual^(2/3) only, so every digit counts. Then slow contacts settle.
    fn finish(&mut self, problem: &FrictionProblem, residual: f64, solution: &mut FrictionSolution) {
        // Few contacts refine their answers themselves, and what single changes of mode found for them.
        let few = self
            .records
            .iter()
            .any(|record| record.rung == FrictionRung::ActiveSet && record.residual <= self.tolerance);
        let Some(stick_recovery) = &mut self.stick_recovery else { return };
        if problem.rows() <= REFINED_ROWS && residual > if few { REFINED } else { ROUNDING } {
            let _ = self.refiner.run(problem, Some(solution), &mut self.scratch);
            if problem.residual(&self.scratch).value < residual {
                std::mem::swap(solution, &mut self.scratch);
            }
        }
        if problem.rows() <= SETTLED_ROWS {
            stick_recovery.run(problem, residual.max(self.tolerance), &mut solution.r);
        }
    }

    /// Sweeps by chunks while their rate promises the tolerance for less than the interior point costs.   [GS-6]
    fn sweep(&mut self, problem: &FrictionProblem, from: Option<&FrictionSolution>) -> u32 {
        let explicit = matches!(problem.operator(), Operator::Assembled(_));
        let (mut left, mut chunk) = if explicit { (ASSEMBLED_ITERATIONS, CHUNK) } else { (INTERIOR_POINT, GLANCE) };
        if self.accuracy == Accuracy::RealTime {
            (left, chunk) = (0.0, REAL_TIME);
        }
        let mut sweeps = self.quick.run_at_most(chunk, problem, from, &mut self.candidate).iterations;
        let mut residual = problem.residual(&self.candidate).value;
        while residual > self.tolerance && left > 0.0 {
            std::mem::swap(&mut self.candidate, &mut self.scratch);
            sweeps += self.quick.run_at_most(chunk, problem, Some(&self.scratch), &mut self.candidate).iterations;
            let before = std::mem::replace(&mut residual, problem.residual(&self.candidate).value);
            left -= f64::from(chunk);
            // Residuals fall by a constant factor per chunk; NaN, from a standstill at zero, ends the sweeps too.
            let chunks = libm::log(self.tolerance / residual) / libm::log(residual / before);
            let pays = residual < before && chunks * f64::from(chunk) <= left;
            if !(explicit || pays) {
                break;
            }
            chunk = CHUNK;
        }
        self.swept.r.clone_from(&self.candidate.r);
        sweeps
    }

    /// The interior point from this start, a few sweeps, and Newton. Where the path of the interior point folds for long, Newton is also tried
    /// on the way, from where the path is: its point of least residual is often from before the fold, and on the wrong side.
    fn run_interior_point(&mut self, problem: &FrictionProblem, start: f64) -> u32 {
        let (mut pause, mut others) = (ON_THE_WAY.first, 0);
        let mut path = self.interior_point.run_from((&[start], pause), problem, &mut self.inside);
        while path.status == Status::BudgetExhausted && pause < INTERIOR_STEPS {
            let near = self.interior_point.residual() <= ON_THE_WAY.residual;
            if near {
                self.scratch.r.clear();
                self.scratch.r.extend_from_slice(self.interior_point.impulses());
                others += self.iterate_and_polish(problem, ON_THE_WAY.steps);
                if problem.residual(&self.candidate).value <= self.tolerance {
                    return path.iterations + others;
                }
            }
            pause += if near { ON_THE_WAY.again } else { 1 };
            path = self.interior_point.go_on(pause.min(INTERIOR_STEPS), problem, &mut self.inside);
        }
        self.candidate.r.clone_from(&self.inside.r);
        if problem.residual(&self.candidate).value > self.tolerance {
            self.scratch.r.clone_from(&self.inside.r);
            others += self.iterate_and_polish(problem, POLISH);
        }
        path.iterations + others
    }

    /// A few sweeps and Newton from `self.scratch` into `self.candidate`; returns their number.
    fn iterate_and_polish(&mut self, problem: &FrictionProblem, most: u32) -> u32 {
        let sweeps = self.few.run(problem, Some(&self.scratch), &mut self.candidate).iterations;
        sweeps + self.polish(problem, most)
    }

    /// Pseudo-transient continuation, first from `best`, then from where the sweeps ended.   [NEWTON-7]
    fn run_pseudo_transient(&mut self, problem: &FrictionProblem, best: Option<&FrictionSolution>) -> u32 {
        let near = self.newton.run_pseudo_transient(PSEUDO_TRANSIENT_FROM_BEST, problem, best, &mut self.candidate);
        if near.status == Status::Solved {
            return near.iterations;
        }
        let far = self.newton.run_pseudo_transient(
            PSEUDO_TRANSIENT_FROM_GAUSS_SEIDEL,
            problem,
            Some(&self.swept),
            &mut self.scratch,
        );
        if problem.residual(&self.scratch).value < problem.residual(&self.candidate).value {
            std::mem::swap(&mut self.candidate, &mut self.scratch);
        }
        near.iterations + far.iterations
    }

    /// Newton from the candidate, kept when it is better.
    fn polish(&mut self, problem: &FrictionProblem, most: u32) -> u32 {
        let before = problem.residual(&self.candidate).value;
        if before <= self.tolerance {
            return 0;
        }
        let steps = self.newton.run_at_most(most, problem, Some(&self.candidate), &mut self.scratch).iterations;
        if problem.residual(&self.scratch).value < before {
            std::mem::swap(&mut self.candidate, &mut self.scratch);
        }
        steps
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
        let tolerance = self.tolerance;
        let (mut total, mut few) = (0_u32, f64::INFINITY);
        if FrictionActiveSet::applies(problem) {
            total = self.run_rung(FrictionRung::ActiveSet, problem, guess);
            let residual = match &mut self.stick_recovery {
                Some(stick_recovery) => stick_recovery.measure(problem, &self.candidate.r),
                None => problem.residual(&self.candidate).value,
            };
            self.records.push(FrictionRungRecord { rung: FrictionRung::ActiveSet, residual, iterations: total });
            if residual <= tolerance {
                solution.r.clone_from(&self.candidate.r);
                if let Some(stick_recovery) = &mut self.stick_recovery {
                    stick_recovery.run_measured(problem, tolerance, &mut solution.r);
                }
                return Ending::new(Status::Solved, total);
            }
            few = residual;
        }
        solution.r.clear();
        solution.r.resize(problem.rows(), 0.0);
        let mut best = problem.residual(solution).value;
        if best <= tolerance * 1e-6 {
            return Ending::new(Status::Solved, 0);
        }
        if few < best {
            best = few;
            solution.r.clone_from(&self.candidate.r);
        }
        let mut near = false;
        if few.is_finite() && FrictionSinglePivot::applies(problem) {
            total = total.saturating_add(self.finish_active_set(problem, &mut best, solution));
            near = best <= self.acceptable;
        }
        if best > tolerance {
            let swept = if near {
                self.swept.r.clone_from(&solution.r);
                f64::INFINITY
            } else {
                let guess = guess.filter(|guess| problem.residual(guess).value.is_finite());
                let first = if guess.is_some() { FrictionRung::WarmGaussSeidel } else { FrictionRung::ColdGaussSeidel };
                let swept = self.take(first, problem, guess, &mut best, solution);
                total = total.saturating_add(swept.iterations);
                swept.residual
            };
            for rung in self.rungs(problem, swept).filter(|rung| !(near && *rung == FrictionRung::Newton)) {
                if best <= if rung.is_expensive() { self.acceptable } else { tolerance } {
                    break;
                }
                total = total.saturating_add(self.take(rung, problem, None, &mut best, solution).iterations);
            }
        }
        if best > self.acceptable {
            return Ending::new(Status::BudgetExhausted, total);
        }
        self.finish(problem, best, solution);
        Ending::new(if best <= tolerance { Status::Solved } else { Status::SolvedLoosely }, total)
    }
}
