//! Guarantees of a step: atomic, allocation-free, independent of scratch, threads and interruptions.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use stiction::complementarity::{FrictionLadder, LcpLemke, MixedLcpSchur};
use stiction::multibody::ExpressionMotion;
use stiction::{
    BodyBuilder, Coordinates, Dimension, Expression, JointKind, Ladder, Model, ModelBuilder, Preset, Rung, Simulation,
    StepCause, planar, spatial,
};
use stiction_testkit::{FailingSolver, Fault, count_allocations, reference};

use crate::family::Family;
use crate::published::{balls, rod};
use crate::reduced_steps::driven_arm;
use crate::robots;
use crate::support::{down, friction, on_floor, solid_rectangle, step, steps, world};
use crate::support_friction::against_a_wall;

/// A model with the scheme and the step it is run with.
#[derive(Clone)]
struct Scene {
    name: String,
    model: Model,
    preset: Preset,
    coordinates: Coordinates,
    h: f64,
}

/// Scenes that together use joints, actuators, friction, supports, kinematic bodies, rounded and flat shapes, the plane and space; each
/// with polygons and with second-order cones, and those with actuators in reduced coordinates too.
fn scenes() -> Vec<Scene> {
    let (c05, c21, c22) = (reference("c05"), reference("c21"), reference("c22"));
    let pushed = Family::read(&c05, &["rod_b", "block", "friction_floor", "pusher"]).model();
    let models = [
        ("rod", rod(&c21, [0.0, 1.0, 0.6], [0.0, 0.0, 4.0]), 0.0025),
        ("pushed pendulum", pushed, 0.005),
        ("four balls", balls(&c22), 0.005),
        ("two boxes", two_boxes(), 0.01),
        ("part against a wall", against_a_wall(), 0.005),
        ("driven arm", driven_arm(), 0.005),
    ];
    let scene = |preset: Preset, coordinates: Coordinates, suffix: &str| {
        let reduced = coordinates == Coordinates::Reduced;
        let models = models.iter().filter(|(_, model, _)| !reduced || !model.joint_space_dofs().is_empty());
        let named = |name: &str| if reduced { format!("{name}, reduced{suffix}") } else { format!("{name}{suffix}") };
        models
            .map(|(name, model, h)| Scene { name: named(name), model: model.clone(), preset, coordinates, h: *h })
            .collect::<Vec<_>>()
    };
    let presets = [(Preset::StewartTrinkle, ""), (Preset::Ncp, ", ncp")];
    let both = [Coordinates::Maximal, Coordinates::Reduced];
    let mut all = Vec::new();
    for coordinates in both {
        all.extend(presets.iter().flat_map(|&(preset, suffix)| scene(preset, coordinates, suffix)));
    }
    all
}

/// Two boxes in space: the lower lands tilted, the upper lands on it.
fn two_boxes() -> Model {
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.02, 0.03, 0.04));
    let places = [("lower", 0.3, [0.995, 0.1, 0.0, 0.0]), ("upper", 0.7, [0.995, 0.0, 0.0, 0.1])];
    let boxes = places.map(|(name, height, e)| {
        let shape = spatial::Shape::cuboid([0.25, 0.2, 0.15]).unwrap();
        BodyBuilder::rigid(name, 1.0, inertia).position(0.0, 0.0, height).quaternion(e).shape(shape.into())
    });
    on_floor(Dimension::Spatial, boxes, down(Dimension::Spatial), friction(0.5))
}

/// Files of `scenes/` with actuators, loops and trees in reduced coordinates.
const ROBOTS: [&str; 5] = ["hand_grasp.toml", "arm_push.toml", "four_bar.toml", "falling_chain.toml", "quadruped.xml"];

impl Scene {
    fn simulation(&self) -> Simulation {
        let mut scheme = self.preset.scheme();
        scheme.coordinates = self.coordinates;
        Simulation::new(self.model.clone(), scheme, self.h).unwrap()
    }

    /// The same with a solver that fails in its call number `call`, and optionally a second method after it.
    fn failing(&self, fault: Fault, call: u64, second: bool) -> Simulation {
        let ladder = if self.preset == Preset::Ncp {
            let good = || FrictionLadder::with_tolerance(1e-10).unwrap().with_stick_recovery();
            let failing = FailingSolver::from_call(good(), fault, call);
            let second = second.then(|| Rung { name: "second", solver: Box::new(good()) as _ });
            Ladder::for_cones(
                [Rung { name: "failing", solver: Box::new(failing) as _ }].into_iter().chain(second).collect(),
            )
        } else {
            let good = || MixedLcpSchur::new(LcpLemke::default());
            let failing = FailingSolver::from_call(good(), fault, call);
            let second = second.then(|| Rung { name: "second", solver: Box::new(good()) as _ });
            Ladder::new([Rung { name: "failing", solver: Box::new(failing) as _ }].into_iter().chain(second).collect())
        };
        self.simulation().with_ladder(ladder)
    }
}

