//! The interior-point method on piles, on every law, on both operators, and on the collected files.

#![allow(clippy::disallowed_methods)] // The last test reads the location of the collection from the environment.

use stiction_complementarity::linalg::{BlockMatrix, BlockSparseLu};
use stiction_complementarity::{
    Bodies, Delassus, FrictionInteriorPoint, FrictionInteriorPointOptions, FrictionProblem, FrictionSolution,
    InteriorPointFailure, Law, Operator, Problem, ProblemFile, Status, Tolerance, solve,
};
use stiction_testkit::problems::{Motion, chain, growing_masses, pyramid, random, stack, tower, wall, wedge};
use stiction_testkit::{Random, count_allocations};

const ACCEPTED: Tolerance = Tolerance { solved: 1e-8, loose: 1e-4 };

struct Ended {
    r: Vec<f64>,
    status: Status,
    residual: f64,
    iterations: u32,
}

fn run(problem: &FrictionProblem) -> Ended {
    let mut solution = FrictionSolution::default();
    let outcome = solve(&mut FrictionInteriorPoint::new(), problem, None, &mut solution, &ACCEPTED);
    let (status, residual, iterations) = (outcome.status, outcome.residual.value, outcome.iterations);
    Ended { r: solution.r, status, residual, iterations }
}

fn velocities(problem: &FrictionProblem, r: &[f64]) -> Vec<f64> {
    let (mut u, mut state) = (Vec::new(), Vec::new());
    problem.velocities(r, &mut u, &mut state);
    u
}

/// One row or block on a unit mass in every direction: W = I.
fn single(law: Law, q: &[f64]) -> FrictionProblem {
    let rows = law.rows();
    let mut w = BlockMatrix::default();
    w.clear([rows], [rows]);
    let identity: Vec<f64> = (0..rows * rows).map(|k| if k % (rows + 1) == 0 { 1.0 } else { 0.0 }).collect();
    w.push(0, &identity);
    w.finish_row();
    FrictionProblem::new(Operator::Assembled(w), vec![law], q.to_vec()).unwrap()
}

fn assert_impulses(problem: &FrictionProblem, expected: &[f64]) {
    let ended = run(problem);
    assert_eq!(ended.status, Status::Solved, "{:?}: {:e}", problem.laws(), ended.residual);
    for (r, expected) in ended.r.iter().zip(expected) {
        assert!((r - expected).abs() < 1e-7, "{:?}: {:?}, not {expected:?}", problem.laws(), ended.r);
    }
}

/// A body on two feet at an angle, one without friction, with the operator in both forms: normal and tangential rows are coupled.
fn body_on_a_smooth_foot() -> [FrictionProblem; 2] {
    let mut jacobian = BlockMatrix::default();
    jacobian.clear([3, 3], [6]);
    // Rows z, x, y of v + ω × r at r = (x, y, −1).
    for (x, y) in [(0.5, 0.2), (-0.4, 0.1)] {
        jacobian.push(0, &[0.0, 0.0, 1.0, y, -x, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0, -y, 0.0, 1.0, 0.0, 1.0, 0.0, x]);
        jacobian.finish_row();
    }
    let mass: Vec<f64> = (0..36).map(|k| if k % 7 == 0 { 1.0 } else { 0.0 }).collect();
    let bodies = Bodies::new(jacobian, mass).unwrap();
    let mut dense = [0.0; 36];
    assert!(bodies.assemble(&mut dense));
    let mut w = BlockMatrix::default();
    w.clear([3, 3], [3, 3]);
    for i in 0..2 {
        for j in 0..2 {
            let block: Vec<f64> = (0..9).map(|k| dense[(3 * i + k / 3) * 6 + 3 * j + k % 3]).collect();
            w.push(j, &block);
        }
        w.finish_row();
    }
    let laws = vec![Law::Cone { rows: 3, mu: 0.0 }, Law::Cone { rows: 3, mu: 0.4 }];
    let q = vec![-1.0, 0.3, -0.2, -0.8, 0.1, 0.4];
    [Operator::MatrixFree(bodies), Operator::Assembled(w)]
        .map(|operator| FrictionProblem::new(operator, laws.clone(), q.clone()).unwrap())
}

/// Refinement of the Newton system once moved these impulses if W was assembled, and ended early without effect if it was not.
#[test]
fn an_impulse_that_the_law_prescribes_is_not_changed() {
    let [matrix_free, assembled] = body_on_a_smooth_foot();
    let solved = [&matrix_free, &assembled].map(|problem| {
        let ended = run(problem);
        assert_eq!(ended.status, Status::Solved, "{:e}", ended.residual);
        assert_eq!(ended.r[1..3], [0.0, 0.0], "no friction at the smooth foot");
        assert!(ended.r[0] > 0.1, "{:?}", ended.r);
        (ended.r, ended.iterations)
    });
    assert_eq!(solved[0].1, solved[1].1, "both forms of the operator take the same steps");
    for (a, b) in solved[0].0.iter().zip(&solved[1].0) {
        assert!((a - b).abs() < 1e-8, "{solved:?}");
    }
}

