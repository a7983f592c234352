//! What was seen in the folder and what was said of it, so that only what is new is said.
//!
//! Pure: takes what was found, gives back what to say.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kindsight_model::{Bundle, ClusterName, DeploymentId};

use super::listing::{Content, FILES_MAX, Listing, Problem, Stamp};
use crate::ClusterEvent;

/// A stamp that stayed the same for so long is trusted: whatever is written from then on gets
/// another one. Over the two seconds in which the coarsest file systems tell the time.
const SETTLED_AFTER: Duration = Duration::from_secs(3);

/// What is known of one folder.
pub(super) struct Memory {
    cluster: ClusterName,
    files: BTreeMap<PathBuf, Known>,
    /// What was said last of each deployment: the hash of the file it stood in.
    said: HashMap<DeploymentId, u64>,
    over: Option<(usize, PathBuf)>,
}

/// What is known of one file.
struct Known {
    stamp: Option<Stamp>,
    /// The stamp has been this one since then, or longer.
    since: Instant,
    /// The content was read long enough after the stamp was taken first.
    settled: bool,
    /// What it last said when it could be read.
    report: Option<Report>,
    /// Why it cannot be read, as it was said.
    problem: Option<Problem>,
    /// The file that speaks of the same deployment in its place, as it was said.
    eclipsed_by: Option<PathBuf>,
}

/// What a file says, in short.
struct Report {
    deployment: DeploymentId,
    hash: u64,
}

/// One walk through the listing, from the last file to the first.
pub(super) struct Pass {
    began: Instant,
    ended: Instant,
    /// Which file speaks of which deployment: of those that do, the last by name.
    speakers: HashMap<DeploymentId, PathBuf>,
    /// A file was taken away since it was listed, and perhaps the whole folder with it.
    torn: bool,
}

impl Pass {
    /// Whether the listing was out of date before its end: then nobody is gone because of it, and
    /// it is not complete either.
    pub(super) fn is_torn(&self) -> bool {
        self.torn
    }
}

impl Memory {
    /// Knows nothing yet.
    pub(super) fn new(cluster: ClusterName) -> Self {
        Self {
            cluster,
            files: BTreeMap::new(),
            said: HashMap::new(),
            over: None,
        }
    }

    /// Begins to compare with a listing; forgets files that are not in it.
    pub(super) fn begin(&mut self, listing: &Listing) -> Pass {
        self.files
            .retain(|file, _| listing.files.contains_key(file));
        Pass {
            began: listing.began,
            ended: listing.ended,
            speakers: HashMap::new(),
            torn: false,
        }
    }

    /// Whether what is known of a file is not enough to know what it says now.
    pub(super) fn must_read(&self, pass: &Pass, file: &Path, stamp: Option<Stamp>) -> bool {
        let Some(known) = self.files.get(file) else {
            return true;
        };
        let unsaid = known.report.as_ref().is_some_and(|report| {
            !pass.speakers.contains_key(&report.deployment)
                && self.said.get(&report.deployment) != Some(&report.hash)
        });
        unsaid || !known.settled || stamp.is_none() || known.stamp != stamp
    }

    /// Learns what is in a file, if it had to be read, and says what is new.
    pub(super) fn learn(
        &mut self,
        pass: &mut Pass,
        file: &Path,
        stamp: Option<Stamp>,
        content: Option<Content>,
    ) -> Option<ClusterEvent> {
        let known = self
            .files
            .entry(file.to_owned())
            .or_insert_with(|| Known::new(stamp, pass.ended));
        known.see(pass, stamp, content.is_some());
        match content {
            None => self.place(pass, file, None),
            Some(Content::Bundle(bundle, hash)) => {
                known.report = Some(Report {
                    deployment: bundle.deployment.clone(),
                    hash,
                });
                self.place(pass, file, Some(bundle))
            }
            Some(Content::Unreadable(problem)) => {
                let is_new = known.problem.as_ref() != Some(&problem);
                let error = problem.error.clone();
                known.problem = Some(problem);
                let eclipsed = self.place(pass, file, None);
                if is_new {
                    return Some(self.unreadable(file, error));
                }
                eclipsed
            }
            Some(Content::Absent) => {
                pass.torn = true;
                None
            }
        }
    }

    /// Ends a pass that is not torn, and says what nobody speaks of any more.
    pub(super) fn finish(&mut self, pass: &Pass, listing: &Listing) -> Vec<ClusterEvent> {
        let mut gone: Vec<DeploymentId> = self.said.keys().cloned().collect();
        gone.retain(|deployment| !pass.speakers.contains_key(deployment));
        gone.sort();
        let mut news = Vec::new();
        for deployment in gone {
            self.said.remove(&deployment);
            let cluster = self.cluster.clone();
            news.push(ClusterEvent::Gone {
                cluster,
                deployment,
            });
        }
        if self.over != listing.over {
            self.over.clone_from(&listing.over);
            news.extend(self.over.as_ref().map(|(count, file)| {
                let error = format!(
                    "from this one on, {count} files are over the limit of {FILES_MAX} files in a folder"
                );
                self.unreadable(file, error)
            }));
        }
        news
    }

    /// Gives a file its place among those that speak of the same deployment. `bundle` is there if
    /// the file was read and is good.
    fn place(
        &mut self,
        pass: &mut Pass,
        file: &Path,
        bundle: Option<Bundle>,
    ) -> Option<ClusterEvent> {
        let known = self.files.get_mut(file)?;
        let report = known.report.as_ref()?;
        let healed = bundle.is_some() && known.problem.take().is_some();
        match pass.speakers.entry(report.deployment.clone()) {
            Entry::Vacant(speaker) => {
                speaker.insert(file.to_owned());
                known.eclipsed_by = None;
                let bundle = bundle?;
                let before = self.said.insert(report.deployment.clone(), report.hash);
                let cluster = self.cluster.clone();
                // One that was said to be unreadable is said again when it is good again.
                (healed || before != Some(report.hash))
                    .then_some(ClusterEvent::Bundle { cluster, bundle })
            }
            Entry::Occupied(speaker) if known.eclipsed_by.as_ref() == Some(speaker.get()) => None,
            Entry::Occupied(speaker) => {
                let error = format!(
                    "{} is about the same deployment {} and is used instead",
                    speaker.get().display(),
                    report.deployment
                );
                known.eclipsed_by = Some(speaker.get().clone());
                Some(self.unreadable(file, error))
            }
        }
    }

    fn unreadable(&self, file: &Path, error: String) -> ClusterEvent {
        ClusterEvent::Unreadable {
            cluster: self.cluster.clone(),
            file: file.to_owned(),
            error,
        }
    }
}

impl Known {
    fn new(stamp: Option<Stamp>, since: Instant) -> Self {
        Self {
            stamp,
            since,
            settled: false,
            report: None,
            problem: None,
            eclipsed_by: None,
        }
    }

    fn see(&mut self, pass: &Pass, stamp: Option<Stamp>, was_read: bool) {
        if self.stamp != stamp {
            self.stamp = stamp;
            self.since = pass.ended;
            self.settled = false;
        } else if was_read {
            self.settled = pass.began.duration_since(self.since) >= SETTLED_AFTER;
        }
    }
}

#[cfg(test)]
mod tests;
