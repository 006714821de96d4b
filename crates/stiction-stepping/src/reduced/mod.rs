//! Steps in reduced coordinates: the bodies are links of the model's forest, and only loops are closed by constraints.
//!
//! Contacts, loops and drives are rows of wrenches as in maximal coordinates; here they act on the velocities of the forest. With M = LᵀL,
//! which the articulated-body algorithm factorises in linear time, the problem is written in y = L v: its masses are 1 and its rows are
//! the inward halves of impulse responses. So it has the form of every other problem of a step.   [RED-1] [RED-2]
//!
//! With divide and conquer the same rows go up the plan of an assembly instead, and the problem is in impulses alone: see [`engine`].

mod account;
mod delassus;
mod engine;
mod immovable;
mod reactions;
mod row;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use stiction_multibody::{
    Configuration, Forest, Joint, JointId, Model, State, Twist, Wrench,
    articulated::{ArticulatedFactors, Kinematics, Scratch, SingularInertia, forward_dynamics, outward_response},
    rotation::to_rotation_vector,
    same_bits,
};

use crate::{Coordinates, Scheme, Start, StepCause, Workspace, joint_space};

use delassus::DelassusRows;
pub(crate) use engine::Divided;
pub(crate) use immovable::drop_immovable;
pub use reactions::joint_impulses;
pub(crate) use reactions::{add_impulses_of_solution, find_reactions};
pub(crate) use row::RowScratch;

/// What [`Reduced::elsewhere`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elsewhere {
    Nothing,
    LookedAhead,
    End,
}

impl Elsewhere {
    /// The forest where the constraints are linearised: ahead while it is looked ahead, and at the start otherwise.
    fn linear<'a>(self, at: &'a Kinematics, elsewhere: &'a Kinematics) -> &'a Kinematics {
        if self == Self::LookedAhead { elsewhere } else { at }
    }
}

/// Scratch of a step in reduced coordinates.
#[derive(Debug)]
pub(crate) struct Reduced {
    /// q and v of the forest at the start.
    pub(crate) q: Vec<f64>,
    /// The velocity the step starts with; another one after an impact by Poisson's hypothesis.
    pub(crate) before: Vec<f64>,
    /// v̂ where the constraints are linearised at q ⊕ h v̂.
    pub(crate) linearisation_velocity: Vec<f64>,
    predicted: Vec<f64>,
    /// The forest at the start.
    pub(crate) at: Kinematics,
    /// The forest elsewhere: at q ⊕ h v̂ while it is looked ahead, and at the end of the step once that is made.
    elsewhere: Kinematics,
    place: Elsewhere,
    /// The step for which `free` is known.
    free_of: Option<f64>,
    /// The state that `elsewhere` belongs to once the step is made: q and v of the forest, then of the bodies.
    end: [Vec<f64>; 4],
    pub(crate) factors: ArticulatedFactors,
    /// The engine of divide and conquer, where that is asked for; the factors are then not used.
    pub(crate) divided: Option<Box<Divided>>,
    scratch: Scratch,
    /// v̇ of everything but constraints.
    acceleration: Vec<f64>,
    /// Inertia that drives add to the velocities.   [DRIVE-2]
    pub(crate) added: Vec<f64>,
    /// The part of it that acts in no time too.   [DRIVE-8]
    rotors: Vec<f64>,
    /// Whether no time passes in what is solved.   [DRIVE-8]
    at_once: bool,
    /// Forces of drives.
    pub(crate) tau: Vec<f64>,
    external: Vec<Wrench>,
    reactions: Option<Box<reactions::ReactionScratch>>,
    /// v at the start, before any impact.
    initial: Vec<f64>,
    /// Of the velocity whose bodies were asked for last, where the constraints are linearised.
    twists: Vec<Twist>,
    /// Whether that was v_free.
    twists_are_free: bool,
    /// v_free, v⁺, and the residuals of impulse responses between them.
    pub(crate) free: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    /// What moves the forest: v⁺, or the mean of both ends.   [SOFT-6]
    pub(crate) moving: Vec<f64>,
    residual: Vec<f64>,
    pub(crate) row: RowScratch,
    /// Rows of small problems.
    pub(crate) explicit: DelassusRows,
    maximal: Vec<f64>,
}

