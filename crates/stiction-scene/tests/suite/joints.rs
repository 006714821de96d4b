//! Joints with limits, springs and rotors, motors, couplings, frames and groups of shapes: meaning and errors.

use stiction_multibody::{Dimension, Filter, JointDof, JointKind, joint::Placement};
use stiction_scene::{parse, parse_with};

use crate::{JOINTS, SUPPORTS};

#[test]
fn every_key_reaches_the_model() {
    let model = parse(JOINTS, "x.toml").expect("a scene").model;
    let joint_dofs = |name: &str| model.joint(model.find_joint(name).expect("a joint")).expect("a joint").joint_dofs();
    let expected = JointDof {
        limits: Some([-90.0_f64.to_radians(), 1.5]),
        friction: 0.1,
        damping: 0.5,
        stiffness: 10.0,
        rest: 5.0_f64.to_radians(),
        armature: 0.01,
        initial: 0.2,
    };
    assert_eq!(joint_dofs("elbow"), [expected]);
    let slide = JointDof { limits: Some([0.0, 0.3]), friction: 1.0, ..JointDof::default() };
    let turn = JointDof { damping: 0.3, initial: 10.0_f64.to_radians(), ..JointDof::default() };
    assert_eq!(joint_dofs("sleeve"), [slide, turn]);
    let [drive, servo, speed] = model.motors() else { panic!("three motors") };
    assert_eq!((drive.name.as_str(), drive.gain, drive.gear, drive.bias), ("drive", 3.0, 50.0, [0.1, -2.0, -0.5]));
    assert_eq!((drive.control_limits, drive.force_limits), (Some([-1.0, 1.0]), Some([-20.0, 20.0])));
    assert_eq!((servo.name.as_str(), servo.gain, servo.bias), ("motor-2", 100.0, [0.0, -100.0, -5.0]));
    assert_eq!((servo.joint_dof.1, servo.control.value(2.0)), (1, 0.2));
    assert_eq!((speed.gain, speed.bias, speed.control.value(0.0)), (10.0, [0.0, 0.0, -10.0], 0.1));
    let [gears, curve, held] = model.couplings() else { panic!("three couplings") };
    assert_eq!((gears.name.as_str(), gears.polynomial), ("gears", [0.1, -2.0, 0.0, 0.0, 0.0]));
    assert_eq!((curve.follower.1, curve.leader.map(|(_, n)| n)), (0, Some(1)));
    assert_eq!((curve.polynomial, held.leader, held.polynomial[0]), ([0.0, 0.5, 0.25, 0.0, 0.0], None, 0.05));
    assert_eq!(model.massless_body().map(|body| body.name.as_str()), Some("wrist"));
    let filters: Vec<_> = (0..2).filter_map(|k| model.shape(k).map(|(_, _, shape)| shape.filter)).collect();
    assert_eq!(filters, [Filter { groups: 0b101, meets: 1 }, Filter { groups: 0b10, meets: 0b100 }]);
}

