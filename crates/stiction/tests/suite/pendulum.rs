//! C-02 to C-07: the planar pendulum family.

use std::collections::BTreeMap;

use stiction::{ContactMode, EventKind, Preset, Scheme, Simulation};
use stiction_testkit::{Reference, assert_close, reference};

use crate::family::Family;
use crate::support::{q, run, v};

fn scheme(gamma: f64) -> Scheme {
    let mut scheme = Preset::StewartTrinkle.scheme().as_published();
    (scheme.gamma, scheme.joint_gamma) = (gamma, gamma);
    scheme
}

/// Angle errors of both rods at t = 1, and the largest joint error on the way.
fn c02_errors(gamma: f64, h: f64) -> [f64; 3] {
    let case = reference("c02");
    let at_one = &case.table("derived.motion")[2];
    let mut phi_max: f64 = 0.0;
    let model = Family::read(&case, &["rod_b"]).model();
    let end = run(model, scheme(gamma), h, 1.0, |_, report| phi_max = phi_max.max(report.joint_error));
    [(q(&end, "a")[2] - at_one["theta_a"]).abs(), (q(&end, "b")[2] - at_one["theta_b"]).abs(), phi_max]
}

#[test]
fn c02_scheme_table_is_reproduced() {
    let case = reference("c02");
    for row in case.table("scheme") {
        let ours = c02_errors(row["gamma"], row["h"]);
        for (name, ours) in ["error_theta_a", "error_theta_b", "phi_max"].iter().zip(ours) {
            if let Some(&theirs) = row.get(*name) {
                // Only the angle errors without stabilisation are printed to two digits.
                let rounded = row["gamma"] == 0.0 && *name == "error_theta_a";
                let tolerance = if rounded { "tolerance.scheme_rounded" } else { "tolerance.scheme" };
                assert_close!(ours, theirs, case.tolerance(tolerance, "rad"), "{name} at {row:?}");
            }
        }
    }
}

#[test]
fn c02_orders_are_one_in_angle_and_two_in_drift() {
    for (gamma, drift_order) in [(1.0, 2.0), (0.2, 2.0), (0.0, 1.0)] {
        let (coarse, fine) = (c02_errors(gamma, 0.0025), c02_errors(gamma, 0.00125));
        let order = |k: usize| (coarse[k] / fine[k]).log2();
        assert!((order(2) - drift_order).abs() < 0.1, "drift order {} at gamma {gamma}", order(2));
        if gamma == 1.0 {
            assert!(
                (order(0) - 1.0).abs() < 0.1 && (order(1) - 1.0).abs() < 0.1,
                "angle orders {}, {}",
                order(0),
                order(1)
            );
        }
    }
}

#[test]
fn problem_sizes_are_those_of_the_thesis() {
    let whole: &[&str] = &["rod_b", "block"];
    let sizes = [
        ("c02", &["rod_b"][..], 0.0, 10),
        ("c03", whole, 0.0, 15),
        ("c04", whole, 0.3, 21),
        ("c05", &["rod_b", "block", "friction_floor", "pusher"], 0.3, 25),
        ("c06", &["rod_b", "block", "friction_floor", "belt_speed"], 0.3, 21),
    ];
    for (name, parts, mu, expected) in sizes {
        let mut family = Family::read(&reference(name), parts);
        family.floor_friction = mu;
        let mut largest = 0;
        run(family.model(), scheme(1.0), 0.01, 0.5, |_, report| largest = largest.max(report.problem_size));
        assert_eq!(largest, expected, "{name}");
        assert_eq!(expected as f64, reference(name).number("published.problem_size"));
    }
    // C-07 has the pusher inside the margin: put it next to the block.
    let mut family = c07();
    let mut largest = 0;
    run(family.model(), scheme(1.0), 0.01, 0.5, |_, report| largest = largest.max(report.problem_size));
    assert_eq!(largest, 18);
    family.pusher = Some((1e-4, 0.0, 0.2));
    run(family.model(), scheme(1.0), 0.01, 0.05, |_, report| largest = largest.max(report.problem_size));
    assert_eq!(largest as f64, reference("c07").number("published.problem_size"));
}

