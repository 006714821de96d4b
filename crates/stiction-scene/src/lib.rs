//! Scene files: untrusted bytes become a model, or an error with file, line and key.
//!
//! ```text
//! text ─► document (a tree that knows where every value stands, with `--set` changes merged in)
//!      ─► conform  (keys, types and ranges against the JSON Schema: "did you mean", "expected … such as …")
//!      ─► file     (plain structs)
//!      ─► build    (names resolved, units converted, masses computed; the model's own checks, mapped back to places)
//!      ─► Scene
//! ```
//!
//! Nothing here panics on any input. Files larger than [`MAX_FILE_SIZE`] are refused.
//!
//! ```
//! let scene = stiction_scene::parse(
//!     r#"
//!     [simulation]
//!     duration = 1.0
//!     step = 0.01
//!     [[body]]
//!     name = "ball"
//!     mass = 1.0
//!     position = [0.0, 1.0]
//!     [[body.shape]]
//!     disc = { radius = 0.1 }
//!     "#,
//!     "ball.toml",
//! )?;
//! assert_eq!((scene.name.as_str(), scene.model.dof()), ("ball", 3));
//! # Ok::<(), stiction_scene::SceneError>(())
//! ```
// This crate reads scene files; that is its purpose.
#![allow(clippy::disallowed_methods)]

mod build;
mod conform;
mod document;
mod error;
mod file;
mod numbers;
mod overrides;
mod reading;
mod regular;
pub mod robot;
mod schema;
mod settings;
mod suggest;
pub mod text;

use std::{collections::BTreeMap, path::Path, sync::Arc};

use serde::Deserialize;
use stiction_multibody::{ExpressionMotion, Model};
use stiction_options::SchemeError;

pub use error::SceneError;
pub use file::Angle;
pub use reading::Reading;
pub use regular::{open_regular, read_regular};
pub use schema::{schema, schema_of};
pub use settings::{Settings, steps_in};
pub use suggest::hint as suggestion;

use document::Document;
use error::{Fault, Sources};
use robot::{ReadOptions, Robot, SceneOptions, SceneText};

/// Largest size of a scene file, bytes (4 MiB).
pub const MAX_FILE_SIZE: u64 = 4 << 20;

/// A scene, ready to simulate.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Name of the file without its extension.
    pub name: String,
    /// Model of the scene.
    pub model: Arc<Model>,
    /// Simulation settings.
    pub settings: Settings,
    /// Motions of the kinematic bodies, by name.
    pub motions: BTreeMap<String, ExpressionMotion>,
    /// Contents of a robot's files that have no effect in the scene; empty for scene files.
    pub notes: Vec<String>,
}

/// Reads a scene file, or a robot (URDF, MJCF) as one. [`Scene::notes`] lists what of a robot has no effect.
pub fn load(path: impl AsRef<Path>) -> Result<Scene, SceneError> {
    load_with(path, &[])
}

/// Reads a scene file, or a robot (URDF, MJCF) as one, with overrides; see [`parse_with`].
pub fn load_with(path: impl AsRef<Path>, overrides: &[(String, String)]) -> Result<Scene, SceneError> {
    load_robot_with(path, overrides, &RobotOptions::default())
}

/// Reads a scene file or a robot with overrides and with options for robots.
pub fn load_robot_with(
    path: impl AsRef<Path>,
    overrides: &[(String, String)],
    options: &RobotOptions,
) -> Result<Scene, SceneError> {
    let path = path.as_ref();
    let SceneText { text, notes } = text_of(path, options)?;
    let file_name = path.display().to_string();
    let scene = parse_with(&text, &file_name, overrides).map_err(|mut error| {
        if robot::is_robot(path) && error.file == file_name {
            // The place is in a text that the user has not seen.
            error.file.push_str(" as a scene");
            error.hint.get_or_insert_with(|| "`stiction convert` writes that scene".to_owned());
        }
        error
    })?;
    Ok(Scene { notes, ..scene })
}

/// Options for reading a robot and for converting it to a scene.
#[derive(Clone, Debug, Default)]
pub struct RobotOptions {
    /// Options for reading the files.
    pub read: ReadOptions,
    /// Options for the conversion to a scene.
    pub scene: SceneOptions,
}

/// Returns the text of a scene file, or of the scene of a robot.
pub fn text_of(path: impl AsRef<Path>, options: &RobotOptions) -> Result<SceneText, SceneError> {
    let path = path.as_ref();
    let file_name = path.display().to_string();
    if robot::is_robot(path) {
        return Robot::load(path, &options.read)?.to_scene(&file_name, &options.scene);
    }
    let text = read(path).map_err(|message| unreadable(path, &message))?;
    Ok(SceneText { text, notes: Vec::new() })
}

