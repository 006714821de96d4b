//! The physical facts of the collected trajectories, with schemes that are not theirs.

use stiction::schemes::{SystemState, ThetaScheme, ThetaStepper};
use stiction::{BodyBuilder, ContactRule, Dimension, Model, ModelBuilder, Preset, planar};

use super::{Run, systems};
use crate::support::{floor, q, run as simulate, v};

/// A disc over a floor y ≤ 0.
fn disc(run: &Run, radius: f64, height: f64, velocity: f64, spin: f64, inertia: f64) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -run.number("g"), 0.0).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(floor())).unwrap();
    let ball = BodyBuilder::planar("ball", run.number("mass"), inertia)
        .position(0.0, height, 0.0)
        .velocity(0.0, velocity, 0.0)
        .angular_velocity(0.0, 0.0, spin);
    builder.body(ball.shape(planar::Shape::disc(radius).unwrap().into())).unwrap();
    let friction = run.parameters["mu"].as_f64().unwrap_or(0.0);
    let rule = ContactRule { friction, restitution: run.number("eN"), ..ContactRule::default() };
    builder.default_contact(rule).unwrap();
    builder.build().unwrap()
}

/// Times of impacts, and the largest height above rest after each of them.
fn bounces(samples: impl Iterator<Item = (f64, f64, f64)>) -> Vec<(f64, f64)> {
    let (mut bounces, mut falling) = (Vec::<(f64, f64)>::new(), false);
    for (t, height, velocity) in samples {
        if falling && velocity > 0.0 {
            bounces.push((t, height));
        }
        if let Some(last) = bounces.last_mut() {
            last.1 = last.1.max(height);
        }
        falling = velocity < 0.0 || (falling && velocity == 0.0);
    }
    bounces
}

/// Each bounce loses what gravity does within a step, whatever the scheme: speeds err by g h per bounce and flights by twice that over g.
#[test]
fn a_ball_bounces_as_high_and_as_long_with_other_schemes() {
    let Some(run) = Run::read("BouncingBallTS") else { return };
    let (g, e, drop) = (run.number("g"), run.number("eN"), run.number("q0"));
    let (radius, count) = (0.1, 8);
    let theirs = bounces(samples_of(&run));
    for preset in [Preset::Ncp, Preset::StewartTrinkle] {
        let h = 1e-3;
        let mut samples = Vec::new();
        let model = disc(&run, radius, drop + radius, run.number("v0"), 0.0, 1.0);
        let end = simulate(model, preset.scheme(), h, run.number("T"), |simulation, _| {
            samples.push((simulation.time(), q(simulation, "ball")[1] - radius, v(simulation, "ball")[1]));
        });
        assert!((q(&end, "ball")[1] - radius).abs() < 1e-9 && v(&end, "ball")[1].abs() < 1e-9, "ends at rest");
        let ours = bounces(samples.into_iter());
        for (who, h, bounces) in [("theirs", run.number("h"), &theirs), (preset.name(), h, &ours)] {
            let (mut speed, mut time) = ((2.0 * g * drop).sqrt(), (2.0 * drop / g).sqrt());
            for (k, &(t, apex)) in bounces.iter().take(count).enumerate() {
                speed *= e;
                let (number, reached) = (k as f64, (2.0 * g * apex).sqrt());
                assert!((reached - speed).abs() < (number + 1.0) * g * h, "{who}: bounce {k} {reached} m/s of {speed}");
                assert!((t - time).abs() <= h * (2.0 + number * (number + 1.0)), "{who}: bounce {k} at {t} of {time}");
                time += 2.0 * speed / g;
            }
            assert!(bounces.len() > count);
        }
        for (k, (ours, theirs)) in ours.iter().zip(&theirs).take(4).enumerate() {
            println!(
                "{}: bounce {k} at {:.3} / {:.3} s to {:.4} / {:.4} m",
                preset.name(),
                ours.0,
                theirs.0,
                ours.1,
                theirs.1
            );
            assert!((ours.0 - theirs.0).abs() < 0.02 && (ours.1 / theirs.1 - 1.0).abs() < 0.02, "bounce {k}");
        }
    }
}

