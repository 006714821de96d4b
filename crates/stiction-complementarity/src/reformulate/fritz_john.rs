//! Friction with second-order cones or ellipsoids as a nonlinear complementarity problem in Fritz-John form.   [FJ-1]
//!
//! The unknowns are the impulses p and one σ per friction set, the slip speed in the metric of the set:
//!
//! ```text
//! 0 ≤ p_N ⊥ u_N ≥ 0,    e_k² μ p_N u_k + p_k σ = 0,    0 ≤ σ ⊥ μ² p_N² − Σ p_k² / e_k² ≥ 0.
//! ```
//!
//! With all e = 1 it is Coulomb's law; with e_r = 0.4 r it is the ellipsoid with torsion. It is smooth, so any method for
//! mixed complementarity problems applies. It is singular for a contact without load and at p = 0 of a sticking contact.
//! Methods for second-order cones are faster.

use super::dense_operator;
use crate::friction::law::Kind;
use crate::friction::{Delassus, FrictionProblem, FrictionSolution};
use crate::linalg::{DenseMatrix, SparseMatrix, dot};
use crate::ncp::{NcpFunction, NcpSolution};
use crate::problem::{OptionError, ProblemError};
use std::ops::Range;

/// One friction set: its tangential rows, its coefficient and its σ.
#[derive(Clone, Debug, PartialEq)]
struct FrictionSet {
    normal: usize,
    tangential: Range<usize>,
    mu: f64,
    /// The variable σ.
    sigma: usize,
}

/// Kind of row i.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Row {
    /// u_i, between the bounds of the impulse.
    Velocity,
    /// e² μ p_N u_i + p_i σ = 0 of this set.
    Friction(usize),
}

/// A frictional problem as the function of a mixed complementarity problem: variables (p, σ).   [FJ-1]
#[derive(Clone, Debug, PartialEq)]
pub struct FritzJohn {
    w: DenseMatrix,
    q: Vec<f64>,
    rows: Vec<Row>,
    sets: Vec<FrictionSet>,
    bounds: Vec<(f64, f64)>,
    /// e of each row; 1 for rows without friction.
    axes: Vec<f64>,
}

impl FritzJohn {
    /// Formulates the problem with all e = 1, which is the law of the frictional problem itself.
    pub fn new<W: Delassus>(problem: &FrictionProblem<W>) -> Result<Self, ProblemError> {
        let n = problem.rows();
        let mut rows = vec![Row::Velocity; n];
        let mut sets = Vec::new();
        let mut bounds = vec![(f64::NEG_INFINITY, f64::INFINITY); n];
        for (block, law) in problem.laws().iter().enumerate() {
            let normal = problem.range(block).start;
            let parts = match law.kind() {
                Kind::Equality => continue,
                Kind::Bounded { lower, upper } => {
                    bounds[normal] = (lower, upper);
                    continue;
                }
                Kind::Contact(parts) => parts,
            };
            bounds[normal] = (0.0, f64::INFINITY);
            for part in parts.iter() {
                let tangential = normal + part.first..normal + part.range().end;
                rows[tangential.clone()].fill(Row::Friction(sets.len()));
                sets.push(FrictionSet { normal, tangential, mu: part.mu, sigma: n + sets.len() });
            }
        }
        Ok(Self { w: dense_operator(problem), q: problem.q().to_vec(), rows, sets, bounds, axes: vec![1.0; n] })
    }

    /// Sets the semi-axis e of an ellipsoid for the row of a tangential impulse; e must be positive and finite.
    pub fn with_axis(mut self, row: usize, e: f64) -> Result<Self, OptionError> {
        match self.axes.get_mut(row) {
            Some(axis) if e > 0.0 && e.is_finite() => *axis = e,
            _ => return Err(OptionError { name: "axis", value: e, range: "(0, ∞), for a row of the problem" }),
        }
        Ok(self)
    }

