//! C-11: a sphere slides and rolls on two spheres, with torsional friction, until it leaves them one after the other.

use nalgebra::Matrix3;
use stiction::{
    BodyBuilder, ContactMode, ContactReport, ContactRule, Dimension, LineariseAt, Margin, Model, Preset, Scheme,
    Simulation, spatial,
};
use stiction_testkit::{Reference, assert_close, reference};

use crate::support::{run, step, v, world};

fn sphere_on_two(case: &Reference, torsion: f64, direction_offset: f64) -> Model {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let fixed = ["first", "second"].into_iter().zip(case.table("parameters.fixed")).map(|(name, row)| {
        let sphere = spatial::Shape::sphere(row["radius"]).unwrap();
        BodyBuilder::fixed(name).position(row["x"], row["y"], row["z"]).shape(sphere.into())
    });
    let (place, force) = (case.numbers("parameters.position"), case.numbers("parameters.force"));
    let sphere = BodyBuilder::rigid("sphere", number("mass"), Matrix3::from_diagonal_element(number("inertia")))
        .position(place[0], place[1], place[2])
        .shape(spatial::Shape::sphere(number("radius")).unwrap().into());
    let rule = ContactRule { friction: number("friction"), torsion, direction_offset, ..ContactRule::default() };
    // The mass is 1, so that the constant force is an acceleration.
    world(Dimension::Spatial, fixed.chain([sphere]), [force[0], force[1], force[2]], rule)
}

fn scheme(at: LineariseAt) -> Scheme {
    let mut scheme = Preset::Ncp.scheme();
    scheme.linearise_at = at;
    scheme
}

/// The contact with the first or the second fixed sphere, while it is one.
fn touch(simulation: &Simulation, name: &str) -> Option<ContactReport> {
    let id = simulation.model().find_body(name).unwrap();
    simulation.contacts().iter().find(|c| c.body_a == id && c.mode != ContactMode::Open).copied()
}

#[test]
fn c11_forces_at_the_start() {
    let case = reference("c11");
    let tolerance = case.tolerance("tolerance.start_forces", "N");
    let expect = |name: &str| case.number(&format!("derived.start.{name}"));
    for at in [LineariseAt::Start, LineariseAt::Predicted, LineariseAt::End, LineariseAt::Implicit] {
        // Small enough to see accelerations, and large enough that the rounding of the gap, divided by h², is not seen.
        let h = 1e-4;
        let model = sphere_on_two(&case, case.number("parameters.torsion"), 0.0);
        let mut simulation = Simulation::new(model, scheme(at), h).unwrap();
        let _ = step(&mut simulation);
        for (body, k) in [("first", 1), ("second", 2)] {
            let contact = touch(&simulation, body).unwrap();
            assert_close!(contact.normal_impulse / h, expect(&format!("n{k}")), tolerance, "N of {body}");
            assert_close!(contact.friction_impulse.x / h, expect(&format!("friction{k}_x")), tolerance, "f of {body}");
            assert_close!(contact.spin_impulse / h, expect(&format!("torsion{k}")), tolerance, "torsion of {body}");
        }
        let accelerations = v(&simulation, "sphere").iter().map(|v| v / h).collect::<Vec<_>>();
        for (k, name) in [(0, "ax"), (4, "alpha_y"), (5, "alpha_z")] {
            assert_close!(accelerations[k], expect(name), tolerance, "{name}");
        }
        assert!([1, 2, 3].iter().all(|&k| accelerations[k].abs() < 1e-5), "{accelerations:?}");
    }
}

/// Times at which the second contact begins to slide, the first ends and the second ends.
fn events(case: &Reference, at: LineariseAt, h: f64) -> [f64; 3] {
    let (mut slides, mut ends) = (None, [None; 2]);
    let model = sphere_on_two(case, case.number("parameters.torsion"), 0.0);
    let y = case.numbers("parameters.position")[1];
    run(model, scheme(at), h, 3.9, |simulation, report| {
        for (end, name) in ends.iter_mut().zip(["first", "second"]) {
            match touch(simulation, name) {
                Some(contact) => {
                    if name == "second" && contact.mode == ContactMode::Slip {
                        slides.get_or_insert(report.time);
                    }
                    if contact.mode == ContactMode::Slip {
                        // Friction is on its ellipsoid: (p_t, p_r/e_r) is as long as μ p_n.
                        let spin = contact.spin_impulse / case.number("parameters.torsion");
                        let size = contact.friction_impulse.norm().hypot(spin);
                        let limit = case.number("parameters.friction") * contact.normal_impulse;
                        assert!((size - limit).abs() < 1e-8 * limit.max(1e-3), "{size} of {limit} at {}", report.time);
                    }
                }
                None => drop(end.get_or_insert(report.time)),
            }
        }
        if ends[0].is_none() && matches!(at, LineariseAt::End | LineariseAt::Implicit) {
            assert_close!(simulation.state().q[1], y, case.tolerance("tolerance.y", "m"), "t = {}", report.time);
        }
    });
    [slides.unwrap(), ends[0].unwrap(), ends[1].unwrap()]
}

#[test]
fn c11_events_with_geometry_at_the_start_and_at_the_end() {
    let case = reference("c11");
    let tolerance = case.tolerance("tolerance.events", "s");
    let rows = case.table("derived.events");
    let limit = rows.iter().find(|row| row["h"] == 0.0).unwrap();
    for row in rows.iter().filter(|row| row["h"] > 0.0) {
        for at in [LineariseAt::Start, LineariseAt::End, LineariseAt::Implicit] {
            let times = events(&case, at, row["h"]);
            println!("h = {}, {at:?}: slides, ends {times:?}", row["h"]);
            // The table is that of the implicit scheme; with geometry at the start only the limit is the same.
            let expected = if at == LineariseAt::Start { limit } else { row };
            for (time, name) in times.iter().zip(["second_slides", "first_separates", "second_separates"]) {
                assert_close!(*time, expected[name], tolerance, "{name} with {at:?}");
            }
            let range = case.numbers("tolerance.second_separates_range");
            assert!((range[0]..=range[1]).contains(&times[2]), "the figure of the thesis: {times:?}");
        }
    }
}

