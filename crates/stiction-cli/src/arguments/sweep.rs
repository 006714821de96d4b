//! Arguments of `stiction sweep`.

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

Results depend on the study, the trials and the seed, not on the number of threads. Failed trials
are counted with their reason; the others continue. Files written to DIR by monte-carlo studies:
trials.parquet (a row per trial), summary.json, results.html with its figures map, histogram and
marginals as SVG and PNG, trials.journal (for --resume) and failures/N.json (unsolved problems of
the first twenty failed trials, for stiction solve). A folder with such trials is rejected without
--resume or --fresh. Push studies write results.json and, if a plan was found, best.toml: the
scene that replays it (stiction run DIR/best.toml). Verification studies write results.json and,
if a candidate was accepted, accepted.toml: the scene of the first. stiction view DIR shows
results.html. Ctrl-C finishes the running trials and keeps all results; any other interruption
loses only the running trials. Exit code 1 if it was stopped or every trial failed; a study
without a positive result is not a failure.")]
// Each flag is an independent switch.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct SweepOptions {
    /// Study file
    pub(crate) study: PathBuf,
    /// Number of threads; default: one per core
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Continue a monte-carlo study from the results in its folder
    #[arg(long)]
    pub(crate) resume: bool,
    /// Replace the trials of an earlier monte-carlo study in the folder
    #[arg(long, conflicts_with = "resume")]
    pub(crate) fresh: bool,
    /// Also verify every candidate of a verification study without hierarchy, and compare
    #[arg(long)]
    pub(crate) naive: bool,
    /// Number of trials (in each cell of a grid) or candidates, instead of the study's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) trials: Option<u64>,
    /// Start no new trials of a monte-carlo study after this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) max_seconds: Option<f64>,
    /// Seed of the random numbers, instead of the study's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub(crate) seed: Option<u64>,
    /// Output folder; default: out/<study>
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the results as JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}
