//! Construction of a model. Every number is checked here, once.

mod forest;
mod joints;
mod layers;
mod sites;
mod starts;
mod supports;

use std::{collections::BTreeSet, sync::Arc};

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use stiction_geometry::{Dimension, Pose, ensure_supported};

use crate::{
    Body, BodyBuilder, BodyId, BodyKind, ContactRule, Damper, Element, ForceCallback, Forest, JointDofId, Load,
    Mobility, Model, ModelError, MotionSample, PairRule, ShapeId, Slot, Spring,
    body::RequestedKind,
    check::Check,
    check::{limits, plain},
    may_collide,
    model::{Actuation, CollisionMasks, Forces, Unions},
    rotation,
};

/// Collects bodies, joints, forces and rules; [`Self::build`] makes the [`Model`].
#[derive(Debug)]
pub struct ModelBuilder {
    pub(crate) model: Model,
    /// Coordinates of joint DOFs at the start.
    pub(crate) starts: Vec<(JointDofId, f64)>,
}

impl ModelBuilder {
    /// An empty model: the world, no gravity.
    pub fn new(dimension: Dimension) -> Self {
        let world = BodyBuilder::fixed("world").body;
        let model = Model {
            dimension,
            gravity: Vector3::zeros(),
            bodies: vec![world],
            layout: vec![Slot::default()],
            kinematic: Vec::new(),
            shape_owner: Vec::new(),
            joints: Vec::new(),
            sites: Vec::new(),
            actuation: Actuation::default(),
            forces: Forces::default(),
            default_rule: ContactRule::default(),
            pair_rules: Vec::new(),
            dof: 0,
            coordinates: 0,
            joint_rows: 0,
            forest: Forest::default(),
            collision_masks: CollisionMasks::default(),
            ruled_pairs: Vec::new(),
            unknowns: vec![None],
            mean_mass: 0.0,
            has_layers: false,
            radii: Vec::new(),
            widest_margin: None,
            unions: Arc::default(),
        };
        Self { model, starts: Vec::new() }
    }

    /// Sets the gravitational acceleration, m/s². In a planar model its z component gives the normal load of supports.
    pub fn gravity(&mut self, x: f64, y: f64, z: f64) -> Result<&mut Self, ModelError> {
        let check = Check::new(Element::Model);
        self.model.gravity = check.vector("gravity", Vector3::new(x, y, z), limits::LOAD)?;
        Ok(self)
    }

    /// Adds a body.
    pub fn body(&mut self, builder: BodyBuilder) -> Result<BodyId, ModelError> {
        let BodyBuilder { mut body, requested, quaternion } = builder;
        let check = Check::new(Element::Body(body.name.clone()));
        if body.name.is_empty() || self.model.find_body(&body.name).is_some() {
            return Err(check.error("name", "must be unique and not empty (\"world\" is taken by the fixed frame)"));
        }
        check.vector("position", body.position, limits::LENGTH)?;
        check.vector("velocity", body.linear_velocity, limits::SPEED)?;
        check.vector("angular_velocity", body.angular_velocity, limits::SPEED)?;
        check.bounded("angle", body.angle, limits::LENGTH)?;
        self.in_plane(&check, "position", &body.position)?;
        self.in_plane(&check, "velocity", &body.linear_velocity)?;
        self.about_z(&check, &body.angular_velocity)?;
        body.orientation = self.initial_orientation(&check, quaternion, body.angle)?;
        body.kind = self.kind(&check, &body, requested)?;
        for (index, shape) in body.shapes.iter().enumerate() {
            let check = Check::new(Element::Shape(body.name.clone(), index));
            if shape.shape.dimension() != self.model.dimension {
                return Err(check.error("shape", "is of the other dimension than the model"));
            }
            if body.mobility().is_some() && shape.shape.radius_bound().is_none() {
                return Err(check.error("shape", "is unbounded: only fixed and kinematic bodies can carry it"));
            }
            check.frame(("position", "orientation"), &shape.local, self.model.dimension)?;
        }
        if let Some(belt) = &body.surface_velocity {
            check.constants("surface_velocity", belt, limits::SPEED)?;
        }
        body.layer = body.layer.map(|layer| layer.checked(&check)).transpose()?;
        Ok(self.insert_body(body))
    }

