//! Contacts of a polytope (A) with a segment or another polytope (B).
//!
//! The direction of largest separation determines the features that face each other. The manifold collects every
//! vertex over the facing face and every crossing of its sides within the margin. If the closest features are not
//! among them, they are vertices or edges closest along their connecting line, and are found by enumeration.

use nalgebra::Vector3;

use super::capsule::push_ends;
use super::placed::Core;
use super::polytope_bounds::Bounds;
use super::polytope_manifold::{crossing, edges_meeting, push_manifold};
use super::polytope_sat::{Axis, Kind, axis};
use super::segment::{Closest, Place, closest};
use super::sink::{Meeting, Sink, vertex_on_face};

/// Reports the contacts of polytope A with core B.
///
/// `bounds` is scratch memory.
pub(super) fn contacts(a: &Core<'_>, b: &Core<'_>, bounds: &mut Bounds, sink: &mut Sink<'_>) {
    let touching = sink.tolerance().touching;
    let Some(axis) = axis(a, b, sink.core_margin(), touching, bounds) else { return };
    // Of two coincident contacts the first stays: the one in the direction of largest separation.
    if let Kind::Edges { edge_a, edge_b } = axis.kind
        && let Some(meeting) = crossing(a, edge_a, b, edge_b, &axis.direction, touching)
    {
        sink.push(&Meeting { normal_is_unique: axis.is_unique, ..meeting });
    }
    push_manifold(a, b, &axis, sink);
    // No pair of points is closer than the separation, so a contact at this distance along the same direction is the
    // closest. (If the cores touch, other features of the same point reach it too, along directions that do not
    // separate.)
    if sink.has_reached(axis.separation + 2.0 * touching, Some(&axis.direction)) {
        return;
    }
    if axis.separation > 0.0 {
        let pair = closest_edges(a, b, &axis.direction, sink.tolerance().round_off);
        if pair.closest.distance() > touching {
            push_closest(a, b, &pair, sink);
            return;
        }
    }
    sink.push_instead(&axis_meeting(a, b, &axis));
}

/// Returns the contact of the features that span the direction of largest separation.
fn axis_meeting(a: &Core<'_>, b: &Core<'_>, axis: &Axis) -> Meeting {
    let meeting = match axis.kind {
        Kind::FaceOfA { face, vertex } => vertex_on_face(a, face, b, vertex),
        Kind::FaceOfB { face, vertex } => vertex_on_face(b, face, a, vertex).exchanged(),
        Kind::Edges { edge_a, edge_b } => edges_meeting(a, edge_a, b, edge_b, &axis.direction),
    };
    Meeting { normal_is_unique: axis.is_unique, ..meeting }
}

/// Two edges and their closest points.
struct EdgePair {
    edge_a: u32,
    edge_b: u32,
    closest: Closest,
}

/// Returns the closest pair of edges.
///
/// The extents of two edges along `direction` bound their distance from below, which excludes most pairs.
fn closest_edges(a: &Core<'_>, b: &Core<'_>, direction: &Vector3<f64>, tie: f64) -> EdgePair {
    let origin = closest(&a.ends(a.edge(0)), &b.ends(b.edge(0)), tie);
    let mut best = EdgePair { edge_a: 0, edge_b: 0, closest: origin };
    let mut reach = origin.distance() + tie;
    let height = |point: &nalgebra::Point3<f64>| direction.dot(&point.coords);
    let (_, floor_b) = b.lowest(direction);
    for (edge_a, a_edge) in a.edges() {
        let ends_a = a.ends(a_edge);
        let top_a = height(&ends_a[0]).max(height(&ends_a[1]));
        if floor_b - top_a > reach {
            continue;
        }
        for (edge_b, b_edge) in b.edges() {
            let ends_b = b.ends(b_edge);
            if height(&ends_b[0]).min(height(&ends_b[1])) - top_a > reach {
                continue;
            }
            let pair = closest(&ends_a, &ends_b, tie);
            if pair.beats(&best.closest, tie) {
                reach = pair.distance() + tie;
                best = EdgePair { edge_a, edge_b, closest: pair };
            }
        }
    }
    best
}

/// Reports the closest features of two separated cores, with the ends of nearly parallel edges there.
fn push_closest(a: &Core<'_>, b: &Core<'_>, pair: &EdgePair, sink: &mut Sink<'_>) {
    let Closest { place_a, place_b, point_a, point_b } = pair.closest;
    let distance = pair.closest.distance();
    if distance > sink.core_margin() {
        return;
    }
    let normal = (point_b - point_a) / distance;
    let feature = |core: &Core<'_>, edge: u32, place: Place| match place {
        Place::End(end) => core.edge(edge).ends[end],
        Place::Inside => core.edge_feature(edge),
    };
    let meeting = if place_a == Place::Inside && place_b == Place::Inside {
        edges_meeting(a, pair.edge_a, b, pair.edge_b, &normal)
    } else {
        Meeting {
            feature_a: feature(a, pair.edge_a, place_a),
            feature_b: feature(b, pair.edge_b, place_b),
            core_a: point_a,
            core_b: point_b,
            normal,
            normal_is_unique: true,
        }
    };
    sink.push_instead(&meeting);
    // An end of an edge represents all edges that meet there.
    let meets = |core: &Core<'_>, edge: u32, place: Place, other: u32| match place {
        Place::End(end) => core.edge(other).ends.contains(&core.edge(edge).ends[end]),
        Place::Inside => other == edge,
    };
    for (edge_a, _) in a.edges().filter(|&(other, _)| meets(a, pair.edge_a, place_a, other)) {
        for (edge_b, _) in b.edges().filter(|&(other, _)| meets(b, pair.edge_b, place_b, other)) {
            push_ends(a, edge_a, b, edge_b, &normal, sink);
        }
    }
}
