//! Active constraints of a step, and their problem in impulses.

use stiction_complementarity::linalg::{BlockMatrix, DenseLu};
use stiction_complementarity::{FrictionProblem, FrictionSolution, Law, Operator, ProblemError};

use super::{ConstraintLaw, System, SystemState, ThetaError, ThetaScheme};
use stiction_stepping::{Ladder, stages::LadderOutcome};

/// A constraint of the step.
#[derive(Clone, Copy, Debug)]
struct Active {
    constraint: usize,
    law: ConstraintLaw,
    /// Its first row among those of all constraints.
    place: usize,
}

/// Active constraints with their rows at (t, q), the problem in impulses, and its solution.
#[derive(Debug, Default)]
pub(super) struct Constraints {
    active: Vec<Active>,
    /// Rows of all constraints, active or not.
    total: usize,
    /// H, row by row.
    rows: Vec<f64>,
    /// M̂⁻¹ Hᵀ, column by column.
    responses: Vec<f64>,
    /// Constants that the laws add to H v⁺: drift, restitution, joint errors.   [THETA-5]
    constants: Vec<f64>,
    /// Unit of impulses: about one over the mean diagonal of W.
    unit: f64,
    problem: FrictionProblem,
    guess: FrictionSolution,
    solution: FrictionSolution,
    // Scratch of one constraint or one block.
    block: Vec<f64>,
    drift: Vec<f64>,
}

/// State at the start of a step, its length, and the time at its end.
#[derive(Clone, Copy)]
pub(super) struct Span<'a> {
    pub(super) state: &'a SystemState,
    pub(super) h: f64,
    pub(super) end: f64,
}

impl Constraints {
    /// Number of active constraints.
    pub(super) fn active(&self) -> usize {
        self.active.len()
    }

    /// Chooses the active constraints and evaluates their rows and constants at the start of the step.
    pub(super) fn select<S: System + ?Sized>(
        &mut self,
        system: &S,
        scheme: &ThetaScheme,
        span: &Span,
    ) -> Result<(), ThetaError> {
        self.active.clear();
        self.rows.clear();
        self.constants.clear();
        self.total = 0;
        for constraint in 0..system.constraints() {
            let law = system.law(constraint);
            if !law.is_legal() {
                return Err(ThetaError::BadLaw { constraint, law });
            }
            let place = self.total;
            self.total += law.rows();
            self.consider(system, scheme, span, Active { constraint, law, place })?;
        }
        Ok(())
    }

    /// Adds a constraint if it is active: joints and dry friction always, contacts by g + γ h ġ ≤ 0.   [THETA-4]
    fn consider<S: System + ?Sized>(
        &mut self,
        system: &S,
        scheme: &ThetaScheme,
        span: &Span,
        new: Active,
    ) -> Result<(), ThetaError> {
        let &Span { state, h, end } = span;
        let Active { constraint, law, .. } = new;
        let (first_row, first) = (self.rows.len(), self.constants.len());
        self.rows.resize(first_row + law.rows() * state.q.len(), 0.0);
        let rows = self.rows.get_mut(first_row..).unwrap_or_default();
        system.rows(constraint, state.time, &state.q, rows);
        let gap = if let ConstraintLaw::DryFriction { .. } = law {
            0.0
        } else {
            system.gap(constraint, state.time, &state.q)
        };
        // u at the start, with the drift there. The drift at the end is the constant part of u⁺.
        let drift_at = |t: f64, drift: &mut Vec<f64>| {
            drift.clear();
            drift.resize(law.rows(), 0.0);
            system.drift(constraint, t, &state.q, drift);
        };
        drift_at(state.time, &mut self.drift);
        let before =
            rows.chunks_exact(state.q.len().max(1)).zip(&self.drift).map(|(row, drift)| dot(row, &state.v) + drift);
        self.block.clear();
        self.block.extend(before);
        drift_at(end, &mut self.drift);
        let finite = rows.iter().chain(&self.block).chain(&self.drift).chain([&gap]).all(|x| x.is_finite());
        if !finite {
            return Err(ThetaError::NonFinite { what: "gap, rows or drift", index: constraint });
        }
        let approach = self.block.first().copied().unwrap_or(0.0);
        if matches!(law, ConstraintLaw::Contact { .. }) && gap + scheme.activation * h * approach > 0.0 {
            self.rows.truncate(first_row);
            return Ok(());
        }
        self.constants.extend(&self.drift);
        let constants = self.constants.get_mut(first..).unwrap_or_default();
        match (law, constants) {
            (ConstraintLaw::Joint, [constant]) => *constant += scheme.joint_gamma * gap / h,
            (ConstraintLaw::Contact { restitution, tangential_restitution, .. }, constants) => {
                for (k, (constant, u)) in constants.iter_mut().zip(&self.block).enumerate() {
                    *constant += u * if k == 0 { restitution } else { tangential_restitution };
                }
            }
            _ => {}
        }
        self.active.push(new);
        Ok(())
    }

