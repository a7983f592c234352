//! Clusters that operators register while the server runs, together with the clusters of the configuration.
//!
//! ```text
//! configuration ─▶ Registry ─▶ all clusters ─▶ Sources, senders
//! store ───────────▶  ▲
//! REST API ────────────┘
//! ```

mod answers;
mod configured;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kindsight_appcontext::{KubeconfigPlace, RegisteredClusters, Registration};
use kindsight_clusters::{
    BareName, ClusterSource, ConfiguredApplication, HostSecrets, KubernetesCluster,
    RegisteredKubeconfig, WatchOptions,
};
use kindsight_model::ClusterName;
use kindsight_rest::ClusterRegistry;
use kindsight_store::{Revision, chain};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::settings::{ClusterChanges, Settings};
use crate::tasks::Tasks;
use answers::RegistryApi;
use configured::Configured;

/// Interval at which the kubeconfigs of registered clusters are read for changes.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// The time after a fault of the store until it is watched again.
const RETRY: Duration = Duration::from_secs(1);
/// Maximum number of namespaces of a registration.
const NAMESPACES_MAX: usize = 100;

/// The settings of registered clusters. Without a folder and without Secrets, no cluster can be registered.
#[derive(Debug, Clone, Default)]
pub struct RegistrySettings {
    /// The folder of kubeconfigs.
    pub folder: Option<PathBuf>,
    /// The Secrets with kubeconfigs.
    pub secrets: Option<HostSecrets>,
    /// The options of the watch of each registered cluster, without namespaces.
    pub options: WatchOptions,
    /// The applications of the configuration. They do not change while the server runs.
    pub applications: Vec<ConfiguredApplication>,
}

impl RegistrySettings {
    /// Returns whether clusters can be registered.
    pub(crate) fn is_enabled(&self) -> bool {
        self.folder.is_some() || self.secrets.is_some()
    }
}

/// Opens the registered clusters, and adds them to the clusters of the configuration.
pub(crate) fn open(settings: &mut Settings) -> Result<Option<Arc<Registry>>, Error> {
    if !settings.registry.is_enabled() {
        return Ok(None);
    }
    let configured = Configured::of(settings);
    let stored = RegisteredClusters::new(Arc::clone(&settings.store));
    let registry = Registry::open(settings.registry.clone(), stored, configured);
    let registry = registry.map_err(Error::Registry)?;
    let changes = registry.clusters();
    settings.clusters.clone_from(&changes.borrow());
    settings.cluster_changes = Some(changes);
    Ok(Some(Arc::new(registry)))
}

/// Begins to follow the registrations of other servers, the configuration and the kubeconfigs. Returns the clusters for
/// the REST API.
pub(crate) fn begin(tasks: &Tasks, registry: Arc<Registry>) -> Arc<dyn ClusterRegistry> {
    let following = Arc::clone(&registry).follow(tasks.shutdown());
    tasks.spawn("follower of registered clusters", following);
    Arc::new(RegistryApi {
        registry,
        runtime: Handle::current(),
    })
}

/// The registered clusters of a server.
pub(crate) struct Registry {
    settings: RegistrySettings,
    stored: RegisteredClusters,
    configured: Configured,
    /// All clusters.
    all: watch::Sender<Vec<ClusterSource>>,
    /// The registrations that were read last. Locked while registrations are read and published, so that no older list
    /// follows a newer one.
    last_read: Mutex<Vec<(ClusterName, Registration)>>,
}

/// The reason why a registration cannot be used: a member of the registration, and a fragment of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unusable {
    member: &'static str,
    why: String,
}

