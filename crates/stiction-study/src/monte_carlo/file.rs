//! Tables of a study file for a Monte Carlo study.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use stiction::{
    Simulation,
    measure::{Measure, MeasureError, Needs, Value as Measured},
    scene::SceneError,
};

use super::{
    Budget, Design, Draw, Ends, MonteCarlo, Parameter, Place, Value, metrics, sobol,
    variants::{self, VariantTable},
};

/// Names of columns of the table of trials.
const TAKEN: [&str; 8] = ["index", "trial", "cell", "variant", "success", "steps", "failure", "detail"];

/// Names that are reserved in expressions.
const KNOWN: [&str; 7] = ["t", "step", "step_number", "pi", "and", "or", "not"];

/// Largest number of cells of a study.
const MAX_CELLS: usize = 1_000_000;

/// A number, a word, or true or false.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "a number, a text, or true or false", extend("examples" = [0.5]))]
pub(crate) enum Scalar {
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// True or false.
    Truth(bool),
}

/// Source of the values of a parameter: exactly one of `values`, `grid`, `uniform`, `normal` and `choice`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParameterTable {
    /// Path of the value of the scene that it sets.
    #[schemars(extend("examples" = ["body.box.velocity.0"]))]
    pub(super) path: Option<String>,
    /// Paths of several values of the scene that it sets to the same value.
    pub(super) paths: Option<Vec<String>>,
    /// Unit of its numbers: `deg` or `rad` for angles.
    #[schemars(extend("examples" = ["deg"]))]
    pub(super) unit: Option<String>,
    /// Values of a grid parameter, in order.
    #[schemars(extend("examples" = [[0.1, 0.2, 0.5]]))]
    values: Option<Vec<f64>>,
    /// Equidistant values of a grid parameter.
    #[schemars(extend("examples" = [{"from": -0.01, "to": 0.01, "count": 21}]))]
    grid: Option<GridTable>,
    /// Drawn uniformly between two ends.
    #[schemars(title = "the two ends", extend("examples" = [[0.33, 0.66]]))]
    uniform: Option<[f64; 2]>,
    /// Ends of `uniform` that belong to the interval: `[]` (by default), `(]`, `[)` or `()`.
    ends: Option<EndsWord>,
    /// Drawn normally.
    #[schemars(extend("examples" = [{"mean": 1.0, "deviation": 0.1}]))]
    normal: Option<NormalTable>,
    /// Drawn from several values, all equally likely.
    #[schemars(extend("examples" = [["stewart-trinkle", "ncp"]]))]
    choice: Option<Vec<Scalar>>,
}

/// Equidistant values.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GridTable {
    /// The first.
    from: f64,
    /// The last.
    to: f64,
    /// Number of values.
    #[schemars(range(min = 1, max = 1_000_000), title = "a whole number from 1 on", extend("examples" = [21]))]
    count: u32,
}

/// Normal distribution, truncated if it has ends.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NormalTable {
    /// Mean, before truncation.
    mean: f64,
    /// Standard deviation, before truncation.
    deviation: f64,
    /// Lower end.
    low: Option<f64>,
    /// Upper end.
    high: Option<f64>,
}

/// Ends of an interval that belong to it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
enum EndsWord {
    /// Both.
    #[serde(rename = "[]")]
    Closed,
    /// The upper one.
    #[serde(rename = "(]")]
    OpenBelow,
    /// The lower one.
    #[serde(rename = "[)")]
    OpenAbove,
    /// None.
    #[serde(rename = "()")]
    Open,
}

/// Tables of a study file for a Monte Carlo study.
pub(crate) struct MonteCarloTables<'f> {
    /// The folder of the file.
    pub(crate) folder: &'f Path,
    /// Reads a scene; on failure it returns the reason.
    pub(crate) read: &'f dyn Fn(&Path) -> Result<String, String>,
    pub(crate) trials: u64,
    pub(crate) seed: u64,
    pub(crate) design: Option<Design>,
    pub(crate) success: &'f str,
    pub(crate) mirror: &'f [String],
    pub(crate) ends_at_rest: bool,
    pub(crate) budget: Budget,
    pub(crate) parameters: &'f BTreeMap<String, ParameterTable>,
    pub(crate) metrics: &'f BTreeMap<String, String>,
    pub(crate) values: &'f BTreeMap<String, Scalar>,
    pub(crate) variants: &'f BTreeMap<String, VariantTable>,
}

