//! The double pendulum of C-27, C-29 and C-30: body a from P1 to P2, body b from P2 on, along −z of the bodies; P1 is the only
//! point that touches the plane z = 0.

use std::f64::consts::{PI, TAU};

use nalgebra::{Matrix3, Point3, Rotation3, UnitQuaternion, Vector3};
use stiction::multibody::articulated::{Kinematics, LinkSpec, Tree, TreeBuilder, TreeJoint, energy};
use stiction::multibody::rotation::{from_body_123, to_body_123};
use stiction::schemes::{ContactStep, HybridForm, HybridOptions, HybridState, HybridStepper, PlaneContact};
use stiction::{
    BodyBuilder, ContactRule, Dimension, JointKind, Model, ModelBuilder, Pose, Preset, Simulation, spatial,
};

use crate::world::ground;
use crate::{CaseError, Reference};

/// Initial state of P1 and the bodies of a case.
struct Start {
    p1: Vector3<f64>,
    velocity: Vector3<f64>,
    /// Orientation of a, and of b relative to a.
    orientations: [UnitQuaternion<f64>; 2],
    rule: ContactRule,
}

impl Start {
    /// Reads the initial state below `parameters.PART`.
    fn read(case: &Reference, part: &str) -> Result<Self, CaseError> {
        let path = |name: &str| format!("parameters.{part}.{name}");
        let vector = |name: &str| case.vector::<3>(&path(name));
        Ok(Self {
            p1: vector("p1")?.into(),
            velocity: vector("velocity")?.into(),
            orientations: [from_body_123(vector("angles_a")?), from_body_123(vector("angles_b")?)],
            rule: ContactRule {
                friction: case.number(&path("friction"))?,
                restitution: case.number(&path("restitution"))?,
                ..ContactRule::default()
            },
        })
    }
}

fn inertia(case: &Reference) -> Result<Matrix3<f64>, CaseError> {
    Ok(Matrix3::from_diagonal(&Vector3::from(case.vector::<3>("parameters.inertia")?)))
}

/// The pendulum by the hybrid scheme, in the coordinates of its tree: P1, orientation of a, orientation of b relative to a.
pub(crate) struct Pendulum {
    stepper: HybridStepper,
    /// Time, coordinates and velocities.
    pub(crate) state: HybridState,
    at: Kinematics,
    length: f64,
}

fn tree(case: &Reference) -> Result<Tree, CaseError> {
    let (length, mass, inertia) = (case.parameter("length")?, case.parameter("mass")?, inertia(case)?);
    let centre = Vector3::new(0.0, 0.0, -0.5 * length);
    let gravity = Vector3::new(0.0, 0.0, -case.parameter("gravity")?);
    let mut builder = TreeBuilder::new(gravity).map_err(CaseError::other)?;
    let a = LinkSpec::new("a", TreeJoint::Free).with_mass(mass, centre, inertia);
    let a = builder.link(a).map_err(CaseError::other)?;
    let b = LinkSpec::new("b", TreeJoint::Spherical).with_mass(mass, centre, inertia);
    builder.link(b.on(a, Pose::translation(0.0, 0.0, -length))).map_err(CaseError::other)?;
    Ok(builder.build())
}

impl Pendulum {
    /// The pendulum of a case with the parameters below `parameters.PART` and the second-order friction cone.
    pub(crate) fn new(case: &Reference, part: &str) -> Result<Self, CaseError> {
        Self::with(case, part, HybridOptions { form: HybridForm::Cone, ..HybridOptions::default() })
    }

    /// [`Self::new`] with the contact solved in another form.
    pub(crate) fn with(case: &Reference, part: &str, options: HybridOptions) -> Result<Self, CaseError> {
        let (start, tree) = (Start::read(case, part)?, tree(case)?);
        let at = Kinematics::new(&tree);
        let contact = |link| PlaneContact {
            link,
            point: Vector3::zeros(),
            normal: Vector3::z(),
            offset: 0.0,
            friction: start.rule.friction,
            restitution: start.rule.restitution,
        };
        let contacts = tree.link_ids().take(1).map(contact).collect();
        let mut q = start.p1.as_slice().to_vec();
        q.extend(start.orientations.iter().flat_map(numbers));
        let mut v = start.velocity.as_slice().to_vec();
        v.resize(tree.velocities(), 0.0);
        let stepper = HybridStepper::new(tree, contacts, options).map_err(CaseError::other)?;
        Ok(Self { stepper, state: HybridState::new(q, v), at, length: case.parameter("length")? })
    }

