//! Arguments of `stiction design`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stiction_study::design::Method;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction design designs/circle.toml
  stiction design designs/circle.toml --method cma-es --evaluations 400 --out out/circle-cma
  stiction design designs/saddle.toml --resume

Results depend on the design and the options, not on the number of threads. Every evaluation is written to
DIR/evaluations.jsonl immediately; after an interruption `--resume` repeats the search with the stored evaluations and
continues. With --resume the method and the budget may change.
Files written to DIR: evaluations.jsonl, results.json, results.html, convergence.svg, best.toml (the scene of the first
run with the best parameters: stiction run DIR/best.toml).
Exit code 1 if the search was stopped or every evaluation failed.")]
pub(crate) struct DesignOptions {
    /// Design file
    pub(crate) design: PathBuf,
    /// Continue a search that was stopped
    #[arg(long)]
    pub(crate) resume: bool,
    /// Search method, instead of the design's
    #[arg(long, value_name = "M", value_enum)]
    pub(crate) method: Option<SearchMethod>,
    /// Number of evaluations of each search, instead of the design's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) evaluations: Option<u64>,
    /// Number of starts, instead of the design's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) starts: Option<u32>,
    /// Seed of the random numbers, instead of the design's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..1 << 53))]
    pub(crate) seed: Option<u64>,
    /// Number of threads; default: one per core
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) jobs: usize,
    /// Output folder; default: out/<design>
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the results as JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}

/// Search methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchMethod {
    /// Nelder-Mead simplex method
    NelderMead,
    /// Covariance matrix adaptation evolution strategy
    CmaEs,
    /// Levenberg-Marquardt method, for terms that must vanish
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
