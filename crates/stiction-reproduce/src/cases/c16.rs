//! C-16: a particle on a vibrating plate, its path over the step and over the number of friction directions.

use rayon::prelude::*;
use stiction::{ContactMode, PrescribedSlip, Preset, Scene, Scheme};
use stiction_plot::{Axis, Dash, Figure, Layer, Marker, Panel};

use super::plate::{self, CM, Sample};
use crate::draw::time_axis;
use crate::norms::largest;
use crate::world::steps;
use crate::{Account, CaseError, Entry, Expected, Reference, Row};

const CIRCLE: &str = include_str!("../../../../scenes/plate/circle.toml");
const SCALED_CIRCLE: &str = include_str!("../../../../scenes/plate/scaled_circle.toml");
const CENTRIFUGE: &str = include_str!("../../../../scenes/plate/centrifuge.toml");

/// Times at which errors are printed, s, and their names in the tables.
const AT: [(f64, &str); 3] = [(1.0, "at_1"), (3.0, "at_3"), (6.0, "at_6")];

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let centrifuge = plate::scene("scenes/plate/centrifuge.toml", CENTRIFUGE, &[])?;
    let scaled = plate::scene("scenes/plate/scaled_circle.toml", SCALED_CIRCLE, &[])?;

    let over_steps = OverSteps::run(case, &centrifuge)?;
    over_steps.rows(case, &mut account)?;
    moments_of_the_plate(case, &centrifuge, &mut account)?;
    let base = over_steps.paths.first().ok_or_else(|| CaseError::Never("the run of the published step".into()))?;
    let thrown = OverDirections::run(case, &centrifuge, "centrifuge", base.clone())?;
    thrown.rows(case, &mut account)?;
    let turned =
        OverDirections::run(case, &scaled, "scaled_circle", path(case, &scaled, &cone(), case.parameter("step")?)?)?;
    turned.rows(case, &mut account)?;
    ends(case, &thrown.base, &turned.base, &mut account)?;
    let circle = circle_rates(case, &mut account)?;
    account.add(
        Row::new("largest difference of x velocities over 0.14 s", "cm/s", over_steps.velocity_difference(0.14))
            .published(Expected::shown(case.number("published.velocity_difference.value")?)),
    );

    account.draw(
        "Six seconds on the fields whose accelerations are given; the ring is the start",
        "Figure 5.6: fields of the plate; the others of it are not given",
        fields(&circle, &turned.base, &thrown.base),
    );
    let [place, velocity] = over_steps.first_moments(0.14);
    account.draw(
        "The first 0.14 s on the centrifuge: place of the particle",
        "Figure 5.7: place, beside a simulation that is not in the source",
        place,
    );
    account.draw(
        "The first 0.14 s on the centrifuge: velocity of the particle",
        "Figure 5.8: velocity, beside a simulation that is not in the source",
        velocity,
    );
    account.draw(
        "Centrifuge: paths and errors over the step",
        "Figure 5.9 a, b: path and error over the step",
        over_steps.figure(),
    );
    account.draw(
        "Centrifuge: paths and errors over the friction directions",
        "Figure 5.10 a, b: centrifuge, path and error over the directions",
        thrown.figure(),
    );
    account.draw(
        "Scaled circle: paths and errors over the friction directions",
        "Figure 5.11 a, b: scaled circle, path and error over the directions",
        turned.figure(),
    );
    account.remark(case.text("published.velocity_difference.note")?);
    Ok(account)
}

fn fields(circle: &Path, scaled: &Path, centrifuge: &Path) -> Figure {
    let fields = [("circle", circle), ("circle, five times the rotation", scaled), ("centrifuge", centrifuge)];
    let empty = Figure::new("").columns(3).panel_size(64.0, 60.0);
    fields.into_iter().fold(empty, |figure, (title, path)| figure.with(plan(&[(None, path)]).titled(title)))
}

/// A run, sampled every millisecond.
#[derive(Clone)]
struct Path {
    h: f64,
    samples: Vec<Sample>,
    sticking: f64,
}

/// Between two samples, s: the longest step of the studies.
const SAMPLING: f64 = 1e-3;