    fn insert_body(&mut self, body: Body) -> BodyId {
        let model = &mut self.model;
        debug_assert_eq!(model.layout.len(), model.bodies.len(), "one slot per body");
        debug_assert_eq!(model.unknowns.len(), model.bodies.len(), "one entry of unknowns per body");
        let id = BodyId::from_index(model.bodies.len());
        let (n_q, n_v) = body.mobility().map_or((0, 0), |m| (m.coordinates(), m.dof()));
        let (q, v) = (model.coordinates, model.dof);
        model.layout.push(Slot { q: q..q + n_q, v: v..v + n_v });
        model.unknowns.push(body.mobility().map(|mobility| (mobility, v..v + n_v)));
        model.coordinates += n_q;
        model.dof += n_v;
        if matches!(body.kind, BodyKind::Kinematic(_)) {
            model.kinematic.push(id);
        }
        model.shape_owner.extend((0..body.shapes.len()).map(|index| (id, index as u32)));
        model.bodies.push(body);
        id
    }

    fn initial_orientation(
        &self,
        check: &Check,
        quaternion: Option<[f64; 4]>,
        angle: f64,
    ) -> Result<UnitQuaternion<f64>, ModelError> {
        let planar = self.model.dimension == Dimension::Planar;
        if !planar && angle != 0.0 {
            return Err(check.error("angle", "is for the plane; give an orientation"));
        }
        let Some(wxyz) = quaternion else {
            return Ok(rotation::from_rotation_vector(&(Vector3::z() * angle)));
        };
        if planar {
            return Err(check.error("orientation", "does not exist in the plane; give an angle"));
        }
        wxyz.iter().try_for_each(|&x| check.bounded("orientation", x, 1.0 + limits::QUATERNION_SLACK).map(drop))?;
        let [w, x, y, z] = wxyz;
        let q = Quaternion::new(w, x, y, z);
        let norm = q.norm();
        if (norm - 1.0).abs() > limits::QUATERNION_SLACK {
            return Err(
                check.error("orientation", format!("must be a unit quaternion, but its norm is {}", plain(norm)))
            );
        }
        Ok(UnitQuaternion::new_normalize(q))
    }

    fn kind(&self, check: &Check, body: &Body, requested: RequestedKind) -> Result<BodyKind, ModelError> {
        let planar = self.model.dimension == Dimension::Planar;
        let moves = body.linear_velocity != Vector3::zeros() || body.angular_velocity != Vector3::zeros();
        match requested {
            RequestedKind::Fixed | RequestedKind::Kinematic(_) if moves => {
                Err(check.error("velocity", "of a fixed or kinematic body is not an initial value"))
            }
            RequestedKind::Fixed => Ok(BodyKind::Fixed),
            RequestedKind::Kinematic(motion) => {
                let start = motion.at(0.0);
                self.check_motion_start(check, &start)?;
                if body.position != Vector3::zeros() && body.position != start.position {
                    return Err(check.error("position", "of a kinematic body is that of its motion"));
                }
                Ok(BodyKind::Kinematic(motion))
            }
            RequestedKind::Particle { mass } => {
                check.within("mass", mass, limits::MASS)?;
                let turned = [
                    ("angle", body.angle != 0.0),
                    ("orientation", body.orientation.imag() != Vector3::zeros()),
                    ("angular_velocity", body.angular_velocity != Vector3::zeros()),
                ];
                if let Some((field, _)) = turned.into_iter().find(|&(_, given)| given) {
                    return Err(check.error(field, "does not exist: a particle cannot turn"));
                }
                let mobility = if planar { Mobility::PlanarParticle } else { Mobility::Particle };
                Ok(BodyKind::Dynamic { mobility, mass, inertia: Matrix3::zeros() })
            }
            RequestedKind::Frame => {
                let mobility = if planar { Mobility::Planar } else { Mobility::Free };
                Ok(BodyKind::Dynamic { mobility, mass: 0.0, inertia: Matrix3::zeros() })
            }
            RequestedKind::Rigid { mass, inertia } => {
                check.within("mass", mass, limits::MASS)?;
                if planar {
                    check.within("inertia", inertia.m33, limits::INERTIA)?;
                    return Ok(BodyKind::Dynamic { mobility: Mobility::Planar, mass, inertia });
                }
                Ok(BodyKind::Dynamic { mobility: Mobility::Free, mass, inertia: check.inertia(&inertia)? })
            }
        }
    }

    /// Checks a prescribed motion at time zero. A function of time cannot be checked at all times.
    pub(crate) fn check_motion_start(&self, check: &Check, start: &MotionSample) -> Result<(), ModelError> {
        check.frame(("motion", "motion"), &start.pose(), self.model.dimension)?;
        check.bounded("motion", start.angle, limits::LENGTH)?;
        check.vector("motion", start.twist.linear, limits::SPEED)?;
        check.vector("motion", start.twist.angular, limits::SPEED)?;
        self.in_plane(check, "motion", &start.twist.linear)
    }

