//! Runs from measured states, and their residuals.

use nalgebra::{DMatrix, UnitQuaternion, Vector3};
use stiction::{
    Model, Simulation, State,
    gradient::{GradientError, GradientRun, Variants},
    multibody::{Configuration, Mobility, OrientationUpdate},
};

use crate::{IdentifyError, Recording, Residuals, Target, gaps, observe};

/// A run between two rows of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Index of the recording.
    pub recording: usize,
    /// Row of the start.
    pub first: usize,
    /// The last row that it is compared with.
    pub last: usize,
}

/// Start of a run.
#[derive(Clone, Debug)]
pub struct Start {
    /// The state.
    pub state: State,
    /// Velocities of the model whose displacements and rates at the start were measured and may be corrected; others are those of the
    /// scene.
    pub free: Vec<usize>,
}

impl Start {
    /// Measured state of a row: measured poses, and velocities as measured or from the next row.
    pub fn measured(model: &Model, recording: &Recording, row: usize) -> Self {
        let mut state = model.initial_state();
        let mut free = Vec::new();
        for track in &recording.tracks {
            let Some((id, (mobility, range))) =
                model.find_body(&track.body).and_then(|id| Some((id, model.unknowns(id)?)))
            else {
                continue;
            };
            let Some(slot) = model.layout().get(id.index()) else { continue };
            // A body whose coordinates have different noise has several tracks.
            free.extend(range.clone().filter(|k| !free.contains(k)).collect::<Vec<_>>());
            let known = state.q.get(slot.q.clone()).unwrap_or_default().to_vec();
            let (position, turned) = pose_of((recording, track), row, mobility, &known);
            if let Some(q) = state.q.get_mut(slot.q.clone()) {
                write_pose(q, mobility, &position, &turned);
            }
            let (linear, angular) = velocity_of((recording, track), row, mobility, &known);
            if let Some(v) = state.v.get_mut(range) {
                let [x, y, z] = [0, 1, 2].map(|axis| linear[axis].filter(|v| v.is_finite()));
                let [rx, ry, rz] = [0, 1, 2].map(|axis| angular.map(|rate| rate[axis]));
                let rates =
                    if mobility == Mobility::Planar { [x, y, rz, None, None, None] } else { [x, y, z, rx, ry, rz] };
                v.iter_mut().zip(rates).filter_map(|(v, rate)| Some((v, rate?))).for_each(|(v, rate)| *v = rate);
            }
        }
        state.time = recording.times.get(row).copied().unwrap_or(0.0) - recording.times.first().copied().unwrap_or(0.0);
        Self { state, free }
    }

    /// The start moved by a step: displacements, then velocities, of its free components.
    pub fn moved(&self, model: &Model, step: &[f64]) -> Self {
        let mut state = self.state.clone();
        let mut shift = vec![0.0; model.dof()];
        let (places, rates) = step.split_at(self.free.len().min(step.len()));
        for (place, by) in self.free.iter().zip(places) {
            shift.get_mut(*place).into_iter().for_each(|x| *x = *by);
        }
        model.integrate(&self.state.q, &shift, 1.0, OrientationUpdate::Exponential, &mut state.q);
        for (place, by) in self.free.iter().zip(rates) {
            state.v.get_mut(*place).into_iter().for_each(|v| *v += by);
        }
        Self { state, free: self.free.clone() }
    }
}

fn write_pose(q: &mut [f64], mobility: Mobility, position: &Vector3<f64>, turned: &UnitQuaternion<f64>) {
    let [w, x, y, z] = [turned.w, turned.i, turned.j, turned.k];
    let angle = 2.0 * libm::atan2(z, w);
    let numbers: [f64; 7] = match mobility {
        Mobility::Planar => [position.x, position.y, angle, 0.0, 0.0, 0.0, 0.0],
        _ => [position.x, position.y, position.z, w, x, y, z],
    };
    q.iter_mut().zip(numbers).for_each(|(q, x)| *q = x);
}

