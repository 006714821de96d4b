//! Contacts of discs and capsules with an outline: one with every chain, at its nearest part.   [GEOM-13]

use nalgebra::Vector2;

use super::chain::Location;
use super::reach::{GuestVertex, Reach};
use super::{COINCIDENT, Meeting, OutlinePair, Work, chain};
use crate::Feature;
use crate::planar::boundary::{Foot, NearFace};
use crate::planar::frame::PlaneContact;
use crate::planar::separation::Side;

/// Feature number of the first of the two faces of a capsule's core, below and above.
const CORE_FACES: usize = 2;

impl OutlinePair<'_> {
    /// Finds the contacts of the ends of a round guest's core, and of the host's vertices over the core between them.
    pub(super) fn round_guest(&mut self, side: Side, reach: &Reach) {
        self.centres_before_chains(side, reach);
        if let Some(core) = Core::of(reach) {
            self.corners_over_core(side, &core, reach);
        }
    }

    fn centres_before_chains(&mut self, side: Side, reach: &Reach) {
        let (host, guest) = self.host_and_guest(side);
        let coincident = COINCIDENT * self.scale;
        let Work { guest_vertices, candidates, near, contacts, .. } = &mut *self.work;
        reach.guest_vertices(guest_vertices);
        reach.candidates(guest_vertices, candidates);
        for guest_vertex in guest_vertices.iter() {
            let Some(location) = reach.location(&guest_vertex.point, candidates, near) else { continue };
            for members in chain::split(host.boundary, near) {
                let nearest = location.nearest_of(members).filter(|_| location.is_before(host.boundary, members));
                let meeting = nearest.and_then(|near| meeting(reach, guest_vertex, &near, &location, coincident));
                if let Some(meeting) = meeting {
                    push_alone(contacts, meeting.contact(side, &host, &guest, guest_vertex.vertex), reach.margin);
                }
            }
        }
    }

    fn corners_over_core(&mut self, side: Side, core: &Core, reach: &Reach) {
        let (host, guest) = self.host_and_guest(side);
        let passed_side = core.passed_side(reach);
        for corner in 0..host.boundary.vertices().len() {
            let Some(over) = core.corner(corner, reach) else { continue };
            if over.has_passed && passed_side != Some(over.is_above()) {
                continue;
            }
            // The straight side of the capsule is the face, and the vertex of the host is the vertex.
            let is_upper_side = over.is_above() != over.has_passed;
            let out = guest.frame.direction(&Vector2::new(0.0, if is_upper_side { 1.0 } else { -1.0 }));
            let height = if is_upper_side { over.above } else { -over.above };
            let point = host.frame.point(&host.boundary.vertices()[corner].coords);
            let contact = PlaneContact {
                feature_a: corner,
                feature_b: CORE_FACES + usize::from(is_upper_side),
                point_a: point,
                point_b: point - out * (height - guest.radius),
                normal: -out,
                gap: height - guest.radius,
                normal_is_unique: height.abs() > COINCIDENT * self.scale,
            };
            push_alone(&mut self.work.contacts, contact.seen_by(side), reach.margin);
        }
    }
}

/// Keeps a contact that forms its own chain.
fn push_alone(contacts: &mut Vec<(Feature, PlaneContact)>, contact: PlaneContact, margin: f64) {
    if contact.gap <= margin {
        contacts.push((contact.feature(), contact));
    }
}

/// Returns the contact of a centre with the nearest part of a chain: a vertex along the connecting line [GEOM-6], or
/// a face [GEOM-4]. The line of a face extends behind a notch as long as it is not nearer than the outline itself. A
/// point inside never leaves over a vertex.   [GEOM-13]
fn meeting(
    reach: &Reach,
    guest_vertex: &GuestVertex,
    near: &NearFace,
    location: &Location,
    coincident: f64,
) -> Option<Meeting> {
    let host = reach.host;
    let (normal, height) = (host.normals()[near.face], near.height);
    match host.foot(near) {
        Foot::Vertex(corner) if host.is_convex_at(corner) => {
            let d = guest_vertex.point - host.vertices()[corner].coords;
            let length = d.norm();
            let is_unique = length > coincident;
            let (normal, height) = if is_unique { (d / length, length) } else { (normal, height) };
            (!location.is_inside).then_some(Meeting { feature: corner, normal, height, is_unique })
        }
        _ => {
            let is_valid = height >= location.signed_distance - reach.round_off;
            let feature = host.face_feature(near.face);
            is_valid.then_some(Meeting { feature, normal, height, is_unique: true })
        }
    }
}

/// The core of a capsule in the coordinates of the host.
struct Core {
    start: Vector2<f64>,
    direction: Vector2<f64>,
    length: f64,
}

/// A vertex of the host over the core, between its ends.
struct CornerOverCore {
    /// Height above the upper side; negative on the lower one.
    above: f64,
    /// True if the core passes through the solid at the foot of the vertex.
    has_passed: bool,
}

impl CornerOverCore {
    fn is_above(&self) -> bool {
        self.above > 0.0
    }
}

impl Core {
    fn of(reach: &Reach) -> Option<Self> {
        let [from, to] = reach.guest.vertices() else { return None };
        let (start, end) = (reach.seen(&from.coords), reach.seen(&to.coords));
        let length = (end - start).norm();
        Some(Self { start, direction: (end - start) / length, length })
    }

    fn corner(&self, corner: usize, reach: &Reach) -> Option<CornerOverCore> {
        let d = reach.host.vertices()[corner].coords - self.start;
        let (along, above) = (self.direction.dot(&d), self.direction.perp(&d));
        let is_between = along > reach.round_off && along < self.length - reach.round_off;
        if !is_between || above.abs() > reach.distance || !reach.host.is_convex_at(corner) {
            return None;
        }
        let foot = self.start + self.direction * along;
        let faces = [corner, reach.host.face_before(corner)];
        let [first, second] = faces.map(|face| reach.host.height(face, &foot));
        let is_below = first.max(second) <= reach.round_off && first.min(second) < -reach.round_off;
        // The foot may lie on a face of the vertex, so the test point is slightly inside.
        let inward = -(reach.host.normals()[faces[0]] + reach.host.normals()[faces[1]]);
        let has_passed = is_below && reach.host.contains(&(foot + inward * (2.0 * reach.round_off)));
        Some(CornerOverCore { above, has_passed })
    }

    /// Returns the side of the vertex that the core has passed by least: the core entered from there.
    fn passed_side(&self, reach: &Reach) -> Option<bool> {
        let corners = (0..reach.host.vertices().len()).filter_map(|corner| self.corner(corner, reach));
        let least = corners
            .filter(|over| over.has_passed)
            .reduce(|best, next| if next.above.abs() < best.above.abs() { next } else { best });
        least.map(|over| over.is_above())
    }
}
