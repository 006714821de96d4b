//! The pendulum slides on the plane with friction.

use stiction_plot::{Axis, Dash, Figure, Layer, Panel};

use super::absolute::Absolute;
use super::{orientations_in, turned_by};
use crate::cases::space_pendulum::{Pendulum, continuous_angles, orientations_of, p1_of, truth};
use crate::draw::time_axis;
use crate::world::ends_at;
use crate::{Account, CaseError, Entry, Expected, Reference, Row};

pub(super) fn add(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    between_events(case, account)?;
    let rows = case.table("derived.sliding.motion")?;
    let last = rows.last().ok_or_else(|| CaseError::Absent("motion in the table".into()))?;
    scheme(case, last, account)?;
    order(case, last, account)?;
    let h = case.number("published.step")?;
    let mut pendulum = Pendulum::new(case, "sliding")?;
    let first = pendulum.step(h)?;
    account.add(
        Row::new(format!("normal force in the first step, h = {h} s"), "N", first.impulse[0] / h)
            .reference(case.expected("derived.sliding.normal_force_at_start", "tolerance.first_force")?),
    );
    figures(case, h, last.number("t")?, account)
}

/// Motion between events by an integrator of high order, beside the table.
fn between_events(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let (sampling, length) = (case.parameter("sampling")?, case.parameter("length")?);
    let tolerance = case.tolerance("tolerance.event_driven")?;
    let mut simulation = truth(case, "sliding", sampling)?;
    for row in case.table("derived.sliding.motion")? {
        let t = row.number("t")?;
        while simulation.time() < t - 0.5 * sampling {
            let _ = simulation.step()?;
        }
        let absent = || CaseError::Absent("body `a` or `b`".into());
        let p1 = p1_of(&simulation, length).ok_or_else(absent)?;
        let [a, b] = turned_by(orientations_of(&simulation).ok_or_else(absent)?, orientations_in(&row)?);
        let quantities = [
            ("x of P1", "m", p1.x, row.number("p1_x")?),
            ("y of P1", "m", p1.y, row.number("p1_y")?),
            ("energy", "J", simulation.energy().total(), row.number("energy")?),
            ("angle of body A to its orientation in the table", "rad", a, 0.0),
            ("angle of body B to its orientation in the table", "rad", b, 0.0),
        ];
        for (quantity, unit, ours, expected) in quantities {
            account.add(
                Row::new(format!("{quantity} at t = {t} s, integrator of high order"), unit, ours)
                    .reference(Expected::within(expected, tolerance)),
            );
        }
    }
    Ok(())
}

/// Errors of an independent implementation of the scheme, in its velocities.
fn scheme(case: &Reference, last: &Entry, account: &mut Account) -> Result<(), CaseError> {
    let (t, tolerance) = (last.number("t")?, case.tolerance("tolerance.scheme")?);
    for (k, row) in case.table("scheme")?.iter().enumerate() {
        let h = row.number("h")?;
        let mut pendulum = Absolute::new(case, "sliding")?;
        pendulum.run_to(t, h)?;
        let [a, b] = turned_by(pendulum.orientations(), orientations_in(last)?);
        let quantities = [
            ("orientation of A", "rad", a, "rotation_error_a"),
            ("orientation of B", "rad", b, "rotation_error_b"),
            ("place of P1", "m", off(pendulum.p1(), last)?, "p1_error"),
        ];
        for (quantity, unit, ours, name) in quantities {
            let quantity = format!("error of the {quantity} at t = {t} s, absolute velocities, h = {h} s");
            let compared = Row::new(quantity, unit, ours).reference(Expected::within(row.number(name)?, tolerance));
            account.add(if k == 0 && name == "p1_error" { compared.headline() } else { compared });
        }
    }
    Ok(())
}

fn off(p1: nalgebra::Vector3<f64>, row: &Entry) -> Result<f64, CaseError> {
    Ok((p1 - nalgebra::Vector3::new(row.number("p1_x")?, row.number("p1_y")?, 0.0)).norm())
}