fn simulation(model: &Model, h: f64) -> Simulation {
    Simulation::new(model.clone(), Preset::StewartTrinkle.scheme(), h).unwrap()
}

/// Steps a number of times and returns the digest of all states on the way.
fn digest(simulation: &mut Simulation, steps: usize) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for _ in 0..steps {
        let report = step(simulation);
        let state = simulation.state();
        let numbers = state.q.iter().chain(&state.v).map(|x| x.to_bits());
        let contacts = state.contacts.iter().flat_map(|c| [c.id.feature.0, c.normal_impulse.to_bits()]);
        for word in numbers.chain(contacts).chain([u64::from(report.iterations)]) {
            for byte in word.to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
    }
    hash
}

#[test]
fn a_failed_step_leaves_the_state_bit_identical() {
    // After which every scene has contacts: without any there is nothing to fail at.
    const STEPS: usize = 170;
    for scene in scenes() {
        let name = &scene.name;
        for fault in Fault::ALL {
            // Passes for missed contacts call the solver too: fail in the first call of the next step, whichever that is.
            let mut counted = scene.simulation();
            let calls: u32 = (0..STEPS).map(|_| step(&mut counted).passes).sum();
            let mut simulation = scene.failing(fault, u64::from(calls), false);
            steps(&mut simulation, STEPS);
            let (before, saved) = (simulation.state().clone(), simulation.save());
            let error = simulation.step().unwrap_err();
            assert!(matches!(error.cause, StepCause::NotSolved { .. }), "{name}, {fault:?}: {error}");
            assert!(simulation.state().bit_equal(&before), "{name}, {fault:?}: the state changed");
            assert_eq!(simulation.save(), saved);
            assert!(error.to_string().contains('"'), "names the worst contact, joint or body: {error}");
        }
    }
}

#[test]
fn a_second_rung_catches_what_the_first_lets_fall() {
    for scene in scenes() {
        let (mut plain, mut caught) = (scene.simulation(), scene.failing(Fault::FalseSuccess, 0, true));
        steps(&mut plain, 100);
        steps(&mut caught, 100);
        assert!(caught.state().bit_equal(plain.state()), "{}", scene.name);
    }
}

#[test]
fn a_warm_step_allocates_nothing() {
    for scene in scenes() {
        let name = &scene.name;
        // The first simulation warms nothing of the second: run the same motion twice in one workspace.
        let mut simulation = scene.simulation();
        let start = simulation.save();
        steps(&mut simulation, 200);
        simulation.restore(&start).unwrap();
        for step in 0..200 {
            let mut rung = "";
            let allocations = count_allocations(|| rung = simulation.step().unwrap().rung);
            assert_eq!(allocations.count, 0, "{name} allocates in step {step}, solved by {rung}");
        }
    }
}

#[test]
fn results_do_not_depend_on_scratch_memory() {
    for scene in scenes() {
        let name = &scene.name;
        let expected = digest(&mut scene.simulation(), 150);
        let (mut dropped, mut poisoned) = (scene.simulation(), scene.simulation());
        for _ in 0..150 {
            *dropped.workspace_mut() = stiction::stepping::Workspace::default();
            let _ = step(&mut dropped);
            poisoned.workspace_mut().poison();
            let _ = step(&mut poisoned);
        }
        let mut plain = scene.simulation();
        assert_eq!(digest(&mut plain, 150), expected);
        assert!(dropped.state().bit_equal(plain.state()), "{name}: dropping the workspace changed the result");
        assert!(poisoned.state().bit_equal(plain.state()), "{name}: poisoned scratch changed the result");
    }
}

#[test]
fn saved_and_restored_in_the_middle_of_an_impact_it_continues_bit_equal() {
    for scene in scenes() {
        let name = &scene.name;
        let mut whole = scene.simulation();
        let mut impacts = 0;
        for step in 0..300 {
            steps(&mut whole, 1);
            if whole.events().is_empty() && step % 100 != 0 {
                continue;
            }
            impacts += 1;
            let mut resumed = scene.simulation();
            resumed.restore(&whole.save()).unwrap();
            assert!(resumed.state().bit_equal(whole.state()));
            let mut uninterrupted = scene.simulation();
            steps(&mut uninterrupted, step + 1 + 20);
            steps(&mut resumed, 20);
            assert!(resumed.state().bit_equal(uninterrupted.state()), "{name} differs after resuming at step {step}");
        }
        assert!(impacts > 3, "{name} had no impacts to be saved in");
        // And against the run that was never interrupted.
        let mut first = scene.simulation();
        steps(&mut first, 150);
        let mut second = scene.simulation();
        second.restore(&first.save()).unwrap();
        steps(&mut second, 150);
        assert!(second.state().bit_equal(whole.state()), "{name}");
    }
}

