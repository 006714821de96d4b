//! The convex hull of a mesh, with few enough vertices for a collision shape.

use nalgebra::{Matrix3, Point3, SymmetricEigen, Vector3};

use super::by_coordinates;
use crate::ShapeError;
use crate::spatial::{ConvexPolyhedron, extent};

/// Number of distinct vertices above which a mesh is thinned before its hull is computed.
const DENSE: usize = 4000;
/// Largest number of vertices of a hull.
const MAX_CORNERS: usize = 500;
/// Numbers of directions for thinning, tried in this order if vertices are too near to faces and edges of others for
/// a hull.
const FEWER: [usize; 4] = [500, 200, 80, 32];
/// Number of directions of the points whose hull excludes others.
const FEW: usize = 64;
/// Distance from a face below which a point may lie in it, relative to the extent of the mesh: rounding of single precision.
const ON_SURFACE: f64 = 1e-6;
/// Thickness that a flat mesh is given, relative to its extent.
const THICKNESS: f64 = 1e-3;
/// Largest number of iterations for the principal axes of a flat mesh.
const MAX_ITERATIONS: usize = 200;

/// A hull, and what was done to get it.
#[derive(Clone, Debug, Default)]
pub struct MeshHull {
    /// Vertices of the hull.
    pub corners: Vec<Point3<f64>>,
    /// True if vertices were left out.
    pub is_thinned: bool,
    /// Thickness that was given to a flat mesh, m.
    pub thickened: Option<f64>,
}

/// Returns the vertices of the convex hull of points. If there are too many, it keeps the outermost ones in evenly spread directions; points in a plane become
/// a plate of a thousandth of their extent.
pub fn hull(mut points: Vec<Point3<f64>>) -> Result<MeshHull, ShapeError> {
    points.sort_unstable_by(by_coordinates);
    points.dedup();
    let is_dense = points.len() > DENSE;
    if is_dense {
        drop_inner(&mut points);
        points = outermost(&points, DENSE / 2);
    }
    let (mut corners, mut is_rough, mut thickened) = (solid(&points), false, None);
    if corners.is_err()
        && let Some((thickness, plate)) = plate(&points)
    {
        (corners, thickened) = (solid(&plate), Some(thickness));
        points = plate;
    }
    if corners.is_err() {
        let found = FEWER.iter().find_map(|&few| solid(&outermost(&points, few)).ok());
        (corners, is_rough) = (found.map_or(corners, Ok), true);
    }
    let mut corners = corners?;
    let is_rich = corners.len() > MAX_CORNERS;
    if is_rich {
        corners = solid(&outermost(&corners, MAX_CORNERS))?;
    }
    Ok(MeshHull { corners, is_thinned: is_dense || is_rich || is_rough, thickened })
}

/// Drops the points inside the hull of a few outer ones, where no vertex of the hull can be.
fn drop_inner(points: &mut Vec<Point3<f64>>) {
    let Ok(inner) = ConvexPolyhedron::from_points(&outermost(points, FEW)) else { return };
    let origins = inner.faces().filter_map(|face| inner.vertices().get(*face.first()? as usize).copied());
    let planes: Vec<(Vector3<f64>, Point3<f64>)> = inner.normals().iter().copied().zip(origins).collect();
    let slack = ON_SURFACE * extent(points);
    points.retain(|point| planes.iter().any(|(normal, origin)| normal.dot(&(point - origin)) > -slack));
}

fn solid(points: &[Point3<f64>]) -> Result<Vec<Point3<f64>>, ShapeError> {
    ConvexPolyhedron::from_points(points).map(|made| made.vertices().to_vec())
}

/// Returns points that lie in one plane, but for a small part of the thickness, moved to both sides of it, with the thickness.
fn plate(points: &[Point3<f64>]) -> Option<(f64, Vec<Point3<f64>>)> {
    let size = extent(points);
    if !size.is_normal() {
        return None;
    }
    let mean = points.iter().map(|p| p.coords / points.len() as f64).sum::<Vector3<f64>>();
    let squares = points.iter().map(|p| ((p.coords - mean) / size) * ((p.coords - mean) / size).transpose());
    let eigen = SymmetricEigen::try_new(squares.sum::<Matrix3<f64>>(), f64::EPSILON, MAX_ITERATIONS)?;
    let normal = eigen.eigenvectors.column(eigen.eigenvalues.imin()).into_owned();
    let thickness = THICKNESS * size;
    let heights = points.iter().map(|p| normal.dot(&(p.coords - mean)).abs());
    if heights.fold(0.0, f64::max) > 0.01 * thickness {
        return None;
    }
    let sides = points.iter().flat_map(|p| [0.5, -0.5].map(|side| p + normal * (side * thickness)));
    Some((thickness, sides.collect()))
}

/// Returns the outermost points in directions spread over the sphere by the golden angle, each once, in their order.
fn outermost(points: &[Point3<f64>], directions: usize) -> Vec<Point3<f64>> {
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let mut kept = vec![false; points.len()];
    for k in 0..directions {
        let z = 1.0 - (2.0 * k as f64 + 1.0) / directions as f64;
        let (sin, cos) = libm::sincos(golden * k as f64);
        let across = (1.0 - z * z).sqrt();
        let direction = Vector3::new(across * cos, across * sin, z);
        let heights = points.iter().map(|p| direction.dot(&p.coords)).enumerate();
        if let Some((furthest, _)) = heights.reduce(|best, next| if next.1 > best.1 { next } else { best })
            && let Some(keep) = kept.get_mut(furthest)
        {
            *keep = true;
        }
    }
    points.iter().zip(kept).filter(|(_, keep)| *keep).map(|(point, _)| *point).collect()
}
