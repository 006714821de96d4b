//! Incidences of the vertices, edges and faces of a core.
//!
//! Features are numbered in the order vertices, edges, faces. The tables of the point, the segment and the box are
//! constants, so only polyhedra store theirs.

/// An edge: its two ends and the two faces that meet in it (both the same if the core has no faces).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) ends: [u32; 2],
    pub(super) faces: [u32; 2],
}

/// A face: the range of its corners (and of its sides) in [`Topology::corners`] and [`Topology::sides`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Face {
    pub(super) first: u32,
    pub(super) count: u32,
}

/// Incidences of a core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Topology<'a> {
    pub(super) edges: &'a [Edge],
    pub(super) faces: &'a [Face],
    /// Vertices of the faces one after the other, each counter-clockwise seen from outside.
    pub(super) corners: &'a [u32],
    /// Edges of the faces; side i of a face joins its vertex i with the next one.
    pub(super) sides: &'a [u32],
}

impl Topology<'_> {
    /// Returns the vertices of a face.
    pub(super) fn corners(&self, face: usize) -> &[u32] {
        debug_assert!(self.faces.get(face).is_some_and(|f| f.range().end <= self.corners.len()), "the face exists");
        self.faces.get(face).and_then(|f| self.corners.get(f.range())).unwrap_or(&[])
    }

    /// Returns the edges that bound a face.
    pub(super) fn sides(&self, face: usize) -> &[u32] {
        debug_assert!(self.faces.get(face).is_some_and(|f| f.range().end <= self.sides.len()), "the face exists");
        self.faces.get(face).and_then(|f| self.sides.get(f.range())).unwrap_or(&[])
    }
}

impl Face {
    fn range(self) -> core::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

const fn edge(ends: [u32; 2], faces: [u32; 2]) -> Edge {
    Edge { ends, faces }
}

const fn quad(index: u32) -> Face {
    Face { first: 4 * index, count: 4 }
}

/// One vertex.
pub(super) const POINT: Topology<'static> = Topology { edges: &[], faces: &[], corners: &[], sides: &[] };

/// Two vertices and the edge between them.
pub(super) const SEGMENT: Topology<'static> =
    Topology { edges: &[edge([0, 1], [0, 0])], faces: &[], corners: &[], sides: &[] };

/// A box. Bits 0, 1, 2 of a vertex number are set if its x, y, z is positive; the faces are +z, −z, +y, −y, +x, −x.
pub(super) const BOX: Topology<'static> = Topology {
    edges: &[
        edge([0, 1], [1, 3]),
        edge([2, 3], [1, 2]),
        edge([4, 5], [0, 3]),
        edge([6, 7], [0, 2]),
        edge([0, 2], [1, 5]),
        edge([1, 3], [1, 4]),
        edge([4, 6], [0, 5]),
        edge([5, 7], [0, 4]),
        edge([0, 4], [3, 5]),
        edge([1, 5], [3, 4]),
        edge([2, 6], [2, 5]),
        edge([3, 7], [2, 4]),
    ],
    faces: &[quad(0), quad(1), quad(2), quad(3), quad(4), quad(5)],
    corners: &[4, 5, 7, 6, 0, 2, 3, 1, 2, 6, 7, 3, 0, 1, 5, 4, 1, 3, 7, 5, 0, 4, 6, 2],
    sides: &[2, 7, 3, 6, 4, 1, 5, 0, 10, 3, 11, 1, 0, 9, 2, 8, 5, 11, 7, 9, 8, 6, 10, 4],
};

/// The axis (0, 1, 2 for x, y, z) and sign of the outward normal of each face of a box.
pub(super) const BOX_NORMALS: [(usize, f64); 6] = [(2, 1.0), (2, -1.0), (1, 1.0), (1, -1.0), (0, 1.0), (0, -1.0)];

#[cfg(test)]
mod tests {
    use super::{BOX, BOX_NORMALS};
    use nalgebra::{Point3, Vector3};

    fn corner(index: u32) -> Point3<f64> {
        let sign = |bit: u32| if index >> bit & 1 == 1 { 1.0 } else { -1.0 };
        Point3::new(sign(0), sign(1), sign(2))
    }

    #[test]
    fn faces_of_the_box_turn_counter_clockwise_and_share_their_sides() {
        for (face, (axis, sign)) in BOX_NORMALS.into_iter().enumerate() {
            let corners = BOX.corners(face);
            let mut normal = Vector3::zeros();
            normal[axis] = sign;
            for (i, &side) in BOX.sides(face).iter().enumerate() {
                let (from, to) = (corners[i], corners[(i + 1) % 4]);
                let edge = BOX.edges[side as usize];
                assert!(edge.ends == [from, to] || edge.ends == [to, from]);
                assert!(edge.faces.contains(&(face as u32)));
                assert_eq!(corner(from)[axis], sign);
                let next = corners[(i + 2) % 4];
                let turn = (corner(to) - corner(from)).cross(&(corner(next) - corner(to)));
                assert!(turn.dot(&normal) > 0.0);
            }
        }
    }
}
