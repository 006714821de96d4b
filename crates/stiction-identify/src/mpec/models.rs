//! Models of a scene at any values of its parameters, and at neighbouring ones.

use std::sync::{Arc, Mutex, PoisonError};

use stiction::{Model, Scheme};
use stiction_mpec::Refused;

use crate::{IdentifyError, Target};

/// Spacing of finite differences as a fraction of the scale of a parameter.
const SPACING: f64 = 1e-4;

/// Models near some values of the parameters.
pub(super) struct Beside {
    /// Model at the values, or as near as the bounds allow.
    pub(super) centre: Arc<Model>,
    /// At −2, −1, 1 and 2 times the spacing of each parameter.
    pub(super) lines: Vec<[Arc<Model>; 4]>,
    /// At −2 and 2 times the spacings of two parameters, the first less than the second.
    pub(super) diagonals: Vec<Diagonal>,
}

/// Two parameters, and the models at −2 and 2 times their spacings.
type Diagonal = ((usize, usize), [Arc<Model>; 2]);

/// Last result, with its arguments.
pub(super) type Kept<T> = Mutex<Option<(Vec<u64>, Arc<T>)>>;

/// Scene of a recording; it keeps the models of the last values, which all steps share.
pub(super) struct Source {
    pub(super) target: Target,
    pub(super) scheme: Scheme,
    pub(super) h: f64,
    model: Kept<Model>,
    beside: Kept<Beside>,
}

impl Source {
    pub(super) fn new(target: &Target) -> Result<Self, IdentifyError> {
        let scene = target.scene(&target.starts())?;
        let (scheme, h) = (scene.settings.scheme, scene.settings.step);
        Ok(Self { target: target.clone(), scheme, h, model: Mutex::default(), beside: Mutex::default() })
    }

    /// The spacing of a parameter.
    pub(super) fn spacing(&self, parameter: usize) -> f64 {
        SPACING * self.target.parameters.get(parameter).map_or(1.0, |parameter| parameter.scale.abs())
    }

    fn read(&self, values: &[f64]) -> Result<Arc<Model>, Refused> {
        let scene = self.target.scene(values).map_err(|error| Refused(error.to_string()))?;
        Ok(scene.model)
    }

    /// The model at these values.
    pub(super) fn model(&self, values: &[f64]) -> Result<Arc<Model>, Refused> {
        keep(&self.model, values, || self.read(values))
    }

    /// Models near these values.
    pub(super) fn beside(&self, values: &[f64]) -> Result<Arc<Beside>, Refused> {
        keep(&self.beside, values, || {
            let parameters = self.target.parameters.iter().zip(values);
            // Scenes refuse values beyond physical bounds: near them differences are taken a little inside.
            let centre: Vec<f64> = parameters
                .map(|(parameter, value)| {
                    let [low, high] = parameter.bounds;
                    let margin = (2.5 * SPACING * parameter.scale.abs()).min(0.5 * (high - low));
                    value.clamp(low + margin, (high - margin).max(low + margin))
                })
                .collect();
            let shifted = |shifts: &[(usize, f64)]| {
                let mut values = centre.clone();
                for (place, by) in shifts {
                    values.get_mut(*place).into_iter().for_each(|value| *value += by * self.spacing(*place));
                }
                self.read(&values)
            };
            let line = |k: usize| {
                let at = |by: f64| shifted(&[(k, by)]);
                Ok([at(-2.0)?, at(-1.0)?, at(1.0)?, at(2.0)?])
            };
            let diagonal = |(j, k): (usize, usize)| {
                let at = |by: f64| shifted(&[(j, by), (k, by)]);
                Ok(((j, k), [at(-2.0)?, at(2.0)?]))
            };
            let count = centre.len();
            let pairs = (0..count).flat_map(|k| (0..k).map(move |j| (j, k)));
            Ok(Arc::new(Beside {
                centre: self.read(&centre)?,
                lines: (0..count).map(line).collect::<Result<_, Refused>>()?,
                diagonals: pairs.map(diagonal).collect::<Result<_, Refused>>()?,
            }))
        })
    }
}

/// Result for these values, from the cache or computed now.
pub(super) fn keep<T>(
    kept: &Kept<T>,
    values: &[f64],
    make: impl FnOnce() -> Result<Arc<T>, Refused>,
) -> Result<Arc<T>, Refused> {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let key: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
    if let Some((_, known)) = kept.as_ref().filter(|(known, _)| *known == key) {
        return Ok(Arc::clone(known));
    }
    let made = make()?;
    *kept = Some((key, Arc::clone(&made)));
    Ok(made)
}
