//! C-01: problems with a closed form, with every scheme that includes inertia; the scheme with the largest error counts.

use nalgebra::Matrix3;
use stiction::{
    BodyBuilder, ContactMode, ContactRule, Dimension, FrictionSet, Model, Preset, Simulation, planar, spatial,
};
use stiction_plot::{Axis, Figure, Layer, Marker, Panel};

use crate::draw::{Trace, grid, time_axis};
use crate::world::{friction, on_floor, q, run as simulate, v};
use crate::{Account, CaseError, Expected, Reference, Row, Tolerance};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    drop_of_a_particle(case, &mut account)?;
    sliding_block(case, &mut account)?;
    incline(case, &mut account)?;
    thrown_sphere(case, &mut account)?;
    spinning_sphere(case, &mut account)?;
    oblique_hits(case, &mut account)?;
    account.draw(
        "Speeds of the block that slides to rest and of the sphere that is thrown flat, coarse steps of 0.02 s beside the exact motion",
        "No figure: nothing published is compared",
        figure(case)?,
    );
    Ok(account)
}

/// Value of every scheme for one number; returns the value farthest from the reference.
fn farthest(
    exact: f64,
    schemes: impl IntoIterator<Item = Preset>,
    mut value: impl FnMut(Preset) -> Result<f64, CaseError>,
) -> Result<f64, CaseError> {
    let mut worst = exact;
    for preset in schemes {
        let found = value(preset)?;
        // NaN counts as the farthest of all.
        if found.is_nan() || (found - exact).abs() > (worst - exact).abs() {
            worst = found;
        }
    }
    Ok(worst)
}

/// Tolerance of so many steps around the derived value, as the case demands.
fn within_steps(case: &Reference, name: &str, scale: f64) -> Result<Expected, CaseError> {
    let tolerance = case.number("tolerance.steps")? * case.parameter("step")? * scale;
    Ok(Expected::within(case.number(&format!("derived.values.{name}"))?, Tolerance::absolute(tolerance)))
}

fn exact(case: &Reference, name: &str) -> Result<f64, CaseError> {
    case.number(&format!("derived.values.{name}"))
}

fn never(what: &str) -> CaseError {
    CaseError::Never(what.to_owned())
}

fn gravity(case: &Reference) -> Result<f64, CaseError> {
    case.parameter("gravity")
}

fn drop_of_a_particle(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let (mass, height) = (case.parameter("drop.mass")?, case.parameter("drop.height")?);
    let (h, duration, g) = (case.parameter("step")?, case.parameter("drop.duration")?, gravity(case)?);
    let mu = case.parameter("drop.friction")?;
    let land = |preset: Preset| -> Result<[f64; 2], CaseError> {
        let particle =
            BodyBuilder::particle("particle", mass).position(0.0, height, 0.0).shape(planar::Shape::point().into());
        let model = on_floor(Dimension::Planar, [particle], [0.0, -g, 0.0], friction(mu))?;
        let mut landed = None;
        let end = simulate(model, preset.scheme().as_published(), h, duration, |simulation, _| {
            landed = landed.or_else(|| simulation.events().first().map(|event| event.time));
            Ok(())
        })?;
        let force = end.contacts().first().map_or(0.0, |contact| contact.normal_impulse / h);
        Ok([landed.ok_or_else(|| never("the landing of the particle"))?, force])
    };
    let time = farthest(exact(case, "contact_time")?, Preset::INERTIAL, |preset| Ok(land(preset)?[0]))?;
    let force = farthest(exact(case, "weight")?, Preset::INERTIAL, |preset| Ok(land(preset)?[1]))?;
    account.add(Row::new("dropped particle: lands at", "s", time).reference(within_steps(case, "contact_time", 1.0)?));
    let weight = case.expected("derived.values.weight", "tolerance.exact")?;
    account.add(Row::new("dropped particle: normal force at rest", "N", force).reference(weight));
    Ok(())
}

/// A square block with this velocity on a floor under this gravity.
fn block(speed: f64, gravity: [f64; 3], mu: f64) -> Result<Model, CaseError> {
    let shape = planar::Shape::rectangle([0.5, 0.5])?;
    let block = BodyBuilder::planar("block", 1.0, 1.0 / 6.0)
        .position(0.0, 0.5, 0.0)
        .velocity(speed, 0.0, 0.0)
        .shape(shape.into());
    on_floor(Dimension::Planar, [block], gravity, friction(mu))
}

