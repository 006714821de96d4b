//! Unions of shapes that move together: all fixed shapes, and the shapes of each body.

use stiction_geometry::{
    ContactPoint, Pose, Shape,
    broad_phase::{Aabb, BroadPhase},
    has_numbered_features,
    spatial::UnionPiece,
};

use crate::{BodyKind, Model, ShapeOnBody};

/// Growth of the box of a shape in the search for shapes that touch it, as a fraction of its radius.
const PADDING: f64 = 1e-8;

/// Pieces of unions, by the number of their shape; empty if no two shapes that move together touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unions {
    pieces: Vec<Option<UnionPiece>>,
}

impl Unions {
    /// Unions of a model with all its shapes.
    ///
    /// Below a compliant layer bodies overlap, and the surface that counts is not that of the shapes: such models have none.
    pub(crate) fn new(model: &Model) -> Self {
        let mut unions = Self::default();
        if model.has_layers {
            return unions;
        }
        let is_fixed = |index: &usize| {
            let owner = model.shape(*index).and_then(|(_, body, _)| model.body(body));
            owner.is_some_and(|body| matches!(body.kind, BodyKind::Fixed))
        };
        let (fixed, moving): (Vec<usize>, Vec<usize>) = (0..model.shape_count()).partition(is_fixed);
        let at = |index: usize, shape: &ShapeOnBody, fixed: bool| {
            let owner = model.shape(index).and_then(|(_, body, _)| model.body(body));
            match owner {
                Some(body) if fixed => Pose::from_parts(body.position.into(), body.orientation.into()) * shape.local,
                _ => shape.local,
            }
        };
        unions.add(model, &fixed, &|index, shape| at(index, shape, true));
        let owner = |index: &usize| model.shape(*index).map(|(_, body, _)| body);
        for group in moving.chunk_by(|i, j| owner(i) == owner(j)) {
            unions.add(model, group, &|index, shape| at(index, shape, false));
        }
        unions
    }

    /// Adds the unions of shapes that move together, at their poses in a common frame.
    fn add(&mut self, model: &Model, group: &[usize], pose: &dyn Fn(usize, &ShapeOnBody) -> Pose) {
        if group.len() < 2 {
            return;
        }
        let shapes: Vec<(usize, &Shape, Pose)> = group
            .iter()
            .filter_map(|&index| model.shape(index).map(|(_, _, shape)| (index, &shape.shape, pose(index, shape))))
            .collect();
        let padded = |(_, shape, pose): &(usize, &Shape, Pose)| -> Option<Aabb> {
            Some(shape.aabb(pose)?.padded(PADDING * shape.radius_bound()?))
        };
        // A shape without a box is unbounded, has no vertices, and is no piece: an empty box keeps it apart.
        let nowhere = Aabb { min: [f64::INFINITY; 3].into(), max: [f64::NEG_INFINITY; 3].into() };
        let boxes: Vec<_> = shapes.iter().map(|shape| Some(padded(shape).unwrap_or(nowhere))).collect();
        let mut pairs = Vec::new();
        BroadPhase::default().pairs(&boxes, |_, _| true, &mut pairs);
        let mut beside = vec![Vec::new(); shapes.len()];
        for (i, j) in pairs {
            for (this, other) in [(i, j), (j, i)] {
                beside.get_mut(this).into_iter().for_each(|list| list.push(other));
            }
        }
        for ((index, shape, pose), beside) in shapes.iter().zip(beside) {
            let Shape::Spatial(shape) = shape else { continue };
            let others = beside.iter().filter_map(|&other| match shapes.get(other)? {
                (number, Shape::Spatial(other), at) => Some((*number, other, pose.inverse() * at)),
                _ => None,
            });
            let Some(piece) = UnionPiece::new(shape, others) else { continue };
            self.pieces.resize(model.shape_count(), None);
            self.pieces.get_mut(*index).into_iter().for_each(|slot| *slot = Some(piece.clone()));
        }
    }

    fn piece(&self, shape: usize) -> Option<&UnionPiece> {
        self.pieces.get(shape).and_then(Option::as_ref)
    }
}

impl Model {
    /// Drops the contacts of two shapes that are none of the unions to which the shapes belong: those that only seams between
    /// shapes make, which move together.   [CORNER-6]
    ///
    /// A neighbour counts if it may touch the other shape of the pair itself.
    pub fn drop_contacts_inside_unions(
        &self,
        (i, pose_i): (usize, &Pose),
        (j, pose_j): (usize, &Pose),
        points: &mut Vec<ContactPoint>,
    ) {
        let (piece_i, piece_j) = (self.unions.piece(i), self.unions.piece(j));
        if points.is_empty() || (piece_i.is_none() && piece_j.is_none()) {
            return;
        }
        let (Some((_, _, shape_i)), Some((_, _, shape_j))) = (self.shape(i), self.shape(j)) else { return };
        let is_numbered = has_numbered_features(&shape_i.shape, &shape_j.shape);
        points.retain(|point| {
            let (feature_i, feature_j) = point.feature.parts();
            let keeps = |piece: Option<&UnionPiece>, pose: &Pose, feature: usize, at, normal, other: usize| {
                let local = (&pose.inverse_transform_point(at), &(pose.rotation.inverse() * normal));
                let counts = |neighbour: usize| self.shapes_may_collide(neighbour, other);
                piece.is_none_or(|piece| piece.keeps(is_numbered.then_some(feature), local, counts))
            };
            let normal = point.normal.into_inner();
            keeps(piece_i, pose_i, feature_i, &point.point_a, normal, j)
                && keeps(piece_j, pose_j, feature_j, &point.point_b, -normal, i)
        });
    }
}
