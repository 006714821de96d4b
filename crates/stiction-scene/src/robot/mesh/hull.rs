//! The convex hull of a mesh, with few enough vertices for a scene file.

use nalgebra::{Point3, Vector3};
use stiction_geometry::spatial::{ConvexPolyhedron, convex_parts};

use super::Mesh;

/// Number of distinct vertices above which a mesh is thinned before its hull is computed.
const DENSE: usize = 4000;
/// Largest number of vertices of a hull.
const MAX_CORNERS: usize = 500;
/// Numbers of directions for thinning, tried in this order if vertices are too near to faces and edges of others for
/// a hull.
const FEWER: [usize; 4] = [500, 200, 80, 32];

/// A hull; `thinned` is true if vertices were left out.
pub(in crate::robot) struct Hull {
    pub(in crate::robot) corners: Vec<Point3<f64>>,
    pub(in crate::robot) thinned: bool,
}

/// Returns the hulls of the convex parts of a mesh.
pub(in crate::robot) fn convex_hulls(mesh: &Mesh) -> Result<Vec<Hull>, String> {
    // A mesh without a hull has no parts; the error is that of the hull.
    hull(mesh)?;
    convex_parts(&mesh.corners, &mesh.triangles).into_iter().map(hull_of).collect()
}

/// Returns the vertices of the convex hull. If there are too many, it keeps the outermost ones in evenly spread
/// directions.
pub(in crate::robot) fn hull(mesh: &Mesh) -> Result<Hull, String> {
    let used = mesh.triangles.iter().flatten().filter_map(|&index| mesh.corners.get(index).copied());
    hull_of(used.collect())
}

fn hull_of(mut corners: Vec<Point3<f64>>) -> Result<Hull, String> {
    let key = |p: &Point3<f64>| [p.x, p.y, p.z].map(|x| x + 0.0);
    let order = |a: &[f64; 3], b: &[f64; 3]| {
        let mut pairs = a.iter().zip(b).map(|(x, y)| x.total_cmp(y));
        pairs.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    };
    corners.sort_by(|a, b| order(&key(a), &key(b)));
    corners.dedup();
    let dense = corners.len() > DENSE;
    if dense {
        corners = outermost(&corners, DENSE / 2);
    }
    let whole = solid(&corners);
    let rough = whole.is_err();
    let mut vertices = match whole {
        Err(reason) => FEWER.iter().find_map(|&few| solid(&outermost(&corners, few)).ok()).ok_or(reason)?,
        Ok(vertices) => vertices,
    };
    let rich = vertices.len() > MAX_CORNERS;
    if rich {
        vertices = solid(&outermost(&vertices, MAX_CORNERS))?;
    }
    Ok(Hull { corners: vertices, thinned: dense || rich || rough })
}

fn solid(corners: &[Point3<f64>]) -> Result<Vec<Point3<f64>>, String> {
    let made = ConvexPolyhedron::from_points(corners).map_err(|error| format!("has no convex hull: {error}"))?;
    Ok(made.vertices().to_vec())
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
