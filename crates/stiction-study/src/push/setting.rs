//! Task of a push: a part, a needle, a goal; and the simulation of one path.

use std::{ops::Range, sync::Arc};

use nalgebra::Vector3;
use serde::Serialize;
use stiction::{
    BodyId, BodyKind, Dimension, Model, Pose, Scene, Scheme, Simulation,
    geometry::{self, Scratch, chains},
    multibody::{Body, Mobility, rotation},
    scene::{steps_in, suggestion},
};

use super::{Goal, Miss, Path, PushError, error::within};
use crate::{Failure, Outcome};

/// Largest number of steps of a trial.
const MAX_STEPS: u64 = 10_000_000;

/// A part to be pushed, the needle that pushes it, and the goal.
#[derive(Clone, Debug)]
pub struct Push {
    model: Arc<Model>,
    scheme: Scheme,
    step: f64,
    part: BodyId,
    needle: BodyId,
    /// Coordinates of the part in the state.
    part_q: Range<usize>,
    goal: Goal,
    settle: f64,
}

/// Result of a push.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Arrival {
    /// Final position and angle.
    pub pose: [f64; 3],
    /// Distance of the pose from the goal.
    pub miss: Miss,
}

impl Push {
    /// Task in a scene, with the names of its bodies.
    pub fn new(scene: &Scene, part: &str, needle: &str, goal: Goal) -> Result<Self, PushError> {
        let model = Arc::clone(&scene.model);
        if model.dimension() != Dimension::Planar {
            return Err(PushError::new("scene", "is in space: pushing is planned in the plane"));
        }
        let (part, part_body) = named(&model, "part", part)?;
        if part_body.mobility() != Some(Mobility::Planar) || part_body.support.is_none() || part_body.shapes.is_empty()
        {
            let reason = format!("is \"{}\", which is no dynamic body with a shape and a support", part_body.name);
            return Err(PushError::new("part", reason).hint("what is pushed over a table has a [body.support]"));
        }
        let (needle, needle_body) = named(&model, "needle", needle)?;
        let bounded = !needle_body.shapes.is_empty() && needle_body.shapes.iter().all(|shape| shape.radius().is_some());
        if !matches!(needle_body.kind, BodyKind::Kinematic(_)) || !bounded {
            let reason = format!("is \"{}\", which is no kinematic body with a bounded shape", needle_body.name);
            return Err(PushError::new("needle", reason).hint("such as a kinematic body with a point or a disc"));
        }
        if !model.contact_rule(part, needle).collide {
            return Err(PushError::new("needle", "passes through the part: their contact rule says so"));
        }
        let part_q = model.layout().get(part.index()).map_or(0..0, |slot| slot.q.clone());
        let settings = &scene.settings;
        Ok(Self {
            scheme: settings.scheme.clone(),
            step: settings.step,
            model,
            part,
            needle,
            part_q,
            goal,
            settle: 0.0,
        })
    }

    /// Sets the time after the push until the pose is measured, s; for presets with inertia.
    pub fn settling(mut self, seconds: f64) -> Result<Self, PushError> {
        self.settle = within("settle", seconds, (0.0, 1e6))?;
        Ok(self)
    }

    /// The needle.
    pub fn needle(&self) -> BodyId {
        self.needle
    }

    /// The goal.
    pub fn goal(&self) -> &Goal {
        &self.goal
    }

    /// Pose of the part at the start: position and angle.
    pub fn start(&self) -> [f64; 3] {
        self.model.body(self.part).map_or([0.0; 3], |part| [part.position.x, part.position.y, part.angle])
    }

    /// Time from the start of a path until the pose of the part is measured, s.
    pub fn duration(&self, path: &Path) -> f64 {
        path.duration() + self.settle
    }

    /// Refuses trials that are too long to be made.
    pub(crate) fn check_duration(&self, seconds: f64) -> Result<(), PushError> {
        match steps_in(seconds + self.settle, self.step) {
            steps if steps <= MAX_STEPS => Ok(()),
            steps => {
                Err(PushError::new("length", format!("makes trials of {steps} steps, but {MAX_STEPS} is the most")))
            }
        }
    }

    /// Simulates the push along a path.
    pub fn follow(&self, path: &Path) -> Outcome<Arrival> {
        self.follow_in(&self.model, path)
    }

    /// Simulates the push with other friction: contacts by one factor, the support points by one each.
    pub fn follow_with_friction(&self, path: &Path, contacts: f64, support_points: &[f64]) -> Outcome<Arrival> {
        match self.model.with_friction_scaled(contacts, support_points) {
            Ok(model) => self.follow_in(&model, path),
            Err(error) => refused(&error),
        }
    }

