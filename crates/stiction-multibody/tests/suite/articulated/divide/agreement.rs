//! Agreement with the articulated-body algorithm.

use nalgebra::{DVector, Matrix3, Vector3};
use stiction_multibody::{
    LinkId, Wrench,
    articulated::{
        Kinematics, LinkSpec, Scratch, SingularInertia, Tree, TreeBuilder, TreeJoint, add_wrench, coupling,
        divide::Divide, half_response, impulse_response,
    },
};
use stiction_testkit::Random;

use super::{assembled, free_chain, random_rows, tree_of};
use crate::articulated::{
    accelerations, dense, distance, factors, forces, kinematics, mass, random_state, random_tree, random_wrenches,
    velocities,
};
use crate::support::{direction, pose};

/// Differences of accelerations, responses and couplings from those by articulated bodies, each relative to the largest
/// number of its kind.
fn differences(random: &mut Random, tree: &Tree) -> [f64; 3] {
    let (q, v) = random_state(random, tree);
    let at = kinematics(tree, &q, &v);
    let (tau, wrenches) = (velocities(random, tree), random_wrenches(random, tree));
    let mut divide = assembled(tree, &at);
    let mut out = vec![0.0; tree.velocities()];
    divide.forward_dynamics(tree, &at, (&tau, &wrenches), &mut out);
    let acceleration = distance(&out, &accelerations(tree, &at, &tau, &wrenches));

    let factors = factors(tree, &at);
    let mut expected = out.clone();
    impulse_response(tree, &at, &factors, (&tau, &wrenches), &mut Scratch::new(tree), &mut expected);
    divide.impulse_response(tree, &at, (&tau, &wrenches), &mut out);
    let response = distance(&out, &expected);

    let rows = random_rows(random, tree, 12);
    let mut entries = vec![0.0; rows.len() * rows.len()];
    divide.delassus(&at, &rows, &mut entries);
    let halves: Vec<Vec<f64>> = rows
        .iter()
        .map(|(link, wrench, point)| {
            let mut row = vec![0.0; tree.depth(*link)];
            half_response(tree, &at, &factors, *link, (wrench, point), &mut row);
            row
        })
        .collect();
    let pairs = rows.iter().zip(&halves).flat_map(|a| rows.iter().zip(&halves).map(move |b| (a, b)));
    let by_bodies: Vec<f64> = pairs
        .map(|((a, row_a), (b, row_b))| coupling(tree, &factors, (a.0, row_a.as_slice()), (b.0, row_b.as_slice())))
        .collect();
    [acceleration, response, distance(&entries, &by_bodies)]
}

fn assert_agreement(random: &mut Random, tree: &Tree, tolerance: f64) {
    let found = differences(random, tree);
    assert!(found.iter().all(|&difference| difference < tolerance), "{found:?} for {} links", tree.links().len());
}

#[test]
fn forests_of_all_joints() {
    let mut random = Random::new(7301);
    for _ in 0..40 {
        let tree = random_tree(&mut random);
        assert_agreement(&mut random, &tree, 1e-10);
    }
}

#[test]
fn trees_of_every_form() {
    let mut random = Random::new(7302);
    for count in [1, 2, 3, 5, 8, 17, 40, 90] {
        let shapes: [fn(&mut Random, usize) -> usize; 5] = [
            |_, i| i - 1,
            |_, _| 0,
            |_, i| (i - 1) / 2,
            |_, i| if i % 2 == 0 { i - 2 } else { i - 1 },
            |random, i| random.below(i),
        ];
        for shape in shapes {
            let tree = tree_of(&mut random, count, shape);
            assert_agreement(&mut random, &tree, 1e-9);
        }
    }
}

#[test]
fn long_chains() {
    let mut random = Random::new(7303);
    for count in [64, 256, 1024] {
        let tree = free_chain(&mut random, count);
        assert_agreement(&mut random, &tree, 1e-9);
    }
}

/// The recursive Newton-Euler algorithm returns the given forces for the accelerations.
#[test]
fn newton_and_euler_give_the_forces_back() {
    let mut random = Random::new(7304);
    for _ in 0..20 {
        let tree = random_tree(&mut random);
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let (tau, wrenches) = (velocities(&mut random, &tree), random_wrenches(&mut random, &tree));
        let mut out = vec![0.0; tree.velocities()];
        assembled(&tree, &at).forward_dynamics(&tree, &at, (&tau, &wrenches), &mut out);
        assert!(distance(&forces(&tree, &at, &out, &wrenches), &tau) < 1e-9);
    }
}

