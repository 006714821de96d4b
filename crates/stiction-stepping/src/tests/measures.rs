//! Layout of the mixed problem, infeasibility, reports and messages, reasons for passes.

use nalgebra::Point2;
use stiction_complementarity::Status;
use stiction_geometry::{Pose, planar};
use stiction_multibody::{BodyBuilder, BodyId, ContactRule, Dimension, JointKind, Layer};

use super::support::{Case, assert_near, ball, builder, disc, floor, on_floor};
use crate::{
    Change, Changes, EventKind, FeatureDetector, Infeasibility, Layout, RowMeaning, Scheme, StepCause, StepError,
    infeasibility, measure,
};

/// Each row has one meaning, kinds come in order, and indices count from zero within their kind.
#[test]
fn meanings_partition_the_rows() {
    let layout = Layout { velocities: 6, joints: 2, contacts: 3, friction: 8, friction_bounds: 2, limits: 1 };
    let mut rows = Vec::new();
    rows.extend((0..6).map(RowMeaning::Momentum));
    rows.extend((0..2).map(RowMeaning::Joint));
    rows.extend((0..3).map(RowMeaning::Normal));
    rows.extend((0..8).map(RowMeaning::Friction));
    rows.extend((0..2).map(RowMeaning::FrictionBound));
    rows.push(RowMeaning::Limit(0));
    assert_eq!(rows.len(), layout.size());
    assert_eq!((0..layout.size()).map(|row| layout.meaning(row)).collect::<Vec<_>>(), rows);
    for direction in 0..8 {
        let row = layout.free() + layout.friction_at(direction);
        assert_eq!(layout.meaning(row), RowMeaning::Friction(direction));
    }
    for bound in 0..2 {
        assert_eq!(layout.meaning(layout.free() + layout.sigma_at(bound)), RowMeaning::FrictionBound(bound));
    }
}

#[test]
fn infeasibility_is_the_deepest_overlap_and_the_largest_joint_error() {
    let mut builder = builder(Dimension::Planar, ContactRule::default());
    builder.body(BodyBuilder::fixed("floor").shape(floor(Dimension::Planar))).unwrap();
    builder.body(disc("sunk", 1.0, 0.5).position(0.0, 0.47, 0.0)).unwrap();
    builder.body(disc("deeper", 1.0, 0.5).position(3.0, 0.46, 0.0)).unwrap();
    builder.body(disc("apart", 1.0, 0.5).position(6.0, 0.6, 0.0)).unwrap();
    let hung = builder.body(disc("hung", 1.0, 0.5).position(9.0, 3.0, 0.0)).unwrap();
    let frame = Pose::translation(9.0, 3.01, 0.0);
    builder.joint("pin", JointKind::Revolute, (BodyId::WORLD, frame), (hung, Pose::identity())).unwrap();
    let case = Case::new(builder.build().unwrap(), Scheme::default(), 0.01);
    let found = infeasibility(&case.model, &case.configuration(&case.state.q)).unwrap();
    assert_near(found.penetration, 0.04, 1e-12);
    assert_near(found.joints, 0.01, 1e-12);
    assert_eq!(found.total(), found.penetration);
    assert_eq!(Infeasibility { penetration: 0.1, joints: 0.3 }.total(), 0.3);
}

/// Bodies may overlap by the thickness of the layer between them, and without bound if it has no core.
#[test]
fn layers_allow_penetration() {
    let layer = Layer::normal(1e4, 0.0);
    for (layer, expected) in [(Some(layer.with_depth(0.03)), 0.02), (Some(layer), 0.0), (None, 0.05)] {
        let mut body = ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.45);
        if let Some(layer) = layer {
            body = body.layer(layer);
        }
        let model = on_floor(Dimension::Spatial, ContactRule::default(), [body]);
        let case = Case::new(model, Scheme::default(), 0.01);
        let found = infeasibility(&case.model, &case.configuration(&case.state.q)).unwrap();
        assert_near(found.penetration, expected, 1e-12);
    }
}

/// A vertex beside a convex corner is outside one face and beyond the other: no penetration.
#[test]
fn alternatives_penetrate_only_together() {
    let step =
        [[0.0, -4.0], [6.0, -4.0], [6.0, -2.0], [4.0, -2.0], [4.0, 0.0], [0.0, 0.0]].map(|[x, y]| Point2::new(x, y));
    for (x, y, expected) in [(4.05, -0.5, 0.0), (3.95, 0.05, 0.0), (3.95, -0.08, 0.05), (3.9, -0.03, 0.03)] {
        let ground = BodyBuilder::fixed("ground").shape(planar::Shape::polygon(&step).unwrap().into());
        let point = BodyBuilder::planar("point", 1.0, 1.0).position(x, y, 0.0).shape(planar::Shape::point().into());
        let model = super::support::world(Dimension::Planar, ContactRule::default(), [ground, point]);
        let case = Case::new(model, Scheme::default(), 0.01);
        let found = infeasibility(&case.model, &case.configuration(&case.state.q)).unwrap();
        assert_near(found.penetration, expected, 1e-12);
    }
}

