//! Layers: one set of data, drawn in one way.

/// What a layer draws, in the coordinates of its panel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// Points joined by straight lines.
    Line {
        /// Abscissas.
        x: Vec<f64>,
        /// Ordinates.
        y: Vec<f64>,
    },
    /// Points by themselves.
    Points {
        /// Abscissas.
        x: Vec<f64>,
        /// Ordinates.
        y: Vec<f64>,
    },
    /// A value that holds until the next abscissa.
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
        /// What stands beside the lines, in the same order; may be shorter.
        labels: Vec<String>,
    },
    /// Lines across the panel at some ordinates: limits, published values.
    HorizontalMarks {
        /// Ordinates.
        at: Vec<f64>,
        /// What stands on the lines, in the same order; may be shorter.
        labels: Vec<String>,
    },
    /// Values over a grid of cells, as colours, with a bar that explains them.
    Heat(HeatMap),
    /// Values over a grid of cells, as bars in space. A panel with bars draws nothing else.
    Bars(HeatMap),
    /// Closed outlines: bodies at some moment.
    Outlines {
        /// The corners of each.
        loops: Vec<Vec<[f64; 2]>>,
    },
    /// Arrows.
    Arrows {
        /// Where they start.
        from: Vec<[f64; 2]>,
        /// Where they point.
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
    /// Values, row by row from the lowest row; cells without a finite value stay grey.
    pub values: Vec<f64>,
    /// What is measured.
    pub label: String,
    /// In which unit.
    pub unit: String,
    /// Values of the two ends of the colours; found from the data where this is `None`.
    pub range: Option<[f64; 2]>,
    /// What a reader is told who points at a cell, in the order of the values; may be shorter. Not of maps finer than a page can show.
    pub notes: Vec<String>,
}

/// Interruptions of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dash {
    /// None.
    #[default]
    Solid,
    /// Long dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// Dashes and dots.
    DashDotted,
}

/// What stands at a point.
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

/// How a layer looks; what is `None` is chosen by the panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Style {
    /// Index into [`crate::PALETTE`]; beyond its end the colours repeat with other dashes.
    pub colour: Option<usize>,
    /// Interruptions of lines.
    pub dash: Option<Dash>,
    /// What stands at points; a line has none unless asked.
    pub marker: Option<Marker>,
    /// Width of lines in points of 1/72 inch.
    pub width: Option<f64>,
    /// Draw in the grey of axes: things beside the point.
    pub muted: bool,
}

/// One set of data, drawn in one way.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// What is drawn.
    pub shape: Shape,
    /// Its name in the legend; unnamed layers are not listed.
    pub name: Option<String>,
    /// How it looks.
    pub style: Style,
}

impl Layer {
    /// A layer without a name in the style of its panel.
    pub fn new(shape: Shape) -> Self {
        Self { shape, name: None, style: Style::default() }
    }

    /// Points joined by straight lines; the shorter of the two lists counts.
    pub fn line(x: Vec<f64>, y: Vec<f64>) -> Self {
        Self::new(Shape::Line { x, y })
    }

    /// Points by themselves.
    pub fn points(x: Vec<f64>, y: Vec<f64>) -> Self {
        Self::new(Shape::Points { x, y })
    }

    /// Values that hold until the next abscissa.
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

    /// Puts the layer into the legend.
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Writes beside the marks; other layers have nothing to write beside.
    pub fn labelled<T: Into<String>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        if let Shape::VerticalMarks { labels, .. } | Shape::HorizontalMarks { labels, .. } = &mut self.shape {
            *labels = texts.into_iter().map(Into::into).collect();
        }
        self
    }

    /// Chooses a colour by its index in the palette.
    pub fn colour(mut self, index: usize) -> Self {
        self.style.colour = Some(index);
        self
    }

    /// Chooses the interruptions of lines.
    pub fn dash(mut self, dash: Dash) -> Self {
        self.style.dash = Some(dash);
        self
    }

    /// Chooses what stands at points.
    pub fn marker(mut self, marker: Marker) -> Self {
        self.style.marker = Some(marker);
        self
    }

    /// Chooses the width of lines, in points of 1/72 inch.
    pub fn width(mut self, width: f64) -> Self {
        self.style.width = Some(width);
        self
    }

    /// Draws in the grey of axes.
    pub fn muted(mut self) -> Self {
        self.style.muted = true;
        self
    }
}
