//! MJCF: nested bodies with default classes, includes and compiler settings.

mod actuator;
mod body;
mod compiler;
mod defaults;
mod equality;
mod geom;
mod include;
mod joint;
mod keyframe;
mod mesh_mass;
mod tendon;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use nalgebra::{Isometry3, Vector3};

use super::{
    description::{Format, JointId, Link, LinkId, Robot},
    files::{Place, Refusal},
    reader::{Reader, Words},
    rigid::LinkPlaces,
    xml::{Attribute, Element},
};
use compiler::Compiler;
use defaults::Classes;
use mesh_mass::{MeshMass, Part};

const SECTIONS: [&str; 10] =
    ["compiler", "option", "default", "asset", "worldbody", "contact", "equality", "tendon", "actuator", "keyframe"];
/// Sections for visualisation and memory of another program.
const QUIET: [&str; 4] = ["visual", "statistic", "size", "custom"];
const NOTED: [&str; 3] = ["sensor", "deformable", "extension"];
/// Flags that switch parts of the mechanics off.
const FLAGS: [&str; 7] = ["gravity", "contact", "constraint", "limit", "frictionloss", "equality", "actuation"];

const OPTION: Words = Words {
    read: &["gravity", "timestep"],
    quiet: &[],
    noted: &[
        "wind",
        "magnetic",
        "density",
        "viscosity",
        "impratio",
        "o_margin",
        "o_solref",
        "o_solimp",
        "o_friction",
        "integrator",
        "cone",
        "jacobian",
        "solver",
        "iterations",
        "tolerance",
        "ls_iterations",
        "ls_tolerance",
        "noslip_iterations",
        "noslip_tolerance",
        "ccd_iterations",
        "ccd_tolerance",
        "sleep_tolerance",
        "sdf_iterations",
        "sdf_initpoints",
        "actuatorgroupdisable",
        "apirate",
        "mpr_iterations",
        "mpr_tolerance",
    ],
};

/// The robot read so far, and the state of the reader.
struct Mjcf<'r> {
    reader: &'r mut Reader,
    compiler: Compiler,
    classes: Classes,
    meshes: BTreeMap<String, (String, Vector3<f64>)>,
    robot: Robot,
    names: Names,
    /// Place of every link in the files.
    places: Vec<LinkPlaces>,
    /// Mass properties of the shapes of every link.
    parts: Vec<Vec<Part>>,
    /// Mass properties of meshes by path and scale.
    mesh_masses: BTreeMap<String, MeshMass>,
    /// Whether each actuator of the file is read.
    actuators: Vec<bool>,
    /// Flags that the file disables.
    off: BTreeSet<&'static str>,
    /// Number of elements placed so far, copies included.
    placed: usize,
}

pub(super) fn read(reader: &mut Reader, root: Element) -> Result<Robot, Refusal> {
    let root = include::expanded(reader, root)?;
    reader.check_attributes(&root, &Words { read: &["model"], quiet: &[], noted: &[] });
    for section in &root.children {
        let tag = section.tag.as_str();
        if !SECTIONS.contains(&tag) && !QUIET.contains(&tag) {
            reader.not_read(section, &[&SECTIONS[..], &QUIET[..]].concat(), &NOTED);
        }
    }
    let compiler = Compiler::read(reader, &root)?;
    let classes = Classes::read(reader, &root)?;
    let robot = Robot {
        name: root.text("model").unwrap_or("robot").to_owned(),
        format: Format::Mjcf,
        assets: reader.files.root().map(Path::to_path_buf),
        references: BTreeMap::new(),
        links: vec![Link::world()],
        sites: Vec::new(),
        actuators: Vec::new(),
        constraints: Vec::new(),
        excludes: Vec::new(),
        keyframes: Vec::new(),
        gravity: Some(Vector3::new(0.0, 0.0, -9.81)),
        timestep: Some(0.002),
        unsupported: Vec::new(),
    };
    let (places, parts) = (vec![LinkPlaces { link: root.place.clone(), inertia: None }], vec![Vec::new()]);
    let links = BTreeMap::from([("world".to_owned(), LinkId(0))]);
    let names = Names {
        links,
        joints: BTreeMap::new(),
        sites: BTreeMap::new(),
        tendons: BTreeMap::new(),
        force_ranges: BTreeMap::new(),
    };
    let meshes = BTreeMap::new();
    let mut mjcf = Mjcf {
        reader,
        compiler,
        classes,
        meshes,
        robot,
        names,
        places,
        parts,
        mesh_masses: BTreeMap::new(),
        actuators: Vec::new(),
        off: BTreeSet::new(),
        placed: 0,
    };
    mjcf.sections(&root)?;
    mjcf.set_total_mass();
    mjcf.clamp_joint_forces();
    mjcf.switch_off();
    let Mjcf { reader, robot, places, .. } = mjcf;
    reader.finish(robot, &places)
}

