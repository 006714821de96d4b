//! The circles that the source prints: their rates at three radii, and the paths.

use rayon::prelude::*;
use stiction_plot::{Axis, Figure, Layer, Marker, Panel};

use super::{Field, Trajectory};
use crate::{Account, CaseError, Expected, Reference, Row};

const SCENE: &str = include_str!("../../../../../scenes/plate/learned_circle.toml");

/// Printed motions: the name in the file, in words, and the figure that shows it.
const MOTIONS: [(&str, &str, Option<&str>); 3] = [
    ("in_contact", "circle in contact", Some("Figure 6.2: circle with a penalty for separation")),
    ("equations", "free circle of the equations", Some("Figure 6.3: circle without the penalty")),
    ("text", "free circle of the text", None),
];

/// The plate of a circle: amplitudes and phase of the rotation about and the translation along the vertical.
pub(super) fn field([a6, a3, c3]: [f64; 3]) -> Field<'static> {
    let changes = [
        ("body.plate.vibration.angular_acceleration", a6),
        ("body.plate.vibration.acceleration", a3),
        ("body.plate.vibration.phase", c3),
    ];
    let changes = changes.map(|(path, value)| (path, format!("[0.0, 0.0, {value:?}]")));
    Field { name: "scenes/plate/learned_circle.toml", text: SCENE, changes: changes.to_vec() }
}

/// Mean angular rate of a particle, rad/s.
pub(super) fn rate(case: &Reference, trajectory: &Trajectory) -> Result<f64, CaseError> {
    let angle = |time: f64| trajectory.at(time).map(|sample| libm::atan2(sample.place.y, sample.place.x));
    let (from, to) = (case.parameter("rate_from")?, case.parameter("duration")?);
    Ok((angle(to)? - angle(from)?) / (to - from))
}

pub(super) fn add(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let radii = case.numbers("derived.radii")?;
    for (key, words, figure) in MOTIONS {
        let motion = ["A6", "A3", "C3"].map(|name| case.number(&format!("derived.{key}.motion.{name}")));
        let [a6, a3, c3] = motion;
        let plate = field([a6?, a3?, c3?]);
        let trajectories: Result<Vec<_>, CaseError> =
            radii.par_iter().map(|radius| Trajectory::run(case, &plate, [*radius, 0.0])).collect();
        let trajectories = trajectories?;
        let rates = case.numbers(&format!("derived.{key}.rates"))?;
        for ((trajectory, radius), expected) in trajectories.iter().zip(&radii).zip(rates) {
            let expected = Expected::within(expected, case.tolerance("tolerance.rate")?);
            let row = Row::new(format!("{words}: angular rate at {radius} cm"), "rad/s", rate(case, trajectory)?);
            account.add(row.reference(expected).published(Expected::shown(case.number("published.rate")?)));
        }
        let first = case.numbers(&format!("first_derivation.{key}"))?;
        for ((trajectory, radius), expected) in trajectories.iter().zip(&radii).zip(first) {
            let expected = Expected::within(expected, case.tolerance("tolerance.rate")?);
            let label = format!("first derivation, {words}: angular rate at {radius} cm");
            let row = Row::new(label, "rad/s", rate(case, trajectory)?).first_derivation(expected);
            account.add(row);
        }
        let airborne =
            trajectories.iter().map(|trajectory| trajectory.airborne).sum::<f64>() / trajectories.len().max(1) as f64;
        let expected = case.expected(&format!("derived.{key}.airborne"), "tolerance.airborne")?;
        account.add(Row::new(format!("{words}: share of steps in the air"), "", airborne).reference(expected));
        if let Some(stands_for) = figure {
            let (h, duration) = (case.parameter("search_step")?, case.parameter("circle_duration")?);
            let round: Result<Vec<_>, CaseError> =
                radii.par_iter().map(|radius| Trajectory::run_for(&plate, [*radius, 0.0], h, duration)).collect();
            let caption = format!("{words} for {duration} s from three radii (rings), with the step of the search");
            account.draw(caption, stands_for, drawn(&round?, &radii));
        }
    }
    Ok(())
}

fn drawn(trajectories: &[Trajectory], radii: &[f64]) -> Figure {
    let mut panel = Panel::new(Axis::new("x", "cm"), Axis::new("y", "cm")).equal_aspect();
    for (k, (trajectory, radius)) in trajectories.iter().zip(radii).enumerate() {
        panel =
            panel.with(Layer::line(trajectory.place(0), trajectory.place(1)).named(format!("{radius} cm")).colour(k));
        panel = panel.with(Layer::points(vec![*radius], vec![0.0]).marker(Marker::Ring).colour(k));
    }
    Figure::new("").with(panel).panel_size(90.0, 90.0)
}
