//! Frictional problems of the reference: impacts, and accelerations of contacts that do not slip yet.

use nalgebra::DVector;
use stiction_complementarity::{
    FrictionLadder, FrictionProblem, FrictionSolution, Law, Operator, Residual, Status, Tolerance, linalg::BlockMatrix,
    solve,
};
use stiction_multibody::Model;

use super::instant::{Block, Instant};

/// Solves frictional problems and keeps the largest residual.
pub(super) struct Impulses {
    ladder: FrictionLadder,
    pub(super) residual: Residual,
    pub(super) status: Status,
    pub(super) iterations: u32,
}

/// Residual that the ladder aims at, and the residuals that are accepted if rounding allows no better. Both are dimensionless.
const AIM: f64 = 1e-13;
const ACCEPTED: Tolerance = Tolerance { solved: 1e-9, loose: 1e-7 };

impl Impulses {
    pub(super) fn new() -> Self {
        Self {
            ladder: FrictionLadder::with_tolerance(AIM).unwrap_or_default().with_stick_recovery(),
            residual: Residual { value: 0.0, row: 0 },
            status: Status::Solved,
            iterations: 0,
        }
    }

    /// Solves for r with u = W r + q under the laws of joints and contacts [CONE-1]; `None` if no rung solves it.   [REF-6]
    pub(super) fn solve(&mut self, model: &Model, at: &Instant, q: &DVector<f64>) -> Option<DVector<f64>> {
        // In the unit of the largest entry of W forces are about as large as accelerations, in any unit of mass.
        let unit = at.delassus.diagonal().amax();
        if q.is_empty() || unit == 0.0 {
            return Some(DVector::zeros(q.len()));
        }
        let problem = write(model, at, q, unit)?;
        let mut solution = FrictionSolution::default();
        let outcome = solve(&mut self.ladder, &problem, None, &mut solution, &ACCEPTED);
        self.iterations += outcome.iterations;
        if outcome.residual.value >= self.residual.value {
            (self.residual, self.status) = (outcome.residual, outcome.status);
        }
        let good = matches!(outcome.status, Status::Solved | Status::SolvedLoosely);
        good.then(|| DVector::from_vec(solution.r) / unit)
    }
}

fn write(model: &Model, at: &Instant, q: &DVector<f64>, unit: f64) -> Option<FrictionProblem> {
    let joints = model.joints().iter().map(|joint| Block { first: joint.first_row(), rows: joint.rows() });
    let blocks: Vec<_> = joints.chain(at.contacts.iter().copied()).collect();
    let contact_laws = at.touches.iter().map(|touch| match touch.friction_rows {
        0 => Law::Bounded { lower: 0.0, upper: f64::INFINITY },
        rows => Law::Cone { rows: 1 + rows, mu: touch.mu },
    });
    let laws = model.joints().iter().map(|joint| Law::Equality { rows: joint.rows() }).chain(contact_laws).collect();
    let mut matrix = BlockMatrix::default();
    matrix.clear(blocks.iter().map(|block| block.rows), blocks.iter().map(|block| block.rows));
    for row in &blocks {
        for (column, part) in blocks.iter().enumerate() {
            let view = at.delassus.view((row.first, part.first), (row.rows, part.rows));
            // The transpose column by column is the block row by row.
            let entries: Vec<f64> = view.transpose().iter().map(|w| w / unit).collect();
            matrix.push(column, &entries);
        }
        matrix.finish_row();
    }
    FrictionProblem::new(Operator::Assembled(matrix), laws, q.as_slice().to_vec()).ok()
}