fn samples_of(run: &Run) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
    run.column("t").zip(run.column("q")).zip(run.column("v")).map(|((t, q), v)| (t, q, v))
}

/// J = m v and I (ω₀ − ω) = R J end in v = R ω, however often the disc bounces on its way.
#[test]
fn a_spinning_disc_ends_rolling_with_other_schemes() {
    let Some(run) = Run::read("Ball2DFriction") else { return };
    let (mass, inertia, radius) = (run.number("mass"), run.number("inertia"), run.number("R"));
    let spin = run.numbers("v0")[2];
    let omega = spin * inertia / (inertia + mass * radius * radius);
    for preset in [Preset::Ncp, Preset::StewartTrinkle] {
        let model = disc(&run, radius, run.numbers("q0")[0], 0.0, spin, inertia);
        let end = simulate(model, preset.scheme(), run.number("h"), run.number("T"), |_, _| ());
        let [vx, vy, w] = v(&end, "ball") else { panic!("three velocities") };
        // Here the angle turns towards −x.
        assert!((vx + radius * w).abs() < 1e-12 && vy.abs() < 1e-9, "rolls: {vx}, {vy}, {w}");
        assert!((w - omega).abs() < 1e-9 && (q(&end, "ball")[1] - radius).abs() < 1e-9);
        let theirs = run.column("omega").last().unwrap();
        assert!((w - theirs).abs() < 1e-9, "{w} against {theirs}");
    }
}

/// Time and height at which the bird swings back through −0.1 rad, once per cycle.
fn crossings(samples: impl Iterator<Item = [f64; 3]> + Clone) -> Vec<(f64, f64)> {
    let level = -0.1;
    let pairs = samples.clone().zip(samples.skip(1));
    let rising = pairs.filter(|(a, b)| a[2] < level && b[2] >= level);
    rising
        .map(|(a, b)| {
            let fraction = (level - a[2]) / (b[2] - a[2]);
            (a[0] + fraction * (b[0] - a[0]), a[1] + fraction * (b[1] - a[1]))
        })
        .collect()
}

#[test]
fn the_woodpecker_keeps_its_period_and_its_drop_with_another_theta() {
    let Some(run) = Run::read("Woodpecker") else { return };
    let table = run.column("t").zip(run.column("y")).zip(run.column("phiS")).map(|((t, y), angle)| [t, y, angle]);
    let theirs = crossings(table);
    let mut scheme = ThetaScheme::default();
    (scheme.theta, scheme.activation) = (1.0, 1.0);
    let (mut stepper, system, h) = (ThetaStepper::new(scheme).unwrap(), systems::woodpecker(&run), 5e-6);
    let mut state = SystemState::new(run.numbers("q0"), run.numbers("v0"));
    let mut samples = Vec::new();
    while state.time < run.number("T") {
        let _ = stepper.step(&system, &mut state, h).unwrap();
        samples.push([state.time, state.q[0], state.q[2]]);
    }
    let ours = crossings(samples.iter().copied());
    assert!(ours.len() == theirs.len() && theirs.len() == 2, "{ours:?} {theirs:?}");
    let cycle = |c: &[(f64, f64)]| (c[1].0 - c[0].0, c[0].1 - c[1].1);
    let ((period, drop), (their_period, their_drop)) = (cycle(&ours), cycle(&theirs));
    println!("period {period:.6} / {their_period:.6} s, drop {drop:.6} / {their_drop:.6} m");
    assert!((period / their_period - 1.0).abs() < 0.005, "period {period} against {their_period}");
    assert!((drop / their_drop - 1.0).abs() < 0.01, "drop {drop} against {their_drop}");
}
