//! Superquadrics.

use nalgebra::Vector3;

use super::{ConvexSolid, Shape, size};
use crate::implicit::{Build, Convex, Function, superquadric_reach, superquadric_support};
use crate::moments::{Moments, beta, superellipse_integral};
use crate::{ShapeError, error};

pub(super) struct Superquadric {
    pub(super) semi_axes: [f64; 3],
    pub(super) exponents: [f64; 2],
}

impl Shape {
    /// Creates a superquadric about the origin with the given semi-axes and exponents from 2 to 64.
    pub fn superquadric(semi_axes: [f64; 3], exponents: [f64; 2]) -> Result<Self, ShapeError> {
        for semi_axis in semi_axes {
            size("a semi-axis of a superquadric", semi_axis)?;
        }
        for value in exponents {
            error::exponent("an exponent of a superquadric", value)?;
        }
        Ok(Self::Superquadric { semi_axes, exponents })
    }
}

impl ConvexSolid for Superquadric {
    fn name(&self) -> &'static str {
        "superquadric"
    }

    fn functions(&self, build: Build) -> Convex {
        build.central([Function::superquadric(self.semi_axes, self.exponents)], self.radius_bound())
    }

    fn support(&self, direction: &Vector3<f64>) -> Option<f64> {
        Some(superquadric_support(direction, self.semi_axes, self.exponents))
    }

    fn radius_bound(&self) -> Option<f64> {
        Some(superquadric_reach(self.semi_axes, self.exponents))
    }

    /// At height z the section is the superellipse scaled by ζ = (1 − |z|^q)^(1/q), and ∫|z|^k ζ^m over |z| ≤ 1 is
    /// 2/q · B((k+1)/q, m/q + 1).   [MASS-4]
    fn moments(&self) -> Option<Moments> {
        let ([a, b, c], [p, q]) = (self.semi_axes, self.exponents);
        let along = |k: f64, m: f64| 2.0 / q * beta((k + 1.0) / q, m / q + 1.0);
        let section = superellipse_integral(p, 0.0, 0.0);
        let volume = section * along(0.0, 2.0);
        let across = superellipse_integral(p, 2.0, 0.0) * along(0.0, 4.0) / volume;
        let upright = section * along(2.0, 2.0) / volume;
        Some(Moments::symmetric(a * b * c * volume, [a * a * across, b * b * across, c * c * upright]))
    }

    #[cfg(test)]
    fn examples() -> Vec<Shape> {
        let exponents = [[2.0, 2.0], [4.0, 2.5], [3.0, 5.0]];
        exponents.map(|exponents| Shape::superquadric([0.8, 0.6, 0.4], exponents).unwrap()).to_vec()
    }
}
