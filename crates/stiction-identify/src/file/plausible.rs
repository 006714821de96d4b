//! Check that a recording has the size of its scene: missing units are the most common error.

use nalgebra::Vector3;
use stiction::Simulation;

use super::{FieldError, tables::RecordingTable};
use crate::Recording;

/// Ratio of the sizes of motion and scene above which the unit of length is wrong.
const MAX_SIZE_RATIO: f64 = 300.0;

/// Number of steps of a recording above which the unit of time is wrong.
const MAX_STEPS: f64 = 1e6;

/// Refuses sizes that only another unit explains, if the unit was not given; if it was, it adds a note.
pub(super) fn check(
    simulation: &Simulation,
    (recording, table): (&Recording, &RecordingTable),
    notes: &mut Vec<String>,
) -> Result<(), FieldError> {
    let says_unit = |key: &str| table.columns.get(key).is_some_and(|column| column.parts().1.is_some());
    let (first, last) = (recording.times.first(), recording.times.last());
    let duration = last.zip(first).map_or(0.0, |(last, first)| last - first);
    let steps = duration / simulation.step_size();
    if steps > MAX_STEPS {
        let reason = format!("the recording lasts {duration} s, {steps:.0} steps of the scene");
        let unit = "are these milliseconds? then set unit = \"ms\", otherwise unit = \"s\"";
        if !says_unit("time") {
            return Err(FieldError::new(&["columns", "time"], reason).hint(unit));
        }
        notes.push(format!("{}: {reason}", recording.name));
    }
    let size = size_of(simulation);
    for track in &recording.tracks {
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let extent = extent_of(track.positions.iter().flatten(), axis);
            if extent <= MAX_SIZE_RATIO * size || size == 0.0 {
                continue;
            }
            let key = format!("body.{}.{name}", track.body);
            let reason = format!("`{key}` moves over {extent:.3} m, {:.0} times the size of the scene", extent / size);
            if !says_unit(&key) {
                let hint = "are these millimetres? then set unit = \"mm\", otherwise unit = \"m\"";
                return Err(FieldError::new(&["columns", &key], reason).hint(hint));
            }
            notes.push(format!("{}: {reason}; check its unit", recording.name));
        }
    }
    Ok(())
}

/// From the least to the greatest coordinate.
fn extent_of<'x>(positions: impl Iterator<Item = &'x Vector3<f64>>, axis: usize) -> f64 {
    let known = positions.map(|position| position[axis]).filter(|x| x.is_finite());
    let (low, high) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    (high - low).max(0.0)
}

/// Size of the largest shape, or the largest distance between bodies at the start, m.
fn size_of(simulation: &Simulation) -> f64 {
    let model = simulation.model();
    let shapes = model.shapes().filter_map(|(_, _, on_body)| {
        Some(2.0 * on_body.shape.radius_bound()? + on_body.local.translation.vector.norm())
    });
    let places: Vec<Vector3<f64>> = model
        .bodies()
        .iter()
        .filter_map(|body| model.find_body(&body.name).filter(|id| model.unknowns(*id).is_some()))
        .map(|id| simulation.configuration().pose(id).translation.vector)
        .collect();
    let apart = (0..3).map(|axis| extent_of(places.iter(), axis));
    shapes.chain(apart).filter(|size| size.is_finite()).fold(0.0, f64::max)
}
