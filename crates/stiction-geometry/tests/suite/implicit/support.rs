//! Random shapes and poses, and the certificate of closest points by its definition.

use nalgebra::{IsometryMatrix3, Point2, Point3, Rotation3, Translation3, Vector2, Vector3};
use stiction_geometry::implicit::{Closest, Convex, Scratch, closest};
use stiction_geometry::{Pose, Shape, planar, spatial};

/// A generator of reproducible numbers (`SplitMix64`).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let unit = ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
        low + (high - low) * unit
    }

    /// A size, equally likely in every decade.
    pub(super) fn size(&mut self, low: f64, high: f64) -> f64 {
        libm::exp(self.uniform(libm::log(low), libm::log(high)))
    }

    /// A number below `count`.
    pub(super) fn index(&mut self, count: usize) -> usize {
        let x = self.uniform(0.0, count as f64);
        (1..count).take_while(|&k| k as f64 <= x).count()
    }

    pub(super) fn unit(&mut self, is_planar: bool) -> Vector3<f64> {
        loop {
            let z = if is_planar { 0.0 } else { self.uniform(-1.0, 1.0) };
            let v = Vector3::new(self.uniform(-1.0, 1.0), self.uniform(-1.0, 1.0), z);
            if (0.01..1.0).contains(&v.norm()) {
                return v / v.norm();
            }
        }
    }

    pub(super) fn pose(&mut self, is_planar: bool, at: Vector3<f64>) -> Pose {
        let rotation = if is_planar {
            Rotation3::from_axis_angle(&Vector3::z_axis(), self.uniform(-4.0, 4.0))
        } else {
            Rotation3::from_scaled_axis(self.unit(false) * self.uniform(0.0, 3.2))
        };
        IsometryMatrix3::from_parts(Translation3::from(at), rotation)
    }

    /// Whole and broken exponents from two to ten.
    fn exponent(&mut self) -> f64 {
        let exponent = self.uniform(2.0, 10.0);
        if self.index(2) == 0 { exponent.round() } else { exponent }
    }

    /// A bounded shape of the given size and proportions up to ten.
    pub(super) fn shape(&mut self, is_planar: bool, size: f64) -> Shape {
        if is_planar { self.planar_shape(size).into() } else { self.spatial_shape(size).into() }
    }

    fn planar_shape(&mut self, size: f64) -> planar::Shape {
        let mut part = || size * self.size(0.1, 1.0);
        let (p, q) = (part(), part());
        match self.index(7) {
            6 => planar::Shape::superellipse([p, q], self.exponent()).unwrap(),
            0 => planar::Shape::disc(p).unwrap(),
            1 => planar::Shape::capsule(p, q).unwrap(),
            2 => planar::Shape::rectangle([p, q]).unwrap(),
            3 => planar::Shape::ellipse([p, q]).unwrap(),
            4 => planar::Shape::point(),
            _ => {
                let points: Vec<_> = (0..12).map(|_| self.unit(true) * size).map(|v| Point2::from(v.xy())).collect();
                planar::Shape::convex_hull(&points).unwrap()
            }
        }
    }

    fn spatial_shape(&mut self, size: f64) -> spatial::Shape {
        let mut part = || size * self.size(0.1, 1.0);
        let (p, q, r) = (part(), part(), part());
        match self.index(8) {
            6 => spatial::Shape::superquadric([p, q, r], [self.exponent(), self.exponent()]).unwrap(),
            7 => spatial::Shape::cylinder(p, q).unwrap(),
            0 => spatial::Shape::sphere(p).unwrap(),
            1 => spatial::Shape::capsule(p, q).unwrap(),
            2 => spatial::Shape::cuboid([p, q, r]).unwrap(),
            3 => spatial::Shape::ellipsoid([p, q, r]).unwrap(),
            4 => spatial::Shape::point(),
            _ => {
                let points: Vec<_> = (0..12).map(|_| Point3::from(self.unit(false) * size)).collect();
                spatial::Shape::convex_hull(&points).unwrap()
            }
        }
    }

    pub(super) fn half_space(&mut self, is_planar: bool) -> Shape {
        if is_planar {
            let normal: Vector2<f64> = self.unit(true).xy();
            planar::Shape::half_plane(normal).unwrap().into()
        } else {
            spatial::Shape::half_space(self.unit(false)).unwrap().into()
        }
    }
}

/// Returns the closest points without a warm start.
pub(super) fn cold(a: (&Convex, &Pose), b: (&Convex, &Pose)) -> Closest {
    closest(a, b, None, &mut Scratch::default())
}

/// The conditions of closest points by their definition, from the functions themselves and in world coordinates.
pub(super) fn certificate((a, pose_a): (&Convex, &Pose), (b, pose_b): (&Convex, &Pose), found: &Closest) -> f64 {
    let sizes = [a.reach(), b.reach()].into_iter().flatten().filter(|size| *size > 0.0);
    let length = sizes.reduce(f64::min).unwrap_or(1.0);
    let n = found.normal.into_inner();
    let mut worst = ((found.point_b - found.point_a) - n * found.gap).amax() / length;
    for (body, pose, point, multipliers, sign) in [
        (a, pose_a, &found.point_a, &found.multipliers_a, 1.0),
        (b, pose_b, &found.point_b, &found.multipliers_b, -1.0),
    ] {
        let local = pose.inverse_transform_point(point);
        let sum: Vector3<f64> = multipliers.iter().map(|(k, m)| body.jet(k, &local).gradient * m).sum();
        worst = worst.max((pose.rotation * sum - n * sign).amax());
        worst = multipliers.iter().fold(worst, |worst, (_, m)| worst.max(-m));
        for k in 0..body.functions() {
            let value = body.jet(k, &local).value / length;
            worst = worst.max(if multipliers.contains(k) { value.abs() } else { value });
        }
    }
    if worst.is_nan() { f64::INFINITY } else { worst }
}