/// The numbers of a row of a motion table that name something of the family, against the simulation.
fn compare(simulation: &Simulation, row: &BTreeMap<String, f64>) -> f64 {
    let mut worst: f64 = 0.0;
    for (name, expected) in row {
        let ours = match name.as_str() {
            "x" => q(simulation, "block")[0],
            "v" => v(simulation, "block")[0],
            "theta_a" => q(simulation, "a")[2],
            "theta_b" => q(simulation, "b")[2],
            "omega_a" => v(simulation, "a")[2],
            "omega_b" => v(simulation, "b")[2],
            "particle_x" => q(simulation, "particle")[0],
            "particle_y" => q(simulation, "particle")[1],
            "particle_vx" => v(simulation, "particle")[0],
            "particle_vy" => v(simulation, "particle")[1],
            "t" | "t_since_hit" => continue,
            other => panic!("unknown column {other}"),
        };
        worst = worst.max((ours - expected).abs());
    }
    worst
}

/// Largest error at the times of a motion table.
fn motion_error(family: &Family, case: &Reference, table: &str, shift: f64, h: f64) -> f64 {
    let rows = case.table(table);
    let time = |row: &BTreeMap<String, f64>| row.get("t").or(row.get("t_since_hit")).unwrap() + shift;
    let duration = rows.iter().map(time).fold(0.0, f64::max);
    let mut worst: f64 = 0.0;
    run(family.model(), scheme(1.0), h, duration, |simulation, report| {
        for row in rows.iter().filter(|row| (time(row) - report.time).abs() < 0.5 * h) {
            worst = worst.max(compare(simulation, row));
        }
    });
    worst
}

fn assert_first_order(family: &Family, case: &Reference, table: &str, shift: f64) {
    let [coarse, middle, fine] = [4e-4, 2e-4, 1e-4].map(|h| motion_error(family, case, table, shift, h));
    for (a, b) in [(coarse, middle), (middle, fine)] {
        // A leap-frog start from rest can do better than first order, never worse.
        assert!(a / b > 1.7, "errors {coarse:.3e} {middle:.3e} {fine:.3e} of {table}");
    }
    assert!(fine < 200.0 * 1e-4, "error {fine:.3e} of {table}");
}

#[test]
fn c03_pendulum_on_a_block() {
    let case = reference("c03");
    let family = Family::read(&case, &["rod_b", "block"]);
    assert_first_order(&family, &case, "derived.motion", 0.0);
    let difference = |h: f64| {
        let (mut smallest, mut difference): (f64, f64) = (f64::INFINITY, 0.0);
        let end = run(family.model(), scheme(1.0), h, 2.0, |simulation, _| {
            let [left, right] = [0, 1].map(|k| simulation.contacts()[k].normal_impulse / h);
            smallest = smallest.min(left + right);
            difference = difference.max((left - right).abs());
            let momentum = simulation.momentum().linear.x;
            assert!(momentum.abs() < case.number("tolerance.horizontal_momentum.abs"), "momentum {momentum}");
        });
        assert!(q(&end, "block")[2].abs() < 1e-9);
        (smallest, difference)
    };
    let (smallest, difference) = difference(1e-3);
    assert!((smallest - case.number("derived.normal_force_min")).abs() < 0.5, "smallest normal force {smallest}");
    // Better than the order of the scheme: the two corners carry the same to round-off.
    assert!(difference < 1e-9, "N1 - N2 = {difference}");
}

#[test]
fn c04_sticking() {
    let case = reference("c04");
    let mut family = Family::read(&case, &["rod_b", "block"]);
    family.floor_friction = case.number("derived.sticking.friction");
    assert_first_order(&family, &case, "derived.sticking.motion", 0.0);
    let h = 1e-3;
    run(family.model(), scheme(1.0), h, 2.0, |simulation, _| {
        assert!(q(simulation, "block")[0].abs() < 1e-13, "crept to {}", q(simulation, "block")[0]);
        assert!(simulation.contacts().iter().all(|c| c.mode == ContactMode::Stick));
    });
}

