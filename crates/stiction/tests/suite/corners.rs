//! Case C-08 and its kind: vertices that pass corners.

use nalgebra::Point2;
use stiction::{
    BodyBuilder, CornerLogic, Dimension, Margin, Model, ModelBuilder, Preset, Scheme, Simulation, StepProblem,
    complementarity::{LcpEnumeration, LcpLemke, LcpSolution, Solver, Status, eliminate_free},
    planar,
};
use stiction_testkit::{Reference, reference};

use crate::support::{q, solid_rectangle, v};

fn polygon(vertices: &[[f64; 2]]) -> stiction::Shape {
    let vertices: Vec<_> = vertices.iter().map(|&[x, y]| Point2::new(x, y)).collect();
    planar::Shape::polygon(&vertices).unwrap().into()
}

fn with_corners(preset: Preset, corners: CornerLogic) -> Scheme {
    let mut scheme = preset.scheme();
    scheme.corners = corners;
    scheme
}

/// The ground with its hole, as one shape or as convex parts.
fn ground(case: &Reference, convex_parts: bool) -> BodyBuilder {
    let left = case.number("parameters.hole_left");
    let [right, bottom, depth] =
        ["hole_right", "hole_bottom_right", "hole_depth"].map(|name| case.number(&format!("parameters.{name}")));
    let (from, to, below) = (-6.0, 12.0, -1.0);
    let ground = BodyBuilder::fixed("ground");
    if convex_parts {
        ground
            .shape(polygon(&[[from, below], [left, below], [left, 0.0], [from, 0.0]]))
            .shape(polygon(&[[left, below], [bottom, below], [bottom, -depth], [left, -depth]]))
            .shape(polygon(&[[bottom, below], [to, below], [to, 0.0], [right, 0.0], [bottom, -depth]]))
    } else {
        ground.shape(polygon(&[
            [from, below],
            [to, below],
            [to, 0.0],
            [right, 0.0],
            [bottom, -depth],
            [left, -depth],
            [left, 0.0],
            [from, 0.0],
        ]))
    }
}

fn block_over_hole(case: &Reference, convex_parts: bool) -> Model {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let half = [0.5 * number("block_width"), 0.5 * number("block_height")];
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -number("gravity"), 0.0).unwrap();
    builder.body(ground(case, convex_parts)).unwrap();
    let block = solid_rectangle("block", 1.0, half).position(number("front_corner") - half[0], half[1], 0.0).velocity(
        number("speed"),
        0.0,
        0.0,
    );
    builder.body(block).unwrap();
    builder.build().unwrap()
}

/// Largest deviation of height and speed of the block from what they should be.
fn slide(case: &Reference, scheme: Scheme, h: f64, convex_parts: bool) -> (f64, f64) {
    let (height, speed) = (case.number("derived.height"), case.number("derived.speed"));
    let mut simulation = Simulation::new(block_over_hole(case, convex_parts), scheme, h).unwrap();
    let mut worst = (0.0_f64, 0.0_f64);
    for _ in 0..(case.number("parameters.duration") / h).round() as usize {
        let report = simulation.step().unwrap();
        assert!(report.residual.value < 1e-9);
        worst.0 = worst.0.max((q(&simulation, "block")[1] - height).abs());
        worst.1 = worst.1.max((v(&simulation, "block")[0] - speed).abs());
    }
    worst
}

#[test]
fn a_block_slides_over_the_hole_as_if_it_were_not_there() {
    let case = reference("c08");
    let most = case.number("tolerance.abs");
    for h in [0.01, 0.001] {
        for convex_parts in [false, true] {
            // With 0 < γ < 1 every face that is near slows what comes nearer, real ones as well: that is the scheme.
            for preset in [Preset::Ncp, Preset::StewartTrinkle, Preset::AnitescuPotra] {
                let (height, speed) = slide(&case, preset.scheme(), h, convex_parts);
                assert!(
                    height < most && speed < most,
                    "{} at h = {h}, convex_parts {convex_parts}: {height:e} m, {speed:e} m/s",
                    preset.name()
                );
            }
        }
    }
}

#[test]
fn faces_without_end_stop_the_block_at_the_far_wall() {
    let case = reference("c08");
    let (height, speed) = slide(&case, with_corners(Preset::Ncp, CornerLogic::Conjunctive), 0.01, false);
    let fraction = case.number("tolerance.artefact_share");
    assert!(
        height > fraction * case.number("derived.height") || speed > fraction * case.number("derived.speed"),
        "{height} {speed}"
    );
}

#[test]
fn the_disjunctive_problem_lets_the_block_pass_too() {
    let case = reference("c08");
    let most = case.number("tolerance.abs");
    for h in [0.01, 0.001] {
        for preset in [Preset::StewartTrinkle, Preset::AnitescuPotra] {
            let (height, speed) = slide(&case, with_corners(preset, CornerLogic::Disjunctive), h, false);
            assert!(height < most && speed < most, "{} at h = {h}: {height:e} m, {speed:e} m/s", preset.name());
        }
    }
}

/// A particle that would have these gaps to the two faces of a corner at the end of a step in which nothing acts.
fn particle_at_corner(gaps: &[f64], h: f64) -> Model {
    let y = gaps[1];
    let x = y - 2.0_f64.sqrt() * gaps[0];
    // It comes from above, and from the side of the face it is more outside of.
    let v = [if gaps[0] > gaps[1] { 5.0 } else { 0.5 }, -6.0];
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let corner = polygon(&[[-1.0, -1.0], [-0.5, -1.0], [0.0, -0.8], [0.5, -1.0], [1.0, -1.0], [1.0, 0.0], [0.0, 0.0]]);
    builder.body(BodyBuilder::fixed("corner").shape(corner)).unwrap();
    let particle = BodyBuilder::particle("p", 1.0)
        .position(x - h * v[0], y - h * v[1], 0.0)
        .velocity(v[0], v[1], 0.0)
        .shape(planar::Shape::point().into());
    builder.body(particle).unwrap();
    builder.build().unwrap()
}