#[test]
fn resting_piles_stay_at_rest_in_a_dozen_steps() {
    let mut piles = vec![("tower", tower(250, 0.5)), ("wall", wall(10, 12, 0.5)), ("pyramid", pyramid(6, 0.5))];
    piles.extend([1.0, 1e2, 1e4, 1e6].map(|ratio| ("stack", stack(&growing_masses(10, ratio), 0.5))));
    for (name, pile) in piles {
        let problem = pile.problem(Motion::Rest);
        let ended = run(&problem);
        println!("{name:8} {:5} contacts: {:2} steps, {:.1e}", problem.blocks(), ended.iterations, ended.residual);
        assert_eq!(ended.status, Status::Solved, "{name}: {:e}", ended.residual);
        assert!(ended.iterations <= 12, "{name}: {}", ended.iterations);
        assert!(velocities(&problem, &ended.r).iter().all(|u| u.abs() < 1e-7), "{name} moves");
    }
}

/// On sliding piles the method may stop early; its status must then match its residual.
#[test]
fn kicked_piles_come_near_and_the_verdict_is_honest() {
    let (mut near, mut all) = (0, 0);
    for seed in 0..10 {
        let motion = Motion::Kick { speed: 0.05, seed };
        let piles = [
            stack(&growing_masses(10, 1.0), 0.5),
            stack(&growing_masses(10, 1e2), 0.5),
            wedge(0.3, 0.5),
            chain(10, 0.5),
        ];
        for problem in piles.map(|pile| pile.problem(motion)) {
            let ended = run(&problem);
            assert_eq!(
                ended.status == Status::Solved,
                ended.residual <= 1e-8 && ended.status != Status::Breakdown && ended.status != Status::SolvedLoosely
            );
            assert!(ended.residual <= 1e-3, "seed {seed}: {:e}", ended.residual);
            all += 1;
            near += usize::from(ended.residual <= 1e-6);
        }
    }
    println!("{near} of {all} below 1e-6");
    assert!(near * 10 >= all * 9, "{near} of {all}");
}

#[test]
fn every_law_has_its_textbook_answer() {
    let free = f64::INFINITY;
    assert_impulses(&single(Law::Bounded { lower: 0.0, upper: free }, &[-2.0]), &[2.0]);
    assert_impulses(&single(Law::Bounded { lower: 0.0, upper: free }, &[2.0]), &[0.0]);
    assert_impulses(&single(Law::Bounded { lower: -free, upper: 1.0 }, &[-3.0]), &[1.0]);
    assert_impulses(&single(Law::Bounded { lower: -0.5, upper: 1.0 }, &[3.0]), &[-0.5]);
    assert_impulses(&single(Law::Bounded { lower: -0.5, upper: 1.0 }, &[0.25]), &[-0.25]);
    assert_impulses(&single(Law::Bounded { lower: -free, upper: free }, &[0.7]), &[-0.7]);
    assert_impulses(&single(Law::Bounded { lower: 0.3, upper: 0.3 }, &[5.0]), &[0.3]);
    assert_impulses(&single(Law::Equality { rows: 3 }, &[1.0, -2.0, 0.0]), &[-1.0, 2.0, 0.0]);
    // Slip: r_N = 1, r_T = −μ; stick: r = −q; open: nothing.
    assert_impulses(&single(Law::Cone { rows: 2, mu: 0.5 }, &[-1.0, 2.0]), &[1.0, -0.5]);
    assert_impulses(&single(Law::Cone { rows: 3, mu: 0.5 }, &[-1.0, 3.0, -4.0]), &[1.0, -0.3, 0.4]);
    assert_impulses(&single(Law::Cone { rows: 3, mu: 0.5 }, &[-1.0, 0.1, -0.2]), &[1.0, -0.1, 0.2]);
    assert_impulses(&single(Law::Cone { rows: 4, mu: 0.5 }, &[0.5, 0.1, -0.2, 3.0]), &[0.0; 4]);
    assert_impulses(&single(Law::Cone { rows: 3, mu: 0.0 }, &[-1.0, 3.0, -4.0]), &[1.0, 0.0, 0.0]);
    // Rolling: each pair of components slips or sticks for itself, because W = I.
    let rolling = Law::Rolling { rows: 5, mu: 0.5, mu_r: 0.1 };
    assert_impulses(&single(rolling, &[-1.0, 3.0, -4.0, 0.05, 0.0]), &[1.0, -0.3, 0.4, -0.05, 0.0]);
    assert_impulses(&single(rolling, &[-1.0, 0.3, 0.0, 0.0, -7.0]), &[1.0, -0.3, 0.0, 0.0, 0.1]);
    let half = Law::Rolling { rows: 5, mu: 0.5, mu_r: 0.0 };
    assert_impulses(&single(half, &[-1.0, 3.0, -4.0, 0.05, 1.0]), &[1.0, -0.3, 0.4, 0.0, 0.0]);
}