/// Every kind of the table is a word of scenes, with the keys of its placement and a table for each of its DOFs.
#[test]
fn every_kind_is_a_word_of_scenes() {
    for dimension in [Dimension::Planar, Dimension::Spatial] {
        let vector = |x: f64, y: f64| {
            if dimension == Dimension::Planar { format!("[{x}, {y}]") } else { format!("[{x}, {y}, 0]") }
        };
        for kind in JointKind::all(dimension) {
            let place = match kind.placement() {
                Placement::Anchor | Placement::AnchorOrAnchors => format!("anchor = {}", vector(0.0, 0.0)),
                Placement::TwoAxes => format!("anchor = {}\nsecond_axis = {}", vector(0.0, 0.0), vector(0.0, 1.0)),
                Placement::Ends => format!("anchors = [{}, {}]", vector(0.0, 0.0), vector(1.0, 0.0)),
            };
            let axis = if kind.has_axis(dimension) { format!("axis = {}", vector(1.0, 0.0)) } else { String::new() };
            let dofs = kind.dof_is_length(dimension).count();
            let laws = match dofs {
                0 => String::new(),
                1 => "damping = 0.5".to_owned(),
                _ => format!("dofs = [{}]", vec!["{ damping = 0.5 }"; dofs].join(", ")),
            };
            let inertia = if dimension == Dimension::Planar { "1.0" } else { "[1.0, 1.0, 1.0]" };
            let (body, name) = (format!("name = \"rod\"\nmass = 1.0\ninertia = {inertia}"), kind.name());
            let (simulation, position) = ("duration = 1.0\nstep = 0.01", vector(1.0, 0.0));
            let scene = format!(
                "[simulation]\n{simulation}\n[[body]]\n{body}\nposition = {position}\n[[joint]]\nname = \"j\"\nkind = \"{name}\"\nbetween = [\"world\", \"rod\"]\n{place}\n{axis}\n{laws}\n"
            );
            let model = parse(&scene, "x.toml").unwrap_or_else(|error| panic!("{error}\n{scene}")).model;
            let joint = &model.joints()[0];
            assert_eq!(joint.kind, kind);
            assert_eq!(joint.joint_dofs(), vec![JointDof { damping: 0.5, ..JointDof::default() }; dofs]);
        }
    }
}

#[track_caller]
fn refused(right: &str, wrong: &str, expected: &str) {
    assert!(JOINTS.contains(right), "the scene has no {right}");
    let error = parse(&JOINTS.replacen(right, wrong, 1), "x.toml").expect_err(wrong);
    assert_eq!(error.to_string(), expected);
}

#[test]
fn freedoms_that_a_joint_does_not_have_are_refused() {
    refused(
        "limits = [-0.1, 0.2]",
        "limits = [\"-0.1 rad\", 0.2]",
        "x.toml:75:11: `limits` of joint \"grip\" is a length, not an angle (give a number of metres)",
    );
    refused(
        "dofs = [{ limits",
        "damping = 0.1 # {",
        "x.toml:83:11: a cylindrical joint has 2 DOFs: `damping` must be given for one of them (write dofs = [{}, {}], one table each)",
    );
    refused(
        "kind = \"cylindrical\"",
        "kind = \"revolute\"",
        "x.toml:83:8: a revolute joint has no `dofs` (write the keys of its DOF in the joint table)",
    );
    refused(
        "friction = 1.0 }, {",
        "friction = 1.0 }, { }, {",
        "x.toml:83:8: a cylindrical joint has 2 DOFs, but 3 are listed",
    );
    refused("kind = \"spherical\"", "kind = \"weld\"", "x.toml:90:10: a weld joint has no `limits`");
    refused(
        "limits = [\"-90 deg\", 1.5]",
        "limits = [2.0, 1.5]",
        "x.toml:53:10: joint \"elbow\", limits: must be the least coordinate and then the greatest",
    );
    refused(
        "armature = 0.01",
        "armature = -0.01",
        "x.toml:58:12: joint \"elbow\", armature: must not be negative, but is -0.01",
    );
}

#[test]
fn motors_say_what_they_lack() {
    refused(
        "joint = \"elbow\"",
        "joint = \"elbwo\"",
        "x.toml:94:9: there is no joint \"elbwo\" (did you mean `elbow`?)",
    );
    refused(
        "torque = \"2*sin(t)\"\n",
        "",
        "x.toml:92:1: motor \"drive\" needs exactly one of `torque`, `position` and `velocity` (such as torque = \"2*sin(t)\")",
    );
    refused("gain = 3.0", "damping = 3.0", "x.toml:96:11: a motor with a `torque` has no `damping`");
    refused("stiffness = 100.0\n", "", "x.toml:102:1: motor \"motor-2\" has a `position` and needs a `stiffness`");
    refused("dof = 1", "dof = 3", "x.toml:104:7: `dof` is 3, but must be a whole number from 0 to 2 (such as 1)");
    refused(
        "dof = 1",
        "dof = 2",
        "x.toml:104:7: motor \"motor-2\", joint: \"sleeve\" is a cylindrical joint with 2 DOFs, and has no DOF 2",
    );
    refused(
        "control_limits = [-1.0, 1.0]",
        "control_limits = [1.0, -1.0]",
        "x.toml:99:18: motor \"drive\", control_limits: must be the least value and then the greatest",
    );
}

