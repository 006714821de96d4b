//! Shapes in the plane z = 0 and the contacts between them.
//!
//! Point, disc, capsule, box and convex polygon are a convex *core* (a vertex, a segment, a polygon) with a radius.
//! One kernel handles every pair of cores (`core_pair`), on the face of least penetration found by the
//! separating-axis test (`separation`). Non-convex polygons have a kernel that keeps the vertices of each outline
//! outside the other (`outline`). Half-planes have a simpler kernel, which also handles the ellipse (`half_plane`).
//! Other pairs with ellipses, superellipses and implicit solids have one contact, at the closest points of their
//! functions ([`implicit`](crate::implicit)).

mod boundary;
mod core_pair;
mod corners;
mod frame;
mod functions;
mod half_plane;
mod outline;
mod placed_core;
mod polygon;
mod separation;
mod shape;
mod simple_polygon;

pub use corners::MAX_LENGTH;
pub(crate) use functions::convex;
pub use polygon::ConvexPolygon;
pub use shape::Shape;
pub use simple_polygon::SimplePolygon;

use crate::contact::assign_separate_chains;
use crate::{ContactPoint, Feature, Pose, UnsupportedPair, smooth};
use core_pair::CorePair;
use frame::{Frame, Sink};
use half_plane::HalfPlane;
use outline::OutlinePair;
use placed_core::PlacedCore;

/// Buffers of the narrow phase, reused between calls; they carry no information from one call to the next.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    core_a: PlacedCore,
    core_b: PlacedCore,
    pair: core_pair::Buffers,
    outlines: outline::Buffers,
    smooth: smooth::Scratch,
}

/// Checks that [`contacts`] supports the pair.
pub(crate) fn ensure_supported(a: &Shape, b: &Shape) -> Result<(), UnsupportedPair> {
    let reason = match (a, b) {
        (Shape::HalfPlane { .. }, Shape::HalfPlane { .. }) => {
            "two half-planes overlap without bound; replace one of them by a box"
        }
        _ if a.radius_bound().is_none() && b.radius_bound().is_none() => {
            "both shapes are unbounded and may overlap without bound; replace one of them by a bounded shape"
        }
        (Shape::Point, Shape::Point) => "two points have no surface to meet; give one of them a radius (a disc)",
        (Shape::SimplePolygon(_), _) | (_, Shape::SimplePolygon(_)) if is_smooth_pair(a, b) => {
            "a polygon with notches is not convex; cut it into convex parts, one shape each"
        }
        _ => return Ok(()),
    };
    Err(UnsupportedPair { a: a.name(), b: b.name(), reason })
}

/// True if the contact of a pair is at the closest points of convex functions: one of the two is curved otherwise
/// than by a radius, and the half-plane kernel does not handle it.
fn is_smooth_pair(a: &Shape, b: &Shape) -> bool {
    let is_smooth =
        |shape: &Shape| matches!(shape, Shape::Ellipse { .. } | Shape::Superellipse { .. } | Shape::Implicit(_));
    let is_known = |p: &Shape, q: &Shape| matches!((p, q), (Shape::HalfPlane { .. }, Shape::Ellipse { .. }));
    (is_smooth(a) || is_smooth(b)) && !is_known(a, b) && !is_known(b, a)
}

/// Appends to `out` the contacts between A and B whose gap is at most `margin`, sorted by chain and feature.
pub(crate) fn contacts(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    scratch: &mut Scratch,
    out: &mut Vec<ContactPoint>,
) -> Result<(), UnsupportedPair> {
    ensure_supported(a, b)?;
    if is_smooth_pair(a, b) {
        smooth::contact((a, pose_a), (b, pose_b), margin, &mut scratch.smooth, out);
        return Ok(());
    }
    let (frame_a, frame_b, origin) = Frame::about_midpoint(pose_a, pose_b);
    let first_new = out.len();
    let mut sink = Sink::new(origin, margin, out);
    match (a, b) {
        (Shape::HalfPlane { normal }, _) => {
            HalfPlane::new(normal, &frame_a).against(b, &frame_b, &mut scratch.core_b, &mut |c| sink.push(c));
        }
        (_, Shape::HalfPlane { normal }) => {
            HalfPlane::new(normal, &frame_b)
                .against(a, &frame_a, &mut scratch.core_a, &mut |c| sink.push(c.mirrored()));
        }
        (Shape::SimplePolygon(_), _) | (_, Shape::SimplePolygon(_)) => {
            OutlinePair::new((a, &frame_a), (b, &frame_b), &mut scratch.outlines).contacts(&mut sink);
            return Ok(());
        }
        _ => {
            scratch.core_a.place(a, &frame_a);
            scratch.core_b.place(b, &frame_b);
            let distance = (frame_b.translation - frame_a.translation).norm();
            CorePair::new(&scratch.core_a, &scratch.core_b, distance).contacts(&mut scratch.pair, &mut sink);
        }
    }
    debug_assert!(first_new <= out.len(), "contacts are only appended");
    if let Some(new) = out.get_mut(first_new..) {
        new.sort_unstable_by_key(|contact| contact.feature);
        assign_separate_chains(new);
    }
    Ok(())
}

/// Appends contacts like [`contacts`](crate::contacts), but vertex by vertex with chains of alternatives, for
/// polygons and points. Returns false, and appends nothing, for other shapes.   [GEOM-10]
pub fn outline_contacts(
    (a, pose_a): (&Shape, &Pose),
    (b, pose_b): (&Shape, &Pose),
    margin: f64,
    scratch: &mut Scratch,
    out: &mut Vec<ContactPoint>,
) -> bool {
    let has_outline =
        |shape: &Shape| matches!(shape, Shape::Point | Shape::Box { .. } | Shape::Polygon(_) | Shape::SimplePolygon(_));
    if !has_outline(a) || !has_outline(b) {
        return false;
    }
    let (frame_a, frame_b, origin) = Frame::about_midpoint(pose_a, pose_b);
    let mut sink = Sink::new(origin, margin, out);
    OutlinePair::new((a, &frame_a), (b, &frame_b), &mut scratch.outlines).contacts(&mut sink);
    true
}

/// Returns the distance from a vertex to the nearer end of the face of a convex polygon that it meets; negative
/// beyond the end, zero for two vertices. `None` for other features and shapes.
pub fn distance_to_face_end(
    (a, pose_a): (&Shape, &Pose),
    (b, pose_b): (&Shape, &Pose),
    feature: Feature,
    scratch: &mut Scratch,
) -> Option<f64> {
    let (frame_a, frame_b, _) = Frame::about_midpoint(pose_a, pose_b);
    scratch.core_a.place(a, &frame_a);
    scratch.core_b.place(b, &frame_b);
    let (core_a, core_b) = (&scratch.core_a, &scratch.core_b);
    let (on_a, on_b) = feature.parts();
    let (host, face, vertex) = match (on_a.checked_sub(core_a.vertices.len()), on_b.checked_sub(core_b.vertices.len()))
    {
        (Some(face), None) => (core_a, face, core_b.vertices.get(on_b)?),
        (None, Some(face)) => (core_b, face, core_a.vertices.get(on_a)?),
        // Two vertices: at the end of any face.
        (None, None) if core_a.radius + core_b.radius == 0.0 => return Some(0.0),
        _ => return None,
    };
    if host.normals.len() < 3 || host.radius > 0.0 {
        return None;
    }
    let along = host.tangent(face);
    let (start, end) = (host.vertices.get(face)?, host.vertices.get(host.end_of(face))?);
    Some(along.dot(&(vertex - start)).min(along.dot(&(end - vertex))))
}