impl Reduced {
    fn new(forest: &Forest) -> Self {
        let tree = forest.tree();
        let zeros = || vec![0.0; tree.velocities()];
        Self {
            q: tree.neutral(),
            before: zeros(),
            linearisation_velocity: zeros(),
            predicted: Vec::new(),
            at: Kinematics::new(tree),
            elsewhere: Kinematics::new(tree),
            place: Elsewhere::Nothing,
            free_of: None,
            end: Default::default(),
            factors: ArticulatedFactors::new(tree),
            divided: None,
            scratch: Scratch::new(tree),
            acceleration: zeros(),
            added: zeros(),
            rotors: zeros(),
            at_once: false,
            tau: zeros(),
            external: vec![Wrench::default(); tree.links().len()],
            reactions: None,
            initial: zeros(),
            twists: vec![Twist::default(); tree.links().len()],
            twists_are_free: false,
            free: zeros(),
            velocity: zeros(),
            moving: zeros(),
            residual: zeros(),
            row: RowScratch::default(),
            explicit: DelassusRows::default(),
            maximal: Vec::new(),
        }
    }

    /// Overwrites the numbers with NaN, see [`Workspace::poison`].
    pub(crate) fn poison(&mut self) {
        let Self {
            q,
            before,
            linearisation_velocity,
            predicted,
            acceleration,
            added,
            rotors,
            tau,
            free,
            velocity,
            moving,
            ..
        } = self;
        let numbers =
            [q, before, linearisation_velocity, predicted, acceleration, added, rotors, tau, free, velocity, moving];
        let others = [&mut self.residual, &mut self.maximal, &mut self.initial];
        let numbers = numbers.into_iter().chain(others).chain(&mut self.end);
        numbers.flatten().for_each(|x| *x = f64::NAN);
        self.external.iter_mut().for_each(|wrench| *wrench = Wrench::of_torque(Vector3::repeat(f64::NAN)));
        self.row = RowScratch::default();
    }

    /// Whether the last step that was made with this memory ended in a state, to the last bit.
    fn ended_in(&self, state: &State) -> bool {
        let [q, v, bodies_q, bodies_v] = &self.end;
        self.place == Elsewhere::End
            && same_bits(q, &state.forest_q)
            && same_bits(v, &state.forest_v)
            && same_bits(bodies_q, &state.q)
            && same_bits(bodies_v, &state.v)
    }

    fn fits(&self, forest: &Forest) -> bool {
        self.at.poses().len() == forest.tree().links().len() && self.before.len() == forest.tree().velocities()
    }

