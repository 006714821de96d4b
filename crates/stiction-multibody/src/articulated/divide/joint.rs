//! Elimination of the joint between two segments.

use nalgebra::{Matrix6, Vector6};

use super::{
    super::{MAX_VELOCITIES, SingularInertia},
    small::{Pivots, Tally, solve},
};

/// What a connected part of a tree shows at its two handles: at the inner one, where its first link hangs on the rest, and
/// at the outer one, where the rest hangs on it.   [DCA-2]
///
/// f₁ = K a₁ − Tᵀ f₂ + p and a₂ = T a₁ + N f₂ + b, with a the accelerations of the handles and f the forces applied there.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// K: inertia at the inner handle.
    pub(super) inertia: Matrix6<f64>,
    /// T: how the outer handle follows the inner one.
    pub(super) transfer: Matrix6<f64>,
    /// N: how the outer handle yields while the inner one is held; zero for a rigid segment.
    pub(super) compliance: Matrix6<f64>,
    pub(super) rigid: bool,
    /// Whether anything hangs on the outer handle.
    pub(super) open: bool,
}

/// The matrices by which one joint is eliminated, and found again.   [DCA-4]
///
/// Velocities stand in reverse order, so that pivots are taken from the last to the first, as in the articulated-body
/// algorithm.
#[derive(Clone, Debug)]
pub(super) struct JointFactors {
    velocities: usize,
    /// S.
    pub(super) subspace: [Vector6<f64>; MAX_VELOCITIES],
    /// G = (Sᵀ Y S + A)⁻¹.
    inverse: Matrix6<f64>,
    /// Columns of Y S G.
    gain: [Vector6<f64>; MAX_VELOCITIES],
    /// Columns of S G − N Y S G.
    yielding: [Vector6<f64>; MAX_VELOCITIES],
    /// X.
    pub(super) stiffness: Matrix6<f64>,
    /// H.
    pub(super) pass: Matrix6<f64>,
    /// N̂.
    pub(super) compliance: Matrix6<f64>,
}

impl JointFactors {
    pub(super) fn new(velocities: usize) -> Self {
        Self {
            velocities,
            subspace: Default::default(),
            inverse: Matrix6::zeros(),
            gain: Default::default(),
            yielding: Default::default(),
            stiffness: Matrix6::zeros(),
            pass: Matrix6::zeros(),
            compliance: Matrix6::zeros(),
        }
    }

    /// Eliminates the joint between an upper segment of compliance N and a lower one of inertia K'.   [DCA-3] [DCA-4]
    ///
    /// [`Self::subspace`] is set; `extra` is A, one number per velocity in the same order. The error is the number of the
    /// velocity that nothing resists.
    pub(super) fn eliminate(
        &mut self,
        upper: Option<&Segment>,
        lower: &Matrix6<f64>,
        extra: &[f64; MAX_VELOCITIES],
        tally: &mut Tally,
    ) -> Result<(), usize> {
        tally.joints += 1;
        let upper = upper.filter(|segment| !segment.rigid).map(|segment| &segment.compliance);
        let held = match upper {
            None => *lower,
            Some(compliance) => in_series(lower, compliance, tally)?,
        };
        let size = self.velocities;
        let mut felt = [Vector6::zeros(); MAX_VELOCITIES];
        for (felt, column) in felt.iter_mut().zip(&self.subspace).take(size) {
            *felt = held * column;
        }
        let mut mass = Matrix6::zeros();
        for i in 0..size {
            for j in 0..size {
                mass[(i, j)] = self.subspace[i].dot(&felt[j]);
            }
            mass[(i, i)] += extra[i];
        }
        self.inverse = Matrix6::identity();
        solve((&mut mass, size), Pivots::Diagonal, (&mut self.inverse, size), tally)?;

        self.stiffness = held;
        self.pass = Matrix6::identity();
        for j in 0..size {
            let (mut gain, mut moved) = (Vector6::zeros(), Vector6::zeros());
            for (i, (felt, column)) in felt.iter().zip(&self.subspace).enumerate().take(size) {
                gain += felt * self.inverse[(i, j)];
                moved += column * self.inverse[(i, j)];
            }
            self.stiffness.ger(-1.0, &gain, &felt[j], 1.0);
            self.pass.ger(-1.0, &gain, &self.subspace[j], 1.0);
            self.gain[j] = gain;
            self.yielding[j] = upper.map_or(moved, |compliance| moved - compliance * gain);
        }
        symmetrise(&mut self.stiffness);
        self.compliance = Matrix6::zeros();
        if let Some(compliance) = upper {
            self.pass -= self.stiffness * compliance;
            self.compliance = compliance * self.pass;
        }
        for j in 0..size {
            self.compliance.ger(1.0, &self.subspace[j], &self.yielding[j], 1.0);
        }
        symmetrise(&mut self.compliance);
        Ok(())
    }

