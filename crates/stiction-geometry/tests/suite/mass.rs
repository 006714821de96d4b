//! Mass properties against textbook formulas, parry and the parallel-axis theorem.

use nalgebra::{Matrix3, Point2, Point3, Rotation3, Translation3, Vector2, Vector3};
use parry2d_f64::glamx::DVec2;
use parry3d_f64::glamx::DVec3;
use stiction_geometry::mass::{
    MassError, MassProperties, block_inertia, box_inertia, capsule_inertia, composite_mass_properties, disc_inertia,
    ellipse_inertia, mass_properties, slender_rod_inertia, sphere_inertia,
};
use stiction_geometry::planar::{ConvexPolygon, Shape as Planar};
use stiction_geometry::spatial::{ConvexPolyhedron, Shape as Spatial};
use stiction_geometry::{Pose, Shape};

use crate::planar::support::Random;

fn of_planar(shape: Planar, density: f64) -> MassProperties {
    mass_properties(&Shape::Planar(shape), density).unwrap()
}

fn of_spatial(shape: Spatial, density: f64) -> MassProperties {
    mass_properties(&Shape::Spatial(shape), density).unwrap()
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-13 * expected.abs(), "{found} is not {expected}");
}

fn assert_matrix(found: &Matrix3<f64>, expected: &Matrix3<f64>, relative: f64) {
    assert!((found - expected).amax() <= relative * expected.amax(), "{found} is not {expected}");
}

#[test]
fn planar_shapes_have_textbook_mass_and_inertia() {
    let disc = of_planar(Planar::disc(0.5).unwrap(), 3.0);
    assert_close(disc.mass, 3.0 * std::f64::consts::PI * 0.25);
    assert_close(disc.inertia[(2, 2)], disc_inertia(disc.mass, 0.5));
    let block = of_planar(Planar::rectangle([1.5, 0.25]).unwrap(), 2.0);
    assert_close(block.mass, 2.0 * 3.0 * 0.5);
    assert_close(block.inertia[(2, 2)], block_inertia(block.mass, 3.0, 0.5));
    let ellipse = of_planar(Planar::ellipse([1.0, 0.2]).unwrap(), 7.0);
    assert_close(ellipse.mass, 7.0 * std::f64::consts::PI * 0.2);
    assert_close(ellipse.inertia[(2, 2)], ellipse_inertia(ellipse.mass, [1.0, 0.2]));
}

#[test]
fn spatial_shapes_have_textbook_mass_and_inertia() {
    let ball = of_spatial(Spatial::sphere(0.7).unwrap(), 2.0);
    assert_close(ball.mass, 2.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.343);
    assert_matrix(&ball.inertia, &Matrix3::from_diagonal_element(sphere_inertia(ball.mass, 0.7)), 1e-14);
    let half = [0.3, 0.5, 1.1];
    let solid = of_spatial(Spatial::cuboid(half).unwrap(), 5.0);
    assert_close(solid.mass, 5.0 * 8.0 * 0.3 * 0.5 * 1.1);
    assert_matrix(&solid.inertia, &Matrix3::from_diagonal(&box_inertia(solid.mass, half)), 1e-14);
    assert_close(box_inertia(12.0, half).x, 12.0 / 12.0 * (1.0 + 2.2 * 2.2));
}

#[test]
fn thin_bodies_become_rods_and_short_capsules_balls() {
    assert!((block_inertia(2.0, 3.0, 1e-9) - slender_rod_inertia(2.0, 3.0)).abs() < 1e-15);
    let thin = capsule_inertia(2.0, 1.5, 1e-9);
    assert!((thin.y - slender_rod_inertia(2.0, 3.0)).abs() < 1e-8 && thin.x < 1e-15);
    let short = capsule_inertia(2.0, 1e-12, 0.5);
    assert!((short - Vector3::repeat(sphere_inertia(2.0, 0.5))).amax() < 1e-11);
}

#[test]
fn spatial_capsule_agrees_with_parry() {
    let (half_length, radius, density) = (0.8, 0.3, 4.0);
    let ours = of_spatial(Spatial::capsule(half_length, radius).unwrap(), density);
    let x = DVec3::new(half_length, 0.0, 0.0);
    let theirs = parry3d_f64::mass_properties::MassProperties::from_capsule(density, -x, x, radius);
    assert_close(ours.mass, theirs.mass());
    let matrix = theirs.reconstruct_inertia_matrix();
    let theirs = Matrix3::from_fn(|i, j| matrix.col(j)[i]);
    assert_matrix(&ours.inertia, &theirs, 1e-14);
    assert!((capsule_inertia(ours.mass, half_length, radius) - ours.inertia.diagonal()).amax() < 1e-14);
}

