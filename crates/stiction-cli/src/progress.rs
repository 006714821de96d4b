//! Progress bar of long operations.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Delay before the bar appears.
const DELAY: Duration = Duration::from_secs(1);

/// Counts work; shows a bar with the remaining time on stderr if that is a terminal.
pub(crate) struct Progress {
    started: Instant,
    total: u64,
    unit: &'static str,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(total: u64, unit: &'static str) -> Self {
        Self { started: Instant::now(), total, unit, bar: None }
    }

    /// Sets the amount of completed work.
    pub(crate) fn at(&mut self, done: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        } else if self.started.elapsed() >= DELAY {
            let template = "{wide_bar:.cyan/dim} {pos}/{len} {msg}, {eta} left";
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(self.total).with_style(style).with_message(self.unit);
            self.bar = Some(bar.with_position(done).with_elapsed(self.started.elapsed()));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
