//! Steps with compliant layers: solved for every stiffness, saved and restored to the bit, without allocation.

use stiction::{
    BodyBuilder, ContactRule, Dimension, Layer, LayerRule, Model, PositionUpdate, Preset, Scheme, Simulation, planar,
};
use stiction_testkit::count_allocations;

use crate::support::{G, down, on_floor, solid_box, step, steps};

fn box_on_rubber(layer: Layer) -> Model {
    let cube = solid_box("box", 1.5, [0.3, 0.2, 0.1]).position(0.0, 0.0, 0.4).velocity(0.7, -0.2, 0.0);
    let cube = cube.angular_velocity(1.0, 2.0, -0.5).layer(layer);
    on_floor(
        Dimension::Spatial,
        [cube],
        down(Dimension::Spatial),
        ContactRule { friction: 0.4, ..ContactRule::default() },
    )
}

/// Boxes tumble on layers of every stiffness without a step that is not solved, and come to rest as deep as their weight presses them.
#[test]
fn tumbling_boxes_come_to_rest_on_layers_of_any_stiffness() {
    for stiffness in [3e2_f64, 1e4, 1e6, 1e9, 1e12] {
        let damping = stiffness.sqrt();
        for depth in [None, Some(0.02)] {
            let mut layer = Layer::shearing([stiffness, 0.7 * stiffness], [damping, 0.7 * damping]);
            layer.depth = depth;
            let mut simulation = Simulation::new(box_on_rubber(layer), Preset::Ncp.scheme(), 2e-3).unwrap();
            let mut worst = 0.0_f64;
            for _ in 0..2000 {
                let report = simulation.step().unwrap();
                worst = worst.max(report.residual.value);
            }
            let speed = simulation.state().v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
            let lift: f64 = simulation.contacts().iter().map(|contact| contact.normal_impulse).sum();
            println!(
                "K {stiffness:e} depth {depth:?}: residual {worst:e} speed {speed:e} height {}",
                simulation.state().q[2]
            );
            assert!(worst < 1e-8 && speed < 1e-6, "{stiffness}: {worst} {speed}");
            assert!((lift - 2e-3 * 1.5 * G).abs() < 1e-7, "{stiffness}: {lift}");
        }
    }
}

#[test]
fn saved_in_the_middle_of_a_compression_it_continues_bit_equal() {
    let variants = [(PositionUpdate::End, false), (PositionUpdate::Average, false), (PositionUpdate::Average, true)];
    for (update, in_pieces) in variants {
        let mut scheme: Scheme = Preset::Ncp.scheme();
        scheme.position_update = update;
        scheme.substeps.locate_contacts = in_pieces;
        scheme.substeps.steps_per_period = if in_pieces { 40 } else { 0 };
        let layer = Layer::shearing([2e3, 1e3], [20.0, 10.0]).with_depth(0.05);
        let mut simulation = Simulation::new(box_on_rubber(layer), scheme.clone(), 2e-3).unwrap();
        while !simulation.contacts().iter().any(|contact| contact.layer.is_some_and(|layer| layer.compression > 1e-3)) {
            let _ = step(&mut simulation);
        }
        let mut restored = Simulation::new(box_on_rubber(layer), scheme, 2e-3).unwrap();
        restored.restore(&simulation.save()).unwrap();
        assert!(restored.state().bit_equal(simulation.state()));
        for _ in 0..200 {
            simulation.workspace_mut().poison();
            let (_, _) = (step(&mut simulation), step(&mut restored));
            assert!(restored.state().bit_equal(simulation.state()));
        }
    }
}

#[test]
fn a_compliant_step_allocates_nothing() {
    for update in [PositionUpdate::End, PositionUpdate::Average] {
        let mut scheme: Scheme = Preset::Ncp.scheme();
        scheme.position_update = update;
        let disc = BodyBuilder::planar("disc", 1.0, 0.5).position(0.0, 1.2, 0.0);
        let disc = disc.shape(planar::Shape::disc(1.0).unwrap().into());
        let layer = Layer::shearing([1e3, 5e2], [1.0, 1.0]).with_depth(0.03);
        let rule = ContactRule { friction: 0.3, layer: LayerRule::Given(layer), ..ContactRule::default() };
        let model = on_floor(Dimension::Planar, [disc], down(Dimension::Planar), rule);
        let mut simulation = Simulation::new(model, scheme, 1e-3).unwrap();
        // Once, until every rung that this motion asks for has its memory; then the same motion again.
        let begin = simulation.state().clone();
        steps(&mut simulation, 3000);
        simulation.set_state(&begin).unwrap();
        for _ in 0..3000 {
            let mut rung = "";
            let made = count_allocations(|| rung = simulation.step().unwrap().rung);
            assert_eq!(made.count, 0, "{update:?} at {}, solved by {rung}", simulation.time());
        }
    }
}

/// Mean velocities on boxes that tumble: many contacts meet and part, every step is solved, and damping only takes.
#[test]
fn tumbling_boxes_by_mean_velocities_only_lose_energy() {
    for stiffness in [1e3_f64, 1e4, 1e6, 1e9] {
        let damping = 0.5 * stiffness.sqrt();
        let layer = Layer::shearing([stiffness, 0.7 * stiffness], [damping, 0.7 * damping]);
        let mut scheme = Preset::Ncp.scheme();
        scheme.position_update = PositionUpdate::Average;
        let mut simulation = Simulation::new(box_on_rubber(layer), scheme, 1e-3).unwrap();
        let (mut most, mut gained, mut halved) = (0, 0.0_f64, 0);
        for _ in 0..3000 {
            let before = simulation.energy().total();
            let report = simulation.step().unwrap();
            most = most.max(report.passes);
            halved += u32::from(report.substeps > 1);
            gained = gained.max(simulation.energy().total() - before);
        }
        println!("K {stiffness:e}: passes {most}, halved {halved}, largest gain {gained:e}");
        assert!(most <= 25 && halved == 0, "{stiffness}: {most} passes, {halved} halved");
        // Gaps of corners that turn are not linear in the motion.
        assert!(gained < 1e-7, "{stiffness}: {gained:e}");
    }
}
