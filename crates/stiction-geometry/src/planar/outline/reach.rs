//! Vertices near an outline, the faces near them, and the side they are on.
//!
//! All computations are in the coordinates of the host, which are exact. Boxes exclude distant vertices and faces
//! before any multiplication.

use nalgebra::{Matrix2, Vector2};

use super::Placed;
use super::chain::Location;
use crate::planar::boundary::{Boundary, Foot, NearFace};

/// A host, the other body in its coordinates, and the relevant distances.
pub(super) struct Reach<'a> {
    pub(super) host: &'a Boundary,
    pub(super) guest: &'a Boundary,
    rotation: Matrix2<f64>,
    translation: Vector2<f64>,
    pub(super) margin: f64,
    /// Largest relevant distance between cores: margin plus radius.
    pub(super) distance: f64,
    pub(super) round_off: f64,
}

/// A vertex of the guest in the coordinates of the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct GuestVertex {
    pub(super) vertex: usize,
    pub(super) point: Vector2<f64>,
}

impl<'a> Reach<'a> {
    pub(super) fn new(host: &Placed<'a>, guest: &Placed<'a>, margin: f64, round_off: f64) -> Self {
        let (rotation, translation) = guest.frame.seen_from(host.frame);
        let distance = (margin + guest.radius).max(0.0);
        let (host, guest) = (host.boundary, guest.boundary);
        Self { host, guest, rotation, translation, margin, distance, round_off }
    }

    /// Transforms a point of the guest to the coordinates of the host.
    pub(super) fn seen(&self, local: &Vector2<f64>) -> Vector2<f64> {
        self.rotation * local + self.translation
    }

    /// Collects the convex vertices of the guest within reach of the box around the host.   [GEOM-9]
    pub(super) fn guest_vertices(&self, guest_vertices: &mut Vec<GuestVertex>) {
        guest_vertices.clear();
        let (centre, half) = self.host.bounding_box();
        let half = half.add_scalar(self.distance);
        // The same box around its image in the coordinates of the guest, where the vertices need no transformation.
        let guest_centre = self.rotation.tr_mul(&(centre - self.translation));
        let guest_half = self.rotation.abs().tr_mul(&half).add_scalar(self.round_off);
        let is_within = |d: Vector2<f64>, half: &Vector2<f64>| d.x.abs() <= half.x && d.y.abs() <= half.y;
        for vertex in self.guest.numbers_near(guest_centre - guest_half, guest_centre + guest_half) {
            let local = &self.guest.vertices()[vertex];
            if is_within(local.coords - guest_centre, &guest_half) && self.guest.is_convex_at(vertex) {
                let point = self.seen(&local.coords);
                if is_within(point - centre, &half) {
                    guest_vertices.push(GuestVertex { vertex, point });
                }
            }
        }
    }

    /// Collects the faces of the host within reach of the box around the vertices.
    pub(super) fn candidates(&self, guest_vertices: &[GuestVertex], candidates: &mut Vec<usize>) {
        candidates.clear();
        let nowhere = (Vector2::repeat(f64::INFINITY), Vector2::repeat(f64::NEG_INFINITY));
        let (low, high) = guest_vertices
            .iter()
            .fold(nowhere, |(low, high), guest_vertex| (low.inf(&guest_vertex.point), high.sup(&guest_vertex.point)));
        let (low, high) = (low.add_scalar(-self.distance), high.add_scalar(self.distance));
        let faces = self.host.numbers_near(low, high);
        candidates.extend(faces.filter(|&face| self.host.face_meets_box(face, &low, &high)));
    }

    /// Returns the location of a point, with the faces within reach in `near`; `None` for a point far outside.
    ///
    /// For a point inside, the nearest face is within reach at any depth.
    pub(super) fn location(
        &self,
        point: &Vector2<f64>,
        candidates: &[usize],
        near: &mut Vec<NearFace>,
    ) -> Option<Location> {
        self.gather(point, candidates.iter().copied(), self.distance, near);
        if near.is_empty() {
            if !self.host.contains(point) {
                return None;
            }
            let faces = || 0..self.host.normals().len();
            let depth = faces().map(|face| self.host.near(face, point).distance_squared).fold(f64::INFINITY, f64::min);
            self.gather(point, faces(), depth.sqrt() + self.round_off, near);
        }
        let nearest = near
            .iter()
            .copied()
            .reduce(|best, next| if next.distance_squared < best.distance_squared { next } else { best })?;
        // The nearest vertex of a point outside is convex, that of a point inside is in a notch.   [GEOM-9]
        let is_inside = match self.host.foot(&nearest) {
            Foot::Inside => nearest.height < 0.0,
            Foot::Vertex(vertex) => !self.host.is_convex_at(vertex),
        };
        Some(Location::new(self.host, point, nearest, is_inside, self.round_off))
    }

    fn gather(
        &self,
        point: &Vector2<f64>,
        faces: impl Iterator<Item = usize>,
        distance: f64,
        near: &mut Vec<NearFace>,
    ) {
        near.clear();
        let (low, high) = (point.add_scalar(-distance), point.add_scalar(distance));
        let in_box = faces.filter(|&face| self.host.face_meets_box(face, &low, &high));
        let in_reach = |face: &NearFace| face.distance_squared <= distance * distance;
        near.extend(in_box.map(|face| self.host.near(face, point)).filter(in_reach));
    }
}
