//! Statistics of the trials of a study.

use serde::Serialize;

use super::{
    Design, Draw, Ending, FailureCount, KeptProblem, MonteCarlo, Value,
    distribution::chi_square_beyond,
    tally::{Group, Moments, Tally, VariantTally},
};
use crate::SuccessRate;

/// Report of a study. It does not depend on the machine, the threads or the clock.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Trials per cell and variant.
    pub trials: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Sampling of the trials of a cell.
    pub design: Design,
    /// Trials in all.
    pub count: u64,
    /// Number of trials that were made: the first ones.
    pub made: u64,
    /// Steps of all of them.
    pub steps: u64,
    /// Reason why no more were made.
    pub ending: Ending,
    /// The grid parameters and their values.
    pub grid: Vec<GridAxis>,
    /// Variants of the model.
    pub variants: Vec<VariantReport>,
    /// Every other variant against the first.
    pub comparisons: Vec<Comparison>,
    /// Failed trials by their reason, the most frequent first.
    pub failures: Vec<FailureCount>,
    /// Problems that the first of them could not solve; only studies that were run into a folder have the files.
    pub problems: Vec<KeptProblem>,
}

/// A parameter that spans cells.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct GridAxis {
    /// Its name.
    pub name: String,
    /// Unit of its numbers, if it has one.
    pub unit: Option<String>,
    /// Its values.
    pub values: Vec<f64>,
}

/// Report of one variant.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct VariantReport {
    /// Its name.
    pub name: String,
    /// All trials.
    pub all: GroupReport,
    /// Groups by cell; the first grid parameter changes fastest.
    pub cells: Vec<GroupReport>,
    /// Tests of symmetry.
    pub symmetry: Vec<Symmetry>,
    /// Trials by the value of each random parameter.
    pub marginals: Vec<Marginal>,
    /// Influence of the random parameters, the most important for success first.
    pub sensitivity: Vec<Influence>,
}

/// Group of trials: those of a cell, of a stratum, or all.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct GroupReport {
    /// The values of the grid parameters of a cell; empty for other groups.
    pub at: Vec<f64>,
    /// Success rate with its interval; a failed trial is no success.
    pub success: SuccessRate,
    /// Trials that failed.
    pub failed: u64,
    /// Metrics over the trials in which they are finite.
    pub metrics: Vec<MetricReport>,
}

/// A metric over some trials.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct MetricReport {
    /// Its name.
    pub name: String,
    /// Number of trials in which it is finite.
    pub count: u64,
    /// Mean; `None` of no trials.
    pub mean: Option<f64>,
    /// Standard deviation; `None` of fewer than two trials.
    pub deviation: Option<f64>,
    /// Least and greatest value.
    pub range: Option<[f64; 2]>,
}

/// Test of equal success rates of cells and their mirror images.   [STUDY-6]
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Symmetry {
    /// The grid parameter that is mirrored.
    pub parameter: String,
    /// Σ over pairs of cells.
    pub chi_square: f64,
    /// Number of pairs that are informative: not all trials have the same result.
    pub degrees_of_freedom: usize,
    /// Probability of at least this difference by chance.
    pub p: f64,
}

/// Trials by the value of one random parameter.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Marginal {
    /// Its name.
    pub parameter: String,
    /// Unit of its numbers, if it has one.
    pub unit: Option<String>,
    /// Strata of equal probability, or one per choice.
    pub strata: Vec<Stratum>,
}

/// A range of values, or a choice.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Stratum {
    /// Least value, or the choice.
    pub from: Value,
    /// Greatest value, or the choice.
    pub to: Value,
    /// The trials in it.
    #[serde(flatten)]
    pub group: GroupReport,
}

/// Part of the variance of a response that one random parameter explains.   [STUDY-7]
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Influence {
    /// `success` or the name of a metric.
    pub response: String,
    /// The parameter.
    pub parameter: String,
    /// Fraction of the variance that its strata explain, less the fraction expected by chance.
    pub explained: f64,
    /// The statistic of the test.
    pub chi_square: f64,
    /// Strata less one.
    pub degrees_of_freedom: usize,
    /// Probability of at least this value by chance, if the parameter has no influence.
    pub p: f64,
}

