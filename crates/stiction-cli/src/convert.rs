//! `stiction convert`: a robot as a scene file.

use stiction::scene::{self, robot};

use crate::{arguments::ConvertOptions, failure::Failure, input};

pub(crate) fn run(options: &ConvertOptions) -> Result<(), Failure> {
    let (from, to) = (&options.robot_file, &options.scene_file);
    input::ensure_robot(from, &options.robot)?;
    let text = if robot::is_robot(from) {
        let made = scene::text_of(from, &options.robot.options())?;
        // What is written is what can be read.
        scene::parse(&made.text, &to.display().to_string())?;
        input::list(&made.notes);
        made.text
    } else {
        scene::rewrite(from, &[])?
    };
    std::fs::write(to, text).map_err(|error| Failure::input(format!("cannot write {}: {error}", to.display())))
}