impl Mjcf<'_> {
    /// Reads all sections in the order of their dependencies.
    fn sections(&mut self, root: &Element) -> Result<(), Refusal> {
        for option in root.children_of("option") {
            self.option(option)?;
        }
        for asset in root.children_of("asset").flat_map(|section| &section.children) {
            self.asset(asset)?;
        }
        for world in root.children_of("worldbody") {
            self.world(world)?;
        }
        for element in root.children_of("contact").flat_map(|section| &section.children) {
            self.contact(element)?;
        }
        for element in root.children_of("equality").flat_map(|section| &section.children) {
            self.equality(element)?;
        }
        for element in root.children_of("tendon").flat_map(|section| &section.children) {
            self.tendon(element)?;
        }
        for element in root.children_of("actuator").flat_map(|section| &section.children) {
            let before = self.robot.actuators.len();
            self.actuator(element)?;
            self.actuators.push(self.robot.actuators.len() > before);
        }
        for key in root.children_of("keyframe").flat_map(|section| &section.children) {
            self.keyframe(key)?;
        }
        Ok(())
    }

    fn option(&mut self, option: &Element) -> Result<(), Refusal> {
        self.reader.check_attributes(option, &OPTION);
        if let Some(gravity) = option.vector("gravity")? {
            self.robot.gravity = Some(gravity);
        }
        if let (Some(step), Some(attribute)) = (option.number("timestep")?, option.get("timestep")) {
            if step <= 0.0 {
                return Err(attribute.refuse("must be positive"));
            }
            self.robot.timestep = Some(step);
        }
        for child in &option.children {
            if child.tag != "flag" {
                self.reader.not_read(child, &["flag"], &[]);
                continue;
            }
            for flag in FLAGS {
                if child.flag(flag)? == Some(false) {
                    self.off.insert(flag);
                }
            }
            for flag in child.attributes.iter().filter(|flag| !FLAGS.contains(&flag.name.as_str())) {
                self.reader.note(&flag.place, format!("flag {}", flag.name), "is not supported");
            }
        }
        Ok(())
    }

    fn asset(&mut self, asset: &Element) -> Result<(), Refusal> {
        match asset.tag.as_str() {
            "mesh" => self.mesh(asset),
            // Visual only.
            "texture" | "material" | "skin" | "layer" => Ok(()),
            _ => {
                self.reader.not_read(asset, &["mesh", "texture", "material"], &["hfield", "model"]);
                Ok(())
            }
        }
    }

    fn mesh(&mut self, mesh: &Element) -> Result<(), Refusal> {
        let mesh = self.classes.applied(mesh, None)?;
        let words = Words {
            read: &["name", "class", "file", "scale"],
            quiet: &[
                "texcoord",
                "content_type",
                "smoothnormal",
                "material",
                "normal",
                "maxhullvert",
                "octree_maxdepth",
            ],
            noted: &["refpos", "refquat", "inertia", "vertex", "face", "builtin", "params"],
        };
        self.reader.check_attributes(&mesh, &words);
        let Some(file) = mesh.get("file") else {
            self.reader.note(&mesh.place, "<mesh> without file".to_owned(), "is not supported");
            return Ok(());
        };
        let path = self.reader.path(file, &self.compiler.mesh_folder)?;
        let stem = std::path::Path::new(&file.value).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = mesh.text("name").map(str::to_owned).or(stem).unwrap_or_default();
        self.meshes.insert(name, (path, mesh.vector("scale")?.unwrap_or_else(|| Vector3::repeat(1.0))));
        Ok(())
    }

    fn contact(&mut self, element: &Element) -> Result<(), Refusal> {
        if element.tag != "exclude" {
            self.reader.not_read(element, &["exclude"], &["pair"]);
            return Ok(());
        }
        self.reader.check_attributes(element, &Words { read: &["name", "body1", "body2"], quiet: &[], noted: &[] });
        let pair = [self.link(element.required("body1")?)?, self.link(element.required("body2")?)?];
        self.robot.excludes.push(pair);
        Ok(())
    }

    /// Removes what the flags of the file switch off.
    fn switch_off(&mut self) {
        let is_off = |flag: &str| self.off.contains(flag) || (self.off.contains("constraint") && flag != "actuation");
        if self.off.contains("gravity") {
            self.robot.gravity = Some(Vector3::zeros());
        }
        if is_off("actuation") {
            self.robot.actuators.clear();
            self.robot.keyframes.iter_mut().for_each(|key| key.controls = None);
        }
        if is_off("equality") {
            self.robot.constraints.clear();
        }
        for link in &mut self.robot.links {
            for joint in &mut link.joints {
                joint.limits = joint.limits.filter(|_| !is_off("limit"));
                joint.friction = if is_off("frictionloss") { 0.0 } else { joint.friction };
            }
            if is_off("contact") {
                link.shapes.iter_mut().for_each(|shape| (shape.contact_type, shape.contact_affinity) = (0, 0));
            }
        }
    }

    /// Clamps the force of an actuator to the range of its joint. The sum of several has no range here.
    fn clamp_joint_forces(&mut self) {
        for (id, (range, place)) in std::mem::take(&mut self.names.force_ranges) {
            let mut of_joint = self.robot.actuators.iter_mut().filter(|actuator| actuator.joint == id);
            match (of_joint.next(), of_joint.next()) {
                (Some(actuator), None) if actuator.gear[0] != 0.0 => {
                    let [least, most] = range.map(|end| end / actuator.gear[0]);
                    let [least, most] = [least.min(most), least.max(most)];
                    let own = actuator.force_limits.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                    actuator.force_limits = Some(own.map(|end| end.clamp(least, most)));
                }
                (Some(_), Some(_)) => {
                    let reason = "is not supported on a joint of several actuators";
                    self.reader.note(&place, "joint actuatorfrcrange".to_owned(), reason);
                }
                _ => {}
            }
        }
    }

    /// Returns the link that an attribute names.
    fn link(&self, attribute: &Attribute) -> Result<LinkId, Refusal> {
        named(&self.names.links, attribute, "body")
    }

    /// Returns the joint that an attribute names.
    fn joint_named(&self, attribute: &Attribute) -> Result<JointId, Refusal> {
        named(&self.names.joints, attribute, "joint")
    }

    /// Returns the link and the frame of the site that an attribute names.
    fn site_named(&self, attribute: &Attribute) -> Result<(LinkId, Isometry3<f64>), Refusal> {
        let number = named(&self.names.sites, attribute, "site")?;
        let site = self.robot.sites.get(number).ok_or_else(|| attribute.refuse("is no site"))?;
        Ok((site.link, site.origin))
    }

    /// Scales all masses to the sum that the compiler settings demand.
    fn set_total_mass(&mut self) {
        let mass = self.robot.mass();
        let (Some(wanted), true) = (self.compiler.total_mass, mass > 0.0) else { return };
        for inertial in self.robot.links.iter_mut().filter_map(|link| link.inertial.as_mut()) {
            inertial.mass *= wanted / mass;
            inertial.inertia *= wanted / mass;
        }
    }
}

/// Names of bodies, joints, sites and tendons of the file; unnamed ones share the empty name.
struct Names {
    links: BTreeMap<String, LinkId>,
    joints: BTreeMap<String, JointId>,
    sites: BTreeMap<String, usize>,
    /// Joint of a tendon and length per coordinate; `None` for tendons that are not supported.
    tendons: BTreeMap<String, Option<(JointId, f64)>>,
    /// Ranges of the actuator force of joints, and their places.
    force_ranges: BTreeMap<JointId, ([f64; 2], Place)>,
}

fn named<T: Copy>(names: &BTreeMap<String, T>, attribute: &Attribute, kind: &str) -> Result<T, Refusal> {
    let known = names.get(&attribute.value).filter(|_| !attribute.value.is_empty());
    known.copied().ok_or_else(|| {
        let all = names.keys().map(String::as_str).filter(|name| !name.is_empty());
        let hint = crate::suggestion(&attribute.value, all);
        attribute.refuse(format!("\"{}\" is no {kind}", attribute.value)).hint(hint)
    })
}
