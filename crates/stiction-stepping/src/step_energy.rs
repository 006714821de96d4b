//! Account of the kinetic energy of a step: what explains its change, and what does not.   [ENERGY-5] [ENERGY-6]

use nalgebra::Vector3;
use stiction_multibody::{Body, BodyKind, Model, Twist, Wrench, apply_inverse_mass, mass_block};

use crate::{
    Contact, ContactImpulse, Start, StepEnergy, VelocityTerms, Workspace,
    closing::is_drift,
    energy_bound::{kinetic, layers, rotors},
    energy_values::Balance,
    joint_space,
    rates::{linearised_start_gap, side_rate},
    surface::LayerSurface,
};

/// Fraction of the energies of a step below which rounding and the residual of the solution decide the work of friction.
///
/// The bound of the energies that the tests assert in every step. At a tenth, residuals of heavy stacks appear as work; at ten times, nothing
/// that a tolerance of solvers of 1e-9 allows is seen either.
const UNDECIDED_WORK: f64 = 1e-9;

/// Work of the constants of the rows, by what they ask for.   [ENERGY-6]
#[derive(Clone, Copy, Debug, Default)]
struct AskedWork {
    /// All of it: −pᵀ β of [ENERGY-2].
    total: f64,
    /// Positive part of contacts and joints whose errors are removed.
    removal: f64,
    /// Part of joints that removes the drift of earlier steps: an error of the scheme.
    drift: f64,
    /// Part of loops whose work was taken back.   [ROT-6]
    taken_back: f64,
    /// Absolute work of prescribed motion.
    prescribed: f64,
}

/// Account of the step in the workspace, whose next state and its configuration are complete; `residual` is that of its problem.
pub fn step_energy(start: &Start, ws: &mut Workspace, residual: f64) -> StepEnergy {
    if ws.solution.balanced_step_size == 0.0 || ws.constraints.layer_surfaces.iter().any(LayerSurface::is_average) {
        return StepEnergy::default();
    }
    let &Start { model, h, .. } = start;
    let mut account = StepEnergy { is_known: true, rounding: rounding(start, ws), ..StepEnergy::default() };
    let mut balance = if ws.reduced.is_some() {
        forest_balance(start, ws, &mut account)
    } else {
        body_balance(start, ws, &mut account)
    };
    add_rotors(start, ws, &mut account, &mut balance);
    add_work_of_rows(start, ws, &mut account);
    let asked = asked_work(start, ws);
    let gain = |asked: f64| (asked - balance.changed).max(0.0);
    account.removal = gain(asked.total) - gain(asked.total - asked.removal);
    let drift = gain(asked.total) - gain(asked.total - asked.drift.max(0.0));
    account.removal -= drift.clamp(0.0, account.removal);
    // What loops did is taken back, so that nothing explains a gain.   [ROT-6]
    let of_loops = (gain(asked.total) - gain(asked.total - asked.taken_back.max(0.0))).clamp(0.0, account.removal);
    account.removal -= of_loops;
    account.unexplained += of_loops;
    let (layers, of_rows) = (layers(ws), joint_space::work_of_rows(model, ws));
    account.work += work_of_forces(model, ws, h)
        + (of_rows + joint_space::work_of_forest(ws, h)).abs()
        + layers.abs()
        + gain(asked.total - asked.removal).max(asked.prescribed);
    let friction = balance.after + balance.lost - balance.free - asked.total - layers - of_rows;
    let undecided =
        UNDECIDED_WORK * (balance.after + balance.lost + balance.free) + (residual + f64::EPSILON) * impulses(ws);
    if friction > undecided {
        account.unexplained += friction;
    }
    let losses = friction.min(0.0) + (asked.total - balance.changed).min(0.0) + balance.work_on_change().max(0.0);
    account.unexplained += losses.min(0.0);
    account
}

