//! Objective of a run and its gradient by the adjoint, from the end to the start.

use nalgebra::{DMatrix, DVector};
use stiction::{
    gradient::{GradientError, GradientRun, Tape, Variants},
    multibody::Configuration,
};

use super::normal::{loss, loss_slope};
use crate::{
    IdentifyError, Recording, Segment, Start, Target, observe,
    segment::{Walk, between},
};

/// Σ ρ(r) of a run, and its gradient.
#[derive(Clone, Debug)]
pub(super) struct Slope {
    pub(super) value: f64,
    /// By the parameters.
    pub(super) by_parameters: DVector<f64>,
    /// By the free components of the start: displacements, then velocities.
    pub(super) by_start: DVector<f64>,
}

/// ∂ℓ/∂x of the states of a run that are measured.
#[derive(Default)]
struct Seen {
    slopes: Vec<Option<DVector<f64>>>,
}

impl Seen {
    /// Adds a fraction of a gradient with respect to the displacements to the state after a number of steps.
    fn add(&mut self, step: usize, slope: &DVector<f64>, fraction: f64) {
        if self.slopes.len() <= step {
            self.slopes.resize(step + 1, None);
        }
        if let Some(place) = self.slopes.get_mut(step) {
            let sum = place.get_or_insert_with(|| DVector::zeros(2 * slope.len()));
            let mut displacements = sum.rows_mut(0, slope.len());
            displacements.axpy(fraction, slope, 1.0);
        }
    }
}

impl Target {
    /// Σ ρ(r) of a run with its gradient with respect to parameters and start: Aᵀρ′ and Bᵀρ′ without A and B.   [FIT-6]
    pub(super) fn loss_with_slope(
        &self,
        variants: &Variants,
        recording: &Recording,
        (segment, start): (Segment, &Start),
        huber: f64,
    ) -> Result<Slope, IdentifyError> {
        let named = || recording.name.clone();
        let failed = |source: GradientError| IdentifyError::Gradient { recording: named(), source: Box::new(source) };
        let mut run = GradientRun::of(variants.clone()).map_err(failed)?;
        let model = std::sync::Arc::clone(run.simulation().model());
        let (n, count) = (model.dof(), self.parameters.len());
        let mut at_start = DMatrix::zeros(2 * n, count + 2 * n);
        at_start.view_mut((0, count), (2 * n, 2 * n)).fill_with_identity();
        run.set_state(&start.state, at_start.clone())
            .map_err(|source| IdentifyError::Start { recording: named(), source })?;
        let mut tape = Tape::from_state(variants, at_start);
        let h = run.simulation().step_size();
        let mut walk = Walk::new(recording, segment, h);
        let itself = DMatrix::<f64>::identity(n, n);
        let (mut total, mut seen) = (0.0, Seen::default());
        // Loss of one time, and its gradient with respect to the displacements of the bodies there.
        let mut weigh = |at: &Configuration, row: usize| {
            let (mut values, mut slopes) = (Vec::new(), Vec::new());
            observe((&model, at), (recording, row), Some(itself.as_view()), (&mut values, &mut slopes));
            total += values.iter().map(|r| loss(*r, huber)).sum::<f64>();
            let pull = DVector::from_iterator(values.len(), values.iter().map(|r| loss_slope(*r, huber)));
            DMatrix::from_row_iterator(values.len(), n, slopes).tr_mul(&pull)
        };
        for (row, _) in walk.rows(0) {
            seen.add(0, &weigh(run.simulation().configuration(), row), 1.0);
        }
        let (mut at, mut before) = (Configuration::default(), start.state.clone());
        let mut number = 0;
        while !walk.is_over() {
            number += 1;
            before.copy_from(run.simulation().state());
            let (_, derivative) = run.step().map_err(failed)?;
            tape.push(derivative);
            for (row, fraction) in walk.rows(number) {
                between(&model, &before, run.simulation().state(), fraction, h, &mut at);
                let slope = weigh(&at, row);
                seen.add(number as usize - 1, &slope, 1.0 - fraction);
                seen.add(number as usize, &slope, fraction);
            }
        }
        let gradient = tape.gradient(|step| seen.slopes.get(step).cloned().flatten());
        let free = start.free.iter().map(|k| count + k).chain(start.free.iter().map(|k| count + n + k));
        let by_start: Vec<f64> = free.map(|row| gradient[row]).collect();
        Ok(Slope {
            value: total,
            by_parameters: gradient.rows(0, count).into_owned(),
            by_start: DVector::from_vec(by_start),
        })
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{UnitQuaternion, Vector3};

    use super::*;
    use crate::{Noise, Orientation, Parameter, Track, shooting::vector};

    /// A box that lands tilted on a floor and slides, measured between steps and at them.
    const SCENE: &str = "
[simulation]
duration = 1.0
step = 0.01
gravity = [0.0, 0.0, -9.81]
[[body]]
name = 'floor'
kind = 'fixed'
[[body.shape]]
halfspace = { normal = [0.0, 0.0, 1.0] }
[[body]]
name = 'box'
mass = 1.0
inertia = [0.002, 0.003, 0.004]
position = [0.0, 0.0, 0.1]
[[body.shape]]
box = { size = [0.2, 0.15, 0.1] }
[contact_default]
friction = 0.3
";

    fn recording() -> Recording {
        let times: Vec<f64> = (0..12).map(|row| 0.013 * f64::from(row)).collect();
        let orientation = Orientation::Quaternion(UnitQuaternion::from_euler_angles(0.1, 0.05, 0.2));
        let count = times.len();
        let track = Track {
            body: "box".into(),
            point: Vector3::new(0.05, 0.02, 0.01),
            positions: times.iter().map(|t| Some(Vector3::new(*t, 0.1 * t, 0.1 - 0.2 * t))).collect(),
            orientations: vec![Some(orientation); count],
            velocities: vec![None; count],
            noise: Noise { position: 1e-2, angle: 5e-2 },
        };
        Recording { name: "toss".into(), times, tracks: vec![track] }
    }

    #[test]
    fn backward_is_forward() {
        let parameters = vec![
            Parameter::new("mu", "contact_default.friction", 0.3, [0.0, 1.0]),
            Parameter::new("mass", "body.box.mass", 1.0, [0.1, 10.0]),
        ];
        let target = Target { text: SCENE.into(), file_name: "toss.toml".into(), parameters };
        let (recording, values) = (recording(), target.starts());
        let model = target.scene(&values).unwrap().model;
        let start = Start::measured(&model, &recording, 0);
        let variants = target.variants(&values, model.dof()).unwrap();
        let run = (Segment { recording: 0, first: 0, last: 11 }, &start);
        let forward = target.residuals_with_slopes(&variants, &recording, run).unwrap();
        for huber in [f64::INFINITY, 0.5] {
            let backward = target.loss_with_slope(&variants, &recording, run, huber).unwrap();
            let pull = vector(&forward.values).map(|r| loss_slope(r, huber));
            let value: f64 = forward.values.iter().map(|r| loss(*r, huber)).sum();
            assert!((backward.value - value).abs() < 1e-10 * value);
            for (back, matrix) in
                [(&backward.by_parameters, &forward.by_parameters), (&backward.by_start, &forward.by_start)]
            {
                let expected = matrix.tr_mul(&pull);
                let off = (back - &expected).amax();
                assert!(expected.amax() > 0.0 && off < 1e-9 * expected.amax(), "{back} {expected}");
            }
        }
        assert!(forward.by_parameters.column(0).amax() > 1e-3, "friction should matter");
    }
}