#[test]
fn c11_states_of_the_implicit_scheme() {
    let case = reference("c11");
    let tolerance = case.tolerance("tolerance.states", "");
    let names = ["x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"];
    for row in case.table("derived.states") {
        let model = sphere_on_two(&case, case.number("parameters.torsion"), 0.0);
        let end = run(model, scheme(LineariseAt::End), row["h"], row["t"], |_, _| ());
        let numbers = end.state().q.iter().take(3).chain(&end.state().v);
        for (number, name) in numbers.zip(names) {
            if let Some(expected) = row.get(name) {
                assert_close!(*number, *expected, tolerance, "{name} at t = {}, h = {}", row["t"], row["h"]);
            }
        }
        for (body, name) in [("first", "n1"), ("second", "n2")] {
            if let Some(expected) = row.get(name) {
                let normal = touch(&end, body).unwrap().normal_impulse / row["h"];
                assert_close!(normal, *expected, case.tolerance("tolerance.start_forces", "N"), "{name}");
            }
        }
    }
}

/// Total variation of v, and of v̇ from the second step on, over all components.
fn variations(case: &Reference, scheme: Scheme, offset: f64) -> [f64; 2] {
    let h = case.number("parameters.step");
    let mut track = vec![vec![0.0; 6]];
    run(sphere_on_two(case, 0.0, offset), scheme, h, 3.0, |simulation, _| track.push(simulation.state().v.clone()));
    let variation = |rows: &[Vec<f64>]| -> f64 {
        let jump = |pair: &[Vec<f64>]| pair[1].iter().zip(&pair[0]).map(|(a, b)| (a - b).abs()).sum::<f64>();
        rows.windows(2).map(jump).sum()
    };
    let rates = track.windows(2).map(|pair| pair[1].iter().zip(&pair[0]).map(|(a, b)| (a - b) / h).collect());
    [variation(&track), variation(&rates.collect::<Vec<_>>())]
}

/// With only touching contacts in the problem, the linearised gap over the curved surfaces opens them again and again.
#[test]
fn c11_implicit_velocities_are_smoother_than_linearised_ones() {
    let case = reference("c11");
    let touching = |scheme: Scheme| {
        let mut scheme = scheme;
        scheme.margin = Margin::Fixed(case.number("tolerance.touching"));
        scheme
    };
    let [implicit, _] = variations(&case, touching(Preset::GeometricallyImplicit.scheme()), 0.0);
    for others in [scheme(LineariseAt::Start), Preset::StewartTrinkle.scheme()] {
        let [linearised, _] = variations(&case, touching(others), 0.0);
        println!("total variation of v: {implicit} implicit, {linearised} linearised");
        assert!(implicit < 0.5 * linearised);
    }
}

#[test]
fn c11_has_32_unknowns_and_newton_solves_every_step() {
    let case = reference("c11");
    let model = sphere_on_two(&case, case.number("parameters.torsion"), 0.0);
    let (mut steps, mut iterations) = (0, 0);
    run(model, Preset::GeometricallyImplicit.scheme(), case.number("parameters.step"), 2.9, |_, report| {
        assert_eq!(report.problem_size as f64, case.number("published.problem_size"));
        assert_eq!((report.rung, report.passes), ("implicit-newton", 1), "t = {}", report.time);
        assert!(report.penetration < 1e-12, "{} at {}", report.penetration, report.time);
        steps += 1;
        iterations += report.iterations;
    });
    println!("{iterations} iterations in {steps} steps, those of the linearised start included");
}

/// The three times converge to those of the exact motion, at first order.
#[test]
fn c11_event_times_converge() {
    let case = reference("c11");
    let limit = case.table("derived.events").into_iter().find(|row| row["h"] == 0.0).unwrap();
    let names = ["second_slides", "first_separates", "second_separates"];
    let steps = [0.02, 0.01, 0.005, 0.0025];
    let times = steps.map(|h| events(&case, LineariseAt::Implicit, h));
    for (k, name) in names.into_iter().enumerate() {
        // An event is reported at the end of its step: half a step late on average.
        let errors =
            steps.iter().zip(&times).map(|(h, times)| (times[k] - 0.5 * h - limit[name]) / h).collect::<Vec<_>>();
        println!("{name}: errors over h {errors:.2?}");
        // First order: the error over h stays within half a step of a constant, with the rounding of the derived limit.
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        assert!(errors.iter().all(|e| (e - mean).abs() <= 0.8), "{name}: {errors:?}");
        assert!((times[3][k] - limit[name]).abs() < 0.005, "{name}: {}", times[3][k]);
    }
}

/// Polygons cannot hold torsion, so all run without it; the slide is once along a corner and once between two.
#[test]
fn c11_velocities_are_smooth_with_every_scheme() {
    let case = reference("c11");
    let implicit = variations(&case, scheme(LineariseAt::Implicit), 0.0);
    let polygon = || Preset::StewartTrinkle.scheme();
    for (others, offset) in [(scheme(LineariseAt::Start), 0.0), (polygon(), 0.0), (polygon(), 0.2)] {
        let ours = variations(&case, others, offset);
        println!("variation of v and of its rate: {ours:?} against {implicit:?} of the implicit scheme");
        for (ours, implicit) in ours.iter().zip(implicit) {
            assert_close!(*ours, implicit, case.tolerance("tolerance.variation", ""));
        }
    }
}
