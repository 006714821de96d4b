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
//! λ_app are the applied forces and λ_vp the velocity products (gyroscopic), whose sum is `ws.kinematics.applied`. Φ are the joint errors, ψ
//! the gaps, and γ_b and γ their weights. ρ_n, ρ_f and ζ are the complementary slacks of p_n, p_f and σ. E selects the σ of the friction bound
//! of each direction, and U = diag μ. A friction bound is a set of directions with one slip speed σ.
//! The rows of ζ, U p_n − Eᵀ p_f, are the friction-bound rows. W_n and W_f are wrench matrices, not the Delassus matrix W. Rows of joint limits
//! follow as the last ones; they are like those of p_n without friction and are not shown.
//!
//! Friction rows of support points follow those of the contacts, and then come those of joint-space rows with two finite bounds. The known loads of
//! support points and the half widths of the bounds are in the constant term of ζ.   [SUP-4] [JSPACE-5]
//! M, momenta and impulses are in a unit of mass in which impulses are about as large as velocities.

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::Mobility;

use super::{
    columns,
    columns::{between, free_rate_of_sides, push_row},
    cone, directions, divided, inertia,
    polygon_joint_space::{add_midpoint_impulses, doubly_bounded, equalities, extract_joint_space_impulses, limits},
};
use crate::{
    Layout, Start, Workspace,
    contact::ContactImpulse,
    rates::{Side, rate},
    reduced,
};

/// Fills `ws.mixed.problem` from the rows and contacts in the workspace.   [STEP-1..4]
pub(super) fn assemble(start: &Start, ws: &mut Workspace) {
    let model = start.model;
    directions::choose(start, ws);
    ws.mixed.layout = Layout {
        velocities: columns::velocities(model, ws),
        joints: columns::joint_rows(model, ws) + equalities(&ws.constraints.joint_space_rows).count(),
        contacts: ws.constraints.contacts.len(),
        friction: ws.mixed.directions.len() + 2 * doubly_bounded(&ws.constraints.joint_space_rows).count(),
        friction_bounds: directions::contact_friction_bounds(ws)
            + ws.constraints
                .support_points
                .iter()
                .map(|support_point| support_point.friction_bounds.len())
                .sum::<usize>()
            + doubly_bounded(&ws.constraints.joint_space_rows).count(),
        limits: limits(&ws.constraints.joint_space_rows).count(),
    };
    if let Some(reduced) = &mut ws.reduced {
        reduced.compute_free_velocity(model, start.h, &mut ws.free_body_velocities);
    }
    joint_rows(start, ws);
    ws.mixed.problem.equality.on_free.clear(ws.mixed.layout.free(), ws.mixed.layout.free());
    match &ws.reduced {
        // The free unknowns are the impulses of joints; their rows are written with all others.
        Some(reduced) if reduced.divided.is_some() => {}
        Some(_) => identity_rows(ws),
        None => momentum_rows(start, ws),
    }
    constraint_rows(ws);
    contact_rows(start, ws);
    friction_bound_rows(ws);
    divided::write_mixed(ws);
}

