//! All contacts between two cores with radii.
//!
//! The face of largest separation of one core and the most opposed face of the other *meet*. While the cores are
//! apart, their closest points lie on these two faces [GEOM-5]. Contacts are vertices over faces [GEOM-4], and one
//! pair of vertices if the closest points are vertices [GEOM-6]. The two ends of a flat overlap result without
//! special treatment, each a vertex of one body over the face of the other. An end at which both bodies have a vertex
//! over each other's face counts once [GEOM-7].

use nalgebra::Vector2;

use super::frame::{PlaneContact, Sink};
use super::placed_core::PlacedCore;
use super::separation::{Side, WidestFace, widest_face};

/// Round-off of a coordinate in units of the pair's scale: about 450 units in the last place, a generous bound for
/// two rotations and a few subtractions.
const ROUND_OFF: f64 = 1e-13;

/// Fraction of the pair's scale below which the distance of two points gives no reliable direction.
const COINCIDENT: f64 = 1e-10;

/// Smallest cosine of opposition (37°) at which a depth below another face than that of largest separation is
/// accepted.
const OPPOSED_COSINE: f64 = 0.8;

/// Two cores and the length scale of round-off.
pub(super) struct CorePair<'a> {
    a: &'a PlacedCore,
    b: &'a PlacedCore,
    scale: f64,
}

/// Reusable memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    faces: Vec<WidestFace>,
    over: Vec<VertexOverFace>,
}

/// A vertex of the other body over (or under) a face of the host.
#[derive(Clone, Copy, Debug)]
struct VertexOverFace {
    host: Side,
    face: usize,
    vertex: usize,
    height: f64,
    /// Vertex of the host that meets this vertex at the same end of the overlap.
    corner: Option<usize>,
    is_kept: bool,
}

/// The two faces that meet; none for a core without faces.
struct Meeting {
    widest: WidestFace,
    face_a: Option<usize>,
    face_b: Option<usize>,
    /// True if the opposed face has the same separation: flat on flat, both faces are equivalent.
    is_mutual: bool,
    /// Largest relevant height between cores: margin plus radii.
    reach: f64,
}

impl Meeting {
    fn face_of(&self, side: Side) -> Option<usize> {
        match side {
            Side::A => self.face_a,
            Side::B => self.face_b,
        }
    }
}

impl<'a> CorePair<'a> {
    /// Creates a pair; `distance` is that of the bodies' origins.
    pub(super) fn new(a: &'a PlacedCore, b: &'a PlacedCore, distance: f64) -> Self {
        Self { a, b, scale: a.bound + b.bound + distance }
    }

    /// Passes every contact within the margin to `sink`.
    pub(super) fn contacts(&self, buffers: &mut Buffers, sink: &mut Sink) {
        let reach = sink.margin + self.a.radius + self.b.radius;
        let Some(widest) = widest_face(self.a, self.b, self.round_off(), &mut buffers.faces) else {
            self.centre_on_centre(sink);
            return;
        };
        if widest.separation > reach {
            return;
        }
        let meeting = self.meeting(widest, &buffers.faces, reach);
        let over = &mut buffers.over;
        over.clear();
        self.vertices_over(Side::A, &meeting, over);
        self.vertices_over(Side::B, &meeting, over);
        let corners = self.closest_corners(&meeting);
        let is_closest = |c: &VertexOverFace| c.height <= widest.separation + 4.0 * self.round_off();
        if corners.is_none() && !over.iter().any(is_closest) {
            over.extend(self.deepest_vertex(&widest));
        }
        self.merge_common_ends(&meeting, over);
        for contact in over.iter().filter(|c| c.is_kept) {
            sink.push(self.face_contact(contact, widest.is_unique));
        }
        if let Some((i, j)) = corners {
            sink.push(self.corner_contact(i, j, &widest));
        }
    }

    fn round_off(&self) -> f64 {
        ROUND_OFF * self.scale
    }

    /// Returns the core of `side` and the other one.
    fn host_and_guest(&self, side: Side) -> (&PlacedCore, &PlacedCore) {
        match side {
            Side::A => (self.a, self.b),
            Side::B => (self.b, self.a),
        }
    }

    fn meeting(&self, widest: WidestFace, faces: &[WidestFace], reach: f64) -> Meeting {
        let opposed = self.host_and_guest(widest.owner).1.most_opposed_face(&widest.outward);
        let is_equal = |face: &WidestFace| {
            face.owner != widest.owner
                && Some(face.face) == opposed
                && face.separation >= widest.separation - self.round_off()
        };
        let (face_a, face_b) = match widest.owner {
            Side::A => (Some(widest.face), opposed),
            Side::B => (opposed, Some(widest.face)),
        };
        Meeting { widest, face_a, face_b, is_mutual: faces.iter().any(is_equal), reach }
    }

