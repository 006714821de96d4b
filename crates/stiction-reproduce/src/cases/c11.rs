//! C-11: a sphere slides and rolls on two spheres, with torsional friction, until it separates from one and then the other.

use nalgebra::Matrix3;
use stiction::{
    BodyBuilder, ContactMode, ContactReport, ContactRule, Dimension, LineariseAt, Margin, Model, ModelBuilder, Preset,
    Scheme, Simulation, spatial,
};
use stiction_plot::{Axis, Dash, Figure, Layer, Panel};

use crate::draw::{Trace, grid, time_axis};
use crate::world::{larger, q, run as simulate, v};
use crate::{Account, CaseError, Expected, Reference, Row, Value};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    start_rows(&mut account, case)?;
    let ride = ride(case, case.parameter("step")?)?;
    account.add(Row::new("unknowns of a step", "", ride.unknowns).published(case.exactly("published.problem_size")?));
    event_rows(&mut account, case, &ride)?;
    let finer = ride_events(case)?;
    account.add(finer);
    state_rows(&mut account, case)?;
    roughness_rows(&mut account, case)?;
    account.draw(
        "Forces and sliding speed at the two contacts: while a contact slides its friction is μ times the normal force. Vertical lines are the published times",
        "Figure 3.9 a and its neighbour: forces and sliding speeds at the contacts",
        forces(case, &ride.trace)?,
    );
    account.draw(
        "Velocity and angular velocity of the sphere",
        "Figure 3.9 b: generalised velocity of the sphere",
        velocities(&ride.trace),
    );
    Ok(account)
}

fn sphere_on_two(case: &Reference, torsion: f64) -> Result<Model, CaseError> {
    let force: [f64; 3] = case.vector("parameters.force")?;
    let mass = case.parameter("mass")?;
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(force[0] / mass, force[1] / mass, force[2] / mass)?;
    for (name, row) in ["first", "second"].into_iter().zip(case.table("parameters.fixed")?) {
        let sphere = spatial::Shape::sphere(row.number("radius")?)?;
        let place = BodyBuilder::fixed(name).position(row.number("x")?, row.number("y")?, row.number("z")?);
        builder.body(place.shape(sphere.into()))?;
    }
    let [x, y, z] = case.vector("parameters.position")?;
    let sphere = BodyBuilder::rigid("sphere", mass, Matrix3::from_diagonal_element(case.parameter("inertia")?))
        .position(x, y, z)
        .shape(spatial::Shape::sphere(case.parameter("radius")?)?.into());
    builder.body(sphere)?;
    builder.default_contact(ContactRule {
        friction: case.parameter("friction")?,
        torsion,
        ..ContactRule::default()
    })?;
    Ok(builder.build()?)
}

/// Contact with the first or the second fixed sphere, while it is closed.
fn touch(simulation: &Simulation, name: &str) -> Option<ContactReport> {
    let id = simulation.model().find_body(name)?;
    simulation.contacts().iter().find(|c| c.body_a == id && c.mode != ContactMode::Open).copied()
}

fn start_rows(account: &mut Account, case: &Reference) -> Result<(), CaseError> {
    let h = case.parameter("step_at_start")?;
    let model = sphere_on_two(case, case.parameter("torsion")?)?;
    let mut simulation = Simulation::new(model, Preset::GeometricallyImplicit.scheme().as_published(), h)?;
    let _ = simulation.step()?;
    let mut numbers = Vec::new();
    for (body, k) in [("first", 1), ("second", 2)] {
        let contact =
            touch(&simulation, body).ok_or_else(|| CaseError::Never(format!("the contact {k} at the start")))?;
        numbers.push((format!("n{k}"), format!("contact {k}: normal force"), "N", contact.normal_impulse / h));
        numbers.push((
            format!("friction{k}_x"),
            format!("contact {k}: friction along x"),
            "N",
            contact.friction_impulse.x / h,
        ));
        numbers.push((
            format!("torsion{k}"),
            format!("contact {k}: torsional friction"),
            "N m",
            contact.spin_impulse / h,
        ));
    }
    let [vx, _, _, _, wy, wz]: [f64; 6] = v(&simulation, "sphere")?;
    numbers.push(("ax".to_owned(), "acceleration along x".to_owned(), "m/s²", vx / h));
    numbers.push(("alpha_y".to_owned(), "angular acceleration about y".to_owned(), "rad/s²", wy / h));
    numbers.push(("alpha_z".to_owned(), "angular acceleration about z".to_owned(), "rad/s²", wz / h));
    for (name, quantity, unit, ours) in numbers {
        let expected = case.expected(&format!("derived.start.{name}"), "tolerance.start_forces")?;
        account.add(Row::new(format!("at the start: {quantity}"), unit, ours).reference(expected));
    }
    Ok(())
}

