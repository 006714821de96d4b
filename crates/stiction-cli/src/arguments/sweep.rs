//! What `stiction sweep` accepts.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction sweep studies/needle_push.toml
  stiction sweep studies/needle_push.toml --trials 200 --seed 7 --jobs 1 --out out/quick
  stiction sweep studies/sliding_box.toml
  stiction sweep studies/sliding_box.toml --resume
  stiction sweep studies/sliding_box.toml --fresh
  stiction sweep studies/part_feeder.toml --naive

Results depend on the study, the trials and the seed, not on the number of jobs. A trial that
fails is counted with its reason and stops nothing. Files written to DIR by studies of the kind
monte-carlo: trials.parquet (a row per trial), summary.json, results.html with its figures map,
histogram and marginals as SVG and PNG, trials.journal (what --resume continues from) and
failures/N.json (problems that were not solved, of the first twenty failing trials, for stiction
solve). A folder that holds such trials is refused without --resume or --fresh. Studies of the
kind push write results.json and, where a plan was found, best.toml: the scene that replays it
(stiction run DIR/best.toml); those of the kind verification results.json and, where one was
accepted, accepted.toml: the scene of the first. stiction view DIR shows results.html.
Ctrl-C finishes the trials in flight and keeps what was made; whatever else ends the program
loses the trials in flight only. Exit code 1 when it was stopped, or when every trial failed; a
study that finds nothing is done.")]
// Switches of a command line are what they are.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct SweepOptions {
    /// The study file
    pub(crate) study: PathBuf,
    /// Threads; one per core unless given
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Continue a study of the kind monte-carlo from what its folder holds
    #[arg(long)]
    pub(crate) resume: bool,
    /// Start anew where the folder holds trials of a study of the kind monte-carlo, and replace them
    #[arg(long, conflicts_with = "resume")]
    pub(crate) fresh: bool,
    /// Verify every candidate of a study of the kind verification without hierarchy too, and compare
    #[arg(long)]
    pub(crate) naive: bool,
    /// Number of trials (in each cell of a grid) or candidates, instead of the study's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) trials: Option<u64>,
    /// Begin no more trials of a study of the kind monte-carlo after so many seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) max_seconds: Option<f64>,
    /// What the randomness starts from, instead of the study's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub(crate) seed: Option<u64>,
    /// Where to write; out/<study> unless given
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the results as JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}
