//! Every scene with joints in all three coordinates; every scene in both reduced formulations.

use nalgebra::{Matrix3, Vector3};
use stiction::{
    BodyBuilder, Coordinates, Dimension, FrictionSet, Impact, JointKind, LineariseAt, Model, ModelBuilder, Preset,
    Simulation, spatial,
};
use stiction_testkit::{count_allocations, reference};

use super::{OF_TREES, apart, assert_first_order, differences, distance, joint_error, load, run};
use crate::family::Family;
use crate::support::friction;

/// The scenes with joints, and how long each is run: none of them has an event near its end.
const JOINTED: [(&str, f64, f64); 11] = [
    ("pendulum", 0.004, 0.8),
    ("pendulum_friction", 0.004, 0.2),
    ("pendulum_on_belt", 0.004, 0.2),
    ("pendulum_on_block", 0.004, 0.8),
    ("pendulum_pushed", 0.004, 0.4),
    ("spring_pendulum", 0.004, 0.4),
    ("gear_grasp", 0.001, 0.3),
    ("gear_grasp_smooth", 0.001, 0.05),
    ("hand_grasp", 0.002, 0.04),
    ("arm_push", 0.001, 0.32),
    ("falling_chain", 0.001, 0.24),
];

/// Scenes with closed loops, whose loop joint is not a coordinate and closes up to the error of a step.
const LOOPED: [(&str, f64, f64); 1] = [("four_bar", 0.001, 0.2)];

#[test]
fn every_scene_with_joints_runs_in_all_coordinates() {
    let folder = format!("{}/../../scenes", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut jointed = 0;
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        jointed += usize::from(!load(&name).model.joints().is_empty());
        let known = JOINTED.iter().chain(&LOOPED).any(|(known, ..)| *known == name);
        assert!(load(&name).model.joints().is_empty() || known, "{name}");
    }
    assert_eq!(jointed, JOINTED.len() + LOOPED.len());
    for (name, h, duration) in JOINTED {
        let scene = load(name);
        let scheme = &scene.settings.scheme;
        for coordinates in OF_TREES {
            if scheme.linearise_at == LineariseAt::Implicit {
                // Implicit steps are written for all bodies, and say so.
                assert!(run(&scene.model, scheme, coordinates, (h, h)).is_err());
                continue;
            }
            let differences = differences(name, &scene.model, scheme, (h, duration), coordinates);
            // Along straight guides all coordinates are the same.
            assert!(differences[0] > 1e-6 || name == "gear_grasp", "{name}: nothing to compare, {differences:?}");
            assert_first_order(name, differences);
        }
    }
}

#[test]
fn every_scene_with_a_loop_runs_in_all_coordinates() {
    for (name, h, duration) in LOOPED {
        let scene = load(name);
        for coordinates in OF_TREES {
            let both = [h, h / 2.0, h / 4.0].map(|h| {
                let run = |coordinates| run(&scene.model, &scene.settings.scheme, coordinates, (h, duration)).unwrap();
                let ((maximal, _), (other, error)) = (run(Coordinates::Maximal), run(coordinates));
                (apart(&maximal, &other), error)
            });
            assert!(both[0].0 > 1e-6, "{name}: nothing to compare");
            assert_first_order(name, both.map(|(apart, _)| apart));
            assert_first_order("the loop", both.map(|(_, error)| error));
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

/// Problem sizes: the pure linear problem has no velocities.
#[test]
fn the_problem_of_divide_and_conquer_has_no_velocities() {
    let mut family = Family::read(&reference("c04"), &["rod_b", "block"]);
    family.floor_friction = 0.3;
    let model = family.model();
    let sizes = |preset: Preset| {
        [Coordinates::Maximal, Coordinates::Reduced, Coordinates::DivideAndConquer].map(|coordinates| {
            let mut scheme = preset.scheme();
            scheme.coordinates = coordinates;
            let mut simulation = Simulation::new(model.clone(), scheme, 0.005).unwrap();
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
    let cases =
        [Preset::Ncp, Preset::StewartTrinkle].map(|preset| [(preset, family.model()), (preset, falling_chain(60))]);
    for (preset, model) in cases.into_iter().flatten() {
        let mut scheme = preset.scheme();
        scheme.coordinates = Coordinates::DivideAndConquer;
        let mut simulation = Simulation::new(model, scheme, 0.001).unwrap();
        let start = simulation.save();
        for _ in 0..200 {
            let _ = simulation.step().unwrap();
        }
        simulation.restore(&start).unwrap();
        for step in 0..200 {
            let allocations = count_allocations(|| {
                let _ = simulation.step().unwrap();
            });
            assert_eq!(allocations.count, 0, "{preset:?} in step {step}");
        }
    }
}

/// A chain of links that falls on its first end: the size of the contact problem does not depend on its length.
pub(super) fn falling_chain(links: usize) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(spatial::Shape::half_space(Vector3::z()).unwrap().into())).unwrap();
    let mut before = None;
    for index in 0..links {
        let at = Vector3::new(0.1 * index as f64, 0.0, 0.05 + 0.01 * index as f64);
        let mut link =
            BodyBuilder::rigid(format!("link {index}"), 0.1, Matrix3::identity() * 1e-4).position(at.x, at.y, at.z);
        if index == 0 {
            link = link.shape(spatial::Shape::sphere(0.05).unwrap().into());
        }
        let link = builder.body(link).unwrap();
        if let Some(before) = before.replace(link) {
            let axis = if index % 2 == 0 { Vector3::y() } else { Vector3::z() };
            builder.joint_at(format!("joint {index}"), JointKind::Revolute, (before, link), at, axis).unwrap();
        }
    }
    builder.default_contact(friction(0.4)).unwrap();
    builder.build().unwrap()
}

#[test]
fn the_size_of_the_problem_does_not_depend_on_the_length_of_a_chain() {
    let mut scheme = Preset::StewartTrinkle.scheme();
    (scheme.coordinates, scheme.directions) = (Coordinates::DivideAndConquer, 8);
    for links in [2, 10, 100, 1000] {
        let mut simulation = Simulation::new(falling_chain(links), scheme.clone(), 0.001).unwrap();
        for _ in 0..3 {
            let report = simulation.step().unwrap();
            assert_eq!((report.contacts, report.problem_size), (1, 1 + 8 + 1), "{links} links");
        }
        assert!(joint_error(&simulation) <= 1e-12 * (links as f64));
    }
}
