//! What is known of one file and what was told of it, so that only what is new is told.
//!
//! Pure: takes what was seen and read, gives back what to do next and what to tell.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kindsight_model::Digest;

use super::sight::{Sight, Stamp, Unfit};

/// A sight that stayed the same for so long is trusted: whatever is written from then on gets
/// another stamp. Over the two seconds in which the coarsest file systems tell the time. What was
/// read earlier is read once more then.
pub(super) const SETTLED_AFTER: Duration = Duration::from_secs(3);

/// What is known of one file.
#[derive(Debug)]
pub(super) struct Known {
    sight: Sight,
    /// When the sight was found unchanged first; none if it is new.
    quiet_since: Option<Instant>,
    progress: Progress,
    told: Option<Told>,
}

/// What was done about the present sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Nothing,
    /// It was read so early that something may be written that does not change the stamp.
    Early,
    All,
}

/// What was told last.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Taken(Digest),
    Refused(Unfit),
    /// It was told, and is to be told again.
    Again,
}

/// What to do about a file.
pub(super) enum Next {
    /// It is gone.
    Forget,
    /// It is not to be taken.
    Refuse(Unfit),
    /// It is to be read: the file with this stamp, at this place in the folder.
    Read(Stamp, PathBuf),
}

impl Default for Known {
    /// Nothing was seen yet.
    fn default() -> Self {
        Self {
            sight: Sight::Absent,
            quiet_since: None,
            progress: Progress::Nothing,
            told: None,
        }
    }
}

impl Known {
    /// Takes what the file is at this look.
    pub(super) fn see(&mut self, sight: Sight, now: Instant) {
        if self.sight == sight {
            self.quiet_since.get_or_insert(now);
        } else {
            self.sight = sight;
            self.quiet_since = None;
            self.progress = Progress::Nothing;
        }
    }

    /// Since when there is something to do about it; none if there is nothing to do.
    pub(super) fn due_since(&self, now: Instant) -> Option<Instant> {
        let is_due = match self.progress {
            Progress::Nothing => true,
            Progress::Early => self.is_settled(now),
            Progress::All => false,
        };
        self.quiet_since.filter(|_| is_due)
    }

    /// Whether nothing has its name.
    pub(super) fn is_absent(&self) -> bool {
        self.sight == Sight::Absent
    }

    /// What to do about it when it is due.
    pub(super) fn next(&self) -> Next {
        match &self.sight {
            Sight::Absent => Next::Forget,
            Sight::Unfit(unfit, _) => Next::Refuse(unfit.clone()),
            Sight::File(stamp, place) => Next::Read(*stamp, place.clone()),
        }
    }

    /// Whether anybody was told that it is there.
    pub(super) fn was_told(&self) -> bool {
        self.told.is_some()
    }

    /// It was read. Gives the digest if these bytes are news.
    pub(super) fn take(&mut self, bytes: &[u8], now: Instant) -> Option<Digest> {
        self.progress = if self.is_settled(now) {
            Progress::All
        } else {
            Progress::Early
        };
        let digest = Digest::of(bytes);
        let told = Some(Told::Taken(digest.clone()));
        let is_new = self.told != told;
        self.told = told;
        is_new.then_some(digest)
    }

    /// It is not to be taken. Gives the reason if that is news.
    pub(super) fn refuse(&mut self, unfit: Unfit) -> Option<String> {
        self.progress = Progress::All;
        self.tell(unfit)
    }

    /// It could not be read, and is tried again at the next look. Gives the reason if that is news.
    pub(super) fn unread(&mut self, stamp: Stamp, error: &io::Error) -> Option<String> {
        self.progress = Progress::Nothing;
        self.tell(Unfit {
            identity: Some(stamp.identity()),
            why: format!("it cannot be read: {error}"),
        })
    }

    /// What was told of it last is not to keep it from being told again.
    pub(super) fn tell_again(&mut self) {
        self.progress = Progress::Nothing;
        if self.told.is_some() {
            self.told = Some(Told::Again);
        }
    }

    fn tell(&mut self, unfit: Unfit) -> Option<String> {
        let why = unfit.why.clone();
        let told = Some(Told::Refused(unfit));
        let is_new = self.told != told;
        self.told = told;
        is_new.then_some(why)
    }

    fn is_settled(&self, now: Instant) -> bool {
        self.quiet_since
            .is_some_and(|since| now.duration_since(since) >= SETTLED_AFTER)
    }
}

#[cfg(test)]
mod tests;
