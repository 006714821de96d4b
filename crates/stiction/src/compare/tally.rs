//! Statistics of a run, accumulated step by step.

use std::collections::BTreeMap;

use stiction_multibody::{BodyId, ContactMode};
use stiction_stepping::{Method, StepReport};

use super::{Between, Cost, InfeasibilityExtremes, Trajectory};
use crate::{
    Simulation,
    record::{EnergySummary, ResidualSummary},
};

/// Statistics of a run.
pub(super) struct Tally {
    pub(super) trajectory: Trajectory,
    /// Wall-clock time of the steps, s.
    pub(super) seconds: f64,
    pub(super) cost: Cost,
    pub(super) infeasibility: InfeasibilityExtremes,
    pub(super) energy: EnergySummary,
    pub(super) residual: ResidualSummary,
    lowest_energy: f64,
    /// Slip path (m) of every pair of bodies, and the largest slip speed (m/s) of the current step.
    rubbed: BTreeMap<(BodyId, BodyId), (f64, f64)>,
}

impl Tally {
    pub(super) fn starting_at(simulation: &Simulation) -> Self {
        let initial = simulation.energy().total();
        // The reference scheme resolves the motion within its steps, which only set the output times.
        let reports = simulation.scheme().method == Method::Reference;
        let between = if reports { Between::Linear } else { Between::Held };
        Self {
            trajectory: Trajectory::starting_at(simulation.state(), between),
            seconds: 0.0,
            cost: Cost::default(),
            infeasibility: InfeasibilityExtremes::default(),
            energy: EnergySummary { initial, r#final: initial, max_gain: 0.0, unexplained: None },
            residual: ResidualSummary::default(),
            lowest_energy: initial,
            rubbed: BTreeMap::new(),
        }
    }

    /// Adds a step.
    pub(super) fn see(&mut self, simulation: &Simulation, report: &StepReport) {
        self.trajectory.push(simulation.state());
        self.cost.steps += 1;
        self.cost.halved += u64::from(report.substeps > report.layer_substeps);
        self.cost.iterations += u64::from(report.iterations);
        self.infeasibility.joints.see(report.joint_error);
        self.infeasibility.total.see(report.joint_error.max(report.penetration));
        if report.residual.value > self.residual.max {
            self.residual =
                ResidualSummary { max: report.residual.value, at_step: report.step, ..ResidualSummary::default() };
        }
        let total = simulation.energy().total();
        self.energy.r#final = total;
        self.energy.max_gain = self.energy.max_gain.max(total - self.lowest_energy);
        self.lowest_energy = self.lowest_energy.min(total);
        self.rub(simulation);
    }

    /// Adds h max |slip| over the contacts of every pair that touches.   [COMPARE-6]
    fn rub(&mut self, simulation: &Simulation) {
        for contact in simulation.contacts().iter().filter(|contact| contact.mode != ContactMode::Open) {
            let (_, fastest) = self.rubbed.entry((contact.body_a, contact.body_b)).or_default();
            *fastest = fastest.max(contact.slip.norm());
        }
        for (path, fastest) in self.rubbed.values_mut() {
            *path += simulation.step_size() * std::mem::take(fastest);
        }
    }

    /// Longest slip path of any pair of bodies, m.
    pub(super) fn slip(&self) -> f64 {
        self.rubbed.values().fold(0.0, |most, (path, _)| most.max(*path))
    }
}
