//! C-08: a block slides over a hole whose far wall is slanted. Bounded faces let it pass; unbounded faces stop it.

mod particle;

use nalgebra::Point2;
use stiction::{BodyBuilder, CornerLogic, Dimension, Model, ModelBuilder, Preset, Scheme, Shape, planar};
use stiction_plot::{Axis, Figure, Layer, Panel};

use crate::draw::{grid, rectangle};
use crate::world::{ends_at, larger, q, run as simulate, v};
use crate::{Account, CaseError, Expected, Reference, Row, Value};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    for h in case.numbers("parameters.steps")? {
        let (_, off) = slide(case, with_corners(Preset::StewartTrinkle, CornerLogic::Disjunctive), h, &[])?;
        let quantities = [("height", "m", off[0]), ("speed", "m/s", off[1])];
        for (what, unit, ours) in quantities {
            let quantity = format!("disjunction: largest change of {what}, h = {h} s");
            let row = Row::new(quantity, unit, ours).reference(case.at_most("tolerance.abs")?);
            let row = row.published(statement(case, "published.disjunction")?);
            account.add(if what == "speed" && h == case.number("parameters.steps.0")? { row.headline() } else { row });
        }
    }
    let h = case.number("parameters.steps.0")?;
    let (_, off) = slide(case, with_corners(Preset::Ncp, CornerLogic::Conjunctive), h, &[])?;
    let fraction = (off[0] / case.number("derived.height")?).max(off[1] / case.number("derived.speed")?);
    let row = Row::new("conjunction: change of height or speed, as a share", "", fraction);
    let row = row.reference(case.at_least("tolerance.artefact_share")?);
    account.add(row.published(statement(case, "published.conjunction")?));
    particle::rows(&mut account, case)?;
    account.draw(
        "The block before the hole, where its corner meets the slanted wall, and after it: above with faces that have no end \
         (conjunction), below with faces that end (disjunction); the arrow is the velocity",
        "Figure 3.1 a-f",
        figure(case, h)?,
    );
    Ok(account)
}

/// Statements of the source in words.
fn statement(case: &Reference, path: &str) -> Result<Expected, CaseError> {
    Ok(Expected::shown(Value::Text(case.text(path)?.to_owned())))
}

fn with_corners(preset: Preset, corners: CornerLogic) -> Scheme {
    let mut scheme = preset.scheme().as_published();
    scheme.corners = corners;
    scheme
}

fn polygon(corners: &[[f64; 2]]) -> Result<Shape, CaseError> {
    let corners: Vec<_> = corners.iter().map(|&[x, y]| Point2::new(x, y)).collect();
    Ok(planar::Shape::polygon(&corners)?.into())
}

/// Corners of the ground with its hole, wide enough for all motions.
fn ground(case: &Reference) -> Result<[[f64; 2]; 8], CaseError> {
    let (left, right) = (case.parameter("hole_left")?, case.parameter("hole_right")?);
    let (bottom, depth) = (case.parameter("hole_bottom_right")?, case.parameter("hole_depth")?);
    let [from, to, below] = case.vector("parameters.ground_extent")?;
    Ok([
        [from, below],
        [to, below],
        [to, 0.0],
        [right, 0.0],
        [bottom, -depth],
        [left, -depth],
        [left, 0.0],
        [from, 0.0],
    ])
}

fn half_block(case: &Reference) -> Result<[f64; 2], CaseError> {
    Ok([0.5 * case.parameter("block_width")?, 0.5 * case.parameter("block_height")?])
}

fn block_over_hole(case: &Reference) -> Result<Model, CaseError> {
    let [a, b] = half_block(case)?;
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -case.parameter("gravity")?, 0.0)?;
    builder.body(BodyBuilder::fixed("ground").shape(polygon(&ground(case)?)?))?;
    let block = BodyBuilder::planar("block", 1.0, (a * a + b * b) / 3.0)
        .position(case.parameter("front_corner")? - a, b, 0.0)
        .velocity(case.parameter("speed")?, 0.0, 0.0)
        .shape(planar::Shape::rectangle([a, b])?.into());
    builder.body(block)?;
    Ok(builder.build()?)
}

/// Pose and velocity of the block at some times.
type Snapshots = Vec<([f64; 3], [f64; 3])>;

/// The block at these times, and the largest changes of its height and speed.
fn slide(case: &Reference, scheme: Scheme, h: f64, moments: &[f64]) -> Result<(Snapshots, [f64; 2]), CaseError> {
    let (height, speed) = (case.number("derived.height")?, case.number("derived.speed")?);
    let (mut snapshots, mut off) = (Snapshots::new(), [0.0_f64; 2]);
    simulate(block_over_hole(case)?, scheme, h, case.parameter("duration")?, |simulation, report| {
        let (place, velocity): ([f64; 3], [f64; 3]) = (q(simulation, "block")?, v(simulation, "block")?);
        off = [larger(off[0], (place[1] - height).abs()), larger(off[1], (velocity[0] - speed).abs())];
        if moments.iter().any(|moment| ends_at(report.time, *moment, h)) {
            snapshots.push((place, velocity));
        }
        Ok(())
    })?;
    Ok((snapshots, off))
}

fn figure(case: &Reference, h: f64) -> Result<Figure, CaseError> {
    let moments = case.numbers("parameters.snapshots")?;
    let half = half_block(case)?;
    let outlines = ground(case)?;
    let [left, right, low, high] = case.vector("parameters.view")?;
    let mut figure = grid(moments.len()).panel_size(95.0, 48.0);
    let rows = [
        ("conjunction", Preset::Ncp, CornerLogic::Conjunctive),
        ("disjunction", Preset::StewartTrinkle, CornerLogic::Disjunctive),
    ];
    for (name, preset, corners) in rows {
        let (snapshots, _) = slide(case, with_corners(preset, corners), h, &moments)?;
        for ((place, velocity), moment) in snapshots.into_iter().zip(&moments) {
            let [x, y, _] = place;
            let arrow = Layer::arrows(vec![[x, y]], vec![[x + 0.4 * velocity[0], y + 0.4 * velocity[1]]]).colour(1);
            figure = figure.with(
                Panel::new(Axis::new("x", "m").range(left, right), Axis::new("y", "m").range(low, high))
                    .titled(format!("{name}, t = {moment} s"))
                    .equal_aspect()
                    .with(Layer::outlines(vec![outlines.to_vec()]).muted())
                    .with(Layer::outlines(vec![rectangle(half, place)]).colour(0))
                    .with(arrow),
            );
        }
    }
    Ok(figure)
}
