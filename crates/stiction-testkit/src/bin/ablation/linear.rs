//! Cases of the ladders for linear problems: the rungs for LCPs inside of all three ladders, and those for mixed problems.

use crate::case::{Case, Grade, Run};
use std::sync::Arc;
use stiction_complementarity::{
    BoxLcp, BoxLcpLadder, BoxLcpSolution, DenseMatrix, Lcp, LcpLadder, LcpRung, LcpSolution, MixedLcp, MixedLcpLadder,
    MixedLcpRung, MixedLcpSolution, PolygonOptions, PolygonalFriction, ProblemFile, Solver, Status, Tolerance, solve,
};
use stiction_testkit::Random;
use stiction_testkit::corpus::Listed;
use stiction_testkit::families::{self, Family};
use stiction_testkit::problems::{self, Motion};

/// A rung of the ladder for mixed problems with a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Named(pub(crate) MixedLcpRung);

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name())
    }
}

/// A linear problem of one of the three kinds.
#[derive(Clone)]
enum Linear {
    Lcp(Lcp),
    Mixed(Box<MixedLcp>),
    Boxed(BoxLcp),
}

/// A linear problem with its place: set, name, and true if the result is promised.
struct Placed {
    set: String,
    name: String,
    promised: bool,
    problem: Linear,
}

const TOLERANCE: Tolerance = Tolerance { solved: 1e-10, loose: 1e-6 };

/// Cases of the rungs for LCPs.
pub(crate) fn cases(listed: &[Listed]) -> Vec<Case<LcpRung>> {
    let mut cases = Vec::new();
    for Placed { set, name, promised, problem } in placed(listed) {
        let problem = Arc::new(problem);
        let starts: &[(&str, bool)] =
            if matches!(*problem, Linear::Lcp(_)) { &[("cold", false), ("warm", true)] } else { &[("cold", false)] };
        for &(start, warm) in starts {
            let problem = Arc::clone(&problem);
            let case = Case::new((&set, &name, start), move |rungs| {
                let mixed = || {
                    MixedLcpLadder::with_rungs(
                        MixedLcpLadder::DEFAULT_RUNGS.to_vec(),
                        &LcpLadder::with_rungs(rungs.to_vec()),
                    )
                };
                match &*problem {
                    Linear::Lcp(problem) => run_lcp(problem, rungs, warm),
                    Linear::Mixed(problem) => run_mixed(problem, mixed()).1,
                    Linear::Boxed(problem) => run_boxed(problem, mixed()).1,
                }
            });
            cases.push(case.promised(promised));
        }
    }
    cases
}

/// Cases of the rungs for mixed problems.
pub(crate) fn mixed_cases(listed: &[Listed]) -> Vec<Case<Named>> {
    let mut cases = Vec::new();
    for Placed { set, name, promised, problem } in placed(listed) {
        if matches!(problem, Linear::Lcp(_)) {
            continue;
        }
        let case = Case::new((&set, &name, "cold"), move |rungs: &[Named]| {
            let rungs = rungs.iter().map(|rung| rung.0).collect();
            let ladder = MixedLcpLadder::with_rungs(rungs, &LcpLadder::new());
            match &problem {
                Linear::Mixed(problem) => run_mixed(problem, ladder).0,
                Linear::Boxed(problem) => run_boxed(problem, ladder).0,
                Linear::Lcp(_) => unreachable!("left out above"),
            }
        });
        cases.push(case.promised(promised));
    }
    cases
}

/// All problems: files, the random problems of the fuzz tests, larger ones, and polygonal friction.
fn placed(listed: &[Listed]) -> Vec<Placed> {
    let mut placed = Vec::new();
    for file in listed {
        let problem = match &file.problem {
            ProblemFile::Lcp(problem) => Linear::Lcp(problem.clone()),
            ProblemFile::MixedLcp(problem) => Linear::Mixed(problem.clone().into()),
            ProblemFile::BoxLcp(problem) => Linear::Boxed(problem.clone()),
            _ => continue,
        };
        placed.push(Placed { set: file.set.clone(), name: file.name.clone(), promised: true, problem });
    }
    random(&mut placed, ("linear_problems", 4000, 1), |random, family, _| Linear::Lcp(families::lcp(random, family)));
    random(&mut placed, ("mixed_problems", 1600, 2), |random, family, _| {
        Linear::Mixed(families::mixed_lcp(random, family).into())
    });
    random(&mut placed, ("boxed_problems", 1600, 3), |random, family, _| {
        Linear::Boxed(families::box_lcp(random, family))
    });
    random(&mut placed, ("LCPs of 20 to 59 rows", 320, 6), |random, family, number| {
        Linear::Lcp(families::lcp_of_size(random, family, 20 + number / Family::ALL.len()))
    });
    infeasible(&mut placed);
    polygonal(&mut placed);
    placed
}

fn random(
    placed: &mut Vec<Placed>,
    (set, count, seed): (&str, usize, u64),
    make: impl Fn(&mut Random, Family, usize) -> Linear,
) {
    let mut random = Random::new(seed);
    for number in 0..count {
        let family = Family::ALL[number % Family::ALL.len()];
        let problem = make(&mut random, family, number);
        let (set, name) = (set.to_owned(), format!("{family:?} {number}"));
        placed.push(Placed { set, name, promised: family.is_well_posed(), problem });
    }
}

