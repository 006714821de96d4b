//! Steps with many contacts: solved by islands, counted where they are accepted above the aim.

use stiction::complementarity::{Accuracy, Status};
use stiction::record::{Ending, Recorder, RunLabels};
use stiction::{BodyBuilder, ContactMode, Coordinates, Dimension, Ladder, Preset, Scheme, Simulation};

use crate::support::{G, down, friction, on_floor, solid_box};

const HALF: f64 = 0.1;
const H: f64 = 0.01;

/// Names of what may solve an island.
const ISLAND_RUNGS: [&str; 6] =
    ["warm-start", "active-set", "proximal-newton", "cold-proximal-newton", "interior-point", "interior-point-restart"];

fn cube(index: usize, position: [f64; 3]) -> BodyBuilder {
    solid_box(&format!("box {index}"), 1.0, [HALF; 3]).position(position[0], position[1], position[2])
}

fn simulation(bodies: impl IntoIterator<Item = BodyBuilder>, scheme: Scheme) -> Simulation {
    Simulation::new(on_floor(Dimension::Spatial, bodies, down(Dimension::Spatial), friction(0.5)), scheme, H).unwrap()
}

/// Cubes above each other in columns, each turned a little further.
fn falling(count: u32, scheme: Scheme) -> Simulation {
    let bodies = (0..count).map(|k| {
        let (column, layer) = (k % 4, k / 4);
        let angle = 0.5 * f64::from(k) + 0.3;
        let [x, y] = [0.3 * f64::from(column % 2), 0.3 * f64::from(column / 2)];
        let axis = [0.6, 0.0, 0.8].map(|a| a * (0.5 * angle).sin());
        cube(k as usize, [x, y, 0.25 + 0.3 * f64::from(layer)]).quaternion([
            (0.5 * angle).cos(),
            axis[0],
            axis[1],
            axis[2],
        ])
    });
    simulation(bodies, scheme)
}

/// Six cubes that slide apart have 24 contacts in six islands. Each stops after v/(μ g) as Coulomb says, and carries its weight.
#[test]
fn cubes_slide_and_stop_each_in_its_own_island() {
    let speed = |k: usize| 0.3 + 0.1 * k as f64;
    let bodies = (0..6).map(|k| cube(k, [0.0, 0.5 * k as f64, HALF]).velocity(speed(k), 0.0, 0.0));
    let mut simulation = simulation(bodies, Preset::Ncp.scheme());
    for step in 1..=25_u32 {
        let report = simulation.step().unwrap();
        assert!(report.contacts == 24 && report.status == Status::Solved && report.residual.value <= 1e-8);
        assert!(ISLAND_RUNGS.contains(&report.rung), "{}", report.rung);
        let normal: f64 = simulation.contacts().iter().map(|contact| contact.normal_impulse).sum();
        assert!((normal / (6.0 * G * H) - 1.0).abs() < 1e-7, "{normal}");
        for (k, v) in simulation.state().v.chunks(6).enumerate() {
            let expected = (speed(k) - 0.5 * G * H * f64::from(step)).max(0.0);
            assert!((v[0] - expected).abs() < 1e-7, "cube {k}, step {step}: {} instead of {expected}", v[0]);
            assert!(v[1..].iter().all(|v| v.abs() < 1e-7), "{v:?}");
        }
    }
}

/// A wall at rest keeps the impulses of the last step or needs few iterations, and nothing creeps.
#[test]
fn a_wall_at_rest_does_not_creep() {
    let bodies = (0..9).map(|k| cube(k, [0.202 * (k % 3) as f64, 0.0, HALF + 2.0 * HALF * (k / 3) as f64]));
    let mut simulation = simulation(bodies, Preset::Ncp.scheme());
    let (mut kept, mut iterations) = (0, 0);
    for step in 0..100 {
        let report = simulation.step().unwrap();
        assert!(report.contacts > 16 && report.status == Status::Solved && report.penetration < 1e-11);
        kept += u32::from(report.rung == "warm-start");
        iterations += if step > 0 { report.iterations } else { 0 };
        let largest = simulation.state().v.iter().fold(0.0_f64, |largest, v| largest.max(v.abs()));
        assert!(largest < if step < 10 { 1e-8 } else { 1e-9 }, "{largest:e} m/s in step {}", report.step);
    }
    assert!(
        kept > 60 && iterations < 200,
        "impulses kept in {kept} of 100 steps, {iterations} iterations in the others"
    );
}

/// Ten boxes on each other, 40 contacts: once at rest they are solved only when rounding has added up, and they do not creep.
#[test]
fn a_stack_at_rest_is_seldom_solved() {
    for accuracy in [Accuracy::Exact, Accuracy::RealTime] {
        let bodies = (0..10).map(|k| cube(k, [0.0, 0.0, HALF + 2.0 * HALF * k as f64]));
        let mut simulation = simulation(bodies, Preset::Ncp.scheme()).with_ladder(Ladder::with_accuracy(accuracy));
        let (mut solved, mut iterations) = (0, 0);
        for step in 0..200 {
            let report = simulation.step().unwrap();
            let deepest = if step < 10 { 1e-5 } else { 1e-10 };
            assert!(report.contacts == 40 && report.penetration < deepest, "{accuracy:?}: {:e} m", report.penetration);
            solved += u32::from(report.rung != "warm-start");
            iterations += report.iterations;
        }
        let fastest = simulation.state().v.iter().fold(0.0_f64, |fastest, v| fastest.max(v.abs()));
        assert!(fastest < 1e-9, "{accuracy:?}: {fastest:e} m/s");
        // While errors as large as a tenth of the aim were kept, two of three steps were solved.
        assert!(solved <= 30, "{accuracy:?}: {solved} of 200 steps are solved, in {iterations} iterations");
    }
}

