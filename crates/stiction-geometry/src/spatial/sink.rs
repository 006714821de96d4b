//! Conversion of feature pairs to reported contacts.

use nalgebra::{Point3, Unit, Vector3};

use super::placed::Core;
use crate::contact::assign_separate_chains;
use crate::{ContactPoint, Feature};

/// Round-off of a coordinate, relative to the largest length of the pair: some sixty units in the last place.
const ROUND_OFF: f64 = 1e-14;
/// Fraction of the smaller shape below which lengths do not distinguish features.
const RESOLUTION: f64 = 1e-10;
/// Smallest cosine of unit vectors that are equal up to round-off.
const SAME_DIRECTION: f64 = 1.0 - 1e-14;

/// A pair of features in contact: points of the cores and the unit normal from A to B.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub(super) feature_a: u32,
    pub(super) feature_b: u32,
    pub(super) core_a: Point3<f64>,
    pub(super) core_b: Point3<f64>,
    pub(super) normal: Vector3<f64>,
    pub(super) normal_is_unique: bool,
}

/// Lengths below which a pair cannot be resolved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    /// Error of a coordinate.
    pub(super) round_off: f64,
    /// Distance below which features count as touching, and a point outside a face counts as over it.
    pub(super) touching: f64,
}

impl Tolerance {
    /// Returns the tolerance of two shapes with the given sizes, whose origins are `distance` apart.
    pub(super) fn new(size_a: f64, size_b: f64, distance: f64) -> Self {
        let round_off = ROUND_OFF * size_a.max(size_b).max(distance);
        Self { round_off, touching: round_off + RESOLUTION * size_a.min(size_b) }
    }
}

/// Receiver of feature pairs of two cores, which appends the contacts of the shapes.
#[derive(Debug)]
pub(super) struct Sink<'a> {
    out: &'a mut Vec<ContactPoint>,
    first: usize,
    origin: Vector3<f64>,
    radii: [f64; 2],
    margin: f64,
    tolerance: Tolerance,
    swapped: bool,
}

impl<'a> Sink<'a> {
    /// Creates a receiver for contacts with gap ≤ `margin`; with `swapped`, A here is B for the caller.
    pub(super) fn new(
        out: &'a mut Vec<ContactPoint>,
        origin: Vector3<f64>,
        radii: [f64; 2],
        margin: f64,
        tolerance: Tolerance,
        swapped: bool,
    ) -> Self {
        let first = out.len();
        Self { out, first, origin, radii, margin, tolerance, swapped }
    }

    /// Returns the tolerance of the pair.
    pub(super) fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    /// Returns the largest distance between the cores at which the shapes are within the margin.
    pub(super) fn core_margin(&self) -> f64 {
        self.margin + self.radii[0] + self.radii[1]
    }

    /// True if a contact at a core distance of at most `distance` was reported, along `direction` if one is given.
    pub(super) fn has_reached(&self, distance: f64, direction: Option<&Vector3<f64>>) -> bool {
        let sign = if self.swapped { -1.0 } else { 1.0 };
        self.reported().iter().any(|contact| {
            let is_along = direction.is_none_or(|d| sign * contact.normal.dot(d) >= SAME_DIRECTION);
            is_along && contact.gap + self.radii[0] + self.radii[1] <= distance
        })
    }

    fn reported(&self) -> &[ContactPoint] {
        debug_assert!(self.first <= self.out.len(), "contacts of other pairs stay");
        self.out.get(self.first..).unwrap_or(&[])
    }

    /// Reports a contact unless it is beyond the margin or coincides with a reported one.
    pub(super) fn push(&mut self, meeting: &Meeting) {
        // Most contacts are beyond the margin and need no comparison.
        if !self.is_near(self.gap(meeting)) {
            return;
        }
        let contact = self.contact(meeting);
        if !self.is_reported(&contact) {
            self.out.push(contact);
        }
    }

    /// Reports a contact unless it is beyond the margin, in place of reported ones that coincide with it.
    pub(super) fn push_instead(&mut self, meeting: &Meeting) {
        let contact = self.contact(meeting);
        let mut index = self.first;
        while let Some(other) = self.out.get(index) {
            if self.coincide(other, &contact) {
                self.out.swap_remove(index);
            } else {
                index += 1;
            }
        }
        if self.is_near(contact.gap) {
            self.out.push(contact);
        }
    }

    /// True if a gap is within the margin; false for NaN.
    fn is_near(&self, gap: f64) -> bool {
        gap <= self.margin
    }

    /// Returns ψ = n · (b − a) − r − s.   [GEOM-31]
    fn gap(&self, meeting: &Meeting) -> f64 {
        meeting.distance() - self.radii[0] - self.radii[1]
    }

    /// Returns the contact of the shapes with radii from that of their cores.
    ///
    /// With core points a, b and radii r, s: ψ = n · (b − a) − r − s, between the points a + r n and b − s n.   [GEOM-31]
    fn contact(&self, meeting: &Meeting) -> ContactPoint {
        let Meeting { core_a, core_b, normal, normal_is_unique, .. } = *meeting;
        let gap = self.gap(meeting);
        let point_a = core_a + normal * self.radii[0] + self.origin;
        let point_b = core_b - normal * self.radii[1] + self.origin;
        let (feature_a, feature_b) = (meeting.feature_a, meeting.feature_b);
        let (feature, point_a, point_b, normal) = if self.swapped {
            (Feature::new(feature_b, feature_a), point_b, point_a, -normal)
        } else {
            (Feature::new(feature_a, feature_b), point_a, point_b, normal)
        };
        ContactPoint { feature, point_a, point_b, normal: Unit::new_unchecked(normal), gap, normal_is_unique, chain: 0 }
    }

    /// Sorts the reported contacts by feature.
    pub(super) fn sort(self) {
        debug_assert!(self.first <= self.out.len(), "contacts of other pairs stay");
        if let Some(reported) = self.out.get_mut(self.first..) {
            reported.sort_unstable_by_key(|contact| contact.feature);
            assign_separate_chains(reported);
        }
    }

    fn is_reported(&self, contact: &ContactPoint) -> bool {
        self.reported().iter().any(|other| self.coincide(other, contact))
    }

    /// True if two contacts are between the same two points, to the resolution of the pair.
    fn coincide(&self, c: &ContactPoint, d: &ContactPoint) -> bool {
        let reach = 8.0 * self.tolerance.touching;
        (c.point_a - d.point_a).norm() <= reach && (c.point_b - d.point_b).norm() <= reach
    }
}

/// Returns the contact of a vertex of B with a face of A; the normal is that of the face.   [GEOM-32]
pub(super) fn vertex_on_face(a: &Core<'_>, face: u32, b: &Core<'_>, vertex: u32) -> Meeting {
    let normal = a.normal(face);
    let core_b = b.vertex(vertex);
    let core_a = core_b - normal * normal.dot(&(core_b - a.face_origin(face)));
    Meeting { feature_a: a.face_feature(face), feature_b: vertex, core_a, core_b, normal, normal_is_unique: true }
}

impl Meeting {
    /// Returns the signed distance of the cores.
    pub(super) fn distance(&self) -> f64 {
        self.normal.dot(&(self.core_b - self.core_a))
    }

    /// Returns the same contact with A and B exchanged.
    pub(super) fn exchanged(self) -> Self {
        Self {
            feature_a: self.feature_b,
            feature_b: self.feature_a,
            core_a: self.core_b,
            core_b: self.core_a,
            normal: -self.normal,
            normal_is_unique: self.normal_is_unique,
        }
    }
}
