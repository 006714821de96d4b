//! Equations that a step solved, as numbers: momentum, rows, and the coefficients of the contact laws.
//!
//! They are evaluated for another state or another model, while the velocities and impulses of the solution are kept. Their differences are
//! the derivatives.   [GRAD-1]

use nalgebra::{DMatrix, Matrix3, Vector3};
use stiction_complementarity::Law;
use stiction_multibody::{BodyId, BodyKind, Configuration, ContactId, Mobility, Model, Wrench, mass_block};

use super::SensitivityError;
use stiction_stepping::{
    Contact, Detector, FrictionSet, Impact, Ladder, Margin, PositionUpdate, Scheme, Start, SupportPointContact,
    VelocityTerms, Workspace, stages,
    stages::approach,
    stages::{JointSpaceRow, Side},
    stages::{detect, prepare},
};

/// A direction of friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Axis {
    /// A tangent, as long as the semi-axis of the friction ellipse.
    Tangent(usize),
    /// A corner of a friction polygon, among those of its contact.
    Corner(usize),
    /// Torsion.
    Spin,
}

/// Kind of a row, with its index. Contacts are counted among those that are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Row {
    Joint(usize),
    Normal(usize),
    Contact(usize, Axis),
    SupportPoint(usize, Axis),
    JointSpace(usize),
}

/// Solved step: its rows, the impulses along them, and v⁺.
#[derive(Debug, Default)]
pub(crate) struct Solved {
    pub(crate) rows: Vec<Row>,
    pub(crate) impulses: Vec<f64>,
    pub(crate) contacts: Vec<ContactId>,
    pub(crate) support_points: usize,
    pub(crate) joint_space: usize,
    pub(crate) velocity: Vec<f64>,
    /// Orientation and angular velocity at the end of the step of bodies that turn freely, by their index; empty with explicit velocity terms.
    pub(crate) turned: Vec<(usize, Matrix3<f64>, Vector3<f64>)>,
}

impl Solved {
    /// Collects the rows of the step in the workspace, and of the contacts those for which `keep` is true.
    pub(crate) fn of(start: &Start, ws: &Workspace, keep: impl Fn(usize) -> bool) -> Self {
        debug_assert_eq!(
            ws.constraints.contacts.len(),
            ws.solution.contact_impulses.len(),
            "every contact has an impulse"
        );
        debug_assert_eq!(
            ws.constraints.support_points.len(),
            ws.solution.support_impulses.len(),
            "every support point has an impulse"
        );
        let mut solved = Self {
            velocity: ws.solution.velocity.clone(),
            support_points: ws.constraints.support_points.len(),
            joint_space: ws.constraints.joint_space_rows.len(),
            ..Self::default()
        };
        if start.scheme.velocity_terms == VelocityTerms::Conserving {
            solved.find_turned(start, ws);
        }
        for (row, impulse) in ws.solution.joint_impulses.iter().enumerate() {
            solved.push(Row::Joint(row), *impulse);
        }
        let planar = start.model.dimension() == stiction_multibody::Dimension::Planar;
        for (index, (contact, impulse)) in ws.constraints.contacts.iter().zip(&ws.solution.contact_impulses).enumerate()
        {
            if !keep(index) {
                continue;
            }
            let place = solved.contacts.len();
            solved.contacts.push(contact.id);
            solved.push(Row::Normal(place), impulse.normal);
            if contact.mu == 0.0 {
                continue;
            }
            if ws.is_friction_problem {
                for (k, t) in contact.tangents.iter().enumerate().take(if planar { 1 } else { 2 }) {
                    solved.push(Row::Contact(place, Axis::Tangent(k)), t.dot(&impulse.friction) / t.norm_squared());
                }
                if contact.torsion > 0.0 && !planar {
                    solved.push(Row::Contact(place, Axis::Spin), impulse.spin / contact.torsion);
                }
            } else {
                for (k, direction) in contact.directions.clone().enumerate() {
                    solved.push(Row::Contact(place, Axis::Corner(k)), corner_impulse(ws, direction));
                }
            }
        }
        for (index, (support_point, impulse)) in
            ws.constraints.support_points.iter().zip(&ws.solution.support_impulses).enumerate()
        {
            if support_point.mu == 0.0 {
                continue;
            }
            if ws.is_friction_problem {
                solved.push(Row::SupportPoint(index, Axis::Tangent(0)), impulse.friction.x);
                solved.push(Row::SupportPoint(index, Axis::Tangent(1)), impulse.friction.y);
                if support_point.torsion > 0.0 {
                    solved.push(Row::SupportPoint(index, Axis::Spin), impulse.spin / support_point.torsion);
                }
            } else {
                for (k, direction) in support_point.directions.clone().enumerate() {
                    solved.push(Row::SupportPoint(index, Axis::Corner(k)), corner_impulse(ws, direction));
                }
            }
        }
        solved
    }

