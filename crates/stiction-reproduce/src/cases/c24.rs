//! C-24: an ellipse drops on a table. Effect of the weight γ of the constraint errors on the infeasibility.

use stiction::{BodyBuilder, Dimension, Margin, Model, Preset, Scheme, planar};
use stiction_plot::{Axis, Figure, Layer, Panel};

use crate::draw::time_axis;
use crate::norms::largest;
use crate::outline;
use crate::world::{ends_at, friction, on_floor, q, run as simulate, v};
use crate::{Account, CaseError, Expected, Reference, Row, Tolerance};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let (h, tolerance) = (case.parameter("step")?, case.tolerance("tolerance.scheme")?);
    let mut drops = Vec::new();
    for row in case.table("scheme.infeasibility_by_gamma")? {
        let drop = Drop::run(case, row.number("gamma")?, h)?;
        let largest = Row::new(format!("largest infeasibility, γ = {}", drop.gamma), "m", drop.largest())
            .reference(Expected::within(row.number("infeasibility_max")?, tolerance));
        account.add(if drop.gamma == 0.0 || drop.gamma == 1.0 { largest.headline() } else { largest });
        drops.push(drop);
    }
    first_touch(case, &drops, &mut account)?;
    growth_and_gain(case, &drops, &mut account)?;
    decay(case, &drops, &mut account)?;
    for row in case.table("scheme.infeasibility_by_step")? {
        for (name, gamma) in [("gamma_0", 0.0), ("gamma_0_3", 0.3), ("gamma_1", 1.0)] {
            let drop = Drop::run(case, gamma, row.number("h")?)?;
            account.add(
                Row::new(format!("largest infeasibility, γ = {gamma}, h = {} s", drop.h), "m", drop.largest())
                    .reference(Expected::within(row.number(name)?, tolerance)),
            );
        }
    }
    account.draw("Ten frames of the ellipse, γ = 0.3", "Figure 1: ten frames", frames(case, &drops)?);
    account.draw(
        "Infeasibility over time without stabilisation and with it",
        "Figure 2: infeasibility without and with stabilisation",
        infeasibility(&drops),
    );
    Ok(account)
}

fn model(case: &Reference) -> Result<Model, CaseError> {
    let number = |name: &str| case.parameter(name);
    let body = BodyBuilder::planar("ellipse", number("mass")?, number("inertia")?)
        .position(0.0, number("height")?, 0.0)
        .angle(number("angle")?)
        .angular_velocity(0.0, 0.0, number("angular_velocity")?)
        .shape(planar::Shape::ellipse(case.vector("parameters.semi_axes")?)?.into());
    on_floor(Dimension::Planar, [body], [0.0, -number("gravity")?, 0.0], friction(number("friction")?))
}

fn scheme(case: &Reference, gamma: f64) -> Result<Scheme, CaseError> {
    let mut scheme = Preset::StewartTrinkle.scheme().as_published();
    scheme.gamma = gamma;
    if gamma > 0.0 {
        scheme.margin = Margin::Fixed(case.parameter("margin")?);
    }
    Ok(scheme)
}

/// The ellipse after a step.
struct Sample {
    time: f64,
    q: [f64; 3],
    omega: f64,
    infeasibility: f64,
    energy: f64,
    touches: bool,
}

struct Drop {
    gamma: f64,
    h: f64,
    samples: Vec<Sample>,
}

impl Drop {
    fn run(case: &Reference, gamma: f64, h: f64) -> Result<Self, CaseError> {
        let mut samples = Vec::new();
        simulate(model(case)?, scheme(case, gamma)?, h, case.parameter("duration")?, |simulation, report| {
            let [_, _, omega] = v(simulation, "ellipse")?;
            samples.push(Sample {
                time: report.time,
                q: q(simulation, "ellipse")?,
                omega,
                infeasibility: report.penetration,
                energy: simulation.energy().total(),
                // Without stabilisation the first impulse occurs in the step after the first contact.
                touches: report.penetration > 0.0 || simulation.contacts().iter().any(|c| c.normal_impulse > 0.0),
            });
            Ok(())
        })?;
        Ok(Self { gamma, h, samples })
    }

    fn largest(&self) -> f64 {
        largest(self.samples.iter().map(|sample| sample.infeasibility))
    }

    fn at(&self, time: f64) -> Result<&Sample, CaseError> {
        let found = self.samples.iter().find(|sample| ends_at(sample.time, time, self.h));
        found.ok_or_else(|| CaseError::Never(format!("t = {time} s")))
    }
}

