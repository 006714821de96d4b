//! Frictional problems as files: kinds `fc2d`, `fc3d`, `rfc3d` with W and `gfc2d`, `gfc3d`, `grfc3d` with M and H.
//!
//! Fields: `dim` components per contact (normal first), `nc` contacts, `mu`, for rolling `mu_r`; then
//!
//! - local: `W`, `q` with u = W r + q. An unsymmetric W is not symmetrised;
//! - global: `M`, `H`, `q`, `b` with M v = H r + q, u = Hᵀ v + b. A symmetric M of small diagonal blocks becomes
//!   [`Bodies`]; any other M is factorised and the local problem W = Hᵀ M⁻¹ H is formed.
//!
//! Problems that mix laws or have compliance are written as kind `friction`: in place of `dim`, `nc` and `mu` a list `laws`
//! with one entry per block, and `compliance`. Matrices are compressed rows (`csr.rs`).

use super::csr::Csr;
use super::{MAX_FILE_SIZE, ProblemFileError, needed};
use crate::friction::law::Kind;
use crate::friction::{Bodies, FrictionProblem, Law, Operator};
use crate::linalg::{BlockMatrix, DenseLu};
use serde::{Deserialize, Serialize};

/// Kinds in files, as (name, components per contact, true if M and H are given).
const KINDS: [(&str, usize, bool); 6] = [
    ("fc2d", 2, false),
    ("fc3d", 3, false),
    ("rfc3d", 5, false),
    ("gfc2d", 2, true),
    ("gfc3d", 3, true),
    ("grfc3d", 5, true),
];

/// Rows of rolling friction in space, the named kinds and laws without a number of rows.
const ROLLING_ROWS: usize = 5;

/// Kind with a list of laws.
const GENERAL: &str = "friction";

/// Largest number of unknowns of one body; an M with a larger diagonal block is factorised as a whole.
const MAX_BODY: usize = 12;

/// Fraction of the largest entry of M by which transposed entries may differ in a symmetric M. Dimensionless.
///
/// Files are written with 16 digits.
const SYMMETRIC: f64 = 1e-14;

#[derive(Default, Serialize, Deserialize)]
struct Fields {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    dim: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nc: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mu: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mu_r: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    laws: Option<Vec<Law>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compliance: Option<Vec<f64>>,
    #[serde(rename = "W", skip_serializing_if = "Option::is_none")]
    w: Option<Csr>,
    #[serde(rename = "M", skip_serializing_if = "Option::is_none")]
    m: Option<Csr>,
    #[serde(rename = "H", skip_serializing_if = "Option::is_none")]
    h: Option<Csr>,
    q: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<Vec<f64>>,
}

/// Name of the kind if it is frictional.
pub(super) fn kind(name: &str) -> Option<&'static str> {
    KINDS.iter().map(|kind| kind.0).chain([GENERAL]).find(|known| *known == name)
}

/// Reads a problem of a kind that [`kind`] knows.
pub(super) fn read(kind: &'static str, text: &str) -> Result<FrictionProblem, ProblemFileError> {
    let fields: Fields = serde_json::from_str(text)?;
    let laws = laws(kind, &fields)?;
    let global = KINDS.iter().find(|known| known.0 == kind).map_or(fields.m.is_some(), |known| known.2);
    let q = needed(fields.q, kind, "q")?;
    let (operator, q) = if global {
        let (m, h) = (needed(fields.m, kind, "M")?, needed(fields.h, kind, "H")?);
        read_global(&laws, &m, &h, &q, needed(fields.b, kind, "b")?)?
    } else {
        let w = needed(fields.w, kind, "W")?;
        let rows = total(&laws);
        w.check("W", rows, rows)?;
        (Operator::Assembled(w.to_blocks(&sizes(&laws), &sizes(&laws))), q)
    };
    let problem = FrictionProblem::new(operator, laws, q)?;
    match fields.compliance {
        Some(compliance) => Ok(problem.with_compliance(compliance)?),
        None => Ok(problem),
    }
}

fn laws(kind: &'static str, fields: &Fields) -> Result<Vec<Law>, ProblemFileError> {
    let Some((_, components, _)) = KINDS.iter().find(|known| known.0 == kind) else {
        let laws = needed(fields.laws.as_ref(), kind, "laws")?;
        return Ok(laws.clone());
    };
    let (dim, nc) = (needed(fields.dim, kind, "dim")?, needed(fields.nc, kind, "nc")?);
    if dim != *components {
        return Err(ProblemFileError::WrongComponents { kind, expected: *components, found: dim });
    }
    let mu = needed(fields.mu.as_ref(), kind, "mu")?;
    ensure_length("mu", nc, mu.len())?;
    if dim < ROLLING_ROWS {
        return Ok(mu.iter().map(|&mu| Law::Cone { rows: dim, mu }).collect());
    }
    let mu_r = needed(fields.mu_r.as_ref(), kind, "mu_r")?;
    ensure_length("mu_r", nc, mu_r.len())?;
    Ok(mu.iter().zip(mu_r).map(|(&mu, &mu_r)| Law::Rolling { rows: ROLLING_ROWS, mu, mu_r }).collect())
}

