//! The step with the second-order (Coulomb) friction cone: a frictional contact problem in impulses.
//!
//! With the applied forces λ_app, the velocity products λ_vp (gyroscopic), v_free = v + h M⁻¹ (λ_app + λ_vp) and the rows of joints and contacts
//! stacked in Hᵀ,
//!
//! ```text
//! v⁺ = v_free + M⁻¹ H r,    u = Hᵀ v⁺ + bias = W r + q,    W = Hᵀ M⁻¹ H,    q = Hᵀ v_free + bias          [STEP-11]
//! ```
//!
//! The rows of a contact are its normal, its two tangents and its torsional (drilling) friction, called spin in identifiers. The last three
//! are scaled by the semi-axes of the friction ellipsoid. In these units the ellipsoid is a ball and Coulomb's law is [`Law::Cone`].   [FRIC-3]
//! Rolling friction has rows after these, scaled by its coefficient, and the law is [`Law::Rolling`].   [FRIC-5]
//!
//! An auxiliary mass is a block column besides those of the bodies, for a support point, the surface of a layer or a compliant joint-space row (the
//! implicit force of a spring, damper, servo or rotor), and a common one for all jammed contacts, called slack. A support point is a contact whose
//! normal row acts on an auxiliary mass m that only the known load N accelerates. Then 0 ≤ r_n ⊥ u_n = (r_n − h N)/m ≥ 0 implies r_n = h N, and
//! solvers need no special case for support points.   [SUP-4]
//!
//! Block rows are in the order of [`Constraints`]. Block columns are in this order: bodies (or links), support points, surfaces of layers,
//! compliant joint-space rows, slack of jammed contacts.

use nalgebra::Vector3;
use stiction_complementarity::{
    Bodies, Delassus, FrictionIslands, FrictionProblem, Law, Operator, ProblemError, linalg::BlockMatrix,
};
use stiction_multibody::{Joint, Mobility, Model, apply_inverse_mass};

use super::{
    columns,
    columns::{Blocks, free_rate, free_rate_of_sides},
    impulses, inertia, surfaces,
};
use crate::{
    Constraints, Start, StepCause, Workspace,
    assembly::FrictionAssembly,
    constraints::{AuxiliaryKind, AuxiliaryMass, Block, Source},
    contact_rows::{ContactRows, MAX_CONTACT_ROWS, support_impulse},
};

/// Fills `ws.friction.problem` from the rows and contacts in the workspace.   [STEP-11]
pub(super) fn assemble(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    ws.constraints.collect(start.model, ws.reduced.as_deref());
    free_velocity(start, ws);
    let mut cone = std::mem::take(&mut ws.friction.problem);
    let filled = cone.refill(|operator, laws, q| {
        write_laws(start, ws, laws, q);
        if impulses::applies(start, ws, q.len()) {
            impulses::write(start, ws, operator, laws, q);
            subtract_contradictions(ws, q);
            clear_rounding(start, ws, laws, q);
            return Ok(());
        }
        if !matches!(operator, Operator::MatrixFree(_)) {
            *operator = Operator::default();
        }
        let Operator::MatrixFree(bodies) = operator else {
            debug_assert!(false, "the default operator is matrix-free");
            return Ok(());
        };
        write_bodies(start, ws, laws, bodies)?;
        debug_assert_eq!(
            bodies.jacobian().cols(),
            ws.friction.free_velocity.len(),
            "v_free has an entry for each column of H"
        );
        bodies.jacobian().mul_add_into(&ws.friction.free_velocity, q);
        subtract_contradictions(ws, q);
        clear_rounding(start, ws, laws, q);
        Ok::<_, ProblemError>(())
    });
    tell_forces(ws, &mut cone);
    ws.friction.problem = cone;
    filled.map_err(|_| StepCause::non_finite("assembled problem", None))
}

/// Tells a problem of many contacts which part of its free velocities is caused by forces.   [ISLAND-2]
fn tell_forces(ws: &Workspace, problem: &mut FrictionProblem) {
    let forced = &ws.friction.forced_velocity;
    if forced.is_empty() || !FrictionIslands::applies(problem) {
        return;
    }
    problem.set_forced(|operator, rates| {
        if let Operator::MatrixFree(bodies) = operator {
            debug_assert_eq!(bodies.jacobian().cols(), forced.len(), "an entry for each column of H");
            bodies.jacobian().mul_add_into(forced, rates);
        }
    });
}

