//! The step with the quadratic friction cone: a frictional contact problem in impulses.
//!
//! With v_free = v + h M⁻¹ (λ_app + λ_vp) and the rows of joints and contacts stacked in Hᵀ,
//!
//! ```text
//! v⁺ = v_free + M⁻¹ H r,    u = Hᵀ v⁺ + bias = W r + q,    W = Hᵀ M⁻¹ H,    q = Hᵀ v_free + bias          [STEP-11]
//! ```
//!
//! Rows of a contact are its normal, its tangents and its spin, the last three as long as the semi-axes of its friction
//! ellipsoid: in these units the ellipsoid is a ball and Coulomb's law that of [`Law::Cone`].   [FRIC-3]
//!
//! A foot of a support is a contact whose normal row acts on a velocity of its own, that of a mass which only its load pulls: then
//! 0 ≤ r_n ⊥ u_n = (r_n − h N)/m ≥ 0 makes r_n = h N, and the methods need to know nothing of feet.   [SUP-4]

use nalgebra::Vector3;
use stiction_complementarity::{Bodies, Delassus, Law, Operator, ProblemError, linalg::BlockMatrix};
use stiction_multibody::{Body, BodyId, Dimension, Mobility, Model, Wrench, apply_inverse_mass};

use super::{inertia, surfaces};
use crate::{Contact, FootContact, Start, StepCause, Workspace, rows::gap_now, workspace::ContactImpulse};

/// Fills `ws.cone` from the rows and contacts in the workspace.   [STEP-11]
pub(super) fn assemble(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    let model = start.model;
    free_velocity(start, ws);
    let mut cone = std::mem::take(&mut ws.cone);
    let filled = cone.refill(|operator, laws, q| {
        if !matches!(operator, Operator::Global(_)) {
            *operator = Operator::default();
        }
        let Operator::Global(bodies) = operator else { return Ok(()) };
        write_laws(model, ws, laws, q);
        write_bodies(start, ws, laws, bodies)?;
        bodies.jacobian().mul_add_into(&ws.free_velocity, q);
        Ok::<_, ProblemError>(())
    });
    ws.cone = cone;
    filled.map_err(|_| StepCause::non_finite("assembled problem", None))
}

/// Writes the free velocities of `ws.cone` anew where everything else of it stays: with other proximal masses in their own unit, and
/// from another velocity.   [QS-2]
pub(super) fn assemble_velocities(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    free_velocity(start, ws);
    let mut cone = std::mem::take(&mut ws.cone);
    let mut laws = std::mem::take(&mut ws.laws);
    let filled = cone.refill_velocities(|operator, q| {
        write_laws(start.model, ws, &mut laws, q);
        if let Operator::Global(bodies) = operator {
            bodies.jacobian().mul_add_into(&ws.free_velocity, q);
        }
    });
    (ws.cone, ws.laws) = (cone, laws);
    filled.map_err(|_| StepCause::non_finite("assembled problem", None))
}

/// v + h M⁻¹ (λ_app + λ_vp).
pub(super) fn free_velocity(start: &Start, ws: &mut Workspace) {
    let &Start { model, h, .. } = start;
    ws.free_velocity.clear();
    for (index, slot) in model.layout().iter().enumerate() {
        let Some((mobility, mass, inertia)) = inertia(model, (&ws.start, ws.proximal_weight), index) else { continue };
        let acceleration = ws
            .applied
            .get(index)
            .map_or([0.0; 6], |w| mobility.project(&apply_inverse_mass(mobility, mass, &inertia, w)));
        let v = ws.before.get(slot.v.clone()).unwrap_or_default();
        ws.free_velocity.extend(v.iter().zip(acceleration).map(|(v, a)| v + h * a));
    }
    let weight = ws.proximal_weight;
    ws.free_velocity.extend(ws.feet.iter().map(|foot| -h * foot.load / mass_of(model, foot, weight)));
    for surface in &ws.surfaces {
        ws.free_velocity.extend(surface.free.iter().take(surface.size));
    }
}

/// The mass that the load of a foot pulls: that of its body, so that all numbers are of one size.   [SUP-4]
fn mass_of(model: &Model, foot: &FootContact, weight: Option<f64>) -> f64 {
    model.body(foot.body).and_then(Body::mass).unwrap_or(1.0) * weight.unwrap_or(1.0)
}

