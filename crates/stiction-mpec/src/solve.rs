//! Relaxation of the pairs towards zero, then a solve with fixed modes, and a certificate.   [MPEC-2] [MPEC-3]

use rayon::prelude::*;
use serde::Serialize;

use crate::{Block, Engine, EngineOptions, Nlp, Pair, Program, Refused, Run, RunStatus, blocks, program::at};

/// Error of a solve.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MpecError {
    /// The engine is not in this build.
    #[error("{engine:?} is not in this build; build with the feature `ipopt` or `ripopt`")]
    NoEngine {
        /// The missing engine.
        engine: Engine,
    },
    /// The engine did not start.
    #[error("{reason}")]
    Engine {
        /// The reason.
        reason: String,
    },
    /// The program has no values at its initial guess or at its last point.
    #[error("the program cannot be evaluated: {0}")]
    Refused(#[from] Refused),
}

/// Schedule of the relaxation of the pairs.
///
/// It ends before its last run if two successive runs give the same modes and these solve the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// First bound of the products, in units of the sizes of the pairs.
    pub first: f64,
    /// Factor by which the bound decreases from run to run.
    pub factor: f64,
    /// Last bound of the products, in the same units.
    pub last: f64,
    /// Tolerance of the engine in these runs; with modes fixed it is 1e-9.
    pub tolerance: f64,
    /// Largest number of iterations of each run.
    pub iterations: u32,
    /// Amount of output of the engine, from 0 for none to 12.
    pub print_level: u8,
    /// Time limit of each run, s; `None` for no limit.
    ///
    /// A run that reaches it ends the schedule of its block without a solution, because its result depends on the clock.
    pub seconds: Option<f64>,
}

impl Default for Schedule {
    fn default() -> Self {
        Self { first: 1e-3, factor: 10.0, last: 1e-9, tolerance: 1e-5, iterations: 500, print_level: 0, seconds: None }
    }
}

/// Side of a pair that is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Mode {
    /// The variable.
    Variable,
    /// The constraint.
    Constraint,
}

/// Certificate of a solution, computed from the program itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Certificate {
    /// The objective.
    pub objective: f64,
    /// Largest violation of a bound of a variable or constraint.
    pub violation: f64,
    /// The largest of min(a, b) over the pairs.
    pub complementarity: f64,
    /// Largest component of the gradient of the Lagrangian with modes fixed, divided by the largest gradient of a square or 1.
    ///
    /// It is infinite if the time limit was reached before modes were fixed.
    pub stationarity: f64,
    /// True if the engine reported a stationary (or acceptable) end of the last relaxed run of every block.
    ///
    /// Otherwise the modes are those of a point at which the engine failed. The rest of the certificate holds, but gives no
    /// information about other modes.
    pub relaxation_stationary: bool,
}

/// Result of a solve.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The variables.
    pub x: Vec<f64>,
    /// The constraints.
    pub values: Vec<f64>,
    /// Multipliers of the constraints with modes fixed.
    pub multipliers: Vec<f64>,
    /// The mode of every pair.
    pub modes: Vec<Mode>,
    /// Certificate of the result.
    pub certificate: Certificate,
    /// True if the last relaxed run of every block and the run with its modes fixed ended at a stationary point, and bounds
    /// and pairs are satisfied to 1e-8.
    pub solved: bool,
    /// Sizes of the blocks: variables.
    pub blocks: Vec<usize>,
    /// Iterations of all runs.
    pub iterations: u32,
}

/// Solves a program, block by block on all threads; the result does not depend on their number.
pub fn solve(program: &Program, engine: Engine, schedule: &Schedule) -> Result<Solution, MpecError> {
    let parts = blocks(program);
    let solved: Vec<_> =
        parts.par_iter().map(|block| solve_block(&block.program, engine, schedule)).collect::<Result<_, _>>()?;
    let (n, m) = (program.variables.len(), program.constraints.len());
    let mut solution = Solution {
        x: vec![0.0; n],
        values: vec![0.0; m],
        multipliers: vec![0.0; m],
        modes: Vec::new(),
        certificate: Certificate::default(),
        solved: solved.iter().all(|part| part.solved && part.relaxation_stationary),
        blocks: parts.iter().map(|block| block.variables.len()).collect(),
        iterations: solved.iter().map(|part| part.iterations).sum(),
    };
    for (block, part) in parts.iter().zip(&solved) {
        scatter(&block.variables, &part.x, &mut solution.x);
        scatter(&block.constraints, &part.multipliers, &mut solution.multipliers);
    }
    program.values(&solution.x, &mut solution.values)?;
    solution.modes = modes(program, &solution.x, &solution.values);
    solution.certificate = Certificate {
        objective: program.objective(&solution.x),
        violation: program.violation(&solution.x, &solution.values),
        complementarity: program.complementarity(&solution.x, &solution.values),
        stationarity: solved.iter().map(|part| part.stationarity).fold(0.0, f64::max),
        relaxation_stationary: solved.iter().all(|part| part.relaxation_stationary),
    };
    Ok(solution)
}

