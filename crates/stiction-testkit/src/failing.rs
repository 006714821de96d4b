//! A solver that fails on demand, in every way in which a solver can fail.
//!
//! It wraps a real solver and behaves like it until a chosen call. Then it ends with a chosen status, returns NaN, or claims
//! success for a wrong solution. Callers must measure the residual themselves, and a failed step must leave the state
//! unchanged.
//!
//! It works in integration tests. In the unit tests of `stiction-complementarity` itself the traits belong to another build
//! of that crate and do not match.

use stiction_complementarity::{Ending, FrictionSolution, LcpSolution, MixedLcpSolution, Problem, Solver, Status};

/// Kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Ends with this status and without a solution.
    Status(Status),
    /// Claims success and returns NaN in every entry.
    NanSolution,
    /// Claims success for finite numbers far from any solution.
    FalseSuccess,
}

impl Fault {
    /// One of each: every status other than success, and both false claims.
    pub const ALL: [Self; 5] = [
        Self::Status(Status::BudgetExhausted),
        Self::Status(Status::Infeasible),
        Self::Status(Status::Breakdown),
        Self::NanSolution,
        Self::FalseSuccess,
    ];
}

/// Solutions whose numbers can be overwritten.
pub trait Overwrite {
    /// Sets every number to `value`.
    fn overwrite(&mut self, value: f64);
}

impl Overwrite for LcpSolution {
    fn overwrite(&mut self, value: f64) {
        self.z.fill(value);
    }
}

impl Overwrite for MixedLcpSolution {
    fn overwrite(&mut self, value: f64) {
        self.free.fill(value);
        self.complementary.fill(value);
    }
}

impl Overwrite for FrictionSolution {
    fn overwrite(&mut self, value: f64) {
        self.r.fill(value);
    }
}

/// The calls that fail; the first call is number 0.
#[derive(Clone, Debug)]
enum Schedule {
    From(u64),
    At(Vec<u64>),
}

/// A solver with an injected fault.
#[derive(Clone, Debug)]
pub struct FailingSolver<S> {
    inner: S,
    fault: Fault,
    schedule: Schedule,
    calls: u64,
}

impl<S> FailingSolver<S> {
    /// Fails at call `first` (counted from 0) and at every later one.
    pub fn from_call(inner: S, fault: Fault, first: u64) -> Self {
        Self { inner, fault, schedule: Schedule::From(first), calls: 0 }
    }

    /// Fails at these calls (counted from 0) only.
    pub fn at_calls(inner: S, fault: Fault, calls: impl Into<Vec<u64>>) -> Self {
        Self { inner, fault, schedule: Schedule::At(calls.into()), calls: 0 }
    }

    /// Number of calls so far.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    fn fails_now(&self) -> bool {
        match &self.schedule {
            Schedule::From(first) => self.calls >= *first,
            Schedule::At(calls) => calls.contains(&self.calls),
        }
    }
}

/// Wrong solution: negative, and large compared with the right-hand side of any scene.
const WRONG: f64 = -1e6;

impl<P, S> Solver<P> for FailingSolver<S>
where
    P: Problem,
    P::Solution: Overwrite,
    S: Solver<P>,
{
    fn run(&mut self, problem: &P, guess: Option<&P::Solution>, solution: &mut P::Solution) -> Ending {
        let ending = self.inner.run(problem, guess, solution);
        let fails = self.fails_now();
        self.calls += 1;
        if !fails {
            return ending;
        }
        let status = match self.fault {
            Fault::Status(status) => {
                solution.overwrite(WRONG);
                status
            }
            Fault::NanSolution => {
                solution.overwrite(f64::NAN);
                Status::Solved
            }
            Fault::FalseSuccess => {
                solution.overwrite(WRONG);
                Status::Solved
            }
        };
        Ending::new(status, ending.iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::{FailingSolver, Fault};
    use stiction_complementarity::{DenseMatrix, Lcp, LcpLemke, LcpSolution, Status, Tolerance, solve};

    fn statuses(mut solver: FailingSolver<LcpLemke>, calls: usize) -> Vec<Status> {
        let matrix = DenseMatrix::from_rows(&[[2.0, 1.0], [1.0, 2.0]]);
        let problem = Lcp::new(matrix, vec![-5.0, -6.0]).unwrap();
        let mut solution = LcpSolution::default();
        (0..calls).map(|_| solve(&mut solver, &problem, None, &mut solution, &Tolerance::default()).status).collect()
    }

    #[test]
    fn it_works_until_it_fails() {
        let fault = Fault::Status(Status::Infeasible);
        let from = FailingSolver::from_call(LcpLemke::new(), fault, 2);
        assert_eq!(statuses(from, 4), [Status::Solved, Status::Solved, Status::Infeasible, Status::Infeasible]);
        let at = FailingSolver::at_calls(LcpLemke::new(), fault, [1]);
        assert_eq!(statuses(at, 3), [Status::Solved, Status::Infeasible, Status::Solved]);
    }

    /// The residual exposes false claims of success.
    #[test]
    fn a_false_claim_of_success_is_a_breakdown() {
        for fault in [Fault::NanSolution, Fault::FalseSuccess] {
            let solver = FailingSolver::from_call(LcpLemke::new(), fault, 0);
            assert_eq!(statuses(solver, 1), [Status::Breakdown], "{fault:?}");
        }
    }

    #[test]
    fn every_fault_is_seen() {
        for fault in Fault::ALL {
            let solver = FailingSolver::from_call(LcpLemke::new(), fault, 0);
            assert_ne!(statuses(solver, 1), [Status::Solved], "{fault:?}");
        }
    }
}
