//! Arguments of `stiction view`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction view out/falling_rod
  stiction view out/coarse out/fine --open
  stiction view out/falling_rod --export falling_rod.html
  stiction view out/sliding_box

Without --export the page is served on the loopback interface, at the printed address, until
Ctrl-C. For the folder of a monte-carlo study its results.html is shown. Exit code 2 for a folder
without a recording that this version can read.")]
pub(crate) struct ViewOptions {
    /// Folders of runs, overlaid on the first; or the folder of a study
    #[arg(required = true, num_args = 1.., value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// Open the page in the default browser
    #[arg(long, conflicts_with = "export")]
    pub(crate) open: bool,
    /// Port to serve on; default: a free port
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, conflicts_with = "export")]
    pub(crate) port: u16,
    /// Write the page to a file instead of serving it
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
}