fn ensure_length(field: &'static str, expected: usize, found: usize) -> Result<(), ProblemFileError> {
    if found == expected { Ok(()) } else { Err(ProblemFileError::WrongLength { field, expected, found }) }
}

fn sizes(laws: &[Law]) -> Vec<usize> {
    laws.iter().map(Law::rows).collect()
}

/// Number of rows of all laws; saturating, because a file can contain any number.
fn total(laws: &[Law]) -> usize {
    laws.iter().fold(0, |sum, law| sum.saturating_add(law.rows()))
}

/// The operator and q_loc = Hᵀ M⁻¹ q + b.
fn read_global(
    laws: &[Law],
    m: &Csr,
    h: &Csr,
    q: &[f64],
    b: Vec<f64>,
) -> Result<(Operator, Vec<f64>), ProblemFileError> {
    let (rows, dof) = (total(laws), q.len());
    m.check("M", dof, dof)?;
    h.check("H", dof, rows)?;
    ensure_length("b", rows, b.len())?;
    let blocks = body_sizes(m, laws.iter().map(Law::rows).max().unwrap_or(0));
    match blocks.filter(|_| m.is_symmetric(SYMMETRIC)) {
        Some(blocks) => matrix_free(laws, &blocks, m, h, q, b),
        None => assembled(laws, m, h, q, b),
    }
}

/// Sizes of the diagonal blocks of M; `None` if one is larger than [`MAX_BODY`].
///
/// These are rigid bodies of 3 (plane) or 6 unknowns if the pattern allows, otherwise the smallest contiguous blocks.
fn body_sizes(m: &Csr, components: usize) -> Option<Vec<usize>> {
    let body = if components == 2 { 3 } else { 6 };
    if m.nrows.is_multiple_of(body) && m.entries().all(|(row, col, _)| row / body == col / body) {
        return Some(vec![body; m.nrows / body]);
    }
    // A block ends before row i if no entry couples earlier rows with row i or later ones.
    let mut reach: Vec<usize> = (0..m.nrows).collect();
    for (row, col, _) in m.entries() {
        let (low, high) = (row.min(col), row.max(col));
        reach[low] = reach[low].max(high);
    }
    let (mut sizes, mut start, mut end) = (Vec::new(), 0, 0);
    for (i, &reach) in reach.iter().enumerate() {
        end = end.max(reach);
        if end == i {
            sizes.push(i + 1 - start);
            start = i + 1;
        }
    }
    debug_assert_eq!(start, m.nrows, "the blocks cover all rows");
    sizes.iter().all(|&size| size <= MAX_BODY).then_some(sizes)
}

/// The matrix-free operator of bodies and q_loc.
fn matrix_free(
    laws: &[Law],
    blocks: &[usize],
    m: &Csr,
    h: &Csr,
    q: &[f64],
    mut b: Vec<f64>,
) -> Result<(Operator, Vec<f64>), ProblemFileError> {
    let jacobian = h.transposed().to_blocks(&sizes(laws), blocks);
    let diagonal = m.to_blocks(blocks, blocks);
    let mut mass = Vec::new();
    for (body, &size) in blocks.iter().enumerate() {
        match diagonal.row(body).next() {
            Some((column, block)) => {
                debug_assert_eq!(column, body, "M is block diagonal");
                mass.extend_from_slice(block);
            }
            None => mass.resize(mass.len() + size * size, 0.0),
        }
    }
    let bodies = Bodies::new(jacobian, mass)?;
    let mut start = 0;
    let mut velocity = Vec::with_capacity(q.len());
    for (body, &size) in blocks.iter().enumerate() {
        let inverse = bodies.inverse_mass(body).chunks_exact(size.max(1));
        velocity.extend(inverse.map(|row| crate::linalg::dot(row, &q[start..start + size])));
        start += size;
    }
    debug_assert_eq!(velocity.len(), q.len(), "the blocks cover all velocities");
    bodies.jacobian().mul_add_into(&velocity, &mut b);
    Ok((Operator::MatrixFree(bodies), b))
}

