//! Robots as scenes: nothing is lost in the conversion, coordinates are those of the file, and the text is read back.

use stiction_multibody::{Body, Configuration, Joint, Model, energy, may_collide};
use stiction_scene::{
    parse,
    robot::{JointKind, ReadOptions, Robot, SceneOptions},
};

use crate::{ARM_URDF, CRAWLER_MJCF};

/// Relative tolerance.
const ACCURACY: f64 = 1e-12;

fn robot(text: &str) -> Robot {
    Robot::parse(text, "robot.xml", &ReadOptions::default()).expect("a robot")
}

fn text_of(robot: &Robot, keyframe: Option<&str>) -> String {
    let options = SceneOptions { keyframe: keyframe.map(str::to_owned), ..SceneOptions::default() };
    robot.to_scene("robot.xml", &options).expect("a scene").text
}

fn model_of(text: &str) -> std::sync::Arc<Model> {
    parse(text, "robot.toml").unwrap_or_else(|error| panic!("{error}")).model
}

fn at_start(model: &Model) -> Configuration {
    let state = model.initial_state();
    let mut at = Configuration::default();
    at.update(model, &state.q, &state.v, 0.0);
    at
}

fn body<'m>(model: &'m Model, name: &str) -> &'m Body {
    model.bodies().iter().find(|body| body.name == name).unwrap_or_else(|| panic!("no body {name}"))
}

fn joint<'m>(model: &'m Model, name: &str) -> &'m Joint {
    model.joints().iter().find(|joint| joint.name == name).unwrap_or_else(|| panic!("no joint {name}"))
}

/// Mass, energies, coordinates and speeds of the scene against those of the tree, which is built from the file
/// independently.
#[track_caller]
pub(crate) fn same_mechanics(robot: &Robot, q: &[f64], v: &[f64], model: &Model) {
    let tree = robot.tree().expect("a tree");
    let still = vec![0.0; v.len()];
    let of_tree = tree.dynamics(robot, q, v, &still).expect("dynamics").energy;
    // A free body has no rotors in a scene, and a tree has no springs.
    let (mut rotors, mut springs, mut places) = (0.0, 0.0, (0, 0));
    for (_, own) in robot.joints() {
        let speeds = &v[places.1..places.1 + own.kind.dof()];
        if own.kind == JointKind::Free {
            rotors += 0.5 * own.armature * speeds.iter().map(|v| v * v).sum::<f64>();
        } else if own.kind.dof() == 1 {
            springs += 0.5 * own.stiffness * (q[places.0] - own.spring_reference).powi(2);
        }
        places = (places.0 + own.kind.coordinates(), places.1 + own.kind.dof());
    }
    let at = at_start(model);
    let of_scene = energy(model, &at, &[]);
    let close = |a: f64, b: f64| (a - b).abs() <= ACCURACY * (1.0 + a.abs().max(b.abs()));
    assert!(close(of_scene.kinetic, of_tree.kinetic - rotors), "{} {}", of_scene.kinetic, of_tree.kinetic - rotors);
    // Fixed links have a weight in the tree, but no body with mass in the scene.
    let gravity = model.gravity();
    let standing = robot.links.iter().enumerate().filter(|(index, _)| fixed(robot, *index));
    let kinematics = tree.at(q, v).expect("a state");
    let standing: f64 = standing
        .filter_map(|(index, link)| {
            let own = link.inertial?;
            let pose = tree.pose(&kinematics, stiction_scene::robot::LinkId(index));
            Some(-own.mass * gravity.dot(&(pose * own.centre).coords))
        })
        .sum();
    let expected = of_tree.potential - standing + springs;
    assert!(close(of_scene.potential, expected), "{} {expected}", of_scene.potential);
    let (mut next_q, mut next_v) = (0, 0);
    for (_, own) in robot.joints() {
        if own.kind.dof() == 1 {
            let joint = joint(model, &own.name);
            let row = joint.coordinate(0, &at).expect("a joint DOF");
            let speed = row.a.power(&at.twist(joint.a.0)) + row.b.power(&at.twist(joint.b.0));
            assert!(close(row.value, q[next_q]), "{}: {} {}", own.name, row.value, q[next_q]);
            assert!(close(speed, v[next_v]), "{}: {speed} {}", own.name, v[next_v]);
        }
        next_q += own.kind.coordinates();
        next_v += own.kind.dof();
    }
    for joint in model.joints() {
        let error = joint.evaluate(&at).fold(0.0, |worst: f64, row| worst.max(row.value.abs()));
        let moving = joint.evaluate(&at).fold(0.0, |worst: f64, row| {
            worst.max((row.a.power(&at.twist(joint.a.0)) + row.b.power(&at.twist(joint.b.0))).abs())
        });
        let of_file = robot.joint(&joint.name).is_some();
        assert!(!of_file || error <= ACCURACY * 10.0, "{}: open by {error:e}", joint.name);
        assert!(!of_file || moving <= ACCURACY * 100.0, "{}: opens with {moving:e}", joint.name);
    }
}

