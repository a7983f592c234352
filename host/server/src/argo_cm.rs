//! The health scripts of a running Argo CD: its ConfigMap is followed, and its scripts become an interpreter.
//!
//! ```text
//! API server ─▶ ConfigMapWatch ─▶ texts ─▶ conversion ─▶ catalog
//! ```

mod texts;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kindsight_api::interpreters::Refusal;
use kindsight_catalog::{Catalog, IncomingComponent};
use kindsight_clusters::{
    ClusterSource, ConfigMapRef, ConfigMapState, ConfigMapWatch, KubernetesCluster,
};
use kindsight_conversion::ConversionError;
use kindsight_model::{ClusterName, Source};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::cluster_changes::{cluster_changes, next_different};
use crate::settings::{ClusterChanges, Settings};
use crate::tasks::Tasks;
use texts::{Converted, KeptTexts, convert, of_health};

/// The time until a component is admitted again after the catalog failed, for example because its store was away.
const RETRY: Duration = Duration::from_secs(10);

/// The ConfigMap of a running Argo CD.
#[derive(Debug, Clone)]
pub struct ArgoCm {
    /// Its name. The cluster must be one with an API server that the server watches.
    pub config_map: ConfigMapRef,
    /// The file with the scripts that were live last. Without a file, a script that is broken at a start has no last
    /// good version.
    pub kept: Option<PathBuf>,
}

/// The reason why the ConfigMap of a cluster cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgoCmError {
    /// The cluster is not configured.
    #[error("cluster {0}, which `argo-cm` names, is not configured")]
    Unknown(ClusterName),
    /// The cluster has no API server, or only its agent can reach it.
    #[error(
        "cluster {0}, which `argo-cm` names, is not watched by its API server: name a cluster of `kubeconfig` or of a `[[cluster]]` with an API server"
    )]
    NoApiServer(ClusterName),
}

/// A ConfigMap that will be followed.
pub(crate) struct Followed {
    settings: ArgoCm,
    cluster: KubernetesCluster,
    changes: ClusterChanges,
}

impl Followed {
    /// The ConfigMap of the settings; `None` if they name none.
    ///
    /// # Errors
    /// [`ArgoCmError`].
    pub(crate) fn of(settings: &Settings) -> Result<Option<Self>, ArgoCmError> {
        let Some(named) = settings.argo_cm.clone() else {
            return Ok(None);
        };
        let cluster = watched(&named.config_map.cluster, &settings.clusters)?;
        Ok(Some(Self {
            cluster,
            changes: cluster_changes(settings),
            settings: named,
        }))
    }
}

/// The watched cluster with this name.
fn watched(
    cluster: &ClusterName,
    clusters: &[ClusterSource],
) -> Result<KubernetesCluster, ArgoCmError> {
    match clusters.iter().find(|source| source.name() == cluster) {
        Some(ClusterSource::Kubernetes(found)) => Ok((**found).clone()),
        Some(_) => Err(ArgoCmError::NoApiServer(cluster.clone())),
        None => Err(ArgoCmError::Unknown(cluster.clone())),
    }
}

/// Removes the interpreters of ConfigMaps that are not configured any more. Called before the first request. Blocks.
pub(crate) fn forget(catalog: &Catalog, configured: Option<&Followed>) {
    let configured = configured.map(|followed| followed.settings.config_map.to_string());
    for known in catalog.files(Source::ConfigMap) {
        if Some(&known) != configured.as_ref() {
            remove(catalog, &known);
        }
    }
}

/// Removes the interpreter of a ConfigMap.
fn remove(catalog: &Catalog, file: &str) {
    for name in catalog.names_in(Source::ConfigMap, file) {
        if let Err(error) = catalog.remove(&name, Source::ConfigMap) {
            tracing::error!(config_map = file, %name, %error, "the rules of a ConfigMap could not be removed");
        }
    }
}

/// Begins to follow the ConfigMap.
pub(crate) fn begin(tasks: &Tasks, catalog: &Arc<Catalog>, followed: Followed) {
    let Followed {
        settings,
        cluster,
        changes,
    } = followed;
    let (state, states) = watch::channel(ConfigMapState::default());
    let watching = watch_configured(settings.config_map.clone(), cluster, changes, state);
    let shutdown = tasks.shutdown();
    tasks.spawn("watch of Argo CD's ConfigMap", async move {
        // None at the stop.
        let _ = shutdown.run_until_cancelled(watching).await;
        Ok::<(), Infallible>(())
    });
    let follower = Follower {
        catalog: Arc::clone(catalog),
        file: settings.config_map.to_string(),
        kept: KeptTexts::read(settings.kept, &settings.config_map),
        reported: None,
    };
    let following = follow(follower, states, tasks.shutdown());
    tasks.spawn("follower of Argo CD's ConfigMap", following);
}

