//! Meshes as bodies: their cavities hold what is put into them (issue 33).

use std::fmt::Write;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use stiction::Simulation;
use stiction::scene::{RobotOptions, load_robot_with};

use crate::support::q;

/// Boxes that make a mug with a square cavity of 0.2 m, as lower and upper corners.
const BOXES: [[[f64; 3]; 2]; 5] = [
    [[-0.2, -0.2, 0.0], [0.2, 0.2, 0.1]],
    [[-0.2, -0.2, 0.1], [0.2, -0.1, 0.5]],
    [[-0.2, 0.1, 0.1], [0.2, 0.2, 0.5]],
    [[-0.2, -0.1, 0.1], [-0.1, 0.1, 0.5]],
    [[0.1, -0.1, 0.1], [0.2, 0.1, 0.5]],
];

fn mug() -> String {
    let mut text = String::new();
    for (number, ends) in BOXES.iter().enumerate() {
        writeln!(text, "o part_{number}").unwrap();
        for k in 0..8 {
            let [x, y, z] = [0, 1, 2].map(|axis| ends[k >> axis & 1][axis]);
            writeln!(text, "v {x} {y} {z}").unwrap();
        }
        for [a, b, c, d] in [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]] {
            writeln!(text, "f {} {} {} {}", a - 8, b - 8, c - 8, d - 8).unwrap();
        }
    }
    text
}

/// A ball falls into a mug from an OBJ with a part for each wall, which slides; it comes to rest in the cavity, and the mug stands. The mass of the mug
/// is that of its mesh.
#[test]
fn a_ball_stays_in_a_mug() {
    let folder = std::env::temp_dir().join(format!("stiction-mug-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("mug.obj"), mug()).unwrap();
    let robot = r#"<mujoco><asset><mesh name="mug" file="mug.obj"/></asset><worldbody><geom type="plane" size="1 1 1"/>
        <body name="mug"><freejoint/><geom type="mesh" mesh="mug" density="100" friction="0.4"/></body>
        <body name="ball" pos="0.02 0.03 0.7"><freejoint/><geom type="sphere" size="0.05" mass="0.3"/></body></worldbody></mujoco>"#;
    std::fs::write(folder.join("robot.xml"), robot).unwrap();
    let scene = load_robot_with(folder.join("robot.xml"), &[], &RobotOptions::default()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let volume: f64 = BOXES.iter().map(|[low, high]| (0..3).map(|k| high[k] - low[k]).product::<f64>()).sum();
    let body = scene.model.find_body("mug").unwrap();
    let mass = scene.model.body(body).unwrap().mass().unwrap();
    assert!((mass - 100.0 * volume).abs() < 1e-9, "{mass} kg");
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let mut state = simulation.state().clone();
    let (_, range) = scene.model.unknowns(body).unwrap();
    state.v[range.start] = 0.6;
    simulation.set_state(&state).unwrap();
    for step in 0..750 {
        let report = simulation.step().unwrap_or_else(|error| panic!("step {step}: {error}"));
        assert!(report.penetration < 1e-3, "step {step}: {report:?}");
    }
    let place = |name| Vector3::from_column_slice(&q(&simulation, name)[..3]);
    let [w, x, y, z] = <[f64; 4]>::try_from(&q(&simulation, "mug")[3..7]).unwrap();
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
    assert!(turn.angle() < 0.1, "the mug stands: {turn}");
    // The origin of a body is its centre of mass, which is above the floor of the mug.
    let height = BOXES.iter().map(|[low, high]| {
        let volume: f64 = (0..3).map(|k| high[k] - low[k]).product();
        volume * 0.5 * (low[2] + high[2])
    });
    let ball =
        turn.inverse_transform_vector(&(place("ball") - place("mug"))) + Vector3::z() * (height.sum::<f64>() / volume);
    assert!(ball.x.abs() <= 0.0501 && ball.y.abs() <= 0.0501, "{ball}");
    assert!((ball.z - 0.15).abs() < 1e-3, "the ball lies on the floor of the mug: {ball}");
}
