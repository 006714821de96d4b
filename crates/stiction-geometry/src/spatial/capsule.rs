//! Two segments (capsules), and the ends of two nearly parallel edges.

use nalgebra::Vector3;

use super::placed::Core;
use super::segment::{Place, along, closest, foot, perpendicular, sine};
use super::sink::{Meeting, Sink};

/// Sine below which edges are nearly parallel and the ends of their overlap are separate contacts.
const SIDE_BY_SIDE: f64 = 0.1;
/// Smallest cosine of normals in one manifold (about 25 degrees).
pub(super) const ALIGNED: f64 = 0.9;

/// Reports the contacts of segment A with segment B.
pub(super) fn with_capsule(a: &Core<'_>, b: &Core<'_>, sink: &mut Sink<'_>) {
    let (segment_a, segment_b) = (a.ends(a.edge(0)), b.ends(b.edge(0)));
    let pair = closest(&segment_a, &segment_b, sink.tolerance().round_off);
    let distance = pair.distance();
    if distance > sink.core_margin() {
        return;
    }
    let is_separated = distance > sink.tolerance().round_off;
    let normal = if is_separated {
        (pair.point_b - pair.point_a) / distance
    } else {
        common_perpendicular(&segment_a, &segment_b)
    };
    if is_separated {
        push_ends(a, 0, b, 0, &normal, sink);
    }
    if !sink.has_reached(distance + sink.tolerance().touching, None) {
        let feature = |place: Place, core: &Core<'_>| match place {
            Place::End(end) => end as u32,
            Place::Inside => core.edge_feature(0),
        };
        sink.push(&Meeting {
            feature_a: feature(pair.place_a, a),
            feature_b: feature(pair.place_b, b),
            core_a: pair.point_a,
            core_b: pair.point_b,
            normal,
            normal_is_unique: is_separated,
        });
    }
}

/// Returns a unit vector perpendicular to two segments that meet, upwards where possible.
fn common_perpendicular(a: &[nalgebra::Point3<f64>; 2], b: &[nalgebra::Point3<f64>; 2]) -> Vector3<f64> {
    let (e_a, e_b) = (a[1] - a[0], b[1] - b[0]);
    if sine(&e_a, &e_b) <= super::segment::PARALLEL {
        return perpendicular(&e_a);
    }
    let n = e_a.cross(&e_b).normalize();
    if n.z < 0.0 { -n } else { n }
}

/// Reports the ends of the overlap of two nearly parallel edges, each as an end of one on the other.
///
/// The normal of each contact is along the line from the end to its foot on the other edge, and must agree with
/// `direction`.
pub(super) fn push_ends(
    a: &Core<'_>,
    edge_a: u32,
    b: &Core<'_>,
    edge_b: u32,
    direction: &Vector3<f64>,
    sink: &mut Sink<'_>,
) {
    let (ends_a, ends_b) = (a.ends(a.edge(edge_a)), b.ends(b.edge(edge_b)));
    if sine(&(ends_a[1] - ends_a[0]), &(ends_b[1] - ends_b[0])) > SIDE_BY_SIDE {
        return;
    }
    for exchanged in [false, true] {
        let (from, edge, onto, other) = if exchanged { (a, edge_a, b, edge_b) } else { (b, edge_b, a, edge_a) };
        let axis = onto.ends(onto.edge(other));
        let slack = sink.tolerance().touching / (axis[1] - axis[0]).norm();
        for vertex in from.edge(edge).ends {
            let point = from.vertex(vertex);
            let t = foot(&point, &axis);
            let core = along(&axis, t);
            let line = point - core;
            let distance = line.norm();
            let outward = if exchanged { -direction } else { *direction };
            let is_aligned = line.dot(&outward) >= ALIGNED * distance;
            if !(t >= -slack && t <= 1.0 + slack && is_aligned && distance > sink.tolerance().touching) {
                continue;
            }
            let meeting = Meeting {
                feature_a: onto.edge_feature(other),
                feature_b: vertex,
                core_a: core,
                core_b: point,
                normal: line / distance,
                normal_is_unique: true,
            };
            sink.push(&if exchanged { meeting.exchanged() } else { meeting });
        }
    }
}
