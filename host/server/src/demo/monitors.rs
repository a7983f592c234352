//! The monitors of the recorded clusters.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use kindsight_model::{ContextId, DeploymentId};
use serde_json::json;
use tokio::task::spawn_blocking;

use super::recording::Cluster;

/// Time between two looks at the manifests.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Name of the folder of manifests in the folder of a cluster.
const MANIFESTS: &str = "manifests";
/// End of the name of a report.
const REPORT: &str = ".json";

/// The monitors of the recorded clusters. Each one reports on the apps whose manifests are in the folder of its cluster,
/// with the recorded objects. It does not look into the manifests. Without the manifests, its report has no objects.
#[derive(Clone)]
pub struct Monitors {
    /// The id of the recorded instance.
    recorded: ContextId,
    clusters: Vec<(PathBuf, &'static Cluster)>,
}

impl Monitors {
    pub(super) fn new(recorded: ContextId) -> Self {
        Self {
            recorded,
            clusters: Vec::new(),
        }
    }

    /// Adds the monitor of a cluster with this folder.
    pub(super) fn add(&mut self, folder: PathBuf, cluster: &'static Cluster) {
        self.clusters.push((folder, cluster));
    }

    /// Writes the reports that changed since the last call.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(super) fn report(&self) -> io::Result<()> {
        for (folder, cluster) in &self.clusters {
            let deployed = names(&folder.join(MANIFESTS))?;
            let mut deployments = deployed.clone();
            let reported = names(folder)?.into_iter();
            let reported = reported.filter_map(|file| Some(file.strip_suffix(REPORT)?.to_owned()));
            deployments.extend(reported);
            for deployment in &deployments {
                let is_deployed = deployed.contains(deployment);
                if let Some(report) = self.report_on(cluster, deployment, is_deployed) {
                    write(folder, deployment, &report)?;
                }
            }
        }
        Ok(())
    }

    /// Reports until the caller drops the future.
    pub async fn run(&self) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let monitors = self.clone();
            let reported = spawn_blocking(move || monitors.report()).await;
            if let Ok(Err(error)) = reported {
                tracing::warn!(%error, "a recorded report was not written");
            }
        }
    }

    /// The report on a deployment; `None` without a recorded report on its app.
    fn report_on(&self, cluster: &Cluster, deployment: &str, is_deployed: bool) -> Option<String> {
        let id: DeploymentId = deployment.parse().ok()?;
        let recorded = self.recorded.as_str();
        let bundle = cluster.bundle(&format!("{recorded}-{}{REPORT}", id.app))?;
        if is_deployed {
            return Some(bundle.replace(recorded, id.context.as_str()));
        }
        let report = json!({
            "apiVersion": "k8splugin.io/v1alpha1",
            "kind": "ResourceBundleState",
            "metadata": {"name": deployment, "labels": {DeploymentId::LABEL: deployment}},
            "status": {"ready": false, "resourceCount": 0},
        });
        Some(report.to_string())
    }
}

/// The names of the entries of a folder; none if there is no folder.
fn names(folder: &Path) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(names),
        entries => entries?,
    };
    for entry in entries {
        names.extend(entry?.file_name().into_string());
    }
    Ok(names)
}

/// Replaces the report on a deployment, unless it is the same.
fn write(folder: &Path, deployment: &str, report: &str) -> io::Result<()> {
    let file = folder.join(format!("{deployment}{REPORT}"));
    if fs::read(&file).is_ok_and(|present| present == report.as_bytes()) {
        return Ok(());
    }
    let unfinished = folder.join(format!("{deployment}.unfinished"));
    fs::write(&unfinished, report)?;
    fs::rename(&unfinished, &file)
}

#[cfg(test)]
mod tests {
    use super::*;

    static CLUSTER: Cluster = Cluster {
        name: "lab+edge01",
        bundles: &[("1-sink.json", r#"{"name": "1-sink"}"#)],
    };

    #[test]
    fn a_monitor_reports_the_recorded_objects_while_there_are_manifests() {
        let folder = tempfile::tempdir().unwrap();
        let mut monitors = Monitors::new("1".parse().unwrap());
        monitors.add(folder.path().to_owned(), &CLUSTER);
        let report = |id: &str| {
            monitors.report().unwrap();
            fs::read_to_string(folder.path().join(format!("{id}.json"))).ok()
        };
        let manifests = |id: &str| folder.path().join(MANIFESTS).join(id);
        assert_eq!(report("1-sink"), None);
        for id in ["1-sink", "22-sink", "1-other"] {
            fs::create_dir_all(manifests(id)).unwrap();
        }
        assert_eq!(report("1-sink").unwrap(), r#"{"name": "1-sink"}"#);
        assert_eq!(report("22-sink").unwrap(), r#"{"name": "22-sink"}"#);
        assert_eq!(report("1-other"), None);
        fs::remove_dir(manifests("1-sink")).unwrap();
        assert!(report("1-sink").unwrap().contains(r#""resourceCount":0"#));
        fs::create_dir(manifests("1-sink")).unwrap();
        assert_eq!(report("1-sink").unwrap(), r#"{"name": "1-sink"}"#);
    }
}
