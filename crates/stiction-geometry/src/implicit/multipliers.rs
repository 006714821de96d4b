//! The active functions of a solid with their multipliers, and the algorithms that choose them.

use nalgebra::Vector3;

/// Largest number of active functions with linearly independent gradients.
pub(super) const MOST_ACTIVE: usize = 3;

/// Active functions with their multipliers: n = Σ λ ∇f on A, −n = Σ μ ∇g on B.   [IMP-4]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Multipliers {
    count: usize,
    entries: [(usize, f64); MOST_ACTIVE],
}

impl Multipliers {
    /// Returns the active functions with their multipliers.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.entries.iter().take(self.count).copied()
    }

    /// Returns the number of active functions.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if no function is active.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// True if function number `k` is active.
    pub fn contains(&self, k: usize) -> bool {
        self.iter().any(|(active, _)| active == k)
    }

    /// One active function.
    pub(super) fn single(k: usize, value: f64) -> Self {
        let mut entries = [(0, 0.0); MOST_ACTIVE];
        entries[0] = (k, value);
        Self { count: 1, entries }
    }

    /// Adds a function; returns false if the set is full.
    pub(super) fn push(&mut self, k: usize, value: f64) -> bool {
        let Some(entry) = self.entries.get_mut(self.count) else { return false };
        *entry = (k, value);
        self.count += 1;
        true
    }

    /// Adds to the multiplier of entry number `i`.
    pub(super) fn add(&mut self, i: usize, value: f64) {
        debug_assert!(i < self.count, "only active functions have multipliers");
        if let Some(entry) = self.entries.get_mut(i) {
            entry.1 += value;
        }
    }

    /// Keeps the entries that `keep` accepts.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(usize, f64) -> bool) {
        let mut kept = Self::default();
        for (k, value) in self.iter() {
            if keep(k, value) {
                kept.push(k, value);
            }
        }
        *self = kept;
    }
}

/// Adds function `k` with gradient `entering` to an active set with the gradients `active`, in the same order.
///
/// A linearly dependent gradient `g = Σ c_i g_i` replaces the one whose multiplier vanishes first, the smallest
/// `λ_i / c_i` among `c_i > 0`, as in the simplex method. The sum Σ λ g does not change.
pub(super) fn enter(
    multipliers: &mut Multipliers,
    active: &[(usize, Vector3<f64>)],
    k: usize,
    entering: &Vector3<f64>,
    most: usize,
) {
    const DEPENDENT: f64 = 1e-8;
    debug_assert_eq!(active.len(), multipliers.len(), "one gradient per active function");
    debug_assert!(most <= MOST_ACTIVE, "the set has room for one function per axis");
    let mut set = Vec3Set { count: active.len().min(MOST_ACTIVE), index: [0, 1, 2], value: [0.0; MOST_ACTIVE] };
    let Some(c) = set.least_squares(entering, active) else {
        *multipliers = Multipliers::single(k, 1.0);
        return;
    };
    set.value = c;
    let is_dependent = (entering - set.combination(active)).norm() <= DEPENDENT * entering.norm();
    if !is_dependent && multipliers.len() < most {
        multipliers.push(k, 0.0);
        return;
    }
    let ratio = |i: usize| multipliers.entries[i].1.max(0.0) / c[i];
    let leaving = (0..multipliers.len()).filter(|&i| c[i] > 0.0).min_by(|&i, &j| ratio(i).total_cmp(&ratio(j)));
    // Without a leaving function the surfaces have no point in common; the new function replaces the old ones.
    let Some(leaving) = leaving else {
        *multipliers = Multipliers::single(k, 1.0);
        return;
    };
    let step = ratio(leaving);
    for (i, coefficient) in c.iter().enumerate().take(multipliers.len()) {
        multipliers.add(i, -step * coefficient);
    }
    multipliers.entries[leaving] = (k, step);
}

/// Adds function `k` with a zero multiplier to an active set with the gradients `active`, if its gradient is linearly
/// independent.
pub(super) fn push_if_independent(
    multipliers: &mut Multipliers,
    active: &[(usize, Vector3<f64>)],
    k: usize,
    gradient: &Vector3<f64>,
) {
    const INDEPENDENT: f64 = 1e-3;
    debug_assert_eq!(active.len(), multipliers.len(), "one gradient per active function");
    let mut set = Vec3Set { count: active.len().min(MOST_ACTIVE), index: [0, 1, 2], value: [0.0; MOST_ACTIVE] };
    set.value = set.least_squares(gradient, active).unwrap_or_default();
    if (gradient - set.combination(active)).norm() > INDEPENDENT * gradient.norm() {
        multipliers.push(k, 0.0);
    }
}

