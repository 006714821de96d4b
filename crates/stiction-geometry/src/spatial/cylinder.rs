//! Contacts of a cylinder that stands or lies flat: several points, each feature-exact.   [IMP-16]
//!
//! The lowest point of a rim moves along it as the cylinder rolls. Points fixed on the rim support a standing
//! cylinder. In all other cases the contact is at the closest points of the solids.

use std::f64::consts::TAU;

use nalgebra::{Matrix3, Point3, Vector3};

use super::capsule::ALIGNED;
use super::placed::Core;
use super::segment::{Place, closest, is_transverse};
use super::sink::{Meeting, Sink};
use crate::ContactPoint;

/// Number of points fixed on each rim.
const RIM_POINTS: u32 = 8;
/// Feature numbers: the lowest points of both rims, the fixed points, the two ends, the line on the side, the closest
/// points.
const FIRST_FIXED: u32 = 2;
const FIRST_END: u32 = FIRST_FIXED + 2 * RIM_POINTS;
const SIDE: u32 = FIRST_END + 2;
pub(super) const FIRST_CLOSEST: u32 = SIDE + 1;
/// Largest cosine between its axis and the normal of a face for a cylinder that lies on the face.
const LYING: f64 = 0.3;
/// Sine below which the lowest point of a rim is not defined.
const UPRIGHT: f64 = 1e-9;

/// A cylinder in the frame of the pair.
pub(super) struct Cylinder {
    ends: [Point3<f64>; 2],
    axis: Vector3<f64>,
    spokes: [Vector3<f64>; 2],
    radius: f64,
}

impl Cylinder {
    pub(super) fn new(half_length: f64, radius: f64, rotation: &Matrix3<f64>, centre: &Vector3<f64>) -> Self {
        let [axis, y, z] = [0, 1, 2].map(|k| rotation.column(k).into_owned());
        let half = axis * half_length;
        Self { ends: [centre - half, centre + half].map(Point3::from), axis, spokes: [y * radius, z * radius], radius }
    }

    /// Returns the point of rim `end` that is lowest along `up`; `None` for an upright cylinder.
    fn lowest_of_rim(&self, end: usize, up: &Vector3<f64>) -> Option<Point3<f64>> {
        let across = up - self.axis * self.axis.dot(up);
        let sine = across.norm();
        (sine > UPRIGHT).then(|| self.ends[end] - across * (self.radius / sine))
    }

    /// Returns the points fixed on rim `end`, with their features.
    fn fixed_on_rim(&self, end: usize) -> impl Iterator<Item = (u32, Point3<f64>)> + '_ {
        (0..RIM_POINTS).map(move |k| {
            let (sine, cosine) = libm::sincos(TAU * f64::from(k) / f64::from(RIM_POINTS));
            let feature = FIRST_FIXED + RIM_POINTS * end as u32 + k;
            (feature, self.ends[end] + self.spokes[0] * cosine + self.spokes[1] * sine)
        })
    }

    /// Returns the end that faces against `up`.
    fn lower_end(&self, up: &Vector3<f64>) -> usize {
        usize::from(self.axis.dot(up) < 0.0)
    }

    /// Returns the outward direction at an end.
    fn out_of(&self, end: usize) -> Vector3<f64> {
        if end == 0 { -self.axis } else { self.axis }
    }

    /// True if a point is within the end disc, seen along the axis.
    fn is_over_end(&self, end: usize, point: &Point3<f64>) -> bool {
        let d = point - self.ends[end];
        (d - self.axis * self.axis.dot(&d)).norm() <= self.radius
    }

    /// Returns the contact of a point of A with the plane of an end of this cylinder as B.
    fn point_on_end(&self, feature_a: u32, point: Point3<f64>, end: usize) -> Meeting {
        let out = self.out_of(end);
        let gap = out.dot(&(point - self.ends[end]));
        Meeting {
            feature_a,
            feature_b: FIRST_END + end as u32,
            core_a: point,
            core_b: point - out * gap,
            normal: -out,
            normal_is_unique: true,
        }
    }
}

/// Reports the contacts of the half-space below the plane through the origin (A) with cylinder B.
pub(super) fn with_half_space(normal: &Vector3<f64>, b: &Cylinder, sink: &mut Sink<'_>) {
    let mut push = |feature_b: u32, point: Point3<f64>| {
        let core_a = point - normal * normal.dot(&point.coords);
        let normal = *normal;
        sink.push(&Meeting { feature_a: 0, feature_b, core_a, core_b: point, normal, normal_is_unique: true });
    };
    if b.axis.dot(normal).abs() > 0.5 {
        for (feature, point) in b.fixed_on_rim(b.lower_end(normal)) {
            push(feature, point);
        }
    }
    for end in 0..2 {
        if let Some(point) = b.lowest_of_rim(end, normal) {
            push(end as u32, point);
        }
    }
}

