//! The step with the second-order (Coulomb) friction cone: a frictional contact problem in impulses.
//!
//! With v_free = v + h M⁻¹ (λ_app + λ_vp) and the rows of joints and contacts stacked in Hᵀ,
//!
//! ```text
//! v⁺ = v_free + M⁻¹ H r,    u = Hᵀ v⁺ + bias = W r + q,    W = Hᵀ M⁻¹ H,    q = Hᵀ v_free + bias          [STEP-11]
//! ```
//!
//! The rows of a contact are its normal, its two tangents and its torsional (drilling) friction, called spin in identifiers. The last three
//! are scaled by the semi-axes of the friction ellipsoid. In these units the ellipsoid is a ball and Coulomb's law is [`Law::Cone`].   [FRIC-3]
//! Rolling friction has rows after these, as long as its coefficient, and the law is [`Law::Rolling`].   [FRIC-5]
//!
//! An auxiliary mass is a block column besides those of the bodies, for a support point, the surface of a layer or a compliant joint-space
//! row. A support point is a contact whose normal row acts on an auxiliary mass m that only the known load N accelerates. Then 0 ≤ r_n ⊥
//! u_n = (r_n − h N)/m ≥ 0 implies r_n = h N, and solvers need no special case for support points.   [SUP-4]
//!
//! Block rows are in this order: joints, contacts, support points, rigid cores of layers, joint-space rows. Block columns are in this
//! order: bodies (or links), support points, surfaces of layers, compliant joint-space rows.

use nalgebra::Vector3;
use stiction_complementarity::{Bodies, Delassus, Law, Operator, ProblemError, linalg::BlockMatrix};
use stiction_multibody::{Mobility, Model, apply_inverse_mass};

use super::{
    columns,
    columns::{
        Blocks, FrictionRows, add_free_rates, block_count, free_rate, free_rate_of_sides, law, push_contact,
        support_rows,
    },
    impulses, inertia, surfaces,
    surfaces::{compliant_rows, mass_of},
};
use crate::{Contact, Start, StepCause, SupportPointContact, Workspace, reduced, workspace::ContactImpulse};

