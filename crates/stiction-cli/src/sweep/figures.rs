//! Figures of studies of the kind `monte-carlo`, and the page with all of them.

use std::fmt::Write;

use stiction_plot::{Axis, Figure, HeatMap, Layer, Panel};
use stiction_study::monte_carlo::{GridAxis, Marginal, Report, Value, VariantReport};

/// Shares are drawn in percent.
const PERCENT: f64 = 100.0;

/// Success over the cells: a curve over one grid parameter, maps over two. There is none over no or more parameters.
pub(super) fn map(report: &Report) -> Option<Figure> {
    let figure = Figure::new("Success by cell");
    match report.grid.as_slice() {
        [x] => {
            let curves = report.variants.iter().enumerate().flat_map(|(k, variant)| curve(x, variant, k));
            Some(figure.with(curves.fold(Panel::new(axis(&x.name, x.unit.as_deref()), success()), Panel::with)))
        }
        [x, y] => {
            let panels = report.variants.iter().map(|variant| heat(x, y, variant));
            Some(panels.fold(figure.columns(report.variants.len().min(3)), Figure::with))
        }
        _ => None,
    }
}

/// Success by the value of every random parameter.
pub(super) fn marginals(report: &Report) -> Option<Figure> {
    let first = report.variants.first()?;
    let panel = |(k, marginal): (usize, &Marginal)| {
        let start = Panel::new(axis(&marginal.parameter, marginal.unit.as_deref()), success());
        let of_variants = report.variants.iter().enumerate();
        of_variants.filter_map(|(v, variant)| Some((v, variant, variant.marginals.get(k)?))).fold(
            start,
            |panel, (v, variant, marginal)| {
                let x: Vec<f64> = (0..)
                    .zip(&marginal.strata)
                    .map(|(place, stratum)| middle(&stratum.from, &stratum.to, place))
                    .collect();
                let share = |pick: fn(&stiction_study::Share) -> f64| {
                    marginal.strata.iter().map(|s| PERCENT * pick(&s.group.success)).collect()
                };
                with_interval(
                    panel,
                    x,
                    [share(stiction_study::Share::value), share(|s| s.low), share(|s| s.high)],
                    v,
                    &variant.name,
                )
            },
        )
    };
    let figure = Figure::new("Success by random parameter").columns(first.marginals.len().clamp(1, 3));
    (!first.marginals.is_empty()).then(|| first.marginals.iter().enumerate().map(panel).fold(figure, Figure::with))
}

/// One page with the figures and the tables, which needs nothing from outside.
pub(super) fn page(title: &str, tables: &str, figures: &[Figure]) -> String {
    let mut page = String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    let _ = writeln!(page, "<title>{0}</title><style>{STYLE}</style></head><body><h1>{0}</h1>", escaped(title));
    for figure in figures {
        let _ = writeln!(page, "<figure>{}</figure>", figure.to_svg());
    }
    let _ = writeln!(page, "<pre>{}</pre>\n</body></html>", escaped(tables));
    page
}

const STYLE: &str = "body{font:15px/1.5 'Noto Sans',Helvetica,Arial,sans-serif;color:#222;max-width:62rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.4rem;font-weight:600}figure{margin:1.5rem 0;text-align:center}figure svg{max-width:100%;height:auto}\
pre{overflow-x:auto;background:#f6f6f6;padding:1rem;border-radius:4px;font-size:13px}";

fn axis(name: &str, unit: Option<&str>) -> Axis {
    Axis::new(name, unit.unwrap_or_default())
}

fn success() -> Axis {
    Axis::new("success", "%").range(-2.0, 102.0)
}

fn curve(x: &GridAxis, variant: &VariantReport, colour: usize) -> [Layer; 2] {
    let share = |pick: fn(&stiction_study::Share) -> f64| {
        variant.cells.iter().map(|cell| PERCENT * pick(&cell.success)).collect()
    };
    interval(
        x.values.clone(),
        [share(stiction_study::Share::value), share(|s| s.low), share(|s| s.high)],
        colour,
        &variant.name,
    )
}

fn with_interval(panel: Panel, x: Vec<f64>, shares: [Vec<f64>; 3], colour: usize, name: &str) -> Panel {
    interval(x, shares, colour, name).into_iter().fold(panel, Panel::with)
}

/// The share with its interval.
fn interval(x: Vec<f64>, [value, low, high]: [Vec<f64>; 3], colour: usize, name: &str) -> [Layer; 2] {
    let line = Layer::line(x.clone(), value).marker(stiction_plot::Marker::Disc).colour(colour).named(name);
    [Layer::band(x, low, high).colour(colour), line]
}

fn heat(x: &GridAxis, y: &GridAxis, variant: &VariantReport) -> Panel {
    let map = HeatMap {
        x_edges: edges(&x.values),
        y_edges: edges(&y.values),
        values: variant
            .cells
            .iter()
            .map(|cell| if cell.success.of > 0 { PERCENT * cell.success.value() } else { f64::NAN })
            .collect(),
        label: "success".to_owned(),
        unit: "%".to_owned(),
        range: Some([0.0, PERCENT]),
    };
    Panel::new(axis(&x.name, x.unit.as_deref()), axis(&y.name, y.unit.as_deref()))
        .titled(&*variant.name)
        .with(Layer::heat(map))
}

/// Borders half way between values, and as far beyond the first and the last.
fn edges(values: &[f64]) -> Vec<f64> {
    let inner: Vec<f64> = values.windows(2).map(|pair| 0.5 * (pair.iter().sum::<f64>())).collect();
    let beyond = |end: Option<&f64>, inner: Option<&f64>, side: f64| match (end, inner) {
        (Some(end), Some(inner)) => 2.0 * end - inner,
        (Some(end), None) => end + side * 0.5,
        _ => 0.0,
    };
    let first = beyond(values.first(), inner.first(), -1.0);
    let last = beyond(values.last(), inner.last(), 1.0);
    std::iter::once(first).chain(inner.iter().copied()).chain(std::iter::once(last)).collect()
}

/// Where a stratum stands on its axis; choices that are words stand at their place.
fn middle(from: &Value, to: &Value, place: u32) -> f64 {
    match (from, to) {
        (Value::Number(from), Value::Number(to)) => 0.5 * (from + to),
        _ => f64::from(place),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
