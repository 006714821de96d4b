//! Three support points: their loads by statics, and tripods equivalent to pressure distributions and limit surfaces.

use nalgebra::{Matrix2, Vector2};

use super::pressure::{Pressure, PressureError};

/// Twice the area of the triangle over the square of its longest side, up to which the support points count as collinear.
const IN_LINE: f64 = 1e-9;

/// Largest magnitude of a negative fraction of the weight that counts as rounding: the centre of mass is above an edge of the triangle.
const ROUNDING: f64 = 1e-12;

/// Fractions of the weight of three support points: the barycentric coordinates of the centre of mass, which is the origin.   [SUP-1]
///
/// The reason of a refusal names the support point with the most negative load.
pub(crate) fn load_fractions(support_points: &[[f64; 2]; 3]) -> Result<[f64; 3], String> {
    let [a, b, c] = support_points.map(Vector2::from);
    let twice_area = |p: &Vector2<f64>, q: &Vector2<f64>, r: &Vector2<f64>| (q - p).perp(&(r - p));
    let whole = twice_area(&a, &b, &c);
    let longest = [b - a, c - b, a - c].iter().fold(0.0, |most: f64, side| most.max(side.norm_squared()));
    if whole.abs() <= IN_LINE * longest {
        return Err("the three points are in line: they carry no torque about it; spread them".to_owned());
    }
    let centre = Vector2::zeros();
    let fractions = [(b, c), (c, a), (a, b)].map(|(p, q)| twice_area(&centre, &p, &q) / whole);
    let least = fractions.iter().enumerate().min_by(|(_, x), (_, y)| x.total_cmp(y));
    if let Some((support_point, fraction)) = least
        && *fraction < -ROUNDING
    {
        return Err(format!(
            "the centre of mass is outside the triangle of the points: point {support_point} (counted from 0) would have to pull with {:.3} of the weight; place the points around the origin of the body",
            -fraction
        ));
    }
    Ok(fractions.map(|fraction| fraction.max(0.0)))
}

/// Three support points of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tripod {
    /// Positions in the body frame, m.
    pub points: [[f64; 2]; 3],
}

impl Tripod {
    /// Three support points with equal loads whose weight, centre and second moments are those of a pressure distribution.   [SUP-3]
    pub fn of_pressure(points: &[[f64; 2]], loads: &[f64]) -> Result<Self, PressureError> {
        let pressure = Pressure::new(points, loads)?;
        let covariance = pressure.covariance();
        let (xx, xy, yy) = (covariance.m11, covariance.m12, covariance.m22);
        // L of L Lᵀ = covariance, written out: for points in line it exists too, but Cholesky's method would divide by zero.
        let first = xx.sqrt();
        let across = if first > 0.0 { xy / first } else { 0.0 };
        let root = Matrix2::new(first, 0.0, across, (yy - across * across).max(0.0).sqrt());
        Ok(Self::around(pressure.centre, |e| root * e))
    }

    /// Equilateral tripod whose limits are `force` in pure sliding and `torque` in pure rotation.   [SUP-3]
    pub fn of_limit_surface(force: f64, torque: f64, centre: [f64; 2]) -> Result<Self, PressureError> {
        let radius = torque / force;
        if !(radius.is_finite() && force > 0.0 && torque >= 0.0 && centre.iter().all(|x| x.is_finite())) {
            return Err(PressureError::Limits { force, torque });
        }
        Ok(Self::around(centre.into(), |e| e * (radius / std::f64::consts::SQRT_2)))
    }

    /// Images of an equilateral triangle of radius √2, whose second moments are one; its first corner is towards +y.
    fn around(centre: Vector2<f64>, image: impl Fn(Vector2<f64>) -> Vector2<f64>) -> Self {
        let (far, near, half) = (std::f64::consts::SQRT_2, 1.5_f64.sqrt(), 0.5_f64.sqrt());
        let corners = [Vector2::new(0.0, far), Vector2::new(-near, -half), Vector2::new(near, -half)];
        Self { points: corners.map(|e| (centre + image(e)).into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_balance_the_weight() {
        let support_points = [[0.3, 0.1], [-0.2, 0.25], [-0.05, -0.4]];
        let fractions = load_fractions(&support_points).unwrap();
        assert!((fractions.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        for k in 0..2 {
            let moment: f64 = support_points.iter().zip(fractions).map(|(point, fraction)| point[k] * fraction).sum();
            assert!(moment.abs() < 1e-16, "{moment}");
        }
        assert!(fractions.iter().all(|&fraction| fraction > 0.0));
        // The order of the points, and with it the sign of the area, does not matter.
        let [a, b, c] = support_points;
        let reversed = load_fractions(&[c, b, a]).unwrap();
        assert!(reversed.iter().rev().zip(fractions).all(|(x, y)| (x - y).abs() < 1e-15));
    }

    #[test]
    fn a_centre_of_mass_outside_and_feet_in_line_are_refused() {
        let outside = load_fractions(&[[1.0, 0.0], [2.0, 1.0], [2.0, -1.0]]).unwrap_err();
        // Fractions a, b, b with a + 2 b = 1 and a + 4 b = 0: the two outer points pull with half the weight each.
        assert!(outside.contains("point 1") && outside.contains("0.500 of the weight"), "{outside}");
        assert!(load_fractions(&[[1.0, 0.0], [2.0, 0.0], [-3.0, 0.0]]).unwrap_err().contains("in line"));
        assert_eq!(load_fractions(&[[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).unwrap(), [0.5, 0.5, 0.0]);
    }
}
