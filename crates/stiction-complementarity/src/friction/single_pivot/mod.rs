//! Single-pivot method: one contact at a time changes its mode, for problems with undetermined impulses.   [SET-4]
//!
//! Four contacts of one rigid face are redundant: rounding makes their gaps inconsistent, so one must open. With the wrong modes the
//! equations are nearly inconsistent, and the impulses that reveal which contact must open are very large. Newton and regularised methods
//! stop before reaching them. Here impulses follow the step of the present modes, however long it is, up to the first contact that reaches the
//! limit of its mode (ratio test). Only that contact, the blocking one, changes its mode. If all impulses are feasible but a velocity violates its mode,
//! the worst block becomes the driving block of a principal pivoting step (a pivot): its driving variable, for example its normal impulse, increases
//! until its velocity no longer violates the mode.
//!
//! The method continues from the impulses of another method and takes its first modes from them.

mod modes;
mod system;

use super::law::Kind;
use super::operator::Delassus;
use super::{FrictionProblem, FrictionSolution};
use crate::interrupt;
use crate::outcome::{Ending, Status};
use crate::problem::Problem;
use modes::{Block, Driving, DrivingBlock, Mode};
use system::System;

/// Largest number of rows: the systems are dense.
const MAX_ROWS: usize = 180;

/// Budget of pivots and Newton steps together: [`STEPS_PER_BLOCK`] times the number of blocks, plus [`ADDITIONAL_STEPS`].
const STEPS_PER_BLOCK: u32 = 2;

/// Second term of that budget.
const ADDITIONAL_STEPS: u32 = 40;

/// Largest step of a converged Newton iteration with fixed modes, as a fraction of the largest impulse.
const NEWTON_TOLERANCE: f64 = 1e-9;

/// Number of Newton steps with fixed modes after which velocities are checked even without convergence.
const MAX_NEWTON_STEPS: u32 = 4;

/// Difference up to which impulses count as equal in the cycling test, as a fraction of the largest impulse.
const CYCLE_TOLERANCE: f64 = 1e-6;

/// Single-pivot method with its scratch memory.   [SET-4]
#[derive(Clone, Debug, Default)]
pub(crate) struct FrictionSinglePivot {
    modes: Vec<Mode>,
    system: System,
    /// Present impulses and their velocities.
    current: FrictionSolution,
    u: Vec<f64>,
    /// Step of the impulses, and the change of the velocities along it.
    step: Vec<f64>,
    change: Vec<f64>,
    state: Vec<f64>,
    /// Block whose driving variable increases; none during Newton steps.
    driving: Option<DrivingBlock>,
    /// Newton steps since the last change of a mode.
    newton_steps: u32,
    /// Driving blocks so far.
    visited_blocks: Vec<usize>,
    /// Impulses when each driving block was chosen, of all rows, one list after the other.
    visited_impulses: Vec<f64>,
}

impl FrictionSinglePivot {
    /// True if the method applies: at most [`MAX_ROWS`] rows, and friction with one part only.
    pub(crate) fn applies(problem: &FrictionProblem) -> bool {
        problem.rows() <= MAX_ROWS
            && problem.laws().iter().all(|law| !matches!(law.kind(), Kind::Contact(parts) if parts.len() > 1))
    }

