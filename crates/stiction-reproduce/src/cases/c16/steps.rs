//! The centrifuge as a function of the step.

use rayon::prelude::*;
use stiction::{PrescribedSlip, Scene};
use stiction_plot::{Axis, Dash, Figure, Layer, Panel};

use super::AT;
use super::path::{Path, cone, cone_with, errors_over_time, plan};
use crate::cases::plate::{CM, Sample};
use crate::draw::time_axis;
use crate::norms::largest;
use crate::{Account, CaseError, Expected, Reference, Row};

/// The centrifuge with shorter and shorter steps.
pub(super) struct OverSteps {
    base: Path,
    /// Runs in the order of the table, from the shortest to the longest step.
    pub(super) paths: Vec<Path>,
}

impl OverSteps {
    pub(super) fn run(case: &Reference, field: &Scene) -> Result<Self, CaseError> {
        let mut lengths = vec![case.parameter("base_step")?];
        for row in case.table("derived.centrifuge.steps")? {
            lengths.push(row.number("h")?);
        }
        let paths: Result<Vec<_>, _> = lengths.par_iter().map(|&h| Path::run(case, field, &cone(), h)).collect();
        let mut paths = paths?;
        let base = paths.remove(0);
        Ok(Self { base, paths })
    }

    pub(super) fn rows(&self, case: &Reference, account: &mut Account) -> Result<(), CaseError> {
        let tolerance = case.tolerance("tolerance.numbers")?;
        for (path, row) in self.paths.iter().zip(case.table("derived.centrifuge.steps")?) {
            for (time, name) in AT {
                let Some(expected) = row.get(name) else { continue };
                let quantity = format!("centrifuge: error at {time} s, h = {} s", path.h);
                let row = Row::new(quantity, "cm", path.distance(&self.base, time)?)
                    .reference(Expected::within(expected, tolerance));
                let shown = time == 6.0 && path.h == case.parameter("step")?;
                account.add(if shown { row.headline() } else { row });
            }
        }
        // The base has half the step of the shortest run and so, at first order, an error of the size of their distance.
        let errors: Result<Vec<f64>, _> = self.paths.iter().map(|path| path.distance(&self.base, 6.0)).collect();
        let errors = errors?;
        let own = errors.first().copied().unwrap_or(f64::NAN);
        for (pair, paths) in errors.windows(2).zip(self.paths.windows(2)).skip(1) {
            if let ([short, long], [fine, coarse]) = (pair, paths) {
                let quantity = format!("centrifuge: error with h = {} s over error with {} s", coarse.h, fine.h);
                account.add(
                    Row::new(quantity, "", (long + own) / (short + own)).reference(case.between("tolerance.halving")?),
                );
            }
        }
        Ok(())
    }

    /// Largest difference of the x velocities of the published step and the base, cm/s.
    pub(super) fn velocity_difference(&self, end: f64) -> f64 {
        let published = self.paths.first().map_or(&[][..], |path| &path.samples);
        let pairs = self.base.samples.iter().zip(published);
        let early = pairs.filter(|(sample, _)| sample.time < end);
        largest(early.map(|(a, b)| (a.velocity.x - b.velocity.x).abs() * CM))
    }

    pub(super) fn first_moments(&self, end: f64) -> [Figure; 2] {
        let curve = |path: &Path| format!("h = {} s", path.h);
        let curves = [(self.paths.first(), Dash::Solid), (Some(&self.base), Dash::Dashed)];
        let panel = |axis: usize, label: &str, unit: &str, of: fn(&Sample) -> nalgebra::Vector3<f64>| {
            let mut panel = Panel::new(time_axis(), Axis::new(label, unit));
            for (path, dash) in &curves {
                let Some(path) = path else { continue };
                let early = path.samples.iter().filter(|sample| sample.time <= end);
                let (t, y) = early.map(|sample| (sample.time, of(sample)[axis] * CM)).unzip();
                panel = panel.with(Layer::line(t, y).named(curve(path)).dash(*dash));
            }
            panel
        };
        let place = |sample: &Sample| sample.place.coords;
        let velocity = |sample: &Sample| sample.velocity;
        [
            Figure::new("").columns(2).with(panel(0, "x", "cm", place)).with(panel(1, "y", "cm", place)),
            Figure::new("").columns(2).with(panel(0, "x velocity", "cm/s", velocity)).with(panel(
                1,
                "y velocity",
                "cm/s",
                velocity,
            )),
        ]
    }

    pub(super) fn figure(&self) -> Figure {
        let named = |path: &Path| format!("h = {} s", path.h);
        let all: Vec<_> =
            std::iter::once(&self.base).chain(&self.paths).map(|path| (Some(named(path)), path)).collect();
        let errors: Vec<_> = self.paths.iter().map(|path| (named(path), path)).collect();
        Figure::new("").columns(2).with(plan(&all).titled("(a) paths")).with(errors_over_time(&errors, &self.base))
    }
}

/// The scheme does not state the time within the step at which the velocity of the plate is taken; the error depends on it.
pub(super) fn moments_of_the_plate(case: &Reference, field: &Scene, account: &mut Account) -> Result<(), CaseError> {
    let steps = [case.parameter("step")?, case.parameter("base_step")?];
    let error = |slip: PrescribedSlip| {
        let paths: Result<Vec<_>, _> = steps.par_iter().map(|&h| Path::run(case, field, &cone_with(slip), h)).collect();
        match &paths?[..] {
            [path, base] => path.distance(base, 6.0),
            _ => Ok(f64::NAN),
        }
    };
    let (over, start) = (error(PrescribedSlip::Displacement)?, error(PrescribedSlip::Start)?);
    account.add(
        Row::new(
            format!("centrifuge: error at 6 s, h = {} s, velocity of the plate over the step", steps[0]),
            "cm",
            over,
        )
        .reference(case.expected("derived.centrifuge.moment.displacement", "tolerance.numbers")?),
    );
    account.add(
        Row::new("centrifuge: the same with its velocity at the start of the step, over that", "", start / over)
            .reference(case.at_most("tolerance.start_over_displacement")?),
    );
    Ok(())
}
