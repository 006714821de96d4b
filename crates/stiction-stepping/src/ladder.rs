//! Ladder of solver methods: they are tried on a problem in order, and the problem measures each result.
//!
//! The step fails if the last rung fails. No impulse is set to zero, no state is reset, and no inaccurate result is reported as solved.

use std::fmt;

use stiction_complementarity::{
    Accuracy, FrictionIslands, FrictionLadder, FrictionProblem, LcpLemke, MixedLcp, MixedLcpLadder, MixedLcpSchur,
    Policy, Problem, Residual, Solver, Status, Tolerance,
};

use crate::{Culprit, Residuals};

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
    /// Constraint of the worst row, if the residual is above the aimed one and the step recovered the solution.
    pub worst: Option<Culprit>,
}

impl LadderOutcome {
    /// True if the residual is within that which the policy refuses.
    pub fn is_accepted(&self) -> bool {
        matches!(self.status, Status::Solved | Status::SolvedLoosely)
    }
}

/// Target residual of frictional problems, dimensionless: velocities in m/s are accurate to about this times their size.
///
/// With [`Accuracy::Exact`] steps with few contacts aim at it if that is cheap.
pub(crate) const CONE_TOLERANCE: f64 = 1e-10;

/// Ladder of methods for mixed linear problems and for frictional problems, in the order they are tried.
#[derive(Debug)]
pub struct Ladder {
    mixed: Vec<Rung<MixedLcp>>,
    /// Methods for frictional problems: those for islands of many contacts, then those for the whole. Custom methods are for the whole.
    cone: Vec<Rung<FrictionProblem>>,
    /// Accuracy and policy of the methods for frictional problems; none if they are custom.
    own: Option<(Accuracy, Policy)>,
    /// Tolerance for linear problems.
    pub tolerance: Tolerance,
    /// Tolerance for frictional problems: they are solved within the first number, and accepted within the second.
    pub cone_tolerance: Tolerance,
}

impl Default for Ladder {
    /// Linear problems: elimination of the free unknowns and Lemke's method, then all other methods for mixed problems. Frictional
    /// problems: the ladder of `stiction-complementarity`, with many contacts that of each island.
    fn default() -> Self {
        Self::with_accuracy(Accuracy::Exact)
    }
}

impl Ladder {
    /// Default ladder for another accuracy: `Exact` is the default, the others stop earlier with the second-order cone.
    ///
    /// Linear problems are solved by pivoting, which is exact for every accuracy.
    pub fn with_accuracy(accuracy: Accuracy) -> Self {
        let lemke = Box::new(MixedLcpSchur::new(LcpLemke::default()));
        let others = Box::new(MixedLcpLadder::new());
        let policy = Policy::new(accuracy);
        let linear = Tolerance::default().solved.max(if accuracy == Accuracy::Exact { 0.0 } else { policy.accept });
        Self {
            mixed: vec![Rung { name: "lemke", solver: lemke }, Rung { name: "other-methods", solver: others }],
            cone: friction_rungs(accuracy, policy),
            own: Some((accuracy, policy)),
            tolerance: Tolerance { solved: linear, loose: linear },
            cone_tolerance: Tolerance { solved: policy.aim, loose: policy.refuse },
        }
    }

    /// Takes over the residuals that a scheme asks for. Custom methods keep their own ending, and are measured by these residuals.
    pub fn follow(&mut self, asked: &Residuals) {
        let Residuals { aim, accept, refuse } = *asked;
        if let Some((accuracy, policy)) = self.own {
            let wanted = Policy::new(accuracy).with(aim, accept, refuse);
            if wanted != policy {
                self.cone = friction_rungs(accuracy, wanted);
                self.own = Some((accuracy, wanted));
                self.cone_tolerance = Tolerance { solved: wanted.aim, loose: wanted.refuse };
            }
        } else {
            let Tolerance { solved, loose } = self.cone_tolerance;
            let solved = aim.unwrap_or(solved);
            self.cone_tolerance = Tolerance { solved, loose: refuse.unwrap_or(loose).max(solved) };
        }
    }

