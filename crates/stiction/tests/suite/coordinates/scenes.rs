//! Every scene with joints in all three coordinates; every scene at all by both ways of the forest.

use stiction::{Coordinates, FrictionSet, Impact, LineariseAt, Preset};
use stiction_testkit::{count_allocations, reference};

use super::{OF_TREES, assert_first_order, differences, distance, load, run};
use crate::family::Family;

/// The scenes with joints, and how long each is run: none of them has an event near its end.
const JOINTED: [(&str, f64, f64); 8] = [
    ("pendulum", 0.004, 0.8),
    ("pendulum_friction", 0.004, 0.2),
    ("pendulum_on_belt", 0.004, 0.2),
    ("pendulum_on_block", 0.004, 0.8),
    ("pendulum_pushed", 0.004, 0.4),
    ("spring_pendulum", 0.004, 0.4),
    ("gear_grasp", 0.001, 0.05),
    ("gear_grasp_smooth", 0.001, 0.05),
];

#[test]
fn every_scene_with_joints_runs_in_all_coordinates() {
    let folder = format!("{}/../../scenes", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut jointed = 0;
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        jointed += usize::from(!load(&name).model.joints().is_empty());
        assert!(load(&name).model.joints().is_empty() || JOINTED.iter().any(|(known, ..)| *known == name), "{name}");
    }
    assert_eq!(jointed, JOINTED.len());
    for (name, h, duration) in JOINTED {
        let scene = load(name);
        for coordinates in OF_TREES {
            let scheme = &scene.settings.scheme;
            assert_first_order(name, differences(name, &scene.model, scheme, (h, duration), coordinates));
        }
    }
}

#[test]
fn both_ways_of_the_forest_are_one_scheme() {
    let folder = format!("{}/../../scenes", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut compared = 0;
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let (scene, h) = (load(&name), load(&name).settings.step);
        let scheme = &scene.settings.scheme;
        if scheme.linearise_at != LineariseAt::Start {
            continue;
        }
        let ends = OF_TREES.map(|coordinates| run(&scene.model, scheme, coordinates, (h, 40.0 * h)));
        let [Ok((reduced, _)), Ok((divided, _))] = ends else { continue };
        let apart = distance(&reduced, &divided);
        assert!(apart < 1e-8, "{name}: {apart:e}");
        compared += 1;
    }
    assert!(compared >= 12, "only {compared} scenes were compared");
}

/// Friction sets, impacts and places of linearisation of the pushed pendulum of C-05.
#[test]
fn friction_sets_impacts_and_places_of_linearisation_go_with_all_coordinates() {
    let mut family = Family::read(&reference("c05"), &["rod_b", "block", "friction_floor", "pusher"]);
    family.pusher = Some((0.02, 0.5, 0.3));
    let model = family.model();
    for friction in [FrictionSet::Quadratic, FrictionSet::Polygon, FrictionSet::Box] {
        for impact in [Impact::Inelastic, Impact::Newton, Impact::Poisson] {
            if (friction, impact) == (FrictionSet::Quadratic, Impact::Poisson) {
                continue;
            }
            let mut scheme = Preset::StewartTrinkle.scheme();
            (scheme.friction, scheme.impact) = (friction, impact);
            let [reduced, divided] = OF_TREES.map(|of| run(&model, &scheme, of, (0.0025, 0.2)).unwrap().0);
            let apart = distance(&reduced, &divided);
            assert!(apart < 1e-8, "{friction:?} {impact:?}: {apart:e}");
        }
    }
    for linearise_at in [LineariseAt::Predicted, LineariseAt::End] {
        let mut scheme = Preset::Ncp.scheme();
        scheme.linearise_at = linearise_at;
        for coordinates in OF_TREES {
            let name = format!("{linearise_at:?} {coordinates:?}");
            assert_first_order(&name, differences(&name, &model, &scheme, (0.004, 0.2), coordinates));
        }
    }
}

/// Sizes count what is unknown: the pure linear problem has no velocities.
#[test]
fn the_problem_of_divide_and_conquer_has_no_velocities() {
    let model = Family::read(&reference("c04"), &["rod_b", "block"]).model();
    let sizes = |preset: Preset| {
        [Coordinates::Maximal, Coordinates::Reduced, Coordinates::DivideAndConquer].map(|coordinates| {
            let mut scheme = preset.scheme();
            scheme.coordinates = coordinates;
            let mut simulation = stiction::Simulation::new(model.clone(), scheme, 0.005).unwrap();
            simulation.step().unwrap().problem_size
        })
    };
    // Two corners with a normal, two directions and a slip speed each; three bodies with three velocities and two joints of two rows;
    // five velocities of the forest. The cone has two impulses and a slip speed at each corner.
    assert_eq!(sizes(Preset::StewartTrinkle), [9 + 4 + 8, 5 + 8, 8]);
    assert_eq!(sizes(Preset::Ncp), [9 + 4 + 6, 5 + 6, 6]);
}

#[test]
fn warm_steps_by_divide_and_conquer_allocate_nothing() {
    let family = Family::read(&reference("c05"), &["rod_b", "block", "friction_floor", "pusher"]);
    for preset in [Preset::Ncp, Preset::StewartTrinkle] {
        let mut scheme = preset.scheme();
        scheme.coordinates = Coordinates::DivideAndConquer;
        let mut simulation = stiction::Simulation::new(family.model(), scheme, 0.005).unwrap();
        let start = simulation.save();
        (0..200).for_each(|_| drop(simulation.step().unwrap()));
        simulation.restore(&start).unwrap();
        for step in 0..200 {
            let allocations = count_allocations(|| drop(simulation.step().unwrap()));
            assert_eq!(allocations.count, 0, "{preset:?} in step {step}");
        }
    }
}
