//! Tables `[variants.NAME]` of a study file: variants of models and conditions.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use stiction::scene::SceneError;

use super::{
    Draw, Parameter, Value, Variant,
    file::{MakeError, MonteCarloTables, ParameterTable, Scalar, draw},
};

/// The key of another scene file, and that of other distributions.
const SCENE: &str = "scene";
const PARAMETERS: &str = "parameters";

/// Changes of a variant: values of the scene by their paths, `scene` for another file, `parameters` for other distributions.
pub(crate) type VariantTable = BTreeMap<String, Change>;

/// A value of the scene, or distributions of random parameters by their names.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "a number, a text, true or false, or distributions of parameters by name", extend("examples" = [0.5]))]
pub(crate) enum Change {
    /// A value.
    Value(Scalar),
    /// Distributions.
    Distributions(BTreeMap<String, ParameterTable>),
}

/// Reads the variants of a study; one with the unchanged scene if there are none.
pub(super) fn read(
    tables: &MonteCarloTables<'_>,
    scene_path: &Path,
    random: &[Parameter],
    make_error: &MakeError<'_>,
) -> Result<Vec<Variant>, SceneError> {
    let written = Variant {
        name: "as written".to_owned(),
        scene_path: scene_path.to_path_buf(),
        overrides: tables.values.iter().map(|(path, value)| (path.clone(), text_of(value))).collect(),
        random: random.to_vec(),
        scene_text: scene_text(tables, scene_path, (&["study", SCENE], make_error))?,
    };
    if tables.variants.is_empty() {
        return Ok(vec![written]);
    }
    tables.variants.iter().map(|(name, table)| variant(&written, (name, table), tables, make_error)).collect()
}

fn variant(
    written: &Variant,
    (name, table): (&str, &VariantTable),
    tables: &MonteCarloTables<'_>,
    make_error: &MakeError<'_>,
) -> Result<Variant, SceneError> {
    let mut variant = Variant { name: name.to_owned(), ..written.clone() };
    for (key, change) in table {
        let keys = ["variants", name, key];
        match (key.as_str(), change) {
            (SCENE, Change::Value(Scalar::Text(file))) => {
                variant.scene_path = tables.folder.join(file);
                variant.scene_text = scene_text(tables, &variant.scene_path, (&keys, make_error))?;
            }
            (PARAMETERS, Change::Distributions(tables)) => {
                for (parameter, table) in tables {
                    redraw(&mut variant.random, parameter, table, (&keys, make_error))?;
                }
            }
            (SCENE, _) => return Err(make_error(&keys, "`scene` must be the name of a scene file".to_owned(), None)),
            (PARAMETERS, Change::Value(_)) => {
                let hint = "such as parameters.friction = { uniform = [0.2, 0.6] }".to_owned();
                let message =
                    "`parameters` must be a table of distributions by the names of random parameters".to_owned();
                return Err(make_error(&keys, message, Some(hint)));
            }
            (_, Change::Value(value)) => variant.overrides.push((key.clone(), text_of(value))),
            (_, Change::Distributions(_)) => {
                let hint = "distributions of parameters stand in `parameters`".to_owned();
                return Err(make_error(&keys, format!("`{key}` is a table, but must be one value"), Some(hint)));
            }
        }
    }
    Ok(variant)
}

/// Gives a random parameter another distribution of the same kind of values.
fn redraw(
    random: &mut [Parameter],
    name: &str,
    table: &ParameterTable,
    (keys, make_error): (&[&str], &MakeError<'_>),
) -> Result<(), SceneError> {
    let keys = [keys, &[name]].concat();
    let Some(parameter) = random.iter_mut().find(|parameter| parameter.name == name) else {
        let hint = "the cells of the grid are the same for all variants".to_owned();
        return Err(make_error(&keys, format!("there is no random parameter `{name}`"), Some(hint)));
    };
    if table.path.is_some() || table.paths.is_some() || table.unit.is_some() {
        let message = format!("`path`, `paths` and `unit` of `{name}` stand in [parameters.{name}]");
        return Err(make_error(&keys, message, None));
    }
    let other = draw(&keys, name, table, make_error)?;
    if matches!(other, Draw::Grid(_)) || has_words(&other) != has_words(&parameter.draw) {
        let message = format!("a variant may give `{name}` another distribution of the same kind of values only");
        return Err(make_error(&keys, message, None));
    }
    parameter.draw = other;
    Ok(())
}

fn has_words(draw: &Draw) -> bool {
    matches!(draw, Draw::Choice(values) if values.iter().any(|value| matches!(value, Value::Word(_))))
}

fn scene_text(
    tables: &MonteCarloTables<'_>,
    path: &Path,
    (keys, make_error): (&[&str], &MakeError<'_>),
) -> Result<Arc<str>, SceneError> {
    let read = (tables.read)(path);
    let read = read.map_err(|message| make_error(keys, format!("the scene {} {message}", path.display()), None))?;
    Ok(Arc::from(read))
}

/// A value as TOML has it.
pub(crate) fn text_of(value: &Scalar) -> String {
    match value {
        Scalar::Whole(n) => n.to_string(),
        Scalar::Number(x) => format!("{x:?}"),
        Scalar::Truth(truth) => truth.to_string(),
        // The escapes of JSON are escapes of TOML.
        Scalar::Text(text) => serde_json::to_string(text).unwrap_or_default(),
    }
}
