//! Common description of URDF and MJCF: a tree of links, and actuators and constraints on it.
//!
//! Link 0 is the world. Every other link has an earlier link as its parent, to which it is fixed (no joint) or
//! connected by joints in series, unless a program drives it:
//!
//! ```text
//! pose in parent = origin · J₁(q₁) · J₂(q₂) · …     J = T(anchor) · R(axis, q − reference) · T(−anchor)   for a hinge
//! ```
//!
//! with anchor and axis in the frame of the link itself. A free joint replaces the whole product by its own pose.

use std::{collections::BTreeMap, path::PathBuf};

use nalgebra::{Isometry3, Matrix3, Point3, Unit, Vector3};

/// A robot, or a whole scene of bodies, as read from URDF or MJCF.
#[derive(Clone, Debug)]
pub struct Robot {
    /// Name in the file.
    pub name: String,
    /// Format, which determines the defaults.
    pub format: Format,
    /// Root folder of mesh paths; `None` if the robot was read from a text.
    pub assets: Option<PathBuf>,
    /// Place `file:line:column` that names each mesh first, by its path.
    pub references: BTreeMap<String, String>,
    /// Links; the first is the world, and parents precede their children.
    pub links: Vec<Link>,
    /// Frames that actuators and constraints refer to.
    pub sites: Vec<Site>,
    /// Actuators of joints.
    pub actuators: Vec<Actuator>,
    /// Constraints that close loops or couple joints.
    pub constraints: Vec<Constraint>,
    /// Pairs of links that never collide.
    pub excludes: Vec<[LinkId; 2]>,
    /// States of the whole robot, by name.
    pub keyframes: Vec<Keyframe>,
    /// Gravitational acceleration, m/s²; `None` if the file does not give it (URDF).
    pub gravity: Option<Vector3<f64>>,
    /// Time step, s, if the file gives it.
    pub timestep: Option<f64>,
    /// Contents of the file without effect here, with place and reason.
    pub unsupported: Vec<Note>,
}

/// Robot file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// URDF, of ROS.
    Urdf,
    /// MJCF, of `MuJoCo`.
    Mjcf,
}

/// Index of a link in [`Robot::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub usize);

/// A joint: the link it moves, and its number among the joints of that link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId {
    /// Link that moves.
    pub link: LinkId,
    /// Number among the joints of the link, from 0.
    pub joint: usize,
}

/// A rigid part.
#[derive(Clone, Debug)]
pub struct Link {
    /// Name in the file, or a generated one.
    pub name: String,
    /// Parent link; `None` for the world.
    pub parent: Option<LinkId>,
    /// Pose in the parent with all joints at their references.
    pub origin: Isometry3<f64>,
    /// Joints to the parent, in series; a link without joints is fixed, or driven.
    pub joints: Vec<Joint>,
    /// True if a program moves the link (a mocap body).
    pub driven: bool,
    /// Part of its weight that a force on its centre of mass balances.
    pub gravity_compensation: f64,
    /// Mass and inertia, given or computed from the shapes; `None` for a massless link.
    pub inertial: Option<Inertial>,
    /// Collision shapes.
    pub shapes: Vec<Shape>,
}

/// Mass, centre of mass and inertia of a link.
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
    /// Name in the file, or a generated one.
    pub name: String,
    /// Kind of motion.
    pub kind: JointKind,
    /// A point of the axis, in the frame of the link.
    pub anchor: Point3<f64>,
    /// Axis in the frame of the link; normal of the plane for a planar joint; unused for ball and free joints.
    pub axis: Unit<Vector3<f64>>,
    /// Lower and upper limit of the coordinate.
    pub limits: Option<[f64; 2]>,
    /// Speed limit (URDF).
    pub speed_limit: Option<f64>,
    /// Limit of the actuator force or torque (URDF).
    pub effort_limit: Option<f64>,
    /// Coordinate at which the link is at its origin.
    pub reference: f64,
    /// Viscous damping.
    pub damping: f64,
    /// Dry friction: largest friction force or torque of the joint.
    pub friction: f64,
    /// Inertia added to the coordinate (armature).
    pub armature: f64,
    /// Stiffness of the joint spring.
    pub stiffness: f64,
    /// Rest coordinate of the spring.
    pub spring_reference: f64,
}

/// Motion that a joint allows.
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
    /// Name in the file, if given.
    pub name: Option<String>,
    /// Geometric form.
    pub form: Form,
    /// Pose in the frame of the link.
    pub origin: Isometry3<f64>,
    /// Coefficients of sliding, torsional and rolling friction, if given.
    pub friction: Option<[f64; 3]>,
    /// Friction resists nothing (1), sliding (3), spinning too (4), rolling too (6). The greater of two shapes
    /// counts.
    pub dimension: u8,
    /// Collision bits. Two shapes collide if the type of one has a bit in common with the affinity of the other.
    pub contact_type: u32,
    /// See [`Shape::contact_type`].
    pub contact_affinity: u32,
}

