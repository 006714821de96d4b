//! Flat, parallel, concentric and coincident poses: the common ones.

use nalgebra::{IsometryMatrix3, Rotation3, Translation3, Vector3};
use stiction_geometry::Pose;
use stiction_geometry::spatial::Shape;

use crate::spatial::{Random, at, cuboid, decisive, hulled, query};

const GAPS: [f64; 9] = [0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-6, -1e-6, 1e-3, -1e-3];

/// A world pose for each of two bodies with the given relative pose, with round-off noise on the second.
fn noisy(random: &mut Random, relative: &Pose, size: f64) -> (Pose, Pose) {
    let world = random.pose(size);
    let noise = IsometryMatrix3::from_parts(
        Translation3::from(random.vector(2e-16 * size)),
        Rotation3::from_scaled_axis(random.vector(2e-16)),
    );
    (world, world * (relative * noise))
}

/// All contacts at `gap` along the world image of `axis`.
fn assert_flat(found: &[stiction_geometry::ContactPoint], count: usize, gap: f64, axis: &Vector3<f64>, size: f64) {
    assert_eq!(found.len(), count, "gap {gap}: {found:#?}");
    for c in found {
        assert!((c.gap - gap).abs() < 1e-14 * size, "{gap} {c:?}");
        assert!((c.normal.into_inner() - axis).norm() < 1e-14, "{gap} {c:?}");
        assert!(c.normal_is_unique);
    }
}

/// Stacks of boxes and of hulls, concentric up to round-off: four contacts, as they should be, at every gap.
#[test]
fn identical_boxes_stacked_concentrically_touch_in_four_corners() {
    let mut random = Random(21);
    let half = [1.0, 0.6, 0.4];
    let pairs = [
        (cuboid(1.0, 0.6, 0.4), cuboid(1.0, 0.6, 0.4)),
        (hulled(half), hulled(half)),
        (cuboid(1.0, 0.6, 0.4), hulled(half)),
    ];
    for gap in GAPS {
        for (a, b) in &pairs {
            for _ in 0..700 {
                let (pose_a, pose_b) = noisy(&mut random, &at(0.0, 0.0, 0.8 + gap), 1.0);
                let found = query(a, &pose_a, b, &pose_b, 0.01);
                assert_flat(&found, 4, gap, &(pose_a.rotation * Vector3::z()), 1.0);
            }
        }
    }
}

#[test]
fn a_box_turned_by_an_eighth_touches_in_eight_crossings() {
    let mut random = Random(22);
    let cube = cuboid(0.5, 0.5, 0.5);
    let eighth = Rotation3::from_axis_angle(&Vector3::z_axis(), core::f64::consts::FRAC_PI_4);
    for gap in GAPS {
        for _ in 0..300 {
            let relative = IsometryMatrix3::from_parts(Translation3::new(0.0, 0.0, 1.0 + gap), eighth);
            let (pose_a, pose_b) = noisy(&mut random, &relative, 1.0);
            let found = query(&cube, &pose_a, &cube, &pose_b, 0.01);
            assert_flat(&found, 8, gap, &(pose_a.rotation * Vector3::z()), 1.0);
        }
    }
}

/// Shifted along a common edge direction: the overlap has corners of both boxes.
#[test]
fn boxes_with_flush_sides_touch_in_four_corners() {
    let mut random = Random(23);
    let cube = cuboid(0.5, 0.5, 0.5);
    for gap in GAPS {
        for _ in 0..300 {
            let shift = random.uniform(0.1, 0.9);
            let (pose_a, pose_b) = noisy(&mut random, &at(shift, 0.0, 1.0 + gap), 1.0);
            assert_flat(&query(&cube, &pose_a, &cube, &pose_b, 0.01), 4, gap, &(pose_a.rotation * Vector3::z()), 1.0);
        }
    }
}

