//! Measurements of a motion, and their steps.

use nalgebra::Vector3;
use stiction::{Model, OrientationUpdate, State, multibody::Mobility, sensitivity::displacement};

use super::{StartVelocity, Writer};
use crate::{IdentifyError, Orientation, Start, Track};

/// Largest distance of a row from the end of a step at which it counts as there, as a fraction of the step.
const AT_STEP: f64 = 1e-6;

impl Writer<'_> {
    /// Rows with the steps at whose ends they are; the first is at 0.
    pub(super) fn rows(&self) -> Result<Vec<(usize, usize)>, IdentifyError> {
        let times = &self.member.recording.times;
        let last = self.member.rows.end.min(times.len());
        let range = self.member.rows.start..last;
        if range.len() < 2 {
            return Err(IdentifyError::Nothing);
        }
        let origin = times.get(range.start).copied().unwrap_or(0.0);
        let mut rows = Vec::with_capacity(range.len());
        for row in range {
            let steps = (times.get(row).copied().unwrap_or(0.0) - origin) / self.source.h;
            if (steps - steps.round()).abs() > AT_STEP {
                return self.fail(format!(
                    "row {} is {steps} steps after the first: a direct transcription needs rows at the ends of steps; choose another step",
                    row + 1
                ));
            }
            #[expect(clippy::cast_sign_loss, reason = "times increase")]
            rows.push((row, steps.round() as usize));
        }
        Ok(rows)
    }

    /// Measured configurations at the start and at the end of every step, with linear interpolation between them; and the state at the
    /// start.
    pub(super) fn reference(&self, model: &Model, rows: &[(usize, usize)]) -> (Vec<Vec<f64>>, State) {
        let recording = self.member.recording;
        let seen = |row: usize| {
            let whole = |track: &Track| recording.tracks.len() > 1 || is_whole(model, track, row).is_some();
            recording.tracks.iter().all(whole)
        };
        let known: Vec<(usize, State)> = rows
            .iter()
            .enumerate()
            .filter(|(place, (row, _))| *place == 0 || seen(*row))
            .map(|(_, (row, step))| (*step, Start::measured(model, recording, *row).state))
            .collect();
        let last = rows.last().map_or(0, |(_, step)| *step);
        let mut reference = Vec::with_capacity(last + 1);
        for step in 0..=last {
            let after = known.iter().position(|(at, _)| *at >= step).unwrap_or(known.len().saturating_sub(1));
            let before =
                if known.get(after).is_some_and(|(at, _)| *at <= step) { after } else { after.saturating_sub(1) };
            let (Some((from, a)), Some((to, b))) = (known.get(before), known.get(after)) else { continue };
            let fraction = if to > from { (step - from) as f64 / (to - from) as f64 } else { 0.0 };
            let mut q = Vec::new();
            let way = displacement(model, &a.q, &b.q);
            model.integrate(&a.q, &way, fraction, OrientationUpdate::Exponential, &mut q);
            reference.push(q);
        }
        let mut first = known.into_iter().next().map_or_else(|| model.initial_state(), |(_, state)| state);
        if self.options.start_velocity == StartVelocity::AsInScene {
            first.v = model.initial_state().v;
        }
        (reference, first)
    }
}

/// Number of measurements of a track in a row.
pub(super) fn numbers(track: &Track, row: usize) -> usize {
    let positions = track.positions.get(row).copied().flatten();
    let turned = match track.orientations.get(row).copied().flatten() {
        Some(Orientation::Angle(_)) => 1,
        Some(Orientation::Quaternion(_)) => 3,
        None => 0,
    };
    positions.map_or(0, |x| x.iter().filter(|x| x.is_finite()).count()) + turned
}

/// Components of a body in the order of their measurements in a row, if each is measured once and at its reference point.
pub(super) fn is_whole(model: &Model, track: &Track, row: usize) -> Option<Vec<usize>> {
    let (mobility, _) = model.find_body(&track.body).and_then(|id| model.unknowns(id))?;
    let x = track.positions.get(row).copied().flatten()?;
    let finite = |k: usize| x.get(k).is_some_and(|x| x.is_finite());
    let orientation = track.orientations.get(row).copied().flatten();
    let angle = matches!(orientation, Some(Orientation::Angle(_)));
    let turned = matches!(orientation, Some(Orientation::Quaternion(_)));
    let at_centre = track.point == Vector3::zeros();
    match mobility {
        Mobility::PlanarParticle if finite(0) && finite(1) && !finite(2) && !angle => Some(vec![0, 1]),
        Mobility::Planar if finite(0) && finite(1) && !finite(2) && angle && at_centre => Some(vec![0, 1, 2]),
        Mobility::Particle if finite(0) && finite(1) && finite(2) && !angle => Some(vec![0, 1, 2]),
        Mobility::Free if finite(0) && finite(1) && finite(2) && turned && at_centre => Some(vec![0, 1, 2, 3, 4, 5]),
        _ => None,
    }
}

/// Largest measured distance of anything from its start.
pub(super) fn extent(model: &Model, reference: &[Vec<f64>]) -> f64 {
    let Some(first) = reference.first() else { return 0.0 };
    let sizes = model.bodies().iter().map(stiction::multibody::Body::radius).filter(|size| size.is_finite());
    let away = reference.iter().flat_map(|q| displacement(model, first, q)).map(f64::abs);
    away.fold(0.0, f64::max) + sizes.fold(0.0, f64::max)
}

/// Largest measured speed, and 1 m/s if nothing moved.
pub(super) fn fastest(model: &Model, reference: &[Vec<f64>], h: f64) -> f64 {
    let ways = reference.windows(2).flat_map(|pair| match pair {
        [from, to] => displacement(model, from, to),
        _ => Vec::new(),
    });
    let most = ways.map(|way| way.abs() / h).fold(0.0, f64::max);
    if most > 0.0 { most } else { 1.0 }
}
