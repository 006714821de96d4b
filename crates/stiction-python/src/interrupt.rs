//! Interruption of long computations by Python.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Interval between checks for an interrupt.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Checks for interrupts at intervals, while the interpreter is released.
pub(crate) struct InterruptCheck {
    checked: Instant,
}

impl InterruptCheck {
    pub(crate) fn new() -> Self {
        Self { checked: Instant::now() }
    }

    /// Returns the exception that a signal raised, such as `KeyboardInterrupt`.
    pub(crate) fn check(&mut self) -> PyResult<()> {
        if self.checked.elapsed() < CHECK_INTERVAL {
            return Ok(());
        }
        self.checked = Instant::now();
        #[expect(clippy::redundant_closure_for_method_calls, reason = "the method itself is of one lifetime only")]
        Python::attach(|py| py.check_signals())
    }
}
