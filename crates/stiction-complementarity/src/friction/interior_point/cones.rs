//! Laws as products of second-order cones, and their local linearisation.   [CONE-7]
//!
//! A block of impulses r lies in K if and only if all its vectors x = A r + b lie in their cones. Coulomb friction has one cone, rolling
//! friction two with the same normal impulse, a bounded row a half-line for each finite bound (none if both are equal), an equality none.
//!
//! The dual vectors y determine the velocities u = Σ Aᵀ g⁻¹(y). With one cone g⁻¹(y) = A⁻ᵀ u = (u_N, μ u_T) are the velocities in the coordinates
//! of the cone. The function g adds the De Saxcé correction to them, and g⁻¹(y) = y − s(y) e₀ with s(y) = ‖y_T‖²/y₀ subtracts it. On the boundary of the
//! cone, where sliding contacts are, s is the exact correction ‖y_T‖. In the interior it is smooth, while ‖y_T‖ has a kink. G = I − e₀ ∇sᵀ is the
//! derivative of g⁻¹. In the matrix of a step ∇s is multiplied by a weight, 1 or less.

use super::InteriorPointFailure;
use super::soc::{self, Scaling, Vector};
use crate::friction::law::{Kind, Part, Parts};
use crate::friction::{Delassus, FrictionProblem, Operator};
use crate::linalg::{SingularRow, invert_in_place};

/// Proximal term ε of equality rows as a fraction of trace(W_ii)/rows. It acts on changes of impulses only, so it does not change the solution. Along
/// an eigenvector with eigenvalue λ, as a fraction of the same, the violation of u = 0 shrinks by the factor ε/(λ + ε) in a full step.
const PROXIMAL: f64 = 1e-8;

/// Second-order cone of a block: x₀ = ±(r_N − bound), x_k = r_Tk / μ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cone {
    pub(super) block: usize,
    /// Normal row in the problem.
    normal: usize,
    /// First tangential row in the problem.
    tangential: usize,
    /// Dimension, 1 to 4.
    dim: usize,
    sign: f64,
    bound: f64,
    mu: f64,
    /// Distance of the two bounds of a row; infinite with fewer bounds.
    width: f64,
}

impl Cone {
    /// Row of component k.
    fn row(&self, k: usize) -> usize {
        if k == 0 { self.normal } else { self.tangential + k - 1 }
    }

    /// Factor of component k in A, which is diagonal for one cone.
    fn factor(&self, k: usize) -> f64 {
        if k == 0 { self.sign } else { 1.0 / self.mu }
    }

    /// Linear part A r.
    pub(super) fn linear(&self, r: &[f64]) -> Vector {
        let mut x = [0.0; 4];
        x.iter_mut().take(self.dim).enumerate().for_each(|(k, x)| *x = self.factor(k) * r[self.row(k)]);
        x
    }

    /// Cone vector x = A r + b.
    pub(super) fn vector(&self, r: &[f64]) -> Vector {
        let mut x = self.linear(r);
        x[0] = self.sign * (r[self.normal] - self.bound);
        x
    }

    /// Changes r so that the first component of the cone vector increases by `amount`. Between two bounds it keeps a distance of at
    /// least a tenth of their distance from both.
    pub(super) fn translate_normal(&self, amount: f64, r: &mut [f64]) {
        let margin = if self.width.is_finite() { 0.1 * self.width } else { f64::NEG_INFINITY };
        let component = self.sign * (r[self.normal] - self.bound) + amount;
        r[self.normal] = self.bound + self.sign * component.max(margin).min(self.width - margin);
    }

    /// u ← u + s Aᵀ y.
    pub(super) fn transpose_add(&self, s: f64, y: &Vector, u: &mut [f64]) {
        y.iter().take(self.dim).enumerate().for_each(|(k, y)| u[self.row(k)] += s * self.factor(k) * y);
    }

    /// Dual vector y with Aᵀ g⁻¹(y) = u: y_T = μ u_T, and y₀ is the larger root of y₀² − u_N y₀ − ‖y_T‖² = 0.   [CONE-7]
    ///
    /// There is none in the cone if u_N < 0; then y lies outside of it by |u_N|.
    pub(super) fn dual(&self, u: &[f64]) -> Vector {
        let mut y = [0.0; 4];
        y.iter_mut().take(self.dim).enumerate().for_each(|(k, y)| *y = u[self.row(k)] / self.factor(k));
        let (normal, slip) = (y[0], soc::tail_squared(&y));
        y[0] = if normal > 0.0 { 0.5 * (normal + (normal * normal + 4.0 * slip).sqrt()) } else { normal + slip.sqrt() };
        y
    }
}

