//! Numbers that are written when somebody first asks for them, in memory that is kept.

use std::sync::{Mutex, OnceLock};

/// A vector that is written, or yet to be written by whoever asks first: that may be behind a shared reference.
#[derive(Debug, Default)]
pub(super) struct Lazy {
    numbers: OnceLock<Vec<f64>>,
    /// The memory of the last ones, until it is needed again.
    spare: Mutex<Vec<f64>>,
}

impl Clone for Lazy {
    fn clone(&self) -> Self {
        Self { numbers: self.numbers.clone(), spare: Mutex::default() }
    }
}

impl Lazy {
    /// The numbers; `write` writes them, over whatever is in its vector, where they are yet to be written.
    #[inline]
    pub(super) fn get(&self, write: impl FnOnce(&mut Vec<f64>)) -> &[f64] {
        self.numbers.get_or_init(|| {
            let mut numbers = self.spare.lock().map(|mut spare| std::mem::take(&mut *spare)).unwrap_or_default();
            write(&mut numbers);
            numbers
        })
    }

    /// They are yet to be written, and will be so many.
    pub(super) fn forget(&mut self, count: usize) {
        let Ok(spare) = self.spare.get_mut() else { return };
        if let Some(numbers) = self.numbers.take() {
            *spare = numbers;
        }
        spare.reserve(count.saturating_sub(spare.len()));
    }
}