    /// Finds the orientations and angular velocities at the end of the step.   [ROT-2]
    fn find_turned(&mut self, start: &Start, ws: &Workspace) {
        let &Start { model, scheme, state, h, .. } = start;
        let mean = scheme.position_update == PositionUpdate::Average;
        let moving = |(v, end): (&f64, &f64)| if mean { 0.5 * (v + end) } else { *end };
        let moving: Vec<f64> = state.v.iter().zip(&self.velocity).map(moving).collect();
        let (mut q, mut end) = (Vec::new(), Configuration::default());
        model.integrate(&state.q, &moving, h, scheme.orientation, &mut q);
        end.update(model, &q, &self.velocity, state.time);
        for (index, (id, body)) in model.iter_bodies().enumerate() {
            let blocks = [&ws.kinematics.start, &end].map(|at| mass_block(model, at, index));
            let ([Some((Mobility::Free, _, inertia)), Some((_, _, at_end))], Some(torque)) =
                (blocks, ws.kinematics.gyroscopic.get(index))
            else {
                debug_assert!(
                    body.mobility() != Some(Mobility::Free),
                    "bodies that turn freely have a gyroscopic torque"
                );
                continue;
            };
            let momentum = inertia * end.twist(id).angular - torque * h;
            let omega = at_end.cholesky().map_or_else(Vector3::zeros, |factor| factor.solve(&momentum));
            self.turned.push((index, *end.pose(id).rotation.matrix(), omega));
        }
    }

    /// Adds the joint-space rows of `all`, which include limits out of reach, with the impulses of the rows that were in the problem.
    pub(crate) fn add_joint_space_rows(&mut self, all: &Workspace, ws: &Workspace) {
        for (index, row) in all.constraints.joint_space_rows.iter().enumerate() {
            // Springs and dampers have a row along each axis, which their sides tell apart.
            let same = |other: &JointSpaceRow| {
                (other.owner, other.law, other.bias, other.sides) == (row.owner, row.law, row.bias, row.sides)
            };
            let known = ws
                .constraints
                .joint_space_rows
                .iter()
                .zip(&ws.solution.joint_space_impulses)
                .find(|(other, _)| same(other));
            self.push(Row::JointSpace(index), known.map_or(0.0, |(_, impulse)| *impulse));
        }
        self.joint_space = all.constraints.joint_space_rows.len();
    }

    fn push(&mut self, row: Row, impulse: f64) {
        self.rows.push(row);
        self.impulses.push(impulse);
    }

    /// Index of a row.
    pub(crate) fn place(&self, row: Row) -> Option<usize> {
        self.rows.iter().position(|other| *other == row)
    }

    /// Rows of friction at a contact or support point, with their axes.
    pub(crate) fn friction<'s>(
        &'s self,
        of: impl Fn(&Row) -> Option<Axis> + 's,
    ) -> impl Iterator<Item = (usize, Axis)> + 's {
        self.rows.iter().enumerate().filter_map(move |(place, row)| Some((place, of(row)?)))
    }
}

/// Impulse at a corner of a friction polygon, N s. Zero if the workspace holds no solution of a mixed problem.
fn corner_impulse(ws: &Workspace, direction: usize) -> f64 {
    if ws.mixed.solution.complementary.is_empty() {
        return 0.0;
    }
    let place = ws.mixed.layout.friction_at(direction);
    ws.mixed.solution.complementary.get(place).map_or(0.0, |p| p * ws.mass_unit)
}

