//! Arguments of the commands.

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

/// Simulates multibody systems with exact frictional contact.
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
    /// Simulate a scene; writes tables, a summary and a page
    Run(RunOptions),
    /// Read a scene and print its contents, without simulating
    Check(CheckOptions),
    /// Write a robot (URDF, MJCF) as a scene file, or a run as CSV or MCAP
    Convert(ConvertOptions),
    /// Run a scene with several schemes and step sizes, and measure their errors
    Compare(CompareOptions),
    /// Show recorded runs in a browser, overlaid
    View(ViewOptions),
    /// Plot columns and expressions of runs as SVG or PNG
    Plot(PlotOptions),
    /// Solve a complementarity problem from a file
    Solve(SolveOptions),
    /// Run the trials of a study on all cores, and summarise the results
    Sweep(SweepOptions),
    /// Choose parameters of a scene that minimise an objective over its runs
    Design(DesignOptions),
    /// Estimate parameters of a scene from recorded motions
    Identify(IdentifyOptions),
    /// Run the published cases again and compare: tables, JSON, a page with every figure
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
a browser, or `stiction view DIR`). Ctrl-C stops after the current step and keeps the
recorded part.")]
pub(crate) struct RunOptions {
    /// Scene file, or robot (URDF, MJCF)
    pub(crate) scene: PathBuf,
    #[command(flatten)]
    pub(crate) robot: RobotArguments,
    /// Simulated time in seconds, instead of the scene's; the last step may end after it
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
    /// Record every N-th step in the tables
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) record_every: Option<i64>,
    /// Output folder; default: out/<scene>
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the contact problems of these steps (the first is 1) to `DIR/problem_N.json`, for `stiction solve`
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) keep_problems: Vec<u64>,
    /// Print the summary as JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Accuracy of the contact solver; only for presets with the second-order friction cone
    #[arg(long, value_enum, default_value_t)]
    pub(crate) accuracy: SolveAccuracy,
}

impl RunOptions {
    /// All changes to the scene in the order of application: `--set` first, then the named options.
    pub(crate) fn overrides(&self) -> Vec<(String, String)> {
        let named = self.named().into_iter().map(|(_, path, value)| (path.to_owned(), value));
        self.set.iter().cloned().chain(named).collect()
    }

    /// Changes by named options: the option, the path and the value.
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

    /// Attributes an error in the value of a named option to that option instead of a `--set`.
    pub(crate) fn blame(&self, error: SceneError) -> SceneError {
        let culprit = self.named().into_iter().find(|(_, path, value)| *error.source_text == format!("{path}={value}"));
        match (culprit, error.span.clone()) {
            (Some((option, path, value)), Some(span)) if error.file == "--set" => {
                // The value follows the name of the option as it would follow the path.
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

/// Solvers of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunSolver {
    /// All suitable methods in order, the fastest first
    #[default]
    Ladder,
    /// Lemke's method only; for friction polygons and boxes
    Lemke,
    /// Projected Gauss-Seidel only; for the second-order cone
    Nsgs,
    /// Interior-point method only; for the second-order cone
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

    /// Solvers for a friction set.
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
Position error: the largest difference of a coordinate at any time; for orientations, of the
rotation vector. The reference solution is that of the event-driven reference or, if it does not
apply, of the first preset at a quarter of the smallest step. The output names it and its
resolution; smaller errors are not significant.
Files written to DIR: compare.json, compare.html (open it in a browser).
Presets that do not support the scene and failed runs are listed with the reason; exit code 1 if
no run finished.")]
pub(crate) struct CompareOptions {
    /// Scene file, or robot (URDF, MJCF)
    pub(crate) scene: PathBuf,
    /// Schemes, separated by commas, or `all`
    #[arg(long, value_name = "P", value_delimiter = ',', default_value = ALL_PRESETS)]
    pub(crate) presets: Vec<String>,
    /// Step sizes in seconds, separated by commas, instead of halvings of the scene's
    #[arg(long, value_name = "H", value_delimiter = ',', allow_negative_numbers = true, conflicts_with = "halvings")]
    pub(crate) steps: Vec<f64>,
    /// Number of halvings of the step of the scene
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=20))]
    pub(crate) halvings: u32,
    /// Simulated time in seconds, instead of the scene's
    #[arg(long, visible_alias = "duration", value_name = "T", allow_negative_numbers = true)]
    pub(crate) until: Option<f64>,
    #[command(flatten)]
    pub(crate) robot: RobotArguments,
    /// Preset of the reference solution, optionally with its step after an @
    #[arg(long, value_name = "PRESET[@H]")]
    pub(crate) reference: Option<String>,
    /// Change any value of the scene, by its path; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = assignment)]
    pub(crate) set: Vec<(String, String)>,
    /// Output folder; default: out/<scene>
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the comparison as JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  stiction schema > scene.schema.json\n  stiction schema study > study.schema.json")]
pub(crate) struct SchemaOptions {
    /// Kind of the file
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

/// Keyword for all presets.
pub(crate) const ALL_PRESETS: &str = "all";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stiction solve problem.json
  stiction solve problem.json --solver all
  stiction solve contacts.json --solver nsgs,interior-point --accuracy balanced --explain

Methods: ladder for every problem (the default), and
  lcp       lemke, principal-pivoting, gauss-seidel, newton, enumeration
  mlcp      the same after elimination of the free unknowns, and pivoting without elimination
  boxlcp    newton
  mcp       newton-1, newton-2, ... from the starts that the file lists
  friction  active-set, nsgs, nsgs-relaxed, interior-point, newton, admm, reference, polygon

A problem is a JSON object: {\"kind\": \"lcp\", \"n\": 2, \"M\": [[2, 1], [1, 2]], \"q\": [-5, -6]}
or, with free unknowns first, {\"kind\": \"mlcp\", \"n_eq\": 1, \"m_comp\": 1, \"M\": ..., \"q\": ...}.
The files in problems/ show the other kinds. The residual is computed from the problem,
independently of the method. Exit code 1 if no method solved it, 2 for a method that does not
exist for its kind.")]
pub(crate) struct SolveOptions {
    /// Problem file
    pub(crate) problem: PathBuf,
    /// Methods, separated by commas, or `all`
    #[arg(long, value_name = "S", value_delimiter = ',', default_value = catalogue::DEFAULT_METHOD)]
    pub(crate) solver: Vec<String>,
    /// Largest residual that counts as solved; default: 1e-10 for linear problems, 1e-8 for nonlinear ones, that of the accuracy for
    /// friction
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    /// Accuracy of the solver ladder of a frictional problem
    #[arg(long, value_name = "A", value_enum, default_value_t)]
    pub(crate) accuracy: SolveAccuracy,
    /// Print properties of the matrix, and whether a solution exists and impulses are bounded and unique
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print JSON, with the solutions
    #[arg(long)]
    pub(crate) json: bool,
}

/// Accuracy levels of frictional problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SolveAccuracy {
    /// A few Gauss-Seidel iterations, residual 1e-2
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
