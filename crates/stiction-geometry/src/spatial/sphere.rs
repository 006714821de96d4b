//! Contacts of a core of one vertex (sphere or point) with every other core.

use nalgebra::{Point3, Vector3};

use super::placed::Core;
use super::segment::{Closest, Place, closest_to_point, perpendicular};
use super::sink::{Meeting, Sink, vertex_on_face};

/// Reports the contact of vertex B with vertex A, along the line through both.   [GEOM-6]
pub(super) fn with_vertex(a: &Core<'_>, b: &Core<'_>, sink: &mut Sink<'_>) {
    push_connecting(sink, (0, a.vertex(0)), (0, b.vertex(0)), Vector3::z);
}

/// Reports the contact of vertex B with segment A.
pub(super) fn with_segment(a: &Core<'_>, b: &Core<'_>, sink: &mut Sink<'_>) {
    let edge = a.edge(0);
    let segment = a.ends(edge);
    let vertex = b.vertex(0);
    let (place, point) = closest_to_point(&vertex, &segment);
    let feature = match place {
        Place::End(end) => end as u32,
        Place::Inside => a.edge_feature(0),
    };
    push_connecting(sink, (feature, point), (0, vertex), || perpendicular(&(segment[1] - segment[0])));
}

/// Reports the contact of vertex B with polytope A: the closest feature outside, the nearest face inside.
pub(super) fn with_polytope(a: &Core<'_>, b: &Core<'_>, sink: &mut Sink<'_>) {
    let vertex = b.vertex(0);
    let touching = sink.tolerance().touching;
    let height = |face: u32| a.normal(face).dot(&(vertex - a.face_origin(face)));
    let faces = 0..a.normals.len() as u32;
    let (face, depth) =
        faces.clone().map(|face| (face, height(face))).fold((0, f64::NEG_INFINITY), |best, candidate| {
            if candidate.1 > best.1 + touching || best.1 == f64::NEG_INFINITY { candidate } else { best }
        });
    if depth > sink.core_margin() {
        return;
    }
    let mut meeting = vertex_on_face(a, face, b, 0);
    if depth <= touching {
        // Deep inside, two faces may be equally near.
        meeting.normal_is_unique =
            depth > -touching || faces.into_iter().all(|other| other == face || height(other) < depth - touching);
    } else if !a.is_over_face(face, &vertex, touching) {
        let (edge, place, point) = closest_on_edges(a, &vertex, sink.tolerance().round_off);
        let feature = match place {
            Place::End(end) => a.edge(edge).ends[end],
            Place::Inside => a.edge_feature(edge),
        };
        if (vertex - point).norm() > touching {
            push_connecting(sink, (feature, point), (0, vertex), Vector3::z);
            return;
        }
    }
    sink.push(&meeting);
}

/// Returns the point of the edges of A closest to `vertex`; distances are known to `tie`.
fn closest_on_edges(a: &Core<'_>, vertex: &Point3<f64>, tie: f64) -> (u32, Place, Point3<f64>) {
    let on_edge = |edge: u32| {
        let (place_a, point_a) = closest_to_point(vertex, &a.ends(a.edge(edge)));
        Closest { place_a, place_b: Place::End(0), point_a, point_b: *vertex }
    };
    let (edge, closest) = a.edges().fold((0, on_edge(0)), |best, (edge, _)| {
        let candidate = on_edge(edge);
        if candidate.beats(&best.1, tie) { (edge, candidate) } else { best }
    });
    (edge, closest.place_a, closest.point_a)
}

/// Reports the contact of two features along the line through their closest points.
///
/// Coincident points have no such line; `otherwise` then supplies the normal.
pub(super) fn push_connecting(
    sink: &mut Sink<'_>,
    (feature_a, core_a): (u32, Point3<f64>),
    (feature_b, core_b): (u32, Point3<f64>),
    otherwise: impl FnOnce() -> Vector3<f64>,
) {
    let line = core_b - core_a;
    let distance = line.norm();
    let normal_is_unique = distance > sink.tolerance().round_off;
    let normal = if normal_is_unique { line / distance } else { otherwise() };
    sink.push(&Meeting { feature_a, feature_b, core_a, core_b, normal, normal_is_unique });
}
