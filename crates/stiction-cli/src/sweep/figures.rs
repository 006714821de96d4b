//! Figures of `monte-carlo` studies.

use stiction_plot::{Axis, Figure, HeatMap, Layer, Panel};
use stiction_study::monte_carlo::{GridAxis, GroupReport, Marginal, Report, Value, VariantReport};

use super::push_table::success_rate;
use crate::layout::number;

/// Success rates are plotted in percent.
const PERCENT: f64 = 100.0;

/// Largest number of maps in one figure; all are in `summary.json`.
const MOST_SLICES: usize = 48;

/// Cells of a variant over two grid parameters, with fixed values of all others.
struct Slice<'r> {
    title: String,
    cells: &'r [GroupReport],
}

/// Success rate over the cells: a curve over one grid parameter, maps over the first two of several. None without grid parameters.
pub(super) fn map(report: &Report) -> Option<Figure> {
    if let [x] = report.grid.as_slice() {
        let curves = report.variants.iter().enumerate().flat_map(|(k, variant)| curve(x, variant, k));
        let panel = Panel::new(axis(&x.name, x.unit.as_deref()), success());
        return Some(Figure::new("Success by cell").with(curves.fold(panel, Panel::with)));
    }
    of_slices(report, 3, |x, y, slice| vec![panel(x, y, slice, Layer::heat)])
}

/// Maps as three-dimensional bars.
pub(super) fn histogram(report: &Report) -> Option<Figure> {
    of_slices(report, 3, |x, y, slice| vec![panel(x, y, slice, Layer::bars)])
}

/// Every map with its histogram beside it.
pub(super) fn maps_and_histograms(report: &Report) -> Option<Figure> {
    of_slices(report, 1, |x, y, slice| vec![panel(x, y, slice, Layer::heat), panel(x, y, slice, Layer::bars)])
}

/// Panels of every slice, with a given number of slices per row.
fn of_slices(
    report: &Report,
    beside: usize,
    panels: impl Fn(&GridAxis, &GridAxis, &Slice<'_>) -> Vec<Panel>,
) -> Option<Figure> {
    let [x, y, others @ ..] = report.grid.as_slice() else { return None };
    let slices = slices(report, x.values.len() * y.values.len(), others);
    let title = match slices.len() {
        0..=MOST_SLICES => "Success by cell".to_owned(),
        all => format!("Success by cell: the first {MOST_SLICES} of {all} maps"),
    };
    let shown = slices.get(..MOST_SLICES).unwrap_or(&slices);
    let columns = shown.first().map_or(0, |slice| panels(x, y, slice).len()) * beside.min(shown.len());
    Some(shown.iter().flat_map(|slice| panels(x, y, slice)).fold(Figure::new(title).columns(columns), Figure::with))
}

/// One slice for every variant and every combination of the grid parameters after the first two, which change fastest.
fn slices<'r>(report: &'r Report, cells: usize, others: &[GridAxis]) -> Vec<Slice<'r>> {
    let of_variant = |variant: &'r VariantReport| {
        variant.cells.chunks(cells.max(1)).map(move |cells| {
            let at = cells.first().map_or(&[][..], |cell| cell.at.as_slice());
            let others = others.iter().zip(at.iter().skip(2)).map(|(axis, x)| value(axis, *x));
            // A single variant needs no name beside others.
            let name = (report.variants.len() > 1 || at.len() <= 2).then(|| variant.name.clone());
            Slice { title: name.into_iter().chain(others).collect::<Vec<_>>().join(", "), cells }
        })
    };
    report.variants.iter().flat_map(of_variant).collect()
}

/// Success rate over the value of every random parameter.
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
                let success_rate = |pick: fn(&stiction_study::SuccessRate) -> f64| {
                    marginal.strata.iter().map(|s| PERCENT * pick(&s.group.success)).collect()
                };
                with_interval(
                    panel,
                    x,
                    [
                        success_rate(stiction_study::SuccessRate::value),
                        success_rate(|s| s.low),
                        success_rate(|s| s.high),
                    ],
                    v,
                    &variant.name,
                )
            },
        )
    };
    let figure = Figure::new("Success by random parameter").columns(first.marginals.len().clamp(1, 3));
    (!first.marginals.is_empty()).then(|| first.marginals.iter().enumerate().map(panel).fold(figure, Figure::with))
}

fn axis(name: &str, unit: Option<&str>) -> Axis {
    Axis::new(name, unit.unwrap_or_default())
}

fn success() -> Axis {
    Axis::new("success", "%").range(-2.0, 102.0)
}

fn curve(x: &GridAxis, variant: &VariantReport, colour: usize) -> [Layer; 2] {
    let success_rate = |pick: fn(&stiction_study::SuccessRate) -> f64| {
        variant.cells.iter().map(|cell| PERCENT * pick(&cell.success)).collect()
    };
    interval(
        x.values.clone(),
        [success_rate(stiction_study::SuccessRate::value), success_rate(|s| s.low), success_rate(|s| s.high)],
        colour,
        &variant.name,
    )
}

fn with_interval(panel: Panel, x: Vec<f64>, rates: [Vec<f64>; 3], colour: usize, name: &str) -> Panel {
    interval(x, rates, colour, name).into_iter().fold(panel, Panel::with)
}

/// Success rate with its interval.
fn interval(x: Vec<f64>, [value, low, high]: [Vec<f64>; 3], colour: usize, name: &str) -> [Layer; 2] {
    let line = Layer::line(x.clone(), value).marker(stiction_plot::Marker::Disc).colour(colour).named(name);
    [Layer::band(x, low, high).colour(colour), line]
}

/// A slice as a map or as bars.
fn panel(x: &GridAxis, y: &GridAxis, slice: &Slice<'_>, layer: fn(HeatMap) -> Layer) -> Panel {
    let tried = |cell: &GroupReport| cell.success.of > 0;
    let map = HeatMap {
        x_edges: edges(&x.values),
        y_edges: edges(&y.values),
        values: slice
            .cells
            .iter()
            .map(|cell| if tried(cell) { PERCENT * cell.success.value() } else { f64::NAN })
            .collect(),
        label: "success".to_owned(),
        unit: "%".to_owned(),
        range: Some([0.0, PERCENT]),
        notes: slice.cells.iter().map(|cell| note(x, y, cell)).collect(),
    };
    Panel::new(axis(&x.name, x.unit.as_deref()), axis(&y.name, y.unit.as_deref()))
        .titled(&*slice.title)
        .with(layer(map))
}

/// Tooltip of a cell.
fn note(x: &GridAxis, y: &GridAxis, cell: &GroupReport) -> String {
    let place: Vec<_> = [x, y].into_iter().zip(&cell.at).map(|(axis, at)| value(axis, *at)).collect();
    let failed = if cell.failed > 0 { format!("; {} failed", cell.failed) } else { String::new() };
    format!("{}: {}{failed}", place.join(", "), success_rate(&cell.success))
}

/// Formats a value: `speed = 2 m/s`.
fn value(axis: &GridAxis, x: f64) -> String {
    let unit = axis.unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
    format!("{} = {}{unit}", axis.name, number(x))
}

/// Cell edges: midpoints between values, extrapolated at both ends.
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

/// Position of a stratum on its axis; text choices are at their index.
fn middle(from: &Value, to: &Value, place: u32) -> f64 {
    match (from, to) {
        (Value::Number(from), Value::Number(to)) => 0.5 * (from + to),
        _ => f64::from(place),
    }
}
