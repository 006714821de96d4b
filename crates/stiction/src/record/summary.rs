//! `summary.json`: summary of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stiction_complementarity::Status;
use stiction_multibody::{Dimension, Energy, Model, State};
use stiction_stepping::{Correction, Infeasibility, StartImpact, StepReport, Uniqueness};

use super::{LargeJointError, Role, RunInfo, StartError, contacts::contact_label, layout::Sample, recorder::RunLabels};
use crate::{EnergyAccount, Simulation, WARNING_FRACTION};

/// Largest number of events in the summary; the others are counted and are in the contact table.
const EVENT_LIMIT: usize = 10_000;

/// Ending of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// The whole duration was simulated.
    Finished,
    /// Stopped on request between two steps.
    Interrupted,
    /// A step failed, for the given reason.
    Failed(String),
}

/// Total energy over the run, J.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergySummary {
    /// At the start.
    pub initial: f64,
    /// At the end.
    pub r#final: f64,
    /// Largest rise above the lowest earlier value; without actuators, the energy that the scheme adds.
    pub max_gain: f64,
    /// Unexplained gain of kinetic energy; omitted if no step has an account (quasistatic and event-driven steps).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unexplained: Option<UnexplainedSummary>,
}

/// Account of the kinetic energy over the run: the gain that no force, motor, restitution or removal of errors explains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnexplainedSummary {
    /// Largest rise of the unexplained energy above its lowest earlier value, J.
    pub gain: f64,
    /// This gain as a fraction of `kinetic_max + work`; a warning from 0.01 on.
    pub fraction: f64,
    /// Largest kinetic energy, J.
    pub kinetic_max: f64,
    /// Sum of the absolute works of forces, springs, motors, layers, restitution and prescribed motion, J.
    pub work: f64,
    /// Energy that the removal of overlaps and joint errors added, J.
    pub removal: f64,
    /// Step with the largest unexplained gain; omitted if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_step: Option<u64>,
    /// Body that gained most in this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

impl UnexplainedSummary {
    /// Summary of an account; none if no step has one.
    pub(crate) fn of(account: &EnergyAccount, model: &Model) -> Option<Self> {
        let (at_step, body) = account.largest_step.unzip();
        let name = |id| model.body(id).map(|body| body.name.clone());
        (account.steps > 0).then(|| Self {
            gain: account.gain,
            fraction: account.fraction(),
            kinetic_max: account.largest,
            work: account.work,
            removal: account.removal,
            at_step,
            body: body.flatten().and_then(name),
        })
    }

    /// True if the gain is a warning.
    pub fn is_warning(&self) -> bool {
        self.fraction >= WARNING_FRACTION
    }
}

/// Number of impacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImpactSummary {
    /// Over the whole run.
    pub total: u64,
    /// Most in one step.
    pub max: usize,
    /// Steps with several impacts, whose order is not resolved within the step.
    pub steps_with_several: u64,
}

/// The largest and the last value of a quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Extreme {
    /// Over all steps.
    pub max: f64,
    /// After the last step.
    pub r#final: f64,
}

/// Largest residual of all steps, and the steps accepted above the residual that solvers aim at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResidualSummary {
    /// Largest residual (natural map of the problem).
    pub max: f64,
    /// Step with the largest residual.
    pub at_step: u64,
    /// Steps accepted above the aimed residual, and within that which is refused; omitted if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above_aim: Option<AcceptedSummary>,
    /// Steps that were not solved and accepted all the same (`on_unsolved = "accept"`); omitted if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsolved: Option<AcceptedSummary>,
    /// Steps in which jammed contacts had to overlap; omitted if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jammed: Option<JammedSummary>,
}

/// Steps in which no motion kept all contacts from overlapping, and contacts were eased by the smallest overlap.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JammedSummary {
    /// Number of such steps.
    pub steps: u64,
    /// Largest overlap by which they were eased, m.
    pub overlap_max: f64,
    /// Step with that overlap.
    pub at_step: u64,
}

/// Steps accepted with a residual above the aimed one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AcceptedSummary {
    /// Number of such steps.
    pub steps: u64,
    /// Largest residual of them.
    pub residual_max: f64,
    /// Step with that residual.
    pub at_step: u64,
    /// Contact, joint or body with the largest part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<String>,
}

