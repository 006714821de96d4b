//! Detection of the contacts within reach of the step.

use nalgebra::Vector3;
use stiction_geometry::chains;
use stiction_multibody::{
    BodyId, BodyKind, ContactId, Model, apply_inverse_mass, external_wrenches, limits, mass_block,
};

use crate::{
    Contact, Detector, Dynamics, Start, StepCause, Workspace, corners, forest, joint_space,
    pairs::find_pairs,
    remembered::{self, unfinished_features},
    shape_pair::{Pair, displacement},
    springs, support_points,
    surface_motion::{turns_in_first_kick, write_surface_motion},
    velocity_terms,
};

/// Prepares the workspace for a step: configuration, applied wrenches, reach of bodies.
pub fn prepare(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    let &Start { model, state, h, .. } = start;
    ws.kinematics.start.update(model, &state.q, &state.v, state.time);
    ws.kinematics.before.clone_from(&state.v);
    ws.solution.balanced_step_size = 0.0;
    ws.detection.close_pairs.clear();
    forest::read(start, ws);
    external_wrenches(model, &ws.kinematics.start, state.time, &mut ws.kinematics.applied);
    ws.kinematics.withdrawn.clear();
    springs::prepare(start, ws);
    joint_space::prepare(start, ws)?;
    weigh_forces(start, ws);
    velocity_terms::add(start, ws);
    if let Some(body) = ws.kinematics.applied.iter().position(|w| !(w.linear.sum() + w.angular.sum()).is_finite()) {
        return Err(StepCause::non_finite("applied force", model.bodies().get(body).map(|b| b.name.as_str())));
    }
    forest::accelerate(start, ws)?;
    joint_space::find_leads(start, ws);
    measure_reach(model, h, ws);
    if start.scheme.dynamics == Dynamics::Quasistatic {
        without_inertia(start, ws);
    }
    Ok(())
}

/// Scales all forces to the part that acts.   [STEP-18]
fn weigh_forces(start: &Start, ws: &mut Workspace) {
    let weight = start.force_weight();
    if weight == 1.0 {
        return;
    }
    ws.kinematics.applied.iter_mut().for_each(|wrench| *wrench = wrench.scaled(weight));
    if let Some(reduced) = &mut ws.reduced {
        reduced.forces.tau.iter_mut().for_each(|tau| *tau *= weight);
    }
}

/// Sets the reach of quasistatic bodies, which prescribed bodies push.   [QS-1]
fn without_inertia(start: &Start, ws: &mut Workspace) {
    let &Start { model, state, h, .. } = start;
    let mut pushed = 0.0_f64;
    for &id in model.kinematic_bodies() {
        let Some((body, BodyKind::Kinematic(motion))) = model.body(id).map(|body| (body, &body.kind)) else { continue };
        let (from, to) = (ws.kinematics.start.pose(id), motion.at(state.time_after(h).0).pose());
        let turned = (to.rotation.matrix() - from.rotation.matrix()).norm();
        pushed = pushed.max((to.translation.vector - from.translation.vector).norm() + turned * body.radius());
    }
    for (index, (id, body)) in model.iter_bodies().enumerate() {
        if body.mobility().is_none() {
            continue;
        }
        let twist = ws.kinematics.start.twist(id);
        if let Some(reach) = ws.detection.reach.get_mut(index) {
            let before = (twist.linear.norm() + body.radius() * twist.angular.norm()) * h;
            *reach = before.max(pushed);
        }
    }
}

/// Finds the support points and potential contacts of a step, linearised at q ⊕ h v̂ with the linearisation velocity v̂ in the workspace.
pub fn detect(start: &Start, detector: &mut dyn Detector, ws: &mut Workspace) -> Result<(), StepCause> {
    let &Start { model, scheme, .. } = start;
    configure(start, ws);
    reach_linearisation(start, ws);
    for &id in model.kinematic_bodies() {
        let (pose, twist) = (ws.kinematics.linear_end.pose(id), ws.kinematics.linear_end.twist(id));
        let sum =
            pose.translation.vector.sum() + pose.rotation.matrix().sum() + twist.linear.sum() + twist.angular.sum();
        if !sum.is_finite() {
            return Err(StepCause::non_finite("prescribed motion", model.body(id).map(|b| b.name.as_str())));
        }
    }
    support_points::place(start, ws);
    find_pairs(model, scheme, detector, ws);
    remembered::add_unfinished_pairs(start, &mut ws.detection.pairs);
    narrow_phase(start, detector, ws)
}

