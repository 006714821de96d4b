//! C-18: positions at which two jaws grasp a gear, in three models of the contact, for two classes of friction.

use stiction_plot::{Axis, Figure, HeatMap, Layer, Panel};
use stiction_study::{
    SuccessRate,
    monte_carlo::{Report, VariantReport},
    parse_monte_carlo,
};

use crate::draw::grid;
use crate::{Account, CaseError, Expected, Reference, Row};

/// The study files, and their scenes by the names that they use.
const STUDIES: [(&str, &str); 2] = [
    ("medium", include_str!("../../../../studies/grasp_models_medium.toml")),
    ("high", include_str!("../../../../studies/grasp_models_high.toml")),
];
const SCENES: [(&str, &str); 2] = [
    ("../scenes/gear_grasp.toml", include_str!("../../../../scenes/gear_grasp.toml")),
    ("../scenes/gear_grasp_smooth.toml", include_str!("../../../../scenes/gear_grasp_smooth.toml")),
];

/// The variants in their order, and the models that are correct.
const MODELS: [&str; 3] = ["disjunctive", "implicit", "naive"];
const RIGHT: usize = 2;

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let mut reports = Vec::new();
    for (class, text) in STUDIES {
        let study = parse_monte_carlo(text, class, &SCENES).map_err(CaseError::other)?;
        reports.push((class, study.report()));
    }
    for (class, report) in &reports {
        for variant in report.variants.iter().take(RIGHT) {
            map_rows(&mut account, case, class, variant)?;
        }
        comparison_rows(&mut account, case, class, report)?;
    }
    class_rows(&mut account, case, &reports)?;
    account.draw(
        "Successful grasps by the place of the gear, 10 trials in each cell: friction of the jaws medium (above) and high (below); polygons with \
         disjunctive corners, smooth teeth, and polygons of which every face counts",
        "Figures 3.14 and 4.9: maps of successful grasps, medium and high friction of the gripper",
        maps(&reports),
    );
    account.remark(
        "The square tips close on the crest of a tooth and the hub, 1.28 mm from the flank: within 1.5 mm counts as on the flank. \
         stiction sweep studies/grasp_map.toml makes the whole map of 100 800 trials.",
    );
    Ok(account)
}

/// Symmetry, positions at which grasps succeed, and positions at which they cannot.
fn map_rows(account: &mut Account, case: &Reference, class: &str, variant: &VariantReport) -> Result<(), CaseError> {
    let what = |quantity: &str| format!("{class} friction of jaws, {}: {quantity}", variant.name);
    let p = variant.symmetry.first().map_or(f64::NAN, |symmetry| symmetry.p);
    account
        .add(Row::new(what("symmetry in x, p of χ²"), "", p).reference(case.at_least("tolerance.symmetry_at_least")?));
    let [x_near, low, high] = case.vector("derived.success_region")?;
    let near = success_rate(variant, |x, y| x.abs() <= x_near && (low..=high).contains(&y));
    let expected = case.at_least("tolerance.success_at_least")?;
    account.add(Row::new(what("success about the middle, near the teeth"), "", near.value()).reference(expected));
    let below = case.number("derived.zero_beyond")?;
    let far = success_rate(variant, |_, y| y >= below);
    account
        .add(Row::new(what("successes with tips far below the gear"), "", far.hits as f64).reference(exactly_zero()));
    let above = case.number("derived.zero_before")?;
    let far = success_rate(variant, |x, y| x.abs() < 0.1 * x_near && y <= above);
    account
        .add(Row::new(what("successes with tips near the centre line"), "", far.hits as f64).reference(exactly_zero()));
    Ok(())
}

fn exactly_zero() -> Expected {
    Expected::within(0.0, crate::Tolerance::default())
}

