//! Study files: a scene, the kind of the study, and the number of trials.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::Deserialize;
use stiction::scene::{self, Angle, Reading, RobotOptions, Scene, SceneError, schema_of};

use crate::monte_carlo::{
    Budget, Design, MonteCarlo, MonteCarloTables, ParameterTable, Parcel, Scalar, VariantTable, build,
};
use crate::push::{Goal, Plan, Push, PushError, Sampler, Search, SearchOptions};
use crate::verify::{StageTable, Verification, VerificationTables, build as build_verification};

/// Identifier of the schema, for tools that keep several.
const ID: &str = "urn:stiction:study";

/// Default number of draws of random circumstances.
const DEFAULT_DRAWS: u64 = 10;

/// A study, ready to run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Study {
    /// Search for paths of a needle.
    Push(Box<PushStudy>),
    /// Success rates, and the parameters that they depend on.
    MonteCarlo(Box<MonteCarlo>),
    /// Verification of designs under all circumstances.
    Verification(Box<Verification>),
}

/// A search for pushes, ready to run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PushStudy {
    /// The name of the file without its ending.
    pub name: String,
    /// The scene file.
    pub scene_path: PathBuf,
    /// The scene.
    pub scene: Scene,
    /// The search for plans.
    pub search: Search,
}

/// A study: a scene and a question about it that many trials answer. SI units throughout.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "stiction study")]
struct StudyFile {
    /// The kind of the study, its scene, and the number of trials.
    study: StudyTable,
    /// Table of a study of the kind `push`.
    push: Option<PushTable>,
    /// Parameters of a study of the kind `monte-carlo`, or of a design in one of the kind `verification`, by name.
    #[serde(default)]
    parameters: BTreeMap<String, ParameterTable>,
    /// Metrics of every trial of a study of the kind `monte-carlo`: expressions over its run, by name.
    #[serde(default)]
    metrics: BTreeMap<String, String>,
    /// Values of the scene, by their paths, that all trials of a study of the kind `monte-carlo` have.
    #[serde(default)]
    values: BTreeMap<String, Scalar>,
    /// Variants of a study of the kind `monte-carlo`: by name, values of the scene by their paths, `scene` for another scene file,
    /// `parameters` for other distributions of random parameters.
    #[serde(default)]
    variants: BTreeMap<String, VariantTable>,
    /// Circumstances of a study of the kind `verification` that cannot be chosen, by name: designs must work under all of them.
    #[serde(default)]
    circumstances: BTreeMap<String, ParameterTable>,
    /// Stages of a study of the kind `verification`: models from cheap to expensive, each with a condition that a design must satisfy.
    #[serde(default)]
    stage: Vec<StageTable>,
}

/// The kind of the study, its scene, and the number of trials.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StudyTable {
    /// Kind of the study.
    kind: Kind,
    /// The scene file, relative to the folder of the study.
    #[schemars(extend("examples" = ["../scenes/needle_push.toml"]))]
    scene: String,
    /// Number of trials, in each cell of a grid; 1000 by default. In a study of the kind `verification` trials are designs.
    #[schemars(range(min = 1, max = 1_000_000_000), title = "a whole number from 1 on", extend("examples" = [1000]))]
    trials: Option<u64>,
    /// Seed of the random numbers; 1 by default.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_i64), title = "a whole number from 0 on", extend("examples" = [1]))]
    seed: Option<u64>,
    /// Random circumstances of a study of the kind `verification`, in each combination of those on a grid; 10 by default.
    #[schemars(range(min = 1, max = 1_000_000_000), title = "a whole number from 1 on", extend("examples" = [10]))]
    draws: Option<u64>,
    /// Condition of success of a trial of a study of the kind `monte-carlo`: an expression over its run and its metrics that is one number,
    /// not zero for success.
    #[schemars(extend("examples" = ["final(box.x) > 0.5"]))]
    success: Option<String>,
    /// Sampling of the trials of a study of the kinds `monte-carlo` and `verification`; `random` by default.
    design: Option<Design>,
    /// Grid parameters about whose middle success should be symmetric.
    mirror: Option<Vec<String>>,
    /// Largest number of failed trials; the study ends after more.
    #[schemars(range(min = 0, max = 1_000_000_000), title = "a whole number from 0 on", extend("examples" = [100]))]
    max_failures: Option<u64>,
    /// Ends a trial when everything is at rest: no speed above 1e-9 m/s or rad/s in ten steps, and nothing that changes with time.
    ends_at_rest: Option<bool>,
    /// Time after which no more trials begin, s.
    #[schemars(extend("examples" = [3600.0]))]
    max_seconds: Option<f64>,
}

/// The kinds of studies.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// Paths of a needle that push a part to its goal.
    Push,
    /// Trials with random parameters, on a grid of others.
    MonteCarlo,
    /// Designs that must work under all circumstances, in models from cheap to expensive.
    Verification,
}

