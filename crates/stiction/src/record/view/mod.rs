//! `view.html`: recorded runs as one self-contained page that plays them.
//!
//! The page is made from finished recordings, in the same way for all commands. This module converts their tables into the data of the
//! page: `trajectory` and `contacts` select the numbers, `payload` packs them. The page itself is `viewer.html`. It is built from the
//! sources in `viewer/` and committed, so that a Rust toolchain alone builds the program.

mod contacts;
mod payload;
mod trajectory;

use std::path::Path;

use serde::Serialize;
use stiction_scene::read_regular;

use self::{
    contacts::{ContactsHead, read_contacts},
    payload::Payload,
    trajectory::{BodyHead, ColumnHead, Frames, read_trajectory},
};
use super::{Ending, EventSummary, LinkInfo, RecordingError, Summary, info::RunInfo};

/// The built page.
const PAGE: &str = include_str!("viewer.html");

/// Placeholders of the built page for the description of the runs and for their numbers.
const HEAD_PLACE: &str = "{\"stiction\":\"head\"}";
const DATA_PLACE: &str = "stiction-data";

/// Largest number of events in a page.
const EVENT_LIMIT: usize = 2000;

/// Largest summary that is read, bytes.
const SUMMARY_LIMIT: u64 = 64 << 20;

/// Limits of a page. Longer runs are thinned evenly, which the page shows; the recording is not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewLimits {
    /// Moments of all runs together.
    pub frames: usize,
    /// Numbers of all runs together.
    pub values: usize,
    /// Bodies of a run; more are rejected.
    pub bodies: usize,
    /// Vertices and edges of the shapes of a run; more are rejected.
    pub corners: usize,
}

impl Default for ViewLimits {
    fn default() -> Self {
        Self { frames: 131_072, values: 6_000_000, bodies: 20_000, corners: 500_000 }
    }
}

/// Description of the runs of a page.
#[derive(Serialize)]
struct PageHead {
    format: u32,
    runs: Vec<RunHead>,
}

/// Description of a run.
#[derive(Serialize)]
struct RunHead {
    /// Label of the run.
    label: String,
    scene: String,
    version: String,
    dimension: u8,
    step: f64,
    /// Number of recorded moments, of which the page holds every `stride`-th.
    recorded: usize,
    stride: usize,
    frames: usize,
    bodies: Vec<BodyHead>,
    links: Vec<LinkInfo>,
    /// Times, as a coarse and a fine part.
    time: [payload::Packed; 2],
    /// Length of the step that ended at each moment, s.
    step_before: payload::Packed,
    columns: Vec<ColumnHead>,
    contacts: ContactsHead,
    /// True if a table was truncated; the remaining part is valid.
    cut: bool,
    /// None if there is no summary because the run was truncated.
    summary: Option<SummaryHead>,
}

/// Part of the summary that a page shows.
#[derive(Serialize)]
struct SummaryHead {
    preset: String,
    solver: String,
    ending: Ending,
    steps: u64,
    duration: f64,
    events_total: u64,
    events: Vec<EventSummary>,
}

/// Creates one page that plays the runs recorded in these folders, overlaid on the first. Names are always shown as text. Damaged
/// recordings and those of other programs are rejected as by [`super::Recording::read`]. Of truncated recordings the page shows the
/// complete part, and says so.
pub fn view_page(runs: &[&Path], limits: &ViewLimits) -> Result<String, RecordingError> {
    let run_count = runs.len().max(1);
    let limits = ViewLimits { frames: limits.frames / run_count, values: limits.values / run_count, ..*limits };
    let mut payload = Payload::default();
    let heads = runs.iter().map(|folder| {
        // The Parquet decoder checks most of its input, but a flipped bit can still make it panic.
        let read = std::panic::AssertUnwindSafe(|| read_run(folder, &limits, &mut payload));
        std::panic::catch_unwind(read).unwrap_or_else(|_| {
            Err(RecordingError::NotATable { path: folder.into(), reason: "its bytes are damaged".to_owned() })
        })
    });
    let mut head = PageHead { format: 1, runs: heads.collect::<Result<_, _>>()? };
    same_dimension(&head.runs, runs)?;
    tell_apart(&mut head.runs, runs);
    let json = serde_json::to_string(&head).map_err(|error| RecordingError::Foreign {
        path: runs.first().map_or_else(Default::default, Into::into),
        reason: error.to_string(),
    })?;
    Ok(fill(&json, &payload.text()))
}

