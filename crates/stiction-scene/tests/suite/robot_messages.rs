//! Contents of robot files, and messages about their mistakes.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};
use stiction_scene::{
    SceneError,
    robot::{ActuatorLaw, Base, ConstraintKind, Form, JointKind, LinkId, ReadOptions, Robot},
};

use crate::{ARM_URDF, CRAWLER_MJCF};

fn read(text: &str) -> Result<Robot, SceneError> {
    Robot::parse(text, "robot.xml", &ReadOptions::default())
}

#[test]
fn an_arm_is_read_whole() {
    let robot = read(ARM_URDF).expect("a robot");
    let names: Vec<_> = robot.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["world", "base", "upper", "fore", "left", "right"]);
    assert!((robot.mass() - 3.2).abs() < 1e-12);
    let upper = &robot.links[2];
    assert_eq!(upper.parent, Some(LinkId(1)));
    // Pitch by a quarter turn takes z to x.
    assert!((upper.origin.rotation * Vector3::z() - Vector3::x()).norm() < 1e-15);
    // The inertia is rotated about z by half a radian.
    let (sin, cos) = (libm::sin(0.5), libm::cos(0.5));
    let inertia = upper.inertial.expect("mass").inertia;
    assert!((inertia[(0, 0)] - (0.03 * cos * cos + 0.028 * sin * sin)).abs() < 1e-16);
    assert!((inertia[(0, 1)] - (0.03 - 0.028) * sin * cos).abs() < 1e-16);
    let elbow = &robot.links[3].joints[0];
    assert_eq!((elbow.kind, elbow.limits), (JointKind::Revolute, Some([-2.0, 2.5])));
    assert_eq!((elbow.effort_limit, elbow.speed_limit), (Some(30.0), Some(4.0)));
    let shoulder = &upper.joints[0];
    assert_eq!((shoulder.limits, shoulder.damping, shoulder.friction), (None, 0.5, 0.2));
    assert_eq!(shoulder.axis.into_inner(), Vector3::y());
    assert_eq!(robot.links[3].shapes[0].form, Form::Mesh("arm/fore.stl".to_owned(), Vector3::new(1.0, 1.0, 2.0)));
    assert_eq!(robot.links[4].shapes[0].form, Form::Box(Vector3::new(0.01, 0.02, 0.03)));
    let ConstraintKind::Couple { follower, leader, polynomial } = &robot.constraints[0].kind else {
        panic!("no coupling")
    };
    assert_eq!(Some(*follower), robot.joint("right slide"));
    assert_eq!(*leader, robot.joint("left slide"));
    assert_eq!(polynomial, &[0.001, 1.0, 0.0, 0.0, 0.0]);
    let notes: Vec<_> = robot.unsupported.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["robot.xml:65:4: <transmission>: is not supported"]);
    let free = Robot::parse(ARM_URDF, "x", &ReadOptions { base: Base::Free, ..ReadOptions::default() });
    assert_eq!(free.expect("a robot").dof(), 6 + 4);
}

#[test]
fn a_crawler_is_read_whole() {
    let robot = read(CRAWLER_MJCF).expect("a robot");
    assert_eq!((robot.links.len(), robot.dof(), robot.coordinates()), (4, 9, 10));
    let trunk = 500.0 * 0.4 * 0.2 * 0.1;
    let leg = 500.0 * PI * 0.02 * 0.02 * (0.2 + 4.0 / 3.0 * 0.02);
    assert!((robot.mass() - trunk - leg - 0.2).abs() < 1e-12);
    assert_eq!(robot.links[0].shapes[0].form, Form::Plane);
    assert_eq!(robot.links[0].shapes[0].friction, Some([0.8, 0.005, 0.0001]));
    assert_eq!(robot.links[2].shapes[0].form, Form::Capsule(0.02, 0.1));
    let [hip, roll] = robot.links[2].joints.as_slice() else { panic!("two joints") };
    assert_eq!((hip.reference, hip.spring_reference, hip.stiffness, hip.armature), (0.1, 0.2, 3.0, 0.01));
    assert_eq!((roll.axis.into_inner(), roll.limits), (Vector3::x(), Some([-1.0, 1.0])));
    // Upper-case letters: about fixed axes, x first.
    let turn = robot.links[2].origin.rotation.to_rotation_matrix();
    let expected = nalgebra::Rotation3::from_euler_angles(0.1, 0.2, 0.3);
    assert!((turn.matrix() - expected.matrix()).norm() < 1e-15);
    assert_eq!(robot.excludes, [[LinkId(2), LinkId(3)]]);
    assert_eq!((robot.constraints.len(), robot.actuators.len(), robot.keyframes.len()), (2, 2, 1));
    assert_eq!(robot.actuators[1].law, ActuatorLaw::Position { stiffness: 20.0, damping: 1.0 });
    assert_eq!((robot.actuators[0].gear[0], robot.actuators[1].force_limits), (50.0, Some([-5.0, 5.0])));
    assert_eq!((robot.timestep, robot.gravity), (Some(0.005), Some(Vector3::new(0.0, 0.0, -9.8))));
    let notes: Vec<_> = robot.unsupported.iter().map(|note| note.what.as_str()).collect();
    assert_eq!(notes, ["<muscle>"]);
}

