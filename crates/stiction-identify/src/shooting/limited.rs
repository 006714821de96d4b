//! Quasi-Newton steps of limited memory, with gradients from the adjoint.
//!
//! The last pairs of steps and changes of the gradient approximate the second derivatives [Nocedal2006, algorithm 7.4]. Parameters that a
//! bound stops are held. Starts of runs are moved from their current state, not from their first one, so that orientations need no
//! coordinates. A general library for such steps does not support this.   [FIT-7]

use nalgebra::DVector;
use rayon::prelude::*;

use super::{Fit, FitReport, Guess, Linearised, normal::Normal};
use crate::{IdentifyError, Segment, Start};

/// Number of pairs in memory.
const MEMORY: usize = 20;

/// Sufficient decrease as a fraction of that of the slope, and largest remaining fraction of the slope after a step (Wolfe's conditions).
const GAIN: f64 = 1e-4;
const SLOPE_LEFT: f64 = 0.9;

/// Relative change of the objective that is rounding; only slopes are then compared [Hager2005].
const ROUNDING: f64 = 1e-10;

/// Largest number of trials of one line search.
const TRIALS: u32 = 40;

/// Point of the search: the objective and its gradient in units of the scales.
#[derive(Clone)]
struct Point {
    guess: Guess,
    value: f64,
    gradient: DVector<f64>,
}

/// The memory of the search: steps, changes of the gradient.
#[derive(Default)]
struct Memory {
    pairs: Vec<(DVector<f64>, DVector<f64>)>,
}

impl Memory {
    fn add(&mut self, step: DVector<f64>, change: DVector<f64>) {
        // Without curvature along the step the pair has no information on a minimum.
        if step.dot(&change) > 1e-12 * step.norm() * change.norm() {
            if self.pairs.len() == MEMORY {
                self.pairs.remove(0);
            }
            self.pairs.push((step, change));
        }
    }

    /// −H g among the components that are not held, H from the pairs.   [FIT-7]
    fn direction(&self, gradient: &DVector<f64>, held: &[bool]) -> DVector<f64> {
        let free = |x: &DVector<f64>| {
            let mut x = x.clone();
            x.iter_mut().zip(held).for_each(|(x, held)| *x = if *held { 0.0 } else { *x });
            x
        };
        let pairs: Vec<_> = self.pairs.iter().map(|(s, y)| (free(s), free(y))).collect();
        let pairs: Vec<_> = pairs.iter().filter(|(s, y)| s.dot(y) > 0.0).collect();
        let mut q = free(gradient);
        let mut factors = Vec::with_capacity(pairs.len());
        for (s, y) in pairs.iter().rev() {
            let factor = s.dot(&q) / s.dot(y);
            q.axpy(-factor, y, 1.0);
            factors.push(factor);
        }
        if let Some((s, y)) = pairs.last() {
            q *= s.dot(y) / y.dot(y);
        }
        for ((s, y), factor) in pairs.iter().zip(factors.iter().rev()) {
            let back = y.dot(&q) / s.dot(y);
            q.axpy(factor - back, s, 1.0);
        }
        -q
    }
}