/// Reports the contacts of polytope A with cylinder B, whose closest points are `nearest`.
pub(super) fn with_polytope(a: &Core<'_>, b: &Cylinder, nearest: &Meeting, sink: &mut Sink<'_>) {
    if let Some(face) = a.face_towards(&nearest.normal, ALIGNED) {
        let up = a.normal(face);
        let cosine = b.axis.dot(&up).abs();
        if cosine > ALIGNED {
            standing(a, face, b, sink);
        } else if cosine < LYING {
            lying(a, face, b, sink);
        }
    }
    if !sink.has_reached(nearest.distance() + sink.tolerance().touching, None) {
        sink.push(nearest);
    }
}

/// Reports a point of B over a face of A.
fn over_face(a: &Core<'_>, face: u32, feature_b: u32, point: Point3<f64>, sink: &mut Sink<'_>) {
    if a.is_over_face(face, &point, sink.tolerance().touching) {
        let normal = a.normal(face);
        let core_a = point - normal * normal.dot(&(point - a.face_origin(face)));
        let feature_a = a.face_feature(face);
        sink.push(&Meeting { feature_a, feature_b, core_a, core_b: point, normal, normal_is_unique: true });
    }
}

/// Reports rim points over the face, and vertices of the face below the end.
fn standing(a: &Core<'_>, face: u32, b: &Cylinder, sink: &mut Sink<'_>) {
    let up = a.normal(face);
    let end = b.lower_end(&up);
    for (feature, point) in b.fixed_on_rim(end) {
        over_face(a, face, feature, point, sink);
    }
    if let Some(point) = b.lowest_of_rim(end, &up) {
        over_face(a, face, end as u32, point, sink);
    }
    for &corner in a.topology.corners(face as usize) {
        let point = a.vertex(corner);
        if b.is_over_end(end, &point) {
            sink.push(&b.point_on_end(corner, point, end));
        }
    }
}

/// Reports the lowest points of both rims over the face, and the sides of the face that cross below the axis.
fn lying(a: &Core<'_>, face: u32, b: &Cylinder, sink: &mut Sink<'_>) {
    let up = a.normal(face);
    for end in 0..2 {
        if let Some(point) = b.lowest_of_rim(end, &up) {
            over_face(a, face, end as u32, point, sink);
        }
    }
    for &side in a.topology.sides(face as usize) {
        let edge = a.ends(a.edge(side));
        if !is_transverse(&edge, &b.ends) {
            continue;
        }
        let pair = closest(&edge, &b.ends, sink.tolerance().round_off);
        let line = pair.point_b - pair.point_a;
        let distance = line.norm();
        let normal = line / distance.max(f64::MIN_POSITIVE);
        if (pair.place_a, pair.place_b) == (Place::Inside, Place::Inside) && normal.dot(&up) >= ALIGNED {
            sink.push(&Meeting {
                feature_a: a.edge_feature(side),
                feature_b: SIDE,
                core_a: pair.point_a,
                core_b: pair.point_b - normal * b.radius,
                normal,
                normal_is_unique: true,
            });
        }
    }
}

/// Reports the contacts of two cylinders whose closest points are `nearest`: several if end is on end.
pub(super) fn with_cylinder(a: &Cylinder, b: &Cylinder, nearest: &Meeting, sink: &mut Sink<'_>) {
    let n = &nearest.normal;
    if a.axis.dot(n).abs() > ALIGNED && b.axis.dot(n).abs() > ALIGNED {
        let (end_a, end_b) = (a.lower_end(&-n), b.lower_end(n));
        for (feature, point) in a.fixed_on_rim(end_a) {
            if b.is_over_end(end_b, &point) {
                sink.push(&b.point_on_end(feature, point, end_b));
            }
        }
        for (feature, point) in b.fixed_on_rim(end_b) {
            if a.is_over_end(end_a, &point) {
                sink.push(&a.point_on_end(feature, point, end_a).exchanged());
            }
        }
    }
    if !sink.has_reached(nearest.distance() + sink.tolerance().touching, None) {
        sink.push(nearest);
    }
}

/// Returns the closest points of the solids in the frame of the pair.
pub(super) fn meeting(contact: &ContactPoint, origin: &Vector3<f64>, features: [u32; 2]) -> Meeting {
    Meeting {
        feature_a: features[0],
        feature_b: features[1],
        core_a: contact.point_a - origin,
        core_b: contact.point_b - origin,
        normal: contact.normal.into_inner(),
        normal_is_unique: contact.normal_is_unique,
    }
}
