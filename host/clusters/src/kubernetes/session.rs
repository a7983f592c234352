//! One session with an API server: from the connection to its loss.

mod deployments;
mod facts;
mod kinds;
mod probe;
mod report;
mod selection;
mod take;

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use kindsight_model::{ClusterName, DeploymentId, WatchedKinds};
use kube::Config;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, sleep_until};

use super::KubernetesCluster;
use super::connection::{ApiClient, Connections};
use super::deployments::Deployments;
use super::discovery::{ApiKind, Discovered, discover};
use super::inventory::Inventory;
use super::jitter::jittered;
use super::news::WatchNews;
use super::plugin::{Plugin, PluginError, Token};
use super::run::{Closed, Run};
use super::stream::ListStreams;
use super::watches::Watches;
use crate::{ClusterEvent, ClusterFacts, FACTS_EVERY, Needs};

use probe::Probe;

/// News of watches that wait to be taken in. Each may be a page of whole objects, most of which are let go of
/// as soon as it is known that they belong to nobody.
const NEWS_MAX: usize = 16;
/// Parts of Kinds that are listed at a time: with the watches, few enough streams for one connection.
const PART_LISTS_MAX: usize = 4;
/// Time for which changes are gathered before they are reported.
const GATHER: Duration = Duration::from_millis(50);
/// Time until the Kinds are asked for again where nothing told of new ones.
const DISCOVER_EVERY: Duration = Duration::from_mins(2);

/// The reason why a session ended.
pub(super) enum SessionEnd {
    /// The channel of events is closed.
    Closed,
    /// The server accepts the credentials no longer, or they cannot be made anew.
    Failed(String),
    /// The cluster is watched under this name.
    WatchedAs(ClusterName),
}

impl From<Closed> for SessionEnd {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

/// Work beside a session, which ends with it.
type Beside = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A session with an API server.
pub(super) struct Session {
    cluster: KubernetesCluster,
    needs: Needs,
    connections: Connections,
    client: ApiClient,
    version: Arc<str>,
    discovered: Discovered,
    inventory: Inventory,
    deployments: Deployments,
    /// The reasons why the reports of monitors are not used.
    faults: HashMap<DeploymentId, Vec<Arc<str>>>,
    /// The Kinds that were covered at the last report.
    covered: Arc<WatchedKinds>,
    watches: Watches,
    running: FuturesUnordered<Beside>,
    news_tx: mpsc::Sender<WatchNews>,
    news_rx: mpsc::Receiver<WatchNews>,
    /// True once everything was seen: what was reported before and is not there is gone.
    is_synced: bool,
    /// True while the pipeline was told that the cluster is not heard.
    is_stale: bool,
    /// True until everything was told, where objects are sorted by other rules than in the session before, or
    /// some may not be seen any more.
    is_sorted_anew: bool,
    facts: ClusterFacts,
    discover_at: Instant,
    /// Watched Kinds that the server did not serve when it was last asked.
    absent: BTreeSet<ApiKind>,
    /// Limits the number of lists of parts at a time.
    permits: Arc<Semaphore>,
    probe: Probe,
    streams: ListStreams,
}

impl Session {
    /// Connects, and asks for the Kinds.
    ///
    /// # Errors
    /// The text of the reason.
    pub(super) async fn connect(cluster: &KubernetesCluster, needs: Needs) -> Result<Self, String> {
        let config = cluster.access.config().await;
        let mut config = config.map_err(|why| format!("the cluster cannot be reached: {why}"))?;
        let (token, keeper) = credentials(&mut config)
            .await
            .map_err(|error| error.to_string())?;
        let mut connections = Connections::new(config, token);
        let client = connections
            .client()
            .await
            .map_err(|error| error.of_cluster())?;
        let version = facts::server_version(&client).await;
        let version = version.map_err(|error| error.of_cluster())?;
        let discovered = discover(&client)
            .await
            .map_err(|error| error.of_cluster())?;
        let (news_tx, news_rx) = mpsc::channel(NEWS_MAX);
        Ok(Self {
            cluster: cluster.clone(),
            needs,
            connections,
            client,
            version,
            discovered,
            inventory: Inventory::default(),
            deployments: Deployments::new(cluster.options.mode),
            faults: HashMap::new(),
            covered: Arc::default(),
            watches: Watches::default(),
            running: keeper.into_iter().collect(),
            news_tx,
            news_rx,
            is_synced: false,
            // Whatever was told before: the first sight of everything ends it.
            is_stale: true,
            is_sorted_anew: false,
            facts: ClusterFacts::default(),
            absent: BTreeSet::new(),
            discover_at: Instant::now() + jittered(DISCOVER_EVERY),
            permits: Arc::new(Semaphore::new(PART_LISTS_MAX)),
            probe: Probe::default(),
            streams: ListStreams::default(),
        })
    }

