//! Uniqueness of quasistatic motions: scenes whose answer is known by construction.   [QS-6]

use std::sync::Arc;

use nalgebra::{Vector2, Vector3};
use stiction::{
    BodyBuilder, ContactRule, Dimension, Expression, FrictionSet, JointKind, Load, Model, ModelBuilder, Pose, Preset,
    Scheme, Simulation, Uniqueness, multibody::ExpressionMotion, planar, spatial,
};

use crate::support::{constant, friction, solid_rectangle, step};

const MU: f64 = 0.4;
const WEIGHT: f64 = 9.81;

/// Parameters of a scene of a particle on a plane.
struct Particle {
    friction: f64,
    /// Horizontal force.
    drag: [f64; 2],
    /// Velocity of a frictionless fence that touches it from x < 0.
    fence: Option<f64>,
}

/// A particle of 1 kg on the plane z = 0.
fn particle(scene: &Particle) -> Model {
    let half_space = |n: Vector3<f64>| spatial::Shape::half_space(n).unwrap().into();
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -WEIGHT).unwrap();
    let plane = builder.body(BodyBuilder::fixed("plane").shape(half_space(Vector3::z()))).unwrap();
    let id = builder.body(BodyBuilder::particle("p", 1.0).shape(spatial::Shape::Point.into())).unwrap();
    builder.contact(plane, id, friction(scene.friction)).unwrap();
    let [x, y] = scene.drag;
    let load = Load { body: id, point: Vector3::zeros(), force: constant(x, y, 0.0), torque: constant(0.0, 0.0, 0.0) };
    builder.load(load).unwrap();
    if let Some(speed) = scene.fence {
        let motion = ExpressionMotion {
            position: [
                Expression::parse(&format!("{speed} * t")).unwrap(),
                Expression::constant(0.0),
                Expression::constant(0.0),
            ],
            axis: Vector3::z(),
            angle: Expression::constant(0.0),
            base: nalgebra::UnitQuaternion::identity(),
        };
        let fence = BodyBuilder::kinematic("fence", Arc::new(motion)).shape(half_space(Vector3::x()));
        let fence = builder.body(fence).unwrap();
        builder.contact(fence, id, ContactRule::default()).unwrap();
    }
    builder.build().unwrap()
}

/// A box on a floor of the plane.
fn on_floor(mu: f64) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -WEIGHT, 0.0).unwrap();
    let floor = planar::Shape::half_plane(Vector2::y()).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(floor.into())).unwrap();
    builder.body(solid_rectangle("box", 1.0, [0.5, 0.25]).position(0.0, 0.25, 0.0)).unwrap();
    builder.default_contact(friction(mu)).unwrap();
    builder.build().unwrap()
}

/// A particle in a groove of two smooth planes: across it is held, along it in space it is not.
fn in_groove(dimension: Dimension) -> Model {
    let mut builder = ModelBuilder::new(dimension);
    let s = 0.5_f64.sqrt();
    let (down, shapes): (_, [stiction::Shape; 2]) = match dimension {
        Dimension::Planar => {
            let side = |x: f64| planar::Shape::half_plane(Vector2::new(x, s)).unwrap().into();
            ([0.0, -WEIGHT, 0.0], [side(s), side(-s)])
        }
        Dimension::Spatial => {
            let side = |x: f64| spatial::Shape::half_space(Vector3::new(x, 0.0, s)).unwrap().into();
            ([0.0, 0.0, -WEIGHT], [side(s), side(-s)])
        }
    };
    builder.gravity(down[0], down[1], down[2]).unwrap();
    let [left, right] = shapes;
    builder.body(BodyBuilder::fixed("left").shape(left)).unwrap();
    builder.body(BodyBuilder::fixed("right").shape(right)).unwrap();
    let point = match dimension {
        Dimension::Planar => planar::Shape::point().into(),
        Dimension::Spatial => spatial::Shape::Point.into(),
    };
    builder.body(BodyBuilder::particle("p", 1.0).shape(point)).unwrap();
    builder.build().unwrap()
}

/// A weight on a rod below its pivot: along the circle no force holds it to first order.
fn hanging() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -WEIGHT, 0.0).unwrap();
    let weight = builder.body(BodyBuilder::particle("weight", 1.0).position(0.0, -1.0, 0.0)).unwrap();
    let at = |body| (body, Pose::identity());
    builder.joint("rod", JointKind::Distance(1.0), at(stiction::BodyId::WORLD), at(weight)).unwrap();
    builder.build().unwrap()
}

fn linear(directions: u32) -> Scheme {
    let mut scheme = Preset::Quasistatic.scheme();
    (scheme.friction, scheme.directions) = (FrictionSet::Polygon, directions);
    scheme
}

