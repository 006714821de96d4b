//! Contacts change what they do one at a time, as the rows of a pivoting method: for problems that leave impulses open.   [SET-4]
//!
//! Four corners of a face cannot all touch: their gaps differ by rounding, and one of them has to let go. Until it does the
//! velocities contradict each other by next to nothing, and the impulses that would tell are as far away as that is small.
//! Newton's method and all that smooth or regularise stop in between. Here impulses move along the direction in which the
//! equations of the present modes lead, however long it is, up to the first contact that cannot follow; that one changes its
//! mode, and only that one.
//!
//! The method ends what another one began: it takes its modes from the impulses it is given.

mod modes;
mod system;

use super::law::Law;
use super::operator::Delassus;
use super::{FrictionProblem, FrictionSolution};
use crate::outcome::{Ending, Status};
use crate::problem::Problem;
use modes::{Block, Drive, Driven, Mode};
use system::System;

/// The most rows: the systems are dense.
const MAX_ROWS: usize = 180;

/// Changes of mode and Newton steps together, per block and beside.
const CHANGES: (u32, u32) = (2, 40);

/// A Newton step is the last one under the present modes when it changes impulses by less than this fraction of the largest; after so many
/// steps without that, one looks for contradictions all the same.
const SETTLED: f64 = 1e-9;
const PATIENCE: u32 = 4;

/// Impulses within this fraction of the largest are the same as before.
const SAME: f64 = 1e-6;

/// The method with its scratch memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrictionSinglePivot {
    modes: Vec<Mode>,
    system: System,
    u: Vec<f64>,
    step: Vec<f64>,
    /// Change of the velocities along the step.
    change: Vec<f64>,
    trial: FrictionSolution,
    state: Vec<f64>,
    /// The block that is on its way to another mode.
    driven: Option<Driven>,
    /// Newton steps since the last change of mode.
    recovering_stick: u32,
    /// The blocks that were driven so far, and the impulses of all from where they were.
    departures: Vec<usize>,
    departed: Vec<f64>,
}

impl FrictionSinglePivot {
    /// Whether the method is made for this problem: few rows, no rolling friction.
    pub(crate) fn applies(problem: &FrictionProblem) -> bool {
        problem.rows() <= MAX_ROWS && !problem.laws().iter().any(|law| matches!(law, Law::Rolling { .. }))
    }

    /// Starts from `guess`; `solution` ends as the impulses with the least residual on the way.
    pub(crate) fn run(
        &mut self,
        tolerance: f64,
        problem: &FrictionProblem,
        guess: &FrictionSolution,
        solution: &mut FrictionSolution,
    ) -> Ending {
        solution.r.clone_from(&guess.r);
        if !Self::applies(problem) || guess.r.len() != problem.rows() || !self.system.load(problem) {
            return Ending::new(Status::Breakdown, 0);
        }
        self.trial.r.clone_from(&guess.r);
        self.refresh(problem);
        self.guess_modes(problem);
        (self.driven, self.recovering_stick) = (None, 0);
        self.departures.clear();
        self.departed.clear();
        let mut least = problem.residual(solution).value;
        let budget = CHANGES.1 + CHANGES.0 * u32::try_from(problem.blocks()).unwrap_or(u32::MAX / 8);
        for count in 1..=budget {
            let (modes, at) = (&self.modes, (&self.trial.r[..], &self.u[..]));
            if !self.system.solve(problem, modes, at, self.driven.as_ref(), &mut self.step) {
                return Ending::new(Status::Breakdown, count);
            }
            let goes_on = if self.driven.is_some() {
                self.drive(problem)
            } else {
                self.correct(problem) && !self.goes_in_a_circle()
            };
            let residual = problem.residual(&self.trial).value;
            if residual < least {
                least = residual;
                solution.r.clone_from(&self.trial.r);
            }
            if least <= tolerance {
                return Ending::new(Status::Solved, count);
            }
            if !goes_on {
                return Ending::new(Status::Breakdown, count);
            }
        }
        Ending::new(Status::BudgetExhausted, budget)
    }

