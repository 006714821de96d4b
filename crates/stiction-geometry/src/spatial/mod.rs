//! Shapes in space and the contacts between them.
//!
//! Points, spheres, capsules, boxes and polyhedra are a core with a radius: a vertex, a segment or a polytope.
//! Contacts are between the features of the cores: vertices, edges and faces. Ellipsoids, superquadrics and implicit
//! solids have one contact each, at the closest points of their functions ([`implicit`](crate::implicit)). Cylinders
//! that stand or lie have several (`cylinder`).

mod capsule;
mod cylinder;
mod decompose;
mod functions;
mod half_space;
mod hull;
mod placed;
mod polyhedron;
mod polytope;
mod polytope_bounds;
mod polytope_manifold;
mod polytope_sat;
mod segment;
mod sink;
mod solids;
mod sphere;
mod topology;
mod union;

pub use decompose::convex_parts;
pub(crate) use functions::convex;
pub use hull::MAX_LENGTH;
pub(crate) use hull::extent;
pub use polyhedron::ConvexPolyhedron;
pub use solids::{Figure, Shape};
pub use union::UnionPiece;
pub(crate) use union::has_numbered_features;

use cylinder::Cylinder;
use placed::CoreBuffer;
use polytope_bounds::Bounds;
use sink::{Sink, Tolerance};

use crate::{ContactPoint, Pose, UnsupportedPair, smooth};

/// Buffers of the narrow phase, reused between calls; they carry no information from one call to the next.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    a: CoreBuffer,
    b: CoreBuffer,
    bounds: Bounds,
    smooth: smooth::Scratch,
}

/// Checks that [`contacts`] supports the pair.
pub(crate) fn ensure_supported(a: &Shape, b: &Shape) -> Result<(), UnsupportedPair> {
    let reason = match (a, b) {
        (Shape::HalfSpace { .. }, Shape::HalfSpace { .. }) => {
            "two half-spaces overlap without bound; replace one of them by a box"
        }
        _ if !a.is_bounded() && !b.is_bounded() => {
            "both shapes are unbounded and may overlap without bound; replace one of them by a bounded shape"
        }
        (Shape::Point, Shape::Point) => "two points have no surface to meet; give one of them a radius (a sphere)",
        _ => return Ok(()),
    };
    Err(UnsupportedPair { a: a.name(), b: b.name(), reason })
}

/// Appends to `out` the contacts between A and B whose gap is at most `margin`, in the order of their features.
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
    match (a, b) {
        _ if !is_cylinder_pair(a, b) => {}
        (Shape::Cylinder { .. }, Shape::Cylinder { .. }) | (_, Shape::Cylinder { .. }) => {
            cylinders(&Pair { a: (a, pose_a), b: (b, pose_b), margin, swapped: false }, scratch, out);
            return Ok(());
        }
        _ => {
            cylinders(&Pair { a: (b, pose_b), b: (a, pose_a), margin, swapped: true }, scratch, out);
            return Ok(());
        }
    }
    if kind(a).max(kind(b)) >= Kind::Smooth {
        smooth::contact((a, pose_a), (b, pose_b), margin, &mut scratch.smooth, out);
        return Ok(());
    }
    if kind(a) < kind(b) {
        ordered(&Pair { a: (b, pose_b), b: (a, pose_a), margin, swapped: true }, scratch, out);
    } else {
        ordered(&Pair { a: (a, pose_a), b: (b, pose_b), margin, swapped: false }, scratch, out);
    }
    Ok(())
}

/// Two shapes at their poses, in the order that their kernel expects.
struct Pair<'a> {
    a: (&'a Shape, &'a Pose),
    b: (&'a Shape, &'a Pose),
    /// Largest gap of a contact.
    margin: f64,
    /// True if A and B are B and A for the caller.
    swapped: bool,
}

/// Kinds of cores, with more features later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Vertex,
    Segment,
    Polytope,
    HalfSpace,
    Smooth,
}

fn kind(shape: &Shape) -> Kind {
    match shape {
        Shape::Point | Shape::Sphere { .. } => Kind::Vertex,
        Shape::Capsule { .. } => Kind::Segment,
        Shape::Box { .. } | Shape::Polyhedron(_) => Kind::Polytope,
        Shape::HalfSpace { .. } => Kind::HalfSpace,
        // Every kind without features: its contacts are the closest points of its functions.
        _ => Kind::Smooth,
    }
}

/// True if a cylinder meets a flat shape, on which it may stand or lie.
fn is_cylinder_pair(a: &Shape, b: &Shape) -> bool {
    let is_cylinder = |shape: &Shape| matches!(shape, Shape::Cylinder { .. });
    let is_flat = |shape: &Shape| is_cylinder(shape) || matches!(kind(shape), Kind::Polytope | Kind::HalfSpace);
    (is_cylinder(a) && is_flat(b)) || (is_cylinder(b) && is_flat(a))
}

