//! What `stiction design` accepts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stiction_study::design::Method;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction design designs/circle.toml
  stiction design designs/circle.toml --method cma-es --evaluations 400 --out out/circle-cma
  stiction design designs/saddle.toml --resume

Results depend on the design and the options, not on the number of jobs. Every evaluation goes to DIR/evaluations.jsonl as it
is made; after Ctrl-C, or after being killed, `--resume` makes the search again with what the file knows, and continues.
With --resume the method and the budget may be others than before.
Files written to DIR: evaluations.jsonl, results.json, results.html, convergence.svg, best.toml (the scene of the first
run with the best parameters: stiction run DIR/best.toml).
Exit code 1 when it was stopped, or when every evaluation failed.")]
pub(crate) struct DesignOptions {
    /// The design file
    pub(crate) design: PathBuf,
    /// Continue a search that was stopped
    #[arg(long)]
    pub(crate) resume: bool,
    /// How parameters are searched for, instead of the design's
    #[arg(long, value_name = "M", value_enum)]
    pub(crate) method: Option<SearchMethod>,
    /// Evaluations of each search, instead of the design's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) evaluations: Option<u64>,
    /// Number of starts, instead of the design's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) starts: Option<u32>,
    /// What the randomness starts from, instead of the design's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub(crate) seed: Option<u64>,
    /// Threads; one per core unless given
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Where to write; out/<design> unless given
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the results as JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}

/// Methods of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchMethod {
    /// The simplex method of Nelder and Mead
    NelderMead,
    /// Evolution with an adapted covariance matrix
    CmaEs,
    /// The method of Levenberg and Marquardt, for terms that must vanish
    LeastSquares,
}

impl From<SearchMethod> for Method {
    fn from(method: SearchMethod) -> Self {
        match method {
            SearchMethod::NelderMead => Self::NelderMead,
            SearchMethod::CmaEs => Self::CmaEs,
            SearchMethod::LeastSquares => Self::LeastSquares,
        }
    }
}
