//! Closed loops of joints without contacts: redundant joints are solved by linear algebra in all coordinates.   [EQ-1] [EQ-2]

use std::fmt::Write;

use stiction::{Simulation, scene};

/// Two pendulums on the world, turning about x, whose tips are joined by a bar with two spherical joints: the pull along the bar is redundant.
const SPATIAL: &str = r#"
body = [
    { name = "a", mass = 0.1, inertia = [3e-4, 1e-5, 3e-4], position = [0.0, -0.1, 0.5] },
    { name = "b", mass = 0.1, inertia = [3e-4, 1e-5, 3e-4], position = [0.2, -0.1, 0.5] },
    { name = "bar", mass = 0.1, inertia = [1e-5, 3e-4, 3e-4], position = [0.1, -0.2, 0.5] },
]
joint = [
    { kind = "revolute", between = ["world", "a"], anchor = [0.0, 0.0, 0.5], axis = [1.0, 0.0, 0.0] },
    { kind = "revolute", between = ["world", "b"], anchor = [0.2, 0.0, 0.5], axis = [1.0, 0.0, 0.0] },
    { kind = "spherical", between = ["a", "bar"], anchor = [0.0, -0.2, 0.5] },
    { kind = "spherical", between = ["b", "bar"], anchor = [0.2, -0.2, 0.5] },
]
"#;

/// Planar four-bar linkage.
const PLANAR: &str = r#"
body = [
    { name = "crank", mass = 1.0, inertia = 0.1, position = [0.0, 0.5] },
    { name = "coupler", mass = 1.0, inertia = 0.1, position = [0.5, 1.0] },
    { name = "rocker", mass = 1.0, inertia = 0.1, position = [1.0, 0.5] },
]
joint = [
    { kind = "revolute", between = ["world", "crank"], anchor = [0.0, 0.0] },
    { kind = "revolute", between = ["crank", "coupler"], anchor = [0.0, 1.0] },
    { kind = "revolute", between = ["coupler", "rocker"], anchor = [1.0, 1.0] },
    { kind = "revolute", between = ["rocker", "world"], anchor = [1.0, 0.0] },
]
"#;

fn simulation(content: &str, preset: &str, coordinates: &str) -> Simulation {
    let mut text = content.to_owned();
    write!(text, "[simulation]\nduration = 1.0\nstep = 0.002\npreset = \"{preset}\"\n").unwrap();
    write!(text, "[scheme]\ncoordinates = \"{coordinates}\"\n").unwrap();
    Simulation::from_scene(&scene::parse(&text, "loop.toml").unwrap()).unwrap()
}

#[test]
fn loops_run_in_all_coordinates() {
    for (name, content) in [("spatial", SPATIAL), ("planar", PLANAR)] {
        for preset in ["ncp", "stewart-trinkle"] {
            for coordinates in ["maximal", "reduced", "divide-and-conquer"] {
                let mut simulation = simulation(content, preset, coordinates);
                for _ in 0..250 {
                    let report =
                        simulation.step().unwrap_or_else(|error| panic!("{name} {preset} {coordinates}: {error}"));
                    assert!(report.residual.value <= 1e-8, "{name} {preset} {coordinates}");
                    assert!(report.joint_error <= 2e-4, "{name} {preset} {coordinates}: {:e}", report.joint_error);
                    assert!(matches!(report.rung, "linear" | "active-set" | "friction"), "{}", report.rung);
                }
            }
        }
    }
}

#[test]
fn chains_are_solved_linearly() {
    let (mut bodies, mut joints) = (String::new(), String::new());
    for k in 0..8 {
        writeln!(
            bodies,
            "    {{ name = \"l{k}\", mass = 1.0, inertia = [0.01, 0.1, 0.1], position = [{k}.5, 0.0, 0.0] }},"
        )
        .unwrap();
        let before = if k == 0 { "world".to_owned() } else { format!("l{}", k - 1) };
        writeln!(
            joints,
            "    {{ kind = \"revolute\", between = [\"{before}\", \"l{k}\"], anchor = [{k}.0, 0.0, 0.0], axis = [0.0, 1.0, 0.0] }},"
        )
        .unwrap();
    }
    let mut simulation = simulation(&format!("body = [\n{bodies}]\njoint = [\n{joints}]\n"), "ncp", "maximal");
    for _ in 0..100 {
        let report = simulation.step().unwrap();
        assert_eq!(report.rung, "linear");
        assert!(report.residual.value <= 1e-11, "{:e}", report.residual.value);
    }
}
