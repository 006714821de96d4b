//! The path of a particle, and figures of paths.

use stiction::{PrescribedSlip, Preset, Scene, Scheme};
use stiction_plot::{Axis, Layer, Marker, Panel};

use crate::cases::plate::{self, CM, Sample};
use crate::draw::time_axis;
use crate::world::steps;
use crate::{CaseError, Reference};

/// A run, sampled every millisecond.
#[derive(Clone)]
pub(super) struct Path {
    pub(super) h: f64,
    pub(super) samples: Vec<Sample>,
}

/// Time between two samples, s: the longest step of the studies.
pub(super) const SAMPLING: f64 = 1e-3;

impl Path {
    /// The particle of a field by a scheme.
    pub(super) fn run(case: &Reference, field: &Scene, scheme: &Scheme, h: f64) -> Result<Self, CaseError> {
        let (every, mut samples, mut count) = (steps(SAMPLING, h), Vec::new(), 0);
        plate::run(field, scheme, h, case.parameter("duration")?, |sample| {
            count += 1;
            if count % every == 0 {
                samples.push(*sample);
            }
        })?;
        Ok(Self { h, samples })
    }

    /// The path up to a time.
    pub(super) fn until(mut self, end: f64) -> Self {
        self.samples.truncate(steps(end, SAMPLING));
        self
    }

    pub(super) fn times(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.time).collect()
    }

    /// A coordinate of the position, cm.
    pub(super) fn place(&self, axis: usize) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.place[axis] * CM).collect()
    }

    pub(super) fn sample(&self, time: f64) -> Result<&Sample, CaseError> {
        let index = steps(time, SAMPLING).saturating_sub(1);
        self.samples.get(index).ok_or_else(|| CaseError::Never(format!("t = {time} s")))
    }

    /// Distance of each sample in the plane, cm.
    fn distances(&self, other: &Self) -> Vec<f64> {
        let pairs = self.samples.iter().zip(&other.samples);
        pairs.map(|(a, b)| (a.place.xy() - b.place.xy()).norm() * CM).collect()
    }

    pub(super) fn distance(&self, other: &Self, time: f64) -> Result<f64, CaseError> {
        Ok((self.sample(time)?.place.xy() - other.sample(time)?.place.xy()).norm() * CM)
    }
}

/// Scheme with the second-order friction cone; the velocity of the plate is taken at the end of the step, as in the derived tables.
pub(super) fn cone() -> Scheme {
    cone_with(PrescribedSlip::End)
}

/// [`cone`] with another time at which the velocity of the plate is taken.
pub(super) fn cone_with(slip: PrescribedSlip) -> Scheme {
    let mut scheme = Preset::Ncp.scheme().as_published();
    scheme.prescribed_slip = slip;
    scheme
}

/// Scheme with a friction polygon.
pub(super) fn polygon(directions: u32) -> Scheme {
    let mut scheme = Preset::StewartTrinkle.scheme().as_published();
    (scheme.prescribed_slip, scheme.directions) = (PrescribedSlip::End, directions);
    scheme
}

/// Paths from above, with their common start as a ring.
pub(super) fn plan(paths: &[(Option<String>, &Path)]) -> Panel {
    let mut panel = Panel::new(Axis::new("x", "cm"), Axis::new("y", "cm")).equal_aspect();
    for (name, path) in paths {
        let line = Layer::line(path.place(0), path.place(1));
        panel = panel.with(match name {
            Some(name) => line.named(name),
            None => line,
        });
    }
    match paths.first().and_then(|(_, path)| path.samples.first()) {
        Some(start) => {
            panel.with(Layer::points(vec![start.place.x * CM], vec![start.place.y * CM]).marker(Marker::Ring).colour(2))
        }
        None => panel,
    }
}

pub(super) fn errors_over_time(paths: &[(String, &Path)], base: &Path) -> Panel {
    let panel = Panel::new(time_axis(), Axis::new("error", "cm")).titled("(b) errors");
    // The colours of the paths, of which the first is the base.
    paths.iter().zip(1..).fold(panel, |panel, ((name, path), colour)| {
        panel.with(Layer::line(path.times(), path.distances(base)).named(name).colour(colour))
    })
}
