//! What the commands accept.

mod bench;
#[cfg(feature = "full")]
mod design;
#[cfg(feature = "full")]
mod identify;
mod plot;
#[cfg(feature = "full")]
mod reproduce;
mod robots;
#[cfg(feature = "full")]
mod sweep;
mod view;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use stiction::{
    FrictionSet,
    complementarity::{Accuracy, catalogue},
    scene::SceneError,
};

#[cfg(not(feature = "full"))]
pub(crate) use crate::not_in_build::{
    NotInBuild as DesignOptions, NotInBuild as IdentifyOptions, NotInBuild as ReproduceOptions,
    NotInBuild as SweepOptions,
};
pub(crate) use bench::BenchOptions;
#[cfg(feature = "full")]
pub(crate) use design::DesignOptions;
#[cfg(feature = "full")]
pub(crate) use identify::IdentifyOptions;
pub(crate) use plot::PlotOptions;
#[cfg(feature = "full")]
pub(crate) use reproduce::ReproduceOptions;
pub(crate) use robots::{CheckOptions, ConvertOptions, RobotArguments};
#[cfg(feature = "full")]
pub(crate) use sweep::SweepOptions;
pub(crate) use view::ViewOptions;

/// Simulates multibody systems with frictional contact: stick is stick, slip is slip.
#[derive(Debug, Parser)]
#[command(
    name = "stiction",
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 done, 1 the simulation or solve failed, 2 bad usage or bad input."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Simulate a scene; writes tables, a summary and a page to look at
    Run(RunOptions),
    /// Read a scene and say what it contains, without simulating
    Check(CheckOptions),
    /// Write a robot (URDF, MJCF) as a scene file, or a run as CSV or MCAP
    Convert(ConvertOptions),
    /// Run a scene through several schemes and steps, and measure their errors
    Compare(CompareOptions),
    /// Look at recorded runs in a browser, several laid over each other
    View(ViewOptions),
    /// Draw columns and expressions of runs as SVG or PNG
    Plot(PlotOptions),
    /// Solve a complementarity problem from a file
    Solve(SolveOptions),
    /// Make the trials of a study on all cores, and say what they found
    Sweep(SweepOptions),
    /// Choose parameters of a scene so that an objective over its runs becomes small
    Design(DesignOptions),
    /// Estimate parameters of a scene from recorded motions
    Identify(IdentifyOptions),
    /// Run the published cases again and compare: tables, JSON, a page with every figure redrawn
    Reproduce(ReproduceOptions),
    /// Print the JSON Schema of scene, study, design or identification files, for editors
    Schema(SchemaOptions),
    /// Measure the speed of the program on this machine
    Bench(BenchOptions),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction run scenes/falling_rod.toml
  stiction run scenes/falling_rod.toml --step 0.001 --set body.rod.mass=2.5 --out out/heavy
  stiction run robot.xml --keyframe home --duration 2

Files written to DIR: trajectory.parquet, contacts.parquet, summary.json, view.html (open it in
a browser, or `stiction view DIR`). Ctrl-C stops after the current step and keeps what was
recorded.")]
pub(crate) struct RunOptions {
    /// The scene file, or a robot: URDF or MJCF
    pub(crate) scene: PathBuf,
    #[command(flatten)]
    pub(crate) robot: RobotArguments,
    /// Simulated time in seconds, instead of the scene's; the last step may go beyond it
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub(crate) duration: Option<f64>,
    /// Step size in seconds, instead of the scene's
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub(crate) step: Option<f64>,
    /// Scheme, instead of the scene's: ncp, stewart-trinkle, anitescu-potra, anitescu-hart, moreau-jean, reference, quasistatic, geometrically-implicit
    #[arg(long, value_name = "P")]
    pub(crate) preset: Option<String>,
    /// Solver of the contact problem
    #[arg(long, value_name = "S", value_enum, default_value_t)]
    pub(crate) solver: RunSolver,
    /// Change any value of the scene, by its path; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = assignment)]
    pub(crate) set: Vec<(String, String)>,
    /// Write a row to the tables every N steps
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) record_every: Option<i64>,
    /// Where to write; out/<scene> unless given
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the contact problems of these steps (the first is 1) to `DIR/problem_N.json`, for `stiction solve`
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub(crate) keep_problems: Vec<u64>,
    /// Print the summary as JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// How well the contact problems of the exact cone are solved; presets without such problems refuse it
    #[arg(long, value_enum, default_value_t)]
    pub(crate) accuracy: SolveAccuracy,
}

