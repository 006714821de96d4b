//! The ladder: rungs in order, claims measured by the problem.

use std::sync::{Arc, Mutex};

use stiction_complementarity::{
    Accuracy, Ending, FrictionLadder, FrictionProblem, FrictionSolution, LcpLemke, MixedLcp, MixedLcpSchur,
    MixedLcpSolution, Policy, Solver, Status,
};
use stiction_multibody::Dimension;
use stiction_testkit::{FailingSolver, Fault};

use super::support::{Case, ball, friction, on_floor};
use crate::{
    Ladder, OnUnsolved, Preset, Residuals, Rung, Scheme, Solving, StepCause, Stepper, Substepping, TimeStepper,
};

fn sliding(scheme: Scheme) -> Case {
    let body = ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.5).velocity(1.0, 0.0, 0.0);
    let mut case = Case::new(on_floor(Dimension::Spatial, friction(0.3), [body]), scheme, 0.01);
    case.assemble().unwrap();
    case
}

fn mixed_problem() -> MixedLcp {
    sliding(Preset::StewartTrinkle.scheme()).ws.mixed.problem.clone()
}

fn lemke() -> MixedLcpSchur<LcpLemke> {
    MixedLcpSchur::new(LcpLemke::default())
}

fn rung(name: &'static str, solver: impl Solver<MixedLcp> + Send + 'static) -> Rung {
    Rung { name, solver: Box::new(solver) }
}

/// Whatever the first rung does wrong, the second is tried, and iterations of both count.
#[test]
fn every_fault_leads_to_the_next_rung() {
    let problem = mixed_problem();
    let iterations = |rungs: Vec<Rung>| {
        let mut solution = MixedLcpSolution::default();
        let outcome = Ladder::new(rungs).solve(&problem, None, &mut solution);
        assert_eq!(outcome.status, Status::Solved);
        assert!(outcome.residual.value < 1e-12);
        (outcome.rung, outcome.iterations)
    };
    let (name, alone) = iterations(vec![rung("good", lemke())]);
    assert_eq!(name, "good");
    for fault in Fault::ALL {
        let bad = rung("bad", FailingSolver::from_call(lemke(), fault, 0));
        let (name, both) = iterations(vec![bad, rung("good", lemke())]);
        assert_eq!((name, both), ("good", 2 * alone), "{fault:?}");
    }
}

/// The first rung that solves ends the run.
#[test]
fn later_rungs_do_not_run_after_success() {
    let problem = mixed_problem();
    let broken = rung("broken", FailingSolver::from_call(lemke(), Fault::NanSolution, 0));
    let mut solution = MixedLcpSolution::default();
    let outcome = Ladder::new(vec![rung("good", lemke()), broken]).solve(&problem, None, &mut solution);
    assert_eq!((outcome.rung, outcome.status), ("good", Status::Solved));
    assert!(solution.free.iter().all(|x| x.is_finite()));
}

#[test]
fn without_success_the_last_status_is_reported() {
    let problem = mixed_problem();
    let mut solution = MixedLcpSolution::default();
    for (fault, status) in [
        (Fault::Status(Status::Infeasible), Status::Infeasible),
        (Fault::NanSolution, Status::Breakdown),
        (Fault::FalseSuccess, Status::Breakdown),
    ] {
        let rungs = vec![rung("first", FailingSolver::from_call(lemke(), fault, 0))];
        let outcome = Ladder::new(rungs).solve(&problem, None, &mut solution);
        assert_eq!((outcome.rung, outcome.status), ("first", status));
        assert!(outcome.residual.value > 1.0);
    }
    let outcome = Ladder::new(Vec::new()).solve(&problem, None, &mut solution);
    assert_eq!((outcome.rung, outcome.status, outcome.iterations), ("none", Status::Breakdown, 0));
}

/// Solver that solves and records whether it was given a warm start.
struct Spy(FrictionLadder, Arc<Mutex<Vec<bool>>>);

impl Solver<FrictionProblem> for Spy {
    fn run(
        &mut self,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        self.1.lock().unwrap().push(guess.is_some());
        self.0.run(problem, guess, solution)
    }
}

