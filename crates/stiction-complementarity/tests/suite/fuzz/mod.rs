//! Ten thousand random problems through every method: no status may be wrong.
//!
//! For `Solved` a second implementation of the residual in this test must agree, and all numbers are finite. If a solution
//! exists by construction, no ladder may claim infeasibility. Budgets are respected, and no method panics. The numbers of
//! solved problems are printed by family and method; those of the ladders on well-posed problems are asserted.

pub(crate) mod residual;

use std::collections::BTreeMap;

use residual::Measured;
use stiction_complementarity::{
    Accuracy, BoxLcp, BoxLcpLadder, BoxLcpSolution, FrictionActiveSet, FrictionAdmm, FrictionAdmmOptions,
    FrictionInteriorPoint, FrictionLadder, FrictionNewton, FrictionNsgs, FrictionNsgsOptions, FrictionProblem,
    FrictionReference, FrictionSolution, Lcp, LcpEnumeration, LcpGaussSeidel, LcpGaussSeidelOptions, LcpLadder,
    LcpLemke, LcpNewton, LcpPrincipalPivoting, LcpSolution, MixedLcp, MixedLcpLadder, MixedLcpPivoting, MixedLcpSchur,
    MixedLcpSolution, Problem, Solver, Status, Tolerance, solve,
};
use stiction_testkit::Random;
use stiction_testkit::families::{self, Family};

/// A problem with an independent second implementation of its residual.
trait Checked: Problem {
    fn measure(&self, solution: &Self::Solution) -> Measured;
    fn numbers(solution: &Self::Solution) -> Vec<f64>;
}

impl Checked for Lcp {
    fn measure(&self, solution: &LcpSolution) -> Measured {
        residual::lcp(self, &solution.z)
    }
    fn numbers(solution: &LcpSolution) -> Vec<f64> {
        solution.z.clone()
    }
}

impl Checked for MixedLcp {
    fn measure(&self, solution: &MixedLcpSolution) -> Measured {
        residual::mixed_lcp(self, &solution.free, &solution.complementary)
    }
    fn numbers(solution: &MixedLcpSolution) -> Vec<f64> {
        [solution.free.as_slice(), &solution.complementary].concat()
    }
}

impl Checked for BoxLcp {
    fn measure(&self, solution: &BoxLcpSolution) -> Measured {
        residual::box_lcp(self, &solution.z)
    }
    fn numbers(solution: &BoxLcpSolution) -> Vec<f64> {
        solution.z.clone()
    }
}

impl Checked for FrictionProblem {
    fn measure(&self, solution: &FrictionSolution) -> Measured {
        residual::friction(self, &solution.r)
    }
    fn numbers(solution: &FrictionSolution) -> Vec<f64> {
        solution.r.clone()
    }
}

/// A method with its name, its largest number of iterations, and the number of problems per run.
struct Method<P: Problem> {
    name: &'static str,
    solver: Box<dyn Solver<P>>,
    budget: u32,
    every: usize,
    /// True if `Infeasible` is a proof, which must not be claimed for a problem with a solution.
    proves: bool,
}

impl<P: Problem> Method<P> {
    fn new(name: &'static str, solver: impl Solver<P> + 'static, budget: u32) -> Self {
        Self { name, solver: Box::new(solver), budget, every: 1, proves: false }
    }

    fn every(self, every: usize) -> Self {
        Self { every, ..self }
    }

    fn proves(self) -> Self {
        Self { proves: true, ..self }
    }
}

/// Numbers of solved, loosely solved and all problems by family and method.
type Tally = BTreeMap<(Family, &'static str), [usize; 3]>;

/// Prints the problem in case of a panic.
struct Scene(&'static str, Family, usize, &'static str);

impl Drop for Scene {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("at {} {:?} number {} by {}", self.0, self.1, self.2, self.3);
        }
    }
}

/// Solves one problem by one method and checks everything; the second value describes an error.
fn check<P: Checked>(
    method: &mut Method<P>,
    problem: &P,
    family: Family,
    solution: &mut P::Solution,
) -> (Status, Option<String>) {
    let tolerance = Tolerance { solved: 1e-8, loose: 1e-5 };
    let (status, iterations) = {
        let outcome = solve(&mut *method.solver, problem, None, solution, &tolerance);
        (outcome.status, outcome.iterations)
    };
    let bound = match status {
        Status::Solved => tolerance.solved,
        Status::SolvedLoosely => tolerance.loose,
        _ => f64::INFINITY,
    };
    if iterations > method.budget {
        return (status, Some(format!("{iterations} of {} iterations", method.budget)));
    }
    if method.proves && family.is_well_posed() && status == Status::Infeasible {
        return (status, Some("no solution claimed where there is one".to_owned()));
    }
    if bound == f64::INFINITY {
        return (status, None);
    }
    if P::numbers(solution).iter().any(|x| !x.is_finite()) {
        return (status, Some(format!("{status}, but not finite")));
    }
    let Measured { residual, rounding } = problem.measure(solution);
    let wrong = residual > bound + rounding || residual.is_nan();
    (status, wrong.then(|| format!("{status} with residual {residual:e} (rounding {rounding:e})")))
}

