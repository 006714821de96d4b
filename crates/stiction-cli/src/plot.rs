//! `stiction plot`: columns and expressions of runs as a figure.

use std::path::{Path, PathBuf};

use stiction::{
    measure::{Measure, Measured, Value},
    record::RunTables,
};
use stiction_plot::{Axis, Dash, Figure, Layer, Panel};

use crate::{arguments::PlotOptions, failure::Failure};

/// Largest number of marked events; more would be illegible.
const MOST_EVENTS: usize = 500;

/// Default expressions.
const DEFAULTS: [&str; 4] = ["kinetic", "potential", "total", "normal force: sum_contacts(normal_impulse)/step"];

/// Dash patterns of the first runs, if colours distinguish expressions.
const DASHES: [Dash; 4] = [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::DashDotted];

/// File formats of pictures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Svg,
    #[cfg(feature = "full")]
    Png,
}

/// An expression with its name.
struct Wanted {
    name: String,
    measure: Measure,
}

/// A curve: an expression over a run.
struct Curve {
    /// Index of the expression.
    wanted: usize,
    /// Index of the run.
    run: usize,
    x: Vec<f64>,
    y: Value,
}

pub(crate) fn run(options: &PlotOptions) -> Result<(), Failure> {
    let out = options.out.clone().unwrap_or_else(|| default_out(&options.runs));
    let format = format_of(&out)?;
    crate::output::refuse_sources(&out, [])?;
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
        crate::layout::print_note(format_args!(
            "{} was truncated while it was written: the complete part is plotted",
            run.folder().display()
        ));
    }
    let figure = Drawing { options, x: &x, y: &y, runs: &runs }.figure()?;
    if figure.left_out() > 0 {
        crate::layout::print_note(format_args!(
            "{} values cannot be drawn: infinite, or not positive on a logarithmic axis",
            figure.left_out()
        ));
    }
    let bytes = match format {
        Format::Svg => figure.to_svg().into_bytes(),
        #[cfg(feature = "full")]
        Format::Png => figure.to_png(options.dpi).map_err(Failure::input)?,
    };
    crate::output::write_named(&out, bytes)?;
    crate::layout::print_text(&format!("{}\n", out.display()))
}

fn default_out(runs: &[PathBuf]) -> PathBuf {
    runs.first().map_or_else(|| PathBuf::from("plot.svg"), |run| run.join("plot.svg"))
}

fn format_of(path: &Path) -> Result<Format, Failure> {
    match path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("svg") => Ok(Format::Svg),
        #[cfg(feature = "full")]
        Some("png") => Ok(Format::Png),
        #[cfg(not(feature = "full"))]
        Some("png") => Err(crate::not_in_build::refuse("PNG")),
        _ => Err(Failure::input(format!("{} has no known file name extension", path.display()))
            .with_help("use .svg or .png")),
    }
}

/// Splits off the name before a colon; colons of contact labels are in quotes.
fn wanted(text: &str, option: &'static str) -> Result<Wanted, Failure> {
    let named = text.split_once(':').filter(|(name, _)| !name.contains(['"', '\'', '`', '(']));
    let (name, expression) = named.map_or((text, text), |(name, expression)| (name.trim(), expression.trim()));
    let measure = Measure::parse(expression).map_err(|error| Failure::Expression(option, error))?;
    Ok(Wanted { name: name.trim().to_owned(), measure })
}

/// Requested expressions and runs.
struct Drawing<'a> {
    options: &'a PlotOptions,
    x: &'a Wanted,
    y: &'a [Wanted],
    runs: &'a [RunTables],
}

/// Curves of one unit; `None` if it is not known.
type Group = (Option<String>, Vec<Curve>);

