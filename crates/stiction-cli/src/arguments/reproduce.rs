//! What `stiction reproduce` accepts.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction reproduce C-02
  stiction reproduce C-11 C-14 --out out/reproduce
  stiction reproduce --all --json > reproduction.json

Each row compares what we get with what was published and with an independent reference value;
sources, derivations and tolerances are in the files reference/*.json, which the program carries
inside. Verdicts are computed: `holds`, `FAILS`, `differs from print` where the file says why
the published value cannot be met, `differs from first derivation` where a reference value of our
own was not confirmed by a second computation, `no reference`, `not in this build` where a row
needs an engine for nonlinear programs (feature `ipopt` or `ripopt`). Times on this machine and
iterations of engines are shown and never judged.
Files written to DIR: report.html, one page with every figure redrawn (open it in a browser).
Exit code 1 when a row fails or a case does not come to its end.")]
pub(crate) struct ReproduceOptions {
    /// Cases by name, such as C-02; without any, the cases there are are listed
    #[arg(value_name = "CASE", conflicts_with = "all")]
    pub(crate) cases: Vec<String>,
    /// Run every case
    #[arg(long)]
    pub(crate) all: bool,
    /// Threads; one per core unless given
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Write report.html with tables and figures there
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the summary of all cases as Markdown
    #[arg(long, value_name = "FILE", requires = "all")]
    pub(crate) markdown: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}
