//! Which numbers a problem holds, without looking at them.

use std::sync::atomic::{AtomicU64, Ordering};

/// A name for the numbers a problem holds at present: two problems of the same version hold the same numbers. No result depends on which
/// name it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version(u64);

impl Version {
    /// A version that nothing else has.
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