#[test]
fn the_detector_knows_the_answer_of_every_scene() {
    let quadratic = || Preset::Quasistatic.scheme();
    let free = |drag, fence, friction| particle(&Particle { friction, drag, fence });
    let edge = MU * WEIGHT;
    let cases: Vec<(&str, Model, Scheme, bool)> = vec![
        ("at rest on a rough plane", free([0.0, 0.0], None, MU), quadratic(), true),
        ("at rest on a smooth plane", free([0.0, 0.0], None, 0.0), quadratic(), false),
        ("dragged by half of what friction holds", free([0.5 * edge, 0.0], None, MU), quadratic(), true),
        // The counter-example to the published condition.
        ("dragged by exactly what friction holds", free([0.6 * edge, 0.8 * edge], None, MU), quadratic(), false),
        ("pushed by a smooth fence on a rough plane", free([0.0, 0.0], Some(0.3), MU), quadratic(), true),
        ("pushed by a smooth fence on a smooth plane", free([0.0, 0.0], Some(0.3), 0.0), quadratic(), false),
        ("touching a fence that rests, on a rough plane", free([0.0, 0.0], Some(0.0), MU), quadratic(), true),
        ("pushed, and dragged along the fence", free([0.0, 0.5 * edge], Some(0.3), MU), quadratic(), true),
        ("in a groove of the plane", in_groove(Dimension::Planar), quadratic(), true),
        ("in a groove in space", in_groove(Dimension::Spatial), quadratic(), false),
        ("a box on a rough floor", on_floor(MU), quadratic(), true),
        ("a box on a smooth floor", on_floor(0.0), quadratic(), false),
        ("hanging from a rod", hanging(), quadratic(), false),
        ("diamond: at rest on a rough plane", free([0.0, 0.0], None, MU), linear(4), true),
        ("diamond: dragged at a corner", free([edge, 0.0], None, MU), linear(4), false),
        ("diamond: dragged on a side", free([0.5 * edge, 0.5 * edge], None, MU), linear(4), false),
        ("diamond: dragged inside", free([0.4 * edge, 0.3 * edge], None, MU), linear(4), true),
        // The corner of the diamond allows any direction between its two sides.
        ("diamond: pushed by a smooth fence", free([0.0, 0.0], Some(0.3), MU), linear(4), false),
        ("box on a smooth floor, linear", on_floor(0.0), linear(4), false),
    ];
    for (name, model, scheme, unique) in cases {
        let mut simulation = Simulation::new(model, scheme, 0.01).unwrap();
        assert_eq!(simulation.uniqueness(), None, "nothing has moved yet");
        let _ = step(&mut simulation);
        let found = simulation.uniqueness().unwrap();
        assert_eq!(found == Uniqueness::Unique, unique, "{name}: {found:?}, v = {:?}", simulation.state().v);
        if let Uniqueness::NotUnique(direction) = found {
            let norm: f64 = direction.iter().map(|x| x * x).sum();
            assert!(
                direction.len() == simulation.state().v.len() && (norm - 1.0).abs() < 1e-9,
                "{name}: {direction:?}"
            );
        }
    }
}

#[test]
fn with_inertia_nobody_asks() {
    let mut simulation = Simulation::new(on_floor(MU), Preset::Ncp.scheme(), 0.01).unwrap();
    let _ = step(&mut simulation);
    assert_eq!(simulation.uniqueness(), None);
}

/// Every direction that the detector gives is a motion as good as the solution: scaled to be small, it changes no work and no gap.
#[test]
fn a_dragged_particle_may_go_forward_and_nowhere_else() {
    let model = particle(&Particle { friction: MU, drag: [0.6 * MU * WEIGHT, 0.8 * MU * WEIGHT], fence: None });
    let mut simulation = Simulation::new(model, Preset::Quasistatic.scheme(), 0.01).unwrap();
    let _ = step(&mut simulation);
    assert!(simulation.state().v.iter().all(|v| v.abs() < 1e-9), "lazy: {:?}", simulation.state().v);
    let Some(Uniqueness::NotUnique(direction)) = simulation.uniqueness() else { panic!("it is not unique") };
    let forward = [0.6, 0.8, 0.0];
    assert!(direction.iter().zip(forward).all(|(x, wanted)| (x - wanted).abs() < 1e-6), "{direction:?}");
}

#[test]
fn a_body_that_nothing_holds_is_named() {
    let model = particle(&Particle { friction: 0.5 * MU, drag: [MU * WEIGHT, 0.0], fence: None });
    for scheme in [Preset::Quasistatic.scheme(), linear(4)] {
        let mut simulation = Simulation::new(model.clone(), scheme, 0.01).unwrap();
        let before = simulation.state().clone();
        let error = simulation.step().unwrap_err().to_string();
        assert!(error.contains("body \"p\"") && error.contains("cannot be balanced"), "{error}");
        assert!(simulation.state().bit_equal(&before));
    }
}
