//! The loop of passes: reports, repeated passes and their reasons, impacts.

use nalgebra::Vector3;
use stiction_geometry::spatial;
use stiction_multibody::{
    BodyBuilder, BodyId, ContactRule, Dimension, JointDof, JointKind, Layer, LayerRule, ModelBuilder,
};

use super::support::{Case, assert_near, ball, builder, disc, floor, friction, on_floor};
use crate::{Change, Coordinates, LineariseAt, PositionUpdate, Preset, Scheme};

fn resting() -> Case {
    let body = ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.5);
    Case::new(on_floor(Dimension::Spatial, friction(0.3), [body]), Scheme::default(), 0.01)
}

#[test]
fn the_report_describes_the_step() {
    let mut case = resting();
    for number in 1..4_u32 {
        let report = case.step();
        assert_eq!((report.step, report.contacts, report.passes), (u64::from(number), 1, 1));
        assert_near(report.time, 0.01 * f64::from(number), 1e-15);
        assert!(report.residual.value < 1e-10 && report.penetration < 1e-12);
        assert_eq!((report.substeps, report.layer_substeps, report.impacts), (1, 1, 0));
        assert_eq!(report.changes.iter().count(), 0);
        assert!(report.correction.is_none());
    }
}

/// Scratch memory does not influence the next step, in any coordinates and friction set.
#[test]
fn steps_do_not_depend_on_scratch_memory() {
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced, Coordinates::DivideAndConquer] {
        for preset in [Preset::Ncp, Preset::StewartTrinkle] {
            let bodies = || {
                [
                    ball("ball", 1.0, 0.5)
                        .position(0.0, 0.0, 0.5)
                        .velocity(1.0, 0.0, -1.0)
                        .angular_velocity(1.0, 2.0, 3.0),
                    ball("other", 2.0, 0.5).position(1.0, 0.1, 0.5),
                ]
            };
            let scheme = Scheme { coordinates, ..preset.scheme() };
            let case = || Case::new(on_floor(Dimension::Spatial, friction(0.3), bodies()), scheme.clone(), 0.01);
            let (mut kept, mut poisoned, mut fresh) = (case(), case(), case());
            for _ in 0..5 {
                kept.run(1);
                poisoned.ws.poison();
                poisoned.run(1);
                fresh.ws = crate::Workspace::default();
                fresh.run(1);
            }
            assert!(poisoned.state.bit_equal(&kept.state), "{coordinates:?}, {preset:?}");
            assert!(fresh.state.bit_equal(&kept.state), "{coordinates:?}, {preset:?}");
        }
    }
}

/// A ball that is pushed farther than it could reach by itself meets a third one in the same step.   [STEP-12]
#[test]
fn contacts_that_were_out_of_reach_are_added() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    for (name, x, v) in [("first", 0.0, 10.0), ("second", 1.05, 0.0), ("third", 2.3, 0.0)] {
        builder.body(disc(name, 1.0, 0.5).position(x, 0.0, 0.0).velocity(v, 0.0, 0.0)).unwrap();
    }
    let mut case = Case::new(builder.build().unwrap(), Scheme::default(), 0.1);
    let report = case.step();
    assert!(report.changes.count(Change::EnlargeReach) >= 1, "{}", report.changes);
    assert_eq!(report.contacts, 2);
    assert!(report.penetration < 1e-12, "{}", report.penetration);
    // Momentum is conserved.
    assert_near(case.state.v[0] + case.state.v[3] + case.state.v[6], 10.0, 1e-10);
}

#[test]
fn end_of_step_geometry_is_iterated_until_it_is_consistent() {
    let rolling = disc("disc", 1.0, 0.5).position(0.0, 2.0, 0.0).velocity(2.0, -1.0, 0.0);
    let hump = BodyBuilder::fixed("hump").shape(stiction_geometry::planar::Shape::disc(1.5).unwrap().into());
    let model = super::support::world(Dimension::Planar, friction(0.3), [hump, rolling]);
    let mut case = Case::new(model, Scheme { linearise_at: LineariseAt::End, ..Scheme::default() }, 0.05);
    let report = case.step();
    assert_eq!(report.changes.count(Change::Relinearise), report.passes - 1);
    assert!(report.passes > 2);
    let q = case.q("disc");
    assert_near(Vector3::new(q[0], q[1], 0.0).norm(), 2.0, 1e-12);
}

