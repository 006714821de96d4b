//! Velocity terms of trees: half of them acts at the start of a step and half at its end, so that momentum and energy are kept.
//!
//! With c(q, v) the bias of the trees (centrifugal, Coriolis and gyroscopic forces), f the other forces and p the impulses of the step,
//!
//! ```text
//! M (v⁺ − v) = h f − ½ h c(q, v) + Jᵀ p,    q⁺ = q ⊕ h v⁺,    M⁺ (v_state − v⁺) = −½ h c(q⁺, v_state)             [ROT-3]
//! ```
//!
//! v⁺ is the velocity of the problem, which moves the trees and obeys the contact laws; v_state is that at the end of the step. Without forces
//! this is the leapfrog method, of second order. The last equation is solved by two sweeps. Trees at rest stay at rest to the last bit.
//!
//! Two invariants of the velocity terms are then restored to rounding. With A v the momentum of a tree whose root is free, and
//! u = v⁺ + ½ h M⁻¹ c(q, v) the velocity without velocity terms,
//!
//! ```text
//! A⁺ v_state = A u,    ½ v_stateᵀ M⁺ v_state = ½ uᵀ M u                                                             [ROT-4]
//! ```
//!
//! The first changes the velocities of the root alone. The second scales the motion relative to the tree with locked joints. The centre of
//! mass of a free tree without impulses is moved to where its momentum carries it.

use nalgebra::Vector3;
use stiction_multibody::{
    State, Twist, Wrench,
    articulated::{
        ArticulatedFactors, Kinematics, SingularInertia, Tree, TreeForces, Trees, weighted_forward_dynamics,
    },
    mean_angular_velocity,
};

use super::Reduced;
use crate::{Kick, PositionUpdate, Start, VelocityTerms};

/// Number of sweeps for v_state. The error of two is of third order in h.
const SWEEPS: u32 = 2;

/// Largest factor on relative motion that restores energy; a larger loss stays. With a larger bound a step that loses most of the relative motion
/// would blow up what is left of it.
const MOST_GAIN: f64 = 1.05;

/// Largest change of a factor on relative motion in a step that resolves the motion: longer steps are halved while the scheme allows.
const RESOLVED: f64 = 0.02;

/// Trees of the forest, and the scratch memory of their momenta and energies.
#[derive(Debug)]
pub(super) struct TreeMomenta {
    trees: Trees,
    /// Factors of M at the end of the step, and the inertia added to it, for the next step.
    factors: ArticulatedFactors,
    added: Vec<f64>,
    /// Acceleration of the velocity terms at the start of the step, with their weight.
    pub(super) bias: Vec<f64>,
    /// Velocity without velocity terms, u; later the motion with locked joints.
    pub(super) other: Vec<f64>,
    /// Change of v⁺ that removes the velocity with which open joints close; empty if none closes.   [STAB-10]
    pub(super) closing: Vec<f64>,
    /// Change of the velocities by the second kick of the step, estimated.
    later: Vec<f64>,
    /// True if a contact closes in the step: the second kick differs from the first.
    collides: bool,
    acceleration: Vec<f64>,
    pub(super) twists: Vec<Twist>,
    /// Momenta that the trees must have, and that they have, about the origin of the world.
    wanted: Vec<Wrench>,
    momenta: Vec<Wrench>,
    centers: [Vec<(f64, Vector3<f64>)>; 2],
    shifts: Vec<Vector3<f64>>,
    /// Energies of the trees: wanted, present, and with locked joints.
    energies: [Vec<f64>; 3],
    /// Unexplained change of the kinetic energy of each link in the last step, J.   [ENERGY-5]
    pub(super) gains: Vec<f64>,
    /// Largest change of a factor on relative motion in the last step.
    largest_change: f64,
    /// Weight of the velocity terms at the start of the last step.
    weight: f64,
    /// True if the step continues the last one with this memory.
    pub(super) is_resumed: bool,
}

