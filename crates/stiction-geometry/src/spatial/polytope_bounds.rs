//! Faces and edges of two cores that may span the direction of largest separation.
//!
//! A direction supports a point b of B and a point a of A at most as far apart as they are:
//! σ(n) ≤ n · (b − a) for every b ∈ B, a ∈ A.   [GEOM-38]
//! Few such points exclude nearly all faces, and all arcs of normals between two faces that the same point excludes. The face
//! with the largest bound is measured next, and its own two points make the bounds of others smaller. What is left is measured
//! as if nothing had been excluded, so the result is that of the search through everything.

use nalgebra::Vector3;

use super::placed::Core;
/// The point that excludes a face, if there is none, or none that excludes arcs too.
const NO_POINT: u32 = u32::MAX;

/// A face that is left, with an upper bound of the separation along its normal and the point that gives it.
#[derive(Clone, Copy, Debug)]
struct FaceBound {
    face: u32,
    point: u32,
    bound: f64,
}

/// The separation along the normal of a face, from A to B, and the vertex that faces it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaceSeparation {
    /// Zero for a face of A, one for a face of B.
    pub(super) side: usize,
    pub(super) face: u32,
    pub(super) vertex: u32,
    pub(super) separation: f64,
}

/// Memory of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    points: Vec<Vector3<f64>>,
    left: [Vec<FaceBound>; 2],
    excluded: [Vec<u32>; 2],
    measured: Vec<FaceSeparation>,
    edges: [Vec<u32>; 2],
}

impl Bounds {
    /// Measures every face whose separation is within `slack` of the largest, and returns these, those of A first, in the order of
    /// their numbers; `None` if a separation exceeds `reach`.
    pub(super) fn faces(&mut self, cores: [&Core<'_>; 2], reach: f64, slack: f64) -> Option<&[FaceSeparation]> {
        let [a, b] = cores;
        self.points.clear();
        self.measured.clear();
        self.points.push(b.vertex(0) - a.vertex(0));
        for (side, core) in cores.into_iter().enumerate() {
            self.left[side].clear();
            let count = core.normals.len() as u32;
            self.left[side].extend((0..count).map(|face| FaceBound { face, point: 0, bound: f64::INFINITY }));
            self.excluded[side].clear();
            self.excluded[side].resize(core.normals.len(), NO_POINT);
        }
        let mut largest = f64::NEG_INFINITY;
        while let Some((side, face)) = self.tighten(cores, largest - slack) {
            let (core, other) = (cores[side], cores[1 - side]);
            let (vertex, separation) = face_separation(core, face, other);
            if separation > reach {
                return None;
            }
            largest = largest.max(separation);
            self.measured.push(FaceSeparation { side, face, vertex, separation });
            self.points.push(nearest_corner(core, face, other, vertex) * if side == 0 { 1.0 } else { -1.0 });
        }
        self.measured.sort_unstable_by_key(|at| (at.side, at.face));
        Some(&self.measured)
    }

    /// Lowers the bounds of all faces by the last point, excludes those below `least`, and takes out the face with the largest bound.
    fn tighten(&mut self, cores: [&Core<'_>; 2], least: f64) -> Option<(usize, u32)> {
        let Self { points, left, excluded, .. } = self;
        let (last, number) = (*points.last()?, points.len() as u32 - 1);
        let mut best: Option<(usize, usize, f64)> = None;
        for (side, (left, excluded)) in left.iter_mut().zip(excluded).enumerate() {
            let along = if side == 0 { last } else { -last };
            let mut kept = 0;
            for index in 0..left.len() {
                let mut entry = left[index];
                let bound = cores[side].normal(entry.face).dot(&along);
                if bound < entry.bound {
                    (entry.bound, entry.point) = (bound, number);
                }
                if entry.bound < least {
                    // A bound above zero may be exceeded between two faces.
                    excluded[entry.face as usize] = if entry.bound <= 0.0 { entry.point } else { NO_POINT };
                    continue;
                }
                if best.is_none_or(|(_, _, most)| entry.bound > most) {
                    best = Some((side, kept, entry.bound));
                }
                left[kept] = entry;
                kept += 1;
            }
            left.truncate(kept);
        }
        best.map(|(side, index, _)| (side, left[side].swap_remove(index).face))
    }

    /// Returns the edges of both cores whose normals may have a separation of `least` or more, in the order of their numbers.
    ///
    /// Two edges span a direction only if both are among them.
    pub(super) fn edges(&mut self, cores: [&Core<'_>; 2], least: f64) -> [&[u32]; 2] {
        for (side, core) in cores.into_iter().enumerate() {
            let (points, excluded) = (&self.points, &self.excluded[side]);
            let sign = if side == 0 { 1.0 } else { -1.0 };
            let may_reach = |faces: [u32; 2]| {
                let by = |face: u32| excluded.get(face as usize).copied().unwrap_or(NO_POINT);
                if by(faces[0]) != NO_POINT && by(faces[0]) == by(faces[1]) {
                    return false;
                }
                let [m, n] = faces.map(|face| core.normal(face) * sign);
                // Unit vectors between m and n are (α m + β n) / |α m + β n| with |α m + β n| ≥ (α + β) |m + n| / 2.
                let half = 0.5 * (m + n).norm();
                points.iter().all(|p| {
                    let most = m.dot(p).max(n.dot(p));
                    most >= least || (most > 0.0 && most >= least * half)
                })
            };
            self.edges[side].clear();
            let has_faces = !core.normals.is_empty();
            let left = core.edges().filter(|(_, edge)| !has_faces || may_reach(edge.faces));
            self.edges[side].extend(left.map(|(index, _)| index));
        }
        [&self.edges[0], &self.edges[1]]
    }
}

/// Returns the vertex of `other` nearest to the plane of a face, or deepest below it, and its height.
pub(super) fn face_separation(core: &Core<'_>, face: u32, other: &Core<'_>) -> (u32, f64) {
    let normal = core.normal(face);
    let (vertex, _) = other.lowest(&normal);
    (vertex, normal.dot(&(other.vertex(vertex) - core.face_origin(face))))
}

/// Returns the vector to a vertex of the other core from the corner of a face that is nearest to it.
fn nearest_corner(core: &Core<'_>, face: u32, other: &Core<'_>, vertex: u32) -> Vector3<f64> {
    let to = other.vertex(vertex);
    let offsets = core.topology.corners(face as usize).iter().map(|&corner| to - core.vertex(corner));
    offsets.min_by(|p, q| p.norm_squared().total_cmp(&q.norm_squared())).unwrap_or_default()
}
