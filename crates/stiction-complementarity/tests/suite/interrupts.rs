//! Methods end soon after an interrupt is requested.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use stiction_complementarity::interrupt::{self, Interrupt};
use stiction_complementarity::{
    Accuracy, FrictionAdmm, FrictionInteriorPoint, FrictionLadder, FrictionNewton, FrictionNsgs, FrictionProblem,
    FrictionProximalNewton, FrictionSolution, Solver,
};

use stiction_testkit::problems::{self, Motion};

/// An interrupt that is requested from this question on, and the number of questions so far.
fn after(questions: u32) -> (Interrupt, Arc<AtomicU32>) {
    let asked = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&asked);
    (Interrupt::new(move || counter.fetch_add(1, Ordering::Relaxed) >= questions), asked)
}

/// A wall that is struck: many redundant contacts.
fn large() -> FrictionProblem {
    problems::wall(5, 6, 0.6).problem(Motion::Kick { speed: 1.0, seed: 7 })
}

#[test]
fn iterative_methods_end_within_an_iteration() {
    let problem = large();
    let methods: [(&str, Box<dyn Solver<FrictionProblem>>); 5] = [
        ("interior-point", Box::new(FrictionInteriorPoint::new())),
        ("newton", Box::new(FrictionNewton::new())),
        ("proximal-newton", Box::new(FrictionProximalNewton::new())),
        ("nsgs", Box::new(FrictionNsgs::new())),
        ("admm", Box::new(FrictionAdmm::new())),
    ];
    for (name, mut method) in methods {
        let mut solution = FrictionSolution::default();
        let usual = method.run(&problem, None, &mut solution).iterations;
        let (requested, asked) = after(0);
        let ended = requested.during(|| method.run(&problem, None, &mut solution)).iterations;
        let questions = asked.load(Ordering::Relaxed);
        println!("{name}: {usual} iterations, interrupted {ended}, asked {questions}");
        // Gauss-Seidel asks where it measures the residual.
        let bound = if name == "nsgs" { 50 } else { 1 };
        assert!(ended <= bound && ended < usual, "{name}: {ended} of {usual} iterations");
        assert!((1..=3).contains(&questions), "{name}: {questions} questions");
        assert_eq!(solution.r.len(), problem.rows(), "{name}");
    }
}

/// Wherever the interrupt comes, the ladder asks only a few times more; without one it gives the same bits as before.
#[test]
fn a_ladder_climbs_no_further_after_an_interrupt() {
    let problem = large();
    let mut ladder = FrictionLadder::new(Accuracy::Exact);
    let run = |ladder: &mut FrictionLadder| {
        let mut solution = FrictionSolution::default();
        let ending = ladder.run(&problem, None, &mut solution);
        (ending.status, ending.iterations, solution.r)
    };
    let alone = run(&mut ladder);
    let (never, asked) = after(u32::MAX);
    assert_eq!(never.during(|| run(&mut ladder)), alone);
    let all = asked.load(Ordering::Relaxed);
    assert!(all > 10, "{all} questions");
    for questions in (0..all).step_by(all.div_ceil(20) as usize) {
        let (requested, asked) = after(questions);
        let _ = requested.during(|| run(&mut ladder));
        let more = asked.load(Ordering::Relaxed) - questions;
        assert!(more <= 12, "{more} more questions after {questions}");
    }
    assert_eq!(run(&mut ladder), alone, "an interrupted run leaves no trace");
}

#[test]
fn an_interrupt_counts_for_its_own_work_on_its_own_thread() {
    assert!(!interrupt::is_requested());
    let (now, never) = (after(0).0, after(u32::MAX).0);
    now.during(|| {
        assert!(interrupt::is_requested());
        never.during(|| assert!(!interrupt::is_requested(), "the inner one alone counts"));
        assert!(interrupt::is_requested(), "the outer one counts again");
        std::thread::scope(|scope| scope.spawn(|| assert!(!interrupt::is_requested())).join().expect("asserted"));
    });
    let fallen = std::panic::catch_unwind(|| after(0).0.during(|| panic!("a bug of the work")));
    assert!(fallen.is_err() && !interrupt::is_requested(), "also after a panic");
}
