//! Incompatible options are rejected when the simulation is built, each with its message.

use stiction::{
    BodyBuilder, BodyId, ContactRule, Dimension, FrictionSet, Impact, JointKind, Layer, LayerRule, LineariseAt,
    Manifold, Model, ModelBuilder, PositionUpdate, Preset, Scheme, Simulation, Stabilisation,
};

use crate::support::{on_floor, solid_ball, steps};

fn model(rule: ContactRule) -> Model {
    on_floor(Dimension::Spatial, [solid_ball("ball", 1.0, 0.1)], [0.0; 3], rule)
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
        (plain(), with(Preset::Ncp, |s| s.impact = Impact::Poisson), "Poisson's law and the second-order cone"),
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
        (
            plain(),
            with(Preset::Reference, |s| s.friction = FrictionSet::Polygon),
            "integrates with the second-order cone",
        ),
        (plain(), with(Preset::Ncp, |s| s.gamma = 1.5), "between 0 and 1"),
        (plain(), with(Preset::Ncp, |s| s.directions = 7), "even number"),
    ];
    for (rule, scheme, sentence) in cases {
        let error = Simulation::new(model(rule), scheme, 0.01).err().unwrap().to_string();
        assert!(error.contains(sentence), "{error}");
    }
    for preset in Preset::INERTIAL {
        let mut simulation = Simulation::new(model(plain()), preset.scheme(), 0.01).unwrap();
        steps(&mut simulation, 1);
    }
}

/// A particle on a rod, the joint with or without a weight of its own.
fn hanging(gamma: Option<f64>) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let particle = builder.body(BodyBuilder::particle("weight", 1.0).position(1.0, 0.0, 0.0)).unwrap();
    let at = |body: BodyId| (body, stiction::Pose::identity());
    let joint = builder.joint("rod", JointKind::Distance(1.0), at(BodyId::WORLD), at(particle)).unwrap();
    if let Some(gamma) = gamma {
        builder.joint_gamma(joint, gamma).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn stabilisation_that_makes_no_sense_is_refused_with_its_sentence() {
    let baumgarte = Stabilisation::Baumgarte { damping: 20.0, stiffness: 100.0 };
    let ascher = Stabilisation::Ascher { rate: 20.0 };
    let loose = || model(ContactRule::default());
    let of = |preset, stabilisation| with(preset, |scheme| scheme.stabilisation = stabilisation);
    let cases = [
        (loose(), of(Preset::Ncp, baumgarte), "this stabilises joints, and there are none"),
        (loose(), of(Preset::Ncp, ascher), "there are none"),
        (loose(), of(Preset::Reference, Stabilisation::Reduction), "there are none"),
        (loose(), of(Preset::Ncp, Stabilisation::Projection(Manifold::Velocities)), "there are none"),
        (hanging(None), of(Preset::Ncp, Stabilisation::Reduction), "only the reference integrates independent"),
        (hanging(None), of(Preset::MoreauJean, Stabilisation::Reduction), "only the reference integrates independent"),
        (hanging(None), of(Preset::MoreauJean, baumgarte), "the mean of two velocities"),
        (hanging(Some(0.5)), of(Preset::StewartTrinkle, baumgarte), "a weight `gamma` of its own"),
        (hanging(None), of(Preset::Ncp, Stabilisation::Ascher { rate: f64::NAN }), "the rate must be positive"),
        (hanging(None), with(Preset::Reference, |scheme| scheme.solving.halve_steps = 2), "chooses its own steps"),
        (hanging(None), with(Preset::Ncp, |scheme| scheme.solving.halve_steps = 11), "at most 10"),
    ];
    for (model, scheme, sentence) in cases {
        let error = Simulation::new(model, scheme, 0.01).err().unwrap().to_string();
        assert!(error.contains(sentence), "{error}");
    }
    // Accepted combinations can be stepped.
    let projection = Stabilisation::Projection(Manifold::Both);
    for (preset, stabilisation) in Preset::INERTIAL
        .into_iter()
        .flat_map(|preset| [projection, ascher, Stabilisation::Multiplier].map(|way| (preset, way)))
        .chain([
            (Preset::Ncp, baumgarte),
            (Preset::Reference, baumgarte),
            (Preset::Reference, Stabilisation::Reduction),
        ])
    {
        let mut simulation = Simulation::new(hanging(None), of(preset, stabilisation), 0.01).unwrap();
        let _ = simulation.step().unwrap();
    }
}

#[test]
fn layers_in_schemes_that_do_not_know_them_are_refused_with_their_sentence() {
    let layer = Layer::shearing([1e4, 5e3], [1.0, 1.0]);
    let soft = || ContactRule { friction: 0.5, layer: LayerRule::Given(layer), ..ContactRule::default() };
    let mut twisted = layer;
    (twisted.stiffness.m12, twisted.stiffness.m21) = (100.0, 100.0);
    let coupled = || ContactRule { layer: LayerRule::Given(twisted), ..ContactRule::default() };
    let average = |preset| with(preset, |scheme| scheme.position_update = PositionUpdate::Average);
    let cases = [
        (soft(), Preset::StewartTrinkle.scheme(), "surfaces of the frictional problem with second-order cones"),
        (soft(), with(Preset::Ncp, |s| s.friction = FrictionSet::Box), "surfaces of the frictional problem"),
        (soft(), with(Preset::Ncp, |s| s.gamma = 0.5), "so gaps must count in full"),
        (ContactRule { gamma: Some(0.0), ..soft() }, Preset::Ncp.scheme(), "so gaps must count in full"),
        (soft(), Preset::Quasistatic.scheme(), "time-stepping of bodies with inertia"),
        (soft(), Preset::MoreauJean.scheme(), "time-stepping of bodies with inertia"),
        (soft(), Preset::Reference.scheme(), "time-stepping of bodies with inertia"),
        (
            soft(),
            with(Preset::Ncp, |s| s.stabilisation = Stabilisation::Projection(Manifold::Positions)),
            "push bodies out of their layers",
        ),
        (coupled(), average(Preset::Ncp), "a layer couples pressing and shearing"),
        (soft(), average(Preset::MoreauJean), "has its own position update"),
        (ContactRule::default(), with(Preset::Ncp, |s| s.substeps.locate_contacts = true), "is for compliant layers"),
        (ContactRule::default(), with(Preset::Ncp, |s| s.substeps.steps_per_period = 40), "is for compliant layers"),
        (soft(), with(Preset::Ncp, |s| s.substeps.steps_per_period = 20_000), "at most 10000"),
    ];
    for (rule, scheme, sentence) in cases {
        let error = Simulation::new(model(rule), scheme, 0.01).err().unwrap().to_string();
        assert!(error.contains(sentence), "{error}");
    }
    // A rebound comes from the spring, so a coefficient of restitution beside it is a contradiction of the model.
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.body(solid_ball("ball", 1.0, 0.1).layer(layer)).unwrap();
    builder.default_contact(ContactRule { restitution: 0.5, ..ContactRule::default() }).unwrap();
    let error = builder.build().unwrap_err().to_string();
    assert!(error.contains("default contact rule, restitution: a compliant layer rebounds"), "{error}");
}
