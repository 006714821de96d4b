//! Writes the mixed linear complementarity problem of a step.
//!
//! ```text
//! ⎡ 0   ⎤   ⎡ −M    W_b   W_n  W_f  0 ⎤ ⎡ v⁺  ⎤   ⎡ M v + h (λ_app + λ_vp)             ⎤
//! ⎢ 0   ⎥   ⎢ W_bᵀ  0     0    0    0 ⎥ ⎢ p_b ⎥   ⎢ γ_b Φ/h + [Φ(q,t⁺) − Φ(q,t)]/h     ⎥
//! ⎢ ρ_n ⎥ = ⎢ W_nᵀ  0     0    0    0 ⎥ ⎢ p_n ⎥ + ⎢ γ ψ/h + [ψ(q,t⁺) − ψ(q,t)]/h       ⎥
//! ⎢ ρ_f ⎥   ⎢ W_fᵀ  0     0    0    E ⎥ ⎢ p_f ⎥   ⎢ ∂ψ_f/∂t                            ⎥
//! ⎣ ζ   ⎦   ⎣ 0     0     U   −Eᵀ   0 ⎦ ⎣ σ   ⎦   ⎣ 0                                  ⎦
//! ```

use nalgebra::Matrix3;
use stiction_complementarity::SparseMatrix;
use stiction_multibody::{BodyId, Mobility, Model, State, Wrench, mass_block};

use crate::{Layout, LineariseAt, Start, Workspace};

/// Fills `ws.problem` from the contacts and configurations that [`crate::detect`] left.   [STEP-1..4]
pub fn assemble(start: &Start, ws: &mut Workspace) {
    let model = start.model;
    ws.layout = Layout {
        velocities: model.dof(),
        joints: model.joint_rows(),
        contacts: ws.contacts.len(),
        friction: ws.directions.len(),
        cones: ws.contacts.iter().filter(|contact| contact.cone.is_some()).count(),
    };
    joint_rows(start, ws);
    momentum_rows(start, ws);
    contact_rows(start, ws);
    cone_rows(ws);
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
fn joint_rows(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, state, h } = start;
    let jacobian = &mut ws.joint_jacobian;
    jacobian.clear(model.joint_rows(), model.dof());
    let constants = &mut ws.problem.equality.constant;
    constants.clear();
    constants.resize(model.dof(), 0.0);
    for joint in model.joints() {
        let gamma = joint.gamma.unwrap_or(scheme.joint_gamma);
        for (end, start) in joint.evaluate(&ws.linear_end).zip(joint.evaluate(&ws.linear_start)) {
            let mut error = start.value;
            if scheme.linearise_at == LineariseAt::Predicted {
                // Φ(q) ≈ Φ(q̂) − h Wᵀ v, back from the predicted configuration.
                error -= h
                    * (velocity_part(model, state, joint.a.0, &end.a) + velocity_part(model, state, joint.b.0, &end.b));
            }
            constants.push((gamma * error + (end.value - start.value)) / h);
            push_row(model, jacobian, [(joint.a.0, &end.a), (joint.b.0, &end.b)]);
            jacobian.finish_row();
        }
    }
    jacobian.transpose_into(&mut ws.joint_jacobian_transposed);
}

/// The power of a wrench on the current velocity of a dynamic body; nothing for others.
fn velocity_part(model: &Model, state: &State, id: BodyId, wrench: &Wrench) -> f64 {
    let Some((mobility, range)) = model.unknowns(id) else { return 0.0 };
    let v = state.v.get(range).unwrap_or_default();
    v.iter().zip(mobility.project(wrench)).map(|(v, w)| v * w).sum()
}

/// −M, W_b and the momentum M v + h (λ_app + λ_vp); then the joint rows.   [STEP-1]
fn momentum_rows(start: &Start, ws: &mut Workspace) {
    let &Start { model, state, h, .. } = start;
    let n_v = model.dof();
    let (matrix, constants) = (&mut ws.problem.equality.on_free, &mut ws.problem.equality.constant);
    matrix.clear(ws.layout.free(), ws.layout.free());
    for (index, slot) in model.layout().iter().enumerate() {
        let Some((mobility, mass, inertia)) = mass_block(model, &ws.start, index) else { continue };
        let force = ws.applied.get(index).map_or([0.0; 6], |wrench| mobility.project(wrench));
        for (row, i) in slot.v.clone().enumerate() {
            let mut momentum = h * force.get(row).copied().unwrap_or(0.0);
            for (column, j) in slot.v.clone().enumerate() {
                if let Some(m) = mass_entry(mobility, mass, &inertia, (row, column)) {
                    matrix.push(j, -m);
                    momentum += m * state.v.get(j).copied().unwrap_or(0.0);
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
    let &Start { model, scheme, state, h } = start;
    let layout = ws.layout;
    let (rows, constants) = (&mut ws.problem.complementarity.on_free, &mut ws.problem.complementarity.constant);
    rows.clear(layout.complementary(), layout.free());
    constants.clear();
    for contact in &ws.contacts {
        let (a, b) = contact.row(&contact.normal);
        let mut gap = contact.gap_start;
        if scheme.linearise_at == LineariseAt::Predicted {
            gap -= h * (velocity_part(model, state, contact.a, &a) + velocity_part(model, state, contact.b, &b));
        }
        let constant = (contact.gamma * gap + (contact.gap_end - contact.gap_start)) / h;
        constants.push(constant);
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
    rows.finish();
    constants.resize(layout.complementary(), 0.0);
    // The impulse columns C = [W_n W_f 0; 0] are the transpose of the velocity columns D.
    rows.transpose_into(&mut ws.problem.equality.on_complementary);
}

/// The laws that tie impulses to each other: +E σ in the friction rows, μ p_n − Eᵀ p_f in the cone rows.   [FRIC-2]
fn cone_rows(ws: &mut Workspace) {
    let layout = ws.layout;
    let matrix = &mut ws.problem.complementarity.on_complementary;
    matrix.clear(layout.complementary(), layout.complementary());
    for _ in 0..layout.contacts {
        matrix.finish_row();
    }
    for contact in &ws.contacts {
        for _ in contact.directions.clone() {
            contact.cone.into_iter().for_each(|cone| matrix.push(layout.sigma_at(cone), 1.0));
            matrix.finish_row();
        }
    }
    for (index, contact) in ws.contacts.iter().enumerate().filter(|(_, contact)| contact.cone.is_some()) {
        matrix.push(index, contact.mu);
        for direction in contact.directions.clone() {
            matrix.push(layout.friction_at(direction), -1.0);
        }
        matrix.finish_row();
    }
}
