//! `stiction run`: simulates a scene and writes the results.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use stiction::{
    FrictionSet, Ladder, Method, MoreauJean, Rung, Simulation, StepCause, StepError, StepProblem,
    complementarity::{
        Accuracy, FrictionInteriorPoint, FrictionNsgs, FrictionNsgsOptions, LcpLemke, MixedLcpSchur, ProblemFile,
    },
    record::{EVENT_DRIVEN, Ending, Finished, Recorder, RunLabels},
    scene::Scene,
};

use crate::{
    arguments::{RunOptions, RunSolver, SolveAccuracy},
    failure::Failure,
    input, layout, output,
    progress::Progress,
    signals, summary,
};

/// File of the problem of a failed step, in the folder of the run.
const FAILED_PROBLEM: &str = "failed_problem.json";

pub(crate) fn run(options: &RunOptions) -> Result<(), Failure> {
    let blame = |error| options.blame(error);
    let scene = input::load(&options.scene, &options.overrides(), &options.robot, blame)?;
    let changes = options.overrides();
    let read_with = (options.scene.as_path(), changes.as_slice(), &options.robot);
    let simulation = input::simulation(&scene, read_with, |error| options.blame(error))?;
    let mut simulation = with_solver(simulation, options.solver, options.accuracy)?;
    let steps = scene.settings.steps();
    if let Some(step) = options.keep_problems.iter().find(|step| **step > steps) {
        let message =
            format!("`--keep-problems {step}`: the run has {}", layout::counted(steps as usize, "step", "steps"));
        return Err(Failure::input(message).with_help("steps are numbered from 1"));
    }
    let folder = options.out.clone().unwrap_or_else(|| Path::new("out").join(&scene.name));
    output::refuse_inputs(&Recorder::files(&folder), [options.scene.as_path()])?;
    let mut recorder = Recorder::create(&folder, &labels(&scene, options), &simulation)
        .map_err(|error| Failure::input(error).with_help("choose a folder that can be written with --out DIR"))?;
    // Removes the problem of an older run.
    let _ = std::fs::remove_file(folder.join(FAILED_PROBLEM));
    let interrupt = signals::interrupt(&signals::stop_on_signals()?);
    let started = Instant::now();
    let mut unkept = None;
    let stopped = interrupt.during(|| {
        simulate(&mut simulation, &mut recorder, steps, |step, simulation| {
            if options.keep_problems.contains(&step) {
                let written = write_problem(simulation, &folder.join(format!("problem_{step}.json")));
                unkept = unkept.take().or(written.err());
            }
        })
    });
    let wall_seconds = started.elapsed().as_secs_f64();
    let ending = match &stopped {
        Ok(true) => Ending::Finished,
        Ok(false) => Ending::Interrupted,
        Err(error) => Ending::Failed(error.to_string()),
    };
    let finished = recorder.finish(&simulation, wall_seconds, ending);
    report(&finished, scene.settings.duration, options)?;
    if let Err(error) = stopped {
        let kept = keep_problem(&simulation, &error, &folder);
        return Err(Failure::step(&error, kept.as_deref()));
    }
    match finished.trouble.map(|trouble| trouble.to_string()).or(unkept) {
        Some(trouble) => {
            Err(Failure::work(trouble).with_help("the simulation itself is not affected; its table above is complete"))
        }
        None if matches!(stopped, Ok(false)) => {
            let text =
                format!("stopped on request at t = {}; the recorded part is kept", layout::moment(simulation.time()));
            Err(Failure::work(text))
        }
        None => Ok(()),
    }
}

/// Simulation with a solver and an accuracy, or the reason why its scheme does not support them.
pub(crate) fn with_solver(
    simulation: Simulation,
    solver: RunSolver,
    accuracy: SolveAccuracy,
) -> Result<Simulation, Failure> {
    let friction = simulation.scheme().friction;
    match simulation.scheme().method {
        Method::TimeStepping => Ok(simulation.with_ladder(ladder(solver, accuracy, friction)?)),
        Method::MoreauJean => {
            let ladder = ladder(solver, accuracy, friction)?;
            Ok(simulation.with_stepper(MoreauJean { ladder, ..MoreauJean::default() }))
        }
        Method::Reference => {
            let asked = [(solver != RunSolver::Ladder, "--solver"), (accuracy != SolveAccuracy::Exact, "--accuracy")];
            match asked.into_iter().find(|(asked, _)| *asked) {
                None => Ok(simulation),
                Some((_, option)) => {
                    Err(Failure::input(format!("`{option}` does not apply to the event-driven preset `reference`"))
                        .with_help(format!("remove `{option}`, or choose another preset")))
                }
            }
        }
    }
}

