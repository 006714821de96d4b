//! Rank of dense rows.

use stiction_testkit::Random;

use super::rank;

/// Products of random factors have the rank of the smaller dimension, whatever the scale of rows.
#[test]
fn the_rank_of_a_product_is_that_of_its_factors() {
    let mut random = Random::new(1);
    for (rows, inner, columns) in [(5, 3, 4), (3, 3, 6), (8, 6, 6), (4, 1, 4), (2, 5, 7)] {
        let left: Vec<f64> = (0..rows * inner).map(|_| random.uniform(-1.0, 1.0)).collect();
        let right: Vec<f64> = (0..inner * columns).map(|_| random.uniform(-1.0, 1.0)).collect();
        let mut product = Vec::new();
        for i in 0..rows {
            for j in 0..columns {
                product.push((0..inner).map(|k| left[i * inner + k] * right[k * columns + j]).sum::<f64>() * 1e6);
            }
        }
        assert_eq!(rank(&mut product, columns), rows.min(inner).min(columns), "{rows} × {inner} × {columns}");
    }
}

#[test]
fn zero_rows_have_no_rank() {
    assert_eq!(rank(&mut [], 3), 0);
    assert_eq!(rank(&mut [0.0; 6], 3), 0);
    assert_eq!(rank(&mut [], 0), 0);
    assert_eq!(rank(&mut [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 2.0, 4.0, 6.0], 3), 1);
}
