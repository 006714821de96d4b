//! Orders of the steps: slopes of smooth motions, slides and bounces by closed forms, and what a step of second order keeps.   [STEP-18]

use std::fmt::Write;

use stiction::{ContactMode, Simulation, scene};
use stiction_testkit::count_allocations;

use crate::support::steps;

/// Two links on the world, with gravity.
const PENDULUM: &str = r#"
body = [
    { name = "a", mass = 1.0, inertia = [0.02, 0.03, 0.01], position = [0.5, 0.0, 0.0] },
    { name = "b", mass = 0.5, inertia = [0.02, 0.03, 0.01], position = [1.0, 0.3, 0.0] },
]
joint = [
    { kind = "revolute", between = ["world", "a"], anchor = [0.0, 0.0, 0.0], axis = [0.0, 1.0, 0.1] },
    { kind = "spherical", between = ["a", "b"], anchor = [1.0, 0.0, 0.0] },
]
"#;

/// The same with a spring, a damper and a rotor in the second joint.
const SPRING: &str = r#"
body = [
    { name = "a", mass = 1.0, inertia = [0.02, 0.03, 0.01], position = [0.5, 0.0, 0.0] },
    { name = "b", mass = 0.5, inertia = [0.02, 0.03, 0.01], position = [1.0, 0.3, 0.0] },
]
joint = [
    { kind = "revolute", between = ["world", "a"], anchor = [0.0, 0.0, 0.0], axis = [0.0, 1.0, 0.1] },
    { kind = "revolute", between = ["a", "b"], anchor = [1.0, 0.0, 0.0], axis = [1.0, 0.2, 0.0], stiffness = 40.0, damping = 0.3, armature = 0.01 },
]
"#;

/// A ball that rolls down another one.
const ROLLING: &str = r#"
contact_default = { friction = 1.0 }
body = [
    { name = "big", kind = "fixed", shape = [{ sphere = { radius = 0.5 } }] },
    { name = "a", mass = 1.0, position = [0.1, 0.05, 0.6910137480543173], shape = [{ sphere = { radius = 0.2 } }] },
]
"#;

/// A ball that rolls on a turntable: its centre moves on a circle.
const TURNTABLE: &str = r#"
contact_default = { friction = 5.0 }
body = [
    { name = "table", kind = "kinematic", position = [0.0, 0.0, -0.05], motion = { angle = "2*t", axis = [0.0, 0.0, 1.0] }, shape = [{ box = { half_extents = [5.0, 5.0, 0.05] } }] },
    { name = "a", mass = 1.0, position = [1.0, 0.0, 0.1], angular_velocity = [20.0, 0.0, 0.0], shape = [{ sphere = { radius = 0.1 } }] },
]
"#;

/// A block that slides on the ground, with a closed form.
const SLIDING: &str = r#"
contact_default = { friction = 0.5 }
body = [
    { name = "ground", kind = "fixed", shape = [{ halfspace = { normal = [0.0, 0.0, 1.0] } }] },
    { name = "a", mass = 1.0, position = [0.0, 0.0, 0.1], velocity = [4.0, 0.0, 0.0], shape = [{ box = { half_extents = [0.2, 0.2, 0.1] } }] },
]
"#;

/// A body with unequal inertias that hangs at a corner and spins.
const TOP: &str = r#"
body = [{ name = "a", mass = 1.0, inertia = [0.02, 0.03, 0.01], position = [0.1, 0.2, 0.3], angular_velocity = [5.0, 3.0, 1.0], velocity = [-0.7, 1.4, -0.7] }]
joint = [{ kind = "spherical", between = ["world", "a"], anchor = [0.0, 0.0, 0.0] }]
"#;

fn simulation(content: &str, scheme: &str, h: f64) -> Simulation {
    let mut text = content.to_owned();
    write!(text, "[simulation]\nduration = 1.0\ndimension = 3\ngravity = [0.0, 0.0, -9.81]\nstep = {h:?}\n").unwrap();
    write!(text, "[scheme]\n{scheme}\n").unwrap();
    Simulation::from_scene(&scene::parse(&text, "order.toml").unwrap()).unwrap()
}

/// Ratios of the changes of position and velocity after `time`, as steps of 4, 2, 1 ms are halved: 2 to the power of the order.
fn ratios(content: &str, scheme: &str, time: f64) -> [f64; 2] {
    let ends = [0.004, 0.002, 0.001].map(|h| {
        let mut simulation = simulation(content, scheme, h);
        steps(&mut simulation, (time / h).round() as usize);
        [simulation.state().q.clone(), simulation.state().v.clone()]
    });
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    [0, 1].map(|k| distance(&ends[0][k], &ends[1][k]) / distance(&ends[1][k], &ends[2][k]))
}

