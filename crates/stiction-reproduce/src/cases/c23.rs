//! C-23: a feeder that turns cups over, verified by models of increasing cost.

use stiction::{Shape, Simulation, planar};
use stiction_plot::{Axis, Dash, Figure, Layer, Marker, Panel};
use stiction_study::{
    monte_carlo::Value as Chosen,
    verify::{self, Stage, Verification, VerificationReport, VerifyOptions},
};

use crate::draw::{Trace, grid, outline};
use crate::outline::circle;
use crate::world::q;
use crate::{Account, CaseError, Expected, Reference, Row, Value};

const STUDY: &str = include_str!("../../../../studies/part_feeder.toml");
const SCENE: &str = include_str!("../../../../scenes/part_feeder.toml");

/// Millimetres of a metre.
const MM: f64 = 1e3;

/// Positions of the stages in the study.
const INELASTIC: usize = 1;
const COMPLIANT: usize = 2;

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let study = verify::parse(STUDY, "studies/part_feeder.toml", SCENE).map_err(|error| other(&error))?;
    let mut options = VerifyOptions::default();
    // Cases already run in parallel on all cores; the report is the same for any number of threads.
    (options.threads, options.naive) = (case.count("parameters.threads")?, true);
    #[allow(clippy::disallowed_methods, reason = "times are shown and never judged")]
    let begin = std::time::Instant::now();
    let report = study.run(&options, &|| begin.elapsed().as_secs_f64(), &()).map_err(|error| other(&error))?;
    let mut account = Account::default();
    verdict_rows(&mut account, case, &report)?;
    table_rows(&mut account, case, &report);
    account.draw(
        "A feeder that was accepted turns a cup over that comes open end first and lets one pass that comes closed end first; one that was rejected \
         fails. A cup every 20 ms; the line with crosses is the way of the centre of mass",
        "Figures 4.2 and 4.3a: snapshots of the part in the feeder, and its time-elapsed image",
        elapsed(&study, &report)?,
    );
    account.draw(
        "Ways of the centre of mass through an accepted feeder under all circumstances, with rigid inelastic and with compliant contacts",
        "Figure 4.3b: simulated and measured trajectory. The measurement is not in the source; the two models stand beside each other instead",
        tracks(&study, &report)?,
    );
    Ok(account)
}

fn verdict_rows(account: &mut Account, case: &Reference, report: &VerificationReport) -> Result<(), CaseError> {
    let naive = report.naive.as_ref().ok_or_else(|| CaseError::Never("the naive verification".into()))?;
    let runs: u64 = naive.stages.iter().flatten().map(|stage| stage.runs).sum();
    let at_least_one = || Expected::bound(Value::AtLeast(1.0));
    account.add(Row::new("designs that were verified", "", report.made as usize));
    account.add(Row::new("designs accepted", "", report.accepted.len()).reference(at_least_one()));
    account.add(Row::new("designs rejected", "", report.rejected.len()).reference(at_least_one()));
    let same = Row::new("the naive verification accepts the same designs", "", naive.same);
    account.add(same.reference(case.exactly("derived.same")?).headline());
    let ratio = report.simulations() as f64 / runs as f64;
    let row = Row::new("simulations of the hierarchical verification over those of the naive one", "", ratio);
    account.add(row.reference(case.at_most("derived.share_at_most")?).headline());
    account.add(Row::new("accepted by the last stage alone, rejected by an earlier one", "", naive.last_alone.len()));
    Ok(())
}

/// Table 4.1: each stage, then all of them, in runs and in seconds.
fn table_rows(account: &mut Account, case: &Reference, report: &VerificationReport) {
    let naive = report.naive.as_ref().map(|naive| naive.stages.as_slice()).unwrap_or_default();
    for (k, stage) in report.stages.iter().enumerate() {
        let name = &stage.name;
        let [came, passed, runs] = [stage.candidates, stage.passed, stage.runs].map(|count| count as usize);
        account.add(Row::new(format!("{name}, hierarchical: designs that came to it"), "", came));
        account.add(Row::new(format!("{name}, hierarchical: designs that passed"), "", passed));
        account.add(Row::new(format!("{name}, hierarchical: runs"), "", runs));
        if let Some(stage) = naive.get(k).and_then(Option::as_ref) {
            account.add(Row::new(format!("{name}, naive: runs"), "", stage.runs as usize));
        }
    }
    let simulated: u64 = naive.iter().flatten().map(|stage| stage.runs).sum();
    account.add(Row::new("total, hierarchical: simulations", "", report.simulations() as usize));
    account.add(Row::new("total, naive: simulations", "", simulated as usize));
    let names = report.stages.iter().map(|stage| stage.name.as_str());
    let spent = [
        ("hierarchical", report.seconds.hierarchy.iter().map(|time| Some(*time)).collect()),
        ("naive", report.seconds.naive.clone().unwrap_or_default()),
    ];
    for (way, times) in spent {
        let total = times.iter().flatten().sum();
        for (name, time) in names.clone().chain(["total"]).zip(times.into_iter().chain([Some(total)])) {
            let Some(time) = time else { continue };
            let row = Row::new(format!("{name}, {way}: time"), "s", time).timing();
            let published = case.number(&format!("published.table.{name}.{way}")).map(Expected::shown);
            account.add(if let Ok(published) = published { row.published(published) } else { row });
        }
    }
}

fn other(error: &dyn std::fmt::Display) -> CaseError {
    CaseError::Other(error.to_string())
}

/// Figure of one run.
struct Film {
    walls: Vec<Vec<[f64; 2]>>,
    cups: Vec<Vec<[f64; 2]>>,
    way: Trace<2>,
}

