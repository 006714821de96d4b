//! Steps in reduced coordinates: bodies are links of the model's forest, and constraints close loops only.
//!
//! Contacts, loop joints and joint-space constraints are rows of wrenches as in maximal coordinates; here they act on the velocities of
//! the forest. The articulated-body algorithm factorises M = LᵀL in linear time. The problem is formulated in y = L v: its mass matrix is
//! the identity, and its rows are the inward halves of impulse responses (from the link to the root). So it has the form of every
//! other problem of a step.   [RED-1] [RED-2]
//!
//! With divide and conquer, the same rows are propagated from the leaves to the root of an assembly tree. The problem is then in impulses
//! alone: see [`engine`].

mod account;
mod delassus;
mod engine;
mod row;
mod scratch;
mod velocity_terms;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use stiction_multibody::{
    Configuration, Forest, Joint, JointId, Model, State, Twist, Wrench,
    articulated::{
        ArticulatedFactors, Kinematics, Scratch, SingularInertia, TreeForces, outward_response,
        weighted_forward_dynamics,
    },
    mass_block,
    rotation::to_rotation_vector,
    same_bits,
};

use crate::{Start, StepCause, joint_space_dof::ImplicitForce};

use delassus::DelassusRows;
pub(crate) use engine::Divided;
pub(crate) use row::RowScratch;
pub(crate) use scratch::ReactionScratch;
use scratch::{ForestAt, ForestForces, LinkTwists, Secondary};
use velocity_terms::TreeMomenta;

/// Velocity that joints do not allow, as a fraction of the velocities of its body, that counts as rounding or as the error of a typed number.
const ALLOWED_ERROR: f64 = 1e-9;

/// Scratch of a step in reduced coordinates.
#[derive(Debug)]
pub(crate) struct Reduced {
    /// Coordinates of the forest at the start.
    pub(crate) q: Vec<f64>,
    /// Velocity at the start of the step, or after an impact by Poisson's hypothesis.
    pub(crate) before: Vec<f64>,
    /// Linearisation velocity v̂: constraints are linearised at q ⊕ h v̂.
    pub(crate) linearisation_velocity: Vec<f64>,
    predicted: Vec<f64>,
    /// Kinematics at the start.
    pub(crate) at: Kinematics,
    secondary: Secondary,
    /// Step size for which `free_velocity` is valid, s.
    free_of: Option<f64>,
    pub(crate) factors: ArticulatedFactors,
    /// Assembly for divide and conquer; if present, `factors` are not used.
    pub(crate) divided: Option<Box<Divided>>,
    scratch: Scratch,
    pub(crate) forces: ForestForces,
    /// Inertia that joint-space forces add to the velocities.   [JSPACE-2]
    pub(crate) added: Vec<f64>,
    /// Part of `added` that remains in impacts, the rotor inertia.   [JSPACE-8]
    pub(crate) rotors: Vec<f64>,
    /// True while an impact is solved, which takes no time.   [JSPACE-8]
    impulsive: bool,
    pub(crate) reactions: Option<Box<ReactionScratch>>,
    /// Velocity at the start, before any impact.
    pub(crate) initial: Vec<f64>,
    twists: LinkTwists,
    /// v_free, v⁺, and the residuals of impulse responses between them.
    pub(crate) free_velocity: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    /// Velocity that moves the forest: v⁺, or the mean of both ends.   [SOFT-6]
    pub(crate) moving: Vec<f64>,
    residual: Vec<f64>,
    pub(crate) row: RowScratch,
    /// Dense rows of small problems, and their Delassus matrix.
    pub(crate) delassus_rows: DelassusRows,
    maximal: Vec<f64>,
    momenta: TreeMomenta,
}