/// The laws, and the constants of their rows.
fn write_laws(model: &Model, ws: &Workspace, laws: &mut Vec<Law>, q: &mut Vec<f64>) {
    laws.clear();
    q.clear();
    laws.extend(model.joints().iter().map(|joint| Law::Equality { rows: joint.rows() }));
    q.extend(ws.joint_rows.iter().map(|row| row.bias));
    for contact in &ws.contacts {
        let law = law(model.dimension(), contact);
        q.push(contact.bias);
        q.extend(contact.tangents.iter().take(law.rows() - 1).map(|t| t.dot(&contact.surface_velocity)));
        if law.rows() == 4 {
            q.push(contact.torsion * contact.surface_spin);
        }
        laws.push(law);
    }
    surfaces::write_constants(model, ws, laws, q);
    for foot in &ws.feet {
        let law = foot.law();
        q.push(0.0);
        q.extend(FootContact::tangents().iter().take(law.rows() - 1).map(|t| t.dot(&foot.surface_velocity)));
        if law.rows() == 4 {
            q.push(foot.torsion * foot.surface_spin);
        }
        laws.push(law);
    }
    surfaces::write_core_laws(model, ws, laws, q);
}

pub(super) fn law(dimension: Dimension, contact: &Contact) -> Law {
    match (contact.mu > 0.0, dimension) {
        (false, _) => Law::Boxed { lower: 0.0, upper: f64::INFINITY },
        (true, Dimension::Planar) => Law::Cone { rows: 2, mu: contact.mu },
        (true, _) => Law::Cone { rows: if contact.torsion > 0.0 { 4 } else { 3 }, mu: contact.mu },
    }
}

/// Masses and Jacobians, one block column for each dynamic body and one for the normal of each foot.
fn write_bodies(start: &Start, ws: &mut Workspace, laws: &[Law], bodies: &mut Bodies) -> Result<(), ProblemError> {
    let model = start.model;
    let unit = ws.mass_unit;
    bodies.refill(|jacobian, mass| {
        let dynamic = || model.layout().iter().filter(|slot| !slot.v.is_empty());
        let columns = dynamic().map(|slot| slot.v.len()).chain(ws.feet.iter().map(|_| 1));
        let columns = columns.chain(ws.surfaces.iter().map(|surface| surface.size));
        jacobian.clear(laws.iter().map(Law::rows), columns);
        ws.block_of_body.clear();
        mass.clear();
        let mut next = 0;
        for index in 0..model.bodies().len() {
            ws.block_of_body.push(next);
            if let Some((mobility, m, inertia)) = inertia(model, (&ws.start, ws.proximal_weight), index) {
                push_mass(mobility, m / unit, &(inertia / unit), mass);
                next += 1;
            }
        }
        mass.extend(ws.feet.iter().map(|foot| mass_of(model, foot, ws.proximal_weight) / unit));
        ws.surfaces.iter().for_each(|surface| surface.push_mass(unit, mass));
        for joint in model.joints() {
            let rows = ws.joint_rows.iter().skip(joint.first_row()).take(joint.rows());
            for (body, wrench) in [(joint.a.0, 0), (joint.b.0, 1)] {
                let wrenches = rows.clone().map(|row| if wrench == 0 { &row.a } else { &row.b });
                push_block(model, &ws.block_of_body, jacobian, &mut ws.block, body, wrenches);
            }
            jacobian.finish_row();
        }
        let mut surfaces = (next + ws.feet.len()..).zip(&ws.surfaces).peekable();
        for (index, (contact, law)) in ws.contacts.iter().zip(laws.iter().skip(model.joints().len())).enumerate() {
            push_contact(model, &ws.block_of_body, jacobian, &mut ws.block, (contact, law.rows()));
            if let Some((column, surface)) = surfaces.next_if(|(_, surface)| surface.contact == index) {
                surface.write_block(contact, law.rows(), &mut ws.block);
                jacobian.push(column, &ws.block);
            }
            jacobian.finish_row();
        }
        let laws = laws.iter().skip(model.joints().len() + ws.contacts.len());
        for (column, (foot, law)) in (next..).zip(ws.feet.iter().zip(laws)) {
            let rows = foot_rows(foot, law.rows());
            let rows = rows.iter().take(law.rows());
            push_block(model, &ws.block_of_body, jacobian, &mut ws.block, foot.on, rows.clone().map(|(on, _)| on));
            push_block(model, &ws.block_of_body, jacobian, &mut ws.block, foot.body, rows.map(|(_, body)| body));
            jacobian.push(column, [1.0, 0.0, 0.0, 0.0].get(..law.rows()).unwrap_or_default());
            jacobian.finish_row();
        }
        for contact in surfaces::cores(&ws.surfaces).filter_map(|surface| ws.contacts.get(surface.contact)) {
            let rows = law(model.dimension(), contact).rows();
            push_contact(model, &ws.block_of_body, jacobian, &mut ws.block, (contact, rows));
            jacobian.finish_row();
        }
    })
}