/// u = (1 + c) r + q: a compliant contact has the impulse q/(1 + c).
#[test]
fn compliance_softens() {
    let problem = single(Law::Cone { rows: 3, mu: 0.5 }, &[-1.0, 0.1, 0.0]).with_compliance(vec![1.0, 0.25, 0.25]);
    assert_impulses(&problem.unwrap(), &[0.5, -0.08, 0.0]);
}

/// W = Hᵀ M⁻¹ H, column by column.
fn local(problem: &FrictionProblem) -> FrictionProblem {
    let n = problem.rows();
    let (mut columns, mut state) = (vec![vec![0.0; n]; n], Vec::new());
    for (k, column) in columns.iter_mut().enumerate() {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        problem.operator().apply(&unit, column, &mut state);
    }
    let mut w = BlockMatrix::default();
    let sizes = || problem.laws().iter().map(Law::rows);
    w.clear(sizes(), sizes());
    for i in 0..problem.blocks() {
        for j in 0..problem.blocks() {
            let block: Vec<f64> = problem
                .range(i)
                .flat_map(|row| problem.range(j).map(move |col| (row, col)))
                .map(|(row, col)| columns[col][row])
                .collect();
            if block.iter().any(|x| *x != 0.0) {
                w.push(j, &block);
            }
        }
        w.finish_row();
    }
    FrictionProblem::new(Operator::Assembled(w), problem.laws().to_vec(), problem.q().to_vec()).unwrap()
}

/// Impulses of a resting stack are not unique, velocities are.
#[test]
fn explicit_and_body_forms_give_the_same_motion() {
    for pile in [stack(&[1.0, 2.0, 3.0], 0.5), chain(4, 0.5)] {
        let problem = pile.problem(Motion::Kick { speed: 0.02, seed: 3 });
        let explicit = local(&problem);
        let (a, b) = (run(&problem), run(&explicit));
        assert!(a.residual < 1e-8 && b.residual < 1e-8, "{:e} {:e}", a.residual, b.residual);
        for (u, v) in velocities(&problem, &a.r).iter().zip(velocities(&explicit, &b.r)) {
            assert!((u - v).abs() < 1e-6, "{u} and {v}");
        }
    }
}

#[test]
fn an_unsymmetric_operator_is_solved_as_it_is() {
    let mut w = BlockMatrix::default();
    w.clear([3, 1], [3, 1]);
    w.push(0, &[2.0, 0.3, -0.1, -0.3, 1.0, 0.2, 0.2, -0.1, 1.5]);
    w.push(1, &[0.4, 0.1, 0.0]);
    w.finish_row();
    w.push(0, &[-0.2, 0.3, 0.1]);
    w.push(1, &[1.0]);
    w.finish_row();
    let laws = vec![Law::Cone { rows: 3, mu: 0.4 }, Law::Bounded { lower: -1.0, upper: 1.0 }];
    let problem = FrictionProblem::new(Operator::Assembled(w), laws, vec![-1.0, 2.0, -0.5, 0.3]).unwrap();
    let ended = run(&problem);
    assert_eq!(ended.status, Status::Solved, "{:e}", ended.residual);
}

/// Joints, motors, torsion and contacts on bodies of very different mass.
#[test]
fn random_mechanisms_come_near() {
    let ended: Vec<Ended> = (0..20).map(|seed| run(&random(10, 30, seed).problem(Motion::Rest))).collect();
    let near = ended.iter().filter(|ended| ended.residual <= 1e-6).count();
    println!("{near} of {} below 1e-6", ended.len());
    assert!(near * 10 >= ended.len() * 9, "{near} of {}", ended.len());
}

#[test]
fn a_warm_run_allocates_nothing() {
    let problem = wall(3, 4, 0.5).problem(Motion::Kick { speed: 0.05, seed: 1 });
    let (mut method, mut solution) = (FrictionInteriorPoint::new(), FrictionSolution::default());
    let _ = stiction_complementarity::Solver::run(&mut method, &problem, None, &mut solution);
    let first = solution.r.clone();
    let counted = count_allocations(|| {
        let _ = stiction_complementarity::Solver::run(&mut method, &problem, None, &mut solution);
    });
    assert_eq!(counted.count, 0);
    assert_eq!(first, solution.r, "warm memory changes nothing");
}

