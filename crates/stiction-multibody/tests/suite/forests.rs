//! Forests of random models: every kind of joint, in both directions, in the plane and in space, with particles, welds, loops and prescribed bodies.

use std::sync::Arc;

use nalgebra::Vector3;
use stiction_multibody::{
    BodyBuilder, BodyId, Configuration, Dimension, Expression, ExpressionMotion, JointDof, JointKind, Model,
    ModelBuilder, articulated::Kinematics,
};
use stiction_testkit::Random;

use crate::support::{close, configuration, inertia, orientation, planar_vector, slope, vector, wxyz};

/// A model of `count` bodies, each joined to one before it or to the world, and a few joints more.
fn random_model(random: &mut Random, dimension: Dimension, count: usize) -> Model {
    let planar = dimension == Dimension::Planar;
    let mut builder = ModelBuilder::new(dimension);
    let place = |random: &mut Random| if planar { planar_vector(random, 2.0) } else { vector(random, 2.0) };
    let p = place(random);
    let fixed = builder.body(BodyBuilder::fixed("fixed").position(p.x, p.y, p.z)).unwrap();
    let mut bodies = vec![BodyId::WORLD, fixed];
    for k in 0..count {
        let p = place(random);
        let body = if planar {
            BodyBuilder::planar(format!("body {k}"), 1.0, 0.2).angle(random.uniform(-3.0, 3.0))
        } else {
            BodyBuilder::rigid(format!("body {k}"), 1.0, inertia(random)).quaternion(wxyz(&orientation(random)))
        };
        bodies.push(builder.body(body.position(p.x, p.y, p.z)).unwrap());
    }
    for k in 2..bodies.len() {
        // Some bodies stay roots.
        if random.uniform(0.0, 1.0) > 0.15 {
            let before = random.below(k);
            join(random, &mut builder, dimension, &format!("joint {k}"), (bodies[before], bodies[k]));
        }
    }
    for k in 0..count / 4 {
        let (i, j) = (random.below(bodies.len()), 2 + random.below(count));
        if i != j {
            join(random, &mut builder, dimension, &format!("loop {k}"), (bodies[i], bodies[j]));
        }
    }
    add_particle_and_kinematic(&mut builder, planar, bodies[2]);
    builder.build().unwrap()
}

fn join(
    random: &mut Random,
    builder: &mut ModelBuilder,
    dimension: Dimension,
    name: &str,
    (near, far): (BodyId, BodyId),
) {
    let kinds: Vec<JointKind> = JointKind::all(dimension).collect();
    let kind = kinds[random.below(kinds.len())];
    let planar = dimension == Dimension::Planar;
    let bodies = if random.uniform(0.0, 1.0) < 0.5 { (near, far) } else { (far, near) };
    let place = |random: &mut Random| if planar { planar_vector(random, 2.0) } else { vector(random, 2.0) };
    let id = if let JointKind::Distance(_) = kind {
        let frame = |random: &mut Random| {
            stiction_multibody::Pose::from_parts(place(random).into(), nalgebra::Rotation3::identity())
        };
        let (a, b) = ((bodies.0, frame(random)), (bodies.1, frame(random)));
        builder.joint(name, kind, a, b).unwrap()
    } else {
        let (anchor, axis) = (place(random), place(random));
        builder.joint_at(name, kind, bodies, anchor, axis).unwrap()
    };
    for number in 0..kind.dof_is_length(dimension).count() {
        // Makes it an actuated joint DOF with an initial coordinate.
        let joint_dof = JointDof { damping: 0.1, initial: random.uniform(-1.0, 1.0), ..JointDof::default() };
        builder.joint_dof((id, number), joint_dof).unwrap();
    }
}

/// A particle pinned to a body, and a body pinned to one whose motion is prescribed.
fn add_particle_and_kinematic(builder: &mut ModelBuilder, planar: bool, body: BodyId) {
    let particle = builder.body(BodyBuilder::particle("particle", 0.4).position(0.5, 0.25, 0.0)).unwrap();
    let pin = if planar { JointKind::Revolute } else { JointKind::Spherical };
    let place = Vector3::new(0.5, 0.25, 0.0);
    builder.joint_at("pinned particle", pin, (particle, body), place, Vector3::x()).unwrap();
    let zero = || Expression::constant(0.0);
    let motion = ExpressionMotion::planar("sin(t)".parse().unwrap(), zero(), zero());
    let moved = builder.body(BodyBuilder::kinematic("moved", Arc::new(motion))).unwrap();
    builder.joint_at("to moved", JointKind::Revolute, (moved, body), Vector3::zeros(), Vector3::x()).unwrap();
}