    /// Collects the vertices of the other body within reach of a face of `host` that they face.
    fn vertices_over(&self, host: Side, meeting: &Meeting, over: &mut Vec<VertexOverFace>) {
        let (core, guest) = self.host_and_guest(host);
        let widest = &meeting.widest;
        let owner = self.host_and_guest(widest.owner).0;
        for (vertex, point) in guest.vertices.iter().enumerate() {
            // The distance of the vertex from the other core along the direction of largest separation bounds its
            // height from below.
            let beyond = owner.height(widest.face, point);
            let at_least = if host == widest.owner { beyond } else { widest.separation - beyond };
            if at_least > meeting.reach {
                continue;
            }
            let Some((face, height)) = self.face_below(host, meeting, point) else { continue };
            if height <= meeting.reach && guest.faces_against(vertex, &core.normals[face]) {
                over.push(VertexOverFace { host, face, vertex, height, corner: None, is_kept: true });
            }
        }
    }

    /// Returns the face of `host` below `point`: the meeting face if possible, else the nearest face from outside.
    fn face_below(&self, host: Side, meeting: &Meeting, point: &Vector2<f64>) -> Option<(usize, f64)> {
        let core = self.host_and_guest(host).0;
        if let Some(face) = meeting.face_of(host).filter(|&face| core.spans(face, point, self.round_off())) {
            let height = core.height(face, point);
            let is_widest = host == meeting.widest.owner || meeting.is_mutual;
            if is_widest || height >= 0.0 || self.is_real_depth(core, face, meeting, point) {
                return Some((face, height));
            }
        }
        core.highest_face(point).filter(|&(face, height)| height > 0.0 && core.spans(face, point, self.round_off()))
    }

    /// True if a point under the opposed face is inside the core, the faces are nearly parallel, and the depth is at
    /// most the penetration of the pair.
    ///
    /// A wedge or an upright segment pressed into a face has sides that reach past far vertices of that face. These
    /// vertices are under the line of the side, but not inside.
    fn is_real_depth(&self, core: &PlacedCore, face: usize, meeting: &Meeting, point: &Vector2<f64>) -> bool {
        core.normals[face].dot(&meeting.widest.outward) <= -OPPOSED_COSINE
            && core.height(face, point) >= meeting.widest.separation - self.round_off()
            && core.highest_face(point).is_some_and(|(_, height)| height <= self.round_off())
    }

    /// Returns the vertices of the meeting faces that are the closest points of the cores, if the closest points are
    /// vertices: each lies beyond the end of the other's face.   [GEOM-6]
    fn closest_corners(&self, meeting: &Meeting) -> Option<(usize, usize)> {
        if meeting.widest.separation < -self.round_off() {
            return None;
        }
        let distance = |(i, j): (usize, usize)| (self.b.vertices[j] - self.a.vertices[i]).norm_squared();
        let mut closest = None;
        for (i, out_of_a) in ends(self.a, meeting.face_a) {
            for (j, out_of_b) in ends(self.b, meeting.face_b) {
                let d = self.b.vertices[j] - self.a.vertices[i];
                let beyond_a = out_of_a.is_none_or(|out| out.dot(&d) > self.round_off());
                let beyond_b = out_of_b.is_none_or(|out| -out.dot(&d) > self.round_off());
                if beyond_a && beyond_b && closest.is_none_or(|pair| distance((i, j)) < distance(pair)) {
                    closest = Some((i, j));
                }
            }
        }
        closest
    }

    /// Returns the deepest vertex over the face of largest separation, regardless of the face's extent; used if
    /// round-off hides all others.
    fn deepest_vertex(&self, widest: &WidestFace) -> Option<VertexOverFace> {
        let (core, guest) = self.host_and_guest(widest.owner);
        let heights = guest.vertices.iter().map(|v| core.height(widest.face, v)).enumerate();
        let (vertex, height) = heights.reduce(|best, next| if next.1 < best.1 { next } else { best })?;
        Some(VertexOverFace { host: widest.owner, face: widest.face, vertex, height, corner: None, is_kept: true })
    }

    /// Merges a vertex of B over a face of A with the vertex of A at the same end over the opposed face of B. The
    /// nearer one stays while both are apart, the one on the face of largest separation while both penetrate. Either
    /// choice makes the gap continuous.   [GEOM-7]
    fn merge_common_ends(&self, meeting: &Meeting, over: &mut [VertexOverFace]) {
        for i in 0..over.len() {
            for j in 0..over.len() {
                let (on_a, on_b) = (over[i], over[j]);
                if !self.share_an_end(&on_a, &on_b) {
                    continue;
                }
                let excess = on_a.height.abs() - on_b.height.abs();
                let both_deep = on_a.height.max(on_b.height) < -self.round_off();
                let keep_a = if both_deep || excess.abs() <= self.round_off() {
                    meeting.widest.owner == Side::A
                } else {
                    excess < 0.0
                };
                over[i].is_kept &= keep_a;
                over[j].is_kept &= !keep_a;
                over[i].corner = Some(on_b.vertex);
                over[j].corner = Some(on_a.vertex);
            }
        }
    }