/// Steps that were divided into substeps because the whole step was not solved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HalvedSummary {
    /// Number of divided steps.
    pub steps: u64,
    /// Largest number of substeps of a step.
    #[serde(alias = "most_parts")]
    pub max_substeps: u32,
    /// Times at the ends of the divided steps, s; only the first of very many.
    pub times: Vec<f64>,
}

/// Effect of stabilisation after the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CorrectionSummary {
    /// Energy added over the run, J.
    pub energy: f64,
    /// Largest energy added in one step, J.
    pub energy_max_gain: f64,
    /// Largest remaining error.
    pub residual_max: f64,
}

/// A contact transition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventSummary {
    /// Time, s.
    pub t: f64,
    /// `touch`, `separate`, `stick` or `slip`.
    pub kind: String,
    /// Label of the contact: its bodies and features.
    pub contact: String,
}

/// Orientation or angular velocity: one number in the plane, several in space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Turn {
    /// Angle or angular velocity about z.
    Planar(f64),
    /// A quaternion w, x, y, z, or an angular velocity x, y, z.
    Spatial(Vec<f64>),
}

impl Turn {
    fn of(numbers: &[f64]) -> Option<Self> {
        match numbers {
            [] => None,
            [angle] => Some(Self::Planar(*angle)),
            several => Some(Self::Spatial(several.to_vec())),
        }
    }
}

/// Final state of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodySummary {
    /// Position, m.
    pub position: Vec<f64>,
    /// Angle of a planar body, rad, counting full turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angle: Option<f64>,
    /// Angle in the plane, or unit quaternion w, x, y, z in space; particles have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<Turn>,
    /// Velocity of the centre of mass, m/s.
    pub linear_velocity: Vec<f64>,
    /// Angular velocity, rad/s: one number in the plane, three in space; particles have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_velocity: Option<Turn>,
}

/// Steps of a quasistatic run whose motion was not unique; one of the possible motions was taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UndeterminedSummary {
    /// Number of steps.
    pub steps: u64,
    /// End of the first of these steps, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<f64>,
}

/// Inelastic impact at the start: velocities of the scene became those that its joints allow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartImpactSummary {
    /// Joint with the largest velocity error.
    pub joint: String,
    /// Its velocity error, m/s or rad/s.
    pub velocity_error: f64,
    /// Kinetic energy before, J.
    pub kinetic_before: f64,
    /// Kinetic energy after, J.
    pub kinetic_after: f64,
}

impl StartImpactSummary {
    /// Impact at the start of a simulation.
    pub fn of(simulation: &Simulation) -> Option<Self> {
        let &StartImpact { joint, velocity_error, kinetic_before, kinetic_after, .. } = simulation.start_impact()?;
        let joint = simulation.model().joint(joint)?.name.clone();
        Some(Self { joint, velocity_error, kinetic_before, kinetic_after })
    }
}

/// Largest violation of a joint, m or rad.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JointErrorSummary {
    /// Largest value, the start included.
    pub max: f64,
    /// Value at the end.
    pub r#final: f64,
    /// Joints, limits and couplings that do not hold at the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_start: Vec<StartError>,
    /// Largest error after a step, if it is large against the joined bodies; omitted otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub large: Option<LargeJointError>,
}

