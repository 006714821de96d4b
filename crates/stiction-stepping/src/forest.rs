//! The forest in a step with reduced coordinates: its state, its acceleration, and contacts whose gap no velocity changes.

use stiction_multibody::{Model, State, Wrench};

use crate::{
    Coordinates, Kick, Scheme, Start, StepCause, Workspace, joint_space,
    reduced::{Divided, Reduced, singular_inertia},
    workspace::StepKinematics,
};

/// Removes the contacts whose gap is fixed by joints and that do not overlap.   [RED-5]
///
/// Just above zero gap the force of such a contact is zero, and at zero gap it is indeterminate. The rounding of a pose must not decide
/// between the two.
pub(crate) fn drop_immovable(start: &Start, ws: &mut Workspace) {
    let Some(reduced) = &mut ws.reduced else { return };
    let (forest, threshold) = (start.model.forest(), start.scheme.touch_threshold);
    ws.constraints.contacts.retain(|contact| {
        let stays = contact.gap_start >= -threshold && (contact.gap_end - contact.gap_start).abs() <= threshold;
        if !stays {
            return true;
        }
        // A floating body can move along every normal against a body that is no link: no row is needed to decide that.
        let moves_freely = forest.floats(contact.a) != forest.floats(contact.b)
            && (forest.link(contact.a).is_none() || forest.link(contact.b).is_none());
        let mut moves = || {
            let (a, b) = contact.row(&contact.normal);
            reduced.moves(forest, [(contact.a, &a), (contact.b, &b)])
        };
        moves_freely || moves()
    });
}

/// Reads the state of the forest if the scheme uses reduced coordinates.   [RED-3]
pub(crate) fn read(start: &Start, ws: &mut Workspace) {
    let forest = start.model.forest();
    if start.scheme.coordinates == Coordinates::Maximal {
        ws.reduced = None;
        return;
    }
    let mut reduced = match ws.reduced.take() {
        Some(reduced) if reduced.fits(forest) => reduced,
        _ => Box::new(Reduced::new(forest)),
    };
    reduced.divided = match (start.scheme.coordinates, reduced.divided.take()) {
        (Coordinates::DivideAndConquer, Some(divided)) if divided.fits(forest) => Some(divided),
        (Coordinates::DivideAndConquer, _) => Some(Box::new(Divided::new(forest))),
        _ => None,
    };
    reduced.read(start, &ws.kinematics.start);
    reduced.initial.clone_from(&reduced.before);
    reduced.forces.tau.fill(0.0);
    reduced.added.fill(0.0);
    reduced.rotors.fill(0.0);
    ws.reduced = Some(reduced);
}

/// Computes v̇ of all forces except constraints, and the velocities of the bodies at v_free.   [RED-1]
pub(crate) fn accelerate(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    let Workspace { reduced, kinematics: StepKinematics { applied, .. }, free_body_velocities, .. } = ws;
    let Some(reduced) = reduced else { return Ok(()) };
    reduced.find_acceleration(start, applied).map_err(|singular| singular_inertia(start.model, singular))?;
    reduced.compute_free_velocity(start.model, start.h, free_body_velocities);
    Ok(())
}

/// Projects a state given by its bodies onto the forest, in reduced coordinates: joints then hold to the last bit.   [RED-3]
pub fn adopt(model: &Model, scheme: &Scheme, state: &mut State) {
    let mut ws = Workspace::default();
    ws.kinematics.start.update(model, &state.q, &state.v, state.time);
    let start = Start { kick: Kick::Whole, ..Start::new(model, scheme, state, 0.0) };
    read(&start, &mut ws);
    ws.kinematics.applied.resize(model.bodies().len(), Wrench::default());
    // Only coordinates are needed: a motor with a non-finite control is an error of the step, not of this projection.
    let _ = joint_space::prepare(&start, &mut ws);
    state.angles.clear();
    state.angles.extend(ws.constraints.joint_space_dofs.iter().map(|actuated| actuated.coordinate));
    let Some(reduced) = &mut ws.reduced else { return };
    let forest = model.forest();
    state.forest_q.clone_from(&reduced.q);
    state.forest_v.clone_from(&reduced.before);
    let before = std::mem::take(&mut state.q);
    forest.write_coordinates(model, &reduced.at, &before, &mut state.q);
    forest.write_velocities(model, &reduced.at, reduced.at.twists(), &mut state.v);
}
