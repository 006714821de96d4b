//! The two convex programs that start Newton's method: equal growth of both solids until they touch, and their
//! distance.

use nalgebra::Vector3;

use super::barrier::{Expansion, Program, Square, Unknowns};
use super::function::Function;
use super::jet::Jet;
use super::pair::{Pair, Side};

/// Least t such that some x has f(x) ≤ t and g(x) ≤ t for all functions of A and B. It is feasible for every pair,
/// separated or overlapping.   [IMP-6]
///
/// The unknowns are x and t in units of the pair's length.
pub(super) struct Growth<'a, 'p> {
    pub(super) pair: &'a Pair<'p>,
}

/// Least ½|a₂ − a₁|² with a₁ in A and a₂ in B, which must be separated.   [IMP-8]
///
/// The unknowns are both points in units of the pair's length. Solids without interior are thickened by `thickness`.
pub(super) struct Distance<'a, 'p> {
    pub(super) pair: &'a Pair<'p>,
    pub(super) thickness: f64,
}

/// The point farthest along a direction, at most `limit` lengths from a point inside.
///
/// The unknowns are the displacement from that point in units of `length`.
pub(super) struct Farthest<'a> {
    pub(super) functions: &'a [Function],
    pub(super) direction: Vector3<f64>,
    pub(super) from: Vector3<f64>,
    pub(super) length: f64,
    pub(super) limit: f64,
}

/// Position of t among the unknowns of [`Growth`].
const SIZE: usize = 3;

/// Regularisation of the Hessian in directions without any dependence.
const REGULAR: f64 = 1e-10;

/// Returns side and number of constraint `k`: those of A come first.
fn owner(pair: &Pair<'_>, k: usize) -> (Side, usize) {
    let count = pair.functions(Side::A);
    debug_assert!(k < count + pair.functions(Side::B), "constraints are the functions of A and B");
    if k < count { (Side::A, k) } else { (Side::B, k - count) }
}

fn jet_of(pair: &Pair<'_>, k: usize, x: Vector3<f64>) -> Jet {
    let (side, number) = owner(pair, k);
    pair.jet(side, number, &(x * pair.length))
}

fn point(y: &Unknowns, first: usize) -> Vector3<f64> {
    y.fixed_rows::<3>(first).into_owned()
}

/// Returns a jet as an expansion in the unknowns from `first` on.
fn expansion(pair: &Pair<'_>, jet: &Jet, first: usize) -> Expansion {
    let mut gradient = Unknowns::zeros();
    gradient.fixed_rows_mut::<3>(first).copy_from(&jet.gradient);
    let mut hessian = Square::zeros();
    hessian.fixed_view_mut::<3, 3>(first, first).copy_from(&(jet.hessian * pair.length));
    Expansion { value: jet.value / pair.length, gradient, hessian }
}

impl Program for Growth<'_, '_> {
    fn objective(&self, y: &Unknowns) -> Expansion {
        let mut gradient = Unknowns::zeros();
        gradient[SIZE] = 1.0;
        let mut hessian = Square::from_diagonal_element(REGULAR);
        hessian[(4, 4)] = 1.0;
        hessian[(5, 5)] = 1.0;
        Expansion { value: y[SIZE], gradient, hessian }
    }

    fn constraints(&self) -> usize {
        self.pair.functions(Side::A) + self.pair.functions(Side::B)
    }

    fn constraint(&self, k: usize, y: &Unknowns) -> Expansion {
        let mut grown = expansion(self.pair, &jet_of(self.pair, k, point(y, 0)), 0);
        grown.value -= y[SIZE];
        grown.gradient[SIZE] = -1.0;
        grown
    }
}

impl Growth<'_, '_> {
    /// Returns a strictly feasible start: between the solids, away from their centres, where gauges have kinks.
    pub(super) fn start(&self) -> Unknowns {
        let pair = self.pair;
        let off_centre = Vector3::new(0.09, 0.12, 0.2);
        let [a, b] = [Side::A, Side::B].map(|side| pair.interior(side) / pair.length);
        let middle = match (pair.a.reach(), pair.b.reach()) {
            (Some(_), None) => a,
            (None, Some(_)) => b,
            _ => (a + b) / 2.0,
        };
        let mut y = Unknowns::zeros();
        for k in 0..pair.axes {
            y[k] = middle[k] + off_centre[k];
        }
        let largest = (0..self.constraints()).map(|k| jet_of(pair, k, point(&y, 0)).value / pair.length);
        y[SIZE] = largest.fold(f64::NEG_INFINITY, f64::max) + 0.5;
        y
    }
}

