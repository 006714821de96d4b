//! Geometrically implicit steps: contacts hold at the end of the step, whatever the shapes, and Newton's method finds it.

use std::sync::Arc;

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use stiction::{
    BodyBuilder, ContactMode, ContactRule, Dimension, Expression, JointKind, Layer, LayerRule, LineariseAt, Model,
    ModelBuilder, Pose, Preset, Scheme, Shape, Simulation, SupportBuilder,
    geometry::implicit::{Scratch, closest},
    multibody::ExpressionMotion,
    planar, spatial,
};
use stiction_testkit::{count_allocations, reference};

use crate::{
    ellipse::ellipse,
    support::{friction, on_floor, run, solid_ball, step, world},
};

fn implicit() -> Scheme {
    Preset::GeometricallyImplicit.scheme()
}

/// The same equations, solved by another method.
fn fixed_point() -> Scheme {
    let mut scheme = Preset::Ncp.scheme();
    scheme.linearise_at = LineariseAt::End;
    scheme
}

#[test]
fn c24_an_implicit_ellipse_stays_on_the_floor() {
    let case = reference("c24");
    let (h, duration) = (case.number("parameters.step"), case.number("parameters.duration"));
    let (mut touched, mut largest) = (0, 0.0_f64);
    run(ellipse(&case), implicit(), h, duration, |simulation, report| {
        assert_eq!(report.rung, "implicit-newton", "t = {}", report.time);
        for contact in simulation.contacts().iter().filter(|contact| contact.mode != ContactMode::Open) {
            touched += 1;
            largest = largest.max(contact.gap.abs());
        }
    });
    println!("{touched} steps in contact, largest gap {largest:e}");
    assert!(touched > 150 && largest < 1e-10, "{touched} {largest:e}");
}

/// Superellipsoids come down a flight of stairs for 10 s.
#[test]
fn a_superellipsoid_tumbles_down_stairs() {
    let stair = |k: usize| {
        let step = spatial::Shape::cuboid([0.15, 2.0, 0.2 * (40 - k) as f64]).unwrap();
        BodyBuilder::fixed(format!("stair {k}")).position(0.3 * k as f64, 0.0, 0.0).shape(step.into())
    };
    let shape = spatial::Shape::superquadric([0.25, 0.2, 0.18], [3.0, 2.5]).unwrap();
    let tumbler = BodyBuilder::rigid("tumbler", 1.0, Matrix3::from_diagonal(&Vector3::new(0.016, 0.021, 0.023)))
        .position(0.0, 0.1, 8.3)
        .velocity(1.5, 0.0, 0.0)
        .angular_velocity(0.3, 6.0, -0.5)
        .shape(shape.into());
    let model = on_floor(Dimension::Spatial, (0..40).map(stair).chain([tumbler]), [0.0, 0.0, -9.81], friction(0.3));
    let (mut rungs, mut touched, mut deepest) = (std::collections::BTreeMap::new(), 0, 0.0_f64);
    let mut scheme = implicit();
    scheme.solving.halve_steps = 0;
    let mut end = Simulation::new(model, scheme, 0.01).unwrap();
    for _ in 0..1000 {
        let report = end.step().unwrap();
        *rungs.entry(report.rung).or_insert(0) += 1;
        deepest = deepest.max(report.penetration);
        touched += usize::from(end.contacts().iter().any(|contact| contact.normal_impulse > 0.0));
    }
    println!(
        "ends at {:?}; {rungs:?}; touched in {touched} steps; deepest penetration {deepest:e}",
        &end.state().q[..3]
    );
    assert!(deepest < 1e-9 && touched > 100, "{deepest:e} {touched}");
    assert!(end.state().q[0] > 8.0, "it came down: {:?}", end.state().q);
}

