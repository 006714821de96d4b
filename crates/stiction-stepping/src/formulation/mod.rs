//! Formulation of a step as a complementarity problem, and extraction of its solution. This module assembles the problem of the default step
//! from mechanics and complementarity.
//!
//! The constraints of a step do not depend on the friction set, but their formulation does. [`polygon`] formulates a mixed linear
//! complementarity problem in velocities and impulses, [`cone`] a frictional contact problem in impulses. Both yield v⁺ and the impulses.
//! With divide and conquer, [`divided`] eliminates the velocities from the mixed problem. The Delassus operator of the frictional problem is
//! matrix-free, or assembled by [`impulses`]: with divide and conquer, and with few rows in reduced coordinates.
//!
//! | term | meaning |
//! |---|---|
//! | [`Start`] | inputs of the step |
//! | constraint row, `Side` | row with the rate Hᵀ v + bias; its term on one body, or on one velocity of the forest |
//! | bias | constant right-hand side of a row, m/s or rad/s; not Featherstone's bias force, which is called velocity product here |
//! | constant term | a row at unknowns that are zero: the bias if they are velocities; q = Hᵀ v_free + bias if they are impulses or changes from v_free |
//! | equalities | joints and joint-space equations: constraints u = 0 with free impulses |
//! | block | one constraint in the problem: the rows of a contact, joint, limit or motor, with their common law |
//! | jammed contacts, slack | contacts that no motion keeps from overlapping; the rate at which they may overlap (`slack.rs`) |
//! | custom methods | solver methods that the user gives a [`Ladder`] in place of its own |
//! | contradictions | inconsistent part of the rates that stabilisation prescribes at redundant joints (`contradictions.rs`) |
//! | `ws.is_friction_problem` | true for a `FrictionProblem` (second-order cones, and usually equalities alone), false for a mixed linear problem |
//! | `ws.reduced`, `reduced.divided` | state of reduced coordinates; state of divide and conquer: assembly tree and rows |
//! | `ws.mass_unit`, `unit` | unit of mass, which scales masses and impulses |
//! | `ws.proximal_mass_fraction` | factor on all masses in the dynamic steps that together make a quasistatic one [QS-2] |
//! | `ws.solution.balanced_step_size` | step size over which the impulses of the last solved problem balance momentum; zero if there is none |
//! | `allowance` of a layer | largest penetration that the layer allows |
//! | massless frame | body without mass between two joints in series |
//! | end-of-step geometry | gaps and normals at the unknown end of the step (`LineariseAt::Implicit`) |

mod columns;
mod cone;
mod contradictions;
mod directions;
mod divided;
mod impulses;
mod polygon;
mod polygon_joint_space;
mod redundancy;
mod slack;
mod surfaces;
mod warm_start;
mod working_set;
mod worst;

pub(crate) use contradictions::review_contradictions;
pub use directions::choose as choose_directions;
pub(crate) use slack::{overlap_of_jam, review_jam};
pub(crate) use surfaces::layer_constant_terms;
pub(crate) use worst::{name_contact, name_joint, worst};

use nalgebra::Matrix3;
use stiction_complementarity::{FrictionIslands, Law, Status};
use stiction_multibody::{Configuration, Dimension, Mobility, Model, mass_block};

use working_set::ScreeningOutcome;

use crate::{
    Acceptance, Contact, Dynamics, FrictionSet, Ladder, LineariseAt, Start, StepCause, Workspace,
    ladder::LadderOutcome, review::Change, rows, workspace::ProblemToSolve,
};

/// Assembles the problem of the step from the configurations and contacts that [`crate::detect`] found.
pub fn assemble(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    rows::write(start, ws);
    assemble_rows(start, ws)
}

/// Assembles the problem from the rows in the workspace.
pub fn assemble_rows(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    (ws.solution.balanced_step_size, ws.solution.slip_error) = (0.0, 0.0);
    // With a proximal mass fraction of zero the unit of the previous proximal-point iterations is kept.   [QS-1]
    if ws.proximal_mass_fraction != Some(0.0) {
        ws.mass_unit = mass_unit(start.model) * ws.proximal_mass_fraction.unwrap_or(1.0);
    }
    divided::begin(start, ws)?;
    ws.is_friction_problem = start.scheme.friction == FrictionSet::Quadratic
        || (has_equalities_alone(start, ws) && mass_ratio(start.model) <= LARGE_MASS_RATIO);
    if ws.is_friction_problem {
        cone::assemble(start, ws)?;
        // W tells which overlaps no motion opens; their rows then have other constant terms.
        return if slack::keep_immovable_overlaps(start, ws) { assemble_rows(start, ws) } else { Ok(()) };
    }
    polygon::assemble(start, ws);
    ws.mixed.problem.ensure_finite().map_err(|_| StepCause::non_finite("assembled problem", None))
}

