//! Reports of one folder: the files about each deployment, and the last event sent for it.
//!
//! Pure: takes file changes, returns events.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use kindsight_folder::{ContentHash, LeftOut};
use kindsight_model::{Bundle, ClusterName, DeploymentId};

use crate::ClusterEvent;

/// Reports of one folder.
pub(super) struct Reports {
    cluster: ClusterName,
    folder: PathBuf,
    files: BTreeMap<String, ReportFile>,
    /// The files about each deployment. Of several, the last by name counts.
    by_deployment: HashMap<DeploymentId, BTreeSet<String>>,
    /// Hash of the content last reported for each deployment; none if it has to be reported again.
    reported: HashMap<DeploymentId, Option<ContentHash>>,
    /// Deployments whose files changed since [`Reports::settle`].
    touched: BTreeSet<DeploymentId>,
}

/// One file of the folder.
#[derive(Default)]
struct ReportFile {
    /// Deployment and hash of its last valid content.
    content: Option<(DeploymentId, ContentHash)>,
    /// The reported reason why it cannot be read.
    problem: Option<Problem>,
    /// The file that was reported to be used instead of it.
    shadowed_by: Option<String>,
    /// The deployment for which this file was reported as unreadable.
    blamed: Option<DeploymentId>,
}

/// The reason why a file is unreadable. An equal one is not reported again.
#[derive(PartialEq, Eq)]
struct Problem {
    error: String,
    /// Hash of the file's bytes, if they were read.
    hash: Option<ContentHash>,
}

/// Consequences of all changes of one scan.
pub(super) struct Settled {
    /// Events to be sent.
    pub(super) events: Vec<ClusterEvent>,
    /// Files whose content has to be read and reported again.
    pub(super) to_reread: Vec<String>,
}

impl Reports {
    /// Reports of a folder without any known files.
    pub(super) fn new(cluster: ClusterName, folder: PathBuf) -> Self {
        Self {
            cluster,
            folder,
            files: BTreeMap::new(),
            by_deployment: HashMap::new(),
            reported: HashMap::new(),
            touched: BTreeSet::new(),
        }
    }

    /// Handles a file with a valid bundle. It is reported if the file counts for its deployment, and its
    /// content is new or the deployment was reported as unreadable since.
    pub(super) fn accept(
        &mut self,
        file: &str,
        bundle: Bundle,
        hash: ContentHash,
    ) -> Option<ClusterEvent> {
        self.assign(file, Some((bundle.deployment.clone(), hash)));
        let counts = self.counting(&bundle.deployment) == Some(file);
        let known = self.files.get_mut(file)?;
        known.problem = None;
        // A file that does not count stays blamed: a second file about a deployment is a fault as well.
        let blamed = known
            .blamed
            .take_if(|blamed| counts || *blamed != bundle.deployment);
        let was_blamed = blamed.as_ref() == Some(&bundle.deployment);
        if let Some(blamed) = blamed.filter(|_| !was_blamed) {
            self.refresh(blamed);
        }
        if !counts {
            return None;
        }
        let reported = Some(hash);
        let before = self.reported.insert(bundle.deployment.clone(), reported);
        let cluster = self.cluster.clone();
        (was_blamed || before != Some(reported)).then_some(ClusterEvent::Bundle { cluster, bundle })
    }

    /// Handles a file without a valid bundle; its last valid content stays. `hash` is set if it was read.
    pub(super) fn reject(
        &mut self,
        file: &str,
        error: String,
        hash: Option<ContentHash>,
    ) -> Option<ClusterEvent> {
        let known = self.files.entry(file.to_owned()).or_default();
        let problem = Some(Problem {
            error: error.clone(),
            hash,
        });
        let is_new = known.problem != problem;
        known.problem = problem;
        is_new.then(|| self.unreadable(file, error))
    }

    /// Handles a file that was removed.
    pub(super) fn remove(&mut self, file: &str) {
        self.assign(file, None);
        let blamed = self.files.remove(file).and_then(|known| known.blamed);
        if let Some(blamed) = blamed {
            self.refresh(blamed);
        }
    }

    /// Reports files that are left out because of a limit.
    pub(super) fn left_out(&self, entries: &LeftOut) -> ClusterEvent {
        ClusterEvent::Unreadable {
            cluster: self.cluster.clone(),
            deployment: None,
            origin: self.folder.display().to_string(),
            error: format!("some files are not read: {entries}"),
        }
    }

