//! Numbers of an independent program: mass matrix, bias, accelerations, poses and energies of collected models, found
//! through the variable `STICTION_DATA`. The models are written down here link by link, as their files describe them.

use std::{f64::consts::PI, path::PathBuf};

use nalgebra::{Matrix3, Quaternion, Translation3, UnitQuaternion, Vector3};
use serde_json::Value;
use stiction_multibody::{
    Pose,
    articulated::{LinkSpec, Tree, TreeBuilder, TreeJoint, energy},
    rotation::from_body_123,
};

use super::{accelerations, dense, distance, forces, kinematics, mass};

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);
const DENSITY: f64 = 1000.0;

/// Collected numbers of a model; none if the collection is not available.
#[allow(clippy::disallowed_methods)] // The collection lies outside the project.
fn collected(model: &str) -> Option<Value> {
    let folder = std::env::var("STICTION_DATA").ok().map(|root| PathBuf::from(root).join("models"));
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "STICTION_DATA must lead to the collection here");
        println!("skipped: STICTION_DATA does not lead to the collection `models`");
        return None;
    };
    let text = std::fs::read_to_string(folder.join(format!("{model}.smooth_dynamics.json"))).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn close(what: &str, found: &[f64], expected: &Value) {
    let error = distance(found, &numbers(expected));
    assert!(error < 1e-10, "{what}: {error}");
}

/// Compares all collected numbers of a model, in all its states. Links are the bodies after the world, in order.
fn compare(tree: &Tree, collected: &Value) {
    let states = collected["states"].as_array().unwrap();
    assert!(!states.is_empty());
    for state in states {
        let (q, v) = (numbers(&state["qpos"]), numbers(&state["qvel"]));
        let at = kinematics(tree, &q, &v);
        let none = vec![0.0; tree.velocities()];
        close("M", dense(&mass(tree, &at)).as_slice(), &state["M"]);
        close("bias", &forces(tree, &at, &none, &[]), &state["qfrc_bias"]);
        close("acceleration", &accelerations(tree, &at, &none, &[]), &state["qacc_unconstrained"]);
        let energy = energy(tree, &at, &v);
        close("energies", &[energy.potential, energy.kinetic], &state["potential_kinetic_energy"]);
        for (i, pose) in at.poses().iter().enumerate() {
            close("position", pose.translation.vector.as_slice(), &state["body_pos"][i + 1]);
            let e = numbers(&state["body_quat_wxyz"][i + 1]);
            let e = UnitQuaternion::new_normalize(Quaternion::new(e[0], e[1], e[2], e[3]));
            let error = (e.to_rotation_matrix().matrix() - pose.rotation.matrix()).amax();
            assert!(error < 1e-10, "orientation: {error}");
        }
    }
}

fn sphere(mass: f64, radius: f64) -> Matrix3<f64> {
    Matrix3::from_diagonal_element(0.4 * mass * radius * radius)
}

/// A ball inside a floating ball, on a spherical joint.
#[test]
fn spinning_ballast() {
    let Some(collected) = collected("mujoco__spin_recoil.xml") else { return };
    let mut builder = TreeBuilder::new(GRAVITY).unwrap();
    let ball = LinkSpec::new("ball", TreeJoint::Free).with_mass(0.001, Vector3::zeros(), sphere(0.001, 0.02));
    let ball = builder.link(ball).unwrap();
    let ballast = LinkSpec::new("ballast", TreeJoint::Spherical).with_mass(0.01, Vector3::zeros(), sphere(0.01, 0.02));
    builder.link(ballast.on(ball, Pose::identity())).unwrap();
    compare(&builder.build(), &collected);
}

/// A hinged link of a capsule of radius 0.1 from its origin to `end`, about y.
fn capsule(end: Vector3<f64>) -> LinkSpec {
    let (r, l) = (0.1, end.norm());
    let (cylinder, caps) = (DENSITY * PI * r * r * l, DENSITY * 4.0 / 3.0 * PI * r * r * r);
    let along = r * r * (0.5 * cylinder + 0.4 * caps);
    let across = cylinder * (r * r / 4.0 + l * l / 12.0) + caps * (0.4 * r * r + l * l / 4.0 + 0.375 * l * r);
    let axis = end / l;
    let inertia = Matrix3::from_diagonal_element(across) + axis * axis.transpose() * (along - across);
    let joint = TreeJoint::Revolute { axis: Vector3::y() };
    LinkSpec::new("capsule", joint).with_mass(cylinder + caps, end * 0.5, inertia)
}

/// A free box whose frame is not at its centre, a ball on a spherical joint, and a branching tree of five hinges.
#[test]
fn forest_of_boxes_balls_and_capsules() {
    let Some(collected) = collected("mujoco__inertia.xml") else { return };
    let mut builder = TreeBuilder::new(GRAVITY).unwrap();
    let sides = Vector3::new(0.3, 0.4, 0.5);
    let weight = DENSITY * sides.x * sides.y * sides.z;
    let squares = sides.component_mul(&sides);
    let moments = (Vector3::repeat(squares.sum()) - squares) * (weight / 12.0);
    let turn = from_body_123([10.0, 20.0, 30.0].map(f64::to_radians)).to_rotation_matrix();
    let inertia = turn.matrix() * Matrix3::from_diagonal(&moments) * turn.matrix().transpose();
    let block = LinkSpec::new("box", TreeJoint::Free).with_mass(weight, Vector3::new(0.1, 0.2, 0.3), inertia);
    builder.link(block).unwrap();

    let weight = DENSITY * 4.0 / 3.0 * PI * 0.008;
    let mut ball = LinkSpec::new("ball", TreeJoint::Spherical).with_mass(weight, Vector3::zeros(), sphere(weight, 0.2));
    ball.placement = Pose::from_parts(Translation3::new(0.0, -0.5, 0.0), nalgebra::Rotation3::identity());
    builder.link(ball).unwrap();

    let (right, left) = (Vector3::new(1.0, 0.0, 1.0), Vector3::new(-1.0, 0.0, 1.0));
    let trunk = builder.link(capsule(Vector3::z())).unwrap();
    let top = Pose::translation(0.0, 0.0, 1.0);
    builder.link(capsule(right).on(trunk, top)).unwrap();
    let branch = builder.link(capsule(left).on(trunk, top)).unwrap();
    let tip = Pose::translation(-1.0, 0.0, 1.0);
    builder.link(capsule(right).on(branch, tip)).unwrap();
    builder.link(capsule(left).on(branch, tip)).unwrap();
    compare(&builder.build(), &collected);
}