fn fixed(robot: &Robot, index: usize) -> bool {
    let mut links = std::iter::successors(Some(index), |&link| robot.links[link].parent.map(|parent| parent.0));
    links.all(|link| robot.links[link].joints.is_empty())
}

/// The crawler with a keyframe of arbitrary numbers.
fn moving_crawler() -> (Robot, Vec<f64>, Vec<f64>) {
    let q = [0.1, -0.2, 0.5, 0.5, -0.5, 0.5, 0.5, 0.3, -0.4, 0.7];
    let v = [0.3, -0.1, 0.2, 1.0, -2.0, 0.5, 0.4, -0.6, 0.8];
    let list = |numbers: &[f64]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let key = format!("<key name=\"moving\" qpos=\"{}\" qvel=\"{}\" ctrl=\"0.25 -0.5 0.1\"/>", list(&q), list(&v));
    let text = CRAWLER_MJCF.replace("</keyframe>", &format!("{key}</keyframe>"));
    (robot(&text), q.to_vec(), v.to_vec())
}

#[test]
fn a_scene_has_the_mechanics_of_its_robot() {
    let (crawler, q, v) = moving_crawler();
    let start = crawler.tree().expect("a tree").initial().to_vec();
    same_mechanics(&crawler, &start, &[0.0; 9], &model_of(&text_of(&crawler, None)));
    let model = model_of(&text_of(&crawler, Some("moving")));
    same_mechanics(&crawler, &q, &v, &model);
    let controls: Vec<_> = model.motors().iter().map(|motor| motor.control.value(0.0)).collect();
    assert_eq!(controls, [0.25, -0.5]);
    let arm = robot(ARM_URDF);
    same_mechanics(&arm, &[0.0; 4], &[0.0; 4], &model_of(&text_of(&arm, None)));
}

#[test]
fn frames_stand_between_joints_and_keep_their_neighbours_apart() {
    let model = model_of(&text_of(&robot(CRAWLER_MJCF), None));
    let frame = model.massless_body().expect("a frame");
    assert_eq!(frame.name, "left leg behind left hip");
    let id = |name: &str| model.find_body(name).expect("a body");
    assert!(!may_collide(&model, id("trunk"), id("left leg")), "parent and child, through a frame");
    assert!(!may_collide(&model, id("trunk"), id("right leg")), "parent and child");
    assert!(!may_collide(&model, id("left leg"), id("right leg")), "an exclude");
    assert!(may_collide(&model, id("trunk"), id("ground")), "joined to the world only by a loop");
    assert!(may_collide(&model, id("left leg"), id("ground")));
}

