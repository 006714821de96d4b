//! C-20: motions of a plate that were found by a search, and the search itself.

mod circle;
mod saddle;
mod search;

use stiction::{PrescribedSlip, Preset, Scene, Scheme, Simulation};

use super::plate::{self, CM, Sample};
use crate::world::steps;
use crate::{Account, CaseError, Reference};

/// Time between two samples of a figure, s.
const SAMPLING: f64 = 1e-2;

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    circle::add(case, &mut account)?;
    saddle::add(case, &mut account)?;
    search::add(case, &mut account)?;
    account.remark(case.text("published.objectives.note")?);
    account.remark(case.text("published.saddle_note")?);
    Ok(account)
}

/// Scheme with the second-order friction cone; the velocity of the plate is taken at the end of the step, as in the derived tables.
fn cone() -> Scheme {
    let mut scheme = Preset::Ncp.scheme().as_published();
    scheme.prescribed_slip = PrescribedSlip::End;
    scheme
}

/// A particle that starts on the plate.
struct Trajectory {
    /// States at intervals of [`SAMPLING`] seconds.
    samples: Vec<Sample>,
    /// Fraction of the steps without a normal force.
    airborne: f64,
}

impl Trajectory {
    /// Runs from a position in cm on the plate of a scene, with the step and the duration for measuring rates.
    fn run(case: &Reference, field: &Field, start: [f64; 2]) -> Result<Self, CaseError> {
        Self::run_for(field, start, case.parameter("step")?, case.parameter("duration")?)
    }

    /// [`Self::run`] with another step and another duration.
    fn run_for(field: &Field, start: [f64; 2], h: f64, duration: f64) -> Result<Self, CaseError> {
        let scene = field.scene_from(start.map(|x| x / CM))?;
        let (every, mut count, mut airborne, mut samples) = (steps(SAMPLING, h), 0, 0, Vec::new());
        plate::run(&scene, &cone(), h, duration, |sample| {
            count += 1;
            airborne += usize::from(sample.normal_force <= 0.0);
            if count % every == 0 {
                samples.push(*sample);
            }
        })?;
        Ok(Self { samples, airborne: airborne as f64 / count.max(1) as f64 })
    }

    fn at(&self, time: f64) -> Result<&Sample, CaseError> {
        let index = steps(time, SAMPLING).saturating_sub(1);
        self.samples.get(index).ok_or_else(|| CaseError::Never(format!("t = {time} s")))
    }

    /// A coordinate of the position, cm.
    fn place(&self, axis: usize) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.place[axis] * CM).collect()
    }
}

/// A scene of the project with some of its values changed.
struct Field<'f> {
    name: &'f str,
    text: &'f str,
    changes: Vec<(&'f str, String)>,
}

impl Field<'_> {
    /// The scene with the particle on the plate at t = 0.
    fn scene_from(&self, [x, y]: [f64; 2]) -> Result<Scene, CaseError> {
        let scene = plate::scene(self.name, self.text, &self.changes)?;
        let simulation = Simulation::from_scene(&scene)?;
        let plate = simulation.model().find_body("plate").ok_or_else(|| CaseError::Absent("body `plate`".into()))?;
        let pose = simulation.configuration().pose(plate);
        let (middle, normal) = (pose.translation, pose.rotation * nalgebra::Vector3::z());
        // In the plane of the plate: n · (r − p) = 0.
        let z = middle.z - (normal.x * (x - middle.x) + normal.y * (y - middle.y)) / normal.z;
        let place = ("body.particle.position", format!("[{x:?}, {y:?}, {z:?}]"));
        let changes: Vec<_> = self.changes.iter().cloned().chain([place]).collect();
        plate::scene(self.name, self.text, &changes)
    }
}