/// Ladder of the requested methods.
fn ladder(solver: RunSolver, accuracy: SolveAccuracy, friction: FrictionSet) -> Result<Ladder, Failure> {
    if friction != FrictionSet::Quadratic && accuracy != SolveAccuracy::Exact {
        let message = format!(
            "`--accuracy` does not apply to friction = \"{}\": its linear problems are solved exactly by pivoting",
            friction.name()
        );
        return Err(Failure::input(message)
            .with_help("remove `--accuracy`, or choose a preset with the second-order cone: ncp, moreau-jean"));
    }
    let fitting = RunSolver::fitting(friction);
    if !fitting.contains(&solver) {
        let names: Vec<_> = fitting.iter().map(|solver| solver.name()).collect();
        let (name, set) = (solver.name(), friction.name());
        let message = format!("the solver `{name}` does not solve steps with friction = \"{set}\"");
        return Err(Failure::input(message).with_help(format!("solvers that fit: {}", names.join(", "))));
    }
    let (name, tolerance) = (solver.name(), Accuracy::from(accuracy).tolerance());
    Ok(match solver {
        RunSolver::Ladder => Ladder::with_accuracy(accuracy.into()),
        RunSolver::Lemke => Ladder::new(vec![Rung { name, solver: Box::new(MixedLcpSchur::new(LcpLemke::new())) }]),
        RunSolver::Nsgs => {
            let nsgs = FrictionNsgsOptions { tolerance, ..FrictionNsgsOptions::default() };
            let solver = FrictionNsgs::with_options(nsgs).map_err(Failure::input)?;
            Ladder::for_cones(vec![Rung { name, solver: Box::new(solver) }]).tolerating(tolerance)
        }
        RunSolver::InteriorPoint => {
            let solver = Box::new(FrictionInteriorPoint::new());
            Ladder::for_cones(vec![Rung { name, solver }]).tolerating(tolerance)
        }
    })
}

fn labels(scene: &Scene, options: &RunOptions) -> RunLabels {
    let labels = RunLabels::of(scene);
    let solver = if labels.solver == EVENT_DRIVEN { EVENT_DRIVEN } else { options.solver.name() };
    RunLabels { solver: solver.to_owned(), ..labels }
}

/// Steps until the end (true) or until an interrupt (false); `after` is called after every step.
fn simulate(
    simulation: &mut Simulation,
    recorder: &mut Recorder,
    steps: u64,
    mut after: impl FnMut(u64, &Simulation),
) -> Result<bool, StepError> {
    let mut progress = Progress::new(steps, "steps");
    for done in 1..=steps {
        let report = match simulation.step() {
            Ok(report) => report,
            Err(StepError { cause: StepCause::Interrupted, .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        recorder.record(simulation, &report);
        after(done, simulation);
        progress.at(done);
    }
    Ok(true)
}

fn report(finished: &Finished, asked_for: f64, options: &RunOptions) -> Result<(), Failure> {
    if options.json {
        layout::print_json(&finished.summary)
    } else {
        layout::print_text(&summary::table(&finished.summary, asked_for, &finished.files))
    }
}

/// Writes the unsolved problem, so that it can be examined and solved again.
fn keep_problem(simulation: &Simulation, error: &StepError, folder: &Path) -> Option<PathBuf> {
    if !matches!(error.cause, StepCause::NotSolved { .. } | StepCause::Jammed { .. }) {
        return None;
    }
    let path = folder.join(FAILED_PROBLEM);
    write_problem(simulation, &path).ok().map(|()| path)
}

/// Writes the problem of the last step.
fn write_problem(simulation: &Simulation, path: &Path) -> Result<(), String> {
    let problem = match simulation.problem() {
        StepProblem::Mixed(problem) => ProblemFile::MixedLcp(problem.clone()),
        StepProblem::Friction(problem) => ProblemFile::Friction(problem.clone()),
        _ => return Err("problems of this kind have no file format yet".to_owned()),
    };
    let text = problem.to_json();
    let text = text.map_err(|error| format!("the problem for {} cannot be written: {error}", path.display()))?;
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
