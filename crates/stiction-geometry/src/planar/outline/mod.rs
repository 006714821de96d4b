//! Contacts between two outlines, at least one of which is not convex.
//!
//! Principle: every convex vertex of one outline must stay outside the other one [GEOM-9]. The faces within reach of
//! a vertex (`reach`) are split into *chains* at the notches. The vertex must be above at least one face of every
//! chain [GEOM-10] (`chain`). If flat faces end at the same place, the two vertices there count once [GEOM-12]
//! (`merge`). A disc or capsule has one contact with every chain, at its nearest part [GEOM-13] (`round`).

mod chain;
mod merge;
mod reach;
mod round;

use nalgebra::{Point2, Vector2};

use super::boundary::{Boundary, NearFace};
use super::frame::{Frame, PlaneContact, Sink};
use super::separation::Side;
use super::shape::Shape;
use crate::Feature;
use chain::{Alternative, Chain};
use reach::{GuestVertex, Reach};

/// Round-off of a coordinate in units of the pair's scale: about 450 units in the last place.
const ROUND_OFF: f64 = 1e-13;

/// Fraction of the pair's scale below which the distance of two points gives no reliable direction.
const COINCIDENT: f64 = 1e-10;

/// Two shapes at their poses.
pub(super) struct OutlinePair<'a> {
    a: Placed<'a>,
    b: Placed<'a>,
    /// Length scale of round-off.
    scale: f64,
    work: &'a mut Work,
}

/// The core of a shape, its frame and its radius.
#[derive(Clone, Copy)]
struct Placed<'a> {
    boundary: &'a Boundary,
    frame: &'a Frame,
    radius: f64,
}

/// Reusable memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    boundary_a: Boundary,
    boundary_b: Boundary,
    work: Work,
}

#[derive(Clone, Debug, Default)]
struct Work {
    guest_vertices: Vec<GuestVertex>,
    candidates: Vec<usize>,
    near: Vec<NearFace>,
    alternatives: Vec<Alternative>,
    chains: Vec<Chain>,
    /// Contacts with the least feature of their chain.
    contacts: Vec<(Feature, PlaneContact)>,
}

impl<'a> OutlinePair<'a> {
    pub(super) fn new(
        (a, frame_a): (&'a Shape, &'a Frame),
        (b, frame_b): (&'a Shape, &'a Frame),
        buffers: &'a mut Buffers,
    ) -> Self {
        let a = Placed::new(a, frame_a, &mut buffers.boundary_a);
        let b = Placed::new(b, frame_b, &mut buffers.boundary_b);
        let distance = (frame_b.translation - frame_a.translation).norm();
        Self { a, b, scale: a.boundary.bound() + b.boundary.bound() + distance, work: &mut buffers.work }
    }

    /// Passes every chain within the margin to `sink`, in the order of their least features.
    pub(super) fn contacts(mut self, sink: &mut Sink) {
        self.work.alternatives.clear();
        self.work.chains.clear();
        self.work.contacts.clear();
        self.keep_outside(Side::A, sink.margin);
        self.keep_outside(Side::B, sink.margin);
        self.merge_common_corners(sink.margin);
        self.collect_chains();
        let contacts = &mut self.work.contacts;
        contacts.sort_unstable_by_key(|(leader, contact)| (*leader, contact.feature()));
        // A vertex at which a long chain was split is the nearest part of both.
        contacts.dedup_by_key(|(_, contact)| contact.feature());
        for (number, chain) in (0..).zip(contacts.chunk_by(|(first, _), (second, _)| first == second)) {
            for (_, contact) in chain {
                sink.push_in_chain(*contact, number);
            }
        }
    }

    /// Finds the chains of the host on `side` for the vertices of the other body.   [GEOM-9]
    fn keep_outside(&mut self, side: Side, margin: f64) {
        let (host, guest) = self.host_and_guest(side);
        if !host.boundary.has_faces() {
            return;
        }
        let reach = Reach::new(&host, &guest, margin, self.round_off());
        if guest.radius > 0.0 {
            self.round_guest(side, &reach);
            return;
        }
        let Work { guest_vertices, candidates, near, alternatives, chains, .. } = &mut *self.work;
        reach.guest_vertices(guest_vertices);
        reach.candidates(guest_vertices, candidates);
        for guest_vertex in guest_vertices.iter() {
            let Some(location) = reach.location(&guest_vertex.point, candidates, near) else { continue };
            for members in chain::split(host.boundary, near) {
                if !location.is_before(host.boundary, members) {
                    continue;
                }
                let first = alternatives.len();
                alternatives.extend(location.alternatives(members));
                let gap = alternatives[first..].iter().map(|face| face.height).fold(f64::NEG_INFINITY, f64::max);
                if gap <= margin {
                    chains.push(Chain { host: side, vertex: guest_vertex.vertex, faces: first..alternatives.len() });
                } else {
                    alternatives.truncate(first);
                }
            }
        }
    }