/// Extra inertia in addition to the armature is added to the diagonal of the mass matrix.
#[test]
fn extra_inertia_is_on_the_diagonal() {
    let mut random = Random::new(7305);
    for _ in 0..10 {
        let tree = random_tree(&mut random);
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let extra: Vec<f64> =
            (0..tree.velocities()).map(|k| if k % 2 == 0 { random.uniform(0.0, 5.0) } else { 0.0 }).collect();
        let (tau, impulses) = (velocities(&mut random, &tree), random_wrenches(&mut random, &tree));
        let mut divide = Divide::new(&tree);
        divide.update(&tree, &at, &extra).unwrap();
        let mut out = vec![0.0; tree.velocities()];
        divide.impulse_response(&tree, &at, (&tau, &impulses), &mut out);

        let mut matrix = dense(&mass(&tree, &at));
        let mut force = tau.clone();
        for (k, extra) in extra.iter().enumerate() {
            matrix[(k, k)] += extra;
        }
        for (link, impulse) in tree.link_ids().zip(&impulses) {
            add_wrench(&tree, &at, link, (impulse, &at.pose(link).translation.vector), &mut force);
        }
        let solved = matrix.cholesky().unwrap().solve(&DVector::from_vec(force));
        assert!(distance(&out, solved.as_slice()) < 1e-10);
    }
}

/// Massless links in series and with branches, point masses, and rods without inertia about their own axis:
/// every tree that the articulated-body algorithm can accelerate.
#[test]
fn links_without_inertia_of_their_own() {
    let mut random = Random::new(7306);
    let nothing = Matrix3::zeros();
    for round in 0..60 {
        let mut builder = TreeBuilder::new(Vector3::new(0.0, 0.0, -9.81)).unwrap();
        let root = LinkSpec::new("root", TreeJoint::Free).with_mass(2.0, Vector3::zeros(), Matrix3::identity());
        let mut bodies = vec![builder.link(root).unwrap()];
        for _ in 0..10 {
            let mut on = bodies[random.below(bodies.len())];
            for _ in 0..=random.below(2) {
                let hinge = LinkSpec::new("hinge", TreeJoint::Revolute { axis: direction(&mut random) });
                on = builder.link(hinge.on(on, pose(&mut random))).unwrap();
            }
            // Two bodies on one hinge: the massless link has a branch.
            for _ in 0..=random.below(2) {
                let joint = TreeJoint::Revolute { axis: direction(&mut random) };
                let (center, inertia) = match random.below(3) {
                    0 => (direction(&mut random), nothing),
                    1 => (Vector3::z() * 0.5, Matrix3::from_diagonal(&Vector3::new(0.1, 0.1, 1e-12))),
                    _ => (Vector3::zeros(), Matrix3::identity()),
                };
                let body = LinkSpec::new("body", joint).with_mass(1.0, center, inertia);
                bodies.push(builder.link(body.on(on, pose(&mut random))).unwrap());
            }
            if round % 2 == 0 {
                builder.link(LinkSpec::new("frame", TreeJoint::Fixed).on(on, pose(&mut random))).unwrap();
            }
        }
        let tree = builder.build();
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let mut divide = Divide::new(&tree);
        divide.update(&tree, &at, &[]).unwrap();
        let (tau, wrenches) = (velocities(&mut random, &tree), random_wrenches(&mut random, &tree));
        let mut out = vec![0.0; tree.velocities()];
        divide.forward_dynamics(&tree, &at, (&tau, &wrenches), &mut out);
        let expected = accelerations(&tree, &at, &tau, &wrenches);
        assert!(distance(&out, &expected) < 1e-9, "{:e}", distance(&out, &expected));
    }
}

/// A velocity without inertia is an error that names it.
#[test]
fn nothing_to_move_is_an_error() {
    let mut builder = TreeBuilder::new(Vector3::zeros()).unwrap();
    let inertia = Matrix3::identity();
    let mut last: Option<LinkId> = None;
    for _ in 0..4 {
        let mut spec =
            LinkSpec::new("a", TreeJoint::Revolute { axis: Vector3::x() }).with_mass(1.0, Vector3::z(), inertia);
        spec.parent = last;
        last = Some(builder.link(spec).unwrap());
    }
    let mut idle = LinkSpec::new("idle", TreeJoint::Prismatic { axis: Vector3::x() });
    idle.parent = last;
    builder.link(idle).unwrap();
    let tree = builder.build();
    let mut at = Kinematics::new(&tree);
    at.update(&tree, &tree.neutral(), &[0.0; 5]);
    let mut divide = Divide::new(&tree);
    assert_eq!(divide.update(&tree, &at, &[]), Err(SingularInertia { velocity: 4 }));
    assert_eq!(divide.update(&tree, &at, &[0.0, 0.0, 0.0, 0.0, 1.0]), Ok(()));
    let mut out = [0.0; 5];
    divide.impulse_response(&tree, &at, (&[0.0, 0.0, 0.0, 0.0, 3.0], &[] as &[Wrench]), &mut out);
    assert_eq!(out[4], 3.0);
}