    /// Adds a load.
    pub fn load(&mut self, load: Load) -> Result<&mut Self, ModelError> {
        let check = Check::new(Element::Load(self.model.forces.loads.len()));
        self.known_body(&check, load.body)?;
        check.vector("point", load.point, limits::LENGTH)?;
        self.in_plane(&check, "point", &load.point)?;
        match self.model.unknowns(load.body) {
            None => return Err(check.error("body", "must be dynamic: a load does nothing to others")),
            Some((mobility, _))
                if !mobility.turns() && load.torque.iter().any(|part| part.as_constant() != Some(0.0)) =>
            {
                return Err(check.error("torque", "does nothing to a particle"));
            }
            Some(_) => {}
        }
        check.constants("force", &load.force, limits::LOAD)?;
        check.constants("torque", &load.torque, limits::LOAD)?;
        let ([_, _, up], [x, y, _]) = (&load.force, &load.torque);
        let out_of_plane = [("force", up), ("torque", x), ("torque", y)];
        if self.model.dimension == Dimension::Planar
            && let Some((field, _)) = out_of_plane.into_iter().find(|(_, part)| part.as_constant() != Some(0.0))
        {
            return Err(check.error(field, "has a component out of the plane, which a planar model does not have"));
        }
        self.model.forces.loads.push(load);
        Ok(self)
    }

    /// Adds a spring.
    pub fn spring(&mut self, spring: Spring) -> Result<&mut Self, ModelError> {
        let check = Check::new(Element::Spring(self.model.forces.springs.len()));
        self.attachment(&check, &spring.a, &spring.b)?;
        check.non_negative("stiffness", spring.stiffness, limits::LOAD)?;
        check.non_negative("rest_length", spring.rest_length, limits::LENGTH)?;
        check.non_negative("damping", spring.damping, limits::LOAD)?;
        self.model.forces.springs.push(spring);
        Ok(self)
    }

    /// Adds a damper.
    pub fn damper(&mut self, damper: Damper) -> Result<&mut Self, ModelError> {
        let check = Check::new(Element::Damper(self.model.forces.dampers.len()));
        self.attachment(&check, &damper.a, &damper.b)?;
        check.non_negative("damping", damper.damping, limits::LOAD)?;
        self.model.forces.dampers.push(damper);
        Ok(self)
    }

    /// Adds a force law of the user.
    pub fn callback(&mut self, callback: Arc<dyn ForceCallback>) -> &mut Self {
        self.model.forces.callbacks.push(callback);
        self
    }

    /// Sets the rule for all pairs without a rule of their own.
    pub fn default_contact(&mut self, rule: ContactRule) -> Result<&mut Self, ModelError> {
        self.model.default_rule = rule.checked(&Check::new(Element::Contact(None)))?;
        Ok(self)
    }

    /// Sets the rule for one pair of bodies.
    pub fn contact(&mut self, a: BodyId, b: BodyId, rule: ContactRule) -> Result<&mut Self, ModelError> {
        let check = Check::new(Element::Contact(Some(self.model.pair_rules.len())));
        self.known_body(&check, a)?;
        self.known_body(&check, b)?;
        if a == b {
            return Err(check.error("between", "needs two different bodies"));
        }
        let bodies = (a.min(b), a.max(b));
        if self.model.pair_rules.iter().any(|pair| pair.bodies == bodies) {
            return Err(check.error("between", "this pair already has a rule"));
        }
        let rule = rule.checked(&check)?;
        self.model.pair_rules.push(PairRule { bodies, rule });
        Ok(self)
    }

    /// Checks the conditions that involve the whole model, and finishes it.
    pub fn build(mut self) -> Result<Model, ModelError> {
        self.ensure_comparable_masses()?;
        self.compute_support_loads()?;
        let has_layers = self.model.layers().next().is_some();
        self.model.has_layers = has_layers;
        self.ensure_no_restitution_on_layers()?;
        // Bodies with a common joint, or with one supporting the other, overlap by design. Without a rule they do not collide.
        let ruled: BTreeSet<_> = self.model.pair_rules.iter().map(|pair| pair.bodies).collect();
        let joints = self.model.joints.iter().map(|joint| (joint.a.0, joint.b.0));
        let supports = self.model.supports().map(|(body, support)| (body, support.on));
        let supports = supports.filter(|(_, on)| *on != BodyId::WORLD);
        let joined: BTreeSet<_> = joints.chain(supports).map(|(a, b)| (a.min(b), a.max(b))).collect();
        for &bodies in joined.difference(&ruled) {
            let rule = ContactRule { collide: false, ..self.model.default_rule.clone() };
            self.model.pair_rules.push(PairRule { bodies, rule });
        }
        self.model.pair_rules.sort_by_key(|pair| pair.bodies);
        self.model.ruled_pairs = self.model.pair_rules.iter().map(|pair| pair.bodies).collect();
        self.ensure_pairs_supported()?;
        self.model.debug_assert_layout();
        self.model.forest = Forest::of_model(&self.model)?;
        self.model.actuation.joint_space_dofs = joints::joint_space_dofs(&self.model);
        self.model.actuation.motors_along = joints::motors_along(&self.model);
        self.move_to_starts()?;
        self.model.collision_masks = CollisionMasks::new(&self.model);
        self.model.widest_margin = self.model.contact_rules().filter_map(|rule| rule.margin).reduce(f64::max);
        self.model.unions = Arc::new(Unions::new(&self.model));
        self.model.radii = self.model.bodies.iter().map(Body::radius).collect();
        let bodies = &self.model.bodies;
        let masses = || bodies.iter().filter_map(Body::mass);
        self.model.mean_mass = masses().sum::<f64>() / masses().count().max(1) as f64;
        Ok(self.model)
    }

