//! Mass properties of smooth shapes, against textbook formulas and sums over small cells.

use nalgebra::{Matrix3, Point3, Vector3};
use stiction_geometry::implicit::ConvexPart;
use stiction_geometry::mass::{
    MassError, cylinder_inertia, ellipse_inertia, ellipsoid_inertia, mass_properties, sphere_inertia,
};
use stiction_geometry::{Pose, Shape, planar, spatial};

fn assert_matrix(found: &Matrix3<f64>, expected: &Matrix3<f64>, relative: f64) {
    assert!((found - expected).amax() <= relative * expected.amax(), "{found} is not {expected}");
}

#[test]
fn of_ellipsoids_cylinders_and_exponents_of_two() {
    let axes = [0.3, 0.5, 0.9];
    let ellipsoid = mass_properties(&spatial::Shape::ellipsoid(axes).unwrap().into(), 2.0).unwrap();
    assert!((ellipsoid.mass - 2.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.135).abs() < 1e-14);
    assert_matrix(&ellipsoid.inertia, &Matrix3::from_diagonal(&ellipsoid_inertia(ellipsoid.mass, axes)), 1e-14);
    assert!((ellipsoid_inertia(2.0, [0.5; 3]).x - sphere_inertia(2.0, 0.5)).abs() < 1e-15);
    let same = mass_properties(&spatial::Shape::superquadric(axes, [2.0, 2.0]).unwrap().into(), 2.0).unwrap();
    assert!((same.mass - ellipsoid.mass).abs() < 1e-13 * same.mass);
    assert_matrix(&same.inertia, &ellipsoid.inertia, 1e-13);
    let flat = mass_properties(&planar::Shape::superellipse([2.0, 0.5], 2.0).unwrap().into(), 3.0).unwrap();
    assert!((flat.mass - 3.0 * std::f64::consts::PI).abs() < 1e-13 * flat.mass);
    assert!((flat.inertia[(2, 2)] - ellipse_inertia(flat.mass, [2.0, 0.5])).abs() < 1e-13 * flat.mass);
    let can = mass_properties(&spatial::Shape::cylinder(0.5, 0.3).unwrap().into(), 2.0).unwrap();
    assert!((can.mass - 2.0 * std::f64::consts::PI * 0.09).abs() < 1e-14);
    assert_matrix(&can.inertia, &Matrix3::from_diagonal(&cylinder_inertia(can.mass, 0.5, 0.3)), 1e-14);
}

/// Sums over the middles of small cells where the functions are negative.
#[test]
fn of_superquadrics_by_counting_cells() {
    const CELLS: i32 = 120;
    let axes = [1.0, 0.6, 0.8];
    let shape: Shape = spatial::Shape::superquadric(axes, [3.0, 5.0]).unwrap().into();
    let convex = shape.convex().unwrap();
    let middle = |k: i32| (f64::from(k) + 0.5) / f64::from(CELLS);
    let cell = 8.0 * axes.iter().product::<f64>() / f64::from(CELLS).powi(3);
    let (mut mass, mut squares) = (0.0, Vector3::zeros());
    // One octant represents all eight.
    for (i, j, k) in (0..CELLS).flat_map(|i| (0..CELLS).flat_map(move |j| (0..CELLS).map(move |k| (i, j, k)))) {
        let x = Vector3::new(middle(i) * axes[0], middle(j) * axes[1], middle(k) * axes[2]);
        if convex.jet(0, &Point3::from(x)).value <= 0.0 {
            mass += cell;
            squares += x.component_mul(&x) * cell;
        }
    }
    let exact = mass_properties(&shape, 1.0).unwrap();
    assert!((mass - exact.mass).abs() < 1e-3 * exact.mass, "{mass} {}", exact.mass);
    let inertia = Matrix3::from_diagonal(&(Vector3::repeat(squares.sum()) - squares));
    assert_matrix(&inertia, &exact.inertia, 2e-3);
}

#[test]
fn of_implicit_solids_are_not_guessed() {
    let disc: Shape = planar::Shape::disc(1.0).unwrap().into();
    let half_plane: Shape = planar::Shape::half_plane(nalgebra::Vector2::y()).unwrap().into();
    let piece = |shape: &Shape| ConvexPart::shape(shape, &Pose::identity()).unwrap();
    let half_disc: Shape = planar::Shape::intersection([piece(&disc), piece(&half_plane)]).unwrap().into();
    assert_eq!(mass_properties(&half_disc, 1.0), Err(MassError::NotComputed { shape: "implicit shape" }));
    let open: Shape = planar::Shape::intersection([piece(&half_plane)]).unwrap().into();
    assert_eq!(mass_properties(&open, 1.0), Err(MassError::NoVolume { shape: "implicit shape" }));
}

#[test]
fn rays_leave_at_the_surface() {
    let disc: Shape = planar::Shape::disc(1.0).unwrap().into();
    let half_plane: Shape = planar::Shape::half_plane(nalgebra::Vector2::y()).unwrap().into();
    let piece = |shape: &Shape| ConvexPart::shape(shape, &Pose::identity()).unwrap();
    let half_disc: Shape = planar::Shape::intersection([piece(&disc), piece(&half_plane)]).unwrap().into();
    let convex = half_disc.convex().unwrap();
    let up = convex.leaving(&Vector3::y()).unwrap();
    assert!(up.y.abs() < 1e-12);
    let down = convex.leaving(&-Vector3::y()).unwrap();
    assert!((down.coords.norm() - 1.0).abs() < 1e-12);
    assert!(half_plane.convex().unwrap().leaving(&Vector3::y()).is_none());
}
