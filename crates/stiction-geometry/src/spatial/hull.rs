//! The faces of the convex hull of points.

use nalgebra::{Matrix3, Point3, Vector3};
use parry3d_f64::math::Vector as ParryVector;
use parry3d_f64::transformation::try_convex_hull;

use crate::ShapeError;

/// Largest magnitude of a size or coordinate, m; beyond it squares of lengths lose their precision.
pub const MAX_LENGTH: f64 = 1e9;

/// Largest distance of a vertex from the plane of its face, relative to the size of the body.
pub(super) const FLATNESS: f64 = 1e-9;
/// Largest number of points of a hull.
const MAX_POINTS: usize = 10_000;
/// Smallest thickness of a body, relative to its length.
const MIN_THICKNESS: f64 = 1e-6;

/// Vertices, face loops and face normals of a hull.
pub(super) struct Faces {
    pub(super) vertices: Vec<Point3<f64>>,
    pub(super) loops: Vec<Vec<u32>>,
    pub(super) normals: Vec<Vector3<f64>>,
}

/// Returns the largest extent of the points along an axis.
pub(crate) fn extent(points: &[Point3<f64>]) -> f64 {
    (0..3)
        .map(|axis| {
            let values = || points.iter().map(|p| p[axis]);
            values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
        })
        .fold(0.0, f64::max)
}

/// Returns the faces of the convex hull of `points`.
pub(super) fn faces(points: &[Point3<f64>]) -> Result<Faces, ShapeError> {
    let points = distinct(points)?;
    let frame = affine_frame(&points)?;
    let triangles = triangulate(&points, &frame)?;
    let loops = supporting_polygons(&points, &triangles);
    Ok(compact(&points, &loops))
}

fn failed() -> ShapeError {
    bad("the convex hull of the points could not be computed; remove points that nearly coincide")
}

fn bad(reason: &str) -> ShapeError {
    ShapeError::NotConvexBody { reason: reason.to_owned() }
}

/// Returns the points without repetitions, in their order.
fn distinct(points: &[Point3<f64>]) -> Result<Vec<Point3<f64>>, ShapeError> {
    for &value in points.iter().flat_map(|p| p.coords.iter()) {
        if value.is_nan() || value.abs() > MAX_LENGTH {
            return Err(ShapeError::BadCoordinate { what: "a coordinate of a vertex", value, limit: MAX_LENGTH });
        }
    }
    if points.len() > MAX_POINTS {
        return Err(bad("a polyhedron is made from at most 10000 points"));
    }
    let near = FLATNESS * extent(points);
    let mut kept: Vec<Point3<f64>> = Vec::with_capacity(points.len());
    for point in points {
        if kept.iter().all(|other| (other - point).amax() > near) {
            kept.push(*point);
        }
    }
    Ok(kept)
}

