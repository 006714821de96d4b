//! Choices that do not go together are refused when the simulation is built, each with its sentence.

use stiction::{ContactRule, Dimension, FrictionSet, Impact, LineariseAt, Model, Preset, Scheme, Simulation};

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
        steps(&mut simulation, 1);
    }
}
