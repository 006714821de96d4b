//! Rolling and torsional friction against closed forms, in the plane and in space; every step is solved by the active-set method.

use std::collections::BTreeMap;

use nalgebra::Vector3;
use stiction::{
    BodyBuilder, ContactRule, Coordinates, Dimension, FrictionSet, LineariseAt, Model, Preset, Scheme, Simulation,
    StepReport, planar,
};

use crate::{
    robots,
    support::{G, down, friction, on_floor, run, solid_ball, step, v},
};

/// Coefficient of rolling friction, m.
const RHO: f64 = 0.004;
const MU: f64 = 0.4;
const RADIUS: f64 = 0.1;
const MASS: f64 = 0.7;
const H: f64 = 0.005;

fn rule(torsion: f64) -> ContactRule {
    ContactRule { rolling: RHO, torsion, ..friction(MU) }
}

/// Steps by the method that solved them.
#[derive(Default)]
struct Methods(BTreeMap<&'static str, usize>);

impl Methods {
    fn count(&mut self, report: &StepReport) {
        *self.0.entry(report.rung).or_default() += 1;
    }

    fn assert_active_set(&self, steps: usize) {
        assert_eq!(self.0, BTreeMap::from([("active-set", steps)]));
    }
}

/// Deceleration ρ g r / (r² + k²) of a body of radius r that rolls without sliding; k² is in units of r².   [FRIC-5]
fn deceleration(k_squared: f64) -> f64 {
    RHO * G / (RADIUS * (1.0 + k_squared))
}

#[test]
fn a_disc_that_rolls_comes_to_rest_and_stays_there() {
    let (k_squared, speed) = (0.5, 0.5);
    let disc = BodyBuilder::planar("disc", MASS, k_squared * MASS * RADIUS * RADIUS)
        .position(0.0, RADIUS, 0.0)
        .velocity(speed, 0.0, 0.0)
        .angular_velocity(0.0, 0.0, -speed / RADIUS)
        .shape(planar::Shape::disc(RADIUS).unwrap().into());
    let model = on_floor(Dimension::Planar, [disc], down(Dimension::Planar), rule(0.0));
    let (rate, mut methods, mut at_rest) = (deceleration(k_squared), Methods::default(), 0);
    let steps = (2.0 * speed / rate / H).round() as usize;
    run(model, Preset::Ncp.scheme(), H, steps as f64 * H, |simulation, report| {
        methods.count(report);
        let [vx, vy, omega] = *v(simulation, "disc") else { panic!("a planar body has three velocities") };
        let expected = (speed - rate * report.time).max(0.0);
        assert!((vx - expected).abs() < 1e-13 && (omega + expected / RADIUS).abs() < 1e-12, "{vx} for {expected}");
        let contact = &simulation.contacts()[0];
        if expected > 0.0 {
            assert!((contact.rolling_impulse.z - RHO * MASS * G * H).abs() < 1e-13, "{:?}", contact.rolling_impulse);
            assert_eq!(contact.rolling_impulse.xy(), Vector3::zeros().xy());
        } else {
            at_rest += 1;
            assert!([vx, vy, omega].iter().all(|v| v.abs() < 1e-15), "{vx:e} {vy:e} {omega:e}");
        }
    });
    assert!(at_rest > steps / 3, "at rest in {at_rest} of {steps} steps");
    methods.assert_active_set(steps);
}

/// A ball on the floor that rolls along a direction that is not an axis, and may spin about the vertical.
fn ball(speed: f64, spin: f64, rule: ContactRule) -> Model {
    let (x, y) = (0.8, 0.6);
    let ball = solid_ball("ball", MASS, RADIUS)
        .position(0.0, 0.0, RADIUS)
        .velocity(speed * x, speed * y, 0.0)
        .angular_velocity(-speed / RADIUS * y, speed / RADIUS * x, spin);
    on_floor(Dimension::Spatial, [ball], down(Dimension::Spatial), rule)
}

fn check_ball(torsion: f64, (speed, spin): (f64, f64), scheme: Scheme) {
    let (rate, spin_rate) = (deceleration(0.4), MU * torsion * G / (0.4 * RADIUS * RADIUS));
    let (mut methods, mut at_rest) = (Methods::default(), 0);
    let longest = if spin > 0.0 { (speed / rate).max(spin / spin_rate) } else { speed / rate };
    let steps = (1.5 * longest / H).round() as usize;
    run(ball(speed, spin, rule(torsion)), scheme, H, steps as f64 * H, |simulation, report| {
        methods.count(report);
        let velocity = v(simulation, "ball");
        let rolls = (speed - rate * report.time).max(0.0);
        let spins = (spin - spin_rate * report.time).max(0.0);
        let expected = [0.8 * rolls, 0.6 * rolls, 0.0, -0.6 * rolls / RADIUS, 0.8 * rolls / RADIUS, spins];
        for (v, expected) in velocity.iter().zip(expected) {
            assert!((v - expected).abs() < 1e-11, "{velocity:?} for {expected:?} at {}", report.time);
        }
        let contact = &simulation.contacts()[0];
        let limit = RHO * contact.normal_impulse;
        assert!(contact.rolling_impulse.norm() <= limit * (1.0 + 1e-12));
        if rolls > 0.0 {
            let against = Vector3::new(0.6, -0.8, 0.0) * limit;
            assert!((contact.rolling_impulse - against).norm() < 1e-12, "{:?}", contact.rolling_impulse);
        }
        if expected == [0.0; 6] {
            at_rest += 1;
            assert!(velocity.iter().all(|v| v.abs() < 1e-14), "{velocity:?}");
        }
    });
    assert!(at_rest > steps / 5, "at rest in {at_rest} of {steps} steps");
    methods.assert_active_set(steps);
}

#[test]
fn a_ball_that_rolls_comes_to_rest_and_stays_there() {
    check_ball(0.0, (0.5, 0.0), Preset::Ncp.scheme());
}

/// Sliding and torsion share one limit, so a ball that spins slips a little as it rolls, and no closed form is known. Momentum gives the
/// impulses of each step, and these satisfy the law with the velocities at its end.   [FRIC-3] [FRIC-5]
fn check_spinning_ball(torsion: f64, (speed, spin): (f64, f64), scheme: Scheme) {
    let (inertia, mut methods, mut before) = (0.4 * MASS * RADIUS * RADIUS, Methods::default(), [0.0; 6]);
    let model = ball(speed, spin, rule(torsion));
    before.copy_from_slice(&[0.8 * speed, 0.6 * speed, 0.0, -0.6 * speed / RADIUS, 0.8 * speed / RADIUS, spin]);
    let (steps, normal, mut slipping) = (100, MASS * G * H, 0);
    run(model, scheme, H, steps as f64 * H, |simulation, report| {
        methods.count(report);
        let v = v(simulation, "ball");
        let momentum = |k: usize, mass: f64| mass * (v[k] - before[k]);
        let friction = Vector3::new(momentum(0, MASS), momentum(1, MASS), momentum(5, inertia) / torsion);
        // The moment of friction about the centre is −r e_z × p.
        let rolling =
            [momentum(3, inertia) - RADIUS * momentum(1, MASS), momentum(4, inertia) + RADIUS * momentum(0, MASS)];
        let slip = Vector3::new(v[0] - RADIUS * v[4], v[1] + RADIUS * v[3], torsion * v[5]);
        let roll = v[3].hypot(v[4]);
        assert!(friction.norm() <= MU * normal * (1.0 + 1e-10), "{friction:?}");
        assert!(rolling[0].hypot(rolling[1]) <= RHO * normal * (1.0 + 1e-9), "{rolling:?}");
        if slip.norm() > 1e-9 {
            slipping += 1;
            let expected = slip * (-MU * normal / slip.norm());
            assert!((friction - expected).norm() < 1e-10, "{friction:?} for {expected:?} at {}", report.time);
        }
        if roll > 1e-9 {
            for (rolling, omega) in rolling.iter().zip(&v[3..5]) {
                assert!((rolling + RHO * normal * omega / roll).abs() < 1e-11, "{rolling} at {}", report.time);
            }
        }
        before.copy_from_slice(v);
    });
    assert!(slipping > 20, "slips in {slipping} steps");
    methods.assert_active_set(steps);
}

#[test]
fn a_ball_rolls_and_spins_within_both_limits() {
    check_spinning_ball(0.02, (0.4, 9.0), Preset::Ncp.scheme());
    check_spinning_ball(0.02, (0.2, 40.0), Preset::Ncp.scheme());
}

#[test]
fn reduced_coordinates_roll_alike() {
    let mut scheme = Preset::Ncp.scheme();
    scheme.coordinates = Coordinates::Reduced;
    check_spinning_ball(0.02, (0.4, 9.0), scheme.clone());
    check_ball(0.0, (0.4, 0.0), scheme);
}

#[test]
fn a_ball_that_spins_is_stopped_by_torsion_in_the_active_set_method() {
    let (torsion, spin, mut methods) = (0.03, 20.0, Methods::default());
    let rule = ContactRule { torsion, ..friction(MU) };
    let rate = MU * torsion * G / (0.4 * RADIUS * RADIUS);
    let steps = 200;
    run(ball(0.0, spin, rule), Preset::Ncp.scheme(), H, steps as f64 * H, |simulation, report| {
        methods.count(report);
        let (omega, expected) = (v(simulation, "ball")[5], (spin - rate * report.time).max(0.0));
        assert!((omega - expected).abs() < 1e-11, "{omega} for {expected}");
    });
    methods.assert_active_set(steps);
}

/// On a slope the ball stays at rest up to tan θ = ρ/r, and accelerates beyond it.
#[test]
fn a_ball_rolls_down_a_slope_only_if_it_is_steep_enough() {
    for (tangent, rolls) in [(0.8 * RHO / RADIUS, false), (1.5 * RHO / RADIUS, true)] {
        let angle = libm::atan(tangent);
        let (sin, cos) = libm::sincos(angle);
        let ball = solid_ball("ball", MASS, RADIUS).position(0.0, 0.0, RADIUS);
        let model = on_floor(Dimension::Spatial, [ball], [G * sin, 0.0, -G * cos], rule(0.0));
        let rate = if rolls { G * (sin - RHO / RADIUS * cos) / 1.4 } else { 0.0 };
        let mut methods = Methods::default();
        run(model, Preset::Ncp.scheme(), H, 0.5, |simulation, report| {
            methods.count(report);
            let vx = v(simulation, "ball")[0];
            assert!((vx - rate * report.time).abs() < 1e-12, "{vx} for {}", rate * report.time);
        });
        methods.assert_active_set(100);
    }
}

/// Rolling friction does not change sliding: a ball that skids first is slowed by μ g, and its spin by both moments.
#[test]
fn a_ball_that_skids_is_slowed_by_both() {
    let ball = solid_ball("ball", MASS, RADIUS).position(0.0, 0.0, RADIUS).velocity(2.0, 0.0, 0.0);
    let model = on_floor(Dimension::Spatial, [ball], down(Dimension::Spatial), rule(0.0));
    let inertia = 0.4 * RADIUS * RADIUS;
    let (slide, turn) = (MU * G, (MU * RADIUS - RHO) * G / inertia);
    // Skids until v = ω r.
    let until = 2.0 / (slide + turn * RADIUS);
    let mut methods = Methods::default();
    run(model, Preset::Ncp.scheme(), 1e-3, 0.1, |simulation, report| {
        methods.count(report);
        let velocity = v(simulation, "ball");
        let expected = (2.0 - slide * report.time, turn * report.time);
        if report.time < until {
            assert!((velocity[0] - expected.0).abs() < 1e-12, "{velocity:?} for {expected:?}");
            // In the first step nothing rolls yet, and the moment holds at its limit as well.
            assert!((velocity[4] - expected.1).abs() < 1e-10, "{velocity:?} for {expected:?}");
        }
    });
    methods.assert_active_set(100);
}

#[test]
fn what_has_no_rolling_friction_says_so() {
    let model = || ball(0.1, 0.0, rule(0.0));
    let with = |change: fn(&mut Scheme)| {
        let mut scheme = Preset::Ncp.scheme();
        change(&mut scheme);
        scheme
    };
    let cases = [
        (Preset::StewartTrinkle.scheme(), "linear friction sets have no rolling friction"),
        (with(|scheme| scheme.friction = FrictionSet::Box), "linear friction sets have no rolling friction"),
        (with(|scheme| scheme.linearise_at = LineariseAt::Implicit), "implicit steps have no rolling friction"),
        (Preset::Reference.scheme(), "the event-driven reference has no rolling friction"),
        (Preset::Quasistatic.scheme(), "bodies without inertia have no rolling friction"),
    ];
    for (scheme, sentence) in cases {
        let error = Simulation::new(model(), scheme, H).err().unwrap().to_string();
        assert!(error.contains(sentence), "{error}");
    }
}

#[test]
fn the_scene_of_a_rolling_ball_stops_as_its_first_lines_say() {
    let (mut simulation, mut methods) = (robots::scene("rolling_ball.toml", None, &[]), Methods::default());
    let (mut rolled, mut spun) = (0.0, 0.0);
    for _ in 0..300 {
        let report = step(&mut simulation);
        methods.count(&report);
        if v(&simulation, "rolling")[0] > 1e-12 {
            rolled = report.time;
        }
        if v(&simulation, "spinning")[5] > 1e-12 {
            spun = report.time;
        }
    }
    assert!((rolled - 0.7 / (0.01 * G / 0.14)).abs() <= H, "rolled until {rolled}");
    assert!((spun - 30.0 * 0.004 / (0.5 * 0.03 * G)).abs() <= H, "spun until {spun}");
    assert!(simulation.state().v.iter().all(|v| v.abs() < 1e-14), "{:?}", simulation.state().v);
    methods.assert_active_set(300);
}

/// The same ball from MJCF, with `condim` 6 and the preset of robots: reduced coordinates.
#[test]
fn a_ball_of_mjcf_rolls_to_rest_as_its_coefficients_say() {
    let text = "<mujoco><option timestep=\"0.005\"/><worldbody>
        <geom name=\"floor\" type=\"plane\" size=\"0 0 1\" friction=\"0.4 0.008 0.004\"/>
        <body name=\"ball\" pos=\"0 0 0.1\"><freejoint/>
        <geom size=\"0.1\" mass=\"0.7\" friction=\"0.4 0.008 0.004\" condim=\"6\"/></body>
        </worldbody></mujoco>";
    let folder = std::env::temp_dir().join(format!("stiction-rolling-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("ball.xml");
    std::fs::write(&path, text).unwrap();
    let scene = stiction::scene::load_robot_with(&path, &[], &stiction::scene::RobotOptions::default()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let bodies = [simulation.model().find_body("ball").unwrap(), simulation.model().find_body("ground").unwrap()];
    let rule = simulation.model().contact_rule(bodies[0], bodies[1]);
    assert_eq!((rule.friction, rule.torsion, rule.rolling), (0.4, 0.008 / 0.4, RHO));
    let (rate, spin_rate, mut methods) = (deceleration(0.4), 0.008 * G / 0.004, Methods::default());
    let begin = simulation.state().clone();
    for (speed, spin) in [(0.3, 0.0), (0.0, 5.0)] {
        let mut state = begin.clone();
        state.v.copy_from_slice(&[speed, 0.0, 0.0, 0.0, speed / RADIUS, spin]);
        simulation.set_state(&state).unwrap();
        for _ in 0..300 {
            let report = step(&mut simulation);
            methods.count(&report);
            let (rolls, spins) = ((speed - rate * report.time).max(0.0), (spin - spin_rate * report.time).max(0.0));
            let velocity = v(&simulation, "ball");
            assert!((velocity[0] - rolls).abs() < 1e-11 && (velocity[5] - spins).abs() < 1e-10, "{velocity:?}");
        }
    }
    methods.assert_active_set(600);
}
