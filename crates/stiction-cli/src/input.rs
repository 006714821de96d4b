//! Input of a command: a scene file, or a robot that is converted to a scene.

use std::path::Path;

use stiction::scene::{self, Scene, SceneError, robot};

use crate::{arguments::RobotArguments, failure::Failure};

/// Reads a scene or a robot with changes; lists ignored elements of a robot on stderr.
pub(crate) fn load(
    path: &Path,
    changes: &[(String, String)],
    robot: &RobotArguments,
    blame: impl FnOnce(SceneError) -> SceneError,
) -> Result<Scene, Failure> {
    ensure_robot(path, robot)?;
    let scene = scene::load_robot_with(path, changes, &robot.options()).map_err(blame)?;
    list(&scene.notes);
    Ok(scene)
}

/// Rejects options for robots with scene files.
pub(crate) fn ensure_robot(path: &Path, robot: &RobotArguments) -> Result<(), Failure> {
    match robot.given().first() {
        Some(option) if !robot::is_robot(path) => {
            let message = format!("`{option}` is for robots, and {} is a scene", path.display());
            Err(Failure::input(message).with_help("robots have the ending .urdf, .xml or .mjcf"))
        }
        _ => Ok(()),
    }
}

/// Lists ignored elements.
pub(crate) fn list(notes: &[String]) {
    for note in notes {
        crate::layout::print_note(format_args!("ignored: {note}"));
    }
}
