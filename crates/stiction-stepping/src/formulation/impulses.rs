//! Delassus form: the frictional problem of a step in impulses alone, with an assembled Delassus matrix W.
//!
//! ```text
//! u = W r + q,    W = Hᵀ M⁻¹ H (+ compliance on the diagonal),    q = Hᵀ v_free + bias,    v⁺ = v_free + M⁻¹ H r
//! ```
//!
//! W is assembled from the rows of the forest. With divide and conquer, rows are propagated from the leaves to the root of the assembly tree and
//! no matrix is factorised [DCA-17]. In reduced coordinates this form is the fastest if there are few rows, with W = Y Yᵀ of the rows in
//! y = L v [RED-6]. Auxiliary masses of support points and layer surfaces, and the compliance of joint-space rows, are added to the diagonal
//! blocks.

use nalgebra::Vector3;
use stiction_complementarity::{FrictionActiveSet, Law, Operator, linalg::BlockMatrix};
use stiction_multibody::{BodyId, Model, Wrench};

use super::{
    columns,
    columns::{block_count, contact_rows, support_rows},
    surfaces::{cores, mass_of},
};
use crate::{Contact, LineariseAt, Start, Workspace, layers, layers::Surface, workspace::Constraints};

/// Largest number of rows for which W is assembled in reduced coordinates: the limit of the active-set method.
const MAX_ROWS: usize = FrictionActiveSet::MOST_ROWS;

/// True if the problem is formulated in impulses alone.
///
/// With divide and conquer it always is. In reduced coordinates it is if there are at most [`MAX_ROWS`] rows and neither layers nor a
/// proximal mass fraction nor end-of-step geometry, which keep the velocities as unknowns there.
pub(super) fn applies(start: &Start, ws: &Workspace, rows: usize) -> bool {
    let Some(reduced) = &ws.reduced else { return false };
    reduced.divided.is_some()
        || (rows <= MAX_ROWS
            && ws.constraints.surfaces.is_empty()
            && ws.proximal_mass_fraction.is_none()
            && start.scheme.linearise_at != LineariseAt::Implicit)
}

/// Writes W and adds the constant terms of auxiliary masses; laws and the other constant terms are already written.
pub(super) fn write(start: &Start, ws: &mut Workspace, operator: &mut Operator, laws: &[Law], q: &mut [f64]) {
    if !matches!(operator, Operator::Assembled(_)) {
        *operator = Operator::Assembled(BlockMatrix::default());
    }
    let Operator::Assembled(w) = operator else {
        debug_assert!(false, "the operator was replaced by an assembled one");
        return;
    };
    write_rows(start.model, ws, laws);
    write_delassus(start.model, ws, laws, w);
    let mut row = 0;
    for (block, law) in laws.iter().enumerate() {
        let constants = q.get_mut(row..row + law.rows()).unwrap_or_default();
        match auxiliary_mass(start.model, ws, block) {
            Some(AuxiliaryMass::SupportPoint { mass, load }) => {
                constants.iter_mut().take(1).for_each(|q| *q -= start.h * load / mass);
            }
            Some(AuxiliaryMass::Layer(surface, contact)) => {
                let parts = row_lengths(contact).into_iter().zip(&surface.free).take(surface.size);
                constants.iter_mut().zip(parts).for_each(|(q, (length, free))| *q += length * free);
            }
            _ => {}
        }
        row += law.rows();
    }
    debug_assert_eq!(row, q.len(), "every row has a constant term");
}

