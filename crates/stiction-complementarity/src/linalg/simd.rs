//! Inner loops in two versions, chosen at run time: a portable one, and SIMD (AVX2, 4 × f64).
//!
//! Both execute the same operations in the same order and never fuse products and sums, so the bits are the same.

use pulp::{Arch, Simd, WithSimd};
use std::sync::LazyLock;

/// A loop over numbers that is compiled in two versions.
///
/// [`Self::run`] and the functions that it calls must be `#[inline(always)]`; otherwise they are compiled in the portable
/// version only.
pub trait Loop {
    /// Result of the loop.
    type Output;

    /// Runs the loop.
    fn run(self) -> Self::Output;
}

struct Version<L>(L);

impl<L: Loop> WithSimd for Version<L> {
    type Output = L::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> L::Output {
        self.0.run()
    }
}

static PROCESSOR: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Runs the version that suits this processor.
#[inline]
pub fn run<L: Loop>(a_loop: L) -> L::Output {
    PROCESSOR.dispatch(Version(a_loop))
}
