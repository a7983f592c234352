//! The Kinds that a session watches: those that the server serves, as they come and go.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::{Session, SessionEnd};
use crate::kubernetes::connection::ApiError;
use crate::kubernetes::decode::{Decoder, Detail, Labels};
use crate::kubernetes::deployments::ReportMode;
use crate::kubernetes::discovery::{ApiKind, discover};
use crate::kubernetes::jitter::jittered;
use crate::kubernetes::kind_watch::KindWatch;

/// Time for a server to say whether it still serves a Kind.
const STILL_SERVED_MAX: Duration = Duration::from_secs(2);
/// Time until a Kind that is not served any more is asked for once again.
const ABSENT_AGAIN: Duration = Duration::from_secs(3);
/// The form of a list of which nothing is read.
const METADATA: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

impl Session {
    /// Asks for the Kinds again. A server that does not tell them costs nothing that is known.
    pub(super) async fn rediscover(&mut self) -> Result<(), SessionEnd> {
        match discover(&self.client).await {
            Ok(discovered) => {
                self.discovered = discovered;
                self.keep_served().await;
                self.watch_kinds().await.map_err(SessionEnd::Failed)
            }
            Err(error @ ApiError::Unauthorized(_)) => Err(SessionEnd::Failed(error.of_cluster())),
            Err(error) => {
                tracing::debug!(cluster = %self.cluster.name, %error, "Kinds not discovered");
                Ok(())
            }
        }
    }

    /// Keeps the Kinds that were watched and are not discovered any more, for as long as they are served: a
    /// server that starts tells its Kinds one after the other, and a definition that prefers another version
    /// goes on with those before it. What would be listed twice by that is left out.
    async fn keep_served(&mut self) {
        let watched = self.watches.kinds().map(|it| (**it).clone());
        let gone: BTreeSet<ApiKind> = watched
            .filter(|it| !self.discovered.kinds.contains(it))
            .collect();
        let mut absent = BTreeSet::new();
        // Where the rights end at these, too.
        let namespace = self.cluster.options.namespaces.first().cloned();
        for kind in gone {
            let target = format!("{}?limit=1", kind.path(namespace.as_deref()));
            let answer = self.client.get(&target, METADATA);
            match timeout(STILL_SERVED_MAX, answer).await {
                // Not before it was so twice.
                Ok(Err(ApiError::NotFound(_))) if self.absent.contains(&kind) => continue,
                Ok(Err(ApiError::NotFound(_))) => {
                    absent.insert(kind.clone());
                }
                _ => {}
            }
            self.discovered.kinds.retain(|it| it.name() != kind.name());
            self.discovered.kinds.insert(kind);
        }
        if !absent.is_empty() {
            self.discover_at = self.discover_at.min(Instant::now() + ABSENT_AGAIN);
        }
        self.absent = absent;
    }

    /// Begins the watches of Kinds that are new, and ends those of Kinds that are gone.
    pub(super) async fn watch_kinds(&mut self) -> Result<(), String> {
        let options = self.cluster.options.clone();
        let rules = Arc::clone(&self.needs.related.borrow_and_update());
        let is_left_out = |kind: &ApiKind| {
            // By its own name: a pattern of many Kinds brings none of these.
            let is_asked_for = rules.with(kind.names()).any(|it| it.kind().is_some());
            options.left_out.contains(&*kind.name()) && !is_asked_for
        };
        let kinds = self.discovered.kinds.iter().filter(|it| !is_left_out(it));
        let kinds = kinds.filter(|it| it.is_namespaced || options.namespaces.is_empty());
        // Nobody reads the reports of monitors where objects alone are reported.
        let is_read = |it: &&ApiKind| options.mode != ReportMode::Direct || !it.is_bundle_state();
        let kinds: BTreeSet<ApiKind> = kinds.filter(is_read).cloned().collect();
        let silent = &self.discovered.silent;
        // A group that does not tell its Kinds keeps those that it had.
        let is_served = |it: &ApiKind| {
            let version = format!("{}/{}", it.gvk.group, it.gvk.version);
            kinds.contains(it) || silent.contains_key(&version)
        };
        for gone in self.watches.retain(is_served) {
            // No pass has this number.
            self.deployments.states.sweep(gone, u64::MAX);
            self.inventory.remove_watch(gone);
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

    /// Follows the relations that are asked about now.
    pub(super) async fn follow_needs(&mut self) -> Result<(), SessionEnd> {
        let rules = Arc::clone(&self.needs.related.borrow_and_update());
        self.inventory.set_rules(Arc::clone(&rules));
        self.widen();
        for (watch, state) in self.watches.iter_mut() {
            state.keep_labels(&Labels::needed(&rules, &state.kind));
            self.inventory.set_complete(watch, state.is_complete());
        }
        self.watch_kinds().await.map_err(SessionEnd::Failed)
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
            .map_err(|error| error.of_cluster())?;
        let labels = Labels::needed(&self.needs.related.borrow(), kind);
        let filter = self.filter(kind);
        let needed = (labels.clone(), Arc::clone(&filter));
        let (id, asked) = self
            .watches
            .add(Arc::clone(kind), namespace.clone(), needed);
        self.inventory
            .add_watch(id, Arc::clone(kind), namespace.clone());
        let rules = self.cluster.options.rules();
        let watch = KindWatch {
            id,
            kind: Arc::clone(kind),
            namespace,
            client,
            decoder: Decoder::new(kind, &rules, Detail::Metadata, labels),
            filter,
            asked,
            news: self.news_tx.clone(),
            streams: self.streams.clone(),
            lifetime: jittered(self.cluster.options.watch_lifetime),
        };
        self.running.push(Box::pin(watch.run()));
        Ok(())
    }
}