/// The blocks of the two bodies of a contact in the row being filled.
fn push_contact(
    model: &Model,
    columns: &[usize],
    jacobian: &mut BlockMatrix,
    block: &mut Vec<f64>,
    (contact, count): (&Contact, usize),
) {
    let rows = contact_rows(contact, count);
    let rows = rows.iter().take(count);
    push_block(model, columns, jacobian, block, contact.a, rows.clone().map(|(a, _)| a));
    push_block(model, columns, jacobian, block, contact.b, rows.map(|(_, b)| b));
}

/// Normal, two tangents and spin, as many as the law has; in the plane the normal row does nothing to the bodies.
pub(crate) fn foot_rows(foot: &FootContact, count: usize) -> [(Wrench, Wrench); 4] {
    let [x, y] = FootContact::tangents();
    let spin = if count == 4 { scaled(foot.spin_row(), foot.torsion) } else { Default::default() };
    [Default::default(), foot.row(&x), foot.row(&y), spin]
}

fn scaled((a, b): (Wrench, Wrench), factor: f64) -> (Wrench, Wrench) {
    (a.scaled(factor), b.scaled(factor))
}

/// Normal, two tangents and spin, as many as the law has.
pub(crate) fn contact_rows(contact: &Contact, count: usize) -> [(Wrench, Wrench); 4] {
    let [t, o] = &contact.tangents;
    let spin = if count == 4 { scaled(contact.spin_row(), contact.torsion) } else { Default::default() };
    [contact.row(&contact.normal), contact.row(t), contact.row(o), spin]
}

