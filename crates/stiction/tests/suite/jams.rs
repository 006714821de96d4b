//! Bodies that jam: no motion keeps their contacts from overlapping, and the step takes the smallest overlap that has a solution.

use std::f64::consts::TAU;
use std::sync::Arc;

use nalgebra::{Point2, Vector2};
use stiction::complementarity::Status;
use stiction::multibody::ExpressionMotion;
use stiction::{BodyBuilder, Dimension, Expression, Model, Preset, Simulation, StepCause, StepError, planar};

use crate::support::{down, floor, friction, solid_rectangle, world};

const H: f64 = 0.005;
const HALF: f64 = 0.1;

fn polygon(vertices: [[f64; 2]; 4]) -> stiction::Shape {
    planar::Shape::polygon(&vertices.map(|[x, y]| Point2::new(x, y))).unwrap().into()
}

/// A box of 20 cm between the floor and a plate that comes down at this speed.
fn press(speed: f64) -> Model {
    let zero = || Expression::constant(0.0);
    let height: Expression = format!("{} - {speed}*t", 2.0 * HALF).parse().unwrap();
    let plate = planar::Shape::half_plane(-Vector2::y()).unwrap();
    let bodies = [
        BodyBuilder::fixed("floor").shape(floor()),
        BodyBuilder::kinematic("plate", Arc::new(ExpressionMotion::planar(zero(), height, zero()))).shape(plate.into()),
        solid_rectangle("box", 1.0, [HALF; 2]).position(0.0, HALF, 0.0),
    ];
    world(Dimension::Planar, bodies, down(Dimension::Planar), friction(0.5))
}

/// The plate is n v h lower after n steps, and the box overlaps as much with it as with the floor: the slack is half of that each time, because
/// every step would remove all overlap. The account of the run counts it.
#[test]
fn a_pressed_box_overlaps_by_the_motion_of_the_press() {
    let speed = 2e-4;
    let mut simulation = Simulation::new(press(speed), Preset::Ncp.scheme(), H).unwrap();
    for step in 1..=10_u32 {
        let report = simulation.step().unwrap();
        let expected = 0.5 * f64::from(step) * speed * H;
        assert_eq!((report.status, report.substeps), (Status::Solved, 1), "step {step}");
        assert!((report.slack - expected).abs() < 1e-9 * HALF, "step {step}: {} instead of {expected}", report.slack);
        assert!((report.penetration - expected).abs() < 1e-9 * HALF, "step {step}: {}", report.penetration);
        assert_eq!(report.changes.count(stiction::stepping::Change::AddSlack), 1);
    }
}

/// A plate that does not move jams nothing: there is no slack, and nothing is solved twice.
#[test]
fn a_press_at_rest_has_no_slack() {
    let mut simulation = Simulation::new(press(0.0), Preset::Ncp.scheme(), H).unwrap();
    for _ in 0..10 {
        let report = simulation.step().unwrap();
        assert_eq!((report.slack, report.passes), (0.0, 1));
    }
}

/// Beyond a thousandth of the radius of the box (141 µm) a step is refused, says why, and leaves the state as it was.
#[test]
fn a_press_is_refused_once_the_overlap_is_large() {
    let speed = 1e-2;
    let mut simulation = Simulation::new(press(speed), Preset::Ncp.scheme(), H).unwrap();
    let (mut overlap, mut before) = (0.0, simulation.state().clone());
    let error = loop {
        match simulation.step() {
            Ok(report) => overlap = report.slack,
            Err(error) => break error,
        }
        before = simulation.state().clone();
        assert!(before.time < 1.0, "the press goes on with an overlap of {overlap} m");
    };
    assert!(overlap <= 1e-3 * HALF * 2.0_f64.sqrt() && overlap > 0.5e-3 * HALF, "{overlap}");
    assert_eq!(*simulation.state(), before);
    let StepError { cause, .. } = &error;
    assert!(matches!(cause, StepCause::Jammed { contact, .. } if contact.contains("box")), "{error}");
}

/// Boxes of five sizes that tumble in a drum of twelve walls.
fn drum(radius: f64, spin: f64, mu: f64) -> Model {
    let zero = || Expression::constant(0.0);
    let turn: Expression = format!("{spin}*t").parse().unwrap();
    let mut walls = BodyBuilder::kinematic("drum", Arc::new(ExpressionMotion::planar(zero(), zero(), turn)));
    let half_wall = (radius + 0.2) * (TAU / 24.0).tan();
    for k in 0..12 {
        let angle = f64::from(k) * TAU / 12.0;
        let (sin, cos) = angle.sin_cos();
        let at = |x: f64, y: f64| [x * cos - y * sin, x * sin + y * cos];
        let (inner, outer) = (radius, radius + 0.2);
        walls = walls.shape(polygon([
            at(inner, -half_wall),
            at(outer, -half_wall),
            at(outer, half_wall),
            at(inner, half_wall),
        ]));
    }
    let boxes = (0..20_u32).map(|k| {
        let (a, b) = (0.08 + 0.01 * f64::from(k % 5), 0.06 + 0.01 * f64::from((3 * k) % 5));
        let place = [-0.6 + 0.3 * f64::from(k % 5), -0.45 + 0.3 * f64::from(k / 5)];
        solid_rectangle(&format!("box {k}"), 400.0 * a * b, [a, b])
            .position(place[0], place[1], 0.0)
            .angle(0.3 * f64::from(k))
    });
    world(Dimension::Planar, std::iter::once(walls).chain(boxes), down(Dimension::Planar), friction(mu))
}

/// Six drums of twenty boxes run for 5 s each. Whatever jams overlaps by no more than 0.1 mm.
#[test]
fn drums_of_boxes_never_stop() {
    for (radius, spin) in [(1.2, 0.8), (1.2, 2.0), (1.5, 0.8)] {
        for mu in [0.3, 0.7] {
            let mut simulation = Simulation::new(drum(radius, spin, mu), Preset::Ncp.scheme(), H).unwrap();
            for _ in 0..1000 {
                let report = simulation.step().unwrap_or_else(|error| panic!("{radius} {spin} {mu}: {error}"));
                assert!(report.slack < 1e-4 && report.residual.value <= 1e-4, "{report:?}");
            }
        }
    }
}
