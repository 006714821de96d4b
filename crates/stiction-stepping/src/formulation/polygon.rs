//! The step with linear friction sets: a mixed linear complementarity problem.
//!
//! ```text
//! ⎡ 0   ⎤   ⎡ −M    W_b   W_n  W_f  0 ⎤ ⎡ v⁺  ⎤   ⎡ M v + h (λ_app + λ_vp)             ⎤
//! ⎢ 0   ⎥   ⎢ W_bᵀ  0     0    0    0 ⎥ ⎢ p_b ⎥   ⎢ γ_b Φ/h + [Φ(q,t⁺) − Φ(q,t)]/h     ⎥
//! ⎢ ρ_n ⎥ = ⎢ W_nᵀ  0     0    0    0 ⎥ ⎢ p_n ⎥ + ⎢ γ ψ/h + [ψ(q,t⁺) − ψ(q,t)]/h       ⎥
//! ⎢ ρ_f ⎥   ⎢ W_fᵀ  0     0    0    E ⎥ ⎢ p_f ⎥   ⎢ ∂ψ_f/∂t                            ⎥
//! ⎣ ζ   ⎦   ⎣ 0     0     U   −Eᵀ   0 ⎦ ⎣ σ   ⎦   ⎣ 0                                  ⎦
//! ```
//!
//! The feet of supports have friction rows after those of the contacts; their known loads stand in the constant of ζ.   [SUP-4]
//! M, momenta and impulses are in a unit of mass in which impulses are about as large as velocities.

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};
use stiction_complementarity::SparseMatrix;
use stiction_multibody::{BodyId, Dimension, Mobility, Model, Wrench};

use super::inertia;
use crate::{FootContact, FrictionSet, Layout, Start, Workspace, tangents::push_star, workspace::ContactImpulse};

/// Fills `ws.mixed` from the rows and contacts in the workspace.   [STEP-1..4]
pub(super) fn assemble(start: &Start, ws: &mut Workspace) {
    let model = start.model;
    choose_directions(start, ws);
    choose_directions_of_feet(start, ws);
    ws.layout = Layout {
        velocities: model.dof(),
        joints: model.joint_rows(),
        contacts: ws.contacts.len(),
        friction: ws.directions.len(),
        cones: contact_cones(ws) + ws.feet.iter().map(|foot| foot.cones.len()).sum::<usize>(),
    };
    joint_rows(model, ws);
    momentum_rows(start, ws);
    contact_rows(start, ws);
    cone_rows(ws);
}

/// The corners of the friction polygon of every contact, or of its two segments for a box.   [FRIC-1] [FRIC-4]
fn choose_directions(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, .. } = start;
    ws.directions.clear();
    let mut cones = 0;
    for contact in &mut ws.contacts {
        let first = ws.directions.len();
        contact.cones = cones..cones;
        if contact.mu > 0.0 {
            let [t, o] = contact.tangents;
            if scheme.friction == FrictionSet::Box && model.dimension() == Dimension::Spatial {
                ws.directions.extend([t, -t, o, -o]);
                cones += 2;
            } else {
                let corners = model.contact_rule(contact.a, contact.b).directions.unwrap_or(scheme.directions);
                push_star(&contact.tangents, corners as usize, model.dimension(), &mut ws.directions);
                cones += 1;
            }
        }
        contact.cones.end = cones;
        contact.directions = first..ws.directions.len();
    }
}

fn contact_cones(ws: &Workspace) -> usize {
    ws.contacts.last().map_or(0, |contact| contact.cones.end)
}

/// The corners of the friction polygon of every foot, after those of the contacts. The plane it rubs on has all directions.   [SUP-4]
fn choose_directions_of_feet(start: &Start, ws: &mut Workspace) {
    let scheme = start.scheme;
    let mut cones = contact_cones(ws);
    for foot in &mut ws.feet {
        let first = ws.directions.len();
        foot.cones = cones..cones;
        if foot.mu > 0.0 {
            let [x, y] = FootContact::tangents();
            if scheme.friction == FrictionSet::Box {
                ws.directions.extend([x, -x, y, -y]);
                cones += 2;
            } else {
                push_star(&[x, y], scheme.directions as usize, Dimension::Spatial, &mut ws.directions);
                cones += 1;
            }
        }
        foot.cones.end = cones;
        foot.directions = first..ws.directions.len();
    }
}