#[test]
fn a_capsule_lies_on_two_points() {
    let mut random = Random(24);
    let rod = Shape::capsule(0.4, 0.1).unwrap();
    let floor = Shape::half_space(Vector3::z()).unwrap();
    let slab = cuboid(1.0, 1.0, 0.5);
    for gap in GAPS {
        for _ in 0..300 {
            let (pose_a, pose_b) = noisy(&mut random, &at(0.0, 0.0, 0.1 + gap), 1.0);
            let up = pose_a.rotation * Vector3::z();
            assert_flat(&query(&floor, &pose_a, &rod, &pose_b, 0.01), 2, gap, &up, 2.0);
            let (pose_a, pose_b) = noisy(&mut random, &at(0.0, 0.0, 0.6 + gap), 1.0);
            let up = pose_a.rotation * Vector3::z();
            assert_flat(&query(&slab, &pose_a, &rod, &pose_b, 0.01), 2, gap, &up, 2.0);
            // Half over the edge: one end on the face, and the crossing of the axis with the side.
            let (pose_a, pose_b) = noisy(&mut random, &at(1.1, 0.0, 0.6 + gap), 1.0);
            let up = pose_a.rotation * Vector3::z();
            let found = query(&slab, &pose_a, &rod, &pose_b, 0.01);
            assert_flat(&found, 2, gap, &up, 2.0);
            let reach = found.iter().map(|c| pose_a.inverse_transform_point(&c.point_b).x).fold(0.0, f64::max);
            assert!((reach - 1.0).abs() < 1e-12, "{reach}");
            // Side by side, parallel, overlapping by a part.
            let (pose_a, pose_b) = noisy(&mut random, &at(0.3, 0.0, 0.2 + gap), 1.0);
            let up = pose_a.rotation * Vector3::z();
            let found = query(&rod, &pose_a, &rod, &pose_b, 0.01);
            assert_eq!(found.len(), 2);
            assert!(found.iter().all(|c| (c.gap - gap).abs() < 1e-14 && (c.normal.into_inner() - up).norm() < 1e-14));
        }
    }
}

#[test]
fn crossed_capsules_and_edges_touch_in_one_point() {
    let mut random = Random(25);
    let rod = Shape::capsule(0.4, 0.1).unwrap();
    let cube = cuboid(0.5, 0.5, 0.5);
    let quarter = Rotation3::from_axis_angle(&Vector3::z_axis(), core::f64::consts::FRAC_PI_2);
    let roll = Rotation3::from_axis_angle(&Vector3::x_axis(), core::f64::consts::FRAC_PI_4);
    for gap in GAPS {
        for _ in 0..300 {
            let relative = IsometryMatrix3::from_parts(Translation3::new(0.1, 0.05, 0.2 + gap), quarter);
            let (pose_a, pose_b) = noisy(&mut random, &relative, 1.0);
            let up = pose_a.rotation * Vector3::z();
            assert_flat(&query(&rod, &pose_a, &rod, &pose_b, 0.01), 1, gap, &up, 1.0);
            // An edge across an edge: A rolled about x, B the same and turned by a quarter.
            let height = core::f64::consts::SQRT_2;
            let relative = roll.inverse()
                * IsometryMatrix3::from_parts(Translation3::new(0.1, 0.05, height + gap), quarter * roll);
            let (pose_a, pose_b) = noisy(&mut random, &relative, 1.0);
            let up = pose_a.rotation * roll.inverse() * Vector3::z();
            assert_flat(&query(&cube, &pose_a, &cube, &pose_b, 0.01), 1, gap, &up, 1.0);
        }
    }
}

/// Edge along edge, apart: the two ends of the overlap.
#[test]
fn parallel_edges_touch_in_the_ends_of_their_overlap() {
    let mut random = Random(26);
    let cube = cuboid(0.5, 0.5, 0.5);
    let roll = Rotation3::from_axis_angle(&Vector3::x_axis(), core::f64::consts::FRAC_PI_4);
    for shift in [0.0, 0.3] {
        for gap in [1e-6, 1e-3] {
            let translation = Translation3::new(shift, 0.0, core::f64::consts::SQRT_2 + gap);
            let relative = roll.inverse() * IsometryMatrix3::from_parts(translation, roll);
            for _ in 0..300 {
                let (pose_a, pose_b) = noisy(&mut random, &relative, 1.0);
                let found = query(&cube, &pose_a, &cube, &pose_b, 0.01);
                assert_eq!(found.len(), 2, "{found:#?}");
                let up = pose_a.rotation * roll.inverse() * Vector3::z();
                // The connecting line of points 1e-6 apart is known to 1e-15 / 1e-6.
                assert!(
                    found
                        .iter()
                        .all(|c| (c.gap - gap).abs() < 1e-14 && (c.normal.into_inner() - up).norm() < 2e-15 / gap)
                );
            }
        }
    }
}

