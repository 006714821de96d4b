//! A global allocator that counts the allocations of the current thread.
//!
//! A step must not allocate after warm-up. A test installs the allocator and counts:
//!
//! ```
//! use stiction_testkit::{CountingAllocator, count_allocations};
//!
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator;
//!
//! let mut buffer: Vec<f64> = Vec::with_capacity(8);
//! assert_eq!(count_allocations(|| buffer.push(1.0)).count, 0);
//! assert_eq!(count_allocations(|| buffer.reserve(100)).count, 1);
//! ```
//!
//! Only the calling thread is counted, so that concurrent tests do not change the number.

// Audited: `GlobalAlloc` is an unsafe trait. Every method passes its arguments unchanged to the system allocator, whose
// contract the caller has to fulfil, and adds to two thread-local integers that never allocate (constant initialisation, no
// destructor).
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// System allocator that counts allocations.
pub struct CountingAllocator;

/// Allocations of a piece of code. A reallocation counts with its new size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// Number of allocations.
    pub count: u64,
    /// Allocated bytes.
    pub bytes: u64,
}

/// Runs `work` and counts its allocations on this thread.
///
/// # Panics
///
/// Panics if [`CountingAllocator`] is not the global allocator, because every count would be zero.
#[must_use]
pub fn count_allocations(work: impl FnOnce()) -> Allocations {
    let before_probe = so_far();
    drop(black_box(Box::new(0_u64)));
    let before = so_far();
    assert!(before.count > before_probe.count, "CountingAllocator is not installed as #[global_allocator]");
    work();
    let after = so_far();
    Allocations { count: after.count - before.count, bytes: after.bytes - before.bytes }
}

fn so_far() -> Allocations {
    Allocations { count: COUNT.get(), bytes: BYTES.get() }
}

/// Counts one allocation. The counters do not exist during the teardown of a thread; then nothing is counted.
fn record(bytes: usize) {
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
    let _ = BYTES.try_with(|total| total.set(total.get() + bytes as u64));
}

// SAFETY: all four methods forward to `System` with the caller's arguments, so the caller's obligations and the results
// are exactly those of `System`; `record` neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        record(layout.size());
        // SAFETY: forwarded, see above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        record(layout.size());
        // SAFETY: forwarded, see above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        record(new_size);
        // SAFETY: forwarded, see above.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: forwarded, see above.
        unsafe { System.dealloc(block, layout) }
    }
}
