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

mod uniqueness;

pub use uniqueness::{Uniqueness, uniqueness};

use stiction_complementarity::{Problem, Residual};
use stiction_multibody::Model;

use crate::{
    Ladder, Start, StepCause, Undetermined, Workspace,
    formulation::{self, inertia},
    ladder::Climb,
    rows,
};

/// Share of the friction forces that a proximal mass may need for the motion of the step: the factor by which a round brings
/// the balance nearer.   [QS-4]
const LIGHT: f64 = 1e-3;

/// Speeds below this share of h F / m are what rounding left of rest: bodies need not be heavier for them.   [QS-4]
const AT_REST: f64 = 1e-9;

/// What is left over is nothing below this share of the largest force.
const BALANCED: f64 = 1e-13;

/// What may be left over where rounds stop to help.
const ACCEPTED: f64 = 1e-9;

/// Rounds at most.
const ROUNDS: u32 = 60;

/// Rounds after which a body that still takes most of the force is said to be held by nothing.
const PATIENCE: u32 = 12;

/// The centre v_0 of the first round.   [QS-3]
fn centre(start: &Start, ws: &mut Workspace) {
    ws.before.clone_from(&start.state.v);
    if start.scheme.undetermined == Undetermined::Rest {
        ws.before.iter_mut().for_each(|v| *v = 0.0);
    }
}

/// Solves the balance of forces of the step for the contacts in the workspace, by rounds of [QS-2].
pub(crate) fn solve(start: &Start, ladder: &mut Ladder, ws: &mut Workspace) -> Result<Climb, StepCause> {
    rows::write(start, ws);
    centre(start, ws);
    let mut weight = weight(start, ws);
    let (mut iterations, mut last) = (0, f64::INFINITY);
    for round in 1..=ROUNDS {
        ws.proximal_weight = Some(weight);
        let solved = formulation::assemble_rows(start, ws).and_then(|()| {
            if round == 1 { formulation::solve(start, ladder, ws) } else { formulation::solve_again(start, ladder, ws) }
        });
        ws.proximal_weight = None;
        // No momentum is balanced here, and no account of energy can be made of it.
        ws.balanced_over = 0.0;
        let climb = solved?;
        iterations += climb.iterations;
        let left = left_over(start, ws, weight);
        let share = left.share();
        if share <= BALANCED || (share <= ACCEPTED && share > 0.5 * last) {
            let residual = measured(start, ws, Residual { value: climb.residual.value.max(share), ..climb.residual })?;
            return Ok(Climb { iterations, residual, ..climb });
        }
        if round >= PATIENCE && share > 0.1 || round == ROUNDS {
            return Err(left.no_balance(start.model, start.h));
        }
        if share > 0.1 * last {
            weight *= 0.1;
        }
        last = share;
        ws.before.clone_from(&ws.velocity);
    }
    Err(left_over(start, ws, weight).no_balance(start.model, start.h))
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

/// ε of [QS-2]: so light that moving as fast as prescribed surfaces within a step takes a small share of the forces at work.   [QS-4]
fn weight(start: &Start, ws: &Workspace) -> f64 {
    let &Start { model, state, h, .. } = start;
    let (mut force, mut mass) = (0.0_f64, 0.0_f64);
    for (body, wrench) in model.bodies().iter().zip(&ws.applied) {
        mass = mass.max(body.mass().unwrap_or(0.0));
        force = force.max(wrench.linear.norm());
    }
    let held = model.bodies().iter().filter_map(|body| body.support.as_ref());
    let held = held.map(|support| support.feet.iter().map(|foot| foot.friction * foot.load).sum());
    force = held.fold(force, f64::max);
    let prescribed = ws
        .contacts
        .iter()
        .map(|contact| contact.surface_velocity.norm().max((contact.gap_end - contact.gap_start).abs() / h));
    let below = ws.feet.iter().map(|foot| foot.surface_velocity.norm());
    // Under its own force alone a body would reach h F / m within the step.
    let own = h * force / mass;
    let speed = prescribed.chain(below).chain(state.v.iter().map(|v| v.abs())).fold(0.0, f64::max);
    let speed = if speed > 0.0 { speed.max(AT_REST * own) } else { own };
    if own > 0.0 && own.is_finite() { LIGHT * own / speed } else { LIGHT }
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
    let feet = ws.foot_impulses.iter().map(|p| p.friction.norm());
    let mut left = LeftOver { most: 0.0, body: 0, scale: applied.chain(contacts).chain(feet).fold(0.0, f64::max) };
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
