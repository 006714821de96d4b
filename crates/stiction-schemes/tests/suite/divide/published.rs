//! Published examples, against their derived numbers.

use nalgebra::Vector3;
use stiction_multibody::{Pose, articulated::TreeJoint};
use stiction_schemes::{HybridForm, HybridOptions, HybridState, HybridStepper};
use stiction_testkit::{Reference, reference};

use super::pendulum::{Pendulum, angle, rotations_in, tree};

/// Errors of the sliding case at a row of its table: orientations of both bodies, position of P1, energy.
fn sliding_errors(case: &Reference, options: HybridOptions, h: f64) -> Vec<[f64; 4]> {
    let mut pendulum = Pendulum::new(case, "sliding", options);
    let rows = case.table("derived.sliding.motion");
    rows.iter()
        .map(|row| {
            pendulum.run_to(row["t"], h);
            let (found, exact) = (pendulum.rotations(), rotations_in(row));
            let p1 = pendulum.p1() - Vector3::new(row["p1_x"], row["p1_y"], 0.0);
            let energy = pendulum.energy() - row["energy"];
            [angle(&found[0], &exact[0]), angle(&found[1], &exact[1]), p1.norm(), energy.abs()]
        })
        .collect()
}

fn cone() -> HybridOptions {
    HybridOptions { form: HybridForm::Cone, ..HybridOptions::default() }
}

/// Orientations, position and energy of the sliding pendulum are of first order at every time of the table, with errors of the size of
/// another scheme of that order. It slides all the time, and the first impulse is that of the normal force.
#[test]
fn c27_sliding_pendulum() {
    let case = reference("c27");
    let ratio = case.numbers("tolerance.halving_ratio");
    let scheme = case.table("scheme");
    let errors: Vec<_> = scheme.iter().map(|row| sliding_errors(&case, cone(), row["h"])).collect();
    for (coarse, fine) in errors.iter().zip(&errors[1..]) {
        for (coarse, fine) in coarse.iter().zip(fine) {
            for (coarse, fine) in coarse.iter().zip(fine) {
                assert!((ratio[0]..ratio[1]).contains(&(coarse / fine)), "{errors:?}");
            }
        }
    }
    for (row, errors) in scheme.iter().zip(&errors) {
        let others = ["rotation_error_a", "rotation_error_b", "p1_error"].map(|name| row[name]);
        for (error, other) in errors[3].iter().zip(others) {
            assert!(*error < 2.5 * other && *error > other / 2.5, "{errors:?} {row:?}");
        }
    }

    let normal_force = case.number("derived.sliding.normal_force_at_start");
    let mut pendulum = Pendulum::exact(&case, "sliding");
    let h = 1e-4;
    pendulum.step(h);
    let first = pendulum.stepper.contacts()[0];
    assert!((first.impulse[0] / h - normal_force).abs() < 1e-3 * normal_force, "{}", first.impulse[0] / h);
    while pendulum.state.time < 1.0 {
        pendulum.step(1e-3);
        let contact = pendulum.stepper.contacts()[0];
        assert!(contact.impulse[0] > 0.0 && libm::hypot(contact.after[1], contact.after[2]) > 1e-3);
        assert!(contact.gap.abs() < 1e-12);
    }
}

/// All forms of the problem give the same motion; the difference between polygon and cone is that of its directions.
#[test]
fn c27_by_every_form() {
    let case = reference("c27");
    let (h, end) = (2e-3, 0.3);
    let run = |form: HybridForm, directions: usize| {
        let mut pendulum = Pendulum::new(&case, "sliding", HybridOptions { form, directions });
        pendulum.run_to(end, h);
        pendulum.state
    };
    let distance =
        |a: &HybridState, b: &HybridState| a.q.iter().zip(&b.q).fold(0.0_f64, |worst, (a, b)| worst.max((a - b).abs()));
    let exact = run(HybridForm::Cone, 8);
    let reduced = [8, 32, 64].map(|directions| run(HybridForm::Reduced, directions));
    for form in [HybridForm::Terminal, HybridForm::Appended] {
        assert!(distance(&run(form, 8), &reduced[0]) < 1e-11, "{form:?}");
    }
    let off = reduced.map(|state| distance(&state, &exact));
    assert!(off[0] < 1e-2 && off[1] < off[0] && off[2] < off[1], "{off:?}");
    assert!(off[2] < 3e-4, "{off:?}");
}

/// Displacement of the centre of mass of the dropped pendulum, at some times.
fn drift(case: &Reference, h: f64, times: &[f64]) -> Vec<Vector3<f64>> {
    let mut pendulum = Pendulum::exact(case, "drift");
    let start = pendulum.centre();
    let moved = |time: &f64| {
        pendulum.run_to(*time, h);
        pendulum.centre() - start
    };
    times.iter().map(moved).collect()
}

