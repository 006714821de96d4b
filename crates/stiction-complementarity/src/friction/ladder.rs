//! The ladder for frictional problems: methods in the order they are tried, each graded by the problem.
//!
//! Few contacts are solved at once. Otherwise fast iteration first, because most problems are easy and warm; Newton to finish what it began; the interior point,
//! which does not care for stacks and mass ratios, with the same polish; ADMM as another start for Newton; relaxed sweeps;
//! and the slow reference where it can be afforded. Every rung starts from the best impulses so far, except those that
//! start afresh, and every rung taken is recorded.

use super::active_set::{FrictionActiveSet, FrictionActiveSetOptions};
use super::admm::{FrictionAdmm, FrictionAdmmOptions};
use super::interior_point::FrictionInteriorPoint;
use super::newton::{FrictionNewton, FrictionNewtonOptions};
use super::nsgs::{FrictionNsgs, FrictionNsgsOptions};
use super::reference::FrictionReference;
use super::settle::Settle;
use super::{FrictionProblem, FrictionSolution};
use crate::outcome::{Ending, Status};
use crate::problem::Problem;
use crate::solver::Solver;

/// How far a solve goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accuracy {
    /// A fixed small number of sweeps: residual 1e-2 or what was reached.
    RealTime,
    /// Residual 1e-4.
    Balanced,
    /// Residual 1e-8.
    #[default]
    Exact,
}

impl Accuracy {
    /// The residual [CONE-5] asked for.
    pub fn tolerance(self) -> f64 {
        match self {
            Self::RealTime => 1e-2,
            Self::Balanced => 1e-4,
            Self::Exact => 1e-10,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::RealTime => "real-time",
            Self::Balanced => "balanced",
            Self::Exact => "exact",
        }
    }
}

/// One rung of [`FrictionLadder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrictionRung {
    /// Active sets, where contacts are few.
    FewContacts,
    /// Gauss-Seidel from the guess.
    WarmSweeps,
    /// Gauss-Seidel from zero.
    ColdSweeps,
    /// Semismooth Newton from the best so far.
    Newton,
    /// The interior point, a few sweeps, and Newton.
    InteriorPoint,
    /// ADMM and Newton.
    Admm,
    /// Many relaxed sweeps, and Newton.
    RelaxedSweeps,
    /// De Saxcé's fixed point over cone programs.
    Reference,
}

impl FrictionRung {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::FewContacts => "few-contacts",
            Self::WarmSweeps => "warm-sweeps",
            Self::ColdSweeps => "cold-sweeps",
            Self::Newton => "newton",
            Self::InteriorPoint => "interior-point",
            Self::Admm => "admm",
            Self::RelaxedSweeps => "relaxed-sweeps",
            Self::Reference => "reference",
        }
    }
}

/// What one rung of the last run achieved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionRungRecord {
    /// The rung.
    pub rung: FrictionRung,
    /// The residual of its answer.
    pub residual: f64,
    /// Its iterations: sweeps, steps or programs.
    pub iterations: u32,
}

/// The most rows for which the reference, which is dense and cubic, is asked.
pub(crate) const REFERENCE_ROWS: usize = 400;

/// The most rows for which a solution is refined beyond the tolerance, and the residual that is left to rounding.
const REFINED_ROWS: usize = 120;
const ROUNDING: f64 = 1e-15;