impl TreeMomenta {
    pub(super) fn new(tree: &Tree) -> Self {
        let zeros = || vec![0.0; tree.velocities()];
        Self {
            trees: Trees::new(tree),
            factors: ArticulatedFactors::new(tree),
            added: Vec::new(),
            bias: zeros(),
            other: zeros(),
            closing: Vec::new(),
            later: zeros(),
            collides: false,
            acceleration: zeros(),
            twists: vec![Twist::default(); tree.links().len()],
            wanted: Vec::new(),
            momenta: Vec::new(),
            centers: Default::default(),
            shifts: Vec::new(),
            energies: Default::default(),
            gains: vec![0.0; tree.links().len()],
            largest_change: 0.0,
            weight: 1.0,
            is_resumed: false,
        }
    }

    /// Gives each free tree the momentum of the impulses on its links, which are about the origins of the links. A disassembly has rounding errors beyond those
    /// of the momentum where joints have slid far.   [DCA-17]
    pub(super) fn refine(&mut self, tree: &Tree, at: &Kinematics, impulses: &[Wrench], change: &mut [f64]) {
        let Self { trees, twists, wanted, momenta, .. } = self;
        at.twists_of(tree, change, twists);
        trees.momenta(at, twists, momenta);
        trees.wrenches(at, impulses, wanted);
        for (wanted, momentum) in wanted.iter_mut().zip(momenta.iter()) {
            wanted.add_scaled(momentum, -1.0);
        }
        trees.add_momentum(tree, at, wanted, change);
    }

    /// True if a step with the added inertia can use the factors at the end of the last step.
    pub(super) fn take_factors(&mut self, added: &[f64], factors: &mut ArticulatedFactors) -> bool {
        let fits = self.is_resumed && self.added == added;
        if fits {
            std::mem::swap(&mut self.factors, factors);
        }
        self.added.clear();
        fits
    }
}

impl Reduced {
    /// Weight of the velocity terms at the start of the step.   [ROT-3]
    fn weight_at_start(start: &Start) -> f64 {
        match (start.scheme.velocity_terms, start.scheme.position_update) {
            (VelocityTerms::Conserving, PositionUpdate::End) => 0.5,
            _ => 1.0,
        }
    }

    /// Computes the acceleration of forces and of the velocity terms at the start.   [ROT-3]
    pub(super) fn accelerate(&mut self, start: &Start) {
        let tree = start.model.forest().tree();
        let forces = TreeForces { tau: &self.forces.tau, wrenches: &self.forces.external, velocity_terms: 1.0 };
        let Self { divided, at, factors, scratch, momenta, .. } = self;
        let mut solve = |forces: &TreeForces, out: &mut [f64]| match divided {
            Some(divided) => divided.accelerate(tree, at, forces, out),
            None => weighted_forward_dynamics(tree, at, factors, forces, scratch, out),
        };
        momenta.weight = Self::weight_at_start(start);
        if start.scheme.velocity_terms == VelocityTerms::Explicit {
            solve(&forces, &mut self.forces.acceleration);
            // For the account of energy alone.   [ENERGY-5]
            momenta.other.fill(0.0);
            let terms = TreeForces { tau: &momenta.other, wrenches: &[], velocity_terms: 1.0 };
            solve(&terms, &mut momenta.bias);
            return;
        }
        solve(&TreeForces { velocity_terms: 0.0, ..forces }, &mut self.forces.acceleration);
        if !start.moves() || self.before.iter().all(|v| *v == 0.0) {
            momenta.bias.fill(0.0);
            return;
        }
        momenta.other.fill(0.0);
        let terms = TreeForces { tau: &momenta.other, wrenches: &[], velocity_terms: momenta.weight };
        solve(&terms, &mut momenta.bias);
        self.turn_single_bodies(start);
        let bias = self.momenta.bias.iter();
        self.forces.acceleration.iter_mut().zip(bias).for_each(|(a, bias)| *a += bias);
    }

    /// Velocity terms of single free bodies, whose rotation is that of [ROT-1] at any rate.
    fn turn_single_bodies(&mut self, start: &Start) {
        let tree = start.model.forest().tree();
        let TreeMomenta { trees, bias, .. } = &mut self.momenta;
        for root in trees.roots() {
            let velocities = tree.links()[root.link.index()].velocities();
            if root.links > 1 || velocities.len() < 6 || start.h == 0.0 {
                continue;
            }
            let omega = self.at.twist(root.link).angular;
            let Some(inertia) = self.at.inertia(root.link).about_center() else { continue };
            let mean = mean_angular_velocity(&inertia, &omega, start.h);
            // The velocity at the end moves the body; with mean velocities it must change twice as much.
            let rate = (mean - omega) * (2.0 * Self::weight_at_start(start) / start.h);
            for (place, k) in velocities.enumerate() {
                bias[k] = if place < 3 { 0.0 } else { self.at.column(k).angular.dot(&rate) };
            }
        }
    }

