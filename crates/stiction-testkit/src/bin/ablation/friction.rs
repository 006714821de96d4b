//! Cases of the ladder for frictional problems.

use crate::case::{Case, Grade, Run};
use std::sync::{Arc, OnceLock};
use stiction_complementarity::{
    Accuracy, FrictionLadder, FrictionProblem, FrictionRung, FrictionSolution, ProblemError, ProblemFile, Solver,
    Tolerance, solve,
};
use stiction_testkit::Random;
use stiction_testkit::corpus::Listed;
use stiction_testkit::families::{Family, global_friction, local_friction};
use stiction_testkit::hard::{collapsing, kick, kicked_stack, kicked_tower, kicked_wall};
use stiction_testkit::problems::{Motion, growing_masses, stack, tower, wall};
use stiction_testkit::rocks::{Rocks, rock_pile};

/// A rung with a name of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Named(pub(crate) FrictionRung);

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name())
    }
}

/// Settings of the ladder with their tolerances, and whether they start warm.
#[derive(Clone, Copy)]
enum Setting {
    /// Residual 1e-8 from zero.
    Exact,
    /// Residual 1e-4 from zero.
    Balanced,
    /// Residual 1e-6 from zero, for a thousand contacts.
    Large,
    /// The ladder of a time step: 1e-10 if it is cheap, 1e-8 else, with stick recovery, from the solution of a changed problem.
    Step,
    /// Residual 1e-2 from the solution of a changed problem.
    RealTime,
}

impl Setting {
    fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Balanced => "balanced",
            Self::Large => "1e-6",
            Self::Step => "warm step",
            Self::RealTime => "real-time, warm",
        }
    }

    fn ladder(self) -> FrictionLadder {
        let with = |tolerance| FrictionLadder::with_tolerance(tolerance).unwrap_or_default();
        match self {
            Self::Exact => FrictionLadder::new(Accuracy::Exact),
            Self::Balanced => FrictionLadder::new(Accuracy::Balanced),
            Self::Large => with(1e-6),
            Self::Step => with(1e-10).with_acceptable_residual(self.tolerance()).with_stick_recovery(),
            Self::RealTime => FrictionLadder::new(Accuracy::RealTime),
        }
    }

    fn tolerance(self) -> f64 {
        match self {
            Self::Exact | Self::Step => Accuracy::Exact.tolerance(),
            Self::Balanced => Accuracy::Balanced.tolerance(),
            Self::Large => 1e-6,
            Self::RealTime => Accuracy::RealTime.tolerance(),
        }
    }

    fn is_warm(self) -> bool {
        matches!(self, Self::Step | Self::RealTime)
    }
}

/// Settings of files and random problems.
const ALL: [Setting; 4] = [Setting::Exact, Setting::Balanced, Setting::Step, Setting::RealTime];

/// Settings of stacks and towers.
const STACKS: &[Setting] = &[Setting::Exact, Setting::Step];

/// Settings of larger piles.
const PILES: &[Setting] = &[Setting::Exact];

/// Largest number of rows of a warm start; larger problems are not typical of a time step.
const MOST_WARM_ROWS: usize = 2000;

/// Random problems of each kind, and their seeds, which are those of the tests.
const RANDOM: usize = 320;

/// All cases: files, families on which Gauss-Seidel stalls, and random problems of the fuzz tests.
pub(crate) fn cases(listed: &[Listed]) -> Vec<Case<Named>> {
    let mut cases = Vec::new();
    for file in listed {
        if let ProblemFile::Friction(problem) = &file.problem {
            push(&mut cases, (&file.set, &file.name), problem.clone(), &ALL);
        }
    }
    hard(&mut cases);
    large(&mut cases);
    random(&mut cases, "friction_with_explicit_operators", 4, local_friction);
    random(&mut cases, "friction_with_bodies", 5, global_friction);
    cases
}

