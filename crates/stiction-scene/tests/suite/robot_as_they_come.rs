//! Robots as exporters leave them: inertias that are zero, packages in other places, marks at both ends of a file, actuators that are not read.

use std::{fs, path::PathBuf};

use nalgebra::Matrix3;
use stiction_multibody::BodyKind;
use stiction_scene::{
    SceneError, parse,
    robot::{Base, Form, JointKind, ReadOptions, Robot, SceneOptions},
};

fn read(text: &str) -> Result<Robot, SceneError> {
    Robot::parse(text, "robot.urdf", &ReadOptions::default())
}

/// A base of 1 kg with a point of `mass` without inertia, 0.1 m above and joined by a joint of the given type.
fn with_point(kind: &str, mass: &str, collision: &str) -> String {
    format!(
        "<robot name=\"r\"><link name=\"base\"><inertial><mass value=\"1\"/>\
        <inertia ixx=\"0.02\" ixy=\"0\" ixz=\"0\" iyy=\"0.02\" iyz=\"0\" izz=\"0.01\"/></inertial></link>\n\
        <link name=\"tool\">{collision}<inertial><mass value=\"{mass}\"/>\n\
        <inertia ixx=\"0\" ixy=\"0\" ixz=\"0\" iyy=\"0\" iyz=\"0\" izz=\"0\"/></inertial></link>\n\
        <joint name=\"j\" type=\"{kind}\"><parent link=\"base\"/><child link=\"tool\"/><origin xyz=\"0 0 0.1\"/></joint></robot>"
    )
}

#[test]
fn a_point_that_is_fixed_to_a_link_is_part_of_it() {
    let options = ReadOptions { base: Base::Free, ..ReadOptions::default() };
    let robot = Robot::parse(&with_point("fixed", "1", ""), "robot.urdf", &options).expect("a robot");
    assert!(robot.unsupported.is_empty(), "{:?}", robot.unsupported);
    let scene = robot.to_scene("robot.urdf", &SceneOptions::default()).expect("a scene");
    let model = parse(&scene.text, "robot.toml").expect("a scene").model;
    let whole = model.bodies().iter().find(|body| body.name == "base").expect("one body");
    // Two kilograms, their common centre 0.05 m from each.
    let inertia = Matrix3::from_diagonal(&[0.025, 0.025, 0.01].into());
    let BodyKind::Dynamic { mass, inertia: own, .. } = &whole.kind else { panic!("a dynamic body") };
    assert!((mass - 2.0).abs() < 1e-15 && (own - inertia).norm() < 1e-15, "{mass} {own}");
}

#[test]
fn a_point_that_moves_has_the_inertia_of_its_shapes() {
    let noted = |robot: &Robot| {
        let found = robot.unsupported.iter().find(|note| note.reason.contains("estimated"));
        found.map(|note| (note.line, note.what.clone()))
    };
    let inertia = |robot: &Robot| robot.links[2].inertial.expect("mass").inertia;
    let shape = "<collision><geometry><sphere radius=\"0.1\"/></geometry></collision>";
    let robot = read(&with_point("continuous", "2", shape)).expect("a robot");
    assert_eq!(noted(&robot), Some((3, "inertia of link \"tool\"".to_owned())));
    assert!((inertia(&robot) - Matrix3::identity() * (0.4 * 2.0 * 0.01)).norm() < 1e-17);
    // Without shapes it is a ball of water: 4.1888 kg fill a ball of 0.1 m.
    let robot = read(&with_point("continuous", "4.1887902047863905", "")).expect("a robot");
    assert!((inertia(&robot) - Matrix3::identity() * (0.4 * 4.188_790_204_786_39 * 0.01)).norm() < 1e-15);
    assert!(noted(&robot).is_some());
}

#[test]
fn impossible_inertias_count_only_in_the_sum() {
    let wrong = "<inertia ixx=\"0\" ixy=\"0\" ixz=\"0\" iyy=\"0\" iyz=\"0\" izz=\"0\"/>";
    let worse = "<inertia ixx=\"0.001\" ixy=\"0\" ixz=\"0\" iyy=\"0.001\" iyz=\"0\" izz=\"0.003\"/>";
    let options = ReadOptions { base: Base::Free, ..ReadOptions::default() };
    let fixed = with_point("fixed", "1", "").replace(wrong, worse);
    assert!(Robot::parse(&fixed, "robot.urdf", &options).is_ok());
    let error = read(&with_point("continuous", "1", "").replace(wrong, worse)).expect_err("no body has it");
    assert!(error.line == 3 && error.message.contains("no body has one greater"), "{error}");
    // What stands still needs no inertia.
    assert!(read(&fixed.replace("0.02", "-1")).is_ok());
}

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn packages_are_found_above_the_file() {
    let folder = Folder(std::env::temp_dir().join(format!("stiction-packages-{}", std::process::id())));
    let own = folder.0.join("all/arm/urdf");
    fs::create_dir_all(&own).expect("folders");
    fs::create_dir_all(folder.0.join("all/arm/meshes")).expect("folders");
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    fs::write(folder.0.join("all/arm/meshes/a.obj"), triangle).expect("a mesh");
    let options = ReadOptions { asset_root: Some(folder.0.clone()), ..ReadOptions::default() };
    let scene = |reference: &str| {
        let text = format!(
            "\u{feff}<robot name=\"r\"><link name=\"a\"><collision><geometry><mesh filename=\"{reference}\"/></geometry>\
            </collision></link></robot>\n\0"
        );
        fs::write(own.join("arm.urdf"), text).expect("a robot");
        let robot = Robot::load(own.join("arm.urdf"), &options).expect("a robot");
        robot.to_scene("arm.urdf", &SceneOptions::default())
    };
    for reference in [
        "package://all/arm/meshes/a.obj",
        "package:///all/arm/meshes/a.obj",
        "package://arm/meshes/a.obj",
        "package://meshes/a.obj",
        "../meshes/a.obj",
    ] {
        let made = scene(reference).unwrap_or_else(|error| panic!("{reference}: {error}"));
        assert!(made.text.contains("hull = "), "{reference}");
    }
    let error = scene("package://arm/meshes/b.obj").expect_err("no such mesh").to_string();
    assert!(error.contains("cannot be found at") && error.contains("arm/meshes/b.obj"), "{error}");
}