impl JointErrorSummary {
    fn see(&mut self, error: f64) {
        (self.max, self.r#final) = (self.max.max(error), error);
    }

    /// Adds a step, with the joint that a growing error belongs to.
    fn see_step(&mut self, simulation: &Simulation, report: &StepReport) {
        if report.joint_error > self.max {
            let seen = LargeJointError::at(simulation.model(), simulation.configuration(), report.step);
            let largest = self.large.as_ref().map_or(0.0, |large| large.fraction);
            self.large = seen.filter(|seen| seen.fraction > largest).or(self.large.take());
        }
        self.see(report.joint_error);
    }
}

/// Summary of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// Version of stiction.
    pub version: String,
    /// Name of the scene.
    pub scene: String,
    /// Name of the scheme.
    pub preset: String,
    /// Name of the solver.
    pub solver: String,
    /// 2 or 3.
    pub dimension: u8,
    /// Ending of the run.
    pub ending: Ending,
    /// Step size, s.
    pub step: f64,
    /// Steps taken.
    pub steps: u64,
    /// Simulated time, s.
    pub duration: f64,
    /// Wall-clock time of the run, s.
    pub wall_seconds: f64,
    /// Largest number of contacts in one step.
    pub contacts_max: usize,
    /// Size of the largest mixed problem, velocities included.
    pub problem_size_max: usize,
    /// Impacts.
    #[serde(default)]
    pub impacts: ImpactSummary,
    /// Total energy.
    pub energy: EnergySummary,
    /// Largest penetration, m.
    pub penetration: Extreme,
    /// Violation of joints.
    pub joint_error: JointErrorSummary,
    /// Largest residual.
    pub residual: ResidualSummary,
    /// Inelastic impact at the start; omitted if joints allow the velocities of the scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_impact: Option<StartImpactSummary>,
    /// Halved steps; omitted if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halved: Option<HalvedSummary>,
    /// Steps with undetermined motion; omitted if bodies have inertia.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undetermined: Option<UndeterminedSummary>,
    /// Effect of stabilisation after the steps; omitted if the scheme has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<CorrectionSummary>,
    /// Number of steps that each rung of the solver ladder solved.
    pub ladder: BTreeMap<String, u64>,
    /// Number of contact transitions, including those beyond the list.
    pub events_total: u64,
    /// The first contact transitions.
    pub events: Vec<EventSummary>,
    /// Final states of the bodies.
    pub bodies: BTreeMap<String, BodySummary>,
}

/// Accumulates a [`Summary`] step by step.
pub(crate) struct SummaryBuilder {
    summary: Summary,
    lowest_energy: f64,
}

