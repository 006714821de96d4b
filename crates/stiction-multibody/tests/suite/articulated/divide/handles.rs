//! Handles: the order of spatial vectors, complements, two-handle equations, closed loops.

use nalgebra::{DMatrix, DVector, Matrix3, Vector3, Vector6};
use stiction_multibody::{
    LinkId, Pose, Twist, Wrench,
    articulated::{
        Kinematics, LinkSpec, Scratch, Tree, TreeBuilder, TreeJoint,
        divide::{HandleEquations, HandleJoint, orthogonal_complement, spatial},
        impulse_response, wrench_row,
    },
};
use stiction_testkit::Random;

use super::assembled;
use crate::articulated::{
    JOINED, accelerations, all_joints, distance, factors, kinematics, random_link, random_state, velocities,
};
use crate::support::{direction, pose, vector};

/// Conversion between angular-first and linear-first vectors is lossless and preserves power.
#[test]
fn the_two_orders_are_adapted() {
    let mut random = Random::new(7321);
    for _ in 0..20 {
        let twist = Twist { linear: vector(&mut random, 2.0), angular: vector(&mut random, 2.0) };
        let wrench = Wrench { linear: vector(&mut random, 2.0), angular: vector(&mut random, 2.0) };
        let (motion, force) = (spatial::motion(&twist), spatial::force(&wrench));
        assert_eq!(motion.fixed_rows::<3>(0), twist.angular);
        assert_eq!(force.fixed_rows::<3>(0), wrench.angular);
        assert_eq!((spatial::twist(&motion), spatial::wrench(&force)), (twist, wrench));
        assert!((motion.dot(&force) - wrench.power(&twist)).abs() < 1e-14);
    }
}

/// Dᵀ P = 0, D orthonormal, with as many directions as the joint constrains.
#[test]
fn complements_of_all_joints() {
    let mut random = Random::new(7322);
    for joint in all_joints(&mut random) {
        let mut builder = TreeBuilder::new(Vector3::zeros()).unwrap();
        builder.link(random_link(&mut random, joint)).unwrap();
        let tree = builder.build();
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let columns: Vec<_> = (0..tree.velocities()).map(|k| spatial::motion(at.column(k))).collect();
        let complement = orthogonal_complement(&columns);
        assert_eq!(complement.len(), 6 - joint.velocities());
        for (i, d) in complement.iter().enumerate() {
            assert!(columns.iter().all(|p| d.dot(p).abs() < 1e-14));
            for (j, e) in complement.iter().enumerate() {
                assert!((d.dot(e) - f64::from(u8::from(i == j))).abs() < 1e-14);
            }
        }
    }
}

/// Gyroscopic and other loads of a link about its origin, −ν ×* I ν + λ: the force at zero acceleration, reversed.
fn load(tree: &Tree, at: &Kinematics, link: LinkId, applied: &Wrench) -> Wrench {
    let twist = at.twist(link);
    let momentum = at.inertia(link).momentum(twist);
    let weight = at.inertia(link).momentum(&Twist { linear: tree.gravity(), ..Twist::default() });
    Wrench {
        linear: applied.linear + weight.linear - twist.angular.cross(&momentum.linear),
        angular: applied.angular + weight.angular
            - twist.angular.cross(&momentum.angular)
            - twist.linear.cross(&momentum.linear),
    }
}

