//! Progress of long operations: one line on standard error, if standard error is a terminal.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kindsight_server::OnLoaded;

use crate::table::clean;

/// Interval at which the line is drawn again.
const TICK: Duration = Duration::from_millis(100);
/// Time after which the load of interpreters shows its progress. Compiled code loads in less time.
const LOAD_SHOWN_AFTER: Duration = Duration::from_millis(300);
/// The line of an operation of unknown length.
const WAITING: &str = "{spinner} {wide_msg} {elapsed}";
/// The line of an operation that counts.
const COUNTING: &str = "{bar:20} {pos} of {len} {wide_msg}";

/// The line that is shown. Other lines on standard error are written above it.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A line with the progress of an operation. The line disappears when the value is dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Begins to show an operation of unknown length.
    pub(crate) fn waiting(text: &str) -> Self {
        let progress = Self::begin(None, WAITING, text);
        progress.0.enable_steady_tick(TICK);
        progress
    }

    /// Begins to show an operation that consists of this number of steps.
    pub(crate) fn counting(text: &str, total: usize) -> Self {
        Self::begin(Some(number(total)), COUNTING, text)
    }

    fn begin(total: Option<u64>, template: &str, text: &str) -> Self {
        // A terminal is checked by the target: any other standard error gets nothing.
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(clean(text));
        *shown() = Some(bar.clone());
        Self(bar)
    }

    /// Returns whether the line is shown.
    pub(crate) fn is_shown(&self) -> bool {
        !self.0.is_hidden()
    }

    /// Replaces the text.
    pub(crate) fn text(&self, text: &str) {
        self.0.set_message(clean(text));
    }

    /// Sets the number of steps that are complete.
    pub(crate) fn done(&self, count: usize) {
        self.0.set_position(number(count));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        shown().take();
        self.0.finish_and_clear();
    }
}

/// Shows the load of the built-in interpreters, unless it takes only a moment.
pub(crate) fn of_interpreters() -> OnLoaded {
    let begun = Instant::now();
    let progress = Mutex::new(None);
    OnLoaded::new(move |loaded, total| {
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded == total {
            progress.take();
        } else if begun.elapsed() >= LOAD_SHOWN_AFTER {
            let text = "interpreters compiled (at the first start only)";
            let progress = progress.get_or_insert_with(|| Progress::counting(text, total));
            progress.done(loaded);
        }
    })
}

/// Writes to standard error while the line is hidden.
pub(crate) fn above<T>(write: impl FnOnce() -> T) -> T {
    let bar = shown().clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Standard error for the lines of a log.
pub(crate) struct LogLines;

impl Write for LogLines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        above(|| io::stderr().write(line))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

fn shown() -> std::sync::MutexGuard<'static, Option<ProgressBar>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