/// Every penetrating point is reported with its pair of shapes.
#[test]
fn penetrating_points_are_listed() {
    let bodies = [ball("sunk", 1.0, 0.5).position(0.0, 0.0, 0.4), ball("apart", 1.0, 0.5).position(3.0, 0.0, 0.6)];
    let case = Case::new(on_floor(Dimension::Spatial, ContactRule::default(), bodies), Scheme::default(), 0.01);
    let mut poses = Vec::new();
    crate::pairs::place_shapes(&case.model, &case.configuration(&case.state.q), &mut poses);
    let mut found = Vec::new();
    let mut detector = FeatureDetector::default();
    let deepest = measure::penetration(
        &case.model,
        &poses,
        &[(0, 1), (0, 2)],
        (&mut detector, &mut Vec::new()),
        |pair, point| found.push((pair, point.gap)),
    );
    assert_near(deepest.unwrap(), 0.1, 1e-12);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, (0, 1));
}

/// Messages name what is wrong, where, and what to do.
#[test]
fn causes_say_what_is_wrong_where_and_what_to_do() {
    let not_solved = StepCause::NotSolved {
        status: Status::BudgetExhausted,
        residual: 0.25,
        worst: "joint \"hinge\"".into(),
        rungs: vec!["lemke"],
        hint: "try this",
    };
    let cases: [(StepCause, &[&str]); 10] = [
        (not_solved, &["not solved", "budget exhausted", "2.500e-1", "joint \"hinge\"", "try this"]),
        (
            StepCause::NotProjected { residual: 0.5, rounds: 7, worst: "joint \"pin\"".into() },
            &["5.000e-1", "7 rounds", "joint \"pin\"", "contradictory joints"],
        ),
        (
            StepCause::NoBalance { body: "body \"slab\"".into(), force: 3.0, scale: 6.0 },
            &["body \"slab\"", "3.000e0 N of 6.000e0 N", "a dynamic preset"],
        ),
        (StepCause::StepSize { least: 1e-9, most: 1.0, value: 2.0 }, &["the step is 2 s", "from 0.000000001 to 1 s"]),
        (
            StepCause::StepRatio { value: 1.0, largest: 8.0, ratio: 8.0, bound: 4.0 },
            &["1 s after one of 8 s", "ratio of 8", "at most 4"],
        ),
        (
            StepCause::TooManySubsteps { most: 10, shortest: 1e-7 },
            &["more than 10 substeps", "1.0e-7 s", "smaller steps"],
        ),
        (StepCause::TooManyEvents { count: 5, contact: "the contact".into() }, &["more than 5 events", "the contact"]),
        (StepCause::NoMotion { time: 0.5, contact: "the contact".into() }, &["at t = 0.5", "the contact"]),
        (StepCause::NoInertia { body: "frame".into() }, &["body \"frame\"", "armature"]),
        (StepCause::non_finite("gap", None), &["the gap of the system"]),
    ];
    for (cause, words) in cases {
        let text = cause.to_string();
        for word in words {
            assert!(text.contains(word), "{word:?} is missing in: {text}");
        }
        let error = StepError { step: 3, time: 0.25, cause };
        assert_eq!(error.to_string(), format!("step 3 from t = 0.25: {text}"));
    }
}

/// Names of bodies are added to a used-up layer and to nothing else.
#[test]
fn bodies_are_named_where_they_are_unknown() {
    let case = Case::new(
        on_floor(Dimension::Spatial, ContactRule::default(), [ball("ball", 1.0, 0.5)]),
        Scheme::default(),
        0.01,
    );
    let pair = (case.body("floor"), case.body("ball"));
    let used_up = StepCause::LayerUsedUp { pair: String::new(), thickness: 0.5, overlap: 0.125 };
    let named = used_up.between(&case.model, pair).to_string();
    assert!(named.starts_with("\"floor\" and \"ball\" overlap by 1.250e-1 m"), "{named}");
    let other = StepCause::Geometry("a reason".into());
    assert_eq!(other.clone().between(&case.model, pair), other);
}

/// Names in files are distinct, for events and for reasons of passes.
#[test]
fn names_are_distinct() {
    let kinds = [EventKind::Touch, EventKind::Separate, EventKind::Stick, EventKind::Slip].map(EventKind::name);
    assert!(kinds.iter().enumerate().all(|(k, name)| kinds.iter().skip(k + 1).all(|other| other != name)));
    let changes = [
        Change::AddScreenedContacts,
        Change::AddAllContacts,
        Change::VertexContacts,
        Change::SwitchFace,
        Change::NextFaceCombination,
        Change::Relinearise,
        Change::AddJointLimits,
        Change::EnlargeReach,
        Change::EndVelocity,
    ];
    let names = changes.map(Change::name);
    assert!(names.iter().enumerate().all(|(k, name)| names.iter().skip(k + 1).all(|other| other != name)));
    // Each change is counted as itself only.
    for change in changes {
        let mut counts = Changes::default();
        counts.add(change);
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(change, 1)]);
        assert_eq!(counts.sum(&counts).to_string(), format!("{} 2", change.name()));
    }
}