/// The reference is the integral over thin strips across the axis, because parry is wrong here.
#[test]
fn planar_capsule_agrees_with_quadrature() {
    let (h, r, density) = (0.8, 0.3, 4.0);
    let ours = of_planar(Planar::capsule(h, r).unwrap(), density);
    let strips = 200_000;
    let width = 2.0 * (h + r) / f64::from(strips);
    let (mut mass, mut inertia) = (0.0, 0.0);
    for i in 0..strips {
        let x = -(h + r) + (f64::from(i) + 0.5) * width;
        let beyond = (x.abs() - h).max(0.0);
        let y = (r * r - beyond * beyond).sqrt();
        let strip = density * 2.0 * y * width;
        mass += strip;
        inertia += strip * (x * x + y * y / 3.0);
    }
    assert!((ours.mass - mass).abs() < 1e-7 && (ours.inertia[(2, 2)] - inertia).abs() < 1e-7);
}

#[test]
fn polygon_agrees_with_parry_and_with_its_box() {
    let mut random = Random(51);
    for _ in 0..50 {
        let cloud: Vec<_> = (0..12).map(|_| Point2::new(random.between(2.0, 4.0), random.between(-1.0, 1.0))).collect();
        let hull = ConvexPolygon::from_points(&cloud).unwrap();
        let corners: Vec<_> = hull.vertices().iter().map(|v| DVec2::new(v.x, v.y)).collect();
        let theirs = parry2d_f64::mass_properties::MassProperties::from_convex_polygon(2.5, &corners);
        let ours = of_planar(Planar::Polygon(hull), 2.5);
        assert!((ours.mass - theirs.mass()).abs() < 1e-12);
        assert!((ours.inertia[(2, 2)] - theirs.principal_inertia()).abs() < 1e-12);
        assert!((ours.centre.x - theirs.local_com.x).abs() + (ours.centre.y - theirs.local_com.y).abs() < 1e-13);
    }
    let corners = [(-1.0, -0.5), (1.0, -0.5), (1.0, 0.5), (-1.0, 0.5)].map(|(x, y)| Point2::new(x, y));
    let (polygon, block) = (Planar::polygon(&corners).unwrap(), Planar::rectangle([1.0, 0.5]).unwrap());
    assert_matrix(&of_planar(polygon, 3.0).inertia, &of_planar(block, 3.0).inertia, 1e-15);
}

/// Non-convex shapes are sums of boxes.
#[test]
fn mass_of_an_l_and_of_a_c_is_that_of_their_boxes() {
    let part = |[x, y]: [f64; 2], [width, height]: [f64; 2]| {
        let block = of_planar(Planar::rectangle([width / 2.0, height / 2.0]).unwrap(), 3.0);
        block.placed(&Pose::translation(x + width / 2.0, y + height / 2.0, 0.0))
    };
    let outlines = [
        (
            vec![(1.0, 2.0), (4.0, 2.0), (4.0, 3.0), (2.0, 3.0), (2.0, 6.0), (1.0, 6.0)],
            vec![part([1.0, 2.0], [3.0, 1.0]), part([1.0, 3.0], [1.0, 3.0])],
        ),
        (
            vec![(0.0, 0.0), (2.0, 0.0), (2.0, 0.5), (0.3, 0.5), (0.3, 1.5), (2.0, 1.5), (2.0, 2.0), (0.0, 2.0)],
            vec![part([0.0, 0.0], [2.0, 0.5]), part([0.0, 0.5], [0.3, 1.0]), part([0.0, 1.5], [2.0, 0.5])],
        ),
    ];
    for (corners, parts) in outlines {
        let corners: Vec<_> = corners.into_iter().map(|(x, y)| Point2::new(x, y)).collect();
        let shape = Planar::polygon(&corners).unwrap();
        assert!(matches!(shape, Planar::SimplePolygon(_)));
        let (ours, sum) = (of_planar(shape, 3.0), MassProperties::combined(&parts).unwrap());
        assert_close(ours.mass, sum.mass);
        assert!((ours.centre - sum.centre).norm() < 1e-14);
        assert_matrix(&ours.inertia, &sum.inertia, 1e-13);
    }
    // The L by hand: areas 3 and 3, centres (2.5, 2.5) and (1.5, 4.5).
    let l = [(1.0, 2.0), (4.0, 2.0), (4.0, 3.0), (2.0, 3.0), (2.0, 6.0), (1.0, 6.0)].map(|(x, y)| Point2::new(x, y));
    let l = of_planar(Planar::polygon(&l).unwrap(), 1.0);
    assert!((l.mass - 6.0).abs() < 1e-14 && (l.centre - Point3::new(2.0, 3.5, 0.0)).norm() < 1e-14);
    assert!((l.inertia[(2, 2)] - (2.0 * 3.0 * 10.0 / 12.0 + 6.0 * 1.25)).abs() < 1e-13);
}

