//! Convex polygons.

use nalgebra::{Point2, Vector2};

use super::corners::{Corners, edges, extent, outward};
use crate::ShapeError;

/// A convex polygon with interior; vertices counter-clockwise, no three of them collinear.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexPolygon {
    vertices: Vec<Point2<f64>>,
    /// `normals[i]` is the outward unit normal of the edge from vertex i to vertex i + 1.
    normals: Vec<Vector2<f64>>,
}

impl ConvexPolygon {
    /// Creates the polygon with the given vertices, in counter-clockwise order.
    ///
    /// Repeated and collinear vertices (nearer than 1e-9 of the extent to the segment between their neighbours) are
    /// dropped. A clockwise, non-convex, self-crossing or flat outline is refused.
    pub fn new(vertices: &[Point2<f64>]) -> Result<Self, ShapeError> {
        let corners = Corners::of(vertices)?;
        ensure_convex(&corners)?;
        let vertices = corners.vertices;
        let normals = edges(&vertices).map(|(p, q)| outward(&(q - p))).collect();
        Ok(Self { vertices, normals })
    }

    /// Returns the convex hull of `points`, without collinear vertices as in [`Self::new`].
    pub fn from_points(points: &[Point2<f64>]) -> Result<Self, ShapeError> {
        extent(points)?;
        Self::new(&convex_hull(points))
    }

    /// Returns the vertices, counter-clockwise.
    pub fn vertices(&self) -> &[Point2<f64>] {
        &self.vertices
    }

    /// Returns the outward unit normals; number i belongs to the edge from vertex i to vertex i + 1.
    pub fn normals(&self) -> &[Vector2<f64>] {
        &self.normals
    }

    /// Returns the largest distance of a vertex from the body's origin.
    pub fn radius_bound(&self) -> f64 {
        self.vertices.iter().map(|v| v.coords.norm()).fold(0.0, f64::max)
    }
}

/// Returns the convex hull of `points`, counter-clockwise from its leftmost point: Andrew's monotone chain. Points on an edge are left out as
/// far as round-off allows; [`Corners::of`] drops the others.
fn convex_hull(points: &[Point2<f64>]) -> Vec<Point2<f64>> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|p, q| p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)));
    let mut hull: Vec<Point2<f64>> = Vec::with_capacity(2 * sorted.len());
    // The lower chain runs to the right; the upper one starts at its end and runs back.
    chain(&mut hull, sorted.iter(), 1);
    let lower = hull.len();
    chain(&mut hull, sorted.iter().rev().skip(1), lower);
    hull.truncate(hull.len().saturating_sub(1).max(1));
    hull
}

/// Appends a chain that turns left at every point, and keeps the first `kept` points of the hull.
fn chain<'a>(hull: &mut Vec<Point2<f64>>, points: impl Iterator<Item = &'a Point2<f64>>, kept: usize) {
    for &p in points {
        while hull.len() > kept && turn(hull, &p) <= 0.0 {
            hull.pop();
        }
        hull.push(p);
    }
}

/// Returns twice the area of the triangle of the last two points of the hull and `p`; positive for a turn to the left.
fn turn(hull: &[Point2<f64>], p: &Point2<f64>) -> f64 {
    match hull {
        [.., before, last] => (last - before).perp(&(p - last)),
        _ => f64::INFINITY,
    }
}

/// Checks that every vertex lies strictly to the left of every edge it does not belong to. Stars and spirals fail
/// like notches.
fn ensure_convex(corners: &Corners) -> Result<(), ShapeError> {
    let vertices = &corners.vertices;
    if vertices.len() < 3 {
        return Err(no_interior());
    }
    if corners.twice_area() <= 0.0 {
        let reason = "the vertices of a polygon must be listed counter-clockwise".to_owned();
        return Err(ShapeError::NotConvexBody { reason });
    }
    for (i, (p, q)) in edges(vertices).enumerate() {
        let next = (i + 1) % vertices.len();
        let outside = (0..vertices.len()).find(|&k| k != i && k != next && (q - p).perp(&(vertices[k] - p)) <= 0.0);
        if let Some(k) = outside {
            let vertex = corners.number_of(k);
            let reason =
                format!("the polygon is not convex: vertex {vertex} lies outside the {}", corners.edge_name(i));
            return Err(ShapeError::NotConvexBody { reason });
        }
    }
    Ok(())
}

fn no_interior() -> ShapeError {
    ShapeError::NotConvexBody { reason: "a polygon needs at least three vertices that are not in line".to_owned() }
}
