//! The immutable description of a multibody system.

mod collisions;
mod integrate;
mod layers;
mod place;
mod sites;
mod supports;
mod unions;

use std::{ops::Range, sync::Arc};

use nalgebra::Vector3;
use stiction_geometry::Dimension;

use crate::{
    Body, BodyId, BodyKind, ContactRule, Coupling, Damper, Expression, ForceCallback, Forest, Joint, JointDofId,
    JointId, Load, Mobility, Motor, PairRule, ShapeId, ShapeOnBody, Site, Spring, State, Wrench, joint,
    rotation::quaternion_of,
};

pub(crate) use collisions::CollisionMasks;
pub use collisions::may_collide;
pub use integrate::OrientationUpdate;
pub(crate) use unions::Unions;

/// Ranges of the coordinates and velocities of a body in the state; empty for bodies without unknowns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Range in `State::q`.
    pub q: Range<usize>,
    /// Range in `State::v`.
    pub v: Range<usize>,
}

/// Motors and couplings, and the joint DOFs with a law of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Actuation {
    pub(crate) motors: Vec<Motor>,
    pub(crate) couplings: Vec<Coupling>,
    pub(crate) joint_space_dofs: Vec<JointDofId>,
    /// Positions of the motors of each actuated joint DOF.
    pub(crate) motors_along: Vec<Vec<usize>>,
}

/// Forces on bodies, except gravity.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forces {
    pub(crate) loads: Vec<Load>,
    pub(crate) springs: Vec<Spring>,
    pub(crate) dampers: Vec<Damper>,
    pub(crate) callbacks: Vec<Arc<dyn ForceCallback>>,
    /// Wrenches set by a controller, one per body; empty without any.
    pub(crate) held: Vec<Wrench>,
}

/// Bodies, joints, forces and contact rules. Made by [`crate::ModelBuilder`]; a model that exists is legal.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) dimension: Dimension,
    pub(crate) gravity: Vector3<f64>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) layout: Vec<Slot>,
    pub(crate) kinematic: Vec<BodyId>,
    pub(crate) shape_owner: Vec<(BodyId, u32)>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) sites: Vec<Site>,
    pub(crate) actuation: Actuation,
    pub(crate) forces: Forces,
    pub(crate) default_rule: ContactRule,
    /// Sorted by pair, for binary search.
    pub(crate) pair_rules: Vec<PairRule>,
    pub(crate) dof: usize,
    pub(crate) coordinates: usize,
    pub(crate) joint_rows: usize,
    pub(crate) forest: Forest,
    pub(crate) collision_masks: CollisionMasks,
    /// Pairs of `pair_rules` in contiguous memory, for the binary search; most pairs have no rule.
    pub(crate) ruled_pairs: Vec<(BodyId, BodyId)>,
    /// [`Self::unknowns`] of each body.
    pub(crate) unknowns: Vec<Option<(Mobility, Range<usize>)>>,
    pub(crate) mean_mass: f64,
    pub(crate) has_layers: bool,
    /// [`Body::radius`] of each body.
    pub(crate) radii: Vec<f64>,
    pub(crate) widest_margin: Option<f64>,
    pub(crate) unions: Arc<Unions>,
}

impl Model {
    /// Plane or space.
    #[inline]
    pub fn dimension(&self) -> Dimension {
        self.dimension
    }

    /// Gravitational acceleration, m/s². In a planar model its z component acts only as the normal load of supports.
    #[inline]
    pub fn gravity(&self) -> Vector3<f64> {
        self.gravity
    }

    /// Part of gravity that accelerates bodies, m/s²: without the z component in a planar model.
    #[inline]
    pub fn moving_gravity(&self) -> Vector3<f64> {
        match self.dimension {
            Dimension::Planar => Vector3::new(self.gravity.x, self.gravity.y, 0.0),
            Dimension::Spatial => self.gravity,
        }
    }

    /// All bodies; the first is the world.
    #[inline]
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Bodies whose pose is a function of time.
    #[inline]
    pub fn kinematic_bodies(&self) -> &[BodyId] {
        &self.kinematic
    }

    /// Ranges of the bodies in the state, in the order of [`Self::bodies`].
    #[inline]
    pub fn layout(&self) -> &[Slot] {
        &self.layout
    }

    /// All bodies with their ids.
    #[inline]
    pub fn iter_bodies(&self) -> impl Iterator<Item = (BodyId, &Body)> {
        self.bodies.iter().enumerate().map(|(index, body)| (BodyId::from_index(index), body))
    }

    /// The body with this id, unless it belongs to another model.
    #[inline]
    pub fn body(&self, id: BodyId) -> Option<&Body> {
        self.bodies.get(id.index())
    }

    /// [`Body::radius`] of a body, computed when the model was built.
    #[inline]
    pub fn radius(&self, id: BodyId) -> f64 {
        debug_assert!(id.index() < self.radii.len(), "body {} is not in this model", id.index());
        self.radii.get(id.index()).copied().unwrap_or(0.0)
    }