/// Makes an error about the value with these keys.
pub(crate) type MakeError<'c> = dyn Fn(&[&str], String, Option<String>) -> SceneError + 'c;

/// Builds the study of a file. Every path, value and expression is evaluated once.
pub(crate) fn build(
    name: String,
    (scene_path, study_text): (&Path, &str),
    tables: &MonteCarloTables<'_>,
    make_error: &MakeError<'_>,
) -> Result<MonteCarlo, SceneError> {
    let parameters = tables.parameters.iter().map(|(name, table)| parameter(name, table, make_error));
    let (grid, random): (Vec<_>, Vec<_>) =
        parameters.collect::<Result<Vec<_>, _>>()?.into_iter().partition(Parameter::is_grid);
    let mut needs = Needs::default();
    let mut measure = |keys: &[&str], text: &str| {
        let measure = Measure::parse(text).map_err(|error| misread(keys, &error, make_error))?;
        measure.add_needs(&mut needs);
        Ok::<_, SceneError>(measure)
    };
    let success = measure(&["study", "success"], tables.success)?;
    let mut metrics = Vec::new();
    for (name, text) in tables.metrics {
        check_name(&["metrics", name], name, make_error)?;
        metrics.push((name.clone(), measure(&["metrics", name], text)?));
    }
    let order = metrics::order(&metrics)
        .map_err(|name| make_error(&["metrics", &name], format!("the metric `{name}` depends on itself"), None))?;
    let variants = variants::read(tables, scene_path, &random, make_error)?;
    let study = MonteCarlo {
        name,
        scene_path: scene_path.to_path_buf(),
        trials: tables.trials,
        seed: tables.seed,
        design: tables.design.unwrap_or_default(),
        ends_at_rest: tables.ends_at_rest,
        budget: tables.budget,
        folder: tables.folder.to_path_buf(),
        study_text: Arc::from(study_text),
        grid,
        random,
        variants,
        success,
        metrics,
        order,
        mirror: tables.mirror.to_vec(),
        needs,
    };
    check_sizes(&study, make_error)?;
    check_mirror(&study, make_error)?;
    check_variants(&study, make_error)?;
    Ok(study)
}

pub(crate) fn parameter(
    name: &str,
    table: &ParameterTable,
    make_error: &MakeError<'_>,
) -> Result<Parameter, SceneError> {
    let keys = ["parameters", name];
    check_name(&keys, name, make_error)?;
    let paths: Vec<_> = table.path.iter().chain(table.paths.iter().flatten()).cloned().collect();
    if paths.is_empty() {
        let hint = "such as path = \"body.box.velocity.0\"".to_owned();
        return Err(make_error(
            &keys,
            format!("`{name}` needs `path`, the value of the scene that it sets"),
            Some(hint),
        ));
    }
    let draw = draw(&keys, name, table, make_error)?;
    Ok(Parameter { name: name.to_owned(), paths, unit: table.unit.clone(), draw })
}

