//! A scene with another preset.

use stiction_scene::{Scene, SceneError};
use stiction_stepping::{Preset, Scheme};

use crate::Simulation;

/// The scheme that a preset gives in a scene that `read` reads with its changes, or the sentence that says why it cannot simulate it.
pub fn scheme_of(
    preset: Preset,
    changes: &[(String, String)],
    read: impl FnOnce(&[(String, String)]) -> Result<Scene, SceneError>,
) -> Result<Scheme, String> {
    let mut changes = changes.to_vec();
    changes.push(("simulation.preset".to_owned(), format!("{:?}", preset.name())));
    if preset == Preset::Reference {
        // It chooses its own steps, whatever the scene says about halving.
        changes.push(("scheme.halve_steps".to_owned(), "0".to_owned()));
    }
    let scene = read(&changes).map_err(|error| error.message)?;
    Simulation::from_scene(&scene).map_err(|error| error.to_string())?;
    Ok(scene.settings.scheme)
}
