//! Limit surfaces: the friction of a patch as a sum of few ellipsoids at its centre of pressure.
//!
//! ```text
//! P(v, ω) = μ N ∫ p |v + ω × x| dx  ≈  μ N Σ_k a_k √(|v|² + e_k² ω²),    Σ a_k = 1,   Σ a_k e_k = ∫ p |x| dx        [SUP-2]
//! ```
//!
//! Each term is a foot with the share a_k of the load and the lever e_k, so one more cone in a step and nothing new in it. Pure
//! sliding and pure turning are exact; between them the a_k are the least-squares fit with at most [`TERMS`] terms over a grid of levers.

use nalgebra::{DMatrix, DVector, Vector2};

use super::pressure::{Pressure, PressureError};

/// Terms at most.
const TERMS: usize = 4;

/// Levers tried, in units of the mean distance ∫ p |x| of the pressure from its centre. Among them is 1, which alone satisfies both conditions.
const LEVERS: [f64; 15] = [0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.2];

/// Motions fitted: from pure sliding to pure turning, each in so many directions.
const FITTED: (usize, usize) = (33, 16);

/// Motions the error is measured at.
const MEASURED: (usize, usize) = (101, 36);

/// Rings and points on each that stand for a uniform disc.
const DISC: (usize, usize) = (24, 48);

/// A patch's friction: shares of the load with levers, at the centre of pressure.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitSurface {
    /// Centre of pressure in the body frame, m.
    pub centre: [f64; 2],
    /// The ellipsoids whose sum it is.
    pub terms: Vec<LimitTerm>,
    /// The worst relative error of P(v, ω) against the distribution it was fitted to; zero for a surface that was given.
    pub error: f64,
}

/// One ellipsoid |f|² + (τ/e)² ≤ (μ a N)².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitTerm {
    /// Its share a of the load.
    pub share: f64,
    /// Its lever e, m.
    pub lever: f64,
}

impl LimitSurface {
    /// The ellipsoid with this lever, at the origin of the body.
    pub fn ellipsoid(lever: f64) -> Result<Self, PressureError> {
        if !(lever.is_finite() && lever >= 0.0) {
            return Err(PressureError::Lever(lever));
        }
        Ok(Self { centre: [0.0; 2], terms: vec![LimitTerm { share: 1.0, lever }], error: 0.0 })
    }

    /// That of a uniformly loaded disc around the origin of the body.
    pub fn uniform_disc(radius: f64) -> Result<Self, PressureError> {
        if !(radius.is_finite() && radius >= 0.0) {
            return Err(PressureError::Lever(radius));
        }
        let (rings, spokes) = DISC;
        let points: Vec<_> = (0..rings * spokes)
            .map(|k| {
                // Rings of equal area, each with its points at the mean radius of the ring.
                let (inner, outer) = ((k / spokes) as f64, (k / spokes + 1) as f64);
                let edge = |ring: f64| (ring / rings as f64).sqrt();
                let mean = 2.0 / 3.0 * rings as f64 * (edge(outer).powi(3) - edge(inner).powi(3));
                let (sin, cos) = libm::sincos(std::f64::consts::TAU * (k % spokes) as f64 / spokes as f64);
                [radius * mean * cos, radius * mean * sin]
            })
            .collect();
        let fit = Self::of_pressure(&points, &vec![1.0; points.len()])?;
        Ok(Self { centre: [0.0; 2], ..fit })
    }

    /// The fit to a pressure distribution; [`Self::error`] tells how good it is. It is the same in all directions, as the distribution
    /// should be.
    pub fn of_pressure(points: &[[f64; 2]], loads: &[f64]) -> Result<Self, PressureError> {
        let pressure = Pressure::new(points, loads)?;
        let mean: f64 = pressure.parts.iter().map(|(x, share)| share * x.norm()).sum();
        if mean == 0.0 {
            return Ok(Self { centre: pressure.centre.into(), ..Self::ellipsoid(0.0)? });
        }
        let terms = Fit::new(&pressure, mean).best();
        let terms = terms.into_iter().map(|(lever, share)| LimitTerm { share, lever: lever * mean }).collect();
        let mut surface = Self { centre: pressure.centre.into(), terms, error: 0.0 };
        surface.error = motions(MEASURED, mean)
            .map(|(v, omega)| (surface.power(v.into(), omega) / pressure.power(v, omega) - 1.0).abs())
            .fold(0.0, f64::max);
        Ok(surface)
    }

