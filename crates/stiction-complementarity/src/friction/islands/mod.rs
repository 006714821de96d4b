//! Islands: a large problem in independent parts, each solved on its own.   [ISLAND-1]
//!
//! Only the constraints of a working set take part: those with an impulse at the warm start, those that approach or separate slowly, and all
//! constraints that act in both directions, such as joints, motors and dry friction. The others carry no impulse. The working set connects its bodies, and
//! a connected component is an island. After all islands are solved, constraints that were left out and are violated are added, and their islands are solved again.
//!
//! The residual of every island is relative to its own free velocities, so the accuracy of a resting island does not depend on others.

mod partition;

use super::active_set::{FrictionActiveSet, MAX_SPATIAL_CONTACTS};
use super::ladder::{Accuracy, FrictionLadder, Policy};
use super::law::{Kind, Law};
use super::{Bodies, FrictionProblem, FrictionSolution, Operator};
use crate::outcome::{Ending, Status};
use crate::problem::{OptionError, Problem};
use crate::solver::Solver;
use partition::Partition;

/// Largest velocity of separation, relative to the mean free velocity, the root mean square of q, of a constraint without impulse in the first working
/// set. With a hundredth of it more contacts are missed, which takes more rounds; with 1, open contacts join islands that
/// do not touch, and jams of 100 boxes end above the aim more often.
const FIRST_VELOCITY: f64 = 0.1;

/// Largest number of rounds.
const MAX_ROUNDS: u32 = 12;

/// Residual of a warm start that is kept: rounding.
const KEPT: f64 = 1e-13;

/// Residual of a warm start that is kept while forces balance. Bodies at rest drift by what is kept: 1e-9 of the velocity that their weight causes in a step.
const KEPT_DRIFT: f64 = 1e-9;

/// Change of velocity by impulses and forces, relative to ‖q‖, up to which forces balance. It is a few times what rounding of positions causes, 1e-16 m / h of
/// h g with steps of a millisecond. An error of the impulses adds to the velocities in every step, and to correct impulse, velocity and position takes three
/// solutions. With larger errors two of three steps are solved.
const BALANCED: f64 = 3e-11;

/// Solver of large problems by islands. A problem to which it does not apply is one island.
#[derive(Clone, Debug)]
pub struct FrictionIslands {
    policy: Policy,
    /// Ladder for islands.
    ladder: FrictionLadder,
    partition: Partition,
    /// True for the constraints of the working set.
    working_set: Vec<bool>,
    /// True for the constraints that are new in the working set: their island has to be solved.
    dirty: Vec<bool>,
    island: FrictionProblem,
    guess: FrictionSolution,
    /// Impulses of the island.
    impulses: FrictionSolution,
    u: Vec<f64>,
    state: Vec<f64>,
    counts: IslandCounts,
    rung: &'static str,
}

/// Counts of the islands of the last run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IslandCounts {
    /// Islands of the first round, and in later rounds those to which constraints were added.
    pub islands: u32,
    /// Islands whose warm start, or in later rounds whose present impulses, were kept.
    pub kept: u32,
    /// Islands above the aimed residual, refused ones included.
    pub above_aim: u32,
    /// Islands refused.
    pub refused: u32,
    /// Rounds: working sets that were solved.
    pub rounds: u32,
    /// Constraints of the largest island.
    pub largest: usize,
}

impl FrictionIslands {
    /// Solver with the policy of an accuracy.
    pub fn new(accuracy: Accuracy) -> Self {
        let policy = Policy::new(accuracy);
        Self::build(policy, FrictionLadder::for_islands(accuracy, policy).unwrap_or_default())
    }

    /// Solver with a policy of its own.
    pub fn with_policy(accuracy: Accuracy, policy: Policy) -> Result<Self, OptionError> {
        Ok(Self::build(policy, FrictionLadder::for_islands(accuracy, policy)?))
    }

    fn build(policy: Policy, ladder: FrictionLadder) -> Self {
        Self {
            policy,
            ladder,
            partition: Partition::default(),
            working_set: Vec::new(),
            dirty: Vec::new(),
            island: FrictionProblem::default(),
            guess: FrictionSolution::default(),
            impulses: FrictionSolution::default(),
            u: Vec::new(),
            state: Vec::new(),
            counts: IslandCounts::default(),
            rung: "none",
        }
    }

    /// True if the problem is split into islands: it has bodies and more than [`MAX_SPATIAL_CONTACTS`] contacts and bounded rows, and the active-set method
    /// does not apply to it as a whole, and every constraint acts on a body. Joints do not count.
    pub fn applies(problem: &FrictionProblem) -> bool {
        let Operator::MatrixFree(bodies) = problem.operator() else { return false };
        has_many_contacts(problem)
            && !FrictionActiveSet::applies(problem)
            && (0..problem.blocks()).all(|block| bodies.jacobian().row(block).next().is_some())
    }