/// Form of a shape; axes of revolution are z.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Box by half its edge lengths.
    Box(Vector3<f64>),
    /// Sphere by its radius.
    Sphere(f64),
    /// Capsule by its radius and half the length of the straight part.
    Capsule(f64, f64),
    /// Cylinder by its radius and half its length.
    Cylinder(f64, f64),
    /// Ellipsoid by its semi-axes.
    Ellipsoid(Vector3<f64>),
    /// Half-space below z = 0.
    Plane,
    /// A mesh by its path below the asset root, and its scale.
    Mesh(String, Vector3<f64>),
}

/// A frame on a link.
#[derive(Clone, Debug)]
pub struct Site {
    /// Name in the file, or a generated one.
    pub name: String,
    /// Link that carries the frame.
    pub link: LinkId,
    /// Pose in the frame of the link.
    pub origin: Isometry3<f64>,
}

/// An actuator of a joint: force = gear · law(control, gear · coordinate, gear · velocity).
#[derive(Clone, Debug)]
pub struct Actuator {
    /// Name in the file, or a generated one.
    pub name: String,
    /// Driven joint.
    pub joint: JointId,
    /// Gear ratio of each velocity of the joint; joints with one DOF use the first entry.
    pub gear: [f64; 6],
    /// Force law.
    pub law: ActuatorLaw,
    /// Range of the control.
    pub control_limits: Option<[f64; 2]>,
    /// Range of the force before the gear.
    pub force_limits: Option<[f64; 2]>,
}

/// Force of an actuator as a function of its control u, the coordinate q and the velocity v, after the gear.
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
        /// Terms that do not depend on the control.
        bias: [f64; 3],
    },
}

/// A constraint that closes a loop or couples joints.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Name in the file, if given.
    pub name: Option<String>,
    /// True if the constraint is active from the start.
    pub active: bool,
    /// Kind of constraint.
    pub kind: ConstraintKind,
}

/// Kind of constraint.
#[derive(Clone, Debug)]
pub enum ConstraintKind {
    /// Coincidence of a point of one link and a point of another.
    Connect {
        /// Links.
        links: [LinkId; 2],
        /// Points in the frames of the links; `None` for the position of the first point in the reference
        /// configuration.
        anchors: [Option<Point3<f64>>; 2],
    },
    /// Coincidence of a frame of one link and a frame of another.
    Weld {
        /// Links.
        links: [LinkId; 2],
        /// Frames in the links; `None` for the relative pose in the reference configuration.
        frames: Option<[Isometry3<f64>; 2]>,
    },
    /// Coupling q − q₀ = polynomial(p − p₀) of coordinates relative to their references; q is constant without a
    /// leader.
    Couple {
        /// Joint that follows.
        follower: JointId,
        /// Joint that leads.
        leader: Option<JointId>,
        /// Coefficients, constant first.
        polynomial: [f64; 5],
    },
}

/// A named state.
#[derive(Clone, Debug)]
pub struct Keyframe {
    /// Name in the file, if given.
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

/// Contents of the file that have no effect here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// File name.
    pub file: String,
    /// Line of the first occurrence, from 1.
    pub line: u32,
    /// Column of the first occurrence, from 1.
    pub column: u32,
    /// Element, or element and attribute.
    pub what: String,
    /// Reason why it has no effect.
    pub reason: String,
    /// Number of occurrences.
    pub count: usize,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}: {}: {}", self.file, self.line, self.column, self.what, self.reason)?;
        if self.count > 1 { write!(f, " ({} times)", self.count) } else { Ok(()) }
    }
}

impl Robot {
    /// Returns the mass of all links.
    pub fn mass(&self) -> f64 {
        self.links.iter().filter_map(|link| link.inertial).fold(0.0, |sum, inertial| sum + inertial.mass)
    }

    /// Returns the number of velocities of all joints.
    pub fn dof(&self) -> usize {
        self.joints().map(|(_, joint)| joint.kind.dof()).sum()
    }

    /// Returns the number of coordinates of all joints.
    pub fn coordinates(&self) -> usize {
        self.joints().map(|(_, joint)| joint.kind.coordinates()).sum()
    }

    /// Returns all joints in the order of their links.
    pub fn joints(&self) -> impl Iterator<Item = (JointId, &Joint)> {
        self.links.iter().enumerate().flat_map(|(link, moved)| {
            let id = move |joint| JointId { link: LinkId(link), joint };
            moved.joints.iter().enumerate().map(move |(k, joint)| (id(k), joint))
        })
    }

    /// Returns the link with this name.
    pub fn link(&self, name: &str) -> Option<LinkId> {
        self.links.iter().position(|link| link.name == name).map(LinkId)
    }

    /// Returns the joint with this name.
    pub fn joint(&self, name: &str) -> Option<JointId> {
        self.joints().find(|(_, joint)| joint.name == name).map(|(id, _)| id)
    }
}