/// Updates poses and twists where the constraints are linearised, with prescribed bodies at both ends of the step.
fn configure(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, state, h, .. } = start;
    if let (Some(reduced), false) = (&mut ws.reduced, ws.kinematics.linearisation_velocity.is_empty()) {
        reduced.linearise_ahead(start, (&mut ws.kinematics.predicted, &mut ws.kinematics.linearisation_velocity));
        ws.kinematics.linear_start.update(
            model,
            &ws.kinematics.predicted,
            &ws.kinematics.linearisation_velocity,
            state.time,
        );
    } else if ws.kinematics.linearisation_velocity.is_empty() {
        if let Some(reduced) = &mut ws.reduced {
            reduced.linearise_at_start();
        }
        ws.kinematics.linear_start.copy_from(&ws.kinematics.start);
    } else {
        model.integrate(
            &state.q,
            &ws.kinematics.linearisation_velocity,
            h,
            scheme.orientation,
            &mut ws.kinematics.predicted,
        );
        ws.kinematics.linear_start.update(
            model,
            &ws.kinematics.predicted,
            &ws.kinematics.linearisation_velocity,
            state.time,
        );
    }
    ws.kinematics.linear_end.copy_from(&ws.kinematics.linear_start);
    // The exact time the next step starts from: prescribed displacements must add up.
    ws.kinematics.linear_end.move_prescribed(model, state.time_after(h).0);
}

/// Enlarges the reach of bodies to their displacement h v̂ up to the linearisation: the gap that opens on the way is that of a contact of the step.   [STEP-6]
fn reach_linearisation(start: &Start, ws: &mut Workspace) {
    if ws.kinematics.linearisation_velocity.is_empty() {
        return;
    }
    debug_assert_eq!(start.model.bodies().len(), ws.detection.reach.len(), "every body has a reach");
    for ((id, _), reach) in start.model.iter_bodies().zip(&mut ws.detection.reach) {
        if start.model.unknowns(id).is_some() {
            let twist = ws.kinematics.linear_start.twist(id);
            *reach = reach.max((twist.linear.norm() + start.model.radius(id) * twist.angular.norm()) * start.h);
        }
    }
}

/// Computes the reach (|v| + |a| h) h of the fastest point of every body; prescribed bodies have none.   [STEP-6]
fn measure_reach(model: &Model, h: f64, ws: &mut Workspace) {
    ws.detection.reach.clear();
    for (index, (id, _)) in model.iter_bodies().enumerate() {
        let radius = model.radius(id);
        let twist = ws.kinematics.start.twist(id);
        if let (Some((mobility, range)), Some(_)) = (model.unknowns(id), &ws.reduced) {
            debug_assert_eq!(ws.free_body_velocities.len(), model.dof(), "v_free of the bodies has all velocities");
            let free = mobility.twist(ws.free_body_velocities.get(range).unwrap_or_default());
            let (change, turn) = (free.linear - twist.linear, free.angular - twist.angular);
            let speed = twist.linear.norm() + radius * twist.angular.norm();
            ws.detection.reach.push((speed + change.norm() + radius * turn.norm()) * h);
            continue;
        }
        let reach = match (mass_block(model, &ws.kinematics.start, index), ws.kinematics.applied.get(index)) {
            (Some((mobility, mass, inertia)), Some(wrench)) => {
                let a = apply_inverse_mass(mobility, mass, &inertia, wrench);
                let speed = twist.linear.norm() + radius * twist.angular.norm();
                let acceleration = a.linear.norm() + radius * a.angular.norm();
                (speed + acceleration * h) * h
            }
            // Prescribed bodies are at their end pose: only the others have to reach them.
            _ => 0.0,
        };
        ws.detection.reach.push(reach);
    }
}

fn narrow_phase(start: &Start, detector: &mut dyn Detector, ws: &mut Workspace) -> Result<(), StepCause> {
    let model = start.model;
    ws.constraints.contacts.clear();
    let pairs = std::mem::take(&mut ws.detection.pairs);
    let owner = |index| model.shape(index).map_or(BodyId::WORLD, |(_, body, _)| body);
    let result = pairs.iter().try_for_each(|&(i, j)| {
        StepCause::if_interrupted()?;
        pair_contacts(start, detector, (i, j), ws).map_err(|cause| cause.between(model, (owner(i), owner(j))))
    });
    ws.detection.pairs = pairs;
    result?;
    // Pairs are sorted; within a pair the order of features makes the result independent of the narrow phase.
    ws.constraints.contacts.sort_unstable_by_key(|contact| contact.id);
    let mut contacts = std::mem::take(&mut ws.constraints.contacts);
    let turns = |contact: &Contact| [contact.a, contact.b].into_iter().any(|id| turns_in_first_kick(start, id, ws));
    if contacts.iter().any(turns) {
        springs::find_ahead(start, ws, 0.5 * start.h);
    }
    let written = contacts.iter_mut().try_for_each(|contact| {
        let middle = find_middle(start, detector, contact, ws)?;
        write_surface_motion(start, (contact, middle), ws);
        Ok(())
    });
    ws.constraints.contacts = contacts;
    written?;
    if let Some(bad) = ws.constraints.contacts.iter().find(|c| !(c.gap_end.is_finite() && c.gap_start.is_finite())) {
        return Err(StepCause::non_finite("gap", model.body(bad.a).map(|b| b.name.as_str())));
    }
    forest::drop_immovable(start, ws);
    corners::select_faces(start, ws);
    Ok(())
}

