//! C-04: the pendulum of two bars on a block that sticks to its floor, or alternates between slip and stick.

use stiction::{ContactMode, EventKind};
use stiction_plot::{Axis, Figure, Layer, Panel};

use crate::cases::pendulum::{Family, largest_problem, motion_rows, with_marks};
use crate::draw::{Trace, grid, time_axis};
use crate::world::{ends_at, larger, q, run as simulate, stewart_trinkle, v};
use crate::{Account, CaseError, Expected, Reference, Row, Tolerance};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let family = |path: &str| -> Result<Family, CaseError> {
        Ok(Family::read(case)?.on_block(case)?.with_friction(case.number(&format!("derived.{path}.friction"))?))
    };
    let sticking = family("sticking")?;
    let size = largest_problem(&sticking, 0.5)?;
    account.add(Row::new("unknowns of a step", "", size).published(case.exactly("published.problem_size")?));
    motion_rows(&mut account, case, &sticking, "derived.sticking.motion", 0.0)?;
    let stuck = track(case, &sticking)?;
    account.add(
        Row::new("way of the block that sticks, μ = 0.3", "m", stuck.largest_way)
            .reference(case.at_most("tolerance.creep.abs")?),
    );
    let mixed = track(case, &family("mixed")?)?;
    mixed_rows(&mut account, case, &mixed)?;
    let sliding = track(case, &family("sliding")?)?;
    account.add(
        Row::new(
            "time at rest on the floor, μ = 0.05, as a share of μ = 0.1",
            "",
            sliding.time_stuck / mixed.time_stuck,
        )
        .reference(case.at_most("derived.sliding.share_of_time_stuck_at_most")?),
    );
    account.add(
        Row::new("reversals of the block, μ = 0.05", "", sliding.reversals)
            .reference(case.exactly("derived.sliding.reversals")?),
    );
    account.draw(
        "Place of the block and friction force over normal force, for three coefficients of friction; rings are the \
         reference, vertical lines the reference's transitions at μ = 0.1",
        "No figure of the source: figure 2.9 is the diagram of the system",
        figure(case, [&stuck, &mixed, &sliding])?,
    );
    Ok(account)
}

/// Results of a run of two seconds.
struct Track {
    /// Position of the block, friction over normal force.
    trace: Trace<2>,
    /// Stick and slip of the first corner after its first contact.
    events: Vec<(EventKind, f64)>,
    /// Angles of both bars at the end.
    angles: [f64; 2],
    largest_way: f64,
    largest_excess: f64,
    time_stuck: f64,
    reversals: usize,
}

fn track(case: &Reference, family: &Family) -> Result<Track, CaseError> {
    let (h, duration) = (case.number("comparison.step")?, case.number("comparison.duration")?);
    let mut track = Track {
        trace: Trace::default(),
        events: Vec::new(),
        angles: [0.0; 2],
        largest_way: 0.0,
        largest_excess: 0.0,
        time_stuck: 0.0,
        reversals: 0,
    };
    let mut direction = 0.0;
    let end = simulate(family.model()?, stewart_trinkle(1.0), h, duration, |simulation, report| {
        let contacts = simulation.contacts();
        let first = contacts.first().map(|contact| contact.id);
        let changes = simulation.events().iter().filter(|event| {
            Some(event.contact) == first
                && matches!(event.kind, EventKind::Stick | EventKind::Slip)
                && event.time > 1.5 * h
        });
        track.events.extend(changes.map(|event| (event.kind, event.time)));
        let normal: f64 = contacts.iter().map(|contact| contact.normal_impulse).sum();
        let friction: f64 = contacts.iter().map(|contact| contact.friction_impulse.x).sum();
        let excess = contacts.iter().map(|c| c.friction_impulse.norm() - family.floor_friction * c.normal_impulse);
        track.largest_excess = excess.fold(track.largest_excess, larger);
        let ([x, ..], [vx, ..]) = (q::<3>(simulation, "block")?, v::<3>(simulation, "block")?);
        track.largest_way = larger(track.largest_way, x.abs());
        if contacts.iter().all(|contact| contact.mode == ContactMode::Stick) {
            track.time_stuck += h;
        } else if vx != 0.0 {
            track.reversals += usize::from(direction * vx < 0.0);
            direction = vx.signum();
        }
        track.trace.push(report.time, [x, friction / normal]);
        Ok(())
    })?;
    track.angles = [q::<3>(&end, "a")?[2], q::<3>(&end, "b")?[2]];
    Ok(track)
}