/// Energy Σ m (ε g l + ½ (ε l/h)²) that rounding of the positions may be taken for, in the potential energy and in the velocities that close errors.
/// [ENERGY-9]
///
/// A body that is l from the origin with its farthest point has positions that are known to ε l.
fn rounding(start: &Start, ws: &Workspace) -> f64 {
    let &Start { model, h, .. } = start;
    let gravity = model.moving_gravity().norm();
    let of_body = |(id, body): (_, &Body)| {
        let BodyKind::Dynamic { mass, .. } = body.kind else { return None };
        let length = f64::EPSILON * (ws.kinematics.start.pose(id).translation.vector.norm() + body.radius());
        Some(mass * (gravity * length + 0.5 * (length / h) * (length / h)))
    };
    model.iter_bodies().filter_map(of_body).sum()
}

/// Balance in maximal coordinates; adds kinetic energies and those of the velocity terms to the account.
fn body_balance(start: &Start, ws: &Workspace, account: &mut StepEnergy) -> Balance {
    let &Start { model, scheme, h, .. } = start;
    let conserves = scheme.velocity_terms == VelocityTerms::Conserving;
    let mut balance = Balance::default();
    for (index, (id, slot)) in model.iter_bodies().map(|(id, _)| id).zip(model.layout()).enumerate() {
        let Some((mobility, mass, inertia)) = mass_block(model, &ws.kinematics.start, index) else { continue };
        let Some((_, _, inertia_at_end)) = mass_block(model, &ws.result.end, index) else { continue };
        let twist = |v: &[f64]| mobility.twist(v.get(slot.v.clone()).unwrap_or_default());
        let (v, next) = (twist(&ws.kinematics.before), twist(&ws.solution.velocity));
        let torque = ws.kinematics.gyroscopic.get(index).copied().unwrap_or_else(Vector3::zeros);
        let force = ws.kinematics.applied.get(index).copied().unwrap_or_default();
        let after_forces = |wrench: &Wrench| {
            let acceleration = mobility.project(&apply_inverse_mass(mobility, mass, &inertia, wrench));
            let acceleration = mobility.twist(acceleration.get(..mobility.dof()).unwrap_or_default());
            Twist { linear: v.linear + acceleration.linear * h, angular: v.angular + acceleration.angular * h }
        };
        let turned = if torque == Vector3::zeros() { v } else { after_forces(&Wrench::of_torque(torque)) };
        let free = after_forces(&force);
        let between = |a: &Twist, b: &Twist| Twist { linear: a.linear - b.linear, angular: a.angular - b.angular };
        let energy = |twist: &Twist| kinetic(mass, &inertia, twist);
        let [before, after] = [energy(&ws.kinematics.start.twist(id)), energy(&next)];
        let end = kinetic(mass, &inertia_at_end, &ws.result.end.twist(id));
        let mut unexplained = energy(&turned) - energy(&v) + end - after;
        if conserves && torque != Vector3::zeros() {
            // Forces act with the mean of the velocities without velocity terms.
            unexplained +=
                energy(&between(&free, &v)) - energy(&between(&free, &turned)) - energy(&between(&turned, &v));
        }
        account.before += before;
        account.after += end;
        account.unexplained += unexplained;
        // An impact by Poisson's hypothesis is work of restitution.
        account.work += (energy(&v) - before).max(0.0);
        if account.most.is_none_or(|(_, most)| unexplained > most) {
            account.most = Some((id, unexplained));
        }
        balance.free += energy(&free);
        balance.after += after;
        balance.lost += energy(&between(&next, &free));
        balance.pushed += energy(&between(&free, &turned));
        balance.changed += energy(&between(&next, &turned));
    }
    balance
}

/// Balance in reduced coordinates; adds kinetic energies and those of the velocity terms to the account.
fn forest_balance(start: &Start, ws: &mut Workspace, account: &mut StepEnergy) -> Balance {
    let Some(reduced) = &mut ws.reduced else { return Balance::default() };
    let forest = start.model.forest();
    let energies = reduced.step_energies(start, &ws.result.next.forest_v);
    account.before = energies.start;
    account.after = energies.end;
    account.unexplained = energies.velocity_terms;
    account.work = (energies.before - energies.start).max(0.0);
    let body_of = |link| start.model.iter_bodies().map(|(id, _)| id).find(|&id| forest.link(id) == Some(link));
    account.most = energies.most.and_then(|(link, gained)| Some((body_of(link)?, gained)));
    energies.balance
}

