//! The seam between problems and methods, and the only way from a method's claim to a verdict.

use crate::outcome::{Ending, Outcome, Status, Tolerance};
use crate::problem::Problem;

/// A method for problems of type `P`. Implementations own their scratch memory and reuse it.
pub trait Solver<P: Problem> {
    /// Runs the method into `solution` and says how it ended.
    ///
    /// `solution` is resized as needed; once warm, nothing allocates. A `guess` of a wrong length or with non-finite
    /// numbers is ignored, as is any guess by a method that cannot use one.
    fn run(&mut self, problem: &P, guess: Option<&P::Solution>, solution: &mut P::Solution) -> Ending;

    /// For a ladder: the rung that gave the last answer.
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

/// Runs the method, then measures its answer with the problem's own ruler.
///
/// The residual decides how far a claim of success, or of a budget that ran out, is right: within `tolerance.solved` the
/// answer is `Solved`, within `tolerance.loose` it is `SolvedLoosely`, otherwise a claim of success becomes `Breakdown`. A
/// method that says it failed is believed: a small residual may only mean that the problem is small. A NaN in the answer
/// measures as infinity and so cannot pass.
///
/// A guess that the problem does not accept (wrong length, NaN, from another scene, far too large) is not handed on, and
/// the outcome says so.
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
    let status = match claim.status {
        failure @ (Status::Infeasible | Status::Breakdown) => failure,
        _ if residual.value <= tolerance.solved => Status::Solved,
        _ if residual.value <= tolerance.loose => Status::SolvedLoosely,
        Status::BudgetExhausted => Status::BudgetExhausted,
        _ => Status::Breakdown,
    };
    Outcome { solution, status, residual, iterations: claim.iterations, guess_ignored }
}
