//! Design files: a scene, parameters to choose, and terms to minimise.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use stiction::{
    Simulation,
    measure::{Measure, Needs, Value},
    record::RunColumns,
    scene::{self, Reading, RobotOptions, SceneError, schema_of},
};

use super::{Design, DesignError, DesignSearch, Formula, Method, Parameter, Run, SearchOptions, Term};

/// Identifier of the schema, for tools that keep several.
const ID: &str = "urn:stiction:design";

/// Names that are reserved in formulas and expressions.
const TAKEN: [&str; 4] = ["t", "pi", "step", "step_number"];

/// A design: a scene, parameters to choose, and terms to minimise. SI units throughout.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "stiction design")]
struct DesignFile {
    /// The scene and the options of the search.
    design: DesignTable,
    /// Parameters to choose.
    #[schemars(length(min = 1, max = 1000))]
    parameter: Vec<ParameterTable>,
    /// Values of the scene that are formulas of parameters.
    #[serde(default)]
    set: Vec<SetTable>,
    /// Runs of one evaluation; the scene as it is by default.
    #[serde(default)]
    run: Vec<RunTable>,
    /// Terms that are measured of each run; the objective is the sum over terms and runs.
    #[schemars(length(min = 1, max = 1000))]
    term: Vec<TermTable>,
}

/// The scene and the options of the search.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DesignTable {
    /// The scene file, relative to the folder of the design.
    #[schemars(extend("examples" = ["../scenes/plate/circle.toml"]))]
    scene: String,
    /// Method of the search; nelder-mead by default.
    method: Option<Method>,
    /// Number of starts; 1 by default. All but the first are drawn from the bounds.
    #[schemars(range(min = 1, max = 100_000), title = "a whole number from 1 on", extend("examples" = [1]))]
    starts: Option<u32>,
    /// Evaluations of each search; 500 by default. The last iteration may exceed it.
    #[schemars(range(min = 1, max = 1_000_000_000), title = "a whole number from 1 on", extend("examples" = [500]))]
    evaluations: Option<u64>,
    /// Seed of the random numbers; 1 by default.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_i64), title = "a whole number from 0 on", extend("examples" = [1]))]
    seed: Option<u64>,
    /// Size of the simplex or of the distribution at which a search ends, in units of the scales. Least squares ends when every term is
    /// smaller than this. 0.001 by default.
    tolerance: Option<f64>,
    /// Half-width of the finite differences for derivatives, in units of the scales; 0.0001 by default. For least squares.
    difference: Option<f64>,
    /// Number of steps between records of a run; 1 by default.
    #[schemars(range(min = 1, max = 1_000_000_000), title = "a whole number from 1 on", extend("examples" = [1]))]
    record_every: Option<u32>,
}

/// A parameter to choose.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ParameterTable {
    /// Its name in formulas and expressions.
    #[schemars(extend("examples" = ["A3"]))]
    name: String,
    /// Path of the value of the scene that it sets; absent if it acts through formulas only.
    #[schemars(extend("examples" = ["body.plate.vibration.acceleration.2"]))]
    path: Option<String>,
    /// Start of the search.
    #[schemars(extend("examples" = [8.0]))]
    start: f64,
    /// Lower and upper bound; none by default.
    #[schemars(title = "the least and the greatest value", extend("examples" = [[0.0, 30.0]]))]
    bounds: Option<[f64; 2]>,
    /// Distance of the first trials from the start; a tenth of the start by default.
    #[schemars(extend("examples" = [2.0]))]
    scale: Option<f64>,
}

/// A value of the scene that is a formula of parameters.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetTable {
    /// The value, by its path.
    #[schemars(extend("examples" = ["body.particle.position.2"]))]
    path: String,
    /// An expression over the names of parameters.
    #[schemars(extend("examples" = ["-A3*sin(C3)/(66*pi)^2"]))]
    value: String,
}

/// One of the runs of an evaluation.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunTable {
    /// Its name in tables.
    name: String,
    /// Values of the scene that belong to this run, as after `--set`: "PATH=VALUE".
    #[serde(default)]
    #[schemars(extend("examples" = [["body.particle.position.0=0.04"]]))]
    set: Vec<String>,
}

/// A term that is measured of each run.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TermTable {
    /// Its name in tables.
    name: String,
    /// An expression over the run whose value is one number.
    #[schemars(extend("examples" = ["sum_every(abs(block.x - 0.5), 0.25)"]))]
    value: String,
    /// Factor of the value; 1 by default.
    weight: Option<f64>,
}

