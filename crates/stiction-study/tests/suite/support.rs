//! Scene of most tests of pushes.

use stiction::scene::{self, Scene};
use stiction_study::push::{Goal, Push, Sampler, Search, SearchOptions};

/// The square of case C-09 with coarse steps; `more` is appended.
pub(crate) fn scene_with(more: &str) -> Scene {
    let text = format!(
        r#"
        [simulation]
        duration = 1.0
        step = 0.05
        preset = "quasistatic"
        gravity = [0.0, 0.0, -9.81]
        [[body]]
        name = "square"
        mass = 1.0
        position = [0.0, 0.0]
        [[body.shape]]
        box = {{ size = [1.0, 1.0] }}
        [body.support]
        points = [[0.0, 0.3], [-0.25980762113533159, -0.15], [0.25980762113533159, -0.15]]
        friction = 0.3
        [[body]]
        name = "needle"
        kind = "kinematic"
        motion = {{ x = -1.0, y = 0.0 }}
        [[body.shape]]
        point = {{}}
        {more}"#
    );
    scene::parse(&text, "square.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// Tolerances of 3 cm and 5°.
pub(crate) fn goal(position: [f64; 2], degrees: f64) -> Goal {
    Goal::new(position, degrees.to_radians(), (0.03, 5.0_f64.to_radians())).unwrap()
}

pub(crate) fn push_to(goal: Goal) -> Push {
    Push::new(&scene_with(""), "square", "needle", goal).unwrap()
}

/// Only trials; tests of refinement and rehearsals set their numbers.
pub(crate) fn options(trials: u64) -> SearchOptions {
    let mut options = SearchOptions::default();
    (options.trials, options.refine) = (trials, 0);
    options
}

/// A search with short paths of one push, quick to simulate.
pub(crate) fn quick(goal: Goal, options: SearchOptions) -> Search {
    let push = push_to(goal);
    let sampler = Sampler::new(&push, 1, [0.1, 0.4], 0.5).unwrap();
    Search::new(push, sampler, options).unwrap()
}
