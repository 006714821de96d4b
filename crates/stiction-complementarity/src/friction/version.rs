//! Versions of problems: caches compare them instead of the numbers.

use std::sync::atomic::{AtomicU64, Ordering};

/// Identifier of the present contents of a problem: problems of the same version hold the same numbers. No result depends on its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version(u64);

impl Version {
    /// Returns a version that no other problem has.
    pub(crate) fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

impl Default for Version {
    fn default() -> Self {
        Self::next()
    }
}
