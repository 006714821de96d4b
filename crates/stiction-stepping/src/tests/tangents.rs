//! Tangent frames and friction polygons.

use nalgebra::Vector3;
use stiction_multibody::{Configuration, ContactRule, Dimension};
use stiction_testkit::Random;

use super::support::{Case, assert_close, assert_near, ball, world};
use crate::{
    Scheme,
    tangents::{first_tangent, push_polygon_vertices, tangents, tangents_change},
};

fn normals(count: usize) -> Vec<Vector3<f64>> {
    let mut random = Random::new(5);
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
    axes.into_iter().chain(axes.map(|axis| -axis)).chain((0..count).map(|_| random.direction().into())).collect()
}

/// Configuration with a turned body, and the id of the body.
fn turned() -> (Case, stiction_multibody::BodyId) {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let body = ball("ball", 1.0, 0.5).quaternion([half, 0.0, 0.0, half]);
    let case = Case::new(world(Dimension::Spatial, ContactRule::default(), [body]), Scheme::default(), 0.01);
    let id = case.body("ball");
    (case, id)
}

#[test]
fn tangents_and_normal_are_a_right_handed_frame() {
    let at = Configuration::default();
    for normal in normals(50) {
        let [t, o] = tangents(&normal, &ContactRule::default(), Dimension::Spatial, &at);
        assert_near(t.norm(), 1.0, 1e-14);
        assert_near(t.dot(&normal), 0.0, 1e-14);
        assert_close(&normal.cross(&t), &o, 1e-14);
    }
}

/// In the plane the tangent is the normal turned by a right angle, and there is one.
#[test]
fn planar_tangents_are_normals_turned_left() {
    let rule = ContactRule { ellipse: [0.5, 0.7], ..ContactRule::default() };
    for angle in [0.0, 1.0, 2.5, -2.0] {
        let (sin, cos) = libm::sincos(angle);
        let normal = Vector3::new(cos, sin, 0.0);
        let [t, o] = tangents(&normal, &rule, Dimension::Planar, &Configuration::default());
        assert_close(&t, &(Vector3::z().cross(&normal) * 0.5), 1e-15);
        assert_eq!(o, Vector3::zeros());
    }
}

/// The offset turns both tangents about the normal, and they have the lengths of the semi-axes.
#[test]
fn ellipses_scale_and_offsets_turn_the_frame() {
    let at = Configuration::default();
    for normal in normals(10) {
        let [t, o] = tangents(&normal, &ContactRule::default(), Dimension::Spatial, &at);
        let rule = ContactRule { ellipse: [2.0, 0.5], direction_offset: 0.4, ..ContactRule::default() };
        let [along, across] = tangents(&normal, &rule, Dimension::Spatial, &at);
        assert_near(along.norm(), 2.0, 1e-14);
        assert_near(across.norm(), 0.5, 1e-14);
        assert_near(libm::atan2(along.dot(&o), along.dot(&t)), 0.4, 1e-14);
        assert_near(along.dot(&across), 0.0, 1e-14);
    }
}

#[test]
fn requested_directions_are_projected_unless_they_are_steep() {
    for normal in normals(20) {
        let wanted = Vector3::new(0.3, 0.5, -0.8).normalize();
        let t = first_tangent(&normal, Some(&wanted));
        let flat = wanted - normal * normal.dot(&wanted);
        assert_close(&t, &flat.normalize(), 1e-13);
        // A direction along the normal has no projection: another tangent is taken.
        let steep = first_tangent(&normal, Some(&normal));
        assert_near(steep.norm(), 1.0, 1e-14);
        assert_near(steep.dot(&normal), 0.0, 1e-14);
        assert_close(&steep, &first_tangent(&normal, None), 0.0);
    }
}

