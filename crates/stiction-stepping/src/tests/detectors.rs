//! Detectors: that of the geometry crate, and the protective layer around it.

use nalgebra::{Point3, Vector3};
use stiction_geometry::{Pose, Shape, broad_phase::Aabb, planar, spatial};
use stiction_multibody::{ContactRule, Dimension};

use super::support::{Case, assert_near, ball, on_floor};
use crate::{Detector, FeatureDetector, ProtectiveLayer, Scheme, StepCause, Stepper, TimeStepper, detect, prepare};

const THICKNESS: f64 = 0.02;

fn layer() -> ProtectiveLayer<FeatureDetector> {
    ProtectiveLayer::new(FeatureDetector::default(), THICKNESS)
}

/// Two unit spheres with this distance between them.
fn gaps(detector: &mut dyn Detector, distance: f64, margin: f64) -> Result<Vec<f64>, StepCause> {
    let sphere: Shape = spatial::Shape::sphere(1.0).unwrap().into();
    let (a, b) = (Pose::identity(), Pose::translation(2.0 + distance, 0.0, 0.0));
    let mut points = Vec::new();
    detector.contacts((&sphere, &a), (&sphere, &b), margin, &mut points)?;
    Ok(points.iter().map(|point| point.gap).collect())
}

fn unit_box(x: f64) -> Aabb {
    let corner = Point3::new(x, 0.0, 0.0);
    Aabb { min: corner, max: corner + Vector3::repeat(1.0) }
}

/// Gaps are smaller by the thickness, and contacts are found as far again.   [STEP-16]
#[test]
fn a_protective_layer_takes_its_thickness_from_gaps() {
    for (distance, margin, bare, protected) in
        [(0.05, 0.1, true, true), (0.05, 0.04, false, true), (0.05, 0.02, false, false), (0.01, 0.0, false, true)]
    {
        let found = gaps(&mut FeatureDetector::default(), distance, margin).unwrap();
        assert_eq!(!found.is_empty(), bare, "{distance} {margin}");
        let found = gaps(&mut layer(), distance, margin).unwrap();
        assert_eq!(!found.is_empty(), protected, "{distance} {margin}");
        for gap in found {
            assert_near(gap, distance - THICKNESS, 1e-14);
        }
    }
}

#[test]
fn shapes_that_overlap_use_the_layer_up() {
    let cause = gaps(&mut layer(), -0.005, 0.1).unwrap_err();
    let StepCause::LayerUsedUp { thickness, overlap, .. } = cause else { panic!("{cause}") };
    assert_eq!(thickness, THICKNESS);
    assert_near(overlap, 0.005, 1e-14);
}

/// Contacts that are already in the list belong to others and keep their gaps.
#[test]
fn a_protective_layer_changes_only_its_own_contacts() {
    let sphere: Shape = spatial::Shape::sphere(1.0).unwrap().into();
    let near = |x: f64| Pose::translation(x, 0.0, 0.0);
    let (mut points, mut detector) = (Vec::new(), layer());
    detector.contacts((&sphere, &near(0.0)), (&sphere, &near(2.05)), 0.1, &mut points).unwrap();
    let first = points[0].gap;
    detector.contacts((&sphere, &near(0.0)), (&sphere, &near(2.07)), 0.1, &mut points).unwrap();
    assert_eq!((points.len(), points[0].gap), (2, first));
}

/// Boxes grow by half the thickness each: those within a thickness of each other are pairs.
#[test]
fn boxes_within_the_thickness_are_pairs() {
    let all = |_: usize, _: usize| true;
    let boxes = [Some(unit_box(0.0)), Some(unit_box(1.015)), Some(unit_box(2.04)), None];
    let (mut bare, mut protected) = (Vec::new(), Vec::new());
    FeatureDetector::default().pairs(&boxes, &all, &mut bare);
    layer().pairs(&boxes, &all, &mut protected);
    // The last shape is unbounded.
    assert_eq!(bare, [(0, 3), (1, 3), (2, 3)]);
    assert_eq!(protected, [(0, 1), (0, 3), (1, 3), (2, 3)]);
}

/// Vertex by vertex, the layer counts too; distances along faces do not change.
#[test]
fn chains_of_corners_have_the_layer() {
    let square: Shape = planar::Shape::rectangle([0.5, 0.5]).unwrap().into();
    let (a, b) = ((&square, &Pose::identity()), (&square, &Pose::translation(0.2, 1.05, 0.0)));
    let (mut bare, mut protected) = (Vec::new(), Vec::new());
    assert!(FeatureDetector::default().contacts_in_chains(a, b, 0.2, &mut bare));
    assert!(layer().contacts_in_chains(a, b, 0.2 - THICKNESS, &mut protected));
    assert!(!bare.is_empty() && bare.len() == protected.len());
    for (bare, protected) in bare.iter().zip(&protected) {
        assert_near(protected.gap, bare.gap - THICKNESS, 1e-14);
        let distance = |detector: &mut dyn Detector| detector.distance_to_face_end(a, b, bare.feature);
        assert_eq!(distance(&mut FeatureDetector::default()), distance(&mut layer()));
    }
}

#[test]
fn shapes_of_different_dimensions_are_a_geometry_error() {
    let (sphere, disc): (Shape, Shape) =
        (spatial::Shape::sphere(1.0).unwrap().into(), planar::Shape::disc(1.0).unwrap().into());
    let at = Pose::identity();
    let cause = FeatureDetector::default().contacts((&sphere, &at), (&disc, &at), 0.1, &mut Vec::new()).unwrap_err();
    assert!(matches!(cause, StepCause::Geometry(ref reason) if !reason.is_empty()), "{cause}");
}

fn ball_at(height: f64) -> Case {
    let body = ball("ball", 1.0, 0.5).position(0.0, 0.0, height);
    Case::new(on_floor(Dimension::Spatial, ContactRule::default(), [body]), Scheme::default(), 0.01)
}

#[test]
fn detection_names_the_bodies_whose_layer_is_used_up() {
    let mut case = ball_at(0.499);
    let cause = case.with(|start, ws| prepare(start, ws).and_then(|()| detect(start, &mut layer(), ws))).unwrap_err();
    let text = cause.to_string();
    assert!(text.starts_with("\"floor\" and \"ball\" overlap by 1.000e-3 m"), "{text}");
    assert!(case.ws.detection.pairs.contains(&(0, 1)), "the pairs stay for the next step");
}

/// A ball that falls comes to rest a thickness above the floor.
#[test]
fn bodies_rest_on_the_protective_layer() {
    let mut case = ball_at(0.7);
    let mut stepper = TimeStepper::default().with_detector(layer());
    for _ in 0..60 {
        let _ = case.with(|start, ws| stepper.step(start, ws)).unwrap();
        case.state.copy_from(&case.ws.result.next);
    }
    assert_near(case.q("ball")[2], 0.5 + THICKNESS, 1e-10);
    assert_near(case.ws.result.contact_reports[0].gap, 0.0, 1e-10);
}
