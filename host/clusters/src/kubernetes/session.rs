//! One session with an API server: from the connection to its loss.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use kindsight_model::{CoveredKinds, clean};
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::connection::{ApiClient, ApiError, Connections};
use super::decode::{Decoder, Detail};
use super::discovery::{ApiKind, Discovered, discover};
use super::inventory::{GroupId, Inventory};
use super::jitter::jittered;
use super::kind_watch::{KindWatch, News, WatchNews};
use super::watches::Watches;
use super::{Closed, KubernetesCluster, Run};
use crate::{ApplicationReport, ClusterEvent, ClusterFacts, FACTS_EVERY};

/// News of watches that wait to be taken in.
const NEWS_MAX: usize = 256;
/// Time for which changes are gathered before they are reported.
const GATHER: Duration = Duration::from_millis(50);
/// Time until the Kinds are asked for again where nothing told of new ones.
const DISCOVER_EVERY: Duration = Duration::from_mins(2);
/// Time from the news of a Kind that came or went until the Kinds are asked for: servers tell late.
const DISCOVER_AFTER: Duration = Duration::from_secs(1);

/// Maximum length of the version of a server that is told, in bytes.
const VERSION_BYTES_MAX: usize = 64;

/// Kinds whose objects are Kinds.
const KINDS_OF_KINDS: [&str; 2] = ["CustomResourceDefinition", "APIService"];

/// The reason why a session ended.
pub(super) enum SessionEnd {
    /// The channel of events is closed.
    Closed,
    /// The server accepts the credentials no longer, or they cannot be made anew.
    Failed(String),
}

impl From<Closed> for SessionEnd {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

/// A session with an API server.
pub(super) struct Session {
    cluster: KubernetesCluster,
    connections: Connections,
    client: ApiClient,
    version: Arc<str>,
    discovered: Discovered,
    inventory: Inventory,
    watches: Watches,
    running: FuturesUnordered<Pin<Box<dyn Future<Output = ()> + Send>>>,
    news_tx: mpsc::Sender<WatchNews>,
    news_rx: mpsc::Receiver<WatchNews>,
    /// True once everything was seen: what was reported before and is not there is gone.
    is_synced: bool,
    /// True while the pipeline was told that the cluster is not heard.
    is_stale: bool,
    facts: ClusterFacts,
    discover_at: Instant,
}

impl Session {
    /// Connects, and asks for the Kinds.
    ///
    /// # Errors
    /// The text of the reason.
    pub(super) async fn connect(cluster: &KubernetesCluster) -> Result<Self, String> {
        let config = cluster.access.config().await?;
        let mut connections = Connections::new(config);
        let client = connections
            .client()
            .await
            .map_err(|error| error.to_string())?;
        let version = server_version(&client).await;
        let version = version.map_err(|error| error.to_string())?;
        let discovered = discover(&client).await.map_err(|error| error.to_string())?;
        let (news_tx, news_rx) = mpsc::channel(NEWS_MAX);
        Ok(Self {
            cluster: cluster.clone(),
            connections,
            client,
            version,
            discovered,
            inventory: Inventory::default(),
            watches: Watches::default(),
            running: FuturesUnordered::new(),
            news_tx,
            news_rx,
            is_synced: false,
            // Whatever was told before: the first sight of everything ends it.
            is_stale: true,
            facts: ClusterFacts::default(),
            discover_at: Instant::now() + jittered(DISCOVER_EVERY),
        })
    }

    /// Watches the cluster until its credentials fail or nobody listens.
    pub(super) async fn run<E: From<ClusterEvent>>(mut self, run: &mut Run<E>) -> SessionEnd {
        if let Err(error) = self.watch_kinds().await {
            return SessionEnd::Failed(error);
        }
        let mut report_at: Option<Instant> = None;
        let mut facts_at = Instant::now();
        loop {
            let wake_at = report_at.unwrap_or(self.discover_at).min(self.discover_at);
            let wake_at = wake_at.min(facts_at);
            tokio::select! {
                Some(news) = self.news_rx.recv() => {
                    if let Err(end) = self.take(news) {
                        return end;
                    }
                    report_at.get_or_insert_with(|| Instant::now() + GATHER);
                }
                Some(()) = self.running.next() => {}
                () = sleep_until(wake_at) => {}
            }
            let now = Instant::now();
            if report_at.is_some_and(|at| at <= now) {
                report_at = None;
                if self.report(run).await.is_err() {
                    return SessionEnd::Closed;
                }
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
            }
        }
    }

