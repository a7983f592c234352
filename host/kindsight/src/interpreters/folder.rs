//! A folder of interpreters: each of its `*.wasm` files is one component.
//!
//! The folder is passive. Somebody calls [`Folder::look`] every [`POLL`], and it says what became
//! different. It polls because that works on every file system and every mount, such as ConfigMaps
//! and NFS, because it needs no watch descriptors, of which a machine can run out, and because half
//! a second is quick enough for something that is compiled and tried before it is used.
//!
//! ```text
//! listing ─▶ sight of each file ─▶ the same as at the look before? ─▶ read ─▶ other bytes? ─▶ Seen
//! ```
//!
//! Nothing is believed at first sight. What a file is has to be the same at two looks before it is
//! acted on: then a writer is done with it, and a file that is away for the moment between two
//! renames is not gone. What was written through a pause longer than that is told as it is, and
//! told again when it is complete. A file that is read is compared with its sight before and after.
//!
//! A link is followed as long as it stays within the folder, as those of a ConfigMap do. What lies
//! outside is never read, no matter when a link is switched; [`read`] says how.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kindsight_model::Digest;

mod known;
mod listing;
mod note;
mod read;
mod sight;

use known::{Known, Next};
use listing::Listing;

/// How often to look. A new file is told after two looks, so within a second.
pub(crate) const POLL: Duration = Duration::from_millis(500);

/// The most files of the folder that are looked at, the first by name. Each costs a few system
/// calls at each look, and a thousand of them some milliseconds; nobody has a thousand interpreters.
pub(crate) const FILES_MAX: usize = 1000;

/// A folder of interpreters, and what was told of it.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    component_bytes_max: usize,
    files: BTreeMap<String, Known>,
    /// It was said that the folder cannot be listed.
    is_away: bool,
    /// Which entries are not looked at, as it was said.
    left_out: Option<String>,
    /// It was said that notes cannot be written.
    is_unwritable: AtomicBool,
}

/// What became of a file. Of each file the last one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It was not there before, holds other bytes now, or can be taken again after it was refused.
    Changed {
        /// Its name in the folder.
        file: String,
        /// All of it.
        bytes: Vec<u8>,
        /// Of the bytes.
        digest: Digest,
    },
    /// It is gone.
    Removed {
        /// Its name in the folder.
        file: String,
    },
    /// It cannot be taken: a link out of the folder, too large, not readable, not a file. What was
    /// taken from it before may stay. Told once for each file and reason, not at every look.
    Refused {
        /// Its name in the folder.
        file: String,
        /// A sentence for the operator, without the file's name: `it is a link to …`.
        why: String,
    },
}

impl Folder {
    /// Knows nothing yet. The folder does not need to exist.
    ///
    /// Files over `component_bytes_max` bytes are refused without being read.
    pub(crate) fn new(path: PathBuf, component_bytes_max: usize) -> Self {
        Self {
            path,
            component_bytes_max,
            files: BTreeMap::new(),
            is_away: false,
            left_out: None,
            is_unwritable: AtomicBool::new(false),
        }
    }

    /// Looks once, and says what is different. Blocks; called every [`POLL`], with the time.
    ///
    /// The files told at one look have at most `component_bytes_max` bytes together, the rest
    /// follows at the next. Never fails: a folder that cannot be listed is logged once, and what
    /// was known of it stays.
    pub(crate) fn look(&mut self, now: Instant) -> Vec<Seen> {
        let listing = match Listing::of(&self.path) {
            Ok(listing) => listing,
            Err(error) => {
                self.say_away(&error);
                return Vec::new();
            }
        };
        self.say_back();
        self.say_left_out(&listing);
        self.see(&listing, now);
        let seen = self.tell(&listing.root, now);
        self.clear_notes(&listing);
        seen
    }

    /// Writes beside a file why it is refused, as `<file>.refused.txt`. `why` names the step.
    ///
    /// Called after each refusal, also after a [`Seen::Refused`]. Blocks. That the folder cannot be
    /// written, as that of a ConfigMap, is logged once and is no error.
    pub(crate) fn refused(&self, file: &str, why: &str) {
        self.note(note::write(&self.path, file, why));
    }

