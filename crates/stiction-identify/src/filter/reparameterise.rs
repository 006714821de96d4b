//! Unbounded coordinates of bounded parameters.

use serde::{Deserialize, Serialize};
use stiction_study::Stream;

use super::{Drift, particle::normal};
use crate::Parameter;

/// Treatment of the bounds of parameters in their random walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// They walk in their logarithm with one bound, in their logit with two: the bounds are always satisfied.   [FILT-2]
    #[default]
    Reparameterised,
    /// They walk in their value, which is clamped to the bounds.
    Clamped,
}

/// Map from a coordinate u without bounds to the value x of a parameter.   [FILT-2]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Map {
    /// x = u, clamped to the bounds.
    Clamped,
    /// x = low + exp u.
    Above(f64),
    /// x = high − exp u.
    Below(f64),
    /// x = low + (high − low)/(1 + exp −u).
    Between(f64, f64),
}

/// Distance by which initial guesses at a bound are moved inside, as a fraction of the range or of the scale. The coordinate is finite
/// there.
const INSIDE: f64 = 0.05;

/// Largest coordinate: beyond it values do not change any more, or are infinite.
const FARTHEST: f64 = 30.0;

/// One parameter with its random walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coordinate {
    map: Map,
    bounds: [f64; 2],
    /// Initial guess, in the coordinate.
    guess: f64,
    /// Deviation from row to row, in the value.
    walk: f64,
    /// Smallest dx/du that is used, that of a value near a bound.
    least: f64,
    /// Deviation of the initial guess, in the coordinate; none if it is uniform between the bounds.
    spread: Option<f64>,
}

impl Coordinate {
    pub(super) fn new(parameter: &Parameter, drift: Drift, keep: Keep) -> Self {
        let [low, high] = parameter.bounds;
        let scale = parameter.scale.abs();
        let map = match (keep, low.is_finite(), high.is_finite()) {
            (Keep::Clamped, ..) | (_, false, false) => Map::Clamped,
            (_, true, false) => Map::Above(low),
            (_, false, true) => Map::Below(high),
            (_, true, true) => Map::Between(low, high),
        };
        // Deviations are given in x; the coordinate needs them divided by dx/du.
        let least = match map {
            Map::Clamped => 1.0,
            Map::Above(_) | Map::Below(_) => INSIDE * scale,
            Map::Between(low, high) => INSIDE * (1.0 - INSIDE) * (high - low),
        };
        let x = match map {
            Map::Clamped => parameter.start.max(low).min(high),
            Map::Above(low) => parameter.start.max(low + least),
            Map::Below(high) => parameter.start.min(high - least),
            Map::Between(low, high) => {
                let margin = INSIDE * (high - low);
                parameter.start.max(low + margin).min(high - margin)
            }
        };
        let slope = map.slope(x);
        let spread = match drift.spread {
            Some(spread) => Some(spread / slope),
            None if low.is_finite() && high.is_finite() => None,
            None => Some(0.5 * scale / slope),
        };
        Self { map, bounds: [low, high], guess: map.coordinate(x), walk: drift.walk, least, spread }
    }

    /// Draws from the prior of the parameter.
    pub(super) fn first(&self, stream: &mut Stream) -> f64 {
        let [low, high] = self.bounds;
        match self.spread {
            Some(spread) => self.moved(self.guess, spread * normal(stream)),
            // Halves stay away from the bounds themselves.
            None => self.map.coordinate(low + (high - low) * (stream.unit() + f64::EPSILON).min(1.0 - f64::EPSILON)),
        }
    }

    /// Coordinate one row later, with a number of the standard normal distribution.   [FILT-5]
    ///
    /// Steps of equal length in u would be so short in x near a bound that a particle never returns from there.
    pub(super) fn walked(&self, u: f64, number: f64) -> f64 {
        let slope = self.map.slope(self.value(u)).max(self.least);
        self.moved(u, self.walk / slope * number)
    }

    /// Coordinate moved by a number; clamped to the bounds and to finite values.
    pub(super) fn moved(&self, u: f64, by: f64) -> f64 {
        let [low, high] = self.bounds;
        match self.map {
            Map::Clamped => (u + by).max(low).min(high),
            _ => (u + by).clamp(-FARTHEST, FARTHEST),
        }
    }

    /// The value of the parameter.
    pub(super) fn value(&self, u: f64) -> f64 {
        match self.map {
            Map::Clamped => u,
            Map::Above(low) => low + libm::exp(u),
            Map::Below(high) => high - libm::exp(u),
            Map::Between(low, high) => low + (high - low) / (1.0 + libm::exp(-u)),
        }
    }
}

impl Map {
    /// dx/du at the value x.
    fn slope(self, x: f64) -> f64 {
        match self {
            Self::Clamped => 1.0,
            Self::Above(low) => x - low,
            Self::Below(high) => high - x,
            Self::Between(low, high) => (x - low) * (high - x) / (high - low),
        }
    }

    fn coordinate(self, x: f64) -> f64 {
        match self {
            Self::Clamped => x,
            Self::Above(low) => libm::log(x - low),
            Self::Below(high) => libm::log(high - x),
            Self::Between(low, high) => libm::log((x - low) / (high - x)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRIFT: Drift = Drift { walk: 0.1, spread: Some(0.2) };

    #[test]
    fn values_come_back_and_stay_inside() {
        let inf = f64::INFINITY;
        for (start, bounds) in [(0.3, [0.0, 1.0]), (2.0, [0.0, inf]), (-2.0, [-inf, 0.0]), (5.0, [-inf, inf])] {
            let parameter = Parameter::new("p", "p", start, bounds);
            for keep in [Keep::Reparameterised, Keep::Clamped] {
                let coordinate = Coordinate::new(&parameter, DRIFT, keep);
                assert!((coordinate.value(coordinate.guess) - start).abs() < 1e-14, "{coordinate:?}");
                // The walk has the given width.
                let (low, high) =
                    (coordinate.walked(coordinate.guess, -1e-3), coordinate.walked(coordinate.guess, 1e-3));
                let width = (coordinate.value(high) - coordinate.value(low)).abs() / 2e-3;
                assert!((width - 0.1).abs() < 1e-6, "{coordinate:?}: {width}");
                for number in [-1e3, 1e3] {
                    let far = coordinate.value(coordinate.walked(coordinate.guess, number));
                    assert!((bounds[0]..=bounds[1]).contains(&far) && far.is_finite(), "{coordinate:?}: {far}");
                }
            }
        }
    }

    #[test]
    fn first_draws_are_as_thought_of_before() {
        let parameter = Parameter::new("p", "p", 0.0, [0.0, 1.0]);
        let anywhere = Coordinate::new(&parameter, Drift { walk: 0.01, spread: None }, Keep::Reparameterised);
        let mean = (0..10_000).map(|k| anywhere.value(anywhere.first(&mut Stream::new(3, k)))).sum::<f64>() / 1e4;
        // The mean of so many uniform numbers has the deviation 0.003.
        assert!((mean - 0.5).abs() < 0.012, "{mean}");
        let clamped = Coordinate::new(&parameter, Drift { walk: 0.01, spread: Some(0.1) }, Keep::Clamped);
        let values: Vec<f64> = (0..1000).map(|k| clamped.value(clamped.first(&mut Stream::new(3, k)))).collect();
        let at_zero = values.iter().filter(|value| **value == 0.0).count();
        assert!((400..600).contains(&at_zero), "{at_zero}");
    }
}