/// Returns the non-negative multipliers of the candidate gradients that come nearest to `target`: least squares by
/// the active-set method of Lawson and Hanson, which ends with linearly independent gradients.
pub(super) fn nearest_in_cone(target: &Vector3<f64>, candidates: &[(usize, Vector3<f64>)]) -> Multipliers {
    const CLEAR: f64 = 1e-10;
    let mut chosen: Vec3Set = Vec3Set::default();
    for _ in 0..3 * MOST_ACTIVE {
        let residual = target - chosen.combination(candidates);
        let gain = |(_, g): &(usize, Vector3<f64>)| g.dot(&residual) / g.norm().max(f64::MIN_POSITIVE);
        let best = (0..candidates.len())
            .filter(|&i| !chosen.contains(i))
            .max_by(|&i, &j| gain(&candidates[i]).total_cmp(&gain(&candidates[j])).then(j.cmp(&i)));
        let Some(best) = best.filter(|&i| gain(&candidates[i]) > CLEAR) else { break };
        if !chosen.insert(best, target, candidates) {
            break;
        }
    }
    let mut multipliers = Multipliers::default();
    for i in 0..chosen.count {
        multipliers.push(candidates[chosen.index[i]].0, chosen.value[i]);
    }
    multipliers
}

/// The passive set of the least-squares iteration.
#[derive(Default)]
struct Vec3Set {
    count: usize,
    index: [usize; MOST_ACTIVE],
    value: [f64; MOST_ACTIVE],
}

impl Vec3Set {
    fn contains(&self, i: usize) -> bool {
        self.index[..self.count].contains(&i)
    }

    fn combination(&self, candidates: &[(usize, Vector3<f64>)]) -> Vector3<f64> {
        (0..self.count).map(|i| candidates[self.index[i]].1 * self.value[i]).sum()
    }

    /// Adds candidate `i` and drops entries that turn negative on the way to the new least squares; returns false if
    /// it does not fit.
    fn insert(&mut self, i: usize, target: &Vector3<f64>, candidates: &[(usize, Vector3<f64>)]) -> bool {
        if self.count == MOST_ACTIVE {
            return false;
        }
        self.index[self.count] = i;
        self.value[self.count] = 0.0;
        self.count += 1;
        while self.count > 0 {
            let Some(goal) = self.least_squares(target, candidates) else {
                self.count -= 1;
                return false;
            };
            let step = (0..self.count)
                .filter(|&k| goal[k] <= 0.0)
                .map(|k| self.value[k] / (self.value[k] - goal[k]).max(f64::MIN_POSITIVE))
                .fold(1.0, f64::min);
            for (value, goal) in self.value.iter_mut().zip(goal).take(self.count) {
                *value += step * (goal - *value);
            }
            if step >= 1.0 {
                return true;
            }
            self.drop_zeros();
        }
        true
    }

    fn drop_zeros(&mut self) {
        let mut kept = 0;
        let least = (0..self.count).map(|k| self.value[k]).fold(f64::INFINITY, f64::min);
        for k in 0..self.count {
            if self.value[k] > least.max(0.0) {
                (self.index[kept], self.value[kept]) = (self.index[k], self.value[k]);
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Returns the unconstrained least squares over the set, by its normal equations; `None` if they are singular.
    fn least_squares(&self, target: &Vector3<f64>, candidates: &[(usize, Vector3<f64>)]) -> Option<[f64; MOST_ACTIVE]> {
        let gradient = |k: usize| candidates[self.index[k]].1;
        let mut system = super::gauss::System::new(self.count, 1);
        for row in 0..self.count {
            for column in 0..self.count {
                system.set(row, column, gradient(row).dot(&gradient(column)));
            }
            system.set_side(row, 0, gradient(row).dot(target));
        }
        let (solution, rank) = system.solve();
        (rank == self.count).then(|| std::array::from_fn(|k| solution[k][0]))
    }
}
