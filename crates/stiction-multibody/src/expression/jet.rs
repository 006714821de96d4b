//! Truncated Taylor series: arithmetic on (f, f′, f″).

use std::{
    cmp::Ordering,
    ops::{Add, Div, Mul, Neg, Sub},
};

/// Value and first two time derivatives of a function at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Jet {
    /// f(t).
    pub value: f64,
    /// f′(t).
    pub rate: f64,
    /// f″(t).
    pub curvature: f64,
}

impl Jet {
    /// A constant.
    pub(super) fn constant(value: f64) -> Self {
        Self { value, ..Self::default() }
    }

    /// The independent variable itself.
    pub(super) fn time(t: f64) -> Self {
        Self { value: t, rate: 1.0, curvature: 0.0 }
    }

    /// True if both derivatives are zero.
    fn is_flat(self) -> bool {
        self.rate == 0.0 && self.curvature == 0.0
    }

    /// f(u) from the value and derivatives of f at u: (f(u))′ = f′ u′ and (f(u))″ = f″ u′² + f′ u″.
    fn chain(self, value: f64, first: f64, second: f64) -> Self {
        // An infinite f′ must not turn the zero derivatives of a constant into NaN.
        let scaled = |factor: f64, by: f64| if by == 0.0 { 0.0 } else { factor * by };
        Self {
            value,
            rate: scaled(first, self.rate),
            curvature: scaled(second, self.rate * self.rate) + scaled(first, self.curvature),
        }
    }

    pub(super) fn sin(self) -> Self {
        let (s, c) = libm::sincos(self.value);
        self.chain(s, c, -s)
    }

    pub(super) fn cos(self) -> Self {
        let (s, c) = libm::sincos(self.value);
        self.chain(c, -s, -c)
    }

    pub(super) fn tan(self) -> Self {
        let t = libm::tan(self.value);
        let d = 1.0 + t * t;
        self.chain(t, d, 2.0 * t * d)
    }

    pub(super) fn asin(self) -> Self {
        let x = self.value;
        let d = 1.0 / ((1.0 - x) * (1.0 + x)).sqrt();
        self.chain(libm::asin(x), d, x * d * d * d)
    }

    pub(super) fn acos(self) -> Self {
        let x = self.value;
        let d = 1.0 / ((1.0 - x) * (1.0 + x)).sqrt();
        self.chain(libm::acos(x), -d, -x * d * d * d)
    }

    pub(super) fn atan(self) -> Self {
        let x = self.value;
        let d = 1.0 / (1.0 + x * x);
        self.chain(libm::atan(x), d, -2.0 * x * d * d)
    }

    pub(super) fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, 0.5 / root, -0.25 / (root * self.value))
    }

    pub(super) fn exp(self) -> Self {
        let e = libm::exp(self.value);
        self.chain(e, e, e)
    }

    pub(super) fn log(self) -> Self {
        let inverse = 1.0 / self.value;
        self.chain(libm::log(self.value), inverse, -inverse * inverse)
    }

    pub(super) fn floor(self) -> Self {
        Self::constant(self.value.floor())
    }

    pub(super) fn sign(self) -> Self {
        Self::constant(if self.value == 0.0 { 0.0 } else { self.value.signum() })
    }

    pub(super) fn step(self) -> Self {
        Self::constant(if self.value < 0.0 { 0.0 } else { 1.0 })
    }

    pub(super) fn abs(self) -> Self {
        let magnitude = self.value.abs();
        let turned = if self.just_after(Self::default()) == Ordering::Less { -self } else { self };
        Self { value: magnitude, ..turned }
    }

    pub(super) fn min(self, other: Self) -> Self {
        if self.just_after(other) == Ordering::Greater { other } else { self }
    }

    pub(super) fn max(self, other: Self) -> Self {
        if self.just_after(other) == Ordering::Less { other } else { self }
    }

    /// a − b ⌊a/b⌋, differentiated with the floor held constant.
    pub(super) fn modulo(self, divisor: Self) -> Self {
        let b = divisor.value;
        let mut remainder = libm::fmod(self.value, b);
        if remainder != 0.0 && (remainder < 0.0) != (b < 0.0) {
            remainder += b;
        }
        let quotient = ((self.value - remainder) / b).round();
        let turns = |derivative: f64| if derivative == 0.0 { 0.0 } else { quotient * derivative };
        Self {
            value: remainder,
            rate: self.rate - turns(divisor.rate),
            curvature: self.curvature - turns(divisor.curvature),
        }
    }

    /// aᵇ. With a constant exponent negative bases are legal; otherwise aᵇ = exp(b ln a).
    pub(super) fn power(self, exponent: Self) -> Self {
        let (a, b) = (self.value, exponent.value);
        let value = libm::pow(a, b);
        if exponent.is_flat() {
            // b (b − 1) aᵇ⁻² at a = 0 would be 0·∞ for the exponents 0 and 1.
            let first = if b == 0.0 { 0.0 } else { b * libm::pow(a, b - 1.0) };
            let second = if b == 0.0 || b == 1.0 { 0.0 } else { b * (b - 1.0) * libm::pow(a, b - 2.0) };
            return self.chain(value, first, second);
        }
        let logarithm = exponent * self.log();
        let rate = value * logarithm.rate;
        Self { value, rate, curvature: value * logarithm.curvature + rate * logarithm.rate }
    }

    /// Order of two functions immediately after t: by value, then by rate, then by curvature.
    fn just_after(self, other: Self) -> Ordering {
        let by = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
        by(self.value, other.value).then(by(self.rate, other.rate)).then(by(self.curvature, other.curvature))
    }
}

impl Neg for Jet {
    type Output = Self;

    fn neg(self) -> Self {
        Self { value: -self.value, rate: -self.rate, curvature: -self.curvature }
    }
}

impl Add for Jet {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            rate: self.rate + other.rate,
            curvature: self.curvature + other.curvature,
        }
    }
}

impl Sub for Jet {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Jet {
    type Output = Self;

    /// (f g)′ = f′ g + f g′ and (f g)″ = f″ g + 2 f′ g′ + f g″.
    fn mul(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            rate: self.rate * other.value + self.value * other.rate,
            curvature: self.curvature * other.value + 2.0 * self.rate * other.rate + self.value * other.curvature,
        }
    }
}

impl Div for Jet {
    type Output = Self;

    /// From f = w g: w′ = (f′ − w g′)/g and w″ = (f″ − 2 w′ g′ − w g″)/g.
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        let rate = (self.rate - value * other.rate) / other.value;
        let curvature = (self.curvature - 2.0 * rate * other.rate - value * other.curvature) / other.value;
        Self { value, rate, curvature }
    }
}
