//! TST-20 and halving: steps that are not all equal.

use nalgebra::{Matrix3, Vector3};
use stiction::complementarity::{FrictionLadder, LcpLemke, MixedLcpSchur, Status};
use stiction::record::{Ending, Recorder, RunLabels};
use stiction::{
    BodyBuilder, ContactRule, Dimension, EventKind, Ladder, Model, ModelBuilder, Preset, Rung, Scheme, Simulation,
    StepCause, spatial,
};
use stiction_testkit::{FailingSolver, Fault, count_allocations, reference};

use crate::{
    family::Family,
    stabilisation::pendulum,
    support::{friction, q, run, steps},
};

/// Steps that alternate between h/2, h and 2h converge like equal ones, and end at the same time.
#[test]
fn uneven_steps_converge_with_first_order() {
    let exact = &reference("c02").table("derived.motion")[2]["theta_a"];
    let error = |h: f64| {
        let mut simulation = Simulation::new(pendulum(true), Preset::StewartTrinkle.scheme(), h).unwrap();
        let pattern = [0.5, 1.0, 2.0, 0.5];
        let mut drift = 0.0_f64;
        for k in 0..(1.0 / h).round() as usize {
            drift = drift.max(simulation.step_with(h * pattern[k % 4]).unwrap().joint_error);
        }
        assert!((simulation.time() - 1.0).abs() < 1e-14, "{}", simulation.time());
        [(q(&simulation, "a")[2] - exact).abs(), drift]
    };
    let [coarse, fine] = [0.0025, 0.00125].map(error);
    let order = |k: usize| (coarse[k] / fine[k]).log2();
    println!("{coarse:?} {fine:?}");
    assert!((order(0) - 1.0).abs() < 0.1 && (order(1) - 2.0).abs() < 0.1, "{coarse:?} {fine:?}");
}

#[test]
fn the_ratio_of_steps_is_bounded() {
    let h = 0.01;
    let mut simulation = Simulation::new(pendulum(true), Preset::Ncp.scheme(), h).unwrap().with_step_ratio(50.0);
    // Growth is free, and counts from then on.
    for step in [h / 40.0, 3.0 * h, 3.0 * h / 49.0] {
        let _ = simulation.step_with(step).unwrap();
    }
    let before = simulation.state().clone();
    let error = simulation.step_with(h / 40.0).unwrap_err();
    assert!(matches!(error.cause, StepCause::StepRatio { bound: 50.0, .. }), "{error}");
    assert!(error.to_string().contains("a ratio of 120") && error.to_string().contains("at most 50"), "{error}");
    assert!(simulation.state().bit_equal(&before));
    // It is remembered where the simulation goes on.
    let mut resumed = Simulation::new(pendulum(true), Preset::Ncp.scheme(), h).unwrap().with_step_ratio(50.0);
    resumed.restore(&simulation.save()).unwrap();
    assert!(resumed.step_with(h / 40.0).is_err());
    for bad in [0.0, -h, f64::NAN, f64::INFINITY, 1e-13, 11.0] {
        let error = simulation.step_with(bad).unwrap_err();
        assert!(matches!(error.cause, StepCause::StepSize { .. }), "{error}");
    }
    // Equal steps are the steps of `step`.
    let (mut one, mut other) = (
        Simulation::new(pendulum(true), Preset::Ncp.scheme(), h).unwrap(),
        Simulation::new(pendulum(true), Preset::Ncp.scheme(), h).unwrap(),
    );
    for _ in 0..20 {
        assert_eq!(one.step().unwrap(), other.step_with(h).unwrap());
    }
    assert!(one.state().bit_equal(other.state()));
}

/// A ball and a box fall, bounce, slide; the box hangs at a rod.
fn scene() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    let ground = spatial::Shape::half_space(Vector3::z()).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(ground.into())).unwrap();
    let ball = BodyBuilder::rigid("ball", 1.0, Matrix3::from_diagonal_element(0.004)).position(0.0, 0.0, 0.15);
    builder.body(ball.velocity(1.0, 0.0, -1.0).shape(spatial::Shape::sphere(0.1).unwrap().into())).unwrap();
    let block = BodyBuilder::rigid("block", 2.0, Matrix3::from_diagonal_element(0.02)).position(0.0, 2.0, 0.1);
    let block = block.velocity(1.0, 0.0, 0.0).shape(spatial::Shape::cuboid([0.2, 0.2, 0.1]).unwrap().into());
    let block = builder.body(block).unwrap();
    let hung = builder.body(BodyBuilder::particle("hung", 0.5).position(0.0, 2.0, 1.1)).unwrap();
    let centre = stiction::Pose::identity();
    let rod = stiction::JointKind::Distance(1.0);
    builder.joint("rod", rod, (block, centre), (hung, centre)).unwrap();
    builder.default_contact(ContactRule { restitution: 0.6, ..friction(0.4) }).unwrap();
    builder.build().unwrap()
}

