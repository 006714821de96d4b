//! Compliant layers: surfaces, cores, deflections, relaxation.

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{BodyBuilder, ContactRule, Dimension, Layer, LayerMemory, LayerRule, Model};

use super::support::{Case, G, assert_close, assert_near, ball, builder, floor, friction};
use crate::{
    ContactImpulse, Scheme, layers, rows,
    surface::{self, unit_tangents},
};

fn on_layer(height: f64, velocity: [f64; 3], mu: f64, layer: Layer) -> Model {
    let mut builder = builder(Dimension::Spatial, friction(mu));
    let ground = builder.body(BodyBuilder::fixed("floor").shape(floor(Dimension::Spatial))).unwrap();
    let [x, y, z] = velocity;
    let body = builder.body(ball("ball", 2.0, 0.5).position(0.0, 0.0, height).velocity(x, y, z)).unwrap();
    let rule = ContactRule { layer: LayerRule::Given(layer), ellipse: [0.5, 2.0], ..friction(mu) };
    builder.contact(ground, body, rule).unwrap();
    builder.build().unwrap()
}

fn written(layer: Layer, memory: Option<LayerMemory>) -> Case {
    let mut case = Case::new(on_layer(0.49, [0.0; 3], 0.3, layer), Scheme::default(), 0.01);
    case.detect().unwrap();
    if let Some(layer) = memory {
        case.advance();
        case.state.contacts = case.ws.result.next.contacts.clone();
        case.state.contacts[0].layer = Some(layer);
        case.detect().unwrap();
    }
    case.with(rows::write);
    case
}

fn coupled() -> Layer {
    let stiffness = Matrix3::new(3000.0, 200.0, 0.0, 200.0, 1500.0, 50.0, 0.0, 50.0, 1200.0);
    Layer::coupled(stiffness, stiffness * 1e-3)
}

/// The mass matrix h (h K + C), and the velocity −(h K + C)⁻¹ K δ of an unloaded surface.   [SOFT-3]
#[test]
fn surfaces_are_masses_in_the_problem() {
    for (layer, size) in [(Layer::normal(1e4, 20.0), 1), (Layer::shearing([1e4, 5e3], [20.0, 5.0]), 3), (coupled(), 3)]
    {
        let case = written(layer, None);
        let surface = &case.ws.constraints.layer_surfaces[0];
        assert_eq!((surface.contact, surface.compliant_directions), (0, size));
        let a = surface::part(&(layer.stiffness * 0.01 + layer.damping), size);
        let own = surface::part(&surface.mass, size);
        assert!((own - a * 0.01).amax() < 1e-12);
        // Without impulse the law h K δ⁺ + C (δ⁺ − δ) = 0 holds.
        let after = surface.before + surface.free_velocity * 0.01;
        let law = layer.stiffness * after * 0.01 + layer.damping * (after - surface.before);
        assert!(law.iter().take(size).all(|x| x.abs() < 1e-10), "{law:?}");
        assert_near(surface.before.x, 0.01, 1e-12);
        let inverse = surface.inverse_mass() * own;
        assert!((inverse - surface::part(&Matrix3::identity(), size)).amax() < 1e-12);
        let mut mass = Vec::new();
        surface.push_mass(2.0, &mut mass);
        assert_eq!(mass.len(), size * size);
        assert_near(mass[0], surface.mass.m11 / 2.0, 1e-15);
    }
}

/// Blocks map the velocity of the surface to the rows, which are as long as the semi-axes of the friction ellipse.
#[test]
fn surface_blocks_have_the_lengths_of_rows() {
    let case = written(coupled(), None);
    let (surface, contact) = (&case.ws.constraints.layer_surfaces[0], case.contact());
    let mut block = Vec::new();
    surface.write_block(contact, 3, &mut block);
    assert_eq!(block.len(), 9);
    let w = Vector3::new(1.0, 2.0, 3.0);
    let rates = Matrix3::from_row_slice(&block) * w;
    assert_close(&rates, &Vector3::new(1.0, 0.5 * 2.0, 2.0 * 3.0), 1e-12);
    let [t, o] = unit_tangents(contact);
    let p = ContactImpulse { normal: 4.0, friction: t * 5.0 + o * 6.0, ..ContactImpulse::default() };
    let moving = surface::LayerSurface { velocity: w, ..*surface };
    assert_near(moving.power(contact, &p), 4.0 + 10.0 + 18.0, 1e-12);
}

/// A ball settles at the compression m g/K, with the energy ½ K δ².
#[test]
fn static_compression_is_weight_over_stiffness() {
    let stiffness = 1e4;
    let mut case = Case::new(on_layer(0.5, [0.0; 3], 0.0, Layer::normal(stiffness, 200.0)), Scheme::default(), 0.01);
    case.run(200);
    let expected = 2.0 * G / stiffness;
    assert_near(0.5 - case.q("ball")[2], expected, 1e-9);
    let layer = case.state.contacts[0].layer.unwrap();
    assert_near(layer.compression, expected, 1e-9);
    assert_near(layer.energy, 0.5 * stiffness * expected * expected, 1e-9);
    assert_near(case.state.contacts[0].normal_impulse, 2.0 * G * 0.01, 1e-9);
}

