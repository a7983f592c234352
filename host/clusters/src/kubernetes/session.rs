//! One session with an API server: from the connection to its end.

mod absences;
mod audit;
mod confirmation;
mod coverage;
mod deployments;
mod discovery;
mod facts;
mod inventories;
mod kinds;
mod probe;
mod report;
mod selection;
mod take;

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use kindsight_model::{ClusterFacts, ClusterName, Coverage};
use kube::Config;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{Instant, Sleep, sleep_until};

use super::KubernetesCluster;
use super::connection::{Connections, OTHER_CLUSTER};
use super::discovery::{Discovered, discover};
use super::health::ServerHealth;
use super::known::Known;
use super::news::WatchNews;
use super::plugin::{Plugin, PluginError, Token};
use super::run::{Closed, EventSender};
use super::stream::ListStreams;
use super::turn::ClusterTurns;
use super::watches::Watches;
use crate::remote_inventories::{Endpoint, Exchange};
use crate::{ClusterEvent, FACTS_EVERY, Needs};

use audit::Audit;
use confirmation::{COMPARISONS_MAX, Comparison};
use discovery::Discovery;
use probe::Probe;
use take::next_news;

/// Maximum number of waiting news of watches. Each may be a page of complete objects, and most objects are dropped
/// as soon as they are known to belong to no application.
const NEWS_MAX: usize = 16;
/// Parts of Kinds that are listed at a time. Together with the watches, they fit on one connection.
const PART_LISTS_MAX: usize = 4;
/// Time for which changes are collected before they are reported. Later versions of reported objects wait only after
/// a report: a single change of a status is reported at once.
const GATHER: Duration = Duration::from_millis(50);
/// Time between two looks for changed facts of a session that did not change. Another context of the cluster may change
/// them.
const IDLE_FACTS_EVERY: Duration = Duration::from_secs(10);
/// Time for which a Kind keeps its coverage, or the coverage of the previous session, while it is listed.
pub(super) const LIST_MAX: Duration = Duration::from_mins(1);
/// Time for an API group to list its Kinds before the session begins. A slower group is requested again during it.
pub(super) const FIRST_GROUP_MAX: Duration = Duration::from_secs(2);

/// The reason why a session ended.
pub(super) enum SessionEnd {
    /// The channel of events is closed.
    Closed,
    /// The server no longer accepts the credentials, or they cannot be renewed.
    Failed(String),
    /// The cluster cannot be reached by this access, and there is another one.
    Lost(String),
    /// Another access to the cluster allows more.
    Narrow,
    /// The cluster is watched under this name.
    WatchedAs(ClusterName),
}

impl From<Closed> for SessionEnd {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

/// Work that runs during a session and ends with it.
pub(super) type Beside = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Times of the last report, the next report and the next facts.
struct Due {
    last_report: Instant,
    /// `None` if nothing changed since the last report.
    next_report: Option<Instant>,
    next_facts: Instant,
}

impl Due {
    /// Sends facts at once, and reports after the first change.
    fn now() -> Self {
        Self {
            last_report: Instant::now(),
            next_report: None,
            next_facts: Instant::now(),
        }
    }

    /// Looks for changed facts soon, because the session changed.
    fn facts_soon(&mut self) {
        let next_at = Instant::now() + FACTS_EVERY;
        self.next_facts = self.next_facts.min(next_at);
    }

    /// Reports soon, with the changes that arrive until then.
    fn report_soon(&mut self) {
        self.facts_soon();
        self.next_report
            .get_or_insert_with(|| Instant::now() + GATHER);
    }