fn halving(preset: Preset, depth: u32) -> Scheme {
    let mut scheme = preset.scheme();
    scheme.solving.halve_steps = depth;
    scheme
}

/// A ladder whose only rung fails at these calls.
fn failing(preset: Preset, calls: Vec<u64>) -> Ladder {
    let fault = Fault::Status(Status::BudgetExhausted);
    if preset == Preset::Ncp {
        let good = FrictionLadder::with_tolerance(1e-10).unwrap().with_stick_recovery();
        let solver = Box::new(FailingSolver::at_calls(good, fault, calls));
        Ladder::for_cones(vec![Rung { name: "failing", solver }])
    } else {
        let good = MixedLcpSchur::new(LcpLemke::default());
        let solver = Box::new(FailingSolver::at_calls(good, fault, calls));
        Ladder::new(vec![Rung { name: "failing", solver }])
    }
}

const H: f64 = 0.01;

/// A simulation that made `count` whole steps and then fails at the given solves, counted from there.
fn troubled(preset: Preset, depth: u32, count: usize, fails: &[u64]) -> Simulation {
    let mut counted = Simulation::new(scene(), halving(preset, depth), H).unwrap();
    let calls: u64 = (0..count).map(|_| u64::from(counted.step().unwrap().passes)).sum();
    let ladder = failing(preset, fails.iter().map(|k| calls + k).collect());
    let mut simulation = Simulation::new(scene(), halving(preset, depth), H).unwrap().with_ladder(ladder);
    steps(&mut simulation, count);
    simulation
}

/// A step made in halves is the two half steps, and its impulses, impacts and events are those of both.
#[test]
fn a_halved_step_is_its_two_halves() {
    for preset in [Preset::Ncp, Preset::StewartTrinkle] {
        for count in 0..40 {
            let mut halved = troubled(preset, 3, count, &[0]);
            let mut by_hand = Simulation::new(scene(), preset.scheme(), H).unwrap();
            by_hand.set_state(halved.state()).unwrap();
            let report = crate::support::step(&mut halved);
            assert_eq!((report.substeps, report.step), (2, count as u64 + 1));
            let (mut joints, mut events, mut impulses) = (vec![0.0; 1], Vec::new(), Vec::new());
            let mut impacts = 0;
            for _ in 0..2 {
                impacts += by_hand.step_with(0.5 * H).unwrap().impacts;
                joints.iter_mut().zip(by_hand.joint_impulses()).for_each(|(sum, p)| *sum += p);
                events.extend_from_slice(by_hand.events());
                impulses.extend(by_hand.contacts().iter().map(|c| (c.id, c.normal_impulse, c.friction_impulse)));
            }
            let (one, other) = (halved.state(), by_hand.state());
            assert_eq!((&one.q, &one.v), (&other.q, &other.v), "{preset:?}, step {count}");
            assert!((one.time - (count + 1) as f64 * H).abs() < 1e-15);
            assert_eq!(halved.joint_impulses(), &joints[..]);
            assert_eq!(one.joint_impulses, joints);
            assert_eq!((halved.events(), report.impacts), (&events[..], impacts));
            for contact in halved.contacts() {
                let of = impulses.iter().filter(|(id, ..)| *id == contact.id);
                let (normal, friction) =
                    of.fold((0.0, Vector3::zeros()), |(n, f), (_, normal, friction)| (n + normal, f + friction));
                assert_eq!((contact.normal_impulse, contact.friction_impulse), (normal, friction));
            }
            assert!(impulses.iter().all(|(id, ..)| halved.contacts().iter().any(|contact| contact.id == *id)));
            assert!(halved.contacts().is_sorted_by_key(|contact| contact.id));
            let pending_restitution = |simulation: &Simulation| {
                simulation
                    .state()
                    .contacts
                    .iter()
                    .map(|c| c.pending_restitution)
                    .filter(|pending_restitution| *pending_restitution < 0.0)
                    .collect::<Vec<_>>()
            };
            assert_eq!(pending_restitution(&halved), pending_restitution(&by_hand), "{preset:?}, step {count}");
        }
    }
}