/// Trials of the cells for which a predicate of x and y holds.
fn success_rate(variant: &VariantReport, is_inside: impl Fn(f64, f64) -> bool) -> SuccessRate {
    let cells = variant.cells.iter().filter(|cell| matches!(cell.at[..], [x, y] if is_inside(x, y)));
    let (hits, of) = cells.fold((0, 0), |(hits, of), cell| (hits + cell.success.hits, of + cell.success.of));
    SuccessRate::new(hits, of)
}

/// The models against each other, under the same friction in every trial.
fn comparison_rows(account: &mut Account, case: &Reference, class: &str, report: &Report) -> Result<(), CaseError> {
    let [_, right, naive] = MODELS;
    let trials = report.variants.first().map_or(f64::NAN, |variant| variant.all.success.of as f64);
    for comparison in &report.comparisons {
        let other = &comparison.other;
        let (cells, trials_alike) = if *other == right {
            (case.at_least("tolerance.agreeing_cells_at_least")?, case.at_least("tolerance.agreeing_trials_at_least")?)
        } else if *other == naive {
            (case.at_most("tolerance.naive_cells_at_most")?, case.at_most("tolerance.naive_trials_at_most")?)
        } else {
            return Err(CaseError::Absent(format!("model {other}")));
        };
        let what = |quantity: &str| format!("{class} friction of jaws, {} and {other}: {quantity}", comparison.first);
        let row = Row::new(what("cells that agree"), "", comparison.agreeing_cells.value()).reference(cells);
        account.add(if *other == right { row.headline() } else { row });
        let equal = 1.0 - (comparison.only_first + comparison.only_other) as f64 / trials;
        account.add(Row::new(what("trials with the same outcome"), "", equal).reference(trials_alike));
    }
    Ok(())
}

/// Medium and high friction of the jaws: the distance between their intervals.
fn class_rows(account: &mut Account, case: &Reference, reports: &[(&str, Report)]) -> Result<(), CaseError> {
    let [(_, medium), (_, high)] = reports else { return Err(CaseError::Absent("two classes".to_owned())) };
    for (medium, high) in medium.variants.iter().zip(&high.variants).take(RIGHT) {
        let name = &medium.name;
        let (medium, high) = (medium.all.success, high.all.success);
        let percent = |rate: SuccessRate| [rate.value(), rate.low, rate.high].map(|rate| 100.0 * rate);
        let ([m, m_low, m_high], [h, h_low, h_high]) = (percent(medium), percent(high));
        account.remark(format!(
            "Successes of all trials, {name}: {m:.1} % with medium friction of the jaws (95 % interval {m_low:.1} to {m_high:.1} %), {h:.1} % with \
             high ({h_low:.1} to {h_high:.1} %).",
        ));
        let row = Row::new(format!("{name}: gap between the intervals of medium and high"), "", medium.low - high.high);
        account.add(row.reference(case.at_least("tolerance.gap_at_least")?).headline());
    }
    Ok(())
}

fn maps(reports: &[(&str, Report)]) -> Figure {
    let mut figure = grid(MODELS.len());
    for (class, report) in reports {
        let [x, y] = &report.grid[..] else { continue };
        for variant in &report.variants {
            let map = HeatMap {
                x_edges: edges(&x.values),
                y_edges: edges(&y.values),
                values: variant.cells.iter().map(|cell| 100.0 * cell.success.value()).collect(),
                label: "success".to_owned(),
                unit: "%".to_owned(),
                range: Some([0.0, 100.0]),
                ..HeatMap::default()
            };
            let panel = Panel::new(Axis::new("x of the gear", "mm"), Axis::new("y of the gear", "mm"));
            figure = figure.with(panel.titled(format!("{class}, {}", variant.name)).with(Layer::heat(map)));
        }
    }
    figure
}

/// Borders of cells about values at equal distances, in millimetres.
fn edges(values: &[f64]) -> Vec<f64> {
    let half = match values {
        [first, second, ..] => 0.5 * (second - first),
        _ => 0.0,
    };
    let last = values.last().map(|last| last + half);
    values.iter().map(|value| value - half).chain(last).map(|edge| 1e3 * edge).collect()
}