    /// Number of rungs for islands, which come first.
    fn for_islands(&self) -> usize {
        usize::from(self.own.is_some())
    }

    fn rungs_of_whole(&self) -> &[Rung<FrictionProblem>] {
        self.cone.get(self.for_islands()..).unwrap_or_default()
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
        Self { cone: rungs, own: None, ..Self::default() }
    }

    /// True if the methods for frictional problems are those of this ladder, not custom ones.
    pub(crate) fn has_own_methods(&self) -> bool {
        self.own.is_some()
    }

    /// Names of the rungs for frictional problems, or else for mixed linear ones.
    pub fn names(&self, is_friction_problem: bool) -> impl Iterator<Item = &'static str> {
        let (cone, mixed) =
            if is_friction_problem { (self.rungs_of_whole(), &[][..]) } else { (&[][..], &self.mixed[..]) };
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
        let has_policy = self.own.is_some();
        let (rungs, tolerance) = P::rungs(self, problem);
        let guess = guess.filter(|guess| problem.accepts_guess(guess));
        let mut outcome = LadderOutcome {
            rung: "none",
            status: Status::Breakdown,
            residual: Residual { value: f64::INFINITY, row: 0 },
            iterations: 0,
            worst: None,
        };
        for rung in rungs {
            let claim = rung.solver.as_mut().run(problem, guess, solution);
            let residual = problem.residual(solution);
            outcome = LadderOutcome {
                rung: rung.solver.rung().unwrap_or(rung.name),
                status: claim.measured(residual.value, &tolerance),
                residual,
                iterations: outcome.iterations + claim.iterations,
                worst: None,
            };
            // By a policy, what the methods before the last accept is not solved again by the others.
            if outcome.status == Status::Solved || (has_policy && outcome.is_accepted()) {
                break;
            }
        }
        outcome
    }
}

/// Methods for frictional problems with many contacts, then those for any problem.
fn friction_rungs(accuracy: Accuracy, policy: Policy) -> Vec<Rung<FrictionProblem>> {
    vec![islands_rung(accuracy, policy), friction_rung(accuracy, policy)]
}

/// Methods for frictional problems as a whole.
fn friction_rung(accuracy: Accuracy, policy: Policy) -> Rung<FrictionProblem> {
    let policy = if policy.validate().is_ok() { policy } else { Policy::new(accuracy) };
    Rung { name: "friction", solver: Box::new(FrictionLadder::for_steps(accuracy, policy).unwrap_or_default()) }
}

/// Methods for frictional problems with many contacts: a ladder for each island.
fn islands_rung(accuracy: Accuracy, policy: Policy) -> Rung<FrictionProblem> {
    let islands = FrictionIslands::with_policy(accuracy, policy).unwrap_or_else(|_| FrictionIslands::new(accuracy));
    let solver = if accuracy == Accuracy::Exact { islands.with_stick_recovery() } else { islands };
    Rung { name: "friction", solver: Box::new(solver) }
}

/// Problem of a step with its rungs.
pub trait LadderProblem: Problem + Sized {
    /// Rungs for this problem, and their tolerance.
    fn rungs<'l>(ladder: &'l mut Ladder, problem: &Self) -> (&'l mut [Rung<Self>], Tolerance);
}

impl LadderProblem for MixedLcp {
    fn rungs<'l>(ladder: &'l mut Ladder, _problem: &Self) -> (&'l mut [Rung<Self>], Tolerance) {
        (&mut ladder.mixed, ladder.tolerance)
    }
}

impl LadderProblem for FrictionProblem {
    fn rungs<'l>(ladder: &'l mut Ladder, problem: &Self) -> (&'l mut [Rung<Self>], Tolerance) {
        let skipped = if FrictionIslands::applies(problem) { 0 } else { ladder.for_islands() };
        (ladder.cone.get_mut(skipped..).unwrap_or_default(), ladder.cone_tolerance)
    }
}