    /// Takes in what a watch tells.
    fn take(&mut self, news: WatchNews) -> Result<(), SessionEnd> {
        let WatchNews { watch, what } = news;
        let Some(state) = self.watches.get_mut(watch) else {
            // Of a Kind that is not served any more.
            return Ok(());
        };
        if KINDS_OF_KINDS.contains(&&*state.kind.gvk.kind)
            && matches!(what, News::Applied(_) | News::Deleted(_))
        {
            self.discover_at = self.discover_at.min(Instant::now() + DISCOVER_AFTER);
        }
        let pass = state.pass;
        match what {
            News::ListBegins(detail) => state.begin(detail),
            News::Listed(objects) => {
                for object in objects {
                    self.inventory.apply(watch, pass, object);
                }
            }
            News::ListEnds => {
                state.end();
                self.inventory.sweep(watch, pass);
            }
            News::Applied(object) => self.inventory.apply(watch, pass, *object),
            News::Deleted(object) => self.inventory.remove(watch, &object),
            News::Following => state.follow(),
            News::Failed(error @ ApiError::Unauthorized(_)) => {
                return Err(SessionEnd::Failed(error.to_string()));
            }
            News::Failed(error) => {
                if matches!(error, ApiError::NotFound(_)) {
                    // The Kind may have gone with its definition.
                    let soon = Instant::now() + DISCOVER_AFTER;
                    self.discover_at = self.discover_at.min(soon);
                }
                let told = error.to_string();
                if state.fail(error) {
                    tracing::debug!(cluster = %self.cluster.name, kind = %state.kind.gvk, told, "watch failed");
                }
            }
        }
        for wanted in self.inventory.take_wanted() {
            if let Some(state) = self.watches.get_mut(wanted) {
                state.ask_whole();
            }
        }
        Ok(())
    }

