//! Motions with known solutions.

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{
    Pose, Wrench,
    articulated::{LinkSpec, Tree, TreeBuilder, TreeJoint, energy, momentum},
};
use stiction_testkit::Random;

use super::{accelerations, all_joints, kinematics, moved, random_link, rods, velocities};
use crate::support::{direction, inertia, pose, vector};

/// One step of the explicit midpoint rule, of second order also on the group.
fn advance(tree: &Tree, q: &mut Vec<f64>, v: &mut Vec<f64>, h: f64) {
    let rate = |q: &[f64], v: &[f64]| accelerations(tree, &kinematics(tree, q, v), &vec![0.0; v.len()], &[]);
    let plus = |v: &[f64], a: &[f64], h: f64| -> Vec<f64> { v.iter().zip(a).map(|(v, a)| v + h * a).collect() };
    let start = rate(q, v);
    let half = plus(v, &start, 0.5 * h);
    let middle = rate(&moved(tree, q, v, 0.5 * h), &half);
    let end = plus(v, &middle, h);
    *q = moved(tree, q, &half, h);
    *v = end;
}

/// A free body falls with g, and its spin obeys Euler's equation, for any frame on it.
#[test]
fn free_body_falls_and_spins() {
    let mut random = Random::new(731);
    for _ in 0..50 {
        let gravity = vector(&mut random, 9.81);
        let (mass, center, about) = (random.uniform(0.5, 2.0), vector(&mut random, 1.0), inertia(&mut random));
        let mut builder = TreeBuilder::new(gravity).unwrap();
        builder.link(LinkSpec::new("body", TreeJoint::Free).with_mass(mass, center, about)).unwrap();
        let tree = builder.build();
        let (q, v) = super::random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let a = accelerations(&tree, &at, &[0.0; 6], &[]);
        let omega = Vector3::new(v[3], v[4], v[5]);
        let spin = Vector3::new(a[3], a[4], a[5]);
        let euler = about.try_inverse().unwrap() * -omega.cross(&(about * omega));
        assert!((spin - euler).amax() < 1e-11 * euler.amax().max(1.0));
        // Acceleration of the centre of mass from that of the origin.
        let r = at.poses()[0].rotation;
        let rest = spin.cross(&center) + omega.cross(&omega.cross(&center));
        let centre = Vector3::new(a[0], a[1], a[2]) + r * rest;
        assert!((centre - gravity).amax() < 1e-11 * 10.0);
    }
}

/// The double pendulum of point masses against its textbook equations.
#[test]
fn double_pendulum_obeys_its_equations() {
    let (g, m1, m2, l1, l2) = (9.81, 1.3, 0.7, 0.9, 0.6);
    let mut builder = TreeBuilder::new(Vector3::new(0.0, -g, 0.0)).unwrap();
    let joint = TreeJoint::Revolute { axis: Vector3::z() };
    let point = |l: f64| Vector3::new(0.0, -l, 0.0);
    let first = builder.link(LinkSpec::new("first", joint).with_mass(m1, point(l1), Matrix3::zeros())).unwrap();
    let second = LinkSpec::new("second", joint).with_mass(m2, point(l2), Matrix3::zeros());
    builder.link(second.on(first, Pose::translation(0.0, -l1, 0.0))).unwrap();
    let tree = builder.build();
    let mut random = Random::new(732);
    for _ in 0..100 {
        let [a, b, wa, wb]: [f64; 4] = std::array::from_fn(|_| random.uniform(-3.0, 3.0));
        // Joint angles are relative; the textbook's are from the vertical.
        let at = kinematics(&tree, &[a, b - a], &[wa, wb - wa]);
        let found = accelerations(&tree, &at, &[0.0; 2], &[]);
        let (sin, cos) = libm::sincos(a - b);
        // (m1+m2) l1 α'' + m2 l2 β'' cos + m2 l2 β'² sin + (m1+m2) g sin α = 0,
        // l2 β'' + l1 α'' cos − l1 α'² sin + g sin β = 0.
        let m = nalgebra::Matrix2::new((m1 + m2) * l1, m2 * l2 * cos, l1 * cos, l2);
        let f = nalgebra::Vector2::new(
            -m2 * l2 * wb * wb * sin - (m1 + m2) * g * libm::sin(a),
            l1 * wa * wa * sin - g * libm::sin(b),
        );
        let expected = m.try_inverse().unwrap() * f;
        let worst = (found[0] - expected.x).abs().max((found[0] + found[1] - expected.y).abs());
        assert!(worst < 1e-11 * expected.amax().max(1.0), "{worst}");
    }
}

/// Without gravity a free-floating tree conserves momentum and energy, to the order of the integration.
#[test]
fn floating_tree_keeps_momentum() {
    let mut random = Random::new(733);
    let mut builder = TreeBuilder::new(Vector3::zeros()).unwrap();
    let root = builder.link(random_link(&mut random, TreeJoint::Free)).unwrap();
    for joint in all_joints(&mut random).into_iter().filter(|joint| *joint != TreeJoint::Free) {
        let arm = builder.link(random_link(&mut random, joint).on(root, pose(&mut random))).unwrap();
        builder.link(random_link(&mut random, TreeJoint::Spherical).on(arm, pose(&mut random))).unwrap();
    }
    let tree = builder.build();
    let (q, mut v) = super::random_state(&mut random, &tree);
    for v in &mut v {
        *v *= 0.5;
    }
    let drift = |steps: u32| {
        let (mut q, mut v) = (q.clone(), v.clone());
        let start = kinematics(&tree, &q, &v);
        for _ in 0..steps {
            advance(&tree, &mut q, &mut v, 0.1 / f64::from(steps));
        }
        let end = kinematics(&tree, &q, &v);
        let (p, p_end) = (momentum(&start), momentum(&end));
        let (e, e_end) = (energy(&tree, &start, &[]).kinetic, energy(&tree, &end, &[]).kinetic);
        [
            (p_end.linear - p.linear).norm() / p.linear.norm(),
            (p_end.angular - p.angular).norm() / p.angular.norm(),
            (e_end - e).abs() / e,
        ]
    };
    let (coarse, fine) = (drift(100), drift(200));
    for (coarse, fine) in coarse.iter().zip(fine) {
        assert!(fine < 1e-4, "{fine}");
        assert!(fine < 0.35 * coarse, "second order: {coarse} {fine}");
    }
}

