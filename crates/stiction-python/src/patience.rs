//! Long work that Python may interrupt.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How often long work looks whether somebody wants it to stop.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// Asks Python now and then, from work that has left the interpreter to others.
pub(crate) struct Patience {
    asked: Instant,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self { asked: Instant::now() }
    }

    /// What a signal raised, such as `KeyboardInterrupt`.
    pub(crate) fn ask(&mut self) -> PyResult<()> {
        if self.asked.elapsed() < PATIENCE {
            return Ok(());
        }
        self.asked = Instant::now();
        #[expect(clippy::redundant_closure_for_method_calls, reason = "the method itself is of one lifetime only")]
        Python::attach(|py| py.check_signals())
    }
}
