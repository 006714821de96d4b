//! Overrides from the command line.

use stiction_multibody::BodyKind;
use stiction_options::Preset;
use stiction_scene::{Scene, SceneError, parse_with};

use crate::PLANAR;

fn changed(changes: &[(&str, &str)]) -> Result<Scene, SceneError> {
    let changes: Vec<_> = changes.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    parse_with(PLANAR, "x.toml", &changes)
}

#[test]
fn values_are_replaced_and_added() {
    let scene = changed(&[
        ("body.rod.mass", "2"),
        ("simulation.step", "0.001"),
        ("simulation.preset", "anitescu-potra"),
        ("scheme.gamma", "0"),
        ("contact_default.friction", "0.25"),
        ("contact_default.collide", "false"),
        ("body.disc.angle", "90 deg"),
        ("body.rod.position", "[3, 4]"),
        ("joint.slider.gamma", "0.125"),
        ("spring.0.stiffness", "7.5"),
        ("body.rod.shape.0.capsule.radius", "0.125"),
    ])
    .unwrap_or_else(|error| panic!("{error}"));
    let model = &scene.model;
    let body = |name| model.body(model.find_body(name).expect("a body")).expect("a body");
    assert!(matches!(body("rod").kind, BodyKind::Dynamic { mass: 2.0, .. }));
    assert_eq!(body("rod").position.xy(), nalgebra::Vector2::new(3.0, 4.0));
    assert!((body("disc").angle - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    assert_eq!((scene.settings.step, scene.settings.preset), (0.001, Preset::AnitescuPotra));
    assert_eq!((model.default_contact_rule().friction, model.default_contact_rule().collide), (0.25, false));
    assert_eq!((model.joints()[0].gamma, model.springs()[0].stiffness), (Some(0.125), 7.5));
    assert!(format!("{:?}", body("rod").shapes[0].shape).contains("radius: 0.125"));
}

#[test]
fn a_later_change_wins() {
    let scene = changed(&[("simulation.step", "0.001"), ("simulation.step", "0.002")]).expect("right");
    assert_eq!(scene.settings.step, 0.002);
}

#[test]
fn mistakes_are_placed_in_the_change() {
    for (path, value, expected) in [
        ("body.rod.mas", "2", "--set:1:10: unknown key `mas` in `body` (did you mean `mass`?)"),
        ("body.rot.mass", "2", "--set:1:6: there is no `rot` in this list of 7 (did you mean `rod`?)"),
        ("bodi.rod.mass", "2", "--set:1:1: unknown key `bodi` in a scene (did you mean `body`?)"),
        ("spring.5.stiffness", "2", "--set:1:8: there is no `5` in this list of 1 (no names are known here)"),
        ("simulation.step.x", "2", "--set:1:17: `x` cannot be found inside a number"),
        ("simulation.step", "fast", "--set:1:17: `step` is a text, but must be a number (such as 0.0025)"),
        ("simulation.step", "nan", "--set:1:17: must be a finite number, not nan"),
        ("simulation.step", "-1", "--set:1:17: the `step` must be from 1e-9 to 10 seconds, but is -1 (such as 0.0025)"),
        ("body.rod.mass", "-1", "--set:1:15: body \"rod\", mass: must lie between 1e-12 and 1e12, but is -1"),
        ("body.plate.motion.x", "t +", "--set:1:24: expected a number, `t`, a function or `(`, but the text ends here"),
        (
            "",
            "2",
            "--set:1:1: unknown key `` in a scene (known here: body, contact, contact_default, coupling, damper, joint, load, material, motor, scheme, simulation, site, spring)",
        ),
    ] {
        let error = changed(&[("simulation.duration", "2"), (path, value)]).expect_err(path);
        assert_eq!(error.to_string(), expected);
        assert_eq!(&*error.source_text, format!("{path}={value}"));
    }
}
