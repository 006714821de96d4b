//! Interruption of long computations by Python.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use pyo3::prelude::*;
use stiction::interrupt::Interrupt;

/// Interval between checks for signals.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Interrupt of computations by signals that Python handles, such as Ctrl-C.
pub(crate) struct Signals {
    interrupt: Interrupt,
    /// Exception that the handler of a signal raised.
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Signals {
    pub(crate) fn new() -> Self {
        let raised = Arc::new(Mutex::new(None));
        let (started, checked, kept) = (Instant::now(), AtomicU64::new(0), Arc::clone(&raised));
        let interrupt = Interrupt::new(move || {
            #[expect(clippy::cast_possible_truncation, reason = "584 years")]
            let now = started.elapsed().as_nanos() as u64;
            if now.wrapping_sub(checked.load(Ordering::Relaxed)) >= CHECK_INTERVAL.as_nanos() as u64 {
                checked.store(now, Ordering::Relaxed);
                #[expect(
                    clippy::redundant_closure_for_method_calls,
                    reason = "the method itself is of one lifetime only"
                )]
                let handled = Python::attach(|py| py.check_signals());
                if let Err(exception) = handled {
                    *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(exception);
                }
            }
            kept.lock().unwrap_or_else(PoisonError::into_inner).is_some()
        });
        Self { interrupt, raised }
    }

    /// Runs `work`, which may return early after a signal; returns the exception of its handler if there is one.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> PyResult<T> {
        let made = self.interrupt.during(work);
        match self.raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(exception) => Err(exception),
            None => Ok(made),
        }
    }

    /// True if a signal has raised an exception.
    pub(crate) fn is_raised(&self) -> bool {
        self.interrupt.is_requested()
    }
}