#[test]
fn smooth_motions_have_the_order_of_the_scheme() {
    let coordinates = ["maximal", "reduced", "divide-and-conquer"];
    let jointed = [("pendulum", PENDULUM), ("spring", SPRING), ("top", TOP)];
    let all = jointed.into_iter().flat_map(|scene| coordinates.map(|coordinates| (scene, coordinates)));
    let contacts = [("rolling", ROLLING), ("turntable", TURNTABLE)].map(|scene| (scene, "maximal"));
    for ((name, content), coordinates) in all.chain(contacts) {
        let of = |order: u32| ratios(content, &format!("order = {order}\ncoordinates = \"{coordinates}\""), 0.2);
        let ([q, v], [first_q, _]) = (of(2), of(1));
        assert!(q > 3.6 && q < 4.4 && v > 3.6 && v < 4.4, "{name} {coordinates}: {q} {v}");
        assert!(first_q > 1.7 && first_q < 2.3, "{name} {coordinates}: {first_q}");
    }
}

#[test]
fn substeps_are_steps() {
    let mut whole = simulation(PENDULUM, "substeps = 4", 0.004);
    let mut single = simulation(PENDULUM, "", 0.001);
    let reports: Vec<_> = (0..20).map(|_| whole.step().unwrap()).collect();
    steps(&mut single, 80);
    assert!(reports.iter().all(|report| report.substeps == 4 && report.layer_substeps == 4));
    assert_eq!((whole.state().step, whole.time()), (20, 0.08));
    let far = whole.state().q.iter().zip(&single.state().q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(far < 1e-12, "{far:e}");
}

/// v²/(2 μ g) is the distance of a slide.
#[test]
fn slides_end_where_coulomb_says() {
    let exact = 16.0 / (2.0 * 0.5 * 9.81);
    let error = |scheme: &str, h: f64| {
        let mut simulation = simulation(SLIDING, scheme, h);
        steps(&mut simulation, (1.0 / h).round() as usize);
        let body = simulation.model().find_body("a").unwrap();
        assert!(simulation.state().v.iter().all(|v| v.abs() < 1e-13), "the block rests");
        assert!(simulation.contacts().iter().all(|contact| contact.mode == ContactMode::Stick));
        (simulation.configuration().pose(body).translation.vector.x / exact - 1.0).abs()
    };
    for h in [0.01, 0.007, 0.005] {
        let [first, second, substeps] = ["", "order = 2", "substeps = 4"].map(|scheme| error(scheme, h));
        // The last step, in which the block stops, is of second order: less than (μ g h)²/(2 μ g).
        assert!(
            second < 0.5 * 0.5 * 9.81 * h * h / exact && substeps < 0.3 * first,
            "{first:e} {second:e} {substeps:e}"
        );
    }
}

/// Apexes of a ball that bounces with ε = 0.7 fall by ε².
#[test]
fn bounces_keep_their_heights() {
    let content = r#"
        contact_default = { restitution = 0.7 }
        body = [
            { name = "ground", kind = "fixed", shape = [{ halfspace = { normal = [0.0, 0.0, 1.0] } }] },
            { name = "a", mass = 1.0, position = [0.0, 0.0, 1.1], shape = [{ sphere = { radius = 0.1 } }] },
        ]
    "#;
    for (h, coordinates) in [(0.01, "maximal"), (0.0095, "maximal"), (0.0103, "reduced")] {
        let mut simulation = simulation(content, &format!("order = 2\ncoordinates = \"{coordinates}\""), h);
        let body = simulation.model().find_body("a").unwrap();
        let mut heights = Vec::new();
        for _ in 0..300 {
            let _ = simulation.step().unwrap();
            heights.push(simulation.configuration().pose(body).translation.vector.z - 0.1);
        }
        let apexes = heights.windows(3).filter(|w| w[1] > w[0] && w[1] >= w[2]).map(|w| w[1]);
        let worst = apexes.zip(1..=4).map(|(apex, k)| (apex / 0.49_f64.powi(k) - 1.0).abs());
        let worst = worst.fold(0.0, f64::max);
        assert!(worst < 0.005, "{h}: {worst}");
    }
}

#[test]
fn a_stack_rests_exactly_and_steps_allocate_nothing() {
    let content = r#"
        contact_default = { friction = 0.5 }
        body = [
            { name = "ground", kind = "fixed", shape = [{ halfspace = { normal = [0.0, 0.0, 1.0] } }] },
            { name = "a", mass = 1.0, position = [0.0, 0.0, 0.1], shape = [{ box = { half_extents = [0.1, 0.1, 0.1] } }] },
            { name = "b", mass = 10.0, position = [0.02, 0.0, 0.3], shape = [{ box = { half_extents = [0.1, 0.1, 0.1] } }] },
        ]
    "#;
    let mut simulation = simulation(content, "order = 2", 0.005);
    // The same motion twice: the first time the scratch memory grows.
    let saved = simulation.save();
    steps(&mut simulation, 100);
    simulation.restore(&saved).unwrap();
    for k in 0..100 {
        let allocations = count_allocations(|| {
            let _ = simulation.step().unwrap();
        });
        // The first step takes over the lists of the saved state.
        assert!(k == 0 || allocations.count == 0, "step {k}: {}", allocations.count);
        let weight: f64 = simulation.contacts().iter().map(|contact| contact.normal_impulse).sum();
        // The ground bears both weights, and the lower block that of the upper one.
        assert!((weight / (21.0 * 9.81 * 0.005) - 1.0).abs() < 1e-9, "{weight}");
    }
    let speed = simulation.state().v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    assert!(speed < 1e-12, "{speed:e}");
}

#[test]
fn saved_between_impacts_it_continues_bit_equal() {
    let start = "order = 2";
    let mut whole = simulation(ROLLING, start, 0.004);
    steps(&mut whole, 30);
    let saved = whole.save();
    steps(&mut whole, 60);
    let mut other = simulation(ROLLING, start, 0.004);
    other.restore(&saved).unwrap();
    steps(&mut other, 60);
    assert!(whole.state().bit_equal(other.state()));
}

#[test]
fn what_is_of_first_order_is_refused_by_name() {
    for (scheme, field) in [
        ("order = 3", "order"),
        ("substeps = 0", "substeps"),
        ("order = 2\njacobians = \"end\"", "jacobians"),
        ("order = 2\ngamma = 0.0", "with a weight of 0"),
        ("order = 2\nvelocity_terms = \"explicit\"", "velocity_terms"),
        ("order = 2\nposition_update = \"average\"", "position_update"),
        ("order = 2\nfriction = \"polygon\"\nimpact = \"poisson\"", "impact"),
    ] {
        let text = format!("{SLIDING}\n[simulation]\nduration = 1.0\ndimension = 3\nstep = 0.01\n[scheme]\n{scheme}\n");
        let error = match scene::parse(&text, "order.toml") {
            Ok(scene) => Simulation::from_scene(&scene).map(|_| ()).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(field), "{scheme}: {error}");
    }
}

/// A plane scene with gravity along −y.
fn planar(content: &str, scheme: &str, h: f64) -> Simulation {
    let mut text = content.to_owned();
    write!(text, "[simulation]\nduration = 1.0\ndimension = 2\ngravity = [0.0, -9.81]\nstep = {h:?}\n").unwrap();
    write!(text, "[scheme]\n{scheme}\n").unwrap();
    Simulation::from_scene(&scene::parse(&text, "order.toml").unwrap()).unwrap()
}

/// A ball begins in the floor and carries a body on the stop of a slider: both are lifted in one step, and neither keeps the velocity of that.
#[test]
fn removal_of_overlap_leaves_no_velocity_behind_a_stop() {
    let content = r#"
        body = [
            { name = "floor", kind = "fixed", shape = [{ halfspace = { normal = [0.0, 1.0] } }] },
            { name = "ball", mass = 1.0, inertia = 0.02, position = [0.0, 0.199], shape = [{ disc = { radius = 0.2 } }] },
            { name = "load", mass = 3.0, inertia = 0.02, position = [0.0, 0.699] },
        ]
        joint = [{ name = "j", kind = "prismatic", between = ["ball", "load"], anchor = [0.0, 0.4], axis = [0.0, 1.0], limits = [0.0, 0.1] }]
    "#;
    for coordinates in ["maximal", "reduced", "divide-and-conquer"] {
        let mut simulation = planar(content, &format!("order = 2\ncoordinates = \"{coordinates}\""), 0.005);
        for _ in 0..3 {
            let _ = simulation.step().unwrap();
            let fastest = simulation.state().v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
            assert!(fastest < 1e-9, "{coordinates}: {fastest:e}");
        }
        let height = simulation.state().q[1] - 0.2;
        let weight: f64 = simulation.contacts().iter().map(|contact| contact.normal_impulse).sum();
        assert!(height.abs() < 1e-9 && (weight / (4.0 * 9.81 * 0.005) - 1.0).abs() < 1e-9, "{height:e} {weight}");
    }
}

/// A slider reaches its stop while one of its bodies rolls on the floor: the step is halved to the end, and every half has both of its kicks.
#[test]
fn halved_steps_have_both_kicks() {
    let content = r#"
        body = [
            { name = "floor", kind = "fixed", shape = [{ halfspace = { normal = [0.0, 1.0] } }] },
            { name = "a", mass = 1.0, inertia = 0.02, position = [0.0, 0.9], velocity = [1.3, 2.0], shape = [{ disc = { radius = 0.2 } }] },
            { name = "b", mass = 1.0, inertia = 0.02, position = [0.8, 0.3], velocity = [-1.9, 3.0], shape = [{ disc = { radius = 0.2 } }] },
        ]
        joint = [{ name = "j", kind = "prismatic", between = ["a", "b"], anchor = [0.4, 0.6], axis = [0.8, 0.6], limits = [-0.1, 0.1] }]
    "#;
    for coordinates in ["reduced", "divide-and-conquer"] {
        let mut simulation = planar(content, &format!("order = 2\ncoordinates = \"{coordinates}\""), 0.005);
        let (mut least, mut gained, mut most) = (f64::INFINITY, 0.0_f64, 1);
        for _ in 0..120 {
            most = most.max(simulation.step().unwrap().substeps);
            let energy = simulation.energy().total();
            least = least.min(energy);
            gained = gained.max(energy - least);
        }
        // The energy of the motion is 8 J; without the second kicks 5 J are gained.
        assert!(most > 1 && gained < 0.01, "{coordinates}: {most} {gained}");
    }
}
