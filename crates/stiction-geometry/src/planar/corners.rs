//! The corners of an outline as listed by a user: checked coordinates, without repeated and collinear vertices.

use nalgebra::{Point2, Vector2};

use crate::ShapeError;

/// Largest magnitude of a size or coordinate, m; beyond it squares of lengths lose their precision.
pub const MAX_LENGTH: f64 = 1e9;

/// Fraction of the polygon's extent below which a vertex is dropped as collinear with its neighbours. The two faces
/// of such a corner could not be distinguished at round-off.
const FLAT_CORNER: f64 = 1e-9;

/// The vertices that are corners, and their numbers in the user's list.
pub(super) struct Corners {
    pub(super) vertices: Vec<Point2<f64>>,
    numbers: Vec<usize>,
    /// Length below which distances count as zero: [`FLAT_CORNER`] of the extent.
    pub(super) tolerance: f64,
}

impl Corners {
    /// Drops, one at a time, the vertices that lie on the segment between their neighbours.
    pub(super) fn of(listed: &[Point2<f64>]) -> Result<Self, ShapeError> {
        let tolerance = FLAT_CORNER * extent(listed)?;
        let mut corners = Self { vertices: listed.to_vec(), numbers: (0..listed.len()).collect(), tolerance };
        while let Some(flat) = corners.first_flat() {
            corners.vertices.remove(flat);
            corners.numbers.remove(flat);
        }
        Ok(corners)
    }

    fn first_flat(&self) -> Option<usize> {
        let n = self.vertices.len();
        let is_flat = |i: usize| {
            let (before, here, after) = (self.vertices[(i + n - 1) % n], self.vertices[i], self.vertices[(i + 1) % n]);
            distance_to_segment(&here, &before, &after) <= self.tolerance
        };
        if n < 3 { None } else { (0..n).find(|&i| is_flat(i)) }
    }

    /// Returns twice the enclosed area; negative for clockwise corners.
    pub(super) fn twice_area(&self) -> f64 {
        let Some(first) = self.vertices.first() else { return 0.0 };
        edges(&self.vertices).map(|(p, q)| (p - first).perp(&(q - first))).sum()
    }

    /// Returns the number of a corner in the user's list.
    pub(super) fn number_of(&self, corner: usize) -> usize {
        debug_assert_eq!(self.numbers.len(), self.vertices.len(), "every corner has its number");
        debug_assert!(corner < self.numbers.len(), "the corner exists");
        self.numbers.get(corner).copied().unwrap_or(corner)
    }

    /// Describes the edge that starts at `corner`.
    pub(super) fn edge_name(&self, corner: usize) -> String {
        let next = (corner + 1) % self.vertices.len().max(1);
        format!("edge from vertex {} to {}", self.number_of(corner), self.number_of(next))
    }
}

/// Returns the longer side of the bounding box of `points`, after checking every coordinate.
pub(super) fn extent(points: &[Point2<f64>]) -> Result<f64, ShapeError> {
    if let Some(&value) = points.iter().flat_map(|p| p.iter()).find(|x| x.is_nan() || x.abs() > MAX_LENGTH) {
        return Err(ShapeError::BadCoordinate { what: "a vertex of a polygon", value, limit: MAX_LENGTH });
    }
    let (min, max) =
        points.iter().fold((Vector2::repeat(f64::INFINITY), Vector2::repeat(f64::NEG_INFINITY)), |(min, max), p| {
            (min.inf(&p.coords), max.sup(&p.coords))
        });
    Ok(if points.is_empty() { 0.0 } else { (max - min).max() })
}

pub(super) fn distance_to_segment(point: &Point2<f64>, start: &Point2<f64>, end: &Point2<f64>) -> f64 {
    let (edge, d) = (end - start, point - start);
    let length_squared = edge.norm_squared();
    let s = if length_squared > 0.0 { (d.dot(&edge) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
    (d - edge * s).norm()
}

pub(super) fn edges(vertices: &[Point2<f64>]) -> impl Iterator<Item = (Point2<f64>, Point2<f64>)> + '_ {
    vertices.iter().copied().zip(vertices.iter().copied().cycle().skip(1))
}

/// Returns the unit vector to the right of `edge`.
pub(super) fn outward(edge: &Vector2<f64>) -> Vector2<f64> {
    Vector2::new(edge.y, -edge.x) / edge.norm()
}
