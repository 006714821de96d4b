//! Faces of corners: which one a vertex enters through, which one is chosen, and whole steps past a hole.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by panicking")]

use nalgebra::Point2;
use stiction_geometry::{Shape, planar};
use stiction_multibody::{BodyBuilder, ContactRule, Dimension, Model};

use super::{Gaps, disjunctive, has_alternatives};
use crate::tests::support::{Case, assert_near, rectangle, world};
use crate::{CornerLogic, Margin, Preset, Scheme};

fn gaps(from: &[f64], to: &[f64]) -> Gaps {
    Gaps { from: from.into(), to: to.into(), slack: to.into() }
}

/// The path of a vertex against two faces: it stays outside one, grazes the corner, enters, or passes through.   [CORNER-3]
#[test]
fn the_face_of_entry_is_the_last_that_separated() {
    // Outside the first face all the way, or outside one of them at every time.
    assert_eq!(gaps(&[1.0, -1.0], &[0.5, -2.0]).entry(), None);
    assert_eq!(gaps(&[1.0, -1.0], &[-0.5, 1.0]).entry(), None);
    // Both separate at the start; the second does so longer.
    assert_eq!(gaps(&[0.2, 0.6], &[-0.8, -0.4]).entry(), Some(1));
    assert_eq!(gaps(&[0.6, 0.2], &[-0.4, -0.8]).entry(), Some(0));
    // In through the first face and out through the second: deep, or cutting the corner only.
    assert_eq!(gaps(&[0.1, -2.0], &[-2.0, 0.1]).entry(), Some(0));
    assert_eq!(gaps(&[1.0, -1.1], &[-1.1, 1.0]).entry(), None);
    // One hundredth of the path is grazing.
    assert_eq!(gaps(&[1.0, -1.0], &[-0.005, -2.0]).entry(), None);
}

/// First the face of entry, otherwise the one that is farthest at the end.
#[test]
fn the_first_choice_is_the_entry_or_the_highest_face() {
    assert_eq!(gaps(&[0.2, 0.6], &[-0.8, -0.4]).first_choice(), 1);
    assert_eq!(gaps(&[1.0, -1.0], &[0.5, 0.7]).first_choice(), 1);
    assert_eq!(gaps(&[1.0, -1.0], &[0.5, 0.5]).first_choice(), 0, "the first of equals");
}

/// A pushing face is given up for one that leaves the vertex free; a resting one for the face of entry.
#[test]
fn choices_change_where_the_solution_contradicts_them() {
    let touch = 1e-10;
    assert_eq!(gaps(&[0.1, 0.1], &[0.0, 0.2]).better_choice(0, true, touch), Some(1));
    assert_eq!(gaps(&[0.1, 0.1], &[0.0, -0.2]).better_choice(0, true, touch), None);
    assert_eq!(gaps(&[0.1, 0.1], &[0.0, 0.2]).better_choice(1, true, touch), None, "it is the one already");
    assert_eq!(gaps(&[0.2, 0.6], &[-0.8, -0.4]).better_choice(0, false, touch), Some(1));
    assert_eq!(gaps(&[0.2, 0.6], &[0.8, -0.4]).better_choice(0, false, touch), None);
}

fn polygon(vertices: &[[f64; 2]]) -> Shape {
    let vertices: Vec<_> = vertices.iter().map(|&[x, y]| Point2::new(x, y)).collect();
    planar::Shape::polygon(&vertices).unwrap().into()
}

/// Block that slides over the left edge of a hole, whose walls are far below its lower side.
fn over_hole(x: f64, speed: f64) -> Model {
    let ground = BodyBuilder::fixed("ground").shape(polygon(&[
        [-6.0, -2.0],
        [6.0, -2.0],
        [6.0, 0.0],
        [1.0, 0.0],
        [1.0, -1.0],
        [0.0, -1.0],
        [0.0, 0.0],
        [-6.0, 0.0],
    ]));
    let block = rectangle("block", 1.0, [1.5, 0.25]).position(x, 0.25, 0.0).velocity(speed, 0.0, 0.0);
    world(Dimension::Planar, ContactRule::default(), [ground, block])
}

