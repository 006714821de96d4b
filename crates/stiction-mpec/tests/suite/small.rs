//! Small programs whose solutions are known in closed form.

use std::sync::Arc;

use stiction_mpec::{
    Element, Engine, EngineOptions, Mode, Nlp, Pair, Program, Refused, RunStatus, Schedule, Square, Variable, blocks,
    covariance, solve,
};

/// Values k: Σ slope · x + bend · x0² − shift.
struct Quadratic {
    rows: Vec<(Vec<f64>, f64, f64)>,
    jacobian: Vec<(usize, usize)>,
}

impl Quadratic {
    fn new(rows: Vec<(Vec<f64>, f64, f64)>) -> Arc<Self> {
        let inside = |(row, (slopes, bend, _)): (usize, &(Vec<f64>, f64, f64))| {
            let entries = slopes.iter().enumerate().filter(|(k, slope)| **slope != 0.0 || (*k == 0 && *bend != 0.0));
            entries.map(|(k, _)| (row, k)).collect::<Vec<_>>()
        };
        let jacobian = rows.iter().enumerate().flat_map(inside).collect();
        Arc::new(Self { rows, jacobian })
    }
}

impl Element for Quadratic {
    fn inputs(&self) -> usize {
        self.rows[0].0.len()
    }

    fn outputs(&self) -> usize {
        self.rows.len()
    }

    fn jacobian_pattern(&self) -> &[(usize, usize)] {
        &self.jacobian
    }

    fn hessian_pattern(&self) -> &[(usize, usize)] {
        &[(0, 0)]
    }

    fn values(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        for ((slopes, bend, shift), out) in self.rows.iter().zip(out) {
            *out = slopes.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() + bend * x[0] * x[0] - shift;
        }
        Ok(())
    }

    fn jacobian(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        for ((row, k), out) in self.jacobian.iter().zip(out) {
            let (slopes, bend, _) = &self.rows[*row];
            *out = slopes[*k] + if *k == 0 { 2.0 * bend * x[0] } else { 0.0 };
        }
        Ok(())
    }

    fn hessian(&self, _: &[f64], multipliers: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        out[0] = self.rows.iter().zip(multipliers).map(|((_, bend, _), m)| 2.0 * bend * m).sum();
        Ok(())
    }
}

/// min (x − 2)² + (y − 1)² with 0 ≤ x ⊥ y − x² / 4 + shift ≥ 0.
fn corner(program: &mut Program, shift: f64) {
    let x = program.variable(Variable::positive(1.0));
    let y = program.variable(Variable::free(1.0));
    for (variable, centre) in [(x, 2.0), (y, 1.0)] {
        program.squares.push(Square { variable, weight: 1.0, centre });
    }
    let row = Quadratic::new(vec![(vec![0.0, 1.0], -0.25, -shift)]);
    let constraint = program.element(row, vec![x, y], &[[0.0, f64::INFINITY]]);
    program.pairs.push(Pair { variable: x, constraint, sizes: [2.0, 0.5] });
}

#[test]
fn the_better_of_two_modes_is_found_and_its_complementarity_is_exact() {
    for engine in Engine::available() {
        let mut program = Program::default();
        corner(&mut program, 0.0);
        let solution = solve(&program, *engine, &Schedule::default()).unwrap();
        println!("{engine:?}: {:?} after {}", solution.certificate, solution.iterations);
        // On y = x²/4 the nearest point to (2, 1) is that point itself.
        assert!((solution.x[0] - 2.0).abs() < 1e-6 && (solution.x[1] - 1.0).abs() < 1e-6, "{:?}", solution.x);
        assert_eq!(solution.modes, [Mode::Constraint]);
        assert!(solution.solved && solution.certificate.complementarity < 1e-9);
        assert!(solution.certificate.relaxation_stationary);
        assert!(solution.certificate.stationarity < 1e-7 && solution.certificate.violation < 1e-9);
    }
}

