//! Dense active-set method: the plate run, random small problems, effort and memory.

use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{
    FrictionActiveSet, FrictionActiveSetOptions, FrictionLadder, FrictionNsgs, FrictionProblem, FrictionSolution, Law,
    Lcp, LcpLemke, LcpSolution, PolygonOptions, PolygonalFriction, Problem, Solver, Status, Tolerance, eliminate_free,
    solve,
};
use stiction_testkit::plate::MOTIONS;
use stiction_testkit::problems::{Motion, stack, tower};
use stiction_testkit::{Random, count_allocations};

fn method(tolerance: f64) -> FrictionActiveSet {
    let options = FrictionActiveSetOptions { tolerance, ..FrictionActiveSetOptions::default() };
    FrictionActiveSet::with_options(options).unwrap()
}

/// Open, sticking and slipping contacts of a solution.
fn modes(problem: &FrictionProblem, r: &[f64]) -> [usize; 3] {
    let mut counts = [0; 3];
    for (law, r) in problem.laws().iter().zip(r.chunks_exact(3)) {
        let Law::Cone { mu, .. } = *law else { panic!("cones only") };
        let length = (r[1] * r[1] + r[2] * r[2]).sqrt();
        assert!(length <= mu * r[0] * (1.0 + 1e-14), "outside its cone: {r:?}");
        counts[if r[0] == 0.0 { 0 } else { 1 + usize::from(length > mu * r[0] * (1.0 - 1e-9)) }] += 1;
    }
    counts
}

/// C-28: every step of the plate run to 1e-8, warm, with few linear systems; from zero and from far away with the same status.
#[test]
fn the_plate_run_takes_few_systems() {
    let (mut counts, mut systems, mut most, mut steps) = ([0; 3], 0, 0, 0);
    for motion in MOTIONS {
        let (mut warm, mut cold) = (method(1e-8), method(1e-8));
        let (mut guess, mut solution, mut other) = <(FrictionSolution, FrictionSolution, FrictionSolution)>::default();
        for (step, problem) in motion.problems(2.5e-4, 500).iter().enumerate() {
            let tolerance = Tolerance { solved: 1e-8, loose: 1e-8 };
            let outcome = solve(&mut warm, problem, Some(&guess), &mut solution, &tolerance);
            assert_eq!(outcome.status, Status::Solved, "{} {step}: {:?}", motion.name, outcome.residual);
            (systems, most, steps) = (systems + outcome.iterations, most.max(outcome.iterations), steps + 1);
            let outcome = solve(&mut cold, problem, None, &mut other, &tolerance);
            assert_eq!(outcome.status, Status::Solved, "{} {step}, cold: {:?}", motion.name, outcome.residual);
            counts.iter_mut().zip(modes(problem, &solution.r)).for_each(|(sum, count)| *sum += count);
            std::mem::swap(&mut guess, &mut solution);
        }
    }
    println!("open, stick, slip {counts:?}; {systems} systems in {steps} steps, at most {most}");
    assert!(counts.iter().all(|count| *count > 500), "every mode must be met: {counts:?}");
    assert!(systems <= 3 * steps, "{systems} systems in {steps} steps");
    assert!(most <= 100, "{most} systems in one step");
}

/// W = B Bᵀ of any rank, free velocities in the range of B: problems that Gauss-Seidel solves, active sets solve too.
fn random_problem(numbers: &mut Random) -> FrictionProblem<BlockMatrix> {
    let contacts = 1 + numbers.below(8);
    let (rows, rank) = (3 * contacts, 1 + numbers.below(3 * contacts + 3));
    let b: Vec<Vec<f64>> = (0..rows).map(|_| (0..rank).map(|_| numbers.normal()).collect()).collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let v: Vec<f64> = (0..rank).map(|_| numbers.normal()).collect();
    let mut w = BlockMatrix::default();
    w.clear(vec![3; contacts], vec![3; contacts]);
    for i in 0..contacts {
        for j in 0..contacts {
            let block: Vec<f64> = (0..9).map(|k| dot(&b[3 * i + k / 3], &b[3 * j + k % 3])).collect();
            w.push(j, &block);
        }
        w.finish_row();
    }
    let mu = [0.0, 0.1, 0.5, 1.0][numbers.below(4)];
    let q = b.iter().map(|row| dot(row, &v)).collect();
    FrictionProblem::new(w, vec![Law::Cone { rows: 3, mu }; contacts], q).unwrap()
}