/// Writes detection and rows at a start into the workspace. Only the contacts of the solution are kept.
pub(crate) fn place(
    start: &Start,
    solved: &Solved,
    (detector, margin): (&mut dyn Detector, f64),
    close_pairs: &[(stiction_multibody::ShapeId, stiction_multibody::ShapeId)],
    ws: &mut Workspace,
) -> Result<(), SensitivityError> {
    let mut scheme = start.scheme.clone();
    scheme.margin = Margin::Fixed(margin);
    let start = &Start { scheme: &scheme, ..*start };
    prepare(start, ws)?;
    ws.detection.close_pairs.extend_from_slice(close_pairs);
    ws.result.impacts.clear();
    ws.kinematics.linearisation_velocity.clear();
    ws.constraints.penetrations.clear();
    detect(start, detector, ws)?;
    let mut found = std::mem::take(&mut ws.constraints.contacts);
    if !ws.alternatives.candidates.is_empty() {
        found.clone_from(&ws.alternatives.candidates);
    }
    found.retain(|contact| solved.contacts.contains(&contact.id));
    if found.len() < solved.contacts.len() {
        let lost = solved.contacts.iter().find(|id| !found.iter().any(|contact| contact.id == **id));
        let name = lost.map_or_else(String::new, |id| name_of(start.model, id));
        return Err(SensitivityError::Lost { contact: name });
    }
    ws.constraints.contacts = found;
    ws.constraints.all_limits = true;
    stages::write_rows(start, ws);
    stages::leave_closing(start, &mut Ladder::default(), ws);
    if scheme.friction != FrictionSet::Quadratic {
        stages::choose_directions(start, ws);
    }
    Ok(())
}

/// Names of the bodies of a contact, for messages.
pub(crate) fn name_of(model: &Model, id: &ContactId) -> String {
    let owner = |shape: usize| model.shape(shape).and_then(|(_, body, _)| model.body(body));
    let name = |shape: usize| owner(shape).map_or("?", |body| body.name.as_str());
    format!("the contact between \"{}\" and \"{}\"", name(id.shape_a.index()), name(id.shape_b.index()))
}

/// Writes the coefficients of a row and returns its constant term: u = row · v⁺ + constant.
pub(crate) fn row(start: &Start, solved: &Solved, ws: &Workspace, row: Row, out: &mut [f64]) -> f64 {
    let model = start.model;
    debug_assert_eq!(out.len(), model.dof(), "a row has one coefficient for each velocity");
    out.fill(0.0);
    let mut add = |body: BodyId, wrench: &Wrench| {
        let Some((mobility, range)) = model.unknowns(body) else { return };
        let places = out.get_mut(range).unwrap_or_default();
        places.iter_mut().zip(mobility.project(wrench)).for_each(|(out, w)| *out += w);
    };
    match row {
        Row::Joint(place) => {
            let joint = model.joints().iter().find(|j| (j.first_row()..j.first_row() + j.rows()).contains(&place));
            debug_assert!(joint.is_some() && place < ws.constraints.joint_rows.len(), "row {place} is that of a joint");
            let (Some(joint), Some(row)) = (joint, ws.constraints.joint_rows.get(place)) else { return 0.0 };
            add(joint.a.0, &row.a);
            add(joint.b.0, &row.b);
            row.bias
        }
        Row::Normal(place) => {
            let Some(contact) = contact(solved, ws, place) else { return 0.0 };
            let (a, b) = contact.row(&contact.normal);
            add(contact.a, &a);
            add(contact.b, &b);
            contact.bias
        }
        Row::Contact(place, axis) => {
            let Some(contact) = contact(solved, ws, place) else { return 0.0 };
            let (a, b, constant) = if let Some(d) = axis_of(axis, &contact.tangents, ws, contact.directions.start) {
                let (a, b) = contact.row(&d);
                (a, b, d.dot(&contact.surface_velocity))
            } else {
                let (a, b) = contact.spin_row();
                let scale = contact.torsion;
                (a.scaled(scale), b.scaled(scale), scale * contact.surface_spin)
            };
            add(contact.a, &a);
            add(contact.b, &b);
            constant
        }
        Row::SupportPoint(place, axis) => {
            debug_assert!(place < ws.constraints.support_points.len(), "support point {place} is written");
            let Some(support_point) = ws.constraints.support_points.get(place) else { return 0.0 };
            let (on, body, constant) =
                if let Some(d) = axis_of(axis, &SupportPointContact::tangents(), ws, support_point.directions.start) {
                    let (on, body) = support_point.row(&d);
                    (on, body, d.dot(&support_point.surface_velocity))
                } else {
                    let (on, body) = support_point.spin_row();
                    (
                        on.scaled(support_point.torsion),
                        body.scaled(support_point.torsion),
                        support_point.torsion * support_point.surface_spin,
                    )
                };
            add(support_point.supporting_body, &on);
            add(support_point.body, &body);
            constant
        }
        Row::JointSpace(place) => {
            debug_assert!(place < ws.constraints.joint_space_rows.len(), "joint-space row {place} is written");
            let Some(row) = ws.constraints.joint_space_rows.get(place) else { return 0.0 };
            for side in row.sides.iter().flatten() {
                if let Side::Wrench(body, wrench) = side {
                    add(*body, wrench);
                }
            }
            row.bias
        }
    }
}