fn scatter(places: &[usize], from: &[f64], to: &mut [f64]) {
    for (place, value) in places.iter().zip(from) {
        to.get_mut(*place).into_iter().for_each(|out| *out = *value);
    }
}

/// Modes of all pairs at a point: the smaller side, in units of its size, is zero.
fn modes(program: &Program, x: &[f64], values: &[f64]) -> Vec<Mode> {
    let of = |pair: &Pair| {
        let [a, b] = pair.sizes;
        let smaller = at(x, pair.variable).abs() / a <= at(values, pair.constraint).abs() / b;
        if smaller { Mode::Variable } else { Mode::Constraint }
    };
    program.pairs.iter().map(of).collect()
}

struct Part {
    x: Vec<f64>,
    multipliers: Vec<f64>,
    /// True if the run with modes fixed succeeded.
    solved: bool,
    iterations: u32,
    stationarity: f64,
    relaxation_stationary: bool,
}

impl Part {
    /// End of a relaxed run at the time limit; its stationarity is unknown.
    fn unfinished(program: &Program, run: Run, iterations: u32) -> Self {
        let mut multipliers = run.multipliers;
        multipliers.truncate(program.constraints.len());
        Self {
            x: run.x,
            multipliers,
            solved: false,
            iterations,
            stationarity: f64::INFINITY,
            relaxation_stationary: false,
        }
    }
}

/// Largest number of iterations with modes fixed before the last run.
const TRIAL: u32 = 60;

/// Tolerance of the engine with modes fixed.
const EXACT: f64 = 1e-9;

/// Largest violation of bounds and pairs of a solution.
const KEPT: f64 = 1e-8;

fn solve_block(program: &Program, engine: Engine, schedule: &Schedule) -> Result<Part, MpecError> {
    let mut iterations = 0;
    let mut run: Option<Run> = None;
    let mut relaxation = schedule.first;
    let mut chosen: Option<Vec<Mode>> = None;
    while !program.pairs.is_empty() {
        let from = run.as_ref().filter(|run| run.status.is_stationary());
        let start = run.as_ref().map_or_else(|| program.starts(), |run| run.x.clone());
        let options = EngineOptions {
            tolerance: schedule.tolerance,
            iterations: schedule.iterations,
            barrier: if from.is_some() { (0.1 * relaxation).min(1e-2) } else { 0.1 },
            print_level: schedule.print_level,
            seconds: schedule.seconds,
        };
        let next = engine.run(&Nlp::new(program, relaxation, &start), &options, from)?;
        iterations += next.iterations;
        if next.status == RunStatus::OutOfTime {
            return Ok(Part::unfinished(program, next, iterations));
        }
        let last = relaxation <= schedule.last;
        let mut values = vec![0.0; program.constraints.len()];
        program.values(&next.x, &mut values)?;
        let now = modes(program, &next.x, &values);
        let solved = next.status.is_stationary();
        if !last && solved && chosen.as_ref() == Some(&now) {
            let trial = polish(program, engine, schedule, (&next.x, TRIAL))?;
            iterations += trial.iterations;
            if trial.solved {
                return Ok(Part { iterations, ..trial });
            }
        }
        chosen = solved.then_some(now);
        run = Some(next);
        if last {
            break;
        }
        relaxation = (relaxation / schedule.factor).max(schedule.last);
    }
    // A program without pairs has no relaxed run.
    let relaxation_stationary = run.as_ref().is_none_or(|run| run.status.is_stationary());
    let start = run.map_or_else(|| program.starts(), |run| run.x);
    let part = polish(program, engine, schedule, (&start, schedule.iterations))?;
    Ok(Part { iterations: iterations + part.iterations, relaxation_stationary, ..part })
}

