//! Robots, ours and those of other projects, in both reduced formulations.

use std::path::{Path, PathBuf};

use stiction::{LineariseAt, Scene, Simulation, scene};

use super::{OF_TREES, distance};

/// Steps both together: they differ by rounding and residuals, and if a step fails in one it fails in the other. Returns true if there was
/// anything to compare.
fn compare(path: &Path) -> bool {
    let Ok(scene) = scene::load(path) else { return false };
    let Scene { model, settings, .. } = &scene;
    assert_eq!(settings.scheme.linearise_at, LineariseAt::Start);
    let simulations = OF_TREES.map(|coordinates| {
        let mut scheme = settings.scheme.clone();
        scheme.coordinates = coordinates;
        Simulation::new(model.clone(), scheme, settings.step)
    });
    let [Ok(mut reduced), Ok(mut divided)] = simulations else { return false };
    let mut bound = 1e-8;
    for step in 0..30 {
        let reports = [reduced.step(), divided.step()];
        let made = reports.each_ref().map(Result::is_ok);
        assert_eq!(made[0], made[1], "{}, step {step}", path.display());
        // Many contacts are solved by islands in one and as a whole in the other: then the velocities differ by the residuals, which are relative to ‖q‖.
        let speed = reduced.state().v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        let unsolved =
            reports.iter().flatten().map(|report| report.residual.value * (report.problem_size as f64).sqrt());
        bound += 10.0 * speed * unsolved.fold(0.0, f64::max);
        let apart = distance(&reduced, &divided);
        assert!(apart < bound, "{}, step {step}: {apart:e} above {bound:e}", path.display());
        if !made[0] {
            println!("{}: step {step} cannot be made", path.display());
            return step > 0;
        }
    }
    true
}

#[test]
fn our_robots_move_the_same_by_both_ways_of_the_forest() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stiction-scene/tests/suite");
    assert!(compare(&folder.join("crawler.xml")));
    assert!(compare(&folder.join("../../../../scenes/quadruped.xml")));
}

/// The collection of models that `STICTION_DATA` leads to.
#[test]
fn robots_of_others_move_the_same_by_both_ways_of_the_forest() {
    let folder = std::env::var("STICTION_DATA").map(|root| PathBuf::from(root).join("models"));
    let Some(folder) = folder.ok().filter(|folder| folder.is_dir()) else {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "STICTION_DATA must lead to the collection here");
        println!("skipped: STICTION_DATA does not lead to the collection `models`");
        return;
    };
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let robots = paths.iter().filter(|path| path.extension().is_some_and(|end| end == "xml" || end == "urdf"));
    let compared = robots.filter(|path| compare(path)).count();
    assert!(compared >= 10, "only {compared} were compared");
}
