//! Case C-13: a particle between a wall and a fence, without inertia.

use std::sync::Arc;

use nalgebra::Vector3;
use stiction::{
    BodyBuilder, ContactRule, Dimension, Expression, FrictionSet, Model, ModelBuilder, Preset, Scheme, Simulation,
    Undetermined, Uniqueness, multibody::ExpressionMotion, spatial,
};
use stiction_testkit::{Reference, reference};

use crate::support::{friction, q, step};

/// The particle "p" on the plane, the fence moving as published; `velocity` is where it would go if nobody cared.
fn scene(case: &Reference, with_friction: bool, velocity: [f64; 3]) -> Model {
    let number = |path: &str| case.number(&format!("parameters.{path}"));
    let mu = |path: &str| if with_friction { friction(number(path)) } else { ContactRule::default() };
    let half_space = |x: f64, z: f64| spatial::Shape::half_space(Vector3::new(x, 0.0, z)).unwrap().into();
    let start = case.numbers("parameters.start");
    let expression = |text: String| Expression::parse(&text).unwrap();
    let motion = ExpressionMotion {
        position: [
            expression(format!("{} + {} * sin(t)", number("fence.centre"), number("fence.amplitude"))),
            expression(format!("{} * t", number("fence.speed_y"))),
            Expression::constant(0.0),
        ],
        axis: Vector3::z(),
        angle: Expression::constant(0.0),
        base: nalgebra::UnitQuaternion::identity(),
    };
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -number("gravity")).unwrap();
    let wall = BodyBuilder::fixed("wall").position(number("wall_x"), 0.0, 0.0).shape(half_space(-1.0, 0.0));
    let fence = BodyBuilder::kinematic("fence", Arc::new(motion)).shape(half_space(1.0, 0.0));
    let particle = BodyBuilder::particle("p", number("mass"))
        .position(start[0], start[1], start[2])
        .velocity(velocity[0], velocity[1], velocity[2])
        .shape(spatial::Shape::Point.into());
    let wall = builder.body(wall).unwrap();
    let fence = builder.body(fence).unwrap();
    let plane = builder.body(BodyBuilder::fixed("plane").shape(half_space(0.0, 1.0))).unwrap();
    let particle = builder.body(particle).unwrap();
    for (body, name) in [(wall, "mu_wall"), (fence, "mu_fence"), (plane, "mu_plane")] {
        builder.contact(body, particle, mu(name)).unwrap();
    }
    builder.build().unwrap()
}

fn quadratic() -> Scheme {
    Preset::Quasistatic.scheme()
}

/// The diamond of four directions.
fn polygon() -> Scheme {
    let mut scheme = quadratic();
    (scheme.friction, scheme.directions) = (FrictionSet::Polygon, 4);
    scheme
}

/// A run of the case: the end, and what is asserted on the way.
fn run(case: &Reference, scheme: Scheme, expected: &str) {
    let (h, duration) = (case.number("parameters.step"), case.number("parameters.duration"));
    let tolerance = case.tolerance("tolerance.force", "N");
    let derived = |path: &str| case.number(&format!("derived.{expected}.{path}"));
    let mut simulation = Simulation::new(scene(case, true, [0.0; 3]), scheme, h).unwrap();
    let fence = simulation.model().find_body("fence").unwrap();
    let plane = simulation.model().find_body("plane").unwrap();
    let mut pushed = 0;
    for _ in 0..(duration / h).round() as usize {
        let before = [q(&simulation, "p")[0], q(&simulation, "p")[1]];
        let report = step(&mut simulation);
        let moved = [q(&simulation, "p")[0] - before[0], q(&simulation, "p")[1] - before[1]];
        if report.time < case.number("derived.reached_at") {
            assert_eq!(moved, [0.0; 2], "not reached at t = {}", report.time);
        }
        let force = |body| {
            let contact = simulation.contacts().iter().find(|c| c.body_a == body || c.body_b == body);
            contact.map_or(0.0, |contact| contact.normal_impulse / h)
        };
        tolerance.check(force(plane), case.number("derived.normal_force_plane")).unwrap();
        if moved[0] > 1e-6 {
            pushed += 1;
            assert!((moved[1] / moved[0] - derived("slope")).abs() < 1e-5, "{moved:?} at t = {}", report.time);
            tolerance.check(force(fence), derived("normal_force_fence")).unwrap();
            assert_eq!(simulation.uniqueness(), Some(Uniqueness::Unique), "t = {}", report.time);
        }
    }
    assert!(pushed > 100, "pushed in {pushed} steps only");
    let end = case.numbers(&format!("derived.{expected}.end"));
    for (x, wanted) in q(&simulation, "p").iter().zip(end) {
        case.tolerance("tolerance.end", "m").check(*x, wanted).unwrap();
    }
}

