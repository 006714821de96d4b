//! Scenes of robots behave as their first lines say.

use nalgebra::Vector3;
use stiction::Simulation;
use stiction::scene::{RobotOptions, load_robot_with, robot::SceneOptions};

use crate::support::step;

/// A file of `scenes/`, changed in places.
pub fn scene(file: &str, keyframe: Option<&str>, changes: &[(&str, f64)]) -> Simulation {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(file);
    let changes: Vec<_> = changes.iter().map(|(path, value)| ((*path).to_owned(), value.to_string())).collect();
    let scene = SceneOptions { keyframe: keyframe.map(str::to_owned), ..SceneOptions::default() };
    let options = RobotOptions { scene, ..RobotOptions::default() };
    Simulation::from_scene(&load_robot_with(path, &changes, &options).unwrap()).unwrap()
}

fn run_to(simulation: &mut Simulation, time: f64) {
    while simulation.time() < time - 1e-9 {
        let _ = step(simulation);
    }
}

fn place(simulation: &Simulation, body: &str) -> Vector3<f64> {
    simulation.configuration().pose(simulation.model().find_body(body).unwrap()).translation.vector
}

/// The greatest velocity of anything.
fn speed(simulation: &Simulation) -> f64 {
    simulation.state().v.iter().fold(0.0, |most, v| v.abs().max(most))
}

#[test]
fn the_quadruped_stands() {
    let mut simulation = scene("quadruped.xml", None, &[]);
    run_to(&mut simulation, 2.0);
    let early = place(&simulation, "torso");
    run_to(&mut simulation, 3.0);
    let late = place(&simulation, "torso");
    assert!((late - early).norm() < 1e-6 && speed(&simulation) < 1e-6);
    // Knees of 35° to both sides, feet of 3 cm, and at most 2 cm of sag.
    let drawn = 0.4 * 35.0_f64.to_radians().cos() + 0.03;
    assert!((0.0..0.02).contains(&(drawn - late.z)), "{}", late.z);
    // All its weight is on its four feet.
    let contacts = &simulation.state().contacts;
    let pressed: f64 = contacts.iter().map(|contact| contact.normal_impulse).sum();
    let mass: f64 = simulation.model().bodies().iter().filter_map(stiction::multibody::Body::mass).sum();
    assert_eq!(contacts.len(), 4);
    assert!((pressed / simulation.step_size() - mass * 9.81).abs() < 1e-6 * mass * 9.81);
}

#[test]
fn the_quadruped_falls_when_it_is_pushed_and_crouches_when_it_is_told_to() {
    let mut pushed = scene("quadruped.xml", Some("pushed"), &[]);
    run_to(&mut pushed, 3.0);
    // On its back, half its height above the floor.
    let torso = place(&pushed, "torso");
    assert!((torso.z - 0.05).abs() < 1e-6 && speed(&pushed) < 1e-6, "{torso:?}");
    let mut crouched = scene("quadruped.xml", Some("crouch"), &[]);
    run_to(&mut crouched, 3.0);
    let torso = place(&crouched, "torso");
    assert!((0.1..0.25).contains(&torso.z) && speed(&crouched) < 1e-6, "{torso:?}");
}

#[test]
fn the_arm_pushes_the_box_and_a_soft_servo_does_not() {
    let way = |changes: &[(&str, f64)]| {
        let mut simulation = scene("arm_push.toml", None, changes);
        let before = place(&simulation, "box");
        run_to(&mut simulation, 2.5);
        let after = place(&simulation, "box");
        assert!((after.z - 0.05).abs() < 1e-9, "it stays on the table");
        (after - before).norm()
    };
    assert!(way(&[]) > 0.25);
    assert!(way(&[("motor.waist.stiffness", 1.0)]) < 0.01);
}

#[test]
fn the_linkage_shoves_the_block_and_friction_holds_it() {
    let mut simulation = scene("four_bar.toml", None, &[]);
    let (mut most, mut held) = (0.0_f64, 0);
    let hold = 0.3 * 2.0 * 9.81 / 200.0;
    while simulation.time() < 5.0 - 1e-9 {
        let before = place(&simulation, "block").x;
        let report = step(&mut simulation);
        assert!(report.joint_error < 1e-4, "{}", report.joint_error);
        let place = place(&simulation, "block").x;
        most = most.max(place);
        // At rest and untouched: the spring pulls less than friction can hold.
        if (place - before).abs() < 1e-12 && report.contacts == 2 {
            assert!((place - 0.8).abs() <= hold * (1.0 + 1e-9), "{place}");
            held += 1;
        }
    }
    assert!(most > 0.86 && held > 100, "{most}, {held} steps");
}

#[test]
fn the_chain_comes_to_rest_on_the_table() {
    let mut simulation = scene("falling_chain.toml", None, &[]);
    run_to(&mut simulation, 0.8);
    // The remaining motion is a slow roll of links about their own axes, which only the damping of the joints stops.
    let most = |part: std::ops::Range<usize>| {
        let bodies = simulation.state().v.chunks(6);
        bodies.flat_map(|v| &v[part.clone()]).fold(0.0_f64, |most, v| v.abs().max(most))
    };
    let (moving, turning) = (most(0..3), most(3..6));
    assert!(moving < 1e-5 && turning < 1e-3, "{moving} m/s, {turning} rad/s");
    for link in 1..=12 {
        let height = place(&simulation, &format!("link {link}")).z;
        assert!((height - 0.015).abs() < 1e-5, "link {link}: {height}");
    }
}
