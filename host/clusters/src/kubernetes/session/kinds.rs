//! The Kinds that a session watches, as the server begins and ceases to serve them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use kindsight_cluster_index::{ApiKind, Labels};
use kindsight_model::ReportMode;
use tokio::time::timeout;

use super::Session;
use crate::kubernetes::bundle_states;
use crate::kubernetes::connection::{ApiError, Connections};
use crate::kubernetes::decode::{Decoder, Detail};
use crate::kubernetes::discovery::path_of;
use crate::kubernetes::health::METADATA;
use crate::kubernetes::jitter::jittered;
use crate::kubernetes::kind_watch::{KindWatch, Retry};
use crate::kubernetes::known::Known;
use crate::kubernetes::list::PAGE_ITEMS;
use crate::kubernetes::watches::WatchState;

/// Time after which a Kind is removed that discovery omits and whose list requests return 404.
const REMOVED_AFTER: Duration = Duration::from_mins(10);
/// Time for the server to refuse a Kind.
const REFUSAL_MAX: Duration = Duration::from_secs(2);
/// Requests that find the refused Kinds, at a time.
const REQUESTS_AT_A_TIME: usize = 8;

impl Session {
    /// Removes the objects of Kinds that the server removed: their own group omits them, and it has not served a
    /// list of them for [`REMOVED_AFTER`]. Reports of monitors are removed once the server has confirmed that it does
    /// not serve them, because their deployments can be reported from objects.
    pub(super) fn remove_kinds(&self, known: &mut Known) {
        for watch in self.watches.iter() {
            if watch.unserved_since().is_none() || !self.discovered.omits(&watch.kind) {
                continue;
            }
            let removed = watch.scope;
            known.deployments.states.retain(|scope| scope != removed);
            if self.is_removed(watch) {
                known.index.remove_kind(removed);
            }
        }
    }

    /// Returns whether the server removed the Kind of a watch.
    pub(super) fn is_removed(&self, watch: &WatchState) -> bool {
        let since = watch.unserved_since();
        let is_long = since.is_some_and(|since| since.elapsed() >= REMOVED_AFTER);
        is_long && self.discovered.omits(&watch.kind)
    }

    /// Begins the watches of new Kinds, and ends the watches of other Kinds and versions. A Kind that discovery
    /// omits is watched while objects of it are known. Without a watch, the report of a monitor would stay in use
    /// after its deletion, so only watched reports are kept.
    pub(super) fn watch_kinds(&mut self, known: &mut Known) {
        let options = self.cluster.options.clone();
        let rules = Arc::clone(&self.needs.related.borrow_and_update());
        let is_left_out = |kind: &ApiKind| {
            // Only a relation that names the Kind requests it; a pattern of many Kinds does not.
            let is_asked_for = rules.with(kind.names()).any(|rule| rule.kind().is_some());
            options.left_out.contains(&*kind.name()) && !is_asked_for
        };
        let discovered = &self.discovered;
        let held = known.held_kinds().map(|kind| &**kind);
        let held = held.filter(|kind| !discovered.has(kind));
        // If a group does not answer discovery, the watches of its Kinds remain.
        let watched = self.watches.kinds().map(|kind| &**kind);
        let silent = watched.filter(|kind| !discovered.has(kind) && !discovered.omits(kind));
        let kinds = discovered.kinds.iter().chain(held).chain(silent);
        let kinds = kinds.filter(|kind| !is_left_out(kind));
        let kinds = kinds.filter(|kind| kind.is_namespaced || options.namespaces.is_empty());
        // The reports of monitors are not read if deployments are reported from their objects.
        let is_read =
            |kind: &&ApiKind| options.mode != ReportMode::Direct || !bundle_states::are(kind);
        let kinds: BTreeSet<ApiKind> = kinds.filter(is_read).cloned().collect();
        self.watches.retain(|kind| kinds.contains(kind));
        let running: BTreeSet<ApiKind> =
            self.watches.kinds().map(|kind| (**kind).clone()).collect();
        for kind in kinds.difference(&running) {
            let kind = Arc::new(kind.clone());
            if options.namespaces.is_empty() {
                self.watch(&kind, None, known);
            }
            for namespace in &options.namespaces {
                self.watch(&kind, Some(Arc::clone(namespace)), known);
            }
        }
        let watches = &self.watches;
        let is_watched = |scope| watches.kind_of(scope).is_some();
        known.deployments.states.retain(is_watched);
        self.ask_for_states(known);
    }