    /// Takes the note beside a file away. Called when it is accepted. Blocks.
    pub(crate) fn accepted(&self, file: &str) {
        self.note(note::remove(&self.path, file));
    }

    /// Has a file told once more, as if it were new: what stood in its way is gone. Nothing happens
    /// where it is gone itself.
    pub(crate) fn tell_again(&mut self, file: &str) {
        if let Some(known) = self.files.get_mut(file) {
            known.tell_again();
        }
    }

    fn see(&mut self, listing: &Listing, now: Instant) {
        let names: BTreeSet<&String> = self.files.keys().chain(&listing.names).collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        for name in names {
            let sight = listing.sight(&name, self.component_bytes_max);
            self.files.entry(name).or_default().see(sight, now);
        }
    }

    /// Says what has been quiet, the longest first, so that no file waits for ever for its turn.
    /// What is gone comes last: a file that was given another name is there before it is gone.
    fn tell(&mut self, root: &Path, now: Instant) -> Vec<Seen> {
        let due = self.files.iter().filter_map(|(name, known)| {
            let since = known.due_since(now)?;
            Some((known.is_absent(), since, name.clone()))
        });
        let mut due: Vec<(bool, Instant, String)> = due.collect();
        due.sort();
        let mut room = self.component_bytes_max as u64;
        let mut seen = Vec::new();
        for (_, _, name) in due {
            seen.extend(self.tell_one(name, root, &mut room, now));
        }
        seen
    }

    fn tell_one(
        &mut self,
        file: String,
        root: &Path,
        room: &mut u64,
        now: Instant,
    ) -> Option<Seen> {
        let known = self.files.get_mut(&file)?;
        match known.next() {
            Next::Forget => {
                let known = self.files.remove(&file)?;
                known.was_told().then_some(Seen::Removed { file })
            }
            Next::Refuse(unfit) => known.refuse(unfit).map(|why| Seen::Refused { file, why }),
            Next::Read(stamp, place) => {
                *room = room.checked_sub(stamp.bytes())?;
                match read::read(root, &place, stamp) {
                    Ok(bytes) => {
                        let bytes = bytes?;
                        let digest = known.take(&bytes, now)?;
                        Some(Seen::Changed {
                            file,
                            bytes,
                            digest,
                        })
                    }
                    Err(error) => known
                        .unread(stamp, &error)
                        .map(|why| Seen::Refused { file, why }),
                }
            }
        }
    }

    /// Takes away notes about files that are not there any more, also those of an earlier process.
    fn clear_notes(&self, listing: &Listing) {
        for file in &listing.notes {
            if !self.files.contains_key(file) {
                self.accepted(file);
            }
        }
    }

    fn note(&self, outcome: io::Result<()>) {
        if let Err(error) = outcome
            && !self.is_unwritable.swap(true, Ordering::Relaxed)
        {
            let folder = self.path.display();
            tracing::debug!(%folder, %error, "notes beside refused interpreters cannot be kept");
        }
    }

    fn say_away(&mut self, error: &io::Error) {
        if !self.is_away {
            let folder = self.path.display();
            tracing::warn!(%folder, %error, "the folder of interpreters cannot be listed; what is live stays");
            self.is_away = true;
        }
    }

    fn say_back(&mut self) {
        if self.is_away {
            let folder = self.path.display();
            tracing::info!(%folder, "the folder of interpreters is back");
            self.is_away = false;
        }
    }

    fn say_left_out(&mut self, listing: &Listing) {
        let left_out = listing.left_out();
        if self.left_out != left_out {
            if let Some(entries) = &left_out {
                let folder = self.path.display();
                tracing::warn!(%folder, %entries, "some interpreters of the folder are left out");
            }
            self.left_out = left_out;
        }
    }
}

#[cfg(test)]
mod tests;