    /// Number of support points.
    pub fn support_points(&self) -> usize {
        self.model.support_point_count()
    }

    fn follow_in(&self, model: &Model, path: &Path) -> Outcome<Arrival> {
        let model = match model.with_motion(self.needle, Arc::new(path.motion(self.needle_angle()))) {
            Ok(model) => model,
            Err(error) => return refused(&error),
        };
        let mut simulation = match Simulation::new(model, self.scheme.clone(), self.step) {
            Ok(simulation) => simulation,
            Err(error) => return refused(&error),
        };
        for _ in 0..steps_in(self.duration(path), self.step) {
            if let Err(error) = simulation.step() {
                return Outcome::Failed(Failure::of_step(&error));
            }
        }
        let q = simulation.state().q.get(self.part_q.clone());
        let &[x, y, angle] = q.unwrap_or_default() else { return refused(&"the state has no pose of the part") };
        let pose = [x, y, angle];
        Outcome::Done(Arrival { pose, miss: self.goal.miss(pose) })
    }

    /// Constant angle of the needle, rad.
    pub fn needle_angle(&self) -> f64 {
        match self.model.body(self.needle).map(|needle| &needle.kind) {
            Some(BodyKind::Kinematic(motion)) => motion.at(0.0).angle,
            _ => 0.0,
        }
    }

    /// Radius about its centre of mass of a circle around the part, m.
    pub(super) fn part_radius(&self) -> f64 {
        self.model.body(self.part).map_or(0.0, Body::radius)
    }

    /// Radius of a circle around the needle, m.
    pub(super) fn needle_radius(&self) -> f64 {
        self.model.body(self.needle).map_or(0.0, Body::radius)
    }

    /// Distance between the needle at a position and the part at its start, m; at most `reach`.
    pub(super) fn gap_to_part(&self, needle_at: [f64; 2], reach: f64) -> f64 {
        self.gap(needle_at, self.part, reach)
    }

    /// True if the needle at a position is at least `clearance` away from the part, and in no other body.
    pub(super) fn is_free(&self, needle_at: [f64; 2], clearance: f64) -> bool {
        self.model.iter_bodies().filter(|(id, _)| *id != self.needle).all(|(id, _)| {
            let least = if id == self.part { clearance } else { 0.0 };
            !self.model.contact_rule(self.needle, id).collide || self.gap(needle_at, id, 2.0 * clearance) >= least
        })
    }

    /// Distance between the needle at a position and a body at its start. Alternatives of a chain are separate if one of them is.
    fn gap(&self, needle_at: [f64; 2], other: BodyId, reach: f64) -> f64 {
        let (Some(needle), Some(body)) = (self.model.body(self.needle), self.model.body(other)) else { return reach };
        let needle_pose = planar_pose(needle_at, self.needle_angle());
        let body_pose = match &body.kind {
            BodyKind::Kinematic(motion) => motion.at(0.0).pose(),
            _ => Pose::from_parts(body.position.into(), body.orientation.to_rotation_matrix()),
        };
        let (mut scratch, mut contacts, mut least) = (Scratch::default(), Vec::new(), reach);
        for a in &needle.shapes {
            for b in &body.shapes {
                contacts.clear();
                let (pose_a, pose_b) = (needle_pose * a.local, body_pose * b.local);
                // A pair that cannot meet has no distance.
                let _ = geometry::contacts(&a.shape, &pose_a, &b.shape, &pose_b, reach, &mut scratch, &mut contacts);
                let gaps = chains(&contacts).map(|chain| chain.iter().map(|c| c.gap).fold(f64::NEG_INFINITY, f64::max));
                least = gaps.fold(least, f64::min);
            }
        }
        least
    }
}

fn planar_pose([x, y]: [f64; 2], angle: f64) -> Pose {
    let turn = rotation::from_rotation_vector(&(Vector3::z() * angle));
    Pose::from_parts(Vector3::new(x, y, 0.0).into(), turn.to_rotation_matrix())
}

/// Finds the body of this name, or returns an error with the existing names.
fn named<'m>(model: &'m Model, field: &'static str, name: &str) -> Result<(BodyId, &'m Body), PushError> {
    let found = model.find_body(name).and_then(|id| Some((id, model.body(id)?)));
    found.ok_or_else(|| {
        let names = model.bodies().iter().skip(1).map(|body| body.name.as_str());
        PushError::new(field, format!("is \"{name}\", but the scene has no such body")).hint(suggestion(name, names))
    })
}

fn refused<T>(error: &dyn std::fmt::Display) -> Outcome<T> {
    Outcome::Failed(Failure { reason: error.to_string(), detail: error.to_string() })
}
