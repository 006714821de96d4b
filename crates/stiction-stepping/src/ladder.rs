//! Ladder of solver methods: they are tried on a problem in order, and the problem measures each result.
//!
//! The step fails if the last rung fails. No impulse is set to zero, no state is reset, and no inaccurate result is reported as solved.

use std::fmt;

use stiction_complementarity::{
    Accuracy, FrictionLadder, FrictionProblem, LcpLemke, MixedLcp, MixedLcpLadder, MixedLcpSchur, Problem, Residual,
    Solver, Status, Tolerance,
};

/// Solver method with its name.
pub struct Rung<P: Problem = MixedLcp> {
    /// Name in reports.
    pub name: &'static str,
    /// Solver.
    pub solver: Box<dyn Solver<P> + Send>,
}

impl<P: Problem> fmt::Debug for Rung<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rung").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Result of running a ladder.
#[derive(Clone, Copy, Debug)]
pub struct LadderOutcome {
    /// Rung that solved the problem, or the last one tried.
    pub rung: &'static str,
    /// Status of the solution.
    pub status: Status,
    /// Residual of the solution, with its worst row.
    pub residual: Residual,
    /// Iterations of all rungs.
    pub iterations: u32,
}

/// Target residual of frictional problems, dimensionless: velocities in m/s are accurate to about this times their size.
///
/// The ladder aims at it if that is cheap; [`Accuracy::Exact`] is required.
pub(crate) const CONE_TOLERANCE: f64 = 1e-10;

/// Ladder of methods for mixed linear problems and for frictional problems, in the order they are tried.
#[derive(Debug)]
pub struct Ladder {
    mixed: Vec<Rung<MixedLcp>>,
    cone: Vec<Rung<FrictionProblem>>,
    /// Tolerance for linear problems.
    pub tolerance: Tolerance,
    /// Tolerance for frictional problems.
    pub cone_tolerance: Tolerance,
}

impl Default for Ladder {
    /// Linear problems: elimination of the free unknowns and Lemke's method, then all other methods for mixed problems. Frictional
    /// problems: the ladder of `stiction-complementarity`.
    fn default() -> Self {
        let lemke = Box::new(MixedLcpSchur::new(LcpLemke::default()));
        let others = Box::new(MixedLcpLadder::new());
        let tolerance = Tolerance::default();
        let exact = Accuracy::Exact.tolerance();
        let cone = FrictionLadder::with_tolerance(CONE_TOLERANCE)
            .unwrap_or_default()
            .with_acceptable_residual(exact)
            .with_stick_recovery();
        Self {
            mixed: vec![Rung { name: "lemke", solver: lemke }, Rung { name: "other-methods", solver: others }],
            cone: vec![Rung { name: "friction", solver: Box::new(cone) }],
            tolerance,
            cone_tolerance: Tolerance { solved: exact, ..tolerance },
        }
    }
}

impl Ladder {
    /// Default ladder for another accuracy: `Exact` is the default, the others stop earlier with the second-order cone.
    ///
    /// Linear problems are solved by pivoting, which is exact for every accuracy.
    pub fn with_accuracy(accuracy: Accuracy) -> Self {
        if accuracy == Accuracy::Exact {
            return Self::default();
        }
        let cone = Rung { name: "friction", solver: Box::new(FrictionLadder::new(accuracy)) as _ };
        Self { cone: vec![cone], ..Self::default() }.tolerating(accuracy.tolerance())
    }

    /// Sets another tolerance for the same methods.
    #[must_use]
    pub fn tolerating(mut self, solved: f64) -> Self {
        self.tolerance = Tolerance { solved, loose: solved };
        self.cone_tolerance = self.tolerance;
        self
    }

    /// Custom ladder for schemes with linear friction sets.
    pub fn new(rungs: Vec<Rung>) -> Self {
        Self { mixed: rungs, ..Self::default() }
    }

    /// Custom ladder for schemes with the second-order cone.
    pub fn for_cones(rungs: Vec<Rung<FrictionProblem>>) -> Self {
        Self { cone: rungs, ..Self::default() }
    }

    /// Names of the rungs for frictional problems, or else for mixed linear ones.
    pub fn names(&self, is_friction_problem: bool) -> impl Iterator<Item = &'static str> {
        let (cone, mixed) = if is_friction_problem { (&self.cone[..], &[][..]) } else { (&[][..], &self.mixed[..]) };
        cone.iter().map(|rung| rung.name).chain(mixed.iter().map(|rung| rung.name))
    }

    /// Solves a problem of a step: runs the rungs for its kind in order and stops at the first that solves it.
    ///
    /// A warm start that the problem does not accept is not used. The residual of the problem decides on the claim of each rung.
    pub fn solve<P: LadderProblem>(
        &mut self,
        problem: &P,
        guess: Option<&P::Solution>,
        solution: &mut P::Solution,
    ) -> LadderOutcome {
        let (rungs, tolerance) = P::rungs(self);
        let guess = guess.filter(|guess| problem.accepts_guess(guess));
        let mut outcome = LadderOutcome {
            rung: "none",
            status: Status::Breakdown,
            residual: Residual { value: f64::INFINITY, row: 0 },
            iterations: 0,
        };
        for rung in rungs {
            let claim = rung.solver.as_mut().run(problem, guess, solution);
            let residual = problem.residual(solution);
            outcome = LadderOutcome {
                rung: rung.solver.rung().unwrap_or(rung.name),
                status: claim.measured(residual.value, &tolerance),
                residual,
                iterations: outcome.iterations + claim.iterations,
            };
            if outcome.status == Status::Solved {
                break;
            }
        }
        outcome
    }
}

/// Problem of a step with its rungs.
pub trait LadderProblem: Problem + Sized {
    /// Rungs for this kind of problem, and their tolerance.
    fn rungs(ladder: &mut Ladder) -> (&mut [Rung<Self>], Tolerance);
}

impl LadderProblem for MixedLcp {
    fn rungs(ladder: &mut Ladder) -> (&mut [Rung<Self>], Tolerance) {
        (&mut ladder.mixed, ladder.tolerance)
    }
}

impl LadderProblem for FrictionProblem {
    fn rungs(ladder: &mut Ladder) -> (&mut [Rung<Self>], Tolerance) {
        (&mut ladder.cone, ladder.cone_tolerance)
    }
}