/// The JSON Schema of design files.
pub fn schema() -> serde_json::Value {
    schema_of::<DesignFile>(ID)
}

/// Reads a design and its scene. The scene of every run must be valid at the start of the search, and every term must have a value at its
/// initial state.
pub fn load(path: impl AsRef<Path>) -> Result<DesignSearch, SceneError> {
    let path = path.as_ref();
    let reading = Reading::<DesignFile>::load(path)?;
    let scene_path = path.parent().unwrap_or(Path::new("")).join(&reading.value.design.scene);
    let text = scene::text_of(&scene_path, &RobotOptions::default()).map_err(|error| match error.span {
        Some(_) => error,
        // The scene file could not be read: the error is in the design.
        None => reading.error(&["design", "scene"], format!("the scene {} {}", scene_path.display(), error.message)),
    })?;
    understood(&reading, path, scene_path, text.text)
}

/// Reads a design from a text, and its scene from another text instead of the named file; `file` is for messages and for the name of the
/// design.
pub fn parse(text: &str, file: &str, scene_text: &str) -> Result<DesignSearch, SceneError> {
    let reading = Reading::<DesignFile>::parse(text, file)?;
    let scene_path = PathBuf::from(&reading.value.design.scene);
    understood(&reading, Path::new(file), scene_path, scene_text.to_owned())
}

fn understood(
    reading: &Reading<DesignFile>,
    path: &Path,
    scene_path: PathBuf,
    scene_text: String,
) -> Result<DesignSearch, SceneError> {
    let refused = |error: DesignError| {
        let keys: Vec<_> = error.place.iter().map(String::as_str).collect();
        reading.error(&keys, error.reason)
    };
    let file = &reading.value;
    let name = path.file_stem().map_or_else(|| "design".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let design = Design {
        name,
        scene_path,
        scene_text,
        parameters: parameters(file).map_err(refused)?,
        formulas: formulas(file).map_err(refused)?,
        runs: runs(file).map_err(refused)?,
        terms: terms(file).map_err(refused)?,
        record_every: file.design.record_every.unwrap_or(1),
    };
    check_scenes(&design, reading)?;
    DesignSearch::new(design, options(&file.design)).map_err(refused)
}

fn options(table: &DesignTable) -> SearchOptions {
    let usual = SearchOptions::default();
    SearchOptions {
        method: table.method.unwrap_or(usual.method),
        starts: table.starts.unwrap_or(usual.starts),
        evaluations: table.evaluations.unwrap_or(usual.evaluations),
        seed: table.seed.unwrap_or(usual.seed),
        tolerance: table.tolerance.unwrap_or(usual.tolerance),
        difference: table.difference.unwrap_or(usual.difference),
    }
}

/// Reads the parameters, with unique names and starts within their bounds.
fn parameters(file: &DesignFile) -> Result<Vec<Parameter>, DesignError> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for (k, table) in file.parameter.iter().enumerate() {
        let index = k.to_string();
        let refuse = |key: &str, reason: String| DesignError::new(&["parameter", &index, key], reason);
        let name = table.name.as_str();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err(refuse("name", format!("`{name}` is no name: a letter, then letters, digits and _")));
        }
        if TAKEN.contains(&name) || parameters.iter().any(|other| other.name == name) {
            return Err(refuse("name", format!("the name `{name}` is taken")));
        }
        let start = table.start;
        let bounds = table.bounds.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let [low, high] = bounds;
        if low.is_nan() || high.is_nan() || low >= high {
            return Err(refuse("bounds", format!("the lower bound {low} must be below the upper bound {high}")));
        }
        if !start.is_finite() || !(low..=high).contains(&start) {
            return Err(refuse(
                "start",
                format!("the start {start} of `{name}` must be in its bounds {low} to {high}"),
            ));
        }
        let scale = table.scale.unwrap_or(0.1 * start.abs());
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(refuse(
                "scale",
                format!("`{name}` needs a positive scale: how far the first trials go from its start"),
            ));
        }
        parameters.push(Parameter { name: name.to_owned(), path: table.path.clone(), start, bounds, scale });
    }
    Ok(parameters)
}