/// The scheme by divide and conquer is of first order: errors halve with the step.
fn order(case: &Reference, last: &Entry, account: &mut Account) -> Result<(), CaseError> {
    let t = last.number("t")?;
    let mut errors = Vec::new();
    for row in case.table("scheme")? {
        let h = row.number("h")?;
        let mut pendulum = Pendulum::new(case, "sliding")?;
        pendulum.run(t, h, |_, _| ())?;
        let [a, b] = turned_by(pendulum.orientations(), orientations_in(last)?);
        let energy = (pendulum.energy() - last.number("energy")?).abs();
        errors.push((h, [a, b, off(pendulum.p1(), last)?, energy]));
    }
    for pair in errors.windows(2) {
        let [(coarse, far), (fine, near)] = pair else { continue };
        let names = ["orientation of A", "orientation of B", "place of P1", "energy"];
        for ((name, far), near) in names.into_iter().zip(far).zip(near) {
            let quantity =
                format!("error of the {name} at t = {t} s, divide and conquer, h = {coarse} s over h = {fine} s");
            account.add(Row::new(quantity, "", far / near).reference(case.between("tolerance.halving_ratio")?));
        }
    }
    Ok(())
}

/// Names of the angles.
const ANGLES: [&str; 3] = ["q₁", "q₂", "q₃"];

/// Angles by the scheme and by an integrator of high order, and their difference.
fn figures(case: &Reference, h: f64, end: f64, account: &mut Account) -> Result<(), CaseError> {
    let sampling = case.parameter("sampling")?;
    let (mut pendulum, mut exact) = (Pendulum::new(case, "sliding")?, truth(case, "sliding", sampling)?);
    let start: [[f64; 3]; 2] =
        [case.vector("parameters.sliding.angles_a")?, case.vector("parameters.sliding.angles_b")?];
    let (mut ours, mut theirs) = (start, start);
    let mut samples = vec![(0.0, start, start)];
    while exact.time() < end - 0.5 * sampling {
        let _ = exact.step()?;
        let time = exact.time();
        pendulum.run(time, h, |_, _| ())?;
        if !ends_at(pendulum.state.time, time, h) {
            return Err(CaseError::Never(format!("a step to {time} s")));
        }
        let turned = orientations_of(&exact).ok_or_else(|| CaseError::Absent("body `a` or `b`".into()))?;
        for (angles, turn) in ours.iter_mut().zip(pendulum.orientations()).chain(theirs.iter_mut().zip(turned)) {
            *angles = continuous_angles(&turn, *angles);
        }
        samples.push((time, ours, theirs));
    }
    for (body, name, letters) in [(0, "A", "8 a, b"), (1, "B", "8 c, d")] {
        let mut angles = Panel::new(time_axis(), Axis::new(format!("angles of body {name}"), "rad"));
        let mut errors = Panel::new(time_axis(), Axis::new("absolute error", "rad").log());
        let times = || samples.iter().map(|(time, ..)| *time).collect::<Vec<_>>();
        for k in 0..3 {
            let (found, true_ones) = samples.iter().map(|(_, ours, theirs)| (ours[body][k], theirs[body][k])).unzip();
            let apart = samples.iter().skip(1).map(|(_, ours, theirs)| (ours[body][k] - theirs[body][k]).abs());
            angles = angles
                .with(Layer::line(times(), found).named(ANGLES[k]).colour(k))
                .with(Layer::line(times(), true_ones).dash(Dash::Dashed).colour(6));
            let later = samples.iter().skip(1).map(|(time, ..)| *time).collect();
            errors = errors.with(Layer::line(later, apart.collect()).named(ANGLES[k]).colour(k));
        }
        let caption = format!(
            "Relative body-fixed 1-2-3 angles of body {name} by the scheme, h = {h} s (dashed: integrator of high order), and their absolute errors"
        );
        account.draw(
            caption,
            format!("Figure {letters}: angles and errors beside a commercial equation generator"),
            Figure::new("").columns(2).with(angles).with(errors),
        );
    }
    Ok(())
}
