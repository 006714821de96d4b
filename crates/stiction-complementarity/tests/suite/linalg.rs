//! Factorisations checked by products, fill-in by the length of chains, and errors of singular matrices by their row.

use crate::generate::{Seed, distance, sparse};
use stiction_complementarity::linalg::{BlockLu, BlockMatrix, DenseLu, SparseLdl};
use stiction_complementarity::{Bodies, Delassus, DenseMatrix, SparseMatrix};

/// [−M W; Wᵀ 0] for a chain of bodies with `size` coordinates, neighbours joined by `rows` constraint rows.
pub(crate) fn chain(seed: &mut Seed, bodies: usize, size: usize, rows: usize) -> SparseMatrix {
    let (nu, nj) = (bodies * size, (bodies - 1) * rows);
    let mut w = DenseMatrix::zeros(nu, nj);
    for joint in 0..bodies - 1 {
        for r in 0..rows {
            for k in joint * size..(joint + 2) * size {
                w[(k, joint * rows + r)] = seed.real();
            }
        }
    }
    let mut a = DenseMatrix::zeros(nu + nj, nu + nj);
    for body in 0..bodies {
        for i in 0..size {
            for j in 0..size {
                let (p, q) = (body * size + i, body * size + j);
                a[(p, q)] = if i == j { -2.0 } else { -0.1 / (1.0 + (i + j) as f64) };
            }
        }
    }
    for k in 0..nu {
        for c in 0..nj {
            a[(k, nu + c)] = w[(k, c)];
            a[(nu + c, k)] = w[(k, c)];
        }
    }
    sparse(&a)
}

fn defect(a: &SparseMatrix, x: &[f64], b: &[f64]) -> f64 {
    let mut product = vec![0.0; a.rows()];
    a.mul_add_into(x, &mut product);
    distance(&product, b)
}

#[test]
fn ldl_solves_chains() {
    let mut seed = Seed(21);
    for (bodies, size, rows) in [(1, 6, 0), (2, 3, 2), (12, 6, 5), (40, 6, 3)] {
        let a = chain(&mut seed, bodies, size, rows);
        let b = seed.vector(a.rows());
        let (mut ldl, mut x) = (SparseLdl::default(), vec![0.0; a.rows()]);
        ldl.factor(&a).unwrap();
        ldl.solve(&b, &mut x);
        let scale = x.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
        assert!(defect(&a, &x, &b) <= 1e-12 * scale, "{bodies} bodies: {:e}", defect(&a, &x, &b));
        let mut from_sparse = vec![0.0; a.rows()];
        ldl.solve_sparse(b.iter().copied().enumerate(), &mut from_sparse);
        assert_eq!(x, from_sparse);
    }
}

#[test]
fn the_fill_of_a_chain_grows_linearly() {
    let mut seed = Seed(22);
    let mut fill = |bodies| {
        let mut ldl = SparseLdl::default();
        ldl.factor(&chain(&mut seed, bodies, 6, 5)).unwrap();
        ldl.fill() as f64 / bodies as f64
    };
    let (short, long) = (fill(20), fill(160));
    assert!(long <= 1.15 * short, "entries per body: {short} for 20 bodies, {long} for 160");
    assert!(long <= 250.0, "entries per body: {long}");
}

#[test]
fn a_second_matrix_with_the_same_or_another_pattern_is_factorised_afresh() {
    let mut seed = Seed(23);
    let mut ldl = SparseLdl::default();
    for bodies in [5, 5, 9, 5] {
        let a = chain(&mut seed, bodies, 3, 2);
        let (b, mut x) = (seed.vector(a.rows()), vec![0.0; a.rows()]);
        ldl.factor(&a).unwrap();
        ldl.solve(&b, &mut x);
        assert!(defect(&a, &x, &b) <= 1e-11);
    }
}

#[test]
fn a_repeated_joint_row_is_named() {
    let mut seed = Seed(24);
    let a = chain(&mut seed, 4, 3, 2);
    let n = a.rows();
    // One more constraint row, equal to the last one.
    let mut repeated = SparseMatrix::default();
    repeated.clear(n + 1, n + 1);
    for i in 0..n {
        for (j, value) in a.row(i) {
            repeated.push(j, value);
            if j == n - 1 {
                repeated.push(n, value);
            }
        }
        repeated.finish_row();
    }
    for (j, value) in a.row(n - 1) {
        repeated.push(j, value);
    }
    repeated.finish_row();
    let row = SparseLdl::default().factor(&repeated).unwrap_err().row;
    assert!(row == n - 1 || row == n, "row {row} of {n}");
    let mut blocks = BlockLu::default();
    assert_eq!(blocks.find_blocks(&repeated), n + 1);
    let row = blocks.factor(&repeated).unwrap_err().row;
    assert!(row < n + 1);
}