fn tumbling(name: &str, shape: spatial::Shape, [x, y, z]: [f64; 3], spin: f64) -> BodyBuilder {
    BodyBuilder::rigid(name, 1.0, Matrix3::from_diagonal(&Vector3::new(0.1, 0.12, 0.08)))
        .position(x, y, z)
        .velocity(0.6, 0.1, -0.5)
        .angular_velocity(spin, 1.0, -0.4)
        .shape(shape.into())
}

/// Boxes, rods and eggs fall on a turning, moving table and each other; two of them are hinged.
fn heap() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let motion = ExpressionMotion {
        position: ["0.1*sin(3*t)", "0", "0.02*sin(5*t)"].map(|text| Expression::parse(text).unwrap()),
        axis: Vector3::z(),
        angle: Expression::parse("0.8*t").unwrap(),
        base: UnitQuaternion::identity(),
    };
    let table = BodyBuilder::kinematic("table", Arc::new(motion));
    builder.body(table.shape(spatial::Shape::half_space(Vector3::z()).unwrap().into())).unwrap();
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    builder.default_contact(ContactRule { torsion: 0.02, ..friction(0.4) }).unwrap();
    let mut add = |body| builder.body(body).unwrap();
    add(tumbling("crate", spatial::Shape::cuboid([0.3, 0.25, 0.2]).unwrap(), [0.0, 0.0, 0.5], 1.0));
    let rod = add(tumbling("rod", spatial::Shape::capsule(0.3, 0.1).unwrap(), [0.9, 0.0, 0.4], 2.0));
    let egg = add(tumbling("egg", spatial::Shape::ellipsoid([0.25, 0.18, 0.2]).unwrap(), [1.6, 0.1, 0.4], 0.5));
    add(tumbling("ball", spatial::Shape::sphere(0.2).unwrap(), [0.2, 0.1, 1.1], 0.5));
    let anchor = Vector3::new(1.3, 0.0, 0.4);
    builder.joint_at("hinge", JointKind::Universal, (rod, egg), anchor, Vector3::y()).unwrap();
    builder.build().unwrap()
}

/// Parts on support points, pushed by a turning paddle.
fn table_top() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    builder.default_contact(friction(0.3)).unwrap();
    let still = || Expression::constant(0.0);
    let motion =
        ExpressionMotion::planar(Expression::parse("0.2*t").unwrap(), still(), Expression::parse("0.9*t").unwrap());
    let paddle = BodyBuilder::kinematic("paddle", Arc::new(motion));
    builder.body(paddle.shape(planar::Shape::rectangle([0.5, 0.05]).unwrap().into())).unwrap();
    let support = SupportBuilder::tripod([[0.1, 0.0], [-0.05, 0.08], [-0.05, -0.08]]).friction(0.4);
    let shapes = [planar::Shape::superellipse([0.2, 0.15], 4.0).unwrap(), planar::Shape::disc(0.15).unwrap()];
    for (k, shape) in shapes.into_iter().enumerate() {
        let body = BodyBuilder::planar(format!("part {k}"), 0.5, 0.004).position(0.3 + 0.4 * k as f64, 0.35, 0.0);
        let id = builder.body(body.shape(shape.into())).unwrap();
        builder.support(id, &support).unwrap();
    }
    builder.build().unwrap()
}

/// An egg and a rod roll over a rubber floor whose core they hit, with springs along the floor too.
fn rubber_floor() -> Model {
    let stiffness = Matrix3::new(4000.0, 300.0, 0.0, 300.0, 2500.0, 0.0, 0.0, 0.0, 2500.0);
    let layer = Layer::coupled(stiffness, stiffness * 1e-3).with_depth(0.01);
    let rule = ContactRule { torsion: 0.01, layer: LayerRule::Given(layer), ..friction(0.5) };
    let egg = tumbling("egg", spatial::Shape::ellipsoid([0.25, 0.18, 0.2]).unwrap(), [0.0, 0.0, 0.4], 3.0);
    let rod = tumbling("rod", spatial::Shape::capsule(0.3, 0.1).unwrap(), [0.9, 0.0, 0.4], 2.0);
    on_floor(Dimension::Spatial, [egg, rod], [0.0, 0.0, -9.81], rule)
}