/// Solves the program with the modes of a point fixed.   [MPEC-3]
fn polish(
    program: &Program,
    engine: Engine,
    schedule: &Schedule,
    (start, iterations): (&[f64], u32),
) -> Result<Part, MpecError> {
    let mut values = vec![0.0; program.constraints.len()];
    program.values(start, &mut values)?;
    let fixed = with_modes(program, &modes(program, start, &values), start)?;
    let Schedule { print_level, seconds, .. } = *schedule;
    let options = EngineOptions { tolerance: EXACT, iterations, barrier: 1e-6, print_level, seconds };
    let start = fixed.variables.iter().zip(start).map(|(v, x)| x.clamp(v.lower, v.upper)).collect::<Vec<_>>();
    let mut run = engine.run(&Nlp::new(&fixed, 0.0, &start), &options, None)?;
    let stationarity = least_stationarity(&fixed, &mut run)?;
    program.values(&run.x, &mut values)?;
    let kept = program.violation(&run.x, &values) <= KEPT && program.complementarity(&run.x, &values) <= KEPT;
    let solved = run.status.is_stationary() && kept;
    let (iterations, relaxation_stationary) = (run.iterations, true);
    Ok(Part { x: run.x, multipliers: run.multipliers, solved, iterations, stationarity, relaxation_stationary })
}

/// The program without pairs, with the zero side of every pair fixed by its mode.   [MPEC-3]
pub(crate) fn with_modes(program: &Program, modes: &[Mode], x: &[f64]) -> Result<Program, MpecError> {
    let mut fixed = Program { pairs: Vec::new(), ..program.clone() };
    for (pair, mode) in program.pairs.iter().zip(modes) {
        if *mode == Mode::Variable
            && let Some(variable) = fixed.variables.get_mut(pair.variable)
        {
            (variable.lower, variable.upper) = (0.0, 0.0);
        }
    }
    // A constraint that depends on no free variable is zero already and would be a redundant equation for an engine.
    let mut slopes = vec![0.0; program.constraints.len()];
    let mut jacobian = vec![0.0; program.jacobian_pattern().len()];
    let inside: Vec<f64> = fixed.variables.iter().zip(x).map(|(v, x)| x.clamp(v.lower, v.upper)).collect();
    program.jacobian(&inside, &mut jacobian)?;
    for ((row, variable), slope) in program.jacobian_pattern().into_iter().zip(&jacobian) {
        let free = fixed.variables.get(variable).is_some_and(|v| v.lower < v.upper);
        slopes.get_mut(row).filter(|_| free).into_iter().for_each(|most| *most = slope.abs().max(*most));
    }
    for (pair, mode) in program.pairs.iter().zip(modes) {
        if *mode == Mode::Constraint {
            let idle = at(&slopes, pair.constraint) < 1e-12;
            let bounds = if idle { [f64::NEG_INFINITY, f64::INFINITY] } else { [0.0, 0.0] };
            fixed.constraints.get_mut(pair.constraint).into_iter().for_each(|known| *known = bounds);
        }
    }
    Ok(fixed)
}

/// Stationarity with the multipliers of the engine, or with none if that is smaller; the run keeps those with which it was measured.   [MPEC-3]
///
/// Any multipliers of the right signs prove that a point is stationary. Where constraints are redundant those of an engine are not unique, and may be so
/// large that it ends before they balance. At a minimum of the objective without constraints, such as a misfit of zero, none are needed.
fn least_stationarity(program: &Program, run: &mut Run) -> Result<f64, MpecError> {
    let with_all = stationarity(program, run)?;
    let zeros = |multipliers: &[f64]| vec![0.0; multipliers.len()];
    let none = Run {
        multipliers: zeros(&run.multipliers),
        bounds: (zeros(&run.bounds.0), zeros(&run.bounds.1)),
        ..run.clone()
    };
    let with_none = stationarity(program, &none)?;
    if with_none < with_all {
        *run = none;
    }
    Ok(with_all.min(with_none))
}

/// Largest component of ∇f + Aᵀλ − z_low + z_high over the variables that are not fixed, scaled.
fn stationarity(program: &Program, run: &Run) -> Result<f64, MpecError> {
    let nlp = Nlp::new(program, 0.0, &run.x);
    let mut sum = vec![0.0; program.variables.len()];
    nlp.gradient(&run.x, &mut sum);
    let scale = sum.iter().fold(1.0_f64, |most, slope| most.max(slope.abs()));
    let mut jacobian = vec![0.0; nlp.jacobian_pattern().len()];
    nlp.jacobian(&run.x, &mut jacobian)?;
    for ((row, variable), slope) in nlp.jacobian_pattern().iter().zip(&jacobian) {
        let pull = slope * at(&run.multipliers, *row);
        sum.get_mut(*variable).into_iter().for_each(|out| *out += pull);
    }
    let of = |(k, sum): (usize, &f64)| {
        let moves = program.variables.get(k).is_some_and(|v| v.lower < v.upper);
        if moves { (sum - at(&run.bounds.0, k) + at(&run.bounds.1, k)).abs() } else { 0.0 }
    };
    Ok(sum.iter().enumerate().map(of).fold(0.0, f64::max) / scale)
}

impl Block {
    /// Number of variables.
    pub fn size(&self) -> usize {
        self.variables.len()
    }
}