impl Path {
    fn times(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.time).collect()
    }

    /// A coordinate of the place, cm.
    fn place(&self, axis: usize) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.place[axis] * CM).collect()
    }

    fn sample(&self, time: f64) -> Result<&Sample, CaseError> {
        let index = steps(time, SAMPLING).saturating_sub(1);
        self.samples.get(index).ok_or_else(|| CaseError::Never(format!("t = {time} s")))
    }

    /// Distance of each sample in the plane, cm.
    fn distances(&self, other: &Self) -> Vec<f64> {
        let pairs = self.samples.iter().zip(&other.samples);
        pairs.map(|(a, b)| (a.place.xy() - b.place.xy()).norm() * CM).collect()
    }

    fn distance(&self, other: &Self, time: f64) -> Result<f64, CaseError> {
        Ok((self.sample(time)?.place.xy() - other.sample(time)?.place.xy()).norm() * CM)
    }
}

/// The quadratic friction law; the velocity of the plate is taken at the end of the step, as in the derived tables.
fn cone() -> Scheme {
    cone_with(PrescribedSlip::End)
}

/// The same with another moment at which the velocity of the plate is taken.
fn cone_with(slip: PrescribedSlip) -> Scheme {
    let mut scheme = Preset::Ncp.scheme();
    scheme.prescribed_slip = slip;
    scheme
}

/// A friction polygon.
fn polygon(directions: u32) -> Scheme {
    let mut scheme = Preset::StewartTrinkle.scheme();
    (scheme.prescribed_slip, scheme.directions) = (PrescribedSlip::End, directions);
    scheme
}

fn path(case: &Reference, field: &Scene, scheme: &Scheme, h: f64) -> Result<Path, CaseError> {
    let every = steps(SAMPLING, h);
    let (mut samples, mut count, mut stuck) = (Vec::new(), 0, 0);
    plate::run(field, scheme, h, case.parameter("duration")?, |sample| {
        count += 1;
        stuck += usize::from(sample.mode == ContactMode::Stick);
        if count % every == 0 {
            samples.push(*sample);
        }
    })?;
    Ok(Path { h, samples, sticking: stuck as f64 / count as f64 })
}

/// The centrifuge with shorter and shorter steps.
struct OverSteps {
    base: Path,
    /// As in the table, from the shortest to the longest.
    paths: Vec<Path>,
}

impl OverSteps {
    fn run(case: &Reference, field: &Scene) -> Result<Self, CaseError> {
        let mut lengths = vec![case.parameter("base_step")?];
        for row in case.table("derived.centrifuge.steps")? {
            lengths.push(row.number("h")?);
        }
        let paths: Result<Vec<_>, _> = lengths.par_iter().map(|&h| path(case, field, &cone(), h)).collect();
        let mut paths = paths?;
        let base = paths.remove(0);
        Ok(Self { base, paths })
    }

    fn rows(&self, case: &Reference, account: &mut Account) -> Result<(), CaseError> {
        let tolerance = case.tolerance("tolerance.numbers")?;
        for (path, row) in self.paths.iter().zip(case.table("derived.centrifuge.steps")?) {
            for (time, name) in AT {
                let Some(expected) = row.get(name) else { continue };
                let quantity = format!("centrifuge: error at {time} s, h = {} s", path.h);
                let row = Row::new(quantity, "cm", path.distance(&self.base, time)?)
                    .reference(Expected::within(expected, tolerance));
                let shown = time == 6.0 && path.h == case.parameter("step")?;
                account.add(if shown { row.headline() } else { row });
            }
        }
        // The base has half the step of the shortest and so, at first order, as much error as their distance.
        let errors: Result<Vec<f64>, _> = self.paths.iter().map(|path| path.distance(&self.base, 6.0)).collect();
        let errors = errors?;
        let own = errors.first().copied().unwrap_or(f64::NAN);
        for (pair, paths) in errors.windows(2).zip(self.paths.windows(2)).skip(1) {
            if let ([short, long], [fine, coarse]) = (pair, paths) {
                let quantity = format!("centrifuge: error with h = {} s over error with {} s", coarse.h, fine.h);
                account.add(
                    Row::new(quantity, "", (long + own) / (short + own)).reference(case.between("tolerance.halving")?),
                );
            }
        }
        Ok(())
    }

    /// Largest difference of the x velocities of the published step and the base, cm/s.
    fn velocity_difference(&self, end: f64) -> f64 {
        let published = self.paths.first().map_or(&[][..], |path| &path.samples);
        let pairs = self.base.samples.iter().zip(published);
        let early = pairs.filter(|(sample, _)| sample.time < end);
        largest(early.map(|(a, b)| (a.velocity.x - b.velocity.x).abs() * CM))
    }

