//! Particle filter over a recording: the state of the bodies and the parameters of the scene over time.
//!
//! ```text
//! particle         a state and values of the parameters, advanced by the simulator itself       [FILT-1]
//! reparameterise   coordinates in which parameters walk without leaving their bounds            [FILT-2]
//! temper           weights from the noise of the recording, in stages where a row is sharp      [FILT-3] [FILT-6]
//! resample         more particles where weight is, mode by mode of the contacts                 [FILT-4]
//! smooth           copies move apart, and mean and covariance stay                              [FILT-7]
//! report           means and intervals over time
//! ```
//!
//! All random numbers depend on a seed, a row and a particle, and sums are taken in the order of the particles. Results do not depend on
//! the number of threads.

mod particle;
mod reparameterise;
mod report;
mod resample;
mod smooth;
mod temper;

use std::sync::Arc;

use rayon::prelude::*;
use stiction::Model;
use stiction_study::Stream;

use crate::{IdentifyError, Recording, Segment, Start, Target, segment::Walk};
use particle::{Leg, Particle};
use reparameterise::Coordinate;
use smooth::Kernel;

pub use reparameterise::Keep;
pub use report::{FilterReport, Moment, ParameterMoment};

/// Standard deviations of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scatter {
    /// Of each coordinate of a position, m.
    pub position: f64,
    /// Of a rotation about each axis, rad.
    pub angle: f64,
    /// Of each component of a velocity, m/s.
    pub velocity: f64,
    /// Of an angular velocity about each axis, rad/s.
    pub spin: f64,
}

/// Prior of a parameter, and its random walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Standard deviation of its change from row to row, in its unit. It is less within a twentieth of the range, or of the scale, of a
    /// bound.
    pub walk: f64,
    /// Standard deviation of the initial guess. None: uniform between its bounds, or half of its scale if a bound is infinite.
    pub spread: Option<f64>,
}

/// Options of a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterOptions {
    /// Number of particles.
    pub particles: usize,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Treatment of the bounds of parameters.
    pub keep: Keep,
    /// Drift of each parameter in the order of the target. Missing ones have a hundredth of the scale, and a uniform prior between the
    /// bounds.
    pub drifts: Vec<Drift>,
    /// Standard deviations of the first states about the measured one. None: those of the noise of the recording; for velocities those of
    /// differences of two rows.
    pub start: Option<Scatter>,
    /// Process noise from row to row. None: that of velocities carries a body over the whole recording by one standard deviation of its
    /// measurements [FILT-8]; that of positions is zero, because noise there would push bodies into each other.
    pub process: Option<Scatter>,
    /// Residuals beyond this number of standard deviations count linearly (Huber); none if it is infinite.
    pub huber: f64,
    /// Smallest fraction of the weight with which a contact mode keeps particles of its own in resampling.   [FILT-4]
    pub rare: f64,
}

impl Default for FilterOptions {
    fn default() -> Self {
        Self {
            particles: 500,
            seed: 1,
            keep: Keep::Reparameterised,
            drifts: Vec::new(),
            start: None,
            process: None,
            huber: f64::INFINITY,
            rare: 0.01,
        }
    }
}

/// Effective fraction of the particles below which they are resampled.   [FILT-6]
const ENOUGH: f64 = 0.5;

/// Largest number of stages of one row; the last one uses the whole remaining likelihood.
const STAGES: usize = 20;

/// Noise of velocities from row to row, as a fraction of that of differences of two rows.   [FILT-8]
///
/// Disturbances s of the velocities of K rows, T apart, add up to a displacement of s T √(K³/3). It is that of one measurement, σ, while
/// differences of two rows have the deviation √2 σ/T.
fn disturbance(rows: usize) -> f64 {
    let count = rows.max(2) as f64;
    (1.5 / (count * count * count)).sqrt()
}

