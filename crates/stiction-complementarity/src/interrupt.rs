//! Interruption of long computations by their caller.
//!
//! Methods ask [`is_requested`] between two iterations and then end as if their budget were exhausted. So a step that takes seconds can be
//! stopped within one iteration, and no signature of a method has a parameter for it.

use std::{cell::RefCell, fmt, sync::Arc};

thread_local! {
    static CURRENT: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
}

/// A condition that ends computations of a thread early, such as Ctrl-C.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
/// use stiction_complementarity::interrupt::{self, Interrupt};
///
/// let stop = Arc::new(AtomicBool::new(false));
/// let flag = Arc::clone(&stop);
/// let interrupt = Interrupt::new(move || flag.load(Ordering::Relaxed));
/// interrupt.during(|| {
///     assert!(!interrupt::is_requested());
///     stop.store(true, Ordering::Relaxed);
///     assert!(interrupt::is_requested());
/// });
/// assert!(!interrupt::is_requested(), "the computation is over");
/// ```
#[derive(Clone)]
pub struct Interrupt {
    requested: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Interrupt {
    /// An interrupt that `requested` decides on. It is called once an iteration and must be cheap; after it has been true it must stay true.
    pub fn new(requested: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { requested: Arc::new(requested) }
    }

    /// True if the computation shall end.
    pub fn is_requested(&self) -> bool {
        (self.requested)()
    }

    /// Runs `work`, whose methods on this thread end early when the interrupt is requested. Within another interrupt, this one alone counts.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let _restored = Restored(CURRENT.replace(Some(self.clone())));
        work()
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupt").finish_non_exhaustive()
    }
}

/// Interrupt of the computation around, which counts again after this one, also if this one panics.
struct Restored(Option<Interrupt>);

impl Drop for Restored {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// True if the computation that runs on this thread shall end; false outside [`Interrupt::during`].
pub fn is_requested() -> bool {
    // The condition may run code of the user, which may begin a computation of its own: nothing is borrowed meanwhile.
    let current = CURRENT.with_borrow(Option::clone);
    current.is_some_and(|interrupt| interrupt.is_requested())
}
