//! Masses of shapes against those of `stiction-geometry`, which uses other formulas; and all forms of rotations.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_3};

use nalgebra::{Isometry3, IsometryMatrix3, Rotation3, Translation3, UnitQuaternion, Vector3};
use stiction_geometry::{
    Shape,
    mass::{MassProperties, composite_mass_properties},
    spatial,
};
use stiction_scene::robot::{Inertial, ReadOptions, Robot};

fn body(geoms: &str) -> Inertial {
    let text = format!(
        "<mujoco><compiler angle=\"radian\"/><worldbody><body name=\"b\"><freejoint/>{geoms}</body></worldbody></mujoco>"
    );
    let robot = Robot::parse(&text, "b.xml", &ReadOptions::default()).expect("a robot");
    robot.links[1].inertial.expect("mass")
}

fn agree(inertial: &Inertial, expected: &MassProperties) {
    let mass = (inertial.mass - expected.mass).abs() / expected.mass;
    let centre = (inertial.centre - expected.centre).norm();
    let inertia = (inertial.inertia - expected.inertia).norm() / expected.inertia.norm();
    assert!(mass < 1e-13 && centre < 1e-13 && inertia < 1e-12, "{inertial:?}\n{expected:?}");
}

/// Axes of revolution are x there and z here.
fn z_to_x() -> UnitQuaternion<f64> {
    UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -FRAC_PI_2)
}

fn by_matrix(pose: &Isometry3<f64>) -> IsometryMatrix3<f64> {
    IsometryMatrix3::from_parts(pose.translation, pose.rotation.to_rotation_matrix())
}

#[test]
fn masses_of_all_shapes_are_those_of_the_geometry() {
    let turn = UnitQuaternion::from_euler_angles(0.3, -0.4, 1.1);
    let at = Isometry3::from_parts(Translation3::new(0.2, -0.1, 0.4), turn);
    let q = turn.coords;
    let place = format!("pos=\"0.2 -0.1 0.4\" quat=\"{} {} {} {}\" density=\"700\"", q.w, q.x, q.y, q.z);
    let along_z = at * z_to_x();
    let cases = [
        ("type=\"sphere\" size=\"0.3\"", spatial::Shape::sphere(0.3), at),
        ("type=\"box\" size=\"0.3 0.2 0.1\"", spatial::Shape::cuboid([0.3, 0.2, 0.1]), at),
        ("type=\"ellipsoid\" size=\"0.3 0.2 0.1\"", spatial::Shape::ellipsoid([0.3, 0.2, 0.1]), at),
        ("type=\"capsule\" size=\"0.1 0.4\"", spatial::Shape::capsule(0.4, 0.1), along_z),
        ("type=\"cylinder\" size=\"0.1 0.4\"", spatial::Shape::cylinder(0.4, 0.1), along_z),
    ];
    let mut geoms = String::new();
    let mut shapes = Vec::new();
    for (form, shape, pose) in cases {
        let shape = Shape::Spatial(shape.expect("a shape"));
        let pose = by_matrix(&pose);
        let geom = format!("<geom {form} {place}/>");
        agree(&body(&geom), &composite_mass_properties([(&shape, &pose)], 700.0).expect("a mass"));
        geoms.push_str(&geom);
        shapes.push((shape, pose));
    }
    let ball = Shape::Spatial(spatial::Shape::sphere(0.2).expect("a shape"));
    shapes.push((ball, by_matrix(&Isometry3::translation(-1.0, 0.5, 0.0))));
    geoms.push_str("<geom size=\"0.2\" pos=\"-1 0.5 0\" density=\"700\"/>");
    let all = composite_mass_properties(shapes.iter().map(|(shape, pose)| (shape, pose)), 700.0);
    agree(&body(&geoms), &all.expect("a mass"));
}

#[test]
fn shapes_between_two_points_lie_there() {
    let rod = body("<geom type=\"cylinder\" size=\"0.01\" fromto=\"1 2 3 1 2.6 3\" mass=\"2\"/>");
    assert!((rod.centre.coords - Vector3::new(1.0, 2.3, 3.0)).norm() < 1e-15);
    let across = 2.0 * (0.01 * 0.01 / 4.0 + 0.3 * 0.3 / 3.0);
    let expected = Vector3::new(across, 2.0 * 0.01 * 0.01 / 2.0, across);
    assert!((rod.inertia.diagonal() - expected).norm() < 1e-15, "{}", rod.inertia);
}

#[test]
fn rotations_are_the_same_in_every_way_to_write_them() {
    let half = FRAC_PI_3 / 2.0;
    let (sin, cos) = (libm::sin(half), libm::cos(half));
    let (s, c) = (libm::sin(FRAC_PI_3), libm::cos(FRAC_PI_3));
    let expected = Rotation3::from_axis_angle(&Vector3::x_axis(), FRAC_PI_3);
    for way in [
        format!("quat=\"{} {} 0 0\"", 3.0 * cos, 3.0 * sin),
        format!("axisangle=\"2 0 0 {FRAC_PI_3}\""),
        format!("euler=\"{FRAC_PI_3} 0 0\""),
        // The second axis need not be normal to the first, nor of length one.
        format!("xyaxes=\"2 0 0 0.5 {} {}\"", 3.0 * c, 3.0 * s),
        format!("zaxis=\"0 {} {}\"", -2.0 * s, 2.0 * c),
    ] {
        let text =
            format!("<mujoco><compiler angle=\"radian\"/><worldbody><body pos=\"1 2 3\" {way}/></worldbody></mujoco>");
        let robot = Robot::parse(&text, "b.xml", &ReadOptions::default()).expect("a robot");
        let found = robot.links[1].origin.rotation.to_rotation_matrix();
        assert!((found.matrix() - expected.matrix()).norm() < 1e-14, "{way}: {found}");
    }
}

#[test]
fn the_whole_mass_may_be_demanded() {
    let text = "<mujoco><compiler settotalmass=\"3\"/><worldbody><body><freejoint/><geom size=\"1\"/></body>\
        <body><freejoint/><geom size=\"2\"/></body></worldbody></mujoco>";
    let robot = Robot::parse(text, "b.xml", &ReadOptions::default()).expect("a robot");
    let small = robot.links[1].inertial.expect("mass");
    assert!((robot.mass() - 3.0).abs() < 1e-14 && (small.mass - 3.0 / 9.0).abs() < 1e-14);
    assert!((small.inertia[(0, 0)] - 0.4 * small.mass).abs() < 1e-15);
}
