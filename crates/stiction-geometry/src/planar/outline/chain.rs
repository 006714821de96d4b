//! Faces within reach of a vertex, split into chains of alternatives.   [GEOM-10]

use std::ops::Range;

use nalgebra::Vector2;

use crate::planar::boundary::{Boundary, Foot, NearFace};
use crate::planar::separation::Side;

/// A vertex of the guest and the faces of the host; the vertex must be above one of them.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) host: Side,
    pub(super) vertex: usize,
    /// Range of the chain's alternatives.
    pub(super) faces: Range<usize>,
}

/// One face of a chain and the height of the vertex above it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alternative {
    pub(super) face: usize,
    pub(super) height: f64,
}

/// Largest turn of a chain: 180° plus round-off. Below it, the whole chain is on the boundary of the region its faces
/// exclude.   [GEOM-11]
const LARGEST_TURN: f64 = std::f64::consts::PI + 1e-9;

/// Splits faces, listed by number, at every notch and wherever the next face is not within reach.
pub(super) fn split<'n>(host: &Boundary, near: &'n mut [NearFace]) -> impl Iterator<Item = &'n [NearFace]> {
    debug_assert!(near.windows(2).all(|pair| pair[0].face < pair[1].face), "faces are listed by number");
    let is_linked =
        |before: &NearFace, after: &NearFace| host.end_of(before.face) == after.face && host.is_convex_at(after.face);
    // A chain may run across the last vertex: start at the begin of a chain.
    let last = near.len().saturating_sub(1);
    let begins = |i: usize| !is_linked(&near[if i == 0 { last } else { i - 1 }], &near[i]);
    if let Some(start) = (0..near.len()).find(|&i| begins(i)) {
        near.rotate_left(start);
    }
    for i in 1..near.len() {
        near[i].continues_chain = is_linked(&near[i - 1], &near[i]);
    }
    if !host.is_convex() {
        cut_long_chains(host, near);
    }
    near.chunk_by(|_, after| after.continues_chain)
}

/// Splits chains that turn too far, at the vertices farthest from the point.   [GEOM-11]
fn cut_long_chains(host: &Boundary, near: &mut [NearFace]) {
    let mut first = 0;
    while first < near.len() {
        let after = (first + 1..near.len()).find(|&i| !near[i].continues_chain).unwrap_or(near.len());
        let corners = &mut near[first + 1..after];
        let turn: f64 = corners.iter().map(|face| host.turn_at(face.face)).sum();
        let farther = |best: usize, next: usize| {
            if corners[next].start_distance_squared() > corners[best].start_distance_squared() { next } else { best }
        };
        match (0..corners.len()).reduce(farther) {
            Some(farthest) if turn > LARGEST_TURN => corners[farthest].continues_chain = false,
            _ => first = after,
        }
    }
}

/// Location of a point relative to the outline: its side and the nearest part of the boundary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub(super) is_inside: bool,
    /// Distance from the boundary, negative inside.
    pub(super) signed_distance: f64,
    /// Nearest face, or both faces at the nearest vertex.
    nearest: [usize; 2],
    /// The point itself if outside, the nearest point of the boundary if inside.
    viewpoint: Vector2<f64>,
    round_off: f64,
}

impl Location {
    pub(super) fn new(
        host: &Boundary,
        point: &Vector2<f64>,
        nearest: NearFace,
        is_inside: bool,
        round_off: f64,
    ) -> Self {
        let distance = nearest.distance_squared.sqrt();
        let (way_out, nearest) = match host.foot(&nearest) {
            Foot::Inside => (point - host.normals()[nearest.face] * nearest.height, [nearest.face; 2]),
            Foot::Vertex(vertex) => (host.vertices()[vertex].coords, [host.face_before(vertex), vertex]),
        };
        let (signed_distance, viewpoint) = if is_inside { (-distance, way_out) } else { (distance, *point) };
        Self { is_inside, signed_distance, nearest, viewpoint, round_off }
    }

    /// True if the point is in front of the chain, or entered through it or beside it. Chains below the viewpoint are
    /// far sides of thin parts, within reach only through the solid.   [GEOM-11]
    pub(super) fn is_before(&self, host: &Boundary, chain: &[NearFace]) -> bool {
        chain.iter().any(|near| host.height(near.face, &self.viewpoint) >= -self.round_off)
    }

    /// Returns the faces of a chain through which a point can leave. In the chain nearest to a point inside, other
    /// faces that the point is above belong to another part of the outline and are left out.   [GEOM-11]
    pub(super) fn alternatives(self, chain: &[NearFace]) -> impl Iterator<Item = Alternative> {
        self.members(chain).map(|near| Alternative { face: near.face, height: near.height })
    }

    /// Returns the face of a chain nearest to the point. A face that a point outside sees from behind does not count.
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