/// Four touching contacts of one pair have no unique distribution of loads, some may have none. If they slide, the loads determine
/// the torque of friction.
fn is_determined(simulation: &Simulation) -> bool {
    let pairs = simulation.contacts().iter().filter(|contact| contact.gap < 1e-9);
    let pairs = pairs.map(|contact| (contact.body_a, contact.body_b)).collect::<Vec<_>>();
    pairs.iter().all(|pair| pairs.iter().filter(|other| *other == pair).count() < 4)
}

/// Step by step from the same states, so that nothing can grow.
#[test]
fn newton_and_the_fixed_point_agree() {
    let scenes = [
        ("heap", heap(), 0.005, 300),
        ("table top", table_top(), 0.01, 150),
        ("rubber floor", rubber_floor(), 0.002, 400),
    ];
    for (name, model, h, steps) in scenes {
        let mut one = Simulation::new(model.clone(), implicit(), h).unwrap();
        let mut other = Simulation::new(model, fixed_point(), h).unwrap();
        let (mut compared, mut largest, mut newton) = (0, 0.0_f64, 0);
        for _ in 0..steps {
            other.restore(&one.save()).unwrap();
            let report = step(&mut one);
            newton += usize::from(report.rung == "implicit-newton");
            let theirs = other.step();
            let settled = theirs.is_ok_and(|report| report.passes < 50);
            if settled && !one.contacts().is_empty() && is_determined(&one) {
                compared += 1;
                let differences = one.state().v.iter().zip(&other.state().v).map(|(a, b)| (a - b).abs());
                largest = differences.fold(largest, f64::max);
            }
        }
        println!(
            "{name}: {compared} of {steps} steps compared, {newton} by Newton, largest difference {largest:e} m/s"
        );
        assert!(compared >= 20 && newton > steps * 9 / 10 && largest < 1e-7, "{compared} {newton} {largest:e}");
    }
}

struct Random(u64);

impl Random {
    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        low + (high - low) * ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn vector(&mut self, reach: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.uniform(-reach, reach))
    }

    fn rotation(&mut self) -> UnitQuaternion<f64> {
        UnitQuaternion::new_normalize(Quaternion::new(
            self.uniform(-1.0, 1.0),
            self.uniform(-1.0, 1.0),
            self.uniform(-1.0, 1.0),
            self.uniform(-1.0, 1.0),
        ))
    }

    fn shape(&mut self) -> spatial::Shape {
        let kind = self.uniform(0.0, 5.0) as usize;
        let sizes = [self.uniform(0.3, 1.2), self.uniform(0.3, 1.2), self.uniform(0.3, 1.2)];
        match kind {
            0 => spatial::Shape::sphere(sizes[0]),
            1 => spatial::Shape::ellipsoid(sizes),
            2 => spatial::Shape::superquadric(sizes, [self.uniform(2.0, 5.0), self.uniform(2.0, 5.0)]),
            3 => spatial::Shape::capsule(sizes[0], sizes[1]),
            _ => spatial::Shape::cuboid(sizes),
        }
        .unwrap()
    }
}

