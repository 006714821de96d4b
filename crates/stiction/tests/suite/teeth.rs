//! Bodies that slide over many corners: only real faces exert forces.

use std::sync::Arc;

use nalgebra::{Point2, Point3, Vector2};
use stiction::{
    BodyBuilder, BodyId, CornerLogic, Dimension, Expression, JointKind, Model, ModelBuilder, Pose, Preset, Scheme,
    Simulation, multibody::ExpressionMotion, planar,
};

use crate::support::{friction, q, solid_rectangle, v};

/// The outlines of bodies, in their own coordinates.
type Outlines = Vec<(BodyId, Vec<Point2<f64>>)>;

fn polygon(vertices: &[Point2<f64>]) -> stiction::Shape {
    planar::Shape::polygon(vertices).unwrap().into()
}

/// An outline in world coordinates.
fn placed(outline: &[Point2<f64>], pose: &Pose) -> Vec<Point2<f64>> {
    outline.iter().map(|p| (pose * Point3::new(p.x, p.y, 0.0)).xy()).collect()
}

/// Distance of a point from a closed line.
fn distance(point: &Point2<f64>, outline: &[Point2<f64>]) -> f64 {
    let edges = outline.iter().zip(outline.iter().cycle().skip(1));
    let to_edge = |(a, b): (&Point2<f64>, &Point2<f64>)| {
        let (edge, d) = (b - a, point - a);
        let s = (d.dot(&edge) / edge.norm_squared()).clamp(0.0, 1.0);
        (d - edge * s).norm()
    };
    edges.map(to_edge).fold(f64::INFINITY, f64::min)
}

/// Asserts that every loaded contact is a vertex of one outline on the line of the other at the end of the step, to `slack`.
fn check_faces(simulation: &Simulation, outlines: &Outlines, slack: f64) -> usize {
    let outline_of = |body| &outlines.iter().find(|(id, _)| *id == body).unwrap().1;
    let mut pushing = 0;
    for contact in simulation.contacts().iter().filter(|contact| contact.normal_impulse > 0.0) {
        let (a, b) = (outline_of(contact.body_a), outline_of(contact.body_b));
        let at = |body| simulation.configuration().pose(body);
        let (world_a, world_b) = (placed(a, &at(contact.body_a)), placed(b, &at(contact.body_b)));
        let (feature_a, feature_b) =
            ((contact.id.feature.0 >> 32) as usize, (contact.id.feature.0 & 0xffff_ffff) as usize);
        // Features are numbered vertices first, then edges.
        let off = match (feature_a < a.len(), feature_b < b.len()) {
            (true, false) => distance(&world_a[feature_a], &world_b),
            (false, true) => distance(&world_b[feature_b], &world_a),
            (true, true) => (world_a[feature_a] - world_b[feature_b]).norm(),
            (false, false) => panic!("two faces do not meet: {contact:?}"),
        };
        assert!(off <= slack, "{off:e} m from the face at t = {}: {contact:?}", simulation.time());
        pushing += 1;
    }
    pushing
}

fn schemes() -> [(&'static str, Scheme); 3] {
    let mut disjunctive = Preset::StewartTrinkle.scheme();
    disjunctive.corners = CornerLogic::Disjunctive;
    [
        ("exact, quadratic", Preset::Ncp.scheme()),
        ("exact, linear", Preset::StewartTrinkle.scheme()),
        ("disjunctive", disjunctive),
    ]
}

const PITCH: f64 = 0.2;
const DEPTH: f64 = 0.1;

/// A floor of 50 teeth with their tips at y = 0, steep on one side.
fn saw() -> Vec<Point2<f64>> {
    let mut outline = vec![Point2::new(0.0, -1.0), Point2::new(50.0 * PITCH, -1.0)];
    for tooth in (0..50).rev() {
        let x = f64::from(tooth) * PITCH;
        outline.push(Point2::new(x + PITCH, -DEPTH));
        outline.push(Point2::new(x + 0.3 * PITCH, 0.0));
    }
    outline.push(Point2::new(0.0, -DEPTH));
    outline
}

fn on_saw(mu: f64, speed: f64) -> (Model, Outlines) {
    let half = [0.55, 0.2];
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).unwrap();
    let floor = builder.body(BodyBuilder::fixed("saw").shape(polygon(&saw()))).unwrap();
    let block = solid_rectangle("block", 1.0, half).position(0.7, half[1], 0.0).velocity(speed, 0.0, 0.0);
    let block = builder.body(block).unwrap();
    builder.default_contact(friction(mu)).unwrap();
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let outline = corners.map(|[x, y]: [f64; 2]| Point2::new(x * half[0], y * half[1])).to_vec();
    (builder.build().unwrap(), vec![(floor, saw()), (block, outline)])
}

