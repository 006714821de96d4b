//! A scene with another preset.

use stiction_scene::{Scene, SceneError};
use stiction_stepping::{Preset, Scheme};

use crate::Simulation;

/// Returns the scheme of a preset in a scene that `read` reads with changes, or the reason why the preset does not support the scene.
pub fn scheme_of(
    preset: Preset,
    changes: &[(String, String)],
    read: impl FnOnce(&[(String, String)]) -> Result<Scene, SceneError>,
) -> Result<Scheme, String> {
    let mut changes = changes.to_vec();
    changes.push(("simulation.preset".to_owned(), format!("{:?}", preset.name())));
    if preset == Preset::Reference {
        // The preset chooses its own substeps, so `halve_steps` of the scene does not apply.
        changes.push(("scheme.halve_steps".to_owned(), "0".to_owned()));
    }
    let scene = read(&changes).map_err(|error| error.message)?;
    Simulation::from_scene(&scene).map_err(|error| error.to_string())?;
    Ok(scene.settings.scheme)
}