/// Text to replace in a correct robot, its replacement, and words of the message with its line.
fn check(text: &str, table: &[(&str, &str, u32, &str)]) {
    for (old, new, line, words) in table {
        assert!(text.contains(old), "{old}");
        let error = read(&text.replacen(old, new, 1)).expect_err(new).to_string();
        assert!(error.starts_with(&format!("robot.xml:{line}:")), "{new}: {error}");
        assert!(error.contains(words), "{new}: {error}");
    }
}

#[test]
fn wrong_urdf_is_refused_with_its_place() {
    check(
        ARM_URDF,
        &[
            ("<mass value=\"2\"/>", "<mass value=\"-2\"/>", 13, "must not be negative"),
            ("ixx=\"0.03\"", "ixx=\"0.5\"", 14, "no body has one greater than the sum of the others"),
            ("ixx=\"0.03\"", "ixx=\"-0.01\"", 14, "must be positive"),
            ("<mass value=\"2\"/>", "<mas value=\"2\"/>", 11, "needs <mass>"),
            ("radius=\"0.1\"", "raduis=\"0.1\"", 7, "did you mean `radius`"),
            ("link=\"fore\"", "link=\"for\"", 49, "did you mean `fore`?"),
            ("type=\"continuous\"", "type=\"revolut\"", 39, "did you mean `revolute`?"),
            ("<link name=\"fore\">", "<link name=\"upper\">", 22, "given to two links"),
            ("name=\"right slide\"", "name=\"left slide\"", 58, "given to two joints"),
            ("joint=\"left slide\"", "joint=\"right slide\"", 63, "follows itself"),
            ("<parent link=\"base\"/>", "<parent link=\"right\"/>", 10, "form a cycle"),
            ("<child link=\"right\"/>", "<child link=\"left\"/>", 60, "child of two joints"),
            ("xyz=\"0 2 0\"", "xyz=\"0 0 0\"", 43, "must have a direction"),
            ("package://arm/fore.stl", "package://x/../../fore.stl", 28, "outside of the asset root"),
            ("package://arm/fore.stl", "/etc/passwd", 28, "outside of the asset root"),
            ("package://arm/fore.stl", "file:///etc/passwd", 28, "outside of the asset root"),
            ("package://arm/fore.stl", "C:\\x.stl", 28, "outside of the asset root"),
        ],
    );
}

#[test]
fn two_roots_and_cycles_are_refused() {
    let two = "<robot name=\"r\"><link name=\"a\"/>\n<link name=\"b\"/></robot>";
    assert!(read(two).expect_err("two roots").message.contains("both roots"));
    let joint = |a: &str, b: &str| {
        format!("<joint name=\"{a}{b}\" type=\"fixed\"><parent link=\"{a}\"/><child link=\"{b}\"/></joint>")
    };
    let cycle =
        format!("<robot name=\"r\"><link name=\"a\"/><link name=\"b\"/>{}{}</robot>", joint("a", "b"), joint("b", "a"));
    assert!(read(&cycle).expect_err("a cycle").message.contains("cycle"));
    assert!(read("<robot name=\"r\"/>").expect_err("nothing").message.contains("no link"));
}

#[test]
fn numbers_are_plain_decimals() {
    let long = "1".repeat(10_000);
    for word in ["nan", "NaN", "inf", "Infinity", "-inf", "1e400", "0x1p3", "", "1,0", "1 2", "1_0", long.as_str()] {
        check(ARM_URDF, &[("<mass value=\"2\"/>", &format!("<mass value=\"{word}\"/>"), 13, "`value`")]);
        check(CRAWLER_MJCF, &[("mass=\"0.2\"", &format!("mass=\"{word}\""), 24, "`mass`")]);
    }
}