/// Warm starts of another length, with NaN, or far off are not passed on.
#[test]
fn only_plausible_warm_starts_are_used() {
    let case = sliding(Scheme::default());
    let problem = &case.ws.friction.problem;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let spy = Box::new(Spy(FrictionLadder::default(), Arc::clone(&seen)));
    let mut ladder = Ladder::for_cones(vec![Rung { name: "spy", solver: spy }]);
    let mut solution = FrictionSolution::default();
    let guesses = [vec![0.1, 0.0, 0.0], vec![0.1, 0.0], vec![f64::NAN, 0.0, 0.0], vec![1e12, 0.0, 0.0]];
    for r in guesses {
        let guess = FrictionSolution { r };
        assert_eq!(ladder.solve(problem, Some(&guess), &mut solution).status, Status::Solved);
    }
    assert_eq!(ladder.solve(problem, None, &mut solution).status, Status::Solved);
    assert_eq!(*seen.lock().unwrap(), [true, false, false, false, false]);
}

/// Solver with an error of this size in the first unknown.
struct Inexact(MixedLcpSchur<LcpLemke>, f64);

impl Solver<MixedLcp> for Inexact {
    fn run(&mut self, problem: &MixedLcp, guess: Option<&MixedLcpSolution>, solution: &mut MixedLcpSolution) -> Ending {
        let ending = self.0.run(problem, guess, solution);
        solution.free[0] += self.1;
        ending
    }
}

#[test]
fn the_tolerance_decides_what_is_solved() {
    let problem = mixed_problem();
    for (tolerance, solved) in [(1e-3, true), (1e-5, false)] {
        let mut ladder = Ladder::new(vec![rung("inexact", Inexact(lemke(), 1e-4))]).tolerating(tolerance);
        let outcome = ladder.solve(&problem, None, &mut MixedLcpSolution::default());
        assert_eq!(outcome.status.is_solved(), solved, "{outcome:?}");
        assert!(outcome.residual.value > 1e-5 && outcome.residual.value < 1e-3);
    }
}

/// The names are those of the rungs for the kind of problem.
#[test]
fn names_are_those_of_the_rungs() {
    let names = |ladder: &Ladder, is_friction_problem| ladder.names(is_friction_problem).collect::<Vec<_>>();
    let ladder = Ladder::new(vec![rung("a", lemke()), rung("b", lemke())]);
    assert_eq!(names(&ladder, false), ["a", "b"]);
    assert_eq!(names(&ladder, true), names(&Ladder::default(), true));
    assert_eq!(format!("{:?}", rung("a", lemke())), "Rung { name: \"a\", .. }");
}

/// Other accuracies end with the residual that they promise.
#[test]
fn accuracies_have_their_tolerance() {
    let case = sliding(Scheme::default());
    for accuracy in [Accuracy::RealTime, Accuracy::Balanced, Accuracy::Exact] {
        let mut ladder = Ladder::with_accuracy(accuracy);
        let policy = Policy::new(accuracy);
        assert_eq!((ladder.cone_tolerance.solved, ladder.cone_tolerance.loose), (policy.aim, policy.refuse));
        let outcome = ladder.solve(&case.ws.friction.problem, None, &mut FrictionSolution::default());
        assert!(outcome.status.is_solved() && outcome.residual.value <= accuracy.tolerance());
    }
    assert!(Ladder::with_accuracy(Accuracy::RealTime).tolerance.solved > Ladder::default().tolerance.solved);
}

/// A step whose ladder fails returns the rungs that it tried and leaves the state as it was.
#[test]
fn a_failed_step_lists_its_rungs_and_leaves_the_state() {
    for fault in Fault::ALL {
        let mut case = sliding(Preset::StewartTrinkle.scheme());
        let before = case.state.clone();
        let rungs = ["first", "second"].map(|name| rung(name, FailingSolver::from_call(lemke(), fault, 0)));
        let mut stepper = TimeStepper::default().with_ladder(Ladder::new(rungs.into()));
        let cause = case.with(|start, ws| stepper.step(start, ws)).unwrap_err();
        let StepCause::NotSolved { rungs, .. } = cause else { panic!("{cause}") };
        assert_eq!(rungs, ["first", "second"]);
        assert!(case.state.bit_equal(&before));
    }
}

