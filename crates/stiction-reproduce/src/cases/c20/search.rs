//! The search itself, from the printed start: unconstrained, and with the penalty for separation.

use rayon::prelude::*;
use stiction_plot::{Axis, Figure, Layer, Panel};
use stiction_study::design::{self, DesignReport, DesignSearch, Log};

use super::{Trajectory, circle};
use crate::{Account, CaseError, Expected, Reference, Row, Value};

const SCENE: &str = include_str!("../../../../../scenes/plate/circle.toml");
const FREE: &str = include_str!("../../../../../designs/circle.toml");
const IN_CONTACT: &str = include_str!("../../../../../designs/circle_in_contact.toml");

pub(super) fn add(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let free = searched(case, "designs/circle.toml", FREE)?;
    let in_contact = searched(case, "designs/circle_in_contact.toml", IN_CONTACT)?;
    let radii = case.numbers("derived.radii")?;
    let misses: Result<Vec<_>, CaseError> = [("free", &free), ("in contact", &in_contact)]
        .into_iter()
        .map(|(words, report)| {
            let rates = rates(case, report, &radii)?;
            let target = case.number("published.rate")?;
            for (radius, rate) in radii.iter().zip(&rates) {
                let row = Row::new(format!("own search, {words}: angular rate at {radius} cm"), "rad/s", *rate);
                let expected = Expected::within(target, case.tolerance("tolerance.search_rate")?);
                // Only the unconstrained search can reach the rate at every radius.
                account.add(if words == "free" { row.published(expected) } else { row });
            }
            Ok(rates.iter().map(|rate| (rate - target).abs()).fold(0.0, f64::max))
        })
        .collect();
    let misses = misses?;
    let worst = |k: usize| misses.get(k).copied().unwrap_or(f64::NAN);
    for (words, key, report) in [("free", "free", &free), ("in contact", "in_contact", &in_contact)] {
        let objective = report.objective.ok_or_else(|| CaseError::Never("an evaluation".into()))?;
        let published = Expected::shown(case.number(&format!("published.objectives.{key}"))?);
        account.add(Row::new(format!("own search, {words}: objective"), "", objective).published(published));
    }
    let ratio = Row::new("own search: worst error of a rate in contact over that free", "", worst(1) / worst(0));
    account.add(ratio.reference(Expected::bound(Value::AtLeast(1.0))));
    account.draw(
        "The own searches: best objective over the evaluations",
        "Section 6.1.1: 163 iterations without and 191 with the penalty",
        drawn(&[("free", &free), ("in contact", &in_contact)]),
    );
    Ok(())
}

/// A study file, shortened.
fn searched(case: &Reference, file: &str, text: &str) -> Result<DesignReport, CaseError> {
    let search = design::parse(text, file, SCENE).map_err(CaseError::other)?;
    let mut options = *search.options();
    options.evaluations = case.count("parameters.search_evaluations")? as u64;
    let shorter = search.design().clone().with_value("simulation.duration", case.parameter("search_duration")?);
    let search = DesignSearch::new(shorter, options).map_err(CaseError::other)?;
    Ok(search.run_here(&Log::default(), &()))
}

/// Rates at the radii with the step of the validation.
fn rates(case: &Reference, report: &DesignReport, radii: &[f64]) -> Result<Vec<f64>, CaseError> {
    let value = |name: &str| {
        let found = report.parameters.iter().find(|chosen| chosen.name == name);
        found.map(|chosen| chosen.value).ok_or_else(|| CaseError::Absent(format!("parameter `{name}`")))
    };
    let plate = circle::field([value("A6")?, value("A3")?, value("C3")?]);
    let rate = |radius: &f64| circle::rate(case, &Trajectory::run(case, &plate, [*radius, 0.0])?);
    radii.par_iter().map(rate).collect()
}

fn drawn(searches: &[(&str, &DesignReport)]) -> Figure {
    let mut panel = Panel::new(Axis::new("evaluations", ""), Axis::new("best objective", "").log());
    for (name, report) in searches {
        let milestones = report.starts.iter().flat_map(|start| &start.milestones);
        let (x, y) = milestones.filter_map(|m| Some((m.evaluations as f64, m.objective?))).unzip();
        panel = panel.with(Layer::steps(x, y).named(*name));
    }
    Figure::new("").with(panel)
}
