//! Problems of equalities alone: joints, redundant joints, and joints that contradict each other.

use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{
    Accuracy, Bodies, Delassus, FrictionLadder, FrictionProblem, FrictionRung, FrictionSolution, Law, Operator,
    Problem, Solver, Status,
};
use stiction_testkit::{Random, count_allocations};

/// Chain of spatial bodies: joint k couples the bodies k − 1 and k, the first joint the first body and the ground.
///
/// `copies` repeats each joint; the copies are redundant, and `offset` is added to the velocities of the last copy.
#[derive(Clone, Copy)]
struct Chain {
    bodies: usize,
    rows: usize,
    copies: usize,
    offset: f64,
}

impl Chain {
    fn problem(&self, numbers: &mut Random) -> FrictionProblem {
        let blocks = self.bodies * self.copies;
        let mut jacobian = BlockMatrix::default();
        jacobian.clear((0..blocks).map(|_| self.rows), (0..self.bodies).map(|_| 6));
        let mut vector = |length: usize| (0..length).map(|_| numbers.uniform(-1.0, 1.0)).collect::<Vec<_>>();
        let entries: Vec<_> =
            (0..self.bodies).map(|_| (vector(self.rows * 6), vector(self.rows * 6), vector(self.rows))).collect();
        let mut q = Vec::new();
        for copy in 0..self.copies {
            for (body, (before, own, velocities)) in entries.iter().enumerate() {
                if body > 0 {
                    jacobian.push(body - 1, before);
                }
                jacobian.push(body, own);
                jacobian.finish_row();
                let offset = if copy + 1 == self.copies { self.offset } else { 0.0 };
                q.extend(velocities.iter().map(|q| q + offset));
            }
        }
        let masses = (0..self.bodies).flat_map(|body| {
            let mass = if body % 2 == 0 { 1.0 } else { 20.0 };
            (0..36).map(move |entry| if entry % 7 == 0 { mass } else { 0.0 })
        });
        let operator = Operator::MatrixFree(Bodies::new(jacobian, masses.collect()).unwrap());
        FrictionProblem::new(operator, vec![Law::Equality { rows: self.rows }; blocks], q).unwrap()
    }
}

/// The linear solve as the only rung.
fn linear() -> FrictionLadder {
    FrictionLadder::new(Accuracy::Exact).with_rungs(&[FrictionRung::Linear])
}

/// The same problem with an assembled operator.
fn assembled(problem: &FrictionProblem) -> FrictionProblem {
    let (rows, blocks) = (problem.rows(), problem.blocks());
    let mut dense = vec![0.0; rows * rows];
    assert!(problem.operator().assemble(&mut dense));
    let mut w = BlockMatrix::default();
    w.clear(problem.laws().iter().map(Law::rows), problem.laws().iter().map(Law::rows));
    for i in 0..blocks {
        for j in 0..blocks {
            let entries = problem.range(i).flat_map(|row| problem.range(j).map(move |col| (row, col)));
            w.push(j, &entries.map(|(row, col)| dense[row * rows + col]).collect::<Vec<_>>());
        }
        w.finish_row();
    }
    FrictionProblem::new(Operator::Assembled(w), problem.laws().to_vec(), problem.q().to_vec()).unwrap()
}

#[test]
fn joints_are_solved_to_rounding() {
    let mut numbers = Random::new(81);
    // Six rows leave no motion; the condition number of a chain with random rows then grows exponentially with its length.
    for (bodies, most_rows) in [(1, 6), (2, 6), (5, 6), (32, 5)] {
        for rows in [1, 2, 3, 5, 6].into_iter().filter(|rows| *rows <= most_rows) {
            let problem = Chain { bodies, rows, copies: 1, offset: 0.0 }.problem(&mut numbers);
            for problem in [assembled(&problem), problem] {
                let (mut ladder, mut solution) = (linear(), FrictionSolution::default());
                assert_eq!(ladder.run(&problem, None, &mut solution).status, Status::Solved, "{bodies} {rows}");
                let residual = problem.residual(&solution).value;
                // The chain may be ill-conditioned: rounding is relative to the terms of the sum W r, not to q.
                assert!(residual <= 1e-8, "{bodies} {rows}: {residual:e}");
                assert_eq!(ladder.rung(), Some("linear"));
            }
        }
    }
}

