//! Shapes without facets in the ordinary step: cylinders that stand and lie still, smooth bodies that fall on boxes and on one another.

use nalgebra::{Rotation3, Vector3};
use stiction::geometry::implicit::{Scratch, closest};
use stiction::{Pose, Shape, Simulation, scene, spatial};
use stiction_testkit::count_allocations;

use crate::support::{q, step};

const UPRIGHT: &str = "orientation = { axis = [0.0, 1.0, 0.0], angle = \"90 deg\" }";
const CAN: &str = "cylinder = { half_length = 0.1, radius = 0.06 }";

fn spatial_world(bodies: &[(&str, String)]) -> Simulation {
    let mut text = "[simulation]\nstep = 0.005\nduration = 1.0\ngravity = [0.0, 0.0, -9.81]\n\
        [[body]]\nname = \"floor\"\nkind = \"fixed\"\n[[body.shape]]\nhalfspace = { normal = [0.0, 0.0, 1.0] }\n\
        [[body]]\nname = \"slab\"\nkind = \"fixed\"\nposition = [2.0, 0.0, 0.0]\n\
        [[body.shape]]\nbox = { half_extents = [0.5, 0.5, 0.2] }\n"
        .to_owned();
    for (name, table) in bodies {
        let density = if table.contains("mass =") { "" } else { "density = 1000.0" };
        text += &["[[body]]\nname = \"", name, "\"\n", density, "\n", table, "\n"].concat();
    }
    text += "[contact_default]\nfriction = 0.5\n";
    Simulation::from_scene(&scene::parse(&text, "world").unwrap()).unwrap()
}

#[test]
fn cylinders_stand_and_lie_still() {
    let placed = |at: &str, turn: &str| format!("position = {at}\n{turn}\n[[body.shape]]\n{CAN}");
    let mut simulation = spatial_world(&[
        ("standing", placed("[0.0, 0.0, 0.1]", UPRIGHT)),
        ("lying", placed("[0.5, 0.0, 0.06]", "")),
        ("standing on slab", placed("[2.0, 0.1, 0.3]", UPRIGHT)),
        ("lying on slab", placed("[1.8, -0.2, 0.26]", "")),
        ("over the edge", placed("[1.52, 0.3, 0.26]", "")),
        ("on top", placed("[0.01, 0.0, 0.3]", UPRIGHT)),
    ]);
    let names = ["standing", "lying", "standing on slab", "lying on slab", "over the edge", "on top"];
    let before: Vec<Vec<f64>> = names.iter().map(|name| q(&simulation, name).to_vec()).collect();
    for _ in 0..200 {
        let report = step(&mut simulation);
        assert!(report.penetration < 1e-6, "{report:?}");
    }
    for (name, before) in names.iter().zip(&before) {
        let moved = q(&simulation, name).iter().zip(before).map(|(after, before)| (after - before).abs());
        let moved = moved.fold(0.0, f64::max);
        assert!(moved < 1e-6, "{name} moved by {moved}");
    }
}

#[test]
fn smooth_bodies_fall_on_boxes_and_on_one_another() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/smooth_shapes.toml");
    let scene = scene::load(path).unwrap();
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let mut deepest = 0.0_f64;
    for _ in 0..scene.settings.steps() {
        deepest = deepest.max(step(&mut simulation).penetration);
    }
    // The linearised gap of a curved body errs by the square of its motion in a step.
    assert!(deepest < 2e-2, "{deepest}");
    let can = q(&simulation, "can");
    assert!((can[2] - 0.3).abs() < 1e-6, "the can stands no more: {can:?}");
}

/// A superellipse and an ellipse fall on a disc whose top is cut off: one implicit solid.
#[test]
fn planar_smooth_bodies_settle() {
    let text = "[simulation]\nstep = 0.005\nduration = 1.0\ngravity = [0.0, -9.81]\n\
        [[body]]\nname = \"table\"\nkind = \"fixed\"\n[[body.shape]]\n\
        implicit = { intersection = [{ halfspace = { normal = [0.0, 1.0] } }, { disc = { radius = 5.0 }, position = [0.0, -4.0] }] }\n\
        [[body]]\nname = \"tooth\"\ndensity = 1.0\nposition = [0.0, 1.2]\nangle = \"20 deg\"\n\
        [[body.shape]]\nsuperellipse = { semi_axes = [0.23, 0.11], exponent = 4 }\n\
        [[body]]\nname = \"egg\"\ndensity = 1.0\nposition = [0.1, 1.7]\n\
        [[body.shape]]\nellipse = { semi_axes = [0.3, 0.2] }\n\
        [contact_default]\nfriction = 0.5\n";
    let mut simulation = Simulation::from_scene(&scene::parse(text, "world").unwrap()).unwrap();
    for _ in 0..600 {
        let _ = step(&mut simulation);
    }
    let tooth = q(&simulation, "tooth");
    assert!(tooth[1] > 0.05 && tooth[1] < 0.3, "{tooth:?}");
}

#[test]
fn closest_points_do_not_allocate() {
    let shapes: [Shape; 4] = [
        spatial::Shape::ellipsoid([0.5, 0.3, 0.4]).unwrap().into(),
        spatial::Shape::superquadric([0.5, 0.3, 0.4], [4.0, 3.0]).unwrap().into(),
        spatial::Shape::cuboid([0.2, 0.3, 0.4]).unwrap().into(),
        spatial::Shape::cylinder(0.3, 0.2).unwrap().into(),
    ];
    let solids = shapes.map(|shape| shape.convex().unwrap());
    let mut scratch = Scratch::default();
    let mut pass = || {
        for (i, a) in solids.iter().enumerate() {
            for b in &solids[i..] {
                for k in 0..20 {
                    let angle = f64::from(k);
                    let away = Rotation3::from_scaled_axis(Vector3::new(angle, 0.3 * angle, 1.0)) * Vector3::x();
                    let pose = Pose::new(away * (0.3 + 0.04 * angle), Vector3::new(0.2, angle, 0.1));
                    let found = closest((a, &Pose::identity()), (b, &pose), None, &mut scratch);
                    assert!(found.residual < 1e-10, "{found:?}");
                }
            }
        }
    };
    pass();
    assert_eq!(count_allocations(pass).count, 0);
}