fn scheme(preset: Preset, corners: CornerLogic) -> Scheme {
    Scheme { corners, margin: Margin::Fixed(0.2), ..preset.scheme() }
}

/// One contact of every chain is in the problem, the others are candidates.
#[test]
fn one_face_of_every_chain_is_selected() {
    let mut case = Case::new(over_hole(-0.6, 1.0), scheme(Preset::Ncp, CornerLogic::Exact), 0.01);
    case.detect().unwrap();
    let ws = &case.ws;
    assert!(!ws.alternatives.chains.is_empty());
    for chain in &ws.alternatives.chains {
        let members = &ws.alternatives.members[chain.first..chain.end];
        assert!(members.len() > 1 && members.contains(&chain.chosen));
        let chosen = |&&member: &&usize| {
            let id = ws.alternatives.candidates[member].id;
            ws.constraints.contacts.iter().any(|contact| contact.id == id)
        };
        assert_eq!(members.iter().filter(chosen).copied().collect::<Vec<_>>(), [chain.chosen]);
    }
    // All faces at once if the scheme says so.
    let mut case = Case::new(over_hole(-0.6, 1.0), scheme(Preset::Ncp, CornerLogic::Conjunctive), 0.01);
    case.detect().unwrap();
    assert!(case.ws.alternatives.chains.is_empty() && has_alternatives(&case.ws));
}

/// A block slides over a hole by exact and by disjunctive logic; with unbounded faces the far wall stops it.
#[test]
fn blocks_slide_over_holes() {
    let slide = |preset, corners| {
        let mut case = Case::new(over_hole(-1.6, 4.0), scheme(preset, corners), 0.02);
        case.run(30);
        (case.q("block").to_vec(), case.v("block").to_vec())
    };
    for (preset, corners) in [
        (Preset::Ncp, CornerLogic::Exact),
        (Preset::StewartTrinkle, CornerLogic::Exact),
        (Preset::StewartTrinkle, CornerLogic::Disjunctive),
    ] {
        let (q, v) = slide(preset, corners);
        assert_near(q[0], -1.6 + 4.0 * 0.6, 1e-8);
        assert_near(q[1], 0.25, 1e-8);
        assert_near(v[0], 4.0, 1e-8);
    }
    let (_, v) = slide(Preset::Ncp, CornerLogic::Conjunctive);
    assert!((v[0] - 4.0).abs() > 0.1, "{v:?}");
}

/// Branches count through all combinations of faces once.
#[test]
fn branches_are_all_combinations() {
    let mut case = Case::new(over_hole(-0.6, 1.0), scheme(Preset::StewartTrinkle, CornerLogic::Disjunctive), 0.01);
    case.detect().unwrap();
    let combinations: usize = case.ws.alternatives.chains.iter().map(|chain| chain.end - chain.first).product();
    let (mut branch, mut seen) = (0, Vec::new());
    while disjunctive::next_branch(&mut case.ws, &mut branch) {
        let chosen: Vec<usize> = case.ws.alternatives.chains.iter().map(|chain| chain.chosen).collect();
        assert!(!seen.contains(&chosen));
        seen.push(chosen);
    }
    assert_eq!(seen.len(), combinations);
}

/// The completed disjunctive problem has the velocities of the chosen faces and a small residual.
#[test]
fn the_disjunctive_problem_is_completed() {
    let mut case = Case::new(over_hole(-0.6, 1.0), scheme(Preset::StewartTrinkle, CornerLogic::Disjunctive), 0.01);
    case.solve().unwrap();
    let velocity = case.ws.solution.velocity.clone();
    let residual = case.with(disjunctive::complete).unwrap();
    assert!(residual.value < 1e-9, "{residual:?}");
    assert_eq!(case.ws.solution.velocity, velocity);
    assert_eq!(case.ws.constraints.contacts.len(), case.ws.alternatives.candidates.len());
    assert_eq!(case.ws.solution.contact_impulses.len(), case.ws.constraints.contacts.len());
    let weight: f64 = case.ws.solution.contact_impulses.iter().map(|p| p.normal).sum();
    assert_near(weight, 10.0 * 0.01, 1e-9);
}