/// True if the constraints of a dynamic step are joints and joint-space equalities alone, with at least one joint row.   [EQ-1]
///
/// Such a step has no friction, so that the friction set does not matter. Its problem is linear and is formulated in impulses, as with the
/// second-order cone, where redundant joints are solved too. The projection after a step regularises its joint rows [STAB-5] and keeps the mixed problem, and so
/// do mass ratios that cost the Delassus matrix its digits.
fn has_equalities_alone(start: &Start, ws: &Workspace) -> bool {
    let constraints = &ws.constraints;
    start.scheme.dynamics != Dynamics::Quasistatic
        && constraints.contacts.is_empty()
        && constraints.support_points.is_empty()
        && ws.mixed.joint_regularisation.is_empty()
        && constraints.joint_space_rows.iter().all(|row| matches!(row.law, Law::Equality { .. }))
        && columns::joint_rows(start.model, ws) > 0
}

/// Assembles the problem of another proximal-point iteration of the same step, with other masses and another start velocity.   [QS-2]
pub(crate) fn assemble_proximal_iteration(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    if !ws.is_friction_problem {
        return assemble_rows(start, ws);
    }
    ws.mass_unit = mass_unit(start.model) * ws.proximal_mass_fraction.unwrap_or(1.0);
    cone::assemble_velocities(start, ws)
}

/// Unit of mass: the power of two next to the mean mass, kg.
///
/// In this unit impulses are about as large as velocities. So the residual, which combines the two, and the choice of pivots do not
/// depend on the user's unit of mass.
fn mass_unit(model: &Model) -> f64 {
    let mean = model.mean_mass();
    if mean > 0.0 { libm::exp2(libm::round(libm::log2(mean))) } else { 1.0 }
}

/// Mobility, mass and inertia of a body in the problem: those of the model, times the proximal mass fraction.
pub(crate) fn inertia(
    model: &Model,
    (at, weight): (&Configuration, Option<f64>),
    index: usize,
) -> Option<(Mobility, f64, Matrix3<f64>)> {
    let (mobility, mass, inertia) = mass_block(model, at, index)?;
    let weight = weight.unwrap_or(1.0);
    Some((mobility, mass * weight, inertia * weight))
}

/// Solves the problem of the step; writes v⁺ and the impulses into the workspace.
///
/// A frictional problem starts from the impulses of the last step, also one of equalities alone with a linear friction set. A mixed linear problem
/// has no warm start.
pub fn solve(start: &Start, ladder: &mut Ladder, ws: &mut Workspace) -> Result<LadderOutcome, StepCause> {
    write_warm_start(start, ws);
    let outcome = solve_problem(ladder, ws);
    recover(start, ladder, outcome, ws)
}

/// Writes the warm start of the problem of the step.
pub(crate) fn write_warm_start(start: &Start, ws: &mut Workspace) {
    if ws.is_friction_problem && ws.constraints.contradictions.is_empty() {
        warm_start::write(start, ws);
    } else if ws.is_friction_problem {
        // What was left out of q is the residual of the last solution, which therefore solves the new problem.   [EQ-2]
        ws.friction.guess.r.clone_from(&ws.friction.solution.r);
    }
}

/// Screens the contacts of a problem with many: leaves out those that do not close in the step and, if more close than a working set takes, those
/// that close last; true if some are left out.   [STEP-15]
///
/// Only dynamic steps with second-order cones leave contacts out. With end-of-step geometry the active contacts are known only at the end.
pub(crate) fn screen(start: &Start, ws: &mut Workspace) -> bool {
    let scheme = start.scheme;
    scheme.dynamics != Dynamics::Quasistatic
        && scheme.linearise_at != LineariseAt::Implicit
        && scheme.friction == FrictionSet::Quadratic
        && working_set::screen(start, ws)
}