#[test]
fn a_block_slides_over_fifty_teeth_as_over_a_floor() {
    for (name, scheme) in schemes() {
        let (model, outlines) = on_saw(0.0, 2.0);
        let mut simulation = Simulation::new(model, scheme, 0.01).unwrap();
        let mut pushing = 0;
        for _ in 0..400 {
            let report = simulation.step().unwrap();
            assert!(report.residual.value < 1e-9);
            pushing += check_faces(&simulation, &outlines, 1e-9);
            let (q, v) = (q(&simulation, "block"), v(&simulation, "block"));
            assert!((q[1] - 0.2).abs() < 1e-9 && (v[0] - 2.0).abs() < 1e-9 && v[2].abs() < 1e-8, "{name}: {q:?} {v:?}");
        }
        assert!(pushing >= 400, "{name}: {pushing} contacts pushed");
    }
}

#[test]
fn with_friction_it_stops_where_a_floor_would_stop_it() {
    for (name, scheme) in schemes() {
        let (model, outlines) = on_saw(0.2, 3.0);
        let h = 0.001;
        let mut simulation = Simulation::new(model, scheme, h).unwrap();
        let start = q(&simulation, "block")[0];
        for _ in 0..1700 {
            let _ = simulation.step().unwrap();
            let _ = check_faces(&simulation, &outlines, 1e-6);
        }
        let (way, expected) = (q(&simulation, "block")[0] - start, 9.0 / (2.0 * 0.2 * 9.81));
        assert!((way - expected).abs() < 2.0 * 3.0 * h, "{name}: {way} m instead of {expected} m");
        assert!(v(&simulation, "block").iter().all(|v| v.abs() < 1e-9), "{name}");
    }
}

const TEETH: usize = 30;
const OUTER: f64 = 1.0;
const INNER: f64 = 0.9;

/// A gear of pointed teeth, a tip at angle zero.
fn gear() -> Vec<Point2<f64>> {
    let angle = std::f64::consts::PI / TEETH as f64;
    let radius = |k: usize| if k.is_multiple_of(2) { OUTER } else { INNER };
    (0..2 * TEETH)
        .map(|k| Point2::from(Vector2::new((k as f64 * angle).cos(), (k as f64 * angle).sin()) * radius(k)))
        .collect()
}

/// A follower that slides in a vertical guide above a turning gear, with its tip on the teeth.
fn follower(mu: f64, rate: f64) -> (Model, Outlines) {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).unwrap();
    let zero = || Expression::constant(0.0);
    // A tip is at the top at the start: 90° is seven and a half teeth.
    let turn = Expression::parse(&format!("{} + {rate} * t", std::f64::consts::PI / TEETH as f64)).unwrap();
    let motion = ExpressionMotion::planar(zero(), zero(), turn);
    let wheel = builder.body(BodyBuilder::kinematic("gear", Arc::new(motion)).shape(polygon(&gear()))).unwrap();
    let tip = vec![Point2::new(0.0, 0.0), Point2::new(0.02, 0.2), Point2::new(-0.02, 0.2)];
    let pin = BodyBuilder::planar("pin", 1.0, 0.01).position(0.0, OUTER, 0.0).shape(polygon(&tip));
    let pin = builder.body(pin).unwrap();
    let up = nalgebra::Vector3::y();
    builder
        .joint_at("guide", JointKind::Prismatic, (BodyId::WORLD, pin), nalgebra::Vector3::new(0.0, OUTER, 0.0), up)
        .unwrap();
    builder.default_contact(friction(mu)).unwrap();
    (builder.build().unwrap(), vec![(wheel, gear()), (pin, tip)])
}