/// Adds the kinetic energy of the rotors that are part of rows.   [ENERGY-5]
fn add_rotors(start: &Start, ws: &Workspace, account: &mut StepEnergy, balance: &mut Balance) {
    let model = start.model;
    let rotors = rotors(model, ws, &start.state.v);
    let [before, after] = joint_space::energies_of_rotors(model, ws);
    account.before += before;
    account.after += after;
    let impacts = rotors.before - rotors.start;
    account.unexplained += after - before + rotors.turned - impacts;
    account.work += impacts.max(0.0) + rotors.prescribed;
    balance.free += rotors.before;
    balance.after += rotors.after;
    balance.lost += rotors.lost;
    balance.changed += rotors.lost;
}

/// Adds what the change of the velocities by the velocity terms at the start has to do with rows: springs and dampers act, as other forces do, with the
/// mean of the velocities without velocity terms, and joints do work on that mean where steps have left errors in them.   [ENERGY-5] [ENERGY-6]
fn add_work_of_rows(start: &Start, ws: &mut Workspace, account: &mut StepEnergy) {
    let model = start.model;
    let mut bodies = std::mem::take(&mut ws.kinematics.ahead_velocity);
    let mut forest = std::mem::take(&mut ws.kinematics.closing);
    write_turn(start, ws, (&mut bodies, &mut forest));
    account.unexplained += joint_space::work_of_rows_on(model, ws, (&bodies, &forest));
    for joint in model.joints().iter().filter(|joint| !ws.loop_energies.has_taken(joint)) {
        let rows = ws.constraints.joint_rows.iter().zip(&ws.solution.joint_impulses);
        for (row, p) in rows.skip(joint.first_row()).take(joint.rows()).filter(|(row, _)| is_drift(start, row)) {
            let rate = |v: &[f64]| side_rate(model, v, joint.a.0, &row.a) + side_rate(model, v, joint.b.0, &row.b);
            let before = rate(&ws.kinematics.before) + row.prescribed - rate(&bodies);
            account.drift += 0.5 * p * (before + row.prescribed - row.bias);
        }
    }
    (ws.kinematics.ahead_velocity, ws.kinematics.closing) = (bodies, forest);
}

/// Writes the change of the velocities of bodies and forest by the velocity terms at the start of the step.
fn write_turn(start: &Start, ws: &mut Workspace, (bodies, forest): (&mut Vec<f64>, &mut Vec<f64>)) {
    let model = start.model;
    forest.clear();
    bodies.clear();
    bodies.resize(model.dof(), 0.0);
    if let Some(reduced) = &mut ws.reduced {
        reduced.write_turn(model, start.h, (forest, bodies));
    }
    if start.scheme.velocity_terms != VelocityTerms::Conserving {
        bodies.fill(0.0);
        forest.fill(0.0);
        return;
    }
    for (index, torque) in
        ws.kinematics.gyroscopic.iter().enumerate().filter(|(_, torque)| **torque != Vector3::zeros())
    {
        let Some((mobility, mass, inertia)) = mass_block(model, &ws.kinematics.start, index) else { continue };
        let change = apply_inverse_mass(mobility, mass, &inertia, &Wrench::of_torque(torque * start.h));
        let place = model.layout().get(index).and_then(|slot| bodies.get_mut(slot.v.clone()));
        place.into_iter().flatten().zip(mobility.project(&change)).for_each(|(v, change)| *v = change);
    }
}

/// Sum of the absolute works of the applied forces on the bodies, which move by v⁺.   [ENERGY-6]
fn work_of_forces(model: &Model, ws: &Workspace, h: f64) -> f64 {
    let mut work = 0.0;
    for (index, (body, slot)) in model.bodies().iter().zip(model.layout()).enumerate() {
        let (Some(mobility), Some(mut force)) = (body.mobility(), ws.kinematics.applied.get(index).copied()) else {
            continue;
        };
        force.angular -= ws.kinematics.gyroscopic.get(index).copied().unwrap_or_else(Vector3::zeros);
        // What is taken back is part of the impulses of contacts.
        force.add(&ws.kinematics.withdrawn.get(index).copied().unwrap_or_default().scaled(-1.0));
        let next = mobility.twist(ws.solution.velocity.get(slot.v.clone()).unwrap_or_default());
        work += (h * force.power(&next)).abs();
    }
    work
}

