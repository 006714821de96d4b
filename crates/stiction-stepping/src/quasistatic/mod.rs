//! Quasistatic steps of bodies without inertia: forces are in balance at the end of every step.
//!
//! ```text
//! 0 = W_b p_b + W_n p_n + W_f p_f + h λ_app,    with the rows of joints, contacts and friction of any other step       [QS-1]
//! ```
//!
//! The velocities have no coefficient in the balance. Those that it does not determine are free, and velocities cannot be eliminated. Both
//! are resolved by the proximal-point method, whose fixed points are exactly the solutions of [QS-1]:
//!
//! ```text
//! ε M (v_{k+1} − v_k) = W p + h λ_app                                                                                   [QS-2]
//! ```
//!
//! Every proximal-point iteration is the problem of a dynamic step of light bodies. The remainder ε M (v_{k+1} − v_k) is the imbalance of
//! forces. From v_0 = 0 and with a light mass the first iteration is already close to the minimum-kinetic-energy velocity among all in
//! balance, those for which impulses exist that balance all loads.   [QS-3]

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
};

/// Fraction of the friction forces that a proximal mass may need for the motion of the step. It is also the factor by which an iteration
/// reduces the imbalance.   [QS-4]
const COLD_FRACTION: f64 = 1e-4;

/// Fraction of the first iteration from a warm start, and its factor from iteration to iteration: heavier bodies stay nearer to the warm
/// start.   [QS-4]
const WARM_FRACTION: f64 = 1e-3;
const WARM_DECREASE: f64 = 1e-2;

/// Speed that is rounding of rest, as a fraction of h F / m. It does not make bodies heavier.   [QS-4]
const AT_REST: f64 = 1e-9;

/// Imbalance that counts as zero, as a fraction of the largest force.
const BALANCED: f64 = 1e-10;

/// Imbalance that is accepted if iterations do not reduce it any more, as a fraction of the largest force.
const ACCEPTED: f64 = 1e-9;

/// Largest number of iterations, from rest and from a warm start.
const MAX_ITERATIONS: u32 = 60;
const MAX_WARM_ITERATIONS: u32 = 5;

/// Number of iterations after which a body that still takes most of the force is reported as held by nothing.
const MIN_ITERATIONS: u32 = 12;

/// Solves the balance of forces of the step for the contacts in the workspace, by proximal-point iterations [QS-2].
pub(crate) fn solve(start: &Start, ladder: &mut Ladder, ws: &mut Workspace) -> Result<LadderOutcome, StepCause> {
    let weight = weight(start, ws);
    let moving = start.state.v.iter().any(|v| *v != 0.0);
    if start.scheme.undetermined == Undetermined::Rest && moving {
        // The motion of the last step is a warm start. If the balance determines the motion, the result does not depend on the start.
        ws.kinematics.before.clone_from(&start.state.v);
        let weights =
            Weights { first: weight * WARM_FRACTION, factor: WARM_DECREASE, least: weight * COLD_FRACTION * 0.1 };
        let warm = iterate(start, ladder, ws, weights, MAX_WARM_ITERATIONS);
        if warm.is_ok() && is_determined(start.model, start.scheme, ws) {
            return warm;
        }
    }
    centre(start, ws);
    let weights = Weights { first: weight * COLD_FRACTION, factor: 1.0, least: 0.0 };
    iterate(start, ladder, ws, weights, MAX_ITERATIONS)
}

/// Sets the centre v_0 of the first iteration.   [QS-3]
fn centre(start: &Start, ws: &mut Workspace) {
    ws.kinematics.before.clone_from(&start.state.v);
    if start.scheme.undetermined == Undetermined::Rest {
        ws.kinematics.before.iter_mut().for_each(|v| *v = 0.0);
    }
}

/// Proximal masses: ε of the first iteration, the factor to the next, and its lower bound.
#[derive(Clone, Copy)]
struct Weights {
    first: f64,
    factor: f64,
    least: f64,
}

/// Iterates from the centre in `ws.kinematics.before` until the forces are in balance.   [QS-2]
fn iterate(
    start: &Start,
    ladder: &mut Ladder,
    ws: &mut Workspace,
    weights: Weights,
    most: u32,
) -> Result<LadderOutcome, StepCause> {
    let (mut weight, mut iterations, mut last) = (weights.first, 0, f64::INFINITY);
    for iteration in 1..=most {
        let ladder_outcome = proximal_step(start, ladder, ws, weight, iteration == 1)?;
        iterations += ladder_outcome.iterations;
        let imbalance = measure_imbalance(start, ws, weight);
        let fraction = imbalance.fraction();
        if fraction <= BALANCED || (fraction <= ACCEPTED && fraction > 0.5 * last) {
            let residual = measured(
                start,
                ws,
                Residual { value: ladder_outcome.residual.value.max(fraction), ..ladder_outcome.residual },
            )?;
            return Ok(LadderOutcome { residual, iterations, ..ladder_outcome });
        }
        if iteration >= MIN_ITERATIONS && fraction > 0.1 || iteration == most {
            return Err(imbalance.no_balance(start.model, start.h));
        }
        weight = (weight * weights.factor).max(weights.least);
        if fraction > 0.1 * last {
            weight *= 0.1;
        }
        last = fraction;
        ws.kinematics.before.clone_from(&ws.solution.velocity);
    }
    Err(measure_imbalance(start, ws, weight).no_balance(start.model, start.h))
}