    /// Coordinates and velocities of the forest at the start of a step: those of the state where they lead to its q and v bit for bit, and
    /// otherwise what q and v say.   [RED-3]
    fn read(&mut self, start: &Start, bodies: &Configuration) {
        let &Start { model, state, .. } = start;
        let forest = model.forest();
        let tree = forest.tree();
        self.free_of = None;
        self.at_once = false;
        let resumes = self.ended_in(state);
        self.place = Elsewhere::Nothing;
        if resumes {
            self.q.clone_from(&state.forest_q);
            self.before.clone_from(&state.forest_v);
            std::mem::swap(&mut self.at, &mut self.elsewhere);
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
    }

    /// Whether the forest stands and moves as the bodies do, to the last bit.
    fn leads_to(&mut self, model: &Model, q: &[f64], v: &[f64]) -> bool {
        let forest = model.forest();
        forest.write_coordinates(model, &self.at, q, &mut self.maximal);
        if !same_bits(&self.maximal, q) {
            return false;
        }
        forest.write_velocities(model, &self.at, self.at.twists(), &mut self.maximal);
        same_bits(&self.maximal, v)
    }

    /// v̇ of applied forces and drives, from the factors of M and what drives add to it, or by assembly.   [RED-1] [DRIVE-2]
    fn find_acceleration(&mut self, start: &Start, applied: &[Wrench]) -> Result<(), SingularInertia> {
        let forest = start.model.forest();
        let tree = forest.tree();
        for (wrench, (id, _)) in applied.iter().zip(start.model.iter_bodies()) {
            let Some((link, wrench)) = forest.on_link(&self.at, id, wrench) else { continue };
            if let Some(place) = self.external.get_mut(link.index()) {
                *place = wrench;
            }
        }
        let forces = (&self.tau[..], &self.external[..]);
        if let Some(divided) = &mut self.divided {
            return divided.accelerate(forest, (&self.at, &self.added), forces, &mut self.acceleration);
        }
        self.factors.update_with(tree, &self.at, &self.added)?;
        self.row.whiten(self.factors.pivots());
        forward_dynamics(tree, &self.at, &self.factors, forces, &mut self.scratch, &mut self.acceleration);
        Ok(())
    }

    /// What a drive adds to a velocity.   [DRIVE-2]
    pub(crate) fn add_pull(&mut self, velocity: usize, pull: &joint_space::Pull) {
        let places = (self.added.get_mut(velocity), self.rotors.get_mut(velocity), self.tau.get_mut(velocity));
        if let (Some(added), Some(rotor), Some(tau)) = places {
            *added += pull.inertia;
            *rotor += pull.rotor;
            *tau += pull.force;
        }
    }

    /// The factors where no time passes, and so neither springs nor dampers hold, or those of the step again.   [DRIVE-8]
    pub(crate) fn refactor(&mut self, model: &Model, at_once: bool) -> Result<(), StepCause> {
        self.at_once = at_once;
        let added = if at_once { &self.rotors } else { &self.added };
        if self.rotors != self.added {
            if let Some(divided) = &mut self.divided {
                divided.forget();
                return Ok(());
            }
            let made = self.factors.update_with(model.forest().tree(), &self.at, added);
            made.map_err(|singular| singular_inertia(model, singular))?;
            self.row.whiten(self.factors.pivots());
        }
        Ok(())
    }

    /// The rotation vector of a spherical joint whose first velocity is given.
    pub(crate) fn ball_turn(&self, forest: &Forest, first: usize) -> Vector3<f64> {
        let link = forest.tree().link_of(first).and_then(|id| forest.tree().links().get(id.index()));
        match link.and_then(|link| self.q.get(link.coordinates())) {
            Some(&[w, x, y, z]) => to_rotation_vector(&UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z))),
            _ => Vector3::zeros(),
        }
    }

    /// Whether the constraints are linearised elsewhere than at the start.
    fn looks_ahead(&self) -> bool {
        self.place == Elsewhere::LookedAhead
    }

    /// The forest where the constraints are linearised.
    pub(crate) fn linear(&self) -> &Kinematics {
        self.place.linear(&self.at, &self.elsewhere)
    }

    /// v_free = v + h v̇, and how fast the bodies are with it where the constraints are linearised.
    pub(crate) fn find_free(&mut self, model: &Model, h: f64, out: &mut Vec<f64>) {
        if self.free_of == Some(h) {
            return;
        }
        let free = self.before.iter().zip(&self.acceleration).map(|(v, a)| v + h * a);
        self.free.clear();
        self.free.extend(free);
        self.free_of = Some(h);
        let forest = model.forest();
        let linear = self.place.linear(&self.at, &self.elsewhere);
        linear.twists_of(forest.tree(), &self.free, &mut self.twists);
        self.twists_are_free = true;
        forest.write_velocities(model, linear, &self.twists, out);
    }

    /// The step goes on from v⁺, after an impact in no time.
    pub(crate) fn go_on_with_velocity(&mut self) {
        self.before.clone_from(&self.velocity);
        self.free_of = None;
    }

    /// Constraints are linearised at the start.
    pub(crate) fn look_here(&mut self) {
        if self.place != Elsewhere::Nothing {
            (self.place, self.free_of) = (Elsewhere::Nothing, None);
        }
    }

    /// v⁺ = v_free + L⁻¹ δy, and the velocities of the bodies where the constraints are linearised.   [RED-2]
    pub(crate) fn find_velocity(&mut self, model: &Model, unit: f64, change: &[f64], out: &mut Vec<f64>) {
        let pivots = self.factors.pivots();
        self.residual.clear();
        self.residual.extend(change.iter().zip(pivots).map(|(y, d)| y * (d * unit).sqrt()));
        self.respond_outward(model, out);
    }

    /// v⁺ = v_free + L⁻¹ of the residuals of inward halves, and the velocities of the bodies.   [RED-2]
    fn respond_outward(&mut self, model: &Model, out: &mut Vec<f64>) {
        if self.nothing_responds() {
            self.velocity.clone_from(&self.free);
            return self.write_bodies(model, true, out);
        }
        let tree = model.forest().tree();
        outward_response(tree, &self.at, &self.factors, &self.residual, &mut self.scratch, &mut self.velocity);
        self.add_free_velocity(model, out);
    }

    /// Whether v⁺ is v_free to the last bit: no row acts. A change of nothing leaves every number but −0 as it is.
    fn nothing_responds(&self) -> bool {
        let negative_zero = (-0.0_f64).to_bits();
        self.residual.iter().all(|u| *u == 0.0) && self.free.iter().all(|v| v.to_bits() != negative_zero)
    }

    /// Makes v⁺ of the change that `velocity` holds.
    fn add_free_velocity(&mut self, model: &Model, out: &mut Vec<f64>) {
        self.velocity.iter_mut().zip(&self.free).for_each(|(v, free)| *v += free);
        self.write_bodies(model, false, out);
    }

    /// The velocities of the bodies with v⁺, where the constraints are linearised. Where v⁺ is v_free, the twists of the links may be known.
    fn write_bodies(&mut self, model: &Model, is_free: bool, out: &mut Vec<f64>) {
        let forest = model.forest();
        let linear = self.place.linear(&self.at, &self.elsewhere);
        let are_known = is_free && self.twists_are_free && self.free_of.is_some();
        if !are_known {
            linear.twists_of(forest.tree(), &self.velocity, &mut self.twists);
            self.twists_are_free = is_free;
        }
        forest.write_velocities(model, linear, &self.twists, out);
    }

    /// Where constraints are linearised: the forest at q ⊕ h v̂, and the bodies there.   [STEP-10]
    pub(crate) fn linearise_ahead(&mut self, start: &Start, (q, v): (&mut Vec<f64>, &mut Vec<f64>)) {
        let &Start { model, state, h, .. } = start;
        let forest = model.forest();
        let tree = forest.tree();
        self.predicted.clone_from(&self.q);
        tree.integrate(&mut self.predicted, &self.linearisation_velocity, h);
        self.elsewhere.update(tree, &self.predicted, &self.linearisation_velocity);
        (self.place, self.free_of) = (Elsewhere::LookedAhead, None);
        self.divided.iter_mut().for_each(|divided| divided.forget());
        forest.write_coordinates(model, &self.elsewhere, &state.q, q);
        forest.write_velocities(model, &self.elsewhere, self.elsewhere.twists(), v);
    }

    /// The next coordinates and velocities: of the forest, and of the bodies.   [STEP-5]
    pub(crate) fn advance(&mut self, start: &Start, next: &mut State) {
        let &Start { model, state, h, .. } = start;
        let forest = model.forest();
        let tree = forest.tree();
        next.forest_q.clone_from(&self.q);
        tree.integrate(&mut next.forest_q, &self.moving, h);
        next.forest_v.clone_from(&self.velocity);
        self.elsewhere.update(tree, &next.forest_q, &next.forest_v);
        self.place = Elsewhere::End;
        forest.write_coordinates(model, &self.elsewhere, &state.q, &mut next.q);
        forest.write_velocities(model, &self.elsewhere, self.elsewhere.twists(), &mut next.v);
        let made = [&next.forest_q, &next.forest_v, &next.q, &next.v];
        self.end.iter_mut().zip(made).for_each(|(end, made)| end.clone_from(made));
    }
}

