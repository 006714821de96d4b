//! What URDF and MJCF have in common: a tree of links, and what acts on it.
//!
//! Link 0 is the world. Every other link hangs on an earlier one, by no joint (fixed) or by joints one after another:
//!
//! ```text
//! pose in parent = origin · J₁(q₁) · J₂(q₂) · …     J = T(anchor) · R(axis, q − reference) · T(−anchor)   for a hinge
//! ```
//!
//! with anchor and axis in the frame of the link itself. A free joint replaces the whole product by its own pose.

use std::path::PathBuf;

use nalgebra::{Isometry3, Matrix3, Point3, Unit, Vector3};

/// A robot, or a whole scene of bodies, as read from URDF or MJCF.
#[derive(Clone, Debug)]
pub struct Robot {
    /// The name in the file.
    pub name: String,
    /// Whose rules it follows where the files do not say.
    pub format: Format,
    /// The folder that paths of meshes start from; `None` where the robot was read from a text.
    pub assets: Option<PathBuf>,
    /// The links; the first is the world, and parents stand before their children.
    pub links: Vec<Link>,
    /// Frames that actuators and constraints refer to.
    pub sites: Vec<Site>,
    /// What drives joints.
    pub actuators: Vec<Actuator>,
    /// What closes loops and couples joints.
    pub constraints: Vec<Constraint>,
    /// Pairs of links that never touch each other.
    pub excludes: Vec<[LinkId; 2]>,
    /// States of the whole robot by name.
    pub keyframes: Vec<Keyframe>,
    /// Acceleration of gravity; `None` where the file does not say (URDF).
    pub gravity: Option<Vector3<f64>>,
    /// Step of the simulation in seconds, where the file says.
    pub timestep: Option<f64>,
    /// Everything in the file that has no effect here, with place and reason.
    pub unsupported: Vec<Note>,
}

/// A format of robots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// That of ROS.
    Urdf,
    /// That of `MuJoCo`.
    Mjcf,
}

/// Index of a link in [`Robot::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub usize);

/// A joint: the link it moves, and its number among the joints of that link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId {
    /// The link that moves.
    pub link: LinkId,
    /// Which of its joints, from 0.
    pub joint: usize,
}

/// A rigid part.
#[derive(Clone, Debug)]
pub struct Link {
    /// The name in the file, or one made up where it has none.
    pub name: String,
    /// The link it hangs on; `None` for the world.
    pub parent: Option<LinkId>,
    /// Pose in the parent where all joints are at their references.
    pub origin: Isometry3<f64>,
    /// Joints to the parent, one after another; none: fixed.
    pub joints: Vec<Joint>,
    /// Mass and inertia, given or inferred from the shapes; `None`: massless.
    pub inertial: Option<Inertial>,
    /// Shapes that touch others.
    pub shapes: Vec<Shape>,
}

/// Mass, centre and inertia of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertial {
    /// Mass in kilograms.
    pub mass: f64,
    /// Centre of mass in the frame of the link.
    pub centre: Point3<f64>,
    /// Inertia about the centre of mass, along the axes of the link.
    pub inertia: Matrix3<f64>,
}

/// A joint between a link and its parent.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The name in the file, or one made up where it has none.
    pub name: String,
    /// How it moves.
    pub kind: JointKind,
    /// A point of the axis, in the frame of the link.
    pub anchor: Point3<f64>,
    /// The axis in the frame of the link; normal of the plane for a planar joint; of no meaning for ball and free joints.
    pub axis: Unit<Vector3<f64>>,
    /// Least and greatest coordinate.
    pub limits: Option<[f64; 2]>,
    /// Greatest speed (URDF).
    pub speed_limit: Option<f64>,
    /// Greatest force or torque of what drives it (URDF).
    pub effort_limit: Option<f64>,
    /// Coordinate at which the link stands at its origin.
    pub reference: f64,
    /// Viscous damping.
    pub damping: f64,
    /// Dry friction: the greatest force or torque that the joint resists with.
    pub friction: f64,
    /// Inertia added to the coordinate.
    pub armature: f64,
    /// Stiffness of the spring in the joint.
    pub stiffness: f64,
    /// Coordinate at which the spring is at rest.
    pub spring_reference: f64,
}

/// How a joint moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Rotation about the axis.
    Revolute,
    /// Translation along the axis.
    Prismatic,
    /// Any rotation about the anchor.
    Ball,
    /// Translation in the plane normal to the axis, and rotation about it.
    Planar,
    /// Any motion.
    Free,
}

impl JointKind {
    /// Number of velocities.
    pub fn dof(self) -> usize {
        match self {
            Self::Revolute | Self::Prismatic => 1,
            Self::Ball | Self::Planar => 3,
            Self::Free => 6,
        }
    }

    /// Number of coordinates in keyframes: rotations in space are quaternions.
    pub fn coordinates(self) -> usize {
        match self {
            Self::Ball | Self::Free => self.dof() + 1,
            _ => self.dof(),
        }
    }
}

/// A collision shape on a link.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The name in the file, where it has one.
    pub name: Option<String>,
    /// Its form.
    pub form: Form,
    /// Pose in the frame of the link.
    pub origin: Isometry3<f64>,
    /// Coefficients of sliding, torsional and rolling friction, where the file says.
    pub friction: Option<[f64; 3]>,
    /// What friction resists: nothing (1), sliding (3), spinning as well (4), rolling as well (6); of two shapes the greater counts.
    pub dimension: u8,
    /// Shapes touch where the type of one has a bit in common with the affinity of the other.
    pub contact_type: u32,
    /// See [`Shape::contact_type`].
    pub contact_affinity: u32,
}

