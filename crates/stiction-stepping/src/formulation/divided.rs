//! Problems by divide and conquer: in impulses alone, with W from rows that were carried up the plan of the forest.   [DCA-17]
//!
//! ```text
//! u = W r + q,    W_ab = J_a M⁻¹ J_bᵀ (+ what gives way on its own),    q = J v_free + bias,    v⁺ = v_free + M⁻¹ Jᵀ r
//! ```
//!
//! With exact cones W is the operator of the frictional problem; with polygons the problem is a linear one without velocities, in which
//! only the impulses of loops and of equations along freedoms are free. Nothing is factorised to write either. Masses of their own,
//! those of feet and of the surfaces of layers, and drives that give way are added to the diagonal blocks.

use std::ops::Range;

use nalgebra::Vector3;
use stiction_complementarity::{Law, Operator, SparseMatrix, linalg::BlockMatrix};
use stiction_multibody::Model;

use super::{
    columns,
    columns::between,
    cone::{contact_rows, foot_rows, mass_of, write_laws},
    polygon_drives::boxes,
    surfaces::cores,
};
use crate::{Contact, Layout, Start, StepCause, Workspace, drives::Side, layers, layers::Surface, reduced};

/// Makes room for the rows of a problem, where divide and conquer writes it.
pub(super) fn begin(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    let model = start.model;
    let begun = ws.reduced.as_mut().map_or(Ok(()), |reduced| reduced.begin_divided(model.forest()));
    begun.map_err(|singular| reduced::singular_inertia(model, singular))
}

// ---- Polygons ----

/// Puts W into `ws.mixed`, beside the laws that are there already; the rows are those of the free and of the complementary unknowns.
pub(super) fn write_mixed(ws: &mut Workspace) {
    give_middles(ws);
    let unit = ws.mass_unit;
    let Workspace { reduced, mixed, layout, joint_jacobian, .. } = ws;
    let Some(divided) = reduced.as_ref().and_then(|reduced| reduced.divided.as_ref()) else { return };
    let (free, complementary) = (0..layout.joints, layout.joints..divided.rows());
    let fill = |laws: Option<&SparseMatrix>, rows: &Range<usize>, columns: &Range<usize>, out: &mut SparseMatrix| {
        out.clear(rows.len(), columns.len());
        for (place, row) in rows.clone().enumerate() {
            let mut laws = laws.into_iter().flat_map(|laws| laws.row(place)).peekable();
            for (k, column) in columns.clone().enumerate() {
                let law = laws.next_if(|(at, _)| *at == k).map(|(_, value)| value);
                let coupling = divided.are_coupled(row, column).then(|| divided.coupling(row, column) * unit);
                if law.is_some() || coupling.is_some() {
                    out.push(k, law.unwrap_or(0.0) + coupling.unwrap_or(0.0));
                }
            }
            out.finish_row();
        }
    };
    // The Jacobian of joints has no columns here: its memory holds the laws while W joins them.
    std::mem::swap(joint_jacobian, &mut mixed.equality.on_free);
    fill(Some(joint_jacobian), &free, &free, &mut mixed.equality.on_free);
    fill(None, &free, &complementary, &mut mixed.equality.on_complementary);
    fill(None, &complementary, &free, &mut mixed.complementarity.on_free);
    std::mem::swap(joint_jacobian, &mut mixed.complementarity.on_complementary);
    fill(Some(joint_jacobian), &complementary, &complementary, &mut mixed.complementarity.on_complementary);
}

/// The middle of the bounds of drives acts in any case.   [DRIVE-5]
fn give_middles(ws: &mut Workspace) {
    let rows = std::mem::take(&mut ws.drive_rows);
    let Layout { joints, contacts, friction, .. } = ws.layout;
    let first = joints + contacts + friction - 2 * boxes(&rows).count();
    for (place, (_, middle, _)) in boxes(&rows).enumerate() {
        add_known(ws, first + 2 * place, middle / ws.mass_unit);
    }
    ws.drive_rows = rows;
}

