//! Trials do not depend on the number of threads, and only the watch stops them.

use std::sync::atomic::{AtomicU64, Ordering};

use stiction_study::{Failure, Outcome, Stream, Watch, run_trials};

fn numbers(index: u64) -> Outcome<[u64; 2]> {
    let mut stream = Stream::new(5, index);
    if stream.unit() < 0.1 {
        let reason = "drew a small number".to_owned();
        return Outcome::Failed(Failure { detail: format!("{reason} in {index}"), reason });
    }
    Outcome::Done([index, stream.bits()])
}

#[test]
fn outcomes_are_the_same_on_any_number_of_threads_and_in_order() {
    let one = run_trials(2000, 1, &(), numbers).unwrap();
    for threads in [2, 4, 7, 0] {
        assert_eq!(run_trials(2000, threads, &(), numbers).unwrap(), one, "{threads} threads");
    }
    let failed = one.iter().filter(|outcome| outcome.done().is_none()).count();
    assert!((120..280).contains(&failed), "{failed} of 2000 should be about 200");
    for (index, outcome) in (0..).zip(&one) {
        match outcome {
            Outcome::Done([made_by, _]) => assert_eq!(*made_by, index),
            Outcome::Failed(failure) => assert_eq!(failure.detail, format!("drew a small number in {index}")),
        }
    }
}

#[test]
fn a_trial_that_breaks_has_failed_and_the_others_go_on() {
    let breaking = |index| if index == 3 { panic!("on purpose, by a test") } else { numbers(index) };
    for threads in [1, 3] {
        let outcomes = run_trials(20, threads, &(), breaking).unwrap();
        assert_eq!(outcomes.len(), 20);
        let Outcome::Failed(failure) = &outcomes[3] else { panic!("it broke") };
        assert!(failure.reason.contains("bug") && failure.detail.contains("on purpose"), "{failure:?}");
        assert_eq!(outcomes[4], numbers(4));
    }
}

/// Stops after this number of completed trials.
struct Enough(u64, AtomicU64);

impl Watch for Enough {
    fn goes_on(&self, finished: u64) -> bool {
        self.1.fetch_max(finished, Ordering::Relaxed);
        finished < self.0
    }
}

#[test]
fn a_stopped_study_has_exactly_the_first_trials() {
    let all = run_trials(500, 1, &(), numbers).unwrap();
    for threads in [1, 2, 4] {
        let watch = Enough(100, AtomicU64::new(0));
        let some = run_trials(500, threads, &watch, numbers).unwrap();
        assert!((100..100 + threads).contains(&some.len()), "{} with {threads} threads", some.len());
        assert_eq!(some[..], all[..some.len()]);
        assert!(watch.1.into_inner() >= 100);
    }
}
