//! A closed polygonal line in the coordinates of its body, prepared for the narrow phase.

use nalgebra::{Point2, Vector2};

use super::corners::{edges, outward};

/// Vertices and faces; face i runs from vertex i to vertex i + 1 and has the solid to its left.
///
/// A point, the centre of a disc and the ends of a capsule's core are vertices without faces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Boundary {
    vertices: Vec<Point2<f64>>,
    normals: Vec<Vector2<f64>>,
    lengths: Vec<f64>,
    /// True if the interior angle at the vertex is below 180°.
    convex: Vec<bool>,
    /// Left turn of the outline at each vertex, rad; empty for a convex outline, which does not need it.
    turns: Vec<f64>,
    min: Vector2<f64>,
    max: Vector2<f64>,
    /// Largest distance of a vertex from the origin.
    bound: f64,
    /// Boxes around [`GROUP`] consecutive faces, of long outlines only, to skip most faces at once.
    groups: Vec<(Vector2<f64>, Vector2<f64>)>,
}

/// Number of faces that share a box.
const GROUP: usize = 8;

/// Position of a point relative to a face.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearFace {
    pub(super) face: usize,
    /// ψ = n · (p − a), the height above the line of the face.   [GEOM-4]
    pub(super) height: f64,
    /// Coordinate of the foot of the point along the face, from its start; outside of 0 to the length if the foot is
    /// not on the face.
    pub(super) along: f64,
    /// Squared distance to the face itself.
    pub(super) distance_squared: f64,
    /// True if the face belongs to the same chain as the one listed before it.
    pub(super) continues_chain: bool,
}

impl NearFace {
    /// Returns the squared distance to the vertex at which the face starts.
    pub(super) fn start_distance_squared(&self) -> f64 {
        self.height * self.height + self.along * self.along
    }
}

/// Foot of a point on a face: the part of the face that is nearest to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foot {
    /// Between the ends.
    Inside,
    /// The vertex with this number.
    Vertex(usize),
}

impl Boundary {
    /// Stores the outline of a polygon with valid vertices.
    pub(super) fn enclose(&mut self, vertices: &[Point2<f64>]) {
        self.clear();
        self.vertices.extend_from_slice(vertices);
        self.normals.extend(edges(vertices).map(|(p, q)| outward(&(q - p))));
        self.finish();
        if !self.convex.iter().all(|&convex| convex) {
            let before = self.normals.iter().cycle().skip(self.normals.len() - 1);
            self.turns.extend(before.zip(&self.normals).map(|(m, n)| libm::atan2(m.perp(n), m.dot(n))));
        }
        debug_assert!(self.is_convex() || self.turns.len() == self.vertices.len(), "one turn per vertex");
        if vertices.len() > GROUP {
            self.box_groups();
            debug_assert_eq!(self.groups.len(), vertices.len().div_ceil(GROUP), "the boxes cover all faces");
        }
    }

    /// Computes the boxes around groups of faces, both ends of each included.
    fn box_groups(&mut self) {
        let count = self.vertices.len();
        let nothing = (Vector2::repeat(f64::INFINITY), Vector2::repeat(f64::NEG_INFINITY));
        self.groups.extend((0..count).step_by(GROUP).map(|first| {
            let ends = (first..=(first + GROUP).min(count)).map(|i| &self.vertices[i % count].coords);
            ends.fold(nothing, |(low, high), p| (low.inf(p), high.sup(p)))
        }));
    }