/// No unique normal: a fixed one is chosen and marked as not unique.
#[test]
fn concentric_shapes_have_a_fixed_normal() {
    let ball = Shape::sphere(0.5).unwrap();
    let rod = Shape::capsule(1.0, 0.25).unwrap();
    let cube = cuboid(0.5, 0.5, 0.5);
    let tilted =
        IsometryMatrix3::from_parts(Translation3::new(3.0, 1.0, 2.0), Rotation3::from_euler_angles(0.3, 0.2, 0.9));
    for (a, b, depth) in
        [(&ball, &ball, -1.0), (&ball, &rod, -0.75), (&rod, &rod, -0.5), (&ball, &cube, -1.0), (&cube, &cube, -1.0)]
    {
        for (a, b) in [(a, b), (b, a)] {
            let found = query(a, &tilted, b, &tilted, 0.0);
            assert!(!found.is_empty());
            assert!(found.iter().all(|c| !c.normal_is_unique && (c.gap - depth).abs() < 1e-14), "{found:#?}");
        }
    }
    assert_eq!(query(&ball, &tilted, &ball, &tilted, 0.0)[0].normal.into_inner(), Vector3::z());
    let upright = Rotation3::from_axis_angle(&Vector3::y_axis(), -core::f64::consts::FRAC_PI_2);
    let upright = IsometryMatrix3::from_parts(Translation3::identity(), upright);
    assert!(query(&rod, &upright, &rod, &upright, 0.0)[0].normal.x > 0.999);
    let crossing = query(&rod, &upright, &rod, &at(0.0, 0.0, 0.0), 0.0);
    assert!((crossing[0].gap + 0.5).abs() < 1e-15 && crossing[0].normal.y.abs() > 0.999);
}

/// A sphere whose centre lies exactly on a face, an edge, a vertex of a box, and a point there.
#[test]
fn centres_on_the_surface() {
    let cube = cuboid(0.5, 0.5, 0.5);
    for (shape, radius) in [(Shape::sphere(0.2).unwrap(), 0.2), (Shape::point(), 0.0)] {
        for place in [[0.5, 0.1, 0.2], [0.5, 0.5, 0.2], [0.5, 0.5, 0.5]] {
            let found = query(&cube, &at(0.0, 0.0, 0.0), &shape, &at(place[0], place[1], place[2]), 0.0);
            assert_eq!(found.len(), 1);
            assert!((found[0].gap + radius).abs() < 1e-15);
            assert_eq!(found[0].normal.amax(), 1.0);
        }
    }
}

/// Needle on slab, aspect ratio 1e4, boxes and hulls.
#[test]
fn a_needle_lies_flat_on_a_slab() {
    let mut random = Random(27);
    let (needle, slab) = ([1.0, 1e-4, 1e-4], [1.2, 1.1, 1e-4]);
    for (a, b) in [(cuboid(1.2, 1.1, 1e-4), cuboid(1.0, 1e-4, 1e-4)), (hulled(slab), hulled(needle))] {
        for gap in [0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-6, -1e-6, 5e-5, -5e-5] {
            for _ in 0..300 {
                let (pose_a, pose_b) = noisy(&mut random, &at(0.0, 0.0, 2e-4 + gap), 1.0);
                let found = query(&a, &pose_a, &b, &pose_b, 1e-4);
                assert_flat(&found, 4, gap, &(pose_a.rotation * Vector3::z()), 1.0);
            }
        }
    }
}

/// All pairs at all scales from 1e-6 to 1e6, near each other: finite, and the smallest gap is certified by its normal.
#[test]
fn sizes_from_a_millionth_to_a_million() {
    let mut random = Random(28);
    let scales = [1e-6, 1e-3, 1.0, 1e3, 1e6];
    let shape = |kind: usize, s: f64, random: &mut Random| match kind {
        0 => Shape::point(),
        1 => Shape::sphere(s).unwrap(),
        2 => Shape::capsule(s, 0.3 * s).unwrap(),
        3 => cuboid(s, 0.7 * s, 0.4 * s),
        _ => random.polyhedron(12, s),
    };
    for (s, t) in scales.iter().flat_map(|s| scales.iter().map(move |t| (*s, *t))) {
        for kind in 1..25 {
            for round in 0..6 {
                let (a, b) = (shape(kind / 5, s, &mut random), shape(kind % 5, t, &mut random));
                let pose_a = random.pose(s);
                // Concentric, inside, about the surface, and at a distance.
                let reach = [0.0, 0.3, 1.0, 1.0, 1.5, 2.0][round];
                let place = pose_a.translation.vector + random.unit() * reach * s.max(t);
                let pose_b = IsometryMatrix3::from_parts(Translation3::from(place), random.rotation());
                let found = query(&a, &pose_a, &b, &pose_b, 10.0 * (s + t));
                decisive(&a, &pose_a, &b, &pose_b, &found, 1e-13 * s.max(t) + 4e-10 * s.min(t));
            }
        }
    }
}
