//! A progress bar for whatever takes more than a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How long to wait before a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// Counts work; shows a bar with the time left on stderr, unless that is not a terminal.
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

    /// Says how much is done.
    pub(crate) fn at(&mut self, done: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        } else if self.started.elapsed() >= PATIENCE {
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