/// Reads a scene from text. Messages and the name of the scene use `file_name`.
pub fn parse(text: &str, file_name: &str) -> Result<Scene, SceneError> {
    parse_with(text, file_name, &[])
}

/// Reads a scene from text, with overrides: pairs of a path such as `body.rod.mass` or `simulation.step` and a TOML
/// value.
///
/// A value that is not TOML is taken as a text, so that `anitescu-potra` needs no quotes.
pub fn parse_with(text: &str, file_name: &str, overrides: &[(String, String)]) -> Result<Scene, SceneError> {
    let mut sources = Sources::new(file_name, text);
    if text.len() as u64 > MAX_FILE_SIZE {
        return Err(SceneError::without_place(file_name, &too_large()));
    }
    let found = document_of(&mut sources, overrides).and_then(|document| {
        conform::conform(&document, schema::shared())?;
        let file = file::SceneFile::deserialize(document.to_json())
            .map_err(|error| Fault::new(document.root.span.clone(), format!("cannot be understood: {error}")))?;
        build::build(&file, &document)
    });
    let build::Built { model, settings, motions } = found.map_err(|fault| sources.locate(fault))?;
    Ok(Scene { name: stem(file_name), model: Arc::new(model), settings, motions, notes: Vec::new() })
}

/// Returns a scene file with overrides applied, as TOML text. Comments of the file are lost.
pub fn rewrite(path: impl AsRef<Path>, overrides: &[(String, String)]) -> Result<String, SceneError> {
    let path = path.as_ref();
    let file_name = path.display().to_string();
    let SceneText { text, .. } = text_of(path, &RobotOptions::default())?;
    let mut sources = Sources::new(&file_name, &text);
    let rewritten = document_of(&mut sources, overrides).and_then(|document| {
        toml::to_string(&document.to_toml())
            .map_err(|error| Fault::new(document.root.span.clone(), format!("cannot be written: {error}")))
    });
    let rewritten = rewritten.map_err(|fault| sources.locate(fault))?;
    parse(&rewritten, &file_name)?;
    Ok(rewritten)
}

/// Returns the error of a scheme that contradicts itself or the model at its key in a scene file or robot, with the overrides that it was read with.
pub fn locate_scheme_error(
    path: impl AsRef<Path>,
    overrides: &[(String, String)],
    options: &RobotOptions,
    error: &SchemeError,
) -> SceneError {
    let path = path.as_ref();
    let text = match text_of(path, options) {
        Ok(SceneText { text, .. }) => text,
        Err(unreadable) => return unreadable,
    };
    let file_name = path.display().to_string();
    let mut sources = Sources::new(&file_name, &text);
    let fault = match document_of(&mut sources, overrides) {
        Ok(document) => build::contradiction(&document, error),
        Err(fault) => fault,
    };
    sources.locate(fault)
}

fn document_of(sources: &mut Sources, overrides: &[(String, String)]) -> Result<Document, Fault> {
    let mut document = Document::parse(sources.text())?;
    document.rename_old_keys()?;
    for (path, value) in overrides {
        overrides::apply(&mut document, sources, path, value)?;
    }
    // The value of an override may be a table with old names.
    document.rename_old_keys()?;
    Ok(document)
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = read_regular(path, MAX_FILE_SIZE).map_err(|error| format!("cannot be opened: {error}"))?;
    let bytes = bytes.ok_or_else(too_large)?;
    String::from_utf8(bytes).map_err(|error| {
        format!("is not UTF-8 text: the first wrong byte is number {}", error.utf8_error().valid_up_to() + 1)
    })
}

/// Returns the error for a file that cannot be read. If the file does not exist, the hint is the nearest name in its
/// folder.
fn unreadable(path: &Path, message: &str) -> SceneError {
    let error = SceneError::without_place(&path.display().to_string(), message);
    if path == Path::new("-") || path.exists() && !path.is_file() {
        return error
            .with_hint("give the name of a file, or `/dev/stdin` for what another command writes into this one");
    }
    match suggest::nearest_file(path).filter(|_| !path.exists()) {
        Some(near) => error.with_hint(format!("did you mean `{}`?", near.display())),
        None => error,
    }
}

fn too_large() -> String {
    format!("is larger than {MAX_FILE_SIZE} bytes, the limit for scene files")
}

fn stem(file_name: &str) -> String {
    Path::new(file_name).file_stem().map_or_else(|| "scene".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
