//! Measured motions.

use nalgebra::{UnitQuaternion, Vector3};

use crate::IdentifyError;

/// Standard deviations of measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Of each coordinate of a position, m.
    pub position: f64,
    /// Of an angle, or of a rotation about each axis, rad.
    pub angle: f64,
}

/// Orientation of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Orientation {
    /// In the plane, rad.
    Angle(f64),
    /// In space, from body to world.
    Quaternion(UnitQuaternion<f64>),
}

/// Measurements of one body: a value for each time, none if it was not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The body.
    pub body: String,
    /// The point whose position was measured, in the frame of the body.
    pub point: Vector3<f64>,
    /// Positions; coordinates that were not measured are NaN.
    pub positions: Vec<Option<Vector3<f64>>>,
    /// Orientations of the body.
    pub orientations: Vec<Option<Orientation>>,
    /// Velocity of the point and angular velocity in the world frame, if they were measured. Runs start from them; they are not compared.
    pub velocities: Vec<Option<[Vector3<f64>; 2]>>,
    /// Noise of the measurements.
    pub noise: Noise,
}

/// A measured motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Its name in tables and messages.
    pub name: String,
    /// Times, s: increasing.
    pub times: Vec<f64>,
    /// Measurements of each body.
    pub tracks: Vec<Track>,
}

impl Recording {
    /// Checks that times increase, that all tracks have the same length, and that numbers are finite.
    pub fn validate(&self) -> Result<(), IdentifyError> {
        let fail = |reason: String| Err(IdentifyError::Recording { recording: self.name.clone(), reason });
        if self.times.len() < 2 {
            return fail(format!("{} moments are too few: two at least are needed", self.times.len()));
        }
        for (row, pair) in self.times.windows(2).enumerate() {
            if let [before, after] = pair
                && !(before < after && before.is_finite() && after.is_finite())
            {
                return fail(format!(
                    "time must increase, but is {before} s in row {} and {after} s in row {}",
                    row + 1,
                    row + 2
                ));
            }
        }
        for track in &self.tracks {
            let lengths = [track.positions.len(), track.orientations.len(), track.velocities.len()];
            if lengths.iter().any(|length| *length != self.times.len()) {
                return fail(format!("the track of \"{}\" does not have a value for every moment", track.body));
            }
            if track.positions.iter().all(Option::is_none) && track.orientations.iter().all(Option::is_none) {
                return fail(format!("there is no measurement of \"{}\": no row has a number", track.body));
            }
            let noise = [track.noise.position, track.noise.angle];
            if noise.iter().any(|noise| !(*noise > 0.0 && noise.is_finite())) {
                return fail(format!("the noise of \"{}\" must be positive", track.body));
            }
        }
        Ok(())
    }

    /// Number of measurements in these rows.
    pub fn numbers(&self, rows: std::ops::Range<usize>) -> usize {
        let of_track = |track: &Track| {
            let positions = track.positions.get(rows.clone()).unwrap_or_default();
            let positions: usize = positions.iter().flatten().map(|x| x.iter().filter(|x| x.is_finite()).count()).sum();
            let turned = track.orientations.get(rows.clone()).unwrap_or_default();
            let turned: usize =
                turned.iter().flatten().map(|o| if let Orientation::Angle(_) = o { 1 } else { 3 }).sum();
            positions + turned
        };
        self.tracks.iter().map(of_track).sum()
    }
}