#[test]
fn budgets_empty_problems_and_bad_options() {
    let problem = tower(5, 0.5).problem(Motion::Rest);
    let mut options = FrictionInteriorPointOptions::default();
    options.max_iterations = 2;
    let mut method = FrictionInteriorPoint::with_options(options).unwrap();
    let mut solution = FrictionSolution::default();
    let strict = Tolerance { solved: 1e-8, loose: 1e-8 };
    let outcome = solve(&mut method, &problem, None, &mut solution, &strict);
    assert_eq!((outcome.status, outcome.iterations), (Status::BudgetExhausted, 2));
    let measured = problem.residual(&solution).value;
    assert_eq!(method.last_failure(), Some(InteriorPointFailure::Budget { residual: measured, budget: 2 }));

    let empty = FrictionProblem::new(Operator::MatrixFree(Bodies::default()), Vec::new(), Vec::new()).unwrap();
    assert_eq!(run(&empty).status, Status::Solved);
    options.tolerance = 0.0;
    assert_eq!(FrictionInteriorPoint::with_options(options).unwrap_err().name, "tolerance");
}

/// Random symmetric patterns of mixed blocks: A x = b holds to rounding, also when A is M + H N Hᵀ with N = 1e12, where
/// products with inverted pivots would lose the mass.
#[test]
fn block_factors_solve_what_they_factorise() {
    let mut random = Random::new(5);
    for round in 0..40 {
        let stiff = if round % 2 == 0 { 1.0 } else { 1e12 };
        let sizes: Vec<usize> = (0..12).map(|_| [1, 3, 6, 2][random.below(4)]).collect();
        let offsets: Vec<usize> = sizes.iter().scan(0, |sum, size| Some(std::mem::replace(sum, *sum + size))).collect();
        let n: usize = sizes.iter().sum();
        let mut a = vec![vec![0.0; n]; n];
        (0..n).for_each(|i| a[i][i] = 1.0 + random.unit());
        let pairs: Vec<(usize, usize)> = (0..15).map(|_| (random.below(12), random.below(12))).collect();
        for &(i, j) in &pairs {
            let rows: Vec<usize> = [i, j].iter().flat_map(|&b| offsets[b]..offsets[b] + sizes[b]).collect();
            let h: Vec<f64> = rows.iter().map(|_| random.unit() - 0.5).collect();
            for (p, &row) in rows.iter().enumerate() {
                rows.iter().enumerate().for_each(|(q, &col)| a[row][col] += stiff * h[p] * h[q]);
            }
        }
        let mut lu = BlockSparseLu::with_pivot_bound(0.0);
        lu.analyse(&sizes, &pairs);
        lu.clear();
        for (i, &rows) in sizes.iter().enumerate() {
            for (j, &cols) in sizes.iter().enumerate() {
                let Some(place) = lu.place(i, j) else { continue };
                let block = lu.block_mut(place);
                (0..rows * cols).for_each(|k| block[k] = a[offsets[i] + k / cols][offsets[j] + k % cols]);
            }
        }
        lu.factor().unwrap();
        let b: Vec<f64> = (0..n).map(|_| random.unit()).collect();
        let mut x = b.clone();
        lu.solve(&mut x);
        let size = x.iter().fold(1.0_f64, |size, x| size.max(x.abs())) * stiff;
        for (row, b) in a.iter().zip(&b) {
            let left: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
            assert!((left - b).abs() <= 1e-13 * size * 10.0, "round {round}: {left} is not {b}");
        }
        // With definite M and stiff N the solution has the size of M⁻¹ b.
        assert!(x.iter().all(|x| x.abs() < 1e2), "round {round}: {x:?}");
    }
}

#[test]
fn collected_problems() {
    let folder =
        std::env::var("STICTION_DATA").ok().map(|root| std::path::PathBuf::from(root).join("friction_contact"));
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "STICTION_DATA must lead to the collection here");
        println!("skipped: STICTION_DATA does not lead to the collection `friction_contact`");
        return;
    };
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let (mut exact, mut all) = (0, 0);
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let Ok(ProblemFile::Friction(problem)) = ProblemFile::read(&std::fs::read_to_string(&path).unwrap()) else {
            panic!("{name} is not a frictional problem")
        };
        let ended = run(&problem);
        println!(
            "{name:45} {:5} blocks {:3} steps {:8.1e} {}",
            problem.blocks(),
            ended.iterations,
            ended.residual,
            ended.status
        );
        assert!(ended.residual <= 1e-4, "{name}: {:e}", ended.residual);
        all += 1;
        exact += usize::from(ended.residual <= 1e-8);
    }
    println!("{exact} of {all} to 1e-8");
    assert!(exact * 100 >= all * 95, "{exact} of {all}");
}