/// Kelvin and Voigt's law p = h K δ⁺ + C (δ⁺ − δ) holds between reported impulse and deflection, in all directions.   [SOFT-2]
#[test]
fn reported_deflections_obey_the_law() {
    for layer in [Layer::normal(1e4, 20.0), Layer::shearing([1e4, 5e3], [20.0, 5.0]), coupled()] {
        let mut case = Case::new(on_layer(0.499, [0.3, -0.2, -0.5], 0.6, layer), Scheme::default(), 0.001);
        let mut before = Vector3::new(1e-3, 0.0, 0.0);
        for _ in 0..5 {
            case.run(1);
            let contact = case.contact();
            let [t, o] = unit_tangents(contact);
            let (memory, report) = (case.state.contacts[0].layer.unwrap(), &case.ws.result.contact_reports[0]);
            let shear = Vector3::from(memory.shear);
            let after = Vector3::new(memory.compression, t.dot(&shear), o.dot(&shear));
            let p =
                Vector3::new(report.normal_impulse, t.dot(&report.friction_impulse), o.dot(&report.friction_impulse));
            let expected = layer.stiffness * after * case.h + layer.damping * (after - before);
            let size = if layer.shears { 3 } else { 1 };
            for k in 0..size {
                // The frame turns with the ball by a small angle, which rotates the shear.
                assert_near(p[k], expected[k], 2e-3 * p.norm());
            }
            before = after;
        }
    }
}

/// The deflection is at least the overlap; a stored shear keeps its length when the normal has turned.   [SOFT-4]
#[test]
fn deflections_are_stored_and_turned() {
    let memory = LayerMemory { compression: 0.004, shear: [0.003, 0.0, 0.004], ..LayerMemory::default() };
    let case = written(coupled(), Some(memory));
    let surface = &case.ws.constraints.layer_surfaces[0];
    assert_near(surface.before.x, 0.01, 1e-12);
    assert_near((surface.before.y * surface.before.y + surface.before.z * surface.before.z).sqrt(), 0.005, 1e-12);
    let pressed = LayerMemory { compression: 0.02, ..memory };
    assert_near(written(coupled(), Some(pressed)).ws.constraints.layer_surfaces[0].before.x, 0.02, 1e-12);
}

/// The core is in the problem where the step can reach it, and carries what the layer cannot.   [SOFT-5]
#[test]
fn cores_stop_deep_compression() {
    let soft = Layer::normal(100.0, 0.0).with_depth(0.01);
    let mut case = Case::new(on_layer(0.5, [0.0, 0.0, -1.0], 0.0, soft), Scheme::default(), 0.01);
    case.detect().unwrap();
    case.with(rows::write);
    // Gap to the core: 0.01 m in a step of 0.01 s.
    assert_near(case.ws.constraints.layer_surfaces[0].core_bias.unwrap(), 1.0, 1e-10);
    case.run(5);
    let layer = case.state.contacts[0].layer.unwrap();
    assert_near(layer.compression, 0.01, 1e-9);
    assert_near(case.q("ball")[2], 0.49, 1e-9);
    // The spring carries K 0.01 = 1 N of 20 N, the core the rest.
    assert_near(layer.core_impulse, (2.0 * G - 1.0) * 0.01, 1e-8);
    let far = Layer::normal(100.0, 0.0).with_depth(0.2);
    let mut case = Case::new(on_layer(0.5, [0.0, 0.0, -1.0], 0.0, far), Scheme::default(), 0.01);
    case.detect().unwrap();
    case.with(rows::write);
    assert!(case.ws.constraints.layer_surfaces[0].core_bias.is_none());
}

/// A layer that is not relaxed keeps its contact, however far the bodies are, until it is.   [SOFT-4]
#[test]
fn relaxing_layers_keep_their_contacts() {
    let mut case = Case::new(on_layer(0.49, [0.0; 3], 0.0, Layer::normal(100.0, 5.0)), Scheme::default(), 0.01);
    case.run(1);
    case.state.q[2] = 3.0;
    case.state.v.fill(0.0);
    let before = case.state.contacts[0].layer.unwrap().compression;
    assert!(before > 1e-3);
    case.run(1);
    let after = case.state.contacts[0].layer.unwrap().compression;
    // h K δ⁺ + C (δ⁺ − δ) = 0.
    assert_near(after, before * 5.0 / (5.0 + 0.01 * 100.0), 1e-12);
    assert_eq!(case.state.contacts[0].normal_impulse, 0.0);
    case.state.contacts[0].layer = Some(LayerMemory::default());
    case.detect().unwrap();
    assert!(case.ws.constraints.contacts.is_empty());
}

/// 1/m along a radius; 1/m + r²/I across it.
#[test]
fn inverse_effective_masses_are_those_of_a_ball() {
    let mut case = Case::new(on_layer(0.5, [0.0; 3], 0.0, Layer::normal(100.0, 5.0)), Scheme::default(), 0.01);
    case.detect().unwrap();
    let along =
        |d: &Vector3<f64>| layers::inverse_effective_mass(&case.model, &case.ws, case.contact(), case.contact().row(d));
    assert_near(along(&Vector3::z()), 0.5, 1e-12);
    assert_near(along(&Vector3::x()), 0.5 + 0.25 / (0.4 * 2.0 * 0.25), 1e-12);
}