#[test]
fn random_problems_are_solved_as_often_as_by_gauss_seidel() {
    let mut numbers = Random::new(28);
    let (mut by_sets, mut by_gauss_seidel) = (0, 0);
    let count = 2000;
    for _ in 0..count {
        let problem = random_problem(&mut numbers);
        let (mut solution, strict) = (FrictionSolution::default(), Tolerance { solved: 1e-9, loose: 1e-9 });
        let outcome = solve(&mut method(1e-9), &problem, None, &mut solution, &strict);
        assert!(outcome.residual.value.is_finite());
        by_sets += usize::from(outcome.status == Status::Solved);
        let outcome = solve(&mut FrictionNsgs::new(), &problem, None, &mut solution, &strict);
        by_gauss_seidel += usize::from(outcome.status == Status::Solved);
    }
    println!("{by_sets} by active sets, {by_gauss_seidel} by Gauss-Seidel, of {count}");
    assert!(by_sets * 1000 >= count * 999, "{by_sets} by active sets, {by_gauss_seidel} by Gauss-Seidel");
}

/// Boxes at rest and with random velocities; compliance; problems outside of its scope are rejected.
#[test]
fn boxes_and_other_problems() {
    for pile in [tower(1, 0.4), tower(2, 0.4), stack(&[1.0, 1e3], 0.3)] {
        for motion in [Motion::Rest, Motion::Kick { speed: 0.05, seed: 5 }] {
            let problem = pile.problem(motion);
            let soft = problem.clone().with_compliance(vec![0.1; problem.rows()]).unwrap();
            for problem in [problem, soft] {
                assert!(FrictionActiveSet::applies(&problem));
                let mut solution = FrictionSolution::default();
                let ending = method(1e-9).run(&problem, None, &mut solution);
                assert_eq!(ending.status, Status::Solved);
                assert!(problem.residual(&solution).value <= 1e-9);
            }
        }
    }
    let other = tower(8, 0.4).problem(Motion::Rest);
    assert!(!FrictionActiveSet::applies(&other));
    assert_eq!(method(1e-9).run(&other, None, &mut FrictionSolution::default()).status, Status::Breakdown);
    let options = FrictionActiveSetOptions { tolerance: 0.0, ..FrictionActiveSetOptions::default() };
    assert_eq!(FrictionActiveSet::with_options(options).unwrap_err().name, "tolerance");
}

/// C-28 by polygons: the same steps as LCPs. Only the first problem of a size allocates, for paths of any length. Pivots per
/// step grow with the directions, and are many more than the linear systems of the cone.
#[test]
fn polygons_of_the_plate_run_by_lemke() {
    let mut last = 0;
    for directions in [4, 8, 16] {
        let mut options = PolygonOptions::default();
        options.directions = directions;
        let pose = |problem: &FrictionProblem| {
            let polygonal = PolygonalFriction::new(problem, &options).unwrap();
            eliminate_free(polygonal.problem()).unwrap()
        };
        let problems = MOTIONS.iter().flat_map(|motion| motion.problems(2.5e-4, 120));
        let problems: Vec<Lcp> = problems.step_by(4).map(|problem| pose(&problem)).collect();
        let (mut method, mut solution, mut pivots) = (LcpLemke::new(), LcpSolution::default(), 0);
        let mut all = |problems: &[Lcp]| {
            for problem in problems {
                let outcome = solve(&mut method, problem, None, &mut solution, &Tolerance::default());
                assert_eq!(outcome.status, Status::Solved, "{directions} directions: {:?}", outcome.residual);
                pivots += outcome.iterations as usize;
            }
        };
        all(&problems[..1]);
        let allocations = count_allocations(|| all(&problems[1..]));
        assert_eq!(allocations.count, 0, "{directions} directions");
        println!("{directions} directions: {} rows, {pivots} pivots in {} steps", 3 * (directions + 2), problems.len());
        // The mean is about half the rows, as for a path of contacts that mostly slide.
        assert!(pivots > last && pivots <= 3 * (directions + 2) * problems.len(), "{pivots} pivots");
        last = pivots;
    }
}

/// Methods, ladder and residual do not allocate after the first run.
#[test]
fn no_allocation_once_warm() {
    let problems = MOTIONS[3].problems(2.5e-4, 200);
    let (mut set, mut ladder) = (method(1e-8), FrictionLadder::default());
    let mut nsgs = FrictionNsgs::new();
    let mut solution = FrictionSolution::default();
    let tolerance = Tolerance::default();
    let mut all = |problem: &FrictionProblem| {
        let _ = solve(&mut set, problem, None, &mut solution, &tolerance);
        let _ = solve(&mut nsgs, problem, None, &mut solution, &tolerance);
        let _ = solve(&mut ladder, problem, None, &mut solution, &tolerance);
    };
    all(&problems[0]);
    let allocations = count_allocations(|| problems.iter().take(100).for_each(&mut all));
    assert_eq!(allocations.count, 0);
}