/// Subtracts the contradictions (inconsistent part of the rates) of joints from q, last: they may be much smaller than its terms.   [EQ-2]
fn subtract_contradictions(ws: &Workspace, q: &mut [f64]) {
    let contradictions = &ws.constraints.contradictions;
    debug_assert!(contradictions.is_empty() || contradictions.len() == q.len(), "contradictions are those of all rows");
    q.iter_mut().zip(contradictions).for_each(|(q, rate)| *q -= rate);
}

/// Sets q to zero if it is rounding of the free velocities, or of the positions if there are joints alone.
///
/// The residual is relative to ‖q‖. Velocities of bodies that move together cancel in q, and what is left has no solution where joints are redundant, or
/// where contacts overlap that no motion opens.
fn clear_rounding(start: &Start, ws: &Workspace, laws: &[Law], q: &mut [f64]) {
    let free = if ws.reduced.is_some() { &ws.free_body_velocities } else { &ws.friction.free_velocity };
    let positions = if laws.iter().all(is_equality) { POSITION_ROUNDING } else { 0.0 };
    if start.h * norm(q) <= ROUNDING * start.h * norm(free) + positions {
        q.fill(0.0);
    }
}

/// Rounding error of a row as a fraction of the distance moved. Dimensionless. It is some hundred units in the last place, for the sums of products
/// behind each rate. With a much smaller value redundant joints in free fall contradict each other by rounding, and steps fail. Errors up to this
/// fraction are ignored.
const ROUNDING: f64 = 1e-13;

/// Rounding error of positions of a few metres, m: a few units in the last place. With a much smaller value the same steps fail at rest. Joint rates up
/// to this value divided by h are ignored: 2 nm/s in steps of a microsecond.
pub(super) const POSITION_ROUNDING: f64 = 2e-15;

