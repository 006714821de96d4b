//! Comparison of motions of the family with their tables, and their figures.

use stiction::Simulation;
use stiction_plot::{Layer, Marker, Panel};

use super::Family;
use crate::world::{ends_at, larger, q, run, stewart_trinkle, v};
use crate::{Account, CaseError, Entry, Expected, Reference, Row};

/// The largest number of unknowns of a step of the Stewart-Trinkle scheme up to `duration`.
pub(crate) fn largest_problem(family: &Family, duration: f64) -> Result<usize, CaseError> {
    let mut largest = 0;
    run(family.model()?, stewart_trinkle(1.0), 0.01, duration, |_, report| {
        largest = largest.max(report.problem_size);
        Ok(())
    })?;
    Ok(largest)
}

/// Rows for a table of the motion: its last line in full, the largest error of all, and the order.
///
/// The numbers are extrapolated from the two steps of the comparison, 2 x(h/2) − x(h), so that the first-order error of the
/// scheme does not hide a wrong limit.
pub(crate) fn motion_rows(
    account: &mut Account,
    case: &Reference,
    family: &Family,
    table: &str,
    shift: f64,
) -> Result<(), CaseError> {
    let [coarse_step, fine_step] = case.vector("comparison.steps")?;
    let entries = case.table(table)?;
    let coarse = sampled(family, &entries, shift, coarse_step)?;
    let fine = sampled(family, &entries, shift, fine_step)?;
    let wanted: usize = entries.iter().map(|entry| names(entry).count()).sum();
    if [coarse.len(), fine.len()] != [wanted; 2] {
        return Err(CaseError::Never(format!("one of the times of `{table}`")));
    }
    let tolerance = case.tolerance("tolerance.extrapolated")?;
    let mut largest = [0.0_f64; 3];
    let (mut count, last) = (0, entries.len().saturating_sub(1));
    for (index, entry) in entries.iter().enumerate() {
        let numbers = coarse.iter().zip(&fine).filter(|(number, _)| number.entry == index);
        for (coarse, fine) in numbers {
            let exact = entry.number(&coarse.name)?;
            let limit = 2.0 * fine.value - coarse.value;
            for (largest, found) in largest.iter_mut().zip([coarse.value, fine.value, limit]) {
                *largest = larger(*largest, (found - exact).abs());
            }
            count += 1;
            if index == last {
                let (what, unit) = meaning(&coarse.name);
                let row = Row::new(format!("{what} at t = {} s", time_of(entry, shift)?), unit, limit);
                account.add(row.reference(Expected::within(exact, tolerance)));
            }
        }
    }
    let [coarse, fine, limit] = largest;
    let bound = Expected::bound(crate::Value::AtMost(tolerance.abs));
    account.add(Row::new(format!("largest error of the {count} numbers of the motion"), "", limit).reference(bound));
    let order = Row::new("order of the largest error in the step", "", libm::log2(coarse / fine));
    account.add(order.reference(case.at_least("tolerance.order_at_least")?));
    Ok(())
}

/// A simulated number of a table.
struct Number {
    entry: usize,
    name: String,
    value: f64,
}

/// The numbers of a table at their times.
fn sampled(family: &Family, entries: &[Entry], shift: f64, h: f64) -> Result<Vec<Number>, CaseError> {
    let times = entries.iter().map(|entry| time_of(entry, shift)).collect::<Result<Vec<_>, _>>()?;
    let duration = times.iter().copied().fold(0.0, f64::max);
    let mut numbers = Vec::new();
    run(family.model()?, stewart_trinkle(1.0), h, duration, |simulation, report| {
        let reached = entries.iter().zip(&times).enumerate().filter(|(_, (_, time))| ends_at(report.time, **time, h));
        for (index, (entry, _)) in reached {
            for name in names(entry) {
                numbers.push(Number { entry: index, name: name.to_owned(), value: value(simulation, name)? });
            }
        }
        Ok(())
    })?;
    Ok(numbers)
}

/// The quantities of a line of a table.
fn names(entry: &Entry) -> impl Iterator<Item = &str> {
    entry.iter().map(|(name, _)| name).filter(|name| !["t", "t_since_hit"].contains(name))
}

/// The time of a line of a table.
pub(crate) fn time_of(entry: &Entry, shift: f64) -> Result<f64, CaseError> {
    match entry.get("t_since_hit") {
        Some(time) => Ok(time + shift),
        None => entry.number("t"),
    }
}

/// The number of that name in a table of motion.
fn value(simulation: &Simulation, name: &str) -> Result<f64, CaseError> {
    let planar = |body: &str, index: usize| -> Result<f64, CaseError> {
        let numbers: [f64; 3] = q(simulation, body)?;
        numbers.get(index).copied().ok_or_else(|| CaseError::Absent(name.to_owned()))
    };
    let rate = |body: &str, index: usize| -> Result<f64, CaseError> {
        let numbers: [f64; 3] = v(simulation, body)?;
        numbers.get(index).copied().ok_or_else(|| CaseError::Absent(name.to_owned()))
    };
    match name {
        "x" => planar("block", 0),
        "v" => rate("block", 0),
        "theta_a" => planar("a", 2),
        "theta_b" => planar("b", 2),
        "omega_a" => rate("a", 2),
        "omega_b" => rate("b", 2),
        "particle_x" => q::<2>(simulation, "particle").map(|[x, _]| x),
        "particle_y" => q::<2>(simulation, "particle").map(|[_, y]| y),
        "particle_vx" => v::<2>(simulation, "particle").map(|[x, _]| x),
        "particle_vy" => v::<2>(simulation, "particle").map(|[_, y]| y),
        other => Err(CaseError::Absent(format!("quantity `{other}`"))),
    }
}

fn meaning(name: &str) -> (&'static str, &'static str) {
    match name {
        "x" => ("place of the block", "m"),
        "v" => ("speed of the block", "m/s"),
        "theta_a" => ("angle of the upper bar", "rad"),
        "theta_b" => ("angle of the lower bar", "rad"),
        "omega_a" => ("rate of the upper bar", "rad/s"),
        "omega_b" => ("rate of the lower bar", "rad/s"),
        "particle_x" => ("x of the particle", "m"),
        "particle_y" => ("y of the particle", "m"),
        "particle_vx" => ("x-velocity of the particle", "m/s"),
        "particle_vy" => ("y-velocity of the particle", "m/s"),
        _ => ("quantity", ""),
    }
}

/// Adds lines, with names if there are several, and rings at the numbers of the table.
pub(crate) fn with_marks<const N: usize>(
    mut panel: Panel,
    entries: &[Entry],
    shift: f64,
    lines: [(&str, &str, Layer); N],
) -> Result<Panel, CaseError> {
    for (colour, (name, label, line)) in lines.into_iter().enumerate() {
        let line = if N > 1 { line.named(label) } else { line };
        panel = panel.with(line.colour(colour));
        let known: Vec<_> = entries.iter().filter(|entry| entry.get(name).is_some()).collect();
        let x = known.iter().map(|entry| time_of(entry, shift)).collect::<Result<Vec<_>, _>>()?;
        let y = known.iter().map(|entry| entry.number(name)).collect::<Result<Vec<_>, _>>()?;
        panel = panel.with(Layer::points(x, y).colour(colour).marker(Marker::Ring));
    }
    Ok(panel)
}
