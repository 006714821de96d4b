//! Scenes of the repository, and their models.

use nalgebra::Vector3;
use stiction_multibody::{BodyKind, Dimension, JointKind, OrientationUpdate};
use stiction_options::{
    LineariseAt, Manifold, Margin, OnUnsolved, PrescribedSlip, Preset, Residuals, Solving, Stabilisation,
};
use stiction_scene::{Settings, load, parse, parse_with};

use crate::{PLANAR, SPATIAL, all_scenes};

#[test]
fn every_scene_parses() {
    for (name, text) in all_scenes() {
        let scene = parse(&text, &name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(format!("{}.toml", scene.name), name);
        assert!(scene.model.dof() > 0, "{name} has nothing that moves");
    }
}

#[test]
fn a_file_is_loaded_by_its_path() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/falling_rod.toml");
    let scene = load(path).expect("the falling rod");
    assert_eq!(scene.name, "falling_rod");
    let rod = scene.model.body(scene.model.find_body("rod").expect("a rod")).expect("a rod");
    assert!((rod.angle - std::f64::consts::FRAC_PI_6).abs() < 1e-15);
    assert_eq!(rod.angular_velocity, Vector3::new(0.0, 0.0, 4.0));
    assert_eq!(scene.model.gravity(), Vector3::new(0.0, -9.81, 0.0));
    let missing = load("no/such/file.toml").expect_err("no file");
    assert!(missing.span.is_none() && missing.to_string().starts_with("no/such/file.toml: cannot be opened"));
}

