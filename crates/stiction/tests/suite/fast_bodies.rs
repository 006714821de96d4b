//! Fast bodies: what is within the reach of a step cannot be passed through (issue 33).

use nalgebra::{Point3, Quaternion, UnitQuaternion, Vector3};
use stiction::spatial::Shape;
use stiction::{BodyBuilder, Dimension, Preset, Simulation};
use stiction_testkit::Random;

use crate::support::{friction, q, solid_box, world};

const H: f64 = 0.01;
/// Half of the thickness of the wall, m.
const HALF: f64 = 0.0005;

fn shot(kind: usize) -> Shape {
    let corners = [[0.02, 0.0, 0.0], [-0.02, 0.01, 0.0], [0.0, -0.02, 0.01], [0.0, 0.01, 0.03], [0.0, 0.01, -0.02]];
    match kind {
        0 => Shape::sphere(0.02),
        1 => Shape::cuboid([0.02, 0.015, 0.01]),
        2 => Shape::capsule(0.03, 0.01),
        _ => Shape::convex_hull(&corners.map(Point3::from)),
    }
    .unwrap()
}

/// A thousand shots at 50 m/s at a wall of 1 mm, fixed or free, spinning or not, with friction or not: half a metre of way in a step. None is beyond the wall.
#[test]
fn no_shot_passes_through_a_thin_wall() {
    let mut random = Random::new(33);
    for number in 0..1000 {
        let preset = [Preset::Ncp, Preset::StewartTrinkle][number / 16 % 2];
        let turn = Quaternion::new(random.normal(), random.normal(), random.normal(), random.normal()).normalize();
        let mut side = || random.uniform(-15.0, 15.0);
        let (velocity, spin) = ([50.0, side(), side()], [side(), side(), side()].map(|w| 2.0 * w));
        let spin = if number / 8 % 2 == 0 { spin } else { [0.0; 3] };
        let body = BodyBuilder::rigid("shot", 0.1, nalgebra::Matrix3::from_diagonal_element(1e-5))
            .shape(shot(number % 4).into())
            .position(-random.uniform(0.05, 0.45), 0.0, 0.0)
            .quaternion([turn.w, turn.i, turn.j, turn.k])
            .velocity(velocity[0], velocity[1], velocity[2])
            .angular_velocity(spin[0], spin[1], spin[2]);
        let half = [HALF, 2.0, 2.0];
        let wall = if number / 4 % 2 == 0 {
            BodyBuilder::fixed("wall").shape(Shape::cuboid(half).unwrap().into())
        } else {
            solid_box("wall", 1.0, half)
        };
        let is_free = number / 4 % 2 == 1;
        let rule = friction([0.0, 0.3][number / 32 % 2]);
        let model = world(Dimension::Spatial, [wall, body], [0.0; 3], rule);
        let mut simulation = Simulation::new(model, preset.scheme(), H).unwrap();
        for step in 0..6 {
            let _ = simulation.step().unwrap_or_else(|error| panic!("{number}, step {step}: {error}"));
            let at = |name| Vector3::from_column_slice(&q(&simulation, name)[..3]);
            let across = if is_free {
                let [w, x, y, z] = <[f64; 4]>::try_from(&q(&simulation, "wall")[3..7]).unwrap();
                let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
                turn.inverse_transform_vector(&(at("shot") - at("wall")))
            } else {
                at("shot")
            };
            // Beside the wall there is nothing to pass through.
            let is_beside = across.y.abs() > half[1] || across.z.abs() > half[2];
            assert!(across.x < 0.0 || is_beside, "{number}, step {step}: {across}");
        }
    }
}
