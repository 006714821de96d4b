//! Velocity columns of a problem, its blocks, and the entries of its rows.
//!
//! Velocities are those of the bodies in maximal coordinates and those of the forest in reduced coordinates.

use nalgebra::Vector3;
use stiction_complementarity::{Law, SparseMatrix, linalg::BlockMatrix};
use stiction_multibody::{BodyId, Dimension, Joint, Model, Wrench};

use super::surfaces::cores;
use crate::{
    Contact, ContactImpulse, SupportPointContact, Workspace,
    joint_space::{Side, rate},
    reduced,
    reduced::Reduced,
    rows::side_rate,
};

/// Largest number of rows of a contact: normal, two tangents, torsion and two of rolling friction.
pub(crate) const MAX_CONTACT_ROWS: usize = 6;

/// Number of velocities among the unknowns; zero with divide and conquer, which formulates the problem in impulses alone.
pub(super) fn velocities(model: &Model, ws: &Workspace) -> usize {
    match &ws.reduced {
        None => model.dof(),
        Some(reduced) if reduced.divided.is_some() => 0,
        Some(_) => model.forest().tree().velocities(),
    }
}

/// Sides of a row between two bodies: its terms, one per body.
pub(super) fn between(a: (BodyId, &Wrench), b: (BodyId, &Wrench)) -> [Option<Side>; 2] {
    [a, b].map(|(body, wrench)| Some(Side::Wrench(body, *wrench)))
}

/// Joints with rows in the problem: all of them, or in reduced coordinates only those that close loops.
pub(crate) fn joints<'m>(model: &'m Model, ws: &Workspace) -> impl Iterator<Item = &'m Joint> + Clone + use<'m> {
    let joints = reduced::joints_in_problem(model, ws.reduced.as_deref());
    debug_assert_eq!(joints.clone().count(), joint_blocks(model, ws), "each joint of the problem is one block");
    joints
}

/// Number of joint blocks in the problem.
pub(super) fn joint_blocks(model: &Model, ws: &Workspace) -> usize {
    if ws.reduced.is_some() { model.forest().loops().len() } else { model.joints().len() }
}

/// Number of joint rows in the problem.
pub(super) fn joint_rows(model: &Model, ws: &Workspace) -> usize {
    if ws.reduced.is_some() { joints(model, ws).map(Joint::rows).sum() } else { model.joint_rows() }
}

/// Rate of a row at v_free, to be added to its bias to give the constant term.   [RED-2]
///
/// In reduced coordinates the unknowns are changes from v_free. In maximal coordinates it is zero, because v_free enters elsewhere: with
/// linear friction sets through the momentum balance, with second-order cones through q = Hᵀ v_free + bias, whose first term
/// [`super::cone`] adds to all rows at once.
pub(super) fn free_rate(model: &Model, ws: &Workspace, a: (BodyId, &Wrench), b: (BodyId, &Wrench)) -> f64 {
    if ws.reduced.is_none() {
        return 0.0;
    }
    side_rate(model, &ws.free_bodies, a.0, a.1) + side_rate(model, &ws.free_bodies, b.0, b.1)
}

/// Rate of a joint-space row at v_free, to be added to its bias to give the constant term.   [RED-2]
pub(super) fn free_rate_of_sides(model: &Model, ws: &Workspace, sides: &[Option<Side>]) -> f64 {
    ws.reduced.as_ref().map_or(0.0, |reduced| rate(model, sides, &ws.free_bodies, Some(&reduced.free)))
}

/// Writer of wrench rows as blocks of a Jacobian.
pub(super) struct Blocks<'a> {
    pub(super) model: &'a Model,
    /// Block column of each body, or of each link of the forest.
    pub(super) columns: &'a [usize],
    pub(super) block: &'a mut Vec<f64>,
    pub(super) reduced: Option<&'a mut Reduced>,
    pub(super) unit: f64,
}