/// A bootstrap particle filter over one recording.
///
/// ```
/// use nalgebra::Vector3;
/// use stiction_identify::{Noise, Parameter, Recording, Target, Track, filter::{Drift, Filter, FilterOptions, Scatter}};
/// // A ball falls; how strong is gravity?
/// let text = "
/// [simulation]
/// duration = 1.0
/// step = 0.02
/// gravity = [0.0, -9.81]
/// [[body]]
/// name = 'ball'
/// mass = 1.0
/// inertia = 1.0
/// position = [0.0, 0.0]
/// ";
/// let times: Vec<f64> = (0..30).map(|row| 0.02 * f64::from(row)).collect();
/// let fallen = |t: &f64| Some(Vector3::new(0.0, -4.9 * t * (t + 0.02), f64::NAN));
/// let track = Track {
///     body: "ball".into(),
///     point: Vector3::zeros(),
///     positions: times.iter().map(fallen).collect(),
///     orientations: vec![None; times.len()],
///     // It is let go at rest; velocities of later rows are not used.
///     velocities: vec![Some([Vector3::zeros(); 2]); times.len()],
///     noise: Noise { position: 1e-3, angle: 1e-2 },
/// };
/// let recording = Recording { name: "fall".into(), times, tracks: vec![track] };
/// let gravity = Parameter::new("gravity", "simulation.gravity.1", -8.0, [-20.0, 0.0]);
/// let target = Target { text: text.into(), file_name: "fall.toml".into(), parameters: vec![gravity] };
/// let options = FilterOptions {
///     drifts: vec![Drift { walk: 0.2, spread: Some(2.0) }],
///     start: Some(Scatter { position: 1e-3, velocity: 0.01, ..Scatter::default() }),
///     ..FilterOptions::default()
/// };
/// let report = Filter { target: &target, recording: &recording, options }.run()?;
/// let last = report.moments.last().map(|moment| moment.parameters[0].mean);
/// assert!(last.is_some_and(|gravity| (gravity + 9.8).abs() < 1.0), "{last:?}");
/// # Ok::<(), stiction_identify::IdentifyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Filter<'a> {
    /// The scene and its unknown parameters.
    pub target: &'a Target,
    /// The recording.
    pub recording: &'a Recording,
    /// Options.
    pub options: FilterOptions,
}

/// Data shared by all particles.
struct Setting<'a> {
    model: Arc<Model>,
    target: &'a Target,
    recording: &'a Recording,
    coordinates: Vec<Coordinate>,
    huber: f64,
    /// Deviations of the free components at the start and from row to row: displacements, then velocities.
    at_start: Vec<f64>,
    on_the_way: Vec<f64>,
}

