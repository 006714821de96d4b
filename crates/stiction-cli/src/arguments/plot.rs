//! Arguments of `stiction plot`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction plot out/falling_rod --y rod.y --events
  stiction plot out/falling_rod --y kinetic --y potential --y total -o energy.svg
  stiction plot out/coarse out/fine --y 'speed of tip: hypot(rod.vx, rod.vy)' --from 0.3 -o tip.png
  stiction plot out/falling_rod --x rod.angle --y rod.wz -o phase.svg
  stiction plot out/falling_rod --y 'normal force: sum_contacts(normal_impulse)/step'
  stiction plot out/falling_rod --y 'contact(\"table/rod:0-1\").gap' --log-y

A RUN is the folder of a run. Expressions use the columns of its tables, + - * / % ^,
comparisons, and, or, not, and the functions abs sqrt exp log sin cos tan asin acos atan sign
floor atan2 hypot min max clamp if default deriv integral cumsum contact sum_contacts
min_contacts max_contacts count_contacts initial final mean at first last any all: see
docs/plot.md. Expressions of one unit share a panel. Without --y: the energies and the normal
force.")]
// Each flag is an independent switch.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct PlotOptions {
    /// Folders of runs; several are overlaid
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// Expression to plot, optionally with a name before a colon; may be repeated
    #[arg(long, value_name = "[NAME:] EXPR", allow_hyphen_values = true)]
    pub(crate) y: Vec<String>,
    /// Expression of the horizontal axis; default: time
    #[arg(long, value_name = "[NAME:] EXPR", allow_hyphen_values = true)]
    pub(crate) x: Option<String>,
    /// Output file, .svg or .png; default: plot.svg in the folder of the first run
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Mark contact transitions: touch, separate, stick and slip
    #[arg(long)]
    pub(crate) events: bool,
    /// Start time, s
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub(crate) from: Option<f64>,
    /// End time, s
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub(crate) to: Option<f64>,
    /// Title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Width of a panel with its labels, mm
    #[arg(long, value_name = "MM", default_value_t = 140.0, value_parser = length)]
    pub(crate) width: f64,
    /// Height of a panel with its labels, mm; default: depends on the number of panels
    #[arg(long, value_name = "MM", value_parser = length)]
    pub(crate) height: Option<f64>,
    /// Logarithmic horizontal axis
    #[arg(long)]
    pub(crate) log_x: bool,
    /// Logarithmic vertical axes
    #[arg(long)]
    pub(crate) log_y: bool,
    /// Equal scale on both axes
    #[arg(long)]
    pub(crate) equal: bool,
    /// Resolution of PNG, dots per inch
    #[arg(long, value_name = "N", default_value_t = 300.0, value_parser = resolution)]
    pub(crate) dpi: f64,
}

fn length(text: &str) -> Result<f64, String> {
    within(text, 20.0, 2000.0)
}

fn resolution(text: &str) -> Result<f64, String> {
    within(text, 10.0, 2400.0)
}

fn within(text: &str, low: f64, high: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (low..=high).contains(&value) => Ok(value),
        _ => Err(format!("expected a number between {low} and {high}")),
    }
}