/// Reads the state of the forest where a step is made in its coordinates.   [RED-3]
pub(crate) fn read(start: &Start, ws: &mut Workspace) {
    let forest = start.model.forest();
    if start.scheme.coordinates == Coordinates::Maximal {
        ws.reduced = None;
        return;
    }
    let mut reduced = match ws.reduced.take() {
        Some(reduced) if reduced.fits(forest) => reduced,
        _ => Box::new(Reduced::new(forest)),
    };
    reduced.divided = match (start.scheme.coordinates, reduced.divided.take()) {
        (Coordinates::DivideAndConquer, Some(divided)) if divided.fits(forest) => Some(divided),
        (Coordinates::DivideAndConquer, _) => Some(Box::new(Divided::new(forest))),
        _ => None,
    };
    reduced.read(start, &ws.start);
    reduced.initial.clone_from(&reduced.before);
    reduced.tau.fill(0.0);
    reduced.added.fill(0.0);
    reduced.rotors.fill(0.0);
    ws.reduced = Some(reduced);
}

/// Finds v̇ of everything but constraints, and how fast the bodies would then be.   [RED-1]
pub(crate) fn accelerate(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    let Workspace { reduced, applied, free_bodies, .. } = ws;
    let Some(reduced) = reduced else { return Ok(()) };
    reduced.find_acceleration(start, applied).map_err(|singular| singular_inertia(start.model, singular))?;
    reduced.find_free(start.model, start.h, free_bodies);
    Ok(())
}