    /// Number of unknowns of the contact problem of a step.
    pub(crate) fn size(&mut self, h: f64) -> Result<usize, CaseError> {
        Ok(self.stepper.step(&mut self.state, h).map_err(CaseError::other)?.size)
    }

    /// Makes one step; returns the contact of P1 in it.
    pub(crate) fn step(&mut self, h: f64) -> Result<ContactStep, CaseError> {
        let _ = self.stepper.step(&mut self.state, h).map_err(CaseError::other)?;
        self.stepper.contacts().first().copied().ok_or_else(|| CaseError::Absent("contact of P1".into()))
    }

    /// Makes steps to `end`, and reports each.
    pub(crate) fn run(
        &mut self,
        end: f64,
        h: f64,
        mut each: impl FnMut(&mut Self, &ContactStep),
    ) -> Result<(), CaseError> {
        while self.state.time < end - 0.5 * h {
            let contact = self.step(h)?;
            each(self, &contact);
        }
        Ok(())
    }

    /// Sets the orientation of a and of b relative to a, and their angular velocities.
    pub(crate) fn set(&mut self, orientations: [UnitQuaternion<f64>; 2], omega: [Vector3<f64>; 2]) {
        let q = orientations.iter().flat_map(numbers);
        self.state.q.iter_mut().skip(3).zip(q).for_each(|(old, new)| *old = new);
        let v = omega.iter().flat_map(|omega| [omega.x, omega.y, omega.z]);
        self.state.v.iter_mut().skip(3).zip(v).for_each(|(old, new)| *old = new);
    }

    /// Angular velocity of a, and of b relative to a, each in the axes of its body.
    pub(crate) fn angular_velocities(&self) -> [Vector3<f64>; 2] {
        [3, 6].map(|first| Vector3::from_iterator(self.state.v.iter().skip(first).copied().take(3)))
    }

    /// Length of a body.
    pub(crate) fn length(&self) -> f64 {
        self.length
    }

    /// Position of P1.
    pub(crate) fn p1(&self) -> Vector3<f64> {
        Vector3::from_iterator(self.state.q.iter().copied().take(3))
    }

    /// Velocity of P1.
    pub(crate) fn p1_velocity(&self) -> Vector3<f64> {
        Vector3::from_iterator(self.state.v.iter().copied().take(3))
    }

    fn poses(&mut self) -> &[Pose] {
        self.at.update(self.stepper.tree(), &self.state.q, &self.state.v);
        self.at.poses()
    }

    /// Orientation of a, and of b relative to a.
    pub(crate) fn orientations(&mut self) -> [Rotation3<f64>; 2] {
        let poses = self.poses();
        let turned = |k: usize| poses.get(k).map_or_else(Rotation3::identity, |pose| pose.rotation);
        [turned(0), turned(0).inverse() * turned(1)]
    }

    /// Centre of mass of both bodies, which have equal mass.
    pub(crate) fn centre(&mut self) -> Vector3<f64> {
        let middle = Point3::new(0.0, 0.0, -0.5 * self.length);
        let sum: Vector3<f64> = self.poses().iter().map(|pose| (pose * middle).coords).sum();
        0.5 * sum
    }

    /// Kinetic energy and m g z.
    pub(crate) fn energy(&mut self) -> f64 {
        let _ = self.poses();
        energy(self.stepper.tree(), &self.at, &self.state.v).total()
    }
}

fn numbers(e: &UnitQuaternion<f64>) -> [f64; 4] {
    [e.w, e.i, e.j, e.k]
}

