//! Functions of a whole series: derivatives, integrals, extremes, values at a time.

/// Derivative: parabola through three neighbours at inner moments, straight line at the ends.
pub(super) fn derivative(values: &[f64], times: &[f64]) -> Vec<f64> {
    let slope = |i: usize, j: usize| {
        let of = |list: &[f64], k: usize| list.get(k).copied().unwrap_or(f64::NAN);
        (of(values, j) - of(values, i)) / (of(times, j) - of(times, i))
    };
    let span = |i: usize, j: usize| times.get(j).zip(times.get(i)).map_or(f64::NAN, |(b, a)| b - a);
    let last = values.len().saturating_sub(1);
    let at = |k: usize| match k {
        _ if last == 0 => f64::NAN,
        0 => slope(0, 1),
        k if k == last => slope(k - 1, k),
        // The slopes on the two sides, weighted by the length of the other side.
        k => {
            let (before, after) = (span(k - 1, k), span(k, k + 1));
            (after * slope(k - 1, k) + before * slope(k, k + 1)) / (before + after)
        }
    };
    (0..values.len()).map(at).collect()
}

/// Integral over time from the first moment, by the trapezoidal rule.
pub(super) fn integral(values: &[f64], times: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let mut before: Option<(f64, f64)> = None;
    let next = |(x, t): (&f64, &f64)| {
        if let Some((x0, t0)) = before.replace((*x, *t)) {
            sum += 0.5 * (x + x0) * (t - t0);
        }
        sum
    };
    values.iter().zip(times).map(next).collect()
}

/// Cumulative sum.
pub(super) fn running_sum(values: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let next = |x: &f64| {
        sum += x;
        sum
    };
    values.iter().map(next).collect()
}

/// Mean over time without NaN; over moments if the duration is zero.
pub(super) fn mean(values: &[f64], times: &[f64]) -> f64 {
    let known: Vec<_> = values.iter().zip(times).filter(|(x, _)| !x.is_nan()).collect();
    let pairs = known.windows(2).filter_map(|pair| match pair {
        [(x0, t0), (x, t)] => Some((0.5 * (*x + *x0) * (*t - *t0), *t - *t0)),
        _ => None,
    });
    let (area, length) = pairs.fold((0.0, 0.0), |(area, length), (a, l)| (area + a, length + l));
    if length > 0.0 { area / length } else { known.iter().map(|(x, _)| **x).sum::<f64>() / known.len() as f64 }
}

/// Minimum or maximum; NaN if there is no number.
pub(super) fn extreme(values: impl Iterator<Item = f64>, pick: fn(f64, f64) -> f64) -> f64 {
    // `f64::min` and `f64::max` ignore NaN.
    values.fold(f64::NAN, pick)
}

/// Value at a time by linear interpolation; NaN outside of the range.
pub(super) fn at(values: &[f64], times: &[f64], time: f64) -> f64 {
    let after = times.partition_point(|t| *t < time);
    let sample = |k: usize| Some((*times.get(k)?, *values.get(k)?));
    match (after.checked_sub(1).and_then(sample), sample(after)) {
        (_, Some((t, x))) if t == time => x,
        (Some((t0, x0)), Some((t1, x1))) => x0 + (x1 - x0) * ((time - t0) / (t1 - t0)),
        _ => f64::NAN,
    }
}

/// Moving average over the last `window` seconds by the trapezoidal rule. If less time has passed, the average is over that time;
/// at the first moment it is the value itself.
pub(super) fn average(values: &[f64], times: &[f64], window: f64) -> Vec<f64> {
    let area = integral(values, times);
    let start = times.first().copied().unwrap_or(f64::NAN);
    let mean = |((area_now, time), value): ((&f64, &f64), &f64)| {
        let from = (time - window).max(start);
        let length = time - from;
        if length > 0.0 { (area_now - at(&area, times, from)) / length } else { *value }
    };
    area.iter().zip(times).zip(values).map(mean).collect()
}

/// Sum over the moments nearest to `period`, 2 `period` and so on up to the last moment. Values are not interpolated, so that a
/// condition stays 0 or 1.
pub(super) fn sum_every(values: &[f64], times: &[f64], period: f64) -> f64 {
    // The last moment may precede its nominal time by a rounding error.
    let last = times.last().map_or(0.0, |last| libm::floor(last / period + 1e-6));
    let nearest = |time: f64| {
        let after = times.partition_point(|t| *t < time);
        let distance = |k: usize| times.get(k).map_or(f64::INFINITY, |t| (t - time).abs());
        let before = after.saturating_sub(1);
        values.get(if distance(before) < distance(after) { before } else { after }).copied().unwrap_or(f64::NAN)
    };
    let mut sum = 0.0;
    let mut count = 1.0;
    while count <= last {
        sum += nearest(count * period);
        count += 1.0;
    }
    sum
}

/// True if a condition holds: the value is neither zero nor NaN.
pub(super) fn holds(x: f64) -> bool {
    x != 0.0 && !x.is_nan()
}
