//! Reference method: it integrates accelerations instead of impulses, and locates events instead of stepping over them.
//!
//! Between events the modes of all contacts are known and the motion is smooth. It is integrated with error control ([`runge_kutta`]). Its
//! accelerations come from the index-1 equations of joints and closed contacts ([`instant`], [`balance`]). If a gap closes, a contact stops
//! pushing, a slip stops or friction leaves its cone ([`events`]), the time of the event is located. Impacts are then solved
//! ([`friction`]), modes are determined again ([`modes`], [`restart`]) and integration continues ([`run`]).
//!
//! It verifies the time-stepping schemes: its error is that of the tolerance, not of the step. It is slow and allocates. It fails with a
//! reason where they would continue: if events accumulate beyond a bound, or if the modes are ambiguous.

mod balance;
mod events;
mod friction;
mod geometry;
mod instant;
mod ledger;
mod modes;
mod motion;
mod projection;
mod reduction;
mod restart;
mod run;
mod runge_kutta;
mod stabilise;

use stiction_multibody::ContactMode;

use balance::Mode;
use geometry::Touch;
use run::Run;
use stiction_stepping::{
    Changes, ContactReport, Detector, FeatureDetector, Impact, Start, StepCause, StepEnergy, StepReport, Stepper,
    Workspace, prepare,
    stages::place_shapes,
    stages::remember_contacts,
    stages::{joint_error, penetration},
};

/// Steps by integrating from event to event. The step size only sets the times of reports.
pub struct ReferenceStepper {
    /// Finds contacts.
    pub detector: Box<dyn Detector>,
    /// Local error allowed in a substep, as a fraction of 1 + |y| for every coordinate and velocity y. Default 1e-11; below 1e-13 it cannot
    /// be reached because of rounding.
    pub tolerance: f64,
    /// Speed of approach below which impacts are inelastic, m/s. It ends the infinitely many bounces of a ball that comes to rest. Default
    /// 1e-6, a bounce of 5e-14 m.
    pub settling_speed: f64,
    /// Largest number of events in one step; a step with more fails. Default 1000.
    pub max_events: u32,
}

impl Default for ReferenceStepper {
    fn default() -> Self {
        Self {
            detector: Box::new(FeatureDetector::default()),
            tolerance: 1e-11,
            settling_speed: 1e-6,
            max_events: 1000,
        }
    }
}

impl Stepper for ReferenceStepper {
    fn step(&mut self, start: &Start, ws: &mut Workspace) -> Result<StepReport, StepCause> {
        if start.scheme.impact == Impact::Poisson {
            return Err(StepCause::Unsupported(
                "the reference stepper supports Newton's law of impact only; use `impact = \"newton\"` or `\"inelastic\"`",
            ));
        }
        if start.model.support_point_count() > 0 {
            return Err(StepCause::Unsupported("the reference stepper has no planar supports, contacts only"));
        }
        prepare(start, ws)?;
        let mut run = Run::new(self, start);
        run.integrate()?;
        next_state(start, &run, ws)?;
        report_contacts(&mut run, ws)?;
        report(start, &mut run, ws)
    }
}

fn next_state(start: &Start, run: &Run, ws: &mut Workspace) -> Result<(), StepCause> {
    let &Start { model, state, h, .. } = start;
    let next = &mut ws.result.next;
    next.step = state.step + 1;
    (next.time, next.time_carry) = (state.time, state.time_carry);
    next.advance_time(h);
    next.q.clone_from(&run.motion.q);
    next.v.clone_from(&run.motion.v);
    next.joint_impulses.clone_from(&run.ledger.joints);
    ws.solution.joint_impulses.clone_from(&run.ledger.joints);
    ws.solution.velocity.clone_from(&next.v);
    if next.first_non_finite().is_some() {
        return Err(StepCause::non_finite("next state", None));
    }
    ws.result.end.update(model, &next.q, &next.v, next.time);
    ws.kinematics.linear_start.copy_from(&ws.result.end);
    ws.kinematics.linear_end.copy_from(&ws.result.end);
    Ok(())
}

/// Writes the reports of contacts that are near at the end, and of those with an impulse within the step.
fn report_contacts(run: &mut Run, ws: &mut Workspace) -> Result<(), StepCause> {
    let time = ws.result.next.time;
    let motion = run.motion.clone();
    let mut touches = run.near(&motion, time)?;
    let gone = run.ledger.contacts.iter().filter(|entry| touches.iter().all(|touch| touch.id != entry.touch.id));
    let gone: Vec<_> = gone.map(|entry| Touch { gap: f64::INFINITY, ..entry.touch }).collect();
    for touch in gone {
        let pair = [(touch.id.shape_a.index(), touch.id.shape_b.index())];
        let found = run
            .finder
            .touches(&ws.result.end, time, &pair, SEARCH_DISTANCE)?
            .into_iter()
            .find(|found| found.id == touch.id);
        touches.push(found.unwrap_or(touch));
    }
    touches.sort_unstable_by_key(|touch| touch.id);
    ws.constraints.contacts.clear();
    ws.solution.contact_impulses.clear();
    ws.result.contact_reports.clear();
    for touch in touches {
        let impulse = run.ledger.find(touch.id).map(|entry| entry.impulse).unwrap_or_default();
        let mode = match run.closed.iter().find(|(id, _)| *id == touch.id) {
            Some((_, Mode::Stick)) => ContactMode::Stick,
            Some(_) => ContactMode::Slip,
            None => ContactMode::Open,
        };
        ws.solution.contact_impulses.push(impulse);
        ws.result.contact_reports.push(ContactReport {
            id: touch.id,
            body_a: touch.a,
            body_b: touch.b,
            point: touch.point,
            normal: touch.normal,
            gap: touch.gap,
            mode,
            normal_impulse: impulse.normal,
            friction_impulse: impulse.friction,
            spin_impulse: impulse.spin,
            rolling_impulse: impulse.rolling,
            slip: touch.relative - touch.normal * touch.opening(),
            sigma: if mode == ContactMode::Slip { balance::norm(touch.slip()) } else { 0.0 },
            pending_restitution: 0.0,
            layer: None,
        });
    }
    remember_contacts(ws);
    Ok(())
}

/// Largest distance up to which features with an impulse are searched for, m.
const SEARCH_DISTANCE: f64 = 1e3;

fn report(start: &Start, run: &mut Run, ws: &mut Workspace) -> Result<StepReport, StepCause> {
    ws.result.impacts.clear();
    ws.result.shocks = run.shocks;
    ws.result.events.clone_from(&run.events);
    let pairs = run.finder.pairs(&ws.result.end, 0.0);
    place_shapes(start.model, &ws.result.end, &mut ws.detection.shape_poses);
    let penetration = penetration(
        start.model,
        &ws.detection.shape_poses,
        &pairs,
        (&mut *run.finder.detector, &mut ws.detection.points),
        |_, _| (),
    )?;
    Ok(StepReport {
        step: ws.result.next.step,
        time: ws.result.next.time,
        contacts: ws.result.contact_reports.len(),
        problem_size: run.largest,
        residual: run.impulses.residual,
        worst: None,
        status: run.impulses.status,
        iterations: run.substeps + run.impulses.iterations,
        passes: run.restarts + 1,
        changes: Changes::default(),
        impacts: run.hits + run.shocks,
        rung: "reference",
        penetration,
        joint_error: joint_error(start.model.joints().iter(), &ws.result.end),
        substeps: 1,
        slack: 0.0,
        layer_substeps: 1,
        correction: None,
        energy: StepEnergy::default(),
    })
}
