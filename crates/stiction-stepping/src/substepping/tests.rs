//! Joined parts of a step: sums of impulses and work, contacts of either part.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

use nalgebra::Vector3;
use stiction_complementarity::Residual;
use stiction_multibody::{ContactMode, ContactRule, Dimension, LayerMemory};

use super::joining::{EarlierParts, joined};
use crate::tests::support::{Case, ball, friction, on_floor};
use crate::{Change, ContactReport, Correction, Scheme, StepReport};

fn made() -> (Case, StepReport) {
    let bodies = [0.0, 2.0, 4.0].map(|x| ball(&format!("ball {x}"), 1.0, 0.5).position(x, 0.0, 0.5));
    let mut case = Case::new(on_floor(Dimension::Spatial, friction(0.3), bodies), Scheme::default(), 0.01);
    let report = case.try_step().unwrap();
    (case, report)
}

/// Work adds up, the worse residual counts, and the end is that of the second part.
#[test]
fn reports_of_two_parts_are_joined() {
    let (_, report) = made();
    let mut changes = report.changes;
    changes.add(Change::SwitchFace);
    let correction = |rounds, residual, energy| Some(Correction { rounds, residual, energy });
    let first = StepReport {
        residual: Residual { value: 1e-9, row: 3 },
        rung: "first",
        iterations: 5,
        passes: 2,
        changes,
        impacts: 1,
        contacts: 7,
        correction: correction(2, 0.5, 1.0),
        ..report
    };
    let second = StepReport {
        residual: Residual { value: 1e-12, row: 0 },
        rung: "second",
        iterations: 4,
        passes: 3,
        changes,
        time: 9.0,
        penetration: 0.25,
        correction: correction(1, 0.125, -3.0),
        ..report
    };
    let whole = joined(&first, &second);
    assert_eq!((whole.iterations, whole.passes, whole.impacts, whole.contacts), (9, 5, 1, 7));
    assert_eq!((whole.residual, whole.rung), (first.residual, "first"));
    assert_eq!((whole.time, whole.penetration, whole.substeps), (9.0, 0.25, 2));
    assert_eq!(whole.changes.count(Change::SwitchFace), 2);
    assert_eq!(whole.correction, correction(3, 0.125, -2.0));
    assert_eq!(joined(&second, &first).rung, "first");
    assert_eq!(joined(&first, &StepReport { correction: None, ..second }).correction, first.correction);
}

fn impulses(report: &ContactReport) -> (f64, Vector3<f64>, f64, Vector3<f64>) {
    (report.normal_impulse, report.friction_impulse, report.spin_impulse, report.rolling_impulse)
}

/// Impulses of contacts in both parts add up; contacts of one part only keep theirs, and those that ended are open.
#[test]
fn contacts_of_two_parts_are_merged() {
    let (mut case, _) = made();
    let model = case.model.clone();
    let numbered = |report: &ContactReport, x: f64| ContactReport {
        normal_impulse: x,
        friction_impulse: Vector3::new(x, 2.0 * x, 0.0),
        spin_impulse: 3.0 * x,
        rolling_impulse: Vector3::new(0.0, x, 4.0 * x),
        mode: ContactMode::Slip,
        pending_restitution: -x,
        layer: Some(LayerMemory {
            compression: x,
            core_impulse: x,
            core_friction: [x; 3],
            core_spin: x,
            ..LayerMemory::default()
        }),
        ..*report
    };
    let reports: Vec<_> = case.ws.result.contact_reports.iter().map(|report| numbered(report, 1.0)).collect();
    assert_eq!(reports.len(), 3);
    let mut earlier = EarlierParts::default();
    // The first part has contacts 0 and 1, the second 1 and 2.
    case.ws.result.contact_reports = reports[..2].to_vec();
    earlier.keep(&model, &mut case.ws);
    case.ws.result.contact_reports = reports[1..].iter().map(|report| numbered(report, 10.0)).collect();
    earlier.merge(&model, &mut case.ws);
    let merged = &case.ws.result.contact_reports;
    assert_eq!(
        merged.iter().map(|report| report.id).collect::<Vec<_>>(),
        reports.iter().map(|r| r.id).collect::<Vec<_>>()
    );
    assert_eq!(impulses(&merged[0]), impulses(&reports[0]));
    assert_eq!((merged[0].mode, merged[0].pending_restitution), (ContactMode::Open, 0.0));
    assert_eq!(impulses(&merged[1]), impulses(&numbered(&reports[1], 11.0)));
    assert_eq!((merged[1].mode, merged[1].pending_restitution), (ContactMode::Slip, -10.0));
    let layer = merged[1].layer.unwrap();
    assert_eq!(
        (layer.compression, layer.core_impulse, layer.core_friction, layer.core_spin),
        (10.0, 11.0, [11.0; 3], 11.0)
    );
    assert_eq!(impulses(&merged[2]), impulses(&numbered(&reports[2], 10.0)));
    // The memory for the next step is that of the whole.
    let remembered: Vec<f64> = case.ws.result.next.contacts.iter().map(|memory| memory.normal_impulse).collect();
    assert_eq!(remembered, [1.0, 11.0, 10.0]);
}

/// Events of all parts are listed in their order, and shocks are counted.
#[test]
fn events_of_all_parts_are_kept() {
    let body = ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.501).velocity(0.0, 0.0, -1.0);
    let mut case = Case::new(on_floor(Dimension::Spatial, ContactRule::default(), [body]), Scheme::default(), 0.01);
    let _ = case.try_step().unwrap();
    let model = case.model.clone();
    let events = case.ws.result.events.clone();
    assert_eq!(events.len(), 2);
    case.ws.result.shocks = 2;
    let mut earlier = EarlierParts::default();
    earlier.keep(&model, &mut case.ws);
    case.ws.result.shocks = 3;
    case.ws.result.events.truncate(1);
    earlier.merge(&model, &mut case.ws);
    assert_eq!(case.ws.result.events, [events[0], events[1], events[0]]);
    assert_eq!(case.ws.result.shocks, 5);
    assert_eq!(case.ws.solution.balanced_step_size, 0.0);
}