/// A direction fixed to a body turns with it.
#[test]
fn directions_of_a_body_turn_with_it() {
    let (case, id) = turned();
    let at = case.configuration(&case.state.q);
    let rule = ContactRule { direction_body: Some(id), ..ContactRule::default() };
    let [t, _] = tangents(&Vector3::z(), &rule, Dimension::Spatial, &at);
    assert_close(&t, &Vector3::y(), 1e-14);
    let rule = ContactRule { first_direction: Some(Vector3::y()), ..rule };
    let [t, _] = tangents(&Vector3::z(), &rule, Dimension::Spatial, &at);
    assert_close(&t, &-Vector3::x(), 1e-14);
}

/// Derivatives along a turn of the normal and of the body, against difference quotients.
#[test]
fn changes_of_tangents_are_difference_quotients() {
    let (case, id) = turned();
    let mut random = Random::new(8);
    let dt = 1e-6;
    let base = ContactRule {
        ellipse: [1.5, 0.6],
        direction_offset: 0.3,
        first_direction: Some(Vector3::new(0.6, 0.0, 0.8)),
        ..ContactRule::default()
    };
    for rule in [base.clone(), ContactRule { direction_body: Some(id), ..base }, ContactRule::default()] {
        for normal in normals(10) {
            let (spin, turn): (Vector3<f64>, Vector3<f64>) = (random.direction().into(), random.direction().into());
            let change = spin.cross(&normal);
            let at_time = |dt: f64| {
                let mut v = vec![0.0; 6];
                v[3..].copy_from_slice(turn.as_slice());
                let at = case.configuration(&case.moved(&v, dt));
                tangents(&(normal + change * dt).normalize(), &rule, Dimension::Spatial, &at)
            };
            let (ahead, behind) = (at_time(dt), at_time(-dt));
            let at = case.configuration(&case.state.q);
            let found = tangents_change((&normal, &change), &rule, Dimension::Spatial, (&at, &turn));
            for k in 0..2 {
                assert_close(&found[k], &((ahead[k] - behind[k]) / (2.0 * dt)), 1e-7);
            }
        }
    }
}

#[test]
fn planar_tangents_change_with_the_normal() {
    let rule = ContactRule { ellipse: [0.5, 1.0], ..ContactRule::default() };
    let (normal, at) = (Vector3::new(0.6, 0.8, 0.0), Configuration::default());
    let change = Vector3::z().cross(&normal) * 3.0;
    let [t, o] = tangents_change((&normal, &change), &rule, Dimension::Planar, (&at, &Vector3::zeros()));
    assert_close(&t, &(normal * -1.5), 1e-14);
    assert_eq!(o, Vector3::zeros());
}

/// Vertices lie on the ellipse at equal angles of its parameter, each has its exact opposite, and earlier entries stay.
#[test]
fn polygons_have_vertices_on_the_ellipse_with_exact_opposites() {
    for count in [4, 6, 8, 32] {
        let (t, o) = (Vector3::new(2.0, 0.0, 0.0), Vector3::new(0.0, 0.5, 0.0));
        let mut vertices = vec![Vector3::z()];
        push_polygon_vertices(&[t, o], count, Dimension::Spatial, &mut vertices);
        assert_eq!(vertices.len(), count + 1);
        assert_eq!(vertices[0], Vector3::z());
        let own = &vertices[1..];
        assert_eq!(own[0], t);
        for (k, d) in own.iter().enumerate() {
            assert_near((d.x / 2.0) * (d.x / 2.0) + (d.y / 0.5) * (d.y / 0.5), 1.0, 1e-14);
            assert_eq!(*d, -own[(k + count / 2) % count], "opposites are exact");
        }
        let area: f64 = (0..count).map(|k| own[k].cross(&own[(k + 1) % count]).z).sum::<f64>() / 2.0;
        let angle = std::f64::consts::TAU / count as f64;
        assert_near(area, 0.5 * count as f64 * libm::sin(angle), 1e-12);
    }
}

#[test]
fn planar_polygons_are_segments() {
    let mut vertices = Vec::new();
    push_polygon_vertices(&[Vector3::x(), Vector3::zeros()], 8, Dimension::Planar, &mut vertices);
    assert_eq!(vertices, [Vector3::x(), -Vector3::x()]);
}
