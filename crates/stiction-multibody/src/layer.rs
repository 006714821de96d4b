//! Compliant layers: springs and dampers on the surface of a body, over a rigid core.   [SOFT-1]

use nalgebra::{Matrix3, SymmetricEigen};

use crate::{
    Element, ModelError,
    check::{Check, limits, plain},
};

/// A compliant layer with the Kelvin-Voigt law p = h (K δ + C δ̇).   [SOFT-1]
///
/// Matrices are in the contact frame: the normal from the first to the second body, then the two friction directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// Stiffness K, N/m: symmetric and positive definite, or its normal entry alone if the layer does not shear.
    pub stiffness: Matrix3<f64>,
    /// Damping C, N s/m: symmetric and positive semi-definite, or its normal entry alone if the layer does not shear.
    pub damping: Matrix3<f64>,
    /// True if it is compliant along the surface too. Otherwise it is rigid there.
    pub shears: bool,
    /// Thickness down to the rigid core, m; without one the compression is unbounded.
    pub depth: Option<f64>,
}

/// Choice of the layer between two bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LayerRule {
    /// Layers of the two bodies in series.
    #[default]
    OfBodies,
    /// No layer, regardless of those of the bodies.
    Rigid,
    /// This layer, regardless of those of the bodies.
    Given(Layer),
}

impl Layer {
    /// A layer that is compliant along the normal only.
    pub fn normal(stiffness: f64, damping: f64) -> Self {
        let alone = |entry: f64| Matrix3::from_partial_diagonal(&[entry]);
        Self { stiffness: alone(stiffness), damping: alone(damping), shears: false, depth: None }
    }

    /// A layer with independent springs and dampers along the normal and along the surface: `[normal, tangential]`.
    pub fn shearing(stiffness: [f64; 2], damping: [f64; 2]) -> Self {
        let both = |[n, t]: [f64; 2]| Matrix3::from_partial_diagonal(&[n, t, t]);
        Self::coupled(both(stiffness), both(damping))
    }

    /// A layer with coupled springs and dampers along the normal and the surface.
    pub fn coupled(stiffness: Matrix3<f64>, damping: Matrix3<f64>) -> Self {
        Self { stiffness, damping, shears: true, depth: None }
    }

    /// The same layer over a rigid core.
    pub fn with_depth(self, depth: f64) -> Self {
        Self { depth: Some(depth), ..self }
    }

    /// The two layers in series.
    ///
    /// Deflections add, so K⁻¹ = K₁⁻¹ + K₂⁻¹. Each takes the fraction K_i⁻¹ K of the deflection. Their dissipation at these
    /// fractions gives C = K (Σ K_i⁻¹ C_i K_i⁻¹) K. It is exact for slow motion, and if both have the same τ in C_i = τ K_i.   [SOFT-8]
    pub fn in_series(&self, other: &Self) -> Self {
        let (f, g) = (self.flexibility(), other.flexibility());
        let shears = self.shears || other.shears;
        let stiffness = inverse(&(f + g), shears);
        let loss = f * self.damping * f + g * other.damping * g;
        // Rounding may break the symmetry of the products; it is restored below.
        let damping = stiffness * loss * stiffness;
        Self {
            stiffness: symmetric(&stiffness),
            damping: symmetric(&damping),
            shears,
            depth: self.depth.zip(other.depth).map(|(a, b)| a + b),
        }
    }

    /// K⁻¹, m/N; zero along the surface if the layer does not shear.
    pub fn flexibility(&self) -> Matrix3<f64> {
        inverse(&self.stiffness, self.shears)
    }

    /// Largest legal penetration, m: the thickness of the layer, infinite without a core.
    pub fn allowance(&self) -> f64 {
        self.depth.unwrap_or(f64::INFINITY)
    }

    /// True if normal and tangential deflections are coupled.
    pub fn couples_normal_and_shear(&self) -> bool {
        [self.stiffness, self.damping].iter().any(|m| m.m12 != 0.0 || m.m13 != 0.0)
    }

    /// Returns the layer if all its numbers are legal, otherwise an error about the material of this name.
    pub fn validated(self, material: &str) -> Result<Self, ModelError> {
        self.checked(&Check::new(Element::Material(material.to_owned())))
    }

    /// Returns the layer if all its numbers are legal, with symmetric matrices.
    pub(crate) fn checked(mut self, check: &Check) -> Result<Self, ModelError> {
        self.stiffness = self.matrix(check, "stiffness", &self.stiffness, limits::STIFFNESS.0)?;
        self.damping = self.matrix(check, "damping", &self.damping, 0.0)?;
        if let Some(depth) = self.depth {
            check.within("depth", depth, limits::DEPTH)?;
        }
        Ok(self)
    }

    /// Returns the symmetric part of a legal matrix: symmetric to rounding, with eigenvalues of at least `least`.
    fn matrix(
        &self,
        check: &Check,
        field: &'static str,
        matrix: &Matrix3<f64>,
        least: f64,
    ) -> Result<Matrix3<f64>, ModelError> {
        matrix.iter().try_for_each(|&x| check.bounded(field, x, limits::STIFFNESS.1).map(drop))?;
        if !self.shears {
            let rest = matrix.iter().skip(1).any(|&x| x != 0.0);
            check.within(field, matrix.m11, (least, limits::STIFFNESS.1))?;
            return if rest {
                Err(check.error(field, "has entries along the surface, where it is rigid"))
            } else {
                Ok(*matrix)
            };
        }
        let size = matrix.amax();
        if (matrix - matrix.transpose()).amax() > limits::INERTIA_SLACK * size {
            return Err(check.error(field, "must be symmetric"));
        }
        let symmetric = symmetric(matrix);
        let lowest = SymmetricEigen::new(symmetric).eigenvalues.min();
        // The eigenvalues of a semi-definite matrix are zero to rounding.
        let slack = if least > 0.0 { -least.max(limits::DEFINITE * size) } else { limits::INERTIA_SLACK * size };
        if lowest < -slack {
            let kind = if least > 0.0 { "positive definite" } else { "positive semi-definite" };
            return Err(check.error(field, format!("must be {kind}, but has the eigenvalue {}", plain(lowest))));
        }
        Ok(symmetric)
    }
}

/// The inverse of a matrix, or of its normal entry alone.
fn inverse(matrix: &Matrix3<f64>, whole: bool) -> Matrix3<f64> {
    let alone = || Matrix3::from_partial_diagonal(&[1.0 / matrix.m11]);
    if whole { matrix.try_inverse().unwrap_or_else(alone) } else { alone() }
}

fn symmetric(matrix: &Matrix3<f64>) -> Matrix3<f64> {
    (matrix + matrix.transpose()) * 0.5
}