/// Pose of a body in a row, or that of the scene if it was never measured.
fn pose_of(
    (recording, track): (&Recording, &crate::Track),
    row: usize,
    mobility: Mobility,
    known: &[f64],
) -> (Vector3<f64>, UnitQuaternion<f64>) {
    let get = |k: usize| known.get(k).copied().unwrap_or(0.0);
    let turned = gaps::orientation(recording, track, row).unwrap_or_else(|| match mobility {
        Mobility::Planar => UnitQuaternion::from_axis_angle(&Vector3::z_axis(), get(2)),
        Mobility::Free => UnitQuaternion::new_normalize(nalgebra::Quaternion::new(get(3), get(4), get(5), get(6))),
        Mobility::PlanarParticle | Mobility::Particle => UnitQuaternion::identity(),
    });
    let height = if matches!(mobility, Mobility::Particle | Mobility::Free) { get(2) } else { 0.0 };
    let scene = Vector3::new(get(0), get(1), height);
    let arm = turned * track.point;
    let coordinate = |axis: usize| gaps::coordinate(recording, track, row, axis).map(|x| x - arm[axis]);
    (Vector3::from_fn(|axis, _| coordinate(axis).unwrap_or(scene[axis])), turned)
}

/// Velocity of the centre and angular velocity: as measured, or from this row to the next; none if it was never measured.
fn velocity_of(
    (recording, track): (&Recording, &crate::Track),
    row: usize,
    mobility: Mobility,
    known: &[f64],
) -> ([Option<f64>; 3], Option<Vector3<f64>>) {
    let (position, turned) = pose_of((recording, track), row, mobility, known);
    if let Some([linear, angular]) = track.velocities.get(row).copied().flatten() {
        let centre = linear - angular.cross(&(turned * track.point));
        return ([0, 1, 2].map(|axis| Some(centre[axis])), Some(angular));
    }
    let (Some(now), Some(then)) = (recording.times.get(row), recording.times.get(row + 1)) else {
        return Default::default();
    };
    let (next, turned_next) = pose_of((recording, track), row + 1, mobility, known);
    let turn = stiction::multibody::rotation::to_rotation_vector(&(turned_next * turned.conjugate()));
    let seen = |axis: usize| gaps::coordinate(recording, track, row, axis).is_some();
    let linear = [0, 1, 2].map(|axis| seen(axis).then(|| (next[axis] - position[axis]) / (then - now)));
    (linear, gaps::orientation(recording, track, row).map(|_| turn / (then - now)))
}

/// Largest distance of a row from the end of a step at which it counts as there, as a fraction of the step.
const AT_STEP: f64 = 1e-6;

/// Steps of a run, and the rows that are compared: after each step those up to its end.
pub(crate) struct Walk<'r> {
    recording: &'r Recording,
    segment: Segment,
    /// The next row.
    row: usize,
    origin: f64,
    h: f64,
}

impl<'r> Walk<'r> {
    pub(crate) fn new(recording: &'r Recording, segment: Segment, h: f64) -> Self {
        let origin = recording.times.get(segment.first).copied().unwrap_or(0.0);
        Self { recording, segment, row: segment.first, origin, h }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.row > self.segment.last
    }

    /// Rows up to the end of step `number`, each with its fraction of the step.
    pub(crate) fn rows(&mut self, number: u64) -> Vec<(usize, f64)> {
        let mut rows = Vec::new();
        while !self.is_over()
            && let Some(time) = self.recording.times.get(self.row)
        {
            let fraction = (time - self.origin) / self.h - (number as f64 - 1.0);
            if fraction > 1.0 + AT_STEP {
                break;
            }
            rows.push((self.row, fraction.clamp(0.0, 1.0)));
            self.row += 1;
        }
        rows
    }
}

/// Configuration of the bodies at a fraction of a step: they move by the velocity of its end.
pub(crate) fn between(model: &Model, before: &State, after: &State, fraction: f64, h: f64, out: &mut Configuration) {
    let mut q = Vec::new();
    if fraction >= 1.0 - AT_STEP {
        out.update(model, &after.q, &after.v, after.time);
    } else {
        model.integrate(&before.q, &after.v, fraction * h, OrientationUpdate::Exponential, &mut q);
        out.update(model, &q, &after.v, before.time + fraction * h);
    }
}