    /// Root joint and velocity range of a body with unknowns.
    #[inline]
    pub fn unknowns(&self, id: BodyId) -> Option<(Mobility, Range<usize>)> {
        self.unknowns.get(id.index()).cloned().flatten()
    }

    /// Mean mass of the bodies with unknowns, kg; zero without such bodies.
    pub fn mean_mass(&self) -> f64 {
        self.mean_mass
    }

    /// The body called `name`.
    pub fn find_body(&self, name: &str) -> Option<BodyId> {
        self.bodies.iter().position(|b| b.name == name).map(BodyId::from_index)
    }

    /// All collision shapes: id, the body it sits on, and the shape.
    #[inline]
    pub fn shapes(&self) -> impl Iterator<Item = (ShapeId, BodyId, &ShapeOnBody)> {
        (0..self.shape_owner.len()).filter_map(|index| self.shape(index))
    }

    /// Number of collision shapes.
    #[inline]
    pub fn shape_count(&self) -> usize {
        self.shape_owner.len()
    }

    /// The shape at a position of [`Self::shapes`], with its id and the body it sits on.
    #[inline]
    pub fn shape(&self, index: usize) -> Option<(ShapeId, BodyId, &ShapeOnBody)> {
        let &(body, local) = self.shape_owner.get(index)?;
        let shape = self.bodies.get(body.index()).and_then(|body| body.shapes.get(local as usize));
        debug_assert!(shape.is_some(), "the owner of shape {index} does not carry it");
        Some((ShapeId::from_index(index), body, shape?))
    }

    /// Body of a shape, and the position of the shape in the list of that body.
    pub fn shape_owner(&self, id: ShapeId) -> Option<(BodyId, usize)> {
        self.shape_owner.get(id.index()).map(|&(body, local)| (body, local as usize))
    }

    /// All joints.
    #[inline]
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// All joints with their ids.
    pub fn iter_joints(&self) -> impl Iterator<Item = (JointId, &Joint)> {
        self.joints.iter().enumerate().map(|(index, joint)| (JointId::from_index(index), joint))
    }

    /// The joint with this id.
    #[inline]
    pub fn joint(&self, id: JointId) -> Option<&Joint> {
        joint::by_id(&self.joints, id)
    }

    /// The joint called `name`.
    pub fn find_joint(&self, name: &str) -> Option<JointId> {
        self.joints.iter().position(|j| j.name == name).map(JointId::from_index)
    }

    /// All motors.
    #[inline]
    pub fn motors(&self) -> &[Motor] {
        &self.actuation.motors
    }

    /// All couplings of joints.
    #[inline]
    pub fn couplings(&self) -> &[Coupling] {
        &self.actuation.couplings
    }

    /// Bodies of the model in reduced coordinates.
    #[inline]
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// Actuated joint DOFs, in the order of joints: those with limits, friction, damping, a spring, armature, a motor or a coupling.
    #[inline]
    pub fn joint_space_dofs(&self) -> &[JointDofId] {
        &self.actuation.joint_space_dofs
    }

    /// Motors of an actuated joint DOF, by its position in [`Self::joint_space_dofs`].
    #[inline]
    pub fn motors_along(&self, place: usize) -> impl Iterator<Item = &Motor> {
        debug_assert!(place < self.actuation.motors_along.len(), "there is no actuated joint DOF {place}");
        let motors = self.actuation.motors_along.get(place).map(Vec::as_slice).unwrap_or_default();
        debug_assert!(
            motors.iter().all(|&motor| motor < self.actuation.motors.len()),
            "a motor of joint DOF {place} is missing"
        );
        motors.iter().filter_map(|&motor| self.actuation.motors.get(motor))
    }

    /// First body without mass, if there is one: such a frame needs reduced coordinates.
    pub fn massless_body(&self) -> Option<&Body> {
        self.bodies.iter().find(|body| body.mass() == Some(0.0))
    }

    /// Loads.
    #[inline]
    pub fn loads(&self) -> &[Load] {
        &self.forces.loads
    }

    /// Springs.
    pub fn springs(&self) -> &[Spring] {
        &self.forces.springs
    }

    /// Dampers.
    pub fn dampers(&self) -> &[Damper] {
        &self.forces.dampers
    }

    /// User force laws.
    pub fn callbacks(&self) -> &[Arc<dyn ForceCallback>] {
        &self.forces.callbacks
    }

    /// True if the forces on the bodies depend on time: by prescribed motions, functions of time or force laws of the user.
    pub fn changes_with_time(&self) -> bool {
        let varies = |expression: &Expression| expression.as_constant().is_none();
        let load_varies = |load: &Load| load.force.iter().chain(&load.torque).any(varies);
        !self.kinematic_bodies().is_empty()
            || !self.forces.callbacks.is_empty()
            || self.forces.loads.iter().any(load_varies)
            || self.actuation.motors.iter().any(|motor| varies(&motor.control))
    }