    /// Recovers stick on islands with few contacts.   [STICK-1]
    #[must_use]
    pub fn with_stick_recovery(mut self) -> Self {
        self.ladder = self.ladder.with_stick_recovery();
        self
    }

    /// Counts of the islands of the last run; all zero if the problem was not split.
    pub fn counts(&self) -> IslandCounts {
        self.counts
    }

    /// Ladder of the islands.
    pub fn ladder(&self) -> &FrictionLadder {
        &self.ladder
    }

    /// Chooses the first working set.
    fn choose_working_set(&mut self, problem: &FrictionProblem, r: &[f64]) {
        let threshold = FIRST_VELOCITY * mean_velocity(problem);
        self.working_set.clear();
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            self.working_set.push(takes_part(law, &r[range.clone()], &self.u[range], threshold));
        }
        self.dirty.clear();
        self.dirty.extend_from_slice(&self.working_set);
    }

    /// Adds violated constraints to the working set, and those that separate more slowly than the mean free velocity: after an impact each round would
    /// otherwise add only the next bodies of a pile. Returns false if none is violated.
    fn extend_working_set(&mut self, problem: &FrictionProblem, r: &[f64]) -> bool {
        let threshold = mean_velocity(problem);
        let mut any = false;
        for (block, law) in problem.laws().iter().enumerate() {
            if self.working_set[block] {
                continue;
            }
            let range = problem.range(block);
            let violated = problem.violation_squared(block, r, &self.u) > 0.0;
            any |= violated;
            if violated || takes_part(law, &r[range.clone()], &self.u[range], threshold) {
                (self.working_set[block], self.dirty[block]) = (true, violated);
            }
        }
        any
    }

    /// Residual of an island at the impulses `r` and the velocities `u` of the whole problem. Both belong together: impulses of other islands do not
    /// change the velocities of this one.
    fn residual_of_island(&self, problem: &FrictionProblem, index: usize, r: &[f64]) -> f64 {
        let blocks = self.partition.blocks(index);
        let violation: f64 = blocks.iter().map(|&block| problem.violation_squared(block, r, &self.u)).sum();
        let q = blocks.iter().flat_map(|&block| &problem.q()[problem.range(block)]);
        let scale: f64 = q.map(|q| q * q).sum();
        if violation == 0.0 { 0.0 } else { (violation / scale).sqrt() }
    }

    /// Change of velocity of the rows of an island by impulses and forces, relative to ‖q‖; infinite if forces are not known.   [ISLAND-2]
    fn imbalance_of_island(&self, problem: &FrictionProblem, index: usize) -> f64 {
        let unforced = problem.unforced();
        if unforced.is_empty() {
            return f64::INFINITY;
        }
        let rows = || self.partition.blocks(index).iter().flat_map(|&block| problem.range(block));
        let change: f64 = rows().map(|row| (self.u[row] - unforced[row]).powi(2)).sum();
        let scale: f64 = rows().map(|row| problem.q()[row].powi(2)).sum();
        if change == 0.0 { 0.0 } else { (change / scale).sqrt() }
    }

    /// Copies the constraints and bodies of an island into a problem of its own.
    fn extract(&mut self, problem: &FrictionProblem, bodies: &Bodies, index: usize, r: &[f64]) -> bool {
        let Self { partition, island, guess, .. } = self;
        let (blocks, columns) = (partition.blocks(index), partition.bodies(index));
        let whole = bodies.jacobian();
        guess.r.clear();
        island.compliance.clear();
        for &block in blocks {
            guess.r.extend_from_slice(&r[problem.range(block)]);
            if !problem.compliance().is_empty() {
                island.compliance.extend_from_slice(&problem.compliance()[problem.range(block)]);
            }
        }
        island
            .refill(|operator, laws, q| {
                laws.clear();
                laws.extend(blocks.iter().map(|&block| problem.laws()[block]));
                q.clear();
                q.extend(blocks.iter().flat_map(|&block| &problem.q()[problem.range(block)]));
                let Operator::MatrixFree(on_island) = operator else { return Ok(()) };
                on_island.refill(|jacobian, mass| {
                    jacobian.clear(
                        blocks.iter().map(|&block| whole.row_size(block)),
                        columns.iter().map(|&body| whole.col_size(body)),
                    );
                    for &block in blocks {
                        whole.row(block).for_each(|(body, values)| jacobian.push(partition.position(body), values));
                        jacobian.finish_row();
                    }
                    mass.clear();
                    mass.extend(columns.iter().flat_map(|&body| bodies.mass(body)));
                })
            })
            .is_ok()
    }

    /// Solves one island and writes its impulses into `r`; returns the iterations.
    fn solve_island(&mut self, problem: &FrictionProblem, bodies: &Bodies, index: usize, r: &mut [f64]) -> u32 {
        self.counts.islands += 1;
        self.counts.largest = self.counts.largest.max(self.partition.blocks(index).len());
        let residual = self.residual_of_island(problem, index, r);
        if residual <= KEPT || (residual <= KEPT_DRIFT && self.imbalance_of_island(problem, index) <= BALANCED) {
            self.counts.kept += 1;
            return 0;
        }
        if !self.extract(problem, bodies, index, r) {
            debug_assert!(false, "an island of a valid problem is valid");
            return 0;
        }
        let iterations = self.ladder.run(&self.island, Some(&self.guess), &mut self.impulses).iterations;
        let residual = self.island.residual(&self.impulses).value;
        self.rung = self.ladder.rung().unwrap_or(self.rung);
        self.counts.above_aim += u32::from(residual > self.policy.aim);
        self.counts.refused += u32::from(residual > self.policy.refuse);
        let mut first = 0;
        for &block in self.partition.blocks(index) {
            let range = problem.range(block);
            let rows = range.len();
            r[range].copy_from_slice(&self.impulses.r[first..first + rows]);
            first += rows;
        }
        iterations
    }

    fn run_islands(
        &mut self,
        problem: &FrictionProblem,
        bodies: &Bodies,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        super::newton::copy_warm_start(guess, problem.rows(), &mut solution.r);
        problem.velocities(&solution.r, &mut self.u, &mut self.state);
        self.choose_working_set(problem, &solution.r);
        let mut total = 0_u32;
        for round in 0..MAX_ROUNDS {
            self.counts.rounds = round + 1;
            self.partition.find(bodies.jacobian(), &self.working_set);
            for index in 0..self.partition.len() {
                if self.partition.blocks(index).iter().any(|&block| self.dirty[block]) {
                    total = total.saturating_add(self.solve_island(problem, bodies, index, &mut solution.r));
                }
            }
            self.dirty.fill(false);
            problem.velocities(&solution.r, &mut self.u, &mut self.state);
            if !self.extend_working_set(problem, &solution.r) {
                break;
            }
        }
        let residual = problem.residual(solution).value;
        let status = match residual {
            residual if residual <= self.policy.aim => Status::Solved,
            residual if residual <= self.policy.refuse => Status::SolvedLoosely,
            _ => Status::BudgetExhausted,
        };
        Ending::new(status, total)
    }
}

