//! Bodies without inertia: at the end of every step forces are in balance.
//!
//! ```text
//! 0 = W_b p_b + W_n p_n + W_f p_f + h λ_app,    with the rows of joints, contacts and friction of any other step       [QS-1]
//! ```
//!
//! The velocities have no coefficient in the balance: what it does not determine is free, and no elimination of velocities is
//! possible. Both are mended by the proximal point method, whose fixed points are exactly the solutions of [QS-1]:
//!
//! ```text
//! ε M (v_{k+1} − v_k) = W p + h λ_app                                                                                   [QS-2]
//! ```
//!
//! Every round is the problem of a dynamic step of light bodies, and what is left over, ε M (v_{k+1} − v_k), is the force by
//! which the balance is missed. From v_0 = 0 and with a light mass the first round is already close to the motion of least
//! kinetic energy among all in balance: the laziest.   [QS-3]

mod determined;
mod uniqueness;

use determined::is_determined;
pub use uniqueness::{Uniqueness, uniqueness};

use stiction_complementarity::{Problem, Residual};
use stiction_multibody::Model;

use crate::{
    Ladder, Start, StepCause, Undetermined, Workspace,
    formulation::{self, inertia},
    ladder::LadderOutcome,
    rows,
};

/// Share of the friction forces that a proximal mass may need for the motion of the step: the factor by which a round brings
/// the balance nearer.   [QS-4]
const LIGHT: f64 = 1e-4;

/// The same for the first round from a motion that is nearly right, and what it is multiplied with from round to round: heavier
/// bodies stay nearer to it.   [QS-4]
const FROM_NEAR: f64 = 1e-3;
const LIGHTEN: f64 = 1e-2;

/// Speeds below this share of h F / m are what rounding left of rest: bodies need not be heavier for them.   [QS-4]
const AT_REST: f64 = 1e-9;

/// What is left over is nothing below this share of the largest force.
const BALANCED: f64 = 1e-10;

/// What may be left over where rounds stop to help.
const ACCEPTED: f64 = 1e-9;

/// Rounds at most, from rest and from a motion that is nearly right.
const ROUNDS: u32 = 60;
const ROUNDS_FROM_NEAR: u32 = 5;

/// Rounds after which a body that still takes most of the force is said to be held by nothing.
const PATIENCE: u32 = 12;

/// Solves the balance of forces of the step for the contacts in the workspace, by rounds of [QS-2].
pub(crate) fn solve(start: &Start, ladder: &mut Ladder, ws: &mut Workspace) -> Result<LadderOutcome, StepCause> {
    rows::write(start, ws);
    let weight = weight(start, ws);
    let moving = start.state.v.iter().any(|v| *v != 0.0);
    if start.scheme.undetermined == Undetermined::Rest && moving {
        // The motion of the last step is nearly right. Where the balance leaves no choice it does not matter where one comes from.
        ws.before.clone_from(&start.state.v);
        let weights = Weights { first: weight * FROM_NEAR, factor: LIGHTEN, least: weight * LIGHT * 0.1 };
        let near = rounds(start, ladder, ws, weights, ROUNDS_FROM_NEAR);
        if near.is_ok() && is_determined(start.model, start.scheme, ws) {
            return near;
        }
    }
    centre(start, ws);
    let weights = Weights { first: weight * LIGHT, factor: 1.0, least: 0.0 };
    rounds(start, ladder, ws, weights, ROUNDS)
}

/// The centre v_0 of the first round.   [QS-3]
fn centre(start: &Start, ws: &mut Workspace) {
    ws.before.clone_from(&start.state.v);
    if start.scheme.undetermined == Undetermined::Rest {
        ws.before.iter_mut().for_each(|v| *v = 0.0);
    }
}

/// Masses of the rounds: ε of the first, the factor to the next, and where that ends.
#[derive(Clone, Copy)]
struct Weights {
    first: f64,
    factor: f64,
    least: f64,
}

/// Rounds from the centre in `ws.before` until the forces are in balance.   [QS-2]
fn rounds(
    start: &Start,
    ladder: &mut Ladder,
    ws: &mut Workspace,
    weights: Weights,
    most: u32,
) -> Result<LadderOutcome, StepCause> {
    let (mut weight, mut iterations, mut last) = (weights.first, 0, f64::INFINITY);
    for round in 1..=most {
        let ladder_outcome = one_round(start, ladder, ws, weight, round == 1)?;
        iterations += ladder_outcome.iterations;
        let left = left_over(start, ws, weight);
        let share = left.share();
        if share <= BALANCED || (share <= ACCEPTED && share > 0.5 * last) {
            let residual = measured(
                start,
                ws,
                Residual { value: ladder_outcome.residual.value.max(share), ..ladder_outcome.residual },
            )?;
            return Ok(LadderOutcome { residual, iterations, ..ladder_outcome });
        }
        if round >= PATIENCE && share > 0.1 || round == most {
            return Err(left.no_balance(start.model, start.h));
        }
        weight = (weight * weights.factor).max(weights.least);
        if share > 0.1 * last {
            weight *= 0.1;
        }
        last = share;
        ws.before.clone_from(&ws.velocity);
    }
    Err(left_over(start, ws, weight).no_balance(start.model, start.h))
}