impl SummaryBuilder {
    pub(crate) fn new(info: &RunInfo, labels: &RunLabels, initial: &Energy) -> Self {
        let total = initial.total();
        let summary = Summary {
            version: info.version.clone(),
            scene: info.scene.clone(),
            preset: labels.preset.clone(),
            solver: labels.solver.clone(),
            dimension: info.dimension,
            ending: Ending::Finished,
            step: info.step,
            steps: 0,
            duration: 0.0,
            wall_seconds: 0.0,
            contacts_max: 0,
            problem_size_max: 0,
            impacts: ImpactSummary::default(),
            energy: EnergySummary { initial: total, r#final: total, max_gain: 0.0, unexplained: None },
            penetration: Extreme::default(),
            joint_error: JointErrorSummary::default(),
            residual: ResidualSummary::default(),
            start_impact: None,
            halved: None,
            undetermined: None,
            correction: None,
            ladder: BTreeMap::new(),
            events_total: 0,
            events: Vec::new(),
            bodies: BTreeMap::new(),
        };
        Self { summary, lowest_energy: total }
    }

    /// Adds the constraint violation of the initial state.
    pub(crate) fn see_start(&mut self, start: &Infeasibility) {
        self.summary.penetration.see(start.penetration);
        self.summary.joint_error.see(start.joints);
    }

    /// Adds what does not hold in the scene: joints, limits and couplings, and the impact by which the simulation started.
    pub(crate) fn see_scene(&mut self, simulation: &Simulation) {
        self.summary.joint_error.at_start = StartError::all(simulation);
        self.summary.start_impact = StartImpactSummary::of(simulation);
    }

    pub(crate) fn step(&mut self, simulation: &Simulation, energy: &Energy, report: &StepReport) {
        let (model, events) = (simulation.model(), simulation.events());
        let summary = &mut self.summary;
        summary.steps += 1;
        summary.contacts_max = summary.contacts_max.max(report.contacts);
        summary.problem_size_max = summary.problem_size_max.max(report.problem_size);
        summary.penetration.see(report.penetration);
        summary.joint_error.see_step(simulation, report);
        summary.residual.see(model, report);
        summary.impacts.see(report.impacts);
        let total = energy.total();
        summary.energy.r#final = total;
        summary.energy.max_gain = summary.energy.max_gain.max(total - self.lowest_energy);
        self.lowest_energy = self.lowest_energy.min(total);
        match summary.ladder.get_mut(report.rung) {
            Some(count) => *count += 1,
            None => drop(summary.ladder.insert(report.rung.to_owned(), 1)),
        }
        if report.substeps > report.layer_substeps {
            summary.halved.get_or_insert_default().see(report);
        }
        if let Some(correction) = report.correction {
            summary.correction.get_or_insert_default().see(correction);
        }
        summary.events_total += events.len() as u64;
        let room = EVENT_LIMIT.saturating_sub(summary.events.len());
        summary.events.extend(events.iter().take(room).map(|event| EventSummary {
            t: event.time,
            kind: event.kind.name().to_owned(),
            contact: contact_label(model, &event.contact),
        }));
    }

    /// Adds the uniqueness of the last step.
    pub(crate) fn see_uniqueness(&mut self, time: f64, uniqueness: &Uniqueness) {
        let seen = self.summary.undetermined.get_or_insert_default();
        if *uniqueness != Uniqueness::Unique {
            seen.steps += 1;
            seen.first.get_or_insert(time);
        }
    }

    pub(crate) fn finish(mut self, simulation: &Simulation, wall_seconds: f64, ending: Ending) -> Summary {
        let (model, state) = (simulation.model(), simulation.state());
        self.summary.energy.unexplained = UnexplainedSummary::of(simulation.energy_account(), model);
        self.summary.duration = state.time;
        self.summary.wall_seconds = wall_seconds;
        self.summary.ending = ending;
        self.summary.bodies = body_summaries(model, state);
        self.summary
    }
}

impl ImpactSummary {
    fn see(&mut self, hit: usize) {
        self.total += hit as u64;
        self.max = self.max.max(hit);
        self.steps_with_several += u64::from(hit > 1);
    }
}

impl Extreme {
    /// Adds the next value.
    pub(crate) fn see(&mut self, value: f64) {
        self.max = self.max.max(value);
        self.r#final = value;
    }
}

impl ResidualSummary {
    fn see(&mut self, model: &Model, report: &StepReport) {
        if report.residual.value > self.max {
            (self.max, self.at_step) = (report.residual.value, report.step);
        }
        if report.slack > 0.0 {
            self.jammed.get_or_insert_default().see(report);
        }
        match report.status {
            Status::Solved => {}
            Status::SolvedLoosely => self.above_aim.get_or_insert_default().see(model, report),
            _ => self.unsolved.get_or_insert_default().see(model, report),
        }
    }
}

impl JammedSummary {
    fn see(&mut self, report: &StepReport) {
        self.steps += 1;
        if report.slack > self.overlap_max {
            (self.overlap_max, self.at_step) = (report.slack, report.step);
        }
    }
}

impl AcceptedSummary {
    fn see(&mut self, model: &Model, report: &StepReport) {
        self.steps += 1;
        if report.residual.value > self.residual_max {
            (self.residual_max, self.at_step) = (report.residual.value, report.step);
            self.worst = report.worst.map(|worst| worst.name(model));
        }
    }
}

impl HalvedSummary {
    fn see(&mut self, report: &StepReport) {
        self.steps += 1;
        self.max_substeps = self.max_substeps.max(report.substeps);
        if self.times.len() < EVENT_LIMIT {
            self.times.push(report.time);
        }
    }
}

impl CorrectionSummary {
    fn see(&mut self, correction: Correction) {
        self.energy += correction.energy;
        self.energy_max_gain = self.energy_max_gain.max(correction.energy);
        self.residual_max = self.residual_max.max(correction.residual);
    }
}

fn body_summaries(model: &Model, state: &State) -> BTreeMap<String, BodySummary> {
    let axes = if model.dimension() == Dimension::Planar { 2 } else { 3 };
    let mut sample = Sample::default();
    let mut bodies = BTreeMap::new();
    for (index, body) in model.bodies().iter().enumerate().filter(|(_, body)| Role::of(body) != Role::Fixed) {
        sample.take(model, index, state);
        let (position, orientation) = sample.q.split_at_checked(axes).unwrap_or((&sample.q, &[]));
        let (linear, angular) = sample.v.split_at_checked(axes).unwrap_or((&sample.v, &[]));
        let angle = if let [angle] = orientation { Some(*angle) } else { None };
        let summary = BodySummary {
            position: position.to_vec(),
            angle,
            orientation: Turn::of(orientation),
            linear_velocity: linear.to_vec(),
            angular_velocity: Turn::of(angular),
        };
        bodies.insert(body.name.clone(), summary);
    }
    bodies
}