/// The block of a body in the row being filled; nothing for bodies without unknowns.
fn push_block<'w>(
    model: &Model,
    columns: &[usize],
    jacobian: &mut BlockMatrix,
    block: &mut Vec<f64>,
    body: BodyId,
    wrenches: impl Iterator<Item = &'w Wrench>,
) {
    let (Some((mobility, range)), Some(&column)) = (model.unknowns(body), columns.get(body.index())) else { return };
    block.clear();
    for wrench in wrenches {
        block.extend(mobility.project(wrench).iter().take(range.len()));
    }
    jacobian.push(column, block);
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

/// What the constants of contacts that act on masses of their own hold besides geometry and prescribed motion.
pub(crate) fn constants_of_own_masses(start: &Start, ws: &Workspace, out: &mut [f64]) {
    let Operator::Global(bodies) = ws.cone.operator() else { return };
    let (jacobian, dof, first) = (bodies.jacobian(), start.model.dof(), start.model.joints().len());
    for (index, contact) in ws.contacts.iter().enumerate() {
        let block = first + index;
        if !jacobian.row(block).any(|(column, _)| jacobian.col_range(column).start >= dof) {
            continue;
        }
        let rows = ws.cone.range(block);
        let Some(out) = out.get_mut(rows.clone()) else { continue };
        out.copy_from_slice(ws.cone.q().get(rows).unwrap_or_default());
        let mut free = [0.0; 6];
        jacobian.row_mul_add(block, &ws.free_velocity, &mut free[..out.len()]);
        let along = contact.tangents.map(|t| t.dot(&contact.surface_velocity));
        // The bias of a layer holds its deflection, that of others their gap alone.
        let gap = gap_now(start.model, contact, &ws.lookahead, start.h) + contact.gap_end - contact.gap_start;
        let known = [
            if contact.layer.is_some() { gap / start.h } else { contact.bias },
            along[0],
            along[1],
            contact.torsion * contact.surface_spin,
        ];
        out.iter_mut().zip(free.iter().zip(known)).for_each(|(out, (free, known))| *out -= free + known);
    }
}

/// The impulses of the last step as a first guess: those of joints, and of contacts that were there already.
pub(super) fn guess(start: &Start, ws: &mut Workspace) {
    let (model, state) = (start.model, start.state);
    let r = &mut ws.cone_guess.r;
    r.clear();
    r.extend(&state.joint_impulses);
    r.resize(model.joint_rows(), 0.0);
    let mut memories = state.contacts.iter().peekable();
    for (contact, law) in ws.contacts.iter().zip(ws.cone.laws().iter().skip(model.joints().len())) {
        while memories.next_if(|memory| memory.id < contact.id).is_some() {}
        let first = r.len();
        if let Some(memory) = memories.next_if(|memory| memory.id == contact.id) {
            // Of a contact with a layer and a core the layer has its own share.
            let core = memory.layer.unwrap_or_default();
            let friction = Vector3::from(memory.friction_impulse) - Vector3::from(core.core_friction);
            r.push(memory.normal_impulse - core.core_impulse);
            // p = r_t (e_t t) + r_o (e_o o), the tangents being perpendicular.
            r.extend(contact.tangents.iter().take(law.rows() - 1).map(|t| t.dot(&friction) / t.norm_squared()));
            if law.rows() == 4 {
                r.push((memory.spin_impulse - core.core_spin) / contact.torsion);
            }
        }
        r.resize(first + law.rows(), 0.0);
    }
    let laws = ws.cone.laws().iter().skip(model.joints().len() + ws.contacts.len());
    for ((foot, law), before) in ws.feet.iter().zip(laws).zip(state.support_impulses.chunks_exact(3)) {
        r.push(start.h * foot.load);
        r.extend(before.iter().take(law.rows() - 1));
        if let (4, Some(spin)) = (law.rows(), r.last_mut()) {
            *spin /= foot.torsion;
        }
    }
    surfaces::guess_cores(start, &ws.contacts, &ws.surfaces, r);
    r.resize(ws.cone.rows(), 0.0);
    for r in r {
        *r /= ws.mass_unit;
    }
}

/// v⁺ = v_free + M⁻¹ H r, and the impulses.   [STEP-11]
pub(super) fn extract(start: &Start, ws: &mut Workspace) {
    let model = start.model;
    let Operator::Global(bodies) = ws.cone.operator() else { return };
    let r = &ws.cone_solution.r;
    bodies.begin(r, &mut ws.velocity);
    ws.velocity.iter_mut().zip(&ws.free_velocity).for_each(|(v, free)| *v += free);
    let mut own = ws.velocity.iter().skip(model.dof() + ws.feet.len()).copied();
    for surface in &mut ws.surfaces {
        surface.velocity = Vector3::from_fn(|i, _| if i < surface.size { own.next().unwrap_or(0.0) } else { 0.0 });
    }
    ws.velocity.truncate(model.dof());
    let unit = ws.mass_unit;
    ws.joint_impulses.clear();
    ws.joint_impulses.extend(r.iter().take(model.joint_rows()).map(|r| r * unit));
    let of = |block: usize, [t, o]: &[Vector3<f64>; 2], torsion: f64| {
        let r = r.get(ws.cone.range(model.joints().len() + block)).unwrap_or_default();
        let part = |k: usize| r.get(k).copied().unwrap_or(0.0) * unit;
        ContactImpulse {
            normal: part(0),
            friction: if r.len() > 2 { t * part(1) + o * part(2) } else { t * part(1) },
            spin: if r.len() > 3 { part(3) * torsion } else { 0.0 },
            sigma: 0.0,
        }
    };
    let contacts = ws.contacts.iter().enumerate();
    ws.contact_impulses.clear();
    ws.contact_impulses.extend(contacts.map(|(index, contact)| of(index, &contact.tangents, contact.torsion)));
    let feet = (ws.contacts.len()..).zip(&ws.feet);
    ws.foot_impulses.clear();
    ws.foot_impulses.extend(feet.map(|(block, foot)| of(block, &FootContact::tangents(), foot.torsion)));
    let first = ws.contacts.len() + ws.feet.len();
    let with_core = ws.surfaces.iter_mut().filter(|surface| surface.core.is_some());
    for (block, surface) in (first..).zip(with_core) {
        let Some(contact) = ws.contacts.get(surface.contact) else { continue };
        surface.core_impulse = of(block, &contact.tangents, contact.torsion);
    }
}
