//! Builds a model from the tables of a file: resolves names, converts units, computes masses.
//!
//! The model checks its own numbers. This module checks what only a file can get wrong, and gives each error of the
//! model the place of its key.

mod body;
mod contact;
mod force;
mod inertia;
mod joint;
mod joint_dof;
mod material;
mod motor;
mod reader;
mod settings;
mod shape;
mod site;
mod support;

use std::collections::BTreeMap;

use nalgebra::Vector3;
use stiction_multibody::{BodyId, Element, ExpressionMotion, JointId, Layer, Model, ModelBuilder, ModelError, Pose};
use stiction_options::SchemeError;

use crate::{Settings, document::Document, error::Fault, file::SceneFile, suggest, text};
use reader::{At, Reader};

/// Model and settings of a file.
pub(crate) struct Built {
    pub(crate) model: Model,
    pub(crate) settings: Settings,
    /// Motions of kinematic bodies, by name.
    pub(crate) motions: BTreeMap<String, ExpressionMotion>,
}

pub(crate) fn build(file: &SceneFile, document: &Document) -> Result<Built, Fault> {
    let root = At::root(document);
    check_names(file, &root)?;
    let settings = settings::settings(file, &root)?;
    let reader = Reader::new(file, &root, settings.duration)?;
    let builder = ModelBuilder::new(reader.dimension);
    let materials = material::materials(&reader, &root, file)?;
    let mut assembly =
        Assembly { builder, bodies: Vec::new(), joints: Vec::new(), motions: BTreeMap::new(), materials, reader, root };
    assembly.gravity(file)?;
    assembly.add_bodies(file)?;
    support::add(&mut assembly, file)?;
    joint::add(&mut assembly, file)?;
    motor::add(&mut assembly, file)?;
    force::add(&mut assembly, file)?;
    site::add(&mut assembly, file)?;
    contact::add(&mut assembly, file)?;
    let Assembly { builder, bodies, joints, motions, root, .. } = assembly;
    let model = builder.build().map_err(|error| {
        let names: Vec<_> = bodies.iter().map(|body| body.name.as_str()).collect();
        let joints: Vec<_> = joints.iter().map(|(name, _)| name.as_str()).collect();
        locate(&root, (&names, &joints), &error)
    })?;
    Ok(Built { model, settings, motions })
}

/// Refuses names that are not shown as they are: those of bodies, joints, motors, couplings, sites and materials are part of tables, labels and messages.
fn check_names(file: &SceneFile, root: &At) -> Result<(), Fault> {
    let joints = file.joint.iter().map(|joint| joint.name.as_deref());
    let motors = file.motor.iter().map(|motor| motor.name.as_deref());
    let couplings = file.coupling.iter().map(|coupling| coupling.name.as_deref());
    let listed: [(&str, Vec<Option<&str>>); 5] = [
        ("body", file.body.iter().map(|body| Some(body.name.as_str())).collect()),
        ("joint", joints.collect()),
        ("motor", motors.collect()),
        ("coupling", couplings.collect()),
        ("site", file.site.iter().map(|site| Some(site.name.as_str())).collect()),
    ];
    let refuse = |at: At, name: &str| match name.chars().find(|c| text::is_unprintable(*c)) {
        None => Ok(()),
        Some(c) => {
            let message =
                format!("the name \"{name}\" holds the character U+{:04X}, which cannot be shown", u32::from(c));
            Err(at.fault(message).hint("use letters, digits, spaces and signs"))
        }
    };
    for (list, names) in &listed {
        for (index, name) in names.iter().enumerate() {
            name.map_or(Ok(()), |name| refuse(root.key(list).index(index).key("name"), name))?;
        }
    }
    file.material.keys().try_for_each(|name| refuse(root.key("material").key(name), name))
}

/// Returns the error of a scheme at its key.
pub(crate) fn contradiction(document: &Document, error: &SchemeError) -> Fault {
    settings::contradiction(&At::root(document), error)
}

/// A model under construction.
struct Assembly<'d> {
    builder: ModelBuilder,
    bodies: Vec<Placed>,
    /// Joints by name.
    joints: Vec<(String, JointId)>,
    motions: BTreeMap<String, ExpressionMotion>,
    /// Layers by the name of their material.
    materials: Vec<(String, Layer)>,
    reader: Reader,
    root: At<'d>,
}

