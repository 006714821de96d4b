//! Identification of parameters of a scene, and of states, from measured motions.
//!
//! ```text
//! recording   times, and what was seen of the bodies: positions, orientations, with their noise
//! target      a scene with parameters that are not known, and where each run of it starts
//! residual    simulated minus measured, in units of the noise, with its derivatives            [FIT-1] [FIT-2]
//! shooting    least squares over runs from unknown starts                                      [FIT-3]
//! filter      particles that follow a recording: states and parameters over time               [FILT-1]
//! information which of several experiments would tell most of a parameter                      [DOE-1]
//! mpec        all steps as one program, behind the feature `mpec`                              [MPEC-8]
//! file        identification files: scene, recordings as tables, what is not known
//! identification  all of it: methods, windows, predictions, and what they found
//! ```

// Doc comments here are full of symbols such as AᵀB, which are mathematics and not code.
#![allow(clippy::doc_markdown)]

mod error;
mod file;
pub mod filter;
mod gaps;
mod identification;
pub mod information;
#[cfg(feature = "mpec")]
pub mod mpec;
mod recording;
mod residual;
mod segment;
pub mod shooting;
mod target;

pub use error::IdentifyError;
pub use file::{Method, load, read_bytes, schema};
pub use identification::{
    Bound, ColumnMisfit, EstimateReport, HeldOut, Identification, IdentificationReport, MethodReport, Motion,
    MotionColumn, Prediction, PredictionError, WindowStudy,
};
pub use recording::{Noise, Orientation, Recording, Track};
pub use residual::{Residuals, observe};
pub use segment::{Segment, Start};
pub use target::{Parameter, Target};
