//! Kubernetes API servers as clusters: watched, and sorted into applications.
//!
//! ```text
//! API server ─▶ KindWatch (one per Kind) ─News─▶ Session ─▶ ClusterIndex ─▶ Report ─▶ pipeline
//! ```
//!
//! The [`ClusterIndex`](kindsight_cluster_index::ClusterIndex) is a crate of its own. This module is the connection
//! half: discovery, watches, decoding and sessions.
//!
//! Access is read only. A Kind is watched by its metadata until one of its objects belongs to an application, and
//! then by complete objects. Of an object without an application, the index keeps the identity and the owners.

mod bundle_states;
mod config_map_watch;
mod connection;
mod decode;
mod deployments;
mod discovery;
mod error_text;
mod health;
mod identity;
mod jitter;
mod kept_client;
mod kind_watch;
mod known;
mod kubeconfig;
mod list;
mod news;
mod object_watch;
mod plugin;
mod registered;
mod run;
mod selection;
mod sending;
mod session;
mod shallow;
mod state_watch;
mod stream;
mod token_review;
mod turn;
mod user_cluster;
mod watches;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kindsight_cluster_index::{ApplicationRule, ConfiguredApplication, MembershipRules};
use kindsight_model::{ClusterName, ReportMode};
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{ClusterEvent, ClusterSource, KubeconfigRef, Needs};
use kubeconfig::KubeconfigFile;
use run::Run;

pub use config_map_watch::{ConfigMapRef, ConfigMapRefError, ConfigMapState, ConfigMapWatch};
pub use identity::Identities;
pub use kubeconfig::{KubeconfigError, kubeconfig_clusters};
pub use object_watch::{ObjectWatch, WatchedObjects};
pub use registered::{BareName, BareNameError, HostSecrets, NoHostSecrets, RegisteredKubeconfig};
pub use selection::{CHILD_KINDS, Selection};
pub use sending::{
    ApiAnswer, ApiRequest, ApiServer, ApiVerb, AppliedObject, KindDefinition, ObjectDeletion,
    ObjectError, ObjectPreview, ObjectSender, ObjectStatus, SentObject,
};
pub use state_watch::{BundleStateEvent, BundleStateWatch, StateMetadata, StatusManager};
pub use token_review::{ReviewedUser, TokenReviewError, TokenReviewer};
pub use turn::ListTurns;
pub use user_cluster::{
    IssuedToken, NameError, NamespacedName, ProxiedService, ServiceAnswer, ServiceName,
    UserCluster, UserClusterError,
};

/// Maximum length of a reported reason, in bytes.
const REASON_BYTES_MAX: usize = 600;

/// A cluster whose API server is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubernetesCluster {
    name: ClusterName,
    /// Its name in its configuration, for people.
    origin: Arc<str>,
    /// True if it was found in a kubeconfig, and the configuration does not name it.
    is_found: bool,
    access: Access,
    options: WatchOptions,
}

/// The way to the API server of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Access {
    /// A context of a kubeconfig, which is read at each connection.
    Kubeconfig {
        file: KubeconfigFile,
        /// The current context if none is named.
        context: Option<String>,
        /// Hash of the context's content in the kubeconfig at the time of configuration.
        content: Option<u64>,
    },
    /// A context of the kubeconfig of a registered cluster, which is read and checked at each connection.
    Registered {
        kubeconfig: RegisteredKubeconfig,
        /// The current context if none is named.
        context: Option<String>,
        /// Hash of the file at the time of configuration; none for a Secret.
        content: Option<u64>,
    },
    /// The service account of the Pod in which this process runs.
    InCluster,
}

/// Options of the watch of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchOptions {
    /// Only these namespaces, without cluster-scoped objects; the entire cluster if empty.
    pub namespaces: BTreeSet<Arc<str>>,
    /// The objects that may name an application themselves; all objects if there is no selection.
    pub selection: Option<Selection>,
    /// Kinds that are not watched, as `Kind` in the core group or `Kind.group`.
    pub left_out: BTreeSet<Arc<str>>,
    /// Rules that find the application of an object, in the order of precedence.
    pub rules: Arc<[ApplicationRule]>,
    /// Applications of the configuration in this cluster. They precede found applications.
    pub applications: Arc<[ConfiguredApplication]>,
    /// The Secrets and ConfigMaps of watched clusters whose kubeconfigs lead to this cluster. They are not read.
    pub kubeconfigs: BTreeSet<KubeconfigRef>,
    /// The source of reports on the apps of `AppContext`s.
    pub mode: ReportMode,
    /// True if a deployment that only a label names is reported like a recorded one. A monitor uses it to find apps
    /// without a ResourceBundleState.
    pub are_labels_records: bool,
    /// True if objects of the Kind `HealthScope` of OAM select applications, and their status is written.
    pub health_scopes: bool,
    /// Time until a watch is renewed. A renewal shows withdrawn permissions.
    pub watch_lifetime: Duration,
}

impl WatchOptions {
    /// The rules that find the application of an object.
    fn rules(&self) -> MembershipRules {
        MembershipRules {
            configured: Arc::clone(&self.applications),
            found: Arc::clone(&self.rules),
            selector: self
                .selection
                .as_ref()
                .map(|selection| selection.selector.clone()),
            health_scopes: self.health_scopes,
        }
    }

    /// The labels of objects that may name an application themselves, for people.
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
            rules: ApplicationRule::DEFAULT.into(),
            applications: Arc::default(),
            kubeconfigs: BTreeSet::new(),
            mode: ReportMode::default(),
            are_labels_records: false,
            health_scopes: false,
            watch_lifetime: Duration::from_mins(5),
        }
    }
}

/// Kinds that change often and contain nothing about an application. They are left out by default.
pub const LEFT_OUT: [&str; 6] = [
    "Event",
    "Event.events.k8s.io",
    "Endpoints",
    "Lease.coordination.k8s.io",
    "NodeMetrics.metrics.k8s.io",
    "PodMetrics.metrics.k8s.io",
];

impl KubernetesCluster {
    /// The cluster in which this process runs.
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

    /// The same cluster with those of these applications that may be in it.
    #[must_use]
    pub fn with_applications(mut self, applications: &[ConfiguredApplication]) -> Self {
        let of_cluster = applications
            .iter()
            .filter(|application| application.is_in(&self.name));
        self.options.applications = of_cluster.cloned().collect();
        self
    }

    /// Short names of the cluster: its name without the provider, and its context.
    fn short_names(&self) -> BTreeSet<Arc<str>> {
        let context = match &self.access {
            Access::Kubeconfig { context, .. } | Access::Registered { context, .. } => {
                context.as_deref()
            }
            Access::InCluster => None,
        };
        let context = context.map(Arc::from);
        context
            .into_iter()
            .chain([Arc::clone(&self.name.name)])
            .collect()
    }

    /// Name of the cluster.
    pub fn name(&self) -> &ClusterName {
        &self.name
    }

    /// Returns whether its health scopes are followed.
    pub fn has_health_scopes(&self) -> bool {
        self.options.health_scopes
    }

    /// Its name in its configuration, such as a context of a kubeconfig.
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
        // Cancelled, or the channel is closed: the source ends in both cases.
        let _ = shutdown.run_until_cancelled(run.run()).await;
    }
}