/// Work that forces seem to lose where a correction changes the velocity `before`: they move bodies by v⁺, and their work is taken with the mean velocity.
/// [ENERGY-8]
pub(crate) fn forces_on_correction(start: &Start, ws: &Workspace, before: &[f64]) -> f64 {
    let weight = start.h * (start.end_velocity_weight() - 0.5);
    let mut work = 0.0;
    for (force, (body, slot)) in ws.kinematics.applied.iter().zip(start.model.bodies().iter().zip(start.model.layout()))
    {
        let Some(mobility) = body.mobility() else { continue };
        let of = |v: &[f64]| force.power(&mobility.twist(v.get(slot.v.clone()).unwrap_or_default()));
        work += weight * (of(&ws.result.next.v) - of(before));
    }
    work
}

/// Work −pᵀ β of the constants of the rows, with support points, limits and couplings.   [ENERGY-2] [ENERGY-6]
fn asked_work(start: &Start, ws: &Workspace) -> AskedWork {
    let mut asked = AskedWork::default();
    let prescribe = |asked: &mut AskedWork, work: f64| {
        asked.total += work;
        asked.prescribed += work.abs();
    };
    for (row, p) in ws.constraints.joint_rows.iter().zip(&ws.solution.joint_impulses) {
        let removal = -p * (row.bias - row.prescribed);
        asked.total += removal;
        asked.removal += removal;
        if is_drift(start, row) {
            asked.drift += removal;
        }
        prescribe(&mut asked, -p * row.prescribed);
    }
    for joint in start.model.joints().iter().filter(|joint| ws.loop_energies.has_taken(joint)) {
        let rows = ws.constraints.joint_rows.iter().zip(&ws.solution.joint_impulses);
        let own = rows.skip(joint.first_row()).take(joint.rows());
        asked.taken_back -= own.map(|(row, p)| p * (row.bias - row.prescribed)).sum::<f64>();
    }
    let surface = |contact: &Contact, p: &ContactImpulse| {
        p.friction.dot(&contact.surface_velocity)
            + p.spin * contact.surface_spin
            + p.rolling.dot(&contact.surface_rotation)
    };
    let at = &ws.kinematics.linearisation_velocity;
    for (contact, p) in ws.constraints.contacts.iter().zip(&ws.solution.contact_impulses) {
        let prescribed = (contact.gap_end - contact.gap_start) / start.h;
        let overlap = linearised_start_gap(start.model, contact, at, start.h).min(0.0);
        let rate = contact.bias - prescribed;
        asked.total -= p.normal * rate;
        asked.removal -= p.normal * rate.max(contact.gamma * overlap / start.h).min(0.0);
        prescribe(&mut asked, -p.normal * prescribed - surface(contact, p));
    }
    for (support_point, p) in ws.constraints.support_points.iter().zip(&ws.solution.support_impulses) {
        let work = p.friction.dot(&support_point.surface_velocity) + p.spin * support_point.surface_spin;
        prescribe(&mut asked, -work);
    }
    for layer in &ws.constraints.layer_surfaces {
        let work = -layer.core_impulse.normal * layer.core_bias.unwrap_or(0.0);
        asked.total += work;
        asked.removal += work;
        let contact = ws.constraints.contacts.get(layer.contact);
        prescribe(&mut asked, -contact.map_or(0.0, |contact| surface(contact, &layer.core_impulse)));
    }
    let limits = -joint_space::bias_work(ws);
    asked.total += limits;
    asked.removal += limits;
    asked.removal = asked.removal.max(0.0);
    asked
}

/// Sum of the absolute impulses of the step, N s.
fn impulses(ws: &Workspace) -> f64 {
    let of = |p: &ContactImpulse| p.normal + p.friction.norm() + p.spin.abs() + p.rolling.norm();
    let joints: f64 = ws.solution.joint_impulses.iter().map(|p| p.abs()).sum();
    ws.solution.contact_impulses.iter().chain(&ws.solution.support_impulses).map(of).sum::<f64>() + joints
}
