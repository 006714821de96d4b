//! Series of elementary motions against the tree joints of the kinds that have their own.

#![allow(clippy::unwrap_used)]

use nalgebra::Vector3;
use stiction_geometry::Dimension;
use stiction_testkit::Random;

use super::{series, tree_joint};
use crate::{BodyBuilder, BodyId, JointKind, Mobility, ModelBuilder, articulated::TreeJoint};

/// FOREST-2: both have the same transform at the same coordinates of the joint DOFs.
#[test]
fn series_are_the_tree_joints_of_their_kinds() {
    let (mut random, mut compared) = (Random::new(91), 0);
    for (dimension, mobility) in [(Dimension::Planar, Mobility::Planar), (Dimension::Spatial, Mobility::Free)] {
        for kind in JointKind::all(dimension).filter(|kind| !matches!(kind, JointKind::Distance(_))) {
            let mut builder = ModelBuilder::new(dimension);
            let body = match dimension {
                Dimension::Planar => BodyBuilder::planar("body", 1.0, 1.0),
                Dimension::Spatial => BodyBuilder::rigid("body", 1.0, nalgebra::Matrix3::identity()),
            };
            let body = builder.body(body).unwrap();
            builder.joint_at("j", kind, (BodyId::WORLD, body), Vector3::zeros(), Vector3::x()).unwrap();
            let model = builder.build().unwrap();
            let joint = &model.joints()[0];
            for reversed in [false, true] {
                let (Some((series, places)), Some((own, frame, own_places))) =
                    (series(joint, reversed, dimension), tree_joint(joint, reversed, mobility, dimension))
                else {
                    continue;
                };
                compared += 1;
                let series = TreeJoint::Series(series);
                let (mut q, mut own_q) = (vec![0.0; series.coordinates()], vec![0.0; own.coordinates()]);
                for (place, own_place) in places.iter().flatten().zip(own_places.iter().flatten()) {
                    q[*place] = random.uniform(-1.0, 1.0);
                    own_q[*own_place] = q[*place];
                }
                let (ours, theirs) = (series.transform(&q), frame * own.transform(&own_q) * frame.inverse());
                let error = (ours.to_homogeneous() - theirs.to_homogeneous()).amax();
                assert!(error < 1e-14, "{kind:?}, reversed: {reversed}: {error}");
            }
        }
    }
    // Revolute, prismatic and weld in both dimensions, universal and cylindrical: in both directions; planar in one.
    assert!(compared >= 17, "{compared}");
}
