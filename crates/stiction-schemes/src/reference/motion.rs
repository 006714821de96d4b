//! Coordinates and velocities as one vector y = (q, v), and its rate.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use stiction_multibody::{Configuration, Mobility, Model, OrientationUpdate, rotation};

/// Coordinates and velocities: the unknowns of the Runge-Kutta method.
#[derive(Clone, Debug, Default)]
pub(super) struct Motion {
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
}

impl Motion {
    /// y + Σ weight · rate.
    pub(super) fn plus<'a>(&self, terms: impl Iterator<Item = (f64, &'a Self)>) -> Self {
        let mut sum = self.clone();
        for (weight, rate) in terms {
            debug_assert_eq!(
                (sum.q.len(), sum.v.len()),
                (rate.q.len(), rate.v.len()),
                "a rate has the size of the motion"
            );
            sum.q.iter_mut().zip(&rate.q).for_each(|(q, dq)| *q += weight * dq);
            sum.v.iter_mut().zip(&rate.v).for_each(|(v, dv)| *v += weight * dv);
        }
        sum
    }

    /// Brings quaternions back to unit length.
    pub(super) fn normalise(&mut self, model: &Model) {
        for (body, slot) in model.bodies().iter().zip(model.layout()) {
            if body.mobility() != Some(Mobility::Free) {
                continue;
            }
            if let Some(e) = self.q.get_mut(slot.q.clone()).and_then(|q| q.get_mut(3..)) {
                let length = e.iter().map(|e| e * e).sum::<f64>().sqrt();
                for e in e {
                    *e /= length;
                }
            }
        }
    }

    /// Poses and twists of all bodies.
    pub(super) fn configuration(&self, model: &Model, time: f64) -> Configuration {
        let mut at = Configuration::default();
        at.update(model, &self.q, &self.v, time);
        at
    }

    /// The same velocities at the configuration q ⊕ offset v.
    pub(super) fn drifted(&self, model: &Model, offset: f64) -> Self {
        let mut q = Vec::new();
        model.integrate(&self.q, &self.v, offset, OrientationUpdate::Exponential, &mut q);
        Self { q, v: self.v.clone() }
    }

    /// q moved by a small displacement given in the velocity coordinates.
    pub(super) fn shift(&mut self, model: &Model, displacement: &[f64]) {
        let mut q = Vec::new();
        model.integrate(&self.q, displacement, 1.0, OrientationUpdate::Exponential, &mut q);
        self.q = q;
    }

    /// (q̇, v̇): positions and angles follow v, quaternions turn by ė = J ω.   [KIN-5]
    pub(super) fn rate(&self, model: &Model, acceleration: Vec<f64>) -> Self {
        let mut q = vec![0.0; self.q.len()];
        for (body, slot) in model.bodies().iter().zip(model.layout()) {
            let Some(mobility) = body.mobility() else { continue };
            let (Some(rate), Some(v), Some(x)) =
                (q.get_mut(slot.q.clone()), self.v.get(slot.v.clone()), self.q.get(slot.q.clone()))
            else {
                debug_assert!(false, "the coordinates and velocities of a body are within those of the model");
                continue;
            };
            match (mobility, v, x) {
                (Mobility::Free, &[vx, vy, vz, wx, wy, wz], &[_, _, _, w, i, j, k]) => {
                    let e = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k));
                    let turn = rotation::quaternion_rate_matrix(&e) * Vector3::new(wx, wy, wz);
                    let all = [vx, vy, vz, turn[0], turn[1], turn[2], turn[3]];
                    rate.iter_mut().zip(all).for_each(|(rate, x)| *rate = x);
                }
                _ => rate.iter_mut().zip(v).for_each(|(rate, v)| *rate = *v),
            }
        }
        Self { q, v: acceleration }
    }
}