impl Drawing<'_> {
    fn figure(&self) -> Result<Figure, Failure> {
        let Self { options, x, .. } = self;
        let (x_unit, groups) = self.groups()?;
        let mut x_axis = Axis::new(x.name.clone(), x_unit);
        let over_time = options.x.is_none();
        if over_time && let (Some(from), Some(to)) = (options.from, options.to) {
            x_axis = x_axis.range(from, to);
        }
        let x_axis = if options.log_x { x_axis.log() } else { x_axis };
        let events = if options.events && over_time { event_marks(options, self.runs)? } else { Vec::new() };
        if options.events && !over_time {
            crate::layout::print_note("events are not marked: the horizontal axis is not the time");
        }
        let height = options.height.unwrap_or(if groups.len() > 1 { 60.0 } else { 90.0 });
        let mut figure = Figure::new(options.title.clone().unwrap_or_default()).panel_size(options.width, height);
        for (unit, curves) in groups {
            let mut panel = self.panel(&x_axis, unit.as_deref(), curves);
            panel.layers.splice(0..0, events.iter().cloned());
            figure = figure.with(panel);
        }
        Ok(figure)
    }

    /// Unit of the horizontal axis, and all curves. Curves of one unit share a panel; each curve of unknown unit has its own.
    fn groups(&self) -> Result<(String, Vec<Group>), Failure> {
        let mut x_unit = None;
        let mut groups: Vec<Group> = Vec::new();
        for (run, tables) in self.runs.iter().enumerate() {
            let evaluate = |wanted: &Wanted, option| {
                wanted.measure.evaluate(tables).map_err(|error| Failure::Expression(option, error))
            };
            let shown = shown(tables, self.options)?;
            let over = evaluate(self.x, "--x")?;
            x_unit = over.unit.clone().or(x_unit);
            let over = kept(&over.series(tables.frames()), &shown);
            for (number, wanted) in self.y.iter().enumerate() {
                let Measured { value, unit } = evaluate(wanted, "--y")?;
                let value = match value {
                    Value::Series(values) => Value::Series(kept(&values, &shown)),
                    scalar @ Value::Scalar(_) => scalar,
                };
                let curve = Curve { wanted: number, run, x: over.clone(), y: value };
                let fits = |(known, curves): &&mut Group| {
                    *known == unit && (unit.is_some() || curves.iter().any(|curve| curve.wanted == number))
                };
                match groups.iter_mut().find(fits) {
                    Some((_, curves)) => curves.push(curve),
                    None => groups.push((unit, vec![curve])),
                }
            }
        }
        Ok((x_unit.unwrap_or_default(), groups))
    }

    fn panel(&self, x: &Axis, unit: Option<&str>, curves: Vec<Curve>) -> Panel {
        let first = curves.first().map(|curve| curve.wanted);
        let several_expressions = curves.iter().any(|curve| Some(curve.wanted) != first);
        let several_runs = self.runs.len() > 1;
        let name_of = |number: usize| self.y.get(number).map_or("", |wanted| wanted.name.as_str());
        let label = match (several_expressions, first) {
            (false, Some(number)) => name_of(number),
            _ => quantity(unit.unwrap_or_default()),
        };
        let y_axis = Axis::new(label, unit.unwrap_or_default());
        let y_axis = if self.options.log_y { y_axis.log() } else { y_axis };
        let mut panel = Panel::new(x.clone(), y_axis);
        panel.equal_aspect = self.options.equal;
        for Curve { wanted, run, x, y } in curves {
            let layer = match y {
                Value::Series(values) => Layer::line(x, values),
                Value::Scalar(value) => Layer::horizontal_marks(vec![value]).colour(wanted),
            };
            let run_name = self.runs.get(run).map(run_name).unwrap_or_default();
            panel = panel.with(match (several_expressions, several_runs) {
                // Colours distinguish expressions, dashes distinguish runs.
                (true, true) => {
                    let layer = layer.colour(wanted).dash(DASHES.get(run % 4).copied().unwrap_or_default());
                    layer.named(format!("{}, {run_name}", name_of(wanted)))
                }
                (true, false) => layer.named(name_of(wanted)),
                (false, true) => layer.named(run_name),
                (false, false) => layer,
            });
        }
        panel
    }
}

/// Name of a run: that of its folder.
fn run_name(run: &RunTables) -> String {
    let folder = run.folder().canonicalize().unwrap_or_else(|_| run.folder().to_path_buf());
    folder.file_name().map_or_else(|| run.info().scene.clone(), |name| name.to_string_lossy().into_owned())
}

/// Quantity of a unit, for an axis with several expressions.
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

/// Mask of the moments between `--from` and `--to`.
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

/// Marks of contact transitions, one per time, with all transitions at that time.
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
        crate::layout::print_note(format_args!("{left_out} events are not marked: the first {MOST_EVENTS} are"));
    }
    Ok(vec![Layer::vertical_marks(at).labelled(labels)])
}