impl RunOptions {
    /// All changes to the scene, in the order they apply: `--set` first, then the options of their own name.
    pub(crate) fn overrides(&self) -> Vec<(String, String)> {
        let named = self.named().into_iter().map(|(_, path, value)| (path.to_owned(), value));
        self.set.iter().cloned().chain(named).collect()
    }

    /// The changes by options of their own name: the option, the path and the value.
    fn named(&self) -> Vec<(&'static str, &'static str, String)> {
        let number = |value: Option<f64>| value.map(|x| format!("{x:?}"));
        let named = [
            ("--duration", "simulation.duration", number(self.duration)),
            ("--step", "simulation.step", number(self.step)),
            ("--preset", "simulation.preset", self.preset.as_ref().map(|name| format!("{name:?}"))),
            ("--record-every", "simulation.record_every", self.record_every.map(|n| n.to_string())),
        ];
        named.into_iter().filter_map(|(option, path, value)| Some((option, path, value?))).collect()
    }

    /// Blames an option of its own name for what is wrong with its value, instead of a `--set` nobody wrote.
    pub(crate) fn blame(&self, error: SceneError) -> SceneError {
        let culprit = self.named().into_iter().find(|(_, path, value)| *error.source_text == format!("{path}={value}"));
        match (culprit, error.span.clone()) {
            (Some((option, path, value)), Some(span)) if error.file == "--set" => {
                // The value stands behind the name of the option as it stood behind the path.
                let shifted = |at: usize| (at + option.len()).saturating_sub(path.len());
                let mut blamed = error;
                option.clone_into(&mut blamed.file);
                blamed.source_text = format!("{option}={value}").into();
                blamed.span = Some(shifted(span.start)..shifted(span.end));
                blamed.column = shifted(span.start) as u32 + 1;
                blamed
            }
            _ => error,
        }
    }
}

/// Solvers a run may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunSolver {
    /// Every method that fits, one after the other, the fastest first
    #[default]
    Ladder,
    /// Lemke's method alone; for friction polygons and boxes
    Lemke,
    /// Gauss-Seidel sweeps alone; for the exact cone
    Nsgs,
    /// The interior point alone; for the exact cone
    InteriorPoint,
}

impl RunSolver {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ladder => "ladder",
            Self::Lemke => "lemke",
            Self::Nsgs => "nsgs",
            Self::InteriorPoint => "interior-point",
        }
    }

    /// The solvers for a friction set.
    pub(crate) fn fitting(friction: FrictionSet) -> &'static [Self] {
        match friction {
            FrictionSet::Quadratic => &[Self::Ladder, Self::Nsgs, Self::InteriorPoint],
            FrictionSet::Polygon | FrictionSet::Box => &[Self::Ladder, Self::Lemke],
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction compare scenes/falling_rod.toml
  stiction compare scenes/four_balls.toml --presets ncp,moreau-jean --set scheme.jacobians=start
  stiction compare scenes/pendulum.toml --steps 0.01,0.005 --reference stewart-trinkle@0.0005

Velocity error: the integral over time of the largest difference of a velocity component.
Position error: the largest difference of a coordinate at any time; of orientations the rotation
vector. The truth is the event-driven reference or, where it does not apply, the first preset at a
quarter of the smallest step; the output says which, and below which size errors say nothing.
Files written to DIR: compare.json, compare.html (open it in a browser).
Presets that cannot run the scene and runs that fail are listed with the reason; exit code 1 when
no run came to its end.")]
pub(crate) struct CompareOptions {
    /// The scene file, or a robot: URDF or MJCF
    pub(crate) scene: PathBuf,
    /// Schemes, separated by commas, or `all`
    #[arg(long, value_name = "P", value_delimiter = ',', default_value = ALL_PRESETS)]
    pub(crate) presets: Vec<String>,
    /// Step sizes in seconds, separated by commas, instead of halvings of the scene's
    #[arg(long, value_name = "H", value_delimiter = ',', allow_negative_numbers = true, conflicts_with = "halvings")]
    pub(crate) steps: Vec<f64>,
    /// Halve the step of the scene so often
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=20))]
    pub(crate) halvings: u32,
    /// Simulated time in seconds, instead of the scene's
    #[arg(long, visible_alias = "duration", value_name = "T", allow_negative_numbers = true)]
    pub(crate) until: Option<f64>,
    #[command(flatten)]
    pub(crate) robot: RobotArguments,
    /// Measure against this preset; with a step of its own behind an @
    #[arg(long, value_name = "PRESET[@H]")]
    pub(crate) reference: Option<String>,
    /// Change any value of the scene, by its path; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = assignment)]
    pub(crate) set: Vec<(String, String)>,
    /// Where to write; out/<scene> unless given
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the comparison as JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  stiction schema > scene.schema.json\n  stiction schema study > study.schema.json")]
pub(crate) struct SchemaOptions {
    /// The kind of file
    #[arg(value_enum, default_value_t)]
    pub(crate) of: SchemaOf,
}

