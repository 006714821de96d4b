//! Random trees of all kinds of joints over a floor, and loops.

use nalgebra::{Matrix3, Vector3};
use stiction::{BodyBuilder, BodyId, Dimension, JointKind, Model, ModelBuilder, Preset, spatial};
use stiction_testkit::Random;

use super::{OF_TREES, assert_first_order, differences, distance, run};
use crate::support::friction;

const KINDS: [JointKind; 7] = [
    JointKind::Revolute,
    JointKind::Prismatic,
    JointKind::Cylindrical,
    JointKind::Universal,
    JointKind::Spherical,
    JointKind::Planar,
    JointKind::Weld,
];

fn vector(random: &mut Random, size: f64) -> Vector3<f64> {
    Vector3::from(random.direction()) * size
}

/// A tree of links with a joint of each kind at least, some of them balls close to the floor, turning a little.
pub(super) fn random_tree(seed: u64, links: usize, height: f64) -> Model {
    let random = &mut Random::new(seed);
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(spatial::Shape::half_space(Vector3::z()).unwrap().into())).unwrap();
    let mut places: Vec<(BodyId, Vector3<f64>)> = Vec::new();
    for index in 0..links {
        let parent = (index > 0).then(|| places[random.below(index)]);
        let step = vector(random, 0.4);
        let at = parent.map_or(Vector3::new(0.0, 0.0, height), |(_, at)| at + step);
        let moments = Vector3::new(0.06, 0.07, 0.08) * random.uniform(0.5, 1.0);
        let e = Vector3::from(random.direction());
        let axis = nalgebra::UnitQuaternion::from_scaled_axis(e);
        let mut body =
            BodyBuilder::rigid(format!("link {index}"), random.uniform(0.5, 1.5), Matrix3::from_diagonal(&moments))
                .position(at.x, at.y, at.z)
                .quaternion([axis.w, axis.i, axis.j, axis.k]);
        // Balls reach down to just above the floor.
        if index % 2 == 0 {
            body = body.shape(spatial::Shape::sphere(at.z - 0.003 * (1.0 + index as f64)).unwrap().into());
        }
        let id = builder.body(body).unwrap();
        if let Some((parent, from)) = parent {
            let direction = vector(random, 1.0);
            let name = format!("joint {index}");
            builder.joint_at(name, KINDS[index % KINDS.len()], (parent, id), (from + at) / 2.0, direction).unwrap();
        }
        places.push((id, at));
    }
    builder.default_contact(friction(0.4)).unwrap();
    let bodies: Vec<_> = places.iter().map(|(id, _)| *id).collect();
    // Links pass through each other: their balls are large.
    for (place, &a) in bodies.iter().enumerate() {
        for &b in &bodies[place + 1..] {
            builder.contact(a, b, stiction::ContactRule { collide: false, ..friction(0.0) }).unwrap();
        }
    }
    builder.build().unwrap()
}

#[test]
fn random_trees_of_all_kinds_of_joints() {
    for seed in [3, 14, 159] {
        let model = random_tree(seed, 9, 1.5);
        for preset in [Preset::Ncp, Preset::StewartTrinkle] {
            let scheme = preset.scheme();
            let ends = OF_TREES.map(|of| run(&model, &scheme, of, (0.002, 0.1)).unwrap().0);
            assert!(ends[0].contacts().iter().any(|contact| contact.normal_impulse > 0.0), "nothing touched");
            let apart = distance(&ends[0], &ends[1]);
            assert!(apart < 1e-8, "seed {seed}, {preset:?}: {apart:e}");
        }
        for coordinates in OF_TREES {
            let name = format!("seed {seed}, {coordinates:?}");
            let differences = differences(&name, &model, &Preset::Ncp.scheme(), (0.002, 0.06), coordinates);
            assert!(differences[0] > 1e-6, "{name}: nothing to compare, {differences:?}");
            assert_first_order(&name, differences);
        }
    }
}

/// A body joined to the world by a kind, with another one that swings on it.
fn two_links(dimension: Dimension, kind: JointKind) -> Model {
    let mut builder = ModelBuilder::new(dimension);
    builder.gravity(0.0, -9.81, 0.0).unwrap();
    let mut link = |name: &str, x: f64| {
        let body = match dimension {
            Dimension::Planar => BodyBuilder::planar(name, 1.0, 0.05),
            Dimension::Spatial => BodyBuilder::rigid(name, 1.0, Matrix3::from_diagonal_element(0.05)),
        };
        builder.body(body.position(x, 0.1, 0.0)).unwrap()
    };
    let (a, b) = (link("a", 0.3), link("b", 0.9));
    let z = if dimension == Dimension::Planar { 0.0 } else { 0.2 };
    builder.joint_at("base", kind, (BodyId::WORLD, a), Vector3::zeros(), Vector3::new(0.8, 0.6, z)).unwrap();
    builder.joint_at("hinge", JointKind::Revolute, (a, b), Vector3::new(0.6, 0.1, 0.0), Vector3::z()).unwrap();
    builder.build().unwrap()
}

#[test]
fn every_kind_of_joint_in_all_coordinates() {
    for dimension in [Dimension::Planar, Dimension::Spatial] {
        for kind in JointKind::all(dimension).filter(|kind| !matches!(kind, JointKind::Distance(_))) {
            let model = two_links(dimension, kind);
            assert!(model.forest().loops().is_empty(), "a {} joint is a tree joint", kind.name());
            for coordinates in OF_TREES {
                let name = format!("{dimension:?} {kind:?} {coordinates:?}");
                let differences = differences(&name, &model, &Preset::Ncp.scheme(), (0.004, 0.2), coordinates);
                assert!(differences[0] > 1e-6, "{name}: nothing to compare, {differences:?}");
                assert_first_order(&name, differences);
            }
        }
    }
}
