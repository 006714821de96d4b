//! Non-convex polygons: any outline that encloses an interior once and does not touch itself.

use nalgebra::{Point2, Vector2};

use super::boundary::Boundary;
use super::corners::{Corners, distance_to_segment, edges};
use crate::ShapeError;

/// A polygon with interior; vertices counter-clockwise, no three neighbours collinear, no edge touching another.
#[derive(Clone, Debug, PartialEq)]
pub struct SimplePolygon {
    boundary: Boundary,
    /// Vertices of the convex hull: only these touch the boxes around the polygon.
    hull: Vec<Point2<f64>>,
}

impl SimplePolygon {
    /// Creates the polygon with the given vertices, in counter-clockwise order.
    ///
    /// Repeated and collinear vertices (nearer than 1e-9 of the extent to the segment between their neighbours) are
    /// dropped. An outline that is clockwise or flat, or comes nearer than that to itself, is refused.
    pub fn new(vertices: &[Point2<f64>]) -> Result<Self, ShapeError> {
        let corners = Corners::of(vertices)?;
        ensure_simple(&corners)?;
        let mut boundary = Boundary::default();
        boundary.enclose(&corners.vertices);
        Ok(Self { hull: hull(&corners.vertices), boundary })
    }

    /// Returns the vertices of the convex hull.
    pub(super) fn hull(&self) -> &[Point2<f64>] {
        &self.hull
    }

    /// Returns the vertices, counter-clockwise.
    pub fn vertices(&self) -> &[Point2<f64>] {
        self.boundary.vertices()
    }

    /// Returns the outward unit normals; number i belongs to the edge from vertex i to vertex i + 1.
    pub fn normals(&self) -> &[Vector2<f64>] {
        self.boundary.normals()
    }

    /// True if the interior angle at a vertex is below 180°. The faces of such a vertex are alternatives; those of a
    /// notch must both hold. [GEOM-10]
    pub fn is_convex_at(&self, vertex: usize) -> bool {
        self.boundary.is_convex_at(vertex)
    }

    /// Returns the largest distance of a vertex from the body's origin.
    pub fn radius_bound(&self) -> f64 {
        self.boundary.bound()
    }

    pub(super) fn boundary(&self) -> &Boundary {
        &self.boundary
    }
}

/// Returns the convex hull of a set of points, from left to right below and back above (Andrew's monotone chain).
fn hull(points: &[Point2<f64>]) -> Vec<Point2<f64>> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|p, q| p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)));
    let mut hull: Vec<Point2<f64>> = Vec::new();
    let mut add = |points: &mut dyn Iterator<Item = &Point2<f64>>| {
        let first = hull.len();
        for point in points {
            while let Some([a, b]) = hull.get(first..).and_then(<[_]>::last_chunk)
                && (b - a).perp(&(point - b)) <= 0.0
            {
                hull.pop();
            }
            hull.push(*point);
        }
        // The last point is the first of the upper chain.
        hull.pop();
    };
    add(&mut sorted.iter());
    add(&mut sorted.iter().rev());
    hull
}

fn ensure_simple(corners: &Corners) -> Result<(), ShapeError> {
    let refuse = |reason: String| Err(ShapeError::NotSimplePolygon { reason });
    if corners.vertices.len() < 3 {
        return refuse("a polygon needs at least three vertices that are not in line".to_owned());
    }
    if let Some((i, j)) = first_meeting(corners) {
        let (first, second) = (corners.edge_name(i), corners.edge_name(j));
        return refuse(format!("the outline of a polygon must not touch itself: the {first} meets the {second}"));
    }
    if corners.twice_area() <= 0.0 {
        return refuse("the vertices of a polygon must be listed counter-clockwise".to_owned());
    }
    Ok(())
}

/// Returns the first two edges that cross or touch, apart from the vertex that neighbours share.
fn first_meeting(corners: &Corners) -> Option<(usize, usize)> {
    let (n, within) = (corners.vertices.len(), corners.tolerance);
    let all: Vec<_> = edges(&corners.vertices).collect();
    for (i, &(p, q)) in all.iter().enumerate() {
        let (low, high) = (p.coords.inf(&q.coords).add_scalar(-within), p.coords.sup(&q.coords).add_scalar(within));
        for (j, &(r, s)) in all.iter().enumerate().skip(i + 1) {
            let (s_low, s_high) = (r.coords.inf(&s.coords), r.coords.sup(&s.coords));
            if s_low.x > high.x || s_low.y > high.y || s_high.x < low.x || s_high.y < low.y {
                continue;
            }
            let meet = if j == i + 1 {
                folds_back(&p, &q, &s, within)
            } else if i == 0 && j == n - 1 {
                folds_back(&r, &s, &q, within)
            } else {
                cross(&p, &q, &r, &s) || nearest_end(&[p, q], &[r, s]) <= within
            };
            if meet {
                return Some((i, j));
            }
        }
    }
    None
}

/// True if the edges from `before` to `corner` and on to `after` lie on each other.
fn folds_back(before: &Point2<f64>, corner: &Point2<f64>, after: &Point2<f64>, within: f64) -> bool {
    distance_to_segment(after, before, corner).min(distance_to_segment(before, corner, after)) <= within
}

/// True if the ends of each segment lie on different sides of the other's line.
fn cross(p: &Point2<f64>, q: &Point2<f64>, r: &Point2<f64>, s: &Point2<f64>) -> bool {
    let side = |start: &Point2<f64>, end: &Point2<f64>, x: &Point2<f64>| (end - start).perp(&(x - start)) > 0.0;
    side(p, q, r) != side(p, q, s) && side(r, s, p) != side(r, s, q)
}

/// Returns the distance of two segments that do not cross: one of the four ends is nearest.
fn nearest_end(first: &[Point2<f64>; 2], second: &[Point2<f64>; 2]) -> f64 {
    let to_second = first.iter().map(|x| distance_to_segment(x, &second[0], &second[1]));
    let to_first = second.iter().map(|x| distance_to_segment(x, &first[0], &first[1]));
    to_second.chain(to_first).fold(f64::INFINITY, f64::min)
}
