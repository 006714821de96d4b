//! Discs and capsules before an outline: one contact with every chain, with its nearest part.   [GEOM-13]

use nalgebra::Vector2;

use super::boundary::{NearFace, SupportPoint};
use super::chain::Standing;
use super::reach::{Reach, Visitor};
use super::{COINCIDENT, Meeting, OutlinePair, Work, chain};
use crate::Feature;
use crate::planar::frame::PlaneContact;
use crate::planar::separation::Side;

/// The feature number of the first of the two faces of a capsule's core, below and above.
const CORE_FACES: usize = 2;

impl OutlinePair<'_> {
    /// Finds the contacts of the ends of a round guest's core, and of the host's corners over the core between them.
    pub(super) fn round_guest(&mut self, side: Side, reach: &Reach) {
        self.centres_before_chains(side, reach);
        if let Some(core) = Core::of(reach) {
            self.corners_over_core(side, &core, reach);
        }
    }

    fn centres_before_chains(&mut self, side: Side, reach: &Reach) {
        let (host, guest) = self.host_and_guest(side);
        let coincident = COINCIDENT * self.scale;
        let Work { visitors, candidates, near, contacts, .. } = &mut *self.work;
        reach.visitors(visitors);
        reach.candidates(visitors, candidates);
        for visitor in visitors.iter() {
            let Some(standing) = reach.standing(&visitor.point, candidates, near) else { continue };
            for members in chain::split(host.boundary, near) {
                let nearest = standing.nearest_of(members).filter(|_| standing.is_before(host.boundary, members));
                let meeting = nearest.and_then(|near| meeting(reach, visitor, &near, &standing, coincident));
                if let Some(meeting) = meeting {
                    push_alone(contacts, meeting.contact(side, &host, &guest, visitor.vertex), reach.margin);
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
            // The straight side is the face and the corner of the host the vertex.
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

/// Keeps a contact that is a chain of its own.
fn push_alone(contacts: &mut Vec<(Feature, PlaneContact)>, contact: PlaneContact, margin: f64) {
    if contact.gap <= margin {
        contacts.push((contact.feature(), contact));
    }
}

/// How a centre meets the part of a chain that is nearest to it: the corner along the line that connects them [GEOM-6], or a face
/// [GEOM-4], whose line goes on behind a notch as long as it does not come nearer than the outline itself. From inside, the
/// way out is never by way of a corner.   [GEOM-13]
fn meeting(reach: &Reach, visitor: &Visitor, near: &NearFace, standing: &Standing, coincident: f64) -> Option<Meeting> {
    let host = reach.host;
    let (normal, height) = (host.normals()[near.face], near.height);
    match host.foot(near) {
        SupportPoint::Vertex(corner) if host.is_convex_at(corner) => {
            let d = visitor.point - host.vertices()[corner].coords;
            let length = d.norm();
            let is_unique = length > coincident;
            let (normal, height) = if is_unique { (d / length, length) } else { (normal, height) };
            (!standing.is_inside).then_some(Meeting { feature: corner, normal, height, is_unique })
        }
        _ => {
            let is_honest = height >= standing.signed_distance - reach.round_off;
            let feature = host.face_feature(near.face);
            is_honest.then_some(Meeting { feature, normal, height, is_unique: true })
        }
    }
}

/// The core of a capsule in the coordinates of the host.
struct Core {
    start: Vector2<f64>,
    direction: Vector2<f64>,
    length: f64,
}

/// A corner of the host over the core, between its ends.
struct CornerOverCore {
    /// The height above the upper side, negative on the lower one.
    above: f64,
    /// Whether the core runs through the solid at the foot of the corner.
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
        // The foot may lie on a face of the corner: it is asked for a little inside.
        let inward = -(reach.host.normals()[faces[0]] + reach.host.normals()[faces[1]]);
        let has_passed = is_below && reach.host.contains(&(foot + inward * (2.0 * reach.round_off)));
        Some(CornerOverCore { above, has_passed })
    }

    /// The side of the corners that the core has passed by least: it came in from there.
    fn passed_side(&self, reach: &Reach) -> Option<bool> {
        let corners = (0..reach.host.vertices().len()).filter_map(|corner| self.corner(corner, reach));
        let least = corners
            .filter(|over| over.has_passed)
            .reduce(|best, next| if next.above.abs() < best.above.abs() { next } else { best });
        least.map(|over| over.is_above())
    }
}
