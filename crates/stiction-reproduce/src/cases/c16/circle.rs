//! The circle field: angular rates, sticking, and the paths.

use rayon::prelude::*;
use stiction::ContactMode;
use stiction_plot::{Axis, Figure, Layer, Marker, Panel};

use super::path::{Path, SAMPLING, cone, plan};
use crate::cases::plate::{self, CM, Sample};
use crate::draw::time_axis;
use crate::world::steps;
use crate::{Account, CaseError, Entry, Expected, Reference, Row};

const SCENE: &str = include_str!("../../../../../scenes/plate/circle.toml");

/// Adds angular rates and fractions of sticking; returns the path of the first radius and the figure of the paths.
pub(super) fn add(case: &Reference, account: &mut Account) -> Result<(Path, Figure), CaseError> {
    let rows = case.table("derived.circle_rates")?;
    let rounds: Result<Vec<_>, CaseError> = rows.par_iter().map(|row| Round::run(case, row)).collect();
    let rounds = rounds?;
    for (round, row) in rounds.iter().zip(&rows) {
        round.rows(case, row, account)?;
    }
    let figure = figure(&rounds);
    let first = rounds.into_iter().next().ok_or_else(|| CaseError::Never("a run of the circle".into()))?;
    Ok((first.path.until(case.parameter("duration")?), figure))
}

/// A particle on its circular path.
struct Round {
    radius: f64,
    path: Path,
    sticking: f64,
    /// Every step of two periods.
    cycles: Vec<Sample>,
}

impl Round {
    fn run(case: &Reference, row: &Entry) -> Result<Self, CaseError> {
        let radius = row.number("r")?;
        let field = |changes: &[(&str, String)]| plate::scene("scenes/plate/circle.toml", SCENE, changes);
        // Initial height of the plate.
        let height = field(&[])?.model.initial_state().q.get(2).copied().unwrap_or(0.0);
        let field = field(&[("body.particle.position", format!("[{:?}, 0.0, {height:?}]", radius / CM))])?;
        let (h, period) = (case.parameter("step")?, 1.0 / case.parameter("frequency")?);
        let from = case.number("derived.circle_from")?;
        let (every, mut count, mut stuck) = (steps(SAMPLING, h), 0, 0);
        let (mut samples, mut cycles) = (Vec::new(), Vec::new());
        plate::run(&field, &cone(), h, case.parameter("circle_duration")?, |sample| {
            count += 1;
            stuck += usize::from(sample.mode == ContactMode::Stick);
            if count % every == 0 {
                samples.push(*sample);
            }
            if (from..from + 2.0 * period).contains(&sample.time) {
                cycles.push(*sample);
            }
        })?;
        Ok(Self { radius, path: Path { h, samples }, sticking: stuck as f64 / count as f64, cycles })
    }

    fn rows(&self, case: &Reference, row: &Entry, account: &mut Account) -> Result<(), CaseError> {
        let r = self.radius;
        let angle = |time: f64| self.path.sample(time).map(|sample| libm::atan2(sample.place.y, sample.place.x));
        let (from, to) = (case.number("derived.circle_from")?, case.parameter("duration")?);
        let rate = (angle(to)? - angle(from)?) / (to - from);
        account.add(
            Row::new(format!("circle: angular rate at {r} cm"), "rad/s", rate)
                .reference(Expected::within(row.number("rate")?, case.tolerance("tolerance.rate")?)),
        );
        account.add(
            Row::new(format!("circle: share of sticking steps at {r} cm"), "", self.sticking)
                .reference(Expected::within(row.number("sticking")?, case.tolerance("tolerance.sticking")?)),
        );
        Ok(())
    }
}

fn figure(rounds: &[Round]) -> Figure {
    let mut paths = plan(&[]).titled("(a) ways in 41.89 s");
    for (k, round) in rounds.iter().enumerate() {
        let name = format!("{} cm", round.radius);
        paths = paths.with(Layer::line(round.path.place(0), round.path.place(1)).named(name).colour(k));
        paths = paths.with(Layer::points(vec![round.radius], vec![0.0]).marker(Marker::Ring).colour(k));
    }
    let mut slip = Panel::new(time_axis(), Axis::new("slip speed", "cm/s"));
    if let Some(round) = rounds.last() {
        let column = |of: &dyn Fn(&Sample) -> f64| round.cycles.iter().map(of).collect::<Vec<_>>();
        let speeds = column(&|sample| sample.slip.norm() * CM);
        let sticking = round.cycles.iter().filter(|sample| sample.mode == ContactMode::Stick);
        let at: Vec<_> = sticking.map(|sample| sample.time).collect();
        let zeros = vec![0.0; at.len()];
        slip = slip
            .titled(format!("(b) slip from {} cm", round.radius))
            .with(Layer::line(column(&|sample| sample.time), speeds).named("slip"))
            .with(Layer::points(at, zeros).named("sticks").marker(Marker::Disc).colour(1));
    }
    Figure::new("").columns(2).with(paths).with(slip)
}
