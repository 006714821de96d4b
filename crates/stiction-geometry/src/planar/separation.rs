//! The separating-axis test over the faces of two cores.   [GEOM-5]

use nalgebra::Vector2;

use super::placed_core::PlacedCore;

/// Smallest cosine of directions that count as equal.
const SAME_DIRECTION: f64 = 1.0 - 1e-9;

/// One of the two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

/// The face of largest separation, or least penetration.
#[derive(Clone, Copy, Debug)]
pub(super) struct WidestFace {
    /// Body of the face.
    pub(super) owner: Side,
    pub(super) face: usize,
    /// Outward normal of the owner.
    pub(super) outward: Vector2<f64>,
    /// Least height of the other core above the face.
    pub(super) separation: f64,
    /// False if the cores touch or overlap and a face with another direction has the same separation.
    pub(super) is_unique: bool,
}

/// Finds the face of largest separation of both cores; `None` if neither has faces.
///
/// Faces within `tolerance` of the largest separation are equal. Among equals, the face that points up most is chosen
/// (then to the right, then of A, then of smallest number). The rule depends on directions and not on the names A and
/// B, so exchanging the bodies changes nothing, and round-off does not decide.
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
        *equals().reduce(|best, next| if points_up_more(&next.outward, &best.outward) { next } else { best })?;
    let toward_b = chosen.toward_b();
    let is_unique = widest > tolerance || equals().all(|face| face.toward_b().dot(&toward_b) >= SAME_DIRECTION);
    Some(WidestFace { is_unique, ..chosen })
}

impl WidestFace {
    /// Returns the normal of the face in the direction from A to B.
    pub(super) fn toward_b(&self) -> Vector2<f64> {
        match self.owner {
            Side::A => self.outward,
            Side::B => -self.outward,
        }
    }
}

/// True if direction `p` points up more than `q`, or equally but more to the right, beyond round-off.
pub(super) fn points_up_more(p: &Vector2<f64>, q: &Vector2<f64>) -> bool {
    const CLEAR: f64 = 1e-9;
    p.y > q.y + CLEAR || (p.y > q.y - CLEAR && p.x > q.x + CLEAR)
}

/// Returns the separation of every face of `host` from `guest`.
fn separations(owner: Side, host: &PlacedCore, guest: &PlacedCore) -> impl Iterator<Item = WidestFace> {
    host.normals.iter().enumerate().map(move |(face, outward)| WidestFace {
        owner,
        face,
        outward: *outward,
        separation: guest.vertices.iter().map(|v| host.height(face, v)).fold(f64::INFINITY, f64::min),
        is_unique: true,
    })
}
