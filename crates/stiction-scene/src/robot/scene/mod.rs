//! A robot as a scene file: the text that the ordinary reader of scenes reads.
//!
//! ```text
//! Robot ─► tree at the state of the start ─► bodies, joints, drives, contacts ─► text
//! ```
//!
//! Links without joints become part of the body they are fixed on, with mass and shapes; joints one after another on one link get
//! frames without mass between them. What has no effect in the scene is listed on top of it.

mod bodies;
mod contacts;
mod drives;
mod joints;
mod loops;
mod shapes;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::Isometry3;
use stiction_multibody::articulated::Kinematics;

use super::{
    description::{Format, Joint, JointId, Keyframe, LinkId, Robot, Shape},
    tree::{GRAVITY, RobotTree},
};
use crate::{MAX_FILE_SIZE, SceneError};
use text::Text;

/// Duration of the simulation where nothing else is asked for, s.
const DURATION: f64 = 10.0;
/// Step of the simulation where the file does not say, s.
const STEP: f64 = 0.002;

/// Group 1, which meets group 0: all shapes of a scene that says nothing of groups.
const OWN_GROUP: [u32; 2] = [0b10, 0b01];

/// How a robot becomes a scene.
#[derive(Clone, Debug, Default)]
pub struct SceneOptions {
    /// The state it starts from: a keyframe by name, or by number from 0; the reference pose at rest unless given.
    pub keyframe: Option<String>,
    /// Whether the links of a URDF touch each other; many of their shapes overlap, and programs that read URDF leave it off. Links of MJCF
    /// touch each other as their file says.
    pub self_collision: bool,
    /// Whether meshes become several convex pieces instead of one convex hull.
    pub decompose: bool,
}

/// A scene made from a robot.
#[derive(Clone, Debug)]
pub struct SceneText {
    /// The scene file.
    pub text: String,
    /// Everything of the robot's files that has no effect in the scene, a sentence each; also on top of the text.
    pub notes: Vec<String>,
}

impl Robot {
    /// The robot as a scene file; `file_name` is for messages.
    pub fn to_scene(&self, file_name: &str, options: &SceneOptions) -> Result<SceneText, SceneError> {
        let wrong = |message: String| SceneError::without_place(file_name, message);
        let keyframe = options.keyframe.as_ref().map(|name| self.keyframe(name)).transpose().map_err(wrong)?;
        let tree = self.tree().map_err(|error| wrong(error.to_string()))?;
        let q = keyframe.and_then(|key| key.coordinates.clone()).unwrap_or_else(|| tree.initial().to_vec());
        let v = keyframe.and_then(|key| key.velocities.clone()).unwrap_or_else(|| vec![0.0; self.dof()]);
        let at = tree.at(&q, &v).map_err(|error| wrong(error.to_string()))?;
        let carriers = self.carriers();
        let mut names = Names::default();
        let bodies = bodies::names(self, &carriers, &mut names);
        let mut making = Making {
            robot: self,
            tree,
            at,
            q,
            keyframe,
            decompose: options.decompose,
            own_group: self.format == Format::Urdf && !options.self_collision,
            parts: bodies::parts(self, &carriers),
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
        making.settings();
        making.add_bodies()?;
        making.add_joints();
        making.add_loops();
        making.add_actuators();
        making.add_contacts();
        let Making { text, notes, .. } = making;
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
                [] => format!("has no keyframe \"{name}\": there are {}, without names", self.keyframes.len()),
                _ => format!("has no keyframe \"{name}\": there are {}", known.join(", ")),
            }
        })
    }

    /// For every link the one whose body it is part of: itself where it has joints, the world where nothing moves it.
    fn carriers(&self) -> Vec<usize> {
        let mut carriers = Vec::with_capacity(self.links.len());
        for (index, link) in self.links.iter().enumerate() {
            let above = link.parent.and_then(|LinkId(parent)| carriers.get(parent).copied());
            carriers.push(if link.joints.is_empty() { above.unwrap_or(0) } else { index });
        }
        carriers
    }

    fn joint_of(&self, id: JointId) -> Option<&Joint> {
        self.links.get(id.link.0)?.joints.get(id.joint)
    }
}

/// A scene in the making.
struct Making<'r> {
    robot: &'r Robot,
    tree: RobotTree,
    at: Kinematics,
    /// Coordinates at the start.
    q: Vec<f64>,
    keyframe: Option<&'r Keyframe>,
    /// Whether meshes become convex pieces.
    decompose: bool,
    /// Whether its shapes are a group of their own, which meets others but not itself.
    own_group: bool,
    carriers: Vec<usize>,
    /// Links of the body of every link with joints, and their poses in it.
    parts: Vec<Vec<(usize, Isometry3<f64>)>>,
    /// Names of bodies by link; `None` for links that have none of their own.
    bodies: Vec<Option<String>>,
    names: Names,
    /// Names of the frames behind joints that are not the last of their link.
    frames: BTreeMap<JointId, String>,
    /// Names of the joints in the scene.
    joints: BTreeMap<JointId, String>,
    joint_names: Names,
    motor_names: Names,
    coupling_names: Names,
    /// Pairs of links that a joint of the robot itself joins: their bodies do not touch.
    children: BTreeSet<[usize; 2]>,
    /// Pairs of links that a closed loop joins: their bodies would not touch unless a rule says so.
    joined: BTreeSet<[usize; 2]>,
    /// Pairs of links whose bodies must not touch.
    apart: BTreeSet<[usize; 2]>,
    text: Text,
    notes: Vec<String>,
}

impl Making<'_> {
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
    }

    /// Remembers what has no effect in the scene; each sentence once.
    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The groups that a shape belongs to and those that it meets, as bits.
    fn filter(&self, shape: &Shape) -> [u32; 2] {
        if self.own_group { OWN_GROUP } else { [shape.contact_type, shape.contact_affinity] }
    }

    /// The body that a link is part of; the world for what never moves.
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

/// Names that are taken.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    /// The name, made different from all before it; `world` is the fixed frame.
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
