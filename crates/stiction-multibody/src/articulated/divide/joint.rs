//! Elimination of the joint between two segments.

use nalgebra::{Matrix6, Vector6};

use super::{
    super::{MAX_VELOCITIES, SingularInertia},
    small::{Pivots, Tally, solve},
};

/// Equations of a connected part of a tree at its two handles: the inner one, at the joint of its first link, and the outer
/// one, at the joint of the links that follow.   [DCA-2]
///
/// f₁ = K a₁ − Tᵀ f₂ + p and a₂ = T a₁ + N f₂ + b, with a the accelerations of the handles and f the forces applied there.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// K: inertia at the inner handle.
    pub(super) inertia: Matrix6<f64>,
    /// T: motion of the outer handle per motion of the inner one.
    pub(super) transfer: Matrix6<f64>,
    /// N: compliance of the outer handle while the inner one is held; zero for a rigid segment.
    pub(super) compliance: Matrix6<f64>,
    pub(super) rigid: bool,
    /// True if a link follows at the outer handle.
    pub(super) open: bool,
}

/// Matrices of the elimination of one joint and of the back substitution.   [DCA-4]
///
/// Velocities are in reverse order, so that pivots are taken from the last to the first, as in the articulated-body
/// algorithm.
#[derive(Clone, Debug)]
pub(super) struct JointFactors {
    pub(super) columns: Vec<JointColumn>,
    /// X.
    pub(super) stiffness: Matrix6<f64>,
    /// H.
    pub(super) pass: Matrix6<f64>,
    /// N̂.
    pub(super) compliance: Matrix6<f64>,
}

/// Columns of the matrices of a joint for one of its velocities.
#[derive(Clone, Debug, Default)]
pub(super) struct JointColumn {
    /// Column of S.
    pub(super) subspace: Vector6<f64>,
    /// Column of G = (Sᵀ Y S + A)⁻¹, which is symmetric.
    inverse: Vector6<f64>,
    /// Column of Y S G.
    gain: Vector6<f64>,
    /// Column of S G − N Y S G.
    motion_gain: Vector6<f64>,
}

impl JointFactors {
    pub(super) fn new(velocities: usize) -> Self {
        Self {
            columns: vec![JointColumn::default(); velocities],
            stiffness: Matrix6::zeros(),
            pass: Matrix6::zeros(),
            compliance: Matrix6::zeros(),
        }
    }

    /// Eliminates the joint between an upper segment of compliance N and a lower one of inertia K'.   [DCA-3] [DCA-4]
    ///
    /// S is set; `extra` is A, one number per velocity in the same order. The error is the number of the velocity without
    /// inertia.
    pub(super) fn eliminate(
        &mut self,
        upper: Option<&Segment>,
        lower: &Matrix6<f64>,
        extra: &[f64; MAX_VELOCITIES],
        tally: &mut Tally,
    ) -> Result<(), usize> {
        debug_assert!(self.columns.len() <= MAX_VELOCITIES, "a joint has at most {MAX_VELOCITIES} velocities");
        tally.joints += 1;
        let upper = upper.filter(|segment| !segment.rigid).map(|segment| &segment.compliance);
        let held = match upper {
            None => *lower,
            Some(compliance) => in_series(lower, compliance, tally)?,
        };
        let mut ys = [Vector6::zeros(); MAX_VELOCITIES];
        for (ys, column) in ys.iter_mut().zip(&self.columns) {
            *ys = held * column.subspace;
        }
        let inverse = self.inverse_mass(&ys, extra, tally)?;

        self.stiffness = held;
        self.pass = Matrix6::identity();
        for j in 0..self.columns.len() {
            let (mut gain, mut moved) = (Vector6::zeros(), Vector6::zeros());
            for (i, (ys, column)) in ys.iter().zip(&self.columns).enumerate() {
                gain += ys * inverse[(i, j)];
                moved += column.subspace * inverse[(i, j)];
            }
            let column = &mut self.columns[j];
            self.stiffness.ger(-1.0, &gain, &ys[j], 1.0);
            self.pass.ger(-1.0, &gain, &column.subspace, 1.0);
            column.inverse = inverse.column(j).into();
            column.gain = gain;
            column.motion_gain = upper.map_or(moved, |compliance| moved - compliance * gain);
        }
        symmetrise(&mut self.stiffness);
        self.compliance = Matrix6::zeros();
        if let Some(compliance) = upper {
            self.pass -= self.stiffness * compliance;
            self.compliance = compliance * self.pass;
        }
        for column in &self.columns {
            self.compliance.ger(1.0, &column.subspace, &column.motion_gain, 1.0);
        }
        symmetrise(&mut self.compliance);
        Ok(())
    }