fn mixed_rows(account: &mut Account, case: &Reference, mixed: &Track) -> Result<(), CaseError> {
    let h = case.number("comparison.step")?;
    let within = |steps: f64| Tolerance::absolute(steps * h);
    let event_tolerance = within(case.number("tolerance.event_steps")?);
    let transitions = [
        (EventKind::Stick, "sticks_first", "block sticks, μ = 0.1"),
        (EventKind::Slip, "slips_left", "block slips back, μ = 0.1"),
        (EventKind::Stick, "sticks_again", "block sticks again, μ = 0.1"),
    ];
    account.add(
        Row::new("transitions of the block, μ = 0.1", "", mixed.events.len())
            .reference(case.exactly("derived.mixed.transitions")?),
    );
    for ((kind, name, what), found) in transitions.into_iter().zip(&mixed.events) {
        let time = if found.0 == kind { found.1 } else { f64::NAN };
        let expected = Expected::within(case.number(&format!("derived.mixed.{name}"))?, event_tolerance);
        account.add(Row::new(what, "s", time).reference(expected));
    }
    let place_tolerance = within(case.number("tolerance.position_steps")?);
    for entry in case.table("derived.mixed.positions")? {
        let t = entry.number("t")?;
        let found = mixed.trace.times().iter().zip(mixed.trace.column(0)).find(|(time, _)| ends_at(**time, t, h));
        let x = found.map_or(f64::NAN, |(_, x)| *x);
        let expected = Expected::within(entry.number("x")?, place_tolerance);
        account.add(Row::new(format!("place of the block at t = {t} s, μ = 0.1"), "m", x).reference(expected));
    }
    for (name, what, ours) in
        [("theta_a", "angle of the upper bar", mixed.angles[0]), ("theta_b", "angle of the lower bar", mixed.angles[1])]
    {
        let exact = case.number(&format!("derived.mixed.angles.0.{name}"))?;
        let expected = Expected::within(exact, case.tolerance("tolerance.mixed_angles")?);
        account.add(Row::new(format!("{what} at t = 2 s, μ = 0.1"), "rad", ours).reference(expected));
    }
    account.add(
        Row::new("largest excess of friction over its cone, μ = 0.1", "N s", mixed.largest_excess)
            .reference(case.at_most("tolerance.cone.abs")?),
    );
    Ok(())
}

fn figure(case: &Reference, tracks: [&Track; 3]) -> Result<Figure, CaseError> {
    let place = Panel::new(time_axis(), Axis::new("place of the block", "m"));
    let mut force = Panel::new(time_axis(), Axis::new("friction force over normal force", ""));
    let [stuck, mixed, sliding] = tracks;
    let entries = case.table("derived.mixed.positions")?;
    let lines = [
        ("none", "μ = 0.3", stuck.trace.line(0)),
        ("x", "μ = 0.1", mixed.trace.line(0)),
        ("none", "μ = 0.05", sliding.trace.line(0)),
    ];
    let mut place = with_marks(place, &entries, 0.0, lines)?;
    let times = ["sticks_first", "slips_left", "sticks_again"];
    let times = times.map(|name| case.number(&format!("derived.mixed.{name}")));
    let times = times.into_iter().collect::<Result<Vec<_>, _>>()?;
    place = place.with(Layer::vertical_marks(times.clone()).labelled(["sticks", "slips", "sticks"]).muted());
    for (colour, (track, name)) in tracks.into_iter().zip(["μ = 0.3", "μ = 0.1", "μ = 0.05"]).enumerate() {
        force = force.with(track.trace.line(1).named(name).colour(colour));
    }
    Ok(grid(2).with(place).with(force))
}