/// A row's entries in the velocity columns of its dynamic bodies. Zeros are entered too: the pattern must not depend on
/// the numbers, or factorisations would be analysed anew whenever rounding makes a zero.
fn push_row(model: &Model, matrix: &mut SparseMatrix, bodies: [(BodyId, &Wrench); 2]) {
    for (id, wrench) in bodies {
        let Some((mobility, range)) = model.unknowns(id) else { continue };
        for (column, value) in range.zip(mobility.project(wrench)) {
            matrix.push(column, value);
        }
    }
}

/// W_bᵀ and the constants of the joint rows.   [STEP-2]
fn joint_rows(model: &Model, ws: &mut Workspace) {
    let jacobian = &mut ws.joint_jacobian;
    jacobian.clear(model.joint_rows(), model.dof());
    let constants = &mut ws.mixed.equality.constant;
    constants.clear();
    constants.resize(model.dof(), 0.0);
    for joint in model.joints() {
        for row in ws.joint_rows.iter().skip(joint.first_row()).take(joint.rows()) {
            constants.push(row.bias);
            push_row(model, jacobian, [(joint.a.0, &row.a), (joint.b.0, &row.b)]);
            jacobian.finish_row();
        }
    }
    jacobian.transpose_into(&mut ws.joint_jacobian_transposed);
}

/// −M, W_b and the momentum M v + h (λ_app + λ_vp); then the joint rows.   [STEP-1]
fn momentum_rows(start: &Start, ws: &mut Workspace) {
    let &Start { model, h, .. } = start;
    let (n_v, unit) = (model.dof(), ws.mass_unit);
    let (matrix, constants) = (&mut ws.mixed.equality.on_free, &mut ws.mixed.equality.constant);
    matrix.clear(ws.layout.free(), ws.layout.free());
    for (index, slot) in model.layout().iter().enumerate() {
        let Some((mobility, mass, inertia)) = inertia(model, (&ws.start, ws.proximal_weight), index) else { continue };
        let force = ws.applied.get(index).map_or([0.0; 6], |wrench| mobility.project(wrench));
        for (row, i) in slot.v.clone().enumerate() {
            let mut momentum = h * force.get(row).copied().unwrap_or(0.0) / unit;
            for (column, j) in slot.v.clone().enumerate() {
                if let Some(m) = mass_entry(mobility, mass, &inertia, (row, column)).map(|m| m / unit) {
                    matrix.push(j, -m);
                    momentum += m * ws.before.get(j).copied().unwrap_or(0.0);
                }
            }
            for (joint_row, value) in ws.joint_jacobian_transposed.row(i) {
                matrix.push(n_v + joint_row, value);
            }
            matrix.finish_row();
            if let Some(constant) = constants.get_mut(i) {
                *constant = momentum;
            }
        }
    }
    for row in 0..model.joint_rows() {
        for (column, value) in ws.joint_jacobian.row(row) {
            matrix.push(column, value);
        }
        if let Some(&softness) = ws.softness.get(row) {
            matrix.push(n_v + row, softness * unit);
        }
        matrix.finish_row();
    }
}

/// Entry (i, j) of a body's mass matrix; `None` where it is zero by structure.
fn mass_entry(mobility: Mobility, mass: f64, inertia: &Matrix3<f64>, (i, j): (usize, usize)) -> Option<f64> {
    match mobility {
        Mobility::Planar if i == 2 && j == 2 => Some(inertia.m33),
        Mobility::Free if i >= 3 && j >= 3 => inertia.get((i - 3, j - 3)).copied(),
        _ => (i == j).then_some(mass),
    }
}

/// W_nᵀ and W_fᵀ with their constants; their transposes are the impulse columns of the momentum rows.   [STEP-3] [STEP-4]
fn contact_rows(start: &Start, ws: &mut Workspace) {
    let (model, layout) = (start.model, ws.layout);
    let (rows, constants) = (&mut ws.mixed.complementarity.on_free, &mut ws.mixed.complementarity.constant);
    rows.clear(layout.complementary(), layout.free());
    constants.clear();
    for contact in &ws.contacts {
        let (a, b) = contact.row(&contact.normal);
        constants.push(contact.bias);
        push_row(model, rows, [(contact.a, &a), (contact.b, &b)]);
        rows.finish_row();
    }
    for contact in &ws.contacts {
        for d in ws.directions.get(contact.directions.clone()).unwrap_or_default() {
            let (a, b) = contact.row(d);
            constants.push(d.dot(&contact.surface_velocity));
            push_row(model, rows, [(contact.a, &a), (contact.b, &b)]);
            rows.finish_row();
        }
    }
    for foot in &ws.feet {
        for d in ws.directions.get(foot.directions.clone()).unwrap_or_default() {
            let (on, body) = foot.row(d);
            constants.push(d.dot(&foot.surface_velocity));
            push_row(model, rows, [(foot.on, &on), (foot.body, &body)]);
            rows.finish_row();
        }
    }
    rows.finish();
    constants.resize(layout.complementary(), 0.0);
    for foot in &ws.feet {
        for cone in foot.cones.clone() {
            if let Some(constant) = constants.get_mut(layout.sigma_at(cone)) {
                *constant = foot.mu * start.h * foot.load / ws.mass_unit;
            }
        }
    }
    // The impulse columns C = [W_n W_f 0; 0] are the transpose of the velocity columns D.
    rows.transpose_into(&mut ws.mixed.equality.on_complementary);
}

