//! Hints on the next step for every status other than solved.

use crate::json::ProblemFile;
use crate::outcome::Status;

/// Next step after `method` ended with `status`; `None` if the problem is solved.
pub(super) fn next_step(problem: &ProblemFile, method: &str, status: Status) -> Option<&'static str> {
    if status == Status::Solved {
        return None;
    }
    Some(match problem {
        ProblemFile::Lcp(_) | ProblemFile::MixedLcp(_) => linear(method, status),
        ProblemFile::BoxLcp(_) if method == "ladder" => linear(method, status),
        ProblemFile::BoxLcp(_) => "Newton may have ended in a local minimum of its merit function: try ladder",
        ProblemFile::Ncp { .. } => nonlinear(status),
        ProblemFile::Friction(_) => frictional(method, status),
    })
}

fn linear(method: &str, status: Status) -> &'static str {
    match (method, status) {
        ("ladder", Status::Infeasible) => {
            "there is a proof that no solution exists: look for contradicting constraints, or regularise the diagonal"
        }
        ("ladder", _) => {
            "every rung failed: rescale rows and columns to similar size, or regularise the diagonal slightly"
        }
        (_, Status::SolvedLoosely) => "rounding is the limit: rescale rows and columns, or accept a larger tolerance",
        ("lemke" | "pivoting", Status::Infeasible) => {
            "a ray is a proof only for copositive-plus matrices: ladder tries other paths and looks for a proof"
        }
        ("lemke" | "pivoting", Status::BudgetExhausted) => {
            "the pivot budget is exhausted: try principal-pivoting, newton or ladder"
        }
        ("principal-pivoting", _) => "made for P-matrices or a good initial guess: try lemke or ladder",
        ("gauss-seidel", _) => "Gauss-Seidel needs a symmetric, well-conditioned matrix: try lemke, newton or ladder",
        ("newton", _) => "a local minimum of the merit function proves nothing: try lemke or ladder",
        ("enumeration", Status::Infeasible) => "all complementary bases were tried: the problem has no solution",
        ("enumeration", _) => "singular bases are undecided: try ladder",
        _ => "the entries differ much in magnitude: rescale rows and columns, or try ladder",
    }
}

fn nonlinear(status: Status) -> &'static str {
    match status {
        Status::BudgetExhausted => {
            "give an initial guess closer to the solution, or finite bounds within the domain of F"
        }
        Status::SolvedLoosely => "rounding is the limit: scale F and z to about one, or accept a larger tolerance",
        _ => {
            "an iterate left the domain of F, or there is no solution: give another initial guess, or bounds within the \
             domain of F"
        }
    }
}

fn frictional(method: &str, status: Status) -> &'static str {
    match (method, status) {
        ("ladder", Status::SolvedLoosely) => "sufficient for accuracy balanced; for more, look at the worst contact",
        ("ladder", _) => {
            "every rung failed: duplicated contacts, a wedged body or extreme mass ratios; remove contacts, or add compliance"
        }
        ("active-set", _) => "the active sets cycled: try interior-point or ladder",
        ("nsgs", _) => {
            "Gauss-Seidel converges slowly for stacks and large mass ratios: try interior-point or ladder, nsgs-relaxed \
             if it oscillates"
        }
        ("nsgs-relaxed", _) => {
            "Gauss-Seidel converges slowly for stacks and large mass ratios: try interior-point or ladder"
        }
        ("interior-point", Status::Breakdown) => "its matrix was singular: try ladder, or add a little compliance",
        ("interior-point", _) => {
            "sliding contacts limit its accuracy: try ladder, which polishes with Gauss-Seidel and Newton"
        }
        ("newton", _) => "Newton needs a good initial guess: use ladder, which starts it from nsgs or interior-point",
        ("admm", _) => "admm converges slowly to high accuracy: use ladder, which polishes with Newton",
        ("reference", _) => "the fixed-point iteration need not contract for sliding contacts: try ladder",
        ("polygon", _) => {
            "the ladder of the polygonal problem failed: use fewer directions, or ladder for the second-order cone"
        }
        _ => "try ladder",
    }
}
