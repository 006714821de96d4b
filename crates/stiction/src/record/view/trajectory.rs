//! The trajectory of a run as columns of a page.

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;

use super::{
    ViewLimits,
    payload::{Packed, Payload},
};
use crate::record::{
    BodyInfo, Outline, RecordingError, Role, RunInfo, SupportPointInfo, contacts,
    recording::{counts, read_info},
    table_reader::TableReader,
    trajectory::{CARRY, FILE, body_column},
};

/// Numbers per contact in a page.
const VALUES_PER_CONTACT: usize = 20;

/// Moments in a page.
pub(super) struct Frames {
    /// Number of recorded moments.
    pub(super) recorded: usize,
    /// Ratio of recorded moments to those in the page; the last one is always included.
    pub(super) stride: usize,
    /// Step numbers of the moments in the page, in order.
    pub(super) kept: Vec<u64>,
}

/// A body, and the indices of its columns.
#[derive(Serialize)]
pub(super) struct BodyHead {
    name: String,
    role: Role,
    position: [f64; 3],
    orientation: [f64; 4],
    /// Column of its first coordinate; the others follow. None for a body that never moves.
    column: Option<usize>,
    outlines: Vec<Outline>,
    support_points: Vec<SupportPointInfo>,
    /// Column of the first friction impulse at its support points: x, y and spin of each.
    support_column: Option<usize>,
}

/// A column that can be plotted.
#[derive(Serialize)]
pub(super) struct ColumnHead {
    name: String,
    unit: &'static str,
    #[serde(flatten)]
    packed: Packed,
}

/// Trajectory of a page.
pub(super) struct Trajectory {
    pub(super) info: RunInfo,
    pub(super) frames: Frames,
    pub(super) bodies: Vec<BodyHead>,
    pub(super) time: [Packed; 2],
    pub(super) step_before: Packed,
    pub(super) columns: Vec<ColumnHead>,
    /// True if one of the two tables was truncated.
    pub(super) cut: bool,
}

/// Reads and packs column by column, so that memory holds one column of the recording at a time.
pub(super) fn read_trajectory(
    folder: &Path,
    limits: &ViewLimits,
    payload: &mut Payload,
) -> Result<Trajectory, RecordingError> {
    let path = folder.join(FILE);
    let table = TableReader::open(&path)?;
    let info = read_info(&table, &path)?;
    refuse_too_much(folder, &info, limits)?;
    let names: Vec<&str> = table.numeric_columns().filter(|name| !["t", CARRY].contains(name)).collect();
    let of_contacts = TableReader::open(&folder.join(contacts::FILE))?;
    let cut = table.is_cut() || of_contacts.is_cut();
    let stride = stride(limits, table.rows(), names.len(), of_contacts.rows());
    let steps = counts(&table, &path, "step")?;
    let times = table.reals("t")?;
    let time = payload.push_fine(&thinned(&times, stride));
    let step_before = payload.push(&thinned(&lengths(&steps, &times, info.step), stride));
    let pack = |name: &&str| {
        let packed = payload.push(&thinned(&table.numbers(name)?, stride));
        Ok(ColumnHead { name: (*name).to_owned(), unit: unit(name), packed })
    };
    let columns = names.iter().map(pack).collect::<Result<Vec<_>, _>>()?;
    let places = names.iter().enumerate().map(|(k, name)| (*name, k)).collect();
    let bodies = info.bodies.iter().map(|body| body_head(body, &info, &places)).collect();
    let frames = Frames { recorded: steps.len(), stride, kept: thinned(&steps, stride) };
    Ok(Trajectory { info, frames, bodies, time, step_before, columns, cut })
}

/// Rejects scenes beyond the limits of a page.
fn refuse_too_much(folder: &Path, info: &RunInfo, limits: &ViewLimits) -> Result<(), RecordingError> {
    let corners = |outline: &Outline| match outline {
        Outline::Polygon { vertices } => vertices.len(),
        Outline::Polyhedron { vertices, edges } => vertices.len().saturating_add(edges.len()),
        _ => 1,
    };
    let corners = info.bodies.iter().flat_map(|body| &body.outlines).map(corners).fold(0, usize::saturating_add);
    let counts = [("bodies", info.bodies.len(), limits.bodies), ("corners and edges", corners, limits.corners)];
    counts.into_iter().find(|(_, count, limit)| count > limit).map_or(Ok(()), |(what, count, limit)| {
        Err(RecordingError::TooLarge { path: folder.into(), what, count, limit })
    })
}