impl Filter<'_> {
    /// Runs the filter from the first row to the last.
    pub fn run(&self) -> Result<FilterReport, IdentifyError> {
        let (setting, start) = self.setting()?;
        let scene = self.target.scene(&self.target.starts())?;
        let legs = legs(self.recording, scene.settings.step);
        let seed = self.options.seed;
        let of_row = |row: usize, of: usize| Stream::new(seed, (row * self.options.particles + of) as u64);
        let mut cloud: Vec<Particle> = (0..self.options.particles)
            .map(|of| Particle::first(&setting, &scene.model, &start, of_row(0, of)))
            .collect();
        let mut weights = vec![1.0 / cloud.len() as f64; cloud.len()];
        let mut report = FilterReport::new(self.target, &scene.model);
        report.add(&setting, (&cloud, &weights), (0, self.recording.times.first().copied().unwrap_or(0.0), 0));
        for (number, leg) in legs.iter().enumerate() {
            let disturbed = cloud.par_iter().enumerate();
            let disturbed =
                disturbed.map(|(of, particle)| particle.disturbed(&setting, of_row(number + 1, of))).collect();
            let mut stream = Stream::new(!seed, number as u64);
            let stages;
            (cloud, weights, stages) = self.weighed(&setting, leg, (disturbed, weights), (&mut stream, &mut report))?;
            let last = leg.rows.last().map_or(0, |(row, _)| *row);
            let time = self.recording.times.get(last).copied().unwrap_or(f64::NAN);
            report.add(&setting, (&cloud, &weights), (last, time, stages));
        }
        report.finish();
        Ok(report)
    }

    /// Advances particles to the next row and updates their weights. This is done in stages with resampling between them, after which the
    /// particles are advanced again.   [FILT-6]
    fn weighed(
        &self,
        setting: &Setting<'_>,
        leg: &Leg,
        (mut began, mut weights): (Vec<Particle>, Vec<f64>),
        (stream, report): (&mut Stream, &mut FilterReport),
    ) -> Result<(Vec<Particle>, Vec<f64>, usize), IdentifyError> {
        let (mut left, mut stages) = (1.0, 0);
        loop {
            stages += 1;
            let ended: Vec<Particle> = began.par_iter().map(|particle| particle.advanced(setting, leg)).collect();
            report.count_failures(&began, &ended);
            let losses: Vec<f64> = ended.iter().map(|particle| particle.loss).collect();
            let living = temper::weighed(&weights, &losses, 0.0).ok_or_else(|| self.all_failed(&ended, leg))?;
            // After a stage all have the same weight again, except for those that fail.
            let all = if stages > 1 { temper::effective(&living) } else { ended.len() as f64 };
            let fraction =
                if stages < STAGES { temper::largest_fraction(&weights, &losses, left, ENOUGH * all) } else { left };
            weights = temper::weighed(&weights, &losses, fraction).ok_or_else(|| self.all_failed(&ended, leg))?;
            left -= fraction;
            if left <= 0.0 {
                return Ok((ended, weights, stages));
            }
            let modes: Vec<&str> = ended.iter().map(|particle| particle.modes.as_str()).collect();
            let strata = resample::by_modes(&weights, &modes, self.options.rare, stream);
            let (mut next, mut after) = (Vec::with_capacity(began.len()), Vec::with_capacity(began.len()));
            for stratum in &strata {
                let kernel = Kernel::new(&setting.model, &began, &stratum.members);
                for particle in stratum.chosen.iter().filter_map(|of| began.get(*of)) {
                    let of = (&*setting.model, setting.coordinates.as_slice());
                    next.push(kernel.as_ref().map_or_else(|| particle.clone(), |k| k.moved(of, particle, stream)));
                    after.push(stratum.each);
                }
            }
            (began, weights) = (next, after);
        }
    }

    /// Checks the options, and returns the shared data and the measured start.
    fn setting(&self) -> Result<(Setting<'_>, Start), IdentifyError> {
        let options = &self.options;
        let wrong = |reason: String| Err(IdentifyError::Options(reason));
        self.recording.validate()?;
        if options.particles < 2 {
            return wrong(format!("{} particles are too few: two at least are needed", options.particles));
        }
        if options.drifts.len() > self.target.parameters.len() {
            let [drifts, parameters] = [options.drifts.len(), self.target.parameters.len()];
            return wrong(format!("{drifts} drifts are given for {parameters} parameters"));
        }
        let is_size = |x: f64| x >= 0.0 && x.is_finite();
        if !options.drifts.iter().all(|drift| is_size(drift.walk) && drift.spread.is_none_or(is_size)) {
            return wrong("walk and spread of a parameter must be zero or more".into());
        }
        let scatters = [options.start, options.process];
        let sizes = scatters.iter().flatten().flat_map(|s| [s.position, s.angle, s.velocity, s.spin]);
        if !sizes.into_iter().all(is_size) {
            return wrong("standard deviations of states must be zero or more".into());
        }
        if !(options.huber > 0.0 && (0.0..=1.0).contains(&options.rare)) {
            return wrong("`huber` must be positive, and `rare` a fraction between 0 and 1".into());
        }
        let model = self.target.scene(&self.target.starts())?.model;
        self.recording.check_bodies(&model)?;
        let start = Start::measured(&model, self.recording, 0);
        let mut coordinates = Vec::with_capacity(self.target.parameters.len());
        for (k, parameter) in self.target.parameters.iter().enumerate() {
            let [low, high] = parameter.bounds;
            if low.partial_cmp(&high) != Some(std::cmp::Ordering::Less) {
                return wrong(format!("\"{}\" has no room between its bounds {low} and {high}", parameter.name));
            }
            let usual = Drift { walk: 0.01 * parameter.scale.abs(), spread: None };
            let drift = options.drifts.get(k).copied().unwrap_or(usual);
            coordinates.push(Coordinate::new(parameter, drift, options.keep));
        }
        let setting = Setting {
            model: Arc::clone(&model),
            target: self.target,
            recording: self.recording,
            coordinates,
            huber: options.huber,
            at_start: particle::deviations(&model, self.recording, options.start, 1.0),
            on_the_way: particle::deviations(
                &model,
                self.recording,
                options.process,
                disturbance(self.recording.times.len()),
            ),
        };
        Ok((setting, start))
    }

    fn all_failed(&self, cloud: &[Particle], leg: &Leg) -> IdentifyError {
        let row = leg.rows.first().map_or(0, |(row, _)| *row);
        let reason = cloud.iter().find_map(|particle| particle.failure.clone());
        IdentifyError::Particles {
            recording: self.recording.name.clone(),
            time: self.recording.times.get(row).copied().unwrap_or(f64::NAN),
            count: cloud.len(),
            reason: reason.unwrap_or_else(|| "its weight is not a number".into()),
        }
    }
}

/// Intervals from row to row after the first: whole steps, and the rows within the last of them.
fn legs(recording: &Recording, h: f64) -> Vec<Leg> {
    let last = recording.times.len().saturating_sub(1);
    let mut walk = Walk::new(recording, Segment { recording: 0, first: 0, last }, h);
    let _ = walk.rows(0);
    let (mut legs, mut number, mut steps) = (Vec::new(), 0, 0);
    while !walk.is_over() {
        number += 1;
        steps += 1;
        let rows = walk.rows(number);
        if !rows.is_empty() {
            legs.push(Leg { steps, rows });
            steps = 0;
        }
    }
    legs
}