impl Kind {
    /// Name in files.
    fn word(self) -> &'static str {
        match self {
            Self::Push => "push",
            Self::MonteCarlo => "monte-carlo",
            Self::Verification => "verification",
        }
    }
}

/// A part, a needle that pushes it, and a goal.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PushTable {
    /// The body that is pushed, by name: dynamic, with a support.
    part: String,
    /// The body that pushes, by name: kinematic. Trials replace its motion.
    needle: String,
    /// Goal pose of the part.
    #[schemars(extend("examples" = [{"position": [0.3, 0.1], "angle": "20 deg"}]))]
    goal: GoalTable,
    /// Tolerances of the goal.
    #[schemars(extend("examples" = [{"position": 0.03, "angle": "5 deg"}]))]
    tolerance: ToleranceTable,
    /// Order n of the rotational symmetry: the part looks the same after one n-th of a turn; 1 by default, 4 for a square.
    #[schemars(range(min = 1, max = 1000), title = "a whole number from 1 to 1000", extend("examples" = [4]))]
    symmetry: Option<u32>,
    /// Number of straight pushes of a path, up to 8; 2 by default.
    #[schemars(range(min = 1, max = 8), title = "a whole number from 1 to 8", extend("examples" = [2]))]
    segments: Option<u32>,
    /// Shortest and longest push, m.
    #[schemars(title = "the shortest and the longest push in metres", extend("examples" = [[0.2, 1.0]]))]
    length: [f64; 2],
    /// Speed of the needle, m/s.
    #[schemars(extend("examples" = [0.5]))]
    speed: f64,
    /// Distance between the needle and the part at the start, m; a hundredth of the size of the part by default.
    clearance: Option<f64>,
    /// Largest angle between pushes and the direction to the goal; 60° by default.
    spread: Option<Angle>,
    /// Time after the push before the pose of the part is measured, s; 0 by default. For presets with inertia.
    settle: Option<f64>,
    /// Number of near misses to refine; 10 by default, 0 for none.
    #[schemars(range(min = 0, max = 1_000_000), title = "a whole number from 0 on", extend("examples" = [10]))]
    refine: Option<u32>,
    /// Number of rehearsals of each of the five best plans under other friction; 0 by default.
    #[schemars(range(min = 0, max = 1_000_000), title = "a whole number from 0 on", extend("examples" = [50]))]
    rehearsals: Option<u32>,
    /// Relative variation of friction in rehearsals: of each coefficient of each support point and of all contacts; 0.05 by default.
    variation: Option<f64>,
}

/// A pose.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GoalTable {
    /// Position of the centre of mass, m.
    #[schemars(title = "two numbers", extend("examples" = [[0.3, 0.1]]))]
    position: [f64; 2],
    /// Angle.
    angle: Angle,
}

/// Tolerances of a pose.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ToleranceTable {
    /// Distance, m.
    #[schemars(extend("examples" = [0.03]))]
    position: f64,
    /// Angle.
    angle: Angle,
}

impl PushStudy {
    /// The scene as TOML text with the needle on the path of a plan. Simulated for its duration, it ends with the same bits.
    pub fn replay(&self, plan: &Plan) -> Result<String, SceneError> {
        let [x, y] = plan.path.expressions();
        let (start, angle) =
            (plan.path.points().first().copied().unwrap_or_default(), self.search.push().needle_angle());
        // Bodies of the file follow the world. A name may contain dots, an index in the list does not.
        let place = self.search.push().needle().index().saturating_sub(1);
        let needle = |field: &str| format!("body.{place}.{field}");
        let changes = [
            (needle("position"), format!("{start:?}")),
            (needle("motion"), format!("{{ x = \"{x}\", y = \"{y}\", angle = {angle:?} }}")),
            ("simulation.duration".to_owned(), format!("{:?}", plan.duration)),
        ];
        scene::rewrite(&self.scene_path, &changes)
    }
}

/// The JSON Schema of study files.
pub fn schema() -> serde_json::Value {
    schema_of::<StudyFile>(ID)
}