/// Reviews the solution of a working set; none if no contact is left out, or if all left-out contacts stay open.   [STEP-15]
///
/// `working_sets` counts the working sets solved. It is none once the problem has all contacts.
pub(crate) fn review_working_set(
    start: &Start,
    solved: bool,
    working_sets: &mut Option<u32>,
    ws: &mut Workspace,
) -> Option<Change> {
    let count = working_sets.as_mut()?;
    *count += 1;
    let outcome = if solved { working_set::extend_working_set(start, ws) } else { ScreeningOutcome::Abandoned };
    if matches!(outcome, ScreeningOutcome::Extended) && *count < MAX_WORKING_SETS {
        return Some(Change::AddScreenedContacts);
    }
    *working_sets = None;
    working_set::restore_screened(ws);
    (!matches!(outcome, ScreeningOutcome::Complete)).then_some(Change::AddAllContacts)
}

/// Solves a problem that differs little from the previous one.
///
/// A frictional problem starts from the previous solution times `factor`. A mixed linear problem has no warm start.
pub(crate) fn solve_again(
    start: &Start,
    ladder: &mut Ladder,
    ws: &mut Workspace,
    factor: f64,
) -> Result<LadderOutcome, StepCause> {
    ws.friction.guess.r.clear();
    ws.friction.guess.r.extend(ws.friction.solution.r.iter().map(|r| r * factor));
    let outcome = solve_problem(ladder, ws);
    recover(start, ladder, outcome, ws)
}

fn solve_problem(ladder: &mut Ladder, ws: &mut Workspace) -> LadderOutcome {
    match ws.problem_to_solve() {
        ProblemToSolve::Friction(problem, guess, solution) => ladder.solve(problem, Some(guess), solution),
        ProblemToSolve::Mixed(problem, solution) => ladder.solve(problem, None, solution),
    }
}

/// Recovers v⁺ and the impulses of all blocks from a problem whose solution is accepted. The outcome names the worst constraint if the residual is
/// above the aimed one, and the error that of a problem that is not solved. A solution with too large an overlap by slack is refused as jammed.
pub(crate) fn recover(
    start: &Start,
    ladder: &Ladder,
    outcome: LadderOutcome,
    ws: &mut Workspace,
) -> Result<LadderOutcome, StepCause> {
    if !is_accepted(start, ws, &outcome) {
        return Err(not_solved(start.model, ladder, ws, &outcome));
    }
    extract(start, ws);
    slack::admit(start, ws)?;
    ws.solution.balanced_step_size = start.h;
    let problem = &ws.friction.problem;
    ws.solution.slip_error = if ws.is_friction_problem { outcome.residual.value * problem.scale() } else { 0.0 };
    let is_solved = outcome.status.is_solved();
    let worst = if is_solved { None } else { worst(start.model, ws, &outcome.residual) };
    Ok(LadderOutcome { worst, ..outcome })
}

/// True if the solution is accepted.   [STEP-19]
///
/// One that is solved loosely is accepted if the step will not be halved again, or with many contacts, where a shorter step is not easier. Its masses
/// must not differ much: the residual is relative to the whole problem, so that a larger one says nothing about light bodies beside very heavy ones.
/// With [`Acceptance::Any`] every solution with a finite residual is accepted.
pub(crate) fn is_accepted(start: &Start, ws: &Workspace, outcome: &LadderOutcome) -> bool {
    let has_many_contacts = || ws.is_friction_problem && FrictionIslands::applies(&ws.friction.problem);
    match (outcome.status, start.acceptance) {
        (Status::Solved, _) => true,
        (_, Acceptance::Any) => outcome.residual.value.is_finite(),
        (Status::SolvedLoosely, acceptance) => {
            mass_ratio(start.model) <= LARGE_MASS_RATIO && (acceptance == Acceptance::Loose || has_many_contacts())
        }
        _ => false,
    }
}

/// Extracts v⁺ and the impulses from the solution in the workspace.
pub(crate) fn extract(start: &Start, ws: &mut Workspace) {
    if ws.is_friction_problem {
        cone::extract(start, ws);
    } else {
        polygon::extract(start, ws);
    }
}

/// Adds the known impulses of decompression in `ws.result.impacts` to the assembled linear problem.   [IMPACT-2]
pub(crate) fn add_restitution_impulses(ws: &mut Workspace) {
    polygon::add_restitution_impulses(ws);
}