    /// True if the two are the same end of a flat overlap, seen from A and from B, and are both open or both closed.
    fn share_an_end(&self, on_a: &VertexOverFace, on_b: &VertexOverFace) -> bool {
        if on_a.host != Side::A || on_b.host != Side::B {
            return false;
        }
        let (end_a, end_b) = (self.a.end_of(on_a.face), self.b.end_of(on_b.face));
        let (corner_a, corner_b) = (on_b.vertex, on_a.vertex);
        // The faces have opposite directions: the end of one is at the start of the other.
        let is_same_end = (corner_a == end_a && corner_b == on_b.face) || (corner_a == on_a.face && corner_b == end_b);
        // If the overlap has shrunk to a point, its two ends coincide.
        let is_last_point = ((corner_a == end_a && corner_b == end_b)
            || (corner_a == on_a.face && corner_b == on_b.face))
            && self.lateral_distance(on_a, on_b) <= 2.0 * self.round_off();
        let are_opposed = self.a.normals[on_a.face].dot(&self.b.normals[on_b.face]) <= -OPPOSED_COSINE;
        let (low, high) = (on_a.height.min(on_b.height), on_a.height.max(on_b.height));
        let agree = low >= -self.round_off() || high <= self.round_off();
        (is_same_end || is_last_point) && are_opposed && agree
    }

    /// Returns the distance of the two vertices along the faces: the larger of the two projections.
    fn lateral_distance(&self, on_a: &VertexOverFace, on_b: &VertexOverFace) -> f64 {
        let d = self.b.vertices[on_a.vertex] - self.a.vertices[on_b.vertex];
        let along = |tangent: Vector2<f64>| tangent.dot(&d).abs();
        along(self.a.tangent(on_a.face)).max(along(self.b.tangent(on_b.face)))
    }

    /// Returns the contact of a vertex over a face.   [GEOM-4]
    fn face_contact(&self, over: &VertexOverFace, widest_is_unique: bool) -> PlaneContact {
        let (core, guest) = self.host_and_guest(over.host);
        let (normal, vertex) = (core.normals[over.face], guest.vertices[over.vertex]);
        let contact = PlaneContact {
            feature_a: over.corner.unwrap_or(core.face_feature(over.face)),
            feature_b: over.vertex,
            point_a: vertex - normal * (over.height - core.radius),
            point_b: vertex - normal * guest.radius,
            normal,
            gap: over.height - (core.radius + guest.radius),
            normal_is_unique: widest_is_unique || over.height > self.round_off(),
        };
        match over.host {
            Side::A => contact,
            Side::B => contact.mirrored(),
        }
    }

    /// Returns the contact of two vertices along the line that connects them.   [GEOM-6]
    fn corner_contact(&self, i: usize, j: usize, widest: &WidestFace) -> PlaneContact {
        let (p, q) = (self.a.vertices[i], self.b.vertices[j]);
        let d = q - p;
        let length = d.norm();
        let is_reliable = length > COINCIDENT * self.scale;
        let (normal, height) = if is_reliable {
            (d / length, length)
        } else {
            let normal = widest.toward_b();
            (normal, normal.dot(&d))
        };
        PlaneContact {
            feature_a: i,
            feature_b: j,
            point_a: p + normal * self.a.radius,
            point_b: q - normal * self.b.radius,
            normal,
            gap: height - (self.a.radius + self.b.radius),
            normal_is_unique: is_reliable,
        }
    }

    /// Adds the contact of two cores of one vertex each: along the line of centres, or upwards if they
    /// coincide.   [GEOM-6]
    fn centre_on_centre(&self, sink: &mut Sink) {
        let (Some(p), Some(q)) = (self.a.vertices.first(), self.b.vertices.first()) else {
            debug_assert!(false, "shapes without a core have their own kernels");
            return;
        };
        let d = q - p;
        let length = d.norm();
        let is_unique = length > COINCIDENT * (self.a.radius + self.b.radius);
        let normal = if is_unique { d / length } else { Vector2::y() };
        let height = if is_unique { length } else { normal.dot(&d) };
        sink.push(PlaneContact {
            feature_a: 0,
            feature_b: 0,
            point_a: p + normal * self.a.radius,
            point_b: q - normal * self.b.radius,
            normal,
            gap: height - (self.a.radius + self.b.radius),
            normal_is_unique: is_unique,
        });
    }
}

/// Returns the end vertices of a face, each with the direction in which the face's line leaves the face there. A core
/// without faces is its own only end.
fn ends(core: &PlacedCore, face: Option<usize>) -> impl Iterator<Item = (usize, Option<Vector2<f64>>)> {
    let of_face = face.map(|face| {
        let along = core.tangent(face);
        [(face, Some(-along)), (core.end_of(face), Some(along))]
    });
    let of_vertex = of_face.is_none().then_some((0, None));
    of_face.into_iter().flatten().chain(of_vertex)
}
