//! The box-constrained LCP: w = M z + q with z between bounds on both sides.   [BOX-1]
//!
//! ```text
//! l ≤ z ≤ u,   w_i ≥ 0 where z_i = l_i,   w_i ≤ 0 where z_i = u_i,   w_i = 0 between.
//! ```
//!
//! Relays, dry friction in joints and motors with limits have this form. The solver rewrites it as a mixed LCP.   [BOX-2]

use crate::linalg::{DenseMatrix, SparseMatrix};
use crate::mixed_lcp::ladder::MixedLcpLadder;
use crate::mixed_lcp::{MixedLcp, MixedLcpSolution};
use crate::ncp::{NcpFunction, natural_map_between};
use crate::outcome::Ending;
use crate::problem::{Problem, ProblemError, Residual, ensure_finite, ensure_size, residual_scale};
use crate::solver::Solver;

/// A box-constrained LCP. A value that exists is square and finite, with bounds in order.   [BOX-1]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxLcp {
    m: DenseMatrix,
    q: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// A proposed z; w = M z + q follows from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxLcpSolution {
    /// The variables.
    pub z: Vec<f64>,
}

/// Role of one variable in the mixed problem: z_i = base + sign · x.
#[derive(Clone, Copy, Debug)]
enum Role {
    /// No bounds: free.
    Free(usize),
    /// Both bounds are the same number.
    Fixed,
    /// At least one bound: complementary variable `x`, with a multiplier of the upper bound if both are finite.
    Bounded { x: usize, sign: f64, multiplier: Option<usize> },
}

impl BoxLcp {
    /// The problem with these numbers; bounds may be infinite. Rejects wrong sizes, NaN and bounds out of order.
    pub fn new(m: DenseMatrix, q: Vec<f64>, lower: Vec<f64>, upper: Vec<f64>) -> Result<Self, ProblemError> {
        let n = q.len();
        if m.rows() != m.cols() {
            return Err(ProblemError::NotSquare { rows: m.rows(), cols: m.cols() });
        }
        ensure_size("q", m.rows(), n)?;
        ensure_size("lb", n, lower.len())?;
        ensure_size("ub", n, upper.len())?;
        ensure_finite("q", &q)?;
        for row in 0..n {
            ensure_finite("M", m.row(row))?;
        }
        let legal = |l: f64, u: f64| l <= u && l < f64::INFINITY && u > f64::NEG_INFINITY;
        match lower.iter().zip(&upper).position(|(&l, &u)| !legal(l, u)) {
            Some(row) => Err(ProblemError::BadBounds { row, lower: lower[row], upper: upper[row] }),
            None => Ok(Self { m, q, lower, upper }),
        }
    }

    /// The matrix M.
    pub fn m(&self) -> &DenseMatrix {
        &self.m
    }

    /// The vector q.
    pub fn q(&self) -> &[f64] {
        &self.q
    }

    /// The lower bounds.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// The upper bounds.
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// The number of rows.
    pub fn size(&self) -> usize {
        self.q.len()
    }

    fn w(&self, row: usize, z: &[f64]) -> f64 {
        crate::linalg::dot(self.m.row(row), z) + self.q[row]
    }

    /// Finite bound that x is measured from; zero for a free variable.
    fn base(&self, i: usize) -> f64 {
        [self.lower[i], self.upper[i]].into_iter().find(|bound| bound.is_finite()).unwrap_or(0.0)
    }

    /// Writes the role of each variable and returns the numbers of free and of complementary variables.
    fn roles(&self, roles: &mut Vec<Role>) -> (usize, usize) {
        let (mut free, mut bounded) = (0, 0);
        let next = |counter: &mut usize| std::mem::replace(counter, *counter + 1);
        roles.clear();
        for (&lower, &upper) in self.lower.iter().zip(&self.upper) {
            roles.push(match (lower.is_finite(), upper.is_finite()) {
                (false, false) => Role::Free(next(&mut free)),
                _ if lower == upper => Role::Fixed,
                (true, false) => Role::Bounded { x: next(&mut bounded), sign: 1.0, multiplier: None },
                (false, true) => Role::Bounded { x: next(&mut bounded), sign: -1.0, multiplier: None },
                (true, true) => {
                    let x = next(&mut bounded);
                    Role::Bounded { x, sign: 1.0, multiplier: Some(next(&mut bounded)) }
                }
            });
        }
        (free, bounded)
    }
}

impl Problem for BoxLcp {
    type Solution = BoxLcpSolution;

    /// ‖z − clip(z − w, l, u)‖∞ / max(1, ‖q‖∞).   [BOX-3]
    fn residual(&self, solution: &BoxLcpSolution) -> Residual {
        let z = &solution.z;
        if z.len() != self.size() {
            return Residual::undefined(z.len().min(self.size()));
        }
        let bounds = |i: usize| (self.lower[i], self.upper[i]);
        let violations = z.iter().enumerate().map(|(i, &z_i)| natural_map_between(z_i, self.w(i, z), bounds(i)));
        Residual::worst_of(violations, residual_scale(self.q.iter().copied()))
    }