#[test]
fn settings_are_read_and_filled_in() {
    let scene = parse(PLANAR, "x.toml").unwrap_or_else(|error| panic!("{error}"));
    let mut scheme = Preset::AnitescuHart.scheme();
    scheme.joint_gamma = 1.0;
    scheme.linearise_at = LineariseAt::Predicted;
    scheme.margin = Margin::Fixed(0.02);
    scheme.prescribed_slip = PrescribedSlip::End;
    scheme.orientation = OrientationUpdate::Euler;
    let expected = Settings { duration: 1.0, step: 0.01, preset: Preset::AnitescuHart, scheme, record_every: 2 };
    assert_eq!(scene.settings, expected);
    let scene = parse(SPATIAL, "x.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scene.settings.scheme, Preset::Ncp.scheme());
    assert_eq!((scene.settings.preset, scene.settings.record_every), (Preset::Ncp, 1));
}

#[test]
fn a_planar_model_is_what_the_file_says() {
    let model = parse(PLANAR, "x.toml").expect("right").model;
    assert_eq!((model.dimension(), model.bodies().len(), model.dof()), (Dimension::Planar, 8, 4 * 3 + 2));
    assert_eq!((model.joints().len(), model.springs().len(), model.dampers().len(), model.loads().len()), (2, 1, 1, 1));
    assert_eq!(model.joints()[0].gamma, Some(0.5));
    assert_eq!((model.joints()[1].name.as_str(), model.joints()[1].kind), ("joint-2", JointKind::Distance(0.7)));
    let id = |name| model.find_body(name).expect("a body");
    let rule = model.contact_rule(id("floor"), id("rod"));
    assert_eq!((rule.friction, rule.gamma, rule.margin), (0.6, Some(0.2), Some(0.05)));
    assert!((rule.direction_offset - 5.0_f64.to_radians()).abs() < 1e-15, "follows the default");
    assert_eq!(model.contact_rule(id("disc"), id("rod")).friction, 0.3);
    let load = &model.loads()[0];
    assert_eq!((load.force[1].value(0.5), load.torque[2].value(2.0)), (libm::sin(0.5), 0.2));
    let belt = model.body(id("floor")).and_then(|body| body.surface_velocity.clone()).expect("a conveyor");
    assert_eq!((belt[0].value(1.0), belt[1].value(1.0), belt[2].value(1.0)), (0.4, 0.1, 0.0));
    let Some(BodyKind::Kinematic(motion)) = model.body(id("plate")).map(|body| body.kind.clone()) else {
        panic!("the plate is kinematic")
    };
    let sample = motion.at(0.3);
    assert_eq!(sample.position, Vector3::new(0.5 + 0.4 * libm::sin(0.3), 2.0, 0.0));
    assert_eq!((sample.angle, sample.twist.linear.x, sample.twist.angular.z), (0.3, 0.4 * libm::cos(0.3), 1.0));
}

#[test]
fn a_vibration_is_what_the_file_says() {
    let model = parse(SPATIAL, "x.toml").unwrap_or_else(|error| panic!("{error}")).model;
    let feeder = model.find_body("feeder").expect("a feeder");
    let [ball, floor] = ["ball", "floor"].map(|name| model.find_body(name).expect("a body"));
    assert_eq!(model.contact_rule(ball, floor).direction_body, Some(feeder));
    let Some(BodyKind::Kinematic(motion)) = model.body(feeder).map(|body| body.kind.clone()) else {
        panic!("the feeder is kinematic")
    };
    let (t, speed) = (0.01, 2.0 * std::f64::consts::PI * 33.0);
    let (sample, phase) = (motion.at(t), 1.5 * std::f64::consts::PI);
    assert!((sample.position.z + 8.0 * libm::sin(speed * t + phase) / (speed * speed)).abs() < 1e-15);
    assert!((sample.position.y + 5.0 + 2.0 * libm::sin(speed * t + 0.2) / (speed * speed)).abs() < 1e-15);
    assert!((sample.twist.angular.z + 3.0 * libm::cos(speed * t + 0.3) / speed).abs() < 1e-14);
}

#[test]
fn masses_and_inertias_follow_from_shapes() {
    let model = parse(PLANAR, "x.toml").expect("right").model;
    let disc = model.body(model.find_body("disc").expect("a disc")).expect("a disc");
    let BodyKind::Dynamic { mass, inertia, .. } = disc.kind else { panic!("dynamic") };
    let exact = 10.0 * std::f64::consts::PI * 0.04;
    assert!((mass - exact).abs() < 1e-14);
    assert!((inertia.m33 - exact * 0.02).abs() < 1e-15);

    let model = parse(SPATIAL, "x.toml").expect("right").model;
    let rock = model.body(model.find_body("rock").expect("a rock")).expect("a rock");
    // A regular tetrahedron inscribed in a cube of edge a = 0.2: volume a³/3; inertia m s²/20 with s² = 2 a².
    let BodyKind::Dynamic { mass, inertia, .. } = rock.kind else { panic!("dynamic") };
    assert!((mass - 1000.0 * 0.008 / 3.0).abs() < 1e-12);
    assert!((inertia - nalgebra::Matrix3::from_diagonal_element(mass * 2.0 * 0.04 / 20.0)).abs().max() < 1e-13);
}

#[test]
fn an_unspun_scene_has_the_same_pose_however_it_is_written() {
    let with = |orientation: &str| {
        let text = SPATIAL.replace("orientation = { body_123 = [\"10 deg\", 0.0, 0.0] }", orientation);
        let model = parse(&text, "x.toml").unwrap_or_else(|error| panic!("{error}")).model;
        model.body(model.find_body("rod").expect("a rod")).expect("a rod").orientation
    };
    let expected = with("orientation = { body_123 = [\"10 deg\", 0.0, 0.0] }");
    for other in [
        "orientation = { roll_pitch_yaw = [\"10 deg\", 0, 0] }",
        "orientation = { axis = [2, 0, 0], angle = \"10 deg\" }",
        "orientation = { axis = [-1.0, 0.0, 0.0], angle = -0.17453292519943295 }",
        "orientation = [0.9961946980917455, 0.08715574274765817, 0, 0]",
    ] {
        assert!(with(other).angle_to(&expected) < 1e-15, "{other}");
    }
    // Body 1-2-3 angles and roll, pitch, yaw differ in their order.
    let a = with("orientation = { body_123 = [0.3, 0.2, 0.1] }");
    let b = with("orientation = { roll_pitch_yaw = [0.3, 0.2, 0.1] }");
    assert!(a.angle_to(&b) > 1e-2);
}

#[test]
fn the_dimension_is_found_from_the_positions() {
    let planar = "[simulation]\nduration = 1\nstep = 0.1\n[[body]]\nname = \"a\"\nmass = 1\nparticle = true\n";
    let error = parse(planar, "x.toml").expect_err("no dimension");
    assert_eq!(error.hint.as_deref(), Some("add `dimension = 2` or `dimension = 3` to [simulation]"));
    for (extra, dimension) in [("position = [1, 2]", Dimension::Planar), ("position = [1, 2, 3]", Dimension::Spatial)] {
        let scene = parse(&format!("{planar}{extra}\n"), "x.toml").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scene.model.dimension(), dimension);
    }
}