fn read_run(folder: &Path, limits: &ViewLimits, payload: &mut Payload) -> Result<RunHead, RecordingError> {
    let trajectory = read_trajectory(folder, limits, payload)?;
    let contacts = read_contacts(folder, &trajectory.frames, payload)?;
    let RunInfo { scene, version, dimension, step, links, .. } = trajectory.info;
    let bodies = trajectory.bodies;
    let known = |link: &LinkInfo| link.a < bodies.len() && link.b < bodies.len();
    let Frames { recorded, stride, ref kept } = trajectory.frames;
    Ok(RunHead {
        label: scene.clone(),
        scene,
        version,
        dimension,
        step,
        recorded,
        stride,
        frames: kept.len(),
        links: links.into_iter().filter(known).collect(),
        bodies,
        time: trajectory.time,
        step_before: trajectory.step_before,
        columns: trajectory.columns,
        contacts,
        cut: trajectory.cut,
        summary: read_summary(folder),
    })
}

/// Reads the summary, if there is a readable one.
fn read_summary(folder: &Path) -> Option<SummaryHead> {
    let text = read_regular(&folder.join("summary.json"), SUMMARY_LIMIT).ok()??;
    let mut summary: Summary = serde_json::from_slice(&text).ok()?;
    summary.events.truncate(EVENT_LIMIT);
    let Summary { preset, solver, ending, steps, duration, events_total, events, .. } = summary;
    Some(SummaryHead { preset, solver, ending, steps, duration, events_total, events })
}

/// Rejects planar and spatial runs in one page, since their cameras differ.
fn same_dimension(heads: &[RunHead], folders: &[&Path]) -> Result<(), RecordingError> {
    let odd = heads
        .iter()
        .zip(folders)
        .find(|(head, _)| heads.first().is_some_and(|first| first.dimension != head.dimension));
    odd.map_or(Ok(()), |(head, folder)| {
        let (own, others) = if head.dimension == 2 { ("the plane", "space") } else { ("space", "the plane") };
        let reason = format!("it is a run in {own}, and the first one is in {others}: they cannot share a page");
        Err(RecordingError::Foreign { path: folder.into(), reason })
    })
}

/// Labels several runs by their folders, and numbers equal labels.
fn tell_apart(heads: &mut [RunHead], folders: &[&Path]) {
    if heads.len() < 2 {
        return;
    }
    let names: Vec<_> = folders.iter().map(|folder| folder.file_name().unwrap_or_default().to_string_lossy()).collect();
    for (k, (head, name)) in heads.iter_mut().zip(&names).enumerate() {
        let unique = names.iter().filter(|other| *other == name).count() == 1;
        head.label = if unique && !name.is_empty() { name.to_string() } else { format!("{name} ({})", k + 1) };
    }
}

/// Fills in head and numbers. The head contains no `<`, so no name can end the element that contains it.
fn fill(json: &str, data: &str) -> String {
    let safe = json.replace('<', "\\u003c");
    let (before, rest) = PAGE.split_once(HEAD_PLACE).unwrap_or((PAGE, ""));
    let (between, after) = rest.split_once(DATA_PLACE).unwrap_or((rest, ""));
    [before, &safe, between, data, after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_cannot_leave_the_data() {
        let name = format!("</script><!-- <script>alert(1) {HEAD_PLACE} {DATA_PLACE}");
        let page = fill(&serde_json::to_string(&name).expect("text"), "AAAA");
        let data = page.split("id=\"head\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("data");
        assert_eq!(serde_json::from_str::<String>(data).expect("whole"), name);
        assert_eq!(page.matches("alert(1)").count(), 1);
    }

    #[test]
    fn the_page_has_both_places_and_may_fetch_nothing() {
        assert_eq!((PAGE.matches(HEAD_PLACE).count(), PAGE.matches(DATA_PLACE).count()), (1, 1));
        assert!(PAGE.contains("default-src 'none'"));
        assert!(PAGE.find(HEAD_PLACE) < PAGE.find(DATA_PLACE));
    }
}