/// Two bodies at random, at most a centimetre apart, that fly into each other.
fn collision(seed: u64) -> (Simulation, String) {
    let mut random = Random(seed.wrapping_mul(7919));
    let shapes = [random.shape(), random.shape()];
    let turned = [random.rotation(), random.rotation()];
    let direction = random.vector(1.0).normalize();
    let gap = random.uniform(0.0, 0.01);
    let solids = [0, 1].map(|k: usize| Shape::from(shapes[k].clone()).convex().unwrap());
    let pose = |k: usize, at: Vector3<f64>| Pose::from_parts(at.into(), turned[k].to_rotation_matrix());
    let (mut near, mut far) = (0.0, 6.0);
    for _ in 0..40 {
        let middle = 0.5 * (near + far);
        let apart = (&solids[0], &pose(0, Vector3::zeros()));
        let found = closest(apart, (&solids[1], &pose(1, direction * middle)), None, &mut Scratch::default());
        *(if found.gap > gap { &mut far } else { &mut near }) = middle;
    }
    let speed = random.uniform(0.0, 3.0);
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let torsion = if random.uniform(0.0, 1.0) < 0.5 { 0.1 } else { 0.0 };
    builder.default_contact(ContactRule { torsion, ..friction(random.uniform(0.0, 1.0)) }).unwrap();
    let names = format!("{} and {}", shapes[0].name(), shapes[1].name());
    for ((k, shape), at) in shapes.into_iter().enumerate().zip([Vector3::zeros(), direction * far]) {
        let inertia = Matrix3::from_diagonal(&Vector3::from_fn(|_, _| random.uniform(0.2, 0.4)));
        let towards = if k == 0 { direction } else { -direction };
        let (velocity, spin) = (towards * speed + random.vector(0.7), random.vector(5.0));
        let q = turned[k];
        let body = BodyBuilder::rigid(k.to_string(), random.uniform(0.5, 2.0), inertia)
            .position(at.x, at.y, at.z)
            .quaternion([q.w, q.i, q.j, q.k])
            .velocity(velocity.x, velocity.y, velocity.z)
            .angular_velocity(spin.x, spin.y, spin.z);
        builder.body(body.shape(shape.into())).unwrap();
    }
    (Simulation::new(builder.build().unwrap(), implicit(), 0.01).unwrap(), names)
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn ten_thousand_random_collisions_are_solved() {
    let (trials, mut touched, mut first, mut deepest) = (10_000, 0, 0, 0.0_f64);
    for seed in 0..trials {
        let (mut simulation, names) = collision(seed);
        let report = simulation.step().unwrap_or_else(|error| panic!("{seed}, {names}: {error}"));
        assert!(report.residual.value <= 1e-8 && report.penetration < 1e-9, "{seed}, {names}: {report:?}");
        first += u64::from(report.rung == "implicit-newton" && report.substeps == 1);
        deepest = deepest.max(report.penetration);
        touched += u64::from(simulation.contacts().iter().any(|contact| contact.normal_impulse > 0.0));
    }
    println!("{touched} of {trials} touch, {first} by the first rung, deepest penetration {deepest:e} m");
    assert!(first >= trials * 999 / 1000 && touched > trials / 2, "{first} {touched}");
}

/// Twenty-seven eggs fall into a heap.
#[test]
fn many_bodies_take_implicit_steps() {
    let egg = |k: usize| {
        let [x, y, z] = [k % 3, k / 3 % 3, k / 9].map(|i| i as f64);
        let shape = spatial::Shape::ellipsoid([0.2, 0.15, 0.17]).unwrap();
        let place = [0.42 * x + 0.05 * z, 0.4 * y + 0.03 * x - 0.04 * z, 0.25 + 0.42 * z];
        tumbling(&k.to_string(), shape, place, 0.1 * k as f64)
    };
    let model = on_floor(Dimension::Spatial, (0..27).map(egg), [0.0, 0.0, -9.81], friction(0.4));
    let (mut contacts, mut newton, mut deepest, steps) = (0, 0, 0.0_f64, 120);
    let mut simulation = Simulation::new(model, implicit(), 0.005).unwrap();
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        contacts = contacts.max(simulation.contacts().iter().filter(|contact| contact.normal_impulse > 0.0).count());
        newton += usize::from(report.rung == "implicit-newton" && report.substeps == 1);
        deepest = deepest.max(report.penetration);
    }
    println!(
        "{newton} of {steps} steps by Newton, {contacts} loaded contacts at most, deepest penetration {deepest:e}"
    );
    assert!(newton == steps && contacts > 25 && deepest < 1e-9, "{newton} {contacts} {deepest:e}");
}

