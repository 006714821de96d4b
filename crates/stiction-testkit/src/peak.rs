//! A global allocator that tracks the memory in use by all threads together.
//!
//! ```
//! use stiction_testkit::{PeakAllocator, peak_bytes};
//!
//! #[global_allocator]
//! static ALLOCATOR: PeakAllocator = PeakAllocator;
//!
//! let peak = peak_bytes(|| (0..5).for_each(|_| drop(vec![0_u8; 100_000])));
//! assert!((100_000..200_000).contains(&peak));
//! ```
//!
//! Concurrent tests in one program would change the number, so a binary with this allocator has one test.

// Audited: `GlobalAlloc` is an unsafe trait. Every method passes its arguments unchanged to the system allocator, whose
// contract the caller has to fulfil, and adds to two atomic integers.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// System allocator that tracks the memory in use.
pub struct PeakAllocator;

/// Runs `work` and returns the largest increase of the memory in use meanwhile, bytes.
///
/// # Panics
///
/// Panics if [`PeakAllocator`] is not the global allocator, because every number would be zero.
#[must_use]
pub fn peak_bytes(work: impl FnOnce()) -> usize {
    let before = IN_USE.load(Ordering::SeqCst);
    PEAK.store(before, Ordering::SeqCst);
    drop(black_box(Box::new(0_u64)));
    assert!(PEAK.load(Ordering::SeqCst) > before, "PeakAllocator is not installed as #[global_allocator]");
    work();
    PEAK.load(Ordering::SeqCst) - before
}

fn taken(bytes: usize) {
    let now = IN_USE.fetch_add(bytes, Ordering::SeqCst) + bytes;
    PEAK.fetch_max(now, Ordering::SeqCst);
}

fn given_back(bytes: usize) {
    IN_USE.fetch_sub(bytes, Ordering::SeqCst);
}

// SAFETY: all four methods forward to `System` with the caller's arguments, so the caller's obligations and the results
// are exactly those of `System`; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for PeakAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: forwarded, see above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: forwarded, see above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        taken(new_size);
        given_back(layout.size());
        // SAFETY: forwarded, see above.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        given_back(layout.size());
        // SAFETY: forwarded, see above.
        unsafe { System.dealloc(block, layout) }
    }
}
