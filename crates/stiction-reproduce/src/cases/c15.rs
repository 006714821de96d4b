//! C-15: a particle on a plate that tilts back and forth creeps with the velocity b r + c r³ of theory, as long as it never
//! sticks.

use stiction::{ContactMode, PeriodAverage, PlateAverage, PrescribedSlip, Preset};
use stiction_plot::{Axis, Dash, Figure, Layer, Marker, Panel};

use super::plate::{self, CM, Sample};
use crate::draw::time_axis;
use crate::norms::largest;
use crate::{Account, CaseError, Expected, Reference, Row, Value};

const SCENE: &str = include_str!("../../../../scenes/plate/tilting.toml");

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let (depth, h) = (case.parameter("depth")?, case.parameter("step")?);
    let law = Law::read(case, depth)?;
    let closed = case.tolerance("tolerance.closed_form")?;
    account.add(
        Row::new("b of the closed form", "1/s", law.b).reference(Expected::within(case.value("derived.b")?, closed)),
    );
    let per_cm2 = law.c / (CM * CM);
    account.add(
        Row::new("c of the closed form", "1/(cm² s)", per_cm2)
            .reference(Expected::within(case.value("derived.c_per_cm2")?, closed)),
    );

    let far = Creep::run(case, depth, h, case.parameter("duration")?)?;
    far_from_the_axis(case, &far, &law, &mut account)?;
    the_scheme(case, depth, &mut account)?;
    account.draw(
        "With the axis 5 cm below the surface the particle keeps contact, and sticks only for an instant where the slip \
         turns", "Figure 5.3 a, b: contact is kept and nothing sticks", assumptions(&far));
    let figure = Figure::new("").with(velocities(&far, &law, "axis 5 cm below the surface"));
    account.draw(
        "Mean velocity of each period beside the closed form",
        "Figure 5.4: simulated and theoretical velocity",
        figure,
    );

    near_the_axis(case, h, &mut account)?;
    Ok(account)
}

fn far_from_the_axis(case: &Reference, far: &Creep, law: &Law, account: &mut Account) -> Result<(), CaseError> {
    let from = case.number("tolerance.formula_from")?;
    let settled = far.periods.iter().filter(|average| average.time - 0.5 * far.period >= from);
    let worst = largest(settled.map(|average| (average.velocity.x / law.velocity(average.position.x) - 1.0).abs()));
    account.add(
        Row::new(format!("largest departure of a mean velocity from b r + c r³, t ≥ {from} s, relative"), "", worst)
            .reference(case.at_most("tolerance.formula.rel")?)
            .headline(),
    );
    let reversals = 2.0 * far.duration / far.period;
    account.add(
        Row::new("sticking steps per reversal of the slip", "", far.sticking * far.duration / far.h / reversals)
            .reference(case.at_most("tolerance.sticking_steps_per_reversal")?),
    );
    Ok(())
}

/// With the axis near the surface the particle sticks for a part of every period, and the closed form fails.
fn near_the_axis(case: &Reference, h: f64, account: &mut Account) -> Result<(), CaseError> {
    let mut near = Vec::new();
    for row in case.table("scheme.near")? {
        let depth = row.number("depth")?;
        let (creep, law) = (Creep::run(case, depth, h, case.parameter("duration")?)?, Law::read(case, depth)?);
        let cm = depth * CM;
        let fraction = Value::Between(row.number("sticking_from")?, row.number("sticking_to")?);
        account.add(
            Row::new(format!("share of the time in which it sticks, axis at {cm} cm"), "", creep.sticking)
                .reference(Expected::bound(fraction)),
        );
        // The period for which the closed form gives the velocity of the table.
        let formula = row.number("formula")?;
        let off = |average: &PeriodAverage| (law.velocity(average.position.x) * CM - formula).abs();
        let there = creep.periods.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
        let there = there.ok_or_else(|| CaseError::Never("a period".into()))?;
        let tolerance = case.tolerance("tolerance.near")?;
        account.add(
            Row::new(
                format!("velocity where the closed form gives {formula} cm/s, axis at {cm} cm"),
                "cm/s",
                there.velocity.x * CM,
            )
            .reference(Expected::within(row.number("v")?, tolerance)),
        );
        near.push((cm, creep, law));
    }
    let figure = near.iter().fold(Figure::new("").columns(2), |figure, (cm, creep, law)| {
        figure.with(velocities(creep, law, &format!("axis {cm} cm below the surface"))).with(slip(creep))
    });
    account.draw(
        "With the axis near, the particle sticks at times and the closed form fails",
        "Figure 5.5 a, b: the same with the axis nearer",
        figure,
    );
    Ok(())
}

/// Compares with the numbers of an independent implementation of the scheme.
fn the_scheme(case: &Reference, depth: f64, account: &mut Account) -> Result<(), CaseError> {
    let rows = case.table("scheme.periods")?;
    let end = rows.iter().filter_map(|row| row.get("t")).fold(0.0, f64::max);
    let fine = Creep::run(case, depth, case.number("scheme.step")?, end)?;
    let tolerance = case.tolerance("tolerance.scheme")?;
    for row in rows {
        let t = row.number("t")?;
        let ends = |average: &&PeriodAverage| (average.time + 0.5 * fine.period - t).abs() < 0.5 * fine.period;
        let average = fine.periods.iter().find(ends).ok_or_else(|| CaseError::Never(format!("the period to {t} s")))?;
        let values =
            [("r", "mean distance", "cm", average.position.x), ("v", "mean velocity", "cm/s", average.velocity.x)];
        for (name, quantity, unit, ours) in values {
            account.add(
                Row::new(format!("{quantity} in the period to t = {t} s, h = {} s", fine.h), unit, ours * CM)
                    .reference(Expected::within(row.number(name)?, tolerance)),
            );
        }
    }
    Ok(())
}

