//! Inner loops in two versions, chosen at run time: a portable one, and SIMD (AVX2, 4 × f64).
//!
//! Both execute the same operations in the same order and never fuse products and sums, so the bits are the same.

use pulp::{Arch, Simd, WithSimd};
use std::sync::LazyLock;

/// A computation that is compiled in two versions.
///
/// [`Self::run`] and the functions that it calls must be `#[inline(always)]`; otherwise they are compiled in the portable
/// version only.
pub trait Kernel {
    /// Result of the computation.
    type Output;

    /// Runs the computation.
    fn run(self) -> Self::Output;
}

struct Version<K>(K);

impl<K: Kernel> WithSimd for Version<K> {
    type Output = K::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> K::Output {
        self.0.run()
    }
}

static PROCESSOR: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Runs the version that suits this processor.
#[inline]
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    PROCESSOR.dispatch(Version(kernel))
}