#[test]
fn couplings_say_what_is_wrong() {
    refused(
        "offset = 0.1",
        "polynomial = [1.0]",
        "x.toml:118:9: coupling \"gears\" has a `polynomial` as well (keep one of the two)",
    );
    refused("leader = \"elbow\"\n", "", "x.toml:117:9: coupling \"gears\" has no `leader` for this `ratio`");
    refused(
        "leader_dof = 1",
        "leader_dof = 0",
        "x.toml:125:14: coupling \"coupling-2\", leader: must be another joint DOF than the follower",
    );
    refused(
        "polynomial = [0.0, 0.5, 0.25]",
        "polynomial = [0, 0, 0, 0, 0, 1]",
        "x.toml:126:14: `polynomial` is a list of 6, but must be one to five numbers (such as [0.0,1.0,0.5])",
    );
}

#[test]
fn frames_and_groups_have_their_rules() {
    refused(
        "kind = \"frame\"",
        "kind = \"frame\"\nmass = 1.0",
        "x.toml:26:8: body \"wrist\" is a frame: `mass` is for dynamic bodies",
    );
    refused(
        "groups = [1]",
        "groups = [32]",
        "x.toml:20:11: `groups` is 32, but must be a whole number from 0 to 31 (such as 1)",
    );
}

/// The scene with the old names of its keys.
fn with_old_names(text: &str) -> String {
    let old = text.replace("dofs =", "freedoms =").replace("dof =", "freedom =").replace("points =", "feet =");
    assert_ne!(old, text);
    old
}

#[test]
fn old_names_of_keys_give_the_same_model() {
    for text in [JOINTS, SUPPORTS] {
        let [new, old] = [text, &with_old_names(text)].map(|text| parse(text, "x.toml").expect("a scene").model);
        assert_eq!(format!("{new:?}"), format!("{old:?}"));
    }
    let friction = ("joint.sleeve.freedoms.0.friction".to_owned(), "2".to_owned());
    for text in [JOINTS, &with_old_names(JOINTS)] {
        let model = parse_with(text, "x.toml", std::slice::from_ref(&friction)).expect("a scene").model;
        let sleeve = model.joint(model.find_joint("sleeve").expect("a joint")).expect("a joint");
        assert_eq!(sleeve.joint_dofs()[0].friction, 2.0);
    }
}

#[test]
fn errors_at_old_names_have_the_places_of_the_file() {
    let cases = [
        (JOINTS, "\nfreedom = 1", "\nfreedom = 3", "x.toml:104:11: `dof` is 3, but must be a whole number from 0 to 2"),
        (
            JOINTS,
            "\nfreedom = 1",
            "\nfreedom = 2",
            "x.toml:104:11: motor \"motor-2\", joint: \"sleeve\" is a cylindrical",
        ),
        (JOINTS, "leader_freedom = 1", "leader_freedom = 0", "x.toml:125:18: coupling \"coupling-2\", leader: must be"),
        (JOINTS, "kind = \"cylindrical\"", "kind = \"revolute\"", "x.toml:83:12: a revolute joint has no `dofs`"),
        (SUPPORTS, "feet = [[0, 0.3], ", "feet = [", "x.toml:12:8: `points` of body \"part\" are 2"),
        (SUPPORTS, "[0, 0.3], [-0.3, -0.15]", "[1, 0.3], [2, -0.15]", "x.toml:12:8: body \"part\", points: the centre"),
        (
            SUPPORTS,
            "friction = [0.1",
            "points = []\nfriction = [0.1",
            "x.toml:12:1: `feet` is the old name of `points`, which is given as well (keep one of the two)",
        ),
    ];
    for (text, right, wrong, expected) in cases {
        let text = with_old_names(text);
        assert!(text.contains(right), "the scene has no {right}");
        let error = parse(&text.replacen(right, wrong, 1), "x.toml").expect_err(wrong).to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}