#[test]
fn wrong_mjcf_is_refused_with_its_place() {
    check(
        CRAWLER_MJCF,
        &[
            ("childclass=\"leg\"", "childclass=\"lag\"", 18, "did you mean `leg`?"),
            ("body2=\"right leg\"", "body2=\"right log\"", 30, "did you mean `right leg`?"),
            ("joint=\"left roll\"", "joint=\"left rol\"", 36, "did you mean `left roll`?"),
            ("type=\"box\"", "type=\"bx\"", 16, "did you mean `box`?"),
            ("size=\"0.2 0.1 0.05\"", "size=\"0.2 0.1\"", 16, "needs 3 positive numbers"),
            ("qpos=\"0 0 0.3", "qpos=\"0 0", 40, "needs 10 numbers, but has 9"),
            ("0.001 0.001 0.0001", "0.001 0.001 0.003", 24, "no body has one greater"),
            ("name=\"right leg\"", "name=\"left leg\"", 23, "given to two bodies"),
            ("name=\"right hip\"", "name=\"left hip\"", 25, "given to two joints"),
            ("eulerseq=\"XYZ\"", "eulerseq=\"abc\"", 2, "three of the letters"),
            ("euler=\"0.1 0.2 0.3\"", "euler=\"0.1 0.2 0.3\" quat=\"1 0 0 0\"", 18, "second orientation"),
            ("<joint name=\"left hip\"", "<freejoint/><joint name=\"left hip\"", 19, "directly in the world"),
            ("<freejoint name=\"root\"/>", "<include file=\"x.xml\"/>", 15, "not read from a folder"),
        ],
    );
}

#[test]
fn what_has_no_effect_is_listed() {
    let notes = |text: &str, old: &str, new: &str| -> Vec<String> {
        assert!(text.contains(old), "{old}");
        let robot = read(&text.replacen(old, new, 1)).expect(new);
        robot.unsupported.iter().map(|note| format!("{}: {}", note.what, note.reason)).collect()
    };
    for (old, new, expected) in [
        ("<option", "<optoin", "<optoin>: is not known: did you mean option?"),
        ("density=", "dentisy=", "geom dentisy: is not known: did you mean density?"),
        ("gear=\"50\"", "gear=\"50\" kp=\"3\"", "motor kp: has no effect on this kind of actuator"),
        ("<connect body1=\"trunk\"", "<weld body1=\"trunk\"", "weld anchor: has no effect on a rigid weld"),
        (
            "<muscle joint=\"left hip\"/>",
            "<motor site=\"tip\"/>",
            "<motor> on a site: is not supported: actuators act on joints",
        ),
        ("<geom type=\"box\"", "<geom solmix=\"6\" type=\"box\"", "geom solmix: is not supported"),
        ("<geom type=\"box\"", "<geom zzzzzzzzzz=\"6\" type=\"box\"", "geom zzzzzzzzzz: is not known"),
    ] {
        let found = notes(CRAWLER_MJCF, old, new);
        assert!(found.iter().any(|note| note == expected), "{expected}: {found:?}");
    }
    let still = "<mimic joint=\"left slide\"/>";
    let found = notes(ARM_URDF, "type=\"continuous\">", &format!("type=\"fixed\">{still}"));
    assert!(found.iter().any(|note| note == "<mimic>: has no effect on a fixed joint"), "{found:?}");
}

#[test]
fn a_joint_must_move_mass() {
    let text = "<mujoco><worldbody><body name=\"a\"><joint/></body></worldbody></mujoco>";
    assert!(read(text).expect_err("nothing to move").message.contains("no link behind it has a mass"));
    let with_armature = text.replace("<joint/>", "<joint armature=\"1\"/>");
    assert_eq!(read(&with_armature).expect("a robot").dof(), 1);
}

#[test]
fn impossible_inertias_are_repaired_on_request_only() {
    let text = ARM_URDF.replacen("ixx=\"0.03\"", "ixx=\"0.5\"", 1);
    assert!(read(&text).is_err());
    let options = ReadOptions { repair_inertia: true, ..ReadOptions::default() };
    let robot = Robot::parse(&text, "robot.xml", &options).expect("a robot");
    let inertia = robot.links[2].inertial.expect("mass").inertia;
    let mut moments = inertia.symmetric_eigenvalues();
    moments.as_mut_slice().sort_by(f64::total_cmp);
    assert!(moments[0] > 0.0 && moments[2] <= moments[0] + moments[1], "{moments}");
    assert!(robot.unsupported.iter().any(|note| note.reason.contains("repaired")));
    // A possible inertia stays as it is, to the digits of a file.
    let within = ARM_URDF.replacen("ixx=\"0.03\" ixy", "ixx=\"0.032000000000001\" ixy", 1);
    let kept = read(&within).expect("a robot").links[2].inertial.expect("mass").inertia;
    assert!((kept.trace() - (0.032 + 0.028 + 0.004)).abs() < 1e-12);
    assert!((kept - Matrix3::identity() * kept.trace() / 3.0).norm() > 1e-3);
}

#[test]
fn the_file_itself_may_ask_for_balanced_inertias() {
    let text = CRAWLER_MJCF.replacen("0.001 0.001 0.0001", "0.001 0.001 0.004", 1).replacen(
        "autolimits",
        "balanceinertia=\"true\" autolimits",
        1,
    );
    let inertia = read(&text).expect("a robot").links[3].inertial.expect("mass").inertia;
    assert!((inertia - Matrix3::identity() * 0.002).norm() < 1e-18);
}
