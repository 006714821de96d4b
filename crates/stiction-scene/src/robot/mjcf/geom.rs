//! `<geom>`: a collision shape and its mass.

use nalgebra::{Isometry3, Translation3, Vector3};

use super::{
    Mjcf,
    mesh_mass::{MeshPart, Part},
};
use crate::robot::{
    description::{Form, Shape},
    files::Refusal,
    mass, orientation,
    reader::Words,
    xml::{Attribute, Element},
};

const WORDS: Words = Words {
    read: &[
        "name",
        "class",
        "type",
        "contype",
        "conaffinity",
        "size",
        "pos",
        "quat",
        "axisangle",
        "xyaxes",
        "zaxis",
        "euler",
        "fromto",
        "mass",
        "density",
        "friction",
        "condim",
        "mesh",
        "group",
    ],
    quiet: &["rgba", "material", "user"],
    noted: &[
        "priority",
        "shellinertia",
        "solmix",
        "solref",
        "solimp",
        "margin",
        "gap",
        "hfield",
        "fitscale",
        "fluidshape",
        "fluidcoef",
        "surfacevel",
    ],
};
const FORMS: [&str; 7] = ["plane", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh"];
/// Density of water, kg/m³.
const DENSITY: f64 = 1000.0;

impl Mjcf<'_> {
    /// Reads a shape in a frame of its link, with defaults applied; `None` if the form is not supported.
    pub(super) fn read_geom(&mut self, element: &Element, frame: &Isometry3<f64>) -> Result<Option<Shape>, Refusal> {
        self.reader.check_attributes(element, &WORDS);
        let mut size = element.numbers_or("size", [0.0; 3])?;
        let kind = element.text("type").unwrap_or(if element.get("mesh").is_some() { "mesh" } else { "sphere" });
        if ["hfield", "sdf"].contains(&kind) {
            self.reader.note(&element.place, format!("geom of type {kind}"), "is not supported");
            return Ok(None);
        }
        let own = match element.get("fromto") {
            Some(ends) if ["capsule", "cylinder", "ellipsoid", "box"].contains(&kind) => {
                let (pose, half) = between(element, ends)?;
                size =
                    if ["ellipsoid", "box"].contains(&kind) { [size[0], size[0], half] } else { [size[0], half, 0.0] };
                pose
            }
            _ => self.compiler.pose(element)?,
        };
        let Some(form) = self.form(element, kind, size)? else { return Ok(None) };
        let origin = frame * own;
        let bits = |name: &str| -> Result<u32, Refusal> {
            let Some(attribute) = element.get(name) else { return Ok(1) };
            attribute.value.trim().parse().map_err(|_| attribute.refuse("must be a whole number of 32 bits"))
        };
        let shape = Shape {
            name: element.text("name").map(str::to_owned),
            form,
            origin,
            friction: Some(element.numbers_or("friction", [1.0, 0.005, 0.0001])?),
            dimension: dimension(element)?,
            contact_type: bits("contype")?,
            contact_affinity: bits("conaffinity")?,
        };
        Ok(Some(shape))
    }

    fn form(&mut self, element: &Element, kind: &str, size: [f64; 3]) -> Result<Option<Form>, Refusal> {
        let needed = match kind {
            "sphere" => 1,
            "capsule" | "cylinder" => 2,
            "box" | "ellipsoid" => 3,
            _ => 0,
        };
        if size.iter().take(needed).any(|length| *length <= 0.0) {
            let place = element.get("size").map_or(&element.place, |attribute| &attribute.place);
            return Err(place.refuse(format!("a {kind} needs {needed} positive numbers as its `size`")));
        }
        let [a, b, c] = size;
        Ok(Some(match kind {
            "plane" => Form::Plane,
            "sphere" => Form::Sphere(a),
            "capsule" => Form::Capsule(a, b),
            "cylinder" => Form::Cylinder(a, b),
            "ellipsoid" => Form::Ellipsoid(Vector3::new(a, b, c)),
            "box" => Form::Box(Vector3::new(a, b, c)),
            "mesh" => {
                let name = element.required("mesh")?;
                let Some((path, scale)) = self.meshes.get(&name.value) else {
                    let hint = crate::suggestion(&name.value, self.meshes.keys().map(String::as_str));
                    return Err(name.refuse(format!("\"{}\" is no mesh with a file", name.value)).hint(hint));
                };
                Form::Mesh(path.clone(), *scale)
            }
            other => {
                let hint = crate::suggestion(other, FORMS);
                return Err(element.required("type")?.refuse(format!("\"{other}\" is no shape of MJCF")).hint(hint));
            }
        }))
    }

    /// Returns the mass of a shape: given, or that of its volume.
    pub(super) fn shape_mass(&mut self, element: &Element, shape: &Shape) -> Result<Option<Part>, Refusal> {
        let (form, origin) = (&shape.form, &shape.origin);
        let [first, last] = self.compiler.groups;
        let group = element.number("group")?.unwrap_or(0.0);
        let given = element.get("mass").map(|_| element.amount("mass", 0.0)).transpose()?;
        let density = element.amount("density", DENSITY)?;
        if !(first..=last).contains(&group) || *form == Form::Plane {
            return Ok(None);
        }
        if let Form::Mesh(path, scale) = form {
            let (path, scale, origin) = (path.clone(), *scale, *origin);
            let place = element.place.clone();
            return Ok(Some(Part::Mesh(MeshPart { path, scale, origin, mass: given, density, place })));
        }
        let mass = given.or_else(|| mass::volume(form).map(|volume| volume * density));
        Ok(mass.and_then(|mass| mass::of_shape(form, mass, origin)).map(Part::Known))
    }
}

fn dimension(element: &Element) -> Result<u8, Refusal> {
    let Some(attribute) = element.get("condim") else { return Ok(3) };
    match attribute.value.trim() {
        "1" => Ok(1),
        "3" => Ok(3),
        "4" => Ok(4),
        "6" => Ok(6),
        _ => Err(attribute.refuse("must be 1, 3, 4 or 6")),
    }
}

/// Returns pose and half length of a shape from its two ends; its z axis points from the second to the first.
fn between(element: &Element, ends: &Attribute) -> Result<(Isometry3<f64>, f64), Refusal> {
    let [a, b, c, d, e, f] = element.numbers("fromto")?.unwrap_or_default();
    let (from, to) = (Vector3::new(a, b, c), Vector3::new(d, e, f));
    let rotation = orientation::of_z_axis(from - to).ok_or_else(|| ends.refuse("has both ends at one point"))?;
    let pose = Isometry3::from_parts(Translation3::from((from + to) * 0.5), rotation);
    Ok((pose, (from - to).norm() * 0.5))
}