/// Returns the point of largest value, the first among equals.
fn furthest(points: &[Point3<f64>], value: impl Fn(&Point3<f64>) -> f64) -> Option<(Point3<f64>, f64)> {
    points.iter().map(|p| (*p, value(p))).reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// Returns an origin and the inverse of the matrix of three spanning vectors: four points far from one plane.
///
/// Hulls commute with affine maps, and in the coordinates of this frame a needle is as round as a ball.
fn affine_frame(points: &[Point3<f64>]) -> Result<(Point3<f64>, Matrix3<f64>), ShapeError> {
    let few = || bad("a polyhedron needs at least four points that do not lie in one plane");
    let first = points.first().ok_or_else(few)?;
    let (origin, _) = furthest(points, |p| (p - first).norm_squared()).ok_or_else(few)?;
    let (p, length) = furthest(points, |p| (p - origin).norm()).ok_or_else(few)?;
    if !(length.is_normal()) {
        return Err(few());
    }
    let u = p - origin;
    let (p, width) = furthest(points, |p| u.cross(&(p - origin)).norm() / length).ok_or_else(few)?;
    let v = p - origin;
    let normal = u.cross(&v).try_normalize(0.0).ok_or_else(few)?;
    let (p, height) = furthest(points, |p| normal.dot(&(p - origin)).abs()).ok_or_else(few)?;
    if !(width > MIN_THICKNESS * length && height > MIN_THICKNESS * length) {
        return Err(bad(
            "the points lie in one plane, or so close to one (1e-6 of their extent) that they make no body",
        ));
    }
    let inverse = Matrix3::from_columns(&[u, v, p - origin]).try_inverse().ok_or_else(few)?;
    Ok((origin, inverse))
}

/// Returns the triangles of the hull, as indices of `points`, counter-clockwise seen from outside.
fn triangulate(points: &[Point3<f64>], frame: &(Point3<f64>, Matrix3<f64>)) -> Result<Vec<[u32; 3]>, ShapeError> {
    let (origin, inverse) = frame;
    let mapped: Vec<ParryVector> = points
        .iter()
        .map(|p| {
            let x = inverse * (p - origin);
            ParryVector::new(x.x, x.y, x.z)
        })
        .collect();
    let (vertices, triangles) = try_convex_hull(&mapped).map_err(|_| failed())?;
    let original = |vertex: u32| {
        let vertex = vertices.get(vertex as usize)?;
        mapped.iter().position(|p| p == vertex).map(|index| index as u32)
    };
    let is_reflected = inverse.determinant() < 0.0;
    let triangles: Option<Vec<[u32; 3]>> = triangles
        .iter()
        .map(|&[i, j, k]| {
            let (i, j, k) = (original(i)?, original(j)?, original(k)?);
            Some(if is_reflected { [i, k, j] } else { [i, j, k] })
        })
        .collect();
    triangles.ok_or_else(failed)
}

/// Returns twice the area of a triangle times its normal.
fn area(points: &[Point3<f64>], triangle: [u32; 3]) -> Vector3<f64> {
    debug_assert!(triangle.iter().all(|&i| (i as usize) < points.len()), "triangles refer to points");
    let [p, q, r] = triangle.map(|i| points.get(i as usize).copied().unwrap_or_default());
    (q - p).cross(&(r - p))
}

/// Returns the faces: the outline of all points in the plane of a triangle, for each plane that supports the body.
///
/// The largest triangle defines its plane first. The slivers that a hull makes of coplanar points have random planes;
/// all their vertices are then already in an existing face.
fn supporting_polygons(points: &[Point3<f64>], triangles: &[[u32; 3]]) -> Vec<Vec<u32>> {
    let flat = FLATNESS * extent(points);
    let mut by_area: Vec<(f64, [u32; 3])> = triangles.iter().map(|&t| (area(points, t).norm(), t)).collect();
    by_area.sort_by(|(area_1, t_1), (area_2, t_2)| area_2.total_cmp(area_1).then(t_1.cmp(t_2)));
    let mut members: Vec<Vec<u32>> = Vec::new();
    let mut polygons = Vec::new();
    for (_, triangle) in by_area {
        let is_known = members.iter().any(|plane| triangle.iter().all(|corner| plane.binary_search(corner).is_ok()));
        let Some(normal) = area(points, triangle).try_normalize(0.0).filter(|_| !is_known) else { continue };
        let origin = points.get(triangle[0] as usize).copied().unwrap_or_default();
        let height = |point: &Point3<f64>| normal.dot(&(point - origin));
        if points.iter().any(|point| height(point) > flat) {
            continue;
        }
        let plane: Vec<u32> =
            (0u32..).zip(points).filter(|(_, point)| height(point) >= -flat).map(|(i, _)| i).collect();
        polygons.push(outline(points, &plane, &normal, flat));
        members.push(plane);
    }
    polygons
}

/// Returns the vertices of the convex polygon around points of one plane, counter-clockwise about `normal` (Andrew's
/// monotone chain). A point within `flat` of the line through its neighbours is dropped.
fn outline(points: &[Point3<f64>], plane: &[u32], normal: &Vector3<f64>, flat: f64) -> Vec<u32> {
    let u = super::segment::perpendicular(normal);
    let v = normal.cross(&u);
    let mut placed: Vec<(f64, f64, u32)> = plane
        .iter()
        .filter_map(|&index| points.get(index as usize).map(|p| (u.dot(&p.coords), v.dot(&p.coords), index)))
        .collect();
    debug_assert_eq!(placed.len(), plane.len(), "planes refer to points");
    placed.sort_by(|p, q| p.0.total_cmp(&q.0).then(p.1.total_cmp(&q.1)));
    let turns_left = |p: (f64, f64, u32), q: (f64, f64, u32), r: (f64, f64, u32)| {
        let cross = (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0);
        cross > flat * libm::hypot(r.0 - p.0, r.1 - p.1)
    };
    let half = |order: &mut dyn Iterator<Item = (f64, f64, u32)>| {
        let mut chain: Vec<(f64, f64, u32)> = Vec::new();
        for next in order {
            while let [.., p, q] = chain[..] {
                if turns_left(p, q, next) {
                    break;
                }
                chain.pop();
            }
            chain.push(next);
        }
        chain.pop();
        chain
    };
    let lower = half(&mut placed.iter().copied());
    let upper = half(&mut placed.iter().rev().copied());
    lower.into_iter().chain(upper).map(|(_, _, index)| index).collect()
}

/// Renumbers the vertices and drops those that only two faces share: they lie inside an edge.
fn compact(points: &[Point3<f64>], loops: &[Vec<u32>]) -> Faces {
    let mut uses = vec![0u32; points.len()];
    for &corner in loops.iter().flatten() {
        debug_assert!((corner as usize) < points.len(), "faces refer to points");
        if let Some(count) = uses.get_mut(corner as usize) {
            *count += 1;
        }
    }
    let mut vertices = Vec::new();
    let numbers: Vec<Option<u32>> = points
        .iter()
        .zip(&uses)
        .map(|(point, &count)| {
            (count > 2).then(|| {
                vertices.push(*point);
                vertices.len() as u32 - 1
            })
        })
        .collect();
    let number = |corner: &u32| numbers.get(*corner as usize).copied().flatten();
    let loops: Vec<Vec<u32>> = loops.iter().map(|corners| corners.iter().filter_map(number).collect()).collect();
    let normals = loops.iter().map(|corners| polygon_normal(&vertices, corners)).collect();
    Faces { vertices, loops, normals }
}

/// Returns the unit normal of a polygon from the sum of its triangles (Newell), which averages round-off.
fn polygon_normal(vertices: &[Point3<f64>], corners: &[u32]) -> Vector3<f64> {
    let first = corners.first().copied().unwrap_or_default();
    let pairs = corners.iter().zip(corners.iter().skip(1));
    let sum: Vector3<f64> = pairs.map(|(&i, &j)| area(vertices, [first, i, j])).sum();
    sum.try_normalize(0.0).unwrap_or_else(Vector3::z)
}
