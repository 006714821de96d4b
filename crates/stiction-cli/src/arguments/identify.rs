//! Arguments of `stiction identify`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction identify identifications/sliding_block.toml
  stiction identify identifications/sliding_block.toml --out out/mu --json

The file names a scene, recordings (CSV or Parquet) with the meaning of their columns, and the
unknown values of the scene. Estimates come with 95 % intervals; unobservable unknowns are listed
with the reason. Estimates of the particle filter are means over the second half of the rows, after
a burn-in over the first half. Files written to DIR: summary.json, report.html (open it in a
browser) and estimated.toml (the scene with the estimates: stiction run DIR/estimated.toml).
Ctrl-C stops after the current part and keeps the results so far.
Exit code 1 if every simulation failed or it was stopped, 2 for invalid files.")]
pub(crate) struct IdentifyOptions {
    /// Identification file
    pub(crate) identification: PathBuf,
    /// Output folder; default: out/<identification>
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the summary as JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}
