//! Replacement of the model during a simulation: bodies are added or removed, the others keep their motion.

use std::sync::Arc;

use stiction_multibody::{BodyId, ContactId, ContactMemory, Model, ShapeId, State};

use crate::{BuildError, RestoreError, Simulation};

impl Simulation {
    /// Continues with another model at the same time. Bodies for which `keeps` is true keep their state if they have the same kind of motion.
    /// Contacts and joints of kept bodies keep their stored impulses; everything else starts as the model says. Inputs are those of the new
    /// model, and the stepper is that of the scheme. On error nothing changes.
    pub fn continue_with(
        &mut self,
        model: impl Into<Arc<Model>>,
        keeps: impl Fn(&str) -> bool,
    ) -> Result<(), ContinueError> {
        let model = model.into();
        let mut next = Self::new(Arc::clone(&model), self.scheme.clone(), self.h)?;
        let state = carried(&self.model, &self.state, &model, keeps);
        next.set_state(&state)?;
        self.model = model;
        self.state = next.state;
        self.configuration = next.configuration;
        self.stepper = next.stepper;
        self.workspace = next.workspace;
        self.joint_impulses.take();
        Ok(())
    }
}

/// Error of replacing the model of a simulation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContinueError {
    /// The scheme does not support the model.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The transferred values are not a valid state of the model.
    #[error(transparent)]
    State(#[from] RestoreError),
}

/// State of another model with the kept bodies at their current state.
fn carried(from: &Model, state: &State, to: &Model, keeps: impl Fn(&str) -> bool) -> State {
    let fresh = to.initial_state();
    let mut next = State { step: state.step, time: state.time, time_carry: state.time_carry, ..fresh };
    let same = |id: BodyId| {
        let body = from.body(id).filter(|body| keeps(&body.name))?;
        let new = to.find_body(&body.name)?;
        (to.body(new)?.mobility() == body.mobility()).then_some(new)
    };
    let copy = |into: &mut [f64], place: std::ops::Range<usize>, values: Option<&[f64]>| {
        if let (Some(into), Some(values)) = (into.get_mut(place), values) {
            into.iter_mut().zip(values).for_each(|(x, y)| *x = *y);
        }
    };
    for (id, _) in from.iter_bodies() {
        let Some((old, new)) = same(id).and_then(|new| from.layout().get(id.index()).zip(to.layout().get(new.index())))
        else {
            continue;
        };
        copy(&mut next.q, new.q.clone(), state.q.get(old.q.clone()));
        copy(&mut next.v, new.v.clone(), state.v.get(old.v.clone()));
    }
    for (joint, new) in from.joints().iter().filter_map(|joint| {
        let new = to.find_joint(&joint.name).and_then(|id| to.joint(id))?;
        (new.rows() == joint.rows()).then_some((joint, new))
    }) {
        let values = state.joint_impulses.get(joint.first_row()..joint.first_row() + joint.rows());
        copy(&mut next.joint_impulses, new.first_row()..new.first_row() + new.rows(), values);
    }
    // Shapes keep their index on a body that is kept.
    let shape = |id: ShapeId| {
        let (body, place) = from.shape_owner(id)?;
        let new = same(body)?;
        to.shapes().find_map(|(id, owner, _)| (owner == new && to.shape_owner(id)?.1 == place).then_some(id))
    };
    next.contacts.extend(state.contacts.iter().filter_map(|memory| {
        let ContactId { shape_a, shape_b, feature } = memory.id;
        let id = ContactId { shape_a: shape(shape_a)?, shape_b: shape(shape_b)?, feature };
        // If the order of the two shapes changed, the direction of the stored impulses changed too, so they are dropped.
        (id.shape_a < id.shape_b).then_some(ContactMemory { id, ..*memory })
    }));
    next.contacts.sort_by_key(|memory| memory.id);
    next
}