/// Solves one dynamic step of bodies with `weight` of their mass, from the impulses of the last step or of the last iteration.   [QS-2]
fn proximal_step(
    start: &Start,
    ladder: &mut Ladder,
    ws: &mut Workspace,
    weight: f64,
    is_first: bool,
) -> Result<LadderOutcome, StepCause> {
    // Impulses are in a unit of mass that decreases with the mass of the bodies.
    let unit = ws.mass_unit;
    ws.proximal_mass_fraction = Some(weight);
    let solved = if is_first {
        formulation::assemble_rows(start, ws).and_then(|()| formulation::solve(start, ladder, ws))
    } else {
        formulation::assemble_proximal_iteration(start, ws)
            .and_then(|()| formulation::solve_again(start, ladder, ws, unit / ws.mass_unit))
    };
    ws.proximal_mass_fraction = None;
    // No momentum is balanced here, so that there is no energy balance.
    ws.solution.balanced_step_size = 0.0;
    solved
}

/// Residual in the problem itself. With linear sets it is a mixed problem with a zero block, which replaces the last iteration in the
/// workspace.   [QS-1]
fn measured(start: &Start, ws: &mut Workspace, last_iteration: Residual) -> Result<Residual, StepCause> {
    if ws.is_friction_problem {
        return Ok(last_iteration);
    }
    ws.proximal_mass_fraction = Some(0.0);
    let assembled = formulation::assemble_rows(start, ws);
    ws.proximal_mass_fraction = None;
    assembled?;
    Ok(ws.mixed.problem.residual(&ws.mixed.solution))
}

/// ε for which moving as fast as prescribed surfaces within a step would take all the applied forces.   [QS-4]
fn weight(start: &Start, ws: &Workspace) -> f64 {
    let &Start { model, state, h, .. } = start;
    debug_assert_eq!(model.bodies().len(), ws.kinematics.applied.len(), "every body has an applied wrench");
    let (mut force, mut mass) = (0.0_f64, 0.0_f64);
    for (body, wrench) in model.bodies().iter().zip(&ws.kinematics.applied) {
        mass = mass.max(body.mass().unwrap_or(0.0));
        force = force.max(wrench.linear.norm());
    }
    let held = model.bodies().iter().filter_map(|body| body.support.as_ref());
    let held = held
        .map(|support| support.points.iter().map(|support_point| support_point.friction * support_point.load).sum());
    force = held.fold(force, f64::max);
    let prescribed = ws
        .constraints
        .contacts
        .iter()
        .map(|contact| contact.surface_velocity.norm().max((contact.gap_end - contact.gap_start).abs() / h));
    let below = ws.constraints.support_points.iter().map(|support_point| support_point.surface_velocity.norm());
    // Under its own force alone a body would reach h F / m within the step.
    let own = h * force / mass;
    let speed = prescribed.chain(below).chain(state.v.iter().map(|v| v.abs())).fold(0.0, f64::max);
    let speed = if speed > 0.0 { speed.max(AT_REST * own) } else { own };
    if own > 0.0 && own.is_finite() { own / speed } else { 1.0 }
}

/// Imbalance of forces after an iteration, and its scale.
struct Imbalance {
    /// Largest imbalance, N s.
    most: f64,
    /// Index of the body with the largest imbalance.
    body: usize,
    /// Largest impulse, N s.
    scale: f64,
}

impl Imbalance {
    fn fraction(&self) -> f64 {
        if self.most == 0.0 { 0.0 } else { self.most / self.scale.max(f64::MIN_POSITIVE) }
    }

    fn no_balance(&self, model: &Model, h: f64) -> StepCause {
        let name = model.bodies().get(self.body).map_or("?", |body| body.name.as_str());
        StepCause::NoBalance { body: format!("body \"{name}\""), force: self.most / h, scale: self.scale / h }
    }
}

/// ε M (v⁺ − v_k) of every body, torques divided by the radius of gyration.
fn measure_imbalance(start: &Start, ws: &Workspace, weight: f64) -> Imbalance {
    let &Start { model, h, .. } = start;
    debug_assert_eq!(ws.solution.velocity.len(), ws.kinematics.before.len(), "both velocities are those of all bodies");
    let applied = ws.kinematics.applied.iter().map(|wrench| h * wrench.linear.norm());
    let contacts = ws.solution.contact_impulses.iter().map(|p| p.normal.max(p.friction.norm()));
    let support_points = ws.solution.support_impulses.iter().map(|p| p.friction.norm());
    let mut imbalance =
        Imbalance { most: 0.0, body: 0, scale: applied.chain(contacts).chain(support_points).fold(0.0, f64::max) };
    for (index, slot) in model.layout().iter().enumerate() {
        let Some((mobility, mass, moments)) = inertia(model, (&ws.kinematics.start, Some(weight)), index) else {
            continue;
        };
        let change =
            |k: usize| ws.solution.velocity.get(k).zip(ws.kinematics.before.get(k)).map_or(0.0, |(new, old)| new - old);
        let mut changes = [0.0; 6];
        changes.iter_mut().zip(slot.v.clone()).for_each(|(c, k)| *c = change(k));
        let twist = mobility.twist(changes.get(..mobility.dof()).unwrap_or_default());
        // ½ νᵀ M ν = ½ m |v|² with the speed of the whole motion.
        let energy = mass * twist.linear.norm_squared() + twist.angular.dot(&(moments * twist.angular));
        let impulse = (mass * energy).sqrt();
        if impulse > imbalance.most || impulse.is_nan() {
            (imbalance.most, imbalance.body) = (impulse, index);
        }
    }
    imbalance
}
