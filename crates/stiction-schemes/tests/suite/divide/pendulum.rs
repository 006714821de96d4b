//! The double pendulum of the published examples: body a from P1 to P2, body b from P2 on, along −z of the bodies.

use nalgebra::{Matrix3, Point3, Rotation3, UnitQuaternion, Vector3};
use stiction_multibody::{
    LinkId, Pose,
    articulated::{Kinematics, LinkSpec, Tree, TreeBuilder, TreeJoint, energy},
    rotation::from_body_123,
};
use stiction_schemes::{HybridForm, HybridOptions, HybridState, HybridStepper, PlaneContact};
use stiction_testkit::Reference;

pub(crate) struct Pendulum {
    pub(crate) stepper: HybridStepper,
    pub(crate) state: HybridState,
    at: Kinematics,
}

fn angles(case: &Reference, path: &str) -> UnitQuaternion<f64> {
    let angles = case.numbers(path);
    from_body_123([angles[0], angles[1], angles[2]])
}

/// The tree with P1 on the joint `joint`.
pub(crate) fn tree(case: &Reference, joint: TreeJoint, place: Pose) -> Tree {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let moments = case.numbers("parameters.inertia");
    let inertia = Matrix3::from_diagonal(&Vector3::new(moments[0], moments[1], moments[2]));
    let (length, mass) = (number("length"), number("mass"));
    let center = Vector3::new(0.0, 0.0, -0.5 * length);
    let mut builder = TreeBuilder::new(Vector3::new(0.0, 0.0, -number("gravity"))).unwrap();
    let mut a = LinkSpec::new("a", joint).with_mass(mass, center, inertia);
    a.placement = place;
    let a = builder.link(a).unwrap();
    let b = LinkSpec::new("b", TreeJoint::Spherical).with_mass(mass, center, inertia);
    builder.link(b.on(a, Pose::translation(0.0, 0.0, -length))).unwrap();
    builder.build()
}

impl Pendulum {
    /// The pendulum of a case, with the parameters below `parameters.part`.
    pub(crate) fn new(case: &Reference, part: &str, options: HybridOptions) -> Self {
        let tree = tree(case, TreeJoint::Free, Pose::identity());
        let path = |name: &str| format!("parameters.{part}.{name}");
        let contact = PlaneContact {
            link: tree.link_ids().next().unwrap(),
            point: Vector3::zeros(),
            normal: Vector3::z(),
            offset: 0.0,
            friction: case.number(&path("friction")),
            restitution: case.number(&path("restitution")),
        };
        let [e_a, e_b] = ["angles_a", "angles_b"].map(|name| angles(case, &path(name)));
        let mut q = case.numbers(&path("p1"));
        q.extend([e_a.w, e_a.i, e_a.j, e_a.k, e_b.w, e_b.i, e_b.j, e_b.k]);
        let mut v = case.numbers(&path("velocity"));
        v.resize(tree.velocities(), 0.0);
        let at = Kinematics::new(&tree);
        let stepper = HybridStepper::new(tree, vec![contact], options).unwrap();
        Self { stepper, state: HybridState::new(q, v), at }
    }

    /// With the second-order cone.
    pub(crate) fn exact(case: &Reference, part: &str) -> Self {
        Self::new(case, part, HybridOptions { form: HybridForm::Cone, ..HybridOptions::default() })
    }

    pub(crate) fn step(&mut self, h: f64) {
        let _ = self.stepper.step(&mut self.state, h).unwrap();
    }

    pub(crate) fn run_to(&mut self, end: f64, h: f64) {
        while self.state.time < end - 0.5 * h {
            self.step(h);
        }
    }

    fn update(&mut self) -> [Pose; 2] {
        self.at.update(self.stepper.tree(), &self.state.q, &self.state.v);
        let ids: Vec<LinkId> = self.stepper.tree().link_ids().collect();
        [*self.at.pose(ids[0]), *self.at.pose(ids[1])]
    }

    pub(crate) fn p1(&self) -> Vector3<f64> {
        Vector3::new(self.state.q[0], self.state.q[1], self.state.q[2])
    }

    pub(crate) fn rotations(&mut self) -> [Rotation3<f64>; 2] {
        self.update().map(|pose| pose.rotation)
    }

    /// Centre of mass of both bodies, which have equal masses.
    pub(crate) fn centre(&mut self) -> Vector3<f64> {
        let length = -self.stepper.tree().links()[1].spec().placement.translation.vector.z;
        let centers = self.update().map(|pose| (pose * Point3::new(0.0, 0.0, -0.5 * length)).coords);
        (centers[0] + centers[1]) / 2.0
    }

    pub(crate) fn energy(&mut self) -> f64 {
        self.update();
        energy(self.stepper.tree(), &self.at, &self.state.v).total()
    }
}

/// Angle between two orientations.
pub(crate) fn angle(a: &Rotation3<f64>, b: &Rotation3<f64>) -> f64 {
    (a.inverse() * b).angle()
}

/// The orientations in a row of a table with relative body-fixed angles.
pub(crate) fn rotations_in(row: &std::collections::BTreeMap<String, f64>) -> [Rotation3<f64>; 2] {
    let a = from_body_123([row["a_1"], row["a_2"], row["a_3"]]).to_rotation_matrix();
    let b = from_body_123([row["b_1"], row["b_2"], row["b_3"]]).to_rotation_matrix();
    [a, a * b]
}
