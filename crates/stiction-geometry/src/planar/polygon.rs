//! Convex polygons: the only shape of the plane that a user can get wrong in interesting ways.

use nalgebra::{Point2, Vector2};
use parry2d_f64::glamx::DVec2;
use parry2d_f64::transformation::convex_hull_idx;

use super::shape::MAX_LENGTH;
use crate::ShapeError;

/// A vertex nearer than this fraction of the polygon's extent to the segment between its neighbours is dropped: the corner
/// it makes turns by so little that its two faces could not be told apart at round-off.
const FLAT_CORNER: f64 = 1e-9;

/// A convex polygon with interior, vertices counter-clockwise, no three of them in line.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexPolygon {
    vertices: Vec<Point2<f64>>,
    /// `normals[i]` is the outward unit normal of the edge from vertex i to vertex i + 1.
    normals: Vec<Vector2<f64>>,
}

impl ConvexPolygon {
    /// The polygon with the given vertices, in counter-clockwise order.
    ///
    /// Repeated vertices and vertices in line with their neighbours (nearer than 1e-9 of the extent to the segment between
    /// them) are dropped; a clockwise, dented, self-crossing or flat outline is refused.
    pub fn new(vertices: &[Point2<f64>]) -> Result<Self, ShapeError> {
        let extent = extent(vertices)?;
        let mut vertices = vertices.to_vec();
        drop_flat_corners(&mut vertices, FLAT_CORNER * extent);
        ensure_convex(&vertices)?;
        let normals = edges(&vertices).map(|(p, q)| outward(&(q - p))).collect();
        Ok(Self { vertices, normals })
    }

    /// The convex hull of `points`, with the vertices in line dropped as in [`Self::new`].
    pub fn from_points(points: &[Point2<f64>]) -> Result<Self, ShapeError> {
        let extent = extent(points)?;
        let Some(first) = points.first().filter(|_| extent > 0.0) else {
            return Err(no_interior());
        };
        // parry compares cross products with absolute thresholds: hand it points of size one about the origin.
        let scaled: Vec<DVec2> = points.iter().map(|p| (p - first) / extent).map(|d| DVec2::new(d.x, d.y)).collect();
        let hull: Vec<_> = convex_hull_idx(&scaled).into_iter().filter_map(|i| points.get(i).copied()).collect();
        Self::new(&hull)
    }

    /// The vertices, counter-clockwise.
    pub fn vertices(&self) -> &[Point2<f64>] {
        &self.vertices
    }

    /// The outward unit normals; number i belongs to the edge from vertex i to vertex i + 1.
    pub fn normals(&self) -> &[Vector2<f64>] {
        &self.normals
    }

    /// The largest distance of a vertex from the body's origin.
    pub fn radius_bound(&self) -> f64 {
        self.vertices.iter().map(|v| v.coords.norm()).fold(0.0, f64::max)
    }
}

/// The longer side of the bounding box of `points`, once every coordinate is known to be usable.
fn extent(points: &[Point2<f64>]) -> Result<f64, ShapeError> {
    if let Some(&value) = points.iter().flat_map(|p| p.iter()).find(|x| x.is_nan() || x.abs() > MAX_LENGTH) {
        return Err(ShapeError::BadCoordinate { what: "a vertex of a polygon", value, limit: MAX_LENGTH });
    }
    let (min, max) =
        points.iter().fold((Vector2::repeat(f64::INFINITY), Vector2::repeat(f64::NEG_INFINITY)), |(min, max), p| {
            (min.inf(&p.coords), max.sup(&p.coords))
        });
    Ok(if points.is_empty() { 0.0 } else { (max - min).max() })
}

/// Drops, one at a time, the vertices that lie within `tolerance` of the segment between their neighbours.
fn drop_flat_corners(vertices: &mut Vec<Point2<f64>>, tolerance: f64) {
    while vertices.len() >= 3 {
        let n = vertices.len();
        let flat = (0..n).find(|&i| {
            let (before, here, after) = (vertices[(i + n - 1) % n], vertices[i], vertices[(i + 1) % n]);
            distance_to_segment(&here, &before, &after) <= tolerance
        });
        match flat {
            Some(i) => drop(vertices.remove(i)),
            None => return,
        }
    }
}

fn distance_to_segment(point: &Point2<f64>, start: &Point2<f64>, end: &Point2<f64>) -> f64 {
    let (edge, d) = (end - start, point - start);
    let length_squared = edge.norm_squared();
    let s = if length_squared > 0.0 { (d.dot(&edge) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
    (d - edge * s).norm()
}

/// Every vertex lies strictly to the left of every edge it does not belong to; stars and spirals fail as dents do.
fn ensure_convex(vertices: &[Point2<f64>]) -> Result<(), ShapeError> {
    if vertices.len() < 3 {
        return Err(no_interior());
    }
    let twice_area: f64 = edges(vertices).map(|(p, q)| (p - vertices[0]).perp(&(q - vertices[0]))).sum();
    if twice_area <= 0.0 {
        let reason = "the vertices of a polygon must be listed counter-clockwise".to_owned();
        return Err(ShapeError::NotConvexBody { reason });
    }
    for (i, (p, q)) in edges(vertices).enumerate() {
        let next = (i + 1) % vertices.len();
        let outside = (0..vertices.len()).find(|&k| k != i && k != next && (q - p).perp(&(vertices[k] - p)) <= 0.0);
        if let Some(k) = outside {
            let reason =
                format!("the polygon is not convex: vertex {k} lies outside the edge from vertex {i} to {next}");
            return Err(ShapeError::NotConvexBody { reason });
        }
    }
    Ok(())
}

fn edges(vertices: &[Point2<f64>]) -> impl Iterator<Item = (Point2<f64>, Point2<f64>)> + '_ {
    vertices.iter().copied().zip(vertices.iter().copied().cycle().skip(1))
}

/// The unit vector to the right of `edge`.
fn outward(edge: &Vector2<f64>) -> Vector2<f64> {
    Vector2::new(edge.y, -edge.x) / edge.norm()
}

fn no_interior() -> ShapeError {
    ShapeError::NotConvexBody { reason: "a polygon needs at least three vertices that are not in line".to_owned() }
}
