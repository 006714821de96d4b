//! C-33 and B14: configurations in which forces do not exist, are not bounded or are not unique.

use nalgebra::{Vector2, Vector3};
use stiction::complementarity::{
    FrictionActiveSet, FrictionInteriorPoint, FrictionNewton, FrictionNsgs, FrictionNsgsOptions, FrictionProblem,
    FrictionReference, Pointed, Solver, pointed,
};
use stiction::{BodyBuilder, Dimension, Ladder, Model, Preset, Rung, Simulation, StepProblem, Twist, planar};
use stiction_testkit::{Reference, reference};

use crate::published::rod_with_friction;
use crate::support::{G, down, friction, on_floor, solid_box, solid_rectangle, step, steps, v, world};

/// The rod of C-33 with its lower (minus) tip on the floor, and the arm to it: centre of the rod minus half the length along it.
fn tip_on_floor(case: &Reference, mu: f64, theta: f64, velocity: [f64; 3]) -> (Model, Vector3<f64>) {
    let (half, r) = (case.number("parameters.length") / 2.0, case.number("parameters.radius"));
    let y = half * theta.sin() + r;
    (rod_with_friction(case, mu, [0.0, y, theta], velocity), Vector3::new(-half * theta.cos(), -y, 0.0))
}

fn tip_velocity(simulation: &Simulation, arm: &Vector3<f64>) -> Vector3<f64> {
    let [vx, vy, w] = v(simulation, "rod") else { panic!() };
    Twist { linear: Vector3::new(*vx, *vy, 0.0), angular: Vector3::new(0.0, 0.0, *w) }.at(arm)
}

#[test]
fn c33_painleve_rod_stops_by_an_impulse_without_a_collision() {
    let case = reference("c33");
    let number = |name: &str| case.number(name);
    let theta = number("parameters.theta");
    let tip_speed = case.numbers("parameters.tip_velocity")[0];
    let start = || tip_on_floor(&case, number("parameters.friction"), theta, [tip_speed, 0.0, 0.0]);
    let (_, arm) = start();
    // At these numbers sliding to the right with mu has no acceleration: a_nn − mu a_nt < 0.
    let (m, j) = (number("parameters.mass"), number("parameters.inertia"));
    let (a_nn, a_nt) = (1.0 / m + arm.x * arm.x / j, -arm.x * arm.y / j);
    assert!((a_nn / number("derived.a_nn") - 1.0).abs() < 1e-6, "a_nn {a_nn}");
    assert!((a_nt.abs() / number("derived.a_nt") - 1.0).abs() < 1e-6, "a_nt {a_nt}");
    assert!(a_nn - number("parameters.friction") * a_nt.abs() < 0.0, "not a Painlevé state");

    let mut impulses = Vec::new();
    for h in [1e-3, 1e-4, 1e-5] {
        for preset in [Preset::StewartTrinkle, Preset::AnitescuPotra, Preset::Ncp, Preset::AnitescuHart] {
            let mut simulation = Simulation::new(start().0, preset.scheme(), h).unwrap();
            let _ = step(&mut simulation);
            let tip = tip_velocity(&simulation, &arm);
            assert!(tip.norm() < number("tolerance.velocity.abs"), "tip moves with {tip:?}, {preset:?}");
            impulses.push(simulation.contacts().iter().map(|c| c.normal_impulse).sum::<f64>());
        }
    }
    // The impulse has a limit, approached in proportion to h: the contribution of gravity to the step.
    let [coarse, middle, fine] = [impulses[0], impulses[4], impulses[8]];
    assert!((9.0..11.0).contains(&((coarse - middle) / (middle - fine))) && fine > 0.03, "impulses {impulses:?}");
}

/// B14: the Painlevé rod and its neighbours in angle, friction and velocity have a solution with every preset; the event-driven
/// reference goes on by a shock where no forces exist.
#[test]
fn painleve_configurations_and_their_neighbours_are_solved() {
    let case = reference("c33");
    let mut shocks = 0;
    for degrees in (5..180).step_by(10) {
        for mu in [0.0, 0.3, 0.5032, 0.6, 1.5, 10.0] {
            for velocity in [[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0], [1e-9, 0.0, 0.0], [2.0, 0.0, 3.0], [0.0, -1.0, 0.0]] {
                let (model, _) = tip_on_floor(&case, mu, f64::from(degrees).to_radians(), velocity);
                for preset in Preset::INERTIAL {
                    let mut simulation = Simulation::new(model.clone(), preset.scheme(), 1e-3).unwrap();
                    for _ in 0..5 {
                        // Solved, finite, within the bound of energy: `step` insists.
                        let _ = step(&mut simulation);
                        shocks += simulation.workspace_mut().result.shocks;
                    }
                }
            }
        }
    }
    assert!(shocks > 10, "the reference needed {shocks} shocks");
}