/// One dynamic step of bodies with `weight` of their mass, from the impulses of the last step or of the last round.   [QS-2]
fn one_round(
    start: &Start,
    ladder: &mut Ladder,
    ws: &mut Workspace,
    weight: f64,
    is_first: bool,
) -> Result<LadderOutcome, StepCause> {
    // Impulses are in a unit of mass that becomes lighter with the bodies.
    let unit = ws.mass_unit;
    ws.proximal_weight = Some(weight);
    let solved = if is_first {
        formulation::assemble_rows(start, ws).and_then(|()| formulation::solve(start, ladder, ws))
    } else {
        formulation::assemble_round(start, ws)
            .and_then(|()| formulation::solve_again(start, ladder, ws, unit / ws.mass_unit))
    };
    ws.proximal_weight = None;
    // No momentum is balanced here, and no account of energy can be made of it.
    ws.balanced_over = 0.0;
    solved
}

/// The residual in the problem itself: with linear sets it is a mixed problem with a zero block, which takes the place of the
/// last round in the workspace.   [QS-1]
fn measured(start: &Start, ws: &mut Workspace, last_round: Residual) -> Result<Residual, StepCause> {
    if ws.quadratic {
        return Ok(last_round);
    }
    ws.proximal_weight = Some(0.0);
    let assembled = formulation::assemble_rows(start, ws);
    ws.proximal_weight = None;
    assembled?;
    Ok(ws.mixed.residual(&ws.mixed_solution))
}

/// ε for which moving as fast as prescribed surfaces within a step would take all the forces at work.   [QS-4]
fn weight(start: &Start, ws: &Workspace) -> f64 {
    let &Start { model, state, h, .. } = start;
    let (mut force, mut mass) = (0.0_f64, 0.0_f64);
    for (body, wrench) in model.bodies().iter().zip(&ws.applied) {
        mass = mass.max(body.mass().unwrap_or(0.0));
        force = force.max(wrench.linear.norm());
    }
    let held = model.bodies().iter().filter_map(|body| body.support.as_ref());
    let held = held
        .map(|support| support.points.iter().map(|support_point| support_point.friction * support_point.load).sum());
    force = held.fold(force, f64::max);
    let prescribed = ws
        .contacts
        .iter()
        .map(|contact| contact.surface_velocity.norm().max((contact.gap_end - contact.gap_start).abs() / h));
    let below = ws.support_points.iter().map(|support_point| support_point.surface_velocity.norm());
    // Under its own force alone a body would reach h F / m within the step.
    let own = h * force / mass;
    let speed = prescribed.chain(below).chain(state.v.iter().map(|v| v.abs())).fold(0.0, f64::max);
    let speed = if speed > 0.0 { speed.max(AT_REST * own) } else { own };
    if own > 0.0 && own.is_finite() { own / speed } else { 1.0 }
}

/// The force by which the balance is missed after a round, and the forces it is measured by.
struct LeftOver {
    /// N s.
    most: f64,
    /// Index of the body with the most.
    body: usize,
    /// The largest impulse at work, N s.
    scale: f64,
}

impl LeftOver {
    fn share(&self) -> f64 {
        if self.most == 0.0 { 0.0 } else { self.most / self.scale.max(f64::MIN_POSITIVE) }
    }

    fn no_balance(&self, model: &Model, h: f64) -> StepCause {
        let name = model.bodies().get(self.body).map_or("?", |body| body.name.as_str());
        StepCause::NoBalance { body: format!("body \"{name}\""), force: self.most / h, scale: self.scale / h }
    }
}

/// ε M (v⁺ − v_k) of every body, torques by the radius of gyration.
fn left_over(start: &Start, ws: &Workspace, weight: f64) -> LeftOver {
    let &Start { model, h, .. } = start;
    let applied = ws.applied.iter().map(|wrench| h * wrench.linear.norm());
    let contacts = ws.contact_impulses.iter().map(|p| p.normal.max(p.friction.norm()));
    let support_points = ws.support_impulses.iter().map(|p| p.friction.norm());
    let mut left =
        LeftOver { most: 0.0, body: 0, scale: applied.chain(contacts).chain(support_points).fold(0.0, f64::max) };
    for (index, slot) in model.layout().iter().enumerate() {
        let Some((mobility, mass, moments)) = inertia(model, (&ws.start, Some(weight)), index) else { continue };
        let change = |k: usize| ws.velocity.get(k).zip(ws.before.get(k)).map_or(0.0, |(new, old)| new - old);
        let mut changes = [0.0; 6];
        changes.iter_mut().zip(slot.v.clone()).for_each(|(c, k)| *c = change(k));
        let twist = mobility.twist(changes.get(..mobility.dof()).unwrap_or_default());
        // ½ νᵀ M ν = ½ m |v|² with the speed of the whole motion.
        let energy = mass * twist.linear.norm_squared() + twist.angular.dot(&(moments * twist.angular));
        let impulse = (mass * energy).sqrt();
        if impulse > left.most || impulse.is_nan() {
            (left.most, left.body) = (impulse, index);
        }
    }
    left
}