#[test]
fn controls_of_a_keyframe_are_those_of_the_actuators_that_are_read() {
    let text = "<mujoco><worldbody><body><joint name=\"a\"/><geom size=\"1\"/><body><joint name=\"b\"/><geom size=\"1\"/></body></body>\
        </worldbody><actuator><muscle joint=\"a\"/><motor joint=\"a\"/><motor joint=\"b\"/></actuator>\n\
        <keyframe><key ctrl=\"0.1 0.2 0.3\"/></keyframe></mujoco>";
    let robot = read(text).expect("a robot");
    assert_eq!(robot.keyframes[0].controls.as_deref(), Some(&[0.2, 0.3][..]));
    assert!(robot.unsupported.iter().any(|note| note.what == "key ctrl" && note.line == 2), "{:?}", robot.unsupported);
    let error = read(&text.replace("0.1 0.2", "0.2")).expect_err("one control is missing");
    assert!(error.message.contains("needs 3 numbers"), "{error}");
}

#[test]
fn joints_of_a_urdf_that_move_no_mass_are_fixed() {
    let text = with_point("continuous", "0", "").replace(
        "</robot>",
        "<link name=\"tip\"/><joint name=\"k\" type=\"continuous\">\
        <parent link=\"base\"/><child link=\"tip\"/><mimic joint=\"j\"/></joint></robot>",
    );
    let robot = read(&text).expect("a robot");
    assert_eq!((robot.dof(), robot.constraints.len()), (0, 0));
    let fixed: Vec<_> = robot.unsupported.iter().filter(|note| note.reason.contains("is fixed")).collect();
    assert_eq!(fixed.len(), 2, "{:?}", robot.unsupported);
}

#[test]
fn words_of_other_programs_are_read_or_listed() {
    let with = |joint: &str, more: &str| {
        let text = with_point("revolute", "1", "<collision><geometry><cdf filename=\"x\"/></geometry></collision>");
        let robot = read(&text.replace("\"revolute\">", &format!("\"{joint}\">{more}"))).expect("a robot");
        (robot.links[2].joints[0].clone(), robot.unsupported.iter().map(|note| note.what.clone()).collect::<Vec<_>>())
    };
    let (joint, notes) = with("spherical", "");
    assert_eq!(joint.kind, JointKind::Ball);
    assert!(notes.contains(&"<cdf>".to_owned()), "{notes:?}");
    let (joint, notes) = with("revolute", "<limit lower=\"1\" upper=\"-1\"/><mimic joint=\"nobody\"/>");
    assert_eq!(joint.limits, None);
    assert!(
        notes.iter().any(|note| note.contains("above")) && notes.iter().any(|note| note.contains("nobody")),
        "{notes:?}"
    );
}

#[test]
fn a_scale_of_four_numbers_is_that_of_the_first_three() {
    let text = |scale: &str| {
        format!(
            "<robot name=\"r\"><link name=\"a\"><collision><geometry><mesh filename=\"a.stl\" scale=\"{scale}\"/></geometry></collision></link></robot>"
        )
    };
    let robot = read(&text("1 2 3 4")).expect("a robot");
    assert_eq!(robot.links[1].shapes[0].form, Form::Mesh("a.stl".to_owned(), [1.0, 2.0, 3.0].into()));
    assert!(robot.unsupported.iter().any(|note| note.what == "mesh scale"), "{:?}", robot.unsupported);
    assert!(read(&text("1 2")).expect_err("two numbers").message.contains("needs 3 numbers"));
}

#[test]
fn a_default_namespace_and_a_late_declaration_are_read() {
    let folder = Folder(std::env::temp_dir().join(format!("stiction-declaration-{}", std::process::id())));
    fs::create_dir_all(&folder.0).expect("a folder");
    let path = folder.0.join("a.urdf");
    let text = "\n<?xml version=\"1.0\"?>\n<robot name=\"r\" xmlns=\"http://x.org\" xmlns:o=\"http://y.org\"><link name=\"a\"/>\n <o:link name=\"b\"/></robot>";
    fs::write(&path, text).expect("a file");
    let robot = Robot::load(&path, &ReadOptions::default()).expect("a robot");
    assert_eq!((robot.links.len(), robot.unsupported.len(), robot.unsupported[0].line), (2, 1, 4));
}

