//! Inner loops in two versions: for every processor, and for those with registers of four numbers, which is seen while the program runs.
//!
//! Both do the same operations in the same order, each rounded by itself (products and sums are never fused), so the bits are the same.

use pulp::{Arch, Simd, WithSimd};
use std::sync::LazyLock;

/// A loop over numbers that is worth two versions. [`Self::run`] and what it calls have to be `#[inline(always)]`, or they stay as they are for every
/// processor.
pub trait Loop {
    /// What is found.
    type Found;

    /// Runs it.
    fn run(self) -> Self::Found;
}

struct Version<L>(L);

impl<L: Loop> WithSimd for Version<L> {
    type Output = L::Found;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> L::Found {
        self.0.run()
    }
}

static PROCESSOR: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Runs the version for this processor.
#[inline]
pub fn run<L: Loop>(a_loop: L) -> L::Found {
    PROCESSOR.dispatch(Version(a_loop))
}