    /// Returns the numbers of faces, and of the vertices at their start, without groups that do not meet the box from
    /// `low` to `high`.
    pub(super) fn numbers_near(&self, low: Vector2<f64>, high: Vector2<f64>) -> impl Iterator<Item = usize> + '_ {
        let count = self.vertices.len();
        let all = if self.groups.is_empty() { 0..count } else { 0..0 };
        let meets = move |(min, max): &(Vector2<f64>, Vector2<f64>)| {
            min.x <= high.x && max.x >= low.x && min.y <= high.y && max.y >= low.y
        };
        let groups = self.groups.iter().enumerate().filter(move |(_, group)| meets(group));
        all.chain(groups.flat_map(move |(group, _)| group * GROUP..((group + 1) * GROUP).min(count)))
    }

    /// Stores the given vertices and the normals of their faces; no normals for vertices without faces.
    pub(super) fn refill(
        &mut self,
        vertices: impl IntoIterator<Item = Point2<f64>>,
        normals: impl IntoIterator<Item = Vector2<f64>>,
    ) {
        self.clear();
        self.vertices.extend(vertices);
        self.normals.extend(normals);
        self.finish();
    }

    fn clear(&mut self) {
        self.vertices.clear();
        self.normals.clear();
        self.lengths.clear();
        self.convex.clear();
        self.turns.clear();
        self.groups.clear();
        (self.min, self.max) = (Vector2::repeat(f64::INFINITY), Vector2::repeat(f64::NEG_INFINITY));
        self.bound = 0.0;
    }

    /// Computes all data that follow from the vertices and normals.
    fn finish(&mut self) {
        for (i, vertex) in self.vertices.iter().enumerate() {
            self.min = self.min.inf(&vertex.coords);
            self.max = self.max.sup(&vertex.coords);
            self.bound = self.bound.max(vertex.coords.norm_squared());
            let next = self.vertices[(i + 1) % self.vertices.len()];
            let before = self.vertices[(i + self.vertices.len() - 1) % self.vertices.len()];
            // The edges, not their unit normals: rounding must not change the sign of a slight turn.
            let turns_left = (vertex - before).perp(&(next - vertex)) > 0.0;
            self.convex.push(self.normals.is_empty() || turns_left);
            if let Some(normal) = self.normals.get(i) {
                self.lengths.push(along(normal).dot(&(next - vertex)));
            }
        }
        self.bound = self.bound.sqrt();
        let (vertices, faces) = (self.vertices.len(), self.normals.len());
        debug_assert!(faces == 0 || faces == vertices, "a closed outline has as many faces as vertices");
        debug_assert_eq!((self.convex.len(), self.lengths.len()), (vertices, faces), "one entry per vertex and face");
    }

    pub(super) fn vertices(&self) -> &[Point2<f64>] {
        &self.vertices
    }

    pub(super) fn normals(&self) -> &[Vector2<f64>] {
        &self.normals
    }

    pub(super) fn bound(&self) -> f64 {
        self.bound
    }

    pub(super) fn is_convex_at(&self, vertex: usize) -> bool {
        self.convex.get(vertex).copied().unwrap_or(false)
    }

    pub(super) fn is_convex(&self) -> bool {
        self.turns.is_empty()
    }

    /// Returns the left turn of the outline at a vertex, rad.
    pub(super) fn turn_at(&self, vertex: usize) -> f64 {
        debug_assert!(vertex < self.turns.len(), "only outlines that are not convex store their turns");
        self.turns.get(vertex).copied().unwrap_or(0.0)
    }

    pub(super) fn has_faces(&self) -> bool {
        !self.normals.is_empty()
    }

    /// Returns centre and half the size of the box around the vertices.
    pub(super) fn bounding_box(&self) -> (Vector2<f64>, Vector2<f64>) {
        ((self.max + self.min) * 0.5, (self.max - self.min) * 0.5)
    }

    pub(super) fn end_of(&self, face: usize) -> usize {
        if face + 1 == self.vertices.len() { 0 } else { face + 1 }
    }

    /// Returns the face that ends at a vertex; the face of the same number starts there.
    pub(super) fn face_before(&self, vertex: usize) -> usize {
        if vertex == 0 { self.vertices.len() - 1 } else { vertex - 1 }
    }

    /// Returns the feature number of a face: vertices come first.
    pub(super) fn face_feature(&self, face: usize) -> usize {
        self.vertices.len() + face
    }

    /// Returns the unit vector from the start of the face to its end.
    pub(super) fn tangent(&self, face: usize) -> Vector2<f64> {
        along(&self.normals[face])
    }

    /// Returns the height of a point above the line of a face.   [GEOM-4]
    pub(super) fn height(&self, face: usize, point: &Vector2<f64>) -> f64 {
        self.normals[face].dot(&(point - self.vertices[face].coords))
    }

    /// True if the box around a face meets the box from `low` to `high`.
    pub(super) fn face_meets_box(&self, face: usize, low: &Vector2<f64>, high: &Vector2<f64>) -> bool {
        let (p, q) = (&self.vertices[face], &self.vertices[self.end_of(face)]);
        p.x.min(q.x) <= high.x && p.x.max(q.x) >= low.x && p.y.min(q.y) <= high.y && p.y.max(q.y) >= low.y
    }

    /// Returns the position of `point` relative to a face.
    pub(super) fn near(&self, face: usize, point: &Vector2<f64>) -> NearFace {
        let (normal, d) = (self.normals[face], point - self.vertices[face].coords);
        let (height, along) = (normal.dot(&d), along(&normal).dot(&d));
        let beyond = along - along.clamp(0.0, self.lengths[face]);
        NearFace { face, height, along, distance_squared: height * height + beyond * beyond, continues_chain: false }
    }

    /// Returns the part of its face that a point is nearest to.
    pub(super) fn foot(&self, near: &NearFace) -> Foot {
        if near.along <= 0.0 {
            Foot::Vertex(near.face)
        } else if near.along >= self.lengths[near.face] {
            Foot::Vertex(self.end_of(near.face))
        } else {
            Foot::Inside
        }
    }

    /// True if a point that is not on the boundary lies inside: a ray to the right crosses the boundary an odd number
    /// of times.
    pub(super) fn contains(&self, point: &Vector2<f64>) -> bool {
        let is_in_box =
            point.x >= self.min.x && point.x <= self.max.x && point.y >= self.min.y && point.y <= self.max.y;
        let is_in_circle = point.norm_squared() <= self.bound * self.bound;
        let mut is_inside = false;
        if is_in_box && is_in_circle {
            let right = Vector2::new(f64::INFINITY, point.y);
            for face in self.numbers_near(*point, right) {
                let (start, end) = (&self.vertices[face], &self.vertices[self.end_of(face)]);
                let is_crossed = (start.y > point.y) != (end.y > point.y)
                    && ((end - start).perp(&(point - start.coords)) > 0.0) == (end.y > start.y);
                is_inside ^= is_crossed;
            }
        }
        is_inside
    }
}

/// Returns the direction of a face with the given outward normal; the solid is to the left.
fn along(normal: &Vector2<f64>) -> Vector2<f64> {
    Vector2::new(-normal.y, normal.x)
}