/// Writes the rows of all laws into the forest, in their order.
fn write_rows(model: &Model, ws: &mut Workspace, laws: &[Law]) {
    let joint_blocks = columns::joint_blocks(model, ws);
    let joints = columns::joints(model, ws);
    let row_count = laws.iter().map(Law::rows).sum();
    debug_assert_eq!(laws.len(), block_count(model, ws), "every block has a law");
    let Workspace { reduced, constraints, .. } = ws;
    let Constraints { joint_rows, contacts, support_points, surfaces, joint_space_rows, .. } = constraints;
    let Some(reduced) = reduced else {
        debug_assert!(false, "problems in impulses alone are in reduced coordinates");
        return;
    };
    reduced.begin_delassus(model.forest(), row_count);
    let mut push =
        |bodies: (BodyId, BodyId), rows: &[(Wrench, Wrench)]| reduced.push_rows(model.forest(), bodies, rows);
    for joint in joints {
        for row in joint_rows.iter().skip(joint.first_row()).take(joint.rows()) {
            push((joint.a.0, joint.b.0), &[(row.a, row.b)]);
        }
    }
    let mut laws = laws.iter().skip(joint_blocks).map(Law::rows);
    let of_cores = cores(surfaces).filter_map(|surface| contacts.get(surface.contact));
    for (contact, count) in contacts.iter().zip(laws.by_ref()) {
        push((contact.a, contact.b), contact_rows(contact, count).get(..count).unwrap_or_default());
    }
    for (support_point, count) in support_points.iter().zip(laws.by_ref()) {
        push(
            (support_point.on, support_point.body),
            support_rows(support_point, count).get(..count).unwrap_or_default(),
        );
    }
    for (contact, count) in of_cores.zip(laws) {
        push((contact.a, contact.b), contact_rows(contact, count).get(..count).unwrap_or_default());
    }
    for row in joint_space_rows {
        reduced.push_row(model.forest(), &row.sides);
    }
    reduced.finish_delassus(row_count);
}

/// Writes W in blocks of laws.
fn write_delassus(model: &Model, ws: &mut Workspace, laws: &[Law], w: &mut BlockMatrix) {
    let mut block = std::mem::take(&mut ws.friction.block);
    match &ws.reduced {
        Some(reduced) if reduced.divided.is_none() => {
            w.fill_symmetric(laws.iter().map(Law::rows), reduced.delassus_rows.delassus(), ws.mass_unit);
            for (i, first) in offsets(laws).enumerate() {
                if let Some(auxiliary) = auxiliary_mass(model, ws, i) {
                    w.add_to_diagonal(first, auxiliary.inverse_along_first_row(ws.mass_unit));
                }
            }
        }
        _ => write_coupled(model, ws, laws, w, &mut block),
    }
    ws.friction.block = block;
}

/// Offset of each law: its first row.
fn offsets(laws: &[Law]) -> impl Iterator<Item = usize> + Clone {
    laws.iter().scan(0, |next, law| Some(std::mem::replace(next, *next + law.rows())))
}

/// Writes the blocks of W between laws that act on the same tree.   [DCA-8]
fn write_coupled(model: &Model, ws: &Workspace, laws: &[Law], w: &mut BlockMatrix, block: &mut Vec<f64>) {
    let sizes = || laws.iter().map(Law::rows);
    w.clear(sizes(), sizes());
    let Some(divided) = ws.reduced.as_ref().and_then(|reduced| reduced.divided.as_ref()) else {
        debug_assert!(false, "only divide and conquer couples rows by trees");
        return;
    };
    debug_assert_eq!(
        divided.rows(),
        sizes().sum::<usize>(),
        "every row of a law is propagated to the root of the assembly tree"
    );
    for (i, (first, law)) in offsets(laws).zip(laws).enumerate() {
        for (j, (other, facing)) in offsets(laws).zip(laws).enumerate() {
            let rows = first..first + law.rows();
            let entries = rows.flat_map(|a| (other..other + facing.rows()).map(move |b| (a, b)));
            if i != j && !entries.clone().any(|(a, b)| divided.are_coupled(a, b)) {
                continue;
            }
            block.clear();
            block.extend(entries.map(|(a, b)| divided.coupling(a, b) * ws.mass_unit));
            if let (true, Some(auxiliary_mass)) = (i == j, auxiliary_mass(model, ws, i)) {
                auxiliary_mass.add(ws.mass_unit, law.rows(), block);
            }
            w.push(j, block);
        }
        w.finish_row();
    }
}