/// A block exactly between two walls, pulled down and turned by an off-centre foot.
fn slider(mu: f64, gap: f64) -> Model {
    let walls = [("left", -1.0), ("right", 1.0)].map(|(name, side)| {
        let wall = planar::Shape::half_plane(Vector2::new(-side, 0.0)).unwrap();
        BodyBuilder::fixed(name).position(side * (0.5 + gap), 0.0, 0.0).shape(wall.into())
    });
    let block = solid_rectangle("slider", 1.0, [0.5, 0.2]).velocity(0.0, -1.0, 0.0);
    world(Dimension::Planar, walls.into_iter().chain([block]), down(Dimension::Planar), friction(mu))
}

fn cone_problem(simulation: &Simulation) -> &FrictionProblem {
    let StepProblem::Friction(problem) = simulation.problem() else { panic!("a problem over cones") };
    problem
}

#[test]
fn c33_a_slider_between_two_walls_is_solved_and_known_to_be_wedged() {
    for mu in [0.0, 0.5] {
        for preset in Preset::INERTIAL.into_iter().filter(|preset| *preset != Preset::Reference) {
            let mut simulation = Simulation::new(slider(mu, 0.0), preset.scheme(), 0.01).unwrap();
            steps(&mut simulation, 100);
            // Walls press against each other, which moves nothing: impulses have no bound, but the step has a solution.
            if preset == Preset::Ncp {
                let Pointed::No { r } = pointed(cone_problem(&simulation)) else { panic!("not pointed") };
                assert!(r.iter().any(|r| *r > 0.1));
            }
            assert!(v(&simulation, "slider")[0].abs() < 1e-9 && v(&simulation, "slider")[2].abs() < 1e-9);
        }
    }
    let mut simulation = Simulation::new(table([0.0, 0.0, -G]), Preset::Ncp.scheme(), 0.01).unwrap();
    let _ = step(&mut simulation);
    assert_eq!(pointed(cone_problem(&simulation)), Pointed::Yes, "a box on the floor is not wedged");
}

/// A box on its four corners under this gravity.
fn table(gravity: [f64; 3]) -> Model {
    let block = solid_box("box", 1.0, [0.3, 0.2, 0.1]).position(0.0, 0.0, 0.1).velocity(0.3, -0.2, 0.0);
    on_floor(Dimension::Spatial, [block], gravity, friction(0.5))
}

#[test]
fn c33_four_contacts_have_one_velocity_whatever_the_method() {
    type Method = Box<dyn Solver<FrictionProblem> + Send>;
    // The last two are not made for the last digits.
    let methods: fn() -> [(&'static str, Method, f64); 5] = || {
        let exact = FrictionNsgsOptions { tolerance: 1e-13, ..FrictionNsgsOptions::default() };
        [
            ("active set", Box::new(FrictionActiveSet::default()), 1e-9),
            ("gauss-seidel", Box::new(FrictionNsgs::with_options(exact).unwrap()), 1e-9),
            ("newton", Box::new(FrictionNewton::default()), 1e-9),
            ("interior point", Box::new(FrictionInteriorPoint::default()), 1e-7),
            ("reference", Box::new(FrictionReference::default()), 1e-7),
        ]
    };
    // At rest, sliding, and about to tip.
    for gravity in [[0.0, 0.0, -G], [3.0, 4.0, -G], [-20.0, 3.0, -G]] {
        let mut first: Option<(Vec<f64>, Vec<f64>)> = None;
        for (name, solver, tolerance) in methods() {
            let ladder = Ladder::for_cones(vec![Rung { name, solver }]).tolerating(tolerance);
            let simulation = Simulation::new(table(gravity), Preset::Ncp.scheme(), 0.01).unwrap();
            let mut simulation = simulation.with_ladder(ladder);
            let _ = simulation.step().unwrap();
            let velocity = simulation.state().v.clone();
            let loads: Vec<_> = simulation.contacts().iter().map(|contact| contact.normal_impulse).collect();
            println!("{name:14} {velocity:.9?}, normal impulses {loads:.4?}");
            let (one_velocity, other_loads) = first.get_or_insert((velocity.clone(), loads.clone()));
            let off = velocity.iter().zip(one_velocity).map(|(a, b)| (a - *b).abs()).fold(0.0, f64::max);
            assert!(off < tolerance, "{name}: velocities differ by {off}");
            // The individual loads are not unique, their sum is.
            let sum = loads.iter().sum::<f64>() - other_loads.iter().sum::<f64>();
            assert!(sum.abs() < tolerance, "{name}: the sum differs by {sum}");
        }
    }
}
