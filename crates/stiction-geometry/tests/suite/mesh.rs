//! Mass properties, convexity and hulls of triangle meshes, against boxes.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion};
use stiction_geometry::mass::{MassProperties, mass_properties};
use stiction_geometry::mesh::{self, MeshError};
use stiction_geometry::{Pose, Shape, spatial};

type Triangle = [Point3<f64>; 3];

/// The surface of a box, the outside out.
fn cuboid(half: [f64; 3]) -> Vec<Triangle> {
    let corner = |k: usize| {
        let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        Point3::new(half[0] * sign(0), half[1] * sign(1), half[2] * sign(2))
    };
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let halves = faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
    halves.map(|triangle| triangle.map(corner)).collect()
}

fn inside_out(triangles: &[Triangle]) -> Vec<Triangle> {
    triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect()
}

/// Points of triangles that share none, as in STL files.
fn separate(triangles: &[Triangle]) -> (Vec<Point3<f64>>, Vec<[usize; 3]>) {
    let indices = (0..triangles.len()).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]);
    (triangles.iter().flatten().copied().collect(), indices.collect())
}

fn properties(triangles: &[Triangle]) -> Result<MassProperties, MeshError> {
    let (points, indices) = separate(triangles);
    mesh::mass_properties(&points, &indices, 700.0)
}

fn of_box(half: [f64; 3], density: f64) -> MassProperties {
    mass_properties(&Shape::from(spatial::Shape::cuboid(half).unwrap()), density).unwrap()
}

fn assert_same(found: &MassProperties, expected: &MassProperties) {
    assert!((found.mass - expected.mass).abs() < 1e-12 * expected.mass, "{found:?}\n{expected:?}");
    assert!((found.centre - expected.centre).norm() < 1e-12, "{found:?}\n{expected:?}");
    let error = (found.inertia - expected.inertia).norm();
    assert!(error < 1e-11 * expected.inertia.norm(), "{found:?}\n{expected:?}");
}

#[test]
fn closed_meshes_have_the_mass_of_their_solid() {
    let (half, hole) = ([0.3, 0.2, 0.1], [0.05, 0.1, 0.03]);
    let turn = UnitQuaternion::from_euler_angles(0.3, -0.4, 1.1);
    let at = Isometry3::from_parts(Translation3::new(0.2, -0.1, 0.4), turn);
    let place = |triangles: &[Triangle]| triangles.iter().map(|t| t.map(|p| at * p)).collect::<Vec<_>>();
    let pose = Pose::from_parts(at.translation, at.rotation.to_rotation_matrix());
    let whole = place(&cuboid(half));
    assert_same(&properties(&whole).unwrap(), &of_box(half, 700.0).placed(&pose));
    assert_same(&properties(&inside_out(&whole)).unwrap(), &of_box(half, 700.0).placed(&pose));
    // A box with a cavity is the box less that of the cavity.
    let hollow = [cuboid(half), inside_out(&cuboid(hole))].concat();
    let [solid, missing] = [half, hole].map(|half| of_box(half, 700.0));
    let (mass, inertia) = (solid.mass - missing.mass, solid.inertia - missing.inertia);
    let expected = MassProperties { mass, inertia, ..solid };
    assert_same(&properties(&place(&hollow)).unwrap(), &expected.placed(&pose));
}

#[test]
fn meshes_without_a_solid_say_why() {
    let whole = cuboid([0.3, 0.2, 0.1]);
    assert_eq!(properties(&whole[1..]), Err(MeshError::Open { edges: 3 }));
    let mut turned = whole.clone();
    turned[4].swap(0, 1);
    assert_eq!(properties(&turned), Err(MeshError::Unoriented { edges: 3 }));
    let flat: Vec<_> = whole.iter().map(|t| t.map(|p| Point3::new(p.x, p.y, 0.0))).collect();
    assert_eq!(properties(&flat), Err(MeshError::NoVolume));
    assert_eq!(properties(&[]), Err(MeshError::NoVolume));
    let (points, triangles) = separate(&whole);
    assert!(matches!(mesh::mass_properties(&points, &triangles, 0.0), Err(MeshError::Mass(_))));
}

/// Writers round the corners of each triangle by themselves.
#[test]
fn points_that_differ_by_rounding_are_one() {
    let whole = cuboid([0.3, 0.2, 0.1]);
    let moved = |by: f64| {
        let noise = |k: usize| by * f64::from((k * 7919 % 13) as u32) / 13.0;
        let corners = whole.iter().flatten().enumerate();
        let corners: Vec<_> =
            corners.map(|(k, p)| Point3::new(p.x + noise(k), p.y - noise(k + 5), p.z + noise(k + 9))).collect();
        corners.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect::<Vec<_>>()
    };
    let found = properties(&moved(1e-8)).unwrap();
    assert!((found.mass / of_box([0.3, 0.2, 0.1], 700.0).mass - 1.0).abs() < 1e-6, "{found:?}");
    assert!(matches!(properties(&moved(1e-3)), Err(MeshError::Open { .. })));
}

#[test]
fn closed_meshes_that_fill_their_hull_are_convex() {
    let is_convex = |triangles: &[Triangle]| {
        let (points, indices) = separate(triangles);
        mesh::is_convex(&points, &indices)
    };
    let whole = cuboid([0.3, 0.2, 0.1]);
    assert!(is_convex(&whole) && is_convex(&inside_out(&whole)));
    assert!(!is_convex(&whole[1..]) && !is_convex(&[]));
    let apart: Vec<_> = whole.iter().map(|t| t.map(|p| p + nalgebra::Vector3::x())).collect();
    assert!(!is_convex(&[whole, apart].concat()), "two boxes apart do not fill their hull");
}

#[test]
fn flat_meshes_become_plates() {
    let turn = UnitQuaternion::from_euler_angles(0.3, -0.4, 1.1);
    let square = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]].map(|[x, y]| turn * Point3::new(x, y, 0.0));
    let plate = mesh::hull([square, square].concat()).unwrap();
    assert_eq!((plate.corners.len(), plate.is_thinned), (8, false));
    let thickness = plate.thickened.unwrap();
    let volume = mass_properties(&Shape::from(spatial::Shape::convex_hull(&plate.corners).unwrap()), 1.0).unwrap();
    assert!((volume.mass - 2.0 * thickness).abs() < 1e-9 * thickness && thickness > 1e-3 && thickness < 3e-3);
    // Points of a line, or a single one, make no body.
    assert!(mesh::hull(vec![Point3::origin(), Point3::new(1.0, 1.0, 0.0), Point3::new(2.0, 2.0, 0.0)]).is_err());
    assert!(mesh::hull(vec![Point3::origin(); 5]).is_err() && mesh::hull(Vec::new()).is_err());
}
