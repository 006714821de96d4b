//! Refines a near miss to a plan by a pattern search over the points of its path.
//!
//! Each coordinate of each point is moved by ±δ in turn; an improvement is accepted at once. A round without success halves δ. The method
//! needs no randomness and no derivatives: the end pose is a function with kinks and jumps, because contacts open and close.

use super::{Arrival, Path, Push};

/// The first move, in units of the mean length of a segment.
const FIRST_MOVE: f64 = 0.1;

/// Length of the last move relative to the first; the search ends there.
const LAST_MOVE: f64 = 1e-3;

/// Miss in units of its tolerance that is good enough.
const GOOD: f64 = 0.5;

/// Path with its result.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) path: Path,
    pub(super) arrival: Arrival,
}

/// Best path near `attempt` after at most this number of simulations. The needle keeps half the clearance from the part at the start.
pub(super) fn refine(push: &Push, attempt: &Attempt, clearance: f64, mut simulations: u32) -> Attempt {
    let mut best = attempt.clone();
    let mut cost = push.goal().cost(&best.arrival.miss);
    let first = FIRST_MOVE * best.path.length() / (best.path.points().len() - 1).max(1) as f64;
    let mut delta = first;
    while delta >= LAST_MOVE * first && push.goal().ratio(&best.arrival.miss) > GOOD {
        let before = cost;
        for coordinate in 0..2 * best.path.points().len() {
            for by in [delta, -delta] {
                if simulations == 0 {
                    return best;
                }
                let Some(path) = moved(&best.path, coordinate, by) else { continue };
                if coordinate < 2 && path.points().first().is_some_and(|&start| !push.is_free(start, 0.5 * clearance)) {
                    continue;
                }
                simulations -= 1;
                let outcome = push.follow(&path);
                let Some(&arrival) = outcome.done() else { continue };
                let better = push.goal().cost(&arrival.miss);
                if better < cost {
                    (best, cost) = (Attempt { path, arrival }, better);
                    break;
                }
            }
        }
        if cost >= before {
            delta *= 0.5;
        }
    }
    best
}

/// The path with one coordinate of one point moved.
fn moved(path: &Path, coordinate: usize, by: f64) -> Option<Path> {
    let mut points = path.points().to_vec();
    *points.get_mut(coordinate / 2)?.get_mut(coordinate % 2)? += by;
    Path::new(points, path.speed()).ok()
}