/// Random coordinates and velocities of the forest; angles within half a turn.
fn random_motion(random: &mut Random, model: &Model) -> (Vec<f64>, Vec<f64>) {
    let tree = model.forest().tree();
    let mut q = tree.neutral();
    let v: Vec<f64> = (0..tree.velocities()).map(|_| random.uniform(-2.0, 2.0)).collect();
    let turn: Vec<f64> = (0..tree.velocities()).map(|_| random.uniform(-1.4, 1.4)).collect();
    tree.integrate(&mut q, &turn, 1.0);
    (q, v)
}

/// Coordinates and velocities of the bodies at those of the forest.
fn bodies(model: &Model, q: &[f64], v: &[f64]) -> (Vec<f64>, Vec<f64>, Configuration) {
    let forest = model.forest();
    let mut at = Kinematics::new(forest.tree());
    at.update(forest.tree(), q, v);
    let (mut body_q, mut body_v) = (Vec::new(), Vec::new());
    forest.write_coordinates(model, &at, &model.initial_state().q, &mut body_q);
    forest.write_velocities(model, &at, at.twists(), &mut body_v);
    let configuration = configuration(model, &body_q, &body_v, 0.0);
    (body_q, body_v, configuration)
}

fn each_model(mut test: impl FnMut(&mut Random, &Model)) {
    let mut random = Random::new(4711);
    for dimension in [Dimension::Planar, Dimension::Spatial] {
        for trial in 0..60 {
            let model = random_model(&mut random, dimension, 4 + trial % 12);
            test(&mut random, &model);
        }
    }
}

/// FOREST-1: the map from the forest to the bodies and back is the identity.
#[test]
fn forests_read_what_they_write() {
    each_model(|random, model| {
        let (q, v) = random_motion(random, model);
        let (.., at) = bodies(model, &q, &v);
        let forest = model.forest();
        let (mut read_q, mut read_v) = (Vec::new(), Vec::new());
        forest.read_coordinates(model, &at, &q, &mut read_q);
        let mut kinematics = Kinematics::new(forest.tree());
        kinematics.update(forest.tree(), &read_q, &v);
        forest.read_velocities(&kinematics, &at, &mut read_v);
        let mut difference = vec![0.0; v.len()];
        forest.tree().difference(&q, &read_q, &mut difference);
        for d in difference {
            close(d, 0.0, 1e-12);
        }
        for (v, read) in v.iter().zip(&read_v) {
            close(*read, *v, 1e-12);
        }
        // The bodies at the coordinates that were read are at their original poses.
        let (.., again) = bodies(model, &read_q, &read_v);
        for (id, _) in model.iter_bodies() {
            let (a, b) = (at.pose(id), again.pose(id));
            assert!((a.to_homogeneous() - b.to_homogeneous()).norm() < 1e-11);
            let (a, b) = (at.twist(id), again.twist(id));
            assert!((a.linear - b.linear).norm() + (a.angular - b.angular).norm() < 1e-11);
        }
    });
}

/// FOREST-2: joints of the forest hold at all coordinates, and all other joints are loops.
#[test]
fn joints_of_forests_hold_and_others_are_loops() {
    let (mut branches, mut loops) = (0, 0);
    each_model(|random, model| {
        let (q, v) = random_motion(random, model);
        let (.., at) = bodies(model, &q, &v);
        for (joint, ..) in model.forest().branches(model) {
            branches += 1;
            for row in joint.evaluate(&at) {
                let rate = row.a.power(&at.twist(joint.a.0)) + row.b.power(&at.twist(joint.b.0));
                assert!(row.value.abs() < 1e-11 && rate.abs() < 1e-10, "{}: {}, {rate}", joint.name, row.value);
            }
        }
        loops += model.forest().loops().len();
        let in_loops = |name: &str| {
            let id = model.find_joint(name).unwrap();
            model.forest().loops().contains(&id)
        };
        assert!(in_loops("to moved") && !in_loops("pinned particle"));
        let count = model.forest().branches(model).count();
        assert_eq!(count + model.forest().loops().len(), model.joints().len());
    });
    assert!(branches > 500 && loops > 150, "{branches} branches, {loops} loops");
}