    /// Completes the next state, whose forest has the coordinates q⁺ and the velocities v⁺, by the velocity terms at the end of the step.
    /// [ROT-3] [ROT-4]
    ///
    /// The secondary kinematics are those of the next state.
    pub(super) fn end_velocity(&mut self, start: &Start, next: &mut State) -> Result<(), SingularInertia> {
        self.momenta.largest_change = 0.0;
        if start.scheme.velocity_terms == VelocityTerms::Explicit || !start.moves() {
            return Ok(());
        }
        let (tree, h) = (start.model.forest().tree(), start.h);
        {
            let TreeMomenta { trees, bias, other, twists, wanted, energies: [wanted_energies, ..], .. } =
                &mut self.momenta;
            other.clear();
            other.extend(self.velocity.iter().zip(bias.iter()).map(|(v, bias)| v - h * bias));
            self.at.twists_of(tree, other, twists);
            trees.momenta(&self.at, twists, wanted);
            trees.energies(tree, &self.at, (other, twists), &self.rotors, wanted_energies);
        }
        self.follow_closing(start);
        self.move_centers(start, next);
        if next.forest_v.iter().any(|v| *v != 0.0) && Self::weight_at_start(start) < 1.0 {
            self.half_kick(start, next)?;
        }
        let TreeMomenta { trees, other, twists, wanted, momenta, energies, largest_change, .. } = &mut self.momenta;
        let end = &mut self.secondary.kinematics;
        trees.momenta(end, end.twists(), momenta);
        for (momentum, wanted) in momenta.iter_mut().zip(wanted.iter()) {
            let mut missing = *wanted;
            missing.add_scaled(momentum, -1.0);
            *momentum = missing;
        }
        trees.add_momentum(tree, end, momenta, &mut next.forest_v);
        end.update_velocities(tree, &next.forest_v);
        let [wanted_energies, present, locked] = energies;
        trees.energies(tree, end, (&next.forest_v, end.twists()), &self.rotors, present);
        other.fill(0.0);
        trees.add_momentum(tree, end, wanted, other);
        end.twists_of(tree, other, twists);
        trees.energies(tree, end, (other, twists), &self.rotors, locked);
        *largest_change = 0.0;
        for (link, id) in tree.links().iter().zip(tree.link_ids()) {
            let place = trees.tree_of(id);
            let factor = energy_factor(wanted_energies[place], present[place], locked[place]);
            *largest_change = largest_change.max((factor - 1.0).abs());
            for k in link.velocities() {
                next.forest_v[k] = other[k] + factor * (next.forest_v[k] - other[k]);
            }
        }
        end.update_velocities(tree, &next.forest_v);
        Ok(())
    }