/// Auxiliary mass or compliance that a law acts on, besides the bodies of the model.
enum AuxiliaryMass<'a> {
    /// Auxiliary mass that the load of a support point accelerates.   [SUP-4]
    SupportPoint { mass: f64, load: f64 },
    /// Surface of a compliant layer.   [SOFT-3]
    Layer(&'a Surface, &'a Contact),
    /// Compliant joint-space row.   [JSPACE-2]
    JointSpace { compliance: f64 },
}

impl AuxiliaryMass<'_> {
    /// Inverse mass added to the diagonal entry of the first row of the law.
    fn inverse_along_first_row(&self, unit: f64) -> f64 {
        match self {
            Self::SupportPoint { mass, .. } => unit / mass,
            Self::JointSpace { compliance } => compliance * unit,
            Self::Layer(surface, _) => surface.inverse_mass()[(0, 0)] * unit,
        }
    }

    /// Adds the inverse mass to the diagonal block of the law.
    fn add(&self, unit: f64, rows: usize, block: &mut [f64]) {
        let Self::Layer(surface, contact) = self else {
            block.iter_mut().take(1).for_each(|out| *out += self.inverse_along_first_row(unit));
            return;
        };
        let (row_lengths, inverse) = (row_lengths(contact), surface.inverse_mass());
        for (i, out) in block.chunks_exact_mut(rows.max(1)).enumerate().take(surface.size) {
            for (j, out) in out.iter_mut().enumerate().take(surface.size) {
                *out += row_lengths[i] * inverse[(i, j)] * row_lengths[j] * unit;
            }
        }
    }
}

fn auxiliary_mass<'a>(model: &Model, ws: &'a Workspace, block: usize) -> Option<AuxiliaryMass<'a>> {
    let index = block.checked_sub(columns::joint_blocks(model, ws))?;
    if let Some(contact) = ws.constraints.contacts.get(index) {
        return layers::find(&ws.constraints.surfaces, index).map(|surface| AuxiliaryMass::Layer(surface, contact));
    }
    let index = index - ws.constraints.contacts.len();
    if let Some(support_point) = ws.constraints.support_points.get(index) {
        return Some(AuxiliaryMass::SupportPoint {
            mass: mass_of(model, support_point, ws.proximal_mass_fraction),
            load: support_point.load,
        });
    }
    let row = (index - ws.constraints.support_points.len()).checked_sub(cores(&ws.constraints.surfaces).count())?;
    debug_assert!(row < ws.constraints.joint_space_rows.len(), "the last blocks are joint-space rows");
    ws.constraints.joint_space_rows.get(row).map(|row| AuxiliaryMass::JointSpace { compliance: row.compliance })
}

/// Lengths of the rows of a contact: surfaces move along unit vectors, tangent rows have the lengths of semi-axes.
fn row_lengths(contact: &Contact) -> [f64; 3] {
    let [t, o] = &contact.tangents;
    [1.0, t.norm(), o.norm()]
}

/// Computes v⁺ from the impulses, and the velocities of layer surfaces.
pub(super) fn extract_velocities(model: &Model, ws: &mut Workspace) {
    let (unit, first) = (ws.mass_unit, columns::joint_blocks(model, ws));
    let r = &ws.friction.solution.r;
    for surface in &mut ws.constraints.surfaces {
        let Some(contact) = ws.constraints.contacts.get(surface.contact) else {
            debug_assert!(false, "the surface of a layer belongs to a contact");
            continue;
        };
        let r = r.get(ws.friction.problem.range(first + surface.contact)).unwrap_or_default();
        let parts = row_lengths(contact).into_iter().zip(r).take(surface.size);
        let mut push = Vector3::zeros();
        push.iter_mut().zip(parts).for_each(|(push, (length, r))| *push = length * r * unit);
        let velocity = surface.free + surface.inverse_mass() * push;
        surface.velocity = Vector3::from_fn(|i, _| if i < surface.size { velocity[i] } else { 0.0 });
    }
    if let Some(reduced) = &mut ws.reduced {
        reduced.find_velocity_of_impulses(model, (r, unit), &mut ws.solution.velocity);
    }
}