impl Reduced {
    pub(crate) fn new(forest: &Forest) -> Self {
        let tree = forest.tree();
        let zeros = || vec![0.0; tree.velocities()];
        Self {
            q: tree.neutral(),
            before: zeros(),
            linearisation_velocity: zeros(),
            predicted: Vec::new(),
            at: Kinematics::new(tree),
            secondary: Secondary { kinematics: Kinematics::new(tree), at: ForestAt::Start, end: Default::default() },
            free_of: None,
            factors: ArticulatedFactors::new(tree),
            divided: None,
            scratch: Scratch::new(tree),
            forces: ForestForces {
                tau: zeros(),
                external: vec![Wrench::default(); tree.links().len()],
                acceleration: zeros(),
            },
            added: zeros(),
            rotors: zeros(),
            impulsive: false,
            reactions: None,
            initial: zeros(),
            twists: LinkTwists { of_links: vec![Twist::default(); tree.links().len()], are_free: false },
            free_velocity: zeros(),
            velocity: zeros(),
            moving: zeros(),
            residual: zeros(),
            row: RowScratch::default(),
            delassus_rows: DelassusRows::default(),
            maximal: Vec::new(),
            momenta: TreeMomenta::new(tree),
        }
    }

    /// Overwrites the numbers with NaN, see [`Workspace::poison`].
    pub(crate) fn poison(&mut self) {
        let Self {
            q,
            before,
            linearisation_velocity,
            predicted,
            forces: ForestForces { tau, external, acceleration },
            added,
            rotors,
            free_velocity: free,
            velocity,
            moving,
            ..
        } = self;
        let numbers =
            [q, before, linearisation_velocity, predicted, acceleration, added, rotors, tau, free, velocity, moving];
        let others = [&mut self.residual, &mut self.maximal, &mut self.initial];
        let numbers = numbers.into_iter().chain(others).chain(&mut self.secondary.end);
        numbers.flatten().for_each(|x| *x = f64::NAN);
        external.fill(Wrench::of_torque(Vector3::repeat(f64::NAN)));
        self.row = RowScratch::default();
    }

    /// True if the last step with this memory ended in `state`, to the last bit.
    fn ended_in(&self, state: &State) -> bool {
        let [q, v, bodies_q, bodies_v] = &self.secondary.end;
        self.secondary.at == ForestAt::End
            && same_bits(q, &state.forest_q)
            && same_bits(v, &state.forest_v)
            && same_bits(bodies_q, &state.q)
            && same_bits(bodies_v, &state.v)
    }

    pub(crate) fn fits(&self, forest: &Forest) -> bool {
        self.at.poses().len() == forest.tree().links().len() && self.before.len() == forest.tree().velocities()
    }

    /// Reads coordinates and velocities of the forest at the start of a step.   [RED-3]
    ///
    /// Those of the state are used if they reproduce its q and v to the last bit; otherwise they are computed from q and v.
    pub(crate) fn read(&mut self, start: &Start, bodies: &Configuration) {
        let &Start { model, state, .. } = start;
        let forest = model.forest();
        let tree = forest.tree();
        self.free_of = None;
        self.impulsive = false;
        self.momenta.is_resumed = self.ended_in(state);
        self.secondary.at = ForestAt::Start;
        if self.momenta.is_resumed {
            self.q.clone_from(&state.forest_q);
            self.before.clone_from(&state.forest_v);
            std::mem::swap(&mut self.at, &mut self.secondary.kinematics);
            return;
        }
        if state.forest_q.len() == tree.coordinates() && state.forest_v.len() == tree.velocities() {
            self.q.clone_from(&state.forest_q);
            self.before.clone_from(&state.forest_v);
            self.at.update(tree, &self.q, &self.before);
            if self.leads_to(model, &state.q, &state.v) {
                return;
            }
        }
        forest.read_coordinates(model, bodies, &state.forest_q, &mut self.q);
        self.before.fill(0.0);
        self.at.update(tree, &self.q, &self.before);
        forest.read_velocities(&self.at, bodies, &mut self.before);
        self.at.update(tree, &self.q, &self.before);
        self.close_joints(model, bodies);
    }