#[test]
fn c04_slides_sticks_slides_back_and_sticks() {
    let case = reference("c04");
    let mut family = Family::read(&case, &["rod_b", "block"]);
    family.floor_friction = case.number("derived.mixed.friction");
    let h = 1e-3;
    let mut events = Vec::new();
    let mut positions = case.table("derived.mixed.positions").into_iter().peekable();
    let end = run(family.model(), scheme(1.0), h, 2.0, |simulation, report| {
        let first = simulation.contacts()[0].id;
        events.extend(simulation.events().iter().filter(|e| e.contact == first).map(|e| (e.kind, e.time)));
        for contact in simulation.contacts() {
            let limit = family.floor_friction * contact.normal_impulse;
            assert!(contact.friction_impulse.norm() <= limit + 1e-12, "outside the cone");
        }
        if let Some(row) = positions.next_if(|row| (row["t"] - report.time).abs() < 0.5 * h) {
            let error = (q(simulation, "block")[0] - row["x"]).abs();
            assert!(error < case.number("tolerance.position_steps") * h, "x at {} off by {error}", row["t"]);
        }
    });
    assert!(positions.peek().is_none());
    let expected =
        [(EventKind::Stick, "sticks_first"), (EventKind::Slip, "slips_left"), (EventKind::Stick, "sticks_again")];
    let transitions = events.split_off(2);
    assert_eq!(transitions.len(), expected.len(), "{transitions:?}");
    for ((kind, time), (expected_kind, name)) in transitions.into_iter().zip(expected) {
        let exact = case.number(&format!("derived.mixed.{name}"));
        assert_eq!(kind, expected_kind);
        assert!((time - exact).abs() <= case.number("tolerance.event_steps") * h, "{name}: {time} against {exact}");
    }
    let angles = &case.table("derived.mixed.angles")[0];
    assert!(compare(&end, angles) < 0.02);
}

#[test]
fn c05_pushed_block_moves_with_the_pusher() {
    let case = reference("c05");
    let family = Family::read(&case, &["rod_b", "block", "friction_floor", "pusher"]);
    let (h, hit) = (1e-3, case.number("derived.hit.t"));
    let speed = case.number("derived.hit.block_speed");
    let mut pushed = 0.0;
    run(family.model(), scheme(1.0), h, 1.0, |simulation, report| {
        let pusher = simulation.model().find_body("pusher").unwrap();
        let contacts = simulation.contacts().iter().filter(|c| c.body_a == pusher || c.body_b == pusher);
        if report.time < hit + 2.5 * h {
            pushed += contacts.map(|c| c.normal_impulse).sum::<f64>();
        } else {
            let exact = speed * (report.time - hit);
            assert_close!(q(simulation, "block")[0], exact, case.tolerance("tolerance.position", "m"));
        }
    });
    let impulse = case.number("derived.hit.pusher_impulse");
    // Two steps of floor friction and rod pull come on top of the impulse of the hit.
    assert!((pushed - impulse).abs() < 40.0 * h, "impulse {pushed} against {impulse}");
    assert_first_order(&family, &case, "derived.motion_after_hit", hit);
}

#[test]
fn c06_block_joins_the_belt() {
    let case = reference("c06");
    let family = Family::read(&case, &["rod_b", "block", "friction_floor", "belt_speed"]);
    let (h, mut stuck) = (1e-3, None);
    run(family.model(), scheme(1.0), h, 2.0, |simulation, report| {
        if simulation.contacts().iter().all(|c| c.mode == ContactMode::Stick) {
            let time = *stuck.get_or_insert(report.time);
            assert!((v(simulation, "block")[0] - family.belt).abs() < case.number("tolerance.belt_speed.abs"));
            assert!(report.time >= time);
        }
    });
    let exact = case.number("derived.sticks");
    assert!((stuck.unwrap() - exact).abs() <= case.number("tolerance.event_steps") * h, "{stuck:?} against {exact}");
    assert_first_order(&family, &case, "derived.motion", 0.0);
    assert!(motion_error(&family, &case, "derived.positions", 0.0, h) < 5.0 * h);
}

fn c07() -> Family {
    Family::read(&reference("c07"), &["block", "friction_floor", "belt_speed", "spring"])
}

#[test]
fn c07_full_planar_model() {
    let case = reference("c07");
    assert_first_order(&c07(), &case, "derived.motion", 0.0);
    let error = motion_error(&c07(), &case, "derived.motion", 0.0, 1e-3);
    assert!(error < case.number("tolerance.error_at_h_0_001.abs"), "error {error}");
}
