//! Figures and their panels.

use crate::{Axis, Layer, bounds, draw, layer::Shape};

/// Panels in a grid under one title.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Title above the panels; may be empty.
    pub title: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Number of columns of panels; 0 counts as 1.
    pub columns: usize,
    /// Width and height of one panel with its labels, mm; `None` selects them by the number of columns.
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

    /// Sets the number of columns of panels.
    pub fn columns(self, columns: usize) -> Self {
        Self { columns, ..self }
    }

    /// Sets width and height of one panel with its labels, mm.
    pub fn panel_size(self, width: f64, height: f64) -> Self {
        Self { panel_size: Some([width, height]), ..self }
    }

    /// Number of values that cannot be drawn: infinite, or not positive on a logarithmic axis.
    ///
    /// NaN is an intended gap and does not count.
    pub fn left_out(&self) -> usize {
        self.panels.iter().map(bounds::left_out).sum()
    }

    /// The picture as one `<svg>` element without external references or identifiers, which can be embedded in any page.
    pub fn to_svg(&self) -> String {
        draw::figure(self, None)
    }
}

/// Two axes and the layers drawn over them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Title above the panel; may be empty.
    pub title: String,
    /// The horizontal axis, at the bottom.
    pub x: Axis,
    /// The vertical axis, on the left.
    pub y: Axis,
    /// Layers, the last on top.
    pub layers: Vec<Layer>,
    /// True if units have equal length on both axes; for linear axes.
    pub equal_aspect: bool,
}

impl Panel {
    /// A panel without layers.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, ..Self::default() }
    }

    /// Sets the title above the panel.
    pub fn titled(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// Adds a layer on top.
    pub fn with(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }

    /// Gives units equal length on both axes.
    pub fn equal_aspect(self) -> Self {
        Self { equal_aspect: true, ..self }
    }

    /// The first heat map, which gets the colour bar.
    pub(crate) fn heat(&self) -> Option<&crate::HeatMap> {
        self.layers.iter().find_map(|layer| match &layer.shape {
            Shape::Heat(map) => Some(map),
            _ => None,
        })
    }

    /// The first bars in space; a panel with bars draws nothing else.
    pub(crate) fn bars(&self) -> Option<&crate::HeatMap> {
        self.layers.iter().find_map(|layer| match &layer.shape {
            Shape::Bars(map) => Some(map),
            _ => None,
        })
    }
}
