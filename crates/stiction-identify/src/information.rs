//! Ranking of experiments by their information on a parameter.
//!
//! A run at values that are assumed to be right is differentiated. Its information is the Fisher information of its observations, after
//! projection onto the complement of all other unknowns.   [DOE-1] [DOE-2]

use nalgebra::{DMatrix, DVector, SVD, UnitQuaternion, Vector3};
use rayon::prelude::*;
use serde::Serialize;
use stiction::{Model, Simulation, multibody::Configuration, multibody::Mobility};

use crate::{
    IdentifyError, Noise, Orientation, Recording, Segment, Start, Target, Track,
    segment::{Walk, between},
};

/// Measurements of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The body.
    pub body: String,
    /// Point whose position is measured, in its frame.
    pub point: Vector3<f64>,
    /// True if its orientation is measured too.
    pub turned: bool,
    /// Noise of the measurements.
    pub noise: Noise,
}

/// Knowledge of the initial state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beginning {
    /// Only by measurement: positions and velocities of measured bodies are unknowns together with the parameters.
    #[default]
    Measured,
    /// Exact: a machine makes it.
    Known,
}

/// An experiment that could be made: a push, a toss.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its name in tables.
    pub name: String,
    /// The scene with its start and its pushes, and its unknown parameters.
    pub target: Target,
    /// Assumed values of the parameters; the information is the mean over them. Empty: the initial guesses.
    pub values: Vec<Vec<f64>>,
    /// Measurements.
    pub seen: Vec<Seen>,
    /// Times, s from the start: increasing from 0.
    pub times: Vec<f64>,
    /// Knowledge of the initial state.
    pub beginning: Beginning,
}

/// Information of an experiment on a parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// Name of the experiment.
    pub name: String,
    /// Index in the given list.
    pub candidate: usize,
    /// Information, 1 over the square of the unit of the parameter; 0 if there is none.
    pub information: f64,
    /// Standard deviation of the parameter after the experiment; none without information.
    pub deviation: Option<f64>,
    /// Reason why the run could not be made or differentiated; such experiments come last.
    pub failure: Option<String>,
}

/// Smallest size of a combination of other unknowns that counts, as a fraction of the largest. A column that they explain up to this
/// fraction is not observable.
const DEPENDENT: f64 = 1e-10;
const EXPLAINED: f64 = 1e-8;

/// Largest change, in standard deviations, by a change of the parameter by its whole scale that is rounding. Such a parameter is not
/// observable.
const UNSEEN: f64 = 1e-6;

/// Ranks the experiments by their information on the parameter with this name, the best first.
///
/// ```
/// use nalgebra::Vector3;
/// use stiction_identify::{Noise, Parameter, Target, information::{Beginning, Candidate, Seen, rank}};
/// let push = |force: f64| Candidate {
///     name: format!("{force} N"),
///     target: Target {
///         text: format!("
/// [simulation]
/// duration = 1.0
/// step = 0.02
/// gravity = [0.0, 0.0, -9.81]
/// [[body]]
/// name = 'block'
/// mass = 1.0
/// inertia = 0.01
/// [body.support]
/// points = [[0.1, 0.0], [-0.05, 0.08], [-0.05, -0.08]]
/// friction = 0.3
/// [[load]]
/// body = 'block'
/// force = [{force:?}, 0.0]
/// point = [0.0, 0.0]
/// "),
///         file_name: "push.toml".into(),
///         parameters: vec![Parameter::new("mu", "body.block.support.friction", 0.3, [0.0, 1.0])],
///     },
///     values: Vec::new(),
///     seen: vec![Seen {
///         body: "block".into(),
///         point: Vector3::zeros(),
///         turned: true,
///         noise: Noise { position: 1e-3, angle: 1e-2 },
///     }],
///     times: (0..20).map(|row| 0.02 * f64::from(row)).collect(),
///     beginning: Beginning::Known,
/// };
/// // Friction holds 2 N; only 4 N tell how strong it is.
/// let ranked = rank(&[push(2.0), push(4.0)], "mu")?;
/// assert_eq!((ranked[0].candidate, ranked[1].information), (1, 0.0));
/// # Ok::<(), stiction_identify::IdentifyError>(())
/// ```
pub fn rank(candidates: &[Candidate], parameter: &str) -> Result<Vec<Ranked>, IdentifyError> {
    for candidate in candidates {
        let _ = candidate.place_of(parameter)?;
    }
    let told: Vec<Result<f64, IdentifyError>> = candidates.par_iter().map(|c| c.information(parameter)).collect();
    let mut ranked: Vec<Ranked> = candidates
        .iter()
        .zip(told)
        .enumerate()
        .map(|(place, (candidate, told))| {
            let (information, failure) = match told {
                Ok(information) => (information, None),
                Err(error) => (0.0, Some(error.to_string())),
            };
            let deviation = (information > 0.0).then(|| 1.0 / information.sqrt());
            Ranked { name: candidate.name.clone(), candidate: place, information, deviation, failure }
        })
        .collect();
    // Equal ones stay in the given order.
    ranked.sort_by(|a, b| a.failure.is_some().cmp(&b.failure.is_some()).then(b.information.total_cmp(&a.information)));
    Ok(ranked)
}

