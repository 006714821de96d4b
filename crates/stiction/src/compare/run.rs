//! Execution of a plan: the reference solution first, then every scheme with every step size.

use std::sync::Arc;

use stiction_scene::steps_in;
use stiction_stepping::{Scheme, StepCause, StepError};

use super::{
    CompareError, Comparison, Cost, Entry, Errors, Orders, Outcome, Plan, Refusal, Row, Trajectory, Truth, tally::Tally,
};
use crate::Simulation;

/// Clock and cancellation of a comparison, provided by the caller.
pub trait Watch {
    /// Seconds since an arbitrary origin.
    fn now(&mut self) -> f64;
    /// Called before every step of a first repetition; `false` stops the comparison.
    fn goes_on(&mut self) -> bool;
}

/// A watch without clock or cancellation: every time is zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn now(&mut self) -> f64 {
        0.0
    }

    fn goes_on(&mut self) -> bool {
        true
    }
}

/// Computes the reference solution, then runs every scheme with every step size.
///
/// Schemes that do not support the model and runs that fail are listed in the report; the other runs continue.
pub fn run(plan: &Plan, watch: &mut dyn Watch) -> Result<Comparison, CompareError> {
    plan.validate()?;
    let (truth, trajectory) = find_truth(plan, watch)?;
    let mut comparison = Comparison {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scene: String::new(),
        until: plan.until,
        components: plan.model.dof(),
        truth,
        rows: Vec::new(),
        refusals: Vec::new(),
        interrupted: false,
    };
    let mut steps = plan.steps.clone();
    steps.sort_by(|a, b| b.total_cmp(a));
    steps.dedup();
    for entry in &plan.entries {
        let mut larger: Option<Row> = None;
        for &step in &steps {
            let mut row = match row(plan, entry, step, &trajectory, watch) {
                Ok(row) => row,
                Err(Unmeasured::Refused(reason)) => {
                    comparison.refusals.push(Refusal { preset: entry.name.clone(), reason });
                    break;
                }
                Err(Unmeasured::Stopped) => {
                    comparison.interrupted = true;
                    return Ok(comparison);
                }
            };
            let resolution = &comparison.truth.resolution;
            row.orders = larger.as_ref().map(|larger| orders(larger, &row, resolution)).unwrap_or_default();
            comparison.rows.push(row.clone());
            larger = Some(row);
        }
    }
    Ok(comparison)
}

fn simulation(plan: &Plan, entry: &Entry, step: f64) -> Result<Simulation, String> {
    let scheme: Scheme = entry.scheme.clone()?;
    Simulation::new(Arc::clone(&plan.model), scheme, step).map_err(|error| error.to_string())
}

/// Reason why a run ended early.
enum Halt {
    Failed(StepError),
    Stopped,
}

/// Returns the first candidate that simulates the whole time.
fn find_truth(plan: &Plan, watch: &mut dyn Watch) -> Result<(Truth, Trajectory), CompareError> {
    let mut rejected_candidates = Vec::new();
    for candidate in &plan.truth {
        let (preset, step) = (candidate.entry.name.clone(), plan.truth_step(candidate));
        let reason = match simulation(plan, &candidate.entry, step) {
            Err(reason) => reason,
            Ok(mut simulation) => {
                let mut tally = Tally::starting_at(&simulation);
                match first_pass(&mut simulation, steps_in(plan.until, step), &mut tally, watch) {
                    Ok(()) => {
                        let whole = tally.trajectory;
                        let resolution = resolution(plan, &whole);
                        let variation = whole.variation(plan.until);
                        return Ok((Truth { preset, step, resolution, variation, rejected_candidates }, whole));
                    }
                    Err(Halt::Stopped) => return Err(CompareError::Stopped),
                    Err(Halt::Failed(error)) => format!("failed in {error}"),
                }
            }
        };
        rejected_candidates.push(Refusal { preset, reason });
    }
    Err(CompareError::NoTruth(rejected_candidates))
}