impl Target {
    /// The residuals of a run with these values, without derivatives.   [FIT-1]
    pub fn residuals(
        &self,
        values: &[f64],
        recording: &Recording,
        (segment, start): (Segment, &Start),
    ) -> Result<Vec<f64>, IdentifyError> {
        let scene = self.scene(values)?;
        residuals_of(&mut Simulation::from_scene(&scene)?, recording, (segment, start))
    }

    /// The residuals of a run with derivatives with respect to parameters and to its start.   [FIT-2]
    pub(crate) fn residuals_with_slopes(
        &self,
        variants: &Variants,
        recording: &Recording,
        (segment, start): (Segment, &Start),
    ) -> Result<Residuals, IdentifyError> {
        let named = || recording.name.clone();
        let failed = |source: GradientError| IdentifyError::Gradient { recording: named(), source: Box::new(source) };
        let mut run = GradientRun::of(variants.clone()).map_err(failed)?;
        let model = std::sync::Arc::clone(run.simulation().model());
        let (n, count) = (model.dof(), self.parameters.len());
        let mut chain = DMatrix::zeros(2 * n, count + 2 * n);
        chain.view_mut((0, count), (2 * n, 2 * n)).fill_with_identity();
        run.set_state(&start.state, chain).map_err(|source| IdentifyError::Start { recording: named(), source })?;
        let h = run.simulation().step_size();
        let mut walk = Walk::new(recording, segment, h);
        let (mut values, mut slopes) = (Vec::new(), Vec::new());
        let (mut at, mut before, mut earlier) = (Configuration::default(), start.state.clone(), DMatrix::zeros(0, 0));
        let mut number = 0;
        for (row, _) in walk.rows(0) {
            let here = (&*model, run.simulation().configuration());
            observe(here, (recording, row), Some(run.displacements().as_view()), (&mut values, &mut slopes));
        }
        while !walk.is_over() {
            number += 1;
            before.copy_from(run.simulation().state());
            earlier.clone_from(&run.displacements().into_owned());
            let _ = run.step().map_err(failed)?;
            for (row, fraction) in walk.rows(number) {
                between(&model, &before, run.simulation().state(), fraction, h, &mut at);
                let here = &earlier * (1.0 - fraction) + run.displacements() * fraction;
                observe((&model, &at), (recording, row), Some(here.as_view()), (&mut values, &mut slopes));
            }
        }
        let all = DMatrix::from_row_iterator(values.len(), count + 2 * n, slopes);
        let columns: Vec<usize> =
            start.free.iter().map(|k| count + k).chain(start.free.iter().map(|k| count + n + k)).collect();
        Ok(Residuals {
            values,
            by_parameters: all.columns(0, count).into_owned(),
            by_start: all.select_columns(&columns),
        })
    }
}

/// Residuals of a run with a simulation of the scene.
pub(crate) fn residuals_of(
    simulation: &mut Simulation,
    recording: &Recording,
    run: (Segment, &Start),
) -> Result<Vec<f64>, IdentifyError> {
    let mut out = Vec::new();
    follow(simulation, recording, run, |model, at, row| {
        observe((model, at), (recording, row), None, (&mut out, &mut Vec::new()));
    })?;
    Ok(out)
}

/// Simulates a run and calls a function with the bodies at every row.
pub(crate) fn follow(
    simulation: &mut Simulation,
    recording: &Recording,
    (segment, start): (Segment, &Start),
    mut see: impl FnMut(&Model, &Configuration, usize),
) -> Result<(), IdentifyError> {
    let named = || recording.name.clone();
    simulation.set_state(&start.state).map_err(|source| IdentifyError::Start { recording: named(), source })?;
    let h = simulation.step_size();
    let model = std::sync::Arc::clone(simulation.model());
    let mut walk = Walk::new(recording, segment, h);
    let (mut at, mut before) = (Configuration::default(), start.state.clone());
    let mut number = 0;
    for (row, _) in walk.rows(0) {
        see(&model, simulation.configuration(), row);
    }
    while !walk.is_over() {
        number += 1;
        before.copy_from(simulation.state());
        let _ =
            simulation.step().map_err(|source| IdentifyError::Step { recording: named(), source: Box::new(source) })?;
        for (row, fraction) in walk.rows(number) {
            between(&model, &before, simulation.state(), fraction, h, &mut at);
            see(&model, &at, row);
        }
    }
    Ok(())
}