/// The laws that tie impulses to each other: +E σ in the friction rows, μ p_n − Eᵀ p_f in the cone rows.   [FRIC-2]
fn cone_rows(ws: &mut Workspace) {
    let layout = ws.layout;
    let matrix = &mut ws.mixed.complementarity.on_complementary;
    matrix.clear(layout.complementary(), layout.complementary());
    for _ in 0..layout.contacts {
        matrix.finish_row();
    }
    let of_contacts =
        ws.contacts.iter().flat_map(|contact| contact.cones.clone().map(|k| (k, contact.directions_of(k))));
    let of_feet = || ws.feet.iter().flat_map(|foot| foot.cones.clone().map(|k| (k, foot.directions_of(k))));
    for (cone, directions) in of_contacts.chain(of_feet()) {
        for _ in directions {
            matrix.push(layout.sigma_at(cone), 1.0);
            matrix.finish_row();
        }
    }
    for (index, contact) in ws.contacts.iter().enumerate() {
        for cone in contact.cones.clone() {
            matrix.push(index, contact.mu);
            for direction in contact.directions_of(cone) {
                matrix.push(layout.friction_at(direction), -1.0);
            }
            matrix.finish_row();
        }
    }
    for (_, directions) in of_feet() {
        for direction in directions {
            matrix.push(layout.friction_at(direction), -1.0);
        }
        matrix.finish_row();
    }
}

/// Known normal impulses: W_n p in the momentum rows, μ p in the cone rows.   [IMPACT-2]
pub(super) fn give_back(model: &Model, ws: &mut Workspace) {
    let layout = ws.layout;
    for (contact, impact) in ws.contacts.iter().zip(&ws.impacts) {
        let given = impact.decompression / ws.mass_unit;
        let (a, b) = contact.row(&contact.normal);
        for (id, wrench) in [(contact.a, &a), (contact.b, &b)] {
            let Some((mobility, range)) = model.unknowns(id) else { continue };
            let constants = ws.mixed.equality.constant.get_mut(range).unwrap_or_default();
            constants.iter_mut().zip(mobility.project(wrench)).for_each(|(c, w)| *c += w * given);
        }
        for cone in contact.cones.clone() {
            if let Some(constant) = ws.mixed.complementarity.constant.get_mut(layout.sigma_at(cone)) {
                *constant += contact.mu * given;
            }
        }
    }
}

/// Takes v⁺ and the impulses out of the solution.
pub(super) fn extract(start: &Start, ws: &mut Workspace) {
    let (layout, solution, unit) = (ws.layout, &ws.mixed_solution, ws.mass_unit);
    let get = |place: usize| solution.complementary.get(place).copied().unwrap_or(0.0);
    ws.velocity.clear();
    ws.velocity.extend(solution.free.iter().take(layout.velocities));
    ws.joint_impulses.clear();
    ws.joint_impulses.extend(solution.free.iter().skip(layout.velocities).map(|p| p * unit));
    let of = |normal: f64, directions: &Range<usize>, cones: &Range<usize>| {
        let corners = ws.directions.get(directions.clone()).unwrap_or_default();
        let friction = directions
            .clone()
            .zip(corners)
            .fold(Vector3::zeros(), |sum, (place, d)| sum + d * get(layout.friction_at(place)));
        let sigma = cones.clone().map(|cone| get(layout.sigma_at(cone))).fold(0.0, f64::max);
        ContactImpulse { normal, friction: friction * unit, spin: 0.0, sigma }
    };
    ws.contact_impulses.clear();
    ws.contact_impulses.extend(
        ws.contacts
            .iter()
            .enumerate()
            .map(|(index, contact)| of(get(index) * unit, &contact.directions, &contact.cones)),
    );
    ws.foot_impulses.clear();
    ws.foot_impulses.extend(ws.feet.iter().map(|foot| of(start.h * foot.load, &foot.directions, &foot.cones)));
}
