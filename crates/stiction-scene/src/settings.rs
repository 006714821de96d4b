//! Simulation settings: duration, step and scheme.

use stiction_options::{Preset, Scheme};

/// Contents of `[simulation]` and `[scheme]`, with all defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Simulated time, s.
    pub duration: f64,
    /// Time step h, s.
    pub step: f64,
    /// Preset of the scheme.
    pub preset: Preset,
    /// Scheme in detail.
    pub scheme: Scheme,
    /// Number of steps per recorded state; at least 1.
    pub record_every: u32,
}

/// Largest relative distance of a duration from a whole number of steps that is attributed to round-off.
const WHOLE: f64 = 1e-9;

impl Settings {
    /// Returns the number of steps that cover the duration.
    pub fn steps(&self) -> u64 {
        steps_in(self.duration, self.step)
    }
}

/// Returns the number of steps that cover a duration; a whole number up to round-off is taken as such.
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
