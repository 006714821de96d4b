//! `[material.NAME]`: meaning of its keys, and messages about mistakes.

use nalgebra::Matrix3;
use stiction_multibody::Layer;
use stiction_options::PositionUpdate;
use stiction_scene::parse;

use crate::{MATERIALS, SPATIAL};

#[test]
fn materials_are_read() {
    let scene = parse(MATERIALS, "x.toml").unwrap_or_else(|error| panic!("{error}"));
    let (model, scheme) = (&scene.model, &scene.settings.scheme);
    let layer = |a, b| model.layer(model.find_body(a).expect(a), model.find_body(b).expect(b));
    let foam = Layer::normal(800.0, 4.0).with_depth(0.05);
    let rubber = Layer::shearing([2e4, 1e4], [30.0, 15.0]);
    assert_eq!(model.find_body("floor").and_then(|id| model.body(id)?.layer), Some(foam));
    assert_eq!(layer("floor", "wheel"), Some(foam.in_series(&rubber)));
    assert_eq!(layer("floor", "block"), None, "the rule of the pair says so");
    let wood = layer("wheel", "block").expect("a rule of its own");
    assert_eq!(wood.stiffness, Matrix3::new(5e5, 1e4, 0.0, 1e4, 4e5, 0.0, 0.0, 0.0, 4e5));
    assert!(wood.shears && wood.depth.is_none());
    assert_eq!((scheme.position_update, scheme.substeps.locate_contacts), (PositionUpdate::Average, true));
    assert_eq!(scheme.substeps.steps_per_period, 30);
}

#[test]
fn a_matrix_in_space_has_three_rows() {
    let material = "[material.felt]\nstiffness = [[3, 1, 0], [1, 2, 0], [0, 0, 2]]\n\n[scheme]";
    let scene = parse(&SPATIAL.replacen("[scheme]", material, 1), "x.toml").unwrap_or_else(|error| panic!("{error}"));
    assert!(!scene.model.has_layers(), "nothing bears it");
}

#[test]
fn mistakes_in_materials_are_explained() {
    let cases = [
        ("stiffness = 800.0", "stiffness = -800.0", "x.toml:12:13: material \"foam\", stiffness: must lie between"),
        ("stiffness = 800.0", "stiffness = 0", "x.toml:12:13: material \"foam\", stiffness: must lie between"),
        ("stiffness = 800.0\n", "", "x.toml:11:1: `material.foam` needs `stiffness`"),
        ("damping = 4.0", "damping = -4.0", "x.toml:13:11: material \"foam\", damping: must lie between"),
        ("depth = 0.05", "depth = 0.0", "x.toml:14:9: material \"foam\", depth: must lie between"),
        ("depth = 0.05", "thickness = 0.05", "x.toml:14:1: unknown key `thickness` in `material.foam`"),
        ("depth = 0.05", "tangential_damping = 2.0", "rigid along its surface, where nothing is damped"),
        (
            "tangential_stiffness = 1e4",
            "tangential_stiffness = -1e4",
            "must be positive definite, but has the eigenvalue",
        ),
        ("[[5e5, 1e4], [1e4, 4e5]]", "[[5e5, 1e4], [2e4, 4e5]]", "material \"wood\", stiffness: must be symmetric"),
        ("[[5e5, 1e4], [1e4, 4e5]]", "[[5e5, 5e5], [5e5, 4e5]]", "must be positive definite, but has the eigenvalue"),
        ("[[50, 0], [0, 40]]", "[[50, 60], [60, 40]]", "must be positive semi-definite, but has the eigenvalue"),
        ("[[50, 0], [0, 40]]", "[[50, 0, 0], [0, 40, 0], [0, 0, 1]]", "a 3x3 matrix"),
        ("damping = [[", "tangential_damping = 3.0\ndamping = [[", "`tangential_damping` is for a single number"),
        ("material = \"foam\"", "material = \"form\"", "there is no material \"form\" (did you mean `foam`?)"),
        (
            "material = \"wood\"",
            "material = \"stone\"",
            "there is no material \"stone\" (known here: foam, rubber, wood, rigid)",
        ),
        ("[material.foam]", "[material.rigid]", "\"rigid\" means no layer at all"),
        ("friction = 0.5", "friction = 0.5\nrestitution = 0.3", "rebounds by its own stiffness and damping"),
        ("steps_per_period = 30", "steps_per_period = 0", "a whole number from 1 to 10000"),
        ("position_update = \"average\"", "position_update = \"middle\"", "must be one of \"end\", \"average\""),
    ];
    for (right, wrong, expected) in cases {
        assert!(MATERIALS.contains(right), "the scene has no {right}");
        let error = parse(&MATERIALS.replacen(right, wrong, 1), "x.toml").expect_err(wrong).to_string();
        assert!(error.contains(expected), "{wrong}: {error}");
    }
}
