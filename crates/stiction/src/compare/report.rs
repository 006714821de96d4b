//! What a comparison found: plain data, the fields of `compare.json`.

use serde::{Deserialize, Serialize};

use super::Errors;
use crate::record::{EnergySummary, Extreme, ResidualSummary};

/// Everything a comparison found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Comparison {
    /// Version of stiction.
    pub version: String,
    /// Name of the scene; empty for models without one.
    pub scene: String,
    /// Simulated time, s.
    pub until: f64,
    /// Velocity components, over which the norms are taken.
    pub components: usize,
    /// What the runs are measured against.
    pub truth: Truth,
    /// The runs: scheme by scheme, the largest step first.
    pub rows: Vec<Row>,
    /// Schemes that cannot simulate this scene, with the reason.
    pub refusals: Vec<Refusal>,
    /// True when somebody stopped it; runs are then missing.
    pub interrupted: bool,
}

/// What the runs are measured against.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Truth {
    /// Name of the scheme.
    pub preset: String,
    /// Its step, s.
    pub step: f64,
    /// Its distance from itself seen at every second step, and at least rounding: errors below it say nothing.   [COMPARE-7]
    pub resolution: Errors,
    /// Largest componentwise variation of its velocity.   [COMPARE-3]
    pub variation: f64,
    /// Candidates that came before it but did not simulate the whole time, with the reason.
    pub passed_over: Vec<Refusal>,
}

/// A scheme that cannot simulate the scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// Name of the scheme.
    pub preset: String,
    /// Why, in a sentence.
    pub reason: String,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The whole time was simulated.
    Finished,
    /// A step could not be made.
    Failed {
        /// Its number, from 1.
        step: u64,
        /// Time at its start, s.
        time: f64,
        /// Why, in a sentence.
        cause: String,
    },
}

/// One scheme with one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// Name of the scheme.
    pub preset: String,
    /// Step size, s.
    pub step: f64,
    /// How the run ended.
    pub outcome: Outcome,
    /// Distance from the truth; none for a run that failed.
    pub errors: Option<Errors>,
    /// Orders of convergence from the next larger step to this one.   [COMPARE-8]
    pub orders: Orders,
    /// Largest componentwise variation of the velocity, m/s or rad/s.   [COMPARE-3]
    pub variation: f64,
    /// What it cost.
    pub cost: Cost,
    /// How far constraints were violated.
    pub infeasibility: InfeasibilityExtremes,
    /// Total energy, J.
    pub energy: EnergySummary,
    /// Path along which the two bodies that rubbed most rubbed past each other, m.   [COMPARE-6]
    pub slip: f64,
    /// Worst residual of all steps, by the problem's own ruler.
    pub residual: ResidualSummary,
}

/// Orders of convergence; none without a larger step to compare with, or where an error is below what the truth can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Orders {
    /// Of the velocity error.
    pub velocity: Option<f64>,
    /// Of the position error.
    pub position: Option<f64>,
}

/// What a run cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Steps made.
    pub steps: u64,
    /// Of these, how many had to be made in smaller ones.   [STEP-13]
    #[serde(default)]
    pub halved: u64,
    /// Iterations of the solver over all steps: pivots, sweeps or Newton steps, and pieces of the integrator for the reference.
    pub iterations: u64,
    /// Least time of all passes, steps only, s. The only number here that another run does not repeat.
    pub wall_seconds: f64,
}

/// Violation of constraints at step ends: the largest and the last.   [STEP-9]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InfeasibilityExtremes {
    /// Of joints, m or rad.
    pub joints: Extreme,
    /// Of joints and contacts, m or rad.
    pub total: Extreme,
}
