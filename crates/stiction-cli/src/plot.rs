//! `stiction plot`: columns and expressions of runs as a figure.

use std::path::{Path, PathBuf};

use stiction::{
    measure::{Measure, Measured, Value},
    record::RunTables,
};
use stiction_plot::{Axis, Dash, Figure, Layer, Panel};

use crate::{arguments::PlotOptions, failure::Failure};

/// Events marked at most; with more nothing could be told apart.
const MOST_EVENTS: usize = 500;

/// What is drawn where nothing is asked for.
const DEFAULTS: [&str; 4] = ["kinetic", "potential", "total", "normal force: sum_contacts(normal_impulse)/step"];

/// Kinds of pictures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
}

/// An expression with the name it goes by.
struct Wanted {
    name: String,
    measure: Measure,
}

/// One curve: an expression over a run.
struct Curve {
    /// Which expression.
    wanted: usize,
    /// Which run.
    run: usize,
    x: Vec<f64>,
    y: Value,
}

pub(crate) fn run(options: &PlotOptions) -> Result<(), Failure> {
    let out = options.out.clone().unwrap_or_else(|| default_out(&options.runs));
    let format = format_of(&out)?;
    let x = wanted(options.x.as_deref().unwrap_or("time: t"), "--x")?;
    let y = match options.y.as_slice() {
        [] => DEFAULTS.iter().map(|text| wanted(text, "--y")).collect::<Result<Vec<_>, _>>()?,
        texts => texts.iter().map(|text| wanted(text, "--y")).collect::<Result<Vec<_>, _>>()?,
    };
    let runs = options.runs.iter().map(|folder| RunTables::open(folder)).collect::<Result<Vec<_>, _>>();
    let runs = runs.map_err(|error| {
        Failure::input(error).with_help("a RUN is a folder that `stiction run` has written: trajectory.parquet, …")
    })?;
    for run in runs.iter().filter(|run| run.is_cut()) {
        eprintln!("{} was cut off while it was written: what came before is drawn", run.folder().display());
    }
    let figure = figure(options, &x, &y, &runs)?;
    if figure.left_out() > 0 {
        eprintln!("{} values cannot be drawn: infinite, or not positive on a logarithmic axis", figure.left_out());
    }
    let bytes = match format {
        Format::Svg => figure.to_svg().into_bytes(),
        Format::Png => figure.to_png(options.dpi).map_err(Failure::input)?,
    };
    std::fs::write(&out, bytes).map_err(|error| Failure::input(format!("cannot write {}: {error}", out.display())))?;
    println!("{}", out.display());
    Ok(())
}

fn default_out(runs: &[PathBuf]) -> PathBuf {
    runs.first().map_or_else(|| PathBuf::from("plot.svg"), |run| run.join("plot.svg"))
}

fn format_of(path: &Path) -> Result<Format, Failure> {
    match path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("svg") => Ok(Format::Svg),
        Some("png") => Ok(Format::Png),
        _ => Err(Failure::input(format!("{} has no ending that names a kind of picture", path.display()))
            .with_help("there are .svg and .png")),
    }
}

/// Splits off the name before a colon; the colons of contact labels stand in quotes.
fn wanted(text: &str, option: &'static str) -> Result<Wanted, Failure> {
    let named = text.split_once(':').filter(|(name, _)| !name.contains(['"', '\'', '`', '(']));
    let (name, expression) = named.map_or((text, text), |(name, expression)| (name.trim(), expression.trim()));
    let measure = Measure::parse(expression).map_err(|error| Failure::Expression(option, error))?;
    Ok(Wanted { name: name.trim().to_owned(), measure })
}

fn figure(options: &PlotOptions, x: &Wanted, y: &[Wanted], runs: &[RunTables]) -> Result<Figure, Failure> {
    let mut x_unit = None;
    let mut curves: Vec<(Option<String>, Vec<Curve>)> = Vec::new();
    for (run, tables) in runs.iter().enumerate() {
        let evaluate =
            |wanted: &Wanted, option| wanted.measure.evaluate(tables).map_err(|e| Failure::Expression(option, e));
        let shown = shown(tables, options)?;
        let over = evaluate(x, "--x")?;
        x_unit = over.unit.clone().or(x_unit);
        let over = kept(&over.series(tables.frames()), &shown);
        for (number, wanted) in y.iter().enumerate() {
            let Measured { value, unit } = evaluate(wanted, "--y")?;
            let value = match value {
                Value::Series(values) => Value::Series(kept(&values, &shown)),
                scalar @ Value::Scalar(_) => scalar,
            };
            let curve = Curve { wanted: number, run, x: over.clone(), y: value };
            // Expressions of one unit share a panel; what has no known unit stands alone.
            match curves
                .iter_mut()
                .find(|(known, of)| *known == unit && (unit.is_some() || of.iter().any(|c| c.wanted == number)))
            {
                Some((_, panel)) => panel.push(curve),
                None => curves.push((unit, vec![curve])),
            }
        }
    }
    let over_time = options.x.is_none();
    let mut x_axis = Axis::new(x.name.clone(), x_unit.unwrap_or_default());
    if over_time && let (Some(from), Some(to)) = (options.from, options.to) {
        x_axis = x_axis.range(from, to);
    }
    let x_axis = if options.log_x { x_axis.log() } else { x_axis };
    let events = if options.events && over_time { event_marks(options, runs)? } else { Vec::new() };
    if options.events && !over_time {
        eprintln!("events have a time, and the axis below has none: they are not marked");
    }
    let mut figure = Figure::new(options.title.clone().unwrap_or_default());
    let height = options.height.unwrap_or(if curves.len() > 1 { 60.0 } else { 90.0 });
    figure = figure.panel_size(options.width, height);
    for (unit, curves) in curves {
        figure = figure.with(panel(options, &x_axis, unit.as_deref(), curves, y, runs).with_all(&events));
    }
    Ok(figure)
}

