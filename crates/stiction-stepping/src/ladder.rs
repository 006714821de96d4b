//! The one ladder: the methods tried on a problem, in order, each graded by the problem itself.
//!
//! When the last rung fails the step fails. No impulse is ever zeroed, no state reset, no wrong answer called solved.

use std::fmt;

use stiction_complementarity::{
    LcpLemke, MixedLcp, MixedLcpLadder, MixedLcpSchur, MixedLcpSolution, Residual, Solver, Status, Tolerance, solve,
};

/// One method with its name.
pub struct Rung {
    /// The name in reports.
    pub name: &'static str,
    /// The method.
    pub solver: Box<dyn Solver<MixedLcp> + Send>,
}

impl fmt::Debug for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rung").field("name", &self.name).finish_non_exhaustive()
    }
}

/// How a climb of the ladder ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Climb {
    pub(crate) rung: &'static str,
    pub(crate) status: Status,
    pub(crate) residual: Residual,
    pub(crate) iterations: u32,
}

/// Methods in the order they are tried.
#[derive(Debug)]
pub struct Ladder {
    rungs: Vec<Rung>,
    /// What counts as solved.
    pub tolerance: Tolerance,
}

impl Default for Ladder {
    /// Elimination of the free unknowns and Lemke's method; then every other method for mixed problems in turn.
    fn default() -> Self {
        let lemke = Box::new(MixedLcpSchur::new(LcpLemke::default()));
        let others = Box::new(MixedLcpLadder::new());
        Self::new(vec![Rung { name: "lemke", solver: lemke }, Rung { name: "other-methods", solver: others }])
    }
}

impl Ladder {
    /// A ladder of your own.
    pub fn new(rungs: Vec<Rung>) -> Self {
        Self { rungs, tolerance: Tolerance::default() }
    }

    /// The names of the rungs.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rungs.iter().map(|rung| rung.name)
    }

    /// Tries the rungs in order and stops at the first that solves the problem.
    pub(crate) fn climb(&mut self, problem: &MixedLcp, solution: &mut MixedLcpSolution) -> Climb {
        let mut climb = Climb {
            rung: "none",
            status: Status::Breakdown,
            residual: Residual { value: f64::INFINITY, row: 0 },
            iterations: 0,
        };
        for rung in &mut self.rungs {
            let outcome = solve(rung.solver.as_mut(), problem, None, solution, &self.tolerance);
            climb = Climb {
                rung: rung.name,
                status: outcome.status,
                residual: outcome.residual,
                iterations: climb.iterations + outcome.iterations,
            };
            if climb.status == Status::Solved {
                break;
            }
        }
        climb
    }
}