/// Fills `ws.cone` from the rows and contacts in the workspace.   [STEP-11]
pub(super) fn assemble(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    free_velocity(start, ws);
    let mut cone = std::mem::take(&mut ws.cone);
    let filled = cone.refill(|operator, laws, q| {
        write_laws(start, ws, laws, q);
        if impulses::applies(start, ws, q.len()) {
            impulses::write(start, ws, operator, laws, q);
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
        debug_assert_eq!(bodies.jacobian().cols(), ws.free_velocity.len(), "v_free has an entry for each column of H");
        bodies.jacobian().mul_add_into(&ws.free_velocity, q);
        Ok::<_, ProblemError>(())
    });
    ws.cone = cone;
    filled.map_err(|_| StepCause::non_finite("assembled problem", None))
}

/// Rewrites q of `ws.cone` for another proximal mass fraction and start velocity; laws and Delassus operator stay.   [QS-2]
pub(super) fn assemble_velocities(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    free_velocity(start, ws);
    let mut cone = std::mem::take(&mut ws.cone);
    let mut laws = std::mem::take(&mut ws.laws);
    let filled = cone.refill_velocities(|operator, q| {
        write_laws(start, ws, &mut laws, q);
        if let Operator::MatrixFree(bodies) = operator {
            debug_assert_eq!(
                bodies.jacobian().cols(),
                ws.free_velocity.len(),
                "v_free has an entry for each column of H"
            );
            bodies.jacobian().mul_add_into(&ws.free_velocity, q);
        }
    });
    (ws.cone, ws.laws) = (cone, laws);
    filled.map_err(|_| StepCause::non_finite("assembled problem", None))
}

/// Fills `ws.free_velocity` with v + h M⁻¹ (λ_app + λ_vp), followed by the free velocities of auxiliary masses.
pub(super) fn free_velocity(start: &Start, ws: &mut Workspace) {
    let &Start { model, h, .. } = start;
    debug_assert!(ws.reduced.is_some() || ws.before.len() == model.dof(), "v has an entry for each degree of freedom");
    ws.free_velocity.clear();
    if let Some(reduced) = &mut ws.reduced {
        // The unknowns of the forest are changes: v_free is part of the constant terms.   [RED-2]
        reduced.find_free(model, h, &mut ws.free_bodies);
        let count = if reduced.divided.is_some() { 0 } else { reduced.free.len() };
        ws.free_velocity.resize(count, 0.0);
    }
    for (index, slot) in model.layout().iter().enumerate() {
        if ws.reduced.is_some() {
            break;
        }
        let Some((mobility, mass, inertia)) = inertia(model, (&ws.start, ws.proximal_mass_fraction), index) else {
            continue;
        };
        let acceleration = ws
            .applied
            .get(index)
            .map_or([0.0; 6], |w| mobility.project(&apply_inverse_mass(mobility, mass, &inertia, w)));
        let v = ws.before.get(slot.v.clone()).unwrap_or_default();
        ws.free_velocity.extend(v.iter().zip(acceleration).map(|(v, a)| v + h * a));
    }
    debug_assert_eq!(ws.free_velocity.len(), columns::velocities(model, ws), "v_free begins with all velocities");
    let weight = ws.proximal_mass_fraction;
    ws.free_velocity.extend(
        ws.support_points.iter().map(|support_point| -h * support_point.load / mass_of(model, support_point, weight)),
    );
    for surface in &ws.surfaces {
        ws.free_velocity.extend(surface.free.iter().take(surface.size));
    }
    ws.free_velocity.extend(compliant_rows(&ws.joint_space_rows).map(|_| 0.0));
}

/// Writes the laws and the constant terms of their rows, in the order of the block rows.
fn write_laws(start: &Start, ws: &Workspace, laws: &mut Vec<Law>, q: &mut Vec<f64>) {
    let model = start.model;
    laws.clear();
    q.clear();
    for joint in columns::joints(model, ws) {
        laws.push(Law::Equality { rows: joint.rows() });
        for row in ws.joint_rows.iter().skip(joint.first_row()).take(joint.rows()) {
            q.push(row.bias + free_rate(model, ws, (joint.a.0, &row.a), (joint.b.0, &row.b)));
        }
    }
    debug_assert_eq!(q.len(), columns::joint_rows(model, ws), "every joint row has a constant term");
    for contact in &ws.contacts {
        let law = law(model.dimension(), contact);
        let first = q.len();
        q.push(contact.bias);
        FrictionRows::new(contact, law.rows()).push_prescribed(contact, law.rows(), q);
        debug_assert_eq!(q.len() - first, law.rows(), "every row of a contact has a constant term");
        add_free_rates(model, ws, contact, q.get_mut(first..).unwrap_or_default());
        laws.push(law);
    }
    surfaces::write_constant_terms(model, ws, laws, q);
    for support_point in &ws.support_points {
        let law = support_point.law();
        let first = q.len();
        q.push(0.0);
        q.extend(
            SupportPointContact::tangents().iter().take(law.rows() - 1).map(|t| t.dot(&support_point.surface_velocity)),
        );
        if law.rows() == 4 {
            q.push(support_point.torsion * support_point.surface_spin);
        }
        debug_assert_eq!(q.len() - first, law.rows(), "every row of a support point has a constant term");
        let constants = q.get_mut(first..).unwrap_or_default();
        for (constant, (on, body)) in constants.iter_mut().zip(support_rows(support_point, law.rows())) {
            *constant += free_rate(model, ws, (support_point.on, &on), (support_point.body, &body));
        }
        laws.push(law);
    }
    surfaces::write_core_laws(model, ws, laws, q);
    for row in &ws.joint_space_rows {
        laws.push(row.law_in_unit(ws.mass_unit));
        q.push(row.bias + free_rate_of_sides(model, ws, &row.sides));
    }
    debug_assert_eq!(laws.len(), block_count(model, ws), "every block has a law");
    debug_assert_eq!(q.len(), laws.iter().map(Law::rows).sum::<usize>(), "every row has a constant term");
}

/// Writes mass matrix and Jacobian.
///
/// Each dynamic body or moving link, support point, layer surface and compliant joint-space row has one block column.
fn write_bodies(start: &Start, ws: &mut Workspace, laws: &[Law], bodies: &mut Bodies) -> Result<(), ProblemError> {
    let model = start.model;
    let unit = ws.mass_unit;
    let joint_blocks = columns::joint_blocks(model, ws);
    debug_assert_eq!(laws.len(), block_count(model, ws), "every block has a law");
    bodies.refill(|jacobian, mass| {
        let next = write_masses(model, ws, laws, jacobian, mass);
        mass.extend(
            ws.support_points
                .iter()
                .map(|support_point| mass_of(model, support_point, ws.proximal_mass_fraction) / unit),
        );
        ws.surfaces.iter().for_each(|surface| surface.push_mass(unit, mass));
        mass.extend(compliant_rows(&ws.joint_space_rows).map(|row| 1.0 / (row.compliance * unit)));
        let Workspace {
            block_of_body,
            block,
            reduced,
            joint_rows,
            contacts,
            support_points,
            surfaces,
            joint_space_rows,
            ..
        } = ws;
        let joints = reduced::joints_in_problem(model, reduced.as_deref());
        let mut blocks = Blocks { model, columns: block_of_body, block, reduced: reduced.as_deref_mut(), unit };
        for joint in joints {
            let first = joint.first_row();
            debug_assert!(
                first + joint.rows() <= joint_rows.len(),
                "the rows of all joints of the problem are written"
            );
            let rows = joint_rows.get(first..first + joint.rows()).unwrap_or_default();
            blocks.push_pair(jacobian, (joint.a.0, joint.b.0), rows.iter().map(|row| (row.a, row.b)));
            jacobian.finish_row();
        }
        let mut with_surface = (next + support_points.len()..).zip(surfaces.iter()).peekable();
        for (index, (contact, law)) in contacts.iter().zip(laws.iter().skip(joint_blocks)).enumerate() {
            push_contact(&mut blocks, jacobian, (contact, law.rows()));
            if let Some((column, surface)) = with_surface.next_if(|(_, surface)| surface.contact == index) {
                surface.write_block(contact, law.rows(), blocks.block);
                jacobian.push(column, blocks.block);
            }
            jacobian.finish_row();
        }
        debug_assert!(with_surface.peek().is_none(), "surfaces are in the order of their contacts");
        let laws = laws.iter().skip(joint_blocks + contacts.len());
        for (column, (support_point, law)) in (next..).zip(support_points.iter().zip(laws)) {
            let rows = support_rows(support_point, law.rows());
            blocks.push_pair(jacobian, (support_point.on, support_point.body), rows.into_iter().take(law.rows()));
            debug_assert!(law.rows() <= 4, "a support point has at most normal, two tangents and spin");
            jacobian.push(column, [1.0, 0.0, 0.0, 0.0].get(..law.rows()).unwrap_or_default());
            jacobian.finish_row();
        }
        for contact in surfaces::cores(surfaces).filter_map(|surface| contacts.get(surface.contact)) {
            let rows = law(model.dimension(), contact).rows();
            push_contact(&mut blocks, jacobian, (contact, rows));
            jacobian.finish_row();
        }
        let mut column = next + support_points.len() + surfaces.len();
        for row in joint_space_rows.iter() {
            blocks.push_sides(jacobian, &row.sides);
            if row.compliance > 0.0 {
                jacobian.push(column, &[1.0]);
                column += 1;
            }
            jacobian.finish_row();
        }
        debug_assert_eq!(column, jacobian.block_cols(), "every block column belongs to a body or an auxiliary mass");
        debug_assert_eq!(
            mass.len(),
            (0..jacobian.block_cols()).map(|column| jacobian.col_size(column).pow(2)).sum::<usize>(),
            "every block column has a square mass block"
        );
    })
}

/// Writes the sizes of the Jacobian and the masses of bodies or links; returns the number of their block columns.
fn write_masses(
    model: &Model,
    ws: &mut Workspace,
    laws: &[Law],
    jacobian: &mut BlockMatrix,
    mass: &mut Vec<f64>,
) -> usize {
    let others = ws.support_points.iter().map(|_| 1).chain(ws.surfaces.iter().map(|surface| surface.size));
    let others = others.chain(compliant_rows(&ws.joint_space_rows).map(|_| 1));
    ws.block_of_body.clear();
    mass.clear();
    let mut next = 0;
    if ws.reduced.is_some() {
        let links = model.forest().tree().links();
        let moving = links.iter().map(|link| link.velocities().len()).filter(|size| *size > 0);
        jacobian.clear(laws.iter().map(Law::rows), moving.clone().chain(others));
        for link in links {
            ws.block_of_body.push(next);
            next += usize::from(!link.velocities().is_empty());
        }
        for size in moving {
            mass.extend((0..size * size).map(|entry| if entry % (size + 1) == 0 { 1.0 } else { 0.0 }));
        }
        return next;
    }
    let dynamic = model.layout().iter().filter(|slot| !slot.v.is_empty());
    jacobian.clear(laws.iter().map(Law::rows), dynamic.map(|slot| slot.v.len()).chain(others));
    for index in 0..model.bodies().len() {
        ws.block_of_body.push(next);
        if let Some((mobility, m, inertia)) = inertia(model, (&ws.start, ws.proximal_mass_fraction), index) {
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
    let joint_blocks = columns::joint_blocks(model, ws);
    if let Operator::Assembled(_) = ws.cone.operator() {
        impulses::extract_velocities(model, ws);
    } else {
        extract_velocities(model, ws);
    }
    let (r, unit) = (&ws.cone_solution.r, ws.mass_unit);
    debug_assert_eq!(r.len(), ws.cone.rows(), "the solution has an impulse for each row");
    debug_assert_eq!(
        ws.cone.blocks(),
        block_count(model, ws),
        "the contacts of the workspace are those of the problem"
    );
    let joints = reduced::joints_in_problem(model, ws.reduced.as_deref());
    ws.joint_impulses.clear();
    ws.joint_impulses.resize(model.joint_rows(), 0.0);
    let rows = joints.flat_map(|joint| joint.first_row()..joint.first_row() + joint.rows());
    for (row, r) in rows.zip(r) {
        if let Some(impulse) = ws.joint_impulses.get_mut(row) {
            *impulse = r * unit;
        }
    }
    ws.joint_space_impulses.clear();
    ws.joint_space_impulses.extend(r.iter().skip(r.len() - ws.joint_space_rows.len()).map(|r| r * unit));
    let rows = |block: usize| r.get(ws.cone.range(joint_blocks + block)).unwrap_or_default();
    let of_contact = |block: usize, contact: &Contact| {
        FrictionRows::new(contact, rows(block).len()).impulse(contact, rows(block), unit)
    };
    let of_support_point = |block: usize, torsion: f64| {
        let (r, [x, y]) = (rows(block), SupportPointContact::tangents());
        let part = |k: usize| r.get(k).copied().unwrap_or(0.0) * unit;
        ContactImpulse {
            normal: part(0),
            friction: if r.len() > 2 { x * part(1) + y * part(2) } else { x * part(1) },
            spin: if r.len() > 3 { part(3) * torsion } else { 0.0 },
            ..ContactImpulse::default()
        }
    };
    let contacts = ws.contacts.iter().enumerate();
    ws.contact_impulses.clear();
    ws.contact_impulses.extend(contacts.map(|(index, contact)| of_contact(index, contact)));
    let support_points = (ws.contacts.len()..).zip(&ws.support_points);
    ws.support_impulses.clear();
    ws.support_impulses
        .extend(support_points.map(|(block, support_point)| of_support_point(block, support_point.torsion)));
    let first = ws.contacts.len() + ws.support_points.len();
    let with_core = ws.surfaces.iter_mut().filter(|surface| surface.core.is_some());
    for (block, surface) in (first..).zip(with_core) {
        let Some(contact) = ws.contacts.get(surface.contact) else {
            debug_assert!(false, "the surface of a layer belongs to a contact");
            continue;
        };
        surface.core_impulse = of_contact(block, contact);
    }
}

/// Computes v⁺ by the matrix-free operator, and the velocities of layer surfaces.
fn extract_velocities(model: &Model, ws: &mut Workspace) {
    let velocities = columns::velocities(model, ws);
    let Operator::MatrixFree(bodies) = ws.cone.operator() else {
        debug_assert!(false, "an assembled operator is extracted in impulses");
        return;
    };
    bodies.begin(&ws.cone_solution.r, &mut ws.velocity);
    debug_assert_eq!(ws.velocity.len(), ws.free_velocity.len(), "v_free has an entry for each column of H");
    debug_assert_eq!(
        ws.velocity.len(),
        velocities
            + ws.support_points.len()
            + ws.surfaces.iter().map(|surface| surface.size).sum::<usize>()
            + compliant_rows(&ws.joint_space_rows).count(),
        "columns are velocities, support points, surfaces and compliant rows"
    );
    ws.velocity.iter_mut().zip(&ws.free_velocity).for_each(|(v, free)| *v += free);
    let mut surface_velocities = ws.velocity.iter().skip(velocities + ws.support_points.len()).copied();
    for surface in &mut ws.surfaces {
        surface.velocity =
            Vector3::from_fn(|i, _| if i < surface.size { surface_velocities.next().unwrap_or(0.0) } else { 0.0 });
    }
    ws.velocity.truncate(velocities);
    if let Some(reduced) = &mut ws.reduced {
        std::mem::swap(&mut ws.velocity, &mut ws.free_velocity);
        reduced.find_velocity(model, ws.mass_unit, &ws.free_velocity, &mut ws.velocity);
    }
}
