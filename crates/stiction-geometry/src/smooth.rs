//! The contact of two convex shapes, at least one of which is curved otherwise than by a radius: their closest
//! points.   [IMP-14]

use nalgebra::Point3;

use crate::contact::assign_separate_chains;
use crate::implicit::{self, Closest, Convex, closest};
use crate::{ContactPoint, Feature, Pose};

/// Buffers reused between calls; they carry no information from one call to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    closest: implicit::Scratch,
    buffers: [implicit::Buffer; 2],
}

/// A shape with convex functions.
pub(crate) trait WithFunctions {
    /// Returns the functions of the shape, its own or in the buffer; `None` for a shape that is not convex.
    fn functions(&self, buffer: implicit::Buffer) -> Option<Functions<'_>>;
}

/// Functions of a shape, and the buffer if it was not needed.
pub(crate) enum Functions<'a> {
    OfShape(&'a Convex, implicit::Buffer),
    InBuffer(Convex),
}

impl Functions<'_> {
    fn convex(&self) -> &Convex {
        match self {
            Self::OfShape(convex, _) => convex,
            Self::InBuffer(convex) => convex,
        }
    }

    fn into_buffer(self) -> implicit::Buffer {
        match self {
            Self::OfShape(_, buffer) => buffer,
            Self::InBuffer(convex) => convex.into_buffer(),
        }
    }
}

/// Appends the closest points of A and B if their gap is at most `margin`.
pub(crate) fn contact<S: WithFunctions>(
    (a, pose_a): (&S, &Pose),
    (b, pose_b): (&S, &Pose),
    margin: f64,
    scratch: &mut Scratch,
    out: &mut Vec<ContactPoint>,
) {
    let first = out.len();
    out.extend(find((a, pose_a), (b, pose_b), scratch).filter(|contact| contact.gap <= margin));
    debug_assert!(first <= out.len(), "contacts are only appended");
    if let Some(new) = out.get_mut(first..) {
        assign_separate_chains(new);
    }
}

/// Returns the contact at the closest points; `None` for a shape that is not convex.
pub(crate) fn find<S: WithFunctions>(
    (a, pose_a): (&S, &Pose),
    (b, pose_b): (&S, &Pose),
    scratch: &mut Scratch,
) -> Option<ContactPoint> {
    let [for_a, for_b] = std::mem::take(&mut scratch.buffers);
    let functions = [a.functions(for_a)?, b.functions(for_b)?];
    let [a, b] = functions.each_ref().map(Functions::convex);
    let found = closest((a, pose_a), (b, pose_b), None, &mut scratch.closest);
    let contact = point(&found);
    scratch.buffers = functions.map(Functions::into_buffer);
    Some(contact)
}

/// Returns the contact of a pair of solids. There is only one, so its feature never changes.
fn point(found: &Closest) -> ContactPoint {
    ContactPoint {
        feature: Feature::new(0, 0),
        point_a: found.point_a,
        point_b: found.point_b,
        normal: found.normal,
        gap: found.gap,
        normal_is_unique: found.unique || !is_same(&found.point_a, &found.point_b),
        chain: 0,
    }
}

/// True if the points coincide. Points that are apart define a normal, even if other points are as close.
fn is_same(a: &Point3<f64>, b: &Point3<f64>) -> bool {
    a == b
}