impl Blocks<'_> {
    /// Pushes the blocks of two bodies into the block row being filled.
    pub(super) fn push_pair(
        &mut self,
        jacobian: &mut BlockMatrix,
        (a, b): (BodyId, BodyId),
        rows: impl ExactSizeIterator<Item = (Wrench, Wrench)> + Clone,
    ) {
        let count = rows.len();
        if let Some(reduced) = &mut self.reduced {
            let forest = self.model.forest();
            reduced.begin_rows(forest, count);
            for (row, (on_a, on_b)) in rows.enumerate() {
                reduced.add_wrench(forest, row, a, &on_a);
                reduced.add_wrench(forest, row, b, &on_b);
            }
            reduced.push_blocks(forest, (count, self.unit), self.columns, jacobian, self.block);
            return;
        }
        self.push_body(jacobian, a, rows.clone().map(|(a, _)| a));
        self.push_body(jacobian, b, rows.map(|(_, b)| b));
    }

    /// Pushes the blocks of a joint-space row.
    pub(super) fn push_sides(&mut self, jacobian: &mut BlockMatrix, sides: &[Option<Side>]) {
        if let Some(reduced) = &mut self.reduced {
            let forest = self.model.forest();
            reduced.begin_rows(forest, 1);
            add_sides(self.model, reduced, sides);
            reduced.push_blocks(forest, (1, self.unit), self.columns, jacobian, self.block);
            return;
        }
        for (body, wrench) in merged(sides).into_iter().flatten() {
            self.push_body(jacobian, body, std::iter::once(wrench));
        }
    }

    /// Pushes the block of a body; a body without unknowns has none.
    fn push_body(&mut self, jacobian: &mut BlockMatrix, body: BodyId, wrenches: impl Iterator<Item = Wrench>) {
        debug_assert!(
            self.model.unknowns(body).is_none() || body.index() < self.columns.len(),
            "every body with unknowns has a block column"
        );
        let (Some((mobility, range)), Some(&column)) = (self.model.unknowns(body), self.columns.get(body.index()))
        else {
            return;
        };
        debug_assert_eq!(range.len(), mobility.dof(), "a body has as many unknowns as degrees of freedom");
        self.block.clear();
        for wrench in wrenches {
            self.block.extend(mobility.project(&wrench).iter().take(range.len()));
        }
        jacobian.push(column, self.block);
    }
}

/// Wrenches of a row summed by body: two joint DOFs can act on the same body.
fn merged(sides: &[Option<Side>]) -> [Option<(BodyId, Wrench)>; 4] {
    let mut merged: [Option<(BodyId, Wrench)>; 4] = [None; 4];
    for side in sides.iter().flatten() {
        let Side::Wrench(body, wrench) = side else {
            debug_assert!(false, "velocities of the forest are sides of rows in reduced coordinates only");
            continue;
        };
        for place in &mut merged {
            match place {
                Some((other, total)) if other == body => total.add(wrench),
                Some(_) => continue,
                None => *place = Some((*body, *wrench)),
            }
            break;
        }
    }
    merged
}

fn add_sides(model: &Model, reduced: &mut Reduced, sides: &[Option<Side>]) {
    let forest = model.forest();
    for side in sides.iter().flatten() {
        match side {
            Side::Velocity(k, factor) => reduced.add_velocity(forest, 0, *k, *factor),
            Side::Wrench(body, wrench) => reduced.add_wrench(forest, 0, *body, wrench),
        }
    }
}

/// Writes one row into a sparse matrix, or into the assembly tree of divide and conquer.
///
/// Zeros are stored too: the sparsity pattern must not depend on the values, or rounding would force a new symbolic factorisation.
pub(super) fn push_row(
    (model, unit): (&Model, f64),
    reduced: Option<&mut Reduced>,
    matrix: &mut SparseMatrix,
    sides: &[Option<Side>],
) {
    if let Some(reduced) = reduced {
        if reduced.push_divided(model.forest(), sides) {
            return;
        }
        reduced.begin_rows(model.forest(), 1);
        add_sides(model, reduced, sides);
        reduced.push_entries(model.forest(), unit, matrix);
        return;
    }
    for (body, wrench) in merged(sides).into_iter().flatten() {
        let Some((mobility, range)) = model.unknowns(body) else { continue };
        for (column, value) in range.zip(mobility.project(&wrench)) {
            matrix.push(column, value);
        }
    }
}

/// Number of blocks of the problem: joints, contacts, support points, cores, joint-space rows.
pub(super) fn block_count(model: &Model, ws: &Workspace) -> usize {
    joint_blocks(model, ws)
        + ws.contacts.len()
        + ws.support_points.len()
        + cores(&ws.surfaces).count()
        + ws.joint_space_rows.len()
}

/// Adds the rates at v_free to the constant terms of the rows of a contact.
pub(super) fn add_free_rates(model: &Model, ws: &Workspace, contact: &Contact, constants: &mut [f64]) {
    let rows = contact_rows(contact, constants.len());
    for (constant, (a, b)) in constants.iter_mut().zip(rows) {
        *constant += free_rate(model, ws, (contact.a, &a), (contact.b, &b));
    }
}

/// Law of a contact: one row without friction, a cone of 2 rows in the plane, and of 3 rows or 4 with torsion in space. Rolling friction adds
/// one row in the plane and two in space, which are as long as its coefficient, so that their own coefficient is 1.   [FRIC-5]
pub(super) fn law(dimension: Dimension, contact: &Contact) -> Law {
    let mu = contact.mu;
    let rows = match (mu > 0.0, dimension) {
        (false, _) => return Law::Boxed { lower: 0.0, upper: f64::INFINITY },
        (true, Dimension::Planar) => 2,
        (true, _) if contact.torsion > 0.0 => 4,
        (true, _) => 3,
    };
    if contact.rolling > 0.0 {
        let axes = if dimension == Dimension::Planar { 1 } else { 2 };
        return Law::Rolling { rows: rows + axes, mu, mu_r: 1.0 };
    }
    Law::Cone { rows, mu }
}

