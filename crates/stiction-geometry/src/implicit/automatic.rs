//! Automatic differentiation: numbers that carry their first and second derivatives with respect to x, y and z.   [IMP-13]

use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

use nalgebra::{Matrix3, Point3, Vector3};

use super::jet::{ConvexFunction, Jet};
use super::norms::power;

/// A number with its gradient and Hessian with respect to x, y and z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual(Jet);

impl Dual {
    /// A constant.
    pub fn constant(value: f64) -> Self {
        Self(Jet { value, ..Jet::ZERO })
    }

    /// Coordinate number `axis`.
    fn coordinate(value: f64, axis: usize) -> Self {
        Self(Jet { value, gradient: Vector3::ith(axis, 1.0), ..Jet::ZERO })
    }

    /// Returns the value without derivatives.
    pub fn value(self) -> f64 {
        self.0.value
    }

    /// φ(u) with the derivatives φ′ and φ″ there: ∇φ = φ′ ∇u, ∇²φ = φ′ ∇²u + φ″ ∇u ∇uᵀ.   [IMP-13]
    fn chain(self, value: f64, first: f64, second: f64) -> Self {
        let Jet { gradient, hessian, .. } = self.0;
        Self(Jet {
            value,
            gradient: gradient * first,
            hessian: hessian * first + gradient * gradient.transpose() * second,
        })
    }

    /// Square root; its derivatives at zero are set to zero.
    pub fn sqrt(self) -> Self {
        let root = self.0.value.sqrt();
        if root > 0.0 { self.chain(root, 0.5 / root, -0.25 / (root * root * root)) } else { Self::constant(root) }
    }

    /// Absolute value; its slope at zero is one.
    pub fn abs(self) -> Self {
        if self.0.value < 0.0 { -self } else { self }
    }

    /// The n-th power.
    pub fn powi(self, n: u32) -> Self {
        self.powf(f64::from(n))
    }

    /// The p-th power of a non-negative number, or of any number if p is whole.
    pub fn powf(self, p: f64) -> Self {
        let x = self.0.value;
        let raised = |exponent: f64| {
            let is_odd = (exponent / 2.0).fract() != 0.0;
            let magnitude = if exponent >= 0.0 { power(x.abs(), exponent) } else { libm::pow(x.abs(), exponent) };
            if x < 0.0 && is_odd { -magnitude } else { magnitude }
        };
        // A zero coefficient takes precedence over an infinite power of zero.
        let term = |coefficient: f64, exponent: f64| {
            if coefficient == 0.0 { 0.0 } else { coefficient * raised(exponent) }
        };
        self.chain(raised(p), term(p, p - 1.0), term(p * (p - 1.0), p - 2.0))
    }

    /// The exponential.
    pub fn exp(self) -> Self {
        let value = libm::exp(self.0.value);
        self.chain(value, value, value)
    }

    /// The natural logarithm.
    pub fn ln(self) -> Self {
        let x = self.0.value;
        self.chain(libm::log(x), 1.0 / x, -1.0 / (x * x))
    }

    /// The sine.
    pub fn sin(self) -> Self {
        let (sine, cosine) = libm::sincos(self.0.value);
        self.chain(sine, cosine, -sine)
    }

    /// The cosine.
    pub fn cos(self) -> Self {
        let (sine, cosine) = libm::sincos(self.0.value);
        self.chain(cosine, -sine, -cosine)
    }

    /// The larger of the two, with its derivatives.
    pub fn max(self, other: Self) -> Self {
        if other.0.value > self.0.value { other } else { self }
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(Jet {
            value: self.0.value + other.0.value,
            gradient: self.0.gradient + other.0.gradient,
            hessian: self.0.hessian + other.0.hessian,
        })
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Dual {
    type Output = Self;
    /// ∇(uv) = u∇v + v∇u, ∇²(uv) = u∇²v + v∇²u + ∇u∇vᵀ + ∇v∇uᵀ.   [IMP-13]
    fn mul(self, other: Self) -> Self {
        let (u, v) = (&self.0, &other.0);
        let mixed: Matrix3<f64> = u.gradient * v.gradient.transpose();
        Self(Jet {
            value: u.value * v.value,
            gradient: v.gradient * u.value + u.gradient * v.value,
            hessian: v.hessian * u.value + u.hessian * v.value + mixed + mixed.transpose(),
        })
    }
}

impl Div for Dual {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let x = other.0.value;
        self * other.chain(1.0 / x, -1.0 / (x * x), 2.0 / (x * x * x))
    }
}

impl Add<f64> for Dual {
    type Output = Self;
    fn add(self, other: f64) -> Self {
        self + Self::constant(other)
    }
}

impl Sub<f64> for Dual {
    type Output = Self;
    fn sub(self, other: f64) -> Self {
        self + Self::constant(-other)
    }
}

impl Mul<f64> for Dual {
    type Output = Self;
    fn mul(self, other: f64) -> Self {
        self.chain(self.0.value * other, other, 0.0)
    }
}

impl Div<f64> for Dual {
    type Output = Self;
    fn div(self, other: f64) -> Self {
        self * (1.0 / other)
    }
}

impl Add<Dual> for f64 {
    type Output = Dual;
    fn add(self, other: Dual) -> Dual {
        other + self
    }
}

impl Sub<Dual> for f64 {
    type Output = Dual;
    fn sub(self, other: Dual) -> Dual {
        -other + self
    }
}

impl Mul<Dual> for f64 {
    type Output = Dual;
    fn mul(self, other: Dual) -> Dual {
        other * self
    }
}

impl Div<Dual> for f64 {
    type Output = Dual;
    fn div(self, other: Dual) -> Dual {
        Dual::constant(self) / other
    }
}

/// A convex function written as a formula, such as `Automatic::new(|[x, y, z]| (x * x + y * y + z * z).sqrt() - 1.0)`.
pub struct Automatic<F>(F);

impl<F: Fn([Dual; 3]) -> Dual + Send + Sync> Automatic<F> {
    /// Creates the function with the given formula of the coordinates.
    pub fn new(formula: F) -> Self {
        Self(formula)
    }
}

impl<F> fmt::Debug for Automatic<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Automatic(..)")
    }
}

impl<F: Fn([Dual; 3]) -> Dual + Send + Sync> ConvexFunction for Automatic<F> {
    fn jet(&self, x: &Point3<f64>) -> Jet {
        let [x, y, z] = [0, 1, 2].map(|axis| Dual::coordinate(x[axis], axis));
        (self.0)([x, y, z]).0
    }
}
