//! Triangle meshes: mass properties, convex hulls with few vertices, and the test for convexity.
//!
//! A mesh is a list of points and of triangles, whose corners are indices of the points, counter-clockwise seen from outside.
//! Triangles may have points of their own, as those of STL files have: equal points are one.

mod hull;

pub use hull::{MeshHull, hull};

use std::cmp::Ordering;
use std::collections::BTreeMap;

use nalgebra::{Point3, Vector3};

use crate::mass::{MassError, MassProperties, with_density};
use crate::moments::Moments;
use crate::spatial::{ConvexPolyhedron, extent};

/// Smallest volume of a mesh, relative to the cube of its extent: a hundred times the rounding of a sum over many triangles.
const MIN_VOLUME: f64 = 1e-12;

/// Smallest ratio of the volume of a mesh to that of its hull at which it counts as convex.
const CONVEX: f64 = 0.99;

/// Distance below which points of a mesh may be one, relative to its extent: ten roundings of single precision.
const NEAR: f64 = 1e-6;

/// Error in the computation of mass properties of a mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// Some edges have a triangle on one side only.
    #[error("the mesh is open: {edges} edges have a triangle on one side only")]
    Open {
        /// Number of such edges.
        edges: usize,
    },
    /// Triangles that share an edge turn different ways.
    #[error(
        "the triangles of the mesh turn different ways: at {edges} edges, one shows its outside and the other its inside"
    )]
    Unoriented {
        /// Number of such edges.
        edges: usize,
    },
    /// The mesh encloses no volume.
    #[error("the mesh encloses no volume")]
    NoVolume,
    /// The density is not a positive number.
    #[error(transparent)]
    Mass(#[from] MassError),
}

/// Returns the mass properties of the solid that a closed mesh bounds, by the divergence theorem.   [MASS-5]
///
/// Parts that the mesh surrounds twice count twice. A mesh whose triangles all show their inside has the same properties as one with the
/// outside out.
pub fn mass_properties(
    points: &[Point3<f64>],
    triangles: &[[usize; 3]],
    density: f64,
) -> Result<MassProperties, MeshError> {
    // Points that files have rounded differently are one where that closes the mesh.
    ensure_closed(&welded(points), triangles).or_else(|_| ensure_closed(&nearly_welded(points), triangles))?;
    let moments = moments(points, triangles);
    let size = extent(points);
    let is_solid = moments.measure.abs() > MIN_VOLUME * size * size * size;
    if !is_solid {
        return Err(MeshError::NoVolume);
    }
    Ok(with_density(&moments, crate::mass::positive("the density", density)?.copysign(moments.measure)))
}

/// True if a closed mesh fills its hull, but for a hundredth.
pub fn is_convex(points: &[Point3<f64>], triangles: &[[usize; 3]]) -> bool {
    let used: Vec<Point3<f64>> = triangles.iter().flatten().filter_map(|&corner| points.get(corner).copied()).collect();
    let Some(hull) = hull(used).ok().and_then(|hull| ConvexPolyhedron::from_points(&hull.corners).ok()) else {
        return false;
    };
    let corners = hull.vertices();
    let fans = hull.faces().flat_map(|face| match face {
        [first, rest @ ..] => {
            rest.iter().zip(rest.iter().skip(1)).map(|(&b, &c)| [*first, b, c].map(|k| k as usize)).collect()
        }
        [] => Vec::new(),
    });
    let whole = moments(corners, &fans.collect::<Vec<_>>()).measure;
    mass_properties(points, triangles, 1.0).is_ok_and(|of_mesh| of_mesh.mass >= CONVEX * whole)
}

/// Sums the tetrahedra from the mean of the points to each triangle.
fn moments(points: &[Point3<f64>], triangles: &[[usize; 3]]) -> Moments {
    let mean = points.iter().map(|point| point.coords / points.len() as f64).sum::<Vector3<f64>>();
    let corner = |index: usize| points.get(index).map_or_else(Vector3::zeros, |point| point.coords - mean);
    let tetrahedra = triangles.iter().map(|triangle| {
        let [p, q, r] = triangle.map(corner);
        (p.dot(&q.cross(&r)) / 6.0, [p, q, r])
    });
    Moments::of_simplices(mean, tetrahedra)
}

