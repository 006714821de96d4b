//! The residual decides on the status: false claims, wrong lengths, NaN and tolerances out of range.

use crate::generate::lcp;
use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{
    Ending, FrictionProblem, FrictionSolution, Law, Lcp, LcpSolution, MixedLcp, MixedLcpSchur, MixedLcpSolution,
    Problem, ProblemError, Residual, Solver, Status, Tolerance, solve,
};

/// A method that returns a given z and claims a given status.
struct Liar {
    z: Vec<f64>,
    claim: Status,
}

impl Solver<Lcp> for Liar {
    fn run(&mut self, _: &Lcp, _: Option<&LcpSolution>, solution: &mut LcpSolution) -> Ending {
        solution.z.clone_from(&self.z);
        Ending::new(self.claim, 7)
    }
}

fn run_and_measure(z: &[f64], claim: Status) -> Status {
    let mut solution = LcpSolution::default();
    let problem = lcp([[1.0, 0.0], [0.0, 1.0]], [-1.0, 2.0]);
    let mut liar = Liar { z: z.to_vec(), claim };
    let outcome = solve(&mut liar, &problem, None, &mut solution, &Tolerance::default());
    assert_eq!(outcome.iterations, 7);
    assert_eq!(outcome.residual, problem.residual(&LcpSolution { z: z.to_vec() }));
    outcome.status
}

#[test]
fn success_needs_the_residual_and_failure_is_believed() {
    assert_eq!(run_and_measure(&[1.0, 0.0], Status::Solved), Status::Solved);
    assert_eq!(run_and_measure(&[1.0 + 1e-7, 0.0], Status::Solved), Status::SolvedLoosely);
    assert_eq!(run_and_measure(&[2.0, 0.0], Status::Solved), Status::Breakdown);
    assert_eq!(run_and_measure(&[2.0, 0.0], Status::SolvedLoosely), Status::Breakdown);
    for failure in [Status::BudgetExhausted, Status::Infeasible, Status::Breakdown] {
        assert_eq!(run_and_measure(&[2.0, 0.0], failure), failure);
        let right = if failure == Status::BudgetExhausted { Status::Solved } else { failure };
        assert_eq!(run_and_measure(&[1.0, 0.0], failure), right);
    }
}

#[test]
fn numbers_that_are_not_finite_never_pass() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(run_and_measure(&[bad, 0.0], Status::Solved), Status::Breakdown);
        assert_eq!(run_and_measure(&[1.0, bad], Status::Solved), Status::Breakdown);
    }
    assert_eq!(run_and_measure(&[1.0], Status::Solved), Status::Breakdown);
    assert_eq!(run_and_measure(&[1.0, 0.0, 0.0], Status::Solved), Status::Breakdown);
}

#[test]
fn the_residual_is_scaled_and_names_its_row() {
    let problem = lcp([[1.0, 0.0], [0.0, 1.0]], [-1.0, -4.0]);
    let residual = problem.residual(&LcpSolution { z: vec![1.0, 6.0] });
    assert_eq!((residual.value, residual.row), (2.0 / 4.0, 1));
}

#[test]
fn senseless_tolerances_are_refused_and_prove_nothing() {
    for (solved, loose) in [(0.0, 1.0), (f64::NAN, 1.0), (1e-9, f64::INFINITY), (-1.0, 1.0), (1e-3, 1e-6)] {
        assert!(Tolerance { solved, loose }.validate().is_err());
    }
    assert!(Tolerance::default().validate().is_ok());
    let problem = lcp([[1.0]], [-1.0]);
    let tolerance = Tolerance { solved: f64::NAN, loose: f64::NAN };
    let mut liar = Liar { z: vec![1.0], claim: Status::Solved };
    let outcome = solve(&mut liar, &problem, None, &mut LcpSolution::default(), &tolerance).status;
    assert_eq!(outcome, Status::Breakdown);
}

#[test]
fn a_mixed_solve_survives_an_inner_method_that_lies() {
    let mut problem = MixedLcp::default();
    problem.clear(1, 1);
    problem.equality.on_free.push(0, 1.0);
    problem.equality.on_free.finish();
    problem.equality.on_complementary.finish();
    problem.complementarity.on_free.finish();
    problem.complementarity.on_complementary.push(0, 1.0);
    problem.complementarity.on_complementary.finish();
    problem.complementarity.constant[0] = -1.0;
    for z in [vec![], vec![f64::NAN], vec![0.0], vec![1.0, 1.0]] {
        let mut method: Box<dyn Solver<MixedLcp>> = Box::new(MixedLcpSchur::new(Liar { z, claim: Status::Solved }));
        let mut solution = MixedLcpSolution::default();
        let outcome = solve(&mut *method, &problem, None, &mut solution, &Tolerance::default());
        assert_eq!(outcome.status, Status::Breakdown);
    }
}

/// Cached data of the residual are discarded with every change: the residual is that of a newly constructed problem.
#[test]
fn a_problem_that_changed_is_measured_anew() {
    let solution = FrictionSolution { r: vec![1.0, 0.2, 0.1] };
    let measured = |problem: &FrictionProblem<BlockMatrix>, before: &Residual| {
        let (w, laws, q) = (problem.operator().clone(), problem.laws().to_vec(), problem.q().to_vec());
        let anew = FrictionProblem::new(w, laws, q).and_then(|p| p.with_compliance(problem.compliance().to_vec()));
        let residual = problem.residual(&solution);
        assert_eq!(residual, anew.unwrap().residual(&solution));
        assert_eq!(residual, problem.residual(&solution));
        assert_ne!(residual, *before);
        residual
    };
    let mut w = BlockMatrix::default();
    w.clear([3], [3]);
    w.push(0, &[2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]);
    w.finish_row();
    let mut problem = FrictionProblem::new(w, vec![Law::Cone { rows: 3, mu: 0.5 }], vec![-1.0, 0.3, 0.2]).unwrap();
    let first = measured(&problem, &Residual::undefined(0));
    let copy = problem.clone();
    problem.refill_velocities(|_, q| q[1] = -0.7).unwrap();
    let second = measured(&problem, &first);
    assert_eq!(copy.residual(&solution), first);
    problem
        .refill(|_, laws, _| {
            laws[0] = Law::Cone { rows: 3, mu: 0.1 };
            Ok::<_, ProblemError>(())
        })
        .unwrap();
    let third = measured(&problem, &second);
    let softer = problem.with_compliance(vec![0.5; 3]).unwrap();
    measured(&softer, &third);
    assert_eq!(softer.residual(&FrictionSolution { r: vec![1.0] }), Residual::undefined(0));
}
