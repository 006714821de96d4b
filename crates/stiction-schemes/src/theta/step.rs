//! One step of a system: activate, linearise, solve, and iterate until the implicit forces converge.

use stiction_complementarity::{Residual, Status, linalg::DenseLu};

use super::constraints::{Constraints, Span, dot};
use super::{System, SystemState, ThetaError, ThetaReport, ThetaScheme};
use stiction_stepping::Ladder;

/// Steps systems by the θ-method, and keeps its memory from step to step.
///
/// ```
/// use stiction_schemes::{ConstraintLaw, System, SystemState, ThetaStepper};
///
/// /// A ball above a floor, fallen on by gravity.
/// struct Ball;
///
/// impl System for Ball {
///     fn size(&self) -> usize {
///         1
///     }
///     fn mass(&self, _q: &[f64], out: &mut [f64]) {
///         out[0] = 1.0;
///     }
///     fn force(&self, _t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]) {
///         out[0] = -9.81;
///     }
///     fn constraints(&self) -> usize {
///         1
///     }
///     fn law(&self, _: usize) -> ConstraintLaw {
///         ConstraintLaw::frictionless(0.5)
///     }
///     fn gap(&self, _: usize, _t: f64, q: &[f64]) -> f64 {
///         q[0]
///     }
///     fn rows(&self, _: usize, _t: f64, _q: &[f64], out: &mut [f64]) {
///         out[0] = 1.0;
///     }
/// }
///
/// let mut stepper = ThetaStepper::default();
/// let mut state = SystemState::new(vec![1.0], vec![0.0]);
/// while state.time < 3.0 {
///     let _ = stepper.step(&Ball, &mut state, 0.001)?;
/// }
/// // It came to rest, and the floor carries its weight.
/// assert!(state.q[0].abs() < 1e-3 && state.v[0].abs() < 1e-12);
/// assert!((state.impulses[0] - 9.81 * 0.001).abs() < 1e-12);
/// # Ok::<(), stiction_schemes::ThetaError>(())
/// ```
#[derive(Debug, Default)]
pub struct ThetaStepper {
    /// Parameters of the scheme.
    pub scheme: ThetaScheme,
    /// Solves the contact problems.
    pub ladder: Ladder,
    constraints: Constraints,
    motion: Motion,
}

impl ThetaStepper {
    /// Stepper with these parameters and the default ladder.
    pub fn new(scheme: ThetaScheme) -> Result<Self, ThetaError> {
        scheme.validate()?;
        Ok(Self { scheme, ..Self::default() })
    }

    /// Advances the state by `h`. On failure it returns the reason and leaves the state unchanged.
    pub fn step<S: System + ?Sized>(
        &mut self,
        system: &S,
        state: &mut SystemState,
        h: f64,
    ) -> Result<ThetaReport, ThetaError> {
        let Self { scheme, ladder, constraints, motion } = self;
        check(system, scheme, state, h)?;
        let (end, end_carry) = state.time_after(h);
        let span = Span { state, h, end };
        constraints.select(system, scheme, &span)?;
        motion.begin(system, state);
        motion.evaluate(system, scheme, &span)?;
        let mut report = ThetaReport {
            step: state.step + 1,
            time: end,
            active: constraints.active(),
            residual: Residual { value: 0.0, row: 0 },
            status: Status::Solved,
            iterations: 0,
            newton_steps: 0,
            rung: "none",
        };
        let mut newton = NewtonProgress::default();
        while newton.continues(scheme)? {
            motion.linearise(system, scheme, &span)?;
            let solved = constraints.solve((&motion.matrix, &motion.free), &span, ladder, &mut motion.v)?;
            if let Some(solved) = solved {
                (report.residual, report.status, report.rung) = (solved.residual, solved.status, solved.rung);
                report.iterations += solved.iterations;
            }
            motion.evaluate(system, scheme, &span)?;
            newton.measure(motion.correction(constraints, state));
        }
        report.newton_steps = newton.steps;
        // Everything is finite and solved: the new numbers become the state.
        (state.step, state.time, state.time_carry) = (report.step, end, end_carry);
        std::mem::swap(&mut state.q, &mut motion.q);
        std::mem::swap(&mut state.v, &mut motion.v);
        constraints.write_impulses(&mut state.impulses);
        Ok(report)
    }
}

fn check<S: System + ?Sized>(system: &S, scheme: &ThetaScheme, state: &SystemState, h: f64) -> Result<(), ThetaError> {
    scheme.validate()?;
    if !(h > 0.0 && h.is_finite()) {
        return Err(ThetaError::Step(h));
    }
    let (q, v, expected) = (state.q.len(), state.v.len(), system.size());
    if (q, v) != (expected, expected) {
        return Err(ThetaError::Size { q, v, expected });
    }
    ensure_finite("coordinate", &state.q)?;
    ensure_finite("velocity", &state.v)
}

fn ensure_finite(what: &'static str, values: &[f64]) -> Result<(), ThetaError> {
    match values.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(ThetaError::NonFinite { what, index }),
        None => Ok(()),
    }
}

/// Convergence of Newton's method.   [THETA-7]
#[derive(Debug)]
struct NewtonProgress {
    steps: u32,
    correction: f64,
    before: f64,
}

/// Largest correction that counts as rounding if it no longer halves, as a fraction of the velocities: M̂ is then badly conditioned.
const ROUNDING: f64 = 1e-9;

impl Default for NewtonProgress {
    fn default() -> Self {
        Self { steps: 0, correction: f64::INFINITY, before: f64::INFINITY }
    }
}

impl NewtonProgress {
    fn measure(&mut self, correction: f64) {
        self.steps += 1;
        self.before = std::mem::replace(&mut self.correction, correction);
    }

