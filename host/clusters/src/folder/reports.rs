//! Reports of one folder: the files about each deployment, and the last event sent for it.
//!
//! Pure: takes file changes, returns events.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kindsight_folder::{ContentHash, LeftOut};
use kindsight_model::{Bundle, ClusterName, DeploymentId, Subject};

use crate::ClusterEvent;

/// Maximum number of faults that are reported of one folder; further faults are counted. A folder may have
/// thousands of files without reports.
const FAULTS_MAX: usize = 20;
/// Maximum length of the error about an unreadable file, in bytes: the error may repeat a part of the file.
const ERROR_BYTES_MAX: usize = 300;

/// Reports of one folder.
pub(super) struct Reports {
    cluster: ClusterName,
    files: BTreeMap<String, ReportFile>,
    /// The files about each deployment. The last file by name is used.
    by_deployment: HashMap<DeploymentId, BTreeSet<String>>,
    /// Hash of the last reported content of each deployment; none if it must be reported again.
    reported: HashMap<DeploymentId, Option<ContentHash>>,
    /// Deployments whose files changed since [`Reports::settle`].
    touched: BTreeSet<DeploymentId>,
    /// Deployments that were reported since [`Reports::settle`], which clears their faults.
    cleared: BTreeSet<DeploymentId>,
    /// The files that a limit leaves out, as text; empty for none.
    left_out: String,
    /// The last reported faults.
    faults: Vec<String>,
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
    pub(super) fn new(cluster: ClusterName) -> Self {
        Self {
            cluster,
            files: BTreeMap::new(),
            by_deployment: HashMap::new(),
            reported: HashMap::new(),
            touched: BTreeSet::new(),
            cleared: BTreeSet::new(),
            left_out: String::new(),
            faults: Vec::new(),
        }
    }