    /// A client of the API server.
    pub(super) fn client(&self) -> ApiClient {
        self.client.clone()
    }

    /// Watches the cluster until its credentials fail or nobody listens.
    pub(super) async fn run<E: From<ClusterEvent>>(mut self, run: &mut Run<E>) -> SessionEnd {
        if let Err(end) = self.follow_needs().await {
            return end;
        }
        self.record(run);
        let mut report_at: Option<Instant> = None;
        let mut facts_at = Instant::now();
        loop {
            let wake_at = report_at.unwrap_or(self.discover_at).min(self.discover_at);
            let wake_at = wake_at.min(facts_at);
            let part_at = self.watches.next_part_at();
            let handover_at = self.deployments.wakes_at();
            let others = part_at.into_iter().chain(self.probe.at());
            let others = others.chain(handover_at);
            let wake_at = others.fold(wake_at, Instant::min);
            tokio::select! {
                Some(news) = self.news_rx.recv() => {
                    if let Err(end) = self.take(news) {
                        return end;
                    }
                    report_at.get_or_insert_with(|| Instant::now() + GATHER);
                }
                Ok(()) = self.needs.related.changed() => {
                    if let Err(end) = self.follow_needs().await {
                        return end;
                    }
                    report_at.get_or_insert_with(|| Instant::now() + GATHER);
                }
                Ok(()) = self.needs.recorded.changed() => {
                    self.record(run);
                    report_at.get_or_insert_with(|| Instant::now() + GATHER);
                }
                answer = self.probe.answered() => {
                    if let Err(end) = self.tell_heard(answer, run).await {
                        return end;
                    }
                }
                Some(()) = self.running.next() => {}
                () = sleep_until(wake_at) => {}
            }
            let now = Instant::now();
            if handover_at.is_some_and(|at| at <= now) {
                report_at.get_or_insert(now);
            }
            self.probe.ask(self.connections.clients(), now);
            if report_at.is_some_and(|at| at <= now) {
                report_at = None;
                if self.report(run).await.is_err() {
                    return SessionEnd::Closed;
                }
            }
            if part_at.is_some_and(|at| at <= now) {
                self.list_parts();
            }
            if facts_at <= now {
                facts_at = now + FACTS_EVERY;
                if self.tell_facts(run).await.is_err() {
                    return SessionEnd::Closed;
                }
            }
            if self.discover_at <= now {
                self.discover_at = now + jittered(DISCOVER_EVERY);
                if let Err(end) = self.rediscover().await {
                    return end;
                }
                report_at.get_or_insert_with(|| Instant::now() + GATHER);
            }
        }
    }
}

/// The token of a credential plugin, and what keeps it fresh; empty where the configuration names no plugin,
/// or its credential is a certificate.
async fn credentials(config: &mut Config) -> Result<(Token, Option<Beside>), PluginError> {
    let Some(plugin) = Plugin::take_from(&mut config.auth_info) else {
        return Ok((Token::default(), None));
    };
    let (token, ends_at) = plugin.run().await?.apply(&mut config.auth_info);
    let keeper = plugin.keep_fresh(token.clone(), ends_at);
    Ok((token, Some(Box::pin(keeper))))
}
