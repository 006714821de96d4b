//! Friction with a polygon instead of the disc, as a mixed LCP.   [POLY-1]
//!
//! Per contact the unknowns are the normal impulse, one impulse per direction and a bound on the slip speed:
//!
//! ```text
//! 0 ≤ λ_N ⊥ u_N ≥ 0,    0 ≤ β ⊥ Dᵀ u_T + γ e ≥ 0,    0 ≤ γ ⊥ μ λ_N − eᵀ β ≥ 0,    r_T = D β.
//! ```
//!
//! It is an approximation of the second-order cone. If the slip is not along a direction, friction is too weak by up to the factor
//! cos(π / n_d) and deviates slightly in direction. In the plane (two rows) the two directions are exact.

use super::dense_operator;
use crate::friction::law::{Kind, Part};
use crate::friction::{Delassus, FrictionProblem, FrictionSolution};
use crate::linalg::DenseMatrix;
use crate::mixed_lcp::{MixedLcp, MixedLcpSolution};
use crate::problem::ProblemError;
use std::f64::consts::TAU;

/// Directions of the polygons.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PolygonOptions {
    /// Directions n_d of a contact in space, at least 3. Default 8.
    pub directions: usize,
    /// Angle of the first direction from the first tangent, rad. Default 0.
    pub first_angle: f64,
    /// Increment of that angle from contact to contact, rad. Default 0; other values decorrelate the errors of contacts.
    pub rotation: f64,
}

impl Default for PolygonOptions {
    fn default() -> Self {
        Self { directions: 8, first_angle: 0.0, rotation: 0.0 }
    }
}

impl PolygonOptions {
    /// Directions of a part of the friction: two along a line, a polygon in a plane; none for more components or too few directions.
    fn directions_of(&self, part: &Part, offset: f64) -> Option<Vec<(f64, f64)>> {
        match part.rows {
            1 => Some(vec![(1.0, 0.0), (-1.0, 0.0)]),
            2 if self.directions >= 3 => {
                let angle = |k: usize| offset + TAU * k as f64 / self.directions as f64;
                Some((0..self.directions).map(|k| libm::sincos(angle(k))).map(|(sin, cos)| (cos, sin)).collect())
            }
            _ => None,
        }
    }
}

/// A linear combination of the unknowns that gives one impulse: r_i = base + Σ c_k x_k.
#[derive(Clone, Debug, Default, PartialEq)]
struct Impulse {
    base: f64,
    on_free: Option<usize>,
    on_complementary: Vec<(usize, f64)>,
}

/// A complementary row: velocities times weights, plus multiples of the unknowns, plus a constant.
#[derive(Clone, Debug, Default, PartialEq)]
struct PairRow {
    velocities: Vec<(usize, f64)>,
    unknowns: Vec<(usize, f64)>,
    constant: f64,
}

/// A frictional problem with polygons as a mixed LCP, with the recovery of impulses.   [POLY-1]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolygonalFriction {
    problem: MixedLcp,
    impulses: Vec<Impulse>,
    pairs: Vec<PairRow>,
    /// Rows of the frictional problem that are equalities.
    equalities: Vec<usize>,
}

impl PolygonalFriction {
    /// Formulates the problem. Rejects a friction limit on three components, torsion among them, for which a polygon has no
    /// directions.
    pub fn new<W: Delassus>(problem: &FrictionProblem<W>, options: &PolygonOptions) -> Result<Self, ProblemError> {
        let mut polygonal = Self { impulses: vec![Impulse::default(); problem.rows()], ..Self::default() };
        let mut contact = 0_u32;
        for (block, law) in problem.laws().iter().enumerate() {
            let first = problem.range(block).start;
            match law.kind() {
                Kind::Equality => polygonal.add_equality(first, law.rows()),
                Kind::Bounded { lower, upper } => polygonal.add_bounded(first, lower, upper),
                Kind::Contact(parts) => {
                    let offset = options.first_angle + f64::from(contact) * options.rotation;
                    let unknown = polygonal.add_normal(first);
                    for part in parts.iter() {
                        let Some(directions) = options.directions_of(part, offset) else {
                            return Err(ProblemError::BadLaw { block, law: format!("{law:?} as a polygon") });
                        };
                        polygonal.add_friction((first, unknown), part, &directions);
                    }
                    contact += 1;
                }
            }
        }
        polygonal.assemble(&dense_operator(problem), problem.q())?;
        Ok(polygonal)
    }

    /// The mixed LCP.
    pub fn problem(&self) -> &MixedLcp {
        &self.problem
    }

    /// The impulses of the frictional problem.
    pub fn recover(&self, solution: &MixedLcpSolution) -> FrictionSolution {
        let impulse = |impulse: &Impulse| {
            let free = impulse.on_free.and_then(|k| solution.free.get(k)).copied().unwrap_or(0.0);
            let term = |&(k, c): &(usize, f64)| c * solution.complementary.get(k).copied().unwrap_or(f64::NAN);
            impulse.base + free + impulse.on_complementary.iter().map(term).sum::<f64>()
        };
        FrictionSolution { r: self.impulses.iter().map(impulse).collect() }
    }