    /// Completes a scan: deployments without a file are gone, and of several files about one deployment
    /// those that do not count are reported once.
    pub(super) fn settle(&mut self) -> Settled {
        let (mut events, mut to_reread) = (Vec::new(), Vec::new());
        for deployment in std::mem::take(&mut self.touched) {
            let Some(counting) = self.counting(&deployment).map(str::to_owned) else {
                if self.reported.remove(&deployment).is_some() {
                    let cluster = self.cluster.clone();
                    events.push(ClusterEvent::Gone {
                        cluster,
                        deployment,
                    });
                }
                continue;
            };
            events.extend(self.shadow(&deployment, &counting));
            if self.has_to_be_reread(&deployment, &counting) {
                to_reread.push(counting);
            }
        }
        Settled { events, to_reread }
    }

    /// Records the content of a file, and marks the affected deployments.
    fn assign(&mut self, file: &str, content: Option<(DeploymentId, ContentHash)>) {
        let new = content.as_ref().map(|(deployment, _)| deployment.clone());
        let known = self.files.entry(file.to_owned()).or_default();
        let old = std::mem::replace(&mut known.content, content);
        let old = old.map(|(deployment, _)| deployment);
        if old == new {
            return;
        }
        if let Some(deployment) = old {
            if let Some(files) = self.by_deployment.get_mut(&deployment) {
                files.remove(file);
                if files.is_empty() {
                    self.by_deployment.remove(&deployment);
                }
            }
            self.touched.insert(deployment);
        }
        if let Some(deployment) = new {
            let files = self.by_deployment.entry(deployment.clone()).or_default();
            files.insert(file.to_owned());
            self.touched.insert(deployment);
        }
    }

    /// Has a deployment reported again, because its fault is resolved.
    fn refresh(&mut self, deployment: DeploymentId) {
        if let Some(reported) = self.reported.get_mut(&deployment) {
            *reported = None;
            self.touched.insert(deployment);
        }
    }

    /// Returns whether the content of the file that counts has to be reported.
    fn has_to_be_reread(&self, deployment: &DeploymentId, counting: &str) -> bool {
        let Some(known) = self.files.get(counting) else {
            return false;
        };
        let is_cleared = known.blamed.is_some() && known.problem.is_none();
        let hash = known.content.as_ref().map(|(_, hash)| *hash);
        is_cleared || self.reported.get(deployment) != Some(&hash)
    }

    /// The file that counts for a deployment.
    fn counting(&self, deployment: &DeploymentId) -> Option<&str> {
        let files = self.by_deployment.get(deployment)?;
        files.last().map(String::as_str)
    }

    /// Reports each file about a deployment that does not count, unless it was reported already.
    fn shadow(&mut self, deployment: &DeploymentId, counting: &str) -> Vec<ClusterEvent> {
        let mut shadowed = Vec::new();
        for file in self.by_deployment.get(deployment).into_iter().flatten() {
            let Some(known) = self.files.get_mut(file) else {
                continue;
            };
            let by = (file != counting).then(|| counting.to_owned());
            if known.shadowed_by != by {
                known.shadowed_by.clone_from(&by);
                shadowed.extend(by.map(|_| file.clone()));
            }
        }
        let error = format!(
            "{} is about the same deployment {deployment} and is used instead",
            self.folder.join(counting).display()
        );
        let shadowed = shadowed.iter();
        shadowed
            .map(|file| self.unreadable(file, error.clone()))
            .collect()
    }

    /// Reports that a file cannot be used, for the deployment of its last valid content or else the one in
    /// its name.
    fn unreadable(&mut self, file: &str, error: String) -> ClusterEvent {
        let known = self.files.entry(file.to_owned()).or_default();
        let content = known.content.as_ref();
        let deployment = content
            .map(|(deployment, _)| deployment.clone())
            .or_else(|| named_for(file));
        known.blamed.clone_from(&deployment);
        ClusterEvent::Unreadable {
            cluster: self.cluster.clone(),
            deployment,
            origin: self.folder.join(file).display().to_string(),
            error,
        }
    }
}

/// The deployment in the name of a file, where it is called `<context id>-<app>.json`.
fn named_for(file: &str) -> Option<DeploymentId> {
    file.strip_suffix(".json")?.parse().ok()
}

#[cfg(test)]
mod tests;
