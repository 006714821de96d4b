//! Random poses, a set of shapes, and an independent signed distance as reference.

use nalgebra::{Point2, Rotation3, Translation3, Vector2, Vector3};
use stiction_geometry::planar::Shape;
use stiction_geometry::{self as geometry, ContactPoint, Pose, Scratch};

/// `SplitMix` of Steele: a generator with full period.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Returns a number below `count`.
    #[allow(clippy::cast_sign_loss, reason = "never negative")]
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }

    pub(crate) fn pose(&mut self, reach: f64) -> Pose {
        pose(self.between(-reach, reach), self.between(-reach, reach), self.between(-3.2, 3.2))
    }
}

pub(crate) fn pose(x: f64, y: f64, angle: f64) -> Pose {
    Pose::from_parts(Translation3::new(x, y, 0.0), Rotation3::from_axis_angle(&Vector3::z_axis(), angle))
}

pub(crate) fn regular_polygon(sides: usize, radius: f64) -> Shape {
    let corner = |i: usize| {
        let angle = 0.3 + std::f64::consts::TAU * i as f64 / sides as f64;
        Point2::new(radius * libm::cos(angle), radius * libm::sin(angle))
    };
    Shape::polygon(&(0..sides).map(corner).collect::<Vec<_>>()).unwrap()
}

/// The bounded shapes with a core, of size about one.
pub(crate) fn bounded_shapes() -> Vec<Shape> {
    vec![
        Shape::point(),
        Shape::disc(0.4).unwrap(),
        Shape::capsule(0.7, 0.2).unwrap(),
        Shape::rectangle([0.8, 0.3]).unwrap(),
        Shape::polygon(&[
            Point2::new(-0.4, -0.5),
            Point2::new(0.9, -0.2),
            Point2::new(0.5, 0.6),
            Point2::new(-0.3, 0.7),
            Point2::new(-0.6, 0.2),
        ])
        .unwrap(),
        regular_polygon(17, 0.6),
    ]
}

/// Returns every pair of bounded shapes that the narrow phase supports.
pub(crate) fn bounded_pairs() -> Vec<(Shape, Shape)> {
    let shapes = bounded_shapes();
    let all = shapes.iter().flat_map(|a| shapes.iter().map(move |b| (a.clone(), b.clone())));
    all.filter(|pair| *pair != (Shape::Point, Shape::Point)).collect()
}

pub(crate) fn contacts(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, margin: f64) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    let (a, b) = (geometry::Shape::Planar(a.clone()), geometry::Shape::Planar(b.clone()));
    geometry::contacts(&a, pose_a, &b, pose_b, margin, &mut Scratch::default(), &mut out).unwrap();
    out
}

pub(crate) fn least_gap(contacts: &[ContactPoint]) -> f64 {
    contacts.iter().map(|contact| contact.gap).fold(f64::INFINITY, f64::min)
}

/// The support function of a bounded shape at a pose: the largest n · x over its points.
pub(crate) fn support(shape: &Shape, pose: &Pose, n: &Vector2<f64>) -> f64 {
    let n = Vector3::new(n.x, n.y, 0.0);
    let m = pose.rotation.inverse_transform_vector(&n).xy();
    let local = match shape {
        Shape::Point => 0.0,
        Shape::Disc { radius } => *radius,
        Shape::Capsule { half_length, radius } => half_length * m.x.abs() + radius,
        Shape::Box { half_extents: [x, y] } => x * m.x.abs() + y * m.y.abs(),
        Shape::Polygon(polygon) => polygon.vertices().iter().map(|v| v.coords.dot(&m)).fold(f64::MIN, f64::max),
        Shape::Ellipse { semi_axes: [a, b] } => libm::hypot(a * m.x, b * m.y),
        _ => panic!("no support function"),
    };
    n.dot(&pose.translation.vector) + local
}

/// The signed distance of two convex bodies is the maximum over all directions of the gap between their supporting lines:
/// sampled densely, then refined by golden section around the best samples.
pub(crate) fn signed_distance(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> f64 {
    const SAMPLES: usize = 720;
    let step = std::f64::consts::TAU / SAMPLES as f64;
    let gap = |angle: f64| {
        let n = Vector2::new(libm::cos(angle), libm::sin(angle));
        -support(b, pose_b, &-n) - support(a, pose_a, &n)
    };
    let samples: Vec<f64> = (0..SAMPLES).map(|i| gap(step * i as f64)).collect();
    let is_peak =
        |i: usize| samples[i] >= samples[(i + 1) % SAMPLES] && samples[i] >= samples[(i + SAMPLES - 1) % SAMPLES];
    let refined = (0..SAMPLES).filter(|&i| is_peak(i)).map(|i| {
        let (mut low, mut high) = (step * (i as f64 - 1.0), step * (i as f64 + 1.0));
        for _ in 0..80 {
            let third = (high - low) / 3.0;
            if gap(low + third) < gap(high - third) { low += third } else { high -= third }
        }
        gap(0.5 * (low + high))
    });
    refined.fold(f64::MIN, f64::max)
}
