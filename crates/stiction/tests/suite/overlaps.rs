//! Bodies that overlap: they separate at the closing speed, and an overlap that no motion opens is kept.

use std::sync::Arc;

use stiction::complementarity::Status;
use stiction::multibody::ExpressionMotion;
use stiction::scene::{RobotOptions, load_robot_with};
use stiction::{BodyBuilder, ClosingSpeed, Coordinates, Dimension, Expression, Scheme, Simulation};

use crate::support::{friction, solid_ball, v, world};

const H: f64 = 0.001;
const RADIUS: f64 = 0.1;

/// A ball that overlaps the floor by this, without gravity.
fn sunk(overlap: f64, scheme: Scheme) -> Simulation {
    let ball = solid_ball("ball", 1.0, RADIUS).position(0.0, 0.0, RADIUS - overlap);
    let ground = stiction::spatial::Shape::half_space(nalgebra::Vector3::z()).unwrap();
    let bodies = [BodyBuilder::fixed("floor").shape(ground.into()), ball];
    Simulation::new(world(Dimension::Spatial, bodies, [0.0; 3], friction(0.5)), scheme, H).unwrap()
}

/// The scheme in which overlaps open at this speed.
fn opening_at(overlap: f64) -> Scheme {
    Scheme { joint_closing_speed: ClosingSpeed { overlap, ..ClosingSpeed::default() }, ..Scheme::default() }
}

fn height(simulation: &Simulation) -> f64 {
    simulation.state().q[2] - RADIUS
}

/// An overlap of 50 mm opens at 1 m/s within 50 steps, and the ball keeps that velocity; without the bound it opens within a step, at 50 m/s.
#[test]
fn overlapping_bodies_separate_at_the_closing_speed() {
    let overlap = 0.05;
    for speed in [0.25, 1.0, 4.0] {
        let mut simulation = sunk(overlap, opening_at(speed));
        let steps = (overlap / (speed * H)).round() as usize;
        for step in 1..=steps {
            let report = simulation.step().unwrap();
            let expected = -overlap + speed * H * step as f64;
            // Beyond the bound is what a step makes by the curvature of the ball: ½ h v²/R.
            let drift = 0.5 * H * speed * speed / RADIUS * H * step as f64;
            assert!((height(&simulation) - expected).abs() <= drift + 1e-12, "{speed}: step {step}");
            assert_eq!((report.status, report.slack), (Status::Solved, 0.0));
        }
        let end = v(&simulation, "ball")[2];
        assert!(end >= speed && end < 1.03 * speed, "{end} m/s instead of {speed} m/s");
    }
    let mut simulation = sunk(overlap, opening_at(f64::INFINITY));
    let _ = simulation.step().unwrap();
    assert!(height(&simulation).abs() < 1e-12 && (v(&simulation, "ball")[2] - overlap / H).abs() < 1e-9);
}

/// What a step itself makes bodies overlap is removed in the next one at any speed: the ends of a bar that spins beside a floor.
#[test]
fn the_drift_of_a_fast_step_is_removed_in_the_next_one() {
    let spin = 300.0;
    let ground = stiction::planar::Shape::half_plane(nalgebra::Vector2::y()).unwrap();
    let half = [0.1, 0.02];
    let bodies = [
        BodyBuilder::fixed("floor").shape(ground.into()),
        crate::support::solid_rectangle("bar", 1.0, half).position(0.0, 0.09, 0.0).angular_velocity(0.0, 0.0, spin),
    ];
    let run = |speed: f64| {
        let model = world(Dimension::Planar, bodies.clone(), [0.0; 3], friction(0.0));
        let scheme = opening_at(speed);
        let mut simulation = Simulation::new(model, scheme, H).unwrap();
        crate::support::steps(&mut simulation, 50);
        simulation.state().q.clone()
    };
    assert_eq!(run(0.01), run(f64::INFINITY), "the bound changes nothing of a step's own overlaps");
}

/// Two legs side by side, thicker than the distance of their hips, on a trunk that falls on the floor.
fn legs(distance: f64, radius: f64) -> String {
    let leg = |name: &str, y: f64| {
        format!(
            r#"<body name="{name}" pos="0 {y} -0.05"><joint name="hip {name}" type="hinge" axis="0 1 0" damping="0.2"/>
            <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="{radius}" mass="1"/></body>"#
        )
    };
    format!(
        r#"<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 .1"/>
        <body name="trunk" pos="0 0 0.5"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="5"/>{}{}</body></worldbody></mujoco>"#,
        leg("left", 0.5 * distance),
        leg("right", -0.5 * distance)
    )
}