#[test]
fn drives_and_couplings_are_those_of_the_file() {
    let model = model_of(&text_of(&robot(CRAWLER_MJCF), None));
    let [motor, servo] = model.motors() else { panic!("two motors") };
    assert_eq!((motor.gear, motor.gain, motor.control_limits), (50.0, 1.0, Some([-1.0, 1.0])));
    assert_eq!((servo.gain, servo.bias, servo.force_limits), (20.0, [0.0, -20.0, -1.0], Some([-5.0, 5.0])));
    let [coupling] = model.couplings() else { panic!("a coupling") };
    // left − 0.1 = −right: coordinates of the file, from the references.
    assert_eq!(coupling.polynomial, [0.1, -1.0, 0.0, 0.0, 0.0]);
    let hip = joint(&model, "left hip").joint_dofs()[0];
    assert_eq!((hip.initial, hip.rest, hip.stiffness, hip.limits), (0.1, 0.2, 3.0, Some([-1.0, 1.0])));
    let arm = model_of(&text_of(&robot(ARM_URDF), None));
    assert_eq!(arm.couplings()[0].polynomial, [0.001, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(joint(&arm, "shoulder").joint_dofs()[0].friction, 0.2);
}

#[test]
fn fixed_links_become_part_of_what_they_are_fixed_on() {
    let text = "<mujoco><worldbody>
        <body name=\"post\" pos=\"1 0 0\"><geom size=\"0.1\"/></body>
        <body name=\"arm\" pos=\"0 0 1\"><joint name=\"hinge\" axis=\"0 1 0\"/><geom size=\"0.1\" mass=\"1\"/>
          <body name=\"tool\" pos=\"0.5 0 0\" euler=\"0 0 90\"><geom type=\"box\" size=\"0.1 0.2 0.3\" mass=\"2\" contype=\"0\" conaffinity=\"0\"/>
            <body name=\"finger\" pos=\"0.1 0 0\"><joint name=\"pinch\" type=\"slide\"/><geom size=\"0.05\" mass=\"0.5\"/></body>
          </body>
        </body></worldbody></mujoco>";
    let robot = robot(text);
    let model = model_of(&text_of(&robot, None));
    same_mechanics(&robot, &[0.0; 2], &[0.0; 2], &model);
    assert_eq!(body(&model, "arm").mass(), Some(3.0));
    assert!(model.find_body("tool").is_none(), "part of the arm");
    let filters: Vec<_> = body(&model, "arm").shapes.iter().map(|shape| shape.filter).collect();
    assert_eq!(
        (filters[0].groups, filters[1].groups, filters[1].meets),
        (1, 0, 0),
        "a shape for looks touches nothing"
    );
    let id = |name: &str| model.find_body(name).expect("a body");
    assert!(!may_collide(&model, id("arm"), id("finger")), "the parent is part of the arm");
    assert!(may_collide(&model, id("arm"), id("post")), "what moves touches what stands");
}

#[test]
fn links_of_a_urdf_meet_others_but_not_each_other() {
    let arm = robot(ARM_URDF);
    let stone = "[[body]]\nname = \"stone\"\ndensity = 1000.0\nposition = [0.0, 0.0, 5.0]\n[[body.shape]]\nsphere = { radius = 0.1 }\n";
    let touch = |options: &SceneOptions, a: &str, b: &str| {
        let text = arm.to_scene("x", options).expect("a scene").text + "\n" + stone;
        let model = model_of(&text);
        let id = |name: &str| model.find_body(name).expect("a body");
        let filter = |name: &str| body(&model, name).shapes[0].filter;
        may_collide(&model, id(a), id(b)) && filter(a).meets(&filter(b))
    };
    let usual = SceneOptions::default();
    assert!(!touch(&usual, "upper", "left") && touch(&usual, "upper", "stone"));
    let all = SceneOptions { self_collision: true, ..SceneOptions::default() };
    assert!(touch(&all, "upper", "left") && touch(&all, "upper", "stone"));
    assert!(!touch(&all, "base", "upper"), "joined");
}

#[test]
fn friction_is_the_greater_of_two_and_turns_where_the_file_says() {
    let text = |condim: &str| {
        format!(
            "<mujoco><worldbody><geom name=\"floor\" type=\"plane\" size=\"0 0 1\" friction=\"0.4 0.02 0.001\"/>
            <body name=\"slick\"><freejoint/><geom size=\"0.1\" friction=\"0.1\" condim=\"1\"/></body>
            <body name=\"sleek\"><freejoint/><geom size=\"0.1\" friction=\"0.1\" condim=\"1\"/></body>
            <body name=\"rough\"><freejoint/><geom size=\"0.1\" friction=\"0.8\" condim=\"{condim}\"/></body>
            <body name=\"raw\"><freejoint/><geom size=\"0.1\" friction=\"0.8\" condim=\"{condim}\"/></body>
            </worldbody></mujoco>"
        )
    };
    let model = model_of(&text_of(&robot(&text("3")), None));
    let rule = |a: &str, b: &str| model.contact_rule(model.find_body(a).expect("a"), model.find_body(b).expect("b"));
    assert_eq!(rule("slick", "ground").friction, 0.4);
    assert_eq!(rule("rough", "ground").friction, 0.8);
    assert_eq!(rule("slick", "sleek").friction, 0.0, "both are without friction");
    assert_eq!(rule("rough", "ground").torsion, 0.0);
    for (condim, rolling) in [("4", 0.0), ("6", 0.001)] {
        let made = robot(&text(condim)).to_scene("x", &SceneOptions::default()).expect("a scene");
        assert!(!made.notes.iter().any(|note| note.contains("rolling friction")), "{:?}", made.notes);
        let model = model_of(&made.text);
        let rule =
            |a: &str, b: &str| model.contact_rule(model.find_body(a).expect("a"), model.find_body(b).expect("b"));
        assert_eq!(rule("rough", "ground").torsion, 0.02 / 0.8);
        assert_eq!(rule("rough", "ground").rolling, rolling);
        assert_eq!(rule("slick", "sleek").rolling, 0.0, "both are without friction");
    }
}

#[test]
fn what_is_written_is_read_back_and_written_alike() {
    for robot in [moving_crawler().0, robot(ARM_URDF)] {
        let text = text_of(&robot, None);
        let folder = std::env::temp_dir().join(format!("stiction-convert-{}-{}", robot.name, std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).expect("a file");
            path
        };
        let again = stiction_scene::rewrite(write("a.toml", &text), &[]).expect("a scene");
        let third = stiction_scene::rewrite(write("b.toml", &again), &[]).expect("a scene");
        assert_eq!(again, third);
        // Comments aside, the text itself holds the same tables.
        let tables = |text: &str| toml::from_str::<toml::Value>(text).expect("TOML");
        assert_eq!(tables(&text), tables(&again));
        let [first, second] = [&text, &again].map(|text| format!("{:?}", model_of(text)));
        assert_eq!(first, second);
        std::fs::remove_dir_all(folder).expect("the folder");
    }
}

#[test]
fn what_has_no_effect_is_listed_on_top() {
    let made = robot(CRAWLER_MJCF).to_scene("x", &SceneOptions::default()).expect("a scene");
    assert_eq!(made.notes.len(), 1);
    assert!(made.text.contains("#   robot.xml:38:6: <muscle>: is not supported\n"), "{}", made.text);
    let made = robot(ARM_URDF).to_scene("x", &SceneOptions::default()).expect("a scene");
    for word in ["<transmission>", "<limit> effort", "arm/fore.stl: the mesh is left out"] {
        assert!(made.notes.iter().any(|note| note.contains(word)), "{word}: {:?}", made.notes);
    }
}

#[test]
fn keyframes_are_found_by_name_or_number() {
    let robot = moving_crawler().0;
    assert_eq!(text_of(&robot, Some("1")), text_of(&robot, Some("moving")));
    let options = SceneOptions { keyframe: Some("sit".to_owned()), ..SceneOptions::default() };
    let error = robot.to_scene("robot.xml", &options).expect_err("no such keyframe");
    assert_eq!(error.to_string(), "robot.xml: has no keyframe \"sit\": there are stand, moving");
}

#[test]
fn loops_that_are_open_at_the_start_keep_their_two_points() {
    let text = "<mujoco><worldbody>
        <body name=\"a\"><joint name=\"left\" axis=\"0 1 0\"/><geom fromto=\"0 0 0 1 0 0\" type=\"capsule\" size=\"0.1\"/><site name=\"tip\" pos=\"1 0 0\"/></body>
        <body name=\"b\" pos=\"3 0 0\"><joint name=\"right\" axis=\"0 1 0\"/><geom fromto=\"0 0 0 -1 0 0\" type=\"capsule\" size=\"0.1\"/><site name=\"top\" pos=\"-1 0 0\"/></body>
        </worldbody><equality><connect name=\"pin\" site1=\"tip\" site2=\"top\"/></equality></mujoco>";
    let model = model_of(&text_of(&robot(text), None));
    let pin = joint(&model, "pin");
    let open: f64 = pin.evaluate(&at_start(&model)).map(|row| row.value * row.value).sum();
    assert!((open.sqrt() - 1.0).abs() < ACCURACY, "{open}");
    assert!(may_collide(&model, pin.a.0, pin.b.0), "bodies of a loop touch each other");
}

#[test]
fn every_kind_of_joint_has_its_counterpart() {
    let text = "<robot name=\"r\"><link name=\"base\"/>
        <link name=\"puck\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>
        <link name=\"bird\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>
        <joint name=\"glide\" type=\"planar\"><origin xyz=\"0 0 1\"/><parent link=\"base\"/><child link=\"puck\"/><axis xyz=\"0 1 0\"/>
          <dynamics damping=\"0.5\"/></joint>
        <joint name=\"fly\" type=\"floating\"><origin xyz=\"0 2 1\"/><parent link=\"puck\"/><child link=\"bird\"/></joint></robot>";
    let robot = robot(text);
    let kinds: Vec<_> = robot.joints().map(|(_, joint)| joint.kind).collect();
    assert_eq!(kinds, [JointKind::Planar, JointKind::Free]);
    let model = model_of(&text_of(&robot, None));
    let glide = joint(&model, "glide");
    assert!(glide.joint_dofs().iter().all(|joint_dof| joint_dof.damping == 0.5));
    assert_eq!((model.joints().len(), body(&model, "bird").position.z), (1, 2.0));
    let initial = robot.tree().expect("a tree").initial().to_vec();
    same_mechanics(&robot, &initial, &[0.0; 9], &model);
}

#[test]
fn dry_friction_of_a_ball_joint_is_noted_and_left_out() {
    let text = r#"<mujoco><worldbody><body name="bob" pos="0 0 1"><joint name="shoulder" type="ball" frictionloss="0.5"/>
        <geom type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>"#;
    let scene = robot(text).to_scene("bob.xml", &SceneOptions::default()).expect("a scene");
    assert!(scene.notes.iter().any(|note| note.contains("shoulder") && note.contains("friction")), "{:?}", scene.notes);
    let model = model_of(&scene.text);
    assert!(joint(&model, "shoulder").joint_dofs().iter().all(|joint_dof| joint_dof.friction == 0.0));
}
