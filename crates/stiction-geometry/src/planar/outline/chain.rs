//! Faces in reach of a vertex, cut into chains of alternatives.   [GEOM-10]

use std::ops::Range;

use nalgebra::Vector2;

use super::boundary::{Boundary, NearFace, SupportPoint};
use crate::planar::separation::Side;

/// A vertex of the guest and the faces of the host of which it has to be above one.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) host: Side,
    pub(super) vertex: usize,
    /// Which alternatives are the chain's.
    pub(super) faces: Range<usize>,
}

/// One face of a chain and the height of the vertex above it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alternative {
    pub(super) face: usize,
    pub(super) height: f64,
}

/// A chain may turn by this much, 180° and round-off; then all of it is on the boundary of what its faces forbid.   [GEOM-11]
const LARGEST_TURN: f64 = std::f64::consts::PI + 1e-9;

/// Cuts faces, listed in the order of their numbers, at every notch and wherever the next face is not in reach.
pub(super) fn split<'n>(host: &Boundary, near: &'n mut [NearFace]) -> impl Iterator<Item = &'n [NearFace]> {
    let is_linked =
        |before: &NearFace, after: &NearFace| host.end_of(before.face) == after.face && host.is_convex_at(after.face);
    // A chain may run across the last vertex: begin where one begins.
    let last = near.len().saturating_sub(1);
    let begins = |i: usize| !is_linked(&near[if i == 0 { last } else { i - 1 }], &near[i]);
    if let Some(start) = (0..near.len()).find(|&i| begins(i)) {
        near.rotate_left(start);
    }
    for i in 1..near.len() {
        near[i].goes_on = is_linked(&near[i - 1], &near[i]);
    }
    if !host.is_convex() {
        cut_long_chains(host, near);
    }
    near.chunk_by(|_, after| after.goes_on)
}

/// Cuts chains that turn too far at the corners farthest from the point.   [GEOM-11]
fn cut_long_chains(host: &Boundary, near: &mut [NearFace]) {
    let mut first = 0;
    while first < near.len() {
        let after = (first + 1..near.len()).find(|&i| !near[i].goes_on).unwrap_or(near.len());
        let corners = &mut near[first + 1..after];
        let turn: f64 = corners.iter().map(|face| host.turn_at(face.face)).sum();
        let farther = |best: usize, next: usize| {
            if corners[next].start_distance_squared() > corners[best].start_distance_squared() { next } else { best }
        };
        match (0..corners.len()).reduce(farther) {
            Some(farthest) if turn > LARGEST_TURN => corners[farthest].goes_on = false,
            _ => first = after,
        }
    }
}

/// On which side of the outline a point stands, and where its nearest way to the other side leads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub(super) is_inside: bool,
    /// The distance from the boundary, negative inside.
    pub(super) signed_distance: f64,
    /// The nearest face, or both that meet at the nearest vertex.
    nearest: [usize; 2],
    /// The point itself outside, the nearest point of the boundary inside.
    viewpoint: Vector2<f64>,
    round_off: f64,
}

impl Standing {
    pub(super) fn new(
        host: &Boundary,
        point: &Vector2<f64>,
        nearest: NearFace,
        is_inside: bool,
        round_off: f64,
    ) -> Self {
        let distance = nearest.distance_squared.sqrt();
        let (way_out, nearest) = match host.foot(&nearest) {
            SupportPoint::Inside => (point - host.normals()[nearest.face] * nearest.height, [nearest.face; 2]),
            SupportPoint::Vertex(vertex) => (host.vertices()[vertex].coords, [host.face_before(vertex), vertex]),
        };
        let (signed_distance, viewpoint) = if is_inside { (-distance, way_out) } else { (distance, *point) };
        Self { is_inside, signed_distance, nearest, viewpoint, round_off }
    }

    /// Whether the point is in front of the chain, or came in through it or beside it. Chains below the viewpoint are far sides of
    /// thin parts, in reach only through the solid.   [GEOM-11]
    pub(super) fn is_before(&self, host: &Boundary, chain: &[NearFace]) -> bool {
        chain.iter().any(|near| host.height(near.face, &self.viewpoint) >= -self.round_off)
    }

    /// The faces of a chain that let a point out. In a chain that a point inside is nearest to, other faces that it is above belong to
    /// another part of the outline, and do not.   [GEOM-11]
    pub(super) fn alternatives(self, chain: &[NearFace]) -> impl Iterator<Item = Alternative> {
        self.members(chain).map(|near| Alternative { face: near.face, height: near.height })
    }

    /// The face of a chain that is nearest to the point; one that a point outside sees from behind is not in its way.
    pub(super) fn nearest_of(self, chain: &[NearFace]) -> Option<NearFace> {
        let nearer = |best: NearFace, next: NearFace| {
            if next.distance_squared < best.distance_squared { next } else { best }
        };
        let is_in_the_way = |near: &NearFace| self.is_inside || near.height >= -self.round_off;
        self.members(chain).filter(is_in_the_way).reduce(nearer)
    }

    fn members(self, chain: &[NearFace]) -> impl Iterator<Item = NearFace> {
        let is_nearest = move |near: &NearFace| self.nearest.contains(&near.face);
        let is_way_out = self.is_inside && chain.iter().any(is_nearest);
        chain.iter().copied().filter(move |near| !is_way_out || near.height <= 0.0 || is_nearest(near))
    }
}