    /// P(v, ω) per unit of μ and load, v being the velocity of the centre.   [SUP-2]
    pub fn power(&self, v: [f64; 2], omega: f64) -> f64 {
        let speed = Vector2::from(v).norm();
        self.terms.iter().map(|term| term.share * libm::hypot(speed, term.lever * omega)).sum()
    }
}

/// Motions of size one from pure sliding to pure turning: |v| = cos s, ω R = sin s, v in all directions.
fn motions((shares, directions): (usize, usize), mean: f64) -> impl Iterator<Item = (Vector2<f64>, f64)> {
    (0..shares).flat_map(move |k| {
        let (sin, cos) = libm::sincos(std::f64::consts::FRAC_PI_2 * k as f64 / (shares - 1) as f64);
        (0..directions).map(move |j| {
            let (y, x) = libm::sincos(std::f64::consts::TAU * j as f64 / directions as f64);
            (Vector2::new(x, y) * cos, sin / mean)
        })
    })
}

/// Normal equations of the fit over all levers of the grid: the rows are relative, Σ a_k P_k / P = 1.
struct Fit {
    normal: DMatrix<f64>,
    right: DVector<f64>,
}

impl Fit {
    fn new(pressure: &Pressure, mean: f64) -> Self {
        let count = LEVERS.len();
        let (mut normal, mut right) = (DMatrix::zeros(count, count), DVector::zeros(count));
        for (v, omega) in motions(FITTED, mean) {
            let (speed, power) = (v.norm(), pressure.power(v, omega));
            let row = DVector::from_fn(count, |k, _| libm::hypot(speed, LEVERS[k] * mean * omega) / power);
            normal += &row * row.transpose();
            right += row;
        }
        Self { normal, right }
    }

    /// The non-negative fit with the smallest residual among all choices of at most [`TERMS`] levers, as (lever, share).
    fn best(&self) -> Vec<(f64, f64)> {
        let mut best: (f64, Vec<(f64, f64)>) = (f64::INFINITY, vec![(1.0, 1.0)]);
        let all = 1_usize << LEVERS.len();
        for choice in (1..all).filter(|choice| choice.count_ones() as usize <= TERMS) {
            let chosen: Vec<usize> = (0..LEVERS.len()).filter(|k| choice & (1 << k) != 0).collect();
            if let Some((residual, shares)) = self.solve(&chosen)
                && residual < best.0
            {
                best = (residual, chosen.iter().map(|&k| LEVERS[k]).zip(shares).collect());
            }
        }
        best.1
    }

    /// The fit with these levers under Σ a = 1 and Σ a e = 1, unless a share is negative: its residual up to a constant, and the shares.
    fn solve(&self, chosen: &[usize]) -> Option<(f64, Vec<f64>)> {
        let n = chosen.len();
        let condition = |row: usize, k: usize| if row == 0 { 1.0 } else { LEVERS[chosen[k]] };
        let matrix = DMatrix::from_fn(n + 2, n + 2, |i, j| match (i < n, j < n) {
            (true, true) => self.normal[(chosen[i], chosen[j])],
            (true, false) => condition(j - n, i),
            (false, true) => condition(i - n, j),
            (false, false) => 0.0,
        });
        let right = DVector::from_fn(n + 2, |i, _| if i < n { self.right[chosen[i]] } else { 1.0 });
        // One lever can satisfy both conditions only if it is the mean itself.
        let solution = if n == 1 {
            DVector::from_element(1, if LEVERS[chosen[0]] == 1.0 { 1.0 } else { return None })
        } else {
            matrix.clone().lu().solve(&right)?
        };
        let shares = solution.rows(0, n).into_owned();
        if !shares.iter().all(|share| *share >= 0.0) {
            return None;
        }
        let residual = shares.dot(&(matrix.view((0, 0), (n, n)) * &shares)) - 2.0 * shares.dot(&right.rows(0, n));
        Some((residual, shares.iter().copied().collect()))
    }
}
