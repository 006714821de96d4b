//! C-07: the whole planar model, with a particle on a spring and a damper in place of the lower bar.

use stiction::ContactMode;
use stiction_plot::{Axis, Figure, Panel};

use crate::cases::pendulum::{Bob, Family, Pusher, largest_problem, motion_rows, with_marks};
use crate::draw::{Trace, grid, time_axis};
use crate::world::{q, run as simulate, stewart_trinkle};
use crate::{Account, CaseError, Expected, Reference, Row, Tolerance};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let mut family = Family::read(case)?.on_block(case)?.with_friction(case.parameter("friction_floor")?);
    family.belt = case.parameter("belt_speed")?;
    family.bob = Some(Bob {
        mass: case.parameter("particle.mass")?,
        below: case.parameter("particle.start_below_p")?,
        stiffness: case.parameter("spring.stiffness")?,
        rest_length: case.parameter("spring.rest_length")?,
        damping: case.parameter("spring.damping")?,
    });
    // The source counts the pusher; here it is at rest beside the block, within the contact margin.
    let pusher = Pusher {
        gap: case.parameter("pusher_within_reach.gap")?,
        speed: 0.0,
        friction: case.parameter("pusher_within_reach.friction")?,
    };
    let size = largest_problem(&Family { pusher: Some(pusher), ..family.clone() }, 0.05)?;
    let published = case.exactly("published.problem_size")?;
    account.add(Row::new("unknowns of a step, pusher within reach", "", size).published(published));
    let (joins, trace) = swing(case, &family)?;
    let tolerance = Tolerance::absolute(case.number("tolerance.event_steps")? * case.number("comparison.step")?);
    let sticks = Expected::within(case.number("derived.sticks")?, tolerance);
    account.add(Row::new("block joins the belt", "s", joins).reference(sticks));
    motion_rows(&mut account, case, &family, "derived.motion", 0.0)?;
    account.draw(
        "Path of the particle, angle of the bar, length of the spring; rings are the reference",
        "No figure of the source: figure 2.11 is the diagram of the system",
        figure(case, &trace)?,
    );
    Ok(account)
}

/// Time at which the block reaches the speed of the belt; angle of the bar, position of the particle, length of the spring.
fn swing(case: &Reference, family: &Family) -> Result<(f64, Trace<4>), CaseError> {
    let (h, duration) = (case.number("comparison.step")?, case.number("comparison.duration")?);
    let (mut joins, mut trace) = (f64::NAN, Trace::default());
    simulate(family.model()?, stewart_trinkle(1.0), h, duration, |simulation, report| {
        if joins.is_nan() && simulation.contacts().iter().all(|contact| contact.mode == ContactMode::Stick) {
            joins = report.time;
        }
        let [ax, ay, angle] = q(simulation, "a")?;
        let [x, y] = q(simulation, "particle")?;
        let (sin, cos) = libm::sincos(angle);
        let half = family.upper.length / 2.0;
        let length = libm::hypot(x - ax - half * cos, y - ay - half * sin);
        trace.push(report.time, [angle, x, y, length]);
        Ok(())
    })?;
    Ok((joins, trace))
}

fn figure(case: &Reference, trace: &Trace<4>) -> Result<Figure, CaseError> {
    let entries = case.table("derived.motion")?;
    let mut path = Panel::new(Axis::new("x of the particle", "m"), Axis::new("y of the particle", "m"))
        .equal_aspect()
        .with(trace.path(1, 2).colour(0));
    let x = entries.iter().map(|entry| entry.number("particle_x")).collect::<Result<Vec<_>, _>>()?;
    let y = entries.iter().map(|entry| entry.number("particle_y")).collect::<Result<Vec<_>, _>>()?;
    path = path.with(stiction_plot::Layer::points(x, y).colour(0).marker(stiction_plot::Marker::Ring));
    let angle = Panel::new(time_axis(), Axis::new("angle of the bar", "rad"));
    let angle = with_marks(angle, &entries, 0.0, [("theta_a", "bar", trace.line(0))])?;
    let spring = Panel::new(time_axis(), Axis::new("length of the spring", "m")).with(trace.line(3));
    Ok(grid(3).with(path).with(angle).with(spring))
}
