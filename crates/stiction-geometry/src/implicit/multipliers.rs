//! The active functions of a solid and their multipliers, and how to choose them.

use nalgebra::Vector3;

/// The most functions that can be active with linearly independent gradients.
pub(super) const MOST_ACTIVE: usize = 3;

/// Active functions with their multipliers: n = Σ λ ∇f on A, −n = Σ μ ∇g on B.   [IMP-4]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Multipliers {
    count: usize,
    entries: [(usize, f64); MOST_ACTIVE],
}

impl Multipliers {
    /// The active functions with their multipliers.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.entries.iter().take(self.count).copied()
    }

    /// How many are active.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether none is active.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether function number `k` is active.
    pub fn contains(&self, k: usize) -> bool {
        self.iter().any(|(active, _)| active == k)
    }

    /// One active function.
    pub(super) fn single(k: usize, value: f64) -> Self {
        let mut entries = [(0, 0.0); MOST_ACTIVE];
        entries[0] = (k, value);
        Self { count: 1, entries }
    }

    /// Adds a function; false if there is no room.
    pub(super) fn push(&mut self, k: usize, value: f64) -> bool {
        let Some(entry) = self.entries.get_mut(self.count) else { return false };
        *entry = (k, value);
        self.count += 1;
        true
    }

    /// Changes the value of entry number `i`.
    pub(super) fn add(&mut self, i: usize, value: f64) {
        if let Some(entry) = self.entries.get_mut(i) {
            entry.1 += value;
        }
    }

    /// Keeps what `keep` accepts.
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

/// Takes function `k` with gradient `entering` into a set whose gradients are given in `active`, one for one.
///
/// A gradient that depends on the others, `g = Σ c_i g_i`, takes the place of the one whose multiplier would be the first to vanish,
/// `λ_i / c_i` least among `c_i > 0`, as in the simplex method; the sum Σ λ g does not change.
pub(super) fn enter(
    multipliers: &mut Multipliers,
    active: &[(usize, Vector3<f64>)],
    k: usize,
    entering: &Vector3<f64>,
    most: usize,
) {
    const DEPENDENT: f64 = 1e-8;
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
    // Without one the functions have no surface in common; the old ones give way.
    let Some(leaving) = leaving else {
        *multipliers = Multipliers::single(k, 1.0);
        return;
    };
    let step = ratio(leaving);
    for (i, share) in c.iter().enumerate().take(multipliers.len()) {
        multipliers.add(i, -step * share);
    }
    multipliers.entries[leaving] = (k, step);
}

/// Takes function `k` with a multiplier of zero into a set whose gradients are `active`, if its gradient does not depend on them.
pub(super) fn push_if_independent(
    multipliers: &mut Multipliers,
    active: &[(usize, Vector3<f64>)],
    k: usize,
    gradient: &Vector3<f64>,
) {
    const INDEPENDENT: f64 = 1e-3;
    let mut set = Vec3Set { count: active.len().min(MOST_ACTIVE), index: [0, 1, 2], value: [0.0; MOST_ACTIVE] };
    set.value = set.least_squares(gradient, active).unwrap_or_default();
    if (gradient - set.combination(active)).norm() > INDEPENDENT * gradient.norm() {
        multipliers.push(k, 0.0);
    }
}

/// The non-negative multipliers of the candidate gradients that come nearest to `target`: least squares by active sets
/// (Lawson and Hanson), which ends with linearly independent gradients.
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

    /// Takes candidate `i` in, and out whatever turns negative on the way to the new least squares; false when it does not fit.
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

    /// The unconstrained least squares over the set, by its normal equations; none if they are singular.
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
