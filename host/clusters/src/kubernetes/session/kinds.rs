//! The Kinds that a session watches: those that the server serves, as they come and go.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Session, SessionEnd};
use crate::kubernetes::connection::ApiError;
use crate::kubernetes::decode::{Decoder, Detail, Labels};
use crate::kubernetes::deployments::ReportMode;
use crate::kubernetes::discovery::{ApiKind, discover};
use crate::kubernetes::jitter::jittered;
use crate::kubernetes::kind_watch::KindWatch;

impl Session {
    /// Asks for the Kinds again. A server that does not tell them costs nothing that is known.
    pub(super) async fn rediscover(&mut self) -> Result<(), SessionEnd> {
        match discover(&self.client).await {
            Ok(discovered) => {
                self.discovered = discovered;
                self.watch_kinds().await.map_err(SessionEnd::Failed)
            }
            Err(error @ ApiError::Unauthorized(_)) => Err(SessionEnd::Failed(error.of_cluster())),
            Err(error) => {
                tracing::debug!(cluster = %self.cluster.name, %error, "Kinds not discovered");
                Ok(())
            }
        }
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
        let (id, asked) = self
            .watches
            .add(Arc::clone(kind), namespace.clone(), labels.clone());
        self.inventory
            .add_watch(id, Arc::clone(kind), namespace.clone());
        let rules = self.cluster.options.rules();
        let watch = KindWatch {
            id,
            kind: Arc::clone(kind),
            namespace,
            client,
            decoder: Decoder::new(kind, &rules, Detail::Metadata, labels),
            asked,
            news: self.news_tx.clone(),
            streams: self.streams.clone(),
            lifetime: jittered(self.cluster.options.watch_lifetime),
        };
        self.running.push(Box::pin(watch.run()));
        Ok(())
    }
}
