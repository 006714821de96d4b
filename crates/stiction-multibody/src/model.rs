//! The immutable description of a multibody system.

use std::{ops::Range, sync::Arc};

use nalgebra::{UnitQuaternion, Vector3};
use stiction_geometry::Dimension;

use crate::{
    Body, BodyId, BodyKind, ContactRule, Coupling, Damper, Expression, ForceCallback, Forest, Joint, JointDofId,
    JointId, Load, Mobility, Motor, PairRule, ShapeId, ShapeOnBody, Spring, State, Wrench,
    configuration::quaternion_of, encounters::Encounters, joint, rotation,
};

/// Where the coordinates and velocities of a body sit in the state; empty for bodies without unknowns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Range in `State::q`.
    pub q: Range<usize>,
    /// Range in `State::v`.
    pub v: Range<usize>,
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
    pub(crate) motors: Vec<Motor>,
    pub(crate) couplings: Vec<Coupling>,
    pub(crate) loads: Vec<Load>,
    pub(crate) springs: Vec<Spring>,
    pub(crate) dampers: Vec<Damper>,
    pub(crate) callbacks: Vec<Arc<dyn ForceCallback>>,
    /// Forces held on bodies from outside, one per body; empty where nobody holds any.
    pub(crate) held: Vec<Wrench>,
    pub(crate) default_rule: ContactRule,
    /// Sorted by pair, for binary search.
    pub(crate) pair_rules: Vec<PairRule>,
    pub(crate) dof: usize,
    pub(crate) coordinates: usize,
    pub(crate) joint_rows: usize,
    pub(crate) forest: Forest,
    pub(crate) driven: Vec<JointDofId>,
    /// The motors of each of these.
    pub(crate) motors_along: Vec<Vec<usize>>,
    pub(crate) encounters: Encounters,
    /// The pairs of `pair_rules`, close together: most searches end without a rule.
    pub(crate) ruled_pairs: Vec<(BodyId, BodyId)>,
    /// [`Self::unknowns`] of each body.
    pub(crate) unknowns: Vec<Option<(Mobility, Range<usize>)>>,
    pub(crate) mean_mass: f64,
    pub(crate) has_layers: bool,
    /// [`Body::radius`] of each body.
    pub(crate) radii: Vec<f64>,
    pub(crate) widest_margin: Option<f64>,
}

impl Model {
    /// Plane or space.
    #[inline]
    pub fn dimension(&self) -> Dimension {
        self.dimension
    }

    /// Gravitational acceleration, m/s². In the plane its z component only presses bodies onto their supports.
    #[inline]
    pub fn gravity(&self) -> Vector3<f64> {
        self.gravity
    }

    /// The part of gravity that moves bodies, m/s².
    #[inline]
    pub(crate) fn moving_gravity(&self) -> Vector3<f64> {
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

    /// Places of the bodies in the state, in the order of [`Self::bodies`].
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

    /// [`Body::radius`] of a body, as it was found when the model was built.
    #[inline]
    pub fn radius(&self, id: BodyId) -> f64 {
        self.radii.get(id.index()).copied().unwrap_or(0.0)
    }

    /// Root joint and velocity range of a body with unknowns.
    #[inline]
    pub fn unknowns(&self, id: BodyId) -> Option<(Mobility, Range<usize>)> {
        self.unknowns.get(id.index()).cloned().flatten()
    }

    /// The mean mass of bodies with unknowns, kg; zero where there are none.
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
        Some((ShapeId::from_index(index), body, self.bodies.get(body.index())?.shapes.get(local as usize)?))
    }

    /// The body a shape sits on, and its place in the list of that body.
    pub fn shape_owner(&self, id: ShapeId) -> Option<(BodyId, usize)> {
        self.shape_owner.get(id.index()).map(|&(body, local)| (body, local as usize))
    }

