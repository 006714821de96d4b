//! The contact manifold of two cores that face each other.
//!
//! Every contact is between two named features and is measured along the normal that those features define. Its gap
//! is thus their exact distance, and the gradient of the gap is the wrench of the normal. Any pair of points a ∈ A, b
//! ∈ B obeys d · (b − a) ≥ σ(d), so a contact with normal n has ψ (n · d) ≥ σ(d).

use nalgebra::Vector3;

use super::capsule::ALIGNED;
use super::placed::Core;
use super::polytope_sat::{Axis, Kind};
use super::segment::{along, cross, is_transverse, lines};
use super::sink::{Meeting, Sink, vertex_on_face};

/// Smallest cosine between a normal and the direction of largest separation at which a depth is accepted. No depth in
/// the manifold then exceeds the depth of the cores by more than one per cent.   [GEOM-37]
const ACCEPTED_COSINE: f64 = 0.99;

/// Largest cosine between the normal of a face and a direction at which the face is directed against it.
const FACING: f64 = -0.1;

/// Reports the vertices of B over the facing face of A, those of A over the facing face of B, and the crossings of the
/// sides of both.
pub(super) fn push_manifold(a: &Core<'_>, b: &Core<'_>, axis: &Axis, sink: &mut Sink<'_>) {
    let d = &axis.direction;
    let (face_a, face_b) = match axis.kind {
        Kind::FaceOfA { face, .. } => (Some(face), b.face_towards(&-d, ALIGNED)),
        Kind::FaceOfB { face, .. } => (a.face_towards(d, ALIGNED), Some(face)),
        Kind::Edges { .. } => (a.face_towards(d, ALIGNED), b.face_towards(&-d, ALIGNED)),
    };
    // The face that defines the direction comes first.
    let order = if matches!(axis.kind, Kind::FaceOfB { .. }) { [true, false] } else { [false, true] };
    for exchanged in order {
        let (owner, face, other) = if exchanged { (b, face_b, a) } else { (a, face_a, b) };
        let Some(face) = face else { continue };
        let (normal, origin) = (owner.normal(face), owner.face_origin(face));
        let (lowest, _) = other.lowest(&normal);
        // Most vertices are far above the face, whatever the rounding of their height.
        let highest = sink.core_margin() + sink.tolerance().touching;
        for (vertex, place) in (0u32..).zip(other.vertices) {
            if normal.dot(&(place - origin)) > highest {
                continue;
            }
            let meeting = vertex_on_face(owner, face, other, vertex);
            let is_met = meeting.distance() <= sink.core_margin()
                && owner.is_over_face(face, place, sink.tolerance().touching)
                && (vertex == lowest || faces_against(other, &normal, |of| of.contains(&vertex)));
            if is_met {
                push_member(if exchanged { meeting.exchanged() } else { meeting }, axis, sink);
            }
        }
    }
    push_crossings(a, face_a, b, face_b, axis, sink);
}

/// True if a vertex belongs to a face directed against `direction`; `belongs` checks it by the vertices of the face.
/// A segment has no faces, so all its vertices qualify.
fn faces_against(core: &Core<'_>, direction: &Vector3<f64>, belongs: impl Fn(&[u32]) -> bool) -> bool {
    let is_facing =
        |(face, normal): (usize, &Vector3<f64>)| normal.dot(direction) < FACING && belongs(core.topology.corners(face));
    core.normals.is_empty() || core.normals.iter().enumerate().any(is_facing)
}

/// Reports the crossings of the sides of two faces; all edges of a core without a facing face are candidates.
fn push_crossings(
    a: &Core<'_>,
    face_a: Option<u32>,
    b: &Core<'_>,
    face_b: Option<u32>,
    axis: &Axis,
    sink: &mut Sink<'_>,
) {
    if face_a.is_none() && face_b.is_none() {
        return;
    }
    let count = |core: &Core<'_>, face: Option<u32>| {
        face.map_or(core.topology.edges.len(), |face| core.topology.sides(face as usize).len())
    };
    // Without a facing face, every edge of the side that faces the other core.
    let facing = |core: &Core<'_>, index: u32, direction: &Vector3<f64>| {
        let is_facing = |face: u32| core.normal(face).dot(direction) < FACING;
        (core.normals.is_empty() || core.edge(index).faces.into_iter().any(is_facing)).then_some(index)
    };
    let edge = |core: &Core<'_>, face: Option<u32>, index: usize, direction: &Vector3<f64>| match face {
        Some(face) => core.topology.sides(face as usize).get(index).copied(),
        None => facing(core, index as u32, direction),
    };
    let d = &axis.direction;
    for index_a in 0..count(a, face_a) {
        let Some(edge_a) = edge(a, face_a, index_a, &-d) else { continue };
        for index_b in 0..count(b, face_b) {
            let Some(edge_b) = edge(b, face_b, index_b, d) else { continue };
            if !is_transverse(&a.ends(a.edge(edge_a)), &b.ends(b.edge(edge_b))) {
                continue;
            }
            if let Some(meeting) = crossing(a, edge_a, b, edge_b, d, sink.tolerance().touching) {
                push_member(meeting, axis, sink);
            }
        }
    }
}

/// Reports a contact, unless it is a depth along a direction too far from that of largest separation.
fn push_member(meeting: Meeting, axis: &Axis, sink: &mut Sink<'_>) {
    if meeting.distance() >= 0.0 || meeting.normal.dot(&axis.direction) >= ACCEPTED_COSINE {
        sink.push(&Meeting { normal_is_unique: axis.is_unique, ..meeting });
    }
}

/// Returns the contact of two edges that cross when seen along `direction`.
pub(super) fn crossing(
    a: &Core<'_>,
    edge_a: u32,
    b: &Core<'_>,
    edge_b: u32,
    direction: &Vector3<f64>,
    slack: f64,
) -> Option<Meeting> {
    if !cross(&a.ends(a.edge(edge_a)), &b.ends(b.edge(edge_b)), slack) {
        return None;
    }
    let meeting = edges_meeting(a, edge_a, b, edge_b, direction);
    (meeting.normal.dot(direction) >= ALIGNED).then_some(meeting)
}

/// Returns the contact of two edges along their common perpendicular, on the side of `direction`.   [GEOM-33]
pub(super) fn edges_meeting(a: &Core<'_>, edge_a: u32, b: &Core<'_>, edge_b: u32, direction: &Vector3<f64>) -> Meeting {
    let (ends_a, ends_b) = (a.ends(a.edge(edge_a)), b.ends(b.edge(edge_b)));
    let n = (ends_a[1] - ends_a[0]).cross(&(ends_b[1] - ends_b[0]));
    let n = n.try_normalize(0.0).unwrap_or(*direction);
    let normal = if n.dot(direction) < 0.0 { -n } else { n };
    let (t_a, t_b) = lines(&ends_a, &ends_b).unwrap_or((0.5, 0.5));
    Meeting {
        feature_a: a.edge_feature(edge_a),
        feature_b: b.edge_feature(edge_b),
        core_a: along(&ends_a, t_a.clamp(0.0, 1.0)),
        core_b: along(&ends_b, t_b.clamp(0.0, 1.0)),
        normal,
        normal_is_unique: true,
    }
}