fn sliding_block(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let [speed, mu, duration] =
        ["speed", "friction", "duration"].map(|name| case.parameter(&format!("sliding_block.{name}")));
    let (speed, mu, duration, h, g) = (speed?, mu?, duration?, case.parameter("step")?, gravity(case)?);
    let slide = |preset: Preset| -> Result<[f64; 2], CaseError> {
        let mut stopped = None;
        let end = simulate(
            block(speed, [0.0, -g, 0.0], mu)?,
            preset.scheme().as_published(),
            h,
            duration,
            |simulation, report| {
                let [vx, ..] = v::<3>(simulation, "block")?;
                if vx.abs() < 1e-13 {
                    stopped.get_or_insert(report.time);
                }
                Ok(())
            },
        )?;
        let [x, ..] = q::<3>(&end, "block")?;
        Ok([stopped.ok_or_else(|| never("the stop of the block"))?, x])
    };
    let time = farthest(exact(case, "stopping_time")?, Preset::INERTIAL, |preset| Ok(slide(preset)?[0]))?;
    let distance = farthest(exact(case, "stopping_distance")?, Preset::INERTIAL, |preset| Ok(slide(preset)?[1]))?;
    account.add(Row::new("sliding block: stops after", "s", time).reference(within_steps(case, "stopping_time", 1.0)?));
    let bound = Tolerance::absolute(exact(case, "stopping_excess_bound")?);
    let distance = Row::new("sliding block: stops within", "m", distance);
    account.add(distance.reference(Expected::within(exact(case, "stopping_distance")?, bound)));
    Ok(())
}

fn incline(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let [mu, slope, fraction, duration] =
        ["friction", "slope", "share_that_holds", "duration"].map(|name| case.parameter(&format!("incline.{name}")));
    let (mu, slope, fraction, duration, g) = (mu?, slope?, fraction?, duration?, gravity(case)?);
    let h = case.parameter("step")?;
    let speed = |angle: f64, preset: Preset| -> Result<f64, CaseError> {
        let (sin, cos) = libm::sincos(angle);
        let end = simulate(
            block(0.0, [g * sin, -g * cos, 0.0], mu)?,
            preset.scheme().as_published(),
            h,
            duration,
            |_, _| Ok(()),
        )?;
        Ok(v::<3>(&end, "block")?[0])
    };
    let rows = [
        ("block on an incline: speed after 1 s above the angle of friction", "sliding_speed", slope),
        ("block on an incline: speed after 1 s below the angle of friction", "held_speed", fraction * libm::atan(mu)),
    ];
    for (quantity, name, angle) in rows {
        let ours = farthest(exact(case, name)?, Preset::INERTIAL, |preset| speed(angle, preset))?;
        let expected = case.expected(&format!("derived.values.{name}"), "tolerance.exact")?;
        account.add(Row::new(quantity, "m/s", ours).reference(expected));
    }
    Ok(())
}

/// A solid ball that touches a floor.
fn ball(radius: f64, velocity: [f64; 3], spin: f64, g: f64, rule: ContactRule) -> Result<Model, CaseError> {
    let inertia = Matrix3::from_diagonal_element(0.4 * radius * radius);
    let ball = BodyBuilder::rigid("ball", 1.0, inertia)
        .position(0.0, 0.0, radius)
        .velocity(velocity[0], velocity[1], velocity[2])
        .angular_velocity(0.0, 0.0, spin)
        .shape(spatial::Shape::sphere(radius)?.into());
    on_floor(Dimension::Spatial, [ball], [0.0, 0.0, -g], rule)
}

fn thrown_sphere(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let [speed, mu, radius, duration] =
        ["speed", "friction", "radius", "duration"].map(|name| case.parameter(&format!("sphere_thrown_flat.{name}")));
    let (speed, mu, radius, duration, g) = (speed?, mu?, radius?, duration?, gravity(case)?);
    let h = case.parameter("step")?;
    let throw = |preset: Preset| -> Result<[f64; 2], CaseError> {
        let mut rolling = None;
        let model = ball(radius, [speed, 0.0, 0.0], 0.0, g, friction(mu))?;
        let end = simulate(model, preset.scheme().as_published(), h, duration, |simulation, report| {
            if simulation.contacts().first().is_some_and(|contact| contact.mode == ContactMode::Stick) {
                rolling.get_or_insert(report.time);
            }
            Ok(())
        })?;
        Ok([rolling.ok_or_else(|| never("the rolling of the sphere"))?, v::<6>(&end, "ball")?[0]])
    };
    let time = farthest(exact(case, "rolling_time")?, Preset::INERTIAL, |preset| Ok(throw(preset)?[0]))?;
    let end = farthest(exact(case, "rolling_speed")?, Preset::INERTIAL, |preset| Ok(throw(preset)?[1]))?;
    account.add(Row::new("thrown sphere: rolls after", "s", time).reference(within_steps(case, "rolling_time", 1.0)?));
    let expected = within_steps(case, "rolling_speed", mu * g)?;
    account.add(Row::new("thrown sphere: rolls with", "m/s", end).reference(expected));
    Ok(())
}