/// Watches the ConfigMap of a cluster, and sends its states until `state` has no receiver. A changed configuration of the
/// cluster begins a new watch. While the cluster is not configured, the ConfigMap is away.
async fn watch_configured(
    config_map: ConfigMapRef,
    cluster: KubernetesCluster,
    mut changes: ClusterChanges,
    state: watch::Sender<ConfigMapState>,
) {
    let mut found: Result<KubernetesCluster, ArgoCmError> = Ok(cluster);
    loop {
        let watching = async {
            match &found {
                Ok(cluster) => {
                    let watch = ConfigMapWatch::new(cluster, &config_map.object);
                    watch.run(state.clone()).await;
                }
                Err(error) => {
                    state.send_replace(ConfigMapState::Away(error.to_string()));
                    state.closed().await;
                }
            }
        };
        let part = |clusters: &[ClusterSource]| watched(&config_map.cluster, clusters);
        found = tokio::select! {
            () = watching => return,
            changed = next_different(&mut changes, &found, part) => changed,
        };
    }
}

/// A step of the follower panicked. The log contains the place.
#[derive(Debug, thiserror::Error)]
#[error("a change of Argo CD's ConfigMap panicked; see the log")]
struct Panicked;

/// Admits the scripts after each change, until `shutdown`.
async fn follow(
    mut follower: Follower,
    mut states: watch::Receiver<ConfigMapState>,
    shutdown: CancellationToken,
) -> Result<(), Panicked> {
    let mut retry = false;
    loop {
        let wait = async {
            if retry {
                // A change ends the wait too.
                let _ = tokio::time::timeout(RETRY, states.changed()).await;
            } else if states.changed().await.is_err() {
                // The watch has ended, because the server stops.
                std::future::pending::<()>().await;
            }
        };
        if shutdown.run_until_cancelled(wait).await.is_none() {
            return Ok(());
        }
        let state = states.borrow_and_update().clone();
        let step = tokio::task::spawn_blocking(move || {
            let retry = follower.apply(state);
            (follower, retry)
        });
        // A compilation can take two minutes. A stop does not wait for it.
        let Some(step) = shutdown.run_until_cancelled(step).await else {
            return Ok(());
        };
        (follower, retry) = step.map_err(|_| Panicked)?;
    }
}

struct Follower {
    catalog: Arc<Catalog>,
    /// The name of the ConfigMap, which the catalog uses like the name of a file.
    file: String,
    kept: KeptTexts,
    /// The problem that was reported last.
    reported: Option<String>,
}

impl Follower {
    /// Brings the catalog to a state of the ConfigMap. Returns whether this must be tried again. Blocks.
    fn apply(&mut self, state: ConfigMapState) -> bool {
        match state {
            ConfigMapState::Unknown => false,
            ConfigMapState::Missing => {
                self.report(Some("the ConfigMap does not exist".to_owned()));
                false
            }
            ConfigMapState::Away(why) => {
                self.report(Some(format!("the ConfigMap cannot be read: {why}")));
                false
            }
            ConfigMapState::Present(data) => {
                let converted = convert(&of_health(&data), self.kept.texts());
                self.admit(converted)
            }
        }
    }

