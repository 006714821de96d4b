//! Compiler settings: unit of angles, forms of rotations, source of masses.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use crate::robot::{
    files::Refusal,
    orientation,
    reader::{Reader, Words},
    xml::Element,
};

const WORDS: Words = Words {
    read: &[
        "angle",
        "eulerseq",
        "autolimits",
        "inertiafromgeom",
        "inertiagrouprange",
        "balanceinertia",
        "settotalmass",
        "meshdir",
        "assetdir",
        "coordinate",
    ],
    quiet: &[
        "texturedir",
        "discardvisual",
        "strippath",
        "usethread",
        "fitaabb",
        "convexhull",
        "alignfree",
        "saveinertial",
    ],
    noted: &["boundmass", "boundinertia", "fusestatic", "exactmeshinertia"],
};

/// Compiler settings.
pub(super) struct Compiler {
    /// Unit of angles, rad.
    pub(super) angle: f64,
    sequence: String,
    /// True if a range alone is a limit.
    pub(super) auto_limits: bool,
    /// Masses from shapes: always, never, or (`None`) if no mass is given.
    pub(super) inertia_from_shapes: Option<bool>,
    /// Range of shape groups that have mass.
    pub(super) groups: [f64; 2],
    /// True if impossible inertias become those of spheres.
    pub(super) balance: bool,
    /// Prescribed mass of all links together, if any.
    pub(super) total_mass: Option<f64>,
    /// Folder of meshes.
    pub(super) mesh_folder: String,
}

impl Compiler {
    pub(super) fn read(reader: &mut Reader, root: &Element) -> Result<Self, Refusal> {
        let mut own = Self {
            angle: 1.0_f64.to_radians(),
            sequence: "xyz".to_owned(),
            auto_limits: true,
            inertia_from_shapes: None,
            groups: [0.0, 5.0],
            balance: false,
            total_mass: None,
            mesh_folder: String::new(),
        };
        for element in root.children_of("compiler") {
            reader.check_attributes(element, &WORDS);
            for child in &element.children {
                reader.not_read(child, &[], &["lengthrange"]);
            }
            own.words(element)?;
            own.inertia_from_shapes = element.flag("inertiafromgeom")?.or(own.inertia_from_shapes);
            own.auto_limits = element.flag("autolimits")?.unwrap_or(own.auto_limits);
            own.balance = element.flag("balanceinertia")?.unwrap_or(own.balance);
            own.groups = element.numbers("inertiagrouprange")?.unwrap_or(own.groups);
            own.total_mass = element.number("settotalmass")?.filter(|mass| *mass > 0.0).or(own.total_mass);
            let folder = element.text("meshdir").or(element.text("assetdir"));
            own.mesh_folder = folder.map_or(own.mesh_folder, |folder| folder.trim_end_matches('/').to_owned());
        }
        Ok(own)
    }

    fn words(&mut self, element: &Element) -> Result<(), Refusal> {
        if let Some(angle) = element.get("angle") {
            self.angle = match angle.value.as_str() {
                "degree" => 1.0_f64.to_radians(),
                "radian" => 1.0,
                _ => return Err(angle.refuse("must be `degree` or `radian`")),
            };
        }
        if let Some(sequence) = element.get("eulerseq") {
            if sequence.value.len() != 3 || !sequence.value.chars().all(|letter| "xyzXYZ".contains(letter)) {
                return Err(sequence.refuse("must be three of the letters x, y, z, X, Y, Z"));
            }
            self.sequence.clone_from(&sequence.value);
        }
        match element.get("coordinate") {
            Some(attribute) if attribute.value != "local" => {
                Err(attribute.refuse("must be `local`: global coordinates are not supported"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the pose of an element.
    pub(super) fn pose(&self, element: &Element) -> Result<Isometry3<f64>, Refusal> {
        let position = element.vector("pos")?.unwrap_or_default();
        Ok(Isometry3::from_parts(Translation3::from(position), self.orientation(element)?))
    }

    fn orientation(&self, element: &Element) -> Result<UnitQuaternion<f64>, Refusal> {
        let vector = |x: f64, y: f64, z: f64| Vector3::new(x, y, z);
        let mut found = None;
        for attribute in &element.attributes {
            let name = attribute.name.as_str();
            let turn = match name {
                "quat" => element.numbers(name)?.map(orientation::quaternion),
                "euler" => element.numbers(name)?.map(|angles: [f64; 3]| {
                    Some(orientation::euler(&self.sequence, angles.map(|angle| angle * self.angle)))
                }),
                "axisangle" => element.numbers(name)?.map(|[x, y, z, angle]| {
                    orientation::direction(vector(x, y, z)).map(|axis| orientation::about(&axis, angle * self.angle))
                }),
                "xyaxes" => element
                    .numbers(name)?
                    .map(|[a, b, c, d, e, f]| orientation::of_axes(vector(a, b, c), vector(d, e, f))),
                "zaxis" => element.numbers(name)?.map(|[x, y, z]| orientation::of_z_axis(vector(x, y, z))),
                _ => continue,
            };
            if found.is_some() {
                return Err(attribute.refuse("is a second orientation of the same element"));
            }
            let turn = turn.flatten().ok_or_else(|| attribute.refuse("has no direction"))?;
            found = Some(turn);
        }
        Ok(found.unwrap_or_else(UnitQuaternion::identity))
    }
}
