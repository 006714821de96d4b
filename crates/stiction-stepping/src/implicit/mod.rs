//! The geometrically implicit step: contacts and joints hold where the bodies are at the END of the step.   [GIM-1]
//!
//! ```text
//! M (v⁺ − v_free) = W(q⁺) p,   q⁺ = q ⊕ h v⁺,   0 = Φ(q⁺, t⁺),   (p, u) obeys the contact laws with u = (ψ(q⁺, t⁺)/h, W_f(q⁺)ᵀ v⁺)
//! ```
//!
//! The linearised step is a guess; Newton's method goes on from there with the exact change of every wrench ([`slopes`]), in the
//! unknowns (v⁺, p). The closest points are eliminated: at every iterate they are found exactly, or in closed form; where that gets
//! nowhere they become unknowns too ([`points`]). The answer is judged by other code: contacts are looked for again at q⁺, the problem linearised *there* is written, and (v⁺, p) must solve it, which
//! is the same as solving the implicit equations. Where Newton fails, the fixed point over such problems is the next rung.   [STEP-10]

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

use stiction_complementarity::{Problem, Status};

use crate::{Detector, Start, StepCause, Workspace, detect, formulation, ladder::LadderOutcome};

/// Looks for the contacts at q ⊕ h v⁺, writes the problem linearised there, and measures the answer (v⁺, p) in it.   [GIM-6]
///
/// Some, with everything of the answer in the workspace; none where it is not the answer, or contacts have changed and have to be
/// solved for: the problem of the next pass is then the one linearised there.
pub(crate) fn accept(
    start: &Start,
    detector: &mut dyn Detector,
    (newton, rung): (&ImplicitNewton, &'static str),
    tolerance: f64,
    ws: &mut Workspace,
) -> Result<Option<LadderOutcome>, StepCause> {
    ws.linearisation_velocity.clear();
    ws.linearisation_velocity.extend(newton.velocity().iter().take(start.model.dof()));
    detect(start, detector, ws)?;
    formulation::assemble(start, ws)?;
    newton.write_impulses(start.model, ws);
    let residual = ws.cone.residual(&ws.cone_solution);
    if residual.value > tolerance {
        return Ok(None);
    }
    formulation::extract(start, ws);
    ws.balanced_over = start.h;
    Ok(Some(LadderOutcome { rung, status: Status::Solved, residual, iterations: newton.iterations() }))
}