    fn first_moments(&self, end: f64) -> [Figure; 2] {
        let curve = |path: &Path| format!("h = {} s", path.h);
        let curves = [(self.paths.first(), Dash::Solid), (Some(&self.base), Dash::Dashed)];
        let panel = |axis: usize, label: &str, unit: &str, of: fn(&Sample) -> nalgebra::Vector3<f64>| {
            let mut panel = Panel::new(time_axis(), Axis::new(label, unit));
            for (path, dash) in &curves {
                let Some(path) = path else { continue };
                let early = path.samples.iter().filter(|sample| sample.time <= end);
                let (t, y) = early.map(|sample| (sample.time, of(sample)[axis] * CM)).unzip();
                panel = panel.with(Layer::line(t, y).named(curve(path)).dash(*dash));
            }
            panel
        };
        let place = |sample: &Sample| sample.place.coords;
        let velocity = |sample: &Sample| sample.velocity;
        [
            Figure::new("").columns(2).with(panel(0, "x", "cm", place)).with(panel(1, "y", "cm", place)),
            Figure::new("").columns(2).with(panel(0, "x velocity", "cm/s", velocity)).with(panel(
                1,
                "y velocity",
                "cm/s",
                velocity,
            )),
        ]
    }

    fn figure(&self) -> Figure {
        let named = |path: &Path| format!("h = {} s", path.h);
        let all: Vec<_> =
            std::iter::once(&self.base).chain(&self.paths).map(|path| (Some(named(path)), path)).collect();
        let errors: Vec<_> = self.paths.iter().map(|path| (named(path), path)).collect();
        Figure::new("").columns(2).with(plan(&all).titled("(a) paths")).with(errors_over_time(&errors, &self.base))
    }
}

/// The scheme does not say at which moment of the step the velocity of the plate is taken; the error depends on it.
fn moments_of_the_plate(case: &Reference, field: &Scene, account: &mut Account) -> Result<(), CaseError> {
    let steps = [case.parameter("step")?, case.parameter("base_step")?];
    let error = |slip: PrescribedSlip| {
        let paths: Result<Vec<_>, _> = steps.par_iter().map(|&h| path(case, field, &cone_with(slip), h)).collect();
        match &paths?[..] {
            [path, base] => path.distance(base, 6.0),
            _ => Ok(f64::NAN),
        }
    };
    let (over, start) = (error(PrescribedSlip::Displacement)?, error(PrescribedSlip::Start)?);
    account.add(
        Row::new(
            format!("centrifuge: error at 6 s, h = {} s, velocity of the plate over the step", steps[0]),
            "cm",
            over,
        )
        .reference(case.expected("derived.centrifuge.moment.displacement", "tolerance.numbers")?),
    );
    account.add(
        Row::new("centrifuge: the same with its velocity at the start of the step, over that", "", start / over)
            .reference(case.at_most("tolerance.start_over_displacement")?),
    );
    Ok(())
}

/// A field with more and more friction directions.
struct OverDirections {
    name: &'static str,
    base: Path,
    paths: Vec<(u32, Path)>,
}

impl OverDirections {
    fn run(case: &Reference, field: &Scene, name: &'static str, base: Path) -> Result<Self, CaseError> {
        let h = case.parameter("step")?;
        let directions = Self::table(case, name)?;
        let run = |row: &Entry| {
            #[allow(clippy::cast_sign_loss, reason = "numbers of directions are positive")]
            let n_d = row.number("n_d")? as u32;
            Ok((n_d, path(case, field, &polygon(n_d), h)?))
        };
        let paths: Result<Vec<_>, CaseError> = directions.par_iter().map(run).collect();
        Ok(Self { name, base, paths: paths? })
    }

    fn table(case: &Reference, name: &str) -> Result<Vec<Entry>, CaseError> {
        case.table(&format!("derived.{name}.directions"))
    }

    fn rows(&self, case: &Reference, account: &mut Account) -> Result<(), CaseError> {
        let (tolerance, title) = (case.tolerance("tolerance.numbers")?, self.name.replace('_', " "));
        for ((n_d, path), row) in self.paths.iter().zip(Self::table(case, self.name)?) {
            for (time, name) in AT {
                let expected = Expected::within(row.number(name)?, tolerance);
                let quantity = format!("{title}: error at {time} s, {n_d} directions");
                account.add(Row::new(quantity, "cm", path.distance(&self.base, time)?).reference(expected));
            }
        }
        Ok(())
    }