#[test]
fn redundant_joints_share_their_impulses() {
    let mut numbers = Random::new(82);
    for (bodies, rows) in [(1, 5), (4, 5), (16, 3)] {
        let chain = Chain { bodies, rows, copies: 3, offset: 0.0 };
        let problem = chain.problem(&mut numbers);
        for problem in [assembled(&problem), problem] {
            let mut solution = FrictionSolution::default();
            assert_eq!(linear().run(&problem, None, &mut solution).status, Status::Solved, "{bodies} {rows}");
            assert!(problem.residual(&solution).value <= 1e-11);
            // Three equal rows have equal diagonals, so in the solution of least norm each bears a third.
            let largest = solution.r.iter().fold(0.0, |largest: f64, r| largest.max(r.abs()));
            let (first, others) = solution.r.split_at(bodies * rows);
            for other in others.chunks_exact(bodies * rows) {
                let distance = first.iter().zip(other).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
                assert!(distance <= 1e-5 * largest, "{bodies} {rows}: {distance:e} of {largest:e}");
            }
        }
    }
}

#[test]
fn contradicting_joints_are_not_solved() {
    let mut numbers = Random::new(83);
    for bodies in [1, 3, 8] {
        let problem = Chain { bodies, rows: 5, copies: 2, offset: 1e-3 }.problem(&mut numbers);
        for new_ladder in [linear, || FrictionLadder::new(Accuracy::Exact)] {
            let (mut ladder, mut solution) = (new_ladder(), FrictionSolution::default());
            let status = ladder.run(&problem, None, &mut solution).status;
            assert!(!matches!(status, Status::Solved | Status::SolvedLoosely), "{status:?}");
            let residual = problem.residual(&solution).value;
            assert!(residual > 1e-5 && residual < 1e-2, "{residual:e}");
        }
    }
}

#[test]
fn rows_between_prescribed_bodies_are_solved_only_if_they_hold() {
    for (velocity, solved) in [(0.0, true), (1.0, false)] {
        let mut jacobian = BlockMatrix::default();
        jacobian.clear([1, 1], [1]);
        jacobian.push(0, &[1.0]);
        jacobian.finish_row();
        jacobian.finish_row();
        let operator = Operator::MatrixFree(Bodies::new(jacobian, vec![2.0]).unwrap());
        let laws = vec![Law::Equality { rows: 1 }; 2];
        let problem = FrictionProblem::new(operator, laws, vec![1.0, velocity]).unwrap();
        let mut solution = FrictionSolution::default();
        assert_eq!(linear().run(&problem, None, &mut solution).status == Status::Solved, solved);
        assert!((solution.r[0] + 2.0).abs() <= 1e-8);
    }
}

#[test]
fn other_laws_are_left_to_the_other_rungs() {
    let mut jacobian = BlockMatrix::default();
    jacobian.clear([1], [1]);
    jacobian.push(0, &[1.0]);
    jacobian.finish_row();
    let operator = Operator::MatrixFree(Bodies::new(jacobian, vec![1.0]).unwrap());
    let laws = vec![Law::Bounded { lower: 0.0, upper: f64::INFINITY }];
    let problem = FrictionProblem::new(operator, laws, vec![-1.0]).unwrap();
    let mut ladder = linear();
    let _ = ladder.run(&problem, None, &mut FrictionSolution::default());
    assert!(ladder.records().is_empty());
}

#[test]
fn a_second_solve_allocates_nothing() {
    let mut numbers = Random::new(84);
    let chain = Chain { bodies: 12, rows: 5, copies: 2, offset: 0.0 };
    let (first, second) = (chain.problem(&mut numbers), chain.problem(&mut numbers));
    let (mut ladder, mut solution) = (FrictionLadder::new(Accuracy::Exact), FrictionSolution::default());
    let _ = ladder.run(&first, None, &mut solution);
    let counted = count_allocations(|| {
        let _ = ladder.run(&second, None, &mut solution);
    });
    assert_eq!(counted.count, 0);
    assert!(second.residual(&solution).value <= 1e-8);
    assert_eq!(ladder.rung(), Some("linear"));
}
