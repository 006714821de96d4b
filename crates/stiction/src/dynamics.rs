//! Dynamics in joint coordinates at the present state: what a controller needs.
//!
//! All vectors have the entries of [`Simulation::qvel`]. Contacts, limits, dry friction and joints that close loops are no part of them.

use nalgebra::{DMatrix, Dyn, OMatrix, U6, UnitQuaternion, Vector3};
use stiction_multibody::{
    BodyId, JointKind, Pose, SiteId, TreeDynamics, Twist, add_springs, external_wrenches, rotation,
};

use crate::{RestoreError, Simulation};

impl Simulation {
    /// Dynamics of the forest at the present state, for several quantities at once.
    pub fn tree_dynamics(&self) -> TreeDynamics<'_> {
        let (q, v) = self.forest_state();
        TreeDynamics::new(&self.model, &q, &v)
    }

    /// Mass matrix M, rotor inertias included.
    pub fn mass_matrix(&self) -> DMatrix<f64> {
        self.tree_dynamics().mass_matrix()
    }

    /// Bias force b: Coriolis, centrifugal and gravity forces.
    pub fn bias(&self) -> Vec<f64> {
        self.tree_dynamics().bias()
    }

    /// Generalised force τ = M q̈ + b that gives an acceleration.
    pub fn inverse_dynamics(&self, acceleration: &[f64]) -> Result<Vec<f64>, RestoreError> {
        self.check_force("qacc", acceleration)?;
        Ok(self.tree_dynamics().inverse_dynamics(acceleration))
    }

    /// Acceleration q̈ = M⁻¹ (τ − b) of a generalised force; an error names a velocity without inertia.
    pub fn forward_dynamics(&self, effort: &[f64]) -> Result<Vec<f64>, RestoreError> {
        self.check_force("effort", effort)?;
        self.tree_dynamics().forward_dynamics(effort).map_err(|singular| {
            let name = self.qvel_names().get(singular.velocity).cloned().unwrap_or_default();
            RestoreError::Joints(format!("the mass matrix is singular: \"{name}\" moves nothing that has inertia"))
        })
    }

    /// Generalised force of the motors at the present state and controls.
    pub fn actuator_force(&self) -> Vec<f64> {
        let mut force = vec![0.0; self.model.forest().tree().velocities()];
        for (id, joint) in self.model.iter_joints() {
            let effort = self.joint_effort(id).unwrap_or_default();
            for (number, effort) in (0..joint.joint_dofs().len()).zip(effort) {
                let place = self.model.forest().velocity_of(id, number);
                if let Some(force) = place.and_then(|place| force.get_mut(place)) {
                    *force += effort;
                }
            }
        }
        force
    }

    /// Generalised force of springs and dampers, in joints and between bodies, of loads and of held wrenches.
    ///
    /// Dry friction and limits of joints are no part of it, since they depend on the motion that follows.
    pub fn passive_force(&self) -> Vec<f64> {
        let (model, at) = (&*self.model, &self.configuration);
        let dynamics = self.tree_dynamics();
        let mut wrenches = Vec::new();
        external_wrenches(model, at, self.state.time, &mut wrenches);
        for (wrench, body) in wrenches.iter_mut().zip(model.bodies()) {
            wrench.linear -= model.moving_gravity() * body.mass().unwrap_or(0.0);
        }
        add_springs(model, at, &mut wrenches);
        for (id, joint) in self.model.iter_joints() {
            let is_ball = joint.kind == JointKind::Spherical && model.forest().first_velocity(id).is_some();
            let (Some(position), Some(velocity)) = (self.joint_position(id), self.joint_velocity(id)) else { continue };
            for (number, dof) in joint.joint_dofs().iter().enumerate().filter(|_| !is_ball) {
                let (Some(q), Some(v), Some(row)) =
                    (position.get(number), velocity.get(number), joint.coordinate(number, at))
                else {
                    continue;
                };
                let force = -dof.stiffness * (q - dof.rest) - dof.damping * v;
                for (body, side) in [(joint.a.0, row.a), (joint.b.0, row.b)] {
                    if let Some(wrench) = wrenches.get_mut(body.index()) {
                        wrench.add(&side.scaled(force));
                    }
                }
            }
        }
        let mut force = dynamics.generalised_force(&wrenches);
        for (id, joint) in self.model.iter_joints().filter(|(_, joint)| joint.kind == JointKind::Spherical) {
            let (Some(first), Some(dof)) = (model.forest().first_velocity(id), joint.joint_dofs().first()) else {
                continue;
            };
            let (Some(position), Some(velocity)) = (self.joint_position(id), self.joint_velocity(id)) else { continue };
            let turned = rotation_vector(&position);
            for ((force, turned), v) in force.iter_mut().skip(first).zip(turned.iter()).zip(velocity) {
                *force -= dof.stiffness * turned + dof.damping * v;
            }
        }
        force
    }

    /// Jacobian of a point of a body, given in the body frame (origin: the centre of mass): velocity of the point (three rows), then angular velocity,
    /// in world axes, per unit of each joint velocity.
    pub fn jacobian(&self, body: BodyId, point: &Vector3<f64>) -> OMatrix<f64, U6, Dyn> {
        let pose = self.configuration.pose(body);
        self.tree_dynamics().jacobian(body, &(pose.rotation * point + pose.translation.vector))
    }

    /// Jacobian of the origin of a site, as [`Self::jacobian`].
    pub fn site_jacobian(&self, id: SiteId) -> Option<OMatrix<f64, U6, Dyn>> {
        let site = self.model.site(id)?;
        Some(self.jacobian(site.body, &site.pose.translation.vector))
    }

    /// Pose of a site in the world.
    pub fn site_pose(&self, id: SiteId) -> Option<Pose> {
        let site = self.model.site(id)?;
        Some(self.configuration.pose(site.body) * site.pose)
    }

    /// Velocity of the origin of a site and its angular velocity, world axes.
    pub fn site_twist(&self, id: SiteId) -> Option<Twist> {
        let (site, at) = (self.model.site(id)?, &self.configuration);
        Some(site.twist(&at.pose(site.body), &at.twist(site.body)))
    }

    fn check_force(&self, what: &str, values: &[f64]) -> Result<(), RestoreError> {
        let needed = self.model.forest().tree().velocities();
        if values.len() != needed {
            return Err(RestoreError::Joints(format!("{what} has {} numbers, but {needed} are needed", values.len())));
        }
        match values.iter().position(|x| !x.is_finite()) {
            Some(place) => Err(RestoreError::Joints(format!("{what}[{place}] is not a finite number"))),
            None => Ok(()),
        }
    }
}

/// Rotation vector of a quaternion, w first.
fn rotation_vector(position: &[f64]) -> Vector3<f64> {
    match position {
        &[w, x, y, z] => {
            rotation::to_rotation_vector(&UnitQuaternion::new_normalize(nalgebra::Quaternion::new(w, x, y, z)))
        }
        _ => Vector3::zeros(),
    }
}