    /// Reports what changed, once everything was seen.
    async fn report<E: From<ClusterEvent>>(&mut self, run: &mut Run<E>) -> Result<(), Closed> {
        let trouble = self.watches.trouble(|it| self.inventory.has_members(it));
        let is_listed = self.watches.are_listed();
        if trouble.is_none() && is_listed && !self.is_synced {
            self.is_synced = true;
            let known: BTreeSet<&GroupId> = self.inventory.group_ids().collect();
            let gone = run.known.iter().filter(|it| !known.contains(it));
            let gone: Vec<ApplicationReport> = gone.map(empty_report).collect();
            run.report(gone).await?;
        }
        if self.is_synced {
            run.report(self.inventory.take_reports()).await?;
        }
        match trouble {
            Some(why) => {
                self.is_stale = true;
                run.stale(&why).await?;
            }
            None if self.is_stale && self.is_synced && is_listed => {
                self.is_stale = false;
                run.synced().await?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Tells facts about the cluster, where they changed.
    async fn tell_facts<E: From<ClusterEvent>>(&mut self, run: &Run<E>) -> Result<(), Closed> {
        let silent = self.discovered.silent.iter();
        let silent = silent.map(|(group, why)| format!("{group}: {why}").into());
        let not_covered = self.watches.not_covered();
        let facts = ClusterFacts {
            origin: Arc::clone(&self.cluster.origin),
            server_version: Some(Arc::clone(&self.version)),
            not_covered: (not_covered.into_iter().chain(silent))
                .chain(self.inventory.left_out())
                .collect(),
            objects: self.inventory.members(),
            watches: self.watches.len(),
        };
        if facts == self.facts {
            return Ok(());
        }
        self.facts = facts.clone();
        let (cluster, facts) = (self.cluster.name.clone(), Box::new(facts));
        run.send(ClusterEvent::Facts { cluster, facts }).await
    }

    /// Asks for the Kinds again. A server that does not tell them costs nothing that is known.
    async fn rediscover(&mut self) -> Result<(), SessionEnd> {
        match discover(&self.client).await {
            Ok(discovered) => {
                self.discovered = discovered;
                self.watch_kinds().await.map_err(SessionEnd::Failed)
            }
            Err(error @ ApiError::Unauthorized(_)) => Err(SessionEnd::Failed(error.to_string())),
            Err(error) => {
                tracing::debug!(cluster = %self.cluster.name, %error, "Kinds not discovered");
                Ok(())
            }
        }
    }

    /// Begins the watches of Kinds that are new, and ends those of Kinds that are gone.
    async fn watch_kinds(&mut self) -> Result<(), String> {
        let options = self.cluster.options.clone();
        let is_left_out = |kind: &ApiKind| options.left_out.contains(&*kind.name());
        let kinds = self.discovered.kinds.iter().filter(|it| !is_left_out(it));
        let kinds = kinds.filter(|it| it.is_namespaced || options.namespaces.is_empty());
        let kinds: BTreeSet<ApiKind> = kinds.cloned().collect();
        let silent = &self.discovered.silent;
        // A group that does not tell its Kinds keeps those that it had.
        let is_served = |it: &ApiKind| {
            let version = format!("{}/{}", it.gvk.group, it.gvk.version);
            kinds.contains(it) || silent.contains_key(&version)
        };
        for gone in self.watches.retain(is_served) {
            // No pass has this number.
            self.inventory.sweep(gone, u64::MAX);
        }
        let known: BTreeSet<ApiKind> = self.watches.kinds().map(|it| (**it).clone()).collect();
        for kind in kinds.difference(&known) {
            let kind = Arc::new(kind.clone());
            if options.namespaces.is_empty() {
                self.watch(&kind, None).await?;
            }
            for namespace in &options.namespaces {
                self.watch(&kind, Some(Arc::clone(namespace))).await?;
            }
        }
        Ok(())
    }

    async fn watch(
        &mut self,
        kind: &Arc<ApiKind>,
        namespace: Option<Arc<str>>,
    ) -> Result<(), String> {
        let client = self
            .connections
            .client()
            .await
            .map_err(|error| error.to_string())?;
        let (id, detail) = self.watches.add(Arc::clone(kind), namespace.clone());
        let is_secret = kind.gvk.group.is_empty() && &*kind.gvk.kind == "Secret";
        let watch = KindWatch {
            id,
            kind: Arc::clone(kind),
            namespace,
            client,
            decoder: Decoder {
                gvk: kind.gvk.clone(),
                rules: Arc::clone(&self.cluster.options.rules),
                detail: Detail::Metadata,
                is_metadata_enough: is_secret,
            },
            detail,
            news: self.news_tx.clone(),
            lifetime: jittered(self.cluster.options.watch_lifetime),
        };
        self.running.push(Box::pin(watch.run()));
        Ok(())
    }
}

async fn server_version(client: &ApiClient) -> Result<Arc<str>, ApiError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        git_version: String,
    }
    let bytes = client.get("/version", "application/json").await?;
    let version: Result<Version, _> = serde_json::from_slice(&bytes);
    let version = version.map_err(|error| ApiError::Unreadable(error.to_string()))?;
    Ok(clean(&version.git_version, VERSION_BYTES_MAX).into())
}

/// The report that nothing is left of a group.
fn empty_report(id: &GroupId) -> ApplicationReport {
    ApplicationReport {
        application: id.application.clone(),
        app: Arc::clone(&id.app),
        objects: Vec::new(),
        hooks: BTreeSet::new(),
        rejected: Vec::new(),
        covered: CoveredKinds::partial(),
    }
}
