//! Differences between two looks at a folder.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::listing::Listing;
use crate::tracked::{Next, TrackedFile};
use crate::wake::Recheck;
use crate::{Change, ContentHash, FolderOptions, LeftOut, read};

/// Files that are never quiet hold up [`Change::Complete`] for no longer than this. All others count
/// after two looks; three seconds leave time for a machine that is busy starting up.
const COMPLETE_WITHIN: Duration = Duration::from_secs(3);

/// A folder, and what was reported of it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    options: FolderOptions,
    /// For this folder only, so that equal hashes mean equal bytes.
    hasher: RandomState,
    files: BTreeMap<String, TrackedFile>,
    left_out: LeftOut,
    failure: Option<Failure>,
    /// Since when the folder can be listed.
    listed_since: Option<Instant>,
    is_complete: bool,
    /// Something waits for no more than a look.
    is_behind: bool,
}

/// The folder cannot be listed.
#[derive(Debug)]
struct Failure {
    since: Instant,
    /// The reason as it was reported last.
    reported: Option<String>,
}

/// A file has to wait for the next look: it would be over the bytes of this one.
struct NoRoom;

impl Folder {
    /// A folder that nobody has looked at. It does not need to exist.
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

    /// Looks once at the folder, and gives the differences. Blocks while it reads.
    ///
    /// Never fails: a folder that cannot be listed is a [`Change::Unavailable`] after the quiet time.
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

    /// Has the present content of a file reported once more, though it did not change: its owner did
    /// not keep it and needs it now. Nothing happens where the file is gone.
    pub fn report_again(&mut self, file: &str) {
        if let Some(tracked) = self.files.get_mut(file) {
            tracked.report_again();
            self.is_behind = true;
        }
    }

    /// Tracks files that an earlier process reported, so that those which went meanwhile are reported
    /// as [`Change::Removed`] too. Names that are no files of interest are passed over, and files that
    /// are tracked already stay as they are.
    pub fn remember(&mut self, files: impl IntoIterator<Item = String>, now: Instant) {
        for file in files {
            if (self.options.accepts)(&file) && !file.contains('/') {
                let tracked = self.files.entry(file);
                tracked.or_insert_with(|| TrackedFile::remembered(now));
            }
        }
    }

    /// Returns whether a file that was reported is gone, and its removal is reported at a later look:
    /// the bytes of others go first.
    pub fn is_gone(&self, file: &str) -> bool {
        let tracked = self.files.get(file);
        tracked.is_some_and(|tracked| tracked.is_absent() && tracked.is_confirmed())
    }

    /// The time for which a state has to be the same.
    pub(crate) fn quiet_for(&self) -> Duration {
        self.options.quiet_for
    }

    /// The time for the next look.
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

    /// Takes the next step for each file whose state counts, the longest waiting first, so that none
    /// waits for ever. Of those that wait equally long, the ones that are gone come last: a file that
    /// was given another name is there before it is gone.
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

    /// Notes that the folder cannot be listed: after the quiet time that is reported, because a link
    /// to the folder may be about to be switched.
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