    /// Replaces velocities of bodies that their joints do not allow by those after an inelastic impact in the joints: v = M⁻¹ Σ Sᵀ (momentum of
    /// each body).   [RED-7]
    fn close_joints(&mut self, model: &Model, bodies: &Configuration) {
        let forest = model.forest();
        let tree = forest.tree();
        forest.write_velocities(model, &self.at, self.at.twists(), &mut self.maximal);
        let mut momenta = vec![Wrench::default(); tree.links().len()];
        let mut is_allowed = true;
        for (index, (id, _)) in model.iter_bodies().enumerate() {
            let (Some((mobility, range)), Some((_, mass, inertia))) =
                (model.unknowns(id), mass_block(model, bodies, index))
            else {
                continue;
            };
            let (typed, radius) = (bodies.twist(id), 1.0 + model.radius(id));
            let read = mobility.twist(self.maximal.get(range).unwrap_or_default());
            let error = (read.linear - typed.linear).norm() + radius * (read.angular - typed.angular).norm();
            is_allowed &= error <= ALLOWED_ERROR * (typed.linear.norm() + radius * typed.angular.norm()).max(1.0);
            let momentum = Wrench { linear: typed.linear * mass, angular: inertia * typed.angular };
            if let Some((link, momentum)) = forest.on_link(&self.at, id, &momentum) {
                momenta.get_mut(link.index()).into_iter().for_each(|total| total.add(&momentum));
            }
        }
        if is_allowed || self.factors.update_with(tree, &self.at, &[]).is_err() {
            return;
        }
        let still = vec![0.0; tree.velocities()];
        let forces = TreeForces { tau: &still, wrenches: &momenta, velocity_terms: 0.0 };
        weighted_forward_dynamics(tree, &self.at, &self.factors, &forces, &mut self.scratch, &mut self.before);
        self.at.update(tree, &self.q, &self.before);
    }

    /// True if the forest reproduces q and v of the bodies to the last bit.
    fn leads_to(&mut self, model: &Model, q: &[f64], v: &[f64]) -> bool {
        let forest = model.forest();
        forest.write_coordinates(model, &self.at, q, &mut self.maximal);
        if !same_bits(&self.maximal, q) {
            return false;
        }
        forest.write_velocities(model, &self.at, self.at.twists(), &mut self.maximal);
        same_bits(&self.maximal, v)
    }

    /// Computes v̇ of applied and joint-space forces, from the factors of M with added inertia or by assembly.   [RED-1] [JSPACE-2]
    pub(crate) fn find_acceleration(&mut self, start: &Start, applied: &[Wrench]) -> Result<(), SingularInertia> {
        let forest = start.model.forest();
        let tree = forest.tree();
        debug_assert_eq!(applied.len(), start.model.bodies().len(), "every body has an applied wrench");
        self.free_of = None;
        for (wrench, (id, _)) in applied.iter().zip(start.model.iter_bodies()) {
            let Some((link, wrench)) = forest.on_link(&self.at, id, wrench) else { continue };
            if let Some(place) = self.forces.external.get_mut(link.index()) {
                *place = wrench;
            }
        }
        if let Some(divided) = &mut self.divided {
            divided.assemble(forest, (&self.at, &self.added))?;
        } else if !self.momenta.take_factors(&self.added, &mut self.factors) {
            self.factors.update_with(tree, &self.at, &self.added)?;
        }
        if self.divided.is_none() {
            self.row.whiten(self.factors.pivots());
        }
        self.accelerate(start);
        Ok(())
    }

    /// Adds an implicit joint-space force to a velocity.   [JSPACE-2]
    pub(crate) fn add_implicit_force(&mut self, velocity: usize, force: &ImplicitForce) {
        debug_assert!(velocity < self.added.len(), "the force acts on a velocity of the forest");
        let places = (self.added.get_mut(velocity), self.rotors.get_mut(velocity), self.forces.tau.get_mut(velocity));
        if let (Some(added), Some(rotor), Some(tau)) = places {
            *added += force.inertia;
            *rotor += force.rotor;
            *tau += force.force;
        }
    }

