//! Second-order cone {x : x₀ ≥ ‖x₁…‖}: Jordan algebra and Nesterov-Todd scaling.
//!
//! Vectors have four components. In cones of fewer dimensions the last ones are zero, and all formulas below keep them zero. The
//! half-line is the cone of dimension one. References: [Nesterov1997], [Vandenberghe2010].

/// Vector of the space of the cone.
pub(super) type Vector = [f64; 4];

/// Neutral element e of the Jordan product.
pub(super) const UNIT: Vector = [1.0, 0.0, 0.0, 0.0];

/// Norm ‖(x₁, x₂, x₃)‖.
pub(super) fn tail(x: &Vector) -> f64 {
    tail_squared(x).sqrt()
}

/// Squared norm ‖(x₁, x₂, x₃)‖².
pub(super) fn tail_squared(x: &Vector) -> f64 {
    x[1] * x[1] + x[2] * x[2] + x[3] * x[3]
}

/// xᵀ y.
pub(super) fn dot(x: &Vector, y: &Vector) -> f64 {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3]
}

/// a + s b.
pub(super) fn add(a: &Vector, s: f64, b: &Vector) -> Vector {
    [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2], a[3] + s * b[3]]
}

/// Smaller eigenvalue x₀ − ‖x_T‖, positive in the interior of the cone.
pub(super) fn smaller_eigenvalue(x: &Vector) -> f64 {
    x[0] - tail(x)
}

/// Determinant: product of both eigenvalues, without the cancellation of x₀² − ‖x_T‖².
///
/// Rounding may move an interior point to the boundary, so the smaller eigenvalue is at least one unit in the last place.
fn determinant(x: &Vector) -> f64 {
    let t = tail(x);
    (x[0] - t).max(f64::EPSILON * x[0]) * (x[0] + t)
}

/// Jordan product x ∘ y = (xᵀy, x₀ y_T + y₀ x_T).
pub(super) fn product(x: &Vector, y: &Vector) -> Vector {
    [dot(x, y), x[0] * y[1] + y[0] * x[1], x[0] * y[2] + y[0] * x[2], x[0] * y[3] + y[0] * x[3]]
}

/// Solution z of x ∘ z = y for x in the interior of the cone.
pub(super) fn quotient(x: &Vector, y: &Vector) -> Vector {
    let z = (x[0] * y[0] - x[1] * y[1] - x[2] * y[2] - x[3] * y[3]) / determinant(x);
    [z, (y[1] - z * x[1]) / x[0], (y[2] - z * x[2]) / x[0], (y[3] - z * x[3]) / x[0]]
}

/// Largest step α ≤ 2 for which x + α d stays in the cone; x is in its interior.
pub(super) fn max_step(x: &Vector, d: &Vector) -> f64 {
    // Roots of det(x + α d) = a α² + 2 b α + c, and of the first component.
    let (norm_d, det_x) = (tail(d), determinant(x));
    let a = (d[0] - norm_d) * (d[0] + norm_d);
    let b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2] - x[3] * d[3];
    let mut step: f64 = 2.0;
    if d[0] < 0.0 {
        step = step.min(-x[0] / d[0]);
    }
    let discriminant = b * b - a * det_x;
    if discriminant >= 0.0 {
        // Both roots are computed without cancellation; the least positive one is the boundary.
        let s = if b >= 0.0 { -b - discriminant.sqrt() } else { -b + discriminant.sqrt() };
        for root in [s / a, det_x / s] {
            if root > 0.0 && root < step {
                step = root;
            }
        }
    }
    step
}

/// Nesterov-Todd scaling F of a pair of interior points: F x = F⁻¹ y = λ, F² = η² (2 w wᵀ − J).   [CONE-9]
///
/// F is often written W_NT. Its square Θ = W_NT², with a regularisation added, is the matrix of the linearised complementarity
/// δy + Θ δx = t.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaling {
    w: Vector,
    eta: f64,
    /// Multiple of the identity that Θ contains besides F².
    regularisation: f64,
    /// Scaled point λ.
    pub(super) lambda: Vector,
}

impl Scaling {
    /// Scaling of x and y, both in the interior of the cone.
    pub(super) fn new(x: &Vector, y: &Vector, regularisation: f64) -> Self {
        let (size_x, size_y) = (determinant(x).sqrt(), determinant(y).sqrt());
        let cosine = dot(x, y) / (size_x * size_y);
        let half = 0.5 / ((1.0 + cosine) * 0.5).sqrt();
        let (a, b) = (half / size_y, half / size_x);
        let mut w = [0.0, a * y[1] - b * x[1], a * y[2] - b * x[2], a * y[3] - b * x[3]];
        // The first component follows from det w = 1, which avoids cancellation.
        w[0] = (1.0 + w[1] * w[1] + w[2] * w[2] + w[3] * w[3]).sqrt();
        let mut scaling = Self { w, eta: (size_y / size_x).sqrt(), regularisation, lambda: UNIT };
        scaling.lambda = scaling.apply(x);
        scaling
    }

    /// Product F v.
    pub(super) fn apply(&self, v: &Vector) -> Vector {
        self.transform(v, 1.0, self.eta)
    }

