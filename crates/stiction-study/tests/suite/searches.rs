//! Whole searches: their results, which do not depend on threads or order.

use stiction_study::{
    Outcome, Stream, Watch,
    push::{Goal, Path, Push, PushReport, Sampler, Search},
};

use crate::support::{goal, options, push_to, quick, scene_with};

/// A goal that one push reaches often enough for few trials.
fn easy() -> Search {
    let mut options = options(150);
    (options.refine, options.refine_simulations, options.rehearsals) = (3, 40, 4);
    quick(goal([0.2, 0.0], 0.0), options)
}

#[test]
fn reports_are_the_same_on_any_number_of_threads_and_in_any_order() {
    let search = easy();
    let one = search.run(1, &()).unwrap();
    for threads in [2, 4] {
        assert_eq!(search.run(threads, &()).unwrap(), one, "{threads} threads");
    }
    assert!(!one.interrupted && one.successes.hits > 0 && one.found.iter().any(|plan| plan.refined), "{one:?}");
    // Shuffled by Fisher and Yates.
    let mut order: Vec<u64> = (0..150).collect();
    let mut stream = Stream::new(99, 0);
    for k in (1..order.len()).rev() {
        order.swap(k, (stream.bits() % (k as u64 + 1)) as usize);
    }
    for index in order {
        let Outcome::Done(plan) = search.trial(index) else { panic!("none failed") };
        let kept = one.found.iter().find(|kept| kept.trial == index && !kept.refined);
        assert_eq!(kept.is_some(), search.push().goal().is_reached(&plan.miss));
        if let Some(kept) = kept {
            assert_eq!((&kept.path, kept.pose), (&plan.path, plan.pose));
        }
    }
    let other = search.with_options(|options| options.seed = 2).run(2, &()).unwrap();
    assert_ne!(other.found, one.found);
}

