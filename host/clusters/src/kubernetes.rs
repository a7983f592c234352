//! Kubernetes API servers as clusters: watched, and sorted into applications.
//!
//! ```text
//! API server ─▶ KindWatch (one per Kind) ─News─▶ Session ─▶ Inventory ─▶ ApplicationReport ─▶ pipeline
//! ```
//!
//! Read only. A Kind is watched by its metadata until an object of it belongs to an application, and whole
//! from then on; what belongs to none is kept as its identity and its owners.

mod bundle_states;
mod configured;
mod connection;
mod decode;
mod deployments;
mod discovery;
mod identity;
mod inventory;
mod jitter;
mod kind_watch;
mod kubeconfig;
mod list;
mod membership;
mod news;
mod plugin;
mod run;
mod selection;
mod selector;
mod session;
mod shallow;
mod start;
mod stream;
mod told;
mod uid;
mod watches;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kindsight_model::{ClusterName, clean};
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{ClusterEvent, ClusterSource, Needs};
use membership::Rules;
use run::Run;

pub use configured::{ConfiguredApp, ConfiguredApplication};
pub use deployments::ReportMode;
pub use identity::Identities;
pub use kubeconfig::{KubeconfigError, kubeconfig_clusters};
pub use membership::ApplicationRule;
pub use selection::{CHILD_KINDS, Selection};
pub use start::Starts;

/// Maximum length of a reason that is told of a cluster, in bytes.
const REASON_BYTES_MAX: usize = 600;

/// A cluster whose API server is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubernetesCluster {
    name: ClusterName,
    /// Its name where it was configured, for people.
    origin: Arc<str>,
    /// True if it was taken because a kubeconfig has it, and not asked for by name.
    is_found: bool,
    access: Access,
    options: WatchOptions,
}

/// The way to the API server of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Access {
    /// A context of a kubeconfig, which is read at each connection.
    Kubeconfig {
        path: PathBuf,
        /// The current one where none is named.
        context: Option<String>,
        /// Hash of what the kubeconfig said of it when it was configured.
        content: Option<u64>,
    },
    /// The service account of the Pod that this runs in.
    InCluster,
}

/// Options of the watch of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchOptions {
    /// Only these namespaces, without cluster-scoped objects; all of the cluster where empty.
    pub namespaces: BTreeSet<Arc<str>>,
    /// The objects that belong to applications by themselves; all of them where there is none.
    pub selection: Option<Selection>,
    /// Kinds that are not watched, as `Kind` in the core group or `Kind.group`.
    pub left_out: BTreeSet<Arc<str>>,
    /// Rules that tell the application of an object, in the order of precedence.
    pub rules: Arc<[ApplicationRule]>,
    /// Applications of the configuration, which come before those that are found. All of them are of this
    /// cluster.
    pub applications: Arc<[ConfiguredApplication]>,
    /// The view by which the apps of `AppContext`s are reported.
    pub mode: ReportMode,
    /// Time until a watch is renewed: rights that were withdrawn show then.
    pub watch_lifetime: Duration,
}

impl WatchOptions {
    /// The ways to tell the application of an object.
    fn rules(&self) -> Rules {
        Rules {
            configured: Arc::clone(&self.applications),
            found: Arc::clone(&self.rules),
            selector: self.selection.as_ref().map(|it| it.selector.clone()),
        }
    }

    /// The labels of objects that belong to applications by themselves, for people.
    fn selector_text(&self) -> Option<Arc<str>> {
        let selection = self.selection.as_ref()?;
        Some(selection.selector.to_string().into())
    }
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            namespaces: BTreeSet::new(),
            selection: None,
            left_out: LEFT_OUT.into_iter().map(Arc::from).collect(),
            rules: ApplicationRule::ALL.into(),
            applications: Arc::default(),
            mode: ReportMode::default(),
            watch_lifetime: Duration::from_mins(5),
        }
    }
}

/// Kinds that change all the time and say nothing of an application: left out where nobody says otherwise.
pub const LEFT_OUT: [&str; 6] = [
    "Event",
    "Event.events.k8s.io",
    "Endpoints",
    "Lease.coordination.k8s.io",
    "NodeMetrics.metrics.k8s.io",
    "PodMetrics.metrics.k8s.io",
];

impl KubernetesCluster {
    /// A cluster by a context of a kubeconfig; by its current one where none is named. Reads the file, so that
    /// it differs from itself after what the file says of the context was changed.
    pub fn from_kubeconfig(
        name: ClusterName,
        path: impl Into<PathBuf>,
        context: Option<String>,
    ) -> Self {
        let path = path.into();
        let origin = context.as_deref().unwrap_or("current");
        Self {
            name,
            origin: clean(origin, REASON_BYTES_MAX).into(),
            is_found: false,
            access: Access::Kubeconfig {
                content: kubeconfig::content(&path, context.as_deref()),
                path,
                context,
            },
            options: WatchOptions::default(),
        }
    }

    /// The cluster that this process runs in.
    pub fn in_cluster(name: ClusterName) -> Self {
        Self {
            name,
            origin: "in-cluster".into(),
            is_found: false,
            access: Access::InCluster,
            options: WatchOptions::default(),
        }
    }

    /// The same cluster, watched with these options.
    #[must_use]
    pub fn with_options(self, options: WatchOptions) -> Self {
        Self { options, ..self }
    }

    /// The same cluster, in which those of these applications are looked for that are of it.
    #[must_use]
    pub fn with_applications(mut self, applications: &[ConfiguredApplication]) -> Self {
        let of_it = applications.iter().filter(|it| it.is_in(&self.name));
        self.options.applications = of_it.cloned().collect();
        self
    }

    /// Name of the cluster.
    pub fn name(&self) -> &ClusterName {
        &self.name
    }

    /// Its name where it was configured, such as a context of a kubeconfig.
    pub fn origin(&self) -> &Arc<str> {
        &self.origin
    }

    /// Sends the events of the cluster, until `shutdown` is cancelled or `events` is closed. A change of
    /// `configured` begins a new session.
    pub async fn run<E: From<ClusterEvent>>(
        self,
        configured: watch::Receiver<ClusterSource>,
        events: Sender<E>,
        needs: Needs,
        shutdown: CancellationToken,
    ) {
        let run = Run::new(self, configured, events, needs);
        // Cancelled, or the channel is closed: nothing left to do in both cases.
        let _ = shutdown.run_until_cancelled(run.run()).await;
    }
}