#[test]
fn on_the_quadratic_cone_the_particle_slips_along_the_fence_as_derived() {
    run(&reference("c13"), quadratic(), "quadratic");
}

/// The diamond sends it along its side, whatever the friction of the fence: an artefact of the linear set, kept as such.
#[test]
fn on_the_diamond_the_particle_goes_diagonally_whatever_the_fence() {
    run(&reference("c13"), polygon(), "polygon");
}

#[test]
fn without_friction_the_motion_is_whatever_was_guessed_and_that_is_said() {
    let case = reference("c13");
    let ends = [[0.0, 0.3, 0.0], [0.0, -0.7, 0.0]].map(|velocity| {
        let mut ends = [quadratic(), polygon()].map(|mut scheme| {
            scheme.undetermined = Undetermined::Continue;
            let mut simulation = Simulation::new(scene(&case, false, velocity), scheme, 0.01).unwrap();
            for _ in 0..100 {
                let report = step(&mut simulation);
                assert!(report.penetration < 1e-12);
                assert!(matches!(simulation.uniqueness(), Some(Uniqueness::NotUnique(_))));
            }
            let q = q(&simulation, "p");
            assert!((q[1] - velocity[1]).abs() < 1e-9, "{q:?}");
            q.to_vec()
        });
        std::mem::take(&mut ends[0])
    });
    assert!((ends[0][1] - ends[1][1]).abs() > 0.5, "{ends:?}");
    // Without a push it takes the minimum-norm motion.
    let mut simulation = Simulation::new(scene(&case, false, [0.0, 0.3, 0.0]), quadratic(), 0.01).unwrap();
    for _ in 0..100 {
        let _ = step(&mut simulation);
    }
    assert_eq!(q(&simulation, "p")[1], 0.0);
}

/// The problem with the zero block is solved as it is by the ladder for mixed problems, to the same motion.
#[test]
fn the_mixed_problem_with_a_zero_block_is_solved_as_it_is() {
    use stiction::StepProblem;
    use stiction::complementarity::{MixedLcpLadder, MixedLcpSolution, Problem, Solver};
    let case = reference("c13");
    let mut simulation = Simulation::new(scene(&case, true, [0.0; 3]), polygon(), 0.01).unwrap();
    let mut ladder = MixedLcpLadder::new();
    for _ in 0..157 {
        let _ = step(&mut simulation);
        let StepProblem::Mixed(problem) = simulation.problem() else { panic!("a polygon makes a linear problem") };
        let block = &problem.equality.on_free;
        assert!((0..block.rows()).all(|i| block.row(i).all(|(_, value)| value == 0.0)), "the block is not zero");
        let mut solution = MixedLcpSolution::default();
        let _ = ladder.run(problem, None, &mut solution);
        assert!(problem.residual(&solution).value < 1e-11);
        let v = &simulation.state().v;
        assert!(solution.free.iter().zip(v).all(|(x, v)| (x - v).abs() < 1e-9), "{:?} {v:?}", solution.free);
    }
}

/// [QS-5]: no other motion does less work against friction, for the normal forces of the solution.
#[test]
fn no_feasible_motion_is_lazier_than_the_solution() {
    let case = reference("c13");
    let mut random = stiction_testkit::Random::new(13);
    let mut simulation = Simulation::new(scene(&case, true, [0.0; 3]), quadratic(), 0.01).unwrap();
    for index in 0..157 {
        let _ = step(&mut simulation);
        if index % 10 != 5 {
            continue;
        }
        let contacts = simulation.contacts();
        let v = Vector3::from_column_slice(&simulation.state().v);
        // λ_app · v is the work of gravity; the particle is the second body of every contact.
        let objective = |u: &Vector3<f64>| {
            let friction: f64 = contacts
                .iter()
                .map(|c| {
                    let slip = c.slip + (u - v) - c.normal * c.normal.dot(&(u - v));
                    let mu = simulation.model().contact_rule(c.body_a, c.body_b).friction;
                    mu * c.normal_impulse * slip.norm()
                })
                .sum();
            friction + 0.01 * case.number("parameters.gravity") * case.number("parameters.mass") * u.z
        };
        let least = objective(&v);
        for _ in 0..2000 {
            let size = 10.0_f64.powf(random.uniform(-6.0, 0.5));
            let mut u = v + Vector3::from_fn(|_, _| random.uniform(-1.0, 1.0)) * size;
            // Back to where no contact is crossed: the gap at the end must not be negative.
            for _ in 0..3 {
                for c in contacts {
                    let gap = c.gap + 0.01 * c.normal.dot(&(u - v));
                    u -= c.normal * (gap.min(0.0) / 0.01);
                }
            }
            assert!(objective(&u) >= least - 1e-10, "{u:?} beats {v:?} at step {index}");
        }
    }
}