fn spinning_sphere(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let number = |name: &str| case.parameter(&format!("sphere_spinning.{name}"));
    let rule = ContactRule { torsion: number("torsion")?, ..friction(number("friction")?) };
    let (rate, radius, duration, g) = (number("rate")?, number("radius")?, number("duration")?, gravity(case)?);
    let h = case.parameter("step")?;
    // Polygons have no torsion.
    let cones =
        Preset::INERTIAL.into_iter().filter(|preset| preset.scheme().as_published().friction == FrictionSet::Quadratic);
    let time = farthest(exact(case, "spinning_stops")?, cones, |preset| {
        let mut stopped = None;
        let model = ball(radius, [0.0; 3], rate, g, rule.clone())?;
        simulate(model, preset.scheme().as_published(), h, duration, |simulation, report| {
            if v::<6>(simulation, "ball")?[5].abs() < 1e-12 {
                stopped.get_or_insert(report.time);
            }
            Ok(())
        })?;
        stopped.ok_or_else(|| never("the stop of the spinning sphere"))
    })?;
    account.add(Row::new("spinning sphere: stops after", "s", time).reference(within_steps(
        case,
        "spinning_stops",
        1.0,
    )?));
    Ok(())
}

fn oblique_hits(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let (radius, h) = (case.parameter("oblique_hit.radius")?, case.parameter("oblique_hit.step")?);
    let speeds = case.numbers("derived.values.oblique_speeds")?;
    for (hit, speed) in case.table("parameters.oblique_hit.hits")?.iter().zip(speeds) {
        let (v_t, v_n, mu) = (hit.number("v_t")?, hit.number("v_n")?, hit.number("friction")?);
        let ours = farthest(speed, Preset::INERTIAL, |preset| {
            let model = ball(radius, [v_t, 0.0, -v_n], 0.0, gravity(case)?, friction(mu))?;
            let mut simulation = Simulation::new(model, preset.scheme().as_published(), h)?;
            let _ = simulation.step()?;
            Ok(v::<6>(&simulation, "ball")?[0])
        })?;
        let quantity = format!("oblique hit of a sphere, v_t = {v_t}, v_n = {v_n}, μ = {mu}: speed after");
        let expected = Expected::within(speed, case.tolerance("tolerance.at_once")?);
        account.add(Row::new(quantity, "m/s", ours).reference(expected));
    }
    Ok(())
}

fn figure(case: &Reference) -> Result<Figure, CaseError> {
    let (h, g) = (0.02, gravity(case)?);
    let (speed, mu) = (case.parameter("sliding_block.speed")?, case.parameter("sliding_block.friction")?);
    let mut slid = Trace::<1>::default();
    simulate(block(speed, [0.0, -g, 0.0], mu)?, Preset::Ncp.scheme().as_published(), h, 0.8, |simulation, report| {
        slid.push(report.time, [v::<3>(simulation, "block")?[0]]);
        Ok(())
    })?;
    let stop = exact(case, "stopping_time")?;
    let sliding = Panel::new(time_axis(), Axis::new("speed", "m/s"))
        .titled("block, friction 0.4")
        .with(Layer::line(vec![0.0, stop, 0.8], vec![speed, 0.0, 0.0]).named("exact").muted())
        .with(Layer::points(slid.times().to_vec(), slid.column(0).to_vec()).named("steps of 0.02 s").colour(0));
    let (radius, thrown) = (case.parameter("sphere_thrown_flat.radius")?, case.parameter("sphere_thrown_flat.speed")?);
    let mut rolled = Trace::<2>::default();
    let mu = case.parameter("sphere_thrown_flat.friction")?;
    let model = ball(radius, [thrown, 0.0, 0.0], 0.0, g, friction(mu))?;
    simulate(model, Preset::Ncp.scheme().as_published(), h, 0.4, |simulation, report| {
        let [vx, _, _, _, wy, _] = v(simulation, "ball")?;
        rolled.push(report.time, [vx, radius * wy]);
        Ok(())
    })?;
    let (time, end) = (exact(case, "rolling_time")?, exact(case, "rolling_speed")?);
    let marks = |column: usize| Layer::points(rolled.times().to_vec(), rolled.column(column).to_vec());
    let rolling = Panel::new(time_axis(), Axis::new("speed", "m/s"))
        .titled("sphere, friction 0.2")
        .with(Layer::line(vec![0.0, time, 0.4], vec![thrown, end, end]).named("exact").muted())
        .with(Layer::line(vec![0.0, time, 0.4], vec![0.0, end, end]).muted())
        .with(marks(0).named("centre").colour(0))
        .with(marks(1).named("surface, ω r").colour(1).marker(Marker::Square));
    Ok(grid(2).with(sliding).with(rolling))
}
