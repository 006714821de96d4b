//! A hand of three fingers closes on a glass (C-25): it slips out or is held, and errors drift, decay or vanish at once.

use stiction::{Simulation, StepCause};
use stiction_testkit::reference;

fn hand(changes: &[(&str, f64)]) -> Simulation {
    let scene = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/hand_grasp.toml");
    let changes: Vec<_> = changes.iter().map(|(path, value)| ((*path).to_owned(), value.to_string())).collect();
    Simulation::from_scene(&stiction::scene::load_with(scene, &changes).unwrap()).unwrap()
}

/// Results over the 0.7 s: the distance of the glass from the palm, and penetration and joint error after every step.
struct Account {
    way: f64,
    contacts: Vec<f64>,
    joints: Vec<f64>,
}

fn grasp(gamma: f64, friction: f64) -> Account {
    let mut simulation = hand(&[("scheme.gamma", gamma), ("contact_default.friction", friction)]);
    let glass = simulation.model().find_body("glass").unwrap();
    let place = |simulation: &Simulation| simulation.configuration().pose(glass).translation.y;
    let begin = place(&simulation);
    let mut account = Account { way: 0.0, contacts: Vec::new(), joints: Vec::new() };
    for _ in 0..280 {
        let report = simulation.step().unwrap();
        account.contacts.push(report.penetration);
        account.joints.push(report.joint_error);
    }
    account.way = place(&simulation) - begin;
    account
}

fn most(errors: &[f64]) -> f64 {
    errors.iter().copied().fold(0.0, f64::max)
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn with_little_friction_the_glass_slips_out_and_with_much_it_is_held() {
    let case = reference("c25");
    for gamma in case.numbers("parameters.gammas") {
        let out = grasp(gamma, case.number("parameters.friction.little"));
        assert!(out.way > case.number("tolerance.escaped"), "gamma {gamma}: {}", out.way);
        let held = grasp(gamma, case.number("parameters.friction.much"));
        assert!(held.way.abs() < case.number("tolerance.held"), "gamma {gamma}: {}", held.way);
    }
}

#[test]
fn infeasibility_drifts_decays_or_is_gone() {
    let case = reference("c25");
    let much = case.number("parameters.friction.much");
    let [drifts, decays, gone] = [0.0, 0.2, 1.0].map(|gamma| grasp(gamma, much));
    // Errors at velocity level are not corrected later.
    for errors in [&drifts.contacts, &drifts.joints] {
        let end = errors.last().copied().unwrap_or(0.0);
        assert!(most(errors) > 1e-4 && end > 0.95 * most(errors), "{end} of {}", most(errors));
    }
    // Between events the error of joints shrinks by 1 − γ in every step.
    let fraction = case.number("derived.decay_per_step");
    let (after, later) = (decays.joints[60], decays.joints[70]);
    let per_step = (later / after).powf(1.0 / 10.0);
    assert!((per_step - fraction).abs() < case.number("tolerance.decay"), "{per_step}");
    // With γ = 1 the remaining error is that of the last step.
    assert!(most(&gone.joints[100..]) < 1e-3 * most(&drifts.joints));
    assert!(most(&decays.joints) < most(&drifts.joints) && most(&gone.joints) < most(&decays.joints));
}

#[test]
fn a_layer_that_is_used_up_is_an_error_with_names() {
    let case = reference("c25");
    let thin = case.number("derived.thin_layer");
    let mut simulation = hand(&[("scheme.gamma", 0.0), ("scheme.protective_layer", thin)]);
    let before = loop {
        let before = simulation.state().clone();
        match simulation.step() {
            Ok(report) => assert!(report.penetration <= thin && report.time < 0.7),
            Err(error) => {
                assert!(matches!(error.cause, StepCause::LayerUsedUp { .. }), "{error}");
                let text = error.to_string();
                assert!(text.contains("\"glass\"") && text.contains("0.001 m is used up"), "{text}");
                break before;
            }
        }
    };
    assert!(simulation.state().bit_equal(&before));
}
