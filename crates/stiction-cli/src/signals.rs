//! Stop requests by signals.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use stiction::interrupt::Interrupt;

use crate::failure::Failure;

/// Flag that Ctrl-C and termination signals set.
pub(crate) fn stop_on_signals() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    ctrlc::set_handler(move || raised.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::work(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}

/// Interrupt of steps by this flag.
pub(crate) fn interrupt(stop: &Arc<AtomicBool>) -> Interrupt {
    let stop = Arc::clone(stop);
    Interrupt::new(move || stop.load(Ordering::Relaxed))
}

/// Makes writing beyond a limit on the size of files (`ulimit -f`) an error, which is reported like a full disk. Without this a signal ends the program without a word.
pub(crate) fn survive_file_size_limit() {
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigSet, Signal};
        let mut blocked = SigSet::empty();
        blocked.add(Signal::SIGXFSZ);
        // Threads inherit the mask of this one. If it cannot be set, the signal is what it was.
        let _ = blocked.thread_block();
    }
}