    /// Number of watches that the credentials do not allow.
    pub(in crate::kubernetes) fn count_refused(&self) -> impl Future<Output = usize> + use<> {
        let options = &self.cluster.options;
        let kinds = self.discovered.kinds.iter();
        let kinds = kinds.filter(|kind| !options.left_out.contains(&*kind.name()));
        let kinds = kinds.filter(|kind| kind.is_namespaced || options.namespaces.is_empty());
        let mut paths: Vec<String> = Vec::new();
        for kind in kinds {
            if options.namespaces.is_empty() {
                paths.push(path_of(kind, None));
            }
            let namespaces = options.namespaces.iter();
            paths.extend(namespaces.map(|namespace| path_of(kind, Some(namespace))));
        }
        let connections = self.connections.clone();
        async move {
            let requests = paths
                .into_iter()
                .map(|path| is_refused(connections.clone(), path));
            let answers = stream::iter(requests).buffer_unordered(REQUESTS_AT_A_TIME);
            let refused = answers.filter(|is_refused| std::future::ready(*is_refused));
            refused.count().await
        }
    }

    /// Follows the current relations of interpreters.
    pub(super) fn follow_needs(&mut self, known: &mut Known) {
        self.is_coverage_due = true;
        let rules = Arc::clone(&self.needs.related.borrow_and_update());
        known.index.set_rules(Arc::clone(&rules));
        self.widen();
        for (_, state) in self.watches.iter_mut() {
            state.keep_labels(&Labels::needed(&rules, &state.kind));
        }
        self.watch_kinds(known);
    }

    fn watch(&mut self, kind: &Arc<ApiKind>, namespace: Option<Arc<str>>, known: &mut Known) {
        let labels = Labels::needed(&self.needs.related.borrow(), kind);
        let filter = self.filter(kind);
        let scope = known.index.watch(kind, namespace.as_ref(), &labels);
        let needed = (labels.clone(), Arc::clone(&filter));
        let (id, asked, seen) =
            self.watches
                .add(Arc::clone(kind), (namespace.clone(), scope), needed);
        let rules = self.cluster.options.rules();
        let retry = Retry::new(
            (Arc::clone(kind), namespace.clone()),
            known.refusals.clone(),
            self.health.clone(),
            self.cluster.options.watch_lifetime,
        );
        let watch = KindWatch {
            id,
            kind: Arc::clone(kind),
            namespace,
            connections: self.connections.clone(),
            seat: None,
            decoder: Decoder::new(kind, &rules, Detail::Metadata, labels),
            filter,
            asked,
            news: self.news_tx.clone(),
            streams: self.streams.clone(),
            turns: self.turns.clone(),
            retry,
            seen,
            page_items: PAGE_ITEMS,
            relist_at: None,
            lifetime: jittered(self.cluster.options.watch_lifetime),
        };
        self.running.push(Box::pin(watch.run()));
    }
}

/// Returns whether the credentials do not allow a list.
async fn is_refused(connections: Connections, path: String) -> bool {
    let answer = async {
        let client = connections.client().await?;
        client.get(&format!("{path}?limit=1"), METADATA).await
    };
    let answer = timeout(REFUSAL_MAX, answer).await;
    matches!(answer, Ok(Err(ApiError::Forbidden(_))))
}
