//! Dynamics of a model in joint coordinates: mass matrix, bias, inverse and forward dynamics, Jacobians.
//!
//! The forest of the model is a tree without gravity and rotors, which the time stepper adds. Here both are part of the tree. Contacts, limits, friction,
//! motors, joints that close loops and passive forces are not.

use nalgebra::{DMatrix, Dyn, OMatrix, U6, Vector3};

use crate::{
    BodyId, JointKind, LinkId, Model, Wrench,
    articulated::{
        ArticulatedFactors, BranchMatrix, Kinematics, Scratch, SingularInertia, forward_dynamics, inverse_dynamics,
        mass_matrix,
    },
};

/// Dynamics of the forest of a model at one state.   [ART-5..10]
#[derive(Clone, Debug)]
pub struct TreeDynamics<'m> {
    model: &'m Model,
    at: Kinematics,
    /// Inertia of the rotor along each velocity.
    armature: Vec<f64>,
    /// Weight of each link, in world axes about its origin.
    weights: Vec<Wrench>,
}

impl<'m> TreeDynamics<'m> {
    /// Evaluates the kinematics at coordinates and velocities of the forest, which have the lengths of [`crate::Forest::tree`].
    pub fn new(model: &'m Model, q: &[f64], v: &[f64]) -> Self {
        let tree = model.forest().tree();
        let mut at = Kinematics::new(tree);
        at.update(tree, q, v);
        let gravity = model.moving_gravity();
        let weight = |wrench: &mut Wrench, mass: f64| *wrench = Wrench { linear: gravity * mass, ..Wrench::default() };
        let mut weights = vec![Wrench::default(); model.bodies().len()];
        for (wrench, body) in weights.iter_mut().zip(model.bodies()) {
            weight(wrench, body.mass().unwrap_or(0.0));
        }
        let weights = on_links(model, &at, &weights);
        Self { model, at, armature: armature(model), weights }
    }

    /// Poses and twists of all links.
    pub fn kinematics(&self) -> &Kinematics {
        &self.at
    }

    /// Mass matrix, rotor inertias included.   [ART-6]
    pub fn mass_matrix(&self) -> DMatrix<f64> {
        let tree = self.model.forest().tree();
        let (mut scratch, mut mass) = (Scratch::new(tree), BranchMatrix::zeros(tree));
        mass_matrix(tree, &self.at, &mut scratch, &mut mass);
        let n = tree.velocities();
        let mut dense = DMatrix::from_fn(n, n, |i, j| mass.get(i, j));
        for (k, armature) in self.armature.iter().enumerate() {
            if let Some(entry) = dense.get_mut((k, k)) {
                *entry += armature;
            }
        }
        dense
    }

    /// Bias force: Coriolis, centrifugal and gravity forces, τ at v̇ = 0.   [ART-5]
    pub fn bias(&self) -> Vec<f64> {
        self.inverse_dynamics(&vec![0.0; self.armature.len()])
    }

    /// Generalised force τ = M v̇ + bias of an acceleration.   [ART-5]
    pub fn inverse_dynamics(&self, acceleration: &[f64]) -> Vec<f64> {
        let tree = self.model.forest().tree();
        let mut tau = vec![0.0; tree.velocities()];
        inverse_dynamics(tree, &self.at, acceleration, &self.weights, &mut Scratch::new(tree), &mut tau);
        for ((tau, armature), acceleration) in tau.iter_mut().zip(&self.armature).zip(acceleration) {
            *tau += armature * acceleration;
        }
        tau
    }

    /// Acceleration v̇ = M⁻¹ (τ − bias) of a generalised force.   [ART-9]
    pub fn forward_dynamics(&self, force: &[f64]) -> Result<Vec<f64>, SingularInertia> {
        let tree = self.model.forest().tree();
        let mut factors = ArticulatedFactors::new(tree);
        factors.update_with(tree, &self.at, &self.armature)?;
        let mut acceleration = vec![0.0; tree.velocities()];
        let forces = (force, &self.weights[..]);
        forward_dynamics(tree, &self.at, &factors, forces, &mut Scratch::new(tree), &mut acceleration);
        Ok(acceleration)
    }

    /// Jacobian of a point of the world that moves with a body: velocity of the point (three rows), then angular velocity of the body, world axes.
    ///   [ART-10]
    ///
    /// It is zero for bodies without unknowns.
    pub fn jacobian(&self, body: BodyId, point: &Vector3<f64>) -> OMatrix<f64, U6, Dyn> {
        let forest = self.model.forest();
        let tree = forest.tree();
        let mut jacobian = OMatrix::<f64, U6, Dyn>::zeros(tree.velocities());
        let Some(link) = forest.link(body) else { return jacobian };
        for i in tree.path_to_root(link) {
            let Some(own) = tree.links().get(i) else { continue };
            let arm = point - self.at.pose(LinkId::from_index(i)).translation.vector;
            for k in own.velocities() {
                let column = self.at.column(k);
                jacobian.fixed_view_mut::<3, 1>(0, k).copy_from(&column.at(&arm));
                jacobian.fixed_view_mut::<3, 1>(3, k).copy_from(&column.angular);
            }
        }
        jacobian
    }

    /// Generalised force Jᵀ λ of wrenches on all bodies, each about the centre of mass in world axes.   [ART-10]
    pub fn generalised_force(&self, wrenches: &[Wrench]) -> Vec<f64> {
        let tree = self.model.forest().tree();
        let mut total = on_links(self.model, &self.at, wrenches);
        let mut force = vec![0.0; tree.velocities()];
        for (i, link) in tree.links().iter().enumerate().rev() {
            let Some(own) = total.get(i).copied() else { continue };
            for k in link.velocities() {
                if let Some(force) = force.get_mut(k) {
                    *force = own.power(self.at.column(k));
                }
            }
            let Some(parent) = link.parent() else { continue };
            let arm = self.at.pose(LinkId::from_index(i)).translation.vector
                - self.at.pose(LinkId::from_index(parent)).translation.vector;
            if let Some(total) = total.get_mut(parent) {
                total.add(&Wrench { angular: own.angular + arm.cross(&own.linear), ..own });
            }
        }
        force
    }
}

/// Wrenches on bodies, moved to the origins of their links.
fn on_links(model: &Model, at: &Kinematics, wrenches: &[Wrench]) -> Vec<Wrench> {
    let forest = model.forest();
    let mut moved = vec![Wrench::default(); forest.tree().links().len()];
    for ((id, _), wrench) in model.iter_bodies().zip(wrenches) {
        if let Some((link, wrench)) = forest.on_link(at, id, wrench)
            && let Some(place) = moved.get_mut(link.index())
        {
            *place = wrench;
        }
    }
    moved
}

/// Inertia of the rotor along each velocity of the forest; a spherical joint has it about all three axes.   [JSPACE-2]
fn armature(model: &Model) -> Vec<f64> {
    let forest = model.forest();
    let mut armature = vec![0.0; forest.tree().velocities()];
    for &(id, number) in model.joint_space_dofs() {
        let Some(joint) = model.joint(id) else { continue };
        let Some(own) = joint.joint_dofs().get(number).map(|dof| dof.armature) else { continue };
        let places = match (forest.velocity_of(id, number), joint.kind, forest.first_velocity(id)) {
            (Some(k), ..) => k..k + 1,
            (None, JointKind::Spherical, Some(first)) => first..first + 3,
            _ => continue,
        };
        armature.iter_mut().take(places.end).skip(places.start).for_each(|armature| *armature += own);
    }
    armature
}
