//! How to simulate: duration, step and scheme.

use stiction_stepping::{Preset, Scheme};

/// What `[simulation]` and `[scheme]` say, with everything left out filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Simulated time, s.
    pub duration: f64,
    /// Time step h, s.
    pub step: f64,
    /// The scheme by name.
    pub preset: Preset,
    /// The scheme in detail.
    pub scheme: Scheme,
    /// Every how many steps the state is recorded; at least 1.
    pub record_every: u32,
}

/// A duration this near to a whole number of steps, relatively, is that number of steps.
const WHOLE: f64 = 1e-9;

impl Settings {
    /// Number of steps that cover the duration.
    pub fn steps(&self) -> u64 {
        steps_in(self.duration, self.step)
    }
}

/// Number of steps that cover a duration; one that is a whole number of steps up to rounding is taken as such.
#[expect(clippy::cast_sign_loss, reason = "a checked duration and step are positive")]
pub fn steps_in(duration: f64, step: f64) -> u64 {
    let steps = duration / step;
    let whole = steps.round();
    (if (steps - whole).abs() <= WHOLE * whole.max(1.0) { whole } else { steps.ceil() }) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_become_whole_steps() {
        for (duration, step, steps) in
            [(1.0, 0.1, 10), (0.3, 0.1, 3), (1.0, 0.0025, 400), (1.0, 0.3, 4), (0.05, 0.1, 1)]
        {
            let preset = Preset::StewartTrinkle;
            let settings = Settings { duration, step, preset, scheme: preset.scheme(), record_every: 1 };
            assert_eq!(settings.steps(), steps, "{duration} / {step}");
        }
    }
}
