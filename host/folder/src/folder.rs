//! The differences between two looks at a folder.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::listing::Listing;
use crate::tracked::{Next, TrackedFile};
use crate::wake::Recheck;
use crate::{Change, ContentHash, FolderOptions, LeftOut, read};

/// The longest time for which [`Change::Complete`] waits for files that are written all the time.
/// All other files are confirmed after two looks. Three seconds are enough even on a machine that
/// is busy starting.
const COMPLETE_WITHIN: Duration = Duration::from_secs(3);

/// A folder, and the state that was reported for it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    options: FolderOptions,
    /// A key for this folder only, so that equal hashes mean equal content.
    hasher: RandomState,
    files: BTreeMap<String, TrackedFile>,
    left_out: LeftOut,
    failure: Option<Failure>,
    /// The time since which the folder can be listed.
    listed_since: Option<Instant>,
    is_complete: bool,
    /// True if work remains that the next look can do immediately.
    is_behind: bool,
}

/// The state of a folder that cannot be listed.
#[derive(Debug)]
struct Failure {
    since: Instant,
    /// The last reason that was reported.
    reported: Option<String>,
}

/// The file must wait for the next look, because it would exceed the byte limit of this one.
struct NoRoom;

impl Folder {
    /// Makes a folder that has not been read yet. It does not need to exist.
    pub fn new(path: impl Into<PathBuf>, mut options: FolderOptions) -> Self {
        options.look_bytes_max = options.look_bytes_max.max(options.file_bytes_max);
        Self {
            path: path.into(),
            options,
            hasher: RandomState::new(),
            files: BTreeMap::new(),
            left_out: LeftOut::default(),
            failure: None,
            listed_since: None,
            is_complete: false,
            is_behind: true,
        }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks at the folder once, and returns the differences. Blocks while it reads.
    ///
    /// Never fails: a folder that cannot be listed becomes a [`Change::Unavailable`] after the
    /// quiet time.
    pub fn look(&mut self, now: Instant) -> Vec<Change> {
        self.is_behind = false;
        let listing = match Listing::of(&self.path, &self.options) {
            Ok(listing) => listing,
            Err(error) => return self.fail(error.to_string(), now).into_iter().collect(),
        };
        let mut changes = Vec::new();
        changes.extend(self.recover(now));
        changes.extend(self.leave_out(&listing));
        self.see(&listing, now);
        self.hand_on(&listing.root, now, &mut changes);
        changes.extend(self.complete(now));
        changes
    }

    /// Causes the present content of a file to be reported again although it did not change,
    /// because the owner did not keep it and needs it now. Has no effect if the file does not
    /// exist.
    pub fn report_again(&mut self, file: &str) {
        if let Some(tracked) = self.files.get_mut(file) {
            tracked.report_again();
            self.is_behind = true;
        }
    }

    /// Tracks files that an earlier process reported, so that files that were deleted since then
    /// are reported as [`Change::Removed`] too. Ignores names that do not pass the filter, and
    /// files that are already tracked.
    pub fn remember(&mut self, files: impl IntoIterator<Item = String>, now: Instant) {
        for file in files {
            if (self.options.accepts)(&file) && !file.contains('/') {
                let tracked = self.files.entry(file);
                tracked.or_insert_with(|| TrackedFile::remembered(now));
            }
        }
    }

    /// Returns whether a reported file no longer exists and its removal will be reported by a later
    /// look. Removals are reported after the changed content of other files.
    pub fn is_gone(&self, file: &str) -> bool {
        let tracked = self.files.get(file);
        tracked.is_some_and(|tracked| tracked.is_absent() && tracked.is_confirmed())
    }

    /// The time for which the state of a file must stay the same.
    pub(crate) fn quiet_for(&self) -> Duration {
        self.options.quiet_for
    }

    /// The time of the next look.
    pub(crate) fn recheck(&self) -> Recheck {
        let is_waiting = match &self.failure {
            Some(failure) => failure.reported.is_none(),
            None => !self.files.values().all(TrackedFile::is_confirmed),
        };
        let retry_at = || self.files.values().filter_map(TrackedFile::retry_at).min();
        match (self.is_behind, is_waiting) {
            (true, _) => Recheck::AtOnce,
            (false, true) => Recheck::AfterQuiet,
            (false, false) => retry_at().map_or(Recheck::Later, Recheck::At),
        }
    }

    fn see(&mut self, listing: &Listing, now: Instant) {
        let (bytes_max, quiet_for) = (self.options.file_bytes_max, self.options.quiet_for);
        for name in &listing.names {
            if !self.files.contains_key(name) {
                self.files.insert(name.clone(), TrackedFile::new(now));
            }
        }
        self.files.retain(|name, tracked| {
            tracked.see(listing.state(name, bytes_max), now, quiet_for);
            tracked.was_reported() || !tracked.is_absent()
        });
    }

    /// Takes the next step for each file with a confirmed state, in the order of the waiting time,
    /// so that no file waits without end. Among files with equal waiting time, removed files are
    /// last, so that a renamed file is reported under its new name before the old name is removed.
    fn hand_on(&mut self, root: &Path, now: Instant, changes: &mut Vec<Change>) {
        let due = self.files.iter().filter_map(|(name, tracked)| {
            let since = tracked.due_since(now)?;
            Some((since, tracked.is_absent(), name.clone()))
        });
        let mut due: Vec<(Instant, bool, String)> = due.collect();
        due.sort();
        let mut room = self.options.look_bytes_max as u64;
        for (_, _, file) in due {
            let Ok(change) = self.hand_on_one(file, root, &mut room, now) else {
                self.is_behind = true;
                return;
            };
            changes.extend(change);
        }
    }

    fn hand_on_one(
        &mut self,
        file: String,
        root: &Path,
        room: &mut u64,
        now: Instant,
    ) -> Result<Option<Change>, NoRoom> {
        let Some(tracked) = self.files.get_mut(&file) else {
            return Ok(None);
        };
        Ok(match tracked.next() {
            None => None,
            Some(Next::Remove) => {
                self.files.remove(&file);
                Some(Change::Removed { file })
            }
            Some(Next::Reject(rejected)) => {
                let reason = rejected.reason.clone();
                let is_new = tracked.reject(rejected);
                is_new.then_some(Change::Rejected { file, reason })
            }
            Some(Next::Read(stamp, place)) => {
                let rest = room.checked_sub(stamp.bytes()).ok_or(NoRoom)?;
                match read::read(root, &place, stamp) {
                    Ok(Some(bytes)) => {
                        *room = rest;
                        let hash = ContentHash(self.hasher.hash_one(&bytes));
                        let is_new = tracked.read(hash, now);
                        is_new.then_some(Change::Changed { file, bytes, hash })
                    }
                    Ok(None) => {
                        tracked.torn(now);
                        None
                    }
                    Err(error) => {
                        let reason = tracked.unread(stamp, &error, now);
                        reason.map(|reason| Change::Rejected { file, reason })
                    }
                }
            }
        })
    }

    /// Records that the folder cannot be listed. This is reported after the quiet time, because a
    /// link to the folder may just be switched.
    pub(crate) fn fail(&mut self, reason: String, now: Instant) -> Option<Change> {
        let since = now;
        let failure = self.failure.get_or_insert(Failure {
            since,
            reported: None,
        });
        let is_quiet = now.duration_since(failure.since) >= self.options.quiet_for;
        if !is_quiet || failure.reported.as_ref() == Some(&reason) {
            return None;
        }
        failure.reported = Some(reason.clone());
        self.listed_since = None;
        self.is_complete = false;
        Some(Change::Unavailable { reason })
    }

    fn recover(&mut self, now: Instant) -> Option<Change> {
        self.listed_since.get_or_insert(now);
        let failure = self.failure.take()?;
        failure.reported.is_some().then_some(Change::Available)
    }

    fn leave_out(&mut self, listing: &Listing) -> Option<Change> {
        if self.left_out == listing.left_out {
            return None;
        }
        let was_empty = self.left_out.is_empty();
        self.left_out = listing.left_out.clone();
        let is_told = !(was_empty && self.left_out.is_empty());
        is_told.then(|| Change::LeftOut(self.left_out.clone()))
    }

    fn complete(&mut self, now: Instant) -> Option<Change> {
        if self.is_complete || self.is_behind {
            return None;
        }
        let listed_since = self.listed_since?;
        let holds_up = now.duration_since(listed_since) < COMPLETE_WITHIN;
        self.is_complete = !holds_up || self.files.values().all(TrackedFile::is_confirmed);
        self.is_complete.then_some(Change::Complete)
    }
}
