//! Tables of a study file for a verification.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use stiction::{
    Simulation,
    measure::{Measure, Needs, Value as Measured},
    scene::SceneError,
};

use super::{
    Passage, Sample, Stage, Verification,
    study::{WIDTH, circumstances_seed},
};
use crate::monte_carlo::{
    Design, MakeError, Parameter, ParameterTable, Scalar, check_design, misread, parameter, text_of,
};

/// Largest number of circumstances of a stage, and of candidates.
const MAX_SAMPLES: u64 = 1_000_000_000;

/// Number of candidates that are tried for one whose scene can be built.
const MAX_TRIED: u64 = 8;

/// A stage of a study of the kind `verification`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StageTable {
    /// Its name.
    #[schemars(extend("examples" = ["inelastic"]))]
    name: String,
    /// Condition that a candidate must satisfy: an expression over the run that is one number, not zero for success.
    #[schemars(extend("examples" = ["final(box.x) > 0.5"]))]
    success: String,
    /// Simulates the scene; true by default. False evaluates the initial state only.
    simulate: Option<bool>,
    /// Circumstances that vary in it, by name; all by default, none in a stage that does not simulate.
    over: Option<Vec<String>>,
    /// The width of a passage, called `passage` in expressions: the diameter of the widest disc that passes.
    #[schemars(extend("examples" = [{"between": ["left", "right"], "past": ["peg"]}]))]
    passage: Option<PassageTable>,
    /// Values of the scene that make the model of this stage, by their paths.
    #[serde(default)]
    #[schemars(extend("examples" = [{"simulation.preset": "stewart-trinkle"}]))]
    set: BTreeMap<String, Scalar>,
}

/// Two walls, and the obstacles between them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PassageTable {
    /// The walls on the two sides, by the names of their bodies.
    #[schemars(title = "the names of two bodies", extend("examples" = [["left", "right"]]))]
    between: [String; 2],
    /// Bodies between them.
    #[serde(default)]
    past: Vec<String>,
}

/// Tables of a study file for a verification.
pub(crate) struct VerificationTables<'f> {
    pub(crate) trials: u64,
    pub(crate) draws: u64,
    pub(crate) seed: u64,
    pub(crate) design: Option<Design>,
    pub(crate) parameters: &'f BTreeMap<String, ParameterTable>,
    pub(crate) circumstances: &'f BTreeMap<String, ParameterTable>,
    pub(crate) stages: &'f [StageTable],
}

/// Builds the verification of a file. Every path, value and expression is evaluated once.
pub(crate) fn build(
    name: String,
    (scene_path, scene_text): (&Path, &str),
    tables: &VerificationTables<'_>,
    make_error: &MakeError<'_>,
) -> Result<Verification, SceneError> {
    let design = tables.design.unwrap_or_default();
    let candidates = parameters("parameters", tables.parameters, make_error)?;
    let circumstances = parameters("circumstances", tables.circumstances, make_error)?;
    if let Some(twice) = circumstances.iter().find(|c| candidates.iter().any(|p| p.name == c.name)) {
        let message = format!("`{}` is a parameter of candidates already", twice.name);
        return Err(make_error(&["circumstances", &twice.name], message, None));
    }
    if tables.stages.is_empty() {
        let hint = "such as [[stage]] with name = \"inelastic\" and success = \"final(box.x) > 0.5\"".to_owned();
        return Err(make_error(
            &["study", "kind"],
            "a verification needs at least one [[stage]]".to_owned(),
            Some(hint),
        ));
    }
    for (parameters, draws) in [(&candidates, tables.trials), (&circumstances, tables.draws)] {
        let random = parameters.iter().filter(|parameter| !parameter.is_grid()).count();
        check_design(design, random, draws, make_error)?;
    }
    let stages = tables.stages.iter().enumerate().map(|(k, table)| {
        let sample = |parameters| Sample::new(parameters, design, circumstances_seed(tables.seed), tables.draws);
        stage((k, table), &circumstances, sample, make_error)
    });
    let study = Verification {
        name,
        scene_path: scene_path.to_path_buf(),
        seed: tables.seed,
        scene_text: Arc::from(scene_text),
        stages: stages.collect::<Result<_, _>>()?,
        candidates: Sample::new(candidates, design, tables.seed, tables.trials),
    };
    check_stages(&study, make_error)?;
    Ok(study)
}