/// Kind of equation of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Row {
    /// The impulse lies in one or more cones.
    InCone,
    /// The impulse is free and u = 0: an equality or a row without bounds.
    Free,
    /// The law prescribes this value of the impulse: zero in tangential rows without friction, or the common value of equal bounds. The
    /// row has no equation for u.
    Prescribed(f64),
}

/// Cones of all laws.
#[derive(Clone, Debug, Default)]
pub(super) struct Cones {
    pub(super) list: Vec<Cone>,
    pub(super) rows: Vec<Row>,
    /// True for blocks that one cone covers completely: their linearisation is inverted in closed form.
    single: Vec<bool>,
}

impl Cones {
    /// Splits the laws of a problem into cones.
    pub(super) fn rebuild(&mut self, problem: &FrictionProblem<Operator>) {
        self.list.clear();
        self.single.clear();
        self.rows.clear();
        self.rows.resize(problem.rows(), Row::InCone);
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let before = self.list.len();
            match law.kind() {
                Kind::Equality => self.rows[range.clone()].fill(Row::Free),
                Kind::Bounded { lower, upper } => self.bounded(block, range.start, lower, upper),
                Kind::Contact(parts) => self.contact(block, range.start, &parts),
            }
            let covered = matches!(self.list[before..], [cone] if cone.dim == range.len());
            self.single.push(covered);
        }
        debug_assert_eq!(self.single.len(), problem.blocks(), "one entry per block");
    }

    /// Adds the half-lines of a bounded row.
    fn bounded(&mut self, block: usize, row: usize, lower: f64, upper: f64) {
        let half_line = |sign, bound| Cone {
            block,
            normal: row,
            tangential: row,
            dim: 1,
            sign,
            bound,
            mu: 1.0,
            width: upper - lower,
        };
        if lower == upper {
            self.rows[row] = Row::Prescribed(lower);
            return;
        }
        if !lower.is_finite() && !upper.is_finite() {
            self.rows[row] = Row::Free;
        }
        self.list.extend(lower.is_finite().then(|| half_line(1.0, lower)));
        self.list.extend(upper.is_finite().then(|| half_line(-1.0, upper)));
    }

    /// Adds the cones of a contact: one for each part of its friction, with the same normal row.
    fn contact(&mut self, block: usize, start: usize, parts: &Parts) {
        let cone = Cone {
            block,
            normal: start,
            tangential: start,
            dim: 1,
            sign: 1.0,
            bound: 0.0,
            mu: 1.0,
            width: f64::INFINITY,
        };
        let before = self.list.len();
        for &Part { first, rows, mu } in parts.iter() {
            let tangential = start + first;
            if mu > 0.0 {
                self.list.push(Cone { tangential, dim: 1 + rows, mu, ..cone });
            } else {
                self.rows[tangential..tangential + rows].fill(Row::Prescribed(0.0));
            }
        }
        if self.list.len() == before {
            self.list.push(cone);
        }
    }
}

/// Linearised laws L δr = b − δu of all blocks, with L = Σ Aᵀ G Θ A + diag c and its inverse.   [CONE-10]
///
/// Θ is the squared Nesterov-Todd scaling of a cone ([`Scaling`]), G the derivative of g⁻¹ (see the module). Rows of equalities have the term ε of
/// [`PROXIMAL`] in L, and prescribed rows a one on its diagonal.
#[derive(Clone, Debug, Default)]
pub(super) struct LinearisedLaws {
    /// Offset of each block, followed by the total length.
    offsets: Vec<usize>,
    matrices: Vec<f64>,
    inverses: Vec<f64>,
    scratch: Vec<f64>,
}

impl LinearisedLaws {
    /// Matrix L of a block, row by row.
    pub(super) fn matrix(&self, block: usize) -> &[f64] {
        &self.matrices[self.offsets[block]..self.offsets[block + 1]]
    }

    /// Inverse L⁻¹ of a block, row by row; zero in prescribed rows.
    pub(super) fn inverse(&self, block: usize) -> &[f64] {
        &self.inverses[self.offsets[block]..self.offsets[block + 1]]
    }

    /// Inverses L⁻¹ of all blocks, which have R rows each.
    pub(super) fn uniform_inverses<const R: usize>(&self) -> &[[[f64; R]; R]] {
        debug_assert_eq!(self.inverses.len(), (self.offsets.len() - 1) * R * R, "every block has {R} rows");
        self.inverses.as_chunks::<R>().0.as_chunks::<R>().0
    }

