//! Velocity columns of a problem, its blocks, and the entries of its rows.
//!
//! Velocities are those of the bodies in maximal coordinates and those of the forest in reduced coordinates.

use stiction_complementarity::{SparseMatrix, linalg::BlockMatrix};
use stiction_multibody::{BodyId, Joint, Model, Wrench};

use crate::{
    Workspace,
    rates::side_rate,
    rates::{Side, rate},
    reduced,
    reduced::Reduced,
};

/// Number of velocity columns of the problem; zero with divide and conquer, which eliminates the velocities.
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
    side_rate(model, &ws.free_body_velocities, a.0, a.1) + side_rate(model, &ws.free_body_velocities, b.0, b.1)
}

/// Rate of a joint-space row at v_free, to be added to its bias to give the constant term.   [RED-2]
pub(super) fn free_rate_of_sides(model: &Model, ws: &Workspace, sides: &[Option<Side>]) -> f64 {
    ws.reduced
        .as_ref()
        .map_or(0.0, |reduced| rate(model, sides, &ws.free_body_velocities, Some(&reduced.free_velocity)))
}

/// Writer of wrench rows as blocks of a Jacobian.
pub(super) struct Blocks<'a> {
    pub(super) model: &'a Model,
    /// Block column of each body, or of each link of the forest.
    pub(super) columns: &'a [usize],
    pub(super) block: &'a mut Vec<f64>,
    pub(super) reduced: Option<&'a mut Reduced>,
    /// Unit of mass of the problem, kg.
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
/// `unit` is the unit of mass of the problem, kg. Zeros are stored too: the sparsity pattern must not depend on the values, or rounding would force a new symbolic factorisation.
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
