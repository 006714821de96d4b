//! Information of experiments on friction.

use nalgebra::Vector3;
use stiction_identify::{
    IdentifyError, Parameter, Target,
    information::{Beginning, Candidate, Ranked, Seen, rank},
    shooting::{Fit, FitOptions},
};

use crate::sliding_block::{NOISE, SCENE, seen};

fn seen_body(body: &str) -> Vec<Seen> {
    vec![Seen { body: body.into(), point: Vector3::zeros(), turned: true, noise: NOISE }]
}

fn frames(count: u32) -> Vec<f64> {
    (0..=count).map(|frame| f64::from(frame) / 60.0).collect()
}

/// The block of case C-26 pulled by another force.
fn pull(force: f64, beginning: Beginning) -> Candidate {
    let text = SCENE.replace("force = [4.0, 0.0]", &format!("force = [{force:?}, 0.0]"));
    assert!(force == 4.0 || text != SCENE);
    let parameters = vec![Parameter::new("mu", "body.block.support.friction", 0.33, [0.0, 1.0])];
    Candidate {
        name: format!("{force} N"),
        target: Target { text, file_name: "pull.toml".into(), parameters },
        values: Vec::new(),
        seen: seen_body("block"),
        times: frames(90),
        beginning,
    }
}

/// A box over a floor, tossed with this velocity; its friction and mass are unknown.
fn toss(name: &str, velocity: [f64; 2], height: f64) -> Candidate {
    let text = format!(
        "
[simulation]
duration = 1.0
step = 0.004
gravity = [0.0, -9.81]
[[body]]
name = \"floor\"
kind = \"fixed\"
[[body.shape]]
halfspace = {{ normal = [0.0, 1.0] }}
[[body]]
name = \"box\"
mass = 1.0
position = [0.0, {height:?}]
velocity = {velocity:?}
[[body.shape]]
box = {{ size = [0.2, 0.1] }}
[contact_default]
friction = 0.3
"
    );
    let parameters = vec![
        Parameter::new("mu", "contact_default.friction", 0.3, [0.0, 1.0]),
        Parameter::new("mass", "body.box.mass", 1.0, [0.1, 10.0]),
    ];
    Candidate {
        name: name.into(),
        target: Target { text, file_name: "toss.toml".into(), parameters },
        values: Vec::new(),
        seen: seen_body("box"),
        times: frames(24),
        beginning: Beginning::Measured,
    }
}

fn names(ranked: &[Ranked]) -> Vec<&str> {
    for one in ranked {
        println!("{one:?}");
    }
    ranked.iter().map(|one| one.name.as_str()).collect()
}

#[test]
fn a_pull_that_friction_holds_tells_nothing_of_it() {
    for beginning in [Beginning::Known, Beginning::Measured] {
        let ranked = rank(&[pull(2.0, beginning), pull(4.0, beginning), pull(3.0, beginning)], "mu").unwrap();
        assert_eq!(names(&ranked)[0], "4 N");
        let told: Vec<f64> = ranked.iter().map(|one| one.information).collect();
        assert!(told[0] > 1e5 && told[1..] == [0.0, 0.0], "{told:?}");
        assert!(ranked.iter().all(|one| one.failure.is_none()));
    }
}

#[test]
fn a_toss_that_never_slides_ranks_last() {
    let dropped = toss("dropped", [0.0, 0.0], 0.1);
    let flies = toss("flies on", [1.0, 3.0], 1.0);
    let slides = toss("slides", [2.0, 0.0], 0.1);
    let slower = toss("stops early", [0.3, 0.0], 0.1);
    let ranked = rank(&[dropped, slower, flies, slides], "mu").unwrap();
    assert_eq!(names(&ranked)[..2], ["slides", "stops early"]);
    let told: Vec<f64> = ranked.iter().map(|one| one.information).collect();
    assert!(told[1] > 0.0 && told[2..] == [0.0, 0.0], "{told:?}");
    assert!(ranked.iter().all(|one| one.failure.is_none()));
}

/// The motion of a box that slides on a floor does not depend on its mass: friction is observed.
#[test]
fn what_no_experiment_sees_has_no_information() {
    let ranked = rank(&[toss("slides", [2.0, 0.0], 0.1)], "mass").unwrap();
    assert!(ranked[0].information < 1e-3, "{ranked:?}");
}

/// The expected deviation is that of a fit: the deviation of case C-26.
#[test]
fn the_expected_deviation_is_that_of_the_fit() {
    let candidate = pull(4.0, Beginning::Measured);
    let recording = seen(1);
    let target = candidate.target.clone();
    let fit = Fit::of_all(&target, std::slice::from_ref(&recording), FitOptions::default()).run().unwrap();
    let ranked = rank(&[candidate], "mu").unwrap();
    let (expected, found) = (ranked[0].deviation.unwrap(), fit.estimates[0].deviation.unwrap());
    println!("expected {expected}, fit {found}");
    assert!((expected / found - 1.0).abs() < 0.02, "{expected} {found}");
}

#[test]
fn averages_over_values_and_messages() {
    let mut candidate = pull(4.0, Beginning::Known);
    let alone =
        |mu: f64| Candidate { values: vec![vec![mu]], ..pull(4.0, Beginning::Known) }.information("mu").unwrap();
    candidate.values = vec![vec![0.2], vec![0.35]];
    let (mean, expected) = (candidate.information("mu").unwrap(), 0.5 * (alone(0.2) + alone(0.35)));
    assert!((mean / expected - 1.0).abs() < 1e-12, "{mean} {expected}");
    let unknown = rank(&[candidate.clone()], "mass").unwrap_err();
    assert!(matches!(&unknown, IdentifyError::Options(text) if text.contains("it has mu")), "{unknown}");
    candidate.seen = seen_body("brick");
    let ranked = rank(&[candidate, pull(2.0, Beginning::Known)], "mu").unwrap();
    assert!(ranked[1].failure.as_ref().unwrap().contains("brick"), "{ranked:?}");
}