impl Candidate {
    /// Information on a parameter, the mean over the assumed values.   [DOE-2]
    pub fn information(&self, parameter: &str) -> Result<f64, IdentifyError> {
        let place = self.place_of(parameter)?;
        let guesses = [self.target.starts()];
        let values = if self.values.is_empty() { &guesses[..] } else { &self.values[..] };
        let mut sum = 0.0;
        for values in values {
            sum += self.information_at(values, place)?;
        }
        Ok(sum / values.len() as f64)
    }

    fn place_of(&self, parameter: &str) -> Result<usize, IdentifyError> {
        let names: Vec<&str> = self.target.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        names.iter().position(|name| *name == parameter).ok_or_else(|| {
            let names = names.join(", ");
            IdentifyError::Options(format!("{}: there is no parameter \"{parameter}\"; it has {names}", self.name))
        })
    }

    fn information_at(&self, values: &[f64], place: usize) -> Result<f64, IdentifyError> {
        if values.len() != self.target.parameters.len() {
            let [given, needed] = [values.len(), self.target.parameters.len()];
            return Err(IdentifyError::Options(format!("{}: {given} values for {needed} parameters", self.name)));
        }
        let (recording, mut start) = self.predicted(values)?;
        if self.beginning == Beginning::Known {
            start.free.clear();
        }
        let variants = self.target.variants(values, self.target.scene(values)?.model.dof())?;
        let segment = Segment { recording: 0, first: 0, last: recording.times.len().saturating_sub(1) };
        let residuals = self.target.residuals_with_slopes(&variants, &recording, (segment, &start))?;
        let column = residuals.by_parameters.column(place).into_owned();
        let others = residuals.by_parameters.column_iter().enumerate().filter(|(k, _)| *k != place).map(|(_, c)| c);
        let nuisance: Vec<DVector<f64>> =
            others.chain(residuals.by_start.column_iter()).map(nalgebra::Matrix::into_owned).collect();
        let information = unexplained(&column, &nuisance);
        let scale = self.target.parameters.get(place).map_or(1.0, |parameter| parameter.scale.abs());
        Ok(if information.sqrt() * scale < UNSEEN { 0.0 } else { information })
    }

    /// Motion at these values as it would be recorded without noise, and its start.
    fn predicted(&self, values: &[f64]) -> Result<(Recording, Start), IdentifyError> {
        let scene = self.target.scene(values)?;
        let mut simulation = Simulation::from_scene(&scene)?;
        let model = std::sync::Arc::clone(&scene.model);
        let nothing = |seen: &Seen| Track {
            body: seen.body.clone(),
            point: seen.point,
            positions: vec![None; self.times.len()],
            orientations: vec![None; self.times.len()],
            velocities: vec![None; self.times.len()],
            noise: seen.noise,
        };
        let tracks = self.seen.iter().map(nothing).collect();
        let mut recording = Recording { name: self.name.clone(), times: self.times.clone(), tracks };
        recording.check_bodies(&model)?;
        let rows = Recording { tracks: Vec::new(), ..recording.clone() };
        rows.validate()?;
        let free = self.seen.iter().filter_map(|seen| model.unknowns(model.find_body(&seen.body)?));
        let free = free.flat_map(|(_, range)| range).collect();
        let start = Start { state: simulation.state().clone(), free };
        let h = simulation.step_size();
        let last = self.times.len().saturating_sub(1);
        let mut walk = Walk::new(&rows, Segment { recording: 0, first: 0, last }, h);
        let (mut number, mut before, mut at) = (0, start.state.clone(), Configuration::default());
        for (row, _) in walk.rows(0) {
            self.see(&model, simulation.configuration(), (&mut recording, row));
        }
        while !walk.is_over() {
            number += 1;
            before.copy_from(simulation.state());
            let made = simulation.step();
            let _ =
                made.map_err(|source| IdentifyError::Step { recording: self.name.clone(), source: Box::new(source) })?;
            for (row, fraction) in walk.rows(number) {
                between(&model, &before, simulation.state(), fraction, h, &mut at);
                self.see(&model, &at, (&mut recording, row));
            }
        }
        recording.validate()?;
        Ok((recording, start))
    }