    /// Acceleration of the velocity terms at the start of the step that acted at the end of the last one.   [ROT-3]
    pub(crate) fn earlier_velocity_terms(&self) -> impl Iterator<Item = f64> + '_ {
        let weight = if self.momenta.weight < 1.0 { 1.0 } else { 0.0 };
        self.momenta.bias.iter().map(move |bias| weight * bias)
    }

    /// Says whether a contact closes in the step.
    pub(crate) fn expect_collision(&mut self, collides: bool) {
        self.momenta.collides = collides;
    }

    /// True if the last step was short enough for the velocities of the trees.
    pub(crate) fn resolves_motion(&self) -> bool {
        self.momenta.largest_change <= RESOLVED
    }

    /// Solves M⁺ (v_state − v⁺) = −½ h c(q⁺, v_state) by sweeps.   [ROT-3]
    fn half_kick(&mut self, start: &Start, next: &mut State) -> Result<(), SingularInertia> {
        let tree = start.model.forest().tree();
        let TreeMomenta { factors, added, bias, other, later, collides, acceleration, .. } = &mut self.momenta;
        let end = &mut self.secondary.kinematics;
        // In the second kick dampers and springs are explicit and add no inertia.   [STEP-18]
        let inertia = if start.kick == Kick::First { &self.rotors } else { &self.added };
        added.clear();
        factors.update_with(tree, end, inertia)?;
        added.extend_from_slice(inertia);
        // The second kick of a step of second order changes the velocity by about as much as the first.   [STEP-18]
        later.clear();
        if start.kick == Kick::First && !*collides {
            let kicks = self.velocity.iter().zip(&self.before).zip(bias.iter());
            later.extend(kicks.map(|((after, before), bias)| after - before - start.h * bias));
        } else {
            later.resize(self.velocity.len(), 0.0);
        }
        other.fill(0.0);
        for _ in 0..SWEEPS {
            next.forest_v.iter_mut().zip(later.iter()).for_each(|(v, later)| *v += later);
            end.update_velocities(tree, &next.forest_v);
            let terms = TreeForces { tau: other, wrenches: &[], velocity_terms: 0.5 };
            weighted_forward_dynamics(tree, end, factors, &terms, &mut self.scratch, acceleration);
            next.forest_v.clear();
            next.forest_v.extend(self.velocity.iter().zip(acceleration.iter()).map(|(v, a)| v + start.h * a));
            end.update_velocities(tree, &next.forest_v);
        }
        Ok(())
    }

    /// Moves the wanted angular momenta with the centres of mass: where joints close, trees move by h times a velocity that the next state does not have.
    /// [STAB-10]
    fn follow_closing(&mut self, start: &Start) {
        let TreeMomenta { trees, closing, twists, wanted, momenta, centers: [centers, _], .. } = &mut self.momenta;
        if closing.is_empty() {
            return;
        }
        self.at.twists_of(start.model.forest().tree(), closing, twists);
        trees.momenta(&self.at, twists, momenta);
        trees.centers(&self.at, centers);
        let time = start.h * start.end_velocity_weight();
        for ((wanted, removed), (mass, _)) in wanted.iter_mut().zip(momenta.iter()).zip(centers.iter()) {
            if *mass > 0.0 {
                wanted.angular -= removed.linear.cross(&wanted.linear) * (time / mass);
            }
        }
    }

    /// Moves the centre of mass of each free tree without impulses to where its momentum carries it.
    fn move_centers(&mut self, start: &Start, next: &mut State) {
        let (tree, h) = (start.model.forest().tree(), start.h);
        let TreeMomenta { trees, wanted, centers: [from, to], shifts, .. } = &mut self.momenta;
        let end = &mut self.secondary.kinematics;
        trees.centers(&self.at, from);
        trees.centers(end, to);
        shifts.clear();
        shifts.extend(trees.roots().iter().zip(wanted.iter()).zip(from.iter().zip(to.iter())).map(
            |((root, momentum), ((mass, from), (_, to)))| {
                let mut own = tree.links()[root.link.index()].velocities();
                let has_impulse = own.any(|k| self.velocity[k] != self.free_velocity[k]);
                let moves = root.is_free && root.links > 1 && *mass > 0.0 && !has_impulse;
                if moves && start.scheme.position_update == PositionUpdate::End {
                    from + momentum.linear * (h / mass) - to
                } else {
                    Vector3::zeros()
                }
            },
        ));
        if shifts.iter().any(|shift| *shift != Vector3::zeros()) {
            trees.translate(tree, shifts, &mut next.forest_q);
            end.update(tree, &next.forest_q, &next.forest_v);
        }
    }
}

/// Relative motion so slow, as a fraction of the energy, that rounding decides its energy.
const NEGLIGIBLE_ENERGY: f64 = 1e-10;

/// Factor on the motion relative to locked joints that gives the wanted energy.   [ROT-4]
fn energy_factor(wanted: f64, present: f64, locked: f64) -> f64 {
    let relative = present - locked;
    if relative.is_nan() || relative <= NEGLIGIBLE_ENERGY * present {
        return 1.0;
    }
    ((wanted - locked).max(0.0) / relative).sqrt().min(MOST_GAIN)
}
