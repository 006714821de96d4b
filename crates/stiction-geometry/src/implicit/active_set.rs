//! The active-set method around Newton's method, and the optimality certificate.

use nalgebra::Vector3;

use super::convex::Convex;
use super::kkt::{Linearised, State, newton};
use super::multipliers::{Multipliers, enter, nearest_in_cone, push_if_independent};
use super::pair::{Pair, Side};

/// Largest number of changes of the active set.
const MOST_CHANGES: usize = 24;
/// Smallest violation of a constraint that counts, in units of the pair's length.
const VIOLATED: f64 = 1e-12;
/// Largest value of a function that can be active at the solution, in units of the pair's length.
const BINDING: f64 = 1e-9;

/// Solves by Newton's method, adding violated functions to the active set and dropping those with negative
/// multipliers.
pub(super) fn solve(pair: &Pair<'_>, start: &State, gradients: &mut Vec<(usize, Vector3<f64>)>) -> Linearised {
    let mut current = newton(pair, start);
    for _ in 0..MOST_CHANGES {
        let mut next = current.state;
        let changed_a = update_active_set(pair, Side::A, &next.a, &mut next.lambda, gradients);
        let changed_b = update_active_set(pair, Side::B, &next.b, &mut next.mu, gradients);
        if !(changed_a || changed_b) || next.lambda.is_empty() || next.mu.is_empty() {
            break;
        }
        current = newton(pair, &next);
    }
    current
}

/// Adds the most violated function and drops the most negative multiplier; returns whether the set changed.
fn update_active_set(
    pair: &Pair<'_>,
    side: Side,
    x: &Vector3<f64>,
    multipliers: &mut Multipliers,
    gradients: &mut Vec<(usize, Vector3<f64>)>,
) -> bool {
    let least = multipliers.iter().map(|(_, m)| m).fold(0.0, f64::min);
    let mut worst = (0, VIOLATED * pair.length);
    for k in 0..pair.functions(side) {
        let value = pair.jet(side, k, x).value;
        if value > worst.1 && !multipliers.contains(k) {
            worst = (k, value);
        }
    }
    let is_violated = worst.1 > VIOLATED * pair.length;
    if least < 0.0 {
        multipliers.retain(|_, m| m > least);
    }
    if is_violated {
        gradients.clear();
        gradients.extend(multipliers.iter().map(|(k, _)| (k, pair.jet(side, k, x).gradient)));
        let entering = pair.jet(side, worst.0, x).gradient;
        enter(multipliers, gradients, worst.0, &entering, pair.axes);
    }
    least < 0.0 || is_violated
}

/// Returns the active set of a solid at a point near its surface, for a given outward normal: the functions within
/// `band` of the largest.
pub(super) fn initial_active_set(
    pair: &Pair<'_>,
    side: Side,
    x: &Vector3<f64>,
    outward: &Vector3<f64>,
    band: f64,
    gradients: &mut Vec<(usize, Vector3<f64>)>,
) -> Multipliers {
    let count = pair.functions(side);
    if count == 1 {
        let length = pair.jet(side, 0, x).gradient.norm();
        return Multipliers::single(0, 1.0 / length.max(1e-3));
    }
    gradients.clear();
    let largest = (0..count).map(|k| pair.jet(side, k, x).value).fold(f64::NEG_INFINITY, f64::max);
    for k in 0..count {
        let jet = pair.jet(side, k, x);
        if jet.value >= largest - band {
            gradients.push((k, jet.gradient));
        }
    }
    let found = nearest_in_cone(outward, gradients);
    if found.is_empty() { gradients.first().map_or(found, |&(k, _)| Multipliers::single(k, 1.0)) } else { found }
}

/// Returns a state in which a point has as many active functions as there are axes, with zero multipliers if
/// necessary. All functions of a point vanish there; with fewer active ones the point could slide.
pub(super) fn with_complete_points(
    pair: &Pair<'_>,
    state: &State,
    gradients: &mut Vec<(usize, Vector3<f64>)>,
) -> State {
    let mut complete = |side: Side, convex: &Convex, x: &Vector3<f64>, multipliers: &Multipliers| {
        let mut multipliers = *multipliers;
        for k in (0..convex.functions()).filter(|_| convex.is_point()) {
            if multipliers.len() < pair.axes && !multipliers.contains(k) {
                gradients.clear();
                gradients.extend(multipliers.iter().map(|(k, _)| (k, pair.jet(side, k, x).gradient)));
                push_if_independent(&mut multipliers, gradients, k, &pair.jet(side, k, x).gradient);
            }
        }
        multipliers
    };
    State {
        lambda: complete(Side::A, pair.a, &state.a, &state.lambda),
        mu: complete(Side::B, pair.b, &state.b, &state.mu),
        ..*state
    }
}

/// Returns the largest violation of the closest-point conditions, by their definition.   [IMP-4]
pub(super) fn residual(pair: &Pair<'_>, found: &Linearised) -> f64 {
    let State { a, b, gap, lambda, mu } = &found.state;
    let n = found.normal;
    let line = (b - a - n * *gap).amax() / pair.length;
    let balance = (n + found.opposite).amax();
    let unit = (n.norm() - 1.0).abs();
    let complementarity = |side: Side, x: &Vector3<f64>, multipliers: &Multipliers| {
        let negative = multipliers.iter().map(|(_, m)| -m).fold(0.0, f64::max);
        (0..pair.functions(side)).fold(negative, |worst, k| {
            let value = pair.jet(side, k, x).value / pair.length;
            worst.max(if multipliers.contains(k) { value.abs() } else { value })
        })
    };
    let parts = [line, balance, unit, complementarity(Side::A, a, lambda), complementarity(Side::B, b, mu)];
    if parts.iter().any(|part| part.is_nan()) { f64::INFINITY } else { parts.into_iter().fold(0.0, f64::max) }
}

/// Returns the band of values in which functions may be active at the solution.
pub(super) fn binding(pair: &Pair<'_>) -> f64 {
    BINDING * pair.length
}