/// Free links with two handles each, joined pairwise until one assembly remains, have the accelerations of the tree at both ends.
#[test]
fn two_handle_equations_of_a_chain() {
    let mut random = Random::new(7323);
    for count in [1, 2, 3, 8, 13] {
        let mut builder = TreeBuilder::new(vector(&mut random, 9.81)).unwrap();
        let mut ids: Vec<LinkId> = Vec::new();
        for index in 0..count {
            let joint = if index == 0 { TreeJoint::Free } else { all_joints(&mut random)[random.below(JOINED)] };
            let mut spec = random_link(&mut random, joint);
            if let Some(&parent) = ids.last() {
                spec = spec.on(parent, pose(&mut random));
            }
            ids.push(builder.link(spec).unwrap());
        }
        let tree = builder.build();
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let mut tau = velocities(&mut random, &tree);
        tau[..6].fill(0.0);
        let ends = (ids[0], *ids.last().unwrap());
        let at_tip = vector(&mut random, 1.0);

        // Handles: the origin of the link, at its joint, and the origin of the next link.
        let origin = |link: LinkId| at.pose(link).translation.vector;
        let mut things: Vec<HandleEquations> = Vec::new();
        for (place, &id) in ids.iter().enumerate() {
            let far = ids.get(place + 1).map_or(at_tip, |&next| origin(next) - origin(id));
            let load = load(&tree, &at, id, &Wrench::default());
            things.push(HandleEquations::of_link(at.inertia(id), &[Vector3::zeros(), far], &load).unwrap());
        }
        let mut firsts = ids.clone();
        while things.len() > 1 {
            let pairs: Vec<_> = things
                .chunks(2)
                .zip(firsts.chunks(2))
                .map(|(things, firsts)| match (things, firsts) {
                    ([upper, lower], [_, link]) => {
                        let velocities = tree.links()[link.index()].velocities();
                        let subspace: Vec<Twist> = velocities.clone().map(|k| *at.column(k)).collect();
                        let joint = HandleJoint {
                            subspace: &subspace,
                            product: *at.velocity_product(*link),
                            tau: &tau[velocities],
                        };
                        (upper.beside(lower).join(1, 2, &joint).unwrap().0, firsts[0])
                    }
                    _ => (things[0].clone(), firsts[0]),
                })
                .collect();
            (things, firsts) = pairs.into_iter().unzip();
        }
        let whole = &things[0];
        assert!(whole.tally().largest <= 6 && whole.tally().joints == count - 1);

        // The same from the tree, with its accelerations.
        let v_dot = accelerations(&tree, &at, &tau, &[]);
        let tip = origin(ends.1) + at_tip;
        let mut divide = assembled(&tree, &at);
        let from_tree = HandleEquations::of_tree(&mut divide, &at, &[(ends.0, origin(ends.0)), (ends.1, tip)], &[]);
        let accelerated =
            [spatial_acceleration(&tree, &at, &v_dot, ends.0), spatial_acceleration(&tree, &at, &v_dot, ends.1)];
        let arms = [Vector3::zeros(), at_tip];
        for i in 0..2 {
            let at_handle = Twist { linear: accelerated[i].at(&arms[i]), angular: accelerated[i].angular };
            let scale = whole.free(i).amax();
            assert!((whole.free(i) - spatial::motion(&at_handle)).amax() < 1e-9 * scale);
            for j in 0..2 {
                let scale = whole.compliance(i, i).amax().max(whole.compliance(j, j).amax());
                assert!((whole.compliance(i, j) - from_tree.compliance(i, j)).amax() < 1e-9 * scale);
            }
        }
    }
}

/// Spatial acceleration of a link about its origin.
fn spatial_acceleration(tree: &Tree, at: &Kinematics, v_dot: &[f64], link: LinkId) -> Twist {
    let mut path: Vec<usize> = tree.path_to_root(link).collect();
    path.reverse();
    let ids: Vec<LinkId> = tree.link_ids().collect();
    let mut sum = Twist::default();
    let mut last = None;
    for i in path {
        let origin = at.pose(ids[i]).translation.vector;
        sum.linear = sum.at(&last.map_or(origin, |last| origin - last));
        let mut add = |twist: &Twist, factor: f64| {
            sum.linear += twist.linear * factor;
            sum.angular += twist.angular * factor;
        };
        add(at.velocity_product(ids[i]), 1.0);
        for k in tree.links()[i].velocities() {
            add(at.column(k), v_dot[k]);
        }
        last = Some(origin);
    }
    sum
}