/// The assembled operator W = Hᵀ M⁻¹ H, column by column by a dense factorisation of M, and q_loc.
fn assembled(
    laws: &[Law],
    m: &Csr,
    h: &Csr,
    q: &[f64],
    mut b: Vec<f64>,
) -> Result<(Operator, Vec<f64>), ProblemFileError> {
    let (dof, rows) = (q.len(), b.len());
    if dof.max(rows) > MAX_FILE_SIZE {
        return Err(ProblemFileError::TooLarge { rows: dof.max(rows) });
    }
    let mut lu = DenseLu::default();
    lu.factor(dof, |a| m.entries().for_each(|(row, col, value)| a[row * dof + col] += value))
        .map_err(|singular| ProblemFileError::SingularMass { row: singular.row })?;
    let mut velocity = vec![0.0; dof];
    lu.solve(q, &mut velocity);
    let transposed = h.transposed();
    transposed.mul_add_into(&velocity, &mut b);
    let mut w = vec![0.0; rows * rows];
    let (mut force, mut column) = (vec![0.0; dof], vec![0.0; rows]);
    for j in 0..rows {
        force.fill(0.0);
        transposed.row(j).for_each(|(k, value)| force[k] += value);
        lu.solve(&force, &mut velocity);
        column.fill(0.0);
        transposed.mul_add_into(&velocity, &mut column);
        column.iter().enumerate().for_each(|(i, value)| w[i * rows + j] = *value);
    }
    Ok((Operator::Assembled(Csr::from_dense(rows, rows, &w).to_blocks(&sizes(laws), &sizes(laws))), b))
}

/// The problem as JSON text that reads back to the same numbers; a global problem is written with q = 0 and b = q_loc.
pub(super) fn write(problem: &FrictionProblem) -> Result<String, ProblemFileError> {
    let laws = problem.laws();
    let global = matches!(problem.operator(), Operator::MatrixFree(_));
    let mut fields = Fields { kind: GENERAL.to_owned(), q: Some(problem.q().to_vec()), ..Fields::default() };
    if let Some(components) = common_components(problem) {
        let named = KINDS.iter().find(|known| known.1 == components && known.2 == global);
        named.map_or(GENERAL, |known| known.0).clone_into(&mut fields.kind);
        (fields.dim, fields.nc) = (Some(components), Some(laws.len()));
        fields.mu = Some(laws.iter().filter_map(coefficients).map(|(mu, _)| mu).collect());
        fields.mu_r =
            (components == ROLLING_ROWS).then(|| laws.iter().filter_map(coefficients).map(|(_, mu_r)| mu_r).collect());
        debug_assert_eq!(fields.mu.as_ref().map(Vec::len), Some(laws.len()), "every law is a contact with friction");
    } else {
        fields.laws = Some(laws.to_vec());
        fields.compliance = Some(problem.compliance().to_vec()).filter(|compliance| !compliance.is_empty());
    }
    match problem.operator() {
        Operator::Assembled(w) => fields.w = Some(Csr::from_blocks(w)?),
        Operator::MatrixFree(bodies) => {
            let h = Csr::from_blocks(bodies.jacobian())?.transposed();
            fields.b = fields.q.replace(vec![0.0; h.nrows]);
            fields.m = Some(Csr::from_blocks(&mass_matrix(bodies))?);
            fields.h = Some(h);
        }
    }
    Ok(serde_json::to_string(&fields)?)
}

/// Number of components of every contact if the problem is of a named kind.
fn common_components(problem: &FrictionProblem) -> Option<usize> {
    let first = problem.laws().first()?.rows();
    let common = problem.laws().iter().all(|law| coefficients(law).is_some() && law.rows() == first);
    (common && problem.compliance().is_empty()).then_some(first)
}

/// (μ, μ_r) of a contact with friction that a named kind can hold.
fn coefficients(law: &Law) -> Option<(f64, f64)> {
    let Kind::Contact(parts) = law.kind() else { return None };
    match (&parts[..], law.rows()) {
        ([part], 2 | 3) => Some((part.mu, 0.0)),
        ([sliding, rolling], ROLLING_ROWS) => Some((sliding.mu, rolling.mu)),
        _ => None,
    }
}

fn mass_matrix(bodies: &Bodies) -> BlockMatrix {
    let count = bodies.jacobian().block_cols();
    let mut m = BlockMatrix::default();
    m.clear((0..count).map(|k| bodies.jacobian().col_size(k)), (0..count).map(|k| bodies.jacobian().col_size(k)));
    for body in 0..count {
        m.push(body, bodies.mass(body));
        m.finish_row();
    }
    m
}
