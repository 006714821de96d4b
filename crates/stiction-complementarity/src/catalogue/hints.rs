//! The next knob to turn, for every ending that is no solution.

use crate::json::ProblemFile;
use crate::outcome::Status;

/// What to try after `method` ended so; nothing when the problem is solved.
pub(super) fn next_knob(problem: &ProblemFile, method: &str, status: Status) -> Option<&'static str> {
    if status == Status::Solved {
        return None;
    }
    Some(match problem {
        ProblemFile::Lcp(_) | ProblemFile::MixedLcp(_) => linear(method, status),
        ProblemFile::BoxLcp(_) if method == "ladder" => linear(method, status),
        ProblemFile::BoxLcp(_) => "Newton needs no bounds to be finite, but may end in a valley: try ladder",
        ProblemFile::Ncp { .. } => nonlinear(status),
        ProblemFile::Friction(_) => frictional(method, status),
    })
}

fn linear(method: &str, status: Status) -> &'static str {
    match (method, status) {
        ("ladder", Status::Infeasible) => {
            "there is a proof that no solution exists: look for contradicting constraints, or soften the diagonal"
        }
        ("ladder", _) => "every rung failed: rescale rows and columns to similar size, or soften the diagonal slightly",
        (_, Status::SolvedLoosely) => "rounding is the limit: rescale rows and columns, or accept a larger tolerance",
        ("lemke" | "pivoting", Status::Infeasible) => {
            "a ray is a proof only for copositive-plus matrices: ladder tries other paths and looks for a proof"
        }
        ("lemke" | "pivoting", Status::BudgetExhausted) => {
            "the path is long: try principal-pivoting, newton or ladder, which bound it"
        }
        ("principal-pivoting", _) => "made for P-matrices or a good guess: try lemke or ladder",
        ("gauss-seidel", _) => "sweeps need a symmetric, well conditioned matrix: try lemke, newton or ladder",
        ("newton", _) => "a valley of the merit function proves nothing: try lemke or ladder",
        ("enumeration", Status::Infeasible) => "all complementary bases were tried: the problem has no solution",
        ("enumeration", _) => "singular bases stay undecided: try ladder",
        _ => "numbers of very different size: rescale rows and columns, or try ladder",
    }
}

fn nonlinear(status: Status) -> &'static str {
    match status {
        Status::BudgetExhausted => "give a start nearer to the solution, or finite bounds that keep F defined",
        Status::SolvedLoosely => "rounding is the limit: scale F and z to about one, or accept a larger tolerance",
        _ => "F may be undefined on the way or have no solution: give another start, or bounds that keep F defined",
    }
}

fn frictional(method: &str, status: Status) -> &'static str {
    match (method, status) {
        ("ladder", Status::SolvedLoosely) => "good for accuracy balanced; for more, look at the worst contact",
        ("ladder", _) => {
            "every rung failed: duplicated contacts, a wedged body or extreme mass ratios; remove contacts, or add compliance"
        }
        ("active-set", _) => "its guesses went round in a circle: try interior-point or ladder",
        ("nsgs", _) => {
            "stacks and mass ratios stall sweeps: try interior-point or ladder, nsgs-relaxed if it oscillates"
        }
        ("nsgs-relaxed", _) => "stacks and mass ratios stall sweeps: try interior-point or ladder",
        ("interior-point", Status::Breakdown) => "its matrix was singular: try ladder, or add a little compliance",
        ("interior-point", _) => {
            "sliding contacts stop it before the last digits: ladder polishes with sweeps and Newton"
        }
        ("newton", _) => "it polishes a good guess: start from nsgs or interior-point, or use ladder, which does",
        ("admm", _) => "slow to the last digits: use it for a start, or ladder, which polishes it with Newton",
        ("reference", _) => "the fixed point need not contract where contacts slide: try ladder",
        ("polygon", _) => {
            "the polygonal problem failed in its own ladder: fewer directions, or the exact cone by ladder"
        }
        _ => "try ladder",
    }
}