/// Adds layers below those that are there.
trait WithAll {
    fn with_all(self, layers: &[Layer]) -> Self;
}

impl WithAll for Panel {
    fn with_all(mut self, layers: &[Layer]) -> Self {
        self.layers.splice(0..0, layers.iter().cloned());
        self
    }
}

fn panel(
    options: &PlotOptions,
    x: &Axis,
    unit: Option<&str>,
    curves: Vec<Curve>,
    y: &[Wanted],
    runs: &[RunTables],
) -> Panel {
    let several_expressions = curves.iter().any(|curve| Some(curve.wanted) != curves.first().map(|first| first.wanted));
    let name_of = |curve: &Curve| y.get(curve.wanted).map_or("", |wanted| wanted.name.as_str());
    let label = match (several_expressions, curves.first()) {
        (false, Some(curve)) => name_of(curve).to_owned(),
        _ => quantity(unit.unwrap_or_default()).to_owned(),
    };
    let y_axis = Axis::new(label, unit.unwrap_or_default());
    let y_axis = if options.log_y { y_axis.log() } else { y_axis };
    let mut panel = Panel::new(x.clone(), y_axis);
    panel.equal_aspect = options.equal;
    for curve in curves {
        let run = runs.get(curve.run).map(run_name).unwrap_or_default();
        let name = match (several_expressions, runs.len() > 1) {
            (true, true) => Some(format!("{}, {run}", name_of(&curve))),
            (true, false) => Some(name_of(&curve).to_owned()),
            (false, true) => Some(run),
            (false, false) => None,
        };
        let several = several_expressions && runs.len() > 1;
        let layer = match curve.y {
            Value::Series(values) => Layer::line(curve.x, values),
            Value::Scalar(value) => Layer::horizontal_marks(vec![value]).colour(curve.wanted),
        };
        // Several expressions of several runs: colours tell expressions apart, dashes runs.
        let dash =
            [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::DashDotted].get(curve.run % 4).copied().unwrap_or_default();
        let layer = if several { layer.colour(curve.wanted).dash(dash) } else { layer };
        panel = panel.with(match name {
            Some(name) => layer.named(name),
            None => layer,
        });
    }
    panel
}

/// The name of a run: that of its folder.
fn run_name(run: &RunTables) -> String {
    let folder = run.folder().canonicalize().unwrap_or_else(|_| run.folder().to_path_buf());
    folder.file_name().map_or_else(|| run.info().scene.clone(), |name| name.to_string_lossy().into_owned())
}

/// What is measured in a unit, for an axis with several expressions.
fn quantity(unit: &str) -> &'static str {
    match unit {
        "m" => "length",
        "s" => "time",
        "rad" => "angle",
        "m/s" => "velocity",
        "m/s²" => "acceleration",
        "rad/s" => "angular velocity",
        "N" => "force",
        "N s" => "impulse",
        "N m s" => "angular impulse",
        "J" => "energy",
        "W" => "power",
        _ => "value",
    }
}

/// Which moments lie between `--from` and `--to`.
fn shown(run: &RunTables, options: &PlotOptions) -> Result<Vec<bool>, Failure> {
    let time = Measure::parse("t").and_then(|time| time.evaluate(run)).map_err(Failure::input)?;
    let (from, to) = (options.from.unwrap_or(f64::NEG_INFINITY), options.to.unwrap_or(f64::INFINITY));
    let shown: Vec<_> = time.series(run.frames()).iter().map(|t| (from..=to).contains(t)).collect();
    if shown.iter().any(|shown| *shown) || shown.is_empty() {
        return Ok(shown);
    }
    let folder = run.folder().display();
    Err(Failure::input(format!("{folder} has no recorded moment between {from} s and {to} s"))
        .with_help("choose others with --from and --to"))
}

fn kept(values: &[f64], shown: &[bool]) -> Vec<f64> {
    values.iter().zip(shown).filter(|(_, shown)| **shown).map(|(value, _)| *value).collect()
}

/// Marks where contacts change, one per time, with all that happens then.
fn event_marks(options: &PlotOptions, runs: &[RunTables]) -> Result<Vec<Layer>, Failure> {
    let (from, to) = (options.from.unwrap_or(f64::NEG_INFINITY), options.to.unwrap_or(f64::INFINITY));
    let (mut at, mut labels): (Vec<f64>, Vec<String>) = (Vec::new(), Vec::new());
    let mut left_out = 0_usize;
    for run in runs {
        let summary = run.summary().map_err(|error| {
            Failure::input(error).with_help("events are read from summary.json, which a run writes when it ends")
        })?;
        for event in summary.events.iter().filter(|event| (from..=to).contains(&event.t)) {
            match (at.last().is_some_and(|last| *last == event.t), labels.last_mut()) {
                (true, Some(label)) if !label.split(", ").any(|kind| kind == event.kind) => {
                    label.push_str(", ");
                    label.push_str(&event.kind);
                }
                (true, Some(_)) => {}
                _ if at.len() >= MOST_EVENTS => left_out += 1,
                _ => {
                    at.push(event.t);
                    labels.push(event.kind.clone());
                }
            }
        }
    }
    if left_out > 0 {
        eprintln!("{left_out} events are not marked: the first {MOST_EVENTS} are");
    }
    Ok(vec![Layer::vertical_marks(at).labelled(labels)])
}