    fn continues(&self, scheme: &ThetaScheme) -> Result<bool, ThetaError> {
        let stalled = self.correction <= ROUNDING && self.correction > 0.5 * self.before;
        if self.correction <= scheme.newton_tolerance || stalled {
            return Ok(false);
        }
        if self.steps >= scheme.newton_steps {
            return Err(ThetaError::NotConverged { correction: self.correction, steps: self.steps });
        }
        Ok(true)
    }
}

/// The smooth part of a step and its linearisation.
#[derive(Debug, Default)]
struct Motion {
    /// Current v⁺ and q⁺.
    v: Vec<f64>,
    q: Vec<f64>,
    /// f(t, q, v).
    force: Vec<f64>,
    /// M(q̄), q̄ = (1 − θ) q + θ q⁺.
    mass: Vec<f64>,
    /// R(v⁺), the imbalance of momentum without impulses.   [THETA-2]
    imbalance: Vec<f64>,
    /// M̂, factorised.
    matrix: DenseLu,
    /// v⁺ − M̂⁻¹ R(v⁺).
    free: Vec<f64>,
    // Scratch: a vector, and two matrices.
    vector: Vec<f64>,
    stiffness: Vec<f64>,
    damping: Vec<f64>,
}

impl Motion {
    /// Starts with v⁺ = v.
    fn begin<S: System + ?Sized>(&mut self, system: &S, state: &SystemState) {
        let n = state.q.len();
        self.v.clone_from(&state.v);
        zero(&mut self.force, n);
        system.force(state.time, &state.q, &state.v, &mut self.force);
    }

    /// q⁺ and R(v⁺) = M(q̄) (v⁺ − v) − hθ f(t⁺, q⁺, v⁺) − h (1 − θ) f(t, q, v).   [THETA-2] [THETA-3]
    fn evaluate<S: System + ?Sized>(
        &mut self,
        system: &S,
        scheme: &ThetaScheme,
        span: &Span,
    ) -> Result<(), ThetaError> {
        let (&Span { state, h, end }, theta) = (span, scheme.theta);
        let n = state.q.len();
        self.q.clear();
        let mean = self.v.iter().zip(&state.v).map(|(next, v)| theta * next + (1.0 - theta) * v);
        self.q.extend(state.q.iter().zip(mean).map(|(q, mean)| q + h * mean));
        self.vector.clear();
        self.vector.extend(self.q.iter().zip(&state.q).map(|(next, q)| q + theta * (next - q)));
        zero(&mut self.mass, n * n);
        system.mass(&self.vector, &mut self.mass);
        ensure_finite("entry of the mass matrix", &self.mass)?;
        zero(&mut self.vector, n);
        system.force(end, &self.q, &self.v, &mut self.vector);
        self.imbalance.clear();
        for (row, (before, after)) in self.mass.chunks_exact(n.max(1)).zip(self.force.iter().zip(&self.vector)) {
            let change: f64 = row.iter().zip(self.v.iter().zip(&state.v)).map(|(m, (next, v))| m * (next - v)).sum();
            self.imbalance.push(change - h * (theta * after + (1.0 - theta) * before));
        }
        ensure_finite("next coordinate", &self.q)?;
        ensure_finite("force or momentum", &self.imbalance)
    }

    /// M̂ = M + hθ C + h²θ² K, factorised, and v_free = v⁺ − M̂⁻¹ R(v⁺).   [THETA-6]
    fn linearise<S: System + ?Sized>(
        &mut self,
        system: &S,
        scheme: &ThetaScheme,
        span: &Span,
    ) -> Result<(), ThetaError> {
        let n = self.v.len();
        let Self { v, q, mass, matrix, stiffness, damping, .. } = self;
        zero(stiffness, n * n);
        zero(damping, n * n);
        system.stiffness(span.end, q, v, stiffness);
        system.damping(span.end, q, v, damping);
        let implicit = span.h * scheme.theta;
        matrix
            .factor(n, |out| {
                let terms = mass.iter().zip(damping.iter().zip(stiffness.iter()));
                out.iter_mut().zip(terms).for_each(|(out, (m, (c, k)))| *out = m + implicit * (c + implicit * k));
            })
            .map_err(|singular| ThetaError::Singular { coordinate: singular.row })?;
        zero(&mut self.free, n);
        self.matrix.solve(&self.imbalance, &mut self.free);
        self.free.iter_mut().zip(&self.v).for_each(|(free, v)| *free = v - *free);
        ensure_finite("velocity without impulses", &self.free)
    }

    /// Next correction M̂⁻¹ (R(v⁺) − Hᵀ r) relative to the largest of v, v⁺ and v⁺ − v, all measured by M.   [THETA-7]
    fn correction(&mut self, constraints: &Constraints, state: &SystemState) -> f64 {
        let n = self.v.len();
        self.vector.clone_from(&self.imbalance);
        constraints.subtract_impulses(&mut self.vector);
        zero(&mut self.free, n);
        self.matrix.solve(&self.vector, &mut self.free);
        let correction = self.square(&self.free);
        self.vector.clear();
        self.vector.extend(self.v.iter().zip(&state.v).map(|(next, v)| next - v));
        let size = self.square(&state.v).max(self.square(&self.v)).max(self.square(&self.vector));
        if correction == 0.0 { 0.0 } else { (correction / size).sqrt() }
    }

    /// xᵀ M x.
    fn square(&self, x: &[f64]) -> f64 {
        self.mass.chunks_exact(x.len().max(1)).zip(x).map(|(row, x_i)| x_i * dot(row, x)).sum::<f64>().abs()
    }
}

fn zero(x: &mut Vec<f64>, length: usize) {
    x.clear();
    x.resize(length, 0.0);
}