/// Families of the test `friction_hard`, by its seeds and those of `docs/benchmarks.md`.
fn hard(cases: &mut Vec<Case<Named>>) {
    let mut family =
        |set: &str, seeds: std::ops::Range<u64>, settings: &[Setting], make: &dyn Fn(u64) -> FrictionProblem| {
            for seed in seeds {
                push(cases, (set, &format!("seed {seed}")), make(seed), settings);
            }
        };
    family("half_rank_towers", 301..307, STACKS, &|seed| kicked_tower(20, 1, seed));
    family("half_rank_towers, doubled", 307..311, STACKS, &|seed| kicked_tower(20, 2, seed));
    for ratio in [1.0, 1e2, 1e4, 1e6] {
        family(&format!("mass_ratios {ratio:e}"), 201..213, STACKS, &|seed| kicked_stack(ratio, seed));
    }
    family("a_million_to_one_at_rest", 0..1, STACKS, &|_| stack(&growing_masses(10, 1e6), 0.5).problem(Motion::Rest));
    let rocks = |seed| Rocks { side: 3, layers: 4, seed, ..Rocks::default() };
    let still = |rocks: Rocks| rock_pile(&rocks).problem(Motion::Rest);
    family("bins_of_rocks", 401..407, PILES, &|seed| still(rocks(seed)));
    family("bins_of_rocks, loaded", 407..413, PILES, &|seed| still(Rocks { load: 1e6, ..rocks(seed) }));
    family("bins_of_rocks, four decades", 413..417, PILES, &|seed| still(Rocks { decades: 4.0, ..rocks(seed) }));
    family("bins_of_rocks, kicked", 417..423, PILES, &|seed| rock_pile(&rocks(seed)).problem(kick(seed)));
    family("collapsing_piles", 501..531, PILES, &collapsing);
    family("kicked walls of 6 courses", 201..206, PILES, &|seed| kicked_wall(6, 8, seed));
    family("kicked towers of 60", 201..206, PILES, &|seed| kicked_tower(60, 1, seed));
    family("kicked towers of 40, doubled", 201..206, PILES, &|seed| kicked_tower(40, 2, seed));
}

/// A thousand contacts: at rest, and kicked by seeds that took many steps in `docs/benchmarks.md`.
fn large(cases: &mut Vec<Case<Named>>) {
    let settings = [Setting::Large];
    let (walls, towers) = (wall(10, 12, 0.5), tower(250, 0.5));
    for (set, pile, seeds) in
        [("walls of 10 courses", &walls, [1, 2, 3, 683]), ("towers of 250", &towers, [2, 102, 137, 217])]
    {
        push(cases, (set, "at rest"), pile.problem(Motion::Rest), &settings);
        for seed in seeds {
            push(cases, (set, &format!("seed {seed}")), pile.problem(kick(seed)), &settings);
        }
    }
}

/// Random problems that have a solution by construction.
fn random(cases: &mut Vec<Case<Named>>, test: &str, seed: u64, make: impl Fn(&mut Random, Family) -> FrictionProblem) {
    let mut random = Random::new(seed);
    for number in 0..RANDOM {
        let family = Family::ALL[number % Family::ALL.len()];
        let problem = make(&mut random, family);
        let name = format!("{family:?} {number}");
        if family.is_well_posed() {
            push(cases, (test, &name), problem, &ALL);
        }
    }
}

/// Adds a problem with each of the settings.
fn push(cases: &mut Vec<Case<Named>>, (set, name): (&str, &str), problem: FrictionProblem, settings: &[Setting]) {
    let problem = Arc::new((problem, OnceLock::new()));
    for &setting in settings {
        if setting.is_warm() && problem.0.rows() > MOST_WARM_ROWS {
            continue;
        }
        let problem = Arc::clone(&problem);
        let case = Case::new((set, name, setting.name()), move |rungs| {
            let (problem, guess) = &*problem;
            let guess = if setting.is_warm() { guess.get_or_init(|| nearby(problem)).as_ref() } else { None };
            run(setting, problem, guess, rungs)
        });
        cases.push(case);
    }
}

fn run(setting: Setting, problem: &FrictionProblem, guess: Option<&FrictionSolution>, rungs: &[Named]) -> Run<Named> {
    let rungs: Vec<FrictionRung> = rungs.iter().map(|rung| rung.0).collect();
    let mut ladder = setting.ladder().with_rungs(&rungs);
    let (mut solution, solved) = (FrictionSolution::default(), setting.tolerance());
    let tolerance = Tolerance { solved, loose: solved.max(1e-4) };
    let outcome = solve(&mut ladder, problem, guess, &mut solution, &tolerance);
    let (grade, residual, iterations) = (Grade::of(outcome.status), outcome.residual.value, outcome.iterations);
    let records = ladder.records();
    let best = records.iter().min_by(|a, b| a.residual.total_cmp(&b.residual));
    Run {
        grade,
        residual,
        iterations,
        seconds: 0.0,
        ran: records.iter().map(|record| Named(record.rung)).collect(),
        decided: best.map(|record| Named(record.rung)),
    }
}

/// Solution of the same problem with every free velocity changed by up to 1 %; `None` without a solution.
fn nearby(problem: &FrictionProblem) -> Option<FrictionSolution> {
    let (mut random, mut changed) = (Random::new(1), problem.clone());
    changed
        .refill(|_, _, q| {
            for q in q {
                *q *= 1.0 + random.uniform(-0.01, 0.01);
            }
            Ok::<(), ProblemError>(())
        })
        .ok()?;
    let mut solution = FrictionSolution::default();
    let ending = FrictionLadder::new(Accuracy::Exact).run(&changed, None, &mut solution);
    ending.status.is_solved().then_some(solution)
}