/// Writes W_bᵀ and the constant terms of the joint rows and of the joint-space equations.   [STEP-2] [JSPACE-2]
///
/// Rows of loops may be redundant, and pivoting finds the problem infeasible if they contradict each other by rounding. In reduced coordinates biases
/// that are rounding of positions are therefore set to zero.
fn joint_rows(start: &Start, ws: &mut Workspace) {
    let (model, unit) = (start.model, ws.mass_unit);
    let rounding = if ws.reduced.is_some() { cone::POSITION_ROUNDING / start.h } else { 0.0 };
    let mut jacobian = std::mem::take(&mut ws.mixed.joint_jacobian);
    let mut constants = std::mem::take(&mut ws.mixed.problem.equality.constant);
    jacobian.clear(ws.mixed.layout.joints, ws.mixed.layout.velocities);
    constants.clear();
    constants.resize(ws.mixed.layout.velocities, 0.0);
    let joints = columns::joints(model, ws);
    for joint in joints {
        let first = joint.first_row();
        for place in first..first + joint.rows() {
            let Some(row) = ws.constraints.joint_rows.get(place) else {
                debug_assert!(false, "the rows of all joints of the problem are written");
                continue;
            };
            let sides = between((joint.a.0, &row.a), (joint.b.0, &row.b));
            let bias = if row.bias.abs() <= rounding { 0.0 } else { row.bias };
            constants.push(bias + free_rate_of_sides(model, ws, &sides));
            push_row((model, unit), ws.reduced.as_deref_mut(), &mut jacobian, &sides);
            jacobian.finish_row();
        }
    }
    let rows = std::mem::take(&mut ws.constraints.joint_space_rows);
    for row in equalities(&rows) {
        constants.push(row.bias + free_rate_of_sides(model, ws, &row.sides));
        push_row((model, unit), ws.reduced.as_deref_mut(), &mut jacobian, &row.sides);
        jacobian.finish_row();
    }
    ws.constraints.joint_space_rows = rows;
    debug_assert!(jacobian.is_complete(), "every joint impulse has a row");
    debug_assert_eq!(constants.len(), ws.mixed.layout.free(), "every joint row has a constant term");
    jacobian.transpose_into(&mut ws.mixed.joint_jacobian_transposed);
    (ws.mixed.joint_jacobian, ws.mixed.problem.equality.constant) = (jacobian, constants);
}

/// Writes −δy + W_b p_b, the momentum balance of the forest, with δy = L (v⁺ − v_free).   [RED-2]
fn identity_rows(ws: &mut Workspace) {
    let n_v = ws.mixed.layout.velocities;
    let matrix = &mut ws.mixed.problem.equality.on_free;
    for row in 0..n_v {
        matrix.push(row, -1.0);
        for (joint_row, value) in ws.mixed.joint_jacobian_transposed.row(row) {
            matrix.push(n_v + joint_row, value);
        }
        matrix.finish_row();
    }
}

/// Writes the joint rows below the momentum rows: joints, with their regularisation in projections, and joint-space equations with their compliance.
fn constraint_rows(ws: &mut Workspace) {
    let (n_v, unit, matrix) = (ws.mixed.layout.velocities, ws.mass_unit, &mut ws.mixed.problem.equality.on_free);
    let joints = ws.mixed.layout.joints - equalities(&ws.constraints.joint_space_rows).count();
    debug_assert!(
        ws.mixed.joint_regularisation.is_empty() || ws.mixed.joint_regularisation.len() == joints,
        "either all joint rows are regularised or none"
    );
    debug_assert_eq!(matrix.finished_rows(), n_v, "joint rows follow the momentum rows");
    let mut joint_space = equalities(&ws.constraints.joint_space_rows);
    for row in 0..ws.mixed.layout.joints {
        for (column, value) in ws.mixed.joint_jacobian.row(row) {
            matrix.push(column, value);
        }
        let row_compliance = if row < joints {
            ws.mixed.joint_regularisation.get(row).copied()
        } else {
            joint_space.next().map(|row| row.compliance)
        };
        if let Some(compliance) = row_compliance {
            matrix.push(n_v + row, compliance * unit);
        }
        matrix.finish_row();
    }
}