    /// Factorises M for an impact, in which springs and dampers have no effect, or for the step again.   [JSPACE-8]
    pub(crate) fn refactorise(&mut self, model: &Model, impulsive: bool) -> Result<(), StepCause> {
        self.impulsive = impulsive;
        let added = if impulsive { &self.rotors } else { &self.added };
        if self.rotors != self.added {
            if let Some(divided) = &mut self.divided {
                divided.invalidate();
                return Ok(());
            }
            let made = self.factors.update_with(model.forest().tree(), &self.at, added);
            made.map_err(|singular| singular_inertia(model, singular))?;
            self.row.whiten(self.factors.pivots());
        }
        Ok(())
    }

    /// Rotation vector of a spherical joint whose first velocity is given.
    pub(crate) fn spherical_rotation_vector(&self, forest: &Forest, first: usize) -> Vector3<f64> {
        let link = forest.tree().link_of(first).and_then(|id| forest.tree().links().get(id.index()));
        if let Some(&[w, x, y, z]) = link.and_then(|link| self.q.get(link.coordinates())) {
            return to_rotation_vector(&UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z)));
        }
        debug_assert!(false, "the coordinates of a spherical joint are a quaternion");
        Vector3::zeros()
    }

    /// True if the constraints are linearised at q ⊕ h v̂ and not at the start.
    fn is_linearised_ahead(&self) -> bool {
        self.secondary.at == ForestAt::Linearisation
    }

    /// Kinematics where the constraints are linearised.
    pub(crate) fn linear(&self) -> &Kinematics {
        self.secondary.at.linear(&self.at, &self.secondary.kinematics)
    }

    /// Computes v_free = v + h v̇ and the velocities of the bodies where the constraints are linearised.
    pub(crate) fn compute_free_velocity(&mut self, model: &Model, h: f64, out: &mut Vec<f64>) {
        if self.free_of == Some(h) {
            return;
        }
        let free = self.before.iter().zip(&self.forces.acceleration).map(|(v, a)| v + h * a);
        self.free_velocity.clear();
        self.free_velocity.extend(free);
        self.free_of = Some(h);
        let forest = model.forest();
        let linear = self.secondary.at.linear(&self.at, &self.secondary.kinematics);
        linear.twists_of(forest.tree(), &self.free_velocity, &mut self.twists.of_links);
        self.twists.are_free = true;
        forest.write_velocities(model, linear, &self.twists.of_links, out);
    }

    /// Continues the step from v⁺, after an impact.
    pub(crate) fn restart_from_velocity(&mut self) {
        self.before.clone_from(&self.velocity);
        self.free_of = None;
    }

    /// Linearises constraints at the start of the step.
    pub(crate) fn linearise_at_start(&mut self) {
        if self.secondary.at != ForestAt::Start {
            (self.secondary.at, self.free_of) = (ForestAt::Start, None);
        }
    }

    /// Computes v⁺ = v_free + L⁻¹ δy and the velocities of the bodies where the constraints are linearised.   [RED-2]
    pub(crate) fn find_velocity(&mut self, model: &Model, unit: f64, change: &[f64], out: &mut Vec<f64>) {
        let pivots = self.factors.pivots();
        debug_assert_eq!(change.len(), pivots.len(), "the change has an entry for each velocity of the forest");
        self.residual.clear();
        self.residual.extend(change.iter().zip(pivots).map(|(y, d)| y * (d * unit).sqrt()));
        self.respond_outward(model, out);
    }

    /// Computes v⁺ = v_free + L⁻¹ of the residuals of inward halves, and the velocities of the bodies.   [RED-2]
    fn respond_outward(&mut self, model: &Model, out: &mut Vec<f64>) {
        if self.impulses_vanish() {
            self.velocity.clone_from(&self.free_velocity);
            return self.write_bodies(model, true, out);
        }
        let tree = model.forest().tree();
        outward_response(tree, &self.at, &self.factors, &self.residual, &mut self.scratch, &mut self.velocity);
        self.add_free_velocity(model, out);
    }

    /// True if v⁺ equals v_free to the last bit because no row has an impulse.
    ///
    /// Adding zero leaves every value but −0 unchanged.
    fn impulses_vanish(&self) -> bool {
        let negative_zero = (-0.0_f64).to_bits();
        self.residual.iter().all(|u| *u == 0.0) && self.free_velocity.iter().all(|v| v.to_bits() != negative_zero)
    }

    /// Adds v_free to the change in `velocity`, which gives v⁺.
    fn add_free_velocity(&mut self, model: &Model, out: &mut Vec<f64>) {
        debug_assert_eq!(self.velocity.len(), self.free_velocity.len(), "both have all velocities of the forest");
        self.velocity.iter_mut().zip(&self.free_velocity).for_each(|(v, free)| *v += free);
        self.write_bodies(model, false, out);
    }

    /// Writes the velocities of the bodies at v⁺ where the constraints are linearised; twists at v_free may be known already.
    fn write_bodies(&mut self, model: &Model, is_free: bool, out: &mut Vec<f64>) {
        let forest = model.forest();
        let linear = self.secondary.at.linear(&self.at, &self.secondary.kinematics);
        let are_known = is_free && self.twists.are_free && self.free_of.is_some();
        if !are_known {
            linear.twists_of(forest.tree(), &self.velocity, &mut self.twists.of_links);
            self.twists.are_free = is_free;
        }
        forest.write_velocities(model, linear, &self.twists.of_links, out);
    }

    /// Linearises constraints at q ⊕ h v̂: updates the forest and writes the bodies there.   [STEP-10]
    pub(crate) fn linearise_ahead(&mut self, start: &Start, (q, v): (&mut Vec<f64>, &mut Vec<f64>)) {
        let &Start { model, state, h, .. } = start;
        let forest = model.forest();
        let tree = forest.tree();
        self.predicted.clone_from(&self.q);
        tree.integrate(&mut self.predicted, &self.linearisation_velocity, h);
        self.secondary.kinematics.update(tree, &self.predicted, &self.linearisation_velocity);
        (self.secondary.at, self.free_of) = (ForestAt::Linearisation, None);
        self.divided.iter_mut().for_each(|divided| divided.invalidate());
        forest.write_coordinates(model, &self.secondary.kinematics, &state.q, q);
        forest.write_velocities(model, &self.secondary.kinematics, self.secondary.kinematics.twists(), v);
    }

    /// Writes the bodies after `time` if the forest keeps its velocity, changed by `terms` times the velocity terms at the start, without a trace in the step.
    pub(crate) fn write_ahead(
        &mut self,
        start: &Start,
        (time, terms): (f64, f64),
        (q, v): (&mut Vec<f64>, &mut Vec<f64>),
    ) {
        let &Start { model, state, .. } = start;
        let forest = model.forest();
        let tree = forest.tree();
        debug_assert_eq!(self.secondary.at, ForestAt::Start, "the secondary kinematics are free");
        self.predicted.clone_from(&self.q);
        let mut velocity = std::mem::take(&mut self.momenta.other);
        velocity.clone_from(&self.before);
        if terms != 0.0 {
            velocity.iter_mut().zip(self.earlier_velocity_terms()).for_each(|(v, a)| *v += terms * start.h * a);
        }
        tree.integrate(&mut self.predicted, &velocity, time);
        self.secondary.kinematics.update(tree, &self.predicted, &velocity);
        self.momenta.other = velocity;
        forest.write_coordinates(model, &self.secondary.kinematics, &state.q, q);
        forest.write_velocities(model, &self.secondary.kinematics, self.secondary.kinematics.twists(), v);
    }

    /// Writes the next coordinates and velocities of the forest and of the bodies.   [STEP-5]
    pub(crate) fn advance(&mut self, start: &Start, next: &mut State) -> Result<(), SingularInertia> {
        let &Start { model, state, h, .. } = start;
        let forest = model.forest();
        let tree = forest.tree();
        next.forest_q.clone_from(&self.q);
        if start.moves() {
            tree.integrate(&mut next.forest_q, &self.moving, h);
        }
        next.forest_v.clone_from(&self.velocity);
        self.secondary.kinematics.update(tree, &next.forest_q, &next.forest_v);
        self.secondary.at = ForestAt::End;
        self.end_velocity(start, next)?;
        forest.write_coordinates(model, &self.secondary.kinematics, &state.q, &mut next.q);
        self.write_end(model, next);
        Ok(())
    }

    /// Writes the velocities of the bodies in the next state and remembers it.
    fn write_end(&mut self, model: &Model, next: &mut State) {
        let end = &self.secondary.kinematics;
        model.forest().write_velocities(model, end, end.twists(), &mut next.v);
        let made = [&next.forest_q, &next.forest_v, &next.q, &next.v];
        self.secondary.end.iter_mut().zip(made).for_each(|(end, made)| end.clone_from(made));
    }

    /// [`Self::advance`] by v⁺, with the velocity v⁺ + `change` in the next state. The change is given by the velocities of all bodies at the start.
    /// [STAB-10]
    pub(crate) fn advance_without_closing(
        &mut self,
        start: &Start,
        change: &Configuration,
        next: &mut State,
    ) -> Result<(), SingularInertia> {
        let mut closing = std::mem::take(&mut self.momenta.closing);
        start.model.forest().read_velocities(&self.at, change, &mut closing);
        let solved = self.velocity.clone();
        self.velocity.iter_mut().zip(&closing).for_each(|(v, change)| *v += change);
        self.momenta.closing = closing;
        let advanced = self.advance(start, next);
        self.velocity = solved;
        self.momenta.closing.clear();
        advanced
    }

    /// Twists of the bodies after a step of the forest at constant velocities, at the poses of the start.   [STAB-9]
    pub(crate) fn later(&self, start: &Start) -> Configuration {
        let forest = start.model.forest();
        let (mut q, mut at) = (self.q.clone(), Kinematics::new(forest.tree()));
        forest.tree().integrate(&mut q, &self.before, start.closing_duration);
        at.update(forest.tree(), &q, &self.before);
        let (mut v, mut later) = (Vec::new(), Configuration::default());
        forest.write_velocities(start.model, &at, at.twists(), &mut v);
        later.update(start.model, &start.state.q, &v, start.state.time);
        later
    }

    /// Adds to the velocity of the next state a motion that its joints allow, given by the velocities of all bodies.
    pub(crate) fn add_at_end(&mut self, model: &Model, change: &Configuration, next: &mut State) {
        let forest = model.forest();
        let end = &mut self.secondary.kinematics;
        let mut rates = Vec::new();
        forest.read_velocities(end, change, &mut rates);
        next.forest_v.iter_mut().zip(rates).for_each(|(v, change)| *v += change);
        end.update_velocities(forest.tree(), &next.forest_v);
        self.write_end(model, next);
    }
}

