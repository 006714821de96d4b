//! C-16: a particle on a vibrating plate, its path as a function of the step and of the number of friction directions.

mod circle;
mod directions;
mod path;
mod steps;

use stiction_plot::Figure;

use self::directions::OverDirections;
use self::path::{Path, cone, plan};
use self::steps::{OverSteps, moments_of_the_plate};
use super::plate::{self, CM};
use crate::{Account, CaseError, Expected, Reference, Row};

const SCALED_CIRCLE: &str = include_str!("../../../../../scenes/plate/scaled_circle.toml");
const CENTRIFUGE: &str = include_str!("../../../../../scenes/plate/centrifuge.toml");

/// Times at which errors are printed, s, and their names in the tables.
const AT: [(f64, &str); 3] = [(1.0, "at_1"), (3.0, "at_3"), (6.0, "at_6")];

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let centrifuge = plate::scene("scenes/plate/centrifuge.toml", CENTRIFUGE, &[])?;
    let scaled = plate::scene("scenes/plate/scaled_circle.toml", SCALED_CIRCLE, &[])?;

    let over_steps = OverSteps::run(case, &centrifuge)?;
    over_steps.rows(case, &mut account)?;
    moments_of_the_plate(case, &centrifuge, &mut account)?;
    let base = over_steps.paths.first().ok_or_else(|| CaseError::Never("the run of the published step".into()))?;
    let thrown = OverDirections::run(case, &centrifuge, "centrifuge", base.clone())?;
    thrown.rows(case, &mut account)?;
    let turned = OverDirections::run(
        case,
        &scaled,
        "scaled_circle",
        Path::run(case, &scaled, &cone(), case.parameter("step")?)?,
    )?;
    turned.rows(case, &mut account)?;
    ends(case, &thrown.base, &turned.base, &mut account)?;
    let (circle, ways_round) = circle::add(case, &mut account)?;
    account.add(
        Row::new("largest difference of x velocities over 0.14 s", "cm/s", over_steps.velocity_difference(0.14))
            .published(Expected::shown(case.number("published.velocity_difference.value")?)),
    );

    let runs = Runs { over_steps, thrown, turned, circle, ways_round };
    runs.draw(&mut account);
    account.remark(case.text("published.velocity_difference.note")?);
    Ok(account)
}

/// All runs of the case.
struct Runs {
    over_steps: OverSteps,
    /// The centrifuge.
    thrown: OverDirections,
    /// The scaled circle.
    turned: OverDirections,
    circle: Path,
    ways_round: Figure,
}

impl Runs {
    fn draw(self, account: &mut Account) {
        account.draw(
            "Six seconds on the fields whose accelerations are given; the ring is the start",
            "Figure 5.6: fields of the plate; the others of it are not given",
            fields(&self.circle, &self.turned.base, &self.thrown.base),
        );
        let [place, velocity] = self.over_steps.first_moments(0.14);
        account.draw(
            "The first 0.14 s on the centrifuge: place of the particle",
            "Figure 5.7: place, beside a simulation that is not in the source",
            place,
        );
        account.draw(
            "The first 0.14 s on the centrifuge: velocity of the particle",
            "Figure 5.8: velocity, beside a simulation that is not in the source",
            velocity,
        );
        account.draw(
            "Centrifuge: paths and errors over the step",
            "Figure 5.9 a, b: path and error over the step",
            self.over_steps.figure(),
        );
        account.draw(
            "Centrifuge: paths and errors over the friction directions",
            "Figure 5.10 a, b: centrifuge, path and error over the directions",
            self.thrown.figure(),
        );
        account.draw(
            "Scaled circle: paths and errors over the friction directions",
            "Figure 5.11 a, b: scaled circle, path and error over the directions",
            self.turned.figure(),
        );
        account.draw(
            "The circle field for 41.89 s from several radii (rings), and the slip of the innermost particle over two \
         periods: it sticks for a part of each and lags",
            "Figure 6.1: circle from several radii, sticking",
            self.ways_round,
        );
    }
}

fn fields(circle: &Path, scaled: &Path, centrifuge: &Path) -> Figure {
    let fields = [("circle", circle), ("circle, five times the rotation", scaled), ("centrifuge", centrifuge)];
    let empty = Figure::new("").columns(3).panel_size(64.0, 60.0);
    fields.into_iter().fold(empty, |figure, (title, path)| figure.with(plan(&[(None, path)]).titled(title)))
}

/// Final positions of the particles.
fn ends(case: &Reference, centrifuge: &Path, scaled: &Path, account: &mut Account) -> Result<(), CaseError> {
    let tolerance = case.tolerance("tolerance.end")?;
    let last = centrifuge.sample(case.parameter("duration")?)?;
    let on_plate = last.plate.inverse_transform_point(&last.place);
    let place = scaled.sample(case.parameter("duration")?)?.place;
    let ends = [
        ("centrifuge: end on the plate", "centrifuge.end_on_plate", on_plate),
        ("scaled circle: end", "scaled_circle.end", place),
    ];
    for (quantity, path, point) in ends {
        let expected: [f64; 2] = case.vector(&format!("derived.{path}"))?;
        for ((axis, ours), expected) in ["x", "y"].into_iter().zip(&point.coords).zip(expected) {
            account.add(
                Row::new(format!("{quantity}, {axis}"), "cm", ours * CM)
                    .reference(Expected::within(expected, tolerance)),
            );
        }
    }
    Ok(())
}