impl Registry {
    /// Reads the registrations. Blocks.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn open(
        settings: RegistrySettings,
        stored: RegisteredClusters,
        configured: Configured,
    ) -> Result<Self, kindsight_appcontext::Error> {
        let all = watch::Sender::new(configured.valid().clone());
        let registry = Self {
            settings,
            stored,
            configured,
            all,
            last_read: Mutex::default(),
        };
        registry.reload()?;
        Ok(registry)
    }

    /// All clusters, as they change.
    pub(crate) fn clusters(&self) -> ClusterChanges {
        self.all.subscribe()
    }

    /// Reads the registrations again and publishes all clusters, if they changed. Returns the revision of the
    /// registrations. While the store is away, a changed configuration takes effect with the registrations that were read
    /// last. Blocks.
    fn reload(&self) -> Result<Revision, kindsight_appcontext::Error> {
        let mut last_read = self
            .last_read
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let revision = self.stored.list().map(|listed| {
            for unreadable in &listed.unreadable {
                let (key, why) = (&unreadable.key, &unreadable.why);
                tracing::error!(key, why, "the registration of a cluster cannot be read");
            }
            *last_read = listed.registrations;
            listed.revision
        });
        self.publish(&last_read);
        revision
    }

    /// Publishes the clusters of the configuration and of these registrations, if they changed.
    fn publish(&self, registrations: &[(ClusterName, Registration)]) {
        let mut clusters = self.configured.valid().clone();
        let names: BTreeSet<ClusterName> = clusters
            .iter()
            .map(|cluster| cluster.name().clone())
            .collect();
        for (name, registration) in registrations {
            if names.contains(name) {
                tracing::warn!(cluster = %name, "the configuration names a registered cluster; the configuration counts");
                continue;
            }
            match self.source(name, registration) {
                Ok(source) => clusters.push(source),
                Err(Unusable { member, why }) => {
                    tracing::error!(cluster = %name, member, why, "the registration of a cluster cannot be used");
                }
            }
        }
        self.all.send_if_modified(|current| {
            let is_changed = *current != clusters;
            *current = clusters;
            is_changed
        });
    }

    /// The source of a registered cluster. Reads a file.
    fn source(
        &self,
        name: &ClusterName,
        registration: &Registration,
    ) -> Result<ClusterSource, Unusable> {
        let kubeconfig = self.kubeconfig(&registration.kubeconfig)?;
        let namespaces = &registration.namespaces;
        if namespaces.len() > NAMESPACES_MAX {
            return Err(Unusable {
                member: "namespaces",
                why: format!("it has more than {NAMESPACES_MAX} namespaces"),
            });
        }
        if let Some(wrong) = namespaces.iter().find(|namespace| !is_namespace(namespace)) {
            return Err(Unusable {
                member: "namespaces",
                why: format!(
                    "`{}` is not the name of a namespace",
                    kindsight_model::clean(wrong, 100)
                ),
            });
        }
        let options = WatchOptions {
            namespaces: namespaces
                .iter()
                .map(|namespace| namespace.as_str().into())
                .collect(),
            ..self.settings.options.clone()
        };
        let context = registration.context.clone();
        let cluster = KubernetesCluster::registered(name.clone(), kubeconfig, context, options);
        let source = ClusterSource::Kubernetes(Box::new(cluster));
        Ok(source.with_applications(&self.settings.applications))
    }

    fn kubeconfig(&self, place: &KubeconfigPlace) -> Result<RegisteredKubeconfig, Unusable> {
        let name = |member, text: &str| {
            let name = text.parse::<BareName>();
            name.map_err(|error| Unusable {
                member,
                why: error.to_string(),
            })
        };
        let missing = |member, flag: &str| Unusable {
            member,
            why: format!("the server runs without {flag}"),
        };
        match place {
            KubeconfigPlace::File(file) => {
                let member = "kubeconfig-file";
                let folder = self.settings.folder.clone();
                Ok(RegisteredKubeconfig::File {
                    name: name(member, file)?,
                    folder: folder.ok_or_else(|| missing(member, "--cluster-kubeconfigs"))?,
                })
            }
            KubeconfigPlace::Secret(secret) => {
                let member = "kubeconfig-secret";
                let secrets = self.settings.secrets.clone();
                Ok(RegisteredKubeconfig::Secret {
                    name: name(member, secret)?,
                    secrets: secrets.ok_or_else(|| missing(member, "--cluster-secrets"))?,
                })
            }
        }
    }

    /// Follows the configuration, the registrations in the store and the files of kubeconfigs, until `shutdown`.
    pub(crate) async fn follow(
        self: Arc<Self>,
        shutdown: CancellationToken,
    ) -> Result<(), Infallible> {
        let mut changes = self.configured.changes();
        let following = async {
            let mut reported = None;
            loop {
                let error = self.follow_store(&mut changes).await;
                // Logged once, not at every attempt.
                if reported.as_ref() != Some(&error) {
                    tracing::warn!(
                        error,
                        "the registrations of clusters are not followed; trying again"
                    );
                    reported = Some(error);
                }
                sleep(RETRY).await;
            }
        };
        // Cancelled at the stop; the future does not end by itself.
        let _: Option<Infallible> = shutdown.run_until_cancelled(following).await;
        Ok(())
    }

    /// Follows until the store fails. Returns the reason.
    async fn follow_store(self: &Arc<Self>, changes: &mut ClusterChanges) -> String {
        // The configuration may have changed while the store was not followed.
        if changes.has_changed().unwrap_or_default() {
            self.take_configured(changes);
        }
        let revision = match self.reloaded().await {
            Ok(revision) => revision,
            Err(error) => return error,
        };
        // A change between the list and the watch is reported by the watch.
        let mut watch = match self.stored.watch(revision) {
            Ok(watch) => watch,
            Err(error) => return chain(&error),
        };
        loop {
            tokio::select! {
                changed = watch.next() => if let Err(error) = changed {
                    return chain(&error);
                },
                Ok(()) = changes.changed() => self.take_configured(changes),
                () = sleep(LOOK_EVERY) => {}
            }
            if let Err(error) = self.reloaded().await {
                return error;
            }
        }
    }

    /// Takes a changed list of the clusters of the configuration.
    fn take_configured(&self, changes: &mut ClusterChanges) {
        let clusters = changes.borrow_and_update().clone();
        self.configured.take(clusters);
    }

    async fn reloaded(self: &Arc<Self>) -> Result<Revision, String> {
        let registry = Arc::clone(self);
        let reloaded = spawn_blocking(move || registry.reload()).await;
        let reloaded = reloaded.map_err(|_| "it panicked; the log says where".to_owned())?;
        reloaded.map_err(|error| chain(&error))
    }
}

/// Returns whether a text can be the name of a namespace (a DNS label).
fn is_namespace(text: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(is_legal)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests;