/// Checks that every edge is passed as often in one direction as in the other.
fn ensure_closed(numbers: &[u32], triangles: &[[usize; 3]]) -> Result<(), MeshError> {
    let number = |corner: usize| numbers.get(corner).copied().unwrap_or(u32::MAX);
    let mut edges: Vec<(u32, u32, bool)> = Vec::with_capacity(3 * triangles.len());
    for &[i, j, k] in triangles {
        for (from, to) in [(i, j), (j, k), (k, i)].map(|(from, to)| (number(from), number(to))) {
            match from.cmp(&to) {
                Ordering::Less => edges.push((from, to, true)),
                Ordering::Greater => edges.push((to, from, false)),
                Ordering::Equal => {}
            }
        }
    }
    edges.sort_unstable();
    let (mut open, mut turned) = (0, 0);
    for edge in edges.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
        let forward = edge.iter().filter(|(_, _, forward)| *forward).count();
        if edge.len() % 2 == 1 {
            open += 1;
        } else if 2 * forward != edge.len() {
            turned += 1;
        }
    }
    match (open, turned) {
        (0, 0) => Ok(()),
        (0, edges) => Err(MeshError::Unoriented { edges }),
        (edges, _) => Err(MeshError::Open { edges }),
    }
}

/// Returns a number for each point, the least among those of equal ones.
fn welded(points: &[Point3<f64>]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    let at = |index: u32| points.get(index as usize).copied().unwrap_or_default();
    order.sort_unstable_by(|&i, &j| by_coordinates(&at(i), &at(j)).then(i.cmp(&j)));
    let mut numbers = vec![0; points.len()];
    let mut before: Option<u32> = None;
    for index in order {
        let same = before.filter(|&other| at(other) == at(index));
        let number = same.and_then(|other| numbers.get(other as usize).copied()).unwrap_or(index);
        if let Some(place) = numbers.get_mut(index as usize) {
            *place = number;
        }
        before = Some(index);
    }
    numbers
}

/// Returns a number for each point, the same for points that are nearer to each other than rounding of files.
fn nearly_welded(points: &[Point3<f64>]) -> Vec<u32> {
    let near = NEAR * extent(points);
    if !near.is_normal() {
        return welded(points);
    }
    // A cell is four times as wide as the points may be apart, so that most points have the same cell at both ends of their reach.
    let cell =
        |point: &Point3<f64>, side: f64| point.coords.map(|x| libm::floor((x + side * near) / (4.0 * near)) as i64);
    let mut numbers = welded(points);
    let mut known: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
    let at = |index: u32| points.get(index as usize).copied().unwrap_or_default();
    for index in 0..points.len() {
        let Some(&first) = numbers.get(index) else { continue };
        if first as usize != index {
            let number = numbers.get(first as usize).copied().unwrap_or(first);
            numbers.get_mut(index).into_iter().for_each(|place| *place = number);
            continue;
        }
        let (from, to) = (cell(&at(first), -1.0), cell(&at(first), 1.0));
        let cells = (0..8_usize).map(|k| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { to[axis] } else { from[axis] }));
        let is_near = |other: &&u32| (at(**other) - at(first)).amax() <= near;
        let other = cells.filter_map(|cell| known.get(&cell)?.iter().find(is_near)).min();
        if let Some(&other) = other {
            numbers.get_mut(index).into_iter().for_each(|place| *place = other);
        } else {
            known.entry(cell(&at(first), 0.0).into()).or_default().push(first);
        }
    }
    numbers
}

/// Order of points by x, then y, then z, in which 0 and −0 are equal.
fn by_coordinates(p: &Point3<f64>, q: &Point3<f64>) -> Ordering {
    let key = |point: &Point3<f64>, axis: usize| point[axis] + 0.0;
    let along = |axis: usize| key(p, axis).total_cmp(&key(q, axis));
    along(0).then_with(|| along(1)).then_with(|| along(2))
}