/// True for the law of a joint or of a joint-space equation.
pub(super) fn is_equality(law: &Law) -> bool {
    matches!(law, Law::Equality { .. })
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Rewrites q of `ws.friction.problem` for the next proximal-point iteration. Laws and Delassus operator do not change.   [QS-2]
pub(super) fn assemble_velocities(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    free_velocity(start, ws);
    let mut cone = std::mem::take(&mut ws.friction.problem);
    let mut laws = std::mem::take(&mut ws.friction.laws);
    let filled = cone.refill_velocities(|operator, q| {
        write_laws(start, ws, &mut laws, q);
        if let Operator::MatrixFree(bodies) = operator {
            debug_assert_eq!(
                bodies.jacobian().cols(),
                ws.friction.free_velocity.len(),
                "v_free has an entry for each column of H"
            );
            bodies.jacobian().mul_add_into(&ws.friction.free_velocity, q);
        }
    });
    (ws.friction.problem, ws.friction.laws) = (cone, laws);
    filled.map_err(|_| StepCause::non_finite("assembled problem", None))
}

/// Fills `ws.friction.free_velocity` with v + h M⁻¹ (λ_app + λ_vp), followed by the free velocities of auxiliary masses.
fn free_velocity(start: &Start, ws: &mut Workspace) {
    free_velocity_of_bodies(start, ws);
    push_auxiliary_velocities(start.force_duration(), ws);
}

/// Fills `ws.friction.free_velocity` with v + h M⁻¹ (λ_app + λ_vp).
///
/// In reduced coordinates the unknowns are changes from v_free. It fills `ws.free_body_velocities` with v_free then, and `ws.friction.free_velocity`
/// with zeros.
pub(super) fn free_velocity_of_bodies(start: &Start, ws: &mut Workspace) {
    let &Start { model, h, .. } = start;
    debug_assert!(
        ws.reduced.is_some() || ws.kinematics.before.len() == model.dof(),
        "v has an entry for each degree of freedom"
    );
    ws.friction.free_velocity.clear();
    ws.friction.forced_velocity.clear();
    if let Some(reduced) = &mut ws.reduced {
        // v_free is part of the constant terms.   [RED-2]
        reduced.compute_free_velocity(model, h, &mut ws.free_body_velocities);
        let count = if reduced.divided.is_some() { 0 } else { reduced.free_velocity.len() };
        ws.friction.free_velocity.resize(count, 0.0);
    }
    for (index, slot) in model.layout().iter().enumerate() {
        if ws.reduced.is_some() {
            break;
        }
        let Some((mobility, mass, inertia)) = inertia(model, (&ws.kinematics.start, ws.proximal_mass_fraction), index)
        else {
            continue;
        };
        let acceleration = ws
            .kinematics
            .applied
            .get(index)
            .map_or([0.0; 6], |w| mobility.project(&apply_inverse_mass(mobility, mass, &inertia, w)));
        let v = ws.kinematics.before.get(slot.v.clone()).unwrap_or_default();
        ws.friction.free_velocity.extend(v.iter().zip(acceleration).map(|(v, a)| v + h * a));
        ws.friction.forced_velocity.extend(acceleration.iter().take(v.len()).map(|a| h * a));
    }
    debug_assert_eq!(
        ws.friction.free_velocity.len(),
        columns::velocities(model, ws),
        "v_free begins with all velocities"
    );
}

/// Appends the free velocities of auxiliary masses to `ws.friction.free_velocity`.
///
/// `force_duration` is h, or h/2 in each kick (half of the forces) of a step of second order [STEP-18].
fn push_auxiliary_velocities(force_duration: f64, ws: &mut Workspace) {
    let weight = ws.proximal_mass_fraction.unwrap_or(1.0);
    let bodies = ws.friction.free_velocity.len();
    for auxiliary in ws.constraints.auxiliary_masses() {
        match auxiliary {
            AuxiliaryKind::SupportPoint { mass, load } => {
                ws.friction.free_velocity.push(-force_duration * load / (mass * weight));
            }
            AuxiliaryKind::Layer(index) => {
                let surface = ws.constraints.layer_surfaces.get(index);
                let free = surface
                    .into_iter()
                    .flat_map(|surface| surface.free_velocity.iter().take(surface.compliant_directions));
                ws.friction.free_velocity.extend(free);
            }
            AuxiliaryKind::JointSpace(_) | AuxiliaryKind::Slack(_) => ws.friction.free_velocity.push(0.0),
        }
    }
    if !ws.friction.forced_velocity.is_empty() {
        ws.friction.forced_velocity.extend_from_slice(&ws.friction.free_velocity[bodies..]);
    }
}

/// Writes the laws and the constant terms of their rows, in the order of the blocks.
fn write_laws(start: &Start, ws: &Workspace, laws: &mut Vec<Law>, q: &mut Vec<f64>) {
    let (model, constraints) = (start.model, &ws.constraints);
    laws.clear();
    q.clear();
    for block in &constraints.blocks {
        laws.push(in_mass_unit(block.law, ws.mass_unit));
        let (rows, constants) = constraints.rows_of(block);
        let first = q.len();
        match (block.source, block.bodies) {
            (Source::JointSpace(index), _) => {
                let sides = constraints.joint_space_rows.get(index).map_or(&[][..], |row| &row.sides);
                q.extend(constants.iter().map(|constant| constant + free_rate_of_sides(model, ws, sides)));
            }
            (_, Some((a, b))) => q.extend(
                constants
                    .iter()
                    .zip(rows)
                    .map(|(constant, (on_a, on_b))| constant + free_rate(model, ws, (a, on_a), (b, on_b))),
            ),
            (_, None) => debug_assert!(false, "only joint-space rows have other terms than wrenches on two bodies"),
        }
        surfaces::add_slip(ws, block, q.get_mut(first..).unwrap_or_default());
    }
    debug_assert_eq!(q.len(), laws.iter().map(Law::rows).sum::<usize>(), "every row has a constant term");
}

/// Law for impulses in another unit of mass: its bounds are impulses.
fn in_mass_unit(law: Law, unit: f64) -> Law {
    match law {
        Law::Bounded { lower, upper } => Law::Bounded { lower: lower / unit, upper: upper / unit },
        law => law,
    }
}

/// Writes mass matrix and Jacobian.
///
/// Each dynamic body, or each link whose tree joint has DOFs, has one block column, and so has each auxiliary mass.
fn write_bodies(start: &Start, ws: &mut Workspace, laws: &[Law], bodies: &mut Bodies) -> Result<(), ProblemError> {
    let (model, unit) = (start.model, ws.mass_unit);
    debug_assert_eq!(laws.len(), ws.constraints.blocks.len(), "every block has a law");
    bodies.refill(|jacobian, mass| {
        let next = write_masses(model, ws, laws, jacobian, mass);
        let weight = ws.proximal_mass_fraction.unwrap_or(1.0);
        for auxiliary in ws.constraints.auxiliary_masses() {
            match auxiliary {
                AuxiliaryKind::SupportPoint { mass: own, .. } => mass.push(own * weight / unit),
                AuxiliaryKind::Layer(index) => {
                    ws.constraints
                        .layer_surfaces
                        .get(index)
                        .into_iter()
                        .for_each(|surface| surface.push_mass(unit, mass));
                }
                AuxiliaryKind::JointSpace(compliance) => mass.push(1.0 / (compliance * unit)),
                AuxiliaryKind::Slack(own) => mass.push(own / unit),
            }
        }
        let Workspace { friction, reduced, constraints, .. } = ws;
        let FrictionAssembly { block_of_body, block: entries, .. } = friction;
        let mut blocks =
            Blocks { model, columns: block_of_body, block: entries, reduced: reduced.as_deref_mut(), unit };
        for block in &constraints.blocks {
            write_block_row(&mut blocks, constraints, block, next, jacobian);
        }
        debug_assert_eq!(
            mass.len(),
            (0..jacobian.block_cols()).map(|column| jacobian.col_size(column).pow(2)).sum::<usize>(),
            "every block column has a square mass block"
        );
    })
}

/// Writes the block row of a constraint: its bodies, then its auxiliary mass. Columns of auxiliary masses begin at `first_auxiliary`.
fn write_block_row(
    blocks: &mut Blocks,
    constraints: &Constraints,
    block: &Block,
    first_auxiliary: usize,
    jacobian: &mut BlockMatrix,
) {
    match (block.source, block.bodies) {
        (Source::JointSpace(index), _) => {
            let sides = constraints.joint_space_rows.get(index).map_or(&[][..], |row| &row.sides);
            blocks.push_sides(jacobian, sides);
        }
        (_, Some(bodies)) => blocks.push_pair(jacobian, bodies, constraints.rows_of(block).0.iter().copied()),
        (_, None) => debug_assert!(false, "only joint-space rows have other terms than wrenches on two bodies"),
    }
    if let Some(AuxiliaryMass { column, kind }) = block.auxiliary {
        let rows = block.law.rows();
        let mut along_first_row = [0.0; MAX_CONTACT_ROWS];
        along_first_row[0] = 1.0;
        debug_assert!(
            rows <= along_first_row.len(),
            "a block with an auxiliary mass has at most the rows of a contact"
        );
        match (kind, block.source) {
            (AuxiliaryKind::Layer(surface), Source::Contact(contact)) => {
                if let (Some(surface), Some(contact)) =
                    (constraints.layer_surfaces.get(surface), constraints.contacts.get(contact))
                {
                    surface.write_block(contact, rows, blocks.block);
                    jacobian.push(first_auxiliary + column, blocks.block);
                }
            }
            _ => jacobian.push(first_auxiliary + column, along_first_row.get(..rows).unwrap_or_default()),
        }
    }
    jacobian.finish_row();
}

/// Writes the sizes of the Jacobian and the masses of bodies or links; returns the number of their block columns.
fn write_masses(
    model: &Model,
    ws: &mut Workspace,
    laws: &[Law],
    jacobian: &mut BlockMatrix,
    mass: &mut Vec<f64>,
) -> usize {
    let surfaces = &ws.constraints.layer_surfaces;
    let others = ws.constraints.auxiliary_masses().map(|kind| match kind {
        AuxiliaryKind::Layer(index) => surfaces.get(index).map_or(0, |surface| surface.compliant_directions),
        _ => 1,
    });
    ws.friction.block_of_body.clear();
    mass.clear();
    let mut next = 0;
    if ws.reduced.is_some() {
        let links = model.forest().tree().links();
        let sizes = links.iter().map(|link| link.velocities().len()).filter(|size| *size > 0);
        jacobian.clear(laws.iter().map(Law::rows), sizes.clone().chain(others));
        for link in links {
            ws.friction.block_of_body.push(next);
            next += usize::from(!link.velocities().is_empty());
        }
        for size in sizes {
            mass.extend((0..size * size).map(|entry| if entry % (size + 1) == 0 { 1.0 } else { 0.0 }));
        }
        return next;
    }
    let dynamic = model.layout().iter().filter(|slot| !slot.v.is_empty());
    jacobian.clear(laws.iter().map(Law::rows), dynamic.map(|slot| slot.v.len()).chain(others));
    for index in 0..model.bodies().len() {
        ws.friction.block_of_body.push(next);
        if let Some((mobility, m, inertia)) = inertia(model, (&ws.kinematics.start, ws.proximal_mass_fraction), index) {
            push_mass(mobility, m / ws.mass_unit, &(inertia / ws.mass_unit), mass);
            next += 1;
        }
    }
    let dynamic = model.layout().iter().filter(|slot| !slot.v.is_empty());
    debug_assert_eq!(next, dynamic.count(), "every body with unknowns has a mass");
    next
}

fn push_mass(mobility: Mobility, mass: f64, inertia: &nalgebra::Matrix3<f64>, out: &mut Vec<f64>) {
    let size = mobility.dof();
    for i in 0..size {
        for j in 0..size {
            out.push(match mobility {
                Mobility::Planar if i == 2 && j == 2 => inertia.m33,
                Mobility::Free if i >= 3 && j >= 3 => inertia[(i - 3, j - 3)],
                _ if i == j => mass,
                _ => 0.0,
            });
        }
    }
}

/// Extracts v⁺ = v_free + M⁻¹ H r and the impulses from the solution.   [STEP-11]
pub(super) fn extract(start: &Start, ws: &mut Workspace) {
    let model = start.model;
    if let Operator::Assembled(_) = ws.friction.problem.operator() {
        impulses::extract_velocities(model, ws);
    } else {
        extract_velocities(model, ws);
    }
    let Workspace { friction, constraints, solution, mass_unit: unit, .. } = ws;
    debug_assert_eq!(friction.solution.r.len(), friction.problem.rows(), "the solution has an impulse for each row");
    debug_assert_eq!(friction.problem.blocks(), constraints.blocks.len(), "the blocks are those of the problem");
    solution.joint_impulses.clear();
    solution.joint_impulses.resize(model.joint_rows(), 0.0);
    solution.contact_impulses.clear();
    solution.support_impulses.clear();
    solution.joint_space_impulses.clear();
    let Constraints { blocks, contacts, support_points, layer_surfaces: surfaces, .. } = constraints;
    for (index, block) in blocks.iter().enumerate() {
        let r = friction.solution.r.get(friction.problem.range(index)).unwrap_or_default();
        match block.source {
            Source::Joint(joint) => {
                let first = model.joints().get(joint).map_or(0, Joint::first_row);
                let places = solution.joint_impulses.iter_mut().skip(first);
                places.zip(r).for_each(|(impulse, r)| *impulse = r * *unit);
            }
            Source::Contact(contact) => {
                let impulse = |contact| ContactRows::new(contact, r.len()).impulse(r, *unit);
                solution.contact_impulses.extend(contacts.get(contact).map(impulse));
            }
            Source::SupportPoint(support_point) => {
                let impulse = |support_point| support_impulse(support_point, r, *unit);
                solution.support_impulses.extend(support_points.get(support_point).map(impulse));
            }
            Source::Core { surface, contact } => {
                if let (Some(surface), Some(contact)) = (surfaces.get_mut(surface), contacts.get(contact)) {
                    surface.core_impulse = ContactRows::new(contact, r.len()).impulse(r, *unit);
                }
            }
            Source::JointSpace(_) => solution.joint_space_impulses.extend(r.iter().map(|r| r * *unit)),
        }
    }
}

/// Computes v⁺ by the matrix-free operator, and the velocities of layer surfaces.
fn extract_velocities(model: &Model, ws: &mut Workspace) {
    let velocities = columns::velocities(model, ws);
    let Operator::MatrixFree(bodies) = ws.friction.problem.operator() else {
        debug_assert!(false, "an assembled operator is extracted in impulses");
        return;
    };
    bodies.begin(&ws.friction.solution.r, &mut ws.solution.velocity);
    debug_assert_eq!(
        ws.solution.velocity.len(),
        ws.friction.free_velocity.len(),
        "v_free has an entry for each column of H"
    );
    debug_assert_eq!(
        ws.solution.velocity.len(),
        velocities
            + ws.constraints.support_points.len()
            + ws.constraints.layer_surfaces.iter().map(|surface| surface.compliant_directions).sum::<usize>()
            + ws.constraints.joint_space_rows.iter().filter(|row| row.compliance > 0.0).count()
            + usize::from(ws.constraints.slack.is_some()),
        "columns are velocities, support points, surfaces, compliant rows and slack"
    );
    ws.solution.velocity.iter_mut().zip(&ws.friction.free_velocity).for_each(|(v, free)| *v += free);
    let mut surface_velocities =
        ws.solution.velocity.iter().skip(velocities + ws.constraints.support_points.len()).copied();
    for surface in &mut ws.constraints.layer_surfaces {
        surface.velocity = Vector3::from_fn(|i, _| {
            if i < surface.compliant_directions { surface_velocities.next().unwrap_or(0.0) } else { 0.0 }
        });
    }
    if let (Some(slack), Some(rate)) = (&mut ws.constraints.slack, ws.solution.velocity.last()) {
        slack.rate = *rate;
    }
    ws.solution.velocity.truncate(velocities);
    if let Some(reduced) = &mut ws.reduced {
        // The solution is δy = L (v⁺ − v_free). It takes the memory of v_free, whose entries of the forest are zero here.
        std::mem::swap(&mut ws.solution.velocity, &mut ws.friction.free_velocity);
        reduced.find_velocity(model, ws.mass_unit, &ws.friction.free_velocity, &mut ws.solution.velocity);
    }
}
