//! Random problems compared with enumeration, and invariance under scaling and permutation.

use crate::generate::{Seed, distance, lemke, p_matrix, product, transpose};
use proptest::prelude::*;
use stiction_complementarity::{DenseMatrix, Lcp, LcpEnumeration, Status};

#[test]
fn p_matrices_have_the_one_solution_that_enumeration_finds() {
    let mut seed = Seed(1);
    for trial in 0..300 {
        let n = 1 + trial % 8;
        let problem = Lcp::new(p_matrix(&mut seed, n), seed.vector(n)).unwrap();
        let outcome = lemke(&problem);
        let all = LcpEnumeration::new().all(&problem).unwrap();
        assert_eq!((outcome.status, all.solutions.len(), all.undecided), (Status::Solved, 1, 0), "trial {trial}");
        assert!(outcome.residual.value <= 1e-14, "trial {trial}: {:?}", outcome.residual);
        let scale = all.solutions[0].z.iter().fold(1.0, |size: f64, z| size.max(*z));
        assert!(distance(&outcome.solution.z, &all.solutions[0].z) <= 1e-11 * scale, "trial {trial}");
    }
}

#[test]
fn semidefinite_matrices_end_on_a_ray_exactly_when_enumeration_finds_nothing() {
    let mut seed = Seed(2);
    let mut infeasible = 0;
    for trial in 0..400 {
        let n = 2 + trial % 6;
        // Small integers: dependent rows are exactly dependent, and no problem is nearly infeasible.
        let a = seed.integers(n, 1 + trial % 3);
        let q = seed.integers(1, n);
        let problem = Lcp::new(product(&a, &transpose(&a)), q.row(0).to_vec()).unwrap();
        let outcome = lemke(&problem);
        let all = LcpEnumeration::new().all(&problem).unwrap();
        if all.solutions.is_empty() {
            assert_eq!(outcome.status, Status::Infeasible, "trial {trial}");
            infeasible += 1;
        } else {
            assert_eq!(outcome.status, Status::Solved, "trial {trial}");
            assert!(outcome.residual.value <= 1e-12, "trial {trial}: {:?}", outcome.residual);
        }
    }
    assert!(infeasible > 20, "both endings must occur: {infeasible}");
}

#[test]
fn any_matrix_is_never_solved_against_the_oracle() {
    let mut seed = Seed(3);
    let (mut solved, mut without) = (0, 0);
    for trial in 0..400 {
        let n = 2 + trial % 5;
        let problem = Lcp::new(seed.matrix(n, n), seed.vector(n)).unwrap();
        let all = LcpEnumeration::new().all(&problem).unwrap();
        let outcome = lemke(&problem);
        match outcome.status {
            Status::Solved => {
                let near = |known: &stiction_complementarity::LcpSolution| {
                    distance(&known.z, &outcome.solution.z) <= 1e-7 * known.z.iter().fold(1.0, |s: f64, z| s.max(*z))
                };
                assert!(all.solutions.iter().any(near), "trial {trial}");
                solved += 1;
            }
            status => assert_eq!(status, Status::Infeasible, "trial {trial}"),
        }
        without += usize::from(all.solutions.is_empty());
    }
    assert!(solved > 100 && without > 20, "both endings must occur: {solved}, {without}");
}

#[test]
fn large_dense_problems_keep_their_accuracy() {
    let mut seed = Seed(4);
    for n in [40, 70, 120] {
        let problem = Lcp::new(p_matrix(&mut seed, n), seed.vector(n)).unwrap();
        let outcome = lemke(&problem);
        assert_eq!(outcome.status, Status::Solved, "n = {n}: {:?}", outcome.residual);
        assert!(outcome.residual.value <= 1e-13, "n = {n}: {:?}", outcome.residual);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_solution_follows_a_permutation(seed in any::<u64>(), n in 1_usize..9) {
        let mut seed = Seed(seed);
        let (m, q) = (p_matrix(&mut seed, n), seed.vector(n));
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, seed.below(i + 1));
        }
        let mut permuted = DenseMatrix::zeros(n, n);
        for i in 0..n {
            for j in 0..n {
                permuted[(i, j)] = m[(order[i], order[j])];
            }
        }
        let permuted_q = order.iter().map(|&i| q[i]).collect();
        let straight = lemke(&Lcp::new(m, q).unwrap());
        let other = lemke(&Lcp::new(permuted, permuted_q).unwrap());
        prop_assert_eq!((straight.status, other.status), (Status::Solved, Status::Solved));
        let back: Vec<f64> = order.iter().map(|&i| straight.solution.z[i]).collect();
        prop_assert!(distance(&back, &other.solution.z) <= 1e-11 * back.iter().fold(1.0, |s: f64, z| s.max(*z)));
    }

    #[test]
    fn positive_row_scales_change_nothing(seed in any::<u64>(), n in 1_usize..9) {
        let mut seed = Seed(seed);
        let (m, q) = (p_matrix(&mut seed, n), seed.vector(n));
        let (mut scaled, mut scaled_q) = (m.clone(), q.clone());
        for (i, q_i) in scaled_q.iter_mut().enumerate() {
            let scale = [1e-6, 1e-3, 0.1, 1.0, 10.0, 1e4, 1e6][seed.below(7)];
            scaled.row_mut(i).iter_mut().for_each(|x| *x *= scale);
            *q_i *= scale;
        }
        let straight = lemke(&Lcp::new(m, q).unwrap());
        let other = lemke(&Lcp::new(scaled, scaled_q).unwrap());
        prop_assert_eq!((straight.status, other.status), (Status::Solved, Status::Solved));
        let size = straight.solution.z.iter().fold(1.0, |s: f64, z| s.max(*z));
        prop_assert!(distance(&straight.solution.z, &other.solution.z) <= 1e-10 * size);
    }
}
