//! C-12: a disc on a compliant half-plane with a rigid core, by the first-order scheme and by mean velocities.

use stiction::{
    BodyBuilder, ContactRule, Dimension, Layer, LayerRule, Model, PositionUpdate, Preset, Scheme, Simulation, planar,
};
use stiction_testkit::{Reference, assert_close, reference};

use crate::support::{down, on_floor, step};

fn disc(case: &Reference, layer: Layer) -> Model {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let disc = BodyBuilder::planar("disc", number("mass"), number("inertia"))
        .position(0.0, number("height"), 0.0)
        .shape(planar::Shape::disc(number("radius")).unwrap().into());
    let rule = ContactRule { layer: LayerRule::Given(layer), ..ContactRule::default() };
    on_floor(Dimension::Planar, [disc], down(Dimension::Planar), rule)
}

fn layer(case: &Reference, core: &str) -> Layer {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    Layer::normal(number("stiffness"), number("damping")).with_depth(number(core))
}

fn scheme(update: PositionUpdate) -> Scheme {
    let mut scheme = Preset::Ncp.scheme();
    scheme.position_update = update;
    scheme
}

/// The energy of the disc with respect to the plane as the datum of its lowest point.
fn energy(simulation: &Simulation) -> f64 {
    simulation.energy().total() - 9.81
}

fn compression(simulation: &Simulation) -> f64 {
    simulation.contacts().first().and_then(|contact| contact.layer).map_or(0.0, |layer| layer.compression)
}

fn core_impulse(simulation: &Simulation) -> f64 {
    simulation.contacts().first().and_then(|contact| contact.layer).map_or(0.0, |layer| layer.core_impulse)
}

#[test]
fn c12_scheme_numbers_to_their_digits() {
    let case = reference("c12");
    let (deep_at, core_at) = (case.number("derived.deep_energy_at"), case.number("derived.core_energy_at"));
    let mut errors = Vec::new();
    for row in case.table("derived.scheme") {
        let h = row["h"];
        let mut simulation = Simulation::new(disc(&case, layer(&case, "core_missed")), scheme(PositionUpdate::End), h).unwrap();
        let mut deepest = 0.0_f64;
        while simulation.time() < deep_at - 0.5 * h {
            let report = step(&mut simulation);
            deepest = deepest.max(compression(&simulation));
            assert_eq!((report.impacts, core_impulse(&simulation)), (0, 0.0));
            assert_eq!(report.penetration, 0.0);
        }
        assert_close!(deepest, row["deflection"], case.tolerance("tolerance.deflection", "m"), "deflection at {h}");
        assert_close!(energy(&simulation), row["deep_energy"], case.tolerance("tolerance.energy", "J"), "energy at {h}");
        errors.push((case.number("derived.deep.deflection") - deepest).abs());

        let mut simulation = Simulation::new(disc(&case, layer(&case, "core_hit")), scheme(PositionUpdate::End), h).unwrap();
        let (mut hit, mut total, mut large, mut impacts) = (None, 0.0, 0, 0);
        while simulation.time() < core_at - 0.5 * h {
            let report = step(&mut simulation);
            let impulse = core_impulse(&simulation);
            if impulse > 0.0 && hit.is_none() {
                hit = Some(report.time);
            }
            // All the impulse of the first impact, which takes two steps: the core is met within the first.
            if hit.is_some_and(|hit| report.time < hit + 1.5 * h) {
                total += impulse;
            }
            if hit.is_some_and(|hit| (report.time - hit - h).abs() < 0.5 * h) {
                assert!(simulation.state().v[1].abs() < 60.0 * h, "{h}: {}", simulation.state().v[1]);
            }
            large += usize::from(impulse > 1.0);
            impacts += report.impacts;
            assert!(report.penetration < 1e-12);
        }
        println!("h {h}: core {hit:?} {total} large {large} impacts {impacts} energy {}", energy(&simulation));
        assert_eq!(large, 1);
        assert!(hit.is_some_and(|hit| (hit - row["core_time"]).abs() < 1e-9));
        assert_close!(total, row["core_impulse"], case.tolerance("tolerance.impulse", "N s"), "impulse at {h}");
        assert_close!(energy(&simulation), row["core_energy"], case.tolerance("tolerance.energy", "J"), "energy at {h}");
    }
    // First order: ten times the steps, a tenth of the error.
    assert!(errors.windows(2).all(|pair| (pair[0] / pair[1] - 10.0).abs() < 1.0), "{errors:?}");
}
