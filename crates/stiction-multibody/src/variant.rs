//! Models that differ from another in one respect, for the trials of studies.

use std::sync::Arc;

use crate::{
    BodyId, BodyKind, ContactRule, Element, Model, ModelBuilder, ModelError, Motion,
    check::{Check, limits},
};

impl Model {
    /// The same model with another motion of a kinematic body.
    pub fn with_motion(&self, body: BodyId, motion: Arc<dyn Motion>) -> Result<Self, ModelError> {
        let mut builder = ModelBuilder { model: self.clone(), starts: Vec::new() };
        let name = self.body(body).map_or_else(String::new, |body| body.name.clone());
        let check = Check::new(Element::Body(name));
        builder.known_body(&check, body)?;
        let start = motion.at(0.0);
        builder.check_motion_start(&check, &start)?;
        let changed = builder.model.bodies.get_mut(body.index());
        match changed.filter(|body| matches!(body.kind, BodyKind::Kinematic(_))) {
            None => Err(check.error("motion", "is for kinematic bodies")),
            Some(body) => {
                body.position = start.position;
                body.kind = BodyKind::Kinematic(motion);
                Ok(builder.model)
            }
        }
    }

    /// The same model with every friction coefficient between bodies multiplied by `contacts`, and that of each support point by its
    /// factor in `support_points`.
    ///
    /// Factors are in the order of the model. Support points without a factor keep their coefficient.
    pub fn with_friction_scaled(&self, contacts: f64, support_points: &[f64]) -> Result<Self, ModelError> {
        let mut model = self.clone();
        let scaled = |rule: &mut ContactRule, check: &Check| {
            rule.friction = check.non_negative("friction", rule.friction * contacts, limits::FRICTION)?;
            Ok(())
        };
        scaled(&mut model.default_rule, &Check::new(Element::Contact(None)))?;
        for (index, pair) in model.pair_rules.iter_mut().enumerate() {
            scaled(&mut pair.rule, &Check::new(Element::Contact(Some(index))))?;
        }
        let mut factors = support_points.iter();
        for body in &mut model.bodies {
            let check = Check::new(Element::Body(body.name.clone()));
            for (support_point, factor) in
                body.support.iter_mut().flat_map(|support| &mut support.points).zip(&mut factors)
            {
                support_point.friction =
                    check.non_negative("friction", support_point.friction * factor, limits::FRICTION)?;
            }
        }
        Ok(model)
    }
}