/// The impulses at support points are those of both halves, in the report and in the state.
#[test]
fn feet_rub_in_both_halves() {
    for preset in [Preset::Ncp, Preset::StewartTrinkle] {
        let new = || Simulation::new(crate::support_friction::against_a_wall(), halving(preset, 1), H).unwrap();
        let (mut halved, mut by_hand) = (new().with_ladder(failing(preset, vec![0])), new());
        assert_eq!(crate::support::step(&mut halved).substeps, 2);
        let mut sums = [(Vector3::zeros(), 0.0); 3];
        for _ in 0..2 {
            let _ = by_hand.step_with(0.5 * H).unwrap();
            for ((friction, spin), support_point) in sums.iter_mut().zip(by_hand.support_points()) {
                *friction += support_point.friction_impulse;
                *spin += support_point.spin_impulse;
            }
        }
        assert_eq!(
            halved
                .support_points()
                .iter()
                .map(|support_point| (support_point.friction_impulse, support_point.spin_impulse))
                .collect::<Vec<_>>(),
            sums
        );
        let remembered: Vec<_> = sums.iter().flat_map(|(friction, spin)| [friction.x, friction.y, *spin]).collect();
        assert_eq!(halved.state().support_impulses, remembered);
    }
}

/// The second half fails and is halved again; the ball that was hit still bounces with its pending restitution.
#[test]
fn restitution_survives_halving() {
    let mut plain = Simulation::new(scene(), Preset::Ncp.scheme(), H).unwrap();
    let mut hit = None;
    for step in 0..40 {
        let _ = crate::support::step(&mut plain);
        if hit.is_none() && plain.events().iter().any(|event| event.kind == EventKind::Touch) && step > 2 {
            hit = Some(step);
        }
    }
    let hit = hit.unwrap();
    let speed = |simulation: &Simulation| simulation.state().v[2];
    for fails in [&[0][..], &[0, 2], &[0, 1, 4]] {
        let mut simulation = troubled(Preset::Ncp, 4, hit, fails);
        let before = speed(&simulation);
        let report = crate::support::step(&mut simulation);
        assert!(report.substeps as usize == 1 + fails.len(), "{report:?}");
        let mut highest = speed(&simulation);
        for _ in 0..3 {
            let _ = crate::support::step(&mut simulation);
            highest = highest.max(speed(&simulation));
        }
        println!("{fails:?}: {before} -> {highest}");
        assert!((highest / -before - 0.6).abs() < 0.06, "{before} became {highest}");
    }
}

#[test]
fn what_halving_cannot_help_leaves_the_state_bit_identical() {
    for preset in [Preset::Ncp, Preset::StewartTrinkle] {
        // At once, and only in the second half of the second half.
        for fails in [&[0, 1, 2][..], &[0, 2, 4]] {
            let mut simulation = troubled(preset, 2, 20, fails);
            let (before, saved) = (simulation.state().clone(), simulation.save());
            let error = simulation.step().unwrap_err();
            assert!(matches!(error.cause, StepCause::NotSolved { .. }), "{error}");
            // The scene has a joint, and the hint at those is the better one.
            assert!(error.to_string().contains("redundant joints"), "{error}");
            assert!(simulation.state().bit_equal(&before) && simulation.save() == saved);
        }
        // Without permission nothing is halved.
        let mut simulation = troubled(preset, 0, 20, &[0]);
        assert!(matches!(simulation.step().unwrap_err().cause, StepCause::NotSolved { .. }));
    }
}

/// Halving itself allocates nothing; a solve that fails does, for its message.
#[test]
fn halved_steps_allocate_only_the_messages_of_failures_when_warm() {
    for preset in [Preset::Ncp, Preset::StewartTrinkle] {
        let mut unsolved = troubled(preset, 0, 20, &[0, 1]);
        let _ = unsolved.step().unwrap_err();
        let message = count_allocations(|| drop(unsolved.step().unwrap_err())).count;
        // The whole step and the first half always fail: steps of three substeps, and others if a missed contact needs another solve.
        let ladder = failing(preset, (0..10_000).filter(|call| call % 5 < 2).collect());
        let mut simulation = Simulation::new(scene(), halving(preset, 5), H).unwrap().with_ladder(ladder);
        let start = simulation.save();
        let mut most = 0;
        for _ in 0..3 {
            for _ in 0..60 {
                most = most.max(simulation.step().unwrap().substeps);
            }
            simulation.restore(&start).unwrap();
        }
        assert!(most > 2, "{most}");
        for step in 0..60 {
            let mut substeps = 0;
            let allocations = count_allocations(|| substeps = simulation.step().unwrap().substeps);
            // Each failure divides one substep into two.
            let failures = u64::from(substeps) - 1;
            assert!(
                allocations.count <= failures * message,
                "{preset:?}, step {step} of {substeps} parts: {allocations:?}"
            );
        }
    }
}

