//! Choices that do not go together are refused when the simulation is built, each with its sentence.

use nalgebra::{Matrix3, Vector3};
use stiction::{
    BodyBuilder, ContactRule, Dimension, FrictionSet, Impact, LineariseAt, Model, ModelBuilder, Preset, Scheme,
    Simulation, spatial,
};

fn model(rule: ContactRule) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let floor = spatial::Shape::half_space(Vector3::z()).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(floor.into())).unwrap();
    let ball = BodyBuilder::rigid("ball", 1.0, Matrix3::from_diagonal_element(0.1));
    builder.body(ball.shape(spatial::Shape::sphere(0.1).unwrap().into())).unwrap();
    builder.default_contact(rule).unwrap();
    builder.build().unwrap()
}

fn with(preset: Preset, change: impl FnOnce(&mut Scheme)) -> Scheme {
    let mut scheme = preset.scheme();
    change(&mut scheme);
    scheme
}

#[test]
fn each_contradiction_is_refused_with_its_sentence() {
    let plain = || ContactRule { friction: 0.5, ..ContactRule::default() };
    let spun = || ContactRule { torsion: 0.01, ..plain() };
    let bouncy = || ContactRule { restitution: 0.5, ..plain() };
    let cases = [
        (spun(), Preset::StewartTrinkle.scheme(), "a polygon has no direction for spin"),
        (spun(), with(Preset::Ncp, |s| s.friction = FrictionSet::Box), "a polygon has no direction for spin"),
        (plain(), with(Preset::Ncp, |s| s.impact = Impact::Poisson), "Poisson's law and the quadratic cone"),
        (bouncy(), with(Preset::Ncp, |s| s.impact = Impact::Inelastic), "impacts are inelastic"),
        (
            plain(),
            with(Preset::MoreauJean, |s| {
                s.impact = Impact::Poisson;
                s.friction = FrictionSet::Polygon;
            }),
            "goes with time-stepping only",
        ),
        (plain(), with(Preset::Reference, |s| s.linearise_at = LineariseAt::End), "leave `jacobians` out"),
        (plain(), with(Preset::Reference, |s| s.friction = FrictionSet::Polygon), "integrates with the exact cone"),
        (plain(), with(Preset::Ncp, |s| s.gamma = 1.5), "between 0 and 1"),
        (plain(), with(Preset::Ncp, |s| s.directions = 7), "even number"),
    ];
    for (rule, scheme, sentence) in cases {
        let error = Simulation::new(model(rule), scheme, 0.01).err().unwrap().to_string();
        assert!(error.contains(sentence), "{error}");
    }
    for preset in Preset::ALL {
        let mut simulation = Simulation::new(model(plain()), preset.scheme(), 0.01).unwrap();
        let _ = simulation.step().unwrap();
    }
}