/// A hanging chain in equilibrium stays at rest. The forces that hold it are those of statics: the weight beyond each joint.
#[test]
fn hanging_chain_is_at_rest() {
    let tree = rods(8, Vector3::new(0.0, 0.0, -9.81), |_| Vector3::y());
    let at = kinematics(&tree, &tree.neutral(), &[0.0; 8]);
    let a = accelerations(&tree, &at, &[0.0; 8], &[]);
    assert!(a.iter().all(|a| a.abs() < 1e-12));
    // Pulled by a horizontal force at the tip: the torque at joint k is f times the length below it.
    let mut pull = vec![Wrench::default(); 8];
    pull[7] = Wrench::of_force(Vector3::new(2.0, 0.0, 0.0), &Vector3::new(0.0, 0.0, -1.0));
    let held = super::forces(&tree, &at, &[0.0; 8], &pull);
    for (k, held) in held.iter().enumerate() {
        let below = 8.0 - k as f64;
        assert!((held - 2.0 * below).abs() < 1e-12, "{k}: {held}");
    }
}

/// The sweeps do not lose digits far from the origin of the world.
#[test]
fn far_away_is_as_exact_as_near() {
    let mut random = Random::new(734);
    let joints = all_joints(&mut random);
    let specs: Vec<_> = joints.iter().map(|joint| (random_link(&mut random, *joint), pose(&mut random))).collect();
    let tree_at = |origin: Vector3<f64>| {
        let mut builder = TreeBuilder::new(Vector3::new(0.0, 0.0, -9.81)).unwrap();
        let mut root = LinkSpec::new("root", TreeJoint::Spherical).with_mass(1.0, Vector3::x(), Matrix3::identity());
        root.placement = Pose::from_parts(origin.into(), nalgebra::Rotation3::identity());
        let mut last = builder.link(root).unwrap();
        for (spec, place) in &specs {
            last = builder.link(spec.clone().on(last, *place)).unwrap();
        }
        builder.build()
    };
    let (near, far) = (tree_at(Vector3::zeros()), tree_at(Vector3::new(1e7, -1e7, 1e7)));
    let (q, v) = super::random_state(&mut random, &near);
    let tau = velocities(&mut random, &near);
    let by = |tree: &Tree| accelerations(tree, &kinematics(tree, &q, &v), &tau, &[]);
    assert!(super::distance(&by(&near), &by(&far)) < 1e-12);
}

/// Joints with several velocities equal chains of simple joints with massless frames between them.
#[test]
fn compound_joints_are_chains_of_simple_ones() {
    let mut random = Random::new(735);
    let revolute = |axis| TreeJoint::Revolute { axis };
    let prismatic = |axis| TreeJoint::Prismatic { axis };
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    let (a, b) = (direction(&mut random), direction(&mut random));
    let chains = [
        (TreeJoint::Cylindrical { axis: a }, vec![prismatic(a), revolute(a)]),
        (TreeJoint::Universal { axes: [a, b] }, vec![revolute(a), revolute(b)]),
        (TreeJoint::Planar, vec![prismatic(x), prismatic(y), revolute(z)]),
        (TreeJoint::Translational, vec![prismatic(x), prismatic(y), prismatic(z)]),
        (TreeJoint::Free, vec![TreeJoint::Translational, TreeJoint::Spherical]),
    ];
    for (compound, simple) in chains {
        let (base, link, tip) = (
            random_link(&mut random, TreeJoint::Spherical),
            random_link(&mut random, TreeJoint::Fixed),
            random_link(&mut random, revolute(a)),
        );
        let (place, tip_place, gravity) = (pose(&mut random), pose(&mut random), vector(&mut random, 9.81));
        let tree_of = |joints: &[TreeJoint]| {
            let mut builder = TreeBuilder::new(gravity).unwrap();
            let mut last = builder.link(base.clone()).unwrap();
            for (index, &joint) in joints.iter().enumerate() {
                let mut spec =
                    LinkSpec::new("frame", joint).on(last, if index == 0 { place } else { Pose::identity() });
                if index + 1 == joints.len() {
                    spec = spec.with_mass(link.mass, link.center, link.inertia);
                }
                last = builder.link(spec.with_armature(0.2)).unwrap();
            }
            builder.link(tip.clone().on(last, tip_place)).unwrap();
            builder.build()
        };
        let (one, many) = (tree_of(&[compound]), tree_of(&simple));
        let (q, v) = super::random_state(&mut random, &one);
        let tau = velocities(&mut random, &one);
        let by = |tree: &Tree| accelerations(tree, &kinematics(tree, &q, &v), &tau, &[]);
        let distance = super::distance(&by(&one), &by(&many));
        assert!(distance < 1e-11, "{compound:?}: {distance}");
    }
}
