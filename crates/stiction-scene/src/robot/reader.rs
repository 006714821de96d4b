//! Common parts of both readers: notes on contents without effect, unknown words, and checks of the whole robot.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::Matrix3;

use super::{
    ReadOptions,
    description::{ConstraintKind, Format, JointId, Link, LinkId, Note, Robot},
    files::{Files, Place, Refusal},
    rigid::LinkPlaces,
    xml::{Attribute, Element},
};
use crate::suggest;

/// Largest number of different notes; the last one says that there are more.
const MAX_NOTES: usize = 1000;

/// Files, options and notes.
pub(super) struct Reader {
    pub(super) files: Files,
    pub(super) options: ReadOptions,
    notes: Vec<(Place, Note)>,
    known: BTreeMap<(String, String), usize>,
    /// Place that names each mesh first.
    pub(super) references: BTreeMap<String, String>,
}

/// Attributes of an element: those that are read, and those that are known to have no effect here.
pub(super) struct Words {
    /// Attributes that are read.
    pub(super) read: &'static [&'static str],
    /// Attributes without influence on motion: visual properties, groups and the like.
    pub(super) quiet: &'static [&'static str],
    /// Physical properties that are not supported.
    pub(super) noted: &'static [&'static str],
}

impl Reader {
    pub(super) fn new(files: Files, options: &ReadOptions) -> Self {
        let (notes, known, references) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Self { files, options: options.clone(), notes, known, references }
    }

    /// Adds a note on contents without effect.
    pub(super) fn note(&mut self, place: &Place, what: String, reason: &str) {
        let key = (what, reason.to_owned());
        if let Some((_, note)) = self.known.get(&key).and_then(|&at| self.notes.get_mut(at)) {
            note.count += 1;
            return;
        }
        let (what, reason) = match self.notes.len() {
            MAX_NOTES.. => ("more".to_owned(), "further contents without effect are not listed".to_owned()),
            _ => key.clone(),
        };
        self.known.insert(key, self.notes.len().min(MAX_NOTES));
        if self.notes.len() > MAX_NOTES {
            return;
        }
        let located = self.files.locate(place.refuse(""));
        let note = Note { file: located.file, line: located.line, column: located.column, what, reason, count: 1 };
        self.notes.push((place.clone(), note));
    }

    /// Notes the attributes that are neither read nor known to have no effect, misspelt ones with the nearest known word.
    pub(super) fn check_attributes(&mut self, element: &Element, words: &Words) {
        for attribute in &element.attributes {
            let name = attribute.name.as_str();
            if words.read.contains(&name) || words.quiet.contains(&name) {
                continue;
            }
            let what = format!("{} {name}", element.tag);
            if words.noted.contains(&name) {
                self.note(&attribute.place, what, "is not supported");
                continue;
            }
            self.note(&attribute.place, what, &unknown(name, &[words.read, words.quiet, words.noted].concat()));
        }
    }

    /// Notes an element that is not read, a misspelt one with the nearest known word.
    pub(super) fn not_read(&mut self, element: &Element, read: &[&str], noted: &[&str]) {
        let tag = element.tag.as_str();
        let known = [read, noted].concat();
        let reason = if noted.contains(&tag) { "is not supported".to_owned() } else { unknown(tag, &known) };
        self.note(&element.place, format!("<{tag}>"), &reason);
    }

    /// Returns a path of the file as one below the asset root.
    pub(super) fn path(&mut self, attribute: &Attribute, folder: &str) -> Result<String, Refusal> {
        let joined = if folder.is_empty() { attribute.value.clone() } else { format!("{folder}/{}", attribute.value) };
        // A folder in front must not hide that the name itself is absolute.
        let reference = if attribute.value.starts_with('/') { &attribute.value } else { &joined };
        let path = self.files.resolved(reference).map_err(|message| attribute.refuse(message))?;
        let path = path.display().to_string();
        let located = self.files.locate(attribute.place.refuse(""));
        let place = format!("{}:{}:{}", located.file, located.line, located.column);
        self.references.entry(path.clone()).or_insert(place);
        Ok(path)
    }

