//! What a recording says about the run it holds, beside the numbers.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use stiction_multibody::{Body, BodyId, Dimension, JointDofId, Model, Pose, SupportPoint};
use stiction_stepping::{Coordinates, Scheme};

use super::{Outline, Role, layout::w_first};

/// The version of the layout of recordings; a reader refuses others.
pub(crate) const FORMAT: u32 = 3;

/// Everything needed to make sense of the tables of a recording.
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
    /// What joins two points: joints, springs and dampers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkInfo>,
    /// Columns of the coordinates of joints, where steps were made in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forest_q: Vec<String>,
    /// Columns of their velocities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forest_v: Vec<String>,
    /// Columns of the angles of driven freedoms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub angles: Vec<String>,
}

/// One joint of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointInfo {
    /// Its name.
    pub name: String,
    /// Number of its rows, each with an impulse.
    pub rows: usize,
}

/// A joint, spring or damper between a point of one body and a point of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkInfo {
    /// The kind of the joint, `spring` or `damper`.
    pub kind: String,
    /// Its first body, by place in the list.
    pub a: usize,
    /// The point in the frame of that body.
    pub at_a: [f64; 3],
    /// Its second body.
    pub b: usize,
    /// The point in the frame of that.
    pub at_b: [f64; 3],
}

/// A foot of the support of a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SupportPointInfo {
    /// Place in the frame of the body.
    pub at: [f64; 3],
    /// Normal load, N.
    pub load: f64,
    /// Coulomb's coefficient.
    pub friction: f64,
}

/// One body of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyInfo {
    /// Its name.
    pub name: String,
    /// How it moves.
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
    /// Number of feet of its support.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub support_points: usize,
    /// Where those feet stand and what they carry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub support_points_at: Vec<SupportPointInfo>,
    /// What it looks like.
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
            angles: model.actuated_dofs().iter().filter_map(|id| angle_column(model, *id)).collect(),
        }
    }

    /// The columns of `State::forest_q`, `State::forest_v` and `State::angles`, in order.
    pub(crate) fn forest_columns(&self) -> impl Iterator<Item = String> {
        self.forest_q.iter().chain(&self.forest_v).chain(&self.angles).cloned()
    }

    /// The columns of joint impulses, in order.
    pub(crate) fn joint_columns(&self) -> impl Iterator<Item = String> {
        self.joints.iter().flat_map(|joint| (0..joint.rows).map(|row| format!("{}.impulse_{row}", joint.name)))
    }

    /// The columns of friction impulses at feet, in order.
    pub(crate) fn support_columns(&self) -> impl Iterator<Item = String> {
        let parts = |body: &str, support_point: usize| {
            ["x", "y", "spin"].map(|part| format!("{body}.support_{support_point}_{part}"))
        };
        self.bodies.iter().flat_map(move |body| {
            (0..body.support_points).flat_map(move |support_point| parts(&body.name, support_point))
        })
    }

    /// A name that two bodies have, or two joints; columns could not tell them apart.
    pub(crate) fn name_given_twice(&self) -> Option<&str> {
        let bodies = self.bodies.iter().map(|body| body.name.as_str());
        let joints = self.joints.iter().map(|joint| joint.name.as_str());
        repeated(bodies).or_else(|| repeated(joints))
    }

    pub(crate) fn dimension(&self) -> Dimension {
        if self.dimension == 2 { Dimension::Planar } else { Dimension::Spatial }
    }
}

/// The first name that came before.
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

/// The column of the coordinate of a driven freedom.
fn angle_column(model: &Model, (joint, joint_dof): JointDofId) -> Option<String> {
    let joint = model.joint(joint)?;
    let number = if joint.joint_dofs().len() > 1 { joint_dof.to_string() } else { String::new() };
    Some(format!("{}.coordinate{number}", joint.name))
}