/// The legs can turn, but not part. Their overlap is kept, counted, and does not get deeper; the robot falls and comes to rest.
#[test]
fn an_overlap_that_no_joint_opens_is_kept() {
    let (distance, radius) = (0.08, 0.05);
    let path = std::env::temp_dir().join(format!("stiction-overlapping-legs-{}.xml", std::process::id()));
    std::fs::write(&path, legs(distance, radius)).unwrap();
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced, Coordinates::DivideAndConquer] {
        let mut scene = load_robot_with(&path, &[], &RobotOptions::default()).unwrap();
        scene.settings.scheme.coordinates = coordinates;
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let mut kept = 0;
        for step in 0..500 {
            let report = simulation.step().unwrap_or_else(|error| panic!("{coordinates:?}: step {step}: {error}"));
            kept += usize::from(report.slack > 0.0);
            let overlap = 2.0 * radius - distance;
            assert!(report.slack < 1.02 * overlap, "{coordinates:?}: step {step}: {report:?}");
            assert!(report.residual.value <= 1e-4);
        }
        assert!(kept > 100, "{kept} steps keep an overlap");
        assert!(simulation.state().v.iter().all(|v| v.abs() < 20.0), "{:?}", simulation.state().v);
    }
    std::fs::remove_file(&path).unwrap();
}

/// A plate of 2 cm that moves along z by this height, and a ball of this radius at rest.
fn swatter(height: &str, [place, radius]: [f64; 2], h: f64) -> Simulation {
    let zero = || Expression::constant(0.0);
    let motion = ExpressionMotion {
        position: [zero(), zero(), height.parse().unwrap()],
        axis: nalgebra::Vector3::z(),
        angle: zero(),
        base: nalgebra::UnitQuaternion::identity(),
    };
    let plate = stiction::spatial::Shape::cuboid([0.2, 0.2, 0.01]).unwrap();
    let bodies = [
        BodyBuilder::kinematic("plate", Arc::new(motion)).shape(plate.into()),
        solid_ball("ball", 1.0, radius).position(0.0, 0.0, place),
    ];
    Simulation::new(world(Dimension::Spatial, bodies, [0.0; 3], friction(0.3)), Scheme::default(), h).unwrap()
}

/// A thin plate whose motion in a step exceeds its thickness and the size of the ball hits it from the front: the ball moves on with it, from 1 ms to 50 ms.
#[test]
fn a_fast_plate_pushes_what_it_hits_in_front_of_it() {
    for (speed, radius) in [(1.5, 0.02), (5.0, 0.02), (20.0, 0.005)] {
        for h in [0.001, 0.02, 0.05] {
            // Bodies start apart by a tenth of a second of motion, and by half a step more.
            let start = speed * 0.1 + radius + 0.01 + 0.5 * speed * h;
            let mut simulation = swatter(&format!("-{speed}*t"), [-start, radius], h);
            for _ in 0..(0.3 / h) as usize {
                let report = simulation.step().unwrap();
                assert!(report.penetration < 1e-9, "{speed} m/s, h = {h}: {report:?}");
            }
            let (place, time) = (simulation.state().q[2], simulation.state().time);
            let expected = -speed * time - 0.01 - radius;
            assert!((place - expected).abs() < 1e-9, "{speed} m/s, h = {h}: {place} instead of {expected}");
            assert!((v(&simulation, "ball")[2] + speed).abs() < 1e-9);
        }
    }
}

/// It does not touch what lies beside its way, and what it has not yet reached.
#[test]
fn a_fast_plate_misses_what_is_beside_it() {
    let h = 0.02;
    for place in [[0.3, -0.5], [0.25, -0.02], [0.0, 0.1], [0.0, -1.0]] {
        let mut simulation = swatter("-10*t", [place[1], 0.02], h);
        let mut state = simulation.state().clone();
        state.q[0] = place[0];
        simulation.set_state(&state).unwrap();
        crate::support::steps(&mut simulation, 4);
        assert_eq!(v(&simulation, "ball"), [0.0; 6], "{place:?}");
    }
}

/// A bar that turns by 0.2 rad in a step strikes a disc at its end in the direction in which it turns.
#[test]
fn a_fast_bar_strikes_a_disc_in_its_direction() {
    for h in [0.001, 0.01, 0.02] {
        let zero = || Expression::constant(0.0);
        let motion = ExpressionMotion::planar(zero(), zero(), "20*t".parse().unwrap());
        let bar = stiction::planar::Shape::rectangle([0.5, 0.005]).unwrap();
        let disc = stiction::planar::Shape::disc(0.01).unwrap();
        let bodies = [
            BodyBuilder::kinematic("bar", Arc::new(motion)).shape(bar.into()),
            BodyBuilder::planar("disc", 1.0, 1e-3).shape(disc.into()).position(0.4, 0.1, 0.0),
        ];
        let model = world(Dimension::Planar, bodies, [0.0; 3], friction(0.0));
        let mut simulation = Simulation::new(model, Scheme::default(), h).unwrap();
        for _ in 0..(0.04 / h) as usize {
            let _ = simulation.step().unwrap();
        }
        let struck = v(&simulation, "disc");
        // The bar moves at 20 rad/s × 0.41 m where it meets the disc.
        assert!(struck[1] > 5.0 && struck[1] < 12.0, "h = {h}: {struck:?}");
    }
}
