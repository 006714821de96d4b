//! Gauges of ellipsoids and superquadrics: scaled norms, whose linear growth suits Newton's method.   [IMP-1]

use nalgebra::{Matrix3, Vector3};

use super::jet::Jet;

/// Smallest norm in a denominator.
const LEAST_NORM: f64 = 1e-12;
/// Norm below which the gauge is a paraboloid, because a norm has a kink at its centre.
const CORE: f64 = 0.5;

/// s (φ(‖u‖₂) − 1) with u = x ∘ `inverse`.   [IMP-1]
pub(super) fn quadric(x: &Vector3<f64>, inverse: &Vector3<f64>, scale: f64) -> Jet {
    let u = x.component_mul(inverse);
    let squares = Matrix3::from_diagonal(&inverse.component_mul(inverse));
    let along = u.component_mul(inverse);
    let norm = u.norm();
    if norm < CORE {
        let factor = scale / CORE;
        let value = scale * (core_value(norm) - 1.0);
        return Jet { value, gradient: along * factor, hessian: squares * factor };
    }
    let direction = along / norm;
    Jet {
        value: scale * (norm - 1.0),
        gradient: direction * scale,
        hessian: (squares - direction * direction.transpose()) * (scale / norm),
    }
}

/// φ(ρ) = ρ from ρ = c on, and (ρ²/c + c)/2 below, with the same slope at c.   [IMP-1]
fn core_value(norm: f64) -> f64 {
    f64::midpoint(norm * norm / CORE, CORE)
}

/// `s (φ(‖(‖(u_x, u_y)‖_p, u_z)‖_q) − 1)` with u = x ∘ `inverse`.   [IMP-1]
pub(super) fn superquadric(x: &Vector3<f64>, inverse: &Vector3<f64>, exponents: [f64; 2], scale: f64) -> Jet {
    let norm = nested_norm(&x.component_mul(inverse), exponents);
    let in_space = |gradient: Vector3<f64>, hessian: Matrix3<f64>| {
        (gradient.component_mul(inverse), hessian.component_mul(&(inverse * inverse.transpose())))
    };
    if norm.value < CORE {
        let g = norm.gradient;
        let hessian = norm.hessian * norm.value + g * g.transpose();
        let (gradient, hessian) = in_space(g * (norm.value * scale / CORE), hessian * (scale / CORE));
        return Jet { value: scale * (core_value(norm.value) - 1.0), gradient, hessian };
    }
    let (gradient, hessian) = in_space(norm.gradient * scale, norm.hessian * scale);
    Jet { value: scale * (norm.value - 1.0), gradient, hessian }
}

/// `‖(‖(u_x, u_y)‖_p, u_z)‖_q`.   [IMP-2]
fn nested_norm(u: &Vector3<f64>, [p, q]: [f64; 2]) -> Jet {
    let inner = PowerNorm::of(u.x, u.y, p);
    let outer = PowerNorm::of(inner.norm, u.z, q);
    let [along, across] = outer.gradient;
    let [[ww, wz], [_, zz]] = outer.hessian();
    // α ∇²w, with α = ∂ρ/∂w ~ (w/ρ)^(q−1) and ∇²w ~ 1/w multiplied before they are rounded.
    let bend = outer.power_less_two[0] / outer.norm;
    let [[xx, xy], [_, yy]] = inner.shape();
    let [gx, gy] = inner.gradient;
    let mixed = ww * gx * gy + bend * xy;
    let hessian = Matrix3::new(
        ww * gx * gx + bend * xx,
        mixed,
        wz * gx,
        mixed,
        ww * gy * gy + bend * yy,
        wz * gy,
        wz * gx,
        wz * gy,
        zz,
    );
    Jet { value: outer.norm, gradient: Vector3::new(along * gx, along * gy, across), hessian }
}

/// Returns the point of an ellipsoid farthest along `d`: A²d / |Ad| with A the semi-axes.   [IMP-12]
pub(super) fn quadric_farthest(d: &Vector3<f64>, inverse: &Vector3<f64>) -> Vector3<f64> {
    let scaled = d.zip_map(inverse, along_axis);
    let norm = scaled.norm().max(f64::MIN_POSITIVE);
    (scaled / norm).zip_map(inverse, along_axis)
}

/// Returns the point of a superquadric farthest along `d`, by the dual norms of exponents p/(p−1) and
/// q/(q−1).   [IMP-12]
pub(super) fn superquadric_farthest(d: &Vector3<f64>, inverse: &Vector3<f64>, [p, q]: [f64; 2]) -> Vector3<f64> {
    let scaled = d.zip_map(inverse, along_axis);
    let scaled = scaled / scaled.amax().max(f64::MIN_POSITIVE);
    let dual = |exponent: f64| exponent / (exponent - 1.0);
    let inner = PowerNorm::of(scaled.x, scaled.y, dual(p));
    let outer = PowerNorm::of(inner.norm, scaled.z, dual(q));
    let [w, z] = outer.gradient;
    let [x, y] = inner.gradient;
    Vector3::new(w * x, w * y, z).zip_map(inverse, along_axis)
}

