//! Ends of flat overlaps at which both bodies have a vertex.   [GEOM-12]

use nalgebra::Vector2;

use super::chain::{Alternative, Chain};
use super::{Meeting, OutlinePair, Placed};
use crate::planar::frame::PlaneContact;
use crate::planar::separation::{Side, points_up_more};

/// Smallest cosine of opposition (37°) of faces that may be flat on each other.
const OPPOSED_COSINE: f64 = 0.8;

/// Angle between opposed faces, rad, below which they count as flat on each other wherever they end. The gaps at
/// their two vertices then differ by at most this fraction of the margin.
const PARALLEL: f64 = 1e-6;

/// A vertex with one of its faces.
struct End {
    face: usize,
    /// Vertex in midpoint coordinates, like the directions.
    corner: Vector2<f64>,
    normal: Vector2<f64>,
    /// Direction from the vertex along the face.
    inward: Vector2<f64>,
}

impl End {
    /// Creates the end with the face that starts at the vertex, or with the one that ends there.
    fn new(body: &Placed, corner: usize, starts: bool) -> Self {
        let boundary = body.boundary;
        let face = if starts { corner } else { boundary.face_before(corner) };
        let along = body.frame.direction(&boundary.tangent(face));
        Self {
            face,
            corner: body.frame.point(&boundary.vertices()[corner].coords),
            normal: body.frame.direction(&boundary.normals()[face]),
            inward: if starts { along } else { -along },
        }
    }

    /// Returns the distance by which the other vertex lies inside this face, along it; negative beyond its end.
    fn cover(&self, other: &Self) -> f64 {
        self.inward.dot(&(other.corner - self.corner))
    }

    /// True if two faces lie flat on each other and end at the same place.
    ///
    /// For parallel faces, the two chains exclude the same half-plane, whichever vertex reaches farther. For faces
    /// that converge away from the vertices, the chains leave a wedge through which the vertices could pass each
    /// other.   [GEOM-12]
    fn is_common_with(&self, other: &Self, margin: f64, round_off: f64) -> bool {
        let are_opposed = self.normal.dot(&other.normal) <= -OPPOSED_COSINE;
        let convergence = -0.5 * (self.normal.dot(&other.inward) + other.normal.dot(&self.inward));
        let offset = 0.5 * (self.cover(other) - other.cover(self)).abs();
        let reach = margin.max((other.corner - self.corner).norm());
        are_opposed && (convergence.abs() <= PARALLEL || offset <= 2.0 * round_off + convergence.max(0.0) * reach)
    }
}

impl OutlinePair<'_> {
    /// Replaces two chains by one contact if a vertex of B is at the end of a face of A, and the vertex of A there is
    /// at the end of an opposed face of B. The two chains exclude one half-plane between them.   [GEOM-12]
    pub(super) fn merge_common_corners(&mut self, margin: f64) {
        let mut i = 0;
        while i < self.work.chains.len() {
            let partner = |j: usize| self.common_corner(i, j, margin).map(|contact| (j, contact));
            if let Some((j, contact)) = (i + 1..self.work.chains.len()).find_map(partner) {
                self.work.contacts.push((contact.feature(), contact));
                self.work.chains.swap_remove(j);
                self.work.chains.swap_remove(i);
            } else {
                i += 1;
            }
        }
    }

    /// Returns the contact that replaces two chains, if they belong to a common vertex.
    fn common_corner(&self, i: usize, j: usize, margin: f64) -> Option<PlaneContact> {
        let (first, second) = (&self.work.chains[i], &self.work.chains[j]);
        let (on_a, on_b) = match (first.host, second.host) {
            (Side::A, Side::B) => (first, second),
            (Side::B, Side::A) => (second, first),
            _ => return None,
        };
        // The faces have opposite directions: one starts where the other ends.
        [true, false].into_iter().find_map(|starts| {
            let end_a = End::new(&self.a, on_b.vertex, starts);
            let end_b = End::new(&self.b, on_a.vertex, !starts);
            let (height_a, height_b) = (self.height(on_a, end_a.face)?, self.height(on_b, end_b.face)?);
            let is_at_corners =
                self.is_before_corner(on_a, &self.a, on_b.vertex) && self.is_before_corner(on_b, &self.b, on_a.vertex);
            if !(is_at_corners && end_a.is_common_with(&end_b, margin, self.round_off())) {
                return None;
            }
            let takes_a = self.is_host_a((&end_a, height_a), (&end_b, height_b));
            // The feature of the host is the vertex, not the face, so that it does not depend on the choice.
            Some(if takes_a {
                self.corner_contact(Side::A, (on_b.vertex, end_a.face), on_a.vertex, height_a)
            } else {
                self.corner_contact(Side::B, (on_a.vertex, end_b.face), on_b.vertex, height_b)
            })
        })
    }

    /// True if the vertex of B over the face of A represents both: if it alone is over the other's face, if it is
    /// nearer, or, for equal heights, if its face points up more. This rule depends on directions and not on the
    /// names A and B.
    fn is_host_a(&self, (a, height_a): (&End, f64), (b, height_b): (&End, f64)) -> bool {
        let (cover_a, cover_b) = (a.cover(b), b.cover(a));
        let tolerance = 2.0 * self.round_off();
        if cover_a.max(cover_b) > tolerance && cover_a.min(cover_b) < -tolerance {
            return cover_a > cover_b;
        }
        let is_equal = (height_a - height_b).abs() <= self.round_off();
        if is_equal { points_up_more(&a.normal, &b.normal) } else { height_a < height_b }
    }

    fn corner_contact(&self, side: Side, (corner, face): (usize, usize), vertex: usize, height: f64) -> PlaneContact {
        let (host, guest) = self.host_and_guest(side);
        let meeting = Meeting { feature: corner, normal: host.boundary.normals()[face], height, is_unique: true };
        meeting.contact(side, &host, &guest, vertex)
    }

    /// True if the vertex of a chain is above no other faces than those at a vertex of the host. Above another face
    /// it is past the other end of a short face.
    fn is_before_corner(&self, chain: &Chain, host: &Placed, corner: usize) -> bool {
        debug_assert!(chain.faces.end <= self.work.alternatives.len(), "the chain refers to stored alternatives");
        let at_corner = [host.boundary.face_before(corner), corner];
        let alternatives = self.work.alternatives.get(chain.faces.clone()).unwrap_or_default();
        alternatives.iter().all(|member| at_corner.contains(&member.face) || member.height < 0.0)
    }

    /// Returns the height of the vertex of a chain above one of its faces.
    fn height(&self, chain: &Chain, face: usize) -> Option<f64> {
        debug_assert!(chain.faces.end <= self.work.alternatives.len(), "the chain refers to stored alternatives");
        let alternatives = self.work.alternatives.get(chain.faces.clone())?;
        alternatives.iter().find(|member| member.face == face).map(|&Alternative { height, .. }| height)
    }
}