    /// Runs from `guess`; `solution` becomes the impulses of least residual among all iterates.
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
        self.current.r.clone_from(&guess.r);
        self.refresh(problem);
        self.initialise_modes(problem);
        (self.driving, self.newton_steps) = (None, 0);
        self.visited_blocks.clear();
        self.visited_impulses.clear();
        let mut least = problem.residual(solution).value;
        let budget = ADDITIONAL_STEPS + STEPS_PER_BLOCK * u32::try_from(problem.blocks()).unwrap_or(u32::MAX / 8);
        for count in 1..=budget {
            let (modes, point) = (&self.modes, (&self.current.r[..], &self.u[..]));
            if !self.system.solve(problem, modes, point, self.driving.as_ref(), &mut self.step) {
                return Ending::new(Status::Breakdown, count);
            }
            let continues = if self.driving.is_some() {
                self.pivot(problem)
            } else {
                self.newton_step(problem) && !self.is_cycling()
            };
            let residual = problem.residual(&self.current).value;
            if residual < least {
                least = residual;
                solution.r.clone_from(&self.current.r);
            }
            if least <= tolerance {
                return Ending::new(Status::Solved, count);
            }
            if !continues {
                return Ending::new(Status::Breakdown, count);
            }
            if interrupt::is_requested() {
                return Ending::new(Status::BudgetExhausted, count);
            }
        }
        Ending::new(Status::BudgetExhausted, budget)
    }

    /// True if the driving block was chosen before from the same impulses: the method is deterministic and would cycle.
    ///
    /// Otherwise the driving block and the impulses are recorded.
    fn is_cycling(&mut self) -> bool {
        let Some(DrivingBlock { block, .. }) = self.driving else { return false };
        debug_assert_eq!(
            self.visited_impulses.len(),
            self.visited_blocks.len() * self.current.r.len(),
            "impulses of all rows per driving block"
        );
        let (r, tolerance) = (&self.current.r, CYCLE_TOLERANCE * self.largest());
        let is_same = |before: &[f64]| before.iter().zip(r).all(|(before, r)| (before - r).abs() <= tolerance);
        let mut visited = self.visited_blocks.iter().zip(self.visited_impulses.chunks_exact(r.len().max(1)));
        if visited.any(|(visited, before)| *visited == block && is_same(before)) {
            return true;
        }
        self.visited_blocks.push(block);
        self.visited_impulses.extend_from_slice(r);
        false
    }

    /// Recomputes the velocities `u` of the present impulses.
    fn refresh(&mut self, problem: &FrictionProblem) {
        problem.velocities(&self.current.r, &mut self.u, &mut self.state);
    }

    /// Law, impulses and velocities of a block.
    fn block<'a>(&'a self, problem: &'a FrictionProblem, block: usize) -> Block<'a> {
        let range = problem.range(block);
        Block { law: &problem.laws()[block], r: &self.current.r[range.clone()], u: &self.u[range] }
    }

    /// Largest absolute impulse.
    fn largest(&self) -> f64 {
        self.current.r.iter().fold(0.0_f64, |largest, r| largest.max(r.abs()))
    }

    /// Sets the modes from the impulses: at a bound, on the boundary of the cone, or inside. Then projects the impulses onto their modes.
    fn initialise_modes(&mut self, problem: &FrictionProblem) {
        let largest = self.largest();
        let mut modes = std::mem::take(&mut self.modes);
        modes.clear();
        modes.extend((0..problem.blocks()).map(|block| self.block(problem, block).mode(largest)));
        for (block, (law, mode)) in problem.laws().iter().zip(&modes).enumerate() {
            modes::project(law, mode, &mut self.current.r[problem.range(block)]);
        }
        self.modes = modes;
        self.refresh(problem);
    }

    /// Ratio test of the impulses: largest feasible step length up to `max_length`, and the blocking block with its next mode.
    fn ratio_test(&self, problem: &FrictionProblem, max_length: f64) -> (f64, Option<(usize, Mode)>) {
        debug_assert!(
            self.step.len() == problem.rows() && self.modes.len() == problem.blocks(),
            "sizes of the problem"
        );
        let (mut length, mut blocking) = (max_length, None);
        for (block, mode) in self.modes.iter().enumerate() {
            // A contact that is driven from slip to stick moves through the interior of its cone.
            let leaves_slip = self.driving.is_some_and(|driving| driving.block == block && driving.leaves_slip());
            let mode = if leaves_slip { &Mode::Stick } else { mode };
            let ratio = self.block(problem, block).impulse_ratio(mode, &self.step[problem.range(block)]);
            if let Some((ratio, mode)) = ratio.filter(|(ratio, _)| *ratio < length) {
                (length, blocking) = (ratio, Some((block, mode)));
            }
        }
        (length, blocking)
    }

    /// Moves all impulses along the step and sets the new mode of the blocking block.
    fn advance(&mut self, problem: &FrictionProblem, length: f64, blocking: Option<(usize, Mode)>) {
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let leaves_slip = self.driving.is_some_and(|driving| driving.block == block && driving.leaves_slip());
            let r = &mut self.current.r[range.clone()];
            modes::advance(law, &self.modes[block], leaves_slip, length, &self.step[range], r);
        }
        if let Some((block, mode)) = blocking {
            self.modes[block] = mode;
            modes::project(&problem.laws()[block], &mode, &mut self.current.r[problem.range(block)]);
        }
        let skipped = self.driving.filter(DrivingBlock::leaves_slip).map(|driving| driving.block);
        for (block, mode) in self.modes.iter_mut().enumerate().filter(|(block, _)| Some(*block) != skipped) {
            if let Mode::Slip(e) = mode {
                modes::set_slip_direction(&self.current.r[problem.range(block)], e);
            }
        }
        self.refresh(problem);
    }

    /// Makes a Newton step with the present modes, full or up to the blocking block.
    ///
    /// After convergence the block whose velocity violates its mode most becomes the driving block. Returns false if there is none
    /// and the impulses do not change.
    fn newton_step(&mut self, problem: &FrictionProblem) -> bool {
        let (length, blocking) = self.ratio_test(problem, 1.0);
        let size = self.step.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        self.advance(problem, length, blocking);
        self.newton_steps = if blocking.is_some() { 0 } else { self.newton_steps + 1 };
        if blocking.is_none() && (size <= NEWTON_TOLERANCE * self.largest() || self.newton_steps >= MAX_NEWTON_STEPS) {
            let violations = self.modes.iter().enumerate().filter_map(|(block, mode)| {
                let (size, variable) = self.block(problem, block).mode_violation(mode)?;
                Some((size, DrivingBlock { block, variable }))
            });
            let worst = violations.max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((_, driving)) = worst {
                match driving.variable {
                    Driving::LowerBound(Some(e)) => self.modes[driving.block] = Mode::Slip(e),
                    Driving::LowerBound(None) | Driving::UpperBound => self.modes[driving.block] = Mode::Stick,
                    Driving::Slip(_) => {}
                }
                (self.driving, self.newton_steps) = (Some(driving), 0);
                return true;
            }
            // No velocity violates its mode and the impulses do not change: the remaining residual is rounding.
            return size > NEWTON_TOLERANCE * self.largest();
        }
        true
    }

    /// Increases the driving variable until the impulse or velocity of a block reaches the limit of its mode; this blocking block changes its mode.
    ///
    /// The pivot is complete if the velocity of the driving block becomes zero first. Returns false on a ray.   [SET-5]
    fn pivot(&mut self, problem: &FrictionProblem) -> bool {
        let Some(driving) = self.driving else {
            debug_assert!(false, "a pivot has a driving block");
            return false;
        };
        self.change.resize(problem.rows(), 0.0);
        problem.operator().apply(&self.step, &mut self.change, &mut self.state);
        let compliant = self.change.iter_mut().zip(problem.compliance().iter().zip(&self.step));
        compliant.for_each(|(du, (c, dr))| *du += c * dr);

        let (mut length, mut blocking) = self.ratio_test(problem, f64::INFINITY);
        for (block, mode) in self.modes.iter().enumerate().filter(|(block, _)| *block != driving.block) {
            let ratio = self.block(problem, block).velocity_ratio(mode, &self.change[problem.range(block)]);
            if let Some((ratio, mode)) = ratio.filter(|(ratio, _)| *ratio < length) {
                (length, blocking) = (ratio, Some((block, mode)));
            }
        }
        let range = problem.range(driving.block);
        let (violating_velocity, rate) = driving.violating_velocity(&self.u[range.clone()], &self.change[range]);
        let completion = if violating_velocity <= 0.0 {
            0.0
        } else if rate > 0.0 {
            violating_velocity / rate
        } else {
            f64::INFINITY
        };
        if completion <= length {
            let completed = (driving.block, driving.final_mode(&self.modes[driving.block]));
            self.advance(problem, completion, Some(completed));
            self.driving = None;
        } else if length.is_finite() {
            self.advance(problem, length, blocking);
            // The pivot ends if the driving block itself reaches a bound.
            self.driving = self.driving.filter(|driving| blocking.is_none_or(|(block, _)| block != driving.block));
        }
        length.is_finite() || completion.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::{Bodies, Law, Operator};
    use crate::linalg::BlockMatrix;

    /// Box of 1 kg that slides on its four lower corners. One corner approaches slightly faster or slower than the others, so one corner
    /// has to open.
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
    fn opens_the_corner_selected_by_rounding() {
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