/// Place of a contact in the middle of a step of second order, if the bodies keep their velocities; none if its prescribed velocity does not depend on
/// that, or if the contact is at another feature there.   [STEP-8]
fn find_middle(
    start: &Start,
    detector: &mut dyn Detector,
    contact: &Contact,
    ws: &mut Workspace,
) -> Result<Option<Vector3<f64>>, StepCause> {
    if !turns_in_first_kick(start, contact.a, ws) && !turns_in_first_kick(start, contact.b, ws) {
        return Ok(None);
    }
    let ContactId { shape_a, shape_b, feature } = contact.id;
    let Some(pair) = Pair::new(start, (shape_a.index(), shape_b.index())) else { return Ok(None) };
    let reach = |id: BodyId| ws.detection.reach.get(id.index()).copied().unwrap_or(0.0);
    let moved = displacement(&pair.a, &pair.b, ws);
    let margin = contact.gap_start.abs() + reach(contact.a) + reach(contact.b) + moved;
    let (pose_a, pose_b) = (pair.a.pose(&ws.kinematics.ahead), pair.b.pose(&ws.kinematics.ahead));
    let close = ws.detection.close_pairs.contains(&(shape_a, shape_b));
    let points = &mut ws.detection.points;
    pair.points(start, [&pose_a, &pose_b], (close, margin), (detector, points))?;
    let found = points.iter().find(|point| point.feature == feature);
    Ok(found.map(|point| (point.point_a.coords + point.point_b.coords) * 0.5))
}

fn pair_contacts(
    start: &Start,
    detector: &mut dyn Detector,
    pair: (usize, usize),
    ws: &mut Workspace,
) -> Result<(), StepCause> {
    let (model, scheme) = (start.model, start.scheme);
    let (Some(&pose_a), Some(&pose_b)) = (ws.detection.shape_poses.get(pair.0), ws.detection.shape_poses.get(pair.1))
    else {
        return Ok(());
    };
    let Some(pair) = Pair::new(start, pair) else { return Ok(()) };
    let (a, b) = (&pair.a, &pair.b);
    let (margin, slack) = pair.margin_and_slack(scheme, ws);
    let close = ws.detection.close_pairs.contains(&(a.id, b.id));
    pair.points(start, [&pose_a, &pose_b], (close, margin + slack), (detector, &mut ws.detection.points))?;
    if pair.prescribed {
        pair.points_of_prescribed(start, detector, [&pose_a, &pose_b], (close, margin, slack), ws)?;
    }
    let mut contacts = std::mem::take(&mut ws.constraints.contacts);
    let first = contacts.len();
    for chain in chains(&ws.detection.points) {
        // At velocity level only touching contacts count, and alternatives are apart if one of them is.
        let touches = pair.gamma > 0.0 || chain.iter().all(|point| pair.gaps(start.h, point, ws).1 <= margin);
        for point in chain.iter().filter(|_| touches) {
            let (gap_start, _) = pair.gaps(start.h, point, ws);
            contacts.push(pair.contact(model, (point, chain.len() > 1), gap_start, ws));
        }
    }
    let found = add_unfinished_contacts(start, detector, &pair, (&mut contacts, first), ws);
    ws.constraints.contacts = contacts;
    found
}

/// Adds the contacts of a pair that are out of reach but unfinished; those from `first` on belong to the pair.   [SOFT-4] [IMPACT-1]
fn add_unfinished_contacts(
    start: &Start,
    detector: &mut dyn Detector,
    pair: &Pair,
    (contacts, first): (&mut Vec<Contact>, usize),
    ws: &mut Workspace,
) -> Result<(), StepCause> {
    let (a, b) = (&pair.a, &pair.b);
    let is_known = |contacts: &[Contact], feature| contacts.iter().skip(first).any(|c| c.id.feature == feature);
    let unfinished = || unfinished_features(start, (a.id, b.id));
    if !unfinished().any(|feature| !is_known(contacts, feature)) {
        return Ok(());
    }
    let (pose_a, pose_b) = (a.pose(&ws.kinematics.linear_end), b.pose(&ws.kinematics.linear_end));
    pair.points(start, [&pose_a, &pose_b], (false, limits::LENGTH), (detector, &mut ws.detection.points))?;
    for feature in unfinished() {
        let point = ws.detection.points.iter().find(|point| point.feature == feature && !is_known(contacts, feature));
        if let Some(point) = point {
            let (gap_start, _) = pair.gaps(start.h, point, ws);
            contacts.push(pair.contact(start.model, (point, false), gap_start, ws));
        }
    }
    Ok(())
}