fn fuzz<P: Checked>(
    class: &'static str,
    count: usize,
    seed: u64,
    make: impl Fn(&mut Random, Family) -> P,
    mut methods: Vec<Method<P>>,
) -> Tally
where
    P::Solution: Default,
{
    let mut random = Random::new(seed);
    let (mut tally, mut complaints) = (Tally::new(), Vec::new());
    let mut solution = P::Solution::default();
    for number in 0..count {
        let family = Family::ALL[number % Family::ALL.len()];
        let problem = make(&mut random, family);
        for method in &mut methods {
            if !(number / Family::ALL.len()).is_multiple_of(method.every) {
                continue;
            }
            let _scene = Scene(class, family, number, method.name);
            let (status, wrong) = check(method, &problem, family, &mut solution);
            complaints.extend(wrong.map(|wrong| format!("{class} {family:?} {number} by {}: {wrong}", method.name)));
            let counts = tally.entry((family, method.name)).or_default();
            counts[0] += usize::from(status == Status::Solved);
            counts[1] += usize::from(status == Status::SolvedLoosely);
            counts[2] += 1;
        }
    }
    report(class, &tally);
    assert!(complaints.is_empty(), "{} wrong results:\n{}", complaints.len(), complaints.join("\n"));
    tally
}

fn report(class: &str, tally: &Tally) {
    for family in Family::ALL {
        let line: Vec<String> = tally
            .iter()
            .filter(|((of, _), _)| *of == family)
            .map(|((_, name), [solved, loosely, all])| format!("{name} {solved}+{loosely}/{all}"))
            .collect();
        println!("{class} {family:?}: {}", line.join(", "));
    }
}

/// Asserts that the ladder solves all of a well-posed family except for this fraction.
fn assert_ladder(tally: &Tally, name: &'static str, missing: &[(Family, f64)]) {
    for ((family, method), [solved, _, all]) in tally {
        if *method == name && family.is_well_posed() {
            let allowed = missing.iter().find(|(of, _)| of == family).map_or(0.0, |(_, share)| *share);
            let missed = (all - solved) as f64 / *all as f64;
            assert!(missed <= allowed, "{name} misses {missed} of {family:?}");
        }
    }
}

#[test]
fn linear_problems() {
    let gauss_seidel = LcpGaussSeidelOptions::default();
    let methods = vec![
        Method::new("lemke", LcpLemke::new(), 1000 + 50 * 8),
        Method::new("pivoting", LcpPrincipalPivoting::new(), 200 + 10 * 8),
        Method::new("gauss-seidel", LcpGaussSeidel::with_options(gauss_seidel).unwrap(), gauss_seidel.max_iterations)
            .every(4),
        Method::new("newton", LcpNewton::new(), 500),
        Method::new("enumeration", LcpEnumeration::new(), 1 << 8).proves(),
        Method::new("ladder", LcpLadder::new(), 20_000).proves(),
    ];
    let tally = fuzz("lcp", 4000, 1, families::lcp, methods);
    assert_ladder(&tally, "ladder", &[]);
}

#[test]
fn mixed_problems() {
    let methods = vec![
        Method::new("schur", MixedLcpSchur::new(LcpLemke::new()), 1000 + 50 * 8),
        Method::new("pivoting", MixedLcpPivoting::new(LcpLemke::new()), 1000 + 50 * 8),
        Method::new("ladder", MixedLcpLadder::new(), 60_000).proves(),
    ];
    let tally = fuzz("mixed", 1600, 2, families::mixed_lcp, methods);
    // Units 1e±8 apart leave a few matrices singular to working precision.
    assert_ladder(&tally, "ladder", &[(Family::Scaled, 0.01)]);
}

#[test]
fn boxed_problems() {
    let methods = vec![Method::new("ladder", BoxLcpLadder::new(), 60_000).proves()];
    let tally = fuzz("box", 1600, 3, families::box_lcp, methods);
    assert_ladder(&tally, "ladder", &[]);
}

/// Every method for friction, with budgets for small problems.
fn friction_methods() -> Vec<Method<FrictionProblem>> {
    let gauss_seidel = FrictionNsgsOptions { max_iterations: 500, ..FrictionNsgsOptions::default() };
    let relaxed = FrictionNsgsOptions { relaxation: 0.5, symmetric: true, ..gauss_seidel };
    let admm = FrictionAdmmOptions { max_iterations: 200, ..FrictionAdmmOptions::default() };
    vec![
        Method::new("gauss-seidel", FrictionNsgs::with_options(gauss_seidel).unwrap(), 500),
        Method::new("relaxed", FrictionNsgs::with_options(relaxed).unwrap(), 500),
        Method::new("newton", FrictionNewton::new(), 50),
        Method::new("interior", FrictionInteriorPoint::new(), 120),
        Method::new("admm", FrictionAdmm::with_options(admm).unwrap(), 200),
        Method::new("active-set", FrictionActiveSet::new(), 2000),
        Method::new("real-time", FrictionLadder::new(Accuracy::RealTime), 2000),
        Method::new("ladder", FrictionLadder::new(Accuracy::Exact), 30_000).every(8),
        Method::new("reference", FrictionReference::default(), 200).every(40),
    ]
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn friction_with_explicit_operators() {
    let tally = fuzz("local", 1400, 4, families::local_friction, friction_methods());
    assert_ladder(&tally, "ladder", &[]);
}

#[test]
fn friction_with_bodies() {
    let tally = fuzz("global", 1400, 5, families::global_friction, friction_methods());
    // One of 22 ends at a residual of 5e-8 and says so: μ = 10 and rolling friction on bodies whose units are many orders apart.
    assert_ladder(&tally, "ladder", &[(Family::Scaled, 0.05)]);
}