    fn figure(&self) -> Figure {
        let named = |n_d: &u32| format!("{n_d} directions");
        let mut all = vec![(Some("cone".to_owned()), &self.base)];
        all.extend(self.paths.iter().map(|(n_d, path)| (Some(named(n_d)), path)));
        let errors: Vec<_> = self.paths.iter().map(|(n_d, path)| (named(n_d), path)).collect();
        Figure::new("").columns(2).with(plan(&all).titled("(a) paths")).with(errors_over_time(&errors, &self.base))
    }
}

/// Where the particles are at the end.
fn ends(case: &Reference, centrifuge: &Path, scaled: &Path, account: &mut Account) -> Result<(), CaseError> {
    let tolerance = case.tolerance("tolerance.end")?;
    let last = centrifuge.sample(case.parameter("duration")?)?;
    let on_plate = last.plate.inverse_transform_point(&last.place);
    let place = scaled.sample(case.parameter("duration")?)?.place;
    let ends = [
        ("centrifuge: end on the plate", "centrifuge.end_on_plate", on_plate),
        ("scaled circle: end", "scaled_circle.end", place),
    ];
    for (quantity, path, point) in ends {
        let expected: [f64; 2] = case.vector(&format!("derived.{path}"))?;
        for ((axis, ours), expected) in ["x", "y"].into_iter().zip(&point.coords).zip(expected) {
            account.add(
                Row::new(format!("{quantity}, {axis}"), "cm", ours * CM)
                    .reference(Expected::within(expected, tolerance)),
            );
        }
    }
    Ok(())
}

/// Steady angular rates of the circle field; returns the path of the largest radius.
fn circle_rates(case: &Reference, account: &mut Account) -> Result<Path, CaseError> {
    let rows = case.table("derived.circle_rates")?;
    let field = |changes: &[(&str, String)]| plate::scene("scenes/plate/circle.toml", CIRCLE, changes);
    // How high the plate begins.
    let start = field(&[])?.model.initial_state().q.get(2).copied().unwrap_or(0.0);
    let run = |row: &Entry| {
        let place = format!("[{:?}, 0.0, {start:?}]", row.number("r")? / CM);
        path(case, &field(&[("body.particle.position", place)])?, &cone(), case.parameter("step")?)
    };
    let paths: Result<Vec<_>, CaseError> = rows.par_iter().map(run).collect();
    let paths = paths?;
    for (path, row) in paths.iter().zip(&rows) {
        let r = row.number("r")?;
        let angle = |time: f64| path.sample(time).map(|sample| libm::atan2(sample.place.y, sample.place.x));
        let (from, to) = (case.number("derived.circle_from")?, case.parameter("duration")?);
        let rate = (angle(to)? - angle(from)?) / (to - from);
        account.add(
            Row::new(format!("circle: angular rate at {r} cm"), "rad/s", rate)
                .reference(Expected::within(row.number("rate")?, case.tolerance("tolerance.rate")?)),
        );
        account.add(
            Row::new(format!("circle: share of sticking steps at {r} cm"), "", path.sticking)
                .reference(Expected::within(row.number("sticking")?, case.tolerance("tolerance.sticking")?)),
        );
    }
    paths.into_iter().next().ok_or_else(|| CaseError::Never("a run of the circle".into()))
}

/// Paths from above, with their common start as a ring.
fn plan(paths: &[(Option<String>, &Path)]) -> Panel {
    let mut panel = Panel::new(Axis::new("x", "cm"), Axis::new("y", "cm")).equal_aspect();
    for (name, path) in paths {
        let line = Layer::line(path.place(0), path.place(1));
        panel = panel.with(match name {
            Some(name) => line.named(name),
            None => line,
        });
    }
    match paths.first().and_then(|(_, path)| path.samples.first()) {
        Some(start) => {
            panel.with(Layer::points(vec![start.place.x * CM], vec![start.place.y * CM]).marker(Marker::Ring).colour(2))
        }
        None => panel,
    }
}

fn errors_over_time(paths: &[(String, &Path)], base: &Path) -> Panel {
    let panel = Panel::new(time_axis(), Axis::new("error", "cm")).titled("(b) errors");
    // The colours of the paths, of which the first is the base.
    paths.iter().zip(1..).fold(panel, |panel, ((name, path), colour)| {
        panel.with(Layer::line(path.times(), path.distances(base)).named(name).colour(colour))
    })
}