/// Twenty links joined to a ring: closing it through handles and solving all constraint rows at once give the same velocities.
#[test]
fn a_ring_of_twenty_links() {
    let mut random = Random::new(7324);
    for round in 0..6 {
        let mut builder = TreeBuilder::new(Vector3::zeros()).unwrap();
        let mut ids: Vec<LinkId> = Vec::new();
        let turn = nalgebra::Rotation3::from_axis_angle(&Vector3::y_axis(), std::f64::consts::TAU / 20.0);
        for index in 0..20 {
            let joint = match index {
                0 => TreeJoint::Free,
                _ if round < 3 => TreeJoint::Spherical,
                _ => TreeJoint::Universal { axes: [Vector3::y(), direction(&mut random)] },
            };
            let inertia = Matrix3::from_diagonal(&Vector3::new(0.02, 0.1, 0.1));
            let mut spec = LinkSpec::new("side", joint).with_mass(1.0, Vector3::x() * 0.5, inertia);
            if let Some(&parent) = ids.last() {
                spec = spec.on(parent, Pose::from_parts(Vector3::x().into(), turn));
            }
            ids.push(builder.link(spec).unwrap());
        }
        let tree = builder.build();
        let q = tree.neutral();
        let v = velocities(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let (first, last) = (ids[0], ids[19]);
        let meeting = at.pose(first).translation.vector;
        let tip = at.pose(last) * nalgebra::Point3::new(1.0, 0.0, 0.0);
        assert!((tip.coords - meeting).norm() < 1e-13, "the ring is closed");
        let moving = |link: LinkId| {
            let twist = at.twist(link);
            Twist { linear: twist.at(&(meeting - at.pose(link).translation.vector)), angular: twist.angular }
        };
        // A revolute or a spherical joint: the relative velocities of the first link to the last that it allows.
        let free: Vec<Twist> = if round % 2 == 0 {
            vec![Twist { angular: Vector3::y(), ..Twist::default() }]
        } else {
            [Vector3::x(), Vector3::y(), Vector3::z()].map(|angular| Twist { angular, ..Twist::default() }).to_vec()
        };

        let mut divide = assembled(&tree, &at);
        let handles = [(last, meeting), (first, meeting)];
        let open = HandleEquations::of_tree(&mut divide, &at, &handles, &[moving(last), moving(first)]);
        let (closed, impulse) = open.join(0, 1, &HandleJoint { subspace: &free, ..HandleJoint::default() }).unwrap();
        assert!(closed.handles() == 0 && closed.tally().largest <= 6);
        let mut impulses = vec![Wrench::default(); 20];
        let on_first = spatial::wrench(&impulse.constant);
        for (link, sign) in [(first, 1.0), (last, -1.0)] {
            let arm = meeting - at.pose(link).translation.vector;
            let at_origin = Wrench { linear: on_first.linear, angular: on_first.angular + arm.cross(&on_first.linear) };
            impulses[link.index()].add(&at_origin.scaled(sign));
        }
        let mut change = vec![0.0; tree.velocities()];
        divide.impulse_response(&tree, &at, (&[], &impulses), &mut change);

        let expected = by_constraint_rows(&tree, &at, &v, (first, last, &meeting), &free);
        assert!(distance(&change, &expected) < 1e-9, "{}", distance(&change, &expected));
    }
}

/// Δv of the ring by rows J v = 0, J M⁻¹ Jᵀ solved densely, with articulated bodies.
fn by_constraint_rows(
    tree: &Tree,
    at: &Kinematics,
    v: &[f64],
    (first, last, point): (LinkId, LinkId, &Vector3<f64>),
    free: &[Twist],
) -> Vec<f64> {
    let columns: Vec<Vector6<f64>> = free.iter().map(spatial::motion).collect();
    let directions = orthogonal_complement(&columns);
    let mut jacobian = DMatrix::zeros(directions.len(), tree.velocities());
    for (i, direction) in directions.iter().enumerate() {
        for (link, sign) in [(first, 1.0), (last, -1.0)] {
            let mut row = vec![0.0; tree.depth(link)];
            wrench_row(tree, at, link, (&spatial::wrench(direction), point), &mut row);
            let head = tree.links()[link.index()].last_velocity();
            for (k, entry) in tree.ancestors(head).zip(&row) {
                jacobian[(i, k)] += sign * entry;
            }
        }
    }
    let (factors, mut scratch) = (factors(tree, at), Scratch::new(tree));
    let mut response = |tau: &DVector<f64>| {
        let mut change = vec![0.0; tree.velocities()];
        impulse_response(tree, at, &factors, (tau.as_slice(), &[]), &mut scratch, &mut change);
        DVector::from_vec(change)
    };
    let responses: Vec<DVector<f64>> = (0..directions.len()).map(|i| response(&jacobian.row(i).transpose())).collect();
    let delassus = &jacobian * DMatrix::from_columns(&responses);
    let impulses = delassus.lu().solve(&-(&jacobian * DVector::from_column_slice(v))).unwrap();
    response(&jacobian.tr_mul(&impulses)).as_slice().to_vec()
}
