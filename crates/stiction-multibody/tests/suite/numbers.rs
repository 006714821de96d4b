//! Every number of a constructor, against every kind of bad number (B01), and the domains of each.

use std::sync::Arc;

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use stiction_geometry::planar;
use stiction_multibody::{
    BodyBuilder, BodyId, ContactRule, Damper, Dimension, Element, Expression, ExpressionMotion, JointKind, Load,
    ModelBuilder, ModelError, Pose, Spring, limits,
};

use crate::refusals::refused;

/// A constructor as a function of one of its numbers, with the element and field its errors must name.
struct Field {
    element: Element,
    name: &'static str,
    /// A legal value; for most fields zero is one.
    good: f64,
    build: Box<dyn Fn(f64) -> Result<(), ModelError>>,
}

fn field(
    element: Element,
    name: &'static str,
    good: f64,
    build: impl Fn(f64) -> Result<(), ModelError> + 'static,
) -> Field {
    Field { element, name, good, build: Box::new(build) }
}

type SetVector = fn(BodyBuilder, [f64; 3]) -> BodyBuilder;
type MakeRule = fn(f64) -> ContactRule;

/// A vector with `x` at position `k`.
fn at(k: usize, x: f64) -> [f64; 3] {
    let mut v = [0.0; 3];
    v[k] = x;
    v
}

fn space() -> ModelBuilder {
    ModelBuilder::new(Dimension::Spatial)
}

fn rigid() -> BodyBuilder {
    BodyBuilder::rigid("b", 1.0, Matrix3::identity())
}

fn named() -> Element {
    Element::Body("b".into())
}