    /// Number of velocities.
    pub(super) fn velocities(&self) -> usize {
        self.velocities
    }

    /// The force through the joint, X α + H g + Y S G τ.   [DCA-5]
    #[inline]
    pub(super) fn force(&self, alpha: &Vector6<f64>, g: &Vector6<f64>, tau: &[f64; MAX_VELOCITIES]) -> Vector6<f64> {
        let mut force = self.stiffness * alpha + self.pass * g;
        for (gain, tau) in self.gain.iter().zip(tau).take(self.velocities) {
            force += gain * *tau;
        }
        force
    }

    /// The acceleration of the lower inner handle, Hᵀ α − N̂ g + (S G − N Y S G) τ.   [DCA-5]
    #[inline]
    pub(super) fn motion(&self, alpha: &Vector6<f64>, g: &Vector6<f64>, tau: &[f64; MAX_VELOCITIES]) -> Vector6<f64> {
        let mut motion = self.pass.tr_mul(alpha) - self.compliance * g;
        for (yielding, tau) in self.yielding.iter().zip(tau).take(self.velocities) {
            motion += yielding * *tau;
        }
        motion
    }

    /// The acceleration of a velocity of the joint, G τ − (Y S G)ᵀ α − (S G − N Y S G)ᵀ g.   [DCA-5]
    #[inline]
    pub(super) fn rate(&self, k: usize, alpha: &Vector6<f64>, g: &Vector6<f64>, tau: &[f64; MAX_VELOCITIES]) -> f64 {
        let pushed: f64 = (0..self.velocities).map(|j| self.inverse[(k, j)] * tau[j]).sum();
        pushed - self.gain[k].dot(alpha) - self.yielding[k].dot(g)
    }
}

/// Inertia K behind a spring of compliance N: Y = (1 + K N)⁻¹ K, which is (K⁻¹ + N)⁻¹ where K can be inverted.   [DCA-3]
#[inline]
fn in_series(inertia: &Matrix6<f64>, compliance: &Matrix6<f64>, tally: &mut Tally) -> Result<Matrix6<f64>, usize> {
    let mut matrix = inertia * compliance;
    for k in 0..6 {
        matrix[(k, k)] += 1.0;
    }
    let mut held = *inertia;
    // Not singular for any two matrices without negative eigenvalues; what is not finite fails here.
    solve((&mut matrix, 6), Pivots::Rows, (&mut held, 6), tally).map_err(|_| 0_usize)?;
    symmetrise(&mut held);
    Ok(held)
}

/// Takes away what rounding left of asymmetry.
#[inline]
fn symmetrise(matrix: &mut Matrix6<f64>) {
    for i in 0..6 {
        for j in 0..i {
            let mean = 0.5 * (matrix[(i, j)] + matrix[(j, i)]);
            matrix[(i, j)] = mean;
            matrix[(j, i)] = mean;
        }
    }
}

/// The first velocity of a joint is the last in the order of elimination, and the other way round.
#[inline]
pub(super) fn reversed<T: Copy + Default>(values: &[T]) -> [T; MAX_VELOCITIES] {
    let mut out = [T::default(); MAX_VELOCITIES];
    for (out, value) in out.iter_mut().zip(values.iter().rev()) {
        *out = *value;
    }
    out
}

/// The velocity of a tree whose pivot vanished.
pub(super) fn singular(velocities: std::ops::Range<usize>, place: usize) -> SingularInertia {
    SingularInertia { velocity: velocities.rev().nth(place).unwrap_or(0) }
}