/// Five iterations suffice with modes fixed, but not to choose them. x = 0 has the mode of the initial guess; it is feasible, complementary and
/// optimal for this mode, but other modes were not compared.
#[test]
fn modes_of_a_search_that_was_given_up_are_no_solution() {
    for engine in Engine::available() {
        let mut program = Program::default();
        corner(&mut program, 0.0);
        program.variables[0].start = 0.3;
        let hasty = Schedule { first: 1e-3, last: 1e-3, iterations: 5, ..Schedule::default() };
        let solution = solve(&program, *engine, &hasty).unwrap();
        println!("{engine:?}: {:?} {:?}", solution.x, solution.certificate);
        let certificate = solution.certificate;
        assert_eq!(solution.modes, [Mode::Variable]);
        assert!(certificate.violation <= 1e-8 && certificate.complementarity <= 1e-8, "{certificate:?}");
        assert!(certificate.stationarity < 1e-7, "{certificate:?}");
        assert!(!certificate.relaxation_stationary && !solution.solved);
    }
}

#[test]
fn an_engine_that_is_out_of_time_says_so() {
    let mut program = Program::default();
    corner(&mut program, 0.0);
    let starts = program.starts();
    let mut options =
        EngineOptions { tolerance: 1e-8, iterations: 100, barrier: 0.1, print_level: 0, seconds: Some(0.0) };
    for engine in Engine::available() {
        let nlp = Nlp::new(&program, 1e-3, &starts);
        options.seconds = Some(0.0);
        assert_eq!(engine.run(&nlp, &options, None).unwrap().status, RunStatus::OutOfTime, "{engine:?}");
        options.seconds = Some(1e3);
        assert!(engine.run(&nlp, &options, None).unwrap().status.is_stationary(), "{engine:?}");
        let schedule = Schedule { seconds: Some(0.0), ..Schedule::default() };
        let solution = solve(&program, *engine, &schedule).unwrap();
        assert!(!solution.solved && !solution.certificate.relaxation_stationary);
        assert!(solution.certificate.stationarity.is_infinite() && solution.x.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn parts_that_share_no_variable_are_solved_apart_with_the_same_result() {
    for engine in Engine::available() {
        let mut program = Program::default();
        let shifts = [0.0, -0.5, 1.0];
        for shift in shifts {
            corner(&mut program, shift);
        }
        let parts = blocks(&program);
        assert_eq!(parts.iter().map(|block| block.variables.clone()).collect::<Vec<_>>(), [[0, 1], [2, 3], [4, 5]]);
        let all = solve(&program, *engine, &Schedule::default()).unwrap();
        for (k, shift) in shifts.iter().enumerate() {
            let mut single = Program::default();
            corner(&mut single, *shift);
            let alone = solve(&single, *engine, &Schedule::default()).unwrap();
            assert_eq!(alone.x, all.x[2 * k..2 * k + 2]);
        }
    }
}

#[test]
fn rows_of_one_element_that_share_nothing_are_parts_as_well() {
    let mut program = Program::default();
    let variables: Vec<usize> = (0..3).map(|_| program.variable(Variable::free(0.3))).collect();
    let rows = Quadratic::new(vec![(vec![1.0, 1.0, 0.0], 0.5, 0.0), (vec![0.0, 0.0, 2.0], 0.0, 1.0)]);
    program.element(rows, variables, &[[0.0, 0.0], [0.0, 0.0]]);
    let parts = blocks(&program);
    assert_eq!(parts.len(), 2);
    let mut value = [0.0];
    parts[1].program.values(&[0.75], &mut value).unwrap();
    assert!((value[0] - 0.5).abs() < 1e-15);
    parts[0].program.values(&[0.2, 0.1], &mut value).unwrap();
    assert!((value[0] - 0.32).abs() < 1e-15);
}

#[test]
fn covariance_is_that_of_a_mean() {
    // n measurements y of one unknown m with unit standard deviation: r_k = m − y_k.
    let mut program = Program::default();
    let m = program.variable(Variable::free(0.0));
    for y in [1.0, 2.0, 4.0, 5.0] {
        let r = program.variable(Variable::free(0.0));
        program.squares.push(Square { variable: r, weight: 0.5, centre: 0.0 });
        program.element(Quadratic::new(vec![(vec![1.0, -1.0], 0.0, y)]), vec![m, r], &[[0.0, 0.0]]);
    }
    let found = covariance(&program, (&[], &[3.0, 2.0, 1.0, -1.0, -2.0]), &[m], &[1e-12]).unwrap().unwrap();
    assert!((found[0][0] - 0.25).abs() < 1e-9, "{found:?}");
    for engine in Engine::available() {
        let solution = solve(&program, *engine, &Schedule::default()).unwrap();
        assert!((solution.x[0] - 3.0).abs() < 1e-8);
    }
}
