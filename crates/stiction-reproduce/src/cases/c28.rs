//! C-28: cost and accuracy of more friction directions: a block on three support points, by polygons and by the cone.

use std::f64::consts::{PI, TAU};

use nalgebra::{Matrix3, Vector3};
use stiction::{BodyBuilder, Dimension, Model, Pose, Preset, Scheme, Simulation, spatial};
use stiction_plot::{Axis, Dash, Figure, Layer, Marker, Panel};

use crate::world::{friction, on_floor, run as simulate, steps};
use crate::{Account, CaseError, Expected, Reference, Row};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let cone = Slide::run(case, Preset::Ncp.scheme().as_published())?;
    account.add(
        Row::new("unknowns with the cone", "", cone.size).published(case.exactly("published.cone_size")?).headline(),
    );
    let mut polygons = Vec::new();
    for n_d in case.numbers("parameters.directions")? {
        let slide = Slide::run(case, polygon(n_d))?;
        let per_direction = case.number("published.linear_size_per_direction")?;
        let size = case.number("published.linear_size_constant")? + per_direction * n_d;
        account.add(
            Row::new(format!("unknowns with {n_d} directions"), "", slide.size)
                .published(Expected::within(size, crate::Tolerance::default())),
        );
        polygons.push((n_d, slide));
    }
    chords(case, &mut account)?;
    let times = polygons.iter().map(|(n_d, slide)| (format!("{n_d} directions"), slide));
    for (name, slide) in std::iter::once(("the cone".to_owned(), &cone)).chain(times) {
        account.add(Row::new(format!("shortest time of a step with {name}"), "µs", slide.time * 1e6).timing());
    }
    let slower = polygons.iter().find(|(_, slide)| slide.time > cone.time).map_or(f64::INFINITY, |(n_d, _)| *n_d);
    account.add(
        Row::new("fewest directions with which a step takes longer than with the cone", "", slower)
            .published(Expected::shown(case.number("published.crossover_directions")?))
            .timing(),
    );
    account.draw(
        "Size, iterations and time of one step over the number of directions",
        "Figure 5.12: time of one problem over the directions",
        figure(&polygons, &cone),
    );
    Ok(account)
}

fn polygon(n_d: f64) -> Scheme {
    let mut scheme = Preset::StewartTrinkle.scheme().as_published();
    #[allow(clippy::cast_sign_loss, reason = "numbers of directions are positive")]
    let directions = n_d as u32;
    scheme.directions = directions;
    scheme
}

/// A block on three support points that slides in this direction and rotates.
fn model(case: &Reference, heading: f64, spin: f64) -> Result<Model, CaseError> {
    let number = |name: &str| case.parameter(name);
    let inertia = Matrix3::from_diagonal(&Vector3::from(case.vector::<3>("parameters.moments")?));
    let (speed, radius, height) = (number("speed")?, number("foot_radius")?, number("height")?);
    let mut block = BodyBuilder::rigid("block", number("mass")?, inertia)
        .position(0.0, 0.0, height)
        .velocity(speed * libm::cos(heading), speed * libm::sin(heading), 0.0)
        .angular_velocity(0.0, 0.0, spin);
    for k in 0..3 {
        let (sin, cos) = libm::sincos(TAU * f64::from(k) / 3.0);
        block = block.shape_at(spatial::Shape::point().into(), Pose::translation(radius * cos, radius * sin, -height));
    }
    on_floor(Dimension::Spatial, [block], [0.0, 0.0, -number("gravity")?], friction(number("friction")?))
}

/// Work of the solver for the slide of the block.
struct Slide {
    size: usize,
    /// Mean over the steps.
    iterations: f64,
    /// Shortest time of a step, s.
    time: f64,
}

impl Slide {
    #[allow(clippy::disallowed_methods, reason = "times are shown and never judged")]
    fn run(case: &Reference, scheme: Scheme) -> Result<Self, CaseError> {
        let (h, duration) = (case.parameter("step")?, case.parameter("duration")?);
        let model = model(case, case.parameter("heading")?, case.parameter("spin")?)?;
        let mut simulation = Simulation::new(model, scheme, h)?;
        let (mut slide, mut iterations) = (Self { size: 0, iterations: 0.0, time: f64::INFINITY }, 0_u32);
        for _ in 0..steps(duration, h) {
            let begin = std::time::Instant::now();
            let report = simulation.step()?;
            slide.time = slide.time.min(begin.elapsed().as_secs_f64());
            slide.size = slide.size.max(report.problem_size);
            iterations += report.iterations;
        }
        slide.iterations = f64::from(iterations) / steps(duration, h) as f64;
        Ok(slide)
    }
}

/// The friction of a polygon points to the corner nearest to the slip; the velocity after a step differs by their chord.
fn chords(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let (h, tolerance) = (case.parameter("step")?, case.tolerance("tolerance.chord")?);
    let full = case.parameter("friction")? * case.parameter("gravity")? * h;
    let after = |angle: f64, scheme: Scheme| {
        let end = simulate(model(case, angle, 0.0)?, scheme, h, h, |_, _| Ok(()))?;
        Ok::<_, CaseError>(Vector3::from_iterator(end.state().v.iter().copied().take(3)))
    };
    for n_d in case.numbers("parameters.directions")? {
        // Angle from a corner towards the middle between two corners.
        let angle = case.parameter("share_of_the_way_to_the_middle")? * PI / n_d;
        let error = (after(angle, polygon(n_d))? - after(angle, Preset::Ncp.scheme().as_published())?).norm();
        account.add(
            Row::new(format!("velocity error of one step with {n_d} directions"), "m/s", error)
                .reference(Expected::within(2.0 * libm::sin(0.5 * angle) * full, tolerance)),
        );
    }
    Ok(())
}

fn figure(polygons: &[(f64, Slide)], cone: &Slide) -> Figure {
    let panel = |axis: Axis, of: &dyn Fn(&Slide) -> f64| {
        let (x, y): (Vec<f64>, Vec<f64>) = polygons.iter().map(|(n_d, slide)| (*n_d, of(slide))).unzip();
        let level = (vec![x.first().copied().unwrap_or(1.0), x.last().copied().unwrap_or(1.0)], vec![of(cone); 2]);
        Panel::new(Axis::new("friction directions", ""), axis)
            .with(Layer::line(x, y).named("polygon").marker(Marker::Disc))
            .with(Layer::line(level.0, level.1).named("cone").dash(Dash::Dashed))
    };
    Figure::new("")
        .columns(3)
        .panel_size(62.0, 60.0)
        .with(panel(Axis::new("unknowns", ""), &|slide| slide.size as f64))
        .with(panel(Axis::new("iterations of a step", ""), &|slide| slide.iterations))
        .with(panel(Axis::new("shortest time of a step", "µs"), &|slide| slide.time * 1e6))
}