/// Halving in a realistic case: the simulation continues although every second solve fails.
#[test]
fn a_run_with_halved_steps_ends_where_it_should() {
    let family = Family::read(&reference("c04"), &["rod_b", "block"]);
    let whole = run(family.model(), Preset::StewartTrinkle.scheme(), 0.001, 1.0, |_, _| ());
    let ladder = failing(Preset::StewartTrinkle, (0..4000).filter(|call| call % 5 == 0).collect());
    let scheme = halving(Preset::StewartTrinkle, 6);
    let mut simulation = Simulation::new(family.model(), scheme, 0.001).unwrap().with_ladder(ladder);
    let mut halved = 0;
    for _ in 0..1000 {
        halved += u32::from(simulation.step().unwrap().substeps > 1);
    }
    assert!(halved > 100);
    assert_eq!(simulation.time().to_bits(), whole.time().to_bits());
    let difference = (q(&simulation, "a")[2] - q(&whole, "a")[2]).abs();
    assert!(difference < 5e-3 && difference > 0.0, "{difference}");
}

/// The summary of a recorded run counts the halved steps, and lists their times.
#[test]
fn the_summary_tells_of_halved_steps() {
    let folder = std::env::temp_dir().join(format!("stiction-halved-{}", std::process::id()));
    let labels = RunLabels { scene: "halved".into(), preset: "ncp".into(), solver: "-".into(), record_every: 1 };
    // The second step in two substeps, the fourth in three.
    let ladder = failing(Preset::Ncp, vec![1, 5, 6]);
    let mut simulation = Simulation::new(scene(), halving(Preset::Ncp, 3), H).unwrap().with_ladder(ladder);
    let mut recorder = Recorder::create(&folder, &labels, &simulation).unwrap();
    let mut reported = Vec::new();
    for _ in 0..6 {
        let report = crate::support::step(&mut simulation);
        recorder.record(&simulation, &report);
        if report.substeps > 1 {
            reported.push((report.time, report.substeps));
        }
    }
    let summary = recorder.finish(&simulation, 0.0, Ending::Finished).summary;
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(reported.iter().map(|(_, parts)| *parts).collect::<Vec<_>>(), [2, 3]);
    let halved = summary.halved.unwrap();
    assert_eq!((halved.steps, halved.max_substeps), (2, 3));
    assert_eq!(halved.times, reported.iter().map(|(time, _)| *time).collect::<Vec<_>>());
}

/// Layers without damping that are pressed by an oblique or spinning contact of round bodies: curvature adds to their linearised gap, but they
/// are not touched a second time, and no part of a step becomes so short that its masses underflow.
#[test]
fn pressed_layers_of_round_bodies_are_not_located_again() {
    for (x, spin) in [(0.05, 0.0), (0.0, 5.0), (0.12, -3.0)] {
        for position_update in ["average", "end"] {
            let text = format!(
                "[simulation]\nduration = 0.1\nstep = 0.001\ngravity = [0.0, 0.0, 0.0]\n
                [scheme]\nlocate_contacts = true\nposition_update = \"{position_update}\"\n
                [contact_default]\nfriction = 0.3\n[material.rubber]\nstiffness = 2e5\n
                [[body]]\nname = \"a\"\nmaterial = \"rubber\"\ndensity = 1000.0\nposition = [0.0, 0.0, 0.0]\n
                [[body.shape]]\nsphere = {{ radius = 0.1 }}\n
                [[body]]\nname = \"b\"\ndensity = 1000.0\nposition = [{x}, 0.0, 0.26]\nvelocity = [0.0, 0.0, -3.0]\n
                angular_velocity = [0.0, {spin:?}, 0.0]\n[[body.shape]]\nsphere = {{ radius = 0.1 }}\n"
            );
            let scene = stiction::scene::parse(&text, "balls").unwrap();
            let mut simulation = Simulation::from_scene(&scene).unwrap();
            let before = simulation.momentum().linear;
            let mut touched = false;
            for _ in 0..100 {
                let report = simulation.step().unwrap_or_else(|error| panic!("{x} {spin} {position_update}: {error}"));
                touched |= simulation.contacts().iter().any(|contact| contact.normal_impulse > 0.0);
                assert!(report.layer_substeps < 20, "{} parts", report.layer_substeps);
            }
            assert!(touched);
            assert!((simulation.momentum().linear - before).norm() < 1e-10);
        }
    }
}
