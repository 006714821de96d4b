//! A particle on a moving plate, for C-15 and C-16: the scenes of `scenes/plate`, run and observed.

use nalgebra::{Point3, Vector3};
use stiction::{ContactMode, Pose, Scene, Scheme, Simulation};

use crate::CaseError;
use crate::world::steps;

/// Centimetres, the unit of the source, per metre.
pub(crate) const CM: f64 = 100.0;

/// The particle after a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// End of the step, s.
    pub(crate) time: f64,
    /// Position of the particle, world axes, m.
    pub(crate) place: Point3<f64>,
    /// Velocity of the particle, world axes, m/s.
    pub(crate) velocity: Vector3<f64>,
    /// Pose of the plate.
    pub(crate) plate: Pose,
    /// Contact mode; open without a contact.
    pub(crate) mode: ContactMode,
    /// Normal force averaged over the step, N.
    pub(crate) normal_force: f64,
    /// Velocity relative to the plate, m/s.
    pub(crate) slip: Vector3<f64>,
}

impl Sample {
    fn of(simulation: &Simulation) -> Result<Self, CaseError> {
        let plate = simulation.model().find_body("plate").ok_or_else(|| CaseError::Absent("body `plate`".into()))?;
        // In the plane the third coordinate is missing.
        let vector = |x: &[f64]| {
            let component = |k: usize| x.get(k).copied().unwrap_or(0.0);
            Vector3::new(component(0), component(1), component(2))
        };
        let contact = simulation.contacts().first();
        Ok(Self {
            time: simulation.time(),
            place: vector(&simulation.state().q).into(),
            velocity: vector(&simulation.state().v),
            plate: simulation.configuration().pose(plate),
            mode: contact.map_or(ContactMode::Open, |contact| contact.mode),
            normal_force: contact.map_or(0.0, |contact| contact.normal_impulse / simulation.last_step_size()),
            slip: contact.map_or_else(Vector3::zeros, |contact| contact.slip),
        })
    }
}

/// A scene of the project with some of its values changed.
pub(crate) fn scene(name: &str, text: &str, changes: &[(&str, String)]) -> Result<Scene, CaseError> {
    let changes: Vec<_> = changes.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect();
    stiction::scene::parse_with(text, name, &changes).map_err(CaseError::other)
}

/// Runs the particle of a scene, the only dynamic body, and reports every step.
pub(crate) fn run(
    scene: &Scene,
    scheme: &Scheme,
    h: f64,
    duration: f64,
    mut each: impl FnMut(&Sample),
) -> Result<(), CaseError> {
    let mut simulation = Simulation::new(scene.model.clone(), scheme.clone(), h)?;
    for _ in 0..steps(duration, h) {
        let _ = simulation.step()?;
        each(&Sample::of(&simulation)?);
    }
    Ok(())
}