    /// All joints.
    #[inline]
    pub fn joints(&self) -> &[Joint] {
        &self.joints
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

    /// What drives joints.
    #[inline]
    pub fn motors(&self) -> &[Motor] {
        &self.motors
    }

    /// What couples joints.
    #[inline]
    pub fn couplings(&self) -> &[Coupling] {
        &self.couplings
    }

    /// Its bodies in reduced coordinates.
    #[inline]
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// Freedoms along which something acts, in the order of joints.
    #[inline]
    pub fn actuated_dofs(&self) -> &[JointDofId] {
        &self.driven
    }

    /// The motors along a driven freedom, by its position in [`Self::actuated_dofs`].
    #[inline]
    pub fn motors_along(&self, place: usize) -> impl Iterator<Item = &Motor> {
        let motors = self.motors_along.get(place).map(Vec::as_slice).unwrap_or_default();
        motors.iter().filter_map(|&motor| self.motors.get(motor))
    }

    /// The first body without mass, if there is one: such a frame moves only in reduced coordinates.
    pub fn massless_body(&self) -> Option<&Body> {
        self.bodies.iter().find(|body| body.mass() == Some(0.0))
    }

    /// Loads.
    #[inline]
    pub fn loads(&self) -> &[Load] {
        &self.loads
    }

    /// Springs.
    pub fn springs(&self) -> &[Spring] {
        &self.springs
    }

    /// Dampers.
    pub fn dampers(&self) -> &[Damper] {
        &self.dampers
    }

    /// User force laws.
    pub fn callbacks(&self) -> &[Arc<dyn ForceCallback>] {
        &self.callbacks
    }

    /// Whether what acts on the bodies may change while nothing moves: prescribed motions, functions of time, force laws of the user.
    pub fn changes_with_time(&self) -> bool {
        let varies = |expression: &Expression| expression.as_constant().is_none();
        let load_varies = |load: &Load| load.force.iter().chain(&load.torque).any(varies);
        !self.kinematic_bodies().is_empty()
            || !self.callbacks.is_empty()
            || self.loads.iter().any(load_varies)
            || self.motors.iter().any(|motor| varies(&motor.control))
    }

    /// The contact rule of a pair of bodies.
    pub fn contact_rule(&self, a: BodyId, b: BodyId) -> &ContactRule {
        let key = (a.min(b), a.max(b));
        let found = self.ruled_pairs.binary_search(&key);
        found.ok().and_then(|index| self.pair_rules.get(index)).map_or(&self.default_rule, |pair| &pair.rule)
    }

    /// All rules: the default one, then those of single pairs.
    pub fn contact_rules(&self) -> impl Iterator<Item = &ContactRule> {
        std::iter::once(&self.default_rule).chain(self.pair_rules.iter().map(|pair| &pair.rule))
    }

    /// The widest margin that a rule asks for, m; none where no rule does.
    #[inline]
    pub fn widest_margin(&self) -> Option<f64> {
        self.widest_margin
    }

    /// Rules of single pairs, sorted by pair; joined bodies have one that lets them pass through each other.
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

    /// The state the bodies were given.
    pub fn initial_state(&self) -> State {
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

    /// Whether every orientation in `q` is a unit quaternion, to 1e-9.
    pub fn has_unit_quaternions(&self, q: &[f64]) -> bool {
        self.bodies.iter().zip(&self.layout).filter(|(body, _)| body.mobility() == Some(Mobility::Free)).all(
            |(_, slot)| {
                let q = q.get(slot.q.clone()).unwrap_or_default();
                (quaternion_of(q).norm() - 1.0).abs() <= 1e-9
            },
        )
    }

    /// q⁺ = q ⊕ h v: positions and planar angles add, quaternions turn on the group.   [STEP-5]
    pub fn integrate(&self, q: &[f64], v: &[f64], h: f64, update: OrientationUpdate, out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(q);
        for (body, slot) in self.bodies.iter().zip(&self.layout) {
            let Some(mobility) = body.mobility() else { continue };
            let (Some(x), Some(rate)) = (out.get_mut(slot.q.clone()), v.get(slot.v.clone())) else { continue };
            let translating = if mobility == Mobility::Free { 3 } else { x.len() };
            x.iter_mut().zip(rate).take(translating).for_each(|(x, rate)| *x += h * rate);
            if let (Mobility::Free, [_, _, _, wx, wy, wz]) = (mobility, rate) {
                let omega = Vector3::new(*wx, *wy, *wz);
                let e = update.turn(&quaternion_of(x), &omega, h);
                [e.w, e.i, e.j, e.k].iter().zip(x.iter_mut().skip(3)).for_each(|(e, x)| *x = *e);
            }
        }
    }
}

/// How orientations in space are advanced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrientationUpdate {
    /// On the group, by the exponential map: exact for constant angular velocity.
    #[default]
    Exponential,
    /// The plain Euler step of the papers, renormalised; for comparison.
    Euler,
}

impl OrientationUpdate {
    fn turn(self, e: &UnitQuaternion<f64>, omega: &Vector3<f64>, h: f64) -> UnitQuaternion<f64> {
        match self {
            Self::Exponential => rotation::turn(e, omega, h),
            Self::Euler => rotation::turn_euler(e, omega, h),
        }
    }
}

/// Copies as many numbers as the range has room for.
fn write(into: &mut [f64], range: &Range<usize>, from: &[f64]) {
    if let Some(place) = into.get_mut(range.clone()) {
        place.iter_mut().zip(from).for_each(|(x, y)| *x = *y);
    }
}
