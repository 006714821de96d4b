//! Checks of the layers of a whole model.

use super::ModelBuilder;
use crate::{BodyId, ContactRule, Element, LayerRule, ModelError, check::Check};

impl ModelBuilder {
    /// Refuses a coefficient of restitution between bodies with a layer: the spring of the layer already causes a rebound.
    pub(crate) fn ensure_no_restitution_on_layers(&self) -> Result<(), ModelError> {
        let reason = "a compliant layer rebounds by its own stiffness and damping; set `restitution = 0` or the material \"rigid\"";
        let refuse = |index| Err(Check::new(Element::Contact(index)).error("restitution", reason));
        let model = &self.model;
        if !model.has_layers() {
            return Ok(());
        }
        let has_layer = |id: BodyId| model.body(id).is_some_and(|body| body.layer.is_some());
        let compliant = |rule: &ContactRule, has_layer: bool| match rule.layer {
            LayerRule::OfBodies => has_layer,
            LayerRule::Rigid => false,
            LayerRule::Given(_) => true,
        };
        for (index, pair) in model.pair_rules.iter().enumerate() {
            let (a, b) = pair.bodies;
            let compliant = compliant(&pair.rule, has_layer(a) || has_layer(b));
            if pair.rule.collide && pair.rule.restitution > 0.0 && compliant {
                return refuse(Some(index));
            }
        }
        // The default rule applies to every pair of moving bodies without a rule.
        let ruled = |a: BodyId, b: BodyId| {
            let key = (a.min(b), a.max(b));
            model.pair_rules.iter().any(|pair| pair.bodies == key)
        };
        let ids = || model.iter_bodies().map(|(id, _)| id);
        let moves = |a: BodyId, b: BodyId| model.unknowns(a).is_some() || model.unknowns(b).is_some();
        let default = &model.default_rule;
        let unruled = |a: BodyId, b: BodyId| {
            a < b && moves(a, b) && !ruled(a, b) && compliant(default, has_layer(a) || has_layer(b))
        };
        if default.restitution > 0.0 && ids().any(|a| ids().any(|b| unruled(a, b))) {
            return refuse(None);
        }
        Ok(())
    }
}
