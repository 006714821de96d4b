//! Interpolation of gaps in a recording: linear between the rows before and after. It is used for the starts of runs only.

use nalgebra::{UnitQuaternion, Vector3};

use crate::{Orientation, Recording, Track};

/// Last row up to a row, and first row from it on, with a measurement.
fn around(rows: usize, row: usize, seen: impl Fn(usize) -> bool) -> (Option<usize>, Option<usize>) {
    ((0..=row.min(rows.saturating_sub(1))).rev().find(|k| seen(*k)), (row..rows).find(|k| seen(*k)))
}

/// Fraction of the time from one row to another.
fn fraction(recording: &Recording, (from, to): (usize, usize), row: usize) -> f64 {
    let time = |row: usize| recording.times.get(row).copied().unwrap_or(0.0);
    let whole = time(to) - time(from);
    if whole > 0.0 { (time(row) - time(from)) / whole } else { 0.0 }
}

/// Coordinate of the position in a row; none if it was never measured.
pub(crate) fn coordinate(recording: &Recording, track: &Track, row: usize, axis: usize) -> Option<f64> {
    let at = |row: usize| track.positions.get(row).copied().flatten().map(|x| x[axis]).filter(|x| x.is_finite());
    let (before, after) = around(track.positions.len(), row, |row| at(row).is_some());
    match (before, after) {
        (Some(from), Some(to)) => {
            let (x, y) = (at(from)?, at(to)?);
            Some(x + fraction(recording, (from, to), row) * (y - x))
        }
        (one, other) => at(one.or(other)?),
    }
}

/// Orientation in a row; none if it was never measured.
pub(crate) fn orientation(recording: &Recording, track: &Track, row: usize) -> Option<UnitQuaternion<f64>> {
    let at = |row: usize| match track.orientations.get(row).copied().flatten()? {
        Orientation::Angle(angle) => Some(UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle)),
        Orientation::Quaternion(quaternion) => Some(quaternion),
    };
    let (before, after) = around(track.orientations.len(), row, |row| at(row).is_some());
    match (before, after) {
        (Some(from), Some(to)) if from < to => {
            let (a, b) = (at(from)?, at(to)?);
            Some(a.try_slerp(&b, fraction(recording, (from, to), row), 1e-9).unwrap_or(a))
        }
        (one, other) => at(one.or(other)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Noise;

    #[test]
    fn gaps_are_crossed_in_straight_lines() {
        let seen = |x: f64| Some(Vector3::new(x, f64::NAN, f64::NAN));
        let turned = |angle: f64| Some(Orientation::Angle(angle));
        let track = Track {
            body: "block".into(),
            point: Vector3::zeros(),
            positions: vec![None, seen(1.0), None, seen(4.0), None],
            orientations: vec![turned(0.0), None, None, turned(0.6), None],
            velocities: vec![None; 5],
            noise: Noise { position: 1.0, angle: 1.0 },
        };
        let recording = Recording { name: "gaps".into(), times: vec![0.0, 1.0, 2.0, 4.0, 5.0], tracks: vec![] };
        let x: Vec<_> = (0..5).map(|row| coordinate(&recording, &track, row, 0).unwrap()).collect();
        assert_eq!(x, [1.0, 1.0, 2.0, 4.0, 4.0]);
        assert_eq!(coordinate(&recording, &track, 2, 1), None);
        let angle = |row| orientation(&recording, &track, row).unwrap().angle();
        assert!((angle(1) - 0.15).abs() < 1e-12 && (angle(2) - 0.3).abs() < 1e-12 && (angle(4) - 0.6).abs() < 1e-12);
    }
}