#[test]
fn every_way_to_stabilise_is_read_and_bad_ones_are_refused() {
    let read = |line: &str| {
        let text = PLANAR.replacen("[scheme]", &format!("[scheme]\n{line}"), 1);
        parse(&text, "x.toml").map(|scene| scene.settings.scheme).map_err(|error| error.to_string())
    };
    let ways = [
        ("\"usual\"", Stabilisation::Usual),
        ("\"multiplier\"", Stabilisation::Multiplier),
        ("\"reduction\"", Stabilisation::Reduction),
        (
            "{ baumgarte = { damping = 20, stiffness = 100.0 } }",
            Stabilisation::Baumgarte { damping: 20.0, stiffness: 100.0 },
        ),
        ("{ ascher = { rate = 50.0 } }", Stabilisation::Ascher { rate: 50.0 }),
        ("{ projection = \"positions\" }", Stabilisation::Projection(Manifold::Positions)),
        ("{ projection = \"velocities\" }", Stabilisation::Projection(Manifold::Velocities)),
        ("{ projection = \"both\" }", Stabilisation::Projection(Manifold::Both)),
    ];
    for (text, expected) in ways {
        let scheme = read(&format!("stabilisation = {text}")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((scheme.stabilisation, scheme.solving.halve_steps), (expected, 6));
    }
    assert_eq!(read("halve_steps = 10").map(|scheme| scheme.solving.halve_steps), Ok(10));
    let solving =
        read("residual = { aim = 1e-7, refuse = 1e-5 }\non_unsolved = \"accept\"").map(|scheme| scheme.solving);
    let residual = Residuals { aim: Some(1e-7), accept: None, refuse: Some(1e-5) };
    assert_eq!(solving, Ok(Solving { residual, on_unsolved: OnUnsolved::Accept, ..Solving::default() }));
    let bad = [
        ("halve_steps = 11", "`halve_steps` is 11, but must be a whole number from 0 to 10"),
        ("halve_steps = -1", "a whole number from 0 to 10"),
        ("residual = { aim = 0.0 }", "`aim` must be above 0 and at most 1"),
        (
            "residual = { aim = 1e-6, refuse = 1e-7 }",
            "`refuse` is 0.0000001, but must be at least `aim`, which is 0.000001",
        ),
        ("residual = { goal = 1e-6 }", "unknown key `goal` in `residual`"),
        ("on_unsolved = \"halt\"", "\"stop\", \"accept\""),
        ("stabilisation = \"baumgarte\"", "a table with one of `baumgarte`, `ascher`, `projection`"),
        ("stabilisation = {}", "exactly one of `baumgarte`, `ascher`, `projection`"),
        ("stabilisation = { ascher = { rate = 1.0 }, projection = \"both\" }", "exactly one of"),
        ("stabilisation = { ascher = { rate = 0.0 } }", "the rate must be positive"),
        ("stabilisation = { ascher = { rate = 1e13 } }", "at most 1e12"),
        ("stabilisation = { ascher = { speed = 1.0 } }", "unknown key `speed` in `ascher`"),
        ("stabilisation = { baumgarte = { damping = 1.0 } }", "`baumgarte` needs `stiffness`"),
        ("stabilisation = { baumgarte = { damping = -1.0, stiffness = 1.0 } }", "the damping must be positive"),
        ("stabilisation = { projection = \"all\" }", "\"positions\", \"velocities\", \"both\""),
    ];
    for (line, sentence) in bad {
        let error = read(line).unwrap_err();
        assert!(error.starts_with("x.toml:10:") && error.contains(sentence), "{error}");
    }
    let set = |path: &str, value: &str| (path.to_owned(), value.to_owned());
    let changes = [
        set("scheme.stabilisation.projection", "both"),
        set("scheme.halve_steps", "3"),
        set("scheme.residual.aim", "1e-7"),
    ];
    let scene = parse_with(PLANAR, "x.toml", &changes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scene.settings.scheme.stabilisation, Stabilisation::Projection(Manifold::Both));
    let solving = scene.settings.scheme.solving;
    assert_eq!((solving.halve_steps, solving.residual.aim), (3, Some(1e-7)));
}