fn body_fields() -> Vec<Field> {
    let mut fields = Vec::new();
    for k in 0..3 {
        fields.push(field(Element::Model, "gravity", 0.0, move |x| {
            let [x, y, z] = at(k, x);
            space().gravity(x, y, z).map(drop)
        }));
        let setters: [(&'static str, SetVector); 3] = [
            ("position", |b, [x, y, z]| b.position(x, y, z)),
            ("velocity", |b, [x, y, z]| b.velocity(x, y, z)),
            ("angular_velocity", |b, [x, y, z]| b.angular_velocity(x, y, z)),
        ];
        for (name, set) in setters {
            fields.push(field(named(), name, 0.0, move |x| space().body(set(rigid(), at(k, x))).map(drop)));
        }
        fields.push(field(named(), "orientation", 0.0, move |x| {
            let [x, y, z] = at(k, x);
            space().body(rigid().quaternion([1.0, x, y, z])).map(drop)
        }));
        fields.push(field(named(), "surface_velocity", 0.0, move |x| {
            space().body(rigid().conveyor(at(k, x).map(Expression::constant))).map(drop)
        }));
        fields.push(field(named(), "motion", 0.0, move |x| {
            let motion = ExpressionMotion {
                position: at(k, x).map(Expression::constant),
                axis: Vector3::z(),
                angle: Expression::constant(0.0),
                base: UnitQuaternion::identity(),
            };
            space().body(BodyBuilder::kinematic("b", Arc::new(motion))).map(drop)
        }));
        for j in 0..3 {
            let good = if k == j { 1.0 } else { 0.0 };
            fields.push(field(named(), "inertia", good, move |x| {
                let mut inertia = Matrix3::identity();
                inertia[(k, j)] = x;
                inertia[(j, k)] = x;
                space().body(BodyBuilder::rigid("b", 1.0, inertia)).map(drop)
            }));
        }
    }
    let flat = || ModelBuilder::new(Dimension::Planar);
    fields.push(field(named(), "orientation", 1.0, |w| space().body(rigid().quaternion([w, 0.0, 0.0, 0.0])).map(drop)));
    fields.push(field(named(), "angle", 0.0, move |x| {
        flat().body(BodyBuilder::planar("b", 1.0, 1.0).angle(x)).map(drop)
    }));
    fields.push(field(named(), "mass", 1.0, move |x| flat().body(BodyBuilder::planar("b", x, 1.0)).map(drop)));
    fields.push(field(named(), "inertia", 1.0, move |x| flat().body(BodyBuilder::planar("b", 1.0, x)).map(drop)));
    fields
        .push(field(named(), "mass", 1.0, |x| space().body(BodyBuilder::rigid("b", x, Matrix3::identity())).map(drop)));
    fields.push(field(named(), "mass", 1.0, |x| space().body(BodyBuilder::particle("b", x)).map(drop)));
    fields.push(field(named(), "motion", 0.0, move |x| {
        let zero = || Expression::constant(0.0);
        let motion = ExpressionMotion::planar(zero(), zero(), Expression::constant(x));
        flat().body(BodyBuilder::kinematic("b", Arc::new(motion))).map(drop)
    }));
    fields.push(field(Element::Shape("b".into(), 0), "position", 0.0, move |x| {
        let shape = planar::Shape::disc(1.0).unwrap().into();
        flat().body(BodyBuilder::planar("b", 1.0, 1.0).shape_at(shape, Pose::translation(x, 0.0, 0.0))).map(drop)
    }));
    fields
}

fn joint_fields() -> Vec<Field> {
    let joint = || Element::Joint("j".into());
    let with_body = || {
        let mut builder = space();
        let id = builder.body(rigid()).unwrap();
        (builder, id)
    };
    let mut fields = Vec::new();
    for k in 0..3 {
        fields.push(field(joint(), "anchor", 0.0, move |x| {
            let (mut builder, id) = with_body();
            let anchor = at(k, x).into();
            builder.joint_at("j", JointKind::Revolute, (BodyId::WORLD, id), anchor, Vector3::x()).map(drop)
        }));
        fields.push(field(joint(), "axis", 1.0, move |x| {
            let (mut builder, id) = with_body();
            let axis = at(k, x).into();
            builder.joint_at("j", JointKind::Revolute, (BodyId::WORLD, id), Vector3::zeros(), axis).map(drop)
        }));
        fields.push(field(joint(), "anchor", 0.0, move |x| {
            let (mut builder, id) = with_body();
            let [x, y, z] = at(k, x);
            let frame = Pose::translation(x, y, z);
            builder.joint("j", JointKind::Weld, (BodyId::WORLD, Pose::identity()), (id, frame)).map(drop)
        }));
    }
    fields.push(field(joint(), "length", 1.0, move |x| {
        let (mut builder, id) = with_body();
        let frame = Pose::identity();
        builder.joint("j", JointKind::Distance(x), (BodyId::WORLD, frame), (id, frame)).map(drop)
    }));
    fields.push(field(joint(), "gamma", 0.0, move |x| {
        let (mut builder, id) = with_body();
        let frame = Pose::identity();
        let joint = builder.joint("j", JointKind::Weld, (BodyId::WORLD, frame), (id, frame)).unwrap();
        builder.joint_gamma(joint, x).map(drop)
    }));
    fields
}

fn force_fields() -> Vec<Field> {
    let world = |x: f64| (BodyId::WORLD, Vector3::new(0.0, x, 0.0));
    let spring = move || Spring { a: world(0.0), b: world(0.0), stiffness: 1.0, rest_length: 1.0, damping: 1.0 };
    let damper = move || Damper { a: world(0.0), b: world(0.0), damping: 1.0 };
    let constants = |x: f64| [0.0, 0.0, x].map(Expression::constant);
    // Loads need a dynamic body: the builder with one, and a load on it.
    let loaded = move |set: &dyn Fn(&mut Load)| {
        let mut builder = space();
        let body = builder.body(BodyBuilder::rigid("b", 1.0, nalgebra::Matrix3::identity()))?;
        let mut load = Load { body, point: Vector3::zeros(), force: constants(0.0), torque: constants(0.0) };
        set(&mut load);
        builder.load(load).map(drop)
    };
    // Springs and dampers connect two bodies: the world and a fixed one.
    let anchored = || {
        let mut builder = space();
        let anchor = builder.body(BodyBuilder::fixed("anchor")).unwrap();
        (builder, anchor)
    };
    let of_spring = |name, good, set: fn(&mut Spring, f64)| {
        field(Element::Spring(0), name, good, move |x| {
            let ((mut builder, anchor), mut spring) = (anchored(), spring());
            spring.b.0 = anchor;
            set(&mut spring, x);
            builder.spring(spring).map(drop)
        })
    };
    let of_damper = |name, set: fn(&mut Damper, f64)| {
        field(Element::Damper(0), name, 0.0, move |x| {
            let ((mut builder, anchor), mut damper) = (anchored(), damper());
            damper.b.0 = anchor;
            set(&mut damper, x);
            builder.damper(damper).map(drop)
        })
    };
    vec![
        of_spring("stiffness", 0.0, |s, x| s.stiffness = x),
        of_spring("rest_length", 0.0, |s, x| s.rest_length = x),
        of_spring("damping", 0.0, |s, x| s.damping = x),
        of_spring("point", 0.0, |s, x| s.a.1.x = x),
        of_spring("point", 0.0, |s, x| s.b.1.z = x),
        of_damper("damping", |d, x| d.damping = x),
        of_damper("point", |d, x| d.a.1.y = x),
        of_damper("point", |d, x| d.b.1.y = x),
        field(Element::Load(0), "point", 0.0, move |x| loaded(&|load| load.point = world(x).1)),
        field(Element::Load(0), "force", 0.0, move |x| loaded(&|load| load.force = constants(x))),
        field(Element::Load(0), "torque", 0.0, move |x| loaded(&|load| load.torque = constants(x))),
    ]
}

fn contact_fields() -> Vec<Field> {
    let setters: [(&'static str, f64, MakeRule); 7] = [
        ("friction", 0.0, |x| ContactRule { friction: x, ..ContactRule::default() }),
        ("direction_offset", 0.0, |x| ContactRule { direction_offset: x, ..ContactRule::default() }),
        ("first_direction", 1.0, |x| ContactRule {
            first_direction: Some(Vector3::new(x, 0.0, 0.0)),
            ..ContactRule::default()
        }),
        ("first_direction", 1.0, |x| ContactRule {
            first_direction: Some(Vector3::new(0.0, x, 0.0)),
            ..ContactRule::default()
        }),
        ("first_direction", 1.0, |x| ContactRule {
            first_direction: Some(Vector3::new(0.0, 0.0, x)),
            ..ContactRule::default()
        }),
        ("gamma", 0.0, |x| ContactRule { gamma: Some(x), ..ContactRule::default() }),
        ("margin", 0.0, |x| ContactRule { margin: Some(x), ..ContactRule::default() }),
    ];
    setters
        .into_iter()
        .flat_map(|(name, good, rule)| {
            let default =
                field(Element::Contact(None), name, good, move |x| space().default_contact(rule(x)).map(drop));
            let pair = field(Element::Contact(Some(0)), name, good, move |x| {
                let mut builder = space();
                let id = builder.body(rigid()).unwrap();
                builder.contact(BodyId::WORLD, id, rule(x)).map(drop)
            });
            [default, pair]
        })
        .collect()
}

fn all_fields() -> Vec<Field> {
    [body_fields(), joint_fields(), force_fields(), contact_fields()].into_iter().flatten().collect()
}

/// B01.
#[test]
fn bad_numbers_are_refused_everywhere() {
    let smallest = f64::from_bits(1);
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, smallest, -smallest, 1e-310, 1e308, -1e308, f64::MAX];
    for Field { element, name, good, build } in all_fields() {
        build(good).unwrap();
        if good == 0.0 {
            build(-0.0).unwrap();
        }
        for x in bad {
            refused(build(x), &element, name);
        }
    }
}

/// A number that must not be negative is refused one step below zero.
#[test]
fn negative_numbers_are_refused_where_they_mean_nothing() {
    let names = ["stiffness", "rest_length", "damping", "friction", "margin", "gamma", "mass", "length"];
    let mut found = 0;
    for Field { element, name, build, .. } in all_fields().into_iter().filter(|field| names.contains(&field.name)) {
        refused(build(-1e-9), &element, name);
        found += 1;
    }
    assert!(found >= 15);
}

/// B03: the limits themselves are legal, and nothing beyond them.
#[test]
fn masses_have_a_domain() {
    let (least, most) = limits::MASS;
    let flat = || ModelBuilder::new(Dimension::Planar);
    let makers: [&dyn Fn(f64) -> Result<(), ModelError>; 3] = [
        &|m| flat().body(BodyBuilder::planar("b", m, 1.0)).map(drop),
        &|m| flat().body(BodyBuilder::particle("b", m)).map(drop),
        &|m| space().body(BodyBuilder::rigid("b", m, Matrix3::identity())).map(drop),
    ];
    for make in makers {
        for mass in [least, 1.0, most] {
            make(mass).unwrap();
        }
        for mass in [0.0, -0.0, -1.0, 1e-300, 1e300, least.next_down(), most.next_up()] {
            refused(make(mass), &named(), "mass");
        }
    }
}

/// B04.
#[test]
fn inertias_must_be_those_of_a_body() {
    let make = |inertia: Matrix3<f64>| space().body(BodyBuilder::rigid("b", 1.0, inertia)).map(drop);
    let principal = |a: f64, b: f64, c: f64| Matrix3::from_diagonal(&Vector3::new(a, b, c));
    let turned = |inertia: Matrix3<f64>| {
        let r = Rotation3::from_euler_angles(0.3, -0.8, 1.9);
        r.matrix() * inertia * r.matrix().transpose()
    };
    let good = [
        principal(1.0, 1.0, 1.0),
        principal(1.0, 2.0, 3.0), // a flat plate: the limit of the triangle inequality
        principal(1e-9, 1.0, 1.0),
        principal(1.0, 2.0, 3.0 * (1.0 + 1e-12)),
        turned(principal(1.0, 2.0, 3.0)),
        principal(1.0, 2.0, 2.5) + Matrix3::new(0.0, 1e-12, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ];
    for inertia in good {
        make(inertia).unwrap();
    }
    let bad = [
        (Matrix3::zeros(), "between"),
        (principal(0.0, 1.0, 1.0), "between"),
        (principal(-1.0, 1.0, 1.0), "between"),
        (turned(principal(-0.1, 1.0, 1.0)), "between"),
        (principal(1.0, 2.0, 3.3), "triangle"),
        (turned(principal(1.0, 2.0, 3.3)), "triangle"),
        (principal(1e-18, 1e-18, 1.0), "triangle"),
        (Matrix3::new(1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), "symmetric"),
    ];
    for (inertia, word) in bad {
        let reason = refused(make(inertia), &named(), "inertia");
        assert!(reason.contains(word), "{reason}");
    }
}

/// B07: almost unit quaternions are normalised, others refused.
#[test]
fn quaternions_must_be_almost_unit() {
    let make = |wxyz: [f64; 4]| {
        let mut builder = space();
        builder.body(rigid().quaternion(wxyz))?;
        Ok(builder.build()?.initial_state().q)
    };
    for scale in [1.0, 1.0 - 1e-3, 1.0 + 1e-3] {
        let q: Vec<f64> = make([0.5, -0.5, 0.5, -0.5].map(|x| x * scale)).unwrap();
        assert_eq!(q[3..], [0.5, -0.5, 0.5, -0.5]);
    }
    for wxyz in [[0.0; 4], [0.9, 0.0, 0.0, 0.0], [0.5, 0.5, 0.5, 0.6], [1e-9, 0.0, 0.0, 0.0], [f64::NAN, 0.0, 0.0, 1.0]]
    {
        refused(make(wxyz), &named(), "orientation");
    }
}

/// B07: an axis of any length is a direction, unless it is too short.
#[test]
fn axes_must_be_directions() {
    let make = |axis: Vector3<f64>| {
        let mut builder = space();
        let id = builder.body(rigid()).unwrap();
        builder.joint_at("j", JointKind::Revolute, (BodyId::WORLD, id), Vector3::zeros(), axis).map(drop)
    };
    for length in [1e-6, 1.0, 1e6] {
        make(Vector3::new(0.6, 0.0, 0.8) * length * (1.0 + 1e-12)).unwrap();
    }
    for axis in [Vector3::zeros(), Vector3::x() * 1e-9, Vector3::repeat(f64::NAN)] {
        refused(make(axis), &Element::Joint("j".into()), "axis");
    }
}

/// B09.
#[test]
fn friction_coefficients() {
    for mu in [0.0, -0.0, 1e-12, 10.0, 1e6, limits::FRICTION] {
        let mut builder = space();
        builder.default_contact(ContactRule { friction: mu, ..ContactRule::default() }).unwrap();
        let model = builder.build().unwrap();
        let kept = model.default_contact_rule().friction;
        assert_eq!(kept.to_bits(), mu.abs().to_bits());
    }
    for mu in [-0.1, -1e-300, f64::NAN, 1e10] {
        let rule = ContactRule { friction: mu, ..ContactRule::default() };
        refused(space().default_contact(rule).map(drop), &Element::Contact(None), "friction");
    }
    for directions in [0, 1, 2, 3, 5, 7, 1026, u32::MAX] {
        let rule = ContactRule { directions: Some(directions), ..ContactRule::default() };
        refused(space().default_contact(rule).map(drop), &Element::Contact(None), "directions");
    }
    for directions in [4, 6, 8, 1024] {
        space().default_contact(ContactRule { directions: Some(directions), ..ContactRule::default() }).unwrap();
    }
}
