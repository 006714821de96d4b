//! Joint coordinates and dynamics in them: against `MuJoCo`, closed forms, and each other.
//!
//! `joint_dynamics/NAME.json` holds the values of `MuJoCo` for `NAME.xml`; `scripts/joint_dynamics.py` writes it.

use std::path::Path;

use nalgebra::{DMatrix, Matrix3, Vector3};
use serde_json::Value;
use stiction::{
    BodyBuilder, BodyId, Coordinates, Dimension, JointKind, ModelBuilder, Preset, Simulation,
    scene::{self, RobotOptions, Scene},
};

/// Largest error as a fraction of the largest entry, for quantities that `MuJoCo` computes by other recursions.
const RELATIVE: f64 = 1e-9;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/joint_dynamics")
}

fn robot(name: &str, coordinates: Coordinates) -> Simulation {
    let read = scene::text_of(folder().join(name).with_extension("xml"), &RobotOptions::default()).unwrap();
    let scene: Scene = scene::parse(&read.text, name).unwrap();
    let mut scheme = scene.settings.scheme.clone();
    scheme.coordinates = coordinates;
    Simulation::new(scene.model, scheme, 0.001).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn matrix(value: &Value) -> DMatrix<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
    DMatrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

/// Numbers in the order of `names`, from those in the order of `given`.
fn ordered(names: &[String], given: &[String], values: &[f64]) -> Vec<f64> {
    names.iter().map(|name| values[given.iter().position(|other| other == name).unwrap()]).collect()
}

#[track_caller]
fn assert_close(what: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let largest = theirs.iter().fold(1e-3, |largest: f64, x| largest.max(x.abs()));
    let error = ours.iter().zip(theirs).fold(0.0, |error: f64, (x, y)| error.max((x - y).abs())) / largest;
    if std::env::var_os("STICTION_PRINT_ERRORS").is_some() {
        println!("{what}: {error:.1e}");
    }
    assert!(error < RELATIVE, "{what}: {error:e}\n{ours:?}\n{theirs:?}");
}

fn compare_with_mujoco(name: &str, coordinates: Coordinates) {
    let mut simulation = robot(name, coordinates);
    let text = std::fs::read_to_string(folder().join(name).with_extension("json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let model = std::sync::Arc::clone(simulation.model());
    let (q_names, v_names) = (simulation.qpos_names(), simulation.qvel_names());
    for state in file["states"].as_array().unwrap() {
        let given: Vec<String> =
            state["qvel_names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
        let order = |values: &[f64]| ordered(&v_names, &given, values);
        let columns = |values: &DMatrix<f64>| {
            let rows = values.row_iter().map(|row| order(&row.iter().copied().collect::<Vec<_>>()));
            rows.collect::<Vec<_>>()
        };
        let qpos: Vec<f64> = q_names.iter().map(|name| state["qpos"][name].as_f64().unwrap()).collect();
        let qvel = order(&numbers(&state["qvel"]));
        simulation.set_joint_coordinates(Some(&qpos), Some(&qvel)).unwrap();
        assert_close("qpos", &simulation.qpos(), &qpos);
        assert_close("qvel", &simulation.qvel(), &qvel);
        for (motor, control) in file["motors"].as_array().unwrap().iter().zip(numbers(&state["ctrl"])) {
            let place = model.motors().iter().position(|own| own.name == motor.as_str().unwrap()).unwrap();
            simulation.hold_control(place, control).unwrap();
        }

        let mass = columns(&matrix(&state["mass"]));
        let mass: Vec<Vec<f64>> =
            v_names.iter().map(|name| mass[given.iter().position(|other| other == name).unwrap()].clone()).collect();
        let ours = simulation.mass_matrix();
        assert_close("mass", &ours.transpose().iter().copied().collect::<Vec<_>>(), &mass.concat());
        assert_close("bias", &simulation.bias(), &order(&numbers(&state["bias"])));
        assert_close("passive", &simulation.passive_force(), &order(&numbers(&state["passive"])));
        assert_close("actuator", &simulation.actuator_force(), &order(&numbers(&state["actuator"])));
        let acceleration = order(&numbers(&state["acceleration"]));
        let inverse = simulation.inverse_dynamics(&acceleration).unwrap();
        assert_close("inverse dynamics", &inverse, &order(&numbers(&state["inverse"])));
        assert_close("forward dynamics", &simulation.forward_dynamics(&inverse).unwrap(), &acceleration);

        for (site, values) in state["sites"].as_object().unwrap() {
            let id = model.find_site(site).unwrap();
            let (pose, twist) = (simulation.site_pose(id).unwrap(), simulation.site_twist(id).unwrap());
            assert_close(site, pose.translation.vector.as_slice(), &numbers(&values["position"]));
            assert_close(site, pose.rotation.matrix().transpose().as_slice(), &numbers(&values["rotation"]));
            let twist = [twist.linear.as_slice(), twist.angular.as_slice()].concat();
            assert_close(site, &twist, &numbers(&values["twist"]));
            let ours = simulation.site_jacobian(id).unwrap();
            let theirs = columns(&matrix(&values["jacobian"])).concat();
            assert_close(site, &ours.transpose().iter().copied().collect::<Vec<_>>(), &theirs);
            let moved = &ours * nalgebra::DVector::from_vec(simulation.qvel());
            assert_close(site, moved.as_slice(), &twist);
        }
        for (link, values) in state["frames"].as_object().unwrap() {
            let pose = match model.find_site(link) {
                Some(id) => simulation.site_pose(id).unwrap(),
                None => simulation.configuration().pose(model.find_body(link).unwrap()),
            };
            assert_close(link, pose.translation.vector.as_slice(), &numbers(&values[0]));
            assert_close(link, pose.rotation.matrix().transpose().as_slice(), &numbers(&values[1]));
        }
    }
}

#[test]
fn an_arm_has_the_dynamics_of_mujoco() {
    compare_with_mujoco("arm", Coordinates::Reduced);
    compare_with_mujoco("arm", Coordinates::Maximal);
}

#[test]
fn a_tree_on_a_free_base_has_the_dynamics_of_mujoco() {
    compare_with_mujoco("walker", Coordinates::Reduced);
}

/// Balanced weights, ranges of joint forces, a position servo on a tendon along one joint.
#[test]
fn a_lift_has_the_forces_of_mujoco() {
    compare_with_mujoco("lift", Coordinates::Reduced);
    compare_with_mujoco("lift", Coordinates::Maximal);
}

/// Two rods of length 1 m with centres at their middles, in the plane; angles are relative, from the hanging position.
fn double_pendulum(scheme: stiction::Scheme) -> Simulation {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).unwrap();
    let upper = builder.body(BodyBuilder::planar("upper", 2.0, 0.2).position(0.0, -0.5, 0.0)).unwrap();
    let lower = builder.body(BodyBuilder::planar("lower", 1.5, 0.1).position(0.0, -1.5, 0.0)).unwrap();
    let (kind, z) = (JointKind::Revolute, Vector3::z());
    builder.joint_at("shoulder", kind, (BodyId::WORLD, upper), Vector3::zeros(), z).unwrap();
    builder.joint_at("elbow", kind, (upper, lower), Vector3::new(0.0, -1.0, 0.0), z).unwrap();
    Simulation::new(builder.build().unwrap(), scheme, 0.001).unwrap()
}

#[test]
fn a_double_pendulum_has_its_closed_form() {
    let mut scheme = Preset::Ncp.scheme();
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced] {
        scheme.coordinates = coordinates;
        let mut pendulum = double_pendulum(scheme.clone());
        let (q, v): ([f64; 2], [f64; 2]) = ([0.7, -1.1], [1.3, -0.4]);
        pendulum.set_joint_coordinates(Some(&q), Some(&v)).unwrap();
        let (m1, m2, i1, i2, g) = (2.0, 1.5, 0.2, 0.1, 9.81);
        // Centres at r = 0.5 m, the elbow at l = 1 m.
        let (r, l): (f64, f64) = (0.5, 1.0);
        let coupled = m2 * l * r * q[1].cos();
        let m22 = i2 + m2 * r * r;
        let m11 = i1 + m1 * r * r + m2 * l * l + m22 + 2.0 * coupled;
        let expected = [m11, m22 + coupled, m22 + coupled, m22];
        assert_close("mass", pendulum.mass_matrix().as_slice(), &expected);
        let h = -m2 * l * r * q[1].sin();
        let lower = m2 * g * r * (q[0] + q[1]).sin();
        let bias = [
            h * (2.0 * v[0] * v[1] + v[1] * v[1]) + (m1 * r + m2 * l) * g * q[0].sin() + lower,
            -h * v[0] * v[0] + lower,
        ];
        assert_close("bias", &pendulum.bias(), &bias);
    }
}

#[test]
fn full_turns_and_the_other_joint_stay_where_one_is_set() {
    let mut scheme = Preset::Ncp.scheme();
    scheme.coordinates = Coordinates::Reduced;
    let mut pendulum = double_pendulum(scheme);
    pendulum.set_joint_coordinates(Some(&[0.4, -0.2]), Some(&[1.0, 2.0])).unwrap();
    let elbow = pendulum.model().find_joint("elbow").unwrap();
    pendulum.set_joint_position(elbow, &[7.0]).unwrap();
    pendulum.set_joint_velocity(elbow, &[-3.0]).unwrap();
    assert_close("qpos", &pendulum.qpos(), &[0.4, 7.0]);
    assert_close("qvel", &pendulum.qvel(), &[1.0, -3.0]);
    assert!(pendulum.infeasibility().unwrap().joints < 1e-14);
    let before = pendulum.state().clone();
    assert!(pendulum.set_joint_position(elbow, &[f64::NAN]).is_err());
    assert!(pendulum.set_joint_position(elbow, &[0.0, 0.0]).is_err());
    let error = pendulum.set_joint_effort(elbow, &[1.0]).unwrap_err();
    assert!(error.to_string().contains("has no motor"), "{error}");
    assert_eq!(pendulum.state(), &before);
}

/// In free motion, the change of the joint velocities over a short step is that of the forward dynamics.
#[test]
fn a_step_accelerates_as_the_forward_dynamics_say() {
    let mut simulation = robot("walker", Coordinates::Reduced);
    let v: Vec<f64> = (0..simulation.qvel().len()).map(|k| 0.3 * (k as f64 + 1.0).sin()).collect();
    simulation.set_joint_coordinates(None, Some(&v)).unwrap();
    let force: Vec<f64> =
        simulation.actuator_force().iter().zip(simulation.passive_force()).map(|(a, b)| a + b).collect();
    let expected = simulation.forward_dynamics(&force).unwrap();
    let h = 2e-6;
    let _ = simulation.step_with(h).unwrap();
    let made: Vec<f64> = simulation.qvel().iter().zip(&v).map(|(after, before)| (after - before) / h).collect();
    let largest = expected.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    for (made, expected) in made.iter().zip(&expected) {
        // First order in h, with rates of 1e3 / s² of springs against small inertias.
        assert!((made - expected).abs() < 2e-3 * largest, "{made} {expected}");
    }
}

#[test]
fn joints_of_loops_are_measured_and_not_set() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/four_bar.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let mut simulation = Simulation::from_scene(&scene::parse(&text, "four_bar").unwrap()).unwrap();
    let closing = simulation.model().forest().loops().to_vec();
    assert_eq!(closing.len(), 1);
    for _ in 0..20 {
        let _ = simulation.step().unwrap();
    }
    let before = simulation.state().clone();
    assert!(simulation.joint_position(closing[0]).is_some() && simulation.joint_velocity(closing[0]).is_some());
    let error = simulation.set_joint_position(closing[0], &[0.1]).unwrap_err();
    assert!(error.to_string().contains("closes a loop"), "{error}");
    assert_eq!(simulation.state(), &before);
}

#[test]
fn sites_of_a_scene_are_named_frames() {
    let text = "
        [simulation]
        duration = 1.0
        step = 0.01
        [[body]]
        name = 'rod'
        mass = 1.0
        inertia = 0.1
        position = [1.0, 0.0]
        angle = 1.5707963267948966
        angular_velocity = 2.0
        [[site]]
        name = 'tip'
        body = 'rod'
        position = [0.5, 0.0]
        angle = '90 deg'
        [[site]]
        name = 'home'
        body = 'world'
        position = [3.0, 4.0]
    ";
    let simulation = Simulation::from_scene(&scene::parse(text, "rod").unwrap()).unwrap();
    let [tip, home] = ["tip", "home"].map(|name| simulation.model().find_site(name).unwrap());
    let pose = simulation.site_pose(tip).unwrap();
    assert!((pose.translation.vector - Vector3::new(1.0, 0.5, 0.0)).amax() < 1e-15);
    assert!((pose.rotation.matrix() - Matrix3::from_diagonal(&Vector3::new(-1.0, -1.0, 1.0))).amax() < 1e-15);
    let twist = simulation.site_twist(tip).unwrap();
    assert!((twist.linear - Vector3::new(-1.0, 0.0, 0.0)).amax() < 1e-15 && twist.angular.z == 2.0);
    assert_eq!(simulation.site_jacobian(home).unwrap().amax(), 0.0);
    assert_eq!(simulation.site_pose(home).unwrap().translation.vector, Vector3::new(3.0, 4.0, 0.0));
    let twice = text.replace("'home'", "'tip'");
    let error = scene::parse(&twice, "rod.toml").unwrap_err();
    assert!(error.to_string().contains("must be unique"), "{error}");
    let lost = text.replace("'world'", "'wall'");
    assert!(scene::parse(&lost, "rod.toml").unwrap_err().to_string().contains("no body \"wall\""));
}