/// Results of a run until the sphere separates.
struct Ride {
    unknowns: usize,
    /// Times at which the second contact begins to slide, the first ends and the second ends, s.
    events: [f64; 3],
    /// Largest distance of y from its start until the first contact ends, m.
    off_y: f64,
    /// Largest relative difference of a sliding contact's friction from its ellipsoid.
    off_cone: f64,
    /// Velocity, angular velocity; of both contacts: normal force, friction, sliding speed.
    trace: Trace<12>,
}

fn ride(case: &Reference, h: f64) -> Result<Ride, CaseError> {
    let (mu, torsion) = (case.parameter("friction")?, case.parameter("torsion")?);
    let start: [f64; 3] = case.vector("parameters.position")?;
    let mut ride = Ride { unknowns: 0, events: [f64::NAN; 3], off_y: 0.0, off_cone: 0.0, trace: Trace::default() };
    let scheme = Preset::GeometricallyImplicit.scheme().as_published();
    simulate(sphere_on_two(case, torsion)?, scheme, h, case.parameter("duration")?, |simulation, report| {
        ride.unknowns = ride.unknowns.max(report.problem_size);
        let mut sides = [[0.0; 3]; 2];
        for (index, name) in ["first", "second"].into_iter().enumerate() {
            let Some(contact) = touch(simulation, name) else {
                let end = ride.events.get_mut(1 + index).filter(|end| end.is_nan());
                if let Some(end) = end {
                    *end = report.time;
                }
                continue;
            };
            let size = libm::hypot(contact.friction_impulse.norm(), contact.spin_impulse / torsion);
            let slides = contact.mode == ContactMode::Slip;
            if slides {
                let limit = mu * contact.normal_impulse;
                ride.off_cone = larger(ride.off_cone, (size - limit).abs() / limit.max(1e-3));
            }
            if slides && index == 1 && ride.events[0].is_nan() {
                ride.events[0] = report.time;
            }
            if let Some(side) = sides.get_mut(index) {
                *side = [contact.normal_impulse / h, size / h, contact.sigma];
            }
        }
        let [_, y, ..]: [f64; 7] = q(simulation, "sphere")?;
        if ride.events[1].is_nan() {
            ride.off_y = larger(ride.off_y, (y - start[1]).abs());
        }
        let [vx, vy, vz, wx, wy, wz] = v(simulation, "sphere")?;
        let [[n1, f1, s1], [n2, f2, s2]] = sides;
        ride.trace.push(report.time, [vx, vy, vz, wx, wy, wz, n1, f1, s1, n2, f2, s2]);
        Ok(())
    })?;
    Ok(ride)
}

const EVENTS: [(&str, &str); 3] = [
    ("second_slides", "contact 2 begins to slide"),
    ("first_separates", "contact 1 separates"),
    ("second_separates", "contact 2 separates"),
];

fn event_rows(account: &mut Account, case: &Reference, ride: &Ride) -> Result<(), CaseError> {
    for ((name, quantity), ours) in EVENTS.into_iter().zip(ride.events) {
        let reference = case.expected(&format!("derived.events.0.{name}"), "tolerance.events")?;
        let mut row = Row::new(quantity, "s", ours).reference(reference);
        row = row.published(case.expected(&format!("published.{name}"), "tolerance.published_events")?);
        account.add(row.explained(case.text("published.times_note")?).headline());
    }
    let y = Row::new("largest change of y while contact 1 lasts", "m", ride.off_y);
    account.add(y.reference(case.at_most("tolerance.y.abs")?));
    let cone = Row::new("friction of sliding contacts beside μ N, largest relative difference", "", ride.off_cone);
    account.add(cone.reference(case.at_most("tolerance.on_the_cone")?));
    Ok(())
}

/// Time of the last event with a fine step, beside the table.
fn ride_events(case: &Reference) -> Result<Row, CaseError> {
    let fine = ride(case, case.number("derived.events.1.h")?)?;
    let expected = case.expected("derived.events.1.second_separates", "tolerance.events_fine")?;
    Ok(Row::new("contact 2 separates, h = 0.001 s", "s", fine.events[2]).reference(expected))
}