/// Writes −M, W_b and the momentum M v + h (λ_app + λ_vp).   [STEP-1]
fn momentum_rows(start: &Start, ws: &mut Workspace) {
    let &Start { model, h, .. } = start;
    let (n_v, unit) = (model.dof(), ws.mass_unit);
    debug_assert_eq!(ws.mixed.layout.velocities, n_v, "velocities are those of the bodies");
    debug_assert_eq!(ws.kinematics.before.len(), n_v, "v has an entry for each degree of freedom");
    let (matrix, constants) = (&mut ws.mixed.problem.equality.on_free, &mut ws.mixed.problem.equality.constant);
    for (index, slot) in model.layout().iter().enumerate() {
        let Some((mobility, mass, inertia)) = inertia(model, (&ws.kinematics.start, ws.proximal_mass_fraction), index)
        else {
            continue;
        };
        let force = ws.kinematics.applied.get(index).map_or([0.0; 6], |wrench| mobility.project(wrench));
        for (row, i) in slot.v.clone().enumerate() {
            let mut momentum = h * force.get(row).copied().unwrap_or(0.0) / unit;
            for (column, j) in slot.v.clone().enumerate() {
                if let Some(m) = mass_entry(mobility, mass, &inertia, (row, column)).map(|m| m / unit) {
                    matrix.push(j, -m);
                    momentum += m * ws.kinematics.before.get(j).copied().unwrap_or(0.0);
                }
            }
            for (joint_row, value) in ws.mixed.joint_jacobian_transposed.row(i) {
                matrix.push(n_v + joint_row, value);
            }
            matrix.finish_row();
            if let Some(constant) = constants.get_mut(i) {
                *constant = momentum;
            }
        }
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

/// Writes W_nᵀ and W_fᵀ with their constant terms; their transposes are the impulse columns of the momentum rows.   [STEP-3] [STEP-4]
fn contact_rows(start: &Start, ws: &mut Workspace) {
    let (model, layout, unit) = (start.model, ws.mixed.layout, ws.mass_unit);
    let mut rows = std::mem::take(&mut ws.mixed.problem.complementarity.on_free);
    let mut constants = std::mem::take(&mut ws.mixed.problem.complementarity.constant);
    let mut reduced = ws.reduced.take();
    let joint_space_rows = std::mem::take(&mut ws.constraints.joint_space_rows);
    rows.clear(layout.complementary(), layout.free());
    constants.clear();
    let mut push = |sides: &[Option<Side>], constant: f64| {
        let free = reduced
            .as_ref()
            .map_or(0.0, |reduced| rate(model, sides, &ws.free_body_velocities, Some(&reduced.free_velocity)));
        constants.push(constant + free);
        push_row((model, unit), reduced.as_deref_mut(), &mut rows, sides);
        rows.finish_row();
    };
    for contact in &ws.constraints.contacts {
        let (a, b) = contact.row(&contact.normal);
        push(&between((contact.a, &a), (contact.b, &b)), contact.bias);
    }
    for contact in &ws.constraints.contacts {
        for d in ws.mixed.directions.get(contact.directions.clone()).unwrap_or_default() {
            let (a, b) = contact.row(d);
            push(&between((contact.a, &a), (contact.b, &b)), d.dot(&contact.surface_velocity));
        }
    }
    for support_point in &ws.constraints.support_points {
        for d in ws.mixed.directions.get(support_point.directions.clone()).unwrap_or_default() {
            let (on, body) = support_point.row(d);
            push(
                &between((support_point.supporting_body, &on), (support_point.body, &body)),
                d.dot(&support_point.surface_velocity),
            );
        }
    }
    for (row, middle, _) in doubly_bounded(&joint_space_rows) {
        // The midpoint of the bounds is a known impulse.
        let bias = row.bias + row.compliance * middle;
        push(&row.sides, bias);
        push(&row.sides.map(|side| side.map(|side| side.times(-1.0))), -bias);
    }
    // Friction-bound rows contain no velocities.
    for _ in 0..layout.friction_bounds {
        push(&[], 0.0);
    }
    for row in limits(&joint_space_rows) {
        push(&row.sides, row.bias);
    }
    debug_assert!(rows.is_complete(), "every complementary unknown has a row");
    debug_assert_eq!(constants.len(), layout.complementary(), "every complementary row has a constant term");
    rows.finish();
    let with_loads = ws.constraints.support_points.iter().flat_map(|support_point| {
        support_point
            .friction_bounds
            .clone()
            .map(|bound| (bound, support_point.mu * start.force_duration() * support_point.load))
    });
    let first_doubly_bounded = layout.friction_bounds - doubly_bounded(&joint_space_rows).count();
    let with_widths = (first_doubly_bounded..).zip(doubly_bounded(&joint_space_rows).map(|(_, _, half)| half));
    for (bound, load) in with_loads.chain(with_widths) {
        debug_assert!(bound < layout.friction_bounds, "a known load or width belongs to a friction bound");
        if let Some(constant) = constants.get_mut(layout.sigma_at(bound)) {
            *constant = load / unit;
        }
    }
    // The impulse columns C = [W_n W_f 0; 0] are the transpose of the velocity columns D.
    rows.transpose_into(&mut ws.mixed.problem.equality.on_complementary);
    add_midpoint_impulses(ws, &rows, &joint_space_rows);
    (ws.mixed.problem.complementarity.on_free, ws.mixed.problem.complementarity.constant) = (rows, constants);
    (ws.reduced, ws.constraints.joint_space_rows) = (reduced, joint_space_rows);
}

/// Writes the friction laws: +E σ in the friction rows, μ p_n − Eᵀ p_f in the friction-bound rows.   [FRIC-2]
fn friction_bound_rows(ws: &mut Workspace) {
    let layout = ws.mixed.layout;
    let matrix = &mut ws.mixed.problem.complementarity.on_complementary;
    matrix.clear(layout.complementary(), layout.complementary());
    for _ in 0..layout.contacts {
        matrix.finish_row();
    }
    let of_contacts = ws
        .constraints
        .contacts
        .iter()
        .flat_map(|contact| contact.friction_bounds.clone().map(|k| (k, contact.directions_of(k))));
    let of_support_points = || {
        ws.constraints.support_points.iter().flat_map(|support_point| {
            support_point.friction_bounds.clone().map(|k| (k, support_point.directions_of(k)))
        })
    };
    for (bound, directions) in of_contacts.chain(of_support_points()) {
        for _ in directions {
            matrix.push(layout.sigma_at(bound), 1.0);
            matrix.finish_row();
        }
    }
    let count = doubly_bounded(&ws.constraints.joint_space_rows).count();
    let (first_direction, first_bound) = (layout.friction - 2 * count, layout.friction_bounds - count);
    for (place, (row, _, _)) in doubly_bounded(&ws.constraints.joint_space_rows).enumerate() {
        // ±(u + c (p⁺ − p⁻)) + σ.
        let (plus, minus) = (first_direction + 2 * place, first_direction + 2 * place + 1);
        let compliance = row.compliance * ws.mass_unit;
        for sign in [1.0, -1.0] {
            matrix.push(layout.friction_at(plus), sign * compliance);
            matrix.push(layout.friction_at(minus), -sign * compliance);
            matrix.push(layout.sigma_at(first_bound + place), 1.0);
            matrix.finish_row();
        }
    }
    debug_assert_eq!(matrix.finished_rows(), layout.sigma_at(0), "friction-bound rows follow the friction rows");
    for (index, contact) in ws.constraints.contacts.iter().enumerate() {
        for bound in contact.friction_bounds.clone() {
            matrix.push(index, contact.mu);
            for direction in contact.directions_of(bound) {
                matrix.push(layout.friction_at(direction), -1.0);
            }
            matrix.finish_row();
        }
    }
    for (_, directions) in of_support_points() {
        for direction in directions {
            matrix.push(layout.friction_at(direction), -1.0);
        }
        matrix.finish_row();
    }
    for place in 0..doubly_bounded(&ws.constraints.joint_space_rows).count() {
        matrix.push(layout.friction_at(first_direction + 2 * place), -1.0);
        matrix.push(layout.friction_at(first_direction + 2 * place + 1), -1.0);
        matrix.finish_row();
    }
    debug_assert_eq!(matrix.finished_rows() + layout.limits, layout.complementary(), "limits are the last rows");
    for _ in 0..layout.limits {
        matrix.finish_row();
    }
}

/// Adds known normal impulses p of restitution: W_n p in the momentum rows, μ p in the friction-bound rows.   [IMPACT-2]
pub(super) fn add_restitution_impulses(ws: &mut Workspace) {
    let layout = ws.mixed.layout;
    debug_assert_eq!(ws.constraints.contacts.len(), ws.result.impacts.len(), "every contact of an impact has a report");
    divided::add_restitution_impulses(ws);
    for (index, (contact, impact)) in ws.constraints.contacts.iter().zip(&ws.result.impacts).enumerate() {
        let restitution = impact.decompression / ws.mass_unit;
        // Without velocities, `divided` has added the response to the rows already.
        let momentum = ws.mixed.problem.complementarity.on_free.row(index).take_while(|_| layout.velocities > 0);
        for (column, value) in momentum {
            if let Some(constant) = ws.mixed.problem.equality.constant.get_mut(column) {
                *constant += value * restitution;
            }
        }
        for bound in contact.friction_bounds.clone() {
            if let Some(constant) = ws.mixed.problem.complementarity.constant.get_mut(layout.sigma_at(bound)) {
                *constant += contact.mu * restitution;
            }
        }
    }
}

/// Extracts v⁺ and the impulses from the solution. The slip speed of a contact or support point is the largest σ of its friction bounds.
pub(super) fn extract(start: &Start, ws: &mut Workspace) {
    extract_joint_space_impulses(ws);
    let (layout, solution, unit) = (ws.mixed.layout, &ws.mixed.solution, ws.mass_unit);
    debug_assert_eq!(solution.free.len(), layout.free(), "the solution has all free unknowns");
    // The disjunctive problem of corners has further complementary unknowns at the end.
    debug_assert!(
        solution.complementary.len() >= layout.complementary(),
        "the solution has all complementary unknowns"
    );
    debug_assert_eq!(
        layout.contacts,
        ws.constraints.contacts.len(),
        "the contacts of the workspace are those of the problem"
    );
    let get = |place: usize| solution.complementary.get(place).copied().unwrap_or(0.0);
    ws.solution.velocity.clear();
    ws.solution.velocity.extend(solution.free.iter().take(layout.velocities));
    if let Some(reduced) = &mut ws.reduced {
        if reduced.divided.is_some() {
            let impulses = solution.free.iter().chain(&solution.complementary).copied();
            reduced.find_velocity_by_response(start.model, (impulses, unit), &mut ws.solution.velocity);
        } else {
            // The solution is δy = L (v⁺ − v_free). It takes the memory of v_free of the frictional problem, which this step does not have.
            std::mem::swap(&mut ws.solution.velocity, &mut ws.friction.free_velocity);
            reduced.find_velocity(start.model, unit, &ws.friction.free_velocity, &mut ws.solution.velocity);
        }
    }
    ws.solution.joint_impulses.clear();
    ws.solution.joint_impulses.resize(start.model.joint_rows(), 0.0);
    let joints = reduced::joints_in_problem(start.model, ws.reduced.as_deref());
    let rows = joints.flat_map(|joint| joint.first_row()..joint.first_row() + joint.rows());
    for (row, p) in rows.zip(solution.free.iter().skip(layout.velocities)) {
        if let Some(impulse) = ws.solution.joint_impulses.get_mut(row) {
            *impulse = p * unit;
        }
    }
    let of = |normal: f64, directions: &Range<usize>, bounds: &Range<usize>| {
        debug_assert!(directions.end <= ws.mixed.directions.len(), "friction directions are those of the problem");
        let vertices = ws.mixed.directions.get(directions.clone()).unwrap_or_default();
        let friction = directions
            .clone()
            .zip(vertices)
            .fold(Vector3::zeros(), |sum, (place, d)| sum + d * get(layout.friction_at(place)));
        let sigma = bounds.clone().map(|bound| get(layout.sigma_at(bound))).fold(0.0, f64::max);
        ContactImpulse { normal, friction: friction * unit, spin: 0.0, rolling: Vector3::zeros(), sigma }
    };
    ws.solution.contact_impulses.clear();
    ws.solution.contact_impulses.extend(
        ws.constraints
            .contacts
            .iter()
            .enumerate()
            .map(|(index, contact)| of(get(index) * unit, &contact.directions, &contact.friction_bounds)),
    );
    ws.solution.support_impulses.clear();
    ws.solution.support_impulses.extend(ws.constraints.support_points.iter().map(|support_point| {
        of(start.force_duration() * support_point.load, &support_point.directions, &support_point.friction_bounds)
    }));
}