impl Program for Distance<'_, '_> {
    fn objective(&self, y: &Unknowns) -> Expansion {
        let difference = point(y, 3) - point(y, 0);
        let mut gradient = Unknowns::zeros();
        gradient.fixed_rows_mut::<3>(0).copy_from(&-difference);
        gradient.fixed_rows_mut::<3>(3).copy_from(&difference);
        let mut hessian = Square::from_diagonal_element(1.0 + REGULAR);
        for k in 0..3 {
            hessian[(k, k + 3)] = -1.0;
            hessian[(k + 3, k)] = -1.0;
        }
        Expansion { value: difference.norm_squared() / 2.0, gradient, hessian }
    }

    fn constraints(&self) -> usize {
        self.pair.functions(Side::A) + self.pair.functions(Side::B)
    }

    fn constraint(&self, k: usize, y: &Unknowns) -> Expansion {
        let first = if k < self.pair.functions(Side::A) { 0 } else { 3 };
        let mut inside = expansion(self.pair, &jet_of(self.pair, k, point(y, first)), first);
        inside.value -= self.thickness;
        inside
    }
}

impl Distance<'_, '_> {
    /// Returns a strictly feasible start, near the centres but not at their kinks.
    pub(super) fn start(&self) -> Option<Unknowns> {
        let pair = self.pair;
        let mut y = Unknowns::zeros();
        for (side, first) in [(Side::A, 0), (Side::B, 3)] {
            let centre = pair.interior(side) / pair.length;
            let other = pair.interior(if side == Side::A { Side::B } else { Side::A }) / pair.length;
            // Half-spaces are unbounded: their start is near the other solid.
            let wanted = if side == Side::A && pair.a.reach().is_none() || side == Side::B && pair.b.reach().is_none() {
                self.below_surface(side, other)
            } else {
                centre
            };
            for k in 0..pair.axes {
                y[first + k] = wanted[k];
            }
        }
        let is_inside = (0..self.constraints()).all(|k| self.constraint(k, &y).value < 0.0);
        is_inside.then_some(y)
    }

    /// Returns the point of an unbounded solid below `x`, or its own interior point.
    fn below_surface(&self, side: Side, x: Vector3<f64>) -> Vector3<f64> {
        let pair = self.pair;
        if pair.functions(side) != 1 {
            return pair.interior(side) / pair.length;
        }
        let jet = pair.jet(side, 0, &(x * pair.length));
        x - jet.gradient * ((jet.value / pair.length).max(0.0) + 0.5)
    }
}

impl Program for Farthest<'_> {
    fn objective(&self, y: &Unknowns) -> Expansion {
        let mut gradient = Unknowns::zeros();
        gradient.fixed_rows_mut::<3>(0).copy_from(&-self.direction);
        let mut hessian = Square::from_diagonal_element(REGULAR * REGULAR);
        for unused in 3..6 {
            hessian[(unused, unused)] = 1.0;
        }
        Expansion { value: -point(y, 0).dot(&self.direction), gradient, hessian }
    }

    fn constraints(&self) -> usize {
        self.functions.len() + 1
    }

    fn constraint(&self, k: usize, y: &Unknowns) -> Expansion {
        let way = point(y, 0);
        let mut gradient = Unknowns::zeros();
        let mut hessian = Square::zeros();
        if let Some(function) = self.functions.get(k) {
            let jet = function.jet(&(self.from + way * self.length));
            gradient.fixed_rows_mut::<3>(0).copy_from(&jet.gradient);
            hessian.fixed_view_mut::<3, 3>(0, 0).copy_from(&(jet.hessian * self.length));
            return Expansion { value: jet.value / self.length, gradient, hessian };
        }
        debug_assert_eq!(k, self.functions.len(), "the last constraint bounds the displacement");
        // (|y|² / R − R) / 2, a paraboloid with unit slope at the limit.
        gradient.fixed_rows_mut::<3>(0).copy_from(&(way / self.limit));
        hessian.fixed_view_mut::<3, 3>(0, 0).fill_diagonal(1.0 / self.limit);
        Expansion { value: (way.norm_squared() / self.limit - self.limit) / 2.0, gradient, hessian }
    }
}

impl Farthest<'_> {
    /// Returns a start beside the interior point, where a gauge may have its kink, if that is still inside.
    pub(super) fn start(&self) -> Unknowns {
        let mut y = Unknowns::zeros();
        y.fixed_rows_mut::<3>(0).copy_from(&(self.direction * 0.1));
        let is_inside = (0..self.constraints()).all(|k| self.constraint(k, &y).value < 0.0);
        if is_inside { y } else { Unknowns::zeros() }
    }
}