fn formulas(file: &DesignFile) -> Result<Vec<(String, Formula)>, DesignError> {
    let names: Vec<_> = file.parameter.iter().map(|parameter| parameter.name.as_str()).collect();
    let formula = |(k, table): (usize, &SetTable)| {
        let formula = Formula::new(&table.value, &names);
        let formula = formula.map_err(|reason| DesignError::new(&["set", &k.to_string(), "value"], reason))?;
        Ok((table.path.clone(), formula))
    };
    file.set.iter().enumerate().map(formula).collect()
}

fn runs(file: &DesignFile) -> Result<Vec<Run>, DesignError> {
    if file.run.is_empty() {
        return Ok(vec![Run::new("run", Vec::new())]);
    }
    let run = |(k, table): (usize, &RunTable)| {
        let changes = table.set.iter().enumerate().map(|(j, text)| match text.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => Ok((path.trim().to_owned(), value.trim().to_owned())),
            _ => {
                let reason = "expected \"PATH=VALUE\", such as \"body.rod.mass=2.5\"";
                Err(DesignError::new(&["run", &k.to_string(), "set", &j.to_string()], reason))
            }
        });
        Ok(Run::new(&table.name, changes.collect::<Result<_, _>>()?))
    };
    file.run.iter().enumerate().map(run).collect()
}

fn terms(file: &DesignFile) -> Result<Vec<Term>, DesignError> {
    let term = |(k, table): (usize, &TermTable)| {
        let refuse = |key: &str, reason: String| DesignError::new(&["term", &k.to_string(), key], reason);
        let weight = table.weight.unwrap_or(1.0);
        if !weight.is_finite() {
            return Err(refuse("weight", format!("the weight must be a number, but is {weight}")));
        }
        let measure = Measure::parse(&table.value).map_err(|error| refuse("value", error.to_string()))?;
        Ok(Term { name: table.name.clone(), measure, weight })
    };
    file.term.iter().enumerate().map(term).collect()
}

/// Checks that every run is a scene that can be simulated, and that every term is one number.
fn check_scenes(design: &Design, reading: &Reading<DesignFile>) -> Result<(), SceneError> {
    let start: Vec<_> = design.parameters.iter().map(|parameter| parameter.start).collect();
    let mut needs = Needs::default();
    design.terms.iter().for_each(|term| term.measure.add_needs(&mut needs));
    for (k, run) in design.runs.iter().enumerate() {
        let scene = design.scene(run, &start).map_err(|error| error_in_design(design, reading, k, error))?;
        let simulation =
            Simulation::from_scene(&scene).map_err(|error| reading.error(&["design", "scene"], error.to_string()))?;
        let mut columns = RunColumns::new(&simulation, &needs, 1);
        for parameter in &design.parameters {
            columns.set_constant(&parameter.name, parameter.start);
        }
        for (j, term) in design.terms.iter().enumerate() {
            let place = ["term", &j.to_string(), "value"];
            match term.measure.evaluate(&columns) {
                Ok(measured) if matches!(measured.value, Value::Scalar(_)) => {}
                Ok(_) => {
                    let error = reading.error(&place, format!("the term `{}` is a series, not one number", term.name));
                    return Err(error.with_hint("such as final(…), mean(…), max(…) or sum_every(…, 0.25)"));
                }
                Err(error) => return Err(reading.error(&place, error.to_string())),
            }
        }
    }
    Ok(())
}

/// Error at the line of the design whose value the scene refuses.
fn error_in_design(design: &Design, reading: &Reading<DesignFile>, run: usize, error: SceneError) -> SceneError {
    if error.file != "--set" {
        return error;
    }
    let is_culprit = |path: &str| error.source_text.starts_with(&format!("{path}="));
    let parameter = design.parameters.iter().position(|p| p.path.as_deref().is_some_and(is_culprit));
    let formula = design.formulas.iter().position(|(path, _)| is_culprit(path));
    let own = design.runs.get(run).and_then(|run| run.changes.iter().position(|(path, _)| is_culprit(path)));
    let place = match (parameter, formula, own) {
        (Some(k), ..) => vec!["parameter".to_owned(), k.to_string(), "path".to_owned()],
        (None, Some(k), _) => vec!["set".to_owned(), k.to_string(), "path".to_owned()],
        (None, None, own) => vec!["run".to_owned(), run.to_string(), "set".to_owned(), own.unwrap_or(0).to_string()],
    };
    let keys: Vec<_> = place.iter().map(String::as_str).collect();
    let placed = reading.error(&keys, format!("{} ({})", error.message, error.source_text));
    match error.hint {
        Some(hint) => placed.with_hint(hint),
        None => placed,
    }
}
