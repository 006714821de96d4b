//! Interface between problems and methods, and the check of a method's claim by the residual.

use crate::outcome::{Ending, Outcome, Tolerance};
use crate::problem::Problem;

/// A method for problems of type `P`. Implementations own their scratch memory and reuse it.
pub trait Solver<P: Problem> {
    /// Runs the method, writes `solution` and returns the claimed status.
    ///
    /// `solution` is resized as needed. A second run on a problem of the same size does not allocate. A `guess` of a wrong
    /// length or with non-finite numbers is ignored, and so is any guess by a method that cannot use one.
    fn run(&mut self, problem: &P, guess: Option<&P::Solution>, solution: &mut P::Solution) -> Ending;

    /// Rung of a ladder that gave the last solution; `None` for other methods.
    fn rung(&self) -> Option<&'static str> {
        None
    }
}

impl<P: Problem, S: Solver<P> + ?Sized> Solver<P> for Box<S> {
    fn run(&mut self, problem: &P, guess: Option<&P::Solution>, solution: &mut P::Solution) -> Ending {
        (**self).run(problem, guess, solution)
    }

    fn rung(&self) -> Option<&'static str> {
        (**self).rung()
    }
}

/// Runs the method, then measures its solution by the residual of the problem.
///
/// The residual decides on the claim, see [`Ending::measured`]. A NaN in the solution gives an infinite residual and so cannot pass.
///
/// An initial guess that the problem does not accept (wrong length, NaN, another scene, far too large) is not used, and
/// [`Outcome::guess_ignored`] is set.
pub fn solve<'s, P: Problem, S: Solver<P> + ?Sized>(
    solver: &mut S,
    problem: &P,
    guess: Option<&P::Solution>,
    solution: &'s mut P::Solution,
    tolerance: &Tolerance,
) -> Outcome<&'s P::Solution> {
    let accepted = guess.filter(|guess| problem.accepts_guess(guess));
    let guess_ignored = guess.is_some() && accepted.is_none();
    let claim = solver.run(problem, accepted, solution);
    let residual = problem.residual(solution);
    let status = claim.measured(residual.value, tolerance);
    Outcome { solution, status, residual, iterations: claim.iterations, guess_ignored }
}
