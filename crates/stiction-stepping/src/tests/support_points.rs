//! Support points: place, motion of the surface below, friction and reports.

use nalgebra::Vector3;
use stiction_multibody::{
    BodyBuilder, BodyId, ContactMode, Dimension, LimitSurface, Model, ModelBuilder, SupportBuilder,
};

use super::support::{Case, G, assert_all_near, assert_close, assert_near, disc, expression, prescribed};
use crate::{PrescribedSlip, Preset, Scheme};

const FEET: [[f64; 2]; 3] = [[0.2, 0.0], [-0.1, 0.2], [-0.1, -0.2]];

fn slab(below: Option<BodyBuilder>, slab: BodyBuilder, support: SupportBuilder) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, 0.0, -G).unwrap();
    let on = below.map_or(BodyId::WORLD, |below| builder.body(below).unwrap());
    let body = builder.body(slab).unwrap();
    builder.support(body, &support.on(on).friction(0.25)).unwrap();
    builder.build().unwrap()
}

/// Points turn with the body, and the tripod carries the weight.
#[test]
fn feet_are_placed_with_their_loads() {
    let body = disc("slab", 2.0, 0.5).position(3.0, 1.0, 0.0).angle(std::f64::consts::FRAC_PI_2);
    let mut case = Case::new(slab(None, body, SupportBuilder::tripod(FEET)), Scheme::default(), 0.01);
    case.detect().unwrap();
    let points = &case.ws.constraints.support_points;
    for (point, [x, y]) in points.iter().zip(FEET) {
        assert_close(&point.point.coords, &Vector3::new(3.0 - y, 1.0 + x, 0.0), 1e-14);
        assert_close(&point.arm, &Vector3::new(-y, x, 0.0), 1e-14);
        assert_close(&point.arm_on, &point.point.coords, 1e-14);
        assert_near(point.load, 2.0 * G / 3.0, 1e-12);
    }
    assert_eq!(points.len(), 3);
}

/// A sliding slab is braked by μ m g and stops; then its feet stick.
#[test]
fn sliding_slabs_are_braked_by_their_weight() {
    for preset in [Preset::Ncp, Preset::StewartTrinkle] {
        let body = disc("slab", 2.0, 0.5).velocity(1.0, 0.0, 0.0);
        let mut case = Case::new(slab(None, body, SupportBuilder::tripod(FEET)), preset.scheme(), 0.01);
        for k in 1..=50 {
            case.run(1);
            let expected = (1.0 - 0.25 * G * 0.01 * f64::from(k)).max(0.0);
            assert_all_near(case.v("slab"), &[expected, 0.0, 0.0], 1e-9);
            let mode = if expected > 1e-9 { ContactMode::Slip } else { ContactMode::Stick };
            assert!(case.ws.result.support_reports.iter().all(|report| report.mode == mode), "step {k}");
        }
    }
}

/// The friction of a limit surface in pure spin is its torque; the report has spin and torsional impulse.
#[test]
fn limit_surfaces_brake_spin() {
    let surface = LimitSurface::ellipsoid(0.2).unwrap();
    let body = disc("slab", 2.0, 0.5).angular_velocity(0.0, 0.0, 5.0);
    let mut case = Case::new(slab(None, body, SupportBuilder::limit_surface(surface)), Scheme::default(), 0.01);
    case.run(1);
    let torque: f64 = case.ws.result.support_reports.iter().map(|report| report.spin_impulse).sum();
    // μ N times the lever.
    assert_near(torque, -0.25 * 2.0 * G * 0.2 * 0.01, 1e-9);
    assert_near(case.v("slab")[2], 5.0 + torque / 0.25, 1e-9);
    assert!(case.ws.result.support_reports.iter().all(|report| (report.spin - case.v("slab")[2]).abs() < 1e-12));
}

/// A slab at the speed of a moving and turning table keeps its place on it exactly.
#[test]
fn slabs_follow_the_table_below() {
    let surface = LimitSurface::uniform_disc(0.3).unwrap();
    for support in [SupportBuilder::tripod(FEET), SupportBuilder::limit_surface(surface)] {
        let table = prescribed("table", ["0.5*t", "0", "0.3*t"]);
        let body = disc("slab", 2.0, 0.5).position(1.0, 0.0, 0.0).velocity(0.5, 0.3, 0.0);
        let body = body.angular_velocity(0.0, 0.0, 0.3);
        let mut case = Case::new(slab(Some(table), body, support), Scheme::default(), 0.01);
        case.run(20);
        let (sin, cos) = libm::sincos(0.3 * case.state.time);
        assert_all_near(case.q("slab"), &[0.5 * case.state.time + cos, sin, 0.3 * case.state.time], 1e-9);
        assert!(case.ws.result.support_reports.iter().all(|report| report.mode == ContactMode::Stick));
    }
}

/// The velocity of the surface at its start and end, and of a conveyor belt at its middle.
#[test]
fn surfaces_move_as_the_scheme_says() {
    for (slip, speed) in
        [(PrescribedSlip::Start, 1.0), (PrescribedSlip::Displacement, 1.05), (PrescribedSlip::End, 1.1)]
    {
        let table = prescribed("table", ["0.5*t*t", "0", "0"]);
        let model = slab(Some(table), disc("slab", 2.0, 0.5), SupportBuilder::point());
        let mut case = Case::new(model, Scheme { prescribed_slip: slip, ..Scheme::default() }, 0.1);
        case.state.time = 1.0;
        case.detect().unwrap();
        assert_close(&case.ws.constraints.support_points[0].surface_velocity, &Vector3::new(-speed, 0.0, 0.0), 1e-12);
    }
    let belt = BodyBuilder::fixed("belt").conveyor(["t", "2", "0"].map(expression));
    let mut case = Case::new(slab(Some(belt), disc("slab", 2.0, 0.5), SupportBuilder::point()), Scheme::default(), 0.1);
    case.detect().unwrap();
    assert_close(&case.ws.constraints.support_points[0].surface_velocity, &Vector3::new(-0.05, -2.0, 0.0), 1e-12);
}

/// Friction acts back on a dynamic body below.
#[test]
fn friction_on_a_lower_slab_conserves_momentum() {
    let below = disc("below", 3.0, 1.0);
    let body = disc("slab", 2.0, 0.5).velocity(1.0, 0.0, 0.0).angular_velocity(0.0, 0.0, 1.0);
    let mut case = Case::new(slab(Some(below), body, SupportBuilder::tripod(FEET)), Scheme::default(), 0.01);
    case.run(5);
    let (a, b) = (case.v("slab").to_vec(), case.v("below").to_vec());
    assert!(b[0] > 0.01);
    assert_near(2.0 * a[0] + 3.0 * b[0], 2.0, 1e-10);
    assert_near(2.0 * a[1] + 3.0 * b[1], 0.0, 1e-10);
}