/// A contact that closes with an impulse is an impact once; resting on it is not.
#[test]
fn impacts_are_counted_when_contacts_close() {
    let body = ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.505).velocity(0.0, 0.0, -1.0);
    let mut case = Case::new(on_floor(Dimension::Spatial, ContactRule::default(), [body]), Scheme::default(), 0.01);
    let impacts: Vec<usize> = (0..4).map(|_| case.step().impacts).collect();
    assert_eq!(impacts, [1, 0, 0, 0]);
}

/// A limit beyond twice the present rate is not in the problem; a motor that passes it brings it in.
#[test]
fn joint_limits_that_are_passed_are_added() {
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced] {
        let mut builder = builder(Dimension::Planar, ContactRule::default());
        let bob = BodyBuilder::planar("bob", 1.0, 0.1).position(1.0, 0.0, 0.0);
        let bob = builder.body(bob).unwrap();
        let joint =
            builder.joint_at("pin", JointKind::Revolute, (BodyId::WORLD, bob), Vector3::zeros(), Vector3::z()).unwrap();
        builder.joint_dof((joint, 0), JointDof { limits: Some([-0.05, 1.0]), ..JointDof::default() }).unwrap();
        let mut case = Case::new(builder.build().unwrap(), Scheme { coordinates, ..Scheme::default() }, 0.2);
        // Gravity turns the bob by about −10·0.2² = −0.36 rad.
        let report = case.step();
        assert_eq!(report.changes.count(Change::AddJointLimits), 1, "{coordinates:?}: {}", report.changes);
        assert_near(case.state.angles[0], -0.05, 1e-12);
    }
}

/// Mean velocities would push bodies into rigid contacts: such steps are made by the end velocity, and both tries count.   [SOFT-6]
#[test]
fn rigid_contacts_are_moved_by_the_end_velocity() {
    let scheme = Scheme { position_update: PositionUpdate::Average, ..Scheme::default() };
    let body = ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.501).velocity(0.0, 0.0, -1.0);
    let mut case = Case::new(on_floor(Dimension::Spatial, ContactRule::default(), [body]), scheme, 0.01);
    let report = case.step();
    assert_eq!(report.changes.count(Change::EndVelocity), 1);
    assert_eq!(report.passes, 2);
    assert_near(case.q("ball")[2], 0.5, 1e-12);
    assert!(report.penetration < 1e-12);
}

/// Layers are moved by the mean velocity: the energy of ball and layer is kept.
#[test]
fn layers_keep_energy_with_mean_velocities() {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let ground = builder.body(BodyBuilder::fixed("floor").shape(floor(Dimension::Spatial))).unwrap();
    let body = ball("ball", 2.0, 0.5).position(0.0, 0.0, 0.55).velocity(0.0, 0.0, -1.0);
    let body = builder.body(body).unwrap();
    let layer = LayerRule::Given(Layer::normal(500.0, 0.0));
    builder.contact(ground, body, ContactRule { layer, ..ContactRule::default() }).unwrap();
    let scheme = Scheme { position_update: PositionUpdate::Average, ..Scheme::default() };
    let mut case = Case::new(builder.build().unwrap(), scheme, 0.005);
    let mut deepest = 0.0_f64;
    for _ in 0..80 {
        case.run(1);
        let stored: f64 = case.state.contacts.iter().filter_map(|memory| memory.layer).map(|layer| layer.energy).sum();
        let v = case.v("ball")[2];
        assert_near(v * v + stored, 1.0, 1e-9);
        deepest = deepest.max(0.5 - case.q("ball")[2]);
    }
    // The amplitude is v √(m/K), and the ball is on its way up again.
    assert_near(deepest, (2.0_f64 / 500.0).sqrt(), 1e-3);
    assert!(case.v("ball")[2] > 0.99);
}