impl Fit<'_> {
    pub(super) fn search_with_limited_memory(&self, first: Linearised) -> Result<FitReport, IdentifyError> {
        let Linearised { guess, normal, .. } = first;
        let scales = self.scales(&normal);
        let mut point = self.point(guess, &scales)?;
        let mut history = vec![point.value];
        let (mut memory, mut converged) = (Memory::default(), false);
        for _ in 0..self.options.iterations {
            let held = self.held(&point);
            let direction = memory.direction(&point.gradient, &held);
            // With H near the covariance this is the distance of the minimum in standard deviations.
            let distance = (-direction.dot(&point.gradient)).max(0.0).sqrt();
            if distance <= self.options.tolerance && !memory.pairs.is_empty() || distance == 0.0 {
                converged = true;
                break;
            }
            match self.line_search(&point, &direction, &scales) {
                Some((next, step)) => {
                    memory.add(step, &next.gradient - &point.gradient);
                    point = next;
                    history.push(point.value);
                }
                // The memory may be wrong at a kink: a last attempt is made along the gradient.
                None if !memory.pairs.is_empty() => memory = Memory::default(),
                None => break,
            }
        }
        let normal = self.linearise(&point.guess)?;
        Ok(self.report(&point.guess, &normal, history, converged))
    }

    /// One over the root of the diagonal of JᵀJ at the first guess, so that all unknowns have the size of their noise; parameters at most their own scale.
    fn scales(&self, first: &Normal) -> DVector<f64> {
        let (of_parameters, of_starts) = first.diagonals();
        let scaled = of_parameters.iter().zip(&self.target.parameters);
        let of_parameters = scaled.map(|(square, parameter)| {
            let scale = parameter.scale.abs();
            if *square * scale * scale > 1.0 { 1.0 / square.sqrt() } else { scale }
        });
        // An unknown without influence has no gradient and stays unchanged.
        let of_starts = of_starts.iter().flatten().map(|square| if *square > 0.0 { 1.0 / square.sqrt() } else { 0.0 });
        DVector::from_vec(of_parameters.chain(of_starts).collect())
    }

    /// Parameters at a bound that the objective pushes against.
    fn held(&self, point: &Point) -> Vec<bool> {
        let mut held = vec![false; point.gradient.len()];
        for (k, (value, parameter)) in point.guess.values.iter().zip(&self.target.parameters).enumerate() {
            let ([low, high], slope) = (parameter.bounds, point.gradient[k]);
            held[k] = *value <= low && slope > 0.0 || *value >= high && slope < 0.0;
        }
        held
    }

    /// The objective and its gradient.   [FIT-6]
    fn point(&self, guess: Guess, scales: &DVector<f64>) -> Result<Point, IdentifyError> {
        let variants = self.target.variants(&guess.values, guess.dof())?;
        let run = |(segment, start): (Segment, &Start)| {
            let recording = self.recording(segment)?;
            self.target.loss_with_slope(&variants, recording, (segment, start), self.options.huber)
        };
        let parts = self.runs(&guess).map(run).collect::<Result<Vec<_>, IdentifyError>>()?;
        let count = self.target.parameters.len();
        let (mut value, mut by_parameters, mut by_starts) = (0.0, DVector::zeros(count), Vec::new());
        for part in &parts {
            value += part.value;
            by_parameters += &part.by_parameters;
            by_starts.extend(part.by_start.iter().copied());
        }
        let gradient = DVector::from_vec(by_parameters.iter().copied().chain(by_starts).collect());
        Ok(Point { guess, value, gradient: gradient.component_mul(scales) })
    }

    /// Point with sufficient decrease, and the step to it in units of the scales; none if there is none.
    fn line_search(
        &self,
        point: &Point,
        direction: &DVector<f64>,
        scales: &DVector<f64>,
    ) -> Option<(Point, DVector<f64>)> {
        let slope = point.gradient.dot(direction);
        let (mut low, mut high, mut length) = (0.0, f64::INFINITY, 1.0);
        let mut best: Option<(Point, DVector<f64>)> = None;
        for _ in 0..TRIALS {
            let (guess, step, stopped) = self.moved(&point.guess, &(direction * length), scales)?;
            match self.point(guess, scales) {
                Ok(trial) => {
                    let left = trial.gradient.dot(direction);
                    let gained = trial.value <= point.value + GAIN * point.gradient.dot(&step);
                    let level = trial.value <= point.value + ROUNDING * point.value.abs();
                    if !(gained || level && left.abs() <= (1.0 - 2.0 * GAIN) * slope.abs()) {
                        high = length;
                    } else if left < SLOPE_LEFT * slope && !stopped {
                        low = length;
                        best = Some((trial, step));
                    } else {
                        return Some((trial, step));
                    }
                }
                // If a run cannot be made, the step was too long.
                Err(_) => high = length,
            }
            length = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * length };
        }
        best
    }

    /// Guess after a step within the bounds, the step that was made, and true if a bound stopped it.
    fn moved(&self, guess: &Guess, step: &DVector<f64>, scales: &DVector<f64>) -> Option<(Guess, DVector<f64>, bool)> {
        let model = self.target.scene(&guess.values).ok()?.model;
        let (mut made, mut values, mut stopped) = (step.clone(), guess.values.clone(), false);
        for (k, (value, parameter)) in values.iter_mut().zip(&self.target.parameters).enumerate() {
            let to = *value + scales[k] * step[k];
            let [low, high] = parameter.bounds;
            let within = to.clamp(low, high);
            if within != to {
                stopped = true;
                made[k] = (within - *value) / scales[k];
            }
            *value = within;
        }
        let changes: Vec<f64> = step.component_mul(scales).iter().skip(values.len()).copied().collect();
        let mut rest = changes.as_slice();
        let mut starts = Vec::with_capacity(guess.starts.len());
        for start in &guess.starts {
            let (own, others) = rest.split_at((2 * start.free.len()).min(rest.len()));
            starts.push(start.moved(&model, own));
            rest = others;
        }
        Some((Guess { values, starts }, made, stopped))
    }
}
