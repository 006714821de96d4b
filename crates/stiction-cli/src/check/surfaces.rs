//! Planar supports and compliant layers.

use serde::Serialize;
use stiction::{Layer, LayerRule, Model, multibody::Body};

#[derive(Debug, Serialize)]
pub(super) struct SupportRow {
    pub(super) body: String,
    pub(super) on: String,
    /// Normal loads of the support points, N.
    pub(super) loads: Vec<f64>,
    /// Friction coefficients of the support points.
    pub(super) friction: Vec<f64>,
}

/// A compliant layer on a body or between two.
#[derive(Debug, Serialize)]
pub(super) struct LayerRow {
    pub(super) on: Vec<String>,
    /// Normal and tangential stiffness, N/m; one number if it is tangentially rigid.
    pub(super) stiffness: Vec<f64>,
    /// Normal and tangential damping, N s/m.
    pub(super) damping: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) depth: Option<f64>,
}

pub(super) fn support_rows(model: &Model) -> Vec<SupportRow> {
    let row = |body: &Body| {
        let support = body.support.as_ref()?;
        Some(SupportRow {
            body: body.name.clone(),
            on: model.body(support.on).map_or_else(String::new, |on| on.name.clone()),
            loads: support.points.iter().map(|support_point| support_point.load).collect(),
            friction: support.points.iter().map(|support_point| support_point.friction).collect(),
        })
    };
    model.bodies().iter().filter_map(row).collect()
}

/// Layers of bodies and of contact rules.
pub(super) fn layer_rows(model: &Model) -> Vec<LayerRow> {
    let row = |on: Vec<String>, layer: &Layer| {
        let directions = if layer.shears { 2 } else { 1 };
        let shown = |entries: [f64; 2]| entries.into_iter().take(directions).collect();
        LayerRow {
            on,
            stiffness: shown([layer.stiffness.m11, layer.stiffness.m22]),
            damping: shown([layer.damping.m11, layer.damping.m22]),
            depth: layer.depth,
        }
    };
    let name = |id| model.body(id).map_or_else(String::new, |body: &Body| body.name.clone());
    let borne = model.bodies().iter().filter_map(|body| Some(row(vec![body.name.clone()], body.layer.as_ref()?)));
    let default = std::iter::once((Vec::new(), model.default_contact_rule()));
    let pairs = model.pair_rules().iter().map(|pair| (vec![name(pair.bodies.0), name(pair.bodies.1)], &pair.rule));
    let given = default.chain(pairs).filter_map(|(on, rule)| match &rule.layer {
        LayerRule::Given(layer) => Some(row(on, layer)),
        LayerRule::OfBodies | LayerRule::Rigid => None,
    });
    borne.chain(given).collect()
}