/// A step that is made twice from the same state is the same, and the state is not touched.
#[test]
fn steps_are_functions_of_the_state() {
    let mut case = resting();
    let before = case.state.clone();
    let first = case.try_step().unwrap();
    let next = case.ws.result.next.clone();
    assert!(case.state.bit_equal(&before));
    assert_eq!(case.try_step().unwrap(), first);
    assert!(case.ws.result.next.bit_equal(&next));
}

/// Unit vectors spread over the sphere by the golden angle.
fn directions(count: u32) -> impl Iterator<Item = Vector3<f64>> {
    (0..count).map(move |k| {
        let z = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(count);
        let (sin, cos) = libm::sincos(2.4 * f64::from(k));
        Vector3::new((1.0 - z * z).sqrt() * cos, (1.0 - z * z).sqrt() * sin, z)
    })
}

/// Two bodies without gravity whose centres are apart by a vector, and the relative velocity with which they approach each other.
fn colliding(shapes: [stiction_geometry::Shape; 2], apart: Vector3<f64>, approach: Vector3<f64>) -> Case {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let inertia = nalgebra::Matrix3::from_diagonal_element(0.4);
    let [first, second] = shapes;
    builder.body(BodyBuilder::rigid("first", 1.0, inertia).shape(first)).unwrap();
    let second = BodyBuilder::rigid("second", 1.0, inertia).shape(second).position(apart.x, apart.y, apart.z);
    builder.body(second.velocity(-approach.x, -approach.y, -approach.z)).unwrap();
    Case::new(builder.build().unwrap(), Preset::GeometricallyImplicit.scheme(), 0.01)
}

/// Bodies at rest have no reach: the gap that an implicit step had opened was lost where its rounding was positive, with the contact, and
/// the bodies stayed where they were with a residual of zero (issue 33).
#[test]
fn implicit_steps_see_the_contacts_that_start_in_overlap() {
    let sphere = |radius: f64| stiction_geometry::Shape::from(spatial::Shape::sphere(radius).unwrap());
    let ellipsoid = || stiction_geometry::Shape::from(spatial::Shape::ellipsoid([0.5, 0.4, 0.3]).unwrap());
    for n in directions(15) {
        for depth in [1e-6, 1e-3, 0.02, 0.1] {
            let mut case = colliding([sphere(1.0), sphere(0.3)], n * (1.3 - depth), Vector3::zeros());
            assert!((case.step().contacts, case.state.v.len()) == (1, 12), "{n:?}, {depth}");
            // The step opens the overlap, along the line of the centres.
            let relative =
                Vector3::from_column_slice(&case.state.v[6..9]) - Vector3::from_column_slice(&case.state.v[..3]);
            assert!((relative - n * (depth / case.h)).norm() < 1e-9, "{n:?}, {depth}: {relative}");
            // An ellipsoid, deep in a sphere.
            let surface = n.component_div(&Vector3::new(0.5, 0.4, 0.3)).norm().recip();
            let mut case = colliding([ellipsoid(), sphere(0.3)], n * (surface + 0.2 - depth), Vector3::zeros());
            let report = case.step();
            assert!(report.contacts == 1 && report.penetration < 1e-9, "{n:?}, {depth}: {report:?}");
            assert!(case.state.v.iter().any(|v| v.abs() > 0.9 * depth), "{n:?}, {depth}");
        }
    }
}

#[test]
fn implicit_steps_solve_collisions_from_all_directions() {
    for (k, n) in (0..).zip(directions(1000)) {
        let radius = 0.1 + 0.002 * f64::from(k % 100);
        let sphere = |radius: f64| stiction_geometry::Shape::from(spatial::Shape::sphere(radius).unwrap());
        let gap = 1e-4 * f64::from(k % 170);
        let mut case = colliding([sphere(1.0), sphere(radius)], n * (1.0 + radius + gap), n * 2.0);
        let report = case.step();
        assert!(report.contacts == 1 && report.penetration < 1e-12, "{n:?}, {radius}: {report:?}");
        case.run(1);
        // The inelastic impact leaves the mean velocity; what is left of the gap closes in the first step.
        for v in [&case.state.v[..3], &case.state.v[6..9]] {
            assert!((Vector3::from_column_slice(v) + n).norm() < 1e-9, "{n:?}, {radius}: {v:?}");
        }
    }
}