/// Form of a shape; axes of revolution are z.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Half the edges.
    Box(Vector3<f64>),
    /// Radius.
    Sphere(f64),
    /// Radius, and half the length of the straight part.
    Capsule(f64, f64),
    /// Radius, and half the length.
    Cylinder(f64, f64),
    /// The three half axes.
    Ellipsoid(Vector3<f64>),
    /// The half-space below z = 0.
    Plane,
    /// A mesh by its path below the asset root, and its scale.
    Mesh(String, Vector3<f64>),
}

/// A frame on a link.
#[derive(Clone, Debug)]
pub struct Site {
    /// The name in the file, or one made up.
    pub name: String,
    /// The link it is on.
    pub link: LinkId,
    /// Pose in the frame of the link.
    pub origin: Isometry3<f64>,
}

/// What drives a joint: force = gear · law(control, gear · coordinate, gear · velocity).
#[derive(Clone, Debug)]
pub struct Actuator {
    /// The name in the file, or one made up.
    pub name: String,
    /// The joint.
    pub joint: JointId,
    /// Gear ratio for every velocity of the joint; the first entry for joints of one.
    pub gear: [f64; 6],
    /// How force follows from control.
    pub law: ActuatorLaw,
    /// Range of the control.
    pub control_limits: Option<[f64; 2]>,
    /// Range of the force before the gear.
    pub force_limits: Option<[f64; 2]>,
}

/// How the force of an actuator follows from its control u, the coordinate q and the velocity v, after the gear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ActuatorLaw {
    /// u
    Motor,
    /// stiffness · (u − q) − damping · v
    Position {
        /// Gain of the position error.
        stiffness: f64,
        /// Gain of the velocity.
        damping: f64,
    },
    /// gain · (u − v)
    Velocity {
        /// Gain of the velocity error.
        gain: f64,
    },
    /// gain · u + bias₀ + bias₁ q + bias₂ v
    Affine {
        /// Gain of the control.
        gain: f64,
        /// The three terms that do not depend on the control.
        bias: [f64; 3],
    },
}

/// What closes a loop or couples joints.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// The name in the file, where it has one.
    pub name: Option<String>,
    /// Whether it acts from the start.
    pub active: bool,
    /// What it demands.
    pub kind: ConstraintKind,
}

/// What a constraint demands.
#[derive(Clone, Debug)]
pub enum ConstraintKind {
    /// A point of one link stays at a point of another.
    Connect {
        /// The links.
        links: [LinkId; 2],
        /// The points in the frames of the links; `None`: where the first is when nothing has moved.
        anchors: [Option<Point3<f64>>; 2],
    },
    /// A frame of one link stays at a frame of another.
    Weld {
        /// The links.
        links: [LinkId; 2],
        /// Frames in the links; `None`: the relative pose is that where nothing has moved.
        frames: Option<[Isometry3<f64>; 2]>,
    },
    /// q − q₀ = polynomial(p − p₀), of coordinates against their references; without a second joint q is constant.
    Couple {
        /// The joint that follows.
        follower: JointId,
        /// The joint that leads.
        leader: Option<JointId>,
        /// Coefficients, constant first.
        polynomial: [f64; 5],
    },
}

/// A state by name.
#[derive(Clone, Debug)]
pub struct Keyframe {
    /// The name in the file, where it has one.
    pub name: Option<String>,
    /// Time in seconds.
    pub time: f64,
    /// Coordinates of all joints in the order of links; quaternions as w, x, y, z.
    pub coordinates: Option<Vec<f64>>,
    /// Velocities of all joints.
    pub velocities: Option<Vec<f64>>,
    /// Controls of all actuators.
    pub controls: Option<Vec<f64>>,
}

/// Something of the file that has no effect here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The file.
    pub file: String,
    /// Line of its first occurrence, from 1.
    pub line: u32,
    /// Column of its first occurrence, from 1.
    pub column: u32,
    /// The element, or element and attribute.
    pub what: String,
    /// Why it has no effect.
    pub reason: String,
    /// How often it occurs.
    pub count: usize,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}: {}: {}", self.file, self.line, self.column, self.what, self.reason)?;
        if self.count > 1 { write!(f, " ({} times)", self.count) } else { Ok(()) }
    }
}

impl Robot {
    /// The mass of all links.
    pub fn mass(&self) -> f64 {
        self.links.iter().filter_map(|link| link.inertial).fold(0.0, |sum, inertial| sum + inertial.mass)
    }

    /// Number of velocities of all joints.
    pub fn dof(&self) -> usize {
        self.joints().map(|(_, joint)| joint.kind.dof()).sum()
    }

    /// Number of coordinates of all joints.
    pub fn coordinates(&self) -> usize {
        self.joints().map(|(_, joint)| joint.kind.coordinates()).sum()
    }

    /// All joints in the order of their links.
    pub fn joints(&self) -> impl Iterator<Item = (JointId, &Joint)> {
        self.links.iter().enumerate().flat_map(|(link, moved)| {
            let id = move |joint| JointId { link: LinkId(link), joint };
            moved.joints.iter().enumerate().map(move |(k, joint)| (id(k), joint))
        })
    }

    /// The link of this name.
    pub fn link(&self, name: &str) -> Option<LinkId> {
        self.links.iter().position(|link| link.name == name).map(LinkId)
    }

    /// The joint of this name.
    pub fn joint(&self, name: &str) -> Option<JointId> {
        self.joints().find(|(_, joint)| joint.name == name).map(|(id, _)| id)
    }
}
