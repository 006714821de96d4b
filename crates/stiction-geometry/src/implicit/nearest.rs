//! A first estimate of the closest points of separated solids, from their support functions.   [IMP-15]
//!
//! Wolfe's nearest-point method seeks the difference b − a of least norm in the hull of a few differences of support
//! points. Each iteration adds the support point towards the origin and drops those that the nearest point does not
//! need.

use nalgebra::Vector3;

use super::gauss::System;
use super::pair::{Pair, Side};

/// Largest number of vertices of the simplex: one more than axes.
const MOST: usize = 4;
/// Largest number of iterations; the estimate is then good enough for Newton's method.
const MOST_ROUNDS: usize = 12;
/// Fraction of the squared distance below which a further decrease ends the search.
const GOOD: f64 = 1e-3;

/// A pair of support points.
#[derive(Clone, Copy, Debug)]
struct Corner {
    a: Vector3<f64>,
    b: Vector3<f64>,
    weight: f64,
}

impl Corner {
    fn difference(&self) -> Vector3<f64> {
        self.b - self.a
    }
}

/// Returns estimates of the closest points; `None` if the solids overlap or have no support functions.
pub(super) fn estimate(pair: &Pair<'_>) -> Option<(Vector3<f64>, Vector3<f64>)> {
    let centres = pair.interior(Side::B) - pair.interior(Side::A);
    let mut simplex = Simplex { corners: [farthest(pair, &centres)?; MOST], count: 1 };
    simplex.corners[0].weight = 1.0;
    for _ in 0..MOST_ROUNDS {
        let [a, b] = simplex.points();
        let line = b - a;
        let square = line.norm_squared();
        if square <= 1e-20 * pair.length * pair.length {
            return None;
        }
        let next = farthest(pair, &line)?;
        let is_known = simplex.corners[..simplex.count].iter().any(|corner| corner.a == next.a && corner.b == next.b);
        if is_known || square - line.dot(&next.difference()) <= GOOD * square {
            return Some((a, b));
        }
        simplex.insert(next, pair.axes)?;
    }
    let [a, b] = simplex.points();
    Some((a, b))
}

/// Returns the points of A farthest along `line` and of B farthest against it.
fn farthest(pair: &Pair<'_>, line: &Vector3<f64>) -> Option<Corner> {
    Some(Corner { a: pair.support(Side::A, line)?, b: pair.support(Side::B, &-line)?, weight: 0.0 })
}

struct Simplex {
    corners: [Corner; MOST],
    count: usize,
}

impl Simplex {
    /// Returns the weighted means of the vertices.
    fn points(&self) -> [Vector3<f64>; 2] {
        let corners = &self.corners[..self.count];
        [corners.iter().map(|c| c.a * c.weight).sum(), corners.iter().map(|c| c.b * c.weight).sum()]
    }

    /// Adds a vertex and moves to the nearest point of the hull; `None` if that is the origin or the simplex is full.
    fn insert(&mut self, corner: Corner, axes: usize) -> Option<()> {
        if self.count > axes {
            return None;
        }
        self.corners[self.count] = corner;
        self.count += 1;
        while self.count > 1 {
            let goal = self.nearest_of_plane()?;
            let step = (0..self.count)
                .filter(|&k| goal[k] <= 0.0)
                .map(|k| self.corners[k].weight / (self.corners[k].weight - goal[k]).max(f64::MIN_POSITIVE))
                .fold(1.0, f64::min);
            for (corner, goal) in self.corners.iter_mut().zip(goal).take(self.count) {
                corner.weight += step * (goal - corner.weight);
            }
            if step >= 1.0 {
                return Some(());
            }
            self.drop_lightest();
        }
        Some(())
    }

    /// Removes the vertex of least weight, which is zero up to round-off.
    fn drop_lightest(&mut self) {
        debug_assert!(self.count > 0, "the simplex has a vertex to drop");
        let weight = |k: &usize| self.corners[*k].weight;
        let Some(lightest) = (0..self.count).min_by(|i, j| weight(i).total_cmp(&weight(j))) else { return };
        self.corners.swap(lightest, self.count - 1);
        self.count -= 1;
    }

    /// Returns the weights of the point of least norm in the plane through the vertices: `p_i · Σ w_j p_j` equal for
    /// all i, Σ w = 1.
    fn nearest_of_plane(&self) -> Option<[f64; MOST]> {
        let n = self.count;
        let mut system = System::new(n + 1, 1);
        let scale = self.corners[..n].iter().map(|c| c.difference().norm_squared()).fold(0.0, f64::max);
        for i in 0..n {
            let p = self.corners[i].difference();
            for j in 0..n {
                system.set(i, j, p.dot(&self.corners[j].difference()) / scale);
            }
            system.set(i, n, 1.0);
            system.set(n, i, 1.0);
        }
        system.set_side(n, 0, 1.0);
        let (solution, rank) = system.solve();
        (rank == n + 1).then(|| std::array::from_fn(|k| solution[k][0]))
    }
}