/// A variant against the first.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The first variant.
    pub first: String,
    /// The other.
    pub other: String,
    /// Fraction of cells whose intervals overlap.
    pub agreeing_cells: SuccessRate,
    /// Trials in which only the first succeeded; both had the same random numbers.
    pub only_first: u64,
    /// Trials in which only the other succeeded.
    pub only_other: u64,
}

impl Tally {
    pub(super) fn report(&self, study: &MonteCarlo, ending: Ending) -> Report {
        let mut failures: Vec<_> = self.failures.values().cloned().collect();
        failures.sort_by_key(|kind| std::cmp::Reverse(kind.count));
        let pairs = (0..).zip(&self.variants);
        let axis = |parameter: &super::Parameter| GridAxis {
            name: parameter.name.clone(),
            unit: parameter.unit.clone(),
            values: if let Draw::Grid(values) = &parameter.draw { values.clone() } else { Vec::new() },
        };
        Report {
            trials: study.trials,
            seed: study.seed,
            design: study.design,
            count: study.count(),
            made: self.made,
            steps: self.steps,
            ending,
            grid: study.grid().iter().map(axis).collect(),
            variants: pairs.map(|(variant, tally)| of_variant(study, variant, tally)).collect(),
            comparisons: self.comparisons(study),
            failures,
            problems: Vec::new(),
        }
    }

    fn comparisons(&self, study: &MonteCarlo) -> Vec<Comparison> {
        let Some((first, others)) = self.variants.split_first() else { return Vec::new() };
        let name = |k| name(study, k);
        let against = |(k, other): (usize, &VariantTally)| {
            let agree = first
                .cells
                .iter()
                .zip(&other.cells)
                .filter(|(a, b)| success_rate(a).agrees_with(&success_rate(b)))
                .count();
            Comparison {
                first: name(0),
                other: name(k + 1),
                agreeing_cells: SuccessRate::new(agree as u64, first.cells.len() as u64),
                only_first: other.discordant[0],
                only_other: other.discordant[1],
            }
        };
        others.iter().enumerate().map(against).collect()
    }
}

fn name(study: &MonteCarlo, variant: usize) -> String {
    study.variants().get(variant).map_or_else(String::new, |variant| variant.name.clone())
}

fn of_variant(study: &MonteCarlo, variant: usize, tally: &VariantTally) -> VariantReport {
    let cell = |(cell, group)| {
        let at = study.grid().iter().zip(study.steps_of(cell));
        let at = at.map(|(parameter, step)| match &parameter.draw {
            Draw::Grid(values) => values.get(step).copied().unwrap_or(f64::NAN),
            _ => f64::NAN,
        });
        of_group(study, at.collect(), group)
    };
    VariantReport {
        name: name(study, variant),
        all: of_group(study, Vec::new(), &tally.all),
        cells: (0..).zip(&tally.cells).map(cell).collect(),
        symmetry: study.mirror().iter().map(|parameter| symmetry(study, parameter, &tally.cells)).collect(),
        marginals: study
            .random_of(variant)
            .iter()
            .zip(&tally.strata)
            .map(|(parameter, strata)| marginal(study, parameter, strata))
            .collect(),
        sensitivity: sensitivity(study, tally),
    }
}

fn success_rate(group: &Group) -> SuccessRate {
    SuccessRate::new(group.hits(), group.trials)
}

fn of_group(study: &MonteCarlo, at: Vec<f64>, group: &Group) -> GroupReport {
    let metric = |(name, moments): (&str, &Moments)| MetricReport {
        name: name.to_owned(),
        count: moments.count,
        mean: (moments.count > 0).then(|| moments.mean()),
        deviation: (moments.count > 1).then(|| (moments.scatter() / (moments.count - 1) as f64).sqrt()),
        range: (moments.count > 0).then_some([moments.least, moments.most]),
    };
    let metrics = study.metrics().zip(group.responses.iter().skip(1)).map(metric);
    GroupReport { at, success: success_rate(group), failed: group.failed, metrics: metrics.collect() }
}