    /// Product F⁻¹ v.
    pub(super) fn apply_inverse(&self, v: &Vector) -> Vector {
        self.transform(v, -1.0, 1.0 / self.eta)
    }

    fn transform(&self, v: &Vector, sign: f64, factor: f64) -> Vector {
        let w = &self.w;
        let along = sign * (w[1] * v[1] + w[2] * v[2] + w[3] * v[3]);
        let s = sign * (v[0] + along / (1.0 + w[0]));
        [
            factor * (w[0] * v[0] + along),
            factor * (v[1] + s * w[1]),
            factor * (v[2] + s * w[2]),
            factor * (v[3] + s * w[3]),
        ]
    }

    /// Product Θ v.
    pub(super) fn apply_theta(&self, v: &Vector) -> Vector {
        add(&self.apply(&self.apply(v)), self.regularisation, v)
    }

    /// Matrix Θ = F² + regularisation · I.
    pub(super) fn theta(&self) -> [Vector; 4] {
        let (eigenvalues, n) = self.spectrum();
        spectral(eigenvalues, &n)
    }

    /// Matrices Θ and Θ⁻¹.
    pub(super) fn theta_and_inverse(&self) -> [[Vector; 4]; 2] {
        let (eigenvalues, n) = self.spectrum();
        [spectral(eigenvalues, &n), spectral(eigenvalues.map(|eigenvalue| 1.0 / eigenvalue), &n)]
    }

    /// Eigenvalues of Θ and the direction n. Those of F² = η² (2 w wᵀ − J) are η² (w₀ ± ‖w_T‖)² along (1, ±n) with n = w_T/‖w_T‖, and η²
    /// elsewhere.
    fn spectrum(&self) -> ([f64; 3], Vector) {
        let (square, length) = (self.eta * self.eta, tail(&self.w));
        let spread = (self.w[0] + length) * (self.w[0] + length);
        let n = if length > 0.0 { self.w.map(|w| w / length) } else { [0.0; 4] };
        ([square * spread, square / spread, square].map(|eigenvalue| eigenvalue + self.regularisation), n)
    }
}

/// Matrix with eigenvalues `large` and `small` along (1, ±n) and `rest` elsewhere.
///
/// The spectral form keeps small eigenvalues that would be lost in sums of entries.
fn spectral([large, small, rest]: [f64; 3], n: &Vector) -> [Vector; 4] {
    let (mean, half) = (0.5 * (large + small), 0.5 * (large - small));
    let mut matrix = [[0.0; 4]; 4];
    for i in 1..4 {
        for j in 1..4 {
            matrix[i][j] = (mean - rest) * n[i] * n[j];
        }
        matrix[i][i] += rest;
        matrix[0][i] = half * n[i];
        matrix[i][0] = half * n[i];
    }
    matrix[0][0] = mean;
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: &Vector, b: &Vector, size: f64) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * size)
    }

    fn points() -> Vec<Vector> {
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        (0..400)
            .map(|k| {
                let mut x = [0.0, random(), random(), random()];
                x.iter_mut().skip(1 + k % 4).for_each(|x| *x = 0.0);
                x[0] = tail(&x) + [1.0, 0.1, 1e-2, 1e-3, 1e-4][k % 5];
                x
            })
            .collect()
    }

    #[test]
    fn the_scaling_maps_both_points_to_one_and_its_square_maps_x_to_y() {
        let points = points();
        for (x, y) in points.iter().zip(points.iter().skip(1)) {
            let f = Scaling::new(x, y, 0.0);
            let size = f.lambda[0] * (1.0 + f.eta + 1.0 / f.eta) * 10.0;
            assert!(close(&f.apply(x), &f.apply_inverse(y), size), "{x:?} {y:?}");
            let [theta, inverse_theta] = f.theta_and_inverse();
            let theta_x: Vector = std::array::from_fn(|i| dot(&theta[i], x));
            let identity: Vector =
                std::array::from_fn(|i| dot(&inverse_theta[i], &std::array::from_fn(|j| dot(&theta[j], x))));
            let grown = theta.iter().flatten().fold(1.0_f64, |a, b| a.max(b.abs()));
            assert!(close(&theta_x, y, grown) && close(&identity, x, grown * grown));
        }
    }

    #[test]
    fn quotients_undo_products() {
        let points = points();
        for (x, y) in points.iter().zip(points.iter().skip(3)) {
            let z = quotient(x, &product(x, y));
            assert!(close(&z, y, 1e4 * y[0]), "{x:?} {y:?} {z:?}");
        }
    }

    #[test]
    fn steps_end_on_the_boundary_or_at_two() {
        let points = points();
        for (x, other) in points.iter().zip(points.iter().skip(7)) {
            let d = [other[0] - 1.5 * x[0], 3.0 * other[1], -other[2], other[3] - x[3]];
            let step = max_step(x, &d);
            let end = add(x, step, &d);
            assert!(
                smaller_eigenvalue(&end) > -1e-12 && (step == 2.0 || smaller_eigenvalue(&end) < 1e-9),
                "{x:?} {d:?}: {step}"
            );
            assert!((1..100).all(|k| smaller_eigenvalue(&add(x, step * f64::from(k) / 100.0, &d)) > -1e-12));
        }
    }
}
