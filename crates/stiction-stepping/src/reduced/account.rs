//! Kinetic energies of a step in reduced coordinates, with M at its start.   [ENERGY-1]

use stiction_multibody::{
    Model, Twist,
    articulated::{ArticulatedFactors, Scratch, forward_dynamics, inverse_dynamics},
};

use super::Reduced;

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