    /// Failure of a step in which a block of L cannot be inverted: an overflow if L is not finite, otherwise a singular block.
    pub(super) fn failure(&self, singular: SingularRow, iteration: u32) -> InteriorPointFailure {
        if self.matrices.iter().all(|entry| entry.is_finite()) {
            InteriorPointFailure::Singular { iteration, row: singular.row }
        } else {
            InteriorPointFailure::Overflow { iteration }
        }
    }

    /// Sets all blocks to zero.
    fn clear(&mut self, problem: &FrictionProblem<Operator>) {
        self.offsets.clear();
        let (mut total, mut largest) = (0, 0);
        self.offsets.push(total);
        for block in 0..problem.blocks() {
            let size = problem.range(block).len().pow(2);
            total += size;
            largest = largest.max(size);
            self.offsets.push(total);
        }
        self.matrices.clear();
        self.matrices.resize(total, 0.0);
        self.inverses.clear();
        self.inverses.resize(total, 0.0);
        self.scratch.clear();
        self.scratch.resize(2 * largest, 0.0);
    }

    /// Sets L to `tikhonov_weight` · w times the identity plus the compliance, with the mean diagonal w of each block: Tikhonov
    /// regularisation of the starting point.
    pub(super) fn set_regularisation(
        &mut self,
        problem: &FrictionProblem<Operator>,
        cones: &Cones,
        tikhonov_weight: f64,
        mean_diagonals: &[f64],
    ) -> Result<(), SingularRow> {
        debug_assert_eq!(mean_diagonals.len(), problem.blocks(), "one mean diagonal per block");
        self.clear(problem);
        for (block, &w) in mean_diagonals.iter().enumerate() {
            self.add_to_diagonal(problem, cones, block, (tikhonov_weight * w, tikhonov_weight * w));
        }
        (0..problem.blocks()).try_for_each(|block| self.invert(problem, cones, block))
    }

    /// Linearises all laws at the scaled pairs, with this weight of the derivative of the De Saxcé correction. The error has the first row of a
    /// block that is singular.
    pub(super) fn linearise(
        &mut self,
        problem: &FrictionProblem<Operator>,
        cones: &Cones,
        (y, scalings): (&[Vector], &[Scaling]),
        (mean_diagonals, correction_weight): (&[f64], f64),
    ) -> Result<(), SingularRow> {
        debug_assert_eq!(mean_diagonals.len(), problem.blocks(), "one mean diagonal per block");
        debug_assert!(y.len() == cones.list.len() && scalings.len() == y.len(), "one scaled pair per cone");
        self.clear(problem);
        let rigid = problem.compliance().is_empty();
        for (block, &w) in mean_diagonals.iter().enumerate().filter(|(block, _)| !(rigid && cones.single[*block])) {
            self.add_to_diagonal(problem, cones, block, (0.0, PROXIMAL * w));
        }
        for (cone, (y, scaling)) in cones.list.iter().zip(y.iter().zip(scalings)) {
            let (range, start) = (problem.range(cone.block), self.offsets[cone.block]);
            if rigid && cones.single[cone.block] {
                let gradient = correction_gradient(y).map(|s| correction_weight * s);
                match cone.dim {
                    1 => self.linearise_single::<1>(cone, scaling, &gradient),
                    2 => self.linearise_single::<2>(cone, scaling, &gradient),
                    3 => self.linearise_single::<3>(cone, scaling, &gradient),
                    _ => self.linearise_single::<4>(cone, scaling, &gradient),
                }
                continue;
            }
            let offset =
                |k: usize, l: usize| start + (cone.row(k) - range.start) * range.len() + cone.row(l) - range.start;
            let gradient = correction_gradient(y).map(|s| correction_weight * s);
            let theta = scaling.theta();
            for (k, row) in theta.iter().enumerate().take(cone.dim) {
                // G Θ with G = I − e₀ ∇sᵀ: only the first row differs from Θ.
                for (l, entry) in row.iter().enumerate().take(cone.dim) {
                    let correction = if k == 0 { soc::dot(&gradient, &theta[l]) } else { 0.0 };
                    self.matrices[offset(k, l)] += cone.factor(k) * cone.factor(l) * (entry - correction);
                }
            }
        }
        let mut others = (0..problem.blocks()).filter(|&block| !(rigid && cones.single[block]));
        others.try_for_each(|block| self.invert(problem, cones, block))
    }