/// A body that was added to the model.
struct Placed {
    name: String,
    id: BodyId,
    /// Pose at the start.
    pose: Pose,
}

impl Assembly<'_> {
    fn gravity(&mut self, file: &SceneFile) -> Result<(), Fault> {
        const STANDARD: f64 = 9.81;
        let at = self.root.key("simulation").key("gravity");
        let g = match &file.simulation.gravity {
            Some(gravity) => self.reader.gravity(&at, gravity)?,
            None => -STANDARD * self.reader.up(),
        };
        self.builder.gravity(g.x, g.y, g.z).map(drop).map_err(|error| at.model_error(&error))
    }

    fn add_bodies(&mut self, file: &SceneFile) -> Result<(), Fault> {
        for (index, table) in file.body.iter().enumerate() {
            let at = self.root.key("body").index(index);
            if self.bodies.iter().any(|body| body.name == table.name) {
                return Err(at.key("name").fault(format!("there is already a body \"{}\"", table.name)));
            }
            let mut made = body::body(&self.reader, &at, table)?;
            if let Some(name) = &table.material
                && let Some(layer) = self.material(&at.key("material"), name)?
            {
                made.builder = made.builder.layer(layer);
            }
            self.add_body(&at, table.name.clone(), made)?;
        }
        Ok(())
    }

    fn add_body(&mut self, at: &At, name: String, made: body::Made) -> Result<(), Fault> {
        let body::Made { builder, pose, motion } = made;
        let id = self.builder.body(builder).map_err(|error| match error.element {
            Element::Shape(_, shape) => at.key("shape").index(shape).model_error(&error),
            _ => at.model_error(&error),
        })?;
        self.motions.extend(motion.map(|motion| (name.clone(), motion)));
        self.bodies.push(Placed { name, id, pose });
        Ok(())
    }

    /// Returns the body called `name`, or the world.
    fn find(&self, at: &At, name: &str) -> Result<(BodyId, Pose), Fault> {
        if name == "world" {
            return Ok((BodyId::WORLD, Pose::identity()));
        }
        let found = self.bodies.iter().find(|body| body.name == name);
        found.map(|body| (body.id, body.pose)).ok_or_else(|| {
            let known = self.bodies.iter().map(|body| body.name.as_str()).chain(std::iter::once("world"));
            at.fault(format!("there is no body \"{name}\"")).hint(suggest::hint(name, known))
        })
    }

    /// Returns both bodies of a `between`.
    fn find_both(&self, at: &At, names: &[String; 2]) -> Result<[(BodyId, Pose); 2], Fault> {
        let at = at.key("between");
        let [a, b] = names;
        Ok([self.find(&at.index(0), a)?, self.find(&at.index(1), b)?])
    }

    /// Returns points in the frames of two bodies; the origins if omitted.
    fn points(&self, at: &At, points: Option<&[crate::file::Vector; 2]>) -> Result<[Vector3<f64>; 2], Fault> {
        let Some([a, b]) = points else { return Ok([Vector3::zeros(); 2]) };
        let at = at.key("points");
        Ok([self.reader.vector(&at.index(0), a)?, self.reader.vector(&at.index(1), b)?])
    }
}

/// Returns an error of the whole model at its place in the file.
fn locate(root: &At, (bodies, joints): (&[&str], &[&str]), error: &ModelError) -> Fault {
    let place = |names: &[&str], name: &str| names.iter().position(|known| *known == name).unwrap_or(names.len());
    let index_of = |name: &str| place(bodies, name);
    let at = match &error.element {
        Element::Body(name) => root.key("body").index(index_of(name)),
        Element::Shape(name, shape) => root.key("body").index(index_of(name)).key("shape").index(*shape),
        Element::Joint(name) => root.key("joint").index(place(joints, name)),
        Element::Contact(Some(index)) => root.key("contact").index(*index),
        Element::Contact(None) => root.key("contact_default"),
        Element::Model if error.field == "gravity" => root.key("simulation"),
        _ => root.clone(),
    };
    at.model_error(error)
}