fn first_touch(case: &Reference, drops: &[Drop], account: &mut Account) -> Result<(), CaseError> {
    for drop in drops.iter().filter(|drop| drop.gamma == 0.0 || drop.gamma == 1.0) {
        let touch =
            drop.samples.iter().find(|sample| sample.touches).ok_or_else(|| CaseError::Never("a touch".into()))?;
        let steps = case.number("tolerance.first_touch_steps")?;
        account.add(
            Row::new(format!("end of the step of first touch, γ = {}", drop.gamma), "s", touch.time)
                .reference(Expected::within(case.number("derived.first_touch")?, Tolerance::absolute(steps * drop.h))),
        );
    }
    Ok(())
}

/// Growth of the infeasibility with γ = 0 over time, and its largest growth in a step with γ > 0 on a curved contact.
fn growth_and_gain(case: &Reference, drops: &[Drop], account: &mut Account) -> Result<(), CaseError> {
    let tolerance = case.tolerance("tolerance.scheme")?;
    for drop in drops.iter().filter(|drop| drop.gamma == 0.0) {
        for row in case.table("scheme.unstabilised_growth")? {
            let t = row.number("t")?;
            account.add(
                Row::new(format!("infeasibility at {t} s, γ = 0"), "m", drop.at(t)?.infeasibility)
                    .reference(Expected::within(row.number("infeasibility")?, tolerance)),
            );
        }
    }
    let from = case.number("scheme.energy_gain_from")?;
    for row in case.table("scheme.energy_gain_per_step")? {
        let gamma = row.number("gamma")?;
        for drop in drops.iter().filter(|drop| drop.gamma == gamma) {
            let landed = drop.samples.windows(2).filter(|pair| pair.iter().all(|sample| sample.time > from));
            let change = largest(landed.map(|pair| match pair {
                [before, after] => after.energy - before.energy,
                _ => f64::NAN,
            }));
            let gain = if change < 0.0 { 0.0 } else { change };
            account.add(
                Row::new(format!("largest gain of energy in a step, γ = {gamma}"), "J", gain)
                    .reference(Expected::within(row.number("gain_max")?, tolerance)),
            );
        }
    }
    Ok(())
}

/// I⁺ ≤ (1 − γ) I + C h² ω² with C half the largest second derivative of the gap in the angle, a²/b − b.
fn decay(case: &Reference, drops: &[Drop], account: &mut Account) -> Result<(), CaseError> {
    let [a, b]: [f64; 2] = case.vector("parameters.semi_axes")?;
    let curvature = a * a / b - b;
    for drop in drops.iter().filter(|drop| drop.gamma > 0.0) {
        let beyond = |pair: &[Sample]| match pair {
            [before, after] => {
                let turned = drop.h * after.omega;
                after.infeasibility - (1.0 - drop.gamma) * before.infeasibility - 0.5 * curvature * turned * turned
            }
            _ => f64::NAN,
        };
        let worst = largest(drop.samples.windows(2).map(beyond));
        account.add(
            Row::new(format!("infeasibility beyond (1 − γ) I + C h² ω², largest, γ = {}", drop.gamma), "m", worst)
                .reference(case.at_most("tolerance.recursion")?),
        );
    }
    Ok(())
}

fn frames(case: &Reference, drops: &[Drop]) -> Result<Figure, CaseError> {
    let axes = case.vector("parameters.semi_axes")?;
    let mut figure = Figure::new("").columns(5).panel_size(44.0, 50.0);
    for drop in drops.iter().filter(|drop| drop.gamma == 0.3) {
        for time in case.numbers("parameters.frames")? {
            let Sample { q: [x, y, angle], .. } = *drop.at(time)?;
            let panel = Panel::new(Axis::new("x", "m").range(-6.5, 6.5), Axis::new("y", "m").range(-1.0, 12.0))
                .titled(format!("t = {time} s"))
                .equal_aspect()
                .with(Layer::outlines(vec![outline::ellipse([x, y], axes, angle)]))
                .with(Layer::horizontal_marks(vec![0.0]).muted());
            figure = figure.with(panel);
        }
    }
    Ok(figure)
}

fn infeasibility(drops: &[Drop]) -> Figure {
    let panel = |least: f64| {
        let panel = Panel::new(time_axis(), Axis::new("infeasibility", "m"));
        drops.iter().enumerate().filter(|(_, drop)| drop.gamma >= least).fold(panel, |panel, (k, drop)| {
            let (t, depth) = drop.samples.iter().map(|sample| (sample.time, sample.infeasibility)).unzip();
            panel.with(Layer::line(t, depth).named(format!("γ = {}", drop.gamma)).colour(k))
        })
    };
    Figure::new("").columns(2).with(panel(0.0).titled("all")).with(panel(0.01).titled("stabilised"))
}
