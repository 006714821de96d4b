//! Metrics that are expressions over other metrics.

use stiction::measure::{Measure, Needs};

/// Order in which every metric comes after those that it names. On a cyclic dependency it returns the name of one such metric.
pub(super) fn order(metrics: &[(String, Measure)]) -> Result<Vec<usize>, String> {
    let named = |(_, measure): &(String, Measure)| {
        let mut needs = Needs::default();
        measure.add_needs(&mut needs);
        let is_named = |(name, _): &(String, Measure)| needs.columns.contains(name);
        (0..metrics.len()).filter(|k| metrics.get(*k).is_some_and(is_named)).collect()
    };
    let named: Vec<Vec<usize>> = metrics.iter().map(named).collect();
    let mut order = Vec::with_capacity(metrics.len());
    while order.len() < metrics.len() {
        let is_next = |(k, named): &(usize, &Vec<usize>)| !order.contains(k) && named.iter().all(|n| order.contains(n));
        let Some((next, _)) = named.iter().enumerate().find(is_next) else {
            let stuck = metrics.iter().enumerate().find(|(k, _)| !order.contains(k));
            return Err(stuck.map_or_else(String::new, |(_, (name, _))| name.clone()));
        };
        order.push(next);
    }
    Ok(order)
}