/// Without friction the centre of mass drifts with first order in velocities of joints, and not at all before the impact.
#[test]
fn c27_centre_of_mass_drifts_with_the_step() {
    let case = reference("c27");
    let ratio = case.numbers("tolerance.halving_ratio");
    let table = case.table("scheme_drift");
    let drifts: Vec<_> = table.iter().map(|row| drift(&case, row["h"], &[0.45, 1.0, 2.0])).collect();
    for (row, moved) in table.iter().zip(&drifts) {
        assert!(moved[0].x == 0.0 && moved[0].y == 0.0, "{moved:?}");
        for (moved, other) in moved[1..].iter().zip(["at_1", "at_2"]) {
            assert!(moved.x < 1.5 * row[other] && moved.x > row[other] / 1.5, "{moved} {row:?}");
        }
    }
    for (coarse, fine) in drifts.iter().zip(&drifts[1..]) {
        for (coarse, fine) in coarse[1..].iter().zip(&fine[1..]) {
            assert!((ratio[0]..ratio[1]).contains(&(coarse.x / fine.x)), "{coarse} {fine}");
            assert!((ratio[0]..ratio[1]).contains(&(coarse.y / fine.y)), "{coarse} {fine}");
        }
    }
}

/// Impact of the dropped pendulum: its time, its impulse, the velocity and the energy after it, and the path of P1.
#[test]
fn c27_impact_without_friction() {
    let case = reference("c27");
    let derived = |name: &str| case.number(&format!("derived.drift.{name}"));
    let after = case.numbers("derived.drift.v_after");
    let rows = case.table("derived.drift.p1");
    let mut errors = Vec::new();
    for h in [1e-3, 5e-4] {
        let mut pendulum = Pendulum::exact(&case, "drift");
        pendulum.run_to(derived("impact") - h, h);
        let mut impulse = 0.0;
        // The step of the impact brings P1 to the plane, the next one stops it there.
        while impulse == 0.0 {
            pendulum.step(h);
            impulse += pendulum.stepper.contacts()[0].impulse[0];
        }
        assert!((pendulum.state.time - derived("impact")).abs() <= h, "{}", pendulum.state.time);
        let before = pendulum.stepper.contacts()[0].before[0];
        pendulum.step(h);
        impulse += pendulum.stepper.contacts()[0].impulse[0];
        let velocity = &pendulum.state.v[..3];
        let off = [0, 1, 2].map(|i| (velocity[i] - after[i]).abs()).into_iter().fold(0.0, f64::max);
        let energy = pendulum.energy();
        let mut found = vec![
            (before - derived("vz_before")).abs(),
            (impulse - derived("impulse")).abs(),
            off,
            (energy - derived("energy_after")).abs(),
        ];
        for row in &rows {
            pendulum.run_to(row["t"], h);
            found.push(libm::hypot(pendulum.p1().x - row["x"], pendulum.p1().y - row["y"]));
            assert!(pendulum.p1().z.abs() < h * h);
        }
        errors.push(found);
    }
    // The step of the impact starts at most 2 h before it, and the two steps of impact carry about N h each besides.
    let bounds = [20.0, 30.0, 5.0, 60.0, 1.0, 1.0, 1.0, 10.0, 16.0].map(|bound| bound * 1e-3);
    for (error, bound) in errors[0].iter().zip(bounds) {
        assert!(*error < bound, "{errors:?}");
    }
    for (error, bound) in errors[1].iter().zip(bounds) {
        assert!(*error < 0.5 * bound, "{errors:?}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Open,
    Stick,
    Slip,
}

fn mode(pendulum: &Pendulum) -> Mode {
    let contact = pendulum.stepper.contacts()[0];
    match (contact.impulse[0] > 0.0, libm::hypot(contact.after[1], contact.after[2]) < 1e-9) {
        (false, _) => Mode::Open,
        (true, true) => Mode::Stick,
        (true, false) => Mode::Slip,
    }
}

/// The pendulum in a plane touches, slides, sticks, slides and sticks permanently, all at their times; after the impact P1 stays on the
/// plane.
#[test]
fn c29_sticks_and_slips() {
    let case = reference("c29");
    let within = case.number("tolerance.event_steps");
    let events = case.table("derived.events");
    let mut grown = Vec::new();
    for h in [1e-3, 5e-4] {
        let mut pendulum = Pendulum::exact(&case, "planar");
        let (mut last, mut found, mut lowest, mut growth) = (Mode::Open, Vec::new(), f64::INFINITY, 0.0_f64);
        let mut places = case.table("derived.p1").into_iter().peekable();
        while pendulum.state.time < case.number("derived.end") - 0.5 * h {
            pendulum.step(h);
            let (time, now) = (pendulum.state.time, mode(&pendulum));
            if now != last {
                found.push((now, time));
                last = now;
            }
            if time > case.number("derived.impact") + 2.0 * h {
                assert!(pendulum.p1().z.abs() < h * h && pendulum.p1().y.abs() < 1e-12);
                let energy = pendulum.energy();
                lowest = lowest.min(energy);
                growth = growth.max(energy - lowest);
            }
            if let Some(row) = places.next_if(|row| (row["t"] - time).abs() < 0.5 * h) {
                assert!((pendulum.p1().x - row["x"]).abs() < h, "{} at {time}", pendulum.p1().x);
            }
        }
        assert!(places.peek().is_none());
        // Two steps of impact, in which P1 is held.
        assert_eq!(found[0].0, Mode::Stick);
        assert!((found[0].1 - case.number("derived.impact")).abs() <= within * h);
        assert_eq!(found.len(), 1 + events.len(), "{found:?}");
        for ((now, time), event) in found[1..].iter().zip(&events) {
            assert_eq!(*now == Mode::Stick, event["sticks"] == 1.0);
            assert!((time - event["t"]).abs() <= within * h, "{time} {event:?}");
        }
        grown.push(growth);
    }
    // The growth of energy is of the first order of the scheme.
    assert!(grown[0] < 0.02 && grown[1] < 0.55 * grown[0], "{grown:?}");
}

/// The impulse of the impact, which holds P1 for an instant.
#[test]
fn c29_impact() {
    let case = reference("c29");
    let h = 1e-5;
    let mut pendulum = Pendulum::exact(&case, "planar");
    pendulum.run_to(case.number("derived.impact") - 5.0 * h, h);
    let (mut sum, mut before) = ([0.0; 2], 0.0);
    for _ in 0..8 {
        pendulum.step(h);
        let contact = pendulum.stepper.contacts()[0];
        if sum[0] == 0.0 {
            before = contact.before[0];
        }
        // t is x. Steps after the impact carry the weight only.
        if contact.before[0] < 0.0 {
            sum = [sum[0] + contact.impulse[0], sum[1] + contact.impulse[1]];
        }
    }
    let expected = ["vz_before", "impulse_n", "impulse_x"].map(|name| case.number(&format!("derived.{name}")));
    for (found, expected) in [before, sum[0], sum[1]].iter().zip(expected) {
        assert!((found - expected).abs() < 50.0 * h, "{found} {expected}");
    }
}

/// While P1 sticks the pendulum is one that is pinned at P1.
#[test]
fn c29_sticking_is_a_pinned_pendulum() {
    let case = reference("c29");
    let h = 1e-3;
    let mut pendulum = Pendulum::exact(&case, "planar");
    let sticks = case.table("derived.events")[3]["t"];
    pendulum.run_to(sticks + 5.0 * h, h);
    let p1 = pendulum.p1();
    let pinned = tree(&case, TreeJoint::Spherical, Pose::translation(p1.x, p1.y, p1.z));
    let mut stepper = HybridStepper::new(pinned, Vec::new(), HybridOptions::default()).unwrap();
    let mut state = HybridState::new(pendulum.state.q[3..].to_vec(), pendulum.state.v[3..].to_vec());
    for _ in 0..1000 {
        pendulum.step(h);
        let _ = stepper.step(&mut state, h).unwrap();
    }
    for (a, b) in pendulum.state.q[3..].iter().zip(&state.q) {
        assert!((a - b).abs() < 1e-9, "{:?} {:?}", pendulum.state.q, state.q);
    }
    assert!((pendulum.p1() - p1).norm() < 1e-9);
}

/// Bounces with Newton's restitution: times, speeds before and after, and the ratio of each.
#[test]
fn c30_bounces() {
    let case = reference("c30");
    let restitution = case.number("parameters.planar.restitution");
    let impacts = case.table("derived.impacts");
    for form in [HybridForm::Cone, HybridForm::Reduced, HybridForm::Terminal] {
        for h in [1e-3, 2e-4] {
            let mut pendulum = Pendulum::new(&case, "planar", HybridOptions { form, directions: 8 });
            let (mut found, mut hit) = (Vec::new(), None);
            while pendulum.state.time < 1.3 {
                pendulum.step(h);
                let contact = pendulum.stepper.contacts()[0];
                if let Some((time, before)) = hit.take() {
                    assert!(contact.rebound);
                    found.push((time, before, contact.after[0]));
                } else if contact.impulse[0] > 0.0 {
                    hit = Some((pendulum.state.time, contact.before[0]));
                }
            }
            assert!(found.len() > impacts.len(), "{found:?}");
            for (_, before, after) in &found {
                assert!((after / before + restitution).abs() < 1e-9, "{found:?}");
            }
            for ((time, before, after), exact) in found.iter().zip(&impacts) {
                assert!((time - exact["t"]).abs() < case.number("tolerance.impact_steps") * h, "{time} {exact:?}");
                assert!((before - exact["before"]).abs() < 20.0 * h && (after - exact["after"]).abs() < 20.0 * h);
            }
        }
    }
}
