//! Observation at one time, as an element: poses of bodies, less the measured ones, less the error.   [MPEC-7]

use std::sync::Arc;

use nalgebra::{DMatrix, Vector3};
use stiction::{Configuration, Model, OrientationUpdate, multibody::Mobility};
use stiction_mpec::{Element, Refused};

use super::pattern;
use crate::{Recording, observe, residual::left_jacobian};

/// Spacing of finite differences, m and rad.
const SPACING: f64 = 1e-5;

/// One row of a recording. Inputs: displacements from a reference, then errors in units of their standard deviations. Values: simulated − measured −
/// deviation · error.
pub(super) struct Observation {
    model: Arc<Model>,
    recording: Arc<Recording>,
    row: usize,
    reference: Vec<f64>,
    time: f64,
    /// Indices of the numbers of the row that count, and their standard deviations.
    places: Vec<usize>,
    deviations: Vec<f64>,
    jacobian: Vec<(usize, usize)>,
    hessian: Vec<(usize, usize)>,
}

impl Observation {
    pub(super) fn new(
        model: &Arc<Model>,
        (recording, row): (&Arc<Recording>, usize),
        (reference, time): (&[f64], f64),
        places: Vec<usize>,
    ) -> Result<Self, Refused> {
        let all = deviations(model, recording, row);
        let deviations = places.iter().map(|place| all.get(*place).copied().unwrap_or(1.0)).collect();
        let mut observation = Self {
            model: Arc::clone(model),
            recording: Arc::clone(recording),
            row,
            reference: reference.to_vec(),
            time,
            places,
            deviations,
            jacobian: Vec::new(),
            hessian: Vec::new(),
        };
        (observation.jacobian, observation.hessian) =
            pattern::probe(&observation, &[], |o, x| Ok(o.slopes(x)), |o, x, m| Ok(o.curvatures(x, m)))?;
        Ok(observation)
    }

    /// Simulated minus measured in standard deviations, and its derivatives with respect to displacements, row by row.
    fn seen(&self, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (model, n) = (&self.model, self.model.dof());
        let mut q = Vec::new();
        model.integrate(&self.reference, x.get(..n).unwrap_or_default(), 1.0, OrientationUpdate::Exponential, &mut q);
        let mut at = Configuration::default();
        at.update(model, &q, &vec![0.0; n], self.time);
        let (mut values, mut slopes) = (Vec::new(), Vec::new());
        let moves = displaced(model, x);
        observe((model, &at), (&self.recording, self.row), Some(moves.as_view()), (&mut values, &mut slopes));
        (values, slopes)
    }

    fn slopes(&self, x: &[f64]) -> Vec<f64> {
        let (n, inputs) = (self.model.dof(), Element::inputs(self));
        let (_, seen) = self.seen(x);
        let mut out = vec![0.0; inputs * self.places.len()];
        for (row, ((place, deviation), out)) in
            self.places.iter().zip(&self.deviations).zip(out.chunks_mut(inputs)).enumerate()
        {
            let slopes = seen.get(place * n..(place + 1) * n).unwrap_or_default();
            out.iter_mut().zip(slopes).for_each(|(out, slope)| *out = slope * deviation);
            out.get_mut(n + row).into_iter().for_each(|out| *out = -deviation);
        }
        out
    }

    fn curvatures(&self, x: &[f64], multipliers: &[f64]) -> Vec<f64> {
        let (n, inputs) = (self.model.dof(), Element::inputs(self));
        let mut out = vec![0.0; inputs * inputs];
        for k in 0..n {
            for side in [-1.0, 1.0] {
                let mut moved = x.to_vec();
                moved.get_mut(k).into_iter().for_each(|x| *x += side * SPACING);
                let slopes = self.slopes(&moved);
                for (multiplier, row) in multipliers.iter().zip(slopes.chunks(inputs)) {
                    let change = row.iter().take(n).map(|slope| side * multiplier * slope / (2.0 * SPACING));
                    let into = out.get_mut(k * inputs..(k + 1) * inputs).unwrap_or_default();
                    into.iter_mut().zip(change).for_each(|(out, x)| *out += x);
                }
            }
        }
        // Rounding errors must not enter the sparsity pattern.
        out.iter_mut().filter(|x| x.abs() < 1e-8).for_each(|x| *x = 0.0);
        out
    }
}

/// Derivative of the poses with respect to displacements from their reference that are not zero: for rotations in space J with exp(δ + θ) = exp(J θ)
/// exp(δ).
fn displaced(model: &Model, x: &[f64]) -> DMatrix<f64> {
    let mut moves = DMatrix::identity(model.dof(), model.dof());
    let bodies = model.bodies().iter().zip(model.layout());
    for (_, slot) in bodies.filter(|(body, _)| body.mobility() == Some(Mobility::Free)) {
        let first = slot.v.start + 3;
        let turn = Vector3::from_fn(|axis, _| x.get(first + axis).copied().unwrap_or(0.0));
        moves.fixed_view_mut::<3, 3>(first, first).copy_from(&left_jacobian(&turn));
    }
    moves
}

/// Standard deviations of the numbers of a row, in the order of [`observe`].
pub(super) fn deviations(model: &Model, recording: &Recording, row: usize) -> Vec<f64> {
    let mut out = Vec::new();
    for track in recording.tracks.iter().filter(|track| model.find_body(&track.body).is_some()) {
        if let Some(Some(x)) = track.positions.get(row) {
            out.extend(x.iter().filter(|x| x.is_finite()).map(|_| track.noise.position));
        }
        match track.orientations.get(row) {
            Some(Some(crate::Orientation::Angle(_))) => out.push(track.noise.angle),
            Some(Some(crate::Orientation::Quaternion(_))) => out.extend([track.noise.angle; 3]),
            _ => {}
        }
    }
    out
}

impl Element for Observation {
    fn inputs(&self) -> usize {
        self.model.dof() + self.places.len()
    }

    fn outputs(&self) -> usize {
        self.places.len()
    }

    fn jacobian_pattern(&self) -> &[(usize, usize)] {
        &self.jacobian
    }

    fn hessian_pattern(&self) -> &[(usize, usize)] {
        &self.hessian
    }

    fn values(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        let (seen, _) = self.seen(x);
        let errors = x.get(self.model.dof()..).unwrap_or_default();
        for (((place, deviation), error), out) in self.places.iter().zip(&self.deviations).zip(errors).zip(out) {
            *out = deviation * (seen.get(*place).copied().unwrap_or(0.0) - error);
        }
        Ok(())
    }

    fn jacobian(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        pattern::pick(&self.slopes(x), Element::inputs(self), &self.jacobian, out);
        Ok(())
    }

    fn hessian(&self, x: &[f64], multipliers: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        pattern::pick(&self.curvatures(x, multipliers), Element::inputs(self), &self.hessian, out);
        Ok(())
    }
}