/// Number of unknowns of the problem in its complete form, for reports. Not all of them are solved for.
///
/// With linear friction sets it is the size of the mixed problem. With second-order cones it counts velocities, impulses and the slip speeds
/// of the Fritz-John form [FJ-1], which no method of the ladders has as unknowns. End-of-step geometry adds two closest points and two multipliers for
/// each contact, which are not unknowns of Newton's method either.
pub(crate) fn size(start: &Start, ws: &Workspace) -> usize {
    let model = start.model;
    let points = match (start.scheme.linearise_at, model.dimension()) {
        (LineariseAt::Implicit, Dimension::Spatial) => 8,
        (LineariseAt::Implicit, Dimension::Planar) => 6,
        _ => 0,
    };
    points * ws.constraints.contacts.len() + linearised_size(model, ws)
}

fn linearised_size(model: &Model, ws: &Workspace) -> usize {
    if ws.is_friction_problem {
        // Each friction limit in Fritz-John form [FJ-1] has a slip speed besides its impulses. No method of the ladders computes it.
        let cones: usize = ws.friction.problem.laws().iter().map(Law::friction_limits).sum();
        // The normal impulses of support points are known.
        columns::velocities(model, ws) + ws.friction.problem.rows() + cones - ws.constraints.support_points.len()
    } else {
        ws.mixed.problem.size()
    }
}

/// Largest number of working sets that are solved for the same rows; then all contacts are taken.
const MAX_WORKING_SETS: u32 = 4;

/// Penetration beyond which the hint of a failed step names overlapping bodies, m.
const OVERLAP: f64 = 1e-3;

/// Largest ratio of masses at which the rates Hᵀ M⁻¹ H r of joints keep the digits that the tolerance needs, and at which the residual, relative to the
/// whole problem, says something about light bodies.
const LARGE_MASS_RATIO: f64 = 1e6;

/// Largest mass divided by the smallest.
fn mass_ratio(model: &Model) -> f64 {
    // Massless frames do not count.
    let masses = model.bodies().iter().filter_map(stiction_multibody::Body::mass).filter(|mass| *mass > 0.0);
    let (least, most) = masses.fold((f64::INFINITY, 0.0_f64), |(least, most), m| (least.min(m), most.max(m)));
    most / least
}

/// Hint of a failed step for which no likely cause was found.
pub(crate) const LIMIT_OF_THE_METHOD: &str = "this is a limit of the method, not of the scene; to solve the problem again, find it in `failed_problem.json` of `stiction run` or in `Simulation::problem`";

/// Error of a problem that was not solved: its worst constraint, the rungs that were tried, and a hint at the likely cause.
pub(crate) fn not_solved(model: &Model, ladder: &Ladder, ws: &Workspace, ladder_outcome: &LadderOutcome) -> StepCause {
    let allowance = |contact: &Contact| contact.layer.map_or(0.0, |layer| layer.allowance());
    let overlaps = ws.constraints.contacts.iter().any(|contact| contact.gap_start < -OVERLAP - allowance(contact));
    let hint = if ws.proximal_mass_fraction.is_some() {
        "a body may be jammed between prescribed bodies: then no equilibrium exists, with or without inertia; replace one of them by a dynamic body with a load"
    } else if overlaps {
        "bodies overlap: check their initial positions"
    } else if mass_ratio(model) > LARGE_MASS_RATIO {
        "masses differ by more than a million: reduce the ratio, or use a preset with a linear friction set, which is solved by pivoting"
    } else if ws.is_friction_problem && contradictions::is_of_equalities_alone(ws) {
        contradictions::HINT
    } else if contradictions::is_of_joint_space_alone(ws) {
        contradictions::JOINT_SPACE_HINT
    } else if columns::joint_rows(model, ws) > 0 {
        "look for redundant joints; the problem is in `failed_problem.json` of `stiction run` and in `Simulation::problem`"
    } else {
        LIMIT_OF_THE_METHOD
    };
    let contradicting =
        if hint == contradictions::HINT { contradictions::contradicting_joints(model, ws) } else { None };
    let worst = contradicting.unwrap_or_else(|| worst::name_worst(model, ws, &ladder_outcome.residual));
    StepCause::NotSolved {
        status: ladder_outcome.status,
        residual: ladder_outcome.residual.value,
        worst,
        rungs: ladder.names(ws.is_friction_problem).collect(),
        hint,
    }
}

#[cfg(test)]
pub(crate) mod tests;
