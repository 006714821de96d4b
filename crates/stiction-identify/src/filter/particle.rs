//! Particle: one state with values of the parameters, and its propagation.

use stiction::{
    ContactMode, Model, Simulation, State,
    multibody::{Configuration, Mobility},
};
use stiction_study::Stream;

use super::{Scatter, Setting};
use crate::{IdentifyError, Recording, Start, observe, segment::between, shooting::normal::loss};

/// Interval to the next row: whole steps, and the rows within the last of them with their fraction of the step.
pub(super) struct Leg {
    pub(super) steps: u64,
    pub(super) rows: Vec<(usize, f64)>,
}

/// A state and values of the parameters.
#[derive(Clone, Debug)]
pub(super) struct Particle {
    pub(super) start: Start,
    /// Coordinates of the parameters, in which they walk.
    pub(super) coordinates: Vec<f64>,
    /// Σ ρ(r) of the last rows; infinite if it has failed.
    pub(super) loss: f64,
    /// Modes of the contacts in the last step.
    pub(super) modes: String,
    /// Reason of its failure, if it failed.
    pub(super) failure: Option<String>,
}

/// A number of the standard normal distribution, after Box and Muller.
pub(super) fn normal(stream: &mut Stream) -> f64 {
    let (a, b) = (stream.unit(), stream.unit());
    (-2.0 * libm::log(1.0 - a)).sqrt() * libm::cos(std::f64::consts::TAU * b)
}

/// Deviations of the free components of a state, displacements and then velocities. They are as given, or a fraction of the deviation of
/// velocities that are differences of two rows. For positions that fraction counts only if it is one.
pub(super) fn deviations(model: &Model, recording: &Recording, given: Option<Scatter>, fraction: f64) -> Vec<f64> {
    let (mut places, mut rates) = (Vec::new(), Vec::new());
    let between_rows = match recording.times.as_slice() {
        [first, second, ..] => second - first,
        _ => 1.0,
    };
    for track in &recording.tracks {
        let Some((mobility, range)) = model.find_body(&track.body).and_then(|id| model.unknowns(id)) else { continue };
        let of_rates = fraction * std::f64::consts::SQRT_2 / between_rows;
        let of_places = if fraction == 1.0 { 1.0 } else { 0.0 };
        let scatter = given.unwrap_or(Scatter {
            position: of_places * track.noise.position,
            angle: of_places * track.noise.angle,
            velocity: of_rates * track.noise.position,
            spin: of_rates * track.noise.angle,
        });
        let linear = if matches!(mobility, Mobility::Planar | Mobility::PlanarParticle) { 2 } else { 3 };
        for component in 0..range.len() {
            let is_linear = component < linear;
            places.push(if is_linear { scatter.position } else { scatter.angle });
            rates.push(if is_linear { scatter.velocity } else { scatter.spin });
        }
    }
    places.extend(rates);
    places
}

impl Particle {
    /// Particle of the first row: a state about the measured one, parameters from their prior.   [FILT-1]
    pub(super) fn first(setting: &Setting<'_>, model: &Model, start: &Start, mut stream: Stream) -> Self {
        let coordinates = setting.coordinates.iter().map(|coordinate| coordinate.first(&mut stream)).collect();
        let step: Vec<f64> = setting.at_start.iter().map(|deviation| deviation * normal(&mut stream)).collect();
        let start = start.moved(model, &step);
        Self { start, coordinates, loss: 0.0, modes: String::new(), failure: None }
    }

    /// Values of the parameters.
    pub(super) fn values<'a>(&'a self, setting: &'a Setting<'_>) -> impl Iterator<Item = f64> + 'a {
        setting.coordinates.iter().zip(&self.coordinates).map(|(coordinate, u)| coordinate.value(*u))
    }

    /// Particle after one step of the walk of its parameters, and with a disturbed state.   [FILT-1]
    pub(super) fn disturbed(&self, setting: &Setting<'_>, mut stream: Stream) -> Self {
        let walked = setting.coordinates.iter().zip(&self.coordinates);
        let coordinates = walked.map(|(coordinate, u)| coordinate.walked(*u, normal(&mut stream))).collect();
        let step: Vec<f64> = setting.on_the_way.iter().map(|deviation| deviation * normal(&mut stream)).collect();
        Self { start: self.start.moved(&setting.model, &step), coordinates, ..self.clone() }
    }

    /// Particle at the next row; it is unchanged if it fails, or has failed.   [FILT-1]
    pub(super) fn advanced(&self, setting: &Setting<'_>, leg: &Leg) -> Self {
        let mut next = self.clone();
        if next.failure.is_none()
            && let Err(error) = next.go(setting, leg)
        {
            next.loss = f64::INFINITY;
            next.failure = Some(error.to_string());
        }
        next
    }

    fn go(&mut self, setting: &Setting<'_>, leg: &Leg) -> Result<(), IdentifyError> {
        let named = || setting.recording.name.clone();
        let values: Vec<f64> = self.values(setting).collect();
        let scene = setting.target.scene(&values)?;
        let model = std::sync::Arc::clone(&scene.model);
        let mut simulation = Simulation::from_scene(&scene)?;
        let begins = simulation.set_state(&self.start.state);
        begins.map_err(|source| IdentifyError::Start { recording: named(), source })?;
        let (h, mut before) = (simulation.step_size(), State::default());
        for _ in 0..leg.steps {
            before.copy_from(simulation.state());
            let made = simulation.step();
            let _ = made.map_err(|source| IdentifyError::Step { recording: named(), source: Box::new(source) })?;
        }
        let (mut residuals, mut at) = (Vec::new(), Configuration::default());
        for (row, fraction) in &leg.rows {
            between(&model, &before, simulation.state(), *fraction, h, &mut at);
            observe((&model, &at), (setting.recording, *row), None, (&mut residuals, &mut Vec::new()));
        }
        self.loss = residuals.iter().map(|r| loss(*r, setting.huber)).sum();
        self.modes = modes(&simulation);
        self.start.state.copy_from(simulation.state());
        Ok(())
    }
}

/// Modes of the contacts in the last step, for every pair of bodies that touch: `block on table: slip slip stick`.
fn modes(simulation: &Simulation) -> String {
    let bodies = simulation.model().bodies();
    let name = |index: usize| bodies.get(index).map_or("", |body| body.name.as_str());
    let support_points = simulation
        .support_points()
        .iter()
        .map(|support_point| (support_point.body.index(), support_point.on.index(), support_point.mode));
    let contacts = simulation.contacts().iter().map(|c| (c.body_b.index(), c.body_a.index(), c.mode));
    let (mut text, mut pair) = (String::new(), None);
    for (body, on, mode) in support_points.chain(contacts) {
        let word = match mode {
            ContactMode::Open => continue,
            ContactMode::Stick => " stick",
            ContactMode::Slip => " slip",
        };
        if pair != Some((body, on)) {
            pair = Some((body, on));
            let between = if text.is_empty() { "" } else { "; " };
            text.extend([between, name(body), " on ", name(on), ":"]);
        }
        text.push_str(word);
    }
    if text.is_empty() { "nothing touches".to_owned() } else { text }
}
