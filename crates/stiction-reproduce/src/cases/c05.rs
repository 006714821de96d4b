//! C-05: the pendulum on a block that a position-controlled particle hits and pushes.

use stiction_plot::{Axis, Figure, Layer, Panel};

use crate::cases::pendulum::{Family, Pusher, largest_problem, motion_rows, with_marks};
use crate::draw::{Trace, grid, time_axis};
use crate::world::{larger, q, run as simulate, stewart_trinkle, v};
use crate::{Account, CaseError, Expected, Reference, Row, Tolerance};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let mut family = Family::read(case)?.on_block(case)?.with_friction(case.parameter("friction_floor")?);
    family.pusher = Some(Pusher {
        gap: case.parameter("pusher.gap")?,
        speed: case.parameter("pusher.speed")?,
        friction: case.parameter("friction_pusher")?,
    });
    let size = largest_problem(&family, 0.5)?;
    account.add(Row::new("unknowns of a step", "", size).published(case.exactly("published.problem_size")?));
    let h = case.number("comparison.step")?;
    let push = push(case, &family)?;
    let near = Tolerance::absolute(case.number("tolerance.impulse_steps")? * h);
    let derived = |name: &str| case.number(&format!("derived.hit.{name}"));
    account.add(
        Row::new("impulse of the hit", "N s", push.impulse)
            .reference(Expected::within(derived("pusher_impulse")?, near)),
    );
    let rate = Tolerance::absolute(case.number("tolerance.rate_steps")? * h);
    for (name, what, ours) in [
        ("omega_a", "rate of the upper bar after the hit", push.rates[0]),
        ("omega_b", "rate of the lower bar after the hit", push.rates[1]),
    ] {
        account.add(Row::new(what, "rad/s", ours).reference(Expected::within(derived(name)?, rate)));
    }
    account.add(
        Row::new("largest distance of the block from x = V (t − 0.1 s) after the hit", "m", push.off)
            .reference(case.at_most("tolerance.position.abs")?),
    );
    motion_rows(&mut account, case, &family, "derived.motion_after_hit", case.number("derived.hit.t")?)?;
    account.remark(case.text("derived.facts")?);
    account.draw(
        "Place of the block and of the pusher, angles of the bars, force of the pusher (the hit itself is an impulse and off the scale); rings are the reference",
        "No figure of the source: figure 2.10 is the diagram of the system",
        figure(case, &push.trace)?,
    );
    Ok(account)
}

/// Results of a run through the impact.
struct Push {
    /// Normal impulse of the pusher over the two steps of the impact.
    impulse: f64,
    /// Rates of both bars after them.
    rates: [f64; 2],
    off: f64,
    /// Position of the block, angles of both bars, normal force of the pusher.
    trace: Trace<4>,
}

fn push(case: &Reference, family: &Family) -> Result<Push, CaseError> {
    let h = case.number("comparison.step")?;
    let (hit, speed) = (case.number("derived.hit.t")?, case.number("derived.hit.block_speed")?);
    let mut push = Push { impulse: 0.0, rates: [f64::NAN; 2], off: 0.0, trace: Trace::default() };
    simulate(family.model()?, stewart_trinkle(1.0), h, case.number("comparison.duration")?, |simulation, report| {
        let pusher = simulation.model().find_body("pusher");
        let contacts = simulation.contacts().iter().filter(|c| Some(c.body_a) == pusher || Some(c.body_b) == pusher);
        let impulse: f64 = contacts.map(|contact| contact.normal_impulse).sum();
        let [x, ..] = q::<3>(simulation, "block")?;
        if report.time < hit + 2.5 * h {
            push.impulse += impulse;
            push.rates = [v::<3>(simulation, "a")?[2], v::<3>(simulation, "b")?[2]];
        } else {
            push.off = larger(push.off, (x - speed * (report.time - hit)).abs());
        }
        push.trace.push(report.time, [x, q::<3>(simulation, "a")?[2], q::<3>(simulation, "b")?[2], impulse / h]);
        Ok(())
    })?;
    Ok(push)
}

fn figure(case: &Reference, trace: &Trace<4>) -> Result<Figure, CaseError> {
    let (gap, speed) = (case.parameter("pusher.gap")?, case.parameter("pusher.speed")?);
    let hit = case.number("derived.hit.t")?;
    let pusher = trace.times().iter().map(|t| speed * t - gap).collect();
    let place = Panel::new(time_axis(), Axis::new("place", "m")).with(trace.line(0).named("block")).with(
        Layer::line(trace.times().to_vec(), pusher)
            .named("pusher, at the face it meets")
            .dash(stiction_plot::Dash::Dashed),
    );
    let angles = Panel::new(time_axis(), Axis::new("angle from the horizontal", "rad"));
    let lines = [("theta_a", "upper bar", trace.line(1)), ("theta_b", "lower bar", trace.line(2))];
    let angles = with_marks(angles, &case.table("derived.motion_after_hit")?, hit, lines)?;
    let force =
        Panel::new(time_axis(), Axis::new("normal force of the pusher", "N").range(0.0, 40.0)).with(trace.line(3));
    Ok(grid(3).with(place).with(angles).with(force))
}
