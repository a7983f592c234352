//! The state and the history of one file, so that only new content is reported.
//!
//! Pure: takes states and hashes, and returns the next step and the change to report.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::state::{FileState, Rejected, Stamp};
use crate::{ContentHash, Rejection};

/// The time after which an unchanged stamp is trusted: any later write changes the stamp. It is
/// longer than the two-second clock resolution of the coarsest file systems. A file that was read
/// earlier is read again after this time.
pub(crate) const SETTLED_AFTER: Duration = Duration::from_secs(3);

/// The pause before the first repeated attempt to read a file. It doubles with each attempt, so a
/// short error causes a short delay.
const RETRY_FIRST: Duration = Duration::from_millis(100);
/// The longest pause between two attempts, which cost a few system calls each.
const RETRY_LAST: Duration = Duration::from_secs(5);

/// One file of the folder.
#[derive(Debug)]
pub(crate) struct TrackedFile {
    /// `None` until the first look.
    state: Option<FileState>,
    /// The time at which the state was first seen.
    seen_at: Instant,
    /// The time at which the state was first confirmed to be unchanged after the quiet time.
    confirmed_at: Option<Instant>,
    progress: Progress,
    reported: Option<Reported>,
    retry: Option<Retry>,
}

/// The next attempt to read a file after a failure.
#[derive(Debug, Clone, Copy)]
struct Retry {
    at: Instant,
    /// The pause between the previous attempt and this one.
    after: Duration,
}

/// The progress in processing the present state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Nothing,
    /// The file was read so early that a later write may not change its stamp.
    Early,
    All,
}

/// The last report on a file.
#[derive(Debug, PartialEq, Eq)]
enum Reported {
    Content(ContentHash),
    Rejected(Rejected),
    /// The file was reported, and its present content must be reported again in any case.
    Outdated,
}

/// The next step for a file.
pub(crate) enum Next {
    /// Report that the file no longer exists.
    Remove,
    /// Report that the file is not read.
    Reject(Rejected),
    /// Read the file with this stamp, at this path in the folder.
    Read(Stamp, PathBuf),
}

impl TrackedFile {
    /// A file that has not been checked yet.
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

    /// A file that an earlier process reported, and that has not been checked since.
    pub(crate) fn remembered(now: Instant) -> Self {
        Self {
            reported: Some(Reported::Outdated),
            ..Self::new(now)
        }
    }

    /// Records the state at this look. The state is confirmed when it was the same at two looks
    /// that are `quiet_for` apart.
    pub(crate) fn see(&mut self, state: FileState, now: Instant, quiet_for: Duration) {
        if self.state.as_ref() != Some(&state) {
            self.state = Some(state);
            self.wait_for_quiet(now);
        } else if now.duration_since(self.seen_at) >= quiet_for {
            self.confirmed_at.get_or_insert(now);
        }
    }

    /// Returns whether the state is confirmed.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.confirmed_at.is_some()
    }

    /// The time since which a step is due, or `None` if no step is due.
    pub(crate) fn due_since(&self, now: Instant) -> Option<Instant> {
        let is_due = match self.progress {
            Progress::Nothing => self.retry.is_none_or(|retry| now >= retry.at),
            Progress::Early => self.is_settled(now),
            Progress::All => false,
        };
        self.confirmed_at.filter(|_| is_due)
    }

    /// The time of the next attempt, or `None` unless the last attempt failed.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        self.retry.map(|retry| retry.at)
    }

    /// Returns whether no entry has this name.
    pub(crate) fn is_absent(&self) -> bool {
        self.state == Some(FileState::Absent)
    }

    /// The step to take when a step is due, or `None` before the first look.
    pub(crate) fn next(&self) -> Option<Next> {
        Some(match self.state.as_ref()? {
            FileState::Absent => Next::Remove,
            FileState::Rejected(rejected, _) => Next::Reject(rejected.clone()),
            FileState::Readable(stamp, place) => Next::Read(*stamp, place.clone()),
        })
    }

    /// Returns whether the file was ever reported.
    pub(crate) fn was_reported(&self) -> bool {
        self.reported.is_some()
    }

    /// Records the hash of the content that was read. Returns whether the content must be reported.
    pub(crate) fn read(&mut self, hash: ContentHash, now: Instant) -> bool {
        self.retry = None;
        self.progress = if self.is_settled(now) {
            Progress::All
        } else {
            Progress::Early
        };
        self.report(Reported::Content(hash))
    }

    /// Records that the file changed while it was read, so its state must be confirmed again.
    pub(crate) fn torn(&mut self, now: Instant) {
        self.wait_for_quiet(now);
    }

    /// Records that the file is not read. Returns whether this must be reported.
    pub(crate) fn reject(&mut self, rejected: Rejected) -> bool {
        self.retry = None;
        self.progress = Progress::All;
        self.report(Reported::Rejected(rejected))
    }

    /// Records that the read failed, and schedules another attempt. Returns the reason if it must
    /// be reported.
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

    /// Causes the present content to be reported again, if anything was reported before.
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