/// Smallest stride that keeps the page within its limits.
fn stride(limits: &ViewLimits, rows: usize, columns: usize, contacts: usize) -> usize {
    let values = rows.saturating_mul(columns + 3).saturating_add(contacts.saturating_mul(VALUES_PER_CONTACT));
    let of = |amount: usize, limit: usize| amount.div_ceil(limit.max(1));
    of(rows, limits.frames).max(of(values, limits.values)).max(1)
}

/// Every `stride`-th value, and the last.
pub(super) fn thinned<T: Copy>(values: &[T], stride: usize) -> Vec<T> {
    let last = values.len().saturating_sub(1);
    let last = values.last().filter(|_| !last.is_multiple_of(stride));
    values.iter().step_by(stride).chain(last).copied().collect()
}

/// Length of the step that ended at each moment; the usual one if the moment before it was not recorded.
fn lengths(steps: &[u64], times: &[f64], usual: f64) -> Vec<f64> {
    let pairs = steps.windows(2).zip(times.windows(2));
    let length = |(steps, times): (&[u64], &[f64])| match (steps, times) {
        ([before, step], [from, to]) if before + 1 == *step && to > from => to - from,
        _ => usual,
    };
    std::iter::once(usual).chain(pairs.map(length)).take(steps.len()).collect()
}

fn body_head(body: &BodyInfo, info: &RunInfo, places: &BTreeMap<&str, usize>) -> BodyHead {
    let place = |name: String| places.get(name.as_str()).copied();
    let first = body.role.coordinates(info.dimension()).first();
    BodyHead {
        name: body.name.clone(),
        role: body.role,
        position: body.position,
        orientation: body.orientation,
        column: first.and_then(|quantity| place(body_column(&body.name, quantity))),
        outlines: body.outlines.clone(),
        support_points: body.support_points_at.clone(),
        support_column: if body.support_points_at.is_empty() {
            None
        } else {
            place(body_column(&body.name, "support_0_x"))
        },
    }
}

/// Unit of a column, by the end of its name.
fn unit(name: &str) -> &'static str {
    match name {
        "kinetic" | "potential" | "total" => return "J",
        "penetration" => return "m",
        "step" | "contacts" | "problem_size" | "iterations" => return "",
        _ => {}
    }
    let quantity = name.rsplit_once('.').map_or("", |(_, quantity)| quantity);
    match quantity {
        "x" | "y" | "z" => "m",
        "angle" => "rad",
        "vx" | "vy" | "vz" => "m/s",
        "wx" | "wy" | "wz" => "rad/s",
        support_point if support_point.starts_with("support_") && support_point.ends_with("spin") => "N m s",
        support_point if support_point.starts_with("support_") => "N s",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_both_ends() {
        let values: Vec<u32> = (0..=10).collect();
        assert_eq!(thinned(&values, 1), values);
        assert_eq!(thinned(&values, 4), [0, 4, 8, 10]);
        assert_eq!(thinned(&values, 5), [0, 5, 10]);
        assert!(thinned(&[0_u32; 0], 3).is_empty());
    }

    #[test]
    fn ten_thousand_planar_moments_are_kept_and_a_million_thinned() {
        let limits = ViewLimits::default();
        assert_eq!(stride(&limits, 10_001, 30, 40_000), 1);
        assert_eq!(stride(&limits, 100_001, 30, 100_000), 1);
        assert_eq!(stride(&limits, 1_000_000, 2, 0), 8);
        assert_eq!(stride(&limits, 100, 600_000, 0), 11);
    }

    #[test]
    fn steps_of_other_lengths_are_told_from_gaps_in_the_record() {
        assert_eq!(lengths(&[0, 1, 2, 10], &[0.0, 0.5, 0.75, 9.0], 0.5), [0.5, 0.5, 0.25, 0.5]);
    }
}