fn axis_of(axis: Axis, tangents: &[Vector3<f64>; 2], ws: &Workspace, first: usize) -> Option<Vector3<f64>> {
    match axis {
        Axis::Tangent(k) => tangents.get(k).copied(),
        Axis::Corner(k) => ws.mixed.directions.get(first + k).copied(),
        Axis::Spin => None,
    }
}

/// Kept contact in a workspace that has no others.
pub(crate) fn contact<'w>(solved: &Solved, ws: &'w Workspace, place: usize) -> Option<&'w Contact> {
    let id = solved.contacts.get(place)?;
    let found = ws.constraints.contacts.iter().find(|contact| contact.id == *id);
    debug_assert!(found.is_some(), "kept contact {place} is in the workspace");
    found
}

/// Offsets of the parts of the vector that [`evaluate`] writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) rows: usize,
    /// μ of each kept contact.
    pub(crate) friction: usize,
    /// μ h N of each support point.
    pub(crate) limits: usize,
    /// Lower and upper bound of each joint-space row.
    pub(crate) bounds: usize,
    /// Speed of approach of each kept contact.
    pub(crate) approach: usize,
    /// I ω⁺ − h λ_vp − I⁺ ω of each body that turns freely, with ω and the orientation in I⁺ kept.   [ROT-2]
    pub(crate) turned: usize,
    pub(crate) end: usize,
}

impl Parts {
    pub(crate) fn of(model: &Model, solved: &Solved) -> Self {
        let rows = model.dof();
        let friction = rows + solved.rows.len();
        let limits = friction + solved.contacts.len();
        let bounds = limits + solved.support_points;
        let approach = bounds + 2 * solved.joint_space;
        let turned = approach + solved.contacts.len();
        Self { rows, friction, limits, bounds, approach, turned, end: turned + 3 * solved.turned.len() }
    }
}

/// Writes M (v⁺ − v) − h λ_app − Σ pᵢ rowᵢ, then uᵢ, then the coefficients of the laws. Velocities and impulses are those of the solution,
/// all else is that of the workspace.   [GRAD-1]
pub(crate) fn evaluate(start: &Start, solved: &Solved, ws: &Workspace, out: &mut Vec<f64>) {
    let &Start { model, state, h, .. } = start;
    debug_assert_eq!(solved.rows.len(), solved.impulses.len(), "every row has an impulse");
    debug_assert_eq!(solved.velocity.len(), model.dof(), "the solution has all velocities");
    debug_assert_eq!(state.v.len(), model.dof(), "the state has all velocities");
    debug_assert_eq!(
        ws.constraints.support_points.len(),
        solved.support_points,
        "no support point appears or vanishes"
    );
    let parts = Parts::of(model, solved);
    out.clear();
    out.resize(parts.end, 0.0);
    let Some((momentum, rest)) = out.split_at_mut_checked(parts.rows) else { return };
    let mass = mass(model, ws);
    for (index, slot) in model.layout().iter().enumerate() {
        let (Some((mobility, _)), Some(wrench)) = (block_of(model, ws, index), ws.kinematics.applied.get(index)) else {
            continue;
        };
        let force = mobility.project(wrench);
        for (place, force) in slot.v.clone().zip(force) {
            let change =
                |k: usize| solved.velocity.get(k).copied().unwrap_or(0.0) - state.v.get(k).copied().unwrap_or(0.0);
            let gained: f64 = slot.v.clone().map(|k| mass[(place, k)] * change(k)).sum();
            momentum.get_mut(place).into_iter().for_each(|out| *out = gained - h * force);
        }
    }
    let mut coefficients = vec![0.0; parts.rows];
    for ((kind, impulse), value) in solved.rows.iter().zip(&solved.impulses).zip(rest.iter_mut()) {
        let constant = row(start, solved, ws, *kind, &mut coefficients);
        *value = constant + coefficients.iter().zip(&solved.velocity).map(|(a, v)| a * v).sum::<f64>();
        if let (Row::JointSpace(place), p) = (kind, impulse) {
            *value += ws.constraints.joint_space_rows.get(*place).map_or(0.0, |row| row.compliance * p);
        }
        momentum.iter_mut().zip(&coefficients).for_each(|(out, a)| *out -= impulse * a);
    }
    let laws = out.get_mut(parts.friction..).unwrap_or_default();
    let contacts = || (0..solved.contacts.len()).map(|place| contact(solved, ws, place));
    let friction = contacts().map(|contact| contact.map_or(0.0, |contact| contact.mu));
    let limits = ws.constraints.support_points.iter().map(|support_point| support_point.mu * support_point.load * h);
    let bounds = ws.constraints.joint_space_rows.iter().flat_map(|row| match row.law {
        Law::Bounded { lower, upper } => [lower, upper].map(|bound| if bound.is_finite() { bound } else { 0.0 }),
        _ => [0.0, 0.0],
    });
    let speeds = contacts().map(|contact| contact.map_or(0.0, |contact| approach(model, contact, &state.v, h)));
    let turned = solved.turned.iter().flat_map(|turned| <[f64; 3]>::from(momentum_defect(start, solved, ws, turned)));
    laws.iter_mut().zip(friction.chain(limits).chain(bounds).chain(speeds).chain(turned)).for_each(|(out, x)| *out = x);
}

