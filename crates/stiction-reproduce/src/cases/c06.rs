//! C-06: the pendulum on a block that is placed on a moving belt.

use stiction::ContactMode;
use stiction_plot::{Axis, Figure, Layer, Panel};

use crate::cases::pendulum::{Family, largest_problem, motion_rows, with_marks};
use crate::draw::{Trace, grid, time_axis};
use crate::world::{ends_at, larger, q, run as simulate, stewart_trinkle, v};
use crate::{Account, CaseError, Expected, Reference, Row, Tolerance};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let mut family = Family::read(case)?.on_block(case)?.with_friction(case.parameter("friction_floor")?);
    family.belt = case.parameter("belt_speed")?;
    let size = largest_problem(&family, 0.5)?;
    let published = case.exactly("published.problem_size")?;
    account.add(Row::new("unknowns of a step (without the pusher of the source)", "", size).published(published));
    let h = case.number("comparison.step")?;
    let ride = ride(case, &family)?;
    let tolerance = Tolerance::absolute(case.number("tolerance.event_steps")? * h);
    let joins = Row::new("block joins the belt", "s", ride.joins);
    account.add(joins.reference(Expected::within(case.number("derived.sticks")?, tolerance)));
    account.add(
        Row::new("largest difference of the speeds of block and belt from then on", "m/s", ride.slip)
            .reference(case.at_most("tolerance.belt_speed.abs")?),
    );
    let place_tolerance = Tolerance::absolute(case.number("tolerance.position_steps")? * h);
    for entry in case.table("derived.positions")? {
        let t = entry.number("t")?;
        let found = ride.trace.times().iter().zip(ride.trace.column(0)).find(|(time, _)| ends_at(**time, t, h));
        let expected = Expected::within(entry.number("x")?, place_tolerance);
        let x = found.map_or(f64::NAN, |(_, x)| *x);
        account.add(Row::new(format!("place of the block at t = {t} s"), "m", x).reference(expected));
    }
    motion_rows(&mut account, case, &family, "derived.motion", 0.0)?;
    let force = case.expected("derived.normal_force_min", "tolerance.normal_force")?;
    account.add(Row::new("smallest normal force of both corners together", "N", ride.smallest).reference(force));
    account.draw(
        "Speed of the block, angles of the bars, friction force; rings are the reference",
        "No figure of the source: figure 2.11 is the diagram of a later system",
        figure(case, &ride.trace)?,
    );
    Ok(account)
}

/// Results of a run of two seconds.
struct Ride {
    joins: f64,
    slip: f64,
    smallest: f64,
    /// Position and speed of the block, angles of both bars, friction force.
    trace: Trace<5>,
}

fn ride(case: &Reference, family: &Family) -> Result<Ride, CaseError> {
    let (h, duration) = (case.number("comparison.step")?, case.number("comparison.duration")?);
    let mut ride = Ride { joins: f64::NAN, slip: 0.0, smallest: f64::INFINITY, trace: Trace::default() };
    simulate(family.model()?, stewart_trinkle(1.0), h, duration, |simulation, report| {
        let contacts = simulation.contacts();
        let ([x, ..], [vx, ..]) = (q::<3>(simulation, "block")?, v::<3>(simulation, "block")?);
        if ride.joins.is_nan() && contacts.iter().all(|contact| contact.mode == ContactMode::Stick) {
            ride.joins = report.time;
        }
        if report.time >= ride.joins {
            ride.slip = larger(ride.slip, (vx - family.belt).abs());
        }
        let normal: f64 = contacts.iter().map(|contact| contact.normal_impulse / h).sum();
        let friction: f64 = contacts.iter().map(|contact| contact.friction_impulse.x / h).sum();
        ride.smallest = ride.smallest.min(normal);
        ride.trace.push(report.time, [x, vx, q::<3>(simulation, "a")?[2], q::<3>(simulation, "b")?[2], friction]);
        Ok(())
    })?;
    Ok(ride)
}

fn figure(case: &Reference, trace: &Trace<5>) -> Result<Figure, CaseError> {
    let speed = Panel::new(time_axis(), Axis::new("speed of the block", "m/s"))
        .with(trace.line(1))
        .with(Layer::vertical_marks(vec![case.number("derived.sticks")?]).labelled(["sticks"]).muted());
    let angles = Panel::new(time_axis(), Axis::new("angle from the horizontal", "rad"));
    let lines = [("theta_a", "upper bar", trace.line(2)), ("theta_b", "lower bar", trace.line(3))];
    let angles = with_marks(angles, &case.table("derived.motion")?, 0.0, lines)?;
    let force = Panel::new(time_axis(), Axis::new("friction force on the block", "N")).with(trace.line(4));
    Ok(grid(3).with(speed).with(angles).with(force))
}
