//! All steps of recorded motions as one program: states, impulses, slip speeds, errors and parameters at once.
//!
//! ```text
//! min Σ ½ r²    so that every step is one of the simulator,    simulated − measured = σ r,    |r| ≤ bound      [MPEC-8]
//! ```
//!
//! Contact modes are part of what is sought: no run has to be made with wrong parameters first. The equations of the steps are those of the
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

/// What is known of the velocity at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartVelocity {
    /// Nothing.
    Free,
    /// It is that of the scene.
    AsInScene,
}

/// How the program is written and solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MpecOptions {
    /// By which solver.
    pub engine: Engine,
    /// How pairs are led to zero.
    pub schedule: Schedule,
    /// No error is larger than this many standard deviations: a box for every number, not a ball for all.
    pub error_bound: f64,
    /// What is known of the start.
    pub start_velocity: StartVelocity,
    /// Contacts within this distance of the observed motion are in the program, m; as far as anything was seen to move where it is none.
    pub reach: Option<f64>,
}

impl MpecOptions {
    /// Errors of any size, from any start, by this engine.
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
    /// The scene and what is not known of it.
    pub target: &'a Target,
    /// The recording.
    pub recording: &'a Recording,
    /// Which of its rows count.
    pub rows: Range<usize>,
}

impl<'a> Member<'a> {
    /// A whole recording.
    pub fn whole(target: &'a Target, recording: &'a Recording) -> Self {
        Self { target, recording, rows: 0..recording.times.len() }
    }
}

/// Parameters and motions from recordings.
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
