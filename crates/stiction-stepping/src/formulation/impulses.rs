//! The frictional problem of a step with an assembled Delassus matrix W.
//!
//! ```text
//! u = W r + q,    W = Hᵀ M⁻¹ H (+ compliance on the diagonal),    q = Hᵀ v_free + bias,    v⁺ = v_free + M⁻¹ H r
//! ```
//!
//! W is assembled from the rows of the forest. With divide and conquer, rows are propagated from the leaves to the root of the assembly tree and
//! no matrix is factorised [DCA-17]. In reduced coordinates this form is the fastest if there are few rows. Then W = Y Yᵀ, where Y = Hᵀ L⁻¹
//! has the rows in terms of y = L v, with M = Lᵀ L [RED-2] [RED-6]. The inverses of the auxiliary masses of support points and layer surfaces, and the
//! compliance of joint-space rows, are added to the diagonal blocks.

use nalgebra::Vector3;
use stiction_complementarity::{Law, Operator, linalg::BlockMatrix};
use stiction_multibody::Model;

use super::redundancy::{self, MAX_ASSEMBLED_ROWS, offsets};
use crate::{
    Contact, LineariseAt, Start, Workspace,
    constraints::{AuxiliaryKind, AuxiliaryMass, Source},
    surface::LayerSurface,
};

/// True if W is assembled; otherwise the operator is matrix-free.
///
/// With divide and conquer it always is. In reduced coordinates it is if there are at most [`MAX_ASSEMBLED_ROWS`] rows, no layers, and no slack,
/// whose auxiliary mass several blocks share. A step that is quasistatic or implicit works with H and M; `Scheme::check_model` refuses both in these
/// coordinates.
pub(super) fn applies(start: &Start, ws: &Workspace, rows: usize) -> bool {
    let Some(reduced) = &ws.reduced else { return false };
    reduced.divided.is_some()
        || (rows <= MAX_ASSEMBLED_ROWS
            && ws.constraints.layer_surfaces.is_empty()
            && ws.constraints.slack.is_none()
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
    write_rows(start.model, ws);
    write_delassus(ws, laws, w);
    redundancy::make_dependent(start, ws, laws, w);
    // The proximal mass fraction is 1 in all steps that `Scheme::check_model` admits in these coordinates.
    let weight = ws.proximal_mass_fraction.unwrap_or(1.0);
    for (first, block) in offsets(laws).zip(&ws.constraints.blocks) {
        let constants = q.get_mut(first..first + block.law.rows()).unwrap_or_default();
        match block.auxiliary.map(|auxiliary| auxiliary.kind) {
            Some(AuxiliaryKind::SupportPoint { mass, load }) => {
                constants.iter_mut().take(1).for_each(|q| *q -= start.force_duration() * load / (mass * weight));
            }
            Some(AuxiliaryKind::Layer(index)) => {
                let Some((surface, contact)) = layer(ws, index) else { continue };
                let terms =
                    row_lengths(contact).into_iter().zip(&surface.free_velocity).take(surface.compliant_directions);
                constants.iter_mut().zip(terms).for_each(|(q, (length, free))| *q += length * free);
            }
            Some(AuxiliaryKind::JointSpace(_) | AuxiliaryKind::Slack(_)) | None => {}
        }
    }
}

/// Writes the rows of all blocks into the forest, in their order.
fn write_rows(model: &Model, ws: &mut Workspace) {
    let Workspace { reduced, constraints, .. } = ws;
    let Some(reduced) = reduced else {
        debug_assert!(false, "W is assembled in reduced coordinates only");
        return;
    };
    let forest = model.forest();
    let row_count = constraints.blocks.iter().map(|block| block.law.rows()).sum();
    reduced.begin_delassus(forest, row_count);
    for block in &constraints.blocks {
        let rows = constraints.rows_of(block).0;
        match (block.source, block.bodies) {
            (Source::JointSpace(index), _) => {
                let sides = constraints.joint_space_rows.get(index).map_or(&[][..], |row| &row.sides);
                reduced.push_row(forest, sides);
            }
            (Source::Joint(_), Some(bodies)) => rows.chunks(1).for_each(|row| reduced.push_rows(forest, bodies, row)),
            (_, Some(bodies)) => reduced.push_rows(forest, bodies, rows),
            (_, None) => debug_assert!(false, "only joint-space rows have other terms than wrenches on two bodies"),
        }
    }
    reduced.finish_delassus(row_count);
}

/// Writes W in blocks of laws.
fn write_delassus(ws: &mut Workspace, laws: &[Law], w: &mut BlockMatrix) {
    let mut block = std::mem::take(&mut ws.friction.block);
    match &ws.reduced {
        Some(reduced) if reduced.divided.is_none() => {
            w.fill_symmetric(laws.iter().map(Law::rows), reduced.delassus_rows.delassus(), ws.mass_unit);
            for (first, block) in offsets(laws).zip(&ws.constraints.blocks) {
                if let Some(auxiliary) = block.auxiliary {
                    w.add_to_diagonal(first, inverse_along_first_row(ws, auxiliary.kind));
                }
            }
        }
        _ => write_coupled(ws, laws, w, &mut block),
    }
    ws.friction.block = block;
}

/// Writes the blocks of W between laws that act on the same tree.   [DCA-8]
fn write_coupled(ws: &Workspace, laws: &[Law], w: &mut BlockMatrix, block: &mut Vec<f64>) {
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
        for (j, (other, column_law)) in offsets(laws).zip(laws).enumerate() {
            let rows = first..first + law.rows();
            let entries = rows.flat_map(|a| (other..other + column_law.rows()).map(move |b| (a, b)));
            if i != j && !entries.clone().any(|(a, b)| divided.are_coupled(a, b)) {
                continue;
            }
            block.clear();
            block.extend(entries.map(|(a, b)| divided.coupling(a, b) * ws.mass_unit));
            if i == j
                && let Some(auxiliary) = ws.constraints.blocks.get(i).and_then(|block| block.auxiliary)
            {
                add_auxiliary_mass(ws, auxiliary.kind, law.rows(), block);
            }
            w.push(j, block);
        }
        w.finish_row();
    }
}

