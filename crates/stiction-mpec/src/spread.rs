//! Covariance of variables if each square is ½ (deviation / standard deviation)².   [MPEC-4]

use crate::{Mode, MpecError, Program, solve::with_modes, sparse};

/// Covariance of some variables: a diagonal block of the inverse KKT matrix.
///
/// With the equations A dx = 0 of the chosen modes and W the weights of the squares (times two), it is the block of
///
/// ```text
/// ⎡ W  Aᵀ ⎤⁻¹
/// ⎣ A  0  ⎦                                                                                                 [MPEC-4]
/// ```
///
/// that belongs to them. `prior` is added to the diagonal of W for each: information much smaller than that of the data, so
/// that the block exists without data. Active inequalities are ignored.
pub fn covariance(
    program: &Program,
    (modes, x): (&[Mode], &[f64]),
    of: &[usize],
    prior: &[f64],
) -> Result<Option<Vec<Vec<f64>>>, MpecError> {
    let fixed = with_modes(program, modes, x)?;
    let n = fixed.variables.len();
    let moves = |k: usize| fixed.variables.get(k).is_some_and(|v| v.lower < v.upper);
    let equation = |row: usize| fixed.constraints.get(row).is_some_and(|[low, high]| low == high);
    let mut jacobian = vec![0.0; fixed.jacobian_pattern().len()];
    fixed.jacobian(x, &mut jacobian)?;
    let mut entries = Vec::new();
    let mut touched = vec![false; fixed.constraints.len()];
    for ((row, variable), slope) in fixed.jacobian_pattern().into_iter().zip(jacobian) {
        if slope != 0.0 && equation(row) && moves(variable) {
            entries.push((n + row, variable, slope));
            entries.push((variable, n + row, slope));
            touched.get_mut(row).into_iter().for_each(|touched| *touched = true);
        }
    }
    let mut weighed = vec![false; n];
    for square in fixed.squares.iter().filter(|square| moves(square.variable)) {
        entries.push((square.variable, square.variable, 2.0 * square.weight));
        weighed.get_mut(square.variable).into_iter().for_each(|weighed| *weighed = true);
    }
    for (variable, prior) in of.iter().zip(prior) {
        entries.push((*variable, *variable, *prior));
    }
    // Fixed variables and undetermined ones, such as slip speeds of open contacts, do not move.
    let least = prior.iter().copied().fold(f64::INFINITY, f64::min);
    for (k, weighed) in weighed.iter().enumerate() {
        if !moves(k) {
            entries.push((k, k, 1.0));
        } else if !weighed {
            entries.push((k, k, 1e-6 * least.min(1.0)));
        }
    }
    entries
        .extend(touched.iter().enumerate().filter(|(_, touched)| !**touched).map(|(row, _)| (n + row, n + row, 1.0)));
    let size = n + fixed.constraints.len();
    let unit = |k: &usize| {
        let mut side = vec![0.0; size];
        side.get_mut(*k).into_iter().for_each(|x| *x = 1.0);
        side
    };
    let mut sides: Vec<Vec<f64>> = of.iter().map(unit).collect();
    let Some(columns) = sparse::solve(size, &entries, &mut sides) else { return Ok(None) };
    let pick = |column: &Vec<f64>| of.iter().map(|k| column.get(*k).copied().unwrap_or(f64::NAN)).collect();
    Ok(Some(columns.iter().map(pick).collect()))
}
