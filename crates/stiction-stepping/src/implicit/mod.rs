//! Geometrically implicit step: contacts and joints hold at the configuration of the end of the step.   [GIM-1]
//!
//! ```text
//! M (v⁺ − v_free) = W(q⁺) p,   q⁺ = q ⊕ h v⁺,   0 = Φ(q⁺, t⁺),   (p, u) obeys the contact laws with u = (ψ(q⁺, t⁺)/h, W_f(q⁺)ᵀ v⁺)
//! ```
//!
//! The solution of the linearised step is the initial guess. Newton's method continues from it in the unknowns (v⁺, p), with the exact
//! derivative of every wrench ([`slopes`]). The closest points are eliminated: they are found exactly, or in closed form, at every iterate.
//! They become unknowns as well ([`points`]) if that does not converge. Independent code checks the result. Contacts are detected again at
//! q⁺, the problem linearised at q⁺ is written, and (v⁺, p) must solve it, which is the same as solving the implicit equations. If Newton's
//! method fails, the fixed-point iteration over such problems is the next rung.   [STEP-10]

mod contacts;
mod iterate;
mod matrix;
mod newton;
mod points;
mod slopes;
mod system;
#[cfg(test)]
mod tests;
mod turn;

pub(crate) use newton::ImplicitNewton;

use stiction_complementarity::{Problem, Status, Tolerance};

use crate::{Contact, Detector, Start, StepCause, Workspace, detect, formulation, ladder::LadderOutcome};

/// Rounding of a gap, in multiples of the machine precision of its coordinates: a gap is a difference of distances, each of which has a few
/// roundings.
const GAP_ROUNDINGS: f64 = 8.0;

/// Residual that remains of the problem in the workspace because gaps are rounded: their rates are ψ/h, so that it grows with 1/h.   [GIM-6]
pub(crate) fn rounding_of_gaps(h: f64, ws: &Workspace) -> f64 {
    let size = |contact: &Contact| contact.point.coords.norm() + contact.arm_a.norm() + contact.arm_b.norm();
    let gaps = ws.constraints.contacts.iter().map(|contact| GAP_ROUNDINGS * f64::EPSILON * size(contact));
    gaps.map(|gap| (gap / h).powi(2)).sum::<f64>().sqrt() / ws.friction.problem.scale()
}

/// Detects the contacts at q ⊕ h v⁺, writes the problem linearised there, and evaluates the residual of (v⁺, p) in it.   [GIM-6]
///
/// Returns the outcome, with the solution in the workspace. Returns none if the residual is too large or a contact with an impulse is gone. The problem
/// of the next pass is then the one linearised there. A tolerance without room between `solved` and `loose` is that of a pass that others follow.
pub(crate) fn accept(
    start: &Start,
    detector: &mut dyn Detector,
    (newton, rung): (&ImplicitNewton, &'static str),
    tolerance: Tolerance,
    ws: &mut Workspace,
) -> Result<Option<LadderOutcome>, StepCause> {
    ws.kinematics.linearisation_velocity.clear();
    ws.kinematics.linearisation_velocity.extend(newton.velocity().iter().take(start.model.dof()));
    detect(start, detector, ws)?;
    formulation::assemble(start, ws)?;
    newton.write_impulses(start.model, ws);
    let residual = ws.friction.problem.residual(&ws.friction.solution);
    let status = match residual.value {
        value if value <= tolerance.solved => Status::Solved,
        value if value <= tolerance.loose => Status::SolvedLoosely,
        _ => Status::BudgetExhausted,
    };
    let outcome = LadderOutcome { rung, status, residual, iterations: newton.iterations(), worst: None };
    let is_last = tolerance.loose > tolerance.solved;
    let is_accepted = outcome.status.is_solved() || is_last && formulation::is_accepted(start, ws, &outcome);
    if !is_accepted || !newton.finds_loaded_contacts(start.model, ws) {
        return Ok(None);
    }
    formulation::extract(start, ws);
    ws.solution.balanced_step_size = start.h;
    let worst = if outcome.status.is_solved() { None } else { formulation::worst(start.model, ws, &residual) };
    Ok(Some(LadderOutcome { worst, ..outcome }))
}