    /// Notes the inertia of a link without mass, which has no effect.
    pub(super) fn massless(&mut self, place: &Place, link: &str, inertia: &Matrix3<f64>) {
        if *inertia != Matrix3::zeros() {
            self.note(place, format!("inertia of link \"{link}\""), "has no effect because the link has no mass");
        }
    }

    /// Fixes a link of a URDF whose joint moves no mass, with a note; `MuJoCo` has no such models, and they are refused.
    fn hold(&mut self, robot: &mut Robot, index: usize, places: &[LinkPlaces]) -> Result<(), Refusal> {
        let (Some(link), Some(place)) = (robot.links.get_mut(index), places.get(index)) else { return Ok(()) };
        let joint = link.joints.first().map_or("", |joint| joint.name.as_str());
        if robot.format == Format::Mjcf {
            let message = format!("joint \"{joint}\" moves link \"{}\", but no link behind it has a mass", link.name);
            return Err(place.link.refuse(message).hint("give the link an <inertial>, or an armature to the joint"));
        }
        let what = format!("joint \"{joint}\"");
        self.note(&place.link, what, "is fixed, because no link behind it has a mass");
        link.joints.clear();
        let held = |id: &JointId| id.link == LinkId(index);
        robot.constraints.retain(|constraint| match &constraint.kind {
            ConstraintKind::Couple { follower, leader, .. } => !held(follower) && !leader.as_ref().is_some_and(held),
            _ => true,
        });
        Ok(())
    }

    /// Completes the robot: generates names, checks that joints move mass, and adds the notes.
    pub(super) fn finish(&mut self, mut robot: Robot, places: &[LinkPlaces]) -> Result<Robot, Refusal> {
        give_names(&mut robot);
        for link in joints_without_mass(&robot) {
            self.hold(&mut robot, link, places).map_err(|refusal| {
                let unknown =
                    |note: &&Note| note.what.starts_with("mass of ") && note.reason.starts_with("is not computed");
                let reason = self.notes.iter().map(|(_, note)| note).find(unknown);
                reason.map_or(refusal.clone(), |note| refusal.hint(format!("{} {}", note.what, note.reason)))
            })?;
        }
        self.check_inertias(&mut robot, places)?;
        robot.references = std::mem::take(&mut self.references);
        robot.unsupported = std::mem::take(&mut self.notes).into_iter().map(|(_, note)| note).collect();
        Ok(robot)
    }
}

/// Returns the reason for an unknown word.
fn unknown(word: &str, known: &[&str]) -> String {
    match suggest::nearest(word, known) {
        Some(near) => format!("is not known: did you mean {near}?"),
        None => "is not known".to_owned(),
    }
}

/// Returns the links whose joints move neither mass nor armature: they could be accelerated without force.
fn joints_without_mass(robot: &Robot) -> Vec<usize> {
    let mut below: Vec<f64> = robot.links.iter().map(|link| link.inertial.map_or(0.0, |own| own.mass)).collect();
    let mut found = Vec::new();
    for (index, link) in robot.links.iter().enumerate().rev() {
        let own = below.get(index).copied().unwrap_or(0.0);
        if let Some(sum) = link.parent.and_then(|LinkId(parent)| below.get_mut(parent)) {
            *sum += own;
        }
        if own <= 0.0 && link.joints.iter().any(|joint| joint.armature <= 0.0) {
            found.push(index);
        }
    }
    found
}

/// Generates names for elements without one.
fn give_names(robot: &mut Robot) {
    let links = robot.links.iter_mut().map(|link: &mut Link| &mut link.name).collect();
    name_all(links, "link");
    let joints = robot.links.iter_mut().flat_map(|link| &mut link.joints).map(|joint| &mut joint.name).collect();
    name_all(joints, "joint");
    name_all(robot.actuators.iter_mut().map(|actuator| &mut actuator.name).collect(), "actuator");
    name_all(robot.sites.iter_mut().map(|site| &mut site.name).collect(), "site");
}

fn name_all(names: Vec<&mut String>, kind: &str) {
    let given: BTreeSet<String> = names.iter().map(|name| (**name).clone()).collect();
    for (number, name) in names.into_iter().enumerate().filter(|(_, name)| name.is_empty()) {
        *name = format!("{kind} {number}");
        while given.contains(name.as_str()) {
            name.push('\'');
        }
    }
}
