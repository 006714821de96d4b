//! Supports enter a model: every number is checked, statics gives the loads.

use nalgebra::Vector3;
use stiction_geometry::Dimension;

use super::{LimitPoint, Rests, Support, SupportBuilder, SupportPoint, tripod};
use crate::{
    BodyId, Element, Model, ModelBuilder, ModelError,
    check::{Check, limits, plain},
};

/// A foot whose load is still a share of the weight.
struct Rest {
    point: [f64; 2],
    share: f64,
    torsion: f64,
}

impl ModelBuilder {
    /// Lets a dynamic body of a planar model lie on a surface parallel to the plane, onto which −z of gravity presses it.
    ///
    /// The body and what it lies on do not collide unless a contact rule says so. What other bodies lie on it adds nothing to its loads.
    pub fn support(&mut self, body: BodyId, support: &SupportBuilder) -> Result<&mut Self, ModelError> {
        let name = self.model.body(body).map_or_else(String::new, |body| body.name.clone());
        let check = Check::new(Element::Body(name));
        self.known_body(&check, body)?;
        if self.model.body(support.on).is_none() {
            return Err(check.error("on", "belongs to another model"));
        }
        if self.model.dimension != Dimension::Planar {
            return Err(check.error("support", "is for the plane; in space let the body lie on a shape"));
        }
        let Some((mobility, _)) = self.model.unknowns(body) else {
            return Err(check.error("support", "needs a dynamic body: others do not slide"));
        };
        if self.model.body(body).is_some_and(|body| body.support.is_some()) {
            return Err(check.error("support", "is there already: a body lies on one surface"));
        }
        if lies_on(&self.model, support.on, body) {
            return Err(check.error("on", "leads back to the body itself: something has to lie on a table"));
        }
        let rests = shares(&check, &support.rests)?;
        let at_centre = matches!(rests.as_slice(), [Rest { point: [0.0, 0.0], torsion: 0.0, .. }]);
        if !mobility.turns() && !at_centre {
            return Err(
                check.error("points", "of a particle is one, at its centre and without a lever: it cannot turn")
            );
        }
        let support_points = with_friction(&check, &rests, &support.friction)?;
        if let Some(body) = self.model.bodies.get_mut(body.index()) {
            body.support = Some(Support { on: support.on, points: support_points });
        }
        Ok(self)
    }

    /// Loads from shares, once gravity and all bodies are known.   [SUP-1]
    pub(crate) fn press_supports(&mut self) -> Result<(), ModelError> {
        let model = &mut self.model;
        let down = -model.gravity.z;
        let supported = model.bodies.iter().any(|body| body.support.is_some());
        if model.dimension == Dimension::Planar && down != 0.0 && !supported {
            let reason = "has a component out of the plane, which presses bodies onto their supports, but no body has one; give two components, or bodies a support";
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

/// Whether `body` is `other`, or lies on it over others.
fn lies_on(model: &Model, body: BodyId, other: BodyId) -> bool {
    let under = |id: &BodyId| Some(model.body(*id)?.support.as_ref()?.on);
    std::iter::successors(Some(body), under).any(|id| id == other)
}

/// Feet with their shares of the weight, which add up to one.
fn shares(check: &Check, rests: &Rests) -> Result<Vec<Rest>, ModelError> {
    let place = |point: &[f64; 2]| point.iter().try_for_each(|&x| check.bounded("points", x, limits::LENGTH).map(drop));
    match rests {
        Rests::Tripod(support_points) => {
            support_points.iter().try_for_each(place)?;
            let shares = tripod::shares(support_points).map_err(|reason| check.error("points", reason))?;
            Ok(support_points.iter().zip(shares).map(|(&point, share)| Rest { point, share, torsion: 0.0 }).collect())
        }
        Rests::Shared { points, shares } => {
            if points.is_empty() || points.len() != shares.len() {
                let reason = format!("there are {} for {} feet: each needs one", shares.len(), points.len());
                return Err(check.error("loads", reason));
            }
            points.iter().try_for_each(place)?;
            let total = total(check, shares.iter().copied())?;
            let support_points = points.iter().zip(shares);
            Ok(support_points.map(|(&point, share)| Rest { point, share: share / total, torsion: 0.0 }).collect())
        }
        Rests::Limit(surface) => {
            for support_point in &surface.points {
                place(&support_point.point)?;
                check.non_negative("limit_surface", support_point.lever, limits::LENGTH)?;
            }
            let total = total(check, surface.points.iter().map(|support_point| support_point.share))?;
            let rest = |support_point: &LimitPoint| Rest {
                point: support_point.point,
                share: support_point.share / total,
                torsion: support_point.lever,
            };
            Ok(surface.points.iter().map(rest).collect())
        }
    }
}

/// The sum of shares, each of them legal.
fn total(check: &Check, mut shares: impl Iterator<Item = f64>) -> Result<f64, ModelError> {
    let total = shares.try_fold(0.0, |sum, share| Ok(sum + check.non_negative("loads", share, limits::LOAD)?))?;
    if total > 0.0 { Ok(total) } else { Err(check.error("loads", "must not all be zero")) }
}

/// Feet with one coefficient for all or one for each.
fn with_friction(check: &Check, rests: &[Rest], friction: &[f64]) -> Result<Vec<SupportPoint>, ModelError> {
    if friction.len() != 1 && friction.len() != rests.len() {
        let reason = format!("has {} numbers for {} feet: give one, or one for each", friction.len(), rests.len());
        return Err(check.error("friction", reason));
    }
    let coefficients = friction.iter().cycle();
    let support_point = |(rest, &mu): (&Rest, &f64)| {
        Ok(SupportPoint {
            point: Vector3::new(rest.point[0], rest.point[1], 0.0),
            load: rest.share,
            friction: check.non_negative("friction", mu, limits::FRICTION)?,
            torsion: rest.torsion,
        })
    };
    rests.iter().zip(coefficients).map(support_point).collect()
}
