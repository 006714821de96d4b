//! Violation of constraints by a configuration.

use stiction_geometry::{ContactPoint, Pose, chains};
use stiction_multibody::{Configuration, Joint, Model};

use crate::{Detector, FeatureDetector, StepCause, pairs::place_shapes};

/// Infeasibility I(q) of a configuration: penetration and joint error.   [STEP-9]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Infeasibility {
    /// Deepest penetration max(0, −ψ), m; below a compliant layer, that of its rigid core.
    pub penetration: f64,
    /// Largest |Φ| over all joint rows.
    pub joints: f64,
}

impl Infeasibility {
    /// Larger of the two.
    pub fn total(&self) -> f64 {
        self.penetration.max(self.joints)
    }
}

/// Largest |Φ| over the rows of the given joints.
pub fn joint_error<'m>(joints: impl Iterator<Item = &'m Joint>, at: &Configuration) -> f64 {
    let mut error = 0.0_f64;
    for joint in joints {
        for row in joint.evaluate(at) {
            error = error.max(row.value.abs());
        }
    }
    error
}

/// Deepest penetration among `pairs` at the given poses of all shapes.
///
/// `found` is called for every penetrating point, with its pair of shapes.
pub fn penetration(
    model: &Model,
    poses: &[Pose],
    pairs: &[(usize, usize)],
    (detector, points): (&mut dyn Detector, &mut Vec<ContactPoint>),
    mut found: impl FnMut((usize, usize), &ContactPoint),
) -> Result<f64, StepCause> {
    let mut deepest = 0.0_f64;
    for &(i, j) in pairs {
        debug_assert!(i < poses.len() && j < poses.len(), "pairs are indices of shapes");
        let (Some((_, a, shape_a)), Some((_, b, shape_b))) = (model.shape(i), model.shape(j)) else { continue };
        let (Some(pose_a), Some(pose_b)) = (poses.get(i), poses.get(j)) else { continue };
        points.clear();
        let seen = detector.contacts((&shape_a.shape, pose_a), (&shape_b.shape, pose_b), 0.0, points);
        seen.map_err(|cause| cause.between(model, (a, b)))?;
        model.drop_contacts_inside_unions((i, pose_a), (j, pose_b), points);
        if points.is_empty() {
            continue;
        }
        // Bodies may overlap by the thickness of the layer between them.   [SOFT-5]
        let allowance = model.layer(a, b).map_or(0.0, |layer| layer.allowance());
        // Alternatives are apart if one of them is.
        for chain in chains(points) {
            let highest = chain.iter().reduce(|best, next| if next.gap > best.gap { next } else { best });
            let Some(point) = highest else { continue };
            deepest = deepest.max(-point.gap - allowance);
            found((i, j), point);
        }
    }
    Ok(deepest)
}

/// Infeasibility I(q) of a configuration, over all pairs of shapes.
pub fn infeasibility(model: &Model, at: &Configuration) -> Result<Infeasibility, StepCause> {
    let count = model.shapes().count();
    let wanted = |&(i, j): &(usize, usize)| model.shapes_may_collide(i, j);
    let pairs: Vec<_> = (0..count).flat_map(|i| (i + 1..count).map(move |j| (i, j))).filter(wanted).collect();
    let (mut poses, mut detector) = (Vec::new(), FeatureDetector::default());
    place_shapes(model, at, &mut poses);
    let penetration = penetration(model, &poses, &pairs, (&mut detector, &mut Vec::new()), |_, _| ())?;
    Ok(Infeasibility { penetration, joints: joint_error(model.joints().iter(), at) })
}