fn state_rows(account: &mut Account, case: &Reference) -> Result<(), CaseError> {
    let mut scheme = Preset::Ncp.scheme().as_published();
    scheme.linearise_at = LineariseAt::End;
    for row in case.table("derived.states")? {
        let (t, h) = (row.number("t")?, row.number("h")?);
        let model = sphere_on_two(case, case.parameter("torsion")?)?;
        let end = simulate(model, scheme.clone(), h, t, |_, _| Ok(()))?;
        let ([x, y, z, ..], [vx, vy, vz, wx, wy, wz]): ([f64; 7], [f64; 6]) = (q(&end, "sphere")?, v(&end, "sphere")?);
        let force = |name: &str| touch(&end, name).map_or(0.0, |contact| contact.normal_impulse / h);
        let numbers = [
            ("x", "m", x),
            ("y", "m", y),
            ("z", "m", z),
            ("vx", "m/s", vx),
            ("vy", "m/s", vy),
            ("vz", "m/s", vz),
            ("wx", "rad/s", wx),
            ("wy", "rad/s", wy),
            ("wz", "rad/s", wz),
            ("n1", "N", force("first")),
            ("n2", "N", force("second")),
        ];
        for (name, unit, ours) in numbers {
            let Some(expected) = row.get(name) else { continue };
            let tolerance = if unit == "N" { "tolerance.start_forces" } else { "tolerance.states" };
            let expected = Expected::within(expected, case.tolerance(tolerance)?);
            account.add(Row::new(format!("{name} at t = {t} s, h = {h} s"), unit, ours).reference(expected));
        }
    }
    Ok(())
}

/// Total variation of the velocity over three seconds, without torsional friction, which polygons do not have.
fn variation(case: &Reference, mut scheme: Scheme, margin: Option<f64>) -> Result<f64, CaseError> {
    if let Some(margin) = margin {
        scheme.margin = Margin::Fixed(margin);
    }
    let (mut before, mut sum) = ([0.0; 6], 0.0);
    let h = case.parameter("step")?;
    simulate(sphere_on_two(case, 0.0)?, scheme, h, case.parameter("variation_over")?, |simulation, _| {
        let now: [f64; 6] = v(simulation, "sphere")?;
        sum += now.iter().zip(&before).map(|(a, b)| (a - b).abs()).sum::<f64>();
        before = now;
        Ok(())
    })?;
    Ok(sum)
}

fn roughness_rows(account: &mut Account, case: &Reference) -> Result<(), CaseError> {
    let touching = Some(case.number("tolerance.touching")?);
    let linear = || Preset::StewartTrinkle.scheme().as_published();
    let implicit = || Preset::GeometricallyImplicit.scheme().as_published();
    let rough = variation(case, linear(), touching)? / variation(case, implicit(), touching)?;
    let published = Expected::shown(Value::Text(case.text("published.linear_scheme")?.to_owned()));
    account.add(
        Row::new(
            "variation of velocity, linear over implicit scheme, only touching contacts in the problem",
            "",
            rough,
        )
        .reference(case.at_least("tolerance.rougher_at_least")?)
        .published(published.clone()),
    );
    let smooth = variation(case, linear(), None)? / variation(case, implicit(), None)?;
    let expected = case.expected("derived.variation_ratio", "tolerance.variation")?;
    let row = Row::new("the same with every contact within reach in the problem", "", smooth).reference(expected);
    account.add(row.published(published));
    account.remark(case.text("tolerance.touching_note")?);
    Ok(())
}

fn forces(case: &Reference, trace: &Trace<12>) -> Result<Figure, CaseError> {
    let mu = case.parameter("friction")?;
    let mut figure = grid(2);
    let names = [
        [("first_separates", "separates"), ("first_separates", "")],
        [("second_slides", "slides"), ("second_separates", "separates")],
    ];
    for (index, events) in names.into_iter().enumerate() {
        let first = 6 + 3 * index;
        let limit = trace.column(first).iter().map(|n| mu * n).collect();
        let mut force = Panel::new(time_axis(), Axis::new("force", "N"))
            .titled(format!("contact {}", index + 1))
            .with(trace.line(first).named("normal").colour(0))
            .with(Layer::line(trace.times().to_vec(), limit).named("μ × normal").colour(1))
            .with(trace.line(first + 1).named("friction").colour(2).dash(Dash::Dashed));
        let mut speed =
            Panel::new(time_axis(), Axis::new("sliding speed", "m/s")).with(trace.line(first + 2).colour(0));
        for (name, label) in events.into_iter().filter(|(_, label)| !label.is_empty()) {
            let at = vec![case.number(&format!("published.{name}"))?];
            force = force.with(Layer::vertical_marks(at.clone()).labelled([label]).muted());
            speed = speed.with(Layer::vertical_marks(at).muted());
        }
        figure = figure.with(force).with(speed);
    }
    Ok(figure)
}

fn velocities(trace: &Trace<12>) -> Figure {
    let mut linear = Panel::new(time_axis(), Axis::new("velocity", "m/s"));
    let mut angular = Panel::new(time_axis(), Axis::new("angular velocity", "rad/s"));
    for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
        linear = linear.with(trace.line(k).named(format!("v{axis}")).colour(k));
        angular = angular.with(trace.line(3 + k).named(format!("ω{axis}")).colour(k));
    }
    grid(2).with(linear).with(angular)
}