impl Film {
    fn new(study: &Verification, stage: &Stage, design: &[Chosen], under: &[Chosen]) -> Result<Self, CaseError> {
        let scene = study.scene(stage, design, under).map_err(|error| other(&error))?;
        let mut simulation = Simulation::from_scene(&scene)?;
        let (walls, cup) = outlines(&simulation);
        let mut film = Self { walls, cups: Vec::new(), way: Trace::default() };
        let every = crate::world::steps(0.02, simulation.step_size()).max(1);
        for step in 0..=scene.settings.steps() as usize {
            let [x, y, angle]: [f64; 3] = q(&simulation, "cup")?;
            if y < -0.07 {
                break;
            }
            film.way.push(simulation.time(), [x * MM, y * MM]);
            if step % every == 0 {
                film.cups.push(outline(&cup, [x * MM, y * MM, angle]));
            }
            let _ = simulation.step()?;
        }
        Ok(film)
    }

    /// Every twentieth point of the path, for its crosses.
    fn crosses(&self) -> Layer {
        let thinned = |k: usize| self.way.column(k).iter().step_by(20).copied().collect();
        Layer::points(thinned(0), thinned(1)).marker(Marker::Cross)
    }
}

/// The walls and the peg in the world, and the cup in its own axes, mm.
fn outlines(simulation: &Simulation) -> (Vec<Vec<[f64; 2]>>, Vec<[f64; 2]>) {
    let (mut walls, mut cup) = (Vec::new(), Vec::new());
    for (_, body, on_body) in simulation.model().shapes() {
        let place = simulation.configuration().pose(body).translation.vector * MM;
        match &on_body.shape {
            Shape::Planar(planar::Shape::Disc { radius }) => walls.push(circle([place.x, place.y], radius * MM)),
            Shape::Planar(planar::Shape::SimplePolygon(polygon)) => {
                let corners: Vec<_> = polygon.vertices().iter().map(|p| [p.x * MM, p.y * MM]).collect();
                let is_cup = simulation.model().find_body("cup") == Some(body);
                if is_cup { cup = corners } else { walls.push(corners) }
            }
            _ => {}
        }
    }
    (walls, cup)
}

fn panel(title: impl Into<String>) -> Panel {
    let [x, y] = [Axis::new("x", "mm").range(-34.0, 30.0), Axis::new("y", "mm").range(-75.0, 76.0)];
    Panel::new(x, y).titled(title).equal_aspect()
}

/// The walls, clipped at the border of the figure.
fn walls(film: &Film) -> Layer {
    let cut = |corners: &Vec<[f64; 2]>| corners.iter().map(|[x, y]| [*x, y.max(-75.0)]).collect();
    Layer::outlines(film.walls.iter().map(cut).collect()).muted()
}

fn accepted(report: &VerificationReport) -> Result<&[Chosen], CaseError> {
    let first = report.accepted.first().ok_or_else(|| CaseError::Never("an accepted design".into()))?;
    Ok(&first.values)
}

fn stage_of(study: &Verification, place: usize) -> Result<&Stage, CaseError> {
    study.stages().get(place).ok_or_else(|| CaseError::Absent(format!("stage {place}")))
}

fn elapsed(study: &Verification, report: &VerificationReport) -> Result<Figure, CaseError> {
    let stage = stage_of(study, INELASTIC)?;
    let good = accepted(report)?;
    let bad = report.rejected.iter().find(|rejected| rejected.stage == INELASTIC && rejected.failure.is_none());
    let bad = bad.ok_or_else(|| CaseError::Never("a design that a simulation rejects".into()))?;
    let medium = |start: f64| vec![Chosen::Number(0.3), Chosen::Number(start)];
    let mut figure = grid(3).panel_size(62.0, 140.0);
    for (title, design, under) in [
        ("accepted, closed end first", good, medium(0.0)),
        ("accepted, open end first", good, medium(180.0)),
        ("rejected", bad.values.as_slice(), bad.circumstances.clone()),
    ] {
        let film = Film::new(study, stage, design, &under)?;
        figure = figure.with(
            panel(title)
                .with(walls(&film))
                .with(Layer::outlines(film.cups.clone()).colour(0))
                .with(film.way.path(0, 1).colour(2))
                .with(film.crosses().colour(2)),
        );
    }
    Ok(figure)
}

fn tracks(study: &Verification, report: &VerificationReport) -> Result<Figure, CaseError> {
    let good = accepted(report)?;
    let mut figure = grid(2).panel_size(80.0, 160.0);
    for (title, upright) in [("closed end first", true), ("open end first", false)] {
        let mut drawn = panel(title);
        for (place, colour, dash) in [(INELASTIC, 0, Dash::Solid), (COMPLIANT, 1, Dash::Dashed)] {
            let stage = stage_of(study, place)?;
            let mut name = Some(stage.name.as_str());
            for index in 0..stage.circumstances.count() {
                let under = stage.circumstances.values(index);
                let start = under.iter().zip(stage.circumstances.parameters()).find(|(_, of)| of.name == "start");
                let is_upright = matches!(start, Some((Chosen::Number(angle), _)) if angle.abs() < 90.0);
                if is_upright != upright {
                    continue;
                }
                let film = Film::new(study, stage, good, &under)?;
                if let Some(name) = name.take() {
                    let first = film.way.path(0, 1).colour(colour).dash(dash).named(name);
                    drawn = if place == INELASTIC { drawn.with(walls(&film)) } else { drawn }.with(first);
                } else {
                    drawn = drawn.with(film.way.path(0, 1).colour(colour).dash(dash));
                }
            }
        }
        figure = figure.with(drawn);
    }
    Ok(figure)
}
