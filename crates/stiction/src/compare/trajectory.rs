//! Trajectory as samples: coordinates and velocities at step ends.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use stiction_multibody::{Mobility, Model, State, rotation};

/// Interpolation of velocities between two samples.   [COMPARE-1]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Between {
    /// Piecewise constant: the value at the end of the step, as in time-stepping schemes.
    #[default]
    Held,
    /// Linear, for samples of a smooth or finely resolved motion.
    Linear,
}

/// Times, coordinates and velocities of all samples; the first is the initial state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    between: Between,
    times: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    widths: (usize, usize),
}

impl Trajectory {
    /// Creates a trajectory with this first sample.
    pub fn starting_at(state: &State, between: Between) -> Self {
        let mut trajectory = Self { between, widths: (state.q.len(), state.v.len()), ..Self::default() };
        trajectory.push(state);
        trajectory
    }

    /// Appends a later state of the same model.
    pub fn push(&mut self, state: &State) {
        self.times.push(state.time);
        self.q.extend_from_slice(&state.q);
        self.v.extend_from_slice(&state.v);
    }

    /// Interpolation of velocities between two samples.
    pub fn between(&self) -> Between {
        self.between
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// True if there is no sample.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Time of the last sample, s.
    pub fn end(&self) -> f64 {
        self.times.last().copied().unwrap_or(0.0)
    }

    /// Time of sample `k`, s; none beyond the last.
    pub fn time(&self, k: usize) -> Option<f64> {
        self.times.get(k).copied()
    }

    /// Coordinates of sample `k`; empty beyond the last.
    pub fn q(&self, k: usize) -> &[f64] {
        let n = self.widths.0;
        self.q.get(k * n..(k + 1) * n).unwrap_or_default()
    }

    /// Velocities of sample `k`; empty beyond the last.
    pub fn v(&self, k: usize) -> &[f64] {
        let n = self.widths.1;
        self.v.get(k * n..(k + 1) * n).unwrap_or_default()
    }

    /// Returns every `stride`-th sample: the same motion, sampled less often.
    pub fn thinned(&self, stride: usize) -> Self {
        let mut thin = Self { between: self.between, widths: self.widths, ..Self::default() };
        for k in (0..self.len()).step_by(stride.max(1)) {
            thin.times.extend(self.time(k));
            thin.q.extend_from_slice(self.q(k));
            thin.v.extend_from_slice(self.v(k));
        }
        thin
    }

    /// Largest variation of a velocity component up to `until`: the sum of its jumps from sample to sample.   [COMPARE-3]
    pub fn variation(&self, until: f64) -> f64 {
        // A sample holds for the step before it, so the step that ends after `until` still counts.
        let last = self.times.partition_point(|t| *t < until).min(self.len().saturating_sub(1));
        let jumps = |i: usize| {
            let values = (0..=last).filter_map(|k| self.v(k).get(i).copied());
            values.clone().zip(values.skip(1)).map(|(a, b)| (b - a).abs()).sum::<f64>()
        };
        (0..self.widths.1).map(jumps).fold(0.0, f64::max)
    }

    /// Elapsed fraction, at a time, of the step that ends at sample `k`.
    fn fraction(&self, k: usize, time: f64) -> f64 {
        match (self.time(k.saturating_sub(1)), self.time(k)) {
            (Some(t0), Some(t1)) if t1 > t0 => ((time - t0) / (t1 - t0)).clamp(0.0, 1.0),
            _ => 1.0,
        }
    }

    /// v at a time within the step that ends at sample `k`.   [COMPARE-1]
    pub(super) fn velocity_at(&self, k: usize, time: f64) -> impl Iterator<Item = f64> {
        let fraction = if self.between == Between::Held { 1.0 } else { self.fraction(k, time) };
        self.v(k.saturating_sub(1)).iter().zip(self.v(k)).map(move |(a, b)| mix(*a, *b, fraction))
    }

    /// q at a time within the step that ends at sample `k`: linear, along the shortest rotation for orientations.   [COMPARE-1]
    pub(super) fn position_at(&self, model: &Model, k: usize, time: f64, out: &mut Vec<f64>) {
        let (before, fraction) = (k.saturating_sub(1), self.fraction(k, time));
        out.clear();
        out.extend(self.q(before).iter().zip(self.q(k)).map(|(a, b)| mix(*a, *b, fraction)));
        if fraction == 1.0 {
            return;
        }
        for (body, slot) in model.bodies().iter().zip(model.layout()) {
            if body.mobility() != Some(Mobility::Free) {
                continue;
            }
            let [from, to] = [before, k].map(|k| quaternion(self.q(k).get(slot.q.clone()).unwrap_or_default()));
            let turn = rotation::to_rotation_vector(&(to * from.inverse()));
            let e = rotation::turn(&from, &turn, fraction);
            let place = out.get_mut(slot.q.clone()).unwrap_or_default();
            place.iter_mut().skip(3).zip([e.w, e.i, e.j, e.k]).for_each(|(x, e)| *x = e);
        }
    }
}

/// Linear interpolation from a to b, exact at both ends.
fn mix(a: f64, b: f64, fraction: f64) -> f64 {
    if fraction == 1.0 { b } else { a + fraction * (b - a) }
}

/// Orientation among the coordinates of a free body.
pub(super) fn quaternion(q: &[f64]) -> UnitQuaternion<f64> {
    match q {
        [_, _, _, w, x, y, z] => UnitQuaternion::new_normalize(Quaternion::new(*w, *x, *y, *z)),
        _ => UnitQuaternion::identity(),
    }
}

/// Rotation vector from one orientation to another, in world axes, of length at most π.
pub(super) fn turn_between(from: &[f64], to: &[f64]) -> Vector3<f64> {
    rotation::to_rotation_vector(&(quaternion(to) * quaternion(from).inverse()))
}
