//! What `stiction identify` accepts.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction identify identifications/sliding_block.toml
  stiction identify identifications/sliding_block.toml --out out/mu --json

The file names a scene, recordings (CSV or Parquet) with what their columns are, and the values of
the scene that are not known. Estimates come with 95 % intervals; what the recordings cannot tell
is said, and why. Those of the method filter are means over the second half of the rows: the first
half is left to the particles to find their way. Files written to DIR: summary.json, report.html
(open it in a browser) and estimated.toml (the scene with the estimates: stiction run DIR/estimated.toml).
Ctrl-C stops between the parts of the work and keeps what was found.
Exit code 1 when nothing could be simulated or it was stopped, 2 for files that cannot be used.")]
pub(crate) struct IdentifyOptions {
    /// The identification file
    pub(crate) identification: PathBuf,
    /// Where to write; out/<identification> unless given
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the summary as JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}
