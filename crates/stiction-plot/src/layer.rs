//! Layers: one set of data, drawn in one way.

/// Shape of a layer, in the coordinates of its panel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// Points connected by straight lines.
    Line {
        /// Abscissas.
        x: Vec<f64>,
        /// Ordinates.
        y: Vec<f64>,
    },
    /// Unconnected points.
    Points {
        /// Abscissas.
        x: Vec<f64>,
        /// Ordinates.
        y: Vec<f64>,
    },
    /// Step function: a value holds until the next abscissa.
    Steps {
        /// Abscissas.
        x: Vec<f64>,
        /// Ordinates.
        y: Vec<f64>,
    },
    /// The area between two curves.
    Band {
        /// Abscissas.
        x: Vec<f64>,
        /// The lower curve.
        low: Vec<f64>,
        /// The upper curve.
        high: Vec<f64>,
    },
    /// Lines across the panel at some abscissas: events.
    VerticalMarks {
        /// Abscissas.
        at: Vec<f64>,
        /// Labels beside the lines, in the same order; may be shorter.
        labels: Vec<String>,
    },
    /// Lines across the panel at some ordinates: limits, published values.
    HorizontalMarks {
        /// Ordinates.
        at: Vec<f64>,
        /// Labels on the lines, in the same order; may be shorter.
        labels: Vec<String>,
    },
    /// Values over a grid of cells, as colours, with a colour bar.
    Heat(HeatMap),
    /// Values over a grid of cells, as bars in space. A panel with bars draws nothing else.
    Bars(HeatMap),
    /// Closed outlines, for example of bodies at one time.
    Outlines {
        /// The corners of each.
        loops: Vec<Vec<[f64; 2]>>,
    },
    /// Arrows.
    Arrows {
        /// Tails.
        from: Vec<[f64; 2]>,
        /// Tips.
        to: Vec<[f64; 2]>,
    },
}

/// Values over a grid of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// Borders of the columns of cells, increasing: one more than columns.
    pub x_edges: Vec<f64>,
    /// Borders of the rows of cells, increasing: one more than rows.
    pub y_edges: Vec<f64>,
    /// Values, row by row from the lowest row; cells without a finite value are grey.
    pub values: Vec<f64>,
    /// Quantity.
    pub label: String,
    /// Unit.
    pub unit: String,
    /// Values of the two ends of the colours; computed from the data if this is `None`.
    pub range: Option<[f64; 2]>,
    /// Tooltips of the cells, in the order of the values; may be shorter. Maps finer than a page can show have none.
    pub notes: Vec<String>,
}

/// Dash pattern of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dash {
    /// Solid line.
    #[default]
    Solid,
    /// Long dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// Dashes and dots.
    DashDotted,
}

/// Marker at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marker {
    /// A disc.
    #[default]
    Disc,
    /// A ring.
    Ring,
    /// A square.
    Square,
    /// A triangle.
    Triangle,
    /// A diamond.
    Diamond,
    /// A cross.
    Cross,
}

/// Style of a layer; the panel chooses what is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Style {
    /// Index into [`crate::PALETTE`]; beyond its end the colours repeat with other dashes.
    pub colour: Option<usize>,
    /// Dash pattern of lines.
    pub dash: Option<Dash>,
    /// Marker at points; a line has none by default.
    pub marker: Option<Marker>,
    /// Width of lines in points of 1/72 inch.
    pub width: Option<f64>,
    /// True for secondary elements, drawn in grey.
    pub muted: bool,
}

/// One set of data, drawn in one way.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Shape and data.
    pub shape: Shape,
    /// Its name in the legend; unnamed layers are not listed.
    pub name: Option<String>,
    /// Style.
    pub style: Style,
}

impl Layer {
    /// A layer without a name in the style of its panel.
    pub fn new(shape: Shape) -> Self {
        Self { shape, name: None, style: Style::default() }
    }

    /// Points connected by straight lines; the shorter of the two lists counts.
    pub fn line(x: Vec<f64>, y: Vec<f64>) -> Self {
        Self::new(Shape::Line { x, y })
    }

    /// Unconnected points.
    pub fn points(x: Vec<f64>, y: Vec<f64>) -> Self {
        Self::new(Shape::Points { x, y })
    }

    /// Step function: values hold until the next abscissa.
    pub fn steps(x: Vec<f64>, y: Vec<f64>) -> Self {
        Self::new(Shape::Steps { x, y })
    }

    /// The area between two curves.
    pub fn band(x: Vec<f64>, low: Vec<f64>, high: Vec<f64>) -> Self {
        Self::new(Shape::Band { x, low, high })
    }

    /// Lines across the panel at abscissas.
    pub fn vertical_marks(at: Vec<f64>) -> Self {
        Self::new(Shape::VerticalMarks { at, labels: Vec::new() })
    }

    /// Lines across the panel at ordinates.
    pub fn horizontal_marks(at: Vec<f64>) -> Self {
        Self::new(Shape::HorizontalMarks { at, labels: Vec::new() })
    }

    /// Values over a grid.
    pub fn heat(map: HeatMap) -> Self {
        Self::new(Shape::Heat(map))
    }

    /// Values over a grid, as bars in space.
    pub fn bars(map: HeatMap) -> Self {
        Self::new(Shape::Bars(map))
    }

    /// Closed outlines.
    pub fn outlines(loops: Vec<Vec<[f64; 2]>>) -> Self {
        Self::new(Shape::Outlines { loops })
    }

    /// Arrows.
    pub fn arrows(from: Vec<[f64; 2]>, to: Vec<[f64; 2]>) -> Self {
        Self::new(Shape::Arrows { from, to })
    }

    /// Adds the layer to the legend.
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Sets the labels of marks; no effect on other layers.
    pub fn labelled<T: Into<String>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        if let Shape::VerticalMarks { labels, .. } | Shape::HorizontalMarks { labels, .. } = &mut self.shape {
            *labels = texts.into_iter().map(Into::into).collect();
        }
        self
    }

    /// Sets the colour by its index in the palette.
    pub fn colour(mut self, index: usize) -> Self {
        self.style.colour = Some(index);
        self
    }

    /// Sets the dash pattern of lines.
    pub fn dash(mut self, dash: Dash) -> Self {
        self.style.dash = Some(dash);
        self
    }

    /// Sets the marker at points.
    pub fn marker(mut self, marker: Marker) -> Self {
        self.style.marker = Some(marker);
        self
    }

    /// Sets the width of lines, in points of 1/72 inch.
    pub fn width(mut self, width: f64) -> Self {
        self.style.width = Some(width);
        self
    }

    /// Draws the layer in grey, as a secondary element.
    pub fn muted(mut self) -> Self {
        self.style.muted = true;
        self
    }
}