    /// G = (Sᵀ Y S + A)⁻¹, of the columns of Y S.   [DCA-4]
    fn inverse_mass(
        &self,
        ys: &[Vector6<f64>; MAX_VELOCITIES],
        extra: &[f64; MAX_VELOCITIES],
        tally: &mut Tally,
    ) -> Result<Matrix6<f64>, usize> {
        let (mut mass, mut inverse) = (Matrix6::zeros(), Matrix6::identity());
        for (i, column) in self.columns.iter().enumerate() {
            for j in 0..self.columns.len() {
                mass[(i, j)] = column.subspace.dot(&ys[j]);
            }
            mass[(i, i)] += extra[i];
        }
        let size = self.columns.len();
        solve((&mut mass, size), Pivots::Diagonal, (&mut inverse, size), tally)?;
        Ok(inverse)
    }

    /// Force through the joint, X α + H g + Y S G τ.   [DCA-5]
    #[inline]
    pub(super) fn force(&self, alpha: &Vector6<f64>, g: &Vector6<f64>, tau: &[f64; MAX_VELOCITIES]) -> Vector6<f64> {
        let mut force = self.stiffness * alpha + self.pass * g;
        for (column, tau) in self.columns.iter().zip(tau) {
            force += column.gain * *tau;
        }
        force
    }

    /// Acceleration of the lower inner handle, Hᵀ α − N̂ g + (S G − N Y S G) τ.   [DCA-5]
    #[inline]
    pub(super) fn motion(&self, alpha: &Vector6<f64>, g: &Vector6<f64>, tau: &[f64; MAX_VELOCITIES]) -> Vector6<f64> {
        let mut motion = self.pass.tr_mul(alpha) - self.compliance * g;
        for (column, tau) in self.columns.iter().zip(tau) {
            motion += column.motion_gain * *tau;
        }
        motion
    }

    /// Rates of the velocities of the joint, G τ − (Y S G)ᵀ α − (S G − N Y S G)ᵀ g.   [DCA-5]
    #[inline]
    pub(super) fn rates(&self, alpha: &Vector6<f64>, g: &Vector6<f64>, tau: &[f64; MAX_VELOCITIES]) -> Vector6<f64> {
        let mut rates = Vector6::zeros();
        for (rate, column) in rates.iter_mut().zip(&self.columns) {
            let by_tau: f64 = column.inverse.iter().zip(tau).take(self.columns.len()).map(|(g, tau)| g * tau).sum();
            *rate = by_tau - column.gain.dot(alpha) - column.motion_gain.dot(g);
        }
        rates
    }
}

/// Inertia K in series with a compliance N: Y = (1 + K N)⁻¹ K, which is (K⁻¹ + N)⁻¹ if K is invertible.   [DCA-3]
#[inline]
fn in_series(inertia: &Matrix6<f64>, compliance: &Matrix6<f64>, tally: &mut Tally) -> Result<Matrix6<f64>, usize> {
    let mut matrix = inertia * compliance;
    for k in 0..6 {
        matrix[(k, k)] += 1.0;
    }
    let mut held = *inertia;
    // 1 + K N is regular if K and N have no negative eigenvalues. Numbers that are not finite fail here.
    solve((&mut matrix, 6), Pivots::Rows, (&mut held, 6), tally).map_err(|_| 0_usize)?;
    symmetrise(&mut held);
    Ok(held)
}

/// Restores the symmetry that rounding broke.
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

/// Values of the velocities of a joint in the order of elimination, last first.
#[inline]
pub(super) fn reversed<T: Copy + Default>(values: &[T]) -> [T; MAX_VELOCITIES] {
    debug_assert!(values.len() <= MAX_VELOCITIES, "a joint has at most {MAX_VELOCITIES} velocities");
    let mut out = [T::default(); MAX_VELOCITIES];
    for (out, value) in out.iter_mut().zip(values.iter().rev()) {
        *out = *value;
    }
    out
}

/// Error for the velocity of a tree whose pivot vanished.
pub(super) fn singular(velocities: std::ops::Range<usize>, place: usize) -> SingularInertia {
    debug_assert!(place == 0 || place < velocities.len(), "the pivot {place} is one of the joint");
    SingularInertia { velocity: velocities.rev().nth(place).unwrap_or(0) }
}
