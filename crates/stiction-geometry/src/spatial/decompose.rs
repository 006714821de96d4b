//! Approximate convex decomposition of meshes by voxels (V-HACD, from `parry`).

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{Point3, Vector3};
use parry3d_f64::{
    math::Vector as ParryVector,
    transformation::vhacd::{VHACD, VHACDParameters},
};

use super::hull;

/// Number of voxels along the longest side of a mesh.
const RESOLUTION: u32 = 64;
/// Largest number of parts.
const MAX_PARTS: u32 = 32;

/// Returns convex parts that cover a mesh, each as points whose hull it is. They extend at most one voxel, a sixtieth
/// of the size of the mesh, beyond it.
///
/// Triangles with vertices that are not among the points are skipped. Points without extent give no part.
pub fn convex_parts(points: &[Point3<f64>], triangles: &[[usize; 3]]) -> Vec<Vec<Point3<f64>>> {
    let size = hull::extent(points);
    let (Some(origin), true) = (points.first(), size.is_normal()) else { return Vec::new() };
    // Scaled to unit size, so that the resolution does not depend on the size of the mesh.
    let scaled: Vec<ParryVector> = points
        .iter()
        .map(|point| {
            let p = (point - origin) / size;
            ParryVector::new(p.x, p.y, p.z)
        })
        .collect();
    let known = |triangle: &&[usize; 3]| triangle.iter().all(|&corner| corner < points.len());
    let indices: Vec<[u32; 3]> = triangles.iter().filter(known).map(|corners| corners.map(|c| c as u32)).collect();
    let parameters = VHACDParameters {
        resolution: RESOLUTION,
        max_convex_hulls: MAX_PARTS,
        // The approximation panics where the hull of a clipped part cannot be found; without it such a plane has a
        // hull without volume.
        convex_hull_approximation: false,
        ..VHACDParameters::default()
    };
    let decomposition = VHACD::decompose(&parameters, &scaled, &indices, false);
    let parts = decomposition.voxel_parts().iter().map(|part| {
        let on_surface = part.voxels().iter().filter(|voxel| voxel.is_on_surface);
        let corners = on_surface.flat_map(|voxel| {
            let [i, j, k] = [voxel.coords.x, voxel.coords.y, voxel.coords.z].map(i64::from);
            (0..8).map(move |corner| [i + (corner & 1), j + (corner >> 1 & 1), k + (corner >> 2 & 1)])
        });
        let corners = (0..3).fold(corners.collect(), |corners, axis| ends_of_lines(&corners, axis));
        let place = |grid: [i64; 3]| {
            let [x, y, z] = grid.map(|g| (g as f64 - 0.5) * part.scale);
            let at = Vector3::new(part.origin.x + x, part.origin.y + y, part.origin.z + z);
            origin + at * size
        };
        corners.into_iter().map(place).collect()
    });
    parts.filter(|part: &Vec<_>| !part.is_empty()).collect()
}

/// Returns the two ends of each line of grid points along an axis: a vertex of the hull is an end of every line
/// through it.
fn ends_of_lines(points: &BTreeSet<[i64; 3]>, axis: usize) -> BTreeSet<[i64; 3]> {
    let mut lines: BTreeMap<[i64; 3], (i64, i64)> = BTreeMap::new();
    for point in points {
        let (mut line, along) = (*point, point[axis]);
        line[axis] = 0;
        let ends = lines.entry(line).or_insert((along, along));
        *ends = (ends.0.min(along), ends.1.max(along));
    }
    let both = lines.into_iter().flat_map(|(line, (first, last))| {
        [first, last].map(|along| {
            let mut point = line;
            point[axis] = along;
            point
        })
    });
    both.collect()
}