/// A superquadric, an egg and a rod on a floor, where they come to lie.
fn litter() -> Model {
    let bodies = [
        tumbling("brick", spatial::Shape::superquadric([0.25, 0.2, 0.15], [4.0, 3.0]).unwrap(), [0.0, 0.0, 0.4], 1.0),
        tumbling("egg", spatial::Shape::ellipsoid([0.25, 0.18, 0.2]).unwrap(), [1.0, 0.0, 0.4], 3.0),
        tumbling("rod", spatial::Shape::capsule(0.3, 0.1).unwrap(), [2.0, 0.0, 0.4], 2.0),
    ];
    on_floor(Dimension::Spatial, bodies, [0.0, 0.0, -9.81], friction(0.5))
}

#[test]
fn implicit_steps_do_not_allocate_nor_remember() {
    for (name, model) in
        [("heap", heap()), ("table top", table_top()), ("rubber floor", rubber_floor()), ("litter", litter())]
    {
        let mut warm = Simulation::new(model.clone(), implicit(), 0.005).unwrap();
        let mut forgetful = Simulation::new(model, implicit(), 0.005).unwrap();
        let begin = warm.state().clone();
        for _ in 0..300 {
            assert_eq!(warm.step().unwrap().substeps, 1, "{name} at {}", warm.time());
            *forgetful.workspace_mut() = stiction::stepping::Workspace::default();
            let _ = forgetful.step().unwrap();
            let saved = forgetful.save();
            forgetful.restore(&saved).unwrap();
        }
        assert!(warm.state().bit_equal(forgetful.state()), "{name}: a result depends on scratch memory");
        warm.set_state(&begin).unwrap();
        for k in 0..300 {
            let mut rung = "";
            let allocations = count_allocations(|| rung = warm.step().unwrap().rung);
            assert_eq!(
                allocations.count, 0,
                "{name} allocates {} bytes in step {k}, solved by {rung}",
                allocations.bytes
            );
        }
    }
}

/// Cylinders, superquadrics and the others of the scene, until they lie.
#[test]
fn smooth_shapes_come_to_rest_by_implicit_steps() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/smooth_shapes.toml");
    let preset = [("simulation.preset".to_owned(), Preset::GeometricallyImplicit.name().to_owned())];
    let scene = stiction::scene::load_with(path, &preset).unwrap();
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let (mut rungs, mut deepest) = (std::collections::BTreeMap::new(), 0.0_f64);
    for _ in 0..scene.settings.steps() {
        let report = simulation.step().unwrap();
        *rungs.entry((report.rung, report.substeps)).or_insert(0) += 1;
        deepest = deepest.max(report.penetration);
    }
    println!("{rungs:?}, deepest penetration {deepest:e}");
    assert!(deepest < 1e-9, "{deepest:e}");
}

/// A ball in the valley between two spheres of 10 m in steps of 0.05 to 0.5 ms: rates of gaps are then as small as their rounding.
#[test]
fn short_steps_on_large_spheres_are_solved() {
    let fixed =
        |name: &str, radius: f64| BodyBuilder::fixed(name).shape(spatial::Shape::sphere(radius).unwrap().into());
    for h in [5e-4, 2e-4, 1e-4, 5e-5] {
        let ball = solid_ball("ball", 1.0, 1.0).position(0.0, 6.621_052_631_578_95, 8.784_171_107_729_03);
        let bodies = [fixed("first", 10.0), fixed("second", 9.0).position(0.0, 11.4, 0.0), ball];
        let model = world(Dimension::Spatial, bodies, [1.0, 2.6, -9.81], friction(0.2));
        let mut simulation = Simulation::new(model, implicit(), h).unwrap();
        for _ in 0..40 {
            let report = simulation.step().unwrap();
            assert!(report.residual.value < 1e-6, "h = {h}, t = {}: {:e}", report.time, report.residual.value);
            let gaps = simulation.contacts().iter().map(|contact| contact.gap.abs());
            assert!(gaps.fold(0.0, f64::max) < 1e-13, "h = {h}, t = {}", report.time);
        }
    }
}
