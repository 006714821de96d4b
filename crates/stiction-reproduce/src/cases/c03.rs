//! C-03: the pendulum of two bars on a block, on a floor without friction.

use stiction_plot::{Axis, Figure, Panel};

use crate::cases::pendulum::{Family, largest_problem, motion_rows, with_marks};
use crate::draw::{Trace, grid, time_axis};
use crate::world::{larger, q, run as simulate, stewart_trinkle};
use crate::{Account, CaseError, Reference, Row};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let family = Family::read(case)?.on_block(case)?;
    let size = largest_problem(&family, 0.5)?;
    account.add(Row::new("unknowns of a step", "", size).published(case.exactly("published.problem_size")?));
    motion_rows(&mut account, case, &family, "derived.motion", 0.0)?;
    let facts = facts(case, &family)?;
    account.add(
        Row::new("smallest normal force of both corners together", "N", facts.smallest)
            .reference(case.expected("derived.normal_force_min", "tolerance.normal_force")?),
    );
    account.add(
        Row::new("largest horizontal momentum", "N s", facts.momentum)
            .reference(case.at_most("tolerance.horizontal_momentum.abs")?),
    );
    account.add(
        Row::new("largest difference of the two normal forces", "N", facts.difference)
            .reference(case.at_most("tolerance.normal_force_difference.abs")?),
    );
    account.draw(
        "Place of the block, angles of the bars, normal forces at the two corners (they are equal); rings are the reference",
        "No figure of the source: figure 2.9 is the diagram of the system",
        figure(case, &facts.trace)?,
    );
    Ok(account)
}

/// Results of a run of two seconds.
struct Facts {
    smallest: f64,
    momentum: f64,
    difference: f64,
    /// Position of the block, angles of both bars, normal forces of both corners.
    trace: Trace<5>,
}

fn facts(case: &Reference, family: &Family) -> Result<Facts, CaseError> {
    let (h, duration) = (case.number("comparison.step")?, case.number("comparison.duration")?);
    let mut facts = Facts { smallest: f64::INFINITY, momentum: 0.0, difference: 0.0, trace: Trace::default() };
    simulate(family.model()?, stewart_trinkle(1.0), h, duration, |simulation, report| {
        let [left, right] = [0, 1].map(|k| simulation.contacts().get(k).map_or(0.0, |c| c.normal_impulse / h));
        facts.smallest = facts.smallest.min(left + right);
        facts.difference = larger(facts.difference, (left - right).abs());
        facts.momentum = larger(facts.momentum, simulation.momentum().linear.x.abs());
        let ([x, ..], [.., a], [.., b]) =
            (q::<3>(simulation, "block")?, q::<3>(simulation, "a")?, q::<3>(simulation, "b")?);
        facts.trace.push(report.time, [x, a, b, left, right]);
        Ok(())
    })?;
    Ok(facts)
}

fn figure(case: &Reference, trace: &Trace<5>) -> Result<Figure, CaseError> {
    let entries = case.table("derived.motion")?;
    let place = Panel::new(time_axis(), Axis::new("place of the block", "m"));
    let angles = Panel::new(time_axis(), Axis::new("angle from the horizontal", "rad"));
    let forces = Panel::new(time_axis(), Axis::new("normal force", "N"))
        .with(trace.line(3).named("left corner"))
        .with(trace.line(4).named("right corner").dash(stiction_plot::Dash::Dashed));
    let lines = [("theta_a", "upper bar", trace.line(1)), ("theta_b", "lower bar", trace.line(2))];
    Ok(grid(3)
        .with(with_marks(place, &entries, 0.0, [("x", "block", trace.line(0))])?)
        .with(with_marks(angles, &entries, 0.0, lines)?)
        .with(forces))
}