    /// Whether the block that is driven now was driven before from the same impulses: everything that follows did so then.
    fn goes_in_a_circle(&mut self) -> bool {
        let Some(Driven { block, .. }) = self.driven else { return false };
        let (r, same) = (&self.trial.r, SAME * self.largest());
        let is_same = |before: &[f64]| before.iter().zip(r).all(|(before, r)| (before - r).abs() <= same);
        let mut before = self.departures.iter().zip(self.departed.chunks_exact(r.len().max(1)));
        if before.any(|(driven, before)| *driven == block && is_same(before)) {
            return true;
        }
        self.departures.push(block);
        self.departed.extend_from_slice(r);
        false
    }

    fn refresh(&mut self, problem: &FrictionProblem) {
        problem.velocities(&self.trial.r, &mut self.u, &mut self.state);
    }

    fn block<'a>(&'a self, problem: &'a FrictionProblem, block: usize) -> Block<'a> {
        let range = problem.range(block);
        Block { law: &problem.laws()[block], r: &self.trial.r[range.clone()], u: &self.u[range] }
    }

    fn largest(&self) -> f64 {
        self.trial.r.iter().fold(0.0_f64, |largest, r| largest.max(r.abs()))
    }

    /// Modes from where the impulses are, at a bound, on the boundary of the cone, or inside; the impulses are put exactly there.
    fn guess_modes(&mut self, problem: &FrictionProblem) {
        let largest = self.largest();
        let mut modes = std::mem::take(&mut self.modes);
        modes.clear();
        modes.extend((0..problem.blocks()).map(|block| self.block(problem, block).mode(largest)));
        for (block, (law, mode)) in problem.laws().iter().zip(&modes).enumerate() {
            modes::stick_recovery(law, mode, &mut self.trial.r[problem.range(block)]);
        }
        self.modes = modes;
        self.refresh(problem);
    }

    /// The first block that cannot follow its impulse further than a share of the step below `most`, and the mode that follows.
    fn first_to_stop(&self, problem: &FrictionProblem, most: f64) -> (f64, Option<(usize, Mode)>) {
        let (mut length, mut first) = (most, None);
        for (block, mode) in self.modes.iter().enumerate() {
            // A contact that is driven to hold is on its way through the inside of its cone.
            let holds = self.driven.is_some_and(|driven| driven.block == block && driven.holds());
            let mode = if holds { &Mode::Stick } else { mode };
            let reach = self.block(problem, block).reach(mode, &self.step[problem.range(block)]);
            if let Some((reach, mode)) = reach.filter(|(reach, _)| *reach < length) {
                (length, first) = (reach, Some((block, mode)));
            }
        }
        (length, first)
    }