    /// Refuses masses that differ by more than the digits of a number.
    fn ensure_comparable_masses(&self) -> Result<(), ModelError> {
        let masses =
            || self.model.bodies.iter().filter_map(|body| Some((body, body.mass().filter(|mass| *mass > 0.0)?)));
        let lightest = masses().min_by(|(_, a), (_, b)| a.total_cmp(b));
        let heaviest = masses().max_by(|(_, a), (_, b)| a.total_cmp(b));
        let Some(((light, least), (heavy, most))) = lightest.zip(heaviest) else { return Ok(()) };
        if most <= limits::MASS_RATIO * least {
            return Ok(());
        }
        let reason = format!(
            "is {} kg, and that of body \"{}\" is {} kg: masses that differ by more than {} cannot be computed together",
            plain(least),
            heavy.name,
            plain(most),
            plain(limits::MASS_RATIO)
        );
        Err(Check::new(Element::Body(light.name.clone())).error("mass", reason))
    }

    fn ensure_pairs_supported(&self) -> Result<(), ModelError> {
        let model = &self.model;
        let shapes: Vec<_> = model.shapes().collect();
        for (index, &(a_id, a, shape_a)) in shapes.iter().enumerate() {
            for &(_, b, shape_b) in shapes.iter().skip(index + 1) {
                if !may_collide(model, a, b) || !shape_a.filter.meets(&shape_b.filter) {
                    continue;
                }
                ensure_supported(&shape_a.shape, &shape_b.shape).map_err(|unsupported| {
                    let other = model.body(b).map_or("", |body| &body.name);
                    shape_element(model, a_id).error("shape", format!("against body \"{other}\": {unsupported}"))
                })?;
            }
        }
        Ok(())
    }

    pub(crate) fn known_body(&self, check: &Check, id: BodyId) -> Result<(), ModelError> {
        self.model.body(id).map(drop).ok_or_else(|| check.error("body", "belongs to another model"))
    }

    fn attachment(
        &self,
        check: &Check,
        a: &(BodyId, Vector3<f64>),
        b: &(BodyId, Vector3<f64>),
    ) -> Result<(), ModelError> {
        for (id, point) in [a, b] {
            self.known_body(check, *id)?;
            check.vector("point", *point, limits::LENGTH)?;
            self.in_plane(check, "point", point)?;
        }
        if a.0 == b.0 {
            let reason = "needs two different bodies: forces between points of one body do nothing";
            return Err(check.error("between", reason));
        }
        Ok(())
    }

    pub(super) fn initial_pose(&self, check: &Check, id: BodyId) -> Result<Pose, ModelError> {
        let body = self.model.body(id).ok_or_else(|| check.error("body", "belongs to another model"))?;
        Ok(match &body.kind {
            BodyKind::Kinematic(motion) => motion.at(0.0).pose(),
            _ => Pose::from_parts(body.position.into(), body.orientation.to_rotation_matrix()),
        })
    }

    pub(super) fn in_plane(&self, check: &Check, field: &'static str, v: &Vector3<f64>) -> Result<(), ModelError> {
        if self.model.dimension == Dimension::Planar && v.z != 0.0 {
            return Err(check.error(field, "must have two components in a planar model"));
        }
        Ok(())
    }

    fn about_z(&self, check: &Check, w: &Vector3<f64>) -> Result<(), ModelError> {
        if self.model.dimension == Dimension::Planar && (w.x != 0.0 || w.y != 0.0) {
            return Err(check.error("angular_velocity", "must be one number in a planar model"));
        }
        Ok(())
    }
}

fn shape_element(model: &Model, id: ShapeId) -> Check {
    debug_assert!(model.shape_owner(id).is_some(), "shape {} has an owner", id.index());
    let (body, index) = model.shape_owner(id).unwrap_or((BodyId::WORLD, 0));
    let name = model.body(body).map_or_else(String::new, |b| b.name.clone());
    Check::new(Element::Shape(name, index))
}
