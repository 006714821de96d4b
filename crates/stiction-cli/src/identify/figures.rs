//! Figures of an identification: motions, residuals, estimates, windows.

use stiction_identify::{EstimateReport, IdentificationReport, MethodReport, Motion};
use stiction_plot::{Axis, Dash, Figure, Layer, Marker, Panel};

/// Largest number of recordings in figures; tables include all.
const DRAWN: usize = 4;

/// Half-width of the band of 95 % of the residuals of a correct model, standard deviations.
const WIDE: f64 = 2.0;

/// Measured and simulated motion, one figure per recording.
pub(super) fn motions(method: &MethodReport) -> Vec<Figure> {
    let drawn = method.motions.iter().enumerate().take(DRAWN);
    drawn.map(|(k, motion)| of_motion(motion, method.guesses.get(k), "estimated")).collect()
}

/// Held-out motions.
pub(super) fn predictions(report: &IdentificationReport) -> Vec<Figure> {
    report.predictions.iter().take(DRAWN).map(|prediction| of_motion(&prediction.motion, None, "predicted")).collect()
}

fn of_motion(motion: &Motion, guess: Option<&Motion>, word: &str) -> Figure {
    let figure = wide(Figure::new(motion.recording.clone()), motion.columns.len());
    // All panels have the same layers, so one legend is enough.
    let named = |layer: Layer, k: usize, name: &str| if k == 0 { layer.named(name) } else { layer };
    let panel = |(k, column): (usize, &stiction_identify::MotionColumn)| {
        let mut panel = Panel::new(Axis::new("time", "s"), Axis::new(column.name.clone(), column.unit)).with(named(
            Layer::points(motion.times.clone(), column.measured.clone()).marker(Marker::Disc).muted(),
            k,
            "measured",
        ));
        let before = guess.and_then(|guess| Some((guess, guess.columns.get(k)?)));
        if let Some((guess, column)) = before {
            let line = Layer::line(guess.times.clone(), column.simulated.clone()).dash(Dash::Dotted).colour(1);
            panel = panel.with(named(line, k, "simulated with the initial guess"));
        }
        panel.with(named(Layer::line(motion.times.clone(), column.simulated.clone()).colour(0), k, word))
    };
    motion.columns.iter().enumerate().map(panel).fold(figure, Figure::with)
}

/// Residuals over time in units of the noise, one panel per column.
pub(super) fn residuals(method: &MethodReport) -> Option<Figure> {
    let names: Vec<&str> = method.residuals.iter().map(|column| column.column.as_str()).collect();
    let panel = |name: &&str| {
        let axes = Panel::new(Axis::new("time", "s"), Axis::new(format!("residual of {name}"), "noise"));
        let marks = Layer::horizontal_marks(vec![-WIDE, 0.0, WIDE]).dash(Dash::Dotted).muted();
        let layers = method.motions.iter().take(DRAWN).enumerate().filter_map(|(k, motion)| {
            let column = motion.columns.iter().find(|column| column.name == *name)?;
            let layer = Layer::points(motion.times.clone(), column.residuals.clone()).marker(Marker::Disc).colour(k);
            Some(if method.motions.len() > 1 { layer.named(motion.recording.clone()) } else { layer })
        });
        layers.fold(axes.with(marks), Panel::with)
    };
    let figure = wide(Figure::new("Residuals"), names.len());
    (!names.is_empty()).then(|| names.iter().map(panel).fold(figure, Figure::with))
}

/// Estimates of the methods with their intervals, one panel per unknown.
pub(super) fn estimates(report: &IdentificationReport) -> Option<Figure> {
    let first = report.methods.first()?;
    let panel = |(k, unknown): (usize, &EstimateReport)| {
        let names = report.methods.iter().map(|method| method.method.word());
        let axes = Panel::new(Axis::new("method", "").named(names), axis_of(unknown));
        let found = report.methods.iter().enumerate().filter_map(|(m, method)| Some((m, method.estimates.get(k)?)));
        found.fold(axes, |panel, (m, estimate)| {
            let at = m as f64;
            let panel = match estimate.interval {
                Some([low, high]) => panel.with(Layer::line(vec![at, at], vec![low, high]).colour(m).width(2.0)),
                None => panel,
            };
            panel.with(Layer::points(vec![at], vec![estimate.value]).marker(Marker::Disc).colour(m))
        })
    };
    let figure = wide(Figure::new("Estimates with 95 % intervals"), first.estimates.len());
    Some(first.estimates.iter().enumerate().map(panel).fold(figure, Figure::with))
}

/// Estimates of windows over time, one panel per unknown, with the estimate of all rows as a line.
pub(super) fn windows(report: &IdentificationReport) -> Option<Figure> {
    let first = report.methods.first().filter(|_| !report.windows.is_empty())?;
    let panel = |(k, unknown): (usize, &EstimateReport)| {
        let axes = Panel::new(Axis::new("end of the window", "s"), axis_of(unknown));
        let studies = report.windows.iter().enumerate().map(|(s, study)| {
            let times = study.windows.iter().map(|window| window.time).collect();
            let values = study.windows.iter().map(|window| window.values.get(k).copied().unwrap_or(f64::NAN)).collect();
            Layer::line(times, values).colour(s).named(format!("{} rows", study.length))
        });
        let whole = Layer::horizontal_marks(vec![unknown.value]).dash(Dash::Dotted).muted();
        studies.fold(axes, Panel::with).with(whole)
    };
    let scatter = |(k, unknown): (usize, &EstimateReport)| {
        let of = |pick: fn(&stiction_identify::WindowStudy) -> &Vec<f64>| -> Vec<f64> {
            report.windows.iter().map(|study| pick(study).get(k).copied().unwrap_or(f64::NAN)).collect()
        };
        let (mean, spread) = (of(|study| &study.mean), of(|study| &study.scatter));
        let lengths: Vec<f64> = report.windows.iter().map(|study| study.length as f64).collect();
        let bars = lengths.iter().zip(mean.iter().zip(&spread)).map(|(length, (mean, spread))| {
            Layer::line(vec![*length; 2], vec![mean - spread, mean + spread]).colour(0).width(2.0)
        });
        let axes = Panel::new(Axis::new("rows of the window", ""), axis_of(unknown));
        let points = Layer::points(lengths.clone(), mean.clone()).marker(Marker::Disc).colour(0);
        bars.fold(axes, Panel::with).with(points.named("mean ± scatter"))
    };
    let figure = wide(Figure::new("Estimates from windows"), 2);
    let panels = first.estimates.iter().enumerate().flat_map(|pair| [panel(pair), scatter(pair)]);
    Some(panels.fold(figure, Figure::with))
}

/// Arranges as many panels side by side as are readable.
fn wide(figure: Figure, panels: usize) -> Figure {
    figure.columns(panels.clamp(1, 2)).panel_size(120.0, 80.0)
}

fn axis_of(unknown: &EstimateReport) -> Axis {
    Axis::new(unknown.name.clone(), unknown.unit.clone())
}