    /// Moves all impulses along the step, and puts a block into a new mode.
    fn follow(&mut self, problem: &FrictionProblem, length: f64, first: Option<(usize, Mode)>) {
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let driven = self.driven.is_some_and(|driven| driven.block == block && driven.holds());
            let r = &mut self.trial.r[range.clone()];
            modes::follow(law, &self.modes[block], driven, length, &self.step[range], r);
        }
        if let Some((block, mode)) = first {
            self.modes[block] = mode;
            modes::stick_recovery(&problem.laws()[block], &mode, &mut self.trial.r[problem.range(block)]);
        }
        let held = self.driven.filter(Driven::holds).map(|driven| driven.block);
        for (block, mode) in self.modes.iter_mut().enumerate().filter(|(block, _)| Some(*block) != held) {
            if let Mode::Slip(e) = mode {
                modes::turn_to(&self.trial.r[problem.range(block)], e);
            }
        }
        self.refresh(problem);
    }

    /// A Newton step under the present modes, to its end or to the first block that cannot follow. At the end of the last one the
    /// block whose velocity contradicts its mode most is driven towards another. False when there is nothing left to do.
    fn correct(&mut self, problem: &FrictionProblem) -> bool {
        let (length, first) = self.first_to_stop(problem, 1.0);
        let size = self.step.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        self.follow(problem, length, first);
        self.recovering_stick = if first.is_some() { 0 } else { self.recovering_stick + 1 };
        if first.is_none() && (size <= SETTLED * self.largest() || self.recovering_stick >= PATIENCE) {
            let contradictions = self.modes.iter().enumerate().filter_map(|(block, mode)| {
                let (size, drive) = self.block(problem, block).contradiction(mode)?;
                Some((size, Driven { block, drive }))
            });
            let worst = contradictions.max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((_, driven)) = worst {
                match driven.drive {
                    Drive::Close(Some(e)) => self.modes[driven.block] = Mode::Slip(e),
                    Drive::Close(None) | Drive::Lower => self.modes[driven.block] = Mode::Stick,
                    Drive::Hold(_) => {}
                }
                (self.driven, self.recovering_stick) = (Some(driven), 0);
                return true;
            }
            // Nothing contradicts and nothing moves: what is left is rounding.
            return size > SETTLED * self.largest();
        }
        true
    }

    /// Drives the block as far as the others follow, impulses and velocities alike: the first that cannot changes its mode. Where
    /// the contradiction has gone, the block has arrived. False on a ray.   [SET-5]
    fn drive(&mut self, problem: &FrictionProblem) -> bool {
        let Some(driven) = self.driven else { return false };
        self.change.resize(problem.rows(), 0.0);
        problem.operator().apply(&self.step, &mut self.change, &mut self.state);
        let compliant = self.change.iter_mut().zip(problem.compliance().iter().zip(&self.step));
        compliant.for_each(|(du, (c, dr))| *du += c * dr);

        let (mut length, mut first) = self.first_to_stop(problem, f64::INFINITY);
        for (block, mode) in self.modes.iter().enumerate().filter(|(block, _)| *block != driven.block) {
            let reach = self.block(problem, block).velocity_reach(mode, &self.change[problem.range(block)]);
            if let Some((reach, mode)) = reach.filter(|(reach, _)| *reach < length) {
                (length, first) = (reach, Some((block, mode)));
            }
        }
        let range = problem.range(driven.block);
        let (missing, rate) = driven.missing(&self.u[range.clone()], &self.change[range]);
        let arrival = if missing <= 0.0 {
            0.0
        } else if rate > 0.0 {
            missing / rate
        } else {
            f64::INFINITY
        };
        if arrival <= length {
            let arrived = (driven.block, driven.arrived(&self.modes[driven.block]));
            self.follow(problem, arrival, Some(arrived));
            self.driven = None;
        } else if length.is_finite() {
            self.follow(problem, length, first);
            // A block that was driven to its bound has arrived there.
            self.driven = self.driven.filter(|driven| first.is_none_or(|(block, _)| block != driven.block));
        }
        length.is_finite() || arrival.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::{Bodies, Operator};
    use crate::linalg::BlockMatrix;

    /// A box of 1 kg that slides on its four lower corners, one of which comes a little too fast: it has to carry more, or another
    /// one lets go.
    fn sliding_box(excess: f64) -> FrictionProblem {
        let (mut jacobian, mut q) = (BlockMatrix::default(), Vec::new());
        jacobian.clear([3; 4], [6]);
        for (k, (x, y)) in [(0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5)].into_iter().enumerate() {
            // Rows z, x, y of v + ω × r at r = (x, y, −1/2).
            jacobian.push(0, &[0.0, 0.0, 1.0, y, -x, 0.0, 1.0, 0.0, 0.0, 0.0, -0.5, -y, 0.0, 1.0, 0.0, 0.5, 0.0, x]);
            jacobian.finish_row();
            q.extend([-0.1 + if k == 1 { excess } else { 0.0 }, 0.3 - 0.2 * y, 0.1 + 0.2 * x]);
        }
        let mass: Vec<f64> =
            (0..36).map(|k| [0.0, [1.0, 1.0 / 6.0][usize::from(k >= 21)]][usize::from(k % 7 == 0)]).collect();
        let bodies = Bodies::new(jacobian, mass).unwrap();
        FrictionProblem::new(Operator::MatrixFree(bodies), vec![Law::Cone { rows: 3, mu: 0.5 }; 4], q).unwrap()
    }

    #[test]
    fn rounding_decides_who_touches_and_is_obeyed() {
        for excess in [1e-8, -1e-8, 1e-6, -1e-6] {
            let problem = sliding_box(excess);
            let carried = [0.025, -0.01, -0.005];
            let guess = FrictionSolution { r: carried.repeat(4) };
            let mut solution = FrictionSolution::default();
            let ending = FrictionSinglePivot::default().run(1e-12, &problem, &guess, &mut solution);
            assert_eq!(ending.status, Status::Solved, "{excess:e}: {:e}", problem.residual(&solution).value);
            let open = solution.r.chunks_exact(3).filter(|r| r[0] == 0.0).count();
            assert_eq!(open, 1, "{excess:e}: {:?}", solution.r);
        }
    }
}