#[test]
fn damaged_or_foreign_saves_are_refused_and_change_nothing() {
    let mut all = scenes();
    let other = Scene { h: all[0].h, ..all.remove(1) };
    let mut simulation = all[0].simulation();
    let _ = step(&mut simulation);
    let (saved, before) = (simulation.save(), simulation.state().clone());
    let foreign = other.simulation().save();
    let bad = [
        saved[..saved.len() / 2].to_owned(),
        saved.replace("\"time\"", "\"tine\""),
        saved.replacen("\"stiction_state\":4", "\"stiction_state\":5", 1),
        // A digit of the time that was flipped: a state, but not the one that was saved.
        saved.replacen("\"time\":0.", "\"time\":1.", 1),
        saved.replacen("\"q\":[", "\"q\":[1.0,", 1),
        saved.replacen("\"q\":[", "\"q\":[1e400,", 1),
        foreign,
        String::new(),
    ];
    for text in bad {
        assert!(simulation.restore(&text).is_err(), "accepted {text}");
        assert!(simulation.state().bit_equal(&before));
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for scene in scenes() {
        let name = &scene.name;
        let expected = digest(&mut scene.simulation(), 150);
        for threads in [1, 2, 3, 8] {
            let digests: Vec<u64> = std::thread::scope(|scope| {
                let run = || digest(&mut scene.simulation(), 150);
                let handles: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
                handles.into_iter().map(|handle| handle.join().unwrap()).collect()
            });
            assert!(digests.iter().all(|&digest| digest == expected), "{name} differs among {threads} threads");
        }
    }
}

#[test]
fn golden_digests() {
    // A change here is a change of the numerics version: say in CHANGELOG.md what moved and by how much.
    let golden: serde_json::Value = serde_json::from_str(include_str!("digests.json")).unwrap();
    let ours = scenes().into_iter().map(|scene| {
        let digest = format!("{:016x}", digest(&mut scene.simulation(), 250));
        (scene.name, digest)
    });
    let robots = ROBOTS.map(|file| {
        let digest = format!("{:016x}", digest(&mut robots::scene(file, None, &[]), 250));
        (file.to_owned(), digest)
    });
    let ours = ours.chain(robots);
    let changed: Vec<_> = ours.filter(|(name, digest)| golden["digests"][name.as_str()] != **digest).collect();
    assert!(changed.is_empty(), "changed: {changed:?}");
}

/// A chain of rods hanging from the world.
pub fn chain(links: usize) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).unwrap();
    let mut above = stiction::BodyId::WORLD;
    for k in 0..links {
        let link = BodyBuilder::planar(format!("link {k}"), 0.5, 0.01).position(0.0, -(k as f64) - 0.5, 0.0);
        let link = builder.body(link).unwrap();
        let anchor = Vector3::new(0.0, -(k as f64), 0.0);
        builder.joint_at(format!("pin {k}"), JointKind::Revolute, (above, link), anchor, Vector3::x()).unwrap();
        above = link;
    }
    builder.build().unwrap()
}

#[test]
fn a_hanging_chain_carries_its_weight() {
    for links in [1, 10, 50] {
        let mut simulation = simulation(&chain(links), 0.01);
        steps(&mut simulation, 10);
        for k in 0..links {
            let joint = simulation.model().find_joint(&format!("pin {k}")).unwrap();
            let wrench = simulation.joint_wrench(joint).unwrap();
            let weight = (links - k) as f64 * 0.5 * 9.81;
            assert!((wrench.linear.y - weight).abs() < 1e-10, "joint {k} of {links}: {}", wrench.linear.y - weight);
            assert!(wrench.linear.x.abs() < 1e-10);
        }
    }
}

#[test]
fn memory_of_a_chain_is_linear_in_its_joints() {
    let bytes = |links: usize| {
        let model = chain(links);
        count_allocations(|| {
            let mut simulation = simulation(&model, 0.01);
            let _ = simulation.step().unwrap();
        })
        .bytes as f64
    };
    let (small, large) = (bytes(200), bytes(800));
    assert!(large < 5.0 * small, "{small} bytes for 200 links, {large} for 800");
}