/// v = b r + c r³: for a particle that always slides and never separates.
struct Law {
    b: f64,
    c: f64,
}

impl Law {
    /// b = μ α T (μ² g² − 3 D²)/(8 D²), c = −μ³ α³ T/(8 D²), D = α d.
    fn read(case: &Reference, depth: f64) -> Result<Self, CaseError> {
        let (mu, g) = (case.parameter("friction")?, case.parameter("gravity")?);
        let (alpha, period) = (case.parameter("angular_acceleration")?, case.parameter("period")?);
        let d = alpha * depth;
        Ok(Self {
            b: mu * alpha * period * ((mu * g).powi(2) - 3.0 * d * d) / (8.0 * d * d),
            c: -(mu * alpha).powi(3) * period / (8.0 * d * d),
        })
    }

    fn velocity(&self, r: f64) -> f64 {
        self.b * r + self.c * r.powi(3)
    }
}

/// Motion of the particle.
struct Creep {
    h: f64,
    duration: f64,
    period: f64,
    periods: Vec<PeriodAverage>,
    /// Fraction of the steps that stick.
    sticking: f64,
    /// Smallest and largest normal force of each period, N.
    forces: Vec<[f64; 2]>,
    /// Two periods in the middle of the run.
    cycles: Vec<Sample>,
}

impl Creep {
    /// The plate with its axis this far below the surface, its velocity taken at the end of the step.
    fn run(case: &Reference, depth: f64, h: f64, duration: f64) -> Result<Self, CaseError> {
        let changes = [
            ("body.plate.shape.0.position", format!("[0.0, {depth:?}]")),
            ("body.particle.position", format!("[{:?}, {depth:?}]", case.parameter("start")?)),
        ];
        let scene = plate::scene("scenes/plate/tilting.toml", SCENE, &changes)?;
        let mut scheme = Preset::Ncp.scheme().as_published();
        scheme.prescribed_slip = PrescribedSlip::End;
        let period = case.parameter("period")?;
        let from = (0.5 * duration / period).floor() * period;
        let mut creep = Self { h, duration, period, periods: vec![], sticking: 0.0, forces: vec![], cycles: vec![] };
        let (mut averages, mut stuck, mut steps) = (PlateAverage::new(period), 0_u32, 0_u32);
        let mut extremes = [f64::INFINITY, 0.0_f64];
        plate::run(&scene, &scheme, h, duration, |sample| {
            steps += 1;
            stuck += u32::from(sample.mode == ContactMode::Stick);
            extremes = [extremes[0].min(sample.normal_force), extremes[1].max(sample.normal_force)];
            if (from..from + 2.0 * period).contains(&(sample.time - 0.5 * h)) {
                creep.cycles.push(*sample);
            }
            if let Some(average) = averages.add((sample.time, h), &sample.plate, sample.place, sample.velocity) {
                creep.periods.push(average);
                creep.forces.push(std::mem::replace(&mut extremes, [f64::INFINITY, 0.0]));
            }
        })?;
        creep.sticking = f64::from(stuck) / f64::from(steps);
        Ok(creep)
    }

    fn times(&self) -> Vec<f64> {
        self.periods.iter().map(|average| average.time).collect()
    }
}

fn assumptions(creep: &Creep) -> Figure {
    // In the first step the particle, which is at rest, is accelerated suddenly.
    let times: Vec<_> = creep.times().split_off(1);
    let force = |side: usize| creep.forces.iter().skip(1).map(|extremes| extremes[side]).collect::<Vec<_>>();
    let highest = force(1).into_iter().fold(0.0, f64::max);
    let contact = Panel::new(time_axis(), Axis::new("normal force", "N").range(0.0, 1.1 * highest))
        .titled("(a) contact, from the second period on")
        .with(Layer::line(times.clone(), force(1)).named("largest of a period"))
        .with(Layer::line(times, force(0)).named("smallest of a period"));
    Figure::new("").columns(2).with(contact).with(slip(creep).titled("(b) slip over two periods"))
}

/// Sliding velocity of the particle over two periods, with the steps that stick marked.
fn slip(creep: &Creep) -> Panel {
    let column = |of: &dyn Fn(&Sample) -> f64| creep.cycles.iter().map(of).collect::<Vec<_>>();
    let sticking: Vec<_> = creep.cycles.iter().filter(|sample| sample.mode == ContactMode::Stick).collect();
    let panel = Panel::new(time_axis(), Axis::new("slip speed", "cm/s"))
        .titled("slip over two periods")
        .with(Layer::line(column(&|sample| sample.time), column(&|sample| sample.slip.norm() * CM)).named("slip"));
    let at: Vec<_> = sticking.iter().map(|sample| sample.time).collect();
    let zeros = vec![0.0; at.len()];
    panel.with(Layer::points(at, zeros).named("sticks").marker(Marker::Disc).colour(1))
}

fn velocities(creep: &Creep, law: &Law, title: &str) -> Panel {
    let simulated = creep.periods.iter().map(|average| average.velocity.x * CM).collect();
    let theory = creep.periods.iter().map(|average| law.velocity(average.position.x) * CM).collect();
    Panel::new(time_axis(), Axis::new("mean velocity of a period", "cm/s"))
        .titled(title)
        .with(Layer::line(creep.times(), simulated).named("simulated"))
        .with(Layer::line(creep.times(), theory).named("b r + c r³").dash(Dash::Dashed))
}
