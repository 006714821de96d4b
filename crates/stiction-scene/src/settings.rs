//! How to simulate: duration, step and scheme.

use stiction_stepping::{Preset, Scheme};

/// What `[simulation]` and `[scheme]` say, with everything left out filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Simulated time, s.
    pub duration: f64,
    /// Time step h, s.
    pub step: f64,
    /// The scheme by name.
    pub preset: Preset,
    /// The scheme in detail.
    pub scheme: Scheme,
    /// Every how many steps the state is recorded; at least 1.
    pub record_every: u32,
}
