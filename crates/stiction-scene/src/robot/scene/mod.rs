//! A robot as a scene file: text for the ordinary reader of scenes.
//!
//! ```text
//! Robot ─► tree at the initial state ─► bodies, joints, actuators, contacts ─► text
//! ```
//!
//! Links without joints become part of the body they are fixed to, with mass and shapes. Joints in series on one link
//! have massless frames between them. The head of the file lists what has no effect in the scene.

mod actuators;
mod bodies;
mod contacts;
mod joints;
mod loads;
mod loops;
mod shapes;
mod sites;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::Isometry3;
use stiction_multibody::articulated::Kinematics;

use super::{
    description::{Format, Joint, JointId, Keyframe, LinkId, Robot, Shape},
    rigid,
    tree::{GRAVITY, RobotTree},
};
use crate::{MAX_FILE_SIZE, SceneError};
use text::Text;

/// Default duration of the simulation, s.
const DURATION: f64 = 10.0;
/// Default time step, s.
const STEP: f64 = 0.002;

/// Speeds in m/s, rad/s and m/s at which joints beyond their limits, open loops and overlaps of the start close. They are slow, because many files begin
/// in a pose with all coordinates zero, which nobody means: near a stretched arm a fast correction swings whole robots.
const CLOSING_SPEED: &str = "{ linear = 0.05, angular = 0.2, overlap = 0.05 }";

/// Groups of URDF shapes: group 1, which meets group 0, the group of all shapes in a scene without groups.
const OWN_GROUP: [u32; 2] = [0b10, 0b01];

/// Options for the conversion of a robot to a scene.
#[derive(Clone, Debug, Default)]
pub struct SceneOptions {
    /// Initial state: a keyframe by name, or by number from 0. Default: the reference pose at rest.
    pub keyframe: Option<String>,
    /// True if the links of a URDF collide with each other. Many of their shapes overlap, and programs that read URDF
    /// disable this. Links of MJCF collide as their file says.
    pub self_collision: bool,
    /// True to replace meshes by several convex parts instead of one convex hull.
    pub decompose: bool,
}

/// A scene made from a robot.
#[derive(Clone, Debug)]
pub struct SceneText {
    /// Scene file.
    pub text: String,
    /// Contents of the robot's files that have no effect in the scene, a sentence each; also at the head of the text.
    pub notes: Vec<String>,
}

impl Robot {
    /// Returns the robot as a scene file; `file_name` is for messages.
    pub fn to_scene(&self, file_name: &str, options: &SceneOptions) -> Result<SceneText, SceneError> {
        let wrong = |message: String| SceneError::without_place(file_name, &message);
        let keyframe = options.keyframe.as_ref().map(|name| self.keyframe(name)).transpose().map_err(wrong)?;
        let tree = self.tree().map_err(|error| wrong(error.to_string()))?;
        let q = keyframe.and_then(|key| key.coordinates.clone()).unwrap_or_else(|| tree.initial().to_vec());
        let v = keyframe.and_then(|key| key.velocities.clone()).unwrap_or_else(|| vec![0.0; self.dof()]);
        let at = tree.at(&q, &v).map_err(|error| wrong(error.to_string()))?;
        let carriers = rigid::carriers(self);
        let mut names = Names::default();
        let bodies = bodies::names(self, &carriers, &mut names);
        let mut writer = SceneWriter {
            robot: self,
            tree,
            at,
            q,
            keyframe,
            decompose: options.decompose,
            own_group: self.format == Format::Urdf && !options.self_collision,
            parts: rigid::parts(self, &carriers),
            carriers,
            bodies,
            names,
            frames: BTreeMap::new(),
            joints: BTreeMap::new(),
            joint_names: Names::default(),
            motor_names: Names::default(),
            coupling_names: Names::default(),
            children: BTreeSet::new(),
            joined: BTreeSet::new(),
            apart: BTreeSet::new(),
            text: Text::default(),
            notes: self.unsupported.iter().map(ToString::to_string).collect(),
        };
        writer.settings();
        writer.add_bodies()?;
        writer.add_joints();
        writer.add_loops();
        writer.add_actuators();
        writer.add_sites();
        writer.add_loads();
        writer.add_contacts();
        let SceneWriter { text, notes, .. } = writer;
        let whole = format!("{}{}", head(self, &notes), text.finish());
        if whole.len() as u64 > MAX_FILE_SIZE {
            let message = format!("becomes a scene of more than {MAX_FILE_SIZE} bytes, the limit for scene files");
            return Err(wrong(message));
        }
        Ok(SceneText { text: whole, notes })
    }

