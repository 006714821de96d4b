//! Robots of other projects, found through the variable `STICTION_DATA`: every file loads or is refused with a
//! reason. Masses, inertias, frames and axes give the mass matrices, poses and energies that `MuJoCo` computed.

use std::path::{Path, PathBuf};

use nalgebra::{DMatrix, DVector, Isometry3, Matrix3, Point3, Quaternion, Translation3, UnitQuaternion, Vector3};
use serde_json::Value;
use stiction_scene::robot::{JointKind, Keyframe, LinkId, ReadOptions, Robot, SceneOptions};

/// Tolerance relative to the greatest entry.
const ACCURACY: f64 = 1e-10;

fn folder() -> Option<PathBuf> {
    let folder = std::env::var("STICTION_DATA").ok().map(|root| PathBuf::from(root).join("models"));
    let found = folder.filter(|folder| folder.join("manifest.json").is_file());
    if found.is_none() {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "STICTION_DATA must lead to the collection here");
        println!("skipped: STICTION_DATA does not lead to the collection `models`");
    }
    found
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("a readable file")).expect("JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array").iter().map(|entry| entry.as_f64().expect("a number")).collect()
}

fn manifest(folder: &Path) -> Vec<Value> {
    json(&folder.join("manifest.json")).as_array().expect("an array").clone()
}

fn name_of(entry: &Value) -> &str {
    entry["file"].as_str().expect("a name")
}