    /// Solves for the impulses with this factorised M̂ and this velocity without them; `v` becomes v_free + M̂⁻¹ Hᵀ r.   [THETA-6]
    pub(super) fn solve(
        &mut self,
        (matrix, free): (&DenseLu, &[f64]),
        span: &Span,
        ladder: &mut Ladder,
        v: &mut [f64],
    ) -> Result<Option<LadderOutcome>, ThetaError> {
        v.copy_from_slice(free);
        if self.active.is_empty() {
            return Ok(None);
        }
        self.respond(matrix, free.len());
        self.assemble(free, span)?;
        self.start_from(&span.state.impulses);
        let solved = ladder.solve(&self.problem, Some(&self.guess), &mut self.solution);
        if !solved.is_accepted() {
            let block = (0..self.problem.blocks()).find(|&b| self.problem.range(b).contains(&solved.residual.row));
            let constraint = block.and_then(|b| self.active.get(b)).map_or(0, |active| active.constraint);
            return Err(ThetaError::NotSolved { status: solved.status, residual: solved.residual.value, constraint });
        }
        for (response, r) in self.responses.chunks_exact(v.len()).zip(&self.solution.r) {
            let impulse = r * self.unit;
            v.iter_mut().zip(response).for_each(|(v, x)| *v += x * impulse);
        }
        Ok(Some(solved))
    }

    /// M̂⁻¹ Hᵀ, and the unit of impulses.
    fn respond(&mut self, matrix: &DenseLu, n: usize) {
        self.responses.clear();
        self.responses.resize(self.rows.len(), 0.0);
        debug_assert_eq!(self.rows.len(), self.constants.len() * n, "every row has a constant");
        let mut diagonal = 0.0;
        for (row, response) in self.rows.chunks_exact(n).zip(self.responses.chunks_exact_mut(n)) {
            matrix.solve(row, response);
            diagonal += dot(row, response);
        }
        let mean = diagonal / self.constants.len() as f64;
        let unit = libm::exp2(-libm::round(libm::log2(mean)));
        self.unit = if unit.is_normal() { unit } else { 1.0 };
    }

    /// u = W r + q with W = H M̂⁻¹ Hᵀ and q = H v_free + constants.   [THETA-6]
    fn assemble(&mut self, free: &[f64], span: &Span) -> Result<(), ThetaError> {
        let n = free.len();
        let Self { problem, active, rows, responses, constants, unit, block, .. } = self;
        let filled = problem.refill(|operator, laws, q| {
            laws.clear();
            laws.extend(active.iter().map(|active| law(&active.law, span.h / *unit)));
            q.clear();
            q.extend(rows.chunks_exact(n).zip(&*constants).map(|(row, constant)| dot(row, free) + constant));
            if !matches!(operator, Operator::Assembled(_)) {
                *operator = Operator::Assembled(BlockMatrix::default());
            }
            let Operator::Assembled(w) = operator else {
                debug_assert!(false, "the operator has just been assembled");
                return Ok(());
            };
            write_delassus(w, laws, (rows, responses, n), *unit, block);
            Ok::<_, ProblemError>(())
        });
        filled.map_err(|_| ThetaError::NonFinite { what: "contact problem", index: 0 })
    }

    /// Sets the impulses of the previous step as the initial guess.
    fn start_from(&mut self, impulses: &[f64]) {
        self.guess.r.clear();
        for active in &self.active {
            let first = self.guess.r.len();
            let before = impulses.get(active.place..active.place + active.law.rows()).unwrap_or_default();
            self.guess.r.extend(before.iter().map(|r| r / self.unit));
            self.guess.r.resize(first + active.law.rows(), 0.0);
        }
    }

    /// residual ← residual − Hᵀ r.
    pub(super) fn subtract_impulses(&self, residual: &mut [f64]) {
        if self.active.is_empty() {
            return;
        }
        for (row, r) in self.rows.chunks_exact(residual.len()).zip(&self.solution.r) {
            let impulse = r * self.unit;
            residual.iter_mut().zip(row).for_each(|(x, h)| *x -= h * impulse);
        }
    }

    /// Writes the impulses of all constraints in order.
    pub(super) fn write_impulses(&self, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.total, 0.0);
        let mut r = self.solution.r.iter();
        for active in &self.active {
            let places = out.iter_mut().skip(active.place).take(active.law.rows());
            places.zip(&mut r).for_each(|(out, r)| *out = r * self.unit);
        }
        debug_assert!(self.active.is_empty() || r.len() == 0, "the active constraints have all impulses");
    }
}

/// Law of a constraint between impulses in their unit and velocities; `time` is h in that unit.
fn law(law: &ConstraintLaw, time: f64) -> Law {
    match *law {
        ConstraintLaw::Joint => Law::Equality { rows: 1 },
        ConstraintLaw::Contact { tangents: 0, .. } => Law::Bounded { lower: 0.0, upper: f64::INFINITY },
        ConstraintLaw::Contact { tangents, friction, .. } => Law::Cone { rows: 1 + tangents, mu: friction },
        ConstraintLaw::DryFriction { limit } => Law::Bounded { lower: -limit * time, upper: limit * time },
    }
}

/// All blocks of W, dense, for impulses in their unit.
fn write_delassus(
    w: &mut BlockMatrix,
    laws: &[Law],
    (rows, responses, n): (&[f64], &[f64], usize),
    unit: f64,
    block: &mut Vec<f64>,
) {
    w.clear(laws.iter().map(Law::rows), laws.iter().map(Law::rows));
    let mut above = 0;
    for row_law in laws {
        let mut left = 0;
        for (column, column_law) in laws.iter().enumerate() {
            block.clear();
            for row in rows.chunks_exact(n).skip(above).take(row_law.rows()) {
                let columns = responses.chunks_exact(n).skip(left).take(column_law.rows());
                block.extend(columns.map(|response| dot(row, response) * unit));
            }
            w.push(column, block);
            left += column_law.rows();
        }
        w.finish_row();
        above += row_law.rows();
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