    /// Reports news: an update at once, or [`GATHER`] after the last report.
    fn report_news(&mut self, is_update: bool) {
        if !is_update {
            return self.report_soon();
        }
        self.facts_soon();
        let next_at = self.last_report + GATHER;
        self.next_report = Some(self.next_report.map_or(next_at, |at| at.min(next_at)));
    }
}

/// A session with an API server.
pub(super) struct Session {
    cluster: KubernetesCluster,
    needs: Needs,
    turns: ClusterTurns,
    connections: Connections,
    /// The address and the names of the API server.
    endpoint: Endpoint,
    /// The inventories that list resources of other clusters.
    inventories: watch::Receiver<Exchange>,
    version: Arc<str>,
    discovered: Discovered,
    /// The coverage at the last report.
    coverage: Coverage,
    /// True if the state of a Kind may have changed since then.
    is_coverage_due: bool,
    watches: Watches,
    running: FuturesUnordered<Beside>,
    news_tx: mpsc::Sender<WatchNews>,
    news_rx: mpsc::Receiver<WatchNews>,
    /// The time after which the session does not wait for unlisted Kinds.
    list_until: Instant,
    /// True once every Kind was listed or could not be listed.
    is_synced: bool,
    /// True while the pipeline considers the cluster stale.
    is_stale: bool,
    facts: ClusterFacts,
    discovery: Discovery,
    /// Limits the number of lists of parts at a time.
    permits: Arc<Semaphore>,
    probe: Probe,
    health: ServerHealth,
    streams: ListStreams,
    /// Comparisons of the index with consistent lists.
    comparing: FuturesUnordered<BoxFuture<'static, Comparison>>,
    audit: Audit,
}

impl Session {
    /// Connects, and requests the Kinds.
    ///
    /// # Errors
    /// The reason as text for people.
    pub(super) async fn connect(
        cluster: &KubernetesCluster,
        needs: Needs,
        turns: ClusterTurns,
    ) -> Result<Self, String> {
        let config = cluster.access.config().await;
        let mut config = config.map_err(|why| format!("the cluster cannot be reached: {why}"))?;
        let (token, keeper) = credentials(&mut config)
            .await
            .map_err(|error| error.to_string())?;
        let endpoint = Endpoint {
            server: config.cluster_url.clone(),
            names: cluster.short_names(),
            kubeconfigs: cluster.options.kubeconfigs.clone(),
        };
        let connections = Connections::new(cluster.access.clone(), config, token);
        let client = connections
            .client()
            .await
            .map_err(|error| error.of_cluster())?;
        let version = facts::server_version(&client).await;
        let version = version.map_err(|error| error.of_cluster())?;
        let discovered = discover(&client, FIRST_GROUP_MAX).await;
        let discovered = discovered.map_err(|error| error.of_cluster())?;
        let (news_tx, news_rx) = mpsc::channel(NEWS_MAX);
        let audit = Audit::new(needs.audits.enter());
        let waiting = needs.awaited.of(&cluster.name);
        Ok(Self {
            cluster: cluster.clone(),
            inventories: needs.inventories.subscribe(),
            needs,
            turns,
            connections,
            endpoint,
            version,
            discovery: Discovery::after(&discovered),
            discovered,
            coverage: Coverage::nothing(),
            is_coverage_due: true,
            watches: Watches::default(),
            running: keeper.into_iter().collect(),
            news_tx,
            news_rx,
            list_until: Instant::now() + LIST_MAX,
            is_synced: false,
            // The first lists of the session have not ended.
            is_stale: true,
            facts: ClusterFacts::default(),
            permits: Arc::new(Semaphore::new(PART_LISTS_MAX)),
            probe: Probe::new(waiting),
            health: ServerHealth::default(),
            streams: ListStreams::default(),
            comparing: FuturesUnordered::new(),
            audit,
        })
    }

    /// The connections to the API server.
    pub(super) fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Watches the cluster until its credentials fail, or until the channel of events is closed.
    pub(super) async fn run<E: From<ClusterEvent>>(
        mut self,
        known: &mut Known,
        events: &mut EventSender<E>,
    ) -> SessionEnd {
        self.begin(known);
        let mut requests = self.needs.confirmations.requests(&self.cluster.name);
        let mut questions = self.needs.absences.questions(&self.cluster.name);
        let mut due = Due::now();
        let mut waiting = self.probe.waiting();
        let mut wake = pin!(sleep_until(due.next_facts));
        loop {
            end_at(wake.as_mut(), self.wake_at(known, &due));
            tokio::select! {
                news = next_news(&mut self.running, &mut self.news_rx) => {
                    if let Err(end) = self.take_waiting(news, known) {
                        return end;
                    }
                    due.report_news(self.is_update(known));
                }
                Ok(()) = self.needs.related.changed() => {
                    self.follow_needs(known);
                    due.report_soon();
                }
                Ok(()) = self.needs.recorded.changed() => {
                    self.record(known);
                    due.report_soon();
                }
                Ok(()) = self.inventories.changed() => {
                    self.follow_inventories(known);
                    due.report_soon();
                }
                probed = self.probe.ended() => {
                    if let Err(end) = self.follow_probe(probed, known, events).await {
                        return end;
                    }
                }
                answer = self.discovery.answered() => {
                    if let Err(end) = self.follow_discovery(answer, known) {
                        return end;
                    }
                    due.report_soon();
                }
                Some(request) = requests.recv(), if self.comparing.len() < COMPARISONS_MAX => {
                    self.begin_comparison(request);
                }
                Ok(()) = waiting.changed() => self.probe.follow_waiting(),
                Some(comparison) = self.comparing.next() => {
                    if let Err(end) = self.follow_comparison(comparison, known, events).await {
                        return end;
                    }
                }
                step = self.audit.ended() => {
                    if let Err(end) = self.follow_audit(step, known) {
                        return end;
                    }
                    due.report_soon();
                }
                Some(question) = questions.recv() => {
                    self.answer(question, known);
                    // An answer changes nothing that the session acts on.
                    continue;
                }
                () = self.connections.left().cancelled_owned() => {
                    return SessionEnd::Failed(OTHER_CLUSTER.to_owned());
                }
                () = &mut wake => {}
            }
            if self.act(known, events, &mut due).await.is_err() {
                return SessionEnd::Closed;
            }
        }
    }