/// All solutions of the disjunctive problem by enumeration of its 1024 index sets: they are the derived ones, the identities of the
/// further variables hold in each, the step takes one of them, and Lemke's method finds none.
#[test]
fn the_disjunctive_problem_has_the_derived_solutions() {
    let case = reference("c08");
    let h = case.number("derived.particle.step");
    for index in 0..4 {
        let path = |name: &str| format!("derived.particle.solutions.{index}.{name}");
        let gaps = case.numbers(&path("gaps"));
        let mut scheme = with_corners(Preset::StewartTrinkle, CornerLogic::Disjunctive);
        scheme.margin = Margin::Fixed(0.15);
        let mut simulation = Simulation::new(particle_at_corner(&gaps, h), scheme, h).unwrap();
        let report = simulation.step().unwrap();
        assert!(report.residual.value < 1e-11);
        let StepProblem::Mixed(problem) = simulation.problem() else { panic!("a linear problem") };
        assert_eq!(problem.complementary_size(), 10);
        let lcp = eliminate_free(problem).unwrap();
        let found = LcpEnumeration::new().all(&lcp).unwrap();
        let expected: Vec<Vec<f64>> = (0..).map_while(|k| case.try_numbers(&path(&format!("impulses.{k}")))).collect();
        let tolerance = case.tolerance("tolerance.impulse", "N s");
        let taken: Vec<f64> = simulation.contacts().iter().map(|contact| contact.normal_impulse).collect();
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| tolerance.check(*a, *b).is_ok());
        // The order of the faces is that of their numbers, not that of the case.
        let faces: Vec<usize> = if simulation.contacts()[0].normal.x.abs() > 0.1 { vec![0, 1] } else { vec![1, 0] };
        let in_order = |p: &[f64]| -> Vec<f64> { faces.iter().map(|&face| p[face]).collect() };
        assert!(expected.iter().any(|p| near(&in_order(&taken), p)), "{taken:?} is none of {expected:?}");
        for solution in &found.solutions {
            let p = in_order(&solution.z);
            assert!(expected.iter().any(|known| near(known, &p)), "{p:?} is none of {expected:?}");
            check_identities(&lcp, &solution.z);
        }
        for known in &expected {
            assert!(found.solutions.iter().any(|s| near(&in_order(&s.z), known)), "{known:?} was not found");
        }
        let mut solution = LcpSolution::default();
        assert_ne!(LcpLemke::new().run(&lcp, None, &mut solution).status, Status::Solved, "Lemke on case {index}");
    }
}

/// c = max(0, 1 − ψ), h = max(0, −ψ), d − γ + 1 = min(1, max ψ), with ψ = `w_h` − h of the rows themselves.
fn check_identities(lcp: &stiction::complementarity::Lcp, z: &[f64]) {
    let w = |row: usize| lcp.m().row(row).iter().zip(z).map(|(m, z)| m * z).sum::<f64>() + lcp.q()[row];
    let (c, d, h) = ([z[2], z[3]], z[4], [z[7], z[8]]);
    let psi = [w(7) - h[0], w(8) - h[1]];
    for i in 0..2 {
        assert!((c[i] - (1.0 - psi[i]).max(0.0)).abs() < 1e-9, "c = {c:?}, psi = {psi:?}");
        assert!((h[i] - (-psi[i]).max(0.0)).abs() < 1e-9, "h = {h:?}, psi = {psi:?}");
    }
    // The row of p is d − γ + 1.
    assert!((w(9) - psi[0].max(psi[1]).min(1.0)).abs() < 1e-9, "d = {d}, psi = {psi:?}");
}

/// A floor of flush boxes has no edges to catch on, nor has one with gaps that a block bridges.
#[test]
fn seams_and_gaps_of_a_floor_of_boxes_are_not_felt() {
    for gap in [0.0, 0.05] {
        for (preset, h) in [(Preset::Ncp, 0.01), (Preset::StewartTrinkle, 0.01), (Preset::Ncp, 0.003)] {
            let mut builder = ModelBuilder::new(Dimension::Planar);
            builder.gravity(0.0, -9.81, 0.0).unwrap();
            for k in 0..12 {
                let tile = BodyBuilder::fixed(format!("tile{k}"))
                    .position(f64::from(k) * 0.5, -0.1, 0.0)
                    .shape(planar::Shape::rectangle([0.25 - 0.5 * gap, 0.1]).unwrap().into());
                builder.body(tile).unwrap();
            }
            let block = solid_rectangle("block", 1.0, [0.6, 0.2]).position(0.7, 0.2, 0.0).velocity(2.0, 0.0, 0.0);
            builder.body(block).unwrap();
            let mut simulation = Simulation::new(builder.build().unwrap(), preset.scheme(), h).unwrap();
            while simulation.time() < 1.9 {
                let _ = simulation.step().unwrap();
                let (q, v) = (q(&simulation, "block"), v(&simulation, "block"));
                assert!(
                    (q[1] - 0.2).abs() < 1e-9 && (v[0] - 2.0).abs() < 1e-9,
                    "{}, gap {gap}, h {h}: {q:?} {v:?} at t = {}",
                    preset.name(),
                    simulation.time()
                );
            }
        }
    }
}