/// Reads a study and the scene it names.
pub fn load(path: impl AsRef<Path>) -> Result<Study, SceneError> {
    let path = path.as_ref();
    let reading = Reading::<StudyFile>::load(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let scene_path = folder.join(&reading.value.study.scene);
    let name = path.file_stem().map_or_else(|| "study".to_owned(), |stem| stem.to_string_lossy().into_owned());
    match reading.value.study.kind {
        Kind::Push => Ok(Study::Push(Box::new(push_study(name, scene_path, &reading)?))),
        Kind::MonteCarlo => {
            Ok(Study::MonteCarlo(Box::new(monte_carlo(name, (folder, &scene_path), &reading, &text_of)?)))
        }
        Kind::Verification => Ok(Study::Verification(Box::new(verification(name, &scene_path, &reading)?))),
    }
}

/// Refuses the first of these keys that is given: it belongs to studies of another kind.
fn refuse_foreign(reading: &Reading<StudyFile>, kind: Kind) -> Result<(), SceneError> {
    let StudyFile { study, push, parameters, metrics, values, variants, circumstances, stage } = &reading.value;
    let (push_only, monte_carlo_only, verification_only) = (&["push"], &["monte-carlo"], &["verification"]);
    let both = &["monte-carlo", "verification"];
    let keys: [(bool, &[&str], &[&str]); 14] = [
        (push.is_some(), &["push"], push_only),
        (study.success.is_some(), &["study", "success"], monte_carlo_only),
        (study.design.is_some(), &["study", "design"], both),
        (study.mirror.is_some(), &["study", "mirror"], monte_carlo_only),
        (study.max_failures.is_some(), &["study", "max_failures"], monte_carlo_only),
        (study.ends_at_rest.is_some(), &["study", "ends_at_rest"], monte_carlo_only),
        (study.max_seconds.is_some(), &["study", "max_seconds"], monte_carlo_only),
        (study.draws.is_some(), &["study", "draws"], verification_only),
        (!parameters.is_empty(), &["parameters"], both),
        (!metrics.is_empty(), &["metrics"], monte_carlo_only),
        (!values.is_empty(), &["values"], monte_carlo_only),
        (!variants.is_empty(), &["variants"], monte_carlo_only),
        (!circumstances.is_empty(), &["circumstances"], verification_only),
        (!stage.is_empty(), &["stage"], verification_only),
    ];
    let ours = kind.word();
    match keys.into_iter().find(|(given, _, kinds)| *given && !kinds.contains(&ours)) {
        Some((_, keys, kinds)) => {
            let (key, kinds) = (keys.last().copied().unwrap_or_default(), kinds.join("` and `"));
            Err(reading.error(keys, format!("`{key}` belongs to studies of the kind `{kinds}`")))
        }
        None => Ok(()),
    }
}

/// Reads a Monte Carlo study from memory: its text, a file name for messages, and the texts of scenes by the names that the study gives them.
pub fn parse_monte_carlo(text: &str, file: &str, scenes: &[(&str, &str)]) -> Result<MonteCarlo, SceneError> {
    let reading = Reading::<StudyFile>::parse(text, file)?;
    if !matches!(reading.value.study.kind, Kind::MonteCarlo) {
        return Err(reading.error(&["study", "kind"], "the study is not of the kind `monte-carlo`"));
    }
    let read = |path: &Path| {
        let found = scenes.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "is not among those given".to_owned())
    };
    let name = Path::new(file).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    monte_carlo(name, (Path::new(""), Path::new(&reading.value.study.scene)), &reading, &read)
}

/// Reads a Monte Carlo study from a parcel. Its trials are those of the packed study, bit for bit.
pub fn unpack_monte_carlo(parcel: &Parcel) -> Result<MonteCarlo, SceneError> {
    let file = parcel.folder.join(format!("{}.toml", parcel.name));
    let reading = Reading::<StudyFile>::parse(&parcel.study, &file.display().to_string())?;
    // A scene that no variant uses is not packed, and is not read either.
    let read = |path: &Path| {
        let found = parcel.scenes.iter().find(|(known, _)| known == path);
        Ok(found.map_or_else(String::new, |(_, text)| text.clone()))
    };
    let scene_path = parcel.folder.join(&reading.value.study.scene);
    let mut study = monte_carlo(parcel.name.clone(), (&parcel.folder, &scene_path), &reading, &read)?;
    (study.trials, study.seed) = (parcel.trials, parcel.seed);
    Ok(study)
}

fn text_of(path: &Path) -> Result<String, String> {
    scene::text_of(path, &RobotOptions::default()).map(|scene| scene.text).map_err(|error| error.message)
}

fn push_study(name: String, scene_path: PathBuf, reading: &Reading<StudyFile>) -> Result<PushStudy, SceneError> {
    let StudyFile { study, push, .. } = &reading.value;
    let Some(table) = push else {
        return Err(reading.error(&["study", "kind"], "a study of the kind `push` needs the table [push]"));
    };
    refuse_foreign(reading, Kind::Push)?;
    let scene = scene::load(&scene_path).map_err(|error| match error.span {
        Some(_) => error,
        // The scene file could not be read: the error is in the study.
        None => reading.error(&["study", "scene"], format!("the scene {} {}", scene_path.display(), error.message)),
    })?;
    let search = search(&scene, study, table).map_err(|error| {
        let keys = if error.field == "scene" { ["study", error.field] } else { ["push", error.field] };
        let placed = reading.error(&keys, error.to_string());
        match error.hint {
            Some(hint) => placed.with_hint(hint),
            None => placed,
        }
    })?;
    Ok(PushStudy { name, scene_path, scene, search })
}