    /// The contact rule of a pair of bodies.
    pub fn contact_rule(&self, a: BodyId, b: BodyId) -> &ContactRule {
        let key = (a.min(b), a.max(b));
        debug_assert_eq!(
            self.ruled_pairs.len(),
            self.pair_rules.len(),
            "every rule of a pair is in the index of pairs"
        );
        let found = self.ruled_pairs.binary_search(&key);
        found.ok().and_then(|index| self.pair_rules.get(index)).map_or(&self.default_rule, |pair| &pair.rule)
    }

    /// All rules: the default rule, then the rules of single pairs.
    pub fn contact_rules(&self) -> impl Iterator<Item = &ContactRule> {
        std::iter::once(&self.default_rule).chain(self.pair_rules.iter().map(|pair| &pair.rule))
    }

    /// Largest margin of all rules, m; none if no rule has one.
    #[inline]
    pub fn widest_margin(&self) -> Option<f64> {
        self.widest_margin
    }

    /// Rules of single pairs, sorted by pair. Bodies that share a joint have a rule without collision, unless another one was given.
    pub fn pair_rules(&self) -> &[PairRule] {
        &self.pair_rules
    }

    /// Rule for pairs without one of their own.
    pub fn default_contact_rule(&self) -> &ContactRule {
        &self.default_rule
    }

    /// Number of velocity unknowns n_ν.
    #[inline]
    pub fn dof(&self) -> usize {
        self.dof
    }

    /// Number of configuration coordinates n_q.
    #[inline]
    pub fn coordinates(&self) -> usize {
        self.coordinates
    }

    /// Number of joint rows n_b.
    #[inline]
    pub fn joint_rows(&self) -> usize {
        self.joint_rows
    }

    /// Initial state of the bodies.
    pub fn initial_state(&self) -> State {
        self.debug_assert_layout();
        let mut state = State {
            q: vec![0.0; self.coordinates],
            v: vec![0.0; self.dof],
            joint_impulses: vec![0.0; self.joint_rows],
            support_impulses: vec![0.0; 3 * self.support_point_count()],
            ..State::default()
        };
        for (body, slot) in self.bodies.iter().zip(&self.layout) {
            let BodyKind::Dynamic { mobility, .. } = body.kind else { continue };
            let (p, e) = (&body.position, &body.orientation);
            let (v, w) = (&body.linear_velocity, &body.angular_velocity);
            let q = [p.x, p.y, p.z, e.w, e.i, e.j, e.k];
            match mobility {
                Mobility::PlanarParticle | Mobility::Particle | Mobility::Free => write(&mut state.q, &slot.q, &q),
                Mobility::Planar => write(&mut state.q, &slot.q, &[p.x, p.y, body.angle]),
            }
            match mobility {
                Mobility::Planar => write(&mut state.v, &slot.v, &[v.x, v.y, w.z]),
                _ => write(&mut state.v, &slot.v, &[v.x, v.y, v.z, w.x, w.y, w.z]),
            }
        }
        state
    }

    /// True if every orientation in `q` is a unit quaternion, to 1e-9.
    pub fn has_unit_quaternions(&self, q: &[f64]) -> bool {
        debug_assert_eq!(q.len(), self.coordinates, "q has the length of the model's coordinates");
        self.bodies.iter().zip(&self.layout).filter(|(body, _)| body.mobility() == Some(Mobility::Free)).all(
            |(_, slot)| {
                let q = q.get(slot.q.clone()).unwrap_or_default();
                (quaternion_of(q).norm() - 1.0).abs() <= 1e-9
            },
        )
    }

    /// Checks in debug builds that the slots of the bodies cover the coordinates and velocities without gaps.
    pub(crate) fn debug_assert_layout(&self) {
        debug_assert_eq!(self.layout.len(), self.bodies.len(), "one slot per body");
        debug_assert_eq!(self.unknowns.len(), self.bodies.len(), "one entry of unknowns per body");
        let end = self.layout.iter().fold((0, 0), |(q, v), slot| {
            debug_assert!(slot.q.is_empty() || slot.q.start == q, "the coordinates of bodies are contiguous");
            debug_assert!(slot.v.is_empty() || slot.v.start == v, "the velocities of bodies are contiguous");
            (q + slot.q.len(), v + slot.v.len())
        });
        debug_assert_eq!(end, (self.coordinates, self.dof), "the slots add up to the size of the model");
    }
}

/// Copies as many numbers as the range holds.
fn write(into: &mut [f64], range: &Range<usize>, from: &[f64]) {
    debug_assert!(range.end <= into.len(), "the slot {range:?} is outside of a list of {}", into.len());
    debug_assert!(range.len() <= from.len(), "the slot {range:?} needs more than {} numbers", from.len());
    if let Some(place) = into.get_mut(range.clone()) {
        place.iter_mut().zip(from).for_each(|(x, y)| *x = *y);
    }
}
