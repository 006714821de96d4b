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
}

impl ProximalTerm {
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

/// Body velocities v with everything that follows from them.
#[derive(Clone, Debug, Default)]
pub(super) struct Iterate {
    /// Change of the body velocities due to the impulses.
    pub(super) v: Vec<f64>,
    /// Argument z of the projection.
    pub(super) z: Vec<f64>,
    /// Impulses r(v).
    pub(super) r: Vec<f64>,
    /// Velocities of the rows at v, and after [`Self::measure`] those at the impulses r.
    u: Vec<f64>,
    /// M⁻¹ H r(v) − v, zero at the solution of the proximal problem.
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
        for vector in [&mut self.z, &mut self.r, &mut self.u] {
            vector.clear();
            vector.resize(rows, 0.0);
        }
    }

    /// Computes everything from v.   [PROX-2]
    pub(super) fn evaluate(&mut self, problem: &FrictionProblem, bodies: &Bodies, term: &ProximalTerm) {
        let Self { v, z, r, u, defect, merit, distance } = self;
        u.copy_from_slice(problem.q());
        bodies.jacobian().mul_add_into(v, u);
        for (k, z) in z.iter_mut().enumerate() {
            *z = term.offset[k] - term.rho[k] * u[k];
        }
        r.copy_from_slice(z);
        for (block, law) in problem.laws().iter().enumerate() {
            law.alart_curnier_projection(&mut r[problem.range(block)]);
        }
        defect.iter_mut().zip(&*v).for_each(|(d, v)| *d = -v);
        bodies.response().transpose_mul_add_into(r, defect);
        *merit = (0..bodies.jacobian().block_cols()).map(|body| energy(bodies, body, defect)).sum();
        let changes = r.iter().zip(&term.centre).zip(&term.w);
        *distance = term.alpha * changes.map(|((r, centre), w)| w * (r - centre) * (r - centre)).sum::<f64>();
        if !merit.is_finite() {
            *merit = f64::INFINITY;
        }
    }

    /// Residual [CONE-5] of the impulses r(v); to be called once after [`Self::evaluate`].
    pub(super) fn measure(&mut self, problem: &FrictionProblem, bodies: &Bodies) -> f64 {
        let Self { r, u, defect, .. } = self;
        // The velocities of the rows are those at v so far.
        bodies.jacobian().mul_add_into(defect, u);
        u.iter_mut().zip(problem.compliance()).zip(&*r).for_each(|((u, c), r)| *u += c * r);
        let sum: f64 = (0..problem.blocks()).map(|block| problem.violation_squared(block, r, u)).sum();
        if sum.is_finite() { sum.sqrt() / problem.scale() } else { f64::INFINITY }
    }
}

/// Squared energy norm vᵀ M v of the velocities of one body.
fn energy(bodies: &Bodies, body: usize, v: &[f64]) -> f64 {
    let v = &v[bodies.jacobian().col_range(body)];
    bodies.mass(body).chunks_exact(v.len().max(1)).zip(v).map(|(row, v_i)| v_i * dot(row, v)).sum()
}