/// JSPACE-1: the coordinate of a joint DOF is that of the forest, and its rate a velocity of it; both agree with the bodies.
#[test]
fn freedoms_are_coordinates_of_the_forest() {
    let mut seen = 0;
    each_model(|random, model| {
        let (q, v) = random_motion(random, model);
        let (body_q, body_v, at) = bodies(model, &q, &v);
        for &(id, number) in model.joint_space_dofs() {
            let joint = model.joint(id).unwrap();
            let measured = |at: &Configuration| joint.measured(number, at, None).unwrap();
            let (coordinate, rate) = measured(&at);
            let h = 1e-5;
            let still = vec![0.0; body_v.len()];
            // The axes of a loop joint are not aligned here: the measured value is then not a coordinate.
            let Some(velocity) = model.forest().velocity_of(id, number) else { continue };
            seen += 1;
            let place = model.forest().coordinate_of(velocity).unwrap();
            close(coordinate, q[place] + joint.joint_dofs()[number].initial, 1e-11);
            close(rate, v[velocity], 1e-11);
            let by_bodies = slope(model, &body_q, &body_v, |q| measured(&configuration(model, q, &still, 0.0)).0);
            close(by_bodies, rate, 1e-7);
            let ahead = |h: f64| {
                let mut q = q.clone();
                model.forest().tree().integrate(&mut q, &v, h);
                measured(&bodies(model, &q, &v).2).0
            };
            close((ahead(h) - ahead(-h)) / (2.0 * h), rate, 1e-7);
        }
    });
    assert!(seen > 500, "{seen}");
}

/// Full turns of an angle are those nearest to the previous angle.
#[test]
fn full_turns_are_those_before() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let body = builder.body(BodyBuilder::planar("wheel", 1.0, 0.1).angle(0.3)).unwrap();
    let id =
        builder.joint_at("axle", JointKind::Revolute, (body, BodyId::WORLD), Vector3::zeros(), Vector3::x()).unwrap();
    let joint_dof = JointDof { stiffness: 2.0, armature: 0.5, rest: 1.0, initial: 0.25, ..JointDof::default() };
    builder.joint_dof((id, 0), joint_dof).unwrap();
    let model = builder.build().unwrap();
    for turned in [-70.0, -3.0, 0.1, 3.2, 25.0, 600.0] {
        let (body_q, body_v, at) = bodies(&model, &[turned], &[2.0]);
        let mut read = Vec::new();
        model.forest().read_coordinates(&model, &at, &[turned + 1.0], &mut read);
        close(read[0], turned, 1e-13);
        let joint = model.joint(id).unwrap();
        let (coordinate, rate) = joint.measured(0, &at, Some(turned + 0.25 - 2.0)).unwrap();
        close(coordinate, turned + 0.25, 1e-13);
        close(rate, 2.0, 1e-14);
        // JSPACE-7: the spring is wound up by all of these turns.
        let found = stiction_multibody::energy(&model, &configuration(&model, &body_q, &body_v, 0.0), &[turned]);
        let stretch = turned + 0.25 - 1.0;
        close(found.potential, stretch * stretch, 1e-12);
        close(found.kinetic, 0.5 * (0.1 + 0.5) * 4.0, 1e-14);
    }
}

/// JSPACE-7: the torque of springs and rotors is the slope of their energy, about all axes of a spherical joint too.
#[test]
fn a_spherical_spring_stores_the_square_of_its_bend() {
    let mut random = Random::new(5);
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let bodies_of = ["a", "b"].map(|name| builder.body(BodyBuilder::rigid(name, 1.0, inertia(&mut random))).unwrap());
    let id = builder
        .joint_at("ball", JointKind::Spherical, (bodies_of[0], bodies_of[1]), Vector3::zeros(), Vector3::x())
        .unwrap();
    let joint_dof = JointDof { stiffness: 3.0, armature: 0.5, initial: 0.2, rest: 9.0, ..JointDof::default() };
    builder.joint_dof((id, 0), joint_dof).unwrap();
    let model = builder.build().unwrap();
    for _ in 0..20 {
        let (q, v) = random_motion(&mut random, &model);
        let (body_q, body_v, at) = bodies(&model, &q, &v);
        let still = vec![0.0; body_v.len()];
        let potential =
            |q: &[f64]| stiction_multibody::energy(&model, &configuration(&model, q, &still, 0.0), &[]).potential;
        let joint = model.joint(id).unwrap();
        let row = joint.coordinate(0, &at).unwrap();
        let bend = row.value - 0.2;
        close(potential(&body_q), 1.5 * bend * bend, 1e-12);
        // −k θ against the relative angular velocity.
        let relative = at.twist(bodies_of[1]).angular - at.twist(bodies_of[0]).angular;
        let power = 3.0 * bend * row.b.angular.dot(&relative);
        close(slope(&model, &body_q, &body_v, potential), power, 1e-7);
    }
}