/// Parameters of a table, with errors about that table.
fn parameters(
    of: &str,
    tables: &BTreeMap<String, ParameterTable>,
    make_error: &MakeError<'_>,
) -> Result<Vec<Parameter>, SceneError> {
    let here = |keys: &[&str], message, hint| {
        let keys: Vec<_> = std::iter::once(of).chain(keys.iter().skip(1).copied()).collect();
        make_error(&keys, message, hint)
    };
    let made = tables.iter().map(|(name, table)| {
        if name == WIDTH {
            return Err(here(&[of, name], format!("the name `{name}` is taken"), None));
        }
        parameter(name, table, &here)
    });
    made.collect()
}

fn stage(
    (k, table): (usize, &StageTable),
    circumstances: &[Parameter],
    sample: impl Fn(Vec<Parameter>) -> Sample,
    make_error: &MakeError<'_>,
) -> Result<Stage, SceneError> {
    let place = k.to_string();
    let simulates = table.simulate.unwrap_or(true);
    let varies = |parameter: &&Parameter| match &table.over {
        Some(names) => names.contains(&parameter.name),
        None => simulates,
    };
    if let Some(unknown) = table.over.iter().flatten().find(|name| circumstances.iter().all(|c| c.name != **name)) {
        let known: Vec<_> = circumstances.iter().map(|parameter| parameter.name.as_str()).collect();
        let hint =
            if known.is_empty() { "there are none".to_owned() } else { format!("there are {}", known.join(", ")) };
        return Err(make_error(
            &["stage", &place, "over"],
            format!("there is no circumstance `{unknown}`"),
            Some(hint),
        ));
    }
    let success =
        Measure::parse(&table.success).map_err(|error| misread(&["stage", &place, "success"], &error, make_error))?;
    let mut needs = Needs::default();
    success.add_needs(&mut needs);
    let overrides: Vec<_> = table.set.iter().map(|(path, value)| (path.clone(), text_of(value))).collect();
    Ok(Stage {
        name: table.name.clone(),
        simulates,
        circumstances: sample(circumstances.iter().filter(varies).cloned().collect()),
        overrides,
        success,
        needs,
        passage: table.passage.as_ref().map(|p| Passage { between: p.between.clone(), past: p.past.clone() }),
    })
}

/// Builds a scene of every stage and evaluates its expression at the initial state.
fn check_stages(study: &Verification, make_error: &MakeError<'_>) -> Result<(), SceneError> {
    let counts = study.stages.iter().map(|stage| stage.circumstances.count());
    if counts.chain([study.candidates.count()]).any(|count| count > MAX_SAMPLES) {
        return Err(make_error(
            &["study"],
            format!("there are more than {MAX_SAMPLES} candidates or circumstances"),
            None,
        ));
    }
    for (k, stage) in study.stages.iter().enumerate() {
        let place = k.to_string();
        let circumstances = stage.circumstances.values(0);
        let mut built = (0..study.candidates.count().min(MAX_TRIED)).map(|index| {
            let candidate = study.candidates.values(index);
            study.scene(stage, &candidate, &circumstances).map(|scene| (candidate, scene))
        });
        let first = built
            .next()
            .unwrap_or_else(|| Err(make_error(&["study", "trials"], "there is no candidate".to_owned(), None)));
        let (candidate, scene) = first.or_else(|error| built.find_map(Result::ok).ok_or(error))?;
        let simulation = Simulation::from_scene(&scene)
            .map_err(|error| make_error(&["stage", &place], format!("stage `{}`: {error}", stage.name), None))?;
        let run = study
            .columns(stage, &simulation, &scene, (&candidate, &circumstances))
            .map_err(|failure| make_error(&["stage", &place, "passage"], failure.detail, None))?;
        let keys = ["stage", place.as_str(), "success"];
        let measured = stage.success.evaluate(&run).map_err(|error| misread(&keys, &error, make_error))?;
        if matches!(measured.value, Measured::Series(_)) {
            let hint = "final(e), max(e), at(e, t), any(c) and all(c) make one number of a series".to_owned();
            let message = format!("`{}` is a number per moment, but must be one number", stage.success.text());
            return Err(make_error(&keys, message, Some(hint)));
        }
    }
    Ok(())
}