/// Source of the values of the parameter `name`, described by `keys`.
pub(super) fn draw(
    keys: &[&str],
    name: &str,
    table: &ParameterTable,
    make_error: &MakeError<'_>,
) -> Result<Draw, SceneError> {
    let fault = |key: &str, message: String| Err(make_error(&[keys, &[key]].concat(), message, None));
    let draws = [
        table.values.is_some(),
        table.grid.is_some(),
        table.uniform.is_some(),
        table.normal.is_some(),
        table.choice.is_some(),
    ];
    if draws.into_iter().filter(|given| *given).count() != 1 {
        return Err(make_error(
            keys,
            format!("`{name}` needs one of `values`, `grid`, `uniform`, `normal` and `choice`, and only one"),
            None,
        ));
    }
    if table.ends.is_some() && table.uniform.is_none() {
        return fault("ends", "`ends` belong to `uniform`".to_owned());
    }
    let draw = match table {
        ParameterTable { values: Some(values), .. } if values.is_empty() => {
            return fault("values", "there is no value".to_owned());
        }
        ParameterTable { values: Some(values), .. } => Draw::Grid(values.clone()),
        ParameterTable { grid: Some(grid), .. } => Draw::Grid(spaced(grid)),
        ParameterTable { uniform: Some([low, high]), .. } if low >= high => {
            return fault("uniform", format!("the first end must be below the second, but they are {low} and {high}"));
        }
        ParameterTable { uniform: Some(range), ends, .. } => Draw::Uniform { range: *range, ends: ends_of(*ends) },
        ParameterTable { normal: Some(normal), .. } => {
            let range = [normal.low.unwrap_or(f64::NEG_INFINITY), normal.high.unwrap_or(f64::INFINITY)];
            if normal.deviation <= 0.0 || range[0] >= range[1] {
                return fault("normal", "the deviation must be positive, and `low` below `high`".to_owned());
            }
            Draw::Normal { mean: normal.mean, deviation: normal.deviation, range }
        }
        ParameterTable { choice, .. } => Draw::Choice(choice.iter().flatten().map(chosen).collect()),
    };
    if let Draw::Choice(values) = &draw {
        let words = values.iter().filter(|value| matches!(value, Value::Word(_))).count();
        if values.is_empty() || (words != 0 && words != values.len()) {
            return fault("choice", "there must be numbers, or texts, but not both".to_owned());
        }
    }
    Ok(draw)
}

fn chosen(value: &Scalar) -> Value {
    match value {
        Scalar::Whole(n) => Value::Number(*n as f64),
        Scalar::Number(x) => Value::Number(*x),
        Scalar::Text(text) => Value::Word(text.clone()),
        Scalar::Truth(truth) => Value::Word(truth.to_string()),
    }
}

fn ends_of(word: Option<EndsWord>) -> Ends {
    let (low, high) = match word.unwrap_or(EndsWord::Closed) {
        EndsWord::Closed => (true, true),
        EndsWord::OpenBelow => (false, true),
        EndsWord::OpenAbove => (true, false),
        EndsWord::Open => (false, false),
    };
    Ends { low, high }
}

/// Equidistant values, exactly symmetric if the middle is zero.
fn spaced(grid: &GridTable) -> Vec<f64> {
    let last = f64::from(grid.count.max(2) - 1);
    (0..grid.count).map(f64::from).map(|i| (grid.from * (last - i) + grid.to * i) / last).collect()
}

/// Checks a name, which is used in expressions and as a column.
fn check_name(keys: &[&str], name: &str, make_error: &MakeError<'_>) -> Result<(), SceneError> {
    let plain =
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    if !plain || name.is_empty() {
        return Err(make_error(keys, format!("`{name}` is no name for expressions: letters, digits and _"), None));
    }
    if TAKEN.contains(&name) || KNOWN.contains(&name) {
        return Err(make_error(
            keys,
            format!("the name `{name}` is taken"),
            Some(format!("names that are taken: {}", TAKEN.join(", "))),
        ));
    }
    Ok(())
}

fn check_sizes(study: &MonteCarlo, make_error: &MakeError<'_>) -> Result<(), SceneError> {
    let cells = study.shape().into_iter().try_fold(1_usize, usize::checked_mul).filter(|cells| *cells <= MAX_CELLS);
    if cells.is_none() {
        return Err(make_error(&["parameters"], format!("the grid has more than {MAX_CELLS} cells"), None));
    }
    check_design(study.design, study.random.len(), study.trials, make_error)?;
    if let Some((name, _)) =
        study.metrics.iter().find(|(name, _)| study.parameters().any(|parameter| parameter.name == *name))
    {
        return Err(make_error(&["metrics", name], format!("`{name}` is a parameter already"), None));
    }
    if study.budget.seconds.is_some_and(|seconds| seconds <= 0.0) {
        return Err(make_error(&["study", "max_seconds"], "`max_seconds` must be positive".to_owned(), None));
    }
    Ok(())
}

