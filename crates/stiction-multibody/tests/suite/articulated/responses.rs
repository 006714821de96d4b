//! Jacobians and impulse responses.

use nalgebra::{DVector, Point3, Vector3};
use stiction_multibody::{
    LinkId, Wrench,
    articulated::{
        Kinematics, Scratch, Tree, add_wrench, coupling, half_response, impulse_response, point_jacobian, wrench_row,
    },
};
use stiction_testkit::Random;

use super::{
    accelerations, dense, distance, factors, kinematics, mass, moved, random_state, random_tree, random_wrenches,
    velocities,
};
use crate::support::vector;

fn ids(tree: &Tree) -> Vec<LinkId> {
    tree.link_ids().collect()
}

/// Scatters a packed row over all velocities.
fn full_row(tree: &Tree, link: LinkId, row: &[f64]) -> DVector<f64> {
    let mut full = DVector::zeros(tree.velocities());
    let head = tree.links()[link.index()].last_velocity();
    for (k, entry) in tree.ancestors(head).zip(row) {
        full[k] = *entry;
    }
    full
}

fn row_of(tree: &Tree, at: &Kinematics, link: LinkId, wrench: &Wrench, point: &Vector3<f64>) -> Vec<f64> {
    let mut row = vec![0.0; tree.depth(link)];
    wrench_row(tree, at, link, (wrench, point), &mut row);
    row
}

/// J v is the velocity of the point, by differences of its position.
#[test]
fn point_jacobian_is_the_derivative_of_the_point() {
    let mut random = Random::new(721);
    for _ in 0..10 {
        let tree = random_tree(&mut random);
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        for link in ids(&tree) {
            let body_point = Point3::from(vector(&mut random, 1.0));
            let place = |h: f64| (kinematics(&tree, &moved(&tree, &q, &v, h), &v).pose(link) * body_point).coords;
            let h = 1e-5;
            let measured = (place(h) - place(-h)) / (2.0 * h);
            let mut columns = vec![Vector3::zeros(); tree.depth(link)];
            point_jacobian(&tree, &at, link, &place(0.0), &mut columns);
            let head = tree.links()[link.index()].last_velocity();
            let velocity = tree.ancestors(head).zip(&columns).fold(Vector3::zeros(), |sum, (k, c)| sum + c * v[k]);
            assert!((velocity - measured).amax() < 1e-7 * velocity.amax().max(1.0));
        }
    }
}

/// The row of a wrench gives its power, and acts like the same wrench in the articulated-body algorithm.
#[test]
fn wrench_rows_carry_power_and_force() {
    let mut random = Random::new(722);
    for _ in 0..20 {
        let tree = random_tree(&mut random);
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let wrenches = random_wrenches(&mut random, &tree);
        let tau = velocities(&mut random, &tree);
        let mut pushed = tau.clone();
        for (link, wrench) in ids(&tree).into_iter().zip(&wrenches) {
            let origin = at.pose(link).translation.vector;
            let row = full_row(&tree, link, &row_of(&tree, &at, link, wrench, &origin));
            let power = row.dot(&DVector::from_column_slice(&v));
            let expected = wrench.power(at.twist(link));
            assert!((power - expected).abs() < 1e-11 * expected.abs().max(10.0));
            add_wrench(&tree, &at, link, (wrench, &origin), &mut pushed);
        }
        let by_rows = accelerations(&tree, &at, &pushed, &[]);
        let by_links = accelerations(&tree, &at, &tau, &wrenches);
        assert!(distance(&by_rows, &by_links) < 1e-10);
    }
}

/// The response to impulses on links and velocities is M⁻¹ (τ + Jᵀ p), with M by composite bodies and solved densely.
#[test]
fn response_is_the_inverse_of_the_mass_matrix() {
    let mut random = Random::new(723);
    for _ in 0..20 {
        let tree = random_tree(&mut random);
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let (tau, impulses) = (velocities(&mut random, &tree), random_wrenches(&mut random, &tree));
        let mut change = vec![0.0; tree.velocities()];
        let sources = (tau.as_slice(), impulses.as_slice());
        impulse_response(&tree, &at, &factors(&tree, &at), sources, &mut Scratch::new(&tree), &mut change);

        let mut force = tau.clone();
        for (link, impulse) in ids(&tree).into_iter().zip(&impulses) {
            add_wrench(&tree, &at, link, (impulse, &at.pose(link).translation.vector), &mut force);
        }
        let solved = dense(&mass(&tree, &at)).cholesky().unwrap().solve(&DVector::from_vec(force));
        assert!(distance(&change, solved.as_slice()) < 1e-10);
    }
}

/// Half responses couple as J_a M⁻¹ J_bᵀ, for links of one branch, of two, and of two trees.
#[test]
fn half_responses_make_the_delassus_matrix() {
    let mut random = Random::new(724);
    let mut unconnected = 0;
    for _ in 0..10 {
        let tree = random_tree(&mut random);
        let (q, v) = random_state(&mut random, &tree);
        let at = kinematics(&tree, &q, &v);
        let factors = factors(&tree, &at);
        let inverse = dense(&mass(&tree, &at)).cholesky().unwrap().inverse();
        let contacts: Vec<_> = ids(&tree)
            .into_iter()
            .map(|link| {
                let (wrench, point) = (random_wrenches(&mut random, &tree)[0], vector(&mut random, 3.0));
                let mut half = vec![0.0; tree.depth(link)];
                half_response(&tree, &at, &factors, link, (&wrench, &point), &mut half);
                (link, full_row(&tree, link, &row_of(&tree, &at, link, &wrench, &point)), half)
            })
            .collect();
        for (link_a, row_a, half_a) in &contacts {
            for (link_b, row_b, half_b) in &contacts {
                let entry = coupling(&tree, &factors, (*link_a, half_a), (*link_b, half_b));
                let expected = row_a.dot(&(&inverse * row_b));
                let size = (row_a.dot(&(&inverse * row_a)) * row_b.dot(&(&inverse * row_b))).sqrt();
                assert!((entry - expected).abs() <= 1e-9 * size, "{entry} {expected}");
                unconnected += usize::from(expected == 0.0 && size > 0.0);
            }
        }
    }
    assert!(unconnected > 0, "some pairs stand on different trees");
}