/// Friction rows of a contact, after the normal one.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrictionRows {
    /// Number of tangents.
    tangents: usize,
    /// True if there is a row of torsional friction.
    spin: bool,
}

impl FrictionRows {
    /// Rows of a contact whose law has so many; the remaining ones are those of rolling friction.
    pub(super) fn new(contact: &Contact, rows: usize) -> Self {
        let existing: usize = if contact.is_planar() { 1 } else { 2 };
        let tangents = existing.min(rows.saturating_sub(1));
        let axes = if contact.rolling > 0.0 { tangents } else { 0 };
        Self { tangents, spin: rows > 1 + tangents + axes }
    }

    /// Appends the velocities of prescribed motion along the rows.
    pub(super) fn push_prescribed(self, contact: &Contact, rows: usize, q: &mut Vec<f64>) {
        let first = q.len();
        q.extend(contact.tangents.iter().take(self.tangents).map(|t| t.dot(&contact.surface_velocity)));
        if self.spin {
            q.push(contact.torsion * contact.surface_spin);
        }
        if q.len() - first + 1 < rows {
            q.extend(contact.rolling_axes().map(|axis| axis.dot(&contact.surface_rotation)));
        }
    }

    /// Appends the impulses of friction, torsional friction and rolling friction along the rows.
    pub(super) fn push_impulses(
        self,
        (contact, rows): (&Contact, usize),
        (friction, spin, rolling): (&Vector3<f64>, f64, &Vector3<f64>),
        r: &mut Vec<f64>,
    ) {
        let first = r.len();
        // p = r_t (e_t t) + r_o (e_o o), the tangents being perpendicular.
        r.extend(contact.tangents.iter().take(self.tangents).map(|t| t.dot(friction) / t.norm_squared()));
        if self.spin {
            r.push(spin / contact.torsion);
        }
        if r.len() - first + 1 < rows {
            r.extend(contact.rolling_axes().map(|axis| axis.dot(rolling) / axis.norm_squared()));
        }
    }

    /// Impulse of a contact with the impulses `r` of its rows, in this unit.
    pub(super) fn impulse(self, contact: &Contact, r: &[f64], unit: f64) -> ContactImpulse {
        let part = |k: usize| r.get(k).copied().unwrap_or(0.0) * unit;
        let [t, o] = &contact.tangents;
        let others = 1 + self.tangents;
        let axes = (others + usize::from(self.spin)..r.len()).zip(contact.rolling_axes());
        ContactImpulse {
            normal: part(0),
            friction: if self.tangents > 1 { t * part(1) + o * part(2) } else { t * part(1) },
            spin: if self.spin { part(others) * contact.torsion } else { 0.0 },
            rolling: axes.fold(Vector3::zeros(), |sum, (k, axis)| sum + axis * part(k)),
            sigma: 0.0,
        }
    }
}

/// Pushes the blocks of the two bodies of a contact into the block row being filled.
pub(super) fn push_contact(blocks: &mut Blocks, jacobian: &mut BlockMatrix, (contact, count): (&Contact, usize)) {
    blocks.push_pair(jacobian, (contact.a, contact.b), contact_rows(contact, count).into_iter().take(count));
}

/// Rows of a support point: normal, two tangents and spin, of which the law uses the first `count`.
///
/// The normal row is zero on the bodies: it acts on the auxiliary mass only.
pub(crate) fn support_rows(support_point: &SupportPointContact, count: usize) -> [(Wrench, Wrench); 4] {
    let [x, y] = SupportPointContact::tangents();
    let spin = if count == 4 { scaled(support_point.spin_row(), support_point.torsion) } else { Default::default() };
    [Default::default(), support_point.row(&x), support_point.row(&y), spin]
}

fn scaled((a, b): (Wrench, Wrench), factor: f64) -> (Wrench, Wrench) {
    (a.scaled(factor), b.scaled(factor))
}

/// Rows of a contact: normal, tangents, spin and rolling, of which the law uses the first `count`.
pub(crate) fn contact_rows(contact: &Contact, count: usize) -> [(Wrench, Wrench); MAX_CONTACT_ROWS] {
    let mut rows = [Default::default(); MAX_CONTACT_ROWS];
    let [t, o] = &contact.tangents;
    rows[0] = contact.row(&contact.normal);
    rows[1] = contact.row(t);
    let FrictionRows { tangents, spin } = FrictionRows::new(contact, count);
    if tangents > 1 {
        rows[2] = contact.row(o);
    }
    let mut next = 1 + tangents;
    if let (true, Some(row)) = (spin, rows.get_mut(next)) {
        *row = scaled(contact.spin_row(), contact.torsion);
        next += 1;
    }
    if next < count {
        rows.iter_mut()
            .skip(next)
            .zip(contact.rolling_axes())
            .for_each(|(row, axis)| *row = Contact::rolling_row(&axis));
    }
    rows
}
