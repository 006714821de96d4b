//! The narrow phase of a pair of shapes, in the plane or in space.

use crate::{ContactPoint, Feature, Pose, Shape, UnsupportedPair, planar, spatial};

/// Buffers of the narrow phase, reused between calls; they carry no information from one call to the next.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    planar: planar::Scratch,
    spatial: spatial::Scratch,
}

/// Appends to `out` the contacts between A and B whose gap is at most `margin`, sorted by feature.
///
/// Contacts of a non-convex polygon come chain by chain (see [`ContactPoint::chain`]). Chains are in the order of their
/// least features, and each is sorted by feature. The gap of a chain is its *largest* gap, and is at most `margin`.
///
/// Exchanging A and B mirrors the result: the same gaps and points, opposite normals, exchanged features. The only
/// exception is a contact without a unique normal, where the choice may favour A.
pub fn contacts(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    scratch: &mut Scratch,
    out: &mut Vec<ContactPoint>,
) -> Result<(), UnsupportedPair> {
    match (a, b) {
        (Shape::Planar(a), Shape::Planar(b)) => {
            planar::contacts(a, pose_a, b, pose_b, margin, &mut scratch.planar, out)
        }
        (Shape::Spatial(a), Shape::Spatial(b)) => {
            spatial::contacts(a, pose_a, b, pose_b, margin, &mut scratch.spatial, out)
        }
        _ => Err(mixed_dimensions(a, b)),
    }
}

/// Appends contacts like [`contacts`], but vertex by vertex with chains of alternatives, even if both shapes are
/// convex polygons. Returns false, and appends nothing, if the shapes have no such contacts.   [GEOM-10]
pub fn contacts_in_chains(
    (a, pose_a): (&Shape, &Pose),
    (b, pose_b): (&Shape, &Pose),
    margin: f64,
    scratch: &mut Scratch,
    out: &mut Vec<ContactPoint>,
) -> bool {
    match (a, b) {
        (Shape::Planar(a), Shape::Planar(b)) => {
            planar::outline_contacts((a, pose_a), (b, pose_b), margin, &mut scratch.planar, out)
        }
        _ => false,
    }
}

/// Returns the distance from a vertex to the nearer end of the face of a convex polygon that it meets, in the plane;
/// negative beyond the end, zero for two vertices. `None` for other features and shapes.
pub fn distance_to_face_end(
    (a, pose_a): (&Shape, &Pose),
    (b, pose_b): (&Shape, &Pose),
    feature: Feature,
    scratch: &mut Scratch,
) -> Option<f64> {
    match (a, b) {
        (Shape::Planar(a), Shape::Planar(b)) => {
            planar::distance_to_face_end((a, pose_a), (b, pose_b), feature, &mut scratch.planar)
        }
        _ => None,
    }
}

/// True if the contacts of two shapes have features with numbers: vertices, then edges, then faces. Those of smooth
/// shapes are numbered by their functions.
pub fn has_numbered_features(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Spatial(a), Shape::Spatial(b)) => spatial::has_numbered_features(a, b),
        _ => false,
    }
}

/// Checks that [`contacts`] supports the pair; call it once when a model is built.
pub fn ensure_supported(a: &Shape, b: &Shape) -> Result<(), UnsupportedPair> {
    match (a, b) {
        (Shape::Planar(a), Shape::Planar(b)) => planar::ensure_supported(a, b),
        (Shape::Spatial(a), Shape::Spatial(b)) => spatial::ensure_supported(a, b),
        _ => Err(mixed_dimensions(a, b)),
    }
}

fn mixed_dimensions(a: &Shape, b: &Shape) -> UnsupportedPair {
    UnsupportedPair {
        a: a.name(),
        b: b.name(),
        reason: "one shape is in the plane and the other in space; build the model from one kind only",
    }
}