    /// Handles a file with a valid bundle. It is reported if the file is used for its deployment, and if its
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
        // An unused file remains a fault: two files about one deployment are a fault as well.
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
        let is_news = was_blamed || before != Some(reported);
        if is_news {
            self.cleared.insert(bundle.deployment.clone());
        }
        let cluster = self.cluster.clone();
        let Bundle { deployment, report } = bundle;
        let reports = vec![(Subject::Deployment(deployment), report)];
        is_news.then_some(ClusterEvent::Reports {
            cluster,
            reports,
            missing: Vec::new(),
        })
    }

    /// Handles a file without a valid bundle; its last valid content remains. `hash` is set if the file was read.
    pub(super) fn reject(
        &mut self,
        file: &str,
        mut error: String,
        hash: Option<ContentHash>,
    ) -> Option<ClusterEvent> {
        error.truncate(error.floor_char_boundary(ERROR_BYTES_MAX));
        let known = self.files.entry(file.to_owned()).or_default();
        let problem = Some(Problem {
            error: error.clone(),
            hash,
        });
        let is_new = known.problem != problem;
        known.problem = problem;
        let event = is_new.then(|| self.unreadable(file, error));
        // This fault was just reported.
        if let Some(blamed) = self.files.get(file).and_then(|file| file.blamed.as_ref())
            && is_new
        {
            self.cleared.remove(blamed);
        }
        event
    }

    /// Handles a file that was removed.
    pub(super) fn remove(&mut self, file: &str) {
        self.assign(file, None);
        let blamed = self.files.remove(file).and_then(|known| known.blamed);
        if let Some(blamed) = blamed {
            self.refresh(blamed);
        }
    }

    /// Reports files that a limit leaves out; none if there are none.
    pub(super) fn left_out(&mut self, entries: &LeftOut) -> Option<ClusterEvent> {
        self.left_out = if entries.is_empty() {
            String::new()
        } else {
            format!("some files are not read: {entries}")
        };
        (!entries.is_empty()).then(|| ClusterEvent::Unreadable {
            cluster: self.cluster.clone(),
            deployment: None,
            may_be_newer: false,
            origin: "its folder".to_owned(),
            error: self.left_out.clone(),
        })
    }

    /// Completes a scan. A deployment without a file is gone. If several files are about one deployment, each
    /// unused file is reported once.
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
        events.extend(self.report_cleared_faults());
        events.extend(self.report_faults());
        Settled { events, to_reread }
    }

    /// Reports unreadable files again if another report on their deployment cleared the fault.
    fn report_cleared_faults(&mut self) -> Vec<ClusterEvent> {
        let cleared = std::mem::take(&mut self.cleared);
        if cleared.is_empty() {
            return Vec::new();
        }
        let files = self.files.iter().filter_map(|(file, known)| {
            let blamed = known.blamed.as_ref()?;
            let error = &known.problem.as_ref()?.error;
            cleared
                .contains(blamed)
                .then(|| (file.clone(), error.clone()))
        });
        let files: Vec<(String, String)> = files.collect();
        let files = files.into_iter();
        files
            .map(|(file, error)| self.unreadable(&file, error))
            .collect()
    }

    /// Reports the faults of files without a known deployment, if the faults changed. A deployment in the name of a
    /// file is only a guess and may not exist, so these faults are included.
    fn report_faults(&mut self) -> Option<ClusterEvent> {
        let files = self
            .files
            .iter()
            .filter(|(_, known)| known.content.is_none());
        let files = files.filter_map(|(file, known)| {
            let error = &known.problem.as_ref()?.error;
            Some(format!("report `{file}`: {error}"))
        });
        let left_out = Some(self.left_out.clone()).filter(|text| !text.is_empty());
        let mut all = left_out.into_iter().chain(files);
        let mut faults: Vec<String> = all.by_ref().take(FAULTS_MAX).collect();
        let more = all.count();
        if more > 0 {
            faults.push(format!("and {more} more reports that cannot be read"));
        }
        if faults == self.faults {
            return None;
        }
        self.faults.clone_from(&faults);
        let cluster = self.cluster.clone();
        Some(ClusterEvent::Faults { cluster, faults })
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

    /// Returns whether the content of the used file must be reported.
    fn has_to_be_reread(&self, deployment: &DeploymentId, counting: &str) -> bool {
        let Some(known) = self.files.get(counting) else {
            return false;
        };
        let is_cleared = known.blamed.is_some() && known.problem.is_none();
        let hash = known.content.as_ref().map(|(_, hash)| *hash);
        is_cleared || self.reported.get(deployment) != Some(&hash)
    }

    /// The file that is used for a deployment.
    fn counting(&self, deployment: &DeploymentId) -> Option<&str> {
        let files = self.by_deployment.get(deployment)?;
        files.last().map(String::as_str)
    }

    /// Reports each unused file about a deployment, unless it was reported already.
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
        let error =
            format!("`{counting}` is about the same deployment {deployment} and is used instead");
        let shadowed = shadowed.iter();
        shadowed
            .map(|file| self.unreadable(file, error.clone()))
            .collect()
    }

    /// Reports an unusable file. Its deployment is the deployment of its last valid content, or else the deployment
    /// in its name.
    fn unreadable(&mut self, file: &str, error: String) -> ClusterEvent {
        let known = self.files.entry(file.to_owned()).or_default();
        let content = known.content.as_ref();
        let deployment = content
            .map(|(deployment, _)| deployment.clone())
            .or_else(|| named_for(file));
        known.blamed.clone_from(&deployment);
        let counting = deployment
            .as_ref()
            .and_then(|version| self.counting(version));
        ClusterEvent::Unreadable {
            cluster: self.cluster.clone(),
            // The last file by name is used for a deployment.
            may_be_newer: counting.is_none_or(|counting| file >= counting),
            deployment,
            origin: file.to_owned(),
            error,
        }
    }
}

/// The deployment in the name of a file, if the name is `<context id>-<app>.json`.
fn named_for(file: &str) -> Option<DeploymentId> {
    file.strip_suffix(".json")?.parse().ok()
}

#[cfg(test)]
mod tests;