/// Multiplies by the semi-axis; zero for directions without one.
fn along_axis(coordinate: f64, inverse: f64) -> f64 {
    if inverse > 0.0 { coordinate / inverse } else { 0.0 }
}

/// Returns the support function of a superquadric along `d`.   [IMP-12]
pub(crate) fn superquadric_support(d: &Vector3<f64>, semi_axes: [f64; 3], exponents: [f64; 2]) -> f64 {
    d.dot(&superquadric_farthest(d, &Vector3::from(semi_axes).map(f64::recip), exponents))
}

/// Returns the support function of a superellipse along `d`.   [IMP-12]
pub(crate) fn superellipse_support([x, y]: [f64; 2], [a, b]: [f64; 2], exponent: f64) -> f64 {
    superquadric_support(&Vector3::new(x, y, 0.0), [a, b, 1.0], [exponent, 2.0])
}

/// Returns the distance of the farthest point of a superellipse from its centre.
///
/// With X = |x/a|^p, Y = 1 − X, the square a² X^(2/p) + b² Y^(2/p) is greatest where X/Y = (a/b)^(2p/(p−2)); that is
/// ‖(a, b)‖ of exponent 2p/(p−2).   [IMP-12]
pub(crate) fn superellipse_reach([a, b]: [f64; 2], exponent: f64) -> f64 {
    holder(a, b, exponent)
}

/// Returns the distance of the farthest point of a superquadric from its centre, by the same formula
/// twice.   [IMP-12]
pub(crate) fn superquadric_reach([a, b, c]: [f64; 3], [p, q]: [f64; 2]) -> f64 {
    holder(holder(a, b, p), c, q)
}

/// ‖(a, b)‖ of exponent 2p/(p−2): the larger of the two for p = 2.
fn holder(a: f64, b: f64, p: f64) -> f64 {
    let larger = a.max(b);
    if p <= 2.0 {
        return larger;
    }
    let exponent = 2.0 * p / (p - 2.0);
    larger * libm::pow(libm::pow(a / larger, exponent) + libm::pow(b / larger, exponent), 1.0 / exponent)
}

/// v = (|x|^p + |y|^p)^(1/p) and its derivatives: with r = |·|/v,
/// ∂v = sign · r^(p−1) and ∂²v = (p − 1)/v (r^(p−2) δ − ∂v ∂vᵀ).   [IMP-2]
struct PowerNorm {
    exponent: f64,
    norm: f64,
    gradient: [f64; 2],
    /// r^(p−2) of both arguments.
    power_less_two: [f64; 2],
}

impl PowerNorm {
    fn of(x: f64, y: f64, exponent: f64) -> Self {
        // Division by the larger argument avoids underflow and overflow of the powers.
        let larger = x.abs().max(y.abs()).max(LEAST_NORM);
        let ratios = [x.abs() / larger, y.abs() / larger];
        let sum = power(ratios[0], exponent) + power(ratios[1], exponent);
        let root = root(sum, exponent).max(LEAST_NORM);
        let normalised = ratios.map(|ratio| ratio / root);
        let power_less_two = normalised.map(|ratio| power(ratio, exponent - 2.0));
        let less_one = |k: usize| {
            if exponent >= 2.0 { power_less_two[k] * normalised[k] } else { power(normalised[k], exponent - 1.0) }
        };
        let gradient = [less_one(0).copysign(x), less_one(1).copysign(y)];
        Self { exponent, norm: larger * root, gradient, power_less_two }
    }

    /// v ∂²v.
    fn shape(&self) -> [[f64; 2]; 2] {
        let factor = self.exponent - 1.0;
        let [gx, gy] = self.gradient;
        let [px, py] = self.power_less_two;
        [[factor * (px - gx * gx), -factor * gx * gy], [-factor * gx * gy, factor * (py - gy * gy)]]
    }

    fn hessian(&self) -> [[f64; 2]; 2] {
        self.shape().map(|row| row.map(|entry| entry / self.norm))
    }
}

/// Returns x^p for x ≥ 0, by multiplications if p is a small whole number.
pub(super) fn power(x: f64, p: f64) -> f64 {
    const MOST: f64 = 64.0;
    if p != p.trunc() || !(0.0..=MOST).contains(&p) {
        return libm::pow(x, p);
    }
    let (mut result, mut square, mut left) = (1.0, x, p);
    while left > 0.0 {
        let half = (0.5 * left).trunc();
        if left > 2.0 * half {
            result *= square;
        }
        square *= square;
        left = half;
    }
    result
}

/// Returns x^(1/p) for x ≥ 0.
fn root(x: f64, p: f64) -> f64 {
    if p == 2.0 {
        x.sqrt()
    } else if p == 4.0 {
        x.sqrt().sqrt()
    } else {
        libm::pow(x, 1.0 / p)
    }
}
