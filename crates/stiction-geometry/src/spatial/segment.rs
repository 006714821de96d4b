//! Closest points of segments, with the features that contain them.

use nalgebra::{Point3, Vector3};

/// Sine below which lines count as parallel: their closest points are lost to round-off.
pub(super) const PARALLEL: f64 = 1e-6;

/// Sine below which crossing edges make no contact of a manifold. The normal of such a crossing turns too fast, and
/// the overlap of the faces is nearly straight there.
const TRANSVERSE: f64 = 1e-3;

/// Position of a point on a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At end 0 or 1.
    End(usize),
    /// Between the ends.
    Inside,
}

/// A pair of closest points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closest {
    pub(super) place_a: Place,
    pub(super) place_b: Place,
    pub(super) point_a: Point3<f64>,
    pub(super) point_b: Point3<f64>,
}

impl Closest {
    /// Returns the distance of the two points.
    pub(super) fn distance(&self) -> f64 {
        (self.point_b - self.point_a).norm()
    }

    /// True if these points are closer than those of `other`, or equally close and better placed.
    ///
    /// A foot inside a segment is closer than its end by the square of their distance, which round-off hides. Of
    /// distances that differ by less than `tie`, the one with more feet inside is therefore the true one.
    pub(super) fn beats(&self, other: &Self, tie: f64) -> bool {
        let lead = other.distance() - self.distance();
        lead > tie || (lead >= -tie && self.feet_inside() > other.feet_inside())
    }

    fn feet_inside(&self) -> u32 {
        u32::from(self.place_a == Place::Inside) + u32::from(self.place_b == Place::Inside)
    }
}

/// Returns the sine of the angle between two directions.
pub(super) fn sine(e_a: &Vector3<f64>, e_b: &Vector3<f64>) -> f64 {
    let product = e_a.norm() * e_b.norm();
    if product > 0.0 { e_a.cross(e_b).norm() / product } else { 0.0 }
}

/// Returns the parameter t of the foot p₀ + t (p₁ − p₀) of the perpendicular from `point` to the line; zero for a
/// null segment.
pub(super) fn foot(point: &Point3<f64>, segment: &[Point3<f64>; 2]) -> f64 {
    let e = segment[1] - segment[0];
    let square = e.norm_squared();
    // From the nearer end, so that the coordinate of a point at that end is exact.
    if square > 0.0 {
        let from_start = e.dot(&(point - segment[0])) / square;
        if from_start < 0.5 { from_start } else { 1.0 + e.dot(&(point - segment[1])) / square }
    } else {
        0.0
    }
}

/// Returns the closest point of a segment and its position.
pub(super) fn closest_to_point(point: &Point3<f64>, segment: &[Point3<f64>; 2]) -> (Place, Point3<f64>) {
    let t = foot(point, segment);
    if t <= 0.0 {
        (Place::End(0), segment[0])
    } else if t >= 1.0 {
        (Place::End(1), segment[1])
    } else {
        (Place::Inside, along(segment, t))
    }
}

/// Returns the point p₀ + t (p₁ − p₀), measured from the nearer end.
pub(super) fn along(segment: &[Point3<f64>; 2], t: f64) -> Point3<f64> {
    let e = segment[1] - segment[0];
    if t < 0.5 { segment[0] + e * t } else { segment[1] + e * (t - 1.0) }
}

/// Returns the parameters of the closest points of two lines, unless they are parallel.
///
/// With edges e, f, n = e × f and w from a₀ to b₀, the parameters are (w × f) · n / n² and (w × e) · n / n².   [GEOM-33]
pub(super) fn lines(a: &[Point3<f64>; 2], b: &[Point3<f64>; 2]) -> Option<(f64, f64)> {
    let (e_a, e_b) = (a[1] - a[0], b[1] - b[0]);
    let n = e_a.cross(&e_b);
    let square = n.norm_squared();
    let product = e_a.norm() * e_b.norm();
    let is_parallel = square.sqrt() <= PARALLEL * product || square <= 0.0;
    let w = b[0] - a[0];
    (!is_parallel).then(|| (w.cross(&e_b).dot(&n) / square, w.cross(&e_a).dot(&n) / square))
}

/// True if two segments make an angle that defines a useful common perpendicular.
pub(super) fn is_transverse(a: &[Point3<f64>; 2], b: &[Point3<f64>; 2]) -> bool {
    sine(&(a[1] - a[0]), &(b[1] - b[0])) > TRANSVERSE
}

/// True if the lines are closest inside both segments, or at most `slack` beyond their ends.
pub(super) fn cross(a: &[Point3<f64>; 2], b: &[Point3<f64>; 2], slack: f64) -> bool {
    let is_within = |t: f64, segment: &[Point3<f64>; 2]| {
        let slack = slack / (segment[1] - segment[0]).norm();
        t >= -slack && t <= 1.0 + slack
    };
    lines(a, b).is_some_and(|(t_a, t_b)| is_within(t_a, a) && is_within(t_b, b))
}

/// Returns the closest points of two segments.
///
/// The closest points of the lines are those of the segments if they are inside both; otherwise one of the points is
/// an end. Distances are known to `tie`.
pub(super) fn closest(a: &[Point3<f64>; 2], b: &[Point3<f64>; 2], tie: f64) -> Closest {
    if let Some((t_a, t_b)) = lines(a, b)
        && (t_a > 0.0 && t_a < 1.0 && t_b > 0.0 && t_b < 1.0)
    {
        let (point_a, point_b) = (along(a, t_a), along(b, t_b));
        return Closest { place_a: Place::Inside, place_b: Place::Inside, point_a, point_b };
    }
    let end_of_a = |i: usize| {
        let (place_b, point_b) = closest_to_point(&a[i], b);
        Closest { place_a: Place::End(i), place_b, point_a: a[i], point_b }
    };
    let end_of_b = |i: usize| {
        let (place_a, point_a) = closest_to_point(&b[i], a);
        Closest { place_a, place_b: Place::End(i), point_a, point_b: b[i] }
    };
    let candidates = [end_of_a(1), end_of_b(0), end_of_b(1)];
    candidates
        .into_iter()
        .fold(end_of_a(0), |best, candidate| if candidate.beats(&best, tie) { candidate } else { best })
}

/// Returns the unit vector perpendicular to `axis` that is closest to +z, or +x for an axis along z.
pub(super) fn perpendicular(axis: &Vector3<f64>) -> Vector3<f64> {
    let up = Vector3::z();
    let square = axis.norm_squared();
    if square <= 0.0 {
        return up;
    }
    let part = up - axis * (axis.z / square);
    // An axis within 1e-7 of z leaves too little of z; x is then perpendicular up to the same 1e-7, and is made
    // exact.
    let part = if part.norm() > 1e-7 { part } else { Vector3::x() - axis * (axis.x / square) };
    let unit = part.normalize();
    (unit - axis * (axis.dot(&unit) / square)).normalize()
}