/// The pendulum as two bodies and a joint.
pub(crate) fn model(case: &Reference, part: &str) -> Result<Model, CaseError> {
    let start = Start::read(case, part)?;
    let (length, mass, inertia) = (case.parameter("length")?, case.parameter("mass")?, inertia(case)?);
    let half = Vector3::new(0.0, 0.0, 0.5 * length);
    let [a, relative] = start.orientations;
    let b = a * relative;
    let p2 = start.p1 - a * half * 2.0;
    let body = |name: &str, turn: UnitQuaternion<f64>, top: Vector3<f64>| {
        let centre = top - turn * half;
        BodyBuilder::rigid(name, mass, inertia)
            .position(centre.x, centre.y, centre.z)
            .quaternion(numbers(&turn))
            .velocity(start.velocity.x, start.velocity.y, start.velocity.z)
    };
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -case.parameter("gravity")?)?;
    builder.body(BodyBuilder::fixed("plane").shape(ground(Dimension::Spatial)?))?;
    let tip = Pose::translation(0.0, 0.0, half.z);
    let first = builder.body(body("a", a, start.p1).shape_at(spatial::Shape::point().into(), tip))?;
    let second = builder.body(body("b", b, p2))?;
    builder.joint_at("P2", JointKind::Spherical, (first, second), p2, Vector3::x())?;
    builder.default_contact(start.rule)?;
    Ok(builder.build()?)
}

/// The same pendulum between its events by an integrator of high order, as a reference.
pub(crate) fn truth(case: &Reference, part: &str, step: f64) -> Result<Simulation, CaseError> {
    Ok(Simulation::new(model(case, part)?, Preset::Reference.scheme().as_published(), step)?)
}

fn pose(simulation: &Simulation, name: &str) -> Option<Pose> {
    Some(simulation.configuration().pose(simulation.model().find_body(name)?))
}

/// P1 of a simulation of [`model`].
pub(crate) fn p1_of(simulation: &Simulation, length: f64) -> Option<Vector3<f64>> {
    Some((pose(simulation, "a")? * Point3::new(0.0, 0.0, 0.5 * length)).coords)
}

/// Orientation of a and of b relative to a, of a simulation of [`model`].
pub(crate) fn orientations_of(simulation: &Simulation) -> Option<[Rotation3<f64>; 2]> {
    let (a, b) = (pose(simulation, "a")?.rotation, pose(simulation, "b")?.rotation);
    Some([a, a.inverse() * b])
}

/// Centre of mass of a simulation of [`model`].
pub(crate) fn centre_of(simulation: &Simulation) -> Option<Vector3<f64>> {
    Some((pose(simulation, "a")?.translation.vector + pose(simulation, "b")?.translation.vector) * 0.5)
}

/// Body-fixed 1-2-3 angles of a rotation, unwrapped to those nearest to `before`, as integrated angles would be.
pub(crate) fn continuous_angles(turn: &Rotation3<f64>, before: [f64; 3]) -> [f64; 3] {
    let [a, b, c] = to_body_123(&UnitQuaternion::from_rotation_matrix(turn)).angles;
    let near = |angles: [f64; 3]| {
        let mut near = angles;
        near.iter_mut().zip(before).for_each(|(angle, before)| *angle += TAU * ((before - *angle) / TAU).round());
        near
    };
    let distance = |angles: &[f64; 3]| angles.iter().zip(before).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let (plain, folded) = (near([a, b, c]), near([a + PI, PI - b, c + PI]));
    if distance(&plain) <= distance(&folded) { plain } else { folded }
}

#[cfg(test)]
mod tests {
    use super::{continuous_angles, from_body_123};

    #[test]
    fn angles_come_back_beyond_their_principal_values() {
        for angles in [[0.0, 2.0, 0.0], [3.5, -2.5, 7.0], [0.3, 0.2, -0.1]] {
            let turn = from_body_123(angles).to_rotation_matrix();
            let near = angles.map(|angle| angle + 0.1);
            for (found, angle) in continuous_angles(&turn, near).into_iter().zip(angles) {
                assert!((found - angle).abs() < 1e-12, "{found} {angle}");
            }
        }
    }
}
