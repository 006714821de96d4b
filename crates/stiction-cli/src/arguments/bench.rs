//! Arguments of `stiction bench`.

use std::path::PathBuf;

use clap::Args;

use super::{RobotArguments, SolveAccuracy, assignment};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
#[command(after_help = "\
Examples:
  stiction bench
  stiction bench --presets
  stiction bench --chains
  stiction bench falling-rod --json
  stiction bench --scene humanoid.xml --steps 1000 --set simulation.step=0.005
  valgrind --tool=callgrind stiction bench --once four-balls")]
pub(crate) struct BenchOptions {
    /// Run only this case
    #[arg(value_parser = crate::bench::names())]
    pub(crate) case: Option<String>,
    /// Run only the presets: steps per second of each on four scenes
    #[arg(long, conflicts_with_all = ["case", "once"])]
    pub(crate) presets: bool,
    /// Run only the chains: time per step over the number of links, in reduced coordinates and by divide and conquer
    #[arg(long, conflicts_with_all = ["case", "once", "presets"])]
    pub(crate) chains: bool,
    /// Run one case once, without timing, and print its number of steps
    #[arg(long, value_name = "CASE", conflicts_with = "case", value_parser = crate::bench::names())]
    pub(crate) once: Option<String>,
    /// Run this scene or robot (URDF, MJCF), without recording
    #[arg(long, value_name = "FILE", conflicts_with_all = ["case", "once", "presets", "chains"])]
    pub(crate) scene: Option<PathBuf>,
    /// Number of steps of the scene, instead of its duration; 0 only reads it
    #[arg(long, value_name = "N", requires = "scene")]
    pub(crate) steps: Option<u64>,
    /// Number of repetitions of the scene, each from its initial state; the fastest one is reported
    #[arg(long, value_name = "N", requires = "scene", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: u32,
    /// Change any value of the scene, by its path; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = assignment, requires = "scene")]
    pub(crate) set: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) robot: RobotArguments,
    /// Accuracy of the contact solver for the scene, as in `stiction run`
    #[arg(long, value_enum, default_value_t, requires = "scene")]
    pub(crate) accuracy: SolveAccuracy,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Add the time of each step of the scene, the least of all repetitions, to the JSON
    #[arg(long, requires_all = ["scene", "json"])]
    pub(crate) step_times: bool,
}
