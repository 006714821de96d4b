//! The separating-axis test over the faces of two cores.   [GEOM-5]

use nalgebra::Vector2;

use super::placed_core::PlacedCore;

/// Directions whose cosine is above this are the same direction.
const SAME_DIRECTION: f64 = 1.0 - 1e-9;

/// Which of the two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

/// The face with the greatest separation, or the least penetration.
#[derive(Clone, Copy, Debug)]
pub(super) struct WidestFace {
    /// The body the face belongs to.
    pub(super) owner: Side,
    pub(super) face: usize,
    /// Out of the owner.
    pub(super) outward: Vector2<f64>,
    /// The least height of the other core above the face.
    pub(super) separation: f64,
    /// False when the cores touch or overlap and a face with another direction is just as wide.
    pub(super) is_unique: bool,
}

/// Finds the widest face of both cores; none when neither has faces.
///
/// Faces within `tolerance` of the widest are equal, and among equals the one that looks up most (then to the right, then of
/// A, then of smallest number) is taken. The rule speaks of directions and not of A and B, so that exchanging the bodies changes
/// nothing, and round-off cannot choose.
pub(super) fn widest_face(
    a: &PlacedCore,
    b: &PlacedCore,
    tolerance: f64,
    faces: &mut Vec<WidestFace>,
) -> Option<WidestFace> {
    faces.clear();
    faces.extend(separations(Side::A, a, b));
    faces.extend(separations(Side::B, b, a));
    let widest = faces.iter().map(|face| face.separation).reduce(f64::max)?;
    let equals = || faces.iter().filter(|face| face.separation >= widest - tolerance);
    let chosen =
        *equals().reduce(|best, next| if looks_up_more(&next.outward, &best.outward) { next } else { best })?;
    let toward_b = chosen.toward_b();
    let is_unique = widest > tolerance || equals().all(|face| face.toward_b().dot(&toward_b) >= SAME_DIRECTION);
    Some(WidestFace { is_unique, ..chosen })
}

impl WidestFace {
    /// The normal of the face, turned so that it points from A to B.
    pub(super) fn toward_b(&self) -> Vector2<f64> {
        match self.owner {
            Side::A => self.outward,
            Side::B => -self.outward,
        }
    }
}

/// Whether direction `p` looks up more than `q`, or equally much but more to the right, clear of round-off.
pub(super) fn looks_up_more(p: &Vector2<f64>, q: &Vector2<f64>) -> bool {
    const CLEAR: f64 = 1e-9;
    p.y > q.y + CLEAR || (p.y > q.y - CLEAR && p.x > q.x + CLEAR)
}

/// The separation of every face of `host` from `guest`.
fn separations(owner: Side, host: &PlacedCore, guest: &PlacedCore) -> impl Iterator<Item = WidestFace> {
    host.normals.iter().enumerate().map(move |(face, outward)| WidestFace {
        owner,
        face,
        outward: *outward,
        separation: guest.vertices.iter().map(|v| host.height(face, v)).fold(f64::INFINITY, f64::min),
        is_unique: true,
    })
}