/// Known normal impulses: what they do to all rows.   [IMPACT-2]
pub(super) fn give_back(ws: &mut Workspace) {
    for index in 0..ws.contacts.len().min(ws.impacts.len()) {
        let given = ws.impacts.get(index).map_or(0.0, |impact| impact.decompression / ws.mass_unit);
        add_known(ws, ws.layout.joints + index, given);
    }
}

/// An impulse of a row that is no unknown: W times it in the constants.
fn add_known(ws: &mut Workspace, row: usize, impulse: f64) {
    let unit = ws.mass_unit;
    let Some(divided) = ws.reduced.as_mut().and_then(|reduced| reduced.divided.as_mut()) else { return };
    divided.add_known(row, impulse);
    let constants = ws.mixed.equality.constant.iter_mut().chain(&mut ws.mixed.complementarity.constant);
    for (place, constant) in constants.enumerate() {
        *constant += divided.coupling(place, row) * unit * impulse;
    }
}

// ---- Exact cones ----

/// The laws, W and the constants of the frictional problem.
pub(super) fn write_cone(
    start: &Start,
    ws: &mut Workspace,
    (operator, laws, q): (&mut Operator, &mut Vec<Law>, &mut Vec<f64>),
) {
    if !matches!(operator, Operator::Local(_)) {
        *operator = Operator::Local(BlockMatrix::default());
    }
    let Operator::Local(w) = operator else { return };
    write_laws(start, ws, laws, q);
    place_rows(start.model, ws, laws);
    write_delassus(start.model, ws, laws, w);
    let mut row = 0;
    for (block, law) in laws.iter().enumerate() {
        let constants = q.get_mut(row..row + law.rows()).unwrap_or_default();
        match own(start.model, ws, block) {
            Some(Own::Foot { mass, load }) => constants.iter_mut().take(1).for_each(|q| *q -= start.h * load / mass),
            Some(Own::Layer(surface, contact)) => {
                let parts = lengths(contact).into_iter().zip(&surface.free).take(surface.size);
                constants.iter_mut().zip(parts).for_each(|(q, (length, free))| *q += length * free);
            }
            _ => {}
        }
        row += law.rows();
    }
}

/// Carries the rows of all laws up the plan, in their order.
fn place_rows(model: &Model, ws: &mut Workspace, laws: &[Law]) {
    let joint_blocks = columns::joint_blocks(model, ws);
    let joints = columns::joints(model, ws);
    let Workspace { reduced, joint_rows, contacts, feet, surfaces, drive_rows, .. } = ws;
    let Some(reduced) = reduced else { return };
    let mut push = |sides: &[Option<Side>]| {
        reduced.push_divided(model.forest(), sides);
    };
    for joint in joints {
        for row in joint_rows.iter().skip(joint.first_row()).take(joint.rows()) {
            push(&between((joint.a.0, &row.a), (joint.b.0, &row.b)));
        }
    }
    let mut laws = laws.iter().skip(joint_blocks).map(Law::rows);
    let of_cores = cores(surfaces).filter_map(|surface| contacts.get(surface.contact));
    for (contact, count) in contacts.iter().zip(laws.by_ref()) {
        for (a, b) in contact_rows(contact, count).into_iter().take(count) {
            push(&between((contact.a, &a), (contact.b, &b)));
        }
    }
    for (foot, count) in feet.iter().zip(laws.by_ref()) {
        for (on, body) in foot_rows(foot, count).into_iter().take(count) {
            push(&between((foot.on, &on), (foot.body, &body)));
        }
    }
    for (contact, count) in of_cores.zip(laws) {
        for (a, b) in contact_rows(contact, count).into_iter().take(count) {
            push(&between((contact.a, &a), (contact.b, &b)));
        }
    }
    for row in drive_rows {
        push(&row.sides);
    }
}

