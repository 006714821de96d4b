//! Cones of other motions: null spaces, boundaries, friction in balls and polygons.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

use nalgebra::{DMatrix, DVector};
use stiction_testkit::Random;

use super::{Cone, Corner, boundary_direction, null_space};

/// A x = 0 for all columns, which are orthonormal, and there are as many as columns minus rank.
#[test]
fn null_spaces_are_orthonormal_and_complete() {
    let mut random = Random::new(2);
    for (rows, columns) in [(1, 3), (2, 5), (4, 4), (0, 3)] {
        let a = DMatrix::from_fn(rows, columns, |_, _| random.uniform(-1.0, 1.0));
        let free = null_space(&a, columns);
        assert_eq!(free.ncols(), columns - rows);
        assert!((&a * &free).iter().all(|x| x.abs() < 1e-6));
        let gram = free.transpose() * &free;
        assert!((gram - DMatrix::identity(columns - rows, columns - rows)).iter().all(|x| x.abs() < 1e-12));
    }
}

/// Stiemke: y with C y ≥ 0 exists unless positive weights of the rows cancel.
#[test]
fn boundary_directions_exist_unless_rows_cancel() {
    let open = DMatrix::from_row_slice(3, 2, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    let y: DVector<f64> = boundary_direction(&open).unwrap();
    assert!((&open * &y).min() >= -1e-9 && y.norm() > 0.0);
    let cancelling = DMatrix::from_row_slice(3, 2, &[1.0, 0.0, 0.0, 1.0, -1.0, -1.0]);
    assert!(boundary_direction(&cancelling).is_none());
}

/// δ of a body in the plane with two velocities, under friction inside its disc, on its edge, and with slip.
#[test]
fn friction_leaves_the_directions_of_its_law() {
    let rows = [vec![1.0, 0.0], vec![0.0, 1.0]];
    let direction = |slip: [f64; 2], force: [f64; 2]| {
        let mut cone = Cone::new(2, 1e-9);
        cone.add_ball(&rows, &slip, &force, 1.0);
        cone.direction()
    };
    // Inside: none. On the edge without slip: against the force only. With slip: along it, either way.
    assert_eq!(direction([0.0; 2], [0.3, 0.4]), None);
    let edge = direction([0.0; 2], [0.6, 0.8]).unwrap();
    assert!((edge[0] + 0.6).abs() < 1e-9 && (edge[1] + 0.8).abs() < 1e-9, "{edge:?}");
    let slipping = direction([0.0, 2.0], [0.0, -1.0]).unwrap();
    assert!(slipping[0].abs() < 1e-9 && (slipping[1].abs() - 1.0).abs() < 1e-9, "{slipping:?}");
}

/// A polygon holds inside, and leaves the cone of its corner on the edge.
#[test]
fn polygons_leave_the_directions_of_their_corners() {
    let corners = |impulses: [f64; 4]| {
        let rows = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
        rows.into_iter()
            .zip(impulses)
            .map(|(row, impulse)| Corner { row: row.into(), speed: 0.0, impulse })
            .collect::<Vec<_>>()
    };
    let direction = |impulses: [f64; 4]| {
        let mut cone = Cone::new(2, 1e-9);
        cone.add_polygon(&corners(impulses), 1.0);
        cone.direction()
    };
    assert_eq!(direction([0.25, 0.0, 0.25, 0.0]), None);
    // At the corner along x: −δ_x = m ≥ |δ_y|.
    let at_corner = direction([1.0, 0.0, 0.0, 0.0]).unwrap();
    assert!(at_corner[0] < 0.0 && at_corner[1].abs() <= -at_corner[0] + 1e-7, "{at_corner:?}");
}