/// The front faces of a wall end in one plane. Rounding decides there in every step whether a vertex lies on a face or two edges cross; the impulse passes
/// from one contact to the other, so the warm start stays good.
#[test]
fn contacts_that_change_their_features_keep_their_impulses() {
    // Rows of four, three, two and one.
    let row = |row: usize| (0..4 - row).map(move |k| (row, k as f64 - 0.5 * (3 - row) as f64));
    let places: Vec<_> = (0..4).flat_map(row).collect();
    let bodies =
        places.iter().enumerate().map(|(k, &(row, x))| cube(k, [0.202 * x, 0.0, HALF + 2.0 * HALF * row as f64]));
    let mut simulation = simulation(bodies, Preset::Ncp.scheme());
    let (mut changes, mut iterations) = (0, 0);
    let mut before = Vec::new();
    for step in 0..100 {
        let report = simulation.step().unwrap();
        let ids: Vec<_> = simulation.contacts().iter().map(|contact| contact.id).collect();
        if step > 0 {
            changes += u32::from(ids != before);
            iterations += report.iterations;
        }
        before = ids;
    }
    println!("{changes} changes of features, {iterations} iterations");
    assert!(iterations <= 6 * 99, "{iterations} iterations in 99 steps with {changes} changes");
}

/// What a lower accuracy leaves to contacts at rest is not reported as slip.
#[test]
fn a_heap_at_rest_is_reported_as_sticking_at_lower_accuracy() {
    let mut simulation = falling(12, Preset::Ncp.scheme()).with_ladder(Ladder::with_accuracy(Accuracy::Balanced));
    for _ in 0..300 {
        let _ = simulation.step().unwrap();
    }
    let (mut loaded, mut fastest) = (0, 0.0_f64);
    for _ in 0..20 {
        let _ = simulation.step().unwrap();
        for contact in simulation.contacts().iter().filter(|contact| contact.normal_impulse > 0.0) {
            (loaded, fastest) = (loaded + 1, fastest.max(contact.slip.norm()));
            assert_eq!(
                contact.mode,
                ContactMode::Stick,
                "{:e} m/s in step {}",
                contact.slip.norm(),
                simulation.state().step
            );
        }
    }
    println!("{loaded} contacts, {fastest:e} m/s at most");
    assert!(loaded > 20 * 12 && fastest > 1e-9, "{fastest:e} m/s: nothing to tell apart");
}

/// The summary counts exactly the steps that are accepted above the aim, and names the worst.
#[test]
fn steps_above_the_aim_are_counted_and_named() {
    // An aim that Newton reaches seldom, and an accepted residual that it does.
    let mut scheme = Preset::Ncp.scheme();
    scheme.solving.residual.aim = Some(1e-15);
    let mut simulation = falling(12, scheme);
    let folder = std::env::temp_dir().join(format!("stiction-piles-{}", std::process::id()));
    let labels = RunLabels { scene: "pile".into(), preset: "ncp".into(), solver: "ladder".into(), record_every: 1 };
    let mut recorder = Recorder::create(&folder, &labels, &simulation).unwrap().without_page();
    let (mut steps, mut worst) = (0, (0.0, 0, None));
    for _ in 0..60 {
        let report = simulation.step().unwrap();
        recorder.record(&simulation, &report);
        assert!(report.residual.value <= 1e-4);
        assert_eq!(report.status == Status::Solved, report.residual.value <= 1e-15);
        assert_eq!(report.status == Status::Solved, report.worst.is_none());
        steps += u64::from(report.status == Status::SolvedLoosely);
        if report.residual.value > worst.0 {
            worst = (report.residual.value, report.step, report.worst.map(|worst| worst.name(simulation.model())));
        }
    }
    let summary = recorder.finish(&simulation, 0.0, Ending::Finished).summary;
    std::fs::remove_dir_all(&folder).unwrap();
    let above = summary.residual.above_aim.expect("no method reaches 1e-15 in every step");
    assert!(steps > 0 && above.steps == steps && summary.residual.unsolved.is_none());
    assert_eq!((above.residual_max, above.at_step, above.worst), worst);
}

/// A pile that falls is solved at every accuracy, in maximal and reduced coordinates, with joints and without, and nothing is refused.
#[test]
fn piles_fall_at_every_accuracy() {
    for (accuracy, coordinates) in [
        (Accuracy::Exact, Coordinates::Maximal),
        (Accuracy::Exact, Coordinates::Reduced),
        (Accuracy::Balanced, Coordinates::Maximal),
        (Accuracy::RealTime, Coordinates::Maximal),
    ] {
        let scheme = Scheme { coordinates, ..Preset::Ncp.scheme() };
        let mut simulation = falling(12, scheme).with_ladder(Ladder::with_accuracy(accuracy));
        let policy = stiction::complementarity::Policy::new(accuracy);
        let (mut islands, mut loose, start) = (0, 0, simulation.energy().total());
        for _ in 0..120 {
            let report = simulation.step().unwrap();
            assert!(report.residual.value <= policy.refuse && report.substeps == 1, "{accuracy:?}: {report:?}");
            islands += u32::from(report.contacts > 16 && ISLAND_RUNGS.contains(&report.rung));
            loose += u32::from(report.status == Status::SolvedLoosely);
        }
        assert!(
            islands > 30 && loose <= 12,
            "{accuracy:?}, {coordinates:?}: {islands} by islands, {loose} above the aim"
        );
        assert!(simulation.energy().total() < start, "a pile that falls loses energy");
    }
}
