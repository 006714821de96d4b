//! Supports of the bodies of a model.

use crate::{BodyId, Model, Support, SupportPoint};

impl Model {
    /// All supports in the order of their bodies.
    pub fn supports(&self) -> impl Iterator<Item = (BodyId, &Support)> {
        self.iter_bodies().filter_map(|(id, body)| Some((id, body.support.as_ref()?)))
    }

    /// All support points in the order of their bodies: the body, its support, the position in its list, and the support point.
    pub fn support_points(&self) -> impl Iterator<Item = (BodyId, &Support, usize, &SupportPoint)> {
        self.supports().flat_map(|(id, support)| {
            support.points.iter().enumerate().map(move |(k, support_point)| (id, support, k, support_point))
        })
    }

    /// Number of support points of all bodies.
    pub fn support_point_count(&self) -> usize {
        self.supports().map(|(_, support)| support.points.len()).sum()
    }
}
