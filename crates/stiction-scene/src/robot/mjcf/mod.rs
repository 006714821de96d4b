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

use std::{collections::BTreeMap, path::Path};

use nalgebra::{Isometry3, Vector3};

use super::{
    description::{Format, Inertial, JointId, Link, LinkId, Robot},
    files::Refusal,
    reader::{Reader, Words},
    rigid::LinkPlaces,
    xml::{Attribute, Element},
};
use compiler::Compiler;
use defaults::Classes;

const SECTIONS: [&str; 9] =
    ["compiler", "option", "default", "asset", "worldbody", "contact", "equality", "actuator", "keyframe"];
/// Sections for visualisation and memory of another program.
const QUIET: [&str; 4] = ["visual", "statistic", "size", "custom"];
const NOTED: [&str; 4] = ["sensor", "tendon", "deformable", "extension"];

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
    parts: Vec<Vec<Inertial>>,
    /// Whether each actuator of the file is read.
    actuators: Vec<bool>,
    /// False if the file disables all contacts.
    touches: bool,
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
    let names = Names { links, joints: BTreeMap::new(), sites: BTreeMap::new() };
    let meshes = BTreeMap::new();
    let (actuators, touches, placed) = (Vec::new(), true, 0);
    let mut mjcf = Mjcf { reader, compiler, classes, meshes, robot, names, places, parts, actuators, touches, placed };
    mjcf.sections(&root)?;
    mjcf.set_total_mass();
    if !mjcf.touches {
        for shape in mjcf.robot.links.iter_mut().flat_map(|link| &mut link.shapes) {
            (shape.contact_type, shape.contact_affinity) = (0, 0);
        }
    }
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
            if child.flag("gravity")? == Some(false) {
                self.robot.gravity = Some(Vector3::zeros());
            }
            self.touches &= child.flag("contact")? != Some(false);
            for flag in child.attributes.iter().filter(|flag| !["gravity", "contact"].contains(&flag.name.as_str())) {
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

/// Names of bodies, joints and sites of the file; unnamed ones share the empty name.
struct Names {
    links: BTreeMap<String, LinkId>,
    joints: BTreeMap<String, JointId>,
    sites: BTreeMap<String, usize>,
}

fn named<T: Copy>(names: &BTreeMap<String, T>, attribute: &Attribute, kind: &str) -> Result<T, Refusal> {
    let known = names.get(&attribute.value).filter(|_| !attribute.value.is_empty());
    known.copied().ok_or_else(|| {
        let all = names.keys().map(String::as_str).filter(|name| !name.is_empty());
        let hint = crate::suggestion(&attribute.value, all);
        attribute.refuse(format!("\"{}\" is no {kind}", attribute.value)).hint(hint)
    })
}