/// W by blocks of laws: those that share no tree are left out.   [DCA-8]
fn write_delassus(model: &Model, ws: &mut Workspace, laws: &[Law], w: &mut BlockMatrix) {
    let unit = ws.mass_unit;
    let mut block = std::mem::take(&mut ws.block);
    let sizes = || laws.iter().map(Law::rows);
    w.clear(sizes(), sizes());
    let starts = || laws.iter().scan(0, |next, law| Some(std::mem::replace(next, *next + law.rows())));
    if let Some(divided) = ws.reduced.as_ref().and_then(|reduced| reduced.divided.as_ref()) {
        for (i, (first, law)) in starts().zip(laws).enumerate() {
            for (j, (other, facing)) in starts().zip(laws).enumerate() {
                let rows = first..first + law.rows();
                let entries = rows.flat_map(|a| (other..other + facing.rows()).map(move |b| (a, b)));
                if i != j && !entries.clone().any(|(a, b)| divided.are_coupled(a, b)) {
                    continue;
                }
                block.clear();
                block.extend(entries.map(|(a, b)| divided.coupling(a, b) * unit));
                if i == j {
                    add_own(model, ws, i, law.rows(), &mut block);
                }
                w.push(j, &block);
            }
            w.finish_row();
        }
    }
    ws.block = block;
}

/// What a law acts on besides the bodies of the model.
enum Own<'a> {
    /// The mass that the load of a foot pulls.   [SUP-4]
    Foot { mass: f64, load: f64 },
    /// The surface of a layer.   [SOFT-3]
    Layer(&'a Surface, &'a Contact),
    /// A drive that gives way.   [DRIVE-2]
    Drive { softness: f64 },
}

fn own<'a>(model: &Model, ws: &'a Workspace, block: usize) -> Option<Own<'a>> {
    let index = block.checked_sub(columns::joint_blocks(model, ws))?;
    if let Some(contact) = ws.contacts.get(index) {
        return layers::find(&ws.surfaces, index).map(|surface| Own::Layer(surface, contact));
    }
    let index = index - ws.contacts.len();
    if let Some(foot) = ws.feet.get(index) {
        return Some(Own::Foot { mass: mass_of(model, foot, ws.proximal_weight), load: foot.load });
    }
    let drive = (index - ws.feet.len()).checked_sub(cores(&ws.surfaces).count())?;
    ws.drive_rows.get(drive).map(|row| Own::Drive { softness: row.softness })
}

/// How long the rows of a contact are: surfaces move along the unit vectors.
fn lengths(contact: &Contact) -> [f64; 3] {
    let [t, o] = &contact.tangents;
    [1.0, t.norm(), o.norm()]
}

/// Adds to a diagonal block what gives way on its own.
fn add_own(model: &Model, ws: &Workspace, block: usize, rows: usize, out: &mut [f64]) {
    let unit = ws.mass_unit;
    let first = match own(model, ws, block) {
        Some(Own::Foot { mass, .. }) => unit / mass,
        Some(Own::Drive { softness }) => softness * unit,
        Some(Own::Layer(surface, contact)) => {
            let (lengths, inverse) = (lengths(contact), surface.inverse_mass());
            for (i, out) in out.chunks_exact_mut(rows.max(1)).enumerate().take(surface.size) {
                for (j, out) in out.iter_mut().enumerate().take(surface.size) {
                    *out += lengths[i] * inverse[(i, j)] * lengths[j] * unit;
                }
            }
            return;
        }
        None => return,
    };
    out.iter_mut().take(1).for_each(|out| *out += first);
}

/// v⁺ of the impulses, and the velocities of the surfaces of layers.
pub(super) fn extract_velocities(model: &Model, ws: &mut Workspace) {
    let (unit, first) = (ws.mass_unit, columns::joint_blocks(model, ws));
    let r = &ws.cone_solution.r;
    for surface in &mut ws.surfaces {
        let Some(contact) = ws.contacts.get(surface.contact) else { continue };
        let r = r.get(ws.cone.range(first + surface.contact)).unwrap_or_default();
        let parts = lengths(contact).into_iter().zip(r).take(surface.size);
        let mut push = Vector3::zeros();
        push.iter_mut().zip(parts).for_each(|(push, (length, r))| *push = length * r * unit);
        let velocity = surface.free + surface.inverse_mass() * push;
        surface.velocity = Vector3::from_fn(|i, _| if i < surface.size { velocity[i] } else { 0.0 });
    }
    if let Some(reduced) = &mut ws.reduced {
        reduced.find_velocity_by_response(model, (r.iter().copied(), unit), &mut ws.velocity);
    }
}