#[test]
fn coincident_and_redundant_contacts_are_no_problem() {
    // A box exactly inside another (no unique normal), a hundred coincident contact points, a needle on a slab.
    let planar = Dimension::Planar;
    let squares = ["first", "second"].map(|name| solid_rectangle(name, 1.0, [0.5; 2]).position(0.0, 2.0, 0.0));
    let mut coincident = simulation(&on_floor(planar, squares, down(planar), friction(0.5)), 0.01);
    steps(&mut coincident, 100);

    let mut body = BodyBuilder::rigid("pebble", 2.0, Matrix3::from_diagonal_element(0.01)).position(0.0, 0.0, 0.1);
    for _ in 0..100 {
        let point = stiction::Pose::translation(0.0, 0.0, -0.1);
        body = body.shape_at(spatial::Shape::point().into(), point);
    }
    let spatial = Dimension::Spatial;
    let mut pebble = simulation(&on_floor(spatial, [body], down(spatial), friction(0.5)), 0.01);
    steps(&mut pebble, 3);
    let carried: f64 = pebble.contacts().iter().map(|c| c.normal_impulse).sum();
    assert!((carried - 2.0 * 9.81 * 0.01).abs() < 1e-10, "carried {carried}");

    let slab: stiction::Shape = planar::Shape::rectangle([10.0, 1.0]).unwrap().into();
    let slab = BodyBuilder::fixed("slab").position(0.0, -1.0, 0.0).shape(slab);
    let needle = solid_rectangle("needle", 0.01, [5.0, 0.0005]).position(0.0, 0.0005, 0.0);
    let mut needle = simulation(&world(planar, [slab, needle], down(planar), friction(0.5)), 0.01);
    steps(&mut needle, 500);
    assert!(needle.state().v.iter().all(|v| v.abs() < 1e-12));
    let carried: f64 = needle.contacts().iter().map(|c| c.normal_impulse).sum();
    assert!((carried - 0.01 * 9.81 * 0.01).abs() < 1e-12);
}

#[test]
fn a_motion_that_ends_in_nan_stops_the_run_and_is_named() {
    let height = "sqrt(1 - t) - 1".parse().unwrap();
    let motion = ExpressionMotion::planar(Expression::constant(0.0), height, Expression::constant(0.0));
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).unwrap();
    let slab: stiction::Shape = planar::Shape::rectangle([1.0, 0.5]).unwrap().into();
    let local = stiction::Pose::translation(0.0, -0.5, 0.0);
    builder.body(BodyBuilder::kinematic("table", Arc::new(motion)).shape_at(slab, local)).unwrap();
    let disc = planar::Shape::disc(0.1).unwrap();
    builder.body(BodyBuilder::planar("disc", 1.0, 0.005).position(0.0, 0.1, 0.0).shape(disc.into())).unwrap();
    let mut simulation = simulation(&builder.build().unwrap(), 0.01);
    let error = (0..200).find_map(|_| simulation.step().err()).expect("an error");
    assert!((error.time - 1.0).abs() < 0.02 && error.to_string().contains("\"table\""), "{error}");
}

#[test]
fn a_breakdown_is_not_called_solved_because_everything_is_small() {
    // Two redundant hinges, a nanogram of mass, and an unrelated particle.
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let tiny = Matrix3::from_diagonal_element(1e-10);
    let door = builder.body(BodyBuilder::rigid("door", 1e-9, tiny).position(0.5, 0.0, 0.0)).unwrap();
    for (name, z) in [("upper", 0.3), ("lower", -0.3)] {
        let anchor = Vector3::new(0.0, 0.0, z);
        let world = stiction::BodyId::WORLD;
        builder.joint_at(name, JointKind::Revolute, (world, door), anchor, Vector3::z()).unwrap();
    }
    builder.body(BodyBuilder::particle("particle", 1e-9).velocity(0.5, 0.0, 0.0)).unwrap();
    let mut simulation = simulation(&builder.build().unwrap(), 0.01);
    if simulation.step().is_ok() {
        assert!((simulation.state().v[6] - 0.5).abs() < 1e-9, "the particle flies on: {:?}", simulation.state().v);
    }
}

#[test]
fn penetration_is_reported_where_impulses_brought_it_about() {
    // The pusher's blow travels through blocks that were out of each other's reach.
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let square: stiction::Shape = planar::Shape::rectangle([0.5, 0.5]).unwrap().into();
    for k in 0..3 {
        let speed = if k == 0 { 10.0 } else { 0.0 };
        let body = BodyBuilder::planar(format!("block {k}"), if k == 0 { 1e6 } else { 1.0 }, 0.2)
            .position(1.001 * f64::from(k), 0.0, 0.0)
            .velocity(speed, 0.0, 0.0)
            .shape(square.clone());
        builder.body(body).unwrap();
    }
    let mut simulation = simulation(&builder.build().unwrap(), 0.01);
    let report = step(&mut simulation);
    let q = &simulation.state().q;
    let overlap = (0..2).map(|k| 1.0 - (q[3 * (k + 1)] - q[3 * k])).fold(0.0, f64::max);
    assert!((report.penetration - overlap).abs() < 1e-12, "reported {}, true {overlap}", report.penetration);
}