    /// Writes the measurements at a time into a row.
    fn see(&self, model: &Model, at: &Configuration, (recording, row): (&mut Recording, usize)) {
        for (seen, track) in self.seen.iter().zip(&mut recording.tracks) {
            let Some((id, (mobility, _))) = model.find_body(&seen.body).and_then(|id| Some((id, model.unknowns(id)?)))
            else {
                continue;
            };
            let pose = at.pose(id);
            let mut position = pose.translation.vector + pose.rotation * seen.point;
            if matches!(mobility, Mobility::Planar | Mobility::PlanarParticle) {
                position.z = f64::NAN;
            }
            let turned = match mobility {
                Mobility::Planar => Some(Orientation::Angle(libm::atan2(pose.rotation[(1, 0)], pose.rotation[(0, 0)]))),
                Mobility::Free => Some(Orientation::Quaternion(UnitQuaternion::from_rotation_matrix(&pose.rotation))),
                _ => None,
            };
            track.positions.get_mut(row).into_iter().for_each(|place| *place = Some(position));
            let turned = turned.filter(|_| seen.turned);
            track.orientations.get_mut(row).into_iter().for_each(|place| *place = turned);
        }
    }
}

/// |(1 − P) a|² with P on the columns of all other unknowns: the Schur complement of JᵀR⁻¹J without its loss of digits.   [DOE-1]
fn unexplained(column: &DVector<f64>, nuisance: &[DVector<f64>]) -> f64 {
    // Zero columns explain nothing; the others count in any unit.
    let others: Vec<DVector<f64>> =
        nuisance.iter().filter(|other| other.norm() > 0.0).map(nalgebra::Matrix::normalize).collect();
    let mut left = column.clone();
    if !others.is_empty() {
        let svd = SVD::new(DMatrix::from_columns(&others), true, false);
        let most = svd.singular_values.amax();
        if let Some(directions) = svd.u {
            for (direction, size) in directions.column_iter().zip(svd.singular_values.iter()) {
                if *size > DEPENDENT * most {
                    let fraction = direction.dot(&left);
                    left.axpy(-fraction, &direction, 1.0);
                }
            }
        }
    }
    if left.norm() <= EXPLAINED * column.norm() { 0.0 } else { left.norm_squared() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_projection_is_the_schur_complement() {
        let a = DVector::from_vec(vec![1.0, 2.0, 3.0, 5.0]);
        let n = [DVector::from_vec(vec![1.0, 1.0, 1.0, 1.0]), DVector::from_vec(vec![0.0, 1.0, 2.0, 3.0])];
        let b = DMatrix::from_columns(&n);
        let schur =
            a.norm_squared() - (b.tr_mul(&a).transpose() * (b.tr_mul(&b)).try_inverse().unwrap() * b.tr_mul(&a))[0];
        assert!((unexplained(&a, &n) - schur).abs() < 1e-12);
        // The same columns twice, in other units, and one that nothing depends on: no change.
        let twice = [&n[0] * 1e6, n[1].clone(), &n[1] * 1e-6, DVector::zeros(4)];
        assert!((unexplained(&a, &twice) - schur).abs() < 1e-12);
        assert_eq!(unexplained(&(&n[0] + &n[1] * 3.0), &n), 0.0);
        assert_eq!(unexplained(&DVector::zeros(4), &n), 0.0);
    }
}
