//! Helpers of the tests of spatial contacts: random poses, support functions and checked queries.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

use nalgebra::{IsometryMatrix3, Point3, Quaternion, Rotation3, Translation3, UnitQuaternion, Vector3};
use stiction_geometry::spatial::Shape;
use stiction_geometry::{ContactPoint, Pose, Scratch, contacts};

/// A small seeded generator (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [low, high).
    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in the cube [−reach, reach)³.
    pub(crate) fn vector(&mut self, reach: f64) -> Vector3<f64> {
        Vector3::new(self.uniform(-reach, reach), self.uniform(-reach, reach), self.uniform(-reach, reach))
    }

    pub(crate) fn unit(&mut self) -> Vector3<f64> {
        let v = self.vector(1.0);
        if v.norm() > 0.1 && v.norm() < 1.0 { v.normalize() } else { self.unit() }
    }

    pub(crate) fn rotation(&mut self) -> Rotation3<f64> {
        let q = self.vector(1.0).push(self.uniform(-1.0, 1.0));
        if q.norm() > 0.1 && q.norm() < 1.0 {
            UnitQuaternion::from_quaternion(Quaternion::from(q)).to_rotation_matrix()
        } else {
            self.rotation()
        }
    }

    pub(crate) fn pose(&mut self, reach: f64) -> Pose {
        IsometryMatrix3::from_parts(Translation3::from(self.vector(reach)), self.rotation())
    }

    /// A hull of points on a sphere.
    pub(crate) fn polyhedron(&mut self, points: usize, radius: f64) -> Shape {
        let points: Vec<_> = (0..points).map(|_| Point3::from(self.unit() * radius)).collect();
        Shape::convex_hull(&points).unwrap()
    }
}

/// A box.
pub(crate) fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::cuboid([x, y, z]).unwrap()
}

/// The corners of a box.
pub(crate) fn corners([x, y, z]: [f64; 3]) -> Vec<Point3<f64>> {
    (0..8)
        .map(|i| {
            Point3::new(
                if i & 1 == 0 { -x } else { x },
                if i & 2 == 0 { -y } else { y },
                if i & 4 == 0 { -z } else { z },
            )
        })
        .collect()
}

/// The box as the hull of its corners.
pub(crate) fn hulled(half_extents: [f64; 3]) -> Shape {
    Shape::convex_hull(&corners(half_extents)).unwrap()
}

/// A translation.
pub(crate) fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(x, y, z)
}

/// The vertices of the core of a bounded shape, and its radius.
pub(crate) fn core(shape: &Shape) -> (Vec<Point3<f64>>, f64) {
    match shape {
        Shape::Point => (vec![Point3::origin()], 0.0),
        Shape::Sphere { radius } => (vec![Point3::origin()], *radius),
        Shape::Capsule { half_length, radius } => {
            (vec![Point3::new(-half_length, 0.0, 0.0), Point3::new(*half_length, 0.0, 0.0)], *radius)
        }
        Shape::Box { half_extents } => (corners(*half_extents), 0.0),
        Shape::Polyhedron(polyhedron) => (polyhedron.vertices().to_vec(), 0.0),
        _ => panic!("unbounded"),
    }
}

/// The separation σ(n) = min over B of n · b − max over A of n · a, by brute force over the vertices.
pub(crate) fn separation(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, n: &Vector3<f64>) -> f64 {
    let low = |shape: &Shape, pose: &Pose, n: Vector3<f64>| {
        let (vertices, radius) = core(shape);
        vertices.iter().map(|v| n.dot(&((pose * v) - pose_a.translation.vector).coords)).fold(f64::INFINITY, f64::min)
            - radius
    };
    low(b, pose_b, *n) + low(a, pose_a, -n)
}

/// Returns the contacts after checking general properties: unit normal, finite data, `ψ = n · (p_b − p_a)` ≤ margin,
/// different features, and the mirror image for exchanged A and B.
pub(crate) fn query(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, margin: f64) -> Vec<ContactPoint> {
    let wrap = |shape: &Shape| stiction_geometry::Shape::Spatial(shape.clone());
    let mut scratch = Scratch::default();
    let (mut found, mut mirrored) = (Vec::new(), Vec::new());
    contacts(&wrap(a), pose_a, &wrap(b), pose_b, margin, &mut scratch, &mut found).unwrap();
    contacts(&wrap(b), pose_b, &wrap(a), pose_a, margin, &mut scratch, &mut mirrored).unwrap();
    let size = size_of(a).max(size_of(b)).max((pose_a.translation.vector - pose_b.translation.vector).norm());
    let world = size.max(pose_a.translation.vector.norm()).max(pose_b.translation.vector.norm());
    for c in &found {
        assert!((c.normal.norm() - 1.0).abs() < 1e-12, "{c:?}");
        assert!(c.point_a.coords.iter().chain(c.point_b.coords.iter()).all(|x| x.is_finite()), "{c:?}");
        assert!(c.gap <= margin, "{c:?}");
        assert!((c.gap - c.normal.dot(&(c.point_b - c.point_a))).abs() <= 1e-14 * world, "{c:?}");
    }
    let mut features: Vec<_> = found.iter().map(|c| c.feature).collect();
    features.sort_unstable();
    features.dedup();
    assert_eq!(features.len(), found.len(), "{found:?}");
    if found.iter().all(|c| c.normal_is_unique) {
        assert_eq!(found.len(), mirrored.len(), "{found:#?} {mirrored:#?}");
        for c in &found {
            // The direction of a line between two points a gap apart is known to round-off / gap.
            let direction_error = 1e-9 + 4e-16 * size / c.gap.abs().max(1e-10 * size);
            let has_image = mirrored.iter().any(|m| {
                (m.point_a - c.point_b).norm() < 1e-8 * size
                    && (m.point_b - c.point_a).norm() < 1e-8 * size
                    && (m.normal.into_inner() + c.normal.into_inner()).norm() < direction_error
                    && (m.gap - c.gap).abs() < 1e-13 * size
            });
            assert!(has_image, "{c:?} has no image in {mirrored:#?}");
        }
    }
    found
}

fn size_of(shape: &Shape) -> f64 {
    shape.radius_bound().unwrap_or(0.0)
}

/// Returns the contact that determines the signed distance: the nearest one for separation, the one of least depth
/// for penetration. Its gap is the separation along its normal, which proves that no pair of points is closer
/// (separation) and that the direction separates.
pub(crate) fn decisive(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    found: &[ContactPoint],
    within: f64,
) -> ContactPoint {
    let sigma = |c: &ContactPoint| separation(a, pose_a, b, pose_b, &c.normal);
    let supporting = found.iter().filter(|c| (sigma(c) - c.gap).abs() <= within);
    let best = *supporting.max_by(|c, d| sigma(c).total_cmp(&sigma(d))).unwrap_or_else(|| {
        let pairs: Vec<_> = found.iter().map(|c| (c, sigma(c))).collect();
        panic!("no contact of {} and {} supports its normal: {pairs:?}", a.name(), b.name())
    });
    // No contact is closer; in penetration none is deeper by more than one per cent.
    assert!(found.iter().all(|c| c.gap >= best.gap.min(best.gap * 1.0102) - within), "{best:?} {found:#?}");
    best
}