    /// Initial guess away from the singular point zero: every contact alone, sliding.
    pub fn start(&self) -> NcpSolution {
        let mut z: Vec<f64> = vec![0.0; self.size()];
        for set in &self.sets {
            let (n, w) = (set.normal, self.w[(set.normal, set.normal)]);
            z[n] = if w > 0.0 { (-self.q[n] / w).max(1e-3 / w) } else { 1.0 };
            let slip = set.tangential.clone().map(|i| self.axes[i] * self.q[i]);
            z[set.sigma] = slip.map(|x| x * x).sum::<f64>().sqrt();
            for i in set.tangential.clone() {
                let direction = self.axes[i] * self.axes[i] * self.q[i] / z[set.sigma].max(f64::MIN_POSITIVE);
                z[i] = -set.mu * z[n] * direction;
            }
        }
        NcpSolution { z }
    }

    /// The impulses.
    pub fn recover(&self, solution: &NcpSolution) -> FrictionSolution {
        FrictionSolution { r: solution.z.iter().take(self.q.len()).copied().collect() }
    }

    /// The slip speeds σ of the friction sets, in the order of the contacts.
    pub fn slip_speeds<'s>(&self, solution: &'s NcpSolution) -> &'s [f64] {
        solution.z.get(self.q.len()..).unwrap_or_default()
    }

    fn velocity(&self, row: usize, z: &[f64]) -> f64 {
        dot(self.w.row(row), z) + self.q[row]
    }
}

impl NcpFunction for FritzJohn {
    fn size(&self) -> usize {
        self.q.len() + self.sets.len()
    }

    fn bounds(&self, i: usize) -> (f64, f64) {
        self.bounds.get(i).copied().unwrap_or((0.0, f64::INFINITY))
    }

    fn value(&self, z: &[f64], out: &mut [f64]) {
        let (p, sigma) = z.split_at(self.q.len());
        let (on_p, on_sigma) = out.split_at_mut(self.q.len());
        debug_assert_eq!(on_sigma.len(), self.sets.len(), "one σ per friction set");
        for (i, (f, row)) in on_p.iter_mut().zip(&self.rows).enumerate() {
            let u = self.velocity(i, p);
            *f = match *row {
                Row::Velocity => u,
                Row::Friction(k) => {
                    let set = &self.sets[k];
                    self.axes[i] * self.axes[i] * set.mu * p[set.normal] * u + p[i] * sigma[k]
                }
            };
        }
        for (f, set) in on_sigma.iter_mut().zip(&self.sets) {
            let length = set.tangential.clone().map(|i| (p[i] / self.axes[i]) * (p[i] / self.axes[i]));
            *f = set.mu * set.mu * p[set.normal] * p[set.normal] - length.sum::<f64>();
        }
    }

    fn jacobian(&self, z: &[f64], out: &mut SparseMatrix) {
        let p = &z[..self.q.len()];
        out.clear(self.size(), self.size());
        for (i, row) in self.rows.iter().enumerate() {
            let factor = match *row {
                Row::Velocity => 1.0,
                Row::Friction(k) => {
                    let set = &self.sets[k];
                    let metric = self.axes[i] * self.axes[i] * set.mu;
                    out.push(set.normal, metric * self.velocity(i, p));
                    out.push(i, z[set.sigma]);
                    out.push(set.sigma, p[i]);
                    metric * p[set.normal]
                }
            };
            let entries = self.w.row(i).iter().enumerate().filter(|(_, w)| **w != 0.0);
            entries.for_each(|(j, w)| out.push(j, factor * w));
            out.finish_row();
        }
        for set in &self.sets {
            out.push(set.normal, 2.0 * set.mu * set.mu * p[set.normal]);
            set.tangential.clone().for_each(|i| out.push(i, -2.0 * p[i] / (self.axes[i] * self.axes[i])));
            out.finish_row();
        }
    }
}
