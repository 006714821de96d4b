//! Kinetic energies of a step in reduced coordinates, with M at its start.   [ENERGY-1]

use stiction_multibody::{
    LinkId, Model, Twist,
    articulated::{ArticulatedFactors, Kinematics, Scratch, forward_dynamics, inverse_dynamics},
};

use super::Reduced;
use crate::{Start, VelocityTerms, energy_values::Balance};

/// Energies of a step of the forest for its account, J.   [ENERGY-5]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StepEnergies {
    /// Kinetic energy at the start, rotors included.
    pub(crate) start: f64,
    /// After impacts.
    pub(crate) before: f64,
    /// Of the state at the end.
    pub(crate) end: f64,
    /// Change by the velocity terms, at the start and at the end of the step.
    pub(crate) velocity_terms: f64,
    /// Link whose part of this change is largest.
    pub(crate) most: Option<(LinkId, f64)>,
    /// Balance between the two, with the inertia that joint-space forces add.
    pub(crate) balance: Balance,
}

/// Kinetic energies of a step of the forest, rotors included, J.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ForestAccount {
    /// At the start.
    pub(crate) start: f64,
    /// After impacts.
    pub(crate) before: f64,
    /// Of v_free without joint-space forces.
    pub(crate) free: f64,
    /// At the end.
    pub(crate) after: f64,
    /// Of the difference between v⁺ and v_free.
    pub(crate) lost: f64,
}

impl Reduced {
    /// Energies of the last step; none if a velocity has no inertia but that of joint-space forces.
    pub(crate) fn account(&self, model: &Model, h: f64) -> Option<ForestAccount> {
        let tree = model.forest().tree();
        let mut factors = ArticulatedFactors::new(tree);
        factors.update_with(tree, &self.at, &self.rotors).ok()?;
        let (mut scratch, mut acceleration) = (Scratch::new(tree), vec![0.0; tree.velocities()]);
        // Applied forces with the velocity terms of the step: (M + added inertia) v̇ less the joint-space forces.
        let mut still = self.at.clone();
        still.update_velocities(tree, &acceleration);
        let mut force = acceleration.clone();
        inverse_dynamics(tree, &still, &self.forces.acceleration, &[], &mut scratch, &mut force);
        let joint_space = self.added.iter().zip(&self.forces.acceleration).zip(&self.forces.tau);
        for (force, ((added, a), tau)) in force.iter_mut().zip(joint_space) {
            *force += added * a - tau;
        }
        forward_dynamics(tree, &still, &factors, (&force, &[]), &mut scratch, &mut acceleration);
        let free: Vec<f64> = self.before.iter().zip(&acceleration).map(|(v, a)| v + h * a).collect();
        let change: Vec<f64> = self.velocity.iter().zip(&free).map(|(v, free)| v - free).collect();
        let mut twists = vec![Twist::default(); tree.links().len()];
        let mut kinetic = |v: &[f64]| {
            self.at.twists_of(tree, v, &mut twists);
            let link = |(id, twist): (_, &Twist)| 0.5 * self.at.inertia(id).momentum(twist).power(twist);
            let rotor = |(v, rotor): (&f64, &f64)| 0.5 * rotor * v * v;
            tree.link_ids().zip(&twists).map(link).sum::<f64>() + v.iter().zip(&self.rotors).map(rotor).sum::<f64>()
        };
        Some(ForestAccount {
            start: kinetic(&self.initial),
            before: kinetic(&self.before),
            free: kinetic(&free),
            after: kinetic(&self.velocity),
            lost: kinetic(&change),
        })
    }

