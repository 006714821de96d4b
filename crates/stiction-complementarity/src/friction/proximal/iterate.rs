//! Iterates of the proximal method: body velocities and what follows from them.

use super::super::{Bodies, FrictionProblem};
use crate::linalg::dot;

/// Proximal problem: its centre and weights.   [PROX-1]
#[derive(Clone, Debug, Default)]
pub(super) struct ProximalTerm {
    /// Proximal weight α.
    pub(super) alpha: f64,
    /// Centre r̄.
    pub(super) centre: Vec<f64>,
    /// Proximal compliance w of each row: the mean diagonal of W over the rows with a common ρ, a part of the friction or a single row, or that
    /// of W + diag c over the block where it is negligible.
    pub(super) w: Vec<f64>,
    /// Common compliance ĉ of each row: the largest compliance c of these rows. With ĉ instead of c they have a common ρ.
    pub(super) compliance: Vec<f64>,
    /// ρ = 1/(α w + ĉ) of each row.
    pub(super) rho: Vec<f64>,
    /// Constant part of the argument of the projection, z = offset − ρ u.
    pub(super) offset: Vec<f64>,
    /// Velocities W r̄ + q of the rows at the centre, without those of their compliance.
    pub(super) u: Vec<f64>,
}

impl ProximalTerm {
    /// Computes the velocities of the rows at the centre; `v` is scratch memory for body velocities.
    pub(super) fn compute_velocities(&mut self, problem: &FrictionProblem, bodies: &Bodies, v: &mut [f64]) {
        v.fill(0.0);
        bodies.response().transpose_mul_add_into(&self.centre, v);
        self.u.copy_from_slice(problem.q());
        bodies.jacobian().mul_add_into(v, &mut self.u);
    }

    /// Sets α, and with it ρ and the offset of z.   [PROX-2]
    pub(super) fn set_weight(&mut self, problem: &FrictionProblem, alpha: f64) {
        self.alpha = alpha;
        for (k, rho) in self.rho.iter_mut().enumerate() {
            let weight = alpha * self.w[k] + self.compliance[k];
            let own = problem.compliance().get(k).copied().unwrap_or(0.0);
            *rho = 1.0 / weight;
            self.offset[k] = (weight - own) / weight * self.centre[k];
        }
    }
}

/// Body velocities with everything that follows from them.
///
/// Velocities and impulses are differences from those at the centre. The projection multiplies u by ρ, which is of the order 1/α, and with it the
/// rounding errors of u. Those of a difference are relative to the difference.
#[derive(Clone, Debug, Default)]
pub(super) struct Iterate {
    /// Body velocities less those at the centre, M⁻¹ H r̄.
    pub(super) v: Vec<f64>,
    /// Argument z of the projection.
    pub(super) z: Vec<f64>,
    /// Impulses r(v).
    pub(super) r: Vec<f64>,
    /// Velocities of the rows at v, and after [`Self::measure`] those at the impulses r.
    u: Vec<f64>,
    /// r(v) − r̄.
    change: Vec<f64>,
    /// M⁻¹ H (r(v) − r̄) − v, zero at the solution of the proximal problem.
    pub(super) defect: Vec<f64>,
    /// Squared energy norm of the defect.
    pub(super) merit: f64,
    /// Squared distance from the centre in the norm of the proximal term.
    pub(super) distance: f64,
}

impl Iterate {
    /// Allocates memory for so many rows and velocities.
    pub(super) fn resize(&mut self, rows: usize, velocities: usize) {
        for vector in [&mut self.v, &mut self.defect] {
            vector.clear();
            vector.resize(velocities, 0.0);
        }
        for vector in [&mut self.z, &mut self.r, &mut self.u, &mut self.change] {
            vector.clear();
            vector.resize(rows, 0.0);
        }
    }

    /// Computes everything from v.   [PROX-2]
    pub(super) fn evaluate(&mut self, problem: &FrictionProblem, bodies: &Bodies, term: &ProximalTerm) {
        let Self { v, z, r, u, change, defect, merit, distance } = self;
        u.copy_from_slice(&term.u);
        bodies.jacobian().mul_add_into(v, u);
        for (k, z) in z.iter_mut().enumerate() {
            *z = term.offset[k] - term.rho[k] * u[k];
        }
        r.copy_from_slice(z);
        for (block, law) in problem.laws().iter().enumerate() {
            law.alart_curnier_projection(&mut r[problem.range(block)]);
        }
        change.iter_mut().zip(&*r).zip(&term.centre).for_each(|((change, r), centre)| *change = r - centre);
        defect.iter_mut().zip(&*v).for_each(|(d, v)| *d = -v);
        bodies.response().transpose_mul_add_into(change, defect);
        *merit = (0..bodies.jacobian().block_cols()).map(|body| energy(bodies, body, defect)).sum();
        *distance = term.alpha * change.iter().zip(&term.w).map(|(change, w)| w * change * change).sum::<f64>();
        if !merit.is_finite() {
            *merit = f64::INFINITY;
        }
    }

    /// Residual [CONE-5] of the impulses r(v); to be called once after [`Self::evaluate`]. `scratch` is scratch memory.
    pub(super) fn measure(&mut self, problem: &FrictionProblem, bodies: &Bodies, scratch: &mut Vec<f64>) -> f64 {
        let Self { r, u, defect, .. } = self;
        // The velocities of the rows are those at v so far.
        bodies.jacobian().mul_add_into(defect, u);
        let u = if problem.compliance().is_empty() {
            &*u
        } else {
            scratch.clear();
            scratch.extend(u.iter().zip(problem.compliance()).zip(&*r).map(|((u, c), r)| u + c * r));
            &*scratch
        };
        let sum: f64 = (0..problem.blocks()).map(|block| problem.violation_squared(block, r, u)).sum();
        if sum.is_finite() { sum.sqrt() / problem.scale() } else { f64::INFINITY }
    }

    /// Makes the impulses r(v) the centre and keeps the body velocities; to be called after [`Self::measure`].
    pub(super) fn become_centre(&mut self, term: &mut ProximalTerm) {
        std::mem::swap(&mut term.centre, &mut self.r);
        std::mem::swap(&mut term.u, &mut self.u);
        self.v.iter_mut().zip(&self.defect).for_each(|(v, defect)| *v = -defect);
    }
}

/// Squared energy norm vᵀ M v of the velocities of one body.
fn energy(bodies: &Bodies, body: usize, v: &[f64]) -> f64 {
    let v = &v[bodies.jacobian().col_range(body)];
    bodies.mass(body).chunks_exact(v.len().max(1)).zip(v).map(|(row, v_i)| v_i * dot(row, v)).sum()
}
