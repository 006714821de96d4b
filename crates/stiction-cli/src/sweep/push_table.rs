//! Tables of `stiction sweep` for `push` studies.

use std::path::PathBuf;

use stiction_study::{
    PushStudy, SuccessRate,
    push::{Plan, PushReport},
};

use crate::layout::{Sheet, columns, counted, number, seconds};

/// Number of plans in the table; all are in the file.
const SHOWN: usize = 5;

const HEADING: [&str; 7] =
    ["trial", "length (m)", "time (s)", "position error (m)", "angle error (°)", "with other friction", "path"];

pub(super) fn text(study: &PushStudy, report: &PushReport, elapsed: f64, files: &[PathBuf]) -> String {
    let mut parts = vec![head(study, report, elapsed)];
    let shown: Vec<_> = match (report.found.is_empty(), &report.nearest) {
        (true, Some(nearest)) => vec![cells(nearest)],
        _ => report.found.iter().take(SHOWN).map(cells).collect(),
    };
    if !shown.is_empty() {
        parts.push(columns(&HEADING, &shown));
    }
    let mut sheet = Sheet::default();
    let files: Vec<_> = files.iter().map(|path| path.display().to_string()).collect();
    sheet.row("files", files.join("\n"));
    parts.push(sheet.text());
    parts.join("\n")
}

fn head(study: &PushStudy, report: &PushReport, elapsed: f64) -> String {
    let (goal, made) = (&report.goal, report.successes.of);
    let mut sheet = Sheet::default();
    sheet.row("study", format!("{}, of the scene {}", study.name, study.scene.name));
    let [x, y] = goal.position.map(number);
    let (angle, near, turn) = (goal.angle, goal.position_tolerance, goal.angle_tolerance);
    let [angle, turn] = [angle, turn].map(|radians| number(radians.to_degrees()));
    sheet.row("goal", format!("({x}, {y}) within {} m, {angle}° within {turn}°", number(near)));
    let trials = counted(made as usize, "trial", "trials");
    let asked = if made < report.trials { format!(" of {}", report.trials) } else { String::new() };
    sheet.row("made", format!("{trials}{asked} from seed {}; total time {}", report.seed, seconds(elapsed)));
    sheet.row("reached", format!("by {}", success_rate(&report.successes)));
    let failed: u64 = report.failed.iter().map(|failure| failure.count).sum();
    let reasons = report.failed.iter().map(|f| format!("{}: {} (first in trial {})", f.count, f.reason, f.first_trial));
    let lines: Vec<_> =
        std::iter::once(if failed == 0 { "none".into() } else { failed.to_string() }).chain(reasons).collect();
    sheet.row("failed", lines.join("\n"));
    sheet.row("plans", plans(report));
    sheet.text()
}

fn plans(report: &PushReport) -> String {
    if report.found.is_empty() {
        let nearest = if report.nearest.is_some() { "; the nearest miss is" } else { "" };
        return format!("none{nearest}");
    }
    let refined = report.found.iter().filter(|plan| plan.refined).count();
    let shown = if report.found.len() > SHOWN { format!("; the {SHOWN} shortest are") } else { String::new() };
    format!("{}, {refined} of them refined from near misses{shown}", report.found.len())
}

/// Formats a success rate: `6 of 2000 (0.3 %, with 95 % confidence 0.138 to 0.653 %)`.
pub(super) fn success_rate(success_rate: &SuccessRate) -> String {
    let [value, low, high] = [success_rate.value(), success_rate.low, success_rate.high].map(|x| number(100.0 * x));
    format!("{} of {} ({value} %, with 95 % confidence {low} to {high} %)", success_rate.hits, success_rate.of)
}

fn cells(plan: &Plan) -> Vec<String> {
    let points = plan.path.points().iter().map(|[x, y]| format!("({}, {})", number(*x), number(*y)));
    let rehearsed = plan
        .rehearsed
        .map_or_else(|| "-".to_owned(), |success_rate| format!("{} of {}", success_rate.hits, success_rate.of));
    vec![
        format!("{}{}", plan.trial, if plan.refined { " refined" } else { "" }),
        number(plan.length),
        number(plan.duration),
        number(plan.miss.distance),
        number(plan.miss.angle.to_degrees()),
        rehearsed,
        points.collect::<Vec<_>>().join(" "),
    ]
}
