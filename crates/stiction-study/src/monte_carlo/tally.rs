//! Counts and sums over trials, by cell and by stratum of every random parameter; their size does not grow with the trials.

use std::collections::BTreeMap;

use super::{MonteCarlo, Parameter, Row};

/// Largest number of kinds of failures that are counted separately, which bounds the memory.
const MAX_KINDS: usize = 100;

/// Name under which further kinds are counted.
const OTHER_KINDS: &str = "other reasons";

/// Numbers of one response: how many, and their first two moments about the first of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    pub(super) count: u64,
    /// Number that is subtracted before squares are summed: the first one, so that a large mean does not lose digits.
    base: f64,
    sum: f64,
    squares: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Moments {
    /// Adds a number; numbers that are not finite do not count.
    pub(super) fn add(&mut self, x: f64) {
        if !x.is_finite() {
            return;
        }
        if self.count == 0 {
            (self.base, self.least, self.most) = (x, x, x);
        }
        let d = x - self.base;
        self.count += 1;
        self.sum += d;
        self.squares += d * d;
        self.least = self.least.min(x);
        self.most = self.most.max(x);
    }

    pub(super) fn mean(&self) -> f64 {
        self.base + self.sum / self.count as f64
    }

    /// Σ (x − mean)².
    pub(super) fn scatter(&self) -> f64 {
        if self.count == 0 { 0.0 } else { (self.squares - self.sum * self.sum / self.count as f64).max(0.0) }
    }
}

/// The trials of a cell or a stratum.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) trials: u64,
    pub(super) failed: u64,
    /// Success as 1 or 0, then the metrics.
    pub(super) responses: Vec<Moments>,
}

impl Group {
    fn new(responses: usize) -> Self {
        Self { responses: vec![Moments::default(); responses], ..Self::default() }
    }

    fn add(&mut self, row: &Row) {
        self.trials += 1;
        self.failed += u64::from(row.failure.is_some());
        let success = f64::from(u8::from(row.success));
        self.responses
            .iter_mut()
            .zip(std::iter::once(success).chain(row.metrics.iter().copied()))
            .for_each(|(r, x)| r.add(x));
    }

    pub(super) fn hits(&self) -> u64 {
        // A sum of ones about a base of 0 or 1 is whole.
        #[allow(clippy::cast_sign_loss)]
        self.responses
            .first()
            .filter(|success| success.count > 0)
            .map_or(0, |success| (success.mean() * success.count as f64).round() as u64)
    }
}

/// Failures of one kind.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct FailureCount {
    /// The kind, without the numbers of a trial.
    pub reason: String,
    /// Number of trials.
    pub count: u64,
    /// The first of them.
    pub first_trial: u64,
    /// Details of the first.
    pub detail: String,
}

/// All counts of one variant.
#[derive(Clone, Debug)]
pub(super) struct VariantTally {
    pub(super) all: Group,
    pub(super) cells: Vec<Group>,
    /// By random parameter, by stratum.
    pub(super) strata: Vec<Vec<Group>>,
    /// Trials in which the first variant succeeded and this one did not, and vice versa.
    pub(super) discordant: [u64; 2],
}

/// All counts of a study.
pub(super) struct Tally {
    pub(super) made: u64,
    /// Steps of all trials.
    pub(super) steps: u64,
    pub(super) variants: Vec<VariantTally>,
    pub(super) failures: BTreeMap<String, FailureCount>,
    /// Success of the first variant in the trial that is being added.
    first: bool,
}

impl Tally {
    pub(super) fn new(study: &MonteCarlo) -> Self {
        let responses = 1 + study.metrics.len();
        let strata = |parameter: &Parameter| vec![Group::new(responses); parameter.draw.strata()];
        let variant = |index| VariantTally {
            all: Group::new(responses),
            cells: vec![Group::new(responses); study.cells() as usize],
            strata: study.random_of(index).iter().map(strata).collect(),
            discordant: [0, 0],
        };
        let variants = (0..study.variants().len()).map(variant).collect();
        Self { made: 0, steps: 0, variants, failures: BTreeMap::new(), first: false }
    }

    /// Adds trial number `index`; trials come in order.
    pub(super) fn add(&mut self, study: &MonteCarlo, index: u64, row: &Row) {
        self.made += 1;
        self.steps += row.steps;
        let place = study.place(index);
        if place.variant == 0 {
            self.first = row.success;
        }
        if let Some(failure) = &row.failure {
            let known = self.failures.len() < MAX_KINDS || self.failures.contains_key(&failure.reason);
            let reason = if known { failure.reason.as_str() } else { OTHER_KINDS };
            let kind = self.failures.entry(reason.to_owned()).or_insert_with(|| FailureCount {
                reason: reason.to_owned(),
                count: 0,
                first_trial: index,
                detail: failure.detail.clone(),
            });
            kind.count += 1;
        }
        let Some(variant) = self.variants.get_mut(place.variant) else { return };
        variant.discordant[0] += u64::from(self.first && !row.success);
        variant.discordant[1] += u64::from(!self.first && row.success);
        variant.all.add(row);
        if let Some(cell) = variant.cells.get_mut(place.cell as usize) {
            cell.add(row);
        }
        let probabilities = study.probabilities(place);
        for ((strata, parameter), u) in variant.strata.iter_mut().zip(study.random_of(place.variant)).zip(probabilities)
        {
            if let Some(stratum) = strata.get_mut(parameter.draw.stratum(u)) {
                stratum.add(row);
            }
        }
    }

    /// Trials that failed.
    pub(super) fn failed(&self) -> u64 {
        self.variants.iter().map(|variant| variant.all.failed).sum()
    }
}