/// The ladder of methods for [`FrictionProblem`], with their scratch memory.
#[derive(Clone, Debug)]
pub struct FrictionLadder {
    accuracy: Accuracy,
    few_contacts: FrictionActiveSet,
    quick: FrictionNsgs,
    few: FrictionNsgs,
    relaxed: FrictionNsgs,
    newton: FrictionNewton,
    refiner: FrictionNewton,
    interior_point: FrictionInteriorPoint,
    admm: FrictionAdmm,
    reference: FrictionReference,
    settle: Settle,
    candidate: FrictionSolution,
    scratch: FrictionSolution,
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
        let tolerance = accuracy.tolerance();
        let sweeps = |max_sweeps, stall_after, relaxation| {
            let options = FrictionNsgsOptions {
                max_sweeps,
                tolerance,
                relaxation,
                stall_after,
                ..FrictionNsgsOptions::default()
            };
            FrictionNsgs::with_options(options).unwrap_or_default()
        };
        let newton = FrictionNewtonOptions {
            tolerance: 0.1 * tolerance,
            acceptable: tolerance,
            max_steps: 100,
            ..FrictionNewtonOptions::default()
        };
        let refiner = FrictionNewtonOptions { tolerance: ROUNDING, acceptable: ROUNDING, max_steps: 8, ..newton };
        let admm = FrictionAdmmOptions { tolerance, max_iterations: 200, ..FrictionAdmmOptions::default() };
        let few_contacts = FrictionActiveSetOptions { tolerance, ..FrictionActiveSetOptions::default() };
        let quick = if accuracy == Accuracy::RealTime { 50 } else { 200 };
        Self {
            accuracy,
            few_contacts: FrictionActiveSet::with_options(few_contacts).unwrap_or_default(),
            quick: sweeps(quick, 100, 1.0),
            few: sweeps(5, 0, 1.0),
            relaxed: sweeps(20_000, 2000, 0.5),
            newton: FrictionNewton::with_options(newton).unwrap_or_default(),
            refiner: FrictionNewton::with_options(refiner).unwrap_or_default(),
            interior_point: FrictionInteriorPoint::default(),
            admm: FrictionAdmm::with_options(admm).unwrap_or_default(),
            reference: FrictionReference::default(),
            settle: Settle::default(),
            candidate: FrictionSolution::default(),
            scratch: FrictionSolution::default(),
            records: Vec::new(),
        }
    }

    /// The rungs that the last run took, in order.
    pub fn records(&self) -> &[FrictionRungRecord] {
        &self.records
    }

    fn rungs(&self, rows: usize, warm: bool) -> impl Iterator<Item = FrictionRung> + use<> {
        use FrictionRung::{Admm, ColdSweeps, InteriorPoint, Newton, Reference, RelaxedSweeps, WarmSweeps};
        let first = if warm { WarmSweeps } else { ColdSweeps };
        let further: &[FrictionRung] = match self.accuracy {
            Accuracy::RealTime => &[],
            _ => &[Newton, InteriorPoint, Admm, RelaxedSweeps, Reference],
        };
        let affordable = move |rung: &FrictionRung| *rung != Reference || rows <= REFERENCE_ROWS;
        std::iter::once(first).chain(further.iter().copied()).filter(affordable)
    }

    /// Runs one rung from `best` into `self.candidate` and returns its iterations.
    fn climb(&mut self, rung: FrictionRung, problem: &FrictionProblem, best: Option<&FrictionSolution>) -> u32 {
        match rung {
            FrictionRung::FewContacts => self.few_contacts.run(problem, best, &mut self.candidate).iterations,
            FrictionRung::WarmSweeps => self.quick.run(problem, best, &mut self.candidate).iterations,
            FrictionRung::ColdSweeps => self.quick.run(problem, None, &mut self.candidate).iterations,
            FrictionRung::Newton => self.newton.run(problem, best, &mut self.candidate).iterations,
            FrictionRung::Reference => self.reference.run(problem, None, &mut self.candidate).iterations,
            FrictionRung::InteriorPoint => {
                let steps = self.interior_point.run(problem, None, &mut self.candidate).iterations;
                std::mem::swap(&mut self.candidate, &mut self.scratch);
                let sweeps = self.few.run(problem, Some(&self.scratch), &mut self.candidate).iterations;
                steps + sweeps + self.polish(problem)
            }
            FrictionRung::Admm => {
                let steps = self.admm.run(problem, None, &mut self.candidate).iterations;
                steps + self.polish(problem)
            }
            FrictionRung::RelaxedSweeps => {
                let sweeps = self.relaxed.run(problem, best, &mut self.candidate).iterations;
                sweeps + self.polish(problem)
            }
        }
    }

    /// A few more steps of Newton's method where they are cheap: at the edge of sticking velocities are known to
    /// residual^(2/3) only, so every digit counts.
    fn refine(&mut self, problem: &FrictionProblem, residual: f64, solution: &mut FrictionSolution) {
        if self.accuracy != Accuracy::Exact || problem.rows() > REFINED_ROWS || residual <= ROUNDING {
            return;
        }
        let _ = self.refiner.run(problem, Some(solution), &mut self.scratch);
        if problem.residual(&self.scratch).value < residual {
            std::mem::swap(solution, &mut self.scratch);
        }
    }

    /// Newton from the candidate, kept when it is better.
    fn polish(&mut self, problem: &FrictionProblem) -> u32 {
        let before = problem.residual(&self.candidate).value;
        if before <= self.accuracy.tolerance() {
            return 0;
        }
        let steps = self.newton.run(problem, Some(&self.candidate), &mut self.scratch).iterations;
        if problem.residual(&self.scratch).value < before {
            std::mem::swap(&mut self.candidate, &mut self.scratch);
        }
        steps
    }
}

impl Solver<FrictionProblem> for FrictionLadder {
    fn rung(&self) -> Option<&'static str> {
        self.records.last().map(|record| record.rung.name())
    }

    fn run(
        &mut self,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        self.records.clear();
        let tolerance = self.accuracy.tolerance();
        let mut total = 0_u32;
        if FrictionActiveSet::applies(problem) {
            total = self.climb(FrictionRung::FewContacts, problem, guess);
            let residual = problem.residual(&self.candidate).value;
            self.records.push(FrictionRungRecord { rung: FrictionRung::FewContacts, residual, iterations: total });
            if residual <= tolerance {
                solution.r.clone_from(&self.candidate.r);
                self.settle.run(problem, tolerance, &mut solution.r);
                return Ending::new(Status::Solved, total);
            }
        }
        solution.r.clear();
        solution.r.resize(problem.rows(), 0.0);
        let mut best = problem.residual(solution).value;
        if best <= tolerance * 1e-6 {
            return Ending::new(Status::Solved, 0);
        }
        let guess = guess.filter(|guess| problem.residual(guess).value.is_finite());
        for rung in self.rungs(problem.rows(), guess.is_some()) {
            let from = if rung == FrictionRung::WarmSweeps { guess } else { Some(&*solution) };
            let iterations = self.climb(rung, problem, from);
            let residual = problem.residual(&self.candidate).value;
            self.records.push(FrictionRungRecord { rung, residual, iterations });
            total = total.saturating_add(iterations);
            if residual < best {
                best = residual;
                solution.r.clone_from(&self.candidate.r);
            }
            if best <= tolerance {
                self.refine(problem, best, solution);
                self.settle.run(problem, tolerance, &mut solution.r);
                return Ending::new(Status::Solved, total);
            }
        }
        Ending::new(Status::BudgetExhausted, total)
    }
}