/// LCPs of 2 to 40 rows without a solution: yᵀ M ≤ 0 and yᵀ q < 0 for a random y ≥ 0.
fn infeasible(placed: &mut Vec<Placed>) {
    let mut random = Random::new(17);
    for number in 0..40 {
        let n = 2 + number;
        let y: Vec<f64> = (0..n).map(|_| random.uniform(0.01, 1.0)).collect();
        let mut m = DenseMatrix::zeros(n, n);
        let mut q: Vec<f64> = (0..n).map(|_| random.uniform(-1.0, 1.0)).collect();
        for j in 0..n {
            for i in 1..n {
                m[(i, j)] = random.uniform(-1.0, 1.0);
            }
            let rest: f64 = (1..n).map(|i| y[i] * m[(i, j)]).sum();
            m[(0, j)] = (-rest - random.unit()) / y[0];
        }
        q[0] = (-(1..n).map(|i| y[i] * q[i]).sum::<f64>() - 1.0) / y[0];
        let problem = Lcp::new(m, q).unwrap_or_else(|error| panic!("an LCP without a solution: {error}"));
        let set = "a_claim_of_no_solution_carries_its_proof_at_any_size".to_owned();
        placed.push(Placed { set, name: format!("{n} rows"), promised: true, problem: Linear::Lcp(problem) });
    }
}

/// Steps with polygonal friction, as mixed problems and as LCPs.
fn polygonal(placed: &mut Vec<Placed>) {
    let options = PolygonOptions::default();
    let mut add = |set: &str, name: String, pile: &problems::Pile, motion: Motion| {
        if let Ok(polygonal) = PolygonalFriction::new(&pile.problem(motion), &options) {
            let problem = Linear::Mixed(polygonal.problem().clone().into());
            placed.push(Placed { set: set.to_owned(), name, promised: true, problem });
        }
    };
    for seed in 1..=60 {
        let kick = Motion::Kick { speed: 0.1, seed };
        let (bodies, contacts) = (1 + seed as usize % 4, 3 + seed as usize % 10);
        add(
            "polygonal friction of random bodies",
            format!("seed {seed}"),
            &problems::random(bodies, contacts, seed),
            kick,
        );
        let tower = problems::tower(1 + seed as usize % 5, 0.1 + 0.02 * seed as f64);
        add("polygonal friction of towers", format!("seed {seed}"), &tower, kick);
    }
}

fn ended(status: Status, residual: f64, iterations: u32) -> (Grade, f64, u32) {
    (Grade::of(status), residual, iterations)
}

/// Runs the ladder for LCPs; warm from the solution of the same problem with q changed by up to 1 %.
fn run_lcp(problem: &Lcp, rungs: &[LcpRung], warm: bool) -> Run<LcpRung> {
    let mut ladder = LcpLadder::with_rungs(rungs.to_vec());
    let mut solution = LcpSolution::default();
    let guess = if warm { nearby(problem) } else { None };
    let outcome = solve(&mut ladder, problem, guess.as_ref(), &mut solution, &TOLERANCE);
    let (grade, residual, iterations) = ended(outcome.status, outcome.residual.value, outcome.iterations);
    let ran: Vec<LcpRung> = ladder.records().iter().map(|record| record.rung).collect();
    let decided = ran.last().copied();
    Run { grade, residual, iterations, seconds: 0.0, ran, decided }
}

fn nearby(problem: &Lcp) -> Option<LcpSolution> {
    let mut random = Random::new(1);
    let q = problem.q().iter().map(|q| q * (1.0 + random.uniform(-0.01, 0.01))).collect();
    let changed = Lcp::new(problem.m().clone(), q).ok()?;
    let mut solution = LcpSolution::default();
    let ending = LcpLadder::new().run(&changed, None, &mut solution);
    ending.status.is_solved().then_some(solution)
}

/// Runs a ladder for mixed problems; returns its rungs and those of the LCPs inside.
fn run_mixed(problem: &MixedLcp, mut ladder: MixedLcpLadder) -> (Run<Named>, Run<LcpRung>) {
    let mut solution = MixedLcpSolution::default();
    let outcome = solve(&mut ladder, problem, None, &mut solution, &TOLERANCE);
    let ended = ended(outcome.status, outcome.residual.value, outcome.iterations);
    both(&ladder, ended)
}

fn run_boxed(problem: &BoxLcp, ladder: MixedLcpLadder) -> (Run<Named>, Run<LcpRung>) {
    let (mut ladder, mut solution) = (BoxLcpLadder::with_ladder(ladder), BoxLcpSolution::default());
    let outcome = solve(&mut ladder, problem, None, &mut solution, &TOLERANCE);
    let ended = ended(outcome.status, outcome.residual.value, outcome.iterations);
    both(ladder.mixed(), ended)
}

fn both(ladder: &MixedLcpLadder, (grade, residual, iterations): (Grade, f64, u32)) -> (Run<Named>, Run<LcpRung>) {
    let outer: Vec<Named> = ladder.records().iter().map(|record| Named(record.rung)).collect();
    let mut inner = Vec::new();
    for rung in &outer {
        let records = match rung.0 {
            MixedLcpRung::Schur => ladder.schur().inner().records(),
            MixedLcpRung::Pivoting => ladder.pivoting().inner().records(),
            _ => &[],
        };
        inner.extend(records.iter().map(|record| record.rung));
    }
    let (decided, decided_inside) = (outer.last().copied(), inner.last().copied());
    (
        Run { grade, residual, iterations, seconds: 0.0, ran: outer, decided },
        Run { grade, residual, iterations, seconds: 0.0, ran: inner, decided: decided_inside },
    )
}