/// Solver with an error of this size in the first impulse.
struct InexactFriction(FrictionLadder, f64);

impl Solver<FrictionProblem> for InexactFriction {
    fn run(
        &mut self,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        let ending = self.0.run(problem, guess, solution);
        solution.r[0] += self.1;
        ending
    }
}

/// With few contacts, a step between the aimed and the refused residual is accepted, with the worst contact, if halving does not help; above it is not,
/// unless the scheme accepts anything.
#[test]
fn steps_above_the_aim_are_accepted_and_named_up_to_what_is_refused() {
    let made = |error: f64, residual: Residuals, on_unsolved: OnUnsolved| {
        let solving = Solving { residual, halve_steps: 2, on_unsolved };
        let mut case = sliding(Scheme { solving, ..Scheme::default() });
        let before = case.state.clone();
        let solver = Box::new(InexactFriction(FrictionLadder::default(), error));
        let ladder = Ladder::for_cones(vec![Rung { name: "inexact", solver }]);
        let mut stepper = TimeStepper::default().with_ladder(ladder);
        let made = case.with(|start, ws| Substepping::default().step(&mut stepper, start, ws));
        assert!(case.state.bit_equal(&before));
        made
    };
    let (usual, stop) = (Residuals::default(), OnUnsolved::Stop);
    let exact = made(0.0, usual, stop).unwrap();
    assert_eq!((exact.status, exact.worst, exact.substeps), (Status::Solved, None, 1));
    let loose = made(1e-6, usual, stop).unwrap();
    let name = loose.worst.unwrap().name(&sliding(Scheme::default()).model);
    assert_eq!(name, "the contact between \"floor\" and \"ball\"");
    assert_eq!((loose.status, loose.substeps), (Status::SolvedLoosely, 3));
    assert!(loose.residual.value > 1e-8 && loose.residual.value < 1e-4);
    let asked = Residuals { aim: Some(1e-3), ..usual };
    assert_eq!(made(1e-6, asked, stop).unwrap().status, Status::Solved);
    let asked = Residuals { refuse: Some(1e-8), ..usual };
    assert!(matches!(made(1e-6, asked, stop).unwrap_err(), StepCause::NotSolved { .. }));
    assert!(matches!(made(0.1, usual, stop).unwrap_err(), StepCause::NotSolved { .. }));
    // One quarter is taken as it is; the other quarter and half are not halved again.
    let taken = made(0.1, usual, OnUnsolved::Accept).unwrap();
    assert_eq!((taken.status, taken.substeps), (Status::Breakdown, 3));
    assert!(taken.worst.is_some() && taken.residual.value > 1e-2);
}

/// The residuals of the scheme replace those of the accuracy, and the others stay in order with them.
#[test]
fn ladders_follow_the_residuals_of_the_scheme() {
    let mut ladder = Ladder::default();
    ladder.follow(&Residuals { aim: Some(1e-5), accept: None, refuse: Some(1e-3) });
    assert_eq!((ladder.cone_tolerance.solved, ladder.cone_tolerance.loose), (1e-5, 1e-3));
    ladder.follow(&Residuals::default());
    assert_eq!((ladder.cone_tolerance.solved, ladder.cone_tolerance.loose), (1e-8, 1e-4));
    let exact = Policy::new(Accuracy::Exact);
    assert_eq!(exact.with(Some(1e-5), None, None), Policy { aim: 1e-5, accept: 1e-5, refuse: 1e-4 });
    assert_eq!(exact.with(None, None, Some(1e-9)), Policy { aim: 1e-9, accept: 1e-9, refuse: 1e-9 });
    assert_eq!(exact.with(None, Some(1e-3), None), Policy { aim: 1e-8, accept: 1e-3, refuse: 1e-3 });
}