    fn keyframe(&self, name: &str) -> Result<&Keyframe, String> {
        let named = self.keyframes.iter().find(|key| key.name.as_deref() == Some(name));
        let numbered = || name.parse::<usize>().ok().and_then(|number| self.keyframes.get(number));
        named.or_else(numbered).ok_or_else(|| {
            let known: Vec<_> = self.keyframes.iter().filter_map(|key| key.name.as_deref()).collect();
            match known.as_slice() {
                [] if self.keyframes.is_empty() => "has no keyframes".to_owned(),
                [] => format!("has no keyframe \"{name}\": there are {}, without names", self.keyframes.len()),
                _ => format!("has no keyframe \"{name}\": there are {}", known.join(", ")),
            }
        })
    }

    fn joint_of(&self, id: JointId) -> Option<&Joint> {
        self.links.get(id.link.0)?.joints.get(id.joint)
    }
}

/// A scene file under construction.
struct SceneWriter<'r> {
    robot: &'r Robot,
    tree: RobotTree,
    at: Kinematics,
    /// Coordinates at the start.
    q: Vec<f64>,
    keyframe: Option<&'r Keyframe>,
    /// True if meshes become convex parts.
    decompose: bool,
    /// True if the shapes form a group of their own, which meets others but not itself.
    own_group: bool,
    carriers: Vec<usize>,
    /// Links of the body of every link with joints, and their poses in it.
    parts: Vec<Vec<(usize, Isometry3<f64>)>>,
    /// Names of bodies by link; `None` for links without a body of their own.
    bodies: Vec<Option<String>>,
    names: Names,
    /// Names of the frames behind joints that are not the last of their link.
    frames: BTreeMap<JointId, String>,
    /// Names of the joints in the scene.
    joints: BTreeMap<JointId, String>,
    joint_names: Names,
    motor_names: Names,
    coupling_names: Names,
    /// Pairs of links that a joint of the robot connects: their bodies do not collide.
    children: BTreeSet<[usize; 2]>,
    /// Pairs of links that a closed loop connects: their bodies collide only by a rule.
    joined: BTreeSet<[usize; 2]>,
    /// Pairs of links whose bodies must not collide.
    apart: BTreeSet<[usize; 2]>,
    text: Text,
    notes: Vec<String>,
}

impl SceneWriter<'_> {
    fn settings(&mut self) {
        let gravity = self.robot.gravity.unwrap_or(GRAVITY);
        let text = &mut self.text;
        text.table("simulation");
        text.number("duration", DURATION);
        text.number("step", self.robot.timestep.unwrap_or(STEP));
        text.numbers("gravity", gravity.as_slice());
        text.key("dimension", 3);
        text.later_table("scheme");
        text.string("coordinates", "reduced");
        text.key("joint_closing_speed", CLOSING_SPEED);
    }

    /// Adds a note on something without effect in the scene; each note once.
    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns the groups of a shape and those it meets, as bits.
    fn filter(&self, shape: &Shape) -> [u32; 2] {
        if self.own_group { OWN_GROUP } else { [shape.contact_type, shape.contact_affinity] }
    }

    /// Returns the body that a link is part of; the world for fixed links.
    fn body_of(&self, link: usize) -> &str {
        let carrier = self.carriers.get(link).copied().unwrap_or(0);
        match self.bodies.get(carrier) {
            Some(Some(name)) if carrier > 0 => name,
            _ => "world",
        }
    }

    fn carrier(&self, link: LinkId) -> usize {
        self.carriers.get(link.0).copied().unwrap_or(0)
    }
}

/// Names in use.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    /// Returns the name, made unique; `world` is the fixed frame.
    fn unique(&mut self, name: &str) -> String {
        let mut own = if name.is_empty() || name == "world" { format!("{name}'") } else { name.to_owned() };
        while !self.0.insert(own.clone()) {
            own.push('\'');
        }
        own
    }
}

fn pair(a: usize, b: usize) -> [usize; 2] {
    [a.min(b), a.max(b)]
}

fn head(robot: &Robot, notes: &[String]) -> String {
    let format = match robot.format {
        Format::Urdf => "URDF",
        Format::Mjcf => "MJCF",
    };
    let mut head = format!("# The robot \"{}\", from {format}.\n", text::plain(&robot.name));
    if !notes.is_empty() {
        head.push_str("#\n# Without effect here:\n");
    }
    for note in notes {
        head.extend(["#   ", &text::plain(note), "\n"]);
    }
    head.push('\n');
    head
}