impl Solver<FrictionProblem> for FrictionIslands {
    fn run(
        &mut self,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        self.counts = IslandCounts::default();
        if let Operator::MatrixFree(bodies) = problem.operator()
            && Self::applies(problem)
        {
            self.rung = "warm-start";
            return self.run_islands(problem, bodies, guess, solution);
        }
        let ending = self.ladder.run(problem, guess, solution);
        self.rung = self.ladder.rung().unwrap_or("none");
        ending
    }

    fn rung(&self) -> Option<&'static str> {
        Some(self.rung)
    }
}

/// True if the problem has more than [`MAX_SPATIAL_CONTACTS`] contacts and bounded rows. Joints do not count.
fn has_many_contacts(problem: &FrictionProblem) -> bool {
    let laws = problem.laws().iter();
    laws.filter(|law| !matches!(law.kind(), Kind::Equality)).take(MAX_SPATIAL_CONTACTS + 1).count()
        > MAX_SPATIAL_CONTACTS
}

/// Root mean square of the free velocities.
fn mean_velocity(problem: &FrictionProblem) -> f64 {
    problem.scale() / (problem.rows().max(1) as f64).sqrt()
}

/// True if a constraint may carry an impulse: it does, or its velocity is below the threshold, or its law is not one-sided.
fn takes_part(law: &Law, r: &[f64], u: &[f64], threshold: f64) -> bool {
    let one_sided = match law.kind() {
        Kind::Contact(_) => Some(1.0),
        Kind::Bounded { lower, upper } if lower == 0.0 && upper > 0.0 => Some(1.0),
        Kind::Bounded { lower, upper } if upper == 0.0 && lower < 0.0 => Some(-1.0),
        Kind::Equality | Kind::Bounded { .. } => None,
    };
    one_sided.is_none_or(|sign| r.iter().any(|r| *r != 0.0) || sign * u[0] <= threshold)
}