fn ending(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

#[test]
fn every_model_loads_or_says_why_not() {
    let Some(folder) = folder() else { return };
    let mut loaded = 0;
    for entry in manifest(&folder) {
        let name = name_of(&entry);
        match Robot::load(folder.join(name), &ReadOptions::default()) {
            // MuJoCo refuses it, so there are no counts.
            Ok(robot) if name == "dart__joint_properties.urdf" => {
                assert!(robot.unsupported.iter().any(|note| note.reason.contains("no link behind it has a mass")));
            }
            Ok(robot) => {
                loaded += 1;
                check_counts(&robot, &entry);
            }
            Err(error) => {
                assert!(["sdf", "world"].contains(&ending(name)), "{error}");
                assert!(error.message.contains("SDF is not supported"), "{error}");
                assert!(error.span.is_some(), "{error}");
            }
        }
    }
    assert!(loaded >= 20, "only {loaded} models loaded");
}

/// Numbers of links, coordinates, shapes, constraints and actuators as counted by `MuJoCo`, less those listed as
/// unsupported.
fn check_counts(robot: &Robot, entry: &Value) {
    let name = name_of(entry);
    let count = |key: &str| entry[key].as_u64().expect("a count") as usize;
    assert_eq!((robot.coordinates(), robot.dof()), (count("nq"), count("nv")), "{name}");
    let noted = |word: &str| {
        robot.unsupported.iter().filter(|note| note.what.contains(word)).map(|note| note.count).sum::<usize>()
    };
    let shapes: usize = robot.links.iter().map(|link| link.shapes.len()).sum();
    assert_eq!(shapes + noted("geom of type"), count("ngeom"), "{name}");
    assert_eq!(robot.constraints.len(), count("neq"), "{name}");
    assert_eq!(robot.actuators.len() + noted("<general> of types") + noted(" on a "), count("nu"), "{name}");
    // MuJoCo makes the root of a URDF part of the world.
    let world = usize::from(ending(name) == "urdf");
    assert_eq!(robot.links.len(), count("nbody") + world, "{name}");
}

#[test]
fn mass_matrices_poses_and_energies_are_those_of_mujoco() {
    let Some(folder) = folder() else { return };
    let mut compared = 0;
    for entry in manifest(&folder).iter().filter(|entry| entry["oracle"].is_string()) {
        let name = name_of(entry);
        let robot = Robot::load(folder.join(name), &ReadOptions::default()).expect("a robot");
        let oracle = json(&folder.join(entry["oracle"].as_str().expect("a name")));
        for state in oracle["states"].as_array().expect("states") {
            compare(name, &robot, &oracle, state);
            compared += 1;
        }
    }
    assert!(compared >= 4 * 15, "only {compared} states compared");
}

fn compare(name: &str, robot: &Robot, oracle: &Value, state: &Value) {
    let motion = Motion::at(robot, &numbers(&state["qpos"]));
    let positions = state["body_pos"].as_array().expect("positions");
    assert_eq!(positions.len(), motion.poses.len(), "{name}");
    let quaternions = state["body_quat_wxyz"].as_array().expect("quaternions");
    for ((pose, position), quaternion) in motion.poses.iter().zip(positions).zip(quaternions) {
        let q = numbers(quaternion);
        let turned = pose.rotation.coords.dot(&Quaternion::new(q[0], q[1], q[2], q[3]).coords).abs();
        assert!((turned - 1.0).abs() <= ACCURACY, "{name}: {turned}");
        let expected = Vector3::from_vec(numbers(position));
        let error = (pose.translation.vector - expected).norm();
        assert!(error <= ACCURACY * (1.0 + expected.norm()), "{name}: {error:e}");
    }
    let rows: Vec<_> = state["M"].as_array().expect("rows").iter().map(numbers).collect();
    let expected = DMatrix::from_fn(rows.len(), rows.len(), |i, j| rows[i][j]);
    let computed = motion.mass_matrix(robot);
    let error = (&computed - &expected).amax() / expected.amax();
    assert!(error <= ACCURACY, "{name}: mass matrix off by {error:e}");
    compare_dynamics(name, robot, state, &expected);
    let gravity = robot.gravity.expect("gravity");
    if gravity != Vector3::zeros() {
        // Gravity that a flag disables is still listed there, but does no work.
        assert_eq!(gravity.as_slice(), numbers(&oracle["gravity"]), "{name}");
    }
    let potential = motion.potential(robot, &gravity);
    let expected = numbers(&state["potential_kinetic_energy"])[0];
    assert!((potential - expected).abs() <= ACCURACY * (1.0 + expected.abs()), "{name}: {potential} {expected}");
}

#[test]
fn scenes_have_the_mechanics_of_their_robots_at_every_state() {
    let Some(folder) = folder() else { return };
    let mut compared = 0;
    for entry in manifest(&folder).iter().filter(|entry| entry["oracle"].is_string()) {
        let mut robot = Robot::load(folder.join(name_of(entry)), &ReadOptions::default()).expect("a robot");
        let oracle = json(&folder.join(entry["oracle"].as_str().expect("a name")));
        for state in oracle["states"].as_array().expect("states") {
            let (q, v) = (numbers(&state["qpos"]), numbers(&state["qvel"]));
            let (coordinates, velocities) = (Some(q.clone()), Some(v.clone()));
            let name = Some("oracle".to_owned());
            robot.keyframes = vec![Keyframe { name, time: 0.0, coordinates, velocities, controls: None }];
            let options = SceneOptions { keyframe: Some("oracle".to_owned()), ..SceneOptions::default() };
            let made = robot.to_scene(name_of(entry), &options).unwrap_or_else(|error| panic!("{error}"));
            let scene = stiction_scene::parse(&made.text, name_of(entry)).unwrap_or_else(|error| panic!("{error}"));
            crate::robot_scenes::same_mechanics(&robot, &q, &v, &scene.model);
            compared += 1;
        }
    }
    assert!(compared >= 4 * 15, "only {compared} states compared");
}

/// The same numbers, bias forces and the kinetic energy by the recursive algorithms for trees.
fn compare_dynamics(name: &str, robot: &Robot, state: &Value, mass: &DMatrix<f64>) {
    let (q, v) = (numbers(&state["qpos"]), numbers(&state["qvel"]));
    let still = vec![0.0; v.len()];
    let tree = robot.tree().expect("a tree");
    let dynamics = tree.dynamics(robot, &q, &v, &still).expect("dynamics");
    let error = (&dynamics.mass - mass).amax() / mass.amax();
    assert!(error <= ACCURACY, "{name}: mass matrix off by {error:e}");
    let expected = DVector::from_vec(numbers(&state["qfrc_bias"]));
    let bias = DVector::from_vec(dynamics.bias);
    // Bias forces cancel: they are as exact as their greatest parts.
    let scale = expected.amax().max(robot.mass()).max((mass * DVector::from_vec(v)).amax());
    let error = (&bias - &expected).amax() / scale;
    assert!(error <= ACCURACY, "{name}: bias off by {error:e}");
    let [potential, kinetic] = [0, 1].map(|k| numbers(&state["potential_kinetic_energy"])[k]);
    for (own, expected) in [(dynamics.energy.kinetic, kinetic), (dynamics.energy.potential, potential)] {
        assert!((own - expected).abs() <= ACCURACY * (1.0 + expected.abs()), "{name}: {own} {expected}");
    }
    let residual = mass * DVector::from_vec(dynamics.acceleration) + bias;
    assert!(residual.amax() <= 1e-9 * scale, "{name}: M a + bias = {:e}", residual.amax());
}

/// Velocity of everything behind a joint per unit of one velocity: v(p) = linear + angular × (p − point).
struct Direction {
    link: usize,
    linear: Vector3<f64>,
    angular: Vector3<f64>,
    point: Point3<f64>,
    armature: f64,
}

/// Poses of all links and their motion directions, from the definition, without any recursive algorithm.
struct Motion {
    poses: Vec<Isometry3<f64>>,
    directions: Vec<Direction>,
}

impl Motion {
    fn at(robot: &Robot, q: &[f64]) -> Self {
        let mut own = Self { poses: Vec::new(), directions: Vec::new() };
        let mut rest = q;
        for (link, moved) in robot.links.iter().enumerate() {
            let mut pose =
                moved.parent.map_or(Isometry3::identity(), |LinkId(parent)| own.poses[parent]) * moved.origin;
            for joint in &moved.joints {
                let (now, later) = rest.split_at(joint.kind.coordinates());
                rest = later;
                let turn = |q: &[f64]| UnitQuaternion::new_normalize(Quaternion::new(q[0], q[1], q[2], q[3]));
                let axis = pose.rotation * joint.axis.into_inner();
                let about = |rotation: UnitQuaternion<f64>| {
                    let to = Translation3::from(joint.anchor.coords);
                    to * rotation * to.inverse()
                };
                match joint.kind {
                    JointKind::Revolute => {
                        own.add(link, Vector3::zeros(), axis, pose * joint.anchor, joint.armature);
                        pose *= about(UnitQuaternion::from_axis_angle(&joint.axis, now[0] - joint.reference));
                    }
                    JointKind::Prismatic => {
                        own.add(link, axis, Vector3::zeros(), Point3::origin(), joint.armature);
                        pose.translation.vector += axis * (now[0] - joint.reference);
                    }
                    JointKind::Ball => {
                        pose *= about(turn(now));
                        own.add_rotations(link, &pose, pose * joint.anchor, joint.armature);
                    }
                    JointKind::Free => {
                        pose = Isometry3::from_parts(Translation3::new(now[0], now[1], now[2]), turn(&now[3..]));
                        for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
                            own.add(link, axis, Vector3::zeros(), Point3::origin(), joint.armature);
                        }
                        own.add_rotations(link, &pose, pose.translation.vector.into(), joint.armature);
                    }
                    JointKind::Planar => panic!("no planar joints in MJCF"),
                }
            }
            own.poses.push(pose);
        }
        own
    }

    fn add(&mut self, link: usize, linear: Vector3<f64>, angular: Vector3<f64>, point: Point3<f64>, armature: f64) {
        self.directions.push(Direction { link, linear, angular, point, armature });
    }

    fn add_rotations(&mut self, link: usize, pose: &Isometry3<f64>, point: Point3<f64>, armature: f64) {
        for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
            self.add(link, Vector3::zeros(), pose.rotation * axis, point, armature);
        }
    }

    /// `M = Σ m J_vᵀ J_v + J_ωᵀ I J_ω` over the links, and the armature.
    fn mass_matrix(&self, robot: &Robot) -> DMatrix<f64> {
        let n = self.directions.len();
        let mut m =
            DMatrix::from_diagonal(&nalgebra::DVector::from_iterator(n, self.directions.iter().map(|d| d.armature)));
        for (index, (link, pose)) in robot.links.iter().zip(&self.poses).enumerate() {
            let Some(inertial) = link.inertial else { continue };
            let above: Vec<usize> =
                std::iter::successors(Some(index), |&k| robot.links[k].parent.map(|LinkId(parent)| parent)).collect();
            let centre = pose * inertial.centre;
            let r: Matrix3<f64> = *pose.rotation.to_rotation_matrix().matrix();
            let inertia = r * inertial.inertia * r.transpose();
            let moving = |d: &&Direction| above.contains(&d.link);
            let velocity = |d: &Direction| d.linear + d.angular.cross(&(centre - d.point));
            for (i, a) in self.directions.iter().enumerate().filter(|(_, d)| moving(d)) {
                for (j, b) in self.directions.iter().enumerate().filter(|(_, d)| moving(d)) {
                    m[(i, j)] += inertial.mass * velocity(a).dot(&velocity(b)) + a.angular.dot(&(inertia * b.angular));
                }
            }
        }
        m
    }

    fn potential(&self, robot: &Robot, gravity: &Vector3<f64>) -> f64 {
        let height = |(link, pose): (&stiction_scene::robot::Link, &Isometry3<f64>)| {
            link.inertial.map_or(0.0, |own| -own.mass * gravity.dot(&(pose * own.centre).coords))
        };
        robot.links.iter().zip(&self.poses).map(height).sum()
    }
}
