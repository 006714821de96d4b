//! Input of a command: a scene file, or a robot that is converted to a scene.

use std::path::Path;

use stiction::{
    BuildError, Simulation,
    scene::{self, Scene, SceneError, robot, text},
};

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

/// Simulation of a scene that was read with these changes. A scheme that contradicts itself or the model is refused at its key.
pub(crate) fn simulation(
    scene: &Scene,
    (path, changes, robot): (&Path, &[(String, String)], &RobotArguments),
    blame: impl FnOnce(SceneError) -> SceneError,
) -> Result<Simulation, Failure> {
    Simulation::from_scene(scene).map_err(|error| match error {
        BuildError::Scheme(error) => {
            Failure::Scene(blame(scene::locate_scheme_error(path, changes, &robot.options(), &error)))
        }
        other => Failure::input(other),
    })
}

/// Reads a text file of at most `limit` bytes. What is no regular file is refused, with what to do.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, Failure> {
    let unreadable = |error: std::io::Error| {
        let is_other = error.kind() == std::io::ErrorKind::InvalidInput;
        let failure = Failure::unreadable(path, &error);
        if is_other {
            failure.with_help("give the name of a file, or `/dev/stdin` for what another command writes")
        } else {
            failure
        }
    };
    let bytes = scene::read_regular(path, limit).map_err(unreadable)?;
    let bytes = bytes.ok_or_else(|| {
        Failure::input(format!("{} is larger than {limit} bytes, the limit for such files", path.display()))
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        Failure::input(format!("{} is not UTF-8 text: the first wrong byte is number {at}", path.display()))
    })
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
        crate::layout::print_note(format_args!("ignored: {}", text::line(note)));
    }
}