/// Puts a state that knows only its bodies onto the forest, where steps are made in its coordinates: joints then hold to the last bit.   [RED-3]
pub fn adopt(model: &Model, scheme: &Scheme, state: &mut State) {
    let mut ws = Workspace::default();
    ws.start.update(model, &state.q, &state.v, state.time);
    let start = Start { model, scheme, state, h: 0.0 };
    read(&start, &mut ws);
    ws.applied.resize(model.bodies().len(), Wrench::default());
    // Coordinates are wanted, whatever motors ask for.
    let _ = joint_space::prepare(&start, &mut ws);
    state.angles.clear();
    state.angles.extend(ws.driven.iter().map(|driven| driven.coordinate));
    let Some(reduced) = &mut ws.reduced else { return };
    let forest = model.forest();
    state.forest_q.clone_from(&reduced.q);
    state.forest_v.clone_from(&reduced.before);
    let before = std::mem::take(&mut state.q);
    forest.write_coordinates(model, &reduced.at, &before, &mut state.q);
    forest.write_velocities(model, &reduced.at, reduced.at.twists(), &mut state.v);
}

pub(crate) fn singular_inertia(model: &Model, singular: SingularInertia) -> StepCause {
    let tree = model.forest().tree();
    let link = tree.link_of(singular.velocity).and_then(|id| tree.links().get(id.index()));
    StepCause::NoInertia { body: link.map_or_else(String::new, |link| link.spec().name.clone()) }
}

/// The joints that are rows of the problem: all in maximal coordinates, those that close loops in reduced ones.
pub(crate) fn joints_in_problem<'m>(
    model: &'m Model,
    reduced: Option<&Reduced>,
) -> impl Iterator<Item = &'m Joint> + Clone + use<'m> {
    let (all, loops): (&[Joint], &[JointId]) = match reduced {
        None => (model.joints(), &[]),
        Some(_) => (&[], model.forest().loops()),
    };
    all.iter().chain(loops.iter().filter_map(|&id| model.joint(id)))
}
