//! C-27: the double pendulum in space, and TST-18: a planar pendulum that falls on a floor.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use stiction::{
    BodyBuilder, Coordinates, Dimension, FrictionSet, JointKind, Model, ModelBuilder, Pose, Preset, Simulation,
    multibody::rotation::from_body_123, planar, spatial,
};
use stiction_testkit::{Reference, reference};

use super::{OF_TREES, assert_first_order, differences, run};
use crate::support::{floor, friction};

/// The two rods along −z of their bodies; P1, a point of the first, is all that touches the plane z = 0.
fn pendulum(case: &Reference, part: &str) -> Model {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let path = |name: &str| format!("parameters.{part}.{name}");
    let vector = |path: &str| Vector3::from_column_slice(&case.numbers(path));
    let angles = |name: &str| {
        let angles = case.numbers(&path(name));
        from_body_123([angles[0], angles[1], angles[2]])
    };
    let inertia = Matrix3::from_diagonal(&vector("parameters.inertia"));
    let half = Vector3::new(0.0, 0.0, 0.5 * number("length"));
    let (a, b) = (angles("angles_a"), angles("angles_a") * angles("angles_b"));
    let p1 = vector(&path("p1"));
    let p2 = p1 - a * half * 2.0;
    let velocity = vector(&path("velocity"));
    let rod = |name: &str, e: &UnitQuaternion<f64>, upper: &Vector3<f64>| {
        let at = upper - e * half;
        BodyBuilder::rigid(name, number("mass"), inertia)
            .position(at.x, at.y, at.z)
            .quaternion([e.w, e.i, e.j, e.k])
            .velocity(velocity.x, velocity.y, velocity.z)
    };
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -number("gravity")).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(spatial::Shape::half_space(Vector3::z()).unwrap().into())).unwrap();
    let point = spatial::Shape::point().into();
    let a = builder.body(rod("a", &a, &p1).shape_at(point, Pose::translation(half.x, half.y, half.z))).unwrap();
    let b = builder.body(rod("b", &b, &p2)).unwrap();
    let [lower, upper] = [-half, half].map(|at| Pose::translation(at.x, at.y, at.z));
    builder.joint("p2", JointKind::Spherical, (a, lower), (b, upper)).unwrap();
    builder.default_contact(friction(case.number(&path("friction")))).unwrap();
    builder.build().unwrap()
}

fn rotation(simulation: &Simulation, name: &str) -> Rotation3<f64> {
    simulation.configuration().pose(simulation.model().find_body(name).unwrap()).rotation
}

/// Centre of mass of the two rods, which weigh the same.
fn centre(simulation: &Simulation) -> Vector3<f64> {
    let at = |name: &str| simulation.configuration().pose(simulation.model().find_body(name).unwrap());
    (at("a").translation.vector + at("b").translation.vector) / 2.0
}

#[test]
fn c27_drift_of_the_centre_of_mass() {
    let case = reference("c27");
    let model = pendulum(&case, "drift");
    let scheme = Preset::Ncp.scheme().as_published();
    let exact = case.numbers("derived.drift.centre_of_mass");
    let drift = |coordinates, (h, end)| {
        let (simulation, _) = run(&model, &scheme, coordinates, (h, end)).unwrap();
        let centre = centre(&simulation);
        (centre.x - exact[0]).hypot(centre.y - exact[1])
    };
    let maximal = drift(Coordinates::Maximal, (1e-3, 1.0));
    // The derived centre has nine digits.
    assert!(maximal < 1e-9, "{maximal:e}");
    let (start, end) = [0.0, 1.0].map(|end| run(&model, &scheme, Coordinates::Maximal, (1e-3, end)).unwrap().0).into();
    let moved = centre(&end) - centre(&start);
    assert!(moved.x.hypot(moved.y) < 1e-10, "{moved}");
    for coordinates in OF_TREES {
        // Before the impact nothing turns.
        assert!(drift(coordinates, (1e-3, 0.4)) < 1e-9);
        let [coarse, middle, fine] = [2e-3, 1e-3, 5e-4].map(|h| drift(coordinates, (h, 1.0)));
        let bounds = case.numbers("tolerance.halving_ratio");
        for ratio in [coarse / middle, middle / fine] {
            assert!((bounds[0]..bounds[1]).contains(&ratio), "{coordinates:?}: {coarse:e} {middle:e} {fine:e}");
        }
    }
}

#[test]
fn c27_rotations_are_of_order_one_in_all_coordinates() {
    let case = reference("c27");
    let model = pendulum(&case, "sliding");
    let row = case.table("derived.sliding.motion").pop().unwrap();
    let a = from_body_123([row["a_1"], row["a_2"], row["a_3"]]).to_rotation_matrix();
    let b = a * from_body_123([row["b_1"], row["b_2"], row["b_3"]]).to_rotation_matrix();
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced, Coordinates::DivideAndConquer] {
        let errors = [2e-3, 1e-3, 5e-4].map(|h| {
            let (end, _) = run(&model, &Preset::Ncp.scheme(), coordinates, (h, row["t"])).unwrap();
            [("a", &a), ("b", &b)].map(|(name, exact)| (rotation(&end, name).inverse() * exact).angle())
        });
        for body in 0..2 {
            let [coarse, middle, fine] = errors.map(|errors| errors[body]);
            assert!(fine < 0.01, "{coordinates:?}, body {body}: {fine:e}");
            for ratio in [coarse / middle, middle / fine] {
                assert!((1.7..2.3).contains(&ratio), "{coordinates:?}, body {body}: {coarse:e} {middle:e} {fine:e}");
            }
        }
    }
}

/// A double pendulum in the plane, hung on nothing: its end falls on the floor, slides, and the second rod swings down.
fn falling() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(floor())).unwrap();
    let rod = |name: &str, x: f64, y: f64, angle: f64| {
        BodyBuilder::planar(name, 1.0, 1.0 / 12.0).position(x, y, 0.0).angle(angle)
    };
    // From P1 at (0, 0.05) along (cos 1, sin 1), then along (cos 2.2, sin 2.2).
    let [u, w] = [1.0_f64, 2.2].map(|angle| Vector3::new(angle.cos(), angle.sin(), 0.0));
    let p1 = Vector3::new(0.0, 0.05, 0.0);
    let (first, second) = (p1 + u * 0.5, p1 + u + w * 0.5);
    let point = planar::Shape::point().into();
    let a = rod("a", first.x, first.y, 1.0).shape_at(point, Pose::translation(-0.5, 0.0, 0.0));
    let (a, b) = (builder.body(a).unwrap(), builder.body(rod("b", second.x, second.y, 2.2)).unwrap());
    builder.joint_at("elbow", JointKind::Revolute, (a, b), p1 + u, Vector3::z()).unwrap();
    builder.default_contact(friction(0.3)).unwrap();
    builder.build().unwrap()
}

/// TST-18: the articulated problem in generalised coordinates against the scheme in maximal ones.
#[test]
fn a_planar_pendulum_on_a_floor_is_the_same_to_the_order_of_the_scheme() {
    for friction in [FrictionSet::Polygon, FrictionSet::Quadratic] {
        let mut scheme = Preset::StewartTrinkle.scheme();
        scheme.friction = friction;
        for coordinates in OF_TREES {
            let name = format!("{friction:?} {coordinates:?}");
            let differences = differences(&name, &falling(), &scheme, (0.002, 0.3), coordinates);
            assert!(differences[0] > 1e-6, "{name}: nothing to compare, {differences:?}");
            assert_first_order(&name, differences);
        }
    }
}
