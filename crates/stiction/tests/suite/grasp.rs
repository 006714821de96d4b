//! Case C-18 with polygonal teeth: jaws pulled by forces close on a gear that lies on a table.

use nalgebra::{Point2, Point3};
use stiction::{Scene, Simulation, geometry::Shape, planar, scene};
use stiction_testkit::{Reference, reference};

use crate::support::{q, v};

fn load(changes: &[(&str, &str)]) -> Scene {
    load_scene("gear_grasp", changes)
}

fn load_scene(name: &str, changes: &[(&str, &str)]) -> Scene {
    let path = format!("{}/../../scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let changes: Vec<_> = changes.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    scene::load_with(&path, &changes).unwrap()
}

/// A tip of a jaw: its upper inner corner.
fn tip(simulation: &Simulation, jaw: &str, side: f64) -> Point3<f64> {
    let id = simulation.model().find_body(jaw).unwrap();
    simulation.configuration().pose(id) * Point3::new(side * 0.015, 0.02, 0.0)
}

/// Distance of a point from the outer flank of an outermost tooth, both in the frame of the gear.
fn to_flank(case: &Reference, point: &Point2<f64>, last: bool) -> f64 {
    let angles = case.numbers("parameters.tooth_angles");
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let (angle, side) = if last { (angles[5], 1.0) } else { (angles[0], -1.0) };
    let (radial, across) = ([angle.cos(), angle.sin()], [-angle.sin(), angle.cos()]);
    let x = point.x * radial[0] + point.y * radial[1] - number("hub_radius");
    let y = point.x * across[0] + point.y * across[1];
    // The flank runs along the tooth, from the hub to where the super-ellipse turns in.
    let x_near = x.clamp(0.0, 0.6 * number("tooth.half_length"));
    (x - x_near).hypot(y - side * number("tooth.half_width"))
}

/// Both tips within a millimetre of the outer flanks of the outermost teeth, everything at rest, both jaws loaded.
fn success(case: &Reference, simulation: &Simulation) -> bool {
    let gear = simulation.model().find_body("gear").unwrap();
    let in_gear = |point: Point3<f64>| (simulation.configuration().pose(gear).inverse() * point).xy();
    let near = |jaw: &str, side: f64, last: bool| {
        to_flank(case, &in_gear(tip(simulation, jaw, side)), last) <= case.number("parameters.success_distance")
    };
    let loaded = |jaw: &str| {
        let id = simulation.model().find_body(jaw).unwrap();
        let on = |a, b| (a == id && b == gear) || (a == gear && b == id);
        simulation.contacts().iter().any(|c| on(c.body_a, c.body_b) && c.normal_impulse > 0.0)
    };
    let still = ["left", "right", "gear"].iter().all(|body| v(simulation, body).iter().all(|v| v.abs() < 1e-6));
    near("left", 1.0, false) && near("right", -1.0, true) && loaded("left") && loaded("right") && still
}

fn grasp(case: &Reference, changes: &[(&str, &str)]) -> bool {
    grasp_in(case, &load(changes))
}

fn grasp_in(case: &Reference, scene: &Scene) -> bool {
    let mut simulation = Simulation::from_scene(scene).unwrap();
    for _ in 0..scene.settings.steps() {
        let report = simulation.step().unwrap();
        assert!(report.penetration < 2e-4 && report.joint_error < 1e-9, "{report:?}");
    }
    success(case, &simulation)
}

/// The outline of the gear is that of the case: tips at 23.05 mm, flanks where they were derived.
#[test]
fn the_gear_of_the_scene_is_that_of_the_case() {
    let (case, scene) = (reference("c18"), load(&[]));
    let gear = scene.model.find_body("gear").unwrap();
    let Shape::Planar(planar::Shape::SimplePolygon(outline)) = &scene.model.body(gear).unwrap().shapes[0].shape else {
        panic!("a gear is not convex")
    };
    let radius = outline.vertices().iter().map(|p| p.coords.norm()).fold(0.0, f64::max);
    assert!((1e3 * radius - case.number("derived.tooth_tip_radius_mm")).abs() < 0.1, "{radius}");
    for (index, last) in [(0, false), (1, true)] {
        let flank = case.numbers(&format!("derived.outer_flank_midpoints_mm.{index}"));
        let flank = Point2::new(1e-3 * flank[0], 1e-3 * flank[1]);
        assert!(to_flank(&case, &flank, last) < 1e-6, "flank {index}");
        let edges = outline.vertices().iter().zip(outline.vertices().iter().cycle().skip(1));
        let nearest = edges.map(|(a, b)| {
            let (edge, d) = (b - a, flank - a);
            (d - edge * (d.dot(&edge) / edge.norm_squared()).clamp(0.0, 1.0)).norm()
        });
        assert!(nearest.fold(f64::INFINITY, f64::min) < 1e-5, "flank {index} is not on the outline");
    }
}

#[test]
fn a_grasp_near_the_middle_succeeds() {
    let case = reference("c18");
    assert!(grasp(&case, &[]));
    assert!(grasp(&case, &[("body.gear.position", "[0.0, 0.0164]")]));
}

#[test]
fn tips_far_from_the_teeth_do_not_hold_the_gear() {
    let case = reference("c18");
    assert!(!grasp(&case, &[("body.gear.position", "[0.0, 0.006]")]), "tips near the centre line");
    assert!(!grasp(&case, &[("body.gear.position", "[0.0, 0.026]")]), "tips below the gear");
}

/// The mirror image of a start ends in the mirror image.
#[test]
fn left_and_right_are_the_same() {
    let ends = ["[0.0035, 0.0168]", "[-0.0035, 0.0168]"].map(|place| {
        let scene = load(&[("body.gear.position", place)]);
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        for _ in 0..scene.settings.steps() {
            let _ = simulation.step().unwrap();
        }
        q(&simulation, "gear").to_vec()
    });
    let [a, b] = ends;
    assert!((a[0] + b[0]).abs() < 1e-6 && (a[1] - b[1]).abs() < 1e-6 && (a[2] + b[2]).abs() < 1e-4, "{a:?} {b:?}");
}

/// Teeth without facets and contacts at the end of the step: the jaws hold the gear from where they hold the polygon, and only from there.
#[test]
fn smooth_teeth_are_grasped_as_polygons_are() {
    let case = reference("c18");
    let mut held = 0;
    for position in
        ["[0.002, 0.0165]", "[0.004, 0.02]", "[0.0, 0.0165]", "[-0.003, 0.0175]", "[0.0, 0.023]", "[0.008, 0.014]"]
    {
        let changes = [("body.gear.position", position)];
        let (polygons, smooth) = (grasp(&case, &changes), grasp_in(&case, &load_scene("gear_grasp_smooth", &changes)));
        println!("{position}: {polygons} with polygons, {smooth} with smooth teeth");
        assert_eq!(polygons, smooth, "{position}");
        held += usize::from(smooth);
    }
    assert!((1..6).contains(&held), "held from {held} of 6 places");
}