#[test]
fn every_plan_replayed_from_its_numbers_alone_reaches_the_goal() {
    let report = easy().run(0, &()).unwrap();
    assert!(report.found.len() >= 3, "{report:?}");
    assert!(report.found.is_sorted_by(|a, b| a.length <= b.length));
    let push = push_to(report.goal);
    for plan in &report.found {
        let path = Path::new(plan.path.points().to_vec(), plan.path.speed()).unwrap();
        let Outcome::Done(arrival) = push.follow(&path) else { panic!("plan {}", plan.trial) };
        assert_eq!(arrival.pose, plan.pose);
        let [x, y, angle] = arrival.pose;
        assert!((x - 0.2).hypot(y) <= 0.03 && angle.abs() <= 5_f64.to_radians(), "{arrival:?}");
        assert!((plan.length - path.length()).abs() < 1e-15 && plan.duration == path.duration());
    }
    assert_eq!(report.best(), report.found.first());
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn two_thousand_trials_find_the_end_of_a_push_made_by_hand() {
    let path = Path::new(vec![[-0.51, -0.1], [-0.35, -0.12], [-0.2, -0.1]], 0.5).unwrap();
    let Outcome::Done(made) = push_to(goal([0.0, 0.0], 0.0)).follow(&path) else { panic!("by hand") };
    let [x, y, angle] = made.pose;
    let push = push_to(goal([x, y], angle.to_degrees()));
    let sampler = Sampler::new(&push, 2, [0.1, 0.2], 0.5).unwrap();
    let report = Search::new(push, sampler, options(2000)).unwrap().run(0, &()).unwrap();
    assert!(report.successes.hits >= 1 && report.failed.is_empty(), "{:?} {:?}", report.successes, report.failed);
    println!("{:?}", report.successes);
}

/// The support points are symmetric about the y axis: mirrored goals are equally hard.
#[test]
fn mirrored_goals_have_shares_that_agree() {
    let success_rate = |x: f64, degrees: f64, seed: u64| {
        let goal = Goal::new([x, 0.2], f64::to_radians(degrees), (0.06, 0.2)).unwrap();
        let report = quick(goal, options(300)).with_options(|options| options.seed = seed).run(0, &()).unwrap();
        assert!(report.failed.is_empty(), "{:?}", report.failed);
        report.successes
    };
    let (left, right) = (success_rate(-0.03, 12.0, 1), success_rate(0.03, -12.0, 2));
    println!("{left:?} {right:?}");
    assert!(left.hits > 10 && right.hits > 10 && left.agrees_with(&right), "{left:?} {right:?}");
    // Turned the wrong way for that side it is a harder goal.
    let wrong = success_rate(0.03, 40.0, 3);
    assert!(!wrong.agrees_with(&right), "{wrong:?} {right:?}");
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn jammed_trials_are_counted_with_their_reason_and_stop_nothing() {
    // A pocket just larger than the square, which leaves it no room to turn away.
    let wall = |name: &str, [x, y]: [f64; 2], [nx, ny]: [f64; 2]| {
        format!(
            "[[body]]\nname = \"{name}\"\nkind = \"fixed\"\nposition = [{x:?}, {y:?}]\n\
             [[body.shape]]\nhalfspace = {{ normal = [{nx:?}, {ny:?}] }}\n"
        )
    };
    let pocket = wall("end", [0.6, 0.0], [-1.0, 0.0])
        + &wall("above", [0.0, 0.52], [0.0, -1.0])
        + &wall("below", [0.0, -0.52], [0.0, 1.0]);
    let push = Push::new(&scene_with(&pocket), "square", "needle", goal([0.08, 0.0], 0.0)).unwrap();
    let sampler = Sampler::new(&push, 1, [0.05, 0.2], 0.5).unwrap().with_spread(0.1).unwrap();
    let search = Search::new(push, sampler, options(40)).unwrap();
    let report = search.run(0, &()).unwrap();
    let failed: u64 = report.failed.iter().map(|failure| failure.count).sum();
    assert!((5..40).contains(&failed) && report.successes.of == 40, "{report:?}");
    let jam = &report.failed[0];
    assert!(jam.reason.contains("jammed"), "{jam:?}");
    let Outcome::Failed(again) = search.trial(jam.first_trial) else { panic!("it jams again") };
    assert_eq!((&again.reason, &again.detail), (&jam.reason, &jam.detail));
    let failures = (0..40).filter(|&index| search.trial(index).done().is_none()).count() as u64;
    assert_eq!(failures, failed);
}

#[test]
fn refinement_turns_near_misses_into_plans() {
    let plain = quick(goal([0.25, 0.1], 15.0), options(60));
    let before = plain.run(0, &()).unwrap();
    let after =
        plain.with_options(|options| (options.refine, options.refine_simulations) = (5, 60)).run(0, &()).unwrap();
    assert_eq!((before.successes, &before.nearest), (after.successes, &after.nearest), "trials are left alone");
    assert!(after.found.len() > before.found.len(), "{} {}", before.found.len(), after.found.len());
    assert!(after.found.iter().filter(|plan| plan.refined).all(|plan| after.goal.is_reached(&plan.miss)));
}

#[test]
fn rehearsals_without_variation_all_succeed_and_wild_ones_do_not() {
    let rehearsed = |variation: f64| -> PushReport {
        let mut options = options(60);
        (options.rehearsals, options.variation) = (20, variation);
        let search = quick(goal([0.2, 0.0], 0.0), options);
        search.run(0, &()).unwrap()
    };
    let (same, wild) = (rehearsed(0.0), rehearsed(0.9));
    assert!(!same.found.is_empty());
    let hits = |report: &PushReport| report.found.iter().filter_map(|plan| plan.rehearsed).map(|s| s.hits).sum::<u64>();
    let plans = same.found.len().min(5) as u64;
    assert_eq!(hits(&same), 20 * plans);
    assert!(hits(&wild) < 15 * plans, "{} of {}", hits(&wild), 20 * plans);
}

/// Stops at once.
struct Never;

impl Watch for Never {
    fn goes_on(&self, _finished: u64) -> bool {
        false
    }
}

#[test]
fn a_search_that_is_stopped_says_so() {
    let report = easy().run(2, &Never).unwrap();
    assert!(report.interrupted && report.successes.of == 0 && report.found.is_empty() && report.nearest.is_none());
}