    fn admit(&mut self, converted: Converted) -> bool {
        let Converted {
            conversion,
            texts,
            problems,
        } = converted;
        let component = match conversion {
            Ok(conversion) => conversion.component,
            Err(ConversionError::NoRules(_)) if problems.is_empty() => {
                remove(&self.catalog, &self.file);
                self.kept.replace(texts);
                self.report(None);
                return false;
            }
            Err(error) => {
                let error = error.to_string();
                let mut problems = problems;
                problems.retain(|problem| *problem != error);
                problems.push(error);
                self.report(Some(problems.join("; ")));
                return false;
            }
        };
        let admitted = self.catalog.admit(&IncomingComponent {
            source: Source::ConfigMap,
            name: None,
            file: Some(self.file.clone()),
            gone: std::collections::BTreeSet::new(),
            settings: None,
            expected: None,
            is_candidate: false,
            replaces_built_in: true,
            bytes: component,
        });
        let problems = (!problems.is_empty()).then(|| problems.join("; "));
        match admitted {
            Ok(_) => {
                self.kept.replace(texts);
                self.report(problems);
                false
            }
            // The catalog has recorded it.
            Err(Refusal::Refused { .. }) => {
                if problems.is_some() {
                    self.report(problems);
                }
                false
            }
            Err(error) => {
                let file = &self.file;
                tracing::error!(config_map = file, %error, "the scripts were not admitted; trying again");
                true
            }
        }
    }

    /// Reports the present problem of the ConfigMap once, or its end. The rules that are live are kept.
    fn report(&mut self, problem: Option<String>) {
        if self.reported == problem {
            return;
        }
        match &problem {
            Some(why) => {
                let live = self.catalog.names_in(Source::ConfigMap, &self.file);
                let kept = if live.is_empty() {
                    "no rule of it is live"
                } else {
                    "the last good rules stay live"
                };
                let why = format!("{why}; {kept}");
                self.catalog
                    .refuse_unread(Source::ConfigMap, &self.file, &why);
            }
            None => {
                tracing::info!(
                    config_map = self.file,
                    "the ConfigMap of Argo CD has no problem any more"
                );
            }
        }
        self.reported = problem;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kindsight_clusters::FolderCluster;
    use serde_json::json;

    use super::*;
    use crate::fake_api_server::fake_cluster;

    #[test]
    fn only_a_watched_cluster_has_a_config_map() {
        let folder = FolderCluster::new("provider+edge01".parse().unwrap(), "/reports");
        let in_cluster = KubernetesCluster::in_cluster("provider+edge02".parse().unwrap());
        let clusters = [
            ClusterSource::Folder(folder),
            ClusterSource::Kubernetes(Box::new(in_cluster)),
        ];
        let error = |name: &str| watched(&name.parse().unwrap(), &clusters).err();
        assert_eq!(error("provider+edge02"), None);
        assert_eq!(
            error("provider+edge01").unwrap().to_string(),
            "cluster provider+edge01, which `argo-cm` names, is not watched by its API server: name a cluster of `kubeconfig` or of a `[[cluster]]` with an API server"
        );
        assert_eq!(
            error("provider+edge03").unwrap().to_string(),
            "cluster provider+edge03, which `argo-cm` names, is not configured"
        );
        // Otherwise each change of another cluster would be a change of the ConfigMap.
        let unknown = "provider+edge03".parse().unwrap();
        assert_eq!(watched(&unknown, &clusters), watched(&unknown, &[]));
    }

    #[tokio::test]
    async fn the_watch_follows_the_configuration_of_its_cluster() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|text| {
            let item = json!({
                "metadata": {"namespace": "argocd", "name": "argocd-cm"}, "data": {"key": text},
            });
            let list = json!({"metadata": {"resourceVersion": "1"}, "items": [item]});
            fake_cluster("provider+edge01", folder.path(), &list)
        });
        let config_map: ConfigMapRef = "provider+edge01/argocd/argocd-cm".parse().unwrap();
        let cluster = watched(&config_map.cluster, std::slice::from_ref(&old)).unwrap();
        let (configured, changes) = watch::channel(vec![old]);
        let (state, mut states) = watch::channel(ConfigMapState::default());
        let present = |text: &str| {
            let data = BTreeMap::from([("key".to_owned(), text.to_owned())]);
            ConfigMapState::Present(Arc::new(data))
        };
        let steps = async {
            let mut reaches = async |expected: ConfigMapState| {
                states.wait_for(|state| *state == expected).await.unwrap();
            };
            reaches(present("old")).await;
            configured.send_replace(vec![new.clone()]);
            reaches(present("new")).await;
            configured.send_replace(Vec::new());
            let why = "cluster provider+edge01, which `argo-cm` names, is not configured";
            reaches(ConfigMapState::Away(why.to_owned())).await;
            configured.send_replace(vec![new]);
            reaches(present("new")).await;
        };
        tokio::select! {
            () = watch_configured(config_map, cluster, changes, state) => unreachable!("it does not end"),
            () = steps => {}
        }
    }
}
