//! Compliant layers: in series, and illegal numbers.

use nalgebra::{Matrix3, Vector3};
use stiction_geometry::{Dimension, planar};
use stiction_multibody::{BodyBuilder, BodyId, ContactRule, Layer, LayerRule, ModelBuilder};

fn coupled() -> Layer {
    let stiffness = Matrix3::new(900.0, 100.0, -50.0, 100.0, 400.0, 30.0, -50.0, 30.0, 300.0);
    Layer::coupled(stiffness, Matrix3::new(9.0, 1.0, 0.0, 1.0, 4.0, 0.0, 0.0, 0.0, 3.0))
}

/// The same force passes through both layers, and their deflections add, for any force.
#[test]
fn deflections_in_series_add() {
    let (first, second) = (coupled(), Layer::shearing([500.0, 200.0], [2.0, 1.0]));
    let series = first.in_series(&second);
    for force in [Vector3::x(), Vector3::new(1.0, -2.0, 0.5), Vector3::new(0.0, 0.3, 4.0)] {
        let of = |layer: &Layer| layer.stiffness.lu().solve(&force).unwrap();
        assert!((of(&series) - of(&first) - of(&second)).norm() < 1e-15);
    }
    assert_eq!(series.stiffness, series.stiffness.transpose());
    // A layer that does not shear adds to the normal deflection only.
    let stiff = Layer::normal(500.0, 0.0).in_series(&Layer::shearing([500.0, 200.0], [0.0, 0.0]));
    let entries = [(stiff.stiffness.m11, 250.0), (stiff.stiffness.m22, 200.0), (stiff.stiffness.m12, 0.0)];
    assert!(stiff.shears && entries.iter().all(|(is, wanted)| (is - wanted).abs() < 1e-10), "{stiff:?}");
    assert!(!Layer::normal(1.0, 0.0).in_series(&Layer::normal(1.0, 0.0)).shears);
}

/// Two layers under a slowly growing load dissipate as much as their series layer.
#[test]
fn dissipation_in_series_is_that_of_both() {
    let (first, second) = (coupled(), Layer::shearing([500.0, 200.0], [2.0, 1.0]));
    let series = first.in_series(&second);
    let rate_of_force = Vector3::new(3.0, -1.0, 2.0);
    let dissipated = |layer: &Layer| {
        let rate = layer.stiffness.lu().solve(&rate_of_force).unwrap();
        rate.dot(&(layer.damping * rate))
    };
    assert!((dissipated(&series) - dissipated(&first) - dissipated(&second)).abs() < 1e-15);
}

#[test]
fn depths_add_and_a_layer_without_core_has_none() {
    let (thin, thick) = (Layer::normal(1.0, 0.0).with_depth(0.1), Layer::normal(1.0, 0.0).with_depth(0.2));
    assert!((thin.in_series(&thick).depth.unwrap() - 0.3).abs() < 1e-15);
    assert_eq!(thin.in_series(&Layer::normal(1.0, 0.0)).depth, None);
}

#[test]
fn illegal_layers_are_refused_with_their_field() {
    let mut lopsided = coupled();
    lopsided.stiffness.m12 = 99.0;
    let mut indefinite = coupled();
    (indefinite.damping.m12, indefinite.damping.m21) = (10.0, 10.0);
    let mut sideways = Layer::normal(1.0, 0.0);
    sideways.stiffness.m22 = 1.0;
    let cases = [
        (Layer::normal(0.0, 0.0), "stiffness: must lie between"),
        (Layer::normal(f64::NAN, 0.0), "stiffness: must be zero or between"),
        (Layer::normal(1.0, -1.0), "damping: must lie between"),
        (Layer::shearing([1.0, 0.0], [0.0, 0.0]), "stiffness: must be positive definite"),
        (Layer::normal(1.0, 0.0).with_depth(0.0), "depth: must lie between"),
        (Layer::normal(1.0, 0.0).with_depth(f64::INFINITY), "depth: must lie between"),
        (lopsided, "stiffness: must be symmetric"),
        (indefinite, "damping: must be positive semi-definite"),
        (sideways, "stiffness: has entries along the surface, where it is rigid"),
    ];
    for (layer, sentence) in cases {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        let rule = ContactRule { layer: LayerRule::Given(layer), ..ContactRule::default() };
        let of_rule = builder.default_contact(rule).unwrap_err().to_string();
        assert!(of_rule.starts_with("default contact rule, ") && of_rule.contains(sentence), "{of_rule}");
        let disc = BodyBuilder::planar("disc", 1.0, 0.5).shape(planar::Shape::disc(1.0).unwrap().into());
        let of_body = builder.body(disc.layer(layer)).unwrap_err().to_string();
        assert!(of_body.starts_with("body \"disc\", ") && of_body.contains(sentence), "{of_body}");
    }
}

#[test]
fn a_rule_decides_over_what_bodies_bear() {
    let layer = Layer::normal(100.0, 1.0);
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let disc = |name: &str| BodyBuilder::planar(name, 1.0, 0.5).shape(planar::Shape::disc(1.0).unwrap().into());
    let a = builder.body(disc("a").layer(layer)).unwrap();
    let b = builder.body(disc("b")).unwrap();
    let c = builder.body(disc("c").layer(layer)).unwrap();
    builder.contact(a, b, ContactRule { layer: LayerRule::Rigid, ..ContactRule::default() }).unwrap();
    let model = builder.build().unwrap();
    assert_eq!((model.layer(a, b), model.layer(b, c)), (None, Some(layer)));
    assert_eq!(model.layer(a, c).map(|both| both.stiffness.m11), Some(50.0));
    assert_eq!(model.layer(BodyId::WORLD, b), None);
    assert!(model.has_layers());
}
