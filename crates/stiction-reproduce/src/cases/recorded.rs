//! Helpers of the cases of identification: noisy observations of motions, and results of an engine for nonlinear programs.

use nalgebra::Vector3;
use stiction_identify::mpec::program::Engine;
use stiction_identify::{Noise, Orientation, Recording, Track};

use crate::{Account, Value};

/// Engine of this build, the fastest if there are several; none in a plain build.
pub(super) fn engine() -> Option<Engine> {
    Engine::available().first().copied()
}

/// Adds a remark on the missing engine.
pub(super) fn remark_without_engine(account: &mut Account) {
    if engine().is_none() {
        account.remark(
            "Rows that are not in this build need an engine for nonlinear programs: \
             `cargo install --path crates/stiction-cli --features ipopt` (a library of the system, the faster one) or `--features ripopt` (pure Rust).",
        );
    }
}

/// Value of a report, or a note that no engine is available.
pub(super) fn of<R>(report: Option<&R>, value: impl FnOnce(&R) -> Value) -> Value {
    report.map_or(Value::NotInBuild, value)
}

/// Rounds a number to a multiple of `to`: engines are libraries whose last digits differ between versions and machines.
pub(super) fn rounded(number: f64, to: f64) -> Value {
    Value::Number((number / to).round() * to)
}

/// A recording of one body, built row by row.
pub(super) struct Camera {
    recording: Recording,
}

impl Camera {
    pub(super) fn new(name: &str, body: &str, noise: Noise) -> Self {
        let track = Track {
            body: body.to_owned(),
            point: Vector3::zeros(),
            positions: Vec::new(),
            orientations: Vec::new(),
            velocities: Vec::new(),
            noise,
        };
        Self { recording: Recording { name: name.to_owned(), times: Vec::new(), tracks: vec![track] } }
    }

    /// Adds an observation of a planar body: its position and, if observed, its angle.
    pub(super) fn see(&mut self, time: f64, [x, y]: [f64; 2], angle: Option<f64>) {
        self.recording.times.push(time);
        for track in &mut self.recording.tracks {
            track.positions.push(Some(Vector3::new(x, y, f64::NAN)));
            track.orientations.push(angle.map(Orientation::Angle));
            track.velocities.push(None);
        }
    }

    pub(super) fn recording(self) -> Recording {
        self.recording
    }
}

/// Coordinate 0 or 1 of the observations, row by row; 2 is the angle.
pub(super) fn seen(recording: &Recording, coordinate: usize) -> Vec<f64> {
    let Some(track) = recording.tracks.first() else { return Vec::new() };
    let angle = |turned: &Option<Orientation>| match turned {
        Some(Orientation::Angle(angle)) => *angle,
        _ => f64::NAN,
    };
    match coordinate {
        2 => track.orientations.iter().map(angle).collect(),
        _ => track.positions.iter().map(|x| x.map_or(f64::NAN, |x| x[coordinate])).collect(),
    }
}