#[test]
fn mocap_bodies_are_kinematic_and_welds_hold_on_to_them() {
    let text = "<mujoco><worldbody><body name=\"target\" mocap=\"true\" pos=\"0.5 0.1 0.2\"><geom size=\"0.1\"/>\
        <body name=\"knob\" pos=\"0 0 0.1\"><geom size=\"0.02\"/><site name=\"top\"/></body></body>\
        <body name=\"hand\" pos=\"0.5 0.1 0.5\"><freejoint/><geom size=\"0.05\"/></body></worldbody>\
        <equality><weld body1=\"target\" body2=\"hand\"/></equality></mujoco>";
    let robot = read(text).expect("a robot");
    assert!(robot.unsupported.is_empty(), "{:?}", robot.unsupported);
    let scene = robot.to_scene("robot.xml", &SceneOptions::default()).expect("a scene");
    let model = parse(&scene.text, "robot.toml").expect("a scene").model;
    let place = model.bodies().iter().position(|body| body.name == "target").expect("the target");
    let target = &model.bodies()[place];
    assert!(matches!(target.kind, BodyKind::Kinematic(_)) && target.position.as_slice() == [0.5, 0.1, 0.2]);
    let weld = model.joints().iter().find(|joint| joint.name == "loop 0").expect("the weld");
    assert!([weld.a.0, weld.b.0].iter().any(|body| body.index() == place));
    assert!(model.bodies().iter().all(|body| body.name != "knob"), "it is part of the target");
    for (wrong, words) in [
        (text.replace("<geom size=\"0.1\"/>", "<joint/>"), "cannot have joints"),
        (text.replace("name=\"knob\"", "name=\"knob\" mocap=\"true\""), "directly in the world"),
    ] {
        assert!(read(&wrong).expect_err(words).message.contains(words));
    }
}

/// A pendulum with an actuator on a tendon, in gravity that it balances by half.
const PENDULUM: &str = "<mujoco><option><flag/></option><worldbody><geom type=\"plane\"/>\
    <body name=\"a\" gravcomp=\"0.5\"><joint name=\"a\" range=\"-9 9\" frictionloss=\"0.1\" actuatorfrcrange=\"-6 3\"/>\
    <geom size=\"0.1\" mass=\"2\"/></body></worldbody><tendon><fixed name=\"t\"><joint joint=\"a\" coef=\"-3\"/></fixed></tendon>\
    <equality><joint joint1=\"a\" active=\"false\"/></equality>\
    <actuator><position tendon=\"t\" kp=\"4\" forcerange=\"-5 1.5\"/></actuator></mujoco>";

#[test]
fn actuators_on_tendons_and_balanced_weights_are_read() {
    let robot = read(PENDULUM).expect("a robot");
    assert!(robot.unsupported.is_empty(), "{:?}", robot.unsupported);
    let actuator = &robot.actuators[0];
    assert_eq!(actuator.gear[0], -3.0);
    // From -6 to 3 at the joint is from -1 to 2 before the gear of -3.
    assert_eq!(actuator.force_limits, Some([-1.0, 1.5]));
    let scene = robot.to_scene("robot.xml", &SceneOptions::default()).expect("a scene");
    let load = scene.text.split("[[load]]").nth(1).expect("a load");
    assert!(load.contains("body = \"a\"") && load.contains("force = [0.0, 0.0, 9.81]"), "{load}");
    let two = PENDULUM.replace("</fixed>", "<joint joint=\"a\" coef=\"1\"/></fixed>");
    let notes: Vec<_> = read(&two).expect("a robot").unsupported.into_iter().map(|note| note.what).collect();
    assert_eq!(notes, ["<fixed> tendon", "<position> on a tendon"]);
}

#[test]
fn flags_switch_parts_off() {
    let with =
        |flag: &str| read(&PENDULUM.replace("<flag/>", &format!("<flag {flag}=\"disable\"/>"))).expect("a robot");
    let parts = |robot: &Robot| {
        let joint = &robot.links[1].joints[0];
        let touches = robot.links[0].shapes[0].contact_type != 0;
        let (limited, rough) = (joint.limits.is_some(), joint.friction > 0.0);
        [touches, limited, rough, !robot.constraints.is_empty(), !robot.actuators.is_empty()]
    };
    assert_eq!(parts(&read(PENDULUM).expect("a robot")), [true; 5]);
    for (number, flag) in ["contact", "limit", "frictionloss", "equality", "actuation"].into_iter().enumerate() {
        assert_eq!(parts(&with(flag)), std::array::from_fn(|k| k != number), "{flag}");
    }
    assert_eq!(parts(&with("constraint")), [false, false, false, false, true]);
    assert_eq!(with("gravity").gravity.map(|gravity| gravity.norm()), Some(0.0));
}