    /// Accepts every guess with a finite residual, because bounds may lie far from zero.
    fn accepts_guess(&self, guess: &BoxLcpSolution) -> bool {
        self.residual(guess).value.is_finite()
    }
}

impl NcpFunction for BoxLcp {
    fn size(&self) -> usize {
        self.q.len()
    }

    fn bounds(&self, i: usize) -> (f64, f64) {
        (self.lower[i], self.upper[i])
    }

    fn value(&self, z: &[f64], out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(i, f)| *f = self.w(i, z));
    }

    fn jacobian(&self, _: &[f64], out: &mut SparseMatrix) {
        out.clear(self.q.len(), self.q.len());
        for i in 0..self.q.len() {
            self.m.row(i).iter().enumerate().filter(|(_, m)| **m != 0.0).for_each(|(j, &m)| out.push(j, m));
            out.finish_row();
        }
    }
}

/// Solves a [`BoxLcp`] as a mixed LCP by [`MixedLcpLadder`].   [BOX-2]
#[derive(Clone, Debug, Default)]
pub struct BoxLcpLadder {
    ladder: MixedLcpLadder,
    roles: Vec<Role>,
    mixed: MixedLcp,
    mixed_solution: MixedLcpSolution,
}

impl BoxLcpLadder {
    /// The method with its scratch memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// The method with this ladder for the mixed problem.
    pub fn with_ladder(ladder: MixedLcpLadder) -> Self {
        Self { ladder, ..Self::default() }
    }

    /// The ladder of the mixed problem, with its records.
    pub fn mixed(&self) -> &MixedLcpLadder {
        &self.ladder
    }

    /// Poses the mixed problem.   [BOX-2]
    fn reduce(&mut self, problem: &BoxLcp) {
        let (free, bounded) = problem.roles(&mut self.roles);
        self.mixed.clear(free, bounded);
        for (i, &role) in self.roles.iter().enumerate() {
            let (sign, multiplier) = match role {
                Role::Fixed => continue,
                Role::Free(_) => (1.0, None),
                Role::Bounded { sign, multiplier, .. } => (sign, multiplier),
            };
            let block =
                if matches!(role, Role::Free(_)) { &mut self.mixed.equality } else { &mut self.mixed.complementarity };
            let mut constant = problem.q[i];
            for (j, &m) in problem.m.row(i).iter().enumerate().filter(|(_, m)| **m != 0.0) {
                constant += m * problem.base(j);
                match self.roles[j] {
                    Role::Free(u) => block.on_free.push(u, sign * m),
                    Role::Bounded { x, sign: other, .. } => block.on_complementary.push(x, sign * other * m),
                    Role::Fixed => {}
                }
            }
            if let Some(multiplier) = multiplier {
                block.on_complementary.push(multiplier, 1.0);
            }
            block.constant[block.on_free.finished_rows()] = sign * constant;
            block.on_free.finish_row();
            block.on_complementary.finish_row();
            if let Role::Bounded { x, multiplier: Some(_), .. } = role {
                // Room to the upper bound: u − l − x ≥ 0, complementary to the multiplier.
                block.on_complementary.push(x, -1.0);
                block.constant[block.on_free.finished_rows()] = problem.upper[i] - problem.lower[i];
                block.on_free.finish_row();
                block.on_complementary.finish_row();
            }
        }
        debug_assert_eq!(self.mixed.ensure_shapes(), Ok(()), "rows of the mixed problem and counts of the roles");
    }
}

impl Solver<BoxLcp> for BoxLcpLadder {
    fn run(&mut self, problem: &BoxLcp, _: Option<&BoxLcpSolution>, solution: &mut BoxLcpSolution) -> Ending {
        self.reduce(problem);
        let ending = self.ladder.run(&self.mixed, None, &mut self.mixed_solution);
        debug_assert_eq!(self.mixed_solution.free.len(), self.mixed.free_size(), "free variables of the mixed problem");
        debug_assert_eq!(
            self.mixed_solution.complementary.len(),
            self.mixed.complementary_size(),
            "complementary variables of the mixed problem"
        );
        solution.z.clear();
        for (i, &role) in self.roles.iter().enumerate() {
            let z = problem.base(i)
                + match role {
                    Role::Fixed => 0.0,
                    Role::Free(u) => self.mixed_solution.free[u],
                    Role::Bounded { x, sign, .. } => sign * self.mixed_solution.complementary[x],
                };
            solution.z.push(z.max(problem.lower[i]).min(problem.upper[i]));
        }
        ending
    }
}
