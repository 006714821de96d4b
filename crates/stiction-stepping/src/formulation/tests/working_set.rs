//! Working sets: contacts left out of the problem, added again, restored.

use stiction_multibody::{ContactRule, Dimension};

use crate::formulation::working_set::{ScreeningOutcome, extend_working_set, restore_screened, screen};
use crate::formulation::{self, review_working_set};
use crate::review::Change;
use crate::tests::support::{Case, assert_all_near, ball, on_floor};
use crate::{Margin, Scheme, rows};

/// `touching` balls on a floor and `high` ones one metre above it, in alternation, with contacts for all of them.
fn balls(touching: usize, high: usize) -> Case {
    let bodies = (0..touching + high).map(|k| {
        let is_high = if k < 2 * touching.min(high) { k % 2 == 1 } else { high > touching };
        let z = if is_high { 1.5 } else { 0.5 };
        ball(&format!("ball {k}"), 1.0, 0.5).position(2.0 * k as f64, 0.0, z)
    });
    let scheme = Scheme { margin: Margin::Fixed(2.0), ..Scheme::default() };
    let model = on_floor(Dimension::Spatial, ContactRule { margin: None, ..ContactRule::default() }, bodies);
    let mut case = Case::new(model, scheme, 0.01);
    case.detect().unwrap();
    case.with(rows::write);
    case
}

fn counts(case: &Case) -> (usize, usize) {
    (case.ws.constraints.contacts.len(), case.ws.screening.screened.len())
}

/// Contacts that do not close are screened if there are more than sixteen in all.
#[test]
fn many_contacts_that_stay_open_are_screened() {
    // Neighbours within the margin have contacts of their own, which stay open as well.
    let mut case = balls(6, 6);
    let (all, _) = counts(&case);
    assert!(all > 16);
    assert!(case.with(screen));
    assert_eq!(counts(&case), (6, all - 6));
    let floor = case.body("floor");
    assert!(case.ws.constraints.contacts.iter().all(|contact| contact.a == floor && contact.gap_end.abs() < 1e-12));
}

#[test]
fn few_contacts_and_large_working_sets_are_not_screened() {
    let mut few = balls(3, 3);
    let before = counts(&few);
    assert!(before.0 <= 16);
    assert!(!few.with(screen));
    assert_eq!(counts(&few), before);
    // Seventeen contacts close at once: the working set would be too large.
    let mut many = balls(17, 0);
    let before = counts(&many);
    assert!(!many.with(screen));
    assert_eq!(counts(&many), before);
}

/// The solution of the working set, with zero impulses for the others, is that of the whole problem.
#[test]
fn a_screened_step_is_the_whole_step() {
    let mut whole = balls(6, 6);
    whole.solve().unwrap();
    let mut screened = balls(6, 6);
    let report = screened.step();
    assert_eq!(report.passes, 1);
    let contacts = &screened.ws.constraints.contacts;
    assert_eq!(contacts.len(), whole.ws.constraints.contacts.len());
    assert!(contacts.windows(2).all(|pair| pair[0].id < pair[1].id));
    assert_all_near(&screened.ws.solution.velocity, &whole.ws.solution.velocity, 1e-12);
    let normals = |case: &Case| -> Vec<f64> { case.ws.solution.contact_impulses.iter().map(|p| p.normal).collect() };
    assert_all_near(&normals(&screened), &normals(&whole), 1e-12);
}

/// Contacts that the solution closes join the working set at their place.
#[test]
fn contacts_that_the_solution_closes_are_added() {
    let mut case = balls(6, 6);
    case.with(screen);
    let before = counts(&case);
    case.ws.solution.velocity = vec![0.0; case.model.dof()];
    assert!(matches!(case.with(extend_working_set), ScreeningOutcome::Complete));
    // One high ball falls by more than its gap within the step.
    let (_, range) = case.model.unknowns(case.body("ball 3")).unwrap();
    case.ws.solution.velocity[range.start + 2] = -200.0;
    let mut working_sets = Some(0);
    let change = case.with(|start, ws| review_working_set(start, true, &mut working_sets, ws));
    assert_eq!((change, working_sets), (Some(Change::AddScreenedContacts), Some(1)));
    let after = counts(&case);
    assert!(after.0 > before.0 && after.0 + after.1 == before.0 + before.1);
    assert!(case.ws.constraints.contacts.windows(2).all(|pair| pair[0].id < pair[1].id));
}

/// If all of them close, or the problem is not solved, all contacts are taken.
#[test]
fn all_contacts_return_if_too_many_close() {
    for solved in [true, false] {
        let mut case = balls(6, 6);
        let ids = |case: &Case| case.ws.constraints.contacts.iter().map(|contact| contact.id).collect::<Vec<_>>();
        let all = ids(&case);
        case.with(screen);
        case.ws.solution.velocity = vec![0.0; case.model.dof()];
        for slot in case.model.layout().iter().filter(|slot| !slot.v.is_empty()) {
            case.ws.solution.velocity[slot.v.start + 2] = if slot.v.start % 12 == 0 { 200.0 } else { -200.0 };
        }
        let mut working_sets = Some(0);
        let change = case.with(|start, ws| review_working_set(start, solved, &mut working_sets, ws));
        assert_eq!((change, working_sets), (Some(Change::AddAllContacts), None));
        assert_eq!(ids(&case), all);
        // Without a working set there is nothing to review.
        assert_eq!(case.with(|start, ws| review_working_set(start, solved, &mut working_sets, ws)), None);
    }
}

/// Restored contacts have zero impulses at their place.
#[test]
fn restored_contacts_have_no_impulse() {
    let mut case = balls(6, 6);
    let all = counts(&case).0;
    case.with(screen);
    case.with(|start, ws| {
        formulation::assemble_rows(start, ws).unwrap();
        formulation::solve(start, &mut crate::Ladder::default(), ws).unwrap();
        restore_screened(ws);
    });
    assert_eq!(counts(&case), (all, 0));
    assert_eq!(case.ws.solution.contact_impulses.len(), all);
    for (contact, p) in case.ws.constraints.contacts.iter().zip(&case.ws.solution.contact_impulses) {
        assert_eq!(p.normal > 0.0, contact.a == case.body("floor") && contact.gap_end < 1e-9);
    }
}

/// Linear friction sets, bodies without inertia and implicit steps have all contacts.
#[test]
fn only_dynamic_steps_with_cones_are_screened() {
    use crate::Preset;
    for (preset, expected) in [
        (Preset::Ncp, true),
        (Preset::StewartTrinkle, false),
        (Preset::Quasistatic, false),
        (Preset::GeometricallyImplicit, false),
    ] {
        let mut case = balls(6, 6);
        case.scheme = Scheme { margin: Margin::Fixed(2.0), ..preset.scheme() };
        assert_eq!(case.with(formulation::screen), expected, "{preset:?}");
    }
}
