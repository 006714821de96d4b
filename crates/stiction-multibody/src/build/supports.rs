//! Adds supports to a model: every number is checked, and statics gives the loads.

use nalgebra::Vector3;
use stiction_geometry::Dimension;

use super::ModelBuilder;
use crate::{
    BodyId, Element, LimitPoint, Model, ModelError, Support, SupportBuilder, SupportPoint,
    check::{Check, limits, plain},
    support::{LoadDistribution, load_fractions},
};

/// A support point with its fraction of the weight.
struct WeightedPoint {
    point: [f64; 2],
    fraction: f64,
    torsion: f64,
}

impl ModelBuilder {
    /// Adds a support to a dynamic body of a planar model: a surface parallel to the plane, with the normal load of gravity along −z.
    ///
    /// The body and its support do not collide unless a contact rule says so. Bodies that lie on the body do not add to its loads.
    pub fn support(&mut self, body: BodyId, support: &SupportBuilder) -> Result<&mut Self, ModelError> {
        let name = self.model.body(body).map_or_else(String::new, |body| body.name.clone());
        let check = Check::new(Element::Body(name));
        self.known_body(&check, body)?;
        if self.model.body(support.on).is_none() {
            return Err(check.error("on", "belongs to another model"));
        }
        if self.model.dimension != Dimension::Planar {
            return Err(check.error("support", "is for planar models; in space give the body a shape to lie on"));
        }
        let Some((mobility, _)) = self.model.unknowns(body) else {
            return Err(check.error("support", "needs a dynamic body: fixed and kinematic bodies do not slide"));
        };
        if self.model.body(body).is_some_and(|body| body.support.is_some()) {
            return Err(check.error("support", "is set already: a body lies on one surface"));
        }
        if lies_on(&self.model, support.on, body) {
            return Err(check.error("on", "is a body that lies on this one, which closes a cycle; name another body"));
        }
        let points = weighted_points(&check, &support.distribution)?;
        let at_centre = matches!(points.as_slice(), [WeightedPoint { point: [0.0, 0.0], torsion: 0.0, .. }]);
        if !mobility.turns() && !at_centre {
            return Err(check
                .error("points", "of a particle must be one at its centre without a lever: a particle cannot turn"));
        }
        let support_points = with_friction(&check, &points, &support.friction)?;
        debug_assert!(body.index() < self.model.bodies.len(), "a known body is in the model");
        if let Some(body) = self.model.bodies.get_mut(body.index()) {
            body.support = Some(Support { on: support.on, points: support_points });
        }
        Ok(self)
    }

    /// Multiplies the fractions of the weight by the weight, once gravity and all bodies are known.   [SUP-1]
    pub(crate) fn compute_support_loads(&mut self) -> Result<(), ModelError> {
        let model = &mut self.model;
        let down = -model.gravity.z;
        let supported = model.bodies.iter().any(|body| body.support.is_some());
        if model.dimension == Dimension::Planar && down != 0.0 && !supported {
            let reason = "has a component out of the plane, the normal load of supports, but no body has a support; give two components, or give a body a support";
            return Err(ModelError::new(Element::Model, "gravity", reason));
        }
        for body in &mut model.bodies {
            let weight = body.mass().unwrap_or(0.0) * down;
            let Some(support) = &mut body.support else { continue };
            if !(weight > 0.0 && weight <= limits::LOAD) {
                let reason = format!(
                    "must be pressed on by gravity, but its third component is {}; give a negative one such as gravity = [0, 0, -9.81]",
                    plain(-down)
                );
                return Err(ModelError::new(Element::Body(body.name.clone()), "support", reason));
            }
            support.points.iter_mut().for_each(|support_point| support_point.load *= weight);
        }
        Ok(())
    }
}

/// True if `body` is `other`, or lies on it directly or through other bodies.
fn lies_on(model: &Model, body: BodyId, other: BodyId) -> bool {
    let under = |id: &BodyId| Some(model.body(*id)?.support.as_ref()?.on);
    std::iter::successors(Some(body), under).any(|id| id == other)
}

/// Support points with their fractions of the weight, which add up to one.
fn weighted_points(check: &Check, distribution: &LoadDistribution) -> Result<Vec<WeightedPoint>, ModelError> {
    let place = |point: &[f64; 2]| point.iter().try_for_each(|&x| check.bounded("points", x, limits::LENGTH).map(drop));
    match distribution {
        LoadDistribution::Tripod(support_points) => {
            support_points.iter().try_for_each(place)?;
            let fractions = load_fractions(support_points).map_err(|reason| check.error("points", reason))?;
            let weighted = |(&point, fraction)| WeightedPoint { point, fraction, torsion: 0.0 };
            Ok(support_points.iter().zip(fractions).map(weighted).collect())
        }
        LoadDistribution::Given { points, loads } => {
            if points.is_empty() || points.len() != loads.len() {
                let reason = format!("there are {} for {} points: each needs one", loads.len(), points.len());
                return Err(check.error("loads", reason));
            }
            points.iter().try_for_each(place)?;
            let total = total(check, loads.iter().copied())?;
            let weighted = |(&point, load): (_, &f64)| WeightedPoint { point, fraction: load / total, torsion: 0.0 };
            Ok(points.iter().zip(loads).map(weighted).collect())
        }
        LoadDistribution::LimitSurface(surface) => {
            for support_point in &surface.points {
                place(&support_point.point)?;
                check.non_negative("limit_surface", support_point.lever, limits::LENGTH)?;
            }
            let total = total(check, surface.points.iter().map(|support_point| support_point.fraction))?;
            let weighted = |support_point: &LimitPoint| WeightedPoint {
                point: support_point.point,
                fraction: support_point.fraction / total,
                torsion: support_point.lever,
            };
            Ok(surface.points.iter().map(weighted).collect())
        }
    }
}

/// Sum of the loads, each of which is checked.
fn total(check: &Check, mut loads: impl Iterator<Item = f64>) -> Result<f64, ModelError> {
    let total = loads.try_fold(0.0, |sum, load| Ok(sum + check.non_negative("loads", load, limits::LOAD)?))?;
    if total > 0.0 { Ok(total) } else { Err(check.error("loads", "must not all be zero")) }
}

/// Support points with one friction coefficient for all or one for each.
fn with_friction(check: &Check, points: &[WeightedPoint], friction: &[f64]) -> Result<Vec<SupportPoint>, ModelError> {
    if friction.len() != 1 && friction.len() != points.len() {
        let reason = format!("has {} numbers for {} points: give one, or one for each", friction.len(), points.len());
        return Err(check.error("friction", reason));
    }
    let coefficients = friction.iter().cycle();
    let support_point = |(weighted, &mu): (&WeightedPoint, &f64)| {
        Ok(SupportPoint {
            point: Vector3::new(weighted.point[0], weighted.point[1], 0.0),
            load: weighted.fraction,
            friction: check.non_negative("friction", mu, limits::FRICTION)?,
            torsion: weighted.torsion,
        })
    };
    points.iter().zip(coefficients).map(support_point).collect()
}