    /// Prepares the knowledge of the cluster for this session, and requests the Kinds.
    fn begin(&mut self, known: &mut Known) {
        let options = &self.cluster.options;
        known.index.begin_session();
        known.index.set_labels_record(options.are_labels_records);
        known.index.follow_health_scopes(options.health_scopes);
        known.deployments.set_mode(options.mode);
        self.follow_needs(known);
        self.record(known);
        self.enter_inventories(known);
    }

    /// The time of the next action without an event.
    fn wake_at(&self, known: &Known, due: &Due) -> Instant {
        let (part_at, settle_at) = (self.watches.next_part_at(), self.settle_at(known));
        let (probe_at, discover_at) = (self.probe.at(), self.discovery.at());
        let audit_at = self.audit.at();
        let times = [
            due.next_report,
            part_at,
            settle_at,
            probe_at,
            discover_at,
            audit_at,
        ];
        let times = times.into_iter().flatten();
        times.fold(due.next_facts, Instant::min)
    }

    /// Takes every action that is due: requests, reports, lists of parts and facts.
    async fn act<E: From<ClusterEvent>>(
        &mut self,
        known: &mut Known,
        events: &mut EventSender<E>,
        due: &mut Due,
    ) -> Result<(), Closed> {
        let now = Instant::now();
        if self.settle_at(known).is_some_and(|at| at <= now) {
            due.next_report.get_or_insert(now);
        }
        let watches = &self.watches;
        self.probe
            .ask(&self.connections, now, || watches.consistent_read());
        self.discovery.ask(&self.connections, now);
        self.begin_sample(known, now);
        if due.next_report.is_some_and(|at| at <= now) {
            due.next_report = None;
            due.last_report = now;
            self.report(known, events).await?;
        }
        if self.watches.next_part_at().is_some_and(|at| at <= now) {
            self.list_parts(known);
        }
        if due.next_facts <= now {
            due.next_facts = now + IDLE_FACTS_EVERY;
            self.send_facts_if_changed(known, events).await?;
        }
        Ok(())
    }

    /// The time of the next report without an event: a monitor's report is used although it lacks objects, or the
    /// session stops waiting for the list of a Kind.
    fn settle_at(&self, known: &Known) -> Option<Instant> {
        let list_until = (!self.is_synced).then_some(self.list_until);
        let handover_at = known.deployments.wakes_at();
        list_until.into_iter().chain(handover_at).min()
    }
}

/// The token of a credential plugin, and the work that renews it. Both are empty if the configuration names no
/// plugin, or if its credential is a certificate.
pub(super) async fn credentials(
    config: &mut Config,
) -> Result<(Token, Option<Beside>), PluginError> {
    let Some(plugin) = Plugin::take_from(&mut config.auth_info) else {
        return Ok((Token::default(), None));
    };
    let (token, ends_at) = plugin.run().await?.apply(&mut config.auth_info);
    let keeper = plugin.keep_fresh(token.clone(), ends_at);
    Ok((token, Some(Box::pin(keeper))))
}

/// Changes the end of a sleep, if it differs.
fn end_at(sleep: Pin<&mut Sleep>, at: Instant) {
    if sleep.deadline() != at {
        sleep.reset(at);
    }
}
