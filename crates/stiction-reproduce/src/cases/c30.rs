//! C-30: the double pendulum in a plane bounces with Newton's restitution.

use stiction_plot::{Axis, Figure, Layer, Panel};

use super::space_pendulum::Pendulum;
use crate::draw::time_axis;
use crate::norms::largest;
use crate::{Account, CaseError, Expected, Reference, Row, Tolerance};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    for h in case.numbers("parameters.steps")? {
        let bounces = Bounces::run(case, h)?;
        bounces.rows(case, &mut account)?;
        if account.figures.is_empty() {
            account.draw("Velocity of P1 over time, restitution 0.7", "Figure 10: velocity of P1", bounces.figure());
        }
    }
    Ok(account)
}

struct Bounces {
    h: f64,
    /// Time, and velocity of P1 along x and z.
    samples: Vec<[f64; 3]>,
    impacts: Vec<Impact>,
}

struct Impact {
    time: f64,
    before: f64,
    after: f64,
}

impl Bounces {
    fn run(case: &Reference, h: f64) -> Result<Self, CaseError> {
        let mut pendulum = Pendulum::new(case, "planar")?;
        let (mut bounces, mut hit) = (Self { h, samples: Vec::new(), impacts: Vec::new() }, None);
        pendulum.run(case.parameter("duration")?, h, |pendulum, contact| {
            let v = pendulum.p1_velocity();
            bounces.samples.push([pendulum.state.time, v.x, v.z]);
            // One step brings P1 to the plane, the next one applies the restitution.
            if let Some((time, before)) = hit.take() {
                bounces.impacts.push(Impact { time, before, after: contact.after[0] });
            } else if contact.impulse[0] > 0.0 {
                hit = Some((pendulum.state.time, contact.before[0]));
            }
        })?;
        Ok(bounces)
    }

    fn rows(&self, case: &Reference, account: &mut Account) -> Result<(), CaseError> {
        let h = self.h;
        let restitution = case.number("published.restitution")?;
        // Later impacts follow each other faster than steps.
        let until = case.parameter("judged_until")?;
        let compared = self.impacts.iter().filter(|impact| impact.time < until);
        let worst = largest(compared.map(|impact| (impact.after / impact.before + restitution).abs()));
        account.add(
            Row::new(
                format!("velocity after an impact over that before, largest distance from {restitution}, h = {h} s"),
                "",
                worst,
            )
            .reference(case.at_most("tolerance.restitution")?),
        );
        let near = Tolerance::absolute(case.number("tolerance.impact_steps")? * h);
        let speed = Tolerance::absolute(case.number("tolerance.speed_per_step")? * h);
        for (k, exact) in case.table("derived.impacts")?.iter().enumerate() {
            let impact = self.impacts.get(k).ok_or_else(|| CaseError::Never(format!("impact {}", k + 1)))?;
            let rows = [
                ("time", "s", impact.time, "t", near),
                ("normal velocity before", "m/s", impact.before, "before", speed),
                ("normal velocity after", "m/s", impact.after, "after", speed),
            ];
            for (quantity, unit, ours, name, tolerance) in rows {
                let row = Row::new(format!("impact {}: {quantity}, h = {h} s", k + 1), unit, ours)
                    .reference(Expected::within(exact.number(name)?, tolerance));
                // The last impact of the shortest step is the most significant.
                let shown = k == 2 && name == "after" && self.shortest(case)?;
                account.add(if shown { row.headline() } else { row });
            }
        }
        Ok(())
    }

    /// True if no run has a shorter step.
    fn shortest(&self, case: &Reference) -> Result<bool, CaseError> {
        Ok(case.numbers("parameters.steps")?.iter().all(|h| self.h <= *h))
    }

    fn figure(&self) -> Figure {
        let column = |k: usize| self.samples.iter().map(|sample| sample[k]).collect::<Vec<_>>();
        let panel = Panel::new(time_axis(), Axis::new("velocity of P1", "m/s"))
            .with(Layer::line(column(0), column(2)).named("along z"))
            .with(Layer::line(column(0), column(1)).named("along x"));
        Figure::new("").with(panel)
    }
}