    fn add_equality(&mut self, first: usize, rows: usize) {
        for row in first..first + rows {
            self.impulses[row].on_free = Some(self.equalities.len());
            self.equalities.push(row);
        }
    }

    /// Adds r = l + x with x ≥ 0, and a multiplier if there is an upper bound too; as [BOX-2].
    fn add_bounded(&mut self, row: usize, lower: f64, upper: f64) {
        if lower == upper {
            self.impulses[row].base = lower;
            return;
        }
        if lower == f64::NEG_INFINITY && upper == f64::INFINITY {
            return self.add_equality(row, 1);
        }
        let x = self.pairs.len();
        let (base, sign) = if lower > f64::NEG_INFINITY { (lower, 1.0) } else { (upper, -1.0) };
        self.impulses[row] = Impulse { base, on_free: None, on_complementary: vec![(x, sign)] };
        self.pairs.push(PairRow { velocities: vec![(row, sign)], ..PairRow::default() });
        if lower > f64::NEG_INFINITY && upper < f64::INFINITY {
            self.pairs[x].unknowns.push((x + 1, 1.0));
            self.pairs.push(PairRow { unknowns: vec![(x, -1.0)], constant: upper - lower, ..PairRow::default() });
        }
    }

    /// Adds λ_N and returns its unknown.   [POLY-1]
    fn add_normal(&mut self, normal: usize) -> usize {
        let x = self.pairs.len();
        self.impulses[normal].on_complementary.push((x, 1.0));
        self.pairs.push(PairRow { velocities: vec![(normal, 1.0)], ..PairRow::default() });
        x
    }

    /// Adds β, then γ of a part of the friction; x is the unknown λ_N.   [POLY-1]
    fn add_friction(&mut self, (normal, x): (usize, usize), part: &Part, directions: &[(f64, f64)]) {
        let first = self.pairs.len();
        let gamma = first + directions.len();
        let row = normal + part.first;
        let mut bound = PairRow { unknowns: vec![(x, part.mu)], ..PairRow::default() };
        for (k, &(c, s)) in directions.iter().enumerate() {
            let beta = first + k;
            let parts = [(row, c), (row + 1, s)].into_iter().filter(|(_, part)| *part != 0.0);
            for (row, part) in parts.clone() {
                self.impulses[row].on_complementary.push((beta, part));
            }
            let unknowns = vec![(gamma, 1.0)];
            self.pairs.push(PairRow { velocities: parts.collect(), unknowns, constant: 0.0 });
            bound.unknowns.push((beta, -1.0));
        }
        self.pairs.push(bound);
        debug_assert_eq!(self.pairs.len(), gamma + 1, "γ is the last unknown of its contact");
    }

    /// Writes u = W r + q in terms of the unknowns into the rows.
    fn assemble(&mut self, w: &DenseMatrix, q: &[f64]) -> Result<(), ProblemError> {
        debug_assert_eq!((w.rows(), w.cols()), (self.impulses.len(), self.impulses.len()), "one impulse per row");
        let (free, complementary) = (self.equalities.len(), self.pairs.len());
        self.problem.clear(free, complementary);
        let (mut on_free, mut on_complementary) = (vec![0.0; free], vec![0.0; complementary]);
        let equality_row = |&row: &usize| PairRow { velocities: vec![(row, 1.0)], ..PairRow::default() };
        let equalities: Vec<PairRow> = self.equalities.iter().map(equality_row).collect();
        let blocks = [(&equalities, &mut self.problem.equality), (&self.pairs, &mut self.problem.complementarity)];
        for (rows, block) in blocks {
            for (i, row) in rows.iter().enumerate() {
                on_free.fill(0.0);
                on_complementary.fill(0.0);
                let mut constant = row.constant;
                row.unknowns.iter().for_each(|&(k, c)| on_complementary[k] += c);
                for &(velocity, weight) in &row.velocities {
                    constant += weight * q[velocity];
                    for (impulse, entry) in self.impulses.iter().zip(w.row(velocity)).filter(|(_, w)| **w != 0.0) {
                        constant += weight * entry * impulse.base;
                        impulse.on_free.iter().for_each(|&k| on_free[k] += weight * entry);
                        impulse.on_complementary.iter().for_each(|&(k, c)| on_complementary[k] += weight * entry * c);
                    }
                }
                block.constant[i] = constant;
                for (matrix, entries) in
                    [(&mut block.on_free, &on_free), (&mut block.on_complementary, &on_complementary)]
                {
                    let entries = entries.iter().enumerate().filter(|(_, value)| **value != 0.0);
                    entries.for_each(|(col, &value)| matrix.push(col, value));
                    matrix.finish_row();
                }
            }
        }
        self.problem.ensure_finite()
    }
}