/// I ω⁺ − h λ_vp − I⁺ ω of a body, zero at the solution.   [ROT-2]
fn momentum_defect(
    start: &Start,
    solved: &Solved,
    ws: &Workspace,
    (index, rotation, omega): &(usize, Matrix3<f64>, Vector3<f64>),
) -> Vector3<f64> {
    let model = start.model;
    let slot = model.layout().get(*index).map(|slot| slot.v.clone()).unwrap_or_default();
    let (Some((_, _, inertia)), Some(&[_, _, _, x, y, z]), Some(torque), Some(body)) = (
        mass_block(model, &ws.kinematics.start, *index),
        solved.velocity.get(slot),
        ws.kinematics.gyroscopic.get(*index),
        model.bodies().get(*index),
    ) else {
        debug_assert!(false, "a body that turns freely has velocities and a gyroscopic torque");
        return Vector3::zeros();
    };
    let BodyKind::Dynamic { inertia: in_body, .. } = &body.kind else { return Vector3::zeros() };
    inertia * Vector3::new(x, y, z) - torque * start.h - rotation * (in_body * (rotation.transpose() * omega))
}

/// Rows of the solution as a matrix.
pub(crate) fn jacobian(start: &Start, solved: &Solved, ws: &Workspace) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(solved.rows.len(), start.model.dof());
    let mut coefficients = vec![0.0; start.model.dof()];
    for (place, kind) in solved.rows.iter().enumerate() {
        row(start, solved, ws, *kind, &mut coefficients);
        out.row_mut(place).iter_mut().zip(&coefficients).for_each(|(out, a)| *out = *a);
    }
    out
}

fn block_of(model: &Model, ws: &Workspace, index: usize) -> Option<(Mobility, DMatrix<f64>)> {
    let (mobility, mass, inertia) = mass_block(model, &ws.kinematics.start, index)?;
    let size = mobility.dof();
    let block = DMatrix::from_fn(size, size, |i, j| match mobility {
        Mobility::Planar if i == 2 && j == 2 => inertia.m33,
        Mobility::Free if i >= 3 && j >= 3 => inertia[(i - 3, j - 3)],
        _ if i == j => mass,
        _ => 0.0,
    });
    Some((mobility, block))
}

/// M at the start of the step.
pub(crate) fn mass(model: &Model, ws: &Workspace) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(model.dof(), model.dof());
    for (index, slot) in model.layout().iter().enumerate() {
        if let Some((_, block)) = block_of(model, ws, index) {
            out.view_mut((slot.v.start, slot.v.start), block.shape()).copy_from(&block);
        }
    }
    out
}

/// True if the speed of approach is part of the state, as by Newton's law of impact.
pub(crate) fn has_pending_restitution(scheme: &Scheme) -> bool {
    scheme.impact == Impact::Newton
}
