//! Arguments of `stiction reproduce`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction reproduce C-02
  stiction reproduce C-11 C-14 --out out/reproduce
  stiction reproduce --all --json > reproduction.json

Each row compares the computed value with the published one and with an independent reference
value; sources, derivations and tolerances are in the files reference/*.json, which are built into
the program. Results: `holds`, `FAILS`, `differs from print` if the file explains why the
published value cannot be met, `differs from first derivation` if a second computation did not
confirm our own reference value, `no reference`, `not in this build` if a row needs a solver of
nonlinear programs (feature `ipopt` or `ripopt`). Times on this machine and solver iterations are
shown but not checked.
Files written to DIR: report.html, one page with all figures (open it in a browser).
Exit code 1 if a row or a case fails.")]
pub(crate) struct ReproduceOptions {
    /// Names of cases, such as C-02; without any, the available cases are listed
    #[arg(value_name = "CASE", conflicts_with = "all")]
    pub(crate) cases: Vec<String>,
    /// Run every case
    #[arg(long)]
    pub(crate) all: bool,
    /// Number of threads; default: one per core
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Write report.html with tables and figures to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the summary of all cases as Markdown
    #[arg(long, value_name = "FILE", requires = "all")]
    pub(crate) markdown: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}
