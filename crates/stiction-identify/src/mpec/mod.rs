//! Direct transcription of recorded motions (MPEC): states, impulses, slip speeds, errors and parameters of all steps at once.
//!
//! ```text
//! min Σ ½ r²    so that every step is one of the simulator,    simulated − measured = σ r,    |r| ≤ bound      [MPEC-8]
//! ```
//!
//! Contact modes are part of the solution: no run with wrong parameters is needed first. The equations of the steps are those of the
//! assembly of the simulator.   [MPEC-5]

mod build;
mod models;
mod observation;
mod pattern;
mod report;
mod step;
mod windows;

use std::ops::Range;

use stiction_mpec::{Engine, Program, Schedule};

pub use report::{ContactModes, EstimatedMotion, MpecReport};
pub use stiction_mpec as program;
pub use windows::windows;

use crate::{IdentifyError, Recording, Target};

/// Knowledge of the velocity at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartVelocity {
    /// Unknown.
    Free,
    /// That of the scene.
    AsInScene,
}

/// Options of the program and its solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MpecOptions {
    /// Solver.
    pub engine: Engine,
    /// Relaxation schedule of the complementarity pairs.
    pub schedule: Schedule,
    /// Largest error, in standard deviations: a box for every number, not a ball for all.
    pub error_bound: f64,
    /// Knowledge of the velocity at the start.
    pub start_velocity: StartVelocity,
    /// Largest distance of contacts from the observed motion that are in the program, m; by default the largest measured distance of
    /// anything from its start.
    pub reach: Option<f64>,
}

impl MpecOptions {
    /// Options for this engine, with errors of any size and a free start.
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            schedule: Schedule::default(),
            error_bound: f64::INFINITY,
            start_velocity: StartVelocity::Free,
            reach: None,
        }
    }
}

/// A recorded motion of a scene. Parameters of several members with the same name are the same.
#[derive(Clone, Debug)]
pub struct Member<'a> {
    /// The scene and its unknown parameters.
    pub target: &'a Target,
    /// The recording.
    pub recording: &'a Recording,
    /// Rows that count.
    pub rows: Range<usize>,
}

impl<'a> Member<'a> {
    /// A whole recording.
    pub fn whole(target: &'a Target, recording: &'a Recording) -> Self {
        Self { target, recording, rows: 0..recording.times.len() }
    }
}

/// Estimates parameters and motions from recordings.
pub fn fit(members: &[Member], options: &MpecOptions) -> Result<MpecReport, IdentifyError> {
    if members.is_empty() {
        return Err(IdentifyError::Nothing);
    }
    let layout = build::build(members, options)?;
    let solution = program::solve(&layout.program, options.engine, &options.schedule)?;
    report::report(members, &layout, solution, options)
}

/// The program that [`fit`] solves.
pub fn program_of(members: &[Member], options: &MpecOptions) -> Result<Program, IdentifyError> {
    Ok(build::build(members, options)?.program)
}