fn marginal(study: &MonteCarlo, parameter: &super::Parameter, strata: &[Group]) -> Marginal {
    let n = strata.len() as f64;
    let stratum = |(k, group): (usize, &Group)| Stratum {
        from: parameter.draw.at(k as f64 / n),
        to: parameter.draw.at(((k as f64 + 1.0) / n).next_down()),
        group: of_group(study, Vec::new(), group),
    };
    Marginal {
        parameter: parameter.name.clone(),
        unit: parameter.unit.clone(),
        strata: strata.iter().enumerate().map(stratum).collect(),
    }
}

/// χ² over pairs of a cell and its mirror image.   [STUDY-6]
fn symmetry(study: &MonteCarlo, parameter: &str, cells: &[Group]) -> Symmetry {
    let shape = study.shape();
    let axis = study.grid().iter().position(|grid| grid.name == parameter).unwrap_or(usize::MAX);
    let stride: usize = shape.iter().take(axis).product();
    let length = shape.get(axis).copied().unwrap_or(1);
    let (mut chi_square, mut degrees_of_freedom) = (0.0, 0);
    for (cell, group) in cells.iter().enumerate() {
        let step = cell / stride.max(1) % length;
        let image = cell + stride * (length - 1 - step) - stride * step;
        let Some(other) = cells.get(image).filter(|_| image > cell) else { continue };
        let ([k, l], [n, m]) = ([group, other].map(|g| g.hits() as f64), [group, other].map(|g| g.trials as f64));
        let pooled = (k + l) / (n + m);
        let variance = pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m);
        if variance.is_finite() && variance > 0.0 {
            let difference = k / n - l / m;
            chi_square += difference * difference / variance;
            degrees_of_freedom += 1;
        }
    }
    Symmetry {
        parameter: parameter.to_owned(),
        chi_square,
        degrees_of_freedom,
        p: chi_square_beyond(chi_square, degrees_of_freedom),
    }
}

/// Influence of every random parameter on every response; within a response the most important first.
fn sensitivity(study: &MonteCarlo, tally: &VariantTally) -> Vec<Influence> {
    let names = std::iter::once("success").chain(study.metrics());
    let mut all = Vec::new();
    for (response, name) in names.enumerate() {
        let mut ranked: Vec<_> = study
            .random()
            .iter()
            .zip(&tally.strata)
            .map(|(parameter, strata)| {
                let groups: Vec<_> = strata.iter().filter_map(|group| group.responses.get(response)).copied().collect();
                let whole = tally.all.responses.get(response).copied().unwrap_or_default();
                influence(name, &parameter.name, &groups, &whole)
            })
            .collect();
        ranked.sort_by(|a, b| b.explained.total_cmp(&a.explained));
        all.extend(ranked);
    }
    all
}

/// Variance that the means of strata explain.   [STUDY-7]
fn influence(response: &str, parameter: &str, strata: &[Moments], all: &Moments) -> Influence {
    let (n, total) = (all.count as f64, all.scatter());
    let filled: Vec<_> = strata.iter().filter(|stratum| stratum.count > 0).collect();
    let degrees_of_freedom = filled.len().saturating_sub(1);
    let squared = |x: f64| x * x;
    let between: f64 = filled.iter().map(|stratum| stratum.count as f64 * squared(stratum.mean() - all.mean())).sum();
    let degrees = degrees_of_freedom as f64;
    let (mut explained, mut chi_square) = (0.0, 0.0);
    if total > 0.0 && n > degrees + 1.0 {
        let within = (total - between).max(0.0) / (n - degrees - 1.0);
        explained = ((between - degrees * within) / total).clamp(0.0, 1.0);
        chi_square = (n - 1.0) * between / total;
    }
    let p = chi_square_beyond(chi_square, degrees_of_freedom);
    Influence {
        response: response.to_owned(),
        parameter: parameter.to_owned(),
        explained,
        chi_square,
        degrees_of_freedom,
        p,
    }
}
