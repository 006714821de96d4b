//! Convex shapes and mass properties of a mesh.

use stiction_geometry::{
    Shape,
    mass::{MassProperties, mass_properties},
    mesh::{self, MeshHull},
    spatial::{self, convex_parts},
};

use super::Mesh;

/// Convex shapes of a mesh, and how they were made.
pub(in crate::robot) struct Hulls {
    pub(in crate::robot) hulls: Vec<MeshHull>,
    /// Notes for the user.
    pub(in crate::robot) notes: Vec<String>,
}

/// Returns the convex shapes of a mesh: its groups if all of them are convex; otherwise the hull of the whole, or with `decompose` those of the convex parts
/// that it is cut into.
pub(in crate::robot) fn hulls(mesh: &Mesh, decompose: bool) -> Result<Hulls, String> {
    if let Some(parts) = convex_groups(mesh) {
        let notes = vec![format!("its {} groups are kept as convex parts", parts.len())];
        return Ok(Hulls { hulls: parts, notes });
    }
    let whole = hull_of(mesh, &mesh.triangles)?;
    if decompose {
        // Convex parts are made of voxels, whose corners are not those of the mesh anyway.
        let parts = convex_parts(&mesh.corners, &mesh.triangles);
        let hulls: Vec<_> = parts.into_iter().filter_map(|part| mesh::hull(part).ok()).collect();
        if !hulls.is_empty() {
            return Ok(Hulls { hulls, notes: Vec::new() });
        }
    }
    let mut notes = Vec::new();
    if let Some(thickness) = whole.thickened {
        notes.push(format!("it is flat, and has been given a thickness of {thickness:.1e} m"));
    }
    if whole.is_thinned {
        let count = whole.corners.len();
        notes.push(format!("{count} of the corners of its convex hull are kept, the outermost ones"));
    }
    Ok(Hulls { hulls: vec![whole], notes })
}

/// Returns the hulls of the groups of a mesh if there are several and all are convex.
fn convex_groups(mesh: &Mesh) -> Option<Vec<MeshHull>> {
    let groups: Vec<&[[usize; 3]]> = mesh.groups().collect();
    if groups.len() < 2 || !groups.iter().all(|group| mesh::is_convex(&mesh.corners, group)) {
        return None;
    }
    groups.into_iter().map(|group| hull_of(mesh, group).ok()).collect()
}

fn hull_of(mesh: &Mesh, triangles: &[[usize; 3]]) -> Result<MeshHull, String> {
    let used = triangles.iter().flatten().filter_map(|&index| mesh.corners.get(index).copied());
    mesh::hull(used.collect()).map_err(|error| format!("has no convex hull: {error}"))
}

/// Returns the mass properties of the solid that a mesh bounds, at density 1. If it bounds none, they are those of its convex hull, with the reason.
pub(in crate::robot) fn mass(mesh: &Mesh) -> Result<(MassProperties, Option<String>), String> {
    let why = match mesh::mass_properties(&mesh.corners, &mesh.triangles, 1.0) {
        Ok(properties) => return Ok((properties, None)),
        Err(error) => error.to_string(),
    };
    let hull = hull_of(mesh, &mesh.triangles)?;
    let shape = spatial::Shape::convex_hull(&hull.corners).map_err(|error| error.to_string())?;
    let properties = mass_properties(&Shape::from(shape), 1.0).map_err(|error| error.to_string())?;
    Ok((properties, Some(why)))
}
