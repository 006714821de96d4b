//! Vector that is computed at the first access, in memory that is reused.

use std::sync::{Mutex, OnceLock};

/// A vector that is computed at the first access, also through a shared reference.
#[derive(Debug, Default)]
pub(super) struct Lazy {
    numbers: OnceLock<Vec<f64>>,
    /// Memory of the last vector, until it is needed again.
    spare: Mutex<Vec<f64>>,
}

impl Clone for Lazy {
    fn clone(&self) -> Self {
        Self { numbers: self.numbers.clone(), spare: Mutex::default() }
    }
}

impl Lazy {
    /// The numbers; at the first access `write` computes them and overwrites the old content of its vector.
    #[inline]
    pub(super) fn get(&self, write: impl FnOnce(&mut Vec<f64>)) -> &[f64] {
        self.numbers.get_or_init(|| {
            let mut numbers = self.spare.lock().map(|mut spare| std::mem::take(&mut *spare)).unwrap_or_default();
            write(&mut numbers);
            numbers
        })
    }

    /// Discards the numbers and reserves memory for the next `count` ones.
    pub(super) fn forget(&mut self, count: usize) {
        let Ok(spare) = self.spare.get_mut() else {
            debug_assert!(false, "the lock is held only to take the vector, which does not panic");
            return;
        };
        if let Some(numbers) = self.numbers.take() {
            *spare = numbers;
        }
        spare.reserve(count.saturating_sub(spare.len()));
    }
}