/// Height of the gear above its centre on the vertical line, when it has turned by an angle.
fn profile(angle: f64) -> f64 {
    let outline = placed(&gear(), &Pose::rotation(nalgebra::Vector3::z() * angle));
    let edges = outline.iter().zip(outline.iter().cycle().skip(1));
    let crossing = edges.filter(|(a, b)| a.y > 0.0 && (a.x >= 0.0) != (b.x >= 0.0));
    crossing.map(|(a, b)| a.y + (b.y - a.y) * (a.x / (a.x - b.x))).fold(0.0, f64::max)
}

/// Without inertia the tip follows the profile over a whole turn; nothing but the face under it pushes.
#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn a_tip_follows_a_gear_of_thirty_teeth() {
    let mut linear = Preset::Quasistatic.scheme();
    linear.friction = stiction::FrictionSet::Polygon;
    let mut disjunctive = linear.clone();
    disjunctive.corners = CornerLogic::Disjunctive;
    for (name, scheme) in
        [("exact, quadratic", Preset::Quasistatic.scheme()), ("exact, linear", linear), ("disjunctive", disjunctive)]
    {
        let (rate, h) = (1.0, 0.001);
        let (model, outlines) = follower(0.3, rate);
        let mut simulation = Simulation::new(model, scheme, h).unwrap();
        for _ in 0..6283 {
            let report = simulation.step().unwrap();
            assert_eq!(check_faces(&simulation, &outlines, 2.0 * h), 1, "{name} at t = {}", report.time);
            let expected = profile(std::f64::consts::PI / TEETH as f64 + rate * report.time);
            let height = q(&simulation, "pin")[1];
            assert!(
                (height - expected).abs() < 2.0 * h,
                "{name}: {height} instead of {expected} at t = {}",
                report.time
            );
        }
    }
}

/// The tip goes over a tooth in one step, at its height and in whole steps: the tooth does not push it sideways, against its guide.
#[test]
fn a_tip_goes_over_teeth_in_whole_steps() {
    let (rate, h) = (1.0, 0.001);
    let (model, outlines) = follower(0.3, rate);
    let mut simulation = Simulation::new(model, Preset::Quasistatic.scheme(), h).unwrap();
    for _ in 0..500 {
        let report = simulation.step().unwrap();
        assert!(report.substeps == 1 && report.penetration < 1e-9, "{report:?}");
        assert_eq!(check_faces(&simulation, &outlines, 2.0 * h), 1, "t = {}", report.time);
        let expected = profile(std::f64::consts::PI / TEETH as f64 + rate * report.time);
        assert!((q(&simulation, "pin")[1] - expected).abs() < 2.0 * h, "t = {}", report.time);
    }
}

/// With inertia it flies off the tips where it must; what pushes is still a real face.
#[test]
fn a_tip_with_inertia_is_pushed_by_real_faces_only() {
    for (name, scheme) in schemes() {
        let h = 0.001;
        let (model, outlines) = follower(0.3, 1.0);
        let mut simulation = Simulation::new(model, scheme, h).unwrap();
        let mut pushing = 0;
        for _ in 0..3000 {
            let report = simulation.step().unwrap();
            pushing += check_faces(&simulation, &outlines, 3.0 * h);
            assert!(report.penetration < 2.0 * h, "{name}: {} at t = {}", report.penetration, report.time);
        }
        assert!(pushing > 300, "{name}: pushed {pushing} times");
    }
}
