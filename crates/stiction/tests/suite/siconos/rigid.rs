//! The collected trajectories of rigid bodies with bodies, shapes and detected contacts instead of formulas.

use nalgebra::Vector3;
use stiction::schemes::MoreauJean;
use stiction::{BodyBuilder, ContactRule, Dimension, Model, ModelBuilder, Pose, Preset, Simulation, planar};

use super::Run;
use crate::support::{on_floor, q, step, steps, v};

fn over_floor(run: &Run, body: BodyBuilder) -> Model {
    let friction = run.parameters["mu"].as_f64().unwrap_or(0.0);
    let rule = ContactRule { friction, restitution: run.number("eN"), ..ContactRule::default() };
    on_floor(Dimension::Planar, [body], [0.0, -run.number("g"), 0.0], rule)
}

/// Steps the only body along the table and compares the named columns with signs times its (x, y, angle, vx, vy, ω).
fn follow(run: &Run, model: Model, columns: &[(&str, usize, f64)]) {
    let stepper = MoreauJean { scheme: run.scheme(), ..MoreauJean::default() };
    let simulation = Simulation::new(model, Preset::Ncp.scheme(), run.number("h")).unwrap();
    let mut simulation = simulation.with_stepper(stepper);
    let mut ours = vec![Vec::new(); columns.len()];
    for step in 0..run.rows.len() {
        if step > 0 {
            steps(&mut simulation, 1);
        }
        let numbers: Vec<f64> = q(&simulation, "body").iter().chain(v(&simulation, "body")).copied().collect();
        for (ours, &(_, place, sign)) in ours.iter_mut().zip(columns) {
            ours.push(sign * numbers[place]);
        }
    }
    for (ours, (name, ..)) in ours.iter().zip(columns) {
        let worst = ours.iter().zip(run.column(name)).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()));
        println!("{:18} {name:8} differs by {worst:.1e} at most", run.name);
        assert!(worst <= 1e-9, "{}, column {name}: {worst:e}", run.name);
    }
}

#[test]
fn a_ball_of_a_scene_bounces_as_it_does_there() {
    let Some(run) = Run::read("BouncingBallNETS") else { return };
    let ball = BodyBuilder::planar("body", run.number("mass"), 1.0)
        .position(0.0, run.number("q0"), 0.0)
        .velocity(0.0, run.number("v0"), 0.0)
        .shape(planar::Shape::disc(run.number("radius")).unwrap().into());
    follow(&run, over_floor(&run, ball), &[("q", 1, 1.0), ("v", 4, 1.0)]);
}

#[test]
fn a_disc_of_a_scene_comes_to_roll_as_it_does_there() {
    let Some(run) = Run::read("Ball2DFriction") else { return };
    let (height, spin) = (run.numbers("q0")[0], run.numbers("v0")[2]);
    let disc = BodyBuilder::planar("body", run.number("mass"), run.number("inertia"))
        .position(0.0, height, 0.0)
        .angular_velocity(0.0, 0.0, spin)
        .shape(planar::Shape::disc(run.number("R")).unwrap().into());
    // Their x is the height, and their y points towards −x.
    let columns =
        [("x", 1, 1.0), ("vx", 4, 1.0), ("y", 0, -1.0), ("vy", 3, -1.0), ("angle", 2, 1.0), ("omega", 5, 1.0)];
    follow(&run, over_floor(&run, disc), &columns);
}

#[test]
fn a_stick_of_a_scene_hits_the_floor_as_it_does_there() {
    let Some(run) = Run::read("ImpactingStick") else { return };
    let (angle, half) = (std::f64::consts::FRAC_PI_4, 0.5 * run.number("l"));
    let [vx, vy, spin] = run.numbers("v0")[..] else { panic!("three velocities") };
    let stick = BodyBuilder::planar("body", run.number("mass"), run.number("inertia"))
        .position(half * angle.sin(), half * angle.cos() + 0.01, 0.0)
        .angle(angle)
        .velocity(vx, vy, 0.0)
        .angular_velocity(0.0, 0.0, spin)
        .shape_at(planar::Shape::point().into(), Pose::translation(0.0, -half, 0.0));
    let columns = [("x", 0, 1.0), ("y", 1, 1.0), ("theta", 2, 1.0), ("vx", 3, 1.0), ("vy", 4, 1.0), ("omega", 5, 1.0)];
    follow(&run, over_floor(&run, stick), &columns);
}

/// Joints are asked at the level of velocities with their error: it stays of second order.
#[test]
fn a_joint_of_a_scene_stays_closed() {
    let swing = |h: f64| {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.gravity(0.0, -9.81, 0.0).unwrap();
        let rod = builder.body(BodyBuilder::planar("body", 1.0, 1.0 / 12.0).position(0.5, 0.0, 0.0)).unwrap();
        let world = stiction::BodyId::WORLD;
        let pin = stiction::JointKind::Revolute;
        builder.joint_at("pin", pin, (world, rod), Vector3::zeros(), Vector3::x()).unwrap();
        let scheme = Preset::Ncp.scheme();
        let mut simulation =
            Simulation::new(builder.build().unwrap(), scheme, h).unwrap().with_stepper(MoreauJean::default());
        let mut worst = 0.0_f64;
        for _ in 0..(1.0 / h).round() as usize {
            worst = worst.max(step(&mut simulation).joint_error);
        }
        worst
    };
    let (coarse, fine) = (swing(4e-3), swing(2e-3));
    assert!(coarse < 1e-3 && coarse / fine > 3.0, "joint errors {coarse} and {fine}");
}
