//! Shapes in the format of a scene.

use std::f64::consts::FRAC_PI_2;

use nalgebra::{UnitQuaternion, Vector3};
use stiction_geometry::mesh::MeshHull;

use super::{
    SceneWriter,
    text::{list, number, numbers},
};
use crate::{
    SceneError,
    robot::{
        description::{Form, Shape},
        mesh, orientation,
    },
};

/// A shape of a scene file, and its rotation relative to that of the robot.
pub(super) struct Written {
    pub(super) kind: &'static str,
    pub(super) sizes: String,
    pub(super) turn: UnitQuaternion<f64>,
}

impl SceneWriter<'_> {
    /// Returns the scene shapes of a shape; none if it is not supported, or is a costly shape without collisions.
    pub(super) fn shape_words(&mut self, shape: &Shape) -> Result<Vec<Written>, SceneError> {
        // Axes of revolution are z in a robot, x in a scene.
        let upright = orientation::about(&Vector3::y_axis(), -FRAC_PI_2);
        let long = |half: f64, r: f64| format!("{{ half_length = {}, radius = {} }}", number(half), number(r));
        let plain = |kind, sizes| vec![Written { kind, sizes, turn: UnitQuaternion::identity() }];
        Ok(match &shape.form {
            Form::Sphere(r) => plain("sphere", format!("{{ radius = {} }}", number(*r))),
            Form::Box(half) => plain("box", format!("{{ half_extents = {} }}", numbers(half.as_slice()))),
            Form::Ellipsoid(axes) => plain("ellipsoid", format!("{{ semi_axes = {} }}", numbers(axes.as_slice()))),
            Form::Plane => plain("halfspace", "{ normal = [0.0, 0.0, 1.0] }".to_owned()),
            Form::Capsule(r, half) => vec![Written { kind: "capsule", sizes: long(*half, *r), turn: upright }],
            Form::Cylinder(r, half) => vec![Written { kind: "cylinder", sizes: long(*half, *r), turn: upright }],
            Form::Mesh(path, scale) => self.mesh_words(shape, path, scale)?,
        })
    }

    fn mesh_words(&mut self, shape: &Shape, path: &str, scale: &Vector3<f64>) -> Result<Vec<Written>, SceneError> {
        if shape.contact_type == 0 && shape.contact_affinity == 0 {
            return Ok(Vec::new());
        }
        if !mesh::is_read(path) {
            self.note(format!("{path}: the mesh is left out: only STL and OBJ are read"));
            return Ok(Vec::new());
        }
        let Some(root) = &self.robot.assets else {
            self.note(format!("{path}: the mesh is left out: the robot was not read from a folder"));
            return Ok(Vec::new());
        };
        let place = self.robot.references.get(path);
        let named = |error: SceneError| match place {
            Some(place) if error.hint.is_none() => error.with_hint(format!("the mesh is named in {place}")),
            _ => error,
        };
        let found = mesh::load(root, path, scale).map_err(named)?;
        let wrong = |message: String| named(SceneError::without_place(path, &message));
        let found = mesh::hulls(&found, self.decompose).map_err(wrong)?;
        for note in &found.notes {
            self.note(format!("{path}: {note}"));
        }
        let written = |hull: &MeshHull| {
            let corners = list(hull.corners.iter().map(|corner| numbers(corner.coords.as_slice())));
            let sizes = format!("{{ vertices = {corners} }}");
            Written { kind: "hull", sizes, turn: UnitQuaternion::identity() }
        };
        Ok(found.hulls.iter().map(written).collect())
    }
}
