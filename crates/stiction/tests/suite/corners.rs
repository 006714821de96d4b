//! Case C-08 and its kind: vertices that pass corners.

use nalgebra::{Point2, Vector2};
use stiction::{
    BodyBuilder, ContactReport, CornerLogic, Dimension, FrictionSet, Model, ModelBuilder, Preset, Scheme, Simulation,
    planar,
};
use stiction_testkit::{Reference, reference};

use crate::support::{q, solid_rectangle, v};

fn polygon(vertices: &[[f64; 2]]) -> stiction::Shape {
    let vertices: Vec<_> = vertices.iter().map(|&[x, y]| Point2::new(x, y)).collect();
    planar::Shape::polygon(&vertices).unwrap().into()
}

fn with_corners(preset: Preset, corners: CornerLogic) -> Scheme {
    let mut scheme = preset.scheme();
    scheme.corners = corners;
    scheme
}

/// The ground with its hole, in one piece or in convex ones.
fn ground(case: &Reference, pieces: bool) -> BodyBuilder {
    let left = case.number("parameters.hole_left");
    let [right, bottom, depth] =
        ["hole_right", "hole_bottom_right", "hole_depth"].map(|name| case.number(&format!("parameters.{name}")));
    let (from, to, below) = (-6.0, 12.0, -1.0);
    let ground = BodyBuilder::fixed("ground");
    if pieces {
        ground
            .shape(polygon(&[[from, below], [left, below], [left, 0.0], [from, 0.0]]))
            .shape(polygon(&[[left, below], [bottom, below], [bottom, -depth], [left, -depth]]))
            .shape(polygon(&[[bottom, below], [to, below], [to, 0.0], [right, 0.0], [bottom, -depth]]))
    } else {
        ground.shape(polygon(&[
            [from, below],
            [to, below],
            [to, 0.0],
            [right, 0.0],
            [bottom, -depth],
            [left, -depth],
            [left, 0.0],
            [from, 0.0],
        ]))
    }
}

fn block_over_hole(case: &Reference, pieces: bool) -> Model {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let half = [0.5 * number("block_width"), 0.5 * number("block_height")];
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -number("gravity"), 0.0).unwrap();
    builder.body(ground(case, pieces)).unwrap();
    let block = solid_rectangle("block", 1.0, half).position(number("front_corner") - half[0], half[1], 0.0).velocity(
        number("speed"),
        0.0,
        0.0,
    );
    builder.body(block).unwrap();
    builder.build().unwrap()
}

/// Largest deviation of height and speed of the block from what they should be.
fn slide(case: &Reference, scheme: Scheme, h: f64, pieces: bool) -> (f64, f64) {
    let (height, speed) = (case.number("derived.height"), case.number("derived.speed"));
    let mut simulation = Simulation::new(block_over_hole(case, pieces), scheme, h).unwrap();
    let mut worst = (0.0_f64, 0.0_f64);
    for _ in 0..(case.number("parameters.duration") / h).round() as usize {
        let report = simulation.step().unwrap();
        assert!(report.residual.value < 1e-9);
        worst.0 = worst.0.max((q(&simulation, "block")[1] - height).abs());
        worst.1 = worst.1.max((v(&simulation, "block")[0] - speed).abs());
    }
    worst
}

#[test]
fn a_block_slides_over_the_hole_as_if_it_were_not_there() {
    let case = reference("c08");
    let most = case.number("tolerance.abs");
    for h in [0.01, 0.001] {
        for pieces in [false, true] {
            // With 0 < γ < 1 every face that is near slows what comes nearer, real ones as well: that is the scheme.
            for preset in [Preset::Ncp, Preset::StewartTrinkle, Preset::AnitescuPotra] {
                let (height, speed) = slide(&case, preset.scheme(), h, pieces);
                assert!(
                    height < most && speed < most,
                    "{} at h = {h}, pieces {pieces}: {height:e} m, {speed:e} m/s",
                    preset.name()
                );
            }
        }
    }
}

#[test]
fn faces_without_end_stop_the_block_at_the_far_wall() {
    let case = reference("c08");
    let (height, speed) = slide(&case, with_corners(Preset::Ncp, CornerLogic::Conjunctive), 0.01, false);
    let share = case.number("tolerance.artefact_share");
    assert!(
        height > share * case.number("derived.height") || speed > share * case.number("derived.speed"),
        "{height} {speed}"
    );
}
