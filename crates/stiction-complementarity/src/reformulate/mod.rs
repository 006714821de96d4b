//! Reformulations of problems, with the recovery of their solutions.
//!
//! These are friction with polygons as a mixed LCP, friction with second-order cones as an NCP, mixed problems as LCPs, and scaled
//! problems.

pub(crate) mod fritz_john;
pub(crate) mod polygon;
pub(crate) mod scaling;

use crate::friction::{Delassus, FrictionProblem};
use crate::lcp::Lcp;
use crate::lcp::lemke::LcpLemke;
use crate::linalg::DenseMatrix;
use crate::mixed_lcp::MixedLcp;
use crate::mixed_lcp::schur::{MixedLcpSchur, SchurFailure};

/// Eliminates the free variables of a mixed problem with regular A and returns the reduced LCP.   [MLCP-3]
pub fn eliminate_free(problem: &MixedLcp) -> Result<Lcp, SchurFailure> {
    MixedLcpSchur::new(LcpLemke::new()).reduce(problem).cloned()
}

/// W + diag c of a frictional problem, column by column.
fn dense_operator<W: Delassus>(problem: &FrictionProblem<W>) -> DenseMatrix {
    let n = problem.rows();
    debug_assert!(problem.compliance().is_empty() || problem.compliance().len() == n, "no compliance, or one per row");
    let (mut w, mut state) = (DenseMatrix::zeros(n, n), Vec::new());
    let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
    for j in 0..n {
        unit[j] = 1.0;
        problem.operator().apply(&unit, &mut column, &mut state);
        unit[j] = 0.0;
        column.iter().enumerate().for_each(|(i, &entry)| w[(i, j)] = entry);
        w[(j, j)] += problem.compliance().get(j).copied().unwrap_or(0.0);
    }
    w
}