/// Checks that a Sobol sequence has enough dimensions and points.
pub(crate) fn check_design(
    design: Design,
    random: usize,
    trials: u64,
    make_error: &MakeError<'_>,
) -> Result<(), SceneError> {
    if design == Design::Sobol && (random > sobol::MOST_DIMENSIONS || trials > u64::from(u32::MAX)) {
        let message = format!(
            "the design `sobol` has {} dimensions, and as many random parameters at most",
            sobol::MOST_DIMENSIONS
        );
        return Err(make_error(&["study", "design"], message, Some("`latin-hypercube` has no limit".to_owned())));
    }
    Ok(())
}

/// Checks that the values of a mirrored parameter have their mirror images.
fn check_mirror(study: &MonteCarlo, make_error: &MakeError<'_>) -> Result<(), SceneError> {
    for name in &study.mirror {
        let found = study.grid.iter().find(|parameter| parameter.name == *name);
        let Some(Parameter { draw: Draw::Grid(values), .. }) = found else {
            return Err(make_error(&["study", "mirror"], format!("there is no grid parameter `{name}`"), None));
        };
        let [low, high] = [values.first(), values.last()].map(|value| value.copied().unwrap_or_default());
        let is_even = |(a, b): (&f64, &f64)| (a + b - low - high).abs() <= 1e-9 * (low.abs() + high.abs());
        if !values.iter().zip(values.iter().rev()).all(is_even) {
            return Err(make_error(
                &["study", "mirror"],
                format!("the values of `{name}` are not symmetric about their middle"),
                None,
            ));
        }
    }
    Ok(())
}

/// Number of trials that are tried for one whose scene can be built. A wrong path fails in all of them; values that are refused are
/// failures of trials.
const MAX_TRIED: u64 = 8;

/// Builds a scene of every variant and evaluates every expression at its initial state.
fn check_variants(study: &MonteCarlo, make_error: &MakeError<'_>) -> Result<(), SceneError> {
    for variant in 0..study.variants.len() {
        let places = (0..study.trials.min(MAX_TRIED)).map(|trial| Place { trial, cell: 0, variant });
        let mut built = places.map(|place| study.scene(place).map(|scene| (place, scene)));
        let first =
            built.next().unwrap_or_else(|| Err(make_error(&["study", "trials"], "there is no trial".to_owned(), None)));
        let (place, scene) = first.or_else(|error| built.find_map(Result::ok).ok_or(error))?;
        let simulation =
            Simulation::from_scene(&scene).map_err(|error| make_error(&["study", "scene"], error.to_string(), None))?;
        let mut run = study.columns(&simulation, &scene, place);
        study.metrics.iter().for_each(|(name, _)| run.set_constant(name, 0.0));
        let metrics = study.metrics.iter().map(|(name, measure)| (vec!["metrics", name.as_str()], measure));
        for (keys, measure) in std::iter::once((vec!["study", "success"], &study.success)).chain(metrics) {
            let measured = measure.evaluate(&run).map_err(|error| misread(&keys, &error, make_error))?;
            if matches!(measured.value, Measured::Series(_)) {
                let hint = "final(e), max(e), at(e, t), any(c) and all(c) make one number of a series".to_owned();
                return Err(make_error(
                    &keys,
                    format!("`{}` is a number per moment, but must be one number", measure.text()),
                    Some(hint),
                ));
            }
        }
    }
    Ok(())
}

pub(crate) fn misread(keys: &[&str], error: &MeasureError, make_error: &MakeError<'_>) -> SceneError {
    let at = error.text.get(error.span.clone()).unwrap_or_default();
    let place = if at.is_empty() || at == error.text { String::new() } else { format!(", at `{at}`") };
    make_error(keys, format!("{}{place}", error.reason), error.hint.clone())
}
