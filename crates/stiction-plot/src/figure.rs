//! Figures and their panels.

use crate::{Axis, Layer, bounds, draw, layer::Shape};

/// Panels in a grid under one title.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// What stands above the panels; may be empty.
    pub title: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Panels beside one another; 0 is taken as 1.
    pub columns: usize,
    /// Width and height of one panel with its labels, in millimetres; chosen by the number of columns where this is `None`.
    pub panel_size: Option<[f64; 2]>,
}

impl Figure {
    /// A figure without panels, one column wide.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), columns: 1, ..Self::default() }
    }

    /// Adds a panel.
    pub fn with(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Chooses how many panels stand beside one another.
    pub fn columns(self, columns: usize) -> Self {
        Self { columns, ..self }
    }

    /// Chooses width and height of one panel with its labels, in millimetres.
    pub fn panel_size(self, width: f64, height: f64) -> Self {
        Self { panel_size: Some([width, height]), ..self }
    }

    /// How many values cannot be drawn because they are infinite, or not positive on a logarithmic axis. NaN is a gap that
    /// was meant and does not count.
    pub fn left_out(&self) -> usize {
        self.panels.iter().map(bounds::left_out).sum()
    }

    /// The picture: one `<svg>` element without outside references or identifiers, so that it can stand in any page.
    pub fn to_svg(&self) -> String {
        draw::figure(self, None)
    }
}

/// Two axes and what is drawn over them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// What stands above it; may be empty.
    pub title: String,
    /// The axis below.
    pub x: Axis,
    /// The axis on the left.
    pub y: Axis,
    /// What is drawn, the last on top.
    pub layers: Vec<Layer>,
    /// One unit is as long on both axes; for linear axes.
    pub equal_aspect: bool,
}

impl Panel {
    /// A panel without layers.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, ..Self::default() }
    }

    /// Chooses what stands above the panel.
    pub fn titled(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// Adds a layer on top.
    pub fn with(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }

    /// Makes one unit as long on both axes.
    pub fn equal_aspect(self) -> Self {
        Self { equal_aspect: true, ..self }
    }

    /// The first heat map, which gets the bar of colours.
    pub(crate) fn heat(&self) -> Option<&crate::HeatMap> {
        self.layers.iter().find_map(|layer| match &layer.shape {
            Shape::Heat(map) => Some(map),
            _ => None,
        })
    }

    /// The first bars in space, which are then all that is drawn.
    pub(crate) fn bars(&self) -> Option<&crate::HeatMap> {
        self.layers.iter().find_map(|layer| match &layer.shape {
            Shape::Bars(map) => Some(map),
            _ => None,
        })
    }
}
