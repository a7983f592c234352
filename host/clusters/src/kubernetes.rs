//! Kubernetes API servers as clusters: watched, and sorted into applications.
//!
//! ```text
//! API server ─▶ KindWatch (one per Kind) ─News─▶ Session ─▶ Inventory ─▶ ApplicationReport ─▶ pipeline
//! ```
//!
//! Read only. A Kind is watched by its metadata until an object of it belongs to an application, and whole
//! from then on; what belongs to none is kept as its identity and its owners.

mod connection;
mod decode;
mod discovery;
mod inventory;
mod jitter;
mod kind_watch;
mod kubeconfig;
mod list;
mod membership;
mod news;
mod selector;
mod session;
mod shallow;
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
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::{ApplicationReport, ClusterEvent, Needs};
use inventory::GroupId;
use jitter::Backoff;
use session::{Session, SessionEnd};

pub use kubeconfig::{KubeconfigError, kubeconfig_clusters};
pub use membership::ApplicationRule;

/// Maximum length of a reason that is told of a cluster, in bytes.
const REASON_BYTES_MAX: usize = 600;

/// A cluster whose API server is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubernetesCluster {
    name: ClusterName,
    /// Its name where it was configured, for people.
    origin: Arc<str>,
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
    },
    /// The service account of the Pod that this runs in.
    InCluster,
}

/// Options of the watch of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchOptions {
    /// Only these namespaces, without cluster-scoped objects; all of the cluster where empty.
    pub namespaces: BTreeSet<Arc<str>>,
    /// Kinds that are not watched, as `Kind` in the core group or `Kind.group`.
    pub left_out: BTreeSet<Arc<str>>,
    /// Rules that tell the application of an object, in the order of precedence.
    pub rules: Arc<[ApplicationRule]>,
    /// Time until a watch is renewed: rights that were withdrawn show then.
    pub watch_lifetime: Duration,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            namespaces: BTreeSet::new(),
            left_out: LEFT_OUT.into_iter().map(Arc::from).collect(),
            rules: ApplicationRule::ALL.into(),
            watch_lifetime: Duration::from_mins(5),
        }
    }
}

/// Kinds that change all the time and say nothing of an application.
const LEFT_OUT: [&str; 6] = [
    "Event",
    "Event.events.k8s.io",
    "Endpoints",
    "Lease.coordination.k8s.io",
    "NodeMetrics.metrics.k8s.io",
    "PodMetrics.metrics.k8s.io",
];

impl KubernetesCluster {
    /// A cluster by a context of a kubeconfig; by its current one where none is named.
    pub fn from_kubeconfig(
        name: ClusterName,
        path: impl Into<PathBuf>,
        context: Option<String>,
    ) -> Self {
        let origin = context.as_deref().unwrap_or("current");
        Self {
            name,
            origin: clean(origin, REASON_BYTES_MAX).into(),
            access: Access::Kubeconfig {
                path: path.into(),
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
            access: Access::InCluster,
            options: WatchOptions::default(),
        }
    }

    /// The same cluster, watched with these options.
    #[must_use]
    pub fn with_options(self, options: WatchOptions) -> Self {
        Self { options, ..self }
    }

    /// Name of the cluster.
    pub fn name(&self) -> &ClusterName {
        &self.name
    }

    /// Its name where it was configured, such as a context of a kubeconfig.
    pub fn origin(&self) -> &Arc<str> {
        &self.origin
    }

    /// Sends the events of the cluster, until `shutdown` is cancelled or `events` is closed.
    pub async fn run<E: From<ClusterEvent>>(
        self,
        events: Sender<E>,
        needs: Needs,
        shutdown: CancellationToken,
    ) {
        let run = Run {
            cluster: self,
            needs,
            events,
            known: BTreeSet::new(),
            told_stale: None,
        };
        // Cancelled, or the channel is closed: nothing left to do in both cases.
        let _ = shutdown.run_until_cancelled(run.run()).await;
    }
}

/// The channel of events is closed.
struct Closed;

/// The way of events to the pipeline.
struct Run<E> {
    cluster: KubernetesCluster,
    needs: Needs,
    events: Sender<E>,
    /// The groups that were reported and not yet reported as empty.
    known: BTreeSet<GroupId>,
    /// The last reason why the cluster was not heard; none while it is.
    told_stale: Option<String>,
}

impl<E: From<ClusterEvent>> Run<E> {
    /// One session after the other. What was reported stays until the next session has seen everything.
    async fn run(mut self) -> Result<(), Closed> {
        let mut backoff = Backoff::default();
        loop {
            let end = match Session::connect(&self.cluster, self.needs.clone()).await {
                Ok(session) => {
                    backoff = Backoff::default();
                    session.run(&mut self).await
                }
                Err(why) => SessionEnd::Failed(why),
            };
            match end {
                SessionEnd::Closed => return Err(Closed),
                SessionEnd::Failed(why) => self.stale(&why).await?,
            }
            sleep(backoff.next()).await;
        }
    }

    /// Tells once for each reason that the cluster is not heard.
    async fn stale(&mut self, why: &str) -> Result<(), Closed> {
        let reason = clean(why, REASON_BYTES_MAX).into_owned();
        if self.told_stale.as_ref() == Some(&reason) {
            return Ok(());
        }
        self.told_stale = Some(reason.clone());
        let cluster = self.cluster.name.clone();
        self.send(ClusterEvent::Stale { cluster, reason }).await
    }

    /// Tells that the cluster is heard, and all of it was reported.
    async fn synced(&mut self) -> Result<(), Closed> {
        self.told_stale = None;
        let cluster = self.cluster.name.clone();
        self.send(ClusterEvent::Synced { cluster }).await
    }

    /// Sends reports, and notes which groups have something.
    async fn report(&mut self, reports: Vec<ApplicationReport>) -> Result<(), Closed> {
        for report in reports {
            let group = GroupId {
                application: report.application.clone(),
                app: Arc::clone(&report.app),
            };
            let is_known = if report.objects.is_empty() && report.rejected.is_empty() {
                self.known.remove(&group)
            } else {
                self.known.insert(group);
                true
            };
            if is_known {
                let cluster = self.cluster.name.clone();
                let report = Box::new(report);
                self.send(ClusterEvent::Application { cluster, report })
                    .await?;
            }
        }
        Ok(())
    }

    async fn send(&self, event: ClusterEvent) -> Result<(), Closed> {
        self.events.send(event.into()).await.map_err(|_| Closed)
    }
}
