//! Closest points by formulas: balls with balls, and half-spaces with all solids that have a support function.

use nalgebra::Vector3;

use super::convex::{Convex, Form};
use super::kkt::State;
use super::multipliers::Multipliers;
use super::pair::{Pair, Side};

/// Returns the closest points and whether they are unique; `None` if there is no formula.
pub(super) fn closest(pair: &Pair<'_>) -> Option<(State, bool)> {
    match (pair.a.form(), pair.b.form()) {
        (Form::Ball { radius: r }, Form::Ball { radius: s }) => Some(balls(pair, r, s)),
        (Form::Ball { radius }, Form::HalfSpace { normal }) => {
            let up = pair.turn(&normal);
            let height = -up.dot(&pair.offset) - radius;
            Some((state(up * -radius, -up, height), true))
        }
        (Form::HalfSpace { normal }, Form::Ball { radius }) => {
            let height = normal.dot(&pair.offset) - radius;
            let b = pair.offset - normal * radius;
            Some((state(b - normal * height, normal, height), true))
        }
        (_, Form::HalfSpace { normal }) => {
            let up = pair.turn(&normal);
            let a = single(pair.a)?.support(&-up)?;
            let height = up.dot(&(a - pair.offset));
            let lambda = Multipliers::single(0, pair.jet(Side::A, 0, &a).gradient.norm().recip());
            Some((State { lambda, ..state(a, -up, height) }, true))
        }
        (Form::HalfSpace { normal }, _) => {
            let b = pair.turn(&single(pair.b)?.support(&pair.turn_back(&-normal))?) + pair.offset;
            let height = normal.dot(&b);
            let mu = Multipliers::single(0, pair.jet(Side::B, 0, &b).gradient.norm().recip());
            Some((State { mu, ..state(b - normal * height, normal, height) }, true))
        }
        _ => None,
    }
}

/// Returns a solid of one function, which has one multiplier.
fn single(convex: &Convex) -> Option<&Convex> {
    (convex.functions() == 1).then_some(convex)
}

/// Closest points along the line of centres; for concentric balls the normal is y (in the plane) or z.
fn balls(pair: &Pair<'_>, r: f64, s: f64) -> (State, bool) {
    let distance = pair.offset.norm();
    let is_unique = distance > 1e-14 * (r + s);
    let normal = if is_unique { pair.offset / distance } else { Vector3::ith(pair.axes - 1, 1.0) };
    (state(normal * r, normal, distance - r - s), is_unique)
}

/// State with unit multipliers: gauges of balls and half-spaces have unit gradients.
fn state(a: Vector3<f64>, normal: Vector3<f64>, gap: f64) -> State {
    State { a, b: a + normal * gap, gap, lambda: Multipliers::single(0, 1.0), mu: Multipliers::single(0, 1.0) }
}
