//! Layers between the bodies of a model.

use crate::{BodyId, ContactRule, Layer, LayerRule, Model};

impl Model {
    /// Layer between two bodies, if there is one: that of their rule, or those of the bodies in series.
    pub fn layer(&self, a: BodyId, b: BodyId) -> Option<Layer> {
        if !self.has_layers {
            return None;
        }
        self.layer_by(self.contact_rule(a, b), (a, b))
    }

    /// [`Self::layer`], for a known contact rule.
    pub fn layer_by(&self, rule: &ContactRule, (a, b): (BodyId, BodyId)) -> Option<Layer> {
        match rule.layer {
            LayerRule::Given(layer) => Some(layer),
            LayerRule::Rigid => None,
            LayerRule::OfBodies if !self.has_layers => None,
            LayerRule::OfBodies => match (self.body(a)?.layer, self.body(b)?.layer) {
                (Some(first), Some(second)) => Some(first.in_series(&second)),
                (first, second) => first.or(second),
            },
        }
    }

    /// True if a body or a rule has a layer.
    #[inline]
    pub fn has_layers(&self) -> bool {
        self.has_layers
    }

    /// All layers of bodies and rules.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        let given = self.contact_rules().filter_map(|rule| match &rule.layer {
            LayerRule::Given(layer) => Some(layer),
            LayerRule::OfBodies | LayerRule::Rigid => None,
        });
        self.bodies().iter().filter_map(|body| body.layer.as_ref()).chain(given)
    }
}