#[test]
fn polyhedron_agrees_with_parry_and_with_its_box() {
    let mut random = Random(52);
    for _ in 0..20 {
        let mut coordinate = || random.between(1.0, 3.0);
        let cloud: Vec<_> = (0..15).map(|_| Point3::new(coordinate(), coordinate(), coordinate())).collect();
        let hull = ConvexPolyhedron::from_points(&cloud).unwrap();
        let corners: Vec<_> = hull.vertices().iter().map(|v| DVec3::new(v.x, v.y, v.z)).collect();
        let triangles: Vec<_> =
            hull.faces().flat_map(|face| (1..face.len() - 1).map(move |k| [face[0], face[k], face[k + 1]])).collect();
        let theirs = parry3d_f64::mass_properties::MassProperties::from_convex_polyhedron(2.5, &corners, &triangles);
        let ours = of_spatial(Spatial::polyhedron(hull), 2.5);
        assert!((ours.mass - theirs.mass()).abs() < 1e-12);
        let matrix = theirs.reconstruct_inertia_matrix();
        assert_matrix(&ours.inertia, &Matrix3::from_fn(|i, j| matrix.col(j)[i]), 1e-9);
    }
    let half = [0.4, 0.7, 0.2];
    let corner = |i: u32| {
        let side = |k: usize| if i >> k & 1 == 0 { -half[k] } else { half[k] };
        Point3::new(side(0) + 3.0, side(1), side(2))
    };
    let hull = Spatial::convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap();
    let found = of_spatial(hull, 2.0);
    assert!((found.centre - Point3::new(3.0, 0.0, 0.0)).norm() < 1e-14);
    assert_matrix(&found.inertia, &of_spatial(Spatial::cuboid(half).unwrap(), 2.0).inertia, 1e-13);
}

#[test]
fn a_block_cut_in_two_is_the_block() {
    let turned = Rotation3::from_axis_angle(&Vector3::z_axis(), std::f64::consts::FRAC_PI_2);
    let left = (Shape::Planar(Planar::rectangle([0.5, 0.3]).unwrap()), Pose::translation(-0.5, 0.0, 0.0));
    // The right half is described standing and laid down by its pose.
    let right = (
        Shape::Planar(Planar::rectangle([0.3, 0.5]).unwrap()),
        Pose::from_parts(Translation3::new(0.5, 0.0, 0.0), turned),
    );
    let found = composite_mass_properties([(&left.0, &left.1), (&right.0, &right.1)], 2.0).unwrap();
    let whole = of_planar(Planar::rectangle([1.0, 0.3]).unwrap(), 2.0);
    assert_close(found.mass, whole.mass);
    assert!((found.centre - whole.centre).norm() < 1e-15);
    assert_matrix(&found.inertia, &whole.inertia, 1e-14);
}

#[test]
fn a_cube_cut_in_two_and_turned_is_the_cube_turned() {
    let turn = Rotation3::from_euler_angles(0.3, -0.8, 1.9);
    let half = Shape::Spatial(Spatial::cuboid([0.5, 1.0, 1.0]).unwrap());
    let at = |x: f64| Pose::from_parts(Translation3::from(turn * Vector3::new(x, 0.0, 0.0)), turn);
    let found = composite_mass_properties([(&half, &at(-0.5)), (&half, &at(0.5))], 3.0).unwrap();
    let whole = of_spatial(Spatial::cuboid([1.0, 1.0, 1.0]).unwrap(), 3.0);
    assert_matrix(&found.inertia, &whole.inertia, 1e-14);
    let heavy = found.with_mass(1.0).unwrap();
    assert_close(heavy.inertia[(0, 0)], whole.inertia[(0, 0)] / whole.mass);
}

#[test]
fn bodies_without_volume_and_senseless_densities_are_refused() {
    let point = Shape::Planar(Planar::point());
    let ground = Shape::Planar(Planar::half_plane(Vector2::y()).unwrap());
    let space = Shape::Spatial(Spatial::half_space(Vector3::z()).unwrap());
    for shape in [&point, &ground, &space] {
        assert_eq!(mass_properties(shape, 1.0), Err(MassError::NoVolume { shape: shape.name() }));
    }
    let disc = Shape::Planar(Planar::disc(1.0).unwrap());
    for density in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(mass_properties(&disc, density), Err(MassError::BadAmount { .. })));
    }
    assert_eq!(MassProperties::combined(&[]), Err(MassError::NoParts));
}