/// Reason why a run has no row in the report.
enum Unmeasured {
    Refused(String),
    Stopped,
}

/// Executes and measures one run.
fn row(plan: &Plan, entry: &Entry, step: f64, truth: &Trajectory, watch: &mut dyn Watch) -> Result<Row, Unmeasured> {
    let mut first = simulation(plan, entry, step).map_err(Unmeasured::Refused)?;
    let mut tally = Tally::starting_at(&first);
    let outcome = match first_pass(&mut first, steps_in(plan.until, step), &mut tally, watch) {
        Ok(()) => Outcome::Finished,
        Err(Halt::Stopped) => return Err(Unmeasured::Stopped),
        Err(Halt::Failed(error)) => {
            Outcome::Failed { step: error.step, time: error.time, cause: error.cause.to_string() }
        }
    };
    let (mut least, mut spent) = (tally.seconds, tally.seconds);
    for _ in 1..plan.repetitions {
        // Without a clock there is nothing to time.
        if spent == 0.0 || spent > plan.patience {
            break;
        }
        let Ok(mut again) = simulation(plan, entry, step) else { break };
        let seconds = time_again(&mut again, tally.cost.steps, watch);
        (least, spent) = (least.min(seconds), spent + seconds);
    }
    let errors = || Errors::between(&plan.model, &tally.trajectory, truth, plan.until);
    Ok(Row {
        preset: entry.name.clone(),
        step,
        errors: (outcome == Outcome::Finished).then(errors),
        outcome,
        orders: Orders::default(),
        variation: tally.trajectory.variation(plan.until),
        cost: Cost { wall_seconds: least, ..tally.cost },
        infeasibility: tally.infeasibility,
        slip: tally.slip(),
        energy: tally.energy,
        residual: tally.residual,
    })
}

fn first_pass(simulation: &mut Simulation, steps: u64, tally: &mut Tally, watch: &mut dyn Watch) -> Result<(), Halt> {
    for _ in 0..steps {
        if !watch.goes_on() {
            return Err(Halt::Stopped);
        }
        let before = watch.now();
        let made = simulation.step();
        let report = made.map_err(|error| match error.cause {
            StepCause::Interrupted => Halt::Stopped,
            _ => Halt::Failed(error),
        })?;
        tally.seconds += watch.now() - before;
        tally.see(simulation, &report);
    }
    Ok(())
}

/// Wall-clock time of another repetition of the same steps, s.
fn time_again(simulation: &mut Simulation, steps: u64, watch: &mut dyn Watch) -> f64 {
    let before = watch.now();
    for _ in 0..steps {
        if simulation.step().is_err() {
            break;
        }
    }
    watch.now() - before
}

/// Errors below this are rounding errors.
const ROUNDING: f64 = 1e-12;

/// Resolution of the reference solution: its distance from every second of its samples.   [COMPARE-7]
fn resolution(plan: &Plan, truth: &Trajectory) -> Errors {
    let thinned = Errors::between(&plan.model, &truth.thinned(2), truth, plan.until);
    Errors { velocity: thinned.velocity.max(ROUNDING), position: thinned.position.max(ROUNDING), ..thinned }
}

/// Order p with e ∝ hᵖ between two step sizes, for errors above the resolution of the reference solution.   [COMPARE-8]
fn orders(larger: &Row, row: &Row, resolution: &Errors) -> Orders {
    let (Some(e1), Some(e2)) = (larger.errors, row.errors) else { return Orders::default() };
    let order = |e1: f64, e2: f64, resolution: f64| {
        (e1.min(e2) > resolution).then(|| (e1 / e2).log2() / (larger.step / row.step).log2())
    };
    Orders {
        velocity: order(e1.velocity, e2.velocity, resolution.velocity),
        position: order(e1.position, e2.position, resolution.position),
    }
}