/// Inverse mass that an auxiliary mass adds to the diagonal entry of the first row of its block.
fn inverse_along_first_row(ws: &Workspace, kind: AuxiliaryKind) -> f64 {
    let unit = ws.mass_unit;
    match kind {
        AuxiliaryKind::SupportPoint { mass, .. } => unit / (mass * ws.proximal_mass_fraction.unwrap_or(1.0)),
        AuxiliaryKind::JointSpace(compliance) => compliance * unit,
        AuxiliaryKind::Slack(mass) => unit / mass,
        AuxiliaryKind::Layer(index) => {
            layer(ws, index).map_or(0.0, |(surface, _)| surface.inverse_mass()[(0, 0)] * unit)
        }
    }
}

/// Adds the inverse of an auxiliary mass to the diagonal block of its law.
fn add_auxiliary_mass(ws: &Workspace, kind: AuxiliaryKind, rows: usize, block: &mut [f64]) {
    let AuxiliaryKind::Layer(index) = kind else {
        block.iter_mut().take(1).for_each(|out| *out += inverse_along_first_row(ws, kind));
        return;
    };
    let Some((surface, contact)) = layer(ws, index) else { return };
    let (row_lengths, inverse) = (row_lengths(contact), surface.inverse_mass());
    for (i, out) in block.chunks_exact_mut(rows.max(1)).enumerate().take(surface.compliant_directions) {
        for (j, out) in out.iter_mut().enumerate().take(surface.compliant_directions) {
            *out += row_lengths[i] * inverse[(i, j)] * row_lengths[j] * ws.mass_unit;
        }
    }
}

/// Surface of a layer and its contact.
fn layer(ws: &Workspace, index: usize) -> Option<(&LayerSurface, &Contact)> {
    let surface = ws.constraints.layer_surfaces.get(index);
    debug_assert!(surface.is_some(), "the auxiliary mass of a layer is its surface");
    surface.and_then(|surface| Some((surface, ws.constraints.contacts.get(surface.contact)?)))
}

/// Lengths of the rows of a contact: surfaces move along unit vectors, tangent rows have the lengths of semi-axes.
fn row_lengths(contact: &Contact) -> [f64; 3] {
    let [t, o] = &contact.tangents;
    [1.0, t.norm(), o.norm()]
}

/// Computes v⁺ from the impulses, and the velocities of layer surfaces.
pub(super) fn extract_velocities(model: &Model, ws: &mut Workspace) {
    let Workspace { friction, constraints, mass_unit: unit, .. } = ws;
    let r = &friction.solution.r;
    for (index, block) in constraints.blocks.iter().enumerate() {
        let Some(AuxiliaryMass { kind: AuxiliaryKind::Layer(surface), .. }) = block.auxiliary else { continue };
        let Some(surface) = constraints.layer_surfaces.get_mut(surface) else { continue };
        let Some(contact) = constraints.contacts.get(surface.contact) else {
            debug_assert!(false, "the surface of a layer belongs to a contact");
            continue;
        };
        let r = r.get(friction.problem.range(index)).unwrap_or_default();
        let terms = row_lengths(contact).into_iter().zip(r).take(surface.compliant_directions);
        let mut impulse = Vector3::zeros();
        impulse.iter_mut().zip(terms).for_each(|(impulse, (length, r))| *impulse = length * r * *unit);
        let velocity = surface.free_velocity + surface.inverse_mass() * impulse;
        surface.velocity = Vector3::from_fn(|i, _| if i < surface.compliant_directions { velocity[i] } else { 0.0 });
    }
    if let Some(reduced) = &mut ws.reduced {
        reduced.find_velocity_of_impulses(model, (r, *unit), &mut ws.solution.velocity);
    }
}