    fn round_off(&self) -> f64 {
        ROUND_OFF * self.scale
    }

    fn host_and_guest(&self, side: Side) -> (Placed<'a>, Placed<'a>) {
        match side {
            Side::A => (self.a, self.b),
            Side::B => (self.b, self.a),
        }
    }

    /// Converts the chains of vertices into contacts.
    fn collect_chains(&mut self) {
        for index in 0..self.work.chains.len() {
            let Chain { host: side, vertex, faces } = self.work.chains[index].clone();
            let first = self.work.contacts.len();
            for Alternative { face, height } in &self.work.alternatives[faces] {
                let (host, guest) = self.host_and_guest(side);
                let normal = host.boundary.normals()[*face];
                let meeting =
                    Meeting { feature: host.boundary.face_feature(*face), normal, height: *height, is_unique: true };
                let contact = meeting.contact(side, &host, &guest, vertex);
                self.work.contacts.push((contact.feature(), contact));
            }
            let members = &mut self.work.contacts[first..];
            if let Some(leader) = members.iter().map(|(_, contact)| contact.feature()).min() {
                for member in members {
                    member.0 = leader;
                }
            }
        }
    }
}

/// A vertex of the guest's core above a feature of the host.
struct Meeting {
    /// Number of the host's feature.
    feature: usize,
    /// Outward normal of the host, in the host's coordinates.
    normal: Vector2<f64>,
    height: f64,
    is_unique: bool,
}

impl Meeting {
    /// Returns the contact in midpoint coordinates. Its point on a face is the foot of the vertex, even beyond the
    /// end.   [GEOM-4]
    fn contact(&self, side: Side, host: &Placed, guest: &Placed, vertex: usize) -> PlaneContact {
        let normal = host.frame.direction(&self.normal);
        let centre = guest.frame.point(&guest.boundary.vertices()[vertex].coords);
        PlaneContact {
            feature_a: self.feature,
            feature_b: vertex,
            point_a: centre - normal * self.height,
            point_b: centre - normal * guest.radius,
            normal,
            gap: self.height - guest.radius,
            normal_is_unique: self.is_unique,
        }
        .seen_by(side)
    }
}

impl<'a> Placed<'a> {
    fn new(shape: &'a Shape, frame: &'a Frame, buffer: &'a mut Boundary) -> Self {
        let radius = match shape {
            Shape::Disc { radius } | Shape::Capsule { radius, .. } => *radius,
            _ => 0.0,
        };
        if let Shape::SimplePolygon(polygon) = shape {
            return Self { boundary: polygon.boundary(), frame, radius };
        }
        place(buffer, shape);
        debug_assert!(!buffer.vertices().is_empty(), "shapes without a core have their own kernels");
        Self { boundary: buffer, frame, radius }
    }
}

/// Stores the vertices and faces of the core of a bounded shape.
fn place(boundary: &mut Boundary, shape: &Shape) {
    match shape {
        Shape::Point | Shape::Disc { .. } => boundary.refill([Point2::origin()], []),
        Shape::Capsule { half_length, .. } => {
            boundary.refill([Point2::new(-half_length, 0.0), Point2::new(*half_length, 0.0)], []);
        }
        Shape::Box { half_extents: [x, y] } => {
            let corners = [(-x, -y), (*x, -y), (*x, *y), (-x, *y)];
            let normals = [-Vector2::y(), Vector2::x(), Vector2::y(), -Vector2::x()];
            boundary.refill(corners.map(|(x, y)| Point2::new(x, y)), normals);
        }
        Shape::Polygon(polygon) => {
            boundary.refill(polygon.vertices().iter().copied(), polygon.normals().iter().copied());
        }
        Shape::SimplePolygon(_)
        | Shape::HalfPlane { .. }
        | Shape::Ellipse { .. }
        | Shape::Superellipse { .. }
        | Shape::Implicit(_) => boundary.refill([], []),
    }
}

impl PlaneContact {
    fn feature(&self) -> Feature {
        Feature::new(self.feature_a as u32, self.feature_b as u32)
    }

    /// Returns a contact in which the host was called A, for a host that is the body on `side`.
    fn seen_by(self, side: Side) -> Self {
        match side {
            Side::A => self,
            Side::B => self.mirrored(),
        }
    }
}
