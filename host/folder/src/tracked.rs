//! State and history of one file, so that only what is new is reported.
//!
//! Pure: takes states and hashes, gives back what to do next and what to report.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::state::{FileState, Rejected, Stamp};
use crate::{ContentHash, Rejection};

/// A stamp that stayed the same for so long is trusted: whatever is written from then on gets
/// another one. Over the two seconds in which the coarsest file systems tell the time. A file that
/// was read earlier is read once more then.
pub(crate) const SETTLED_AFTER: Duration = Duration::from_secs(3);

/// A file that could not be read is tried again after so long, then after twice as long each time: an
/// error of a moment costs a moment.
const RETRY_FIRST: Duration = Duration::from_millis(100);
/// The longest time between two tries: some system calls now and then.
const RETRY_LAST: Duration = Duration::from_secs(5);

/// One file of the folder.
#[derive(Debug)]
pub(crate) struct TrackedFile {
    /// None until the first look.
    state: Option<FileState>,
    /// When the state was seen first.
    seen_at: Instant,
    /// When the state was found unchanged after the quiet time first.
    confirmed_at: Option<Instant>,
    progress: Progress,
    reported: Option<Reported>,
    retry: Option<Retry>,
}

/// The next try of a file that could not be read.
#[derive(Debug, Clone, Copy)]
struct Retry {
    at: Instant,
    /// The time between the last try and this one.
    after: Duration,
}

/// The part of the work on the present state that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Nothing,
    /// It was read so early that something may be written that does not change the stamp.
    Early,
    All,
}

/// The last report about a file.
#[derive(Debug, PartialEq, Eq)]
enum Reported {
    Content(ContentHash),
    Rejected(Rejected),
    /// It was reported, and its present content is to be reported whatever it is.
    Outdated,
}

/// The next step for a file.
pub(crate) enum Next {
    /// Report that it is gone.
    Remove,
    /// Report that it is not read.
    Reject(Rejected),
    /// Read the file with this stamp, at this path in the folder.
    Read(Stamp, PathBuf),
}

impl TrackedFile {
    /// A file that nobody has looked at yet.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            state: None,
            seen_at: now,
            confirmed_at: None,
            progress: Progress::Nothing,
            reported: None,
            retry: None,
        }
    }

    /// A file that an earlier process reported, and that nobody has looked at since.
    pub(crate) fn remembered(now: Instant) -> Self {
        Self {
            reported: Some(Reported::Outdated),
            ..Self::new(now)
        }
    }

    /// Takes the state at this look. It counts when it was the same for `quiet_for` at two looks.
    pub(crate) fn see(&mut self, state: FileState, now: Instant, quiet_for: Duration) {
        if self.state.as_ref() != Some(&state) {
            self.state = Some(state);
            self.wait_for_quiet(now);
        } else if now.duration_since(self.seen_at) >= quiet_for {
            self.confirmed_at.get_or_insert(now);
        }
    }

    /// Returns whether the state counts.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.confirmed_at.is_some()
    }

    /// Since when there is something to do; none if there is nothing to do.
    pub(crate) fn due_since(&self, now: Instant) -> Option<Instant> {
        let is_due = match self.progress {
            Progress::Nothing => self.retry.is_none_or(|retry| now >= retry.at),
            Progress::Early => self.is_settled(now),
            Progress::All => false,
        };
        self.confirmed_at.filter(|_| is_due)
    }

    /// When it is tried again; none unless the last try failed.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        self.retry.map(|retry| retry.at)
    }

    /// Returns whether nothing has its name.
    pub(crate) fn is_absent(&self) -> bool {
        self.state == Some(FileState::Absent)
    }

    /// The step to take when something is due; none before the first look.
    pub(crate) fn next(&self) -> Option<Next> {
        Some(match self.state.as_ref()? {
            FileState::Absent => Next::Remove,
            FileState::Rejected(rejected, _) => Next::Reject(rejected.clone()),
            FileState::Readable(stamp, place) => Next::Read(*stamp, place.clone()),
        })
    }

    /// Returns whether it was ever reported.
    pub(crate) fn was_reported(&self) -> bool {
        self.reported.is_some()
    }

    /// Takes the hash of the bytes that were read. Answers whether they are to be reported.
    pub(crate) fn read(&mut self, hash: ContentHash, now: Instant) -> bool {
        self.retry = None;
        self.progress = if self.is_settled(now) {
            Progress::All
        } else {
            Progress::Early
        };
        self.report(Reported::Content(hash))
    }

    /// Notes that it was another file by the time it was read: its state has to be confirmed anew.
    pub(crate) fn torn(&mut self, now: Instant) {
        self.wait_for_quiet(now);
    }

    /// Notes that it is not read. Answers whether that is to be reported.
    pub(crate) fn reject(&mut self, rejected: Rejected) -> bool {
        self.retry = None;
        self.progress = Progress::All;
        self.report(Reported::Rejected(rejected))
    }

    /// Notes that reading failed; it is tried again after a while. Gives the reason if it is to be reported.
    pub(crate) fn unread(
        &mut self,
        stamp: Stamp,
        error: &io::Error,
        now: Instant,
    ) -> Option<Rejection> {
        self.progress = Progress::Nothing;
        let after = self
            .retry
            .map_or(RETRY_FIRST, |retry| retry.after.saturating_mul(2));
        let after = after.min(RETRY_LAST);
        let at = now + after;
        self.retry = Some(Retry { at, after });
        let reason = Rejection::Unreadable(error.to_string());
        let is_new = self.report(Reported::Rejected(Rejected {
            identity: Some(stamp.identity()),
            reason: reason.clone(),
        }));
        is_new.then_some(reason)
    }

    /// Has the present content reported once more, if anything was reported before.
    pub(crate) fn report_again(&mut self) {
        self.progress = Progress::Nothing;
        self.retry = None;
        if self.reported.is_some() {
            self.reported = Some(Reported::Outdated);
        }
    }

    fn wait_for_quiet(&mut self, now: Instant) {
        self.seen_at = now;
        self.confirmed_at = None;
        self.progress = Progress::Nothing;
        self.retry = None;
    }

    fn report(&mut self, reported: Reported) -> bool {
        let reported = Some(reported);
        let is_new = self.reported != reported;
        self.reported = reported;
        is_new
    }

    fn is_settled(&self, now: Instant) -> bool {
        self.confirmed_at
            .is_some_and(|since| now.duration_since(since) >= SETTLED_AFTER)
    }
}

#[cfg(test)]
mod tests;
