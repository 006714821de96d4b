//! Mass properties of geoms, those of meshes from their files.

use nalgebra::{Isometry3, Vector3};
use stiction_geometry::mass::MassProperties;

use super::Mjcf;
use crate::robot::{description::Inertial, files::Place, mass, mesh};

/// Share of a geom in the mass of its body.
pub(super) enum Part {
    Known(Inertial),
    Mesh(MeshPart),
}

/// A geom whose mass properties are those of a mesh. They are computed only if its body has no others.
pub(super) struct MeshPart {
    pub(super) path: String,
    pub(super) scale: Vector3<f64>,
    pub(super) origin: Isometry3<f64>,
    /// Mass, if it is given.
    pub(super) mass: Option<f64>,
    pub(super) density: f64,
    pub(super) place: Place,
}

/// Mass properties of a mesh of density 1, as far as they are known, and what is to be said about them.
#[derive(Clone)]
pub(super) struct MeshMass {
    properties: Option<MassProperties>,
    note: Option<String>,
}

impl Mjcf<'_> {
    /// Returns the mass properties of the geoms of a link as one body.
    pub(super) fn mass_of_shapes(&mut self, link: usize) -> Option<Inertial> {
        let parts = self.parts.get_mut(link).map(std::mem::take).unwrap_or_default();
        let inertials = parts.iter().filter_map(|part| match part {
            Part::Known(inertial) => Some(*inertial),
            Part::Mesh(part) => self.mass_of_mesh(part),
        });
        mass::sum(&inertials.collect::<Vec<_>>())
    }

    fn mass_of_mesh(&mut self, part: &MeshPart) -> Option<Inertial> {
        if part.mass == Some(0.0) || (part.mass.is_none() && part.density == 0.0) {
            return None;
        }
        let key = format!("{} {:?}", part.path, part.scale);
        let found = self.mesh_masses.get(&key).cloned().unwrap_or_else(|| self.measure(part));
        if let Some(note) = &found.note {
            self.reader.note(&part.place, format!("mass of the mesh {}", part.path), note);
        }
        self.mesh_masses.insert(key, found.clone());
        let properties = found.properties?;
        let factor = part.mass.map_or(part.density, |mass| mass / properties.mass);
        let r = part.origin.rotation.to_rotation_matrix();
        Some(Inertial {
            mass: properties.mass * factor,
            centre: part.origin * properties.centre,
            inertia: r.matrix() * properties.inertia * r.matrix().transpose() * factor,
        })
    }

    fn measure(&self, part: &MeshPart) -> MeshMass {
        let unknown = |reason: &str| {
            let note = format!("is not computed: {reason}; give the body <inertial>");
            MeshMass { properties: None, note: Some(note) }
        };
        let Some(root) = &self.robot.assets else { return unknown("the robot was not read from a folder") };
        if !mesh::is_read(&part.path) {
            return unknown("only STL and OBJ are read");
        }
        let found = match mesh::load(root, &part.path, &part.scale) {
            Ok(found) => found,
            Err(error) => return unknown(&error.message),
        };
        match mesh::mass(&found) {
            Ok((properties, None)) => MeshMass { properties: Some(properties), note: None },
            Ok((properties, Some(why))) => {
                MeshMass { properties: Some(properties), note: Some(format!("is that of its convex hull: {why}")) }
            }
            Err(reason) => unknown(&reason),
        }
    }
}