#[test]
fn lu_solves_and_names_a_zero_row() {
    let mut seed = Seed(25);
    for n in [0, 1, 2, 7, 30] {
        let (a, b) = (seed.matrix(n, n), seed.vector(n));
        let (mut lu, mut x) = (DenseLu::default(), vec![0.0; n]);
        lu.factor(n, |data| data.copy_from_slice(a.as_slice())).unwrap();
        lu.solve(&b, &mut x);
        let scale = x.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
        assert!(defect(&sparse(&a), &x, &b) <= 1e-13 * scale);
    }
    let mut a = seed.matrix(5, 5);
    a.row_mut(3).fill(0.0);
    let refused = DenseLu::default().factor(5, |data| data.copy_from_slice(a.as_slice()));
    assert_eq!(refused.unwrap_err().row, 3);
}

#[test]
fn block_lu_finds_its_blocks_and_solves_both_ways() {
    let mut seed = Seed(26);
    let sizes = [1, 6, 3, 6];
    let n = sizes.iter().sum();
    let mut a = DenseMatrix::zeros(n, n);
    let mut begin = 0;
    for size in sizes {
        for i in 0..size {
            for j in 0..size {
                a[(begin + i, begin + j)] = seed.real();
            }
        }
        begin += size;
    }
    let a = sparse(&a);
    let mut blocks = BlockLu::default();
    assert_eq!(blocks.find_blocks(&a), 6);
    blocks.factor(&a).unwrap();
    let (b, mut x) = (seed.vector(n), vec![0.0; n]);
    blocks.solve(&b, &mut x);
    assert!(defect(&a, &x, &b) <= 1e-12);

    // Only the second and the third block are touched by rows 2 and 8.
    let (mut y, mut touched) = (vec![0.0; n], Vec::new());
    let d = [(2, 1.5), (8, -0.5), (2, 0.5)];
    blocks.solve_transposed_sparse(d.into_iter(), &mut y, &mut touched);
    assert_eq!(touched, [1..7, 7..10]);
    let mut transposed = SparseMatrix::default();
    a.transpose_into(&mut transposed);
    let mut dense_d = vec![0.0; n];
    for (i, value) in d {
        dense_d[i] += value;
    }
    assert!(defect(&transposed, &y, &dense_d) <= 1e-12);
}

#[test]
fn a_sparse_matrix_is_refilled_and_transposed() {
    let mut seed = Seed(27);
    let dense = seed.matrix(4, 7);
    let mut a = sparse(&dense);
    let mut transposed = SparseMatrix::default();
    a.transpose_into(&mut transposed);
    for i in 0..4 {
        for j in 0..7 {
            assert_eq!(transposed.row(j).nth(i), Some((i, dense[(i, j)])));
        }
    }
    a.clear(2, 2);
    assert_eq!((a.finished_rows(), a.row(0).count()), (0, 0));
    a.finish_row();
    a.push(1, f64::NAN);
    a.finish();
    assert_eq!(a.first_not_finite().unwrap().0, 1);
}

/// Bodies of all sizes, blocks of one to five rows on up to three of them in any order: the assembled W is the operator, column by column, and
/// exactly symmetric.
#[test]
fn the_explicit_operator_is_the_operator() {
    let mut seed = Seed(97);
    let sizes = [3, 1, 6, 2, 3, 1, 4];
    for blocks in 1..14 {
        let rows: Vec<usize> = (0..blocks).map(|i| 1 + (i * 3 + blocks) % 5).collect();
        let mut jacobian = BlockMatrix::default();
        jacobian.clear(rows.iter().copied(), sizes);
        for (i, rows) in rows.iter().enumerate() {
            for k in 0..=i % 3 {
                let body = (5 * i + 3 * k + blocks) % sizes.len();
                jacobian.push(body, &seed.vector(rows * sizes[body]));
            }
            jacobian.finish_row();
        }
        let mut mass = Vec::new();
        for size in sizes {
            let entry = |k: usize| if k.is_multiple_of(size + 1) { 2.0 } else { 0.1 };
            mass.extend((0..size * size).map(entry));
        }
        let bodies = Bodies::new(jacobian, mass).unwrap();
        let n = Delassus::rows(&bodies);
        let mut w = vec![f64::NAN; n * n];
        assert!(bodies.assemble(&mut w));
        for j in 0..n {
            let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
            unit[j] = 1.0;
            bodies.apply(&unit, &mut column, &mut Vec::new());
            let ours: Vec<f64> = (0..n).map(|i| w[i * n + j]).collect();
            assert!(distance(&ours, &column) <= 1e-13, "{blocks} blocks, column {j}");
            assert_eq!(ours, w[j * n..(j + 1) * n], "{blocks} blocks, row {j}");
        }
    }
}
