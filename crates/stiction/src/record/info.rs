//! Metadata of a recording.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use stiction_multibody::{Body, BodyId, Dimension, JointDofId, Model, Pose, SupportPoint};
use stiction_stepping::{Coordinates, Scheme};

use super::{Outline, Role, layout::w_first};

/// Version of the layout of recordings; a reader rejects other versions.
pub(crate) const FORMAT: u32 = 4;

/// Metadata that is needed to interpret the tables of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Layout version of the recording.
    pub format: u32,
    /// Version of stiction that wrote it.
    pub version: String,
    /// Name of the scene.
    pub scene: String,
    /// Step size, s.
    pub step: f64,
    /// 2 or 3.
    pub dimension: u8,
    /// All bodies in the order of the model; the first is the world.
    pub bodies: Vec<BodyInfo>,
    /// All joints in the order of the model.
    pub joints: Vec<JointInfo>,
    /// Connections between two points: joints, springs and dampers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkInfo>,
    /// Columns of the joint coordinates, if the scheme uses reduced coordinates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forest_q: Vec<String>,
    /// Columns of the joint velocities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forest_v: Vec<String>,
    /// Columns of the positions of actuated joint DOFs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub angles: Vec<String>,
}

/// One joint of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointInfo {
    /// Name.
    pub name: String,
    /// Number of constraint rows, each with an impulse.
    pub rows: usize,
}

/// A joint, spring or damper between a point of one body and a point of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkInfo {
    /// Kind of the joint, `spring` or `damper`.
    pub kind: String,
    /// First body, by index in the list.
    pub a: usize,
    /// Point in the frame of the first body, m.
    pub at_a: [f64; 3],
    /// Second body.
    pub b: usize,
    /// Point in the frame of the second body, m.
    pub at_b: [f64; 3],
}

/// A support point of a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SupportPointInfo {
    /// Position in the frame of the body, m.
    pub at: [f64; 3],
    /// Normal load, N.
    pub load: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
}

/// One body of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyInfo {
    /// Name.
    pub name: String,
    /// Kind of motion.
    pub role: Role,
    /// Mass of a dynamic body, kg.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Initial position.
    pub position: [f64; 3],
    /// Initial orientation, w first.
    pub orientation: [f64; 4],
    /// Number of its collision shapes.
    pub shapes: usize,
    /// Number of support points.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub support_points: usize,
    /// Positions, loads and friction coefficients of the support points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub support_points_at: Vec<SupportPointInfo>,
    /// Geometry for display.
    pub outlines: Vec<Outline>,
}

impl RunInfo {
    pub(crate) fn new(scene: &str, step: f64, model: &Model, scheme: &Scheme) -> Self {
        let reduced = scheme.coordinates != Coordinates::Maximal;
        let (forest_q, forest_v) = if reduced { model.forest().names(model) } else { Default::default() };
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scene: scene.to_owned(),
            step,
            dimension: if model.dimension() == Dimension::Planar { 2 } else { 3 },
            bodies: model.bodies().iter().map(BodyInfo::new).collect(),
            joints: model.joints().iter().map(|j| JointInfo { name: j.name.clone(), rows: j.rows() }).collect(),
            links: links(model),
            forest_q,
            forest_v,
            angles: model.joint_space_dofs().iter().filter_map(|id| angle_column(model, *id)).collect(),
        }
    }

    /// Columns of `State::forest_q`, `State::forest_v` and `State::angles`, in order.
    pub(crate) fn forest_columns(&self) -> impl Iterator<Item = String> {
        self.forest_q.iter().chain(&self.forest_v).chain(&self.angles).cloned()
    }

    /// Columns of joint impulses, in order.
    pub(crate) fn joint_columns(&self) -> impl Iterator<Item = String> {
        self.joints.iter().flat_map(|joint| (0..joint.rows).map(|row| format!("{}.impulse_{row}", joint.name)))
    }

    /// Columns of friction impulses at support points, in order.
    pub(crate) fn support_columns(&self) -> impl Iterator<Item = String> {
        let parts = |body: &str, support_point: usize| {
            ["x", "y", "spin"].map(|part| format!("{body}.support_{support_point}_{part}"))
        };
        self.bodies.iter().flat_map(move |body| {
            (0..body.support_points).flat_map(move |support_point| parts(&body.name, support_point))
        })
    }

    /// First name that two bodies or two joints share; their columns would be ambiguous.
    pub(crate) fn name_given_twice(&self) -> Option<&str> {
        let bodies = self.bodies.iter().map(|body| body.name.as_str());
        let joints = self.joints.iter().map(|joint| joint.name.as_str());
        repeated(bodies).or_else(|| repeated(joints))
    }

    pub(crate) fn dimension(&self) -> Dimension {
        if self.dimension == 2 { Dimension::Planar } else { Dimension::Spatial }
    }
}

/// First name that repeats an earlier one.
fn repeated<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    names.find(|name| !seen.insert(*name))
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl BodyInfo {
    fn new(body: &Body) -> Self {
        Self {
            name: body.name.clone(),
            role: Role::of(body),
            mass: body.mass(),
            position: body.position.into(),
            orientation: w_first(&body.orientation),
            shapes: body.shapes.len(),
            support_points: body.support.as_ref().map_or(0, |support| support.points.len()),
            support_points_at: body
                .support
                .iter()
                .flat_map(|support| &support.points)
                .map(SupportPointInfo::new)
                .collect(),
            outlines: body.shapes.iter().filter_map(Outline::of).collect(),
        }
    }
}

impl SupportPointInfo {
    fn new(support_point: &SupportPoint) -> Self {
        Self { at: support_point.point.into(), load: support_point.load, friction: support_point.friction }
    }
}

fn links(model: &Model) -> Vec<LinkInfo> {
    let link = |kind: &str, (a, at_a): (BodyId, [f64; 3]), (b, at_b): (BodyId, _)| LinkInfo {
        kind: kind.to_owned(),
        a: a.index(),
        at_a,
        b: b.index(),
        at_b,
    };
    let joints = model.joints().iter().map(|joint| {
        let end = |(body, frame): &(_, Pose)| (*body, frame.translation.vector.into());
        link(joint.kind.name(), end(&joint.a), end(&joint.b))
    });
    let springs = model.springs().iter().map(|s| link("spring", (s.a.0, s.a.1.into()), (s.b.0, s.b.1.into())));
    let dampers = model.dampers().iter().map(|d| link("damper", (d.a.0, d.a.1.into()), (d.b.0, d.b.1.into())));
    joints.chain(springs).chain(dampers).collect()
}

/// Column of the coordinate of an actuated joint DOF.
fn angle_column(model: &Model, (joint, joint_dof): JointDofId) -> Option<String> {
    let joint = model.joint(joint)?;
    let number = if joint.joint_dofs().len() > 1 { joint_dof.to_string() } else { String::new() };
    Some(format!("{}.coordinate{number}", joint.name))
}
