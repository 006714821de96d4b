//! Moments of solids of density one, from which mass, centre and inertia follow.
//!
//! All of them are the measure V, the centre and the second moment S = ∫x xᵀ about the centre.   [MASS-1]

use std::f64::consts::PI;

use nalgebra::{Matrix3, Point3, Vector3};

/// Measure (area or volume), centre and second moment about the centre at density one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub(crate) measure: f64,
    pub(crate) centre: Point3<f64>,
    pub(crate) second: Matrix3<f64>,
}

impl Moments {
    /// Moments of a shape symmetric about its axes, from the mean squares of the coordinates.
    pub(crate) fn symmetric(measure: f64, mean_squares: [f64; 3]) -> Self {
        let second = Matrix3::from_diagonal(&Vector3::from(mean_squares)) * measure;
        Self { measure, centre: Point3::origin(), second }
    }

    /// A cylinder and two half balls, whose centroids are 3r / 8 from the flat side.   [MASS-3]
    pub(crate) fn capsule(h: f64, r: f64) -> Self {
        let (cylinder, caps) = (2.0 * PI * r * r * h, 4.0 / 3.0 * PI * r * r * r);
        let along = cylinder * h * h / 3.0 + caps * (r * r / 5.0 + h * h + 2.0 * h * (3.0 * r / 8.0));
        let across = cylinder * r * r / 4.0 + caps * r * r / 5.0;
        let volume = cylinder + caps;
        Self::symmetric(volume, [along / volume, across / volume, across / volume])
    }

    /// Sums simplices with one vertex at `origin` and N others relative to it: with V the measure and s the sum of these
    /// vertices, ∫x = V s / (N+1) and ∫x xᵀ = V (Σ p pᵀ + s sᵀ) / ((N+1)(N+2)).   [MASS-1]
    pub(crate) fn of_simplices<const N: usize>(
        origin: Vector3<f64>,
        simplices: impl Iterator<Item = (f64, [Vector3<f64>; N])>,
    ) -> Self {
        let n = N as f64;
        let (mut measure, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for (volume, corners) in simplices {
            let sum: Vector3<f64> = corners.iter().sum();
            let squares: Matrix3<f64> = corners.iter().map(|p| p * p.transpose()).sum();
            measure += volume;
            first += sum * (volume / (n + 1.0));
            second += (squares + sum * sum.transpose()) * (volume / ((n + 1.0) * (n + 2.0)));
        }
        let centre = first / measure;
        Self { measure, centre: (origin + centre).into(), second: second - centre * centre.transpose() * measure }
    }
}

/// ∫|x|^i |y|^j over |x|^p + |y|^p ≤ 1 is 4/(p (i+j+2)) · B((i+1)/p, (j+1)/p).   [MASS-4]
pub(crate) fn superellipse_integral(p: f64, i: f64, j: f64) -> f64 {
    4.0 / (p * (i + j + 2.0)) * beta((i + 1.0) / p, (j + 1.0) / p)
}

/// Euler's beta function.
pub(crate) fn beta(x: f64, y: f64) -> f64 {
    libm::exp(libm::lgamma(x) + libm::lgamma(y) - libm::lgamma(x + y))
}
