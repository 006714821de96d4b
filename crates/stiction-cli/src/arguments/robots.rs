//! Arguments of the commands that read robots, and of `check`.

use std::path::PathBuf;

use clap::Args;
use stiction::scene::{
    RobotOptions,
    robot::{Base, ReadOptions, SceneOptions},
};

use super::assignment;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction check scenes/falling_rod.toml
  stiction check robot.urdf --dynamics state.json --json

A state is {\"q\": [...], \"v\": [...], \"tau\": [...]}, in the order of the joints of the file;
omitted parts are the reference pose and zero. Exit code 1 if the mass matrix is singular at
this state.")]
pub(crate) struct CheckOptions {
    /// Scene file, or robot (URDF, MJCF)
    pub(crate) scene: PathBuf,
    #[command(flatten)]
    pub(crate) robot: RobotArguments,
    /// Print mass matrix, bias forces, accelerations, poses and energies of a robot at the state in this file, instead of its scene
    #[arg(long, value_name = "STATE.json")]
    pub(crate) dynamics: Option<PathBuf>,
    /// Change any value of the scene, by its path; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = assignment)]
    pub(crate) set: Vec<(String, String)>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Help heading of the options for robots. It is set on each option, because a heading of the struct would include later options.
const ROBOTS: &str = "Options for robots (URDF, MJCF)";

/// Options of reading a robot.
#[derive(Clone, Debug, Default, Args)]
// Each flag is an independent switch.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct RobotArguments {
    /// Start from this keyframe, by name or by number from 0
    #[arg(long, help_heading = ROBOTS, value_name = "NAME")]
    pub(crate) keyframe: Option<String>,
    /// Replace physically impossible inertias by similar valid ones
    #[arg(long, help_heading = ROBOTS)]
    pub(crate) repair_inertia: bool,
    /// Folder that includes and meshes must be in; default: that of the file
    #[arg(long, help_heading = ROBOTS, value_name = "DIR")]
    pub(crate) asset_root: Option<PathBuf>,
    /// Let the root of a URDF move freely instead of fixing it to the world
    #[arg(long, help_heading = ROBOTS)]
    pub(crate) free_base: bool,
    /// Enable collisions between the links of a URDF
    #[arg(long, help_heading = ROBOTS)]
    pub(crate) self_collision: bool,
    /// Decompose meshes into convex parts instead of taking their convex hulls
    #[arg(long, help_heading = ROBOTS)]
    pub(crate) decompose: bool,
}

impl RobotArguments {
    pub(crate) fn options(&self) -> RobotOptions {
        let base = if self.free_base { Base::Free } else { Base::Fixed };
        let (asset_root, repair_inertia) = (self.asset_root.clone(), self.repair_inertia);
        RobotOptions {
            read: ReadOptions { asset_root, repair_inertia, base },
            scene: SceneOptions {
                keyframe: self.keyframe.clone(),
                self_collision: self.self_collision,
                decompose: self.decompose,
            },
        }
    }

    /// Options that were given.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let given = [
            (self.keyframe.is_some(), "--keyframe"),
            (self.repair_inertia, "--repair-inertia"),
            (self.asset_root.is_some(), "--asset-root"),
            (self.free_base, "--free-base"),
            (self.self_collision, "--self-collision"),
            (self.decompose, "--decompose"),
        ];
        given.into_iter().filter(|(given, _)| *given).map(|(_, option)| option).collect()
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction convert robot.urdf robot.toml
  stiction convert robot.xml robot.toml --keyframe home
  stiction convert out/falling_rod rod.csv
  stiction convert out/falling_rod rod.mcap

The folder of a run is written as NAME.csv (the trajectory) and NAME.contacts.csv, or, if the
program was built with the feature `mcap`, as a log with the channels /trajectory and /contacts.
Elements of a robot's files that the scene ignores are listed on stderr and at the top of the
scene. A scene file is written again, without its comments.")]
pub(crate) struct ConvertOptions {
    /// Robot (URDF, MJCF), or folder of a run
    #[arg(value_name = "FROM")]
    pub(crate) from: PathBuf,
    /// Output file, replaced if it exists: a scene, or .csv or .mcap for a run
    #[arg(value_name = "TO")]
    pub(crate) to: PathBuf,
    #[command(flatten)]
    pub(crate) robot: RobotArguments,
}