/// Kinds of files with a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// Scenes
    #[default]
    Scene,
    /// Studies
    Study,
    /// Designs
    Design,
    /// Identifications
    Identification,
}

/// The word for every preset.
pub(crate) const ALL_PRESETS: &str = "all";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction solve problem.json
  stiction solve problem.json --solver all
  stiction solve contacts.json --solver nsgs,interior-point --accuracy balanced --explain

Methods: ladder for every problem (the default), and
  lcp       lemke, principal-pivoting, gauss-seidel, newton, enumeration
  mlcp      the same after elimination of the free unknowns, and pivoting, which needs none
  boxlcp    newton
  mcp       newton-1, newton-2, ... from the starts that the file lists
  friction  active-set, nsgs, nsgs-relaxed, interior-point, newton, admm, reference, polygon

A problem is a JSON object: {\"kind\": \"lcp\", \"n\": 2, \"M\": [[2, 1], [1, 2]], \"q\": [-5, -6]}
or, with free unknowns first, {\"kind\": \"mlcp\", \"n_eq\": 1, \"m_comp\": 1, \"M\": ..., \"q\": ...}.
The files in problems/ show the other kinds. A residual is measured by the problem, never by
the method. Exit code 1 when no method solved it, 2 for a method that does not exist
for its kind.")]
pub(crate) struct SolveOptions {
    /// The problem file
    pub(crate) problem: PathBuf,
    /// Methods, separated by commas, or `all`
    #[arg(long, value_name = "S", value_delimiter = ',', default_value = catalogue::DEFAULT_METHOD)]
    pub(crate) solver: Vec<String>,
    /// Largest residual that counts as solved; 1e-10 for linear problems, 1e-8 for nonlinear ones, that of the accuracy for
    /// friction
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    /// How far the ladder of a frictional problem goes
    #[arg(long, value_name = "A", value_enum, default_value_t)]
    pub(crate) accuracy: SolveAccuracy,
    /// Say what the matrix promises, whether a solution exists, whether impulses are bounded and unique
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print JSON, with the solutions
    #[arg(long)]
    pub(crate) json: bool,
}

/// Accuracy levels of frictional problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SolveAccuracy {
    /// A few sweeps, residual 1e-2
    RealTime,
    /// Residual 1e-4
    Balanced,
    /// Residual 1e-8
    #[default]
    Exact,
}

impl From<SolveAccuracy> for Accuracy {
    fn from(accuracy: SolveAccuracy) -> Self {
        match accuracy {
            SolveAccuracy::RealTime => Self::RealTime,
            SolveAccuracy::Balanced => Self::Balanced,
            SolveAccuracy::Exact => Self::Exact,
        }
    }
}

/// Splits `path=value`.
fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((path, value)) if !path.trim().is_empty() => Ok((path.trim().to_owned(), value.trim().to_owned())),
        _ => Err("expected PATH=VALUE, such as body.rod.mass=2.5".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        for command in Arguments::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example"), "{}", command.get_name());
        }
    }

    #[test]
    fn assignments_split_at_the_first_equals_sign() {
        assert_eq!(assignment("body.rod.x = \"a=b\""), Ok(("body.rod.x".into(), "\"a=b\"".into())));
        assert!(assignment("no sign").is_err() && assignment("=1").is_err());
    }
}