pub(crate) fn singular_inertia(model: &Model, singular: SingularInertia) -> StepCause {
    let tree = model.forest().tree();
    let link = tree.link_of(singular.velocity).and_then(|id| tree.links().get(id.index()));
    StepCause::NoInertia { body: link.map_or_else(String::new, |link| link.spec().name.clone()) }
}

/// Joints with rows in the problem: all in maximal coordinates, those that close loops in reduced ones.
pub(crate) fn joints_in_problem<'m>(
    model: &'m Model,
    reduced: Option<&Reduced>,
) -> impl Iterator<Item = &'m Joint> + Clone + use<'m> {
    joint_ids_in_problem(model, reduced).filter_map(|index| {
        debug_assert!(index < model.joints().len(), "loops are closed by joints of the model");
        model.joints().get(index)
    })
}

/// Indices of the joints with rows in the problem.
pub(crate) fn joint_ids_in_problem<'m>(
    model: &'m Model,
    reduced: Option<&Reduced>,
) -> impl Iterator<Item = usize> + Clone + use<'m> {
    let (all, loops): (usize, &[JointId]) = match reduced {
        None => (model.joints().len(), &[]),
        Some(_) => (0, model.forest().loops()),
    };
    (0..all).chain(loops.iter().map(|id| id.index()))
}