    /// Energies of the last step for its account, whose forest ends with the velocities `end`.   [ENERGY-5]
    pub(crate) fn step_energies(&mut self, start: &Start, end: &[f64]) -> StepEnergies {
        let (conserves, tree, h) =
            (start.scheme.velocity_terms == VelocityTerms::Conserving, start.model.forest().tree(), start.h);
        let Self { at, secondary, momenta, added, rotors, initial, before, velocity, free_velocity, .. } = self;
        let (bias, other, twists, gains) = (&momenta.bias, &mut momenta.other, &mut momenta.twists, &mut momenta.gains);
        let along =
            |v: &[f64], diagonal: &[f64]| v.iter().zip(diagonal).map(|(v, inertia)| 0.5 * inertia * v * v).sum::<f64>();
        gains.fill(0.0);
        let mut measure = |at: &Kinematics, v: &[f64], diagonal: &[f64], sign: f64| {
            at.twists_of(tree, v, twists);
            let mut total = 0.0;
            for ((id, twist), gain) in tree.link_ids().zip(twists.iter()).zip(gains.iter_mut()) {
                let energy = 0.5 * at.inertia(id).momentum(twist).power(twist);
                *gain += sign * energy;
                total += energy;
            }
            total + along(v, diagonal)
        };
        let before_impact = measure(at, before, added, -1.0) - along(before, added) + along(before, rotors);
        let start = if initial == before { before_impact } else { measure(at, initial, rotors, 0.0) };
        let at_start = before_impact - along(before, rotors) + along(before, added);
        // The velocity terms at the start act on the mass matrix of the problem.
        other.clear();
        other.extend(before.iter().zip(bias).map(|(v, bias)| v + h * bias));
        let turned = measure(at, other, added, 1.0);
        let mut distance = |a: &[f64], b: &mut Vec<f64>| {
            b.iter_mut().zip(a).for_each(|(b, a)| *b = a - *b);
            measure(at, b, added, 0.0)
        };
        let changed = distance(velocity, other);
        other.iter_mut().zip(velocity.iter()).for_each(|(change, v)| *change = v - *change);
        let pushed = distance(free_velocity, other);
        other.clone_from(free_velocity);
        let lost = distance(velocity, other);
        // Forces act with the mean of the velocities without velocity terms.
        let mut velocity_terms = 0.0;
        if conserves && bias.iter().any(|bias| *bias != 0.0) {
            other.clone_from(before);
            let both = distance(free_velocity, other);
            other.clear();
            other.extend(bias.iter().map(|bias| h * bias));
            velocity_terms = both - pushed - measure(at, other, added, 0.0);
        }
        let free = measure(at, free_velocity, added, 0.0);
        let after = measure(at, velocity, added, -1.0);
        let end = measure(&secondary.kinematics, end, rotors, 1.0);
        let after_of_state = after - along(velocity, added) + along(velocity, rotors);
        let most = tree.link_ids().zip(gains.iter().copied()).max_by(|(_, a), (_, b)| a.total_cmp(b));
        StepEnergies {
            start,
            before: before_impact,
            end,
            velocity_terms: velocity_terms + turned - at_start + end - after_of_state,
            most,
            balance: Balance { free, after, lost, pushed, changed },
        }
    }

    /// Change of the velocities of forest and bodies by the velocity terms at the start, where the constraints are linearised.
    pub(crate) fn write_turn(&mut self, model: &Model, h: f64, (of_forest, of_bodies): (&mut Vec<f64>, &mut Vec<f64>)) {
        let forest = model.forest();
        of_forest.clear();
        of_forest.extend(self.momenta.bias.iter().map(|bias| h * bias));
        let twists = &mut self.momenta.twists;
        self.at.twists_of(forest.tree(), of_forest, twists);
        forest.write_velocities(model, &self.at, twists, of_bodies);
    }

    /// Work of springs, dampers and motors on the velocities of the forest: p φ̇⁺ with p = h f₀ − (c − A) (φ̇⁺ − φ̇).   [JSPACE-9]
    pub(crate) fn work_of_joint_space(&self, h: f64) -> f64 {
        let inertias = self.added.iter().zip(&self.rotors).map(|(added, rotor)| added - rotor);
        let rates = self.before.iter().zip(&self.velocity);
        let work = |((force, inertia), (before, after)): ((&f64, f64), (&f64, &f64))| {
            (h * force - inertia * (after - before)) * after
        };
        self.forces.tau.iter().zip(inertias).zip(rates).map(work).sum()
    }
}
