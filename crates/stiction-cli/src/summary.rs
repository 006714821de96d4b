//! Table of `stiction run`.

use std::path::PathBuf;

use stiction::record::{
    AcceptedSummary, EVENT_DRIVEN, Ending, JammedSummary, LargeJointError, StartError, StartImpactSummary, Summary,
    UnexplainedSummary,
};

use crate::layout::{Sheet, moment, number, seconds};

/// Number of errors at the start in the table; all are in summary.json.
const START_ERRORS_SHOWN: usize = 12;

/// Number of events in the table; all are in summary.json.
const EVENTS_SHOWN: usize = 12;

/// Tolerance for the end time, as a fraction of a step.
const SAME_MOMENT: f64 = 1e-6;

pub(crate) fn table(summary: &Summary, asked_for: f64, files: &[PathBuf]) -> String {
    let mut sheet = Sheet::default();
    let beyond = (summary.duration - asked_for).abs() > SAME_MOMENT * summary.step;
    let ending = match &summary.ending {
        Ending::Finished if beyond => format!(" (asked for {})", moment(asked_for)),
        Ending::Finished => String::new(),
        Ending::Interrupted => ", stopped on request".to_owned(),
        Ending::Failed(_) => ", failed".to_owned(),
    };
    let rate = summary.steps as f64 / summary.wall_seconds.max(f64::MIN_POSITIVE);
    sheet
        .row("scene", &summary.scene)
        .row("scheme", scheme(summary))
        .row("steps", format!("{} of {} s, to t = {}{ending}", summary.steps, summary.step, moment(summary.duration)))
        .row("time", format!("{} ({} steps per second)", seconds(summary.wall_seconds), rate.round()))
        .row("contacts", format!("{} at most, problem size {} at most", summary.contacts_max, summary.problem_size_max))
        .row("impacts", impacts(summary))
        .row("energy", energy(summary));
    let at_start = at_start(summary);
    if !at_start.is_empty() {
        sheet.row("at the start", at_start.join("\n"));
    }
    if let Some(unexplained) = summary.energy.unexplained.as_ref().filter(|unexplained| unexplained.is_warning()) {
        sheet.row("warning", unexplained_gain(unexplained));
    }
    sheet.row("penetration", extreme(summary.penetration.max, summary.penetration.r#final, "m"));
    if summary.joint_error.max > 0.0 {
        sheet.row("joint error", extreme(summary.joint_error.max, summary.joint_error.r#final, ""));
    }
    if let Some(large) = &summary.joint_error.large {
        sheet.row("warning", large_joint_error(large));
    }
    if let Some(correction) = &summary.correction {
        let (energy, gain) = (number(correction.energy), number(correction.energy_max_gain));
        sheet.row("correction", format!("added {energy} J in total, {gain} J at most in a step"));
    }
    if let Some(halved) = &summary.halved {
        let first = halved.times.first().copied().unwrap_or_default();
        let parts = format!("{} steps in up to {} substeps, the first", halved.steps, halved.max_substeps);
        sheet.row("halved", format!("{parts} at t = {}", moment(first)));
    }
    if let Some(undetermined) = &summary.undetermined {
        let text = match undetermined.first {
            None => "unique in every step".to_owned(),
            Some(first) => format!(
                "not unique in {} of {} steps, the first at t = {}: see `undetermined` in docs/scene.md",
                undetermined.steps,
                summary.steps,
                moment(first)
            ),
        };
        sheet.row("motion", text);
    }
    sheet.row("residual", residual(summary));
    if let Some(accepted) = &summary.residual.above_aim {
        sheet.row("above aim", accepted_steps(accepted, summary.steps));
    }
    if let Some(accepted) = &summary.residual.unsolved {
        sheet.row(
            "warning",
            format!("not solved, and accepted all the same: {}", accepted_steps(accepted, summary.steps)),
        );
    }
    if let Some(jammed) = &summary.residual.jammed {
        sheet.row("jammed", jammed_steps(jammed, summary.steps));
    }
    sheet.row("solved by", ladder(summary)).row("events", events(summary));
    if !files.is_empty() {
        let files: Vec<_> = files.iter().map(|path| path.display().to_string()).collect();
        sheet.row("files", files.join("\n"));
    }
    sheet.text()
}

fn scheme(summary: &Summary) -> String {
    let means = if summary.solver == EVENT_DRIVEN { "integrator" } else { "solver" };
    format!("{}, {} {means}", summary.preset, summary.solver)
}

fn residual(summary: &Summary) -> String {
    let residual = &summary.residual;
    if residual.max > 0.0 {
        format!("{} at most, in step {}", number(residual.max), residual.at_step)
    } else {
        "0".into()
    }
}

fn jammed_steps(jammed: &JammedSummary, steps: u64) -> String {
    let JammedSummary { steps: count, overlap_max, at_step } = jammed;
    format!(
        "{count} of {steps} steps in which contacts had to overlap, by {overlap_max:.1e} m at most, in step {at_step}"
    )
}

/// Steps accepted above the residual that solvers aim at, with the worst of them.
fn accepted_steps(accepted: &AcceptedSummary, of: u64) -> String {
    let (most, step) = (number(accepted.residual_max), accepted.at_step);
    let place = accepted.worst.as_ref().map_or_else(String::new, |worst| format!(" at {worst}"));
    format!("{} of {of} steps, residual {most} at most, in step {step}{place}", accepted.steps)
}

fn impacts(summary: &Summary) -> String {
    let impacts = &summary.impacts;
    match impacts.steps_with_several {
        0 => format!("{}", impacts.total),
        1 => format!("{}, {} of them in one step", impacts.total, impacts.max),
        steps => format!("{}, up to {} in one step ({steps} steps with several)", impacts.total, impacts.max),
    }
}

fn energy(summary: &Summary) -> String {
    let energy = &summary.energy;
    format!(
        "{} J at the start, {} J at the end, largest gain {} J",
        number(energy.initial),
        number(energy.r#final),
        number(energy.max_gain)
    )
}

/// Lines about the start: joints, limits and couplings that do not hold, and the impact.
fn at_start(summary: &Summary) -> Vec<String> {
    let errors = &summary.joint_error.at_start;
    let more = errors.len().saturating_sub(START_ERRORS_SHOWN);
    let more = (more > 0).then(|| format!("and {more} more in summary.json"));
    let shown = errors.iter().take(START_ERRORS_SHOWN).map(start_error);
    shown.chain(more).chain(summary.start_impact.as_ref().map(start_impact)).collect()
}

/// Joint, limit or coupling that does not hold at the start, in one line.
pub(crate) fn start_error(error: &StartError) -> String {
    match error {
        StartError::OpenJoint { joint, error } => format!("joint {joint} is open by {} m or rad", number(*error)),
        StartError::MovedJoint { joint, error } => format!(
            "joint {joint} is open by {} m or rad: reduced coordinates move the bodies beyond it to close it",
            number(*error)
        ),
        StartError::PassedLimit { joint, dof, coordinate, limits } => {
            let joint = dof.map_or_else(|| joint.clone(), |dof| format!("{joint} {dof}"));
            let [coordinate, least, most] = [*coordinate, limits[0], limits[1]].map(number);
            format!("joint {joint} starts at {coordinate}, outside of its limits {least} to {most}")
        }
        StartError::OpenCoupling { coupling, error } => {
            format!("coupling {coupling} is open by {} m or rad", number(*error))
        }
    }
}

/// Impact at the start, in one line.
pub(crate) fn start_impact(impact: &StartImpactSummary) -> String {
    format!(
        "velocities violate joint {} by {} m/s or rad/s: an inelastic impact, kinetic energy {} J before and {} J after",
        impact.joint,
        number(impact.velocity_error),
        number(impact.kinetic_before),
        number(impact.kinetic_after),
    )
}

/// Warning of a gain of energy without a source, with its step and body.
fn unexplained_gain(unexplained: &UnexplainedSummary) -> String {
    let percent = number(100.0 * unexplained.fraction);
    let place = match (&unexplained.at_step, &unexplained.body) {
        (Some(step), Some(body)) => format!(", most in step {step} at body \"{body}\""),
        (Some(step), None) => format!(", most in step {step}"),
        _ => String::new(),
    };
    format!(
        "{} J ({percent} %) of kinetic energy without a source{place}: take smaller steps",
        number(unexplained.gain)
    )
}

fn large_joint_error(large: &LargeJointError) -> String {
    let (error, percent) = (number(large.error), number(100.0 * large.fraction));
    format!(
        "joint \"{}\" is open by {error} ({percent} % of its bodies) in step {}: take smaller steps, or use `coordinates = \"reduced\"`",
        large.joint, large.at_step
    )
}

fn extreme(max: f64, last: f64, unit: &str) -> String {
    format!("{} {unit} at most, {} {unit} at the end", number(max), number(last)).replace("  ", " ")
}

fn ladder(summary: &Summary) -> String {
    let rungs: Vec<_> = summary.ladder.iter().map(|(rung, count)| format!("{rung} {count}")).collect();
    if rungs.is_empty() { "nothing".to_owned() } else { rungs.join(", ") }
}

fn events(summary: &Summary) -> String {
    if summary.events_total == 0 {
        return "none".to_owned();
    }
    let shown = summary.events.iter().take(EVENTS_SHOWN);
    let mut lines: Vec<_> =
        shown.map(|event| format!("{:<10} {:<9} {}", moment(event.t), event.kind, event.contact)).collect();
    let rest = usize::try_from(summary.events_total).unwrap_or(usize::MAX).saturating_sub(lines.len());
    if rest > 0 {
        lines.push(format!("… and {rest} more in summary.json"));
    }
    lines.join("\n")
}