/// Reports contacts for a cylinder B and a cylinder, polytope or half-space A.
fn cylinders(pair: &Pair<'_>, scratch: &mut Scratch, out: &mut Vec<ContactPoint>) {
    let &Pair { a: (a, pose_a), b: (b, pose_b), margin, swapped } = pair;
    let Shape::Cylinder { half_length, radius } = b else {
        debug_assert!(false, "B is a cylinder");
        return;
    };
    let origin = pose_a.translation.vector;
    let offset = pose_b.translation.vector - origin;
    let placed = Cylinder::new(*half_length, *radius, pose_b.rotation.matrix(), &offset);
    debug_assert!(b.radius_bound().is_some(), "a cylinder is bounded");
    let size = b.radius_bound().unwrap_or_default();
    let other = a.radius_bound().unwrap_or(size);
    if a.radius_bound().is_some() && offset.norm() - size - other > margin {
        return;
    }
    let tolerance = Tolerance::new(size, other, if a.radius_bound().is_some() { offset.norm() } else { 0.0 });
    if let Shape::HalfSpace { normal } = a {
        let mut sink = Sink::new(out, origin, [0.0; 2], margin, tolerance, swapped);
        cylinder::with_half_space(&(pose_a.rotation * normal.into_inner()), &placed, &mut sink);
        sink.sort();
        return;
    }
    let Some(nearest) = smooth::find((a, pose_a), (b, pose_b), &mut scratch.smooth) else {
        debug_assert!(false, "spatial shapes are convex");
        return;
    };
    if nearest.gap > margin {
        return;
    }
    let (feature_a, feature_b) = nearest.feature.parts();
    let feature_b = cylinder::FIRST_CLOSEST + feature_b as u32;
    let mut sink = Sink::new(out, origin, [0.0; 2], margin, tolerance, swapped);
    if let Shape::Cylinder { half_length, radius } = a {
        let features = [cylinder::FIRST_CLOSEST + feature_a as u32, feature_b];
        let nearest = cylinder::meeting(&nearest, &origin, features);
        let first = Cylinder::new(*half_length, *radius, pose_a.rotation.matrix(), &nalgebra::Vector3::zeros());
        cylinder::with_cylinder(&first, &placed, &nearest, &mut sink);
    } else if let Some(core) = scratch.a.place(a, pose_a.rotation.matrix(), &nalgebra::Vector3::zeros()) {
        // Closest points are numbered after the vertices, edges and faces.
        let features = [core.face_feature(core.normals.len() as u32) + feature_a as u32, feature_b];
        let nearest = cylinder::meeting(&nearest, &origin, features);
        cylinder::with_polytope(&core, &placed, &nearest, &mut sink);
    } else {
        debug_assert!(false, "A is a cylinder, a polytope or a half-space");
    }
    sink.sort();
}

/// Reports contacts for a core of A of the same or a later kind than that of B.
fn ordered(pair: &Pair<'_>, scratch: &mut Scratch, out: &mut Vec<ContactPoint>) {
    let &Pair { a: (a, pose_a), b: (b, pose_b), margin, swapped } = pair;
    let origin = pose_a.translation.vector;
    let offset = pose_b.translation.vector - origin;
    let Scratch { a: buffer_a, b: buffer_b, bounds, .. } = scratch;
    let apart = |radius_a: f64, radius_b: f64| offset.norm() - radius_a - radius_b > margin;
    if a.radius_bound().zip(b.radius_bound()).is_some_and(|(radius_a, radius_b)| apart(radius_a, radius_b)) {
        return;
    }
    let Some(b_core) = buffer_b.place(b, pose_b.rotation.matrix(), &offset) else {
        debug_assert!(false, "B has a core");
        return;
    };
    if let Shape::HalfSpace { normal } = a {
        let tolerance = Tolerance { round_off: 0.0, touching: 0.0 };
        let mut sink = Sink::new(out, origin, [0.0, b_core.radius], margin, tolerance, swapped);
        half_space::contacts(&(pose_a.rotation * normal.into_inner()), &b_core, &mut sink);
        sink.sort();
        return;
    }
    let Some(a_core) = buffer_a.place(a, pose_a.rotation.matrix(), &nalgebra::Vector3::zeros()) else {
        debug_assert!(false, "A has a core or is a half-space");
        return;
    };
    let tolerance = Tolerance::new(a_core.size, b_core.size, offset.norm());
    let mut sink = Sink::new(out, origin, [a_core.radius, b_core.radius], margin, tolerance, swapped);
    match (kind(a), kind(b)) {
        (Kind::Vertex, _) => sphere::with_vertex(&a_core, &b_core, &mut sink),
        (Kind::Segment, Kind::Vertex) => sphere::with_segment(&a_core, &b_core, &mut sink),
        (Kind::Segment, _) => capsule::with_capsule(&a_core, &b_core, &mut sink),
        (_, Kind::Vertex) => sphere::with_polytope(&a_core, &b_core, &mut sink),
        (_, _) => polytope::contacts(&a_core, &b_core, bounds, &mut sink),
    }
    sink.sort();
}