    /// Computes L and L⁻¹ of a rigid block that one cone of dimension D covers, in closed form.
    fn linearise_single<const D: usize>(&mut self, cone: &Cone, scaling: &Scaling, gradient: &Vector) {
        let range = self.offsets[cone.block]..self.offsets[cone.block + 1];
        let (matrix, inverse) = (&mut self.matrices[range.clone()], &mut self.inverses[range]);
        let (Ok(matrix), Ok(inverse)) = (
            <&mut [[f64; D]; D]>::try_from(matrix.as_chunks_mut::<D>().0),
            <&mut [[f64; D]; D]>::try_from(inverse.as_chunks_mut::<D>().0),
        ) else {
            debug_assert!(false, "block {} has {D} rows", cone.block);
            return;
        };
        let [theta, inverse_theta] = scaling.theta_and_inverse();
        let factor: [f64; D] = std::array::from_fn(|k| cone.factor(k));
        // G Θ with G = I − e₀ ∇sᵀ: only the first row differs from Θ.
        for (k, (out, row)) in matrix.iter_mut().zip(&theta).enumerate() {
            for (l, out) in out.iter_mut().enumerate() {
                let correction = if k == 0 { soc::dot(gradient, &theta[l]) } else { 0.0 };
                *out = factor[k] * factor[l] * (row[l] - correction);
            }
        }
        // Θ⁻¹ G⁻¹ with G⁻¹ = I + e₀ ∇sᵀ/(1 − ∇s₀), where ∇s₀ ≤ 0.
        for (k, (out, row)) in inverse.iter_mut().zip(&inverse_theta).enumerate() {
            for (l, out) in out.iter_mut().enumerate() {
                *out = (row[l] + row[0] * gradient[l] / (1.0 - gradient[0])) / (factor[k] * factor[l]);
            }
        }
    }

    /// Adds the compliance and `in_cone` or `free` to the diagonal of rows of that kind ([`Row`]), and one to that of prescribed rows.
    fn add_to_diagonal(
        &mut self,
        problem: &FrictionProblem<Operator>,
        cones: &Cones,
        block: usize,
        (in_cone, free): (f64, f64),
    ) {
        let range = problem.range(block);
        let size = range.len();
        for (i, row) in range.enumerate() {
            let compliance = problem.compliance().get(row).copied().unwrap_or(0.0);
            self.matrices[self.offsets[block] + i * (size + 1)] += match cones.rows[row] {
                Row::Prescribed(_) => 1.0,
                Row::InCone => compliance + in_cone,
                Row::Free => compliance + free,
            };
        }
    }

    /// Inverts L of a block; the error has its first row if it is singular.
    fn invert(&mut self, problem: &FrictionProblem<Operator>, cones: &Cones, block: usize) -> Result<(), SingularRow> {
        let (range, entries) = (problem.range(block), self.offsets[block]..self.offsets[block + 1]);
        let size = range.len();
        let inverse = &mut self.inverses[entries.clone()];
        inverse.copy_from_slice(&self.matrices[entries]);
        if !invert_in_place(size, inverse, &mut self.scratch) {
            return Err(SingularRow { row: range.start });
        }
        for (i, row) in range.enumerate() {
            if let Row::Prescribed(_) = cones.rows[row] {
                inverse[i * (size + 1)] = 0.0;
            }
        }
        Ok(())
    }
}

/// Smooth De Saxcé correction s(y) = ‖y_T‖²/y₀, which g⁻¹ subtracts from the first component.   [CONE-7]
pub(super) fn de_saxce_correction(y: &Vector) -> f64 {
    if y[0] > 0.0 { soc::tail_squared(y) / y[0] } else { 0.0 }
}

/// Gradient ∇s = (−‖y_T‖²/y₀², 2 y_T/y₀) of the De Saxcé correction.   [CONE-10]
pub(super) fn correction_gradient(y: &Vector) -> Vector {
    let s = 1.0 / y[0];
    [-soc::tail_squared(y) * s * s, 2.0 * y[1] * s, 2.0 * y[2] * s, 2.0 * y[3] * s]
}

/// Computes the mean diagonal entry of each block of W, trace(W_ii) / rows, without the compliance.
pub(super) fn mean_diagonals(problem: &FrictionProblem<Operator>, scratch: &mut Vec<f64>, out: &mut Vec<f64>) {
    out.clear();
    for block in 0..problem.blocks() {
        let size = problem.range(block).len();
        scratch.clear();
        scratch.resize(size * size, 0.0);
        problem.operator().diagonal(block, scratch);
        out.push(scratch.iter().step_by(size + 1).sum::<f64>() / size as f64);
    }
    // Blocks with zero trace get a small positive value, because the entries are divisors.
    let largest = out.iter().copied().fold(0.0, f64::max);
    let least = if largest > 0.0 { f64::EPSILON * largest } else { 1.0 };
    for w in out {
        *w = w.max(least);
    }
}