fn monte_carlo(
    name: String,
    (folder, scene_path): (&Path, &Path),
    reading: &Reading<StudyFile>,
    read: &dyn Fn(&Path) -> Result<String, String>,
) -> Result<MonteCarlo, SceneError> {
    let StudyFile { study, parameters, metrics, values, variants, .. } = &reading.value;
    refuse_foreign(reading, Kind::MonteCarlo)?;
    let Some(success) = &study.success else {
        let message = "a study of the kind `monte-carlo` needs `success`, an expression over the run";
        return Err(reading.error(&["study"], message).with_hint("such as success = \"final(box.x) > 0.5\""));
    };
    let usual = SearchOptions::default();
    let tables = MonteCarloTables {
        folder,
        read,
        trials: study.trials.unwrap_or(usual.trials),
        seed: study.seed.unwrap_or(usual.seed),
        design: study.design,
        success,
        mirror: study.mirror.as_deref().unwrap_or_default(),
        ends_at_rest: study.ends_at_rest.unwrap_or(false),
        budget: Budget { failures: study.max_failures, seconds: study.max_seconds },
        parameters,
        metrics,
        values,
        variants,
    };
    build(name, (scene_path, reading.text()), &tables, &errors_at(reading))
}

fn verification(name: String, scene_path: &Path, reading: &Reading<StudyFile>) -> Result<Verification, SceneError> {
    let text = scene::text_of(scene_path, &RobotOptions::default()).map_err(|error| {
        reading.error(&["study", "scene"], format!("the scene {} {}", scene_path.display(), error.message))
    })?;
    verification_of(name, (scene_path, &text.text), reading)
}

/// Reads a study of the kind `verification` from a text, and its scene from another text instead of the named file; `file` is for messages
/// and for the name of the study.
pub fn parse_verification(text: &str, file: &str, scene_text: &str) -> Result<Verification, SceneError> {
    let reading = Reading::<StudyFile>::parse(text, file)?;
    let scene_path = PathBuf::from(&reading.value.study.scene);
    let name = Path::new(file).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    verification_of(name, (&scene_path, scene_text), &reading)
}

fn verification_of(
    name: String,
    scene: (&Path, &str),
    reading: &Reading<StudyFile>,
) -> Result<Verification, SceneError> {
    let StudyFile { study, parameters, circumstances, stage, .. } = &reading.value;
    refuse_foreign(reading, Kind::Verification)?;
    let usual = SearchOptions::default();
    let tables = VerificationTables {
        trials: study.trials.unwrap_or(usual.trials),
        draws: study.draws.unwrap_or(DEFAULT_DRAWS),
        seed: study.seed.unwrap_or(usual.seed),
        design: study.design,
        parameters,
        circumstances,
        stages: stage,
    };
    build_verification(name, scene, &tables, &errors_at(reading))
}

/// Errors with their places in the file.
fn errors_at(reading: &Reading<StudyFile>) -> impl Fn(&[&str], String, Option<String>) -> SceneError + '_ {
    |keys, message, hint| {
        let error = reading.error(keys, message);
        match hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

fn search(scene: &Scene, study: &StudyTable, table: &PushTable) -> Result<Search, PushError> {
    let tolerance = (table.tolerance.position, radians("tolerance", &table.tolerance.angle)?);
    let goal = Goal::new(table.goal.position, radians("goal", &table.goal.angle)?, tolerance)?;
    let goal = goal.with_symmetry(table.symmetry.unwrap_or(1))?;
    let push = Push::new(scene, &table.part, &table.needle, goal)?.settling(table.settle.unwrap_or(0.0))?;
    let mut sampler = Sampler::new(&push, table.segments.unwrap_or(2), table.length, table.speed)?;
    if let Some(clearance) = table.clearance {
        sampler = sampler.with_clearance(clearance)?;
    }
    if let Some(spread) = &table.spread {
        sampler = sampler.with_spread(radians("spread", spread)?)?;
    }
    let usual = SearchOptions::default();
    let options = SearchOptions {
        trials: study.trials.unwrap_or(usual.trials),
        seed: study.seed.unwrap_or(usual.seed),
        refine: table.refine.unwrap_or(usual.refine),
        rehearsals: table.rehearsals.unwrap_or(usual.rehearsals),
        variation: table.variation.unwrap_or(usual.variation),
        ..usual
    };
    Search::new(push, sampler, options)
}

fn radians(field: &'static str, angle: &Angle) -> Result<f64, PushError> {
    angle.radians().ok_or_else(|| PushError::without_unit(field))
}
