//! Confirmations: whether the index has everything that consistent lists of the server have.
//!
//! ```text
//! request ─▶ consistent lists, beside the session ─▶ comparison with the index ─▶ report ─▶ answer
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use kindsight_cluster_index::{ApiKind, ConsistentList, Labels, MembershipRules};
use kindsight_model::InvolvedKinds;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::{Session, SessionEnd};
use crate::ClusterEvent;
use crate::confirmations::ConfirmationRequest;
use crate::kubernetes::bundle_states;
use crate::kubernetes::connection::{ApiError, Connections, ResponseClass};
use crate::kubernetes::decode::{Decoder, Detail, Item};
use crate::kubernetes::discovery::path_of;
use crate::kubernetes::known::Known;
use crate::kubernetes::list::{PAGE_ITEMS, Pages};
use crate::kubernetes::run::EventSender;
use crate::kubernetes::watches::WatchState;

/// Maximum number of requests of one cluster that are compared at a time.
pub(super) const COMPARISONS_MAX: usize = 4;
/// Number of lists of one request at a time.
const LISTS_AT_A_TIME: usize = 4;
/// Maximum number of namespaces of a Kind that are listed one by one. Of more, the complete scope is listed.
const NAMESPACES_MAX: usize = 16;
/// Maximum number of objects in one list.
const LISTED_MAX: usize = 100_000;
/// Time for all lists of one request.
const LISTS_MAX: Duration = Duration::from_secs(10);
/// Time for events in flight: the watches must have sent everything in the lists by then.
#[cfg(not(test))]
const CATCH_UP: Duration = Duration::from_secs(4);
#[cfg(test)]
const CATCH_UP: Duration = Duration::from_millis(500);
/// Time between two comparisons of the same lists.
const COMPARE_EVERY: Duration = Duration::from_millis(100);

/// The lists of one request for confirmation, to compare with the index.
pub(super) struct Comparison {
    /// The lists; the reason if they cannot be read.
    lists: Result<Vec<ConsistentList>, String>,
    /// The end of the time for events in flight.
    until: Instant,
    answer: oneshot::Sender<Result<(), String>>,
}

/// One list to read.
struct ListRequest {
    kind: Arc<ApiKind>,
    list: ConsistentList,
    /// The namespace in the path.
    namespace: Option<Arc<str>>,
    /// The part of the query that leaves out objects, as of the watch.
    filter: Arc<str>,
    rules: MembershipRules,
}

impl Session {
    /// Begins to read the lists of a request, beside the session.
    pub(super) fn begin_comparison(&mut self, request: ConfirmationRequest) {
        self.needs.awaited.request(&self.cluster.name);
        let ConfirmationRequest { kinds, answer } = request;
        let requests = self.lists_of(&kinds);
        let connections = self.connections.clone();
        self.comparing.push(Box::pin(async move {
            let reads = requests
                .into_iter()
                .map(|request| request.read(connections.clone()));
            let lists = stream::iter(reads).buffer_unordered(LISTS_AT_A_TIME);
            let lists = lists.try_filter_map(async |list| Ok(list)).try_collect();
            let lists = timeout(LISTS_MAX, lists).await;
            let too_late = |_| Err(format!("its lists took longer than {LISTS_MAX:?}"));
            Comparison {
                lists: lists.unwrap_or_else(too_late),
                until: Instant::now() + CATCH_UP,
                answer,
            }
        }));
    }

    /// Compares lists with the index. If the index has everything, the reports are sent before the answer. Otherwise
    /// the comparison is repeated for a moment, because events may be in flight.
    pub(super) async fn follow_comparison<E: From<ClusterEvent>>(
        &mut self,
        comparison: Comparison,
        known: &mut Known,
        events: &mut EventSender<E>,
    ) -> Result<(), SessionEnd> {
        let lists = match &comparison.lists {
            Ok(lists) => lists,
            Err(why) => {
                // The client may have disconnected.
                let _ = comparison.answer.send(Err(why.clone()));
                return Ok(());
            }
        };
        // First, because the events before these versions are in the channel of news then.
        let unseen: Vec<&ConsistentList> =
            lists.iter().filter(|list| self.is_unseen(list)).collect();
        while let Ok(news) = self.news_rx.try_recv() {
            self.take(news, known)?;
        }
        let why = unseen
            .into_iter()
            .find_map(|list| self.not_seen(list, known));
        self.report(known, events).await?;
        let is_reported = !self.is_stale && self.is_reported(known);
        let not_reported = || Some("not everything in it has been reported yet".to_owned());
        let why = why.or_else(|| (!is_reported).then(not_reported).flatten());
        match why {
            Some(_) if Instant::now() < comparison.until && !comparison.answer.is_closed() => {
                self.comparing.push(Box::pin(async move {
                    sleep(COMPARE_EVERY).await;
                    comparison
                }));
            }
            why => {
                let _ = comparison.answer.send(why.map_or(Ok(()), Err));
            }
        }
        Ok(())
    }

    /// Returns whether the watch has not sent every event before the list. If it has, a listed object that the index
    /// does not have was deleted after the list.
    fn is_unseen(&self, list: &ConsistentList) -> bool {
        let mut watches = self.watches.iter();
        let watch = watches.find(|watch| watch.scope == list.scope);
        watch.is_some_and(|watch| !watch.has_seen(list.version))
    }

    /// The reason why the index does not have everything in a list; `None` if it does.
    fn not_seen(&self, list: &ConsistentList, known: &Known) -> Option<String> {
        let watch = self
            .watches
            .iter()
            .find(|watch| watch.scope == list.scope)?;
        let (namespace, name) = known.index.older_than(list)?;
        let slash = if namespace.is_empty() { "" } else { "/" };
        let kind = watch.kind.name();
        Some(format!(
            "the watch has not sent the latest state of {kind} {namespace}{slash}{name}"
        ))
    }

    /// The lists of the watched Kinds among these, and of the Kinds that are related with them. A Kind that is not
    /// watched has no list: its coverage says so.
    fn lists_of(&self, kinds: &InvolvedKinds) -> Vec<ListRequest> {
        let mut requests = Vec::new();
        for watch in self.watches.iter() {
            if bundle_states::are(&watch.kind) {
                continue;
            }
            let namespaces = self.namespaces_of(watch, kinds);
            if namespaces.is_empty() {
                continue;
            }
            let is_each = watch.namespace().is_none()
                && watch.kind.is_namespaced
                && namespaces.len() <= NAMESPACES_MAX
                && !namespaces.contains("");
            let of_each = namespaces.into_iter().map(Some).filter(|_| is_each);
            let of_scope = [None].into_iter().filter(|_| !is_each);
            requests.extend(of_each.chain(of_scope).map(|namespace| ListRequest {
                kind: Arc::clone(&watch.kind),
                list: ConsistentList::new(watch.scope, namespace.clone()),
                namespace: namespace.or_else(|| watch.namespace().cloned()),
                filter: watch.filter(),
                rules: self.cluster.options.rules(),
            }));
        }
        requests
    }

    /// The namespaces of the relevant objects of a watch; empty if no object is relevant.
    fn namespaces_of(&self, watch: &WatchState, kinds: &InvolvedKinds) -> BTreeSet<Arc<str>> {
        let rules = self.needs.related.borrow();
        let is_involved = |kind: &ApiKind| {
            let (name, group) = (&kind.gvk.kind, &kind.gvk.group);
            let by_group = kinds.get(&(Some(Arc::clone(group)), Arc::clone(name)));
            let by_name = kinds.get(&(None, Arc::clone(name)));
            by_group.into_iter().chain(by_name).flatten().cloned()
        };
        let own = is_involved(&watch.kind);
        // The Kinds of the rules that look for objects of this watch. By a rule about any Kind, most objects have no
        // related objects.
        let is_related = |kind: &ApiKind| {
            let named = rules
                .about(kind.names())
                .filter(|rule| !rule.is_about_any_kind());
            let mut related = named.filter_map(|rule| rule.kind());
            related.any(|names| names == (&*watch.kind.gvk.group, &*watch.kind.gvk.kind))
        };
        let judged = self.watches.kinds().filter(|kind| is_related(kind));
        let related = judged.flat_map(|kind| is_involved(kind));
        let all: BTreeSet<Arc<str>> = own.chain(related).collect();
        match watch.namespace() {
            Some(only) if !all.contains(only) && !all.contains("") => BTreeSet::new(),
            _ => all,
        }
    }
}

impl ListRequest {
    /// Reads the list; `None` if the server does not list the Kind, which the coverage of the Kind shows.
    async fn read(mut self, connections: Connections) -> Result<Option<ConsistentList>, String> {
        match self.read_pages(connections).await {
            Ok(()) if self.list.is_over(LISTED_MAX) => {
                let kind = self.kind.name();
                Err(format!(
                    "it has more than {LISTED_MAX} objects of the Kind {kind}"
                ))
            }
            Ok(()) => Ok(Some(self.list)),
            Err(error) => match error.response() {
                ResponseClass::Forbidden | ResponseClass::Unserved | ResponseClass::NotListable => {
                    Ok(None)
                }
                ResponseClass::Awaited | ResponseClass::TooOld | ResponseClass::Unauthorized => {
                    let kind = self.kind.name();
                    Err(format!("its Kind {kind} cannot be listed: {error}"))
                }
            },
        }
    }

    /// Reads all pages, without a version in the first request: the server reads its store.
    async fn read_pages(&mut self, connections: Connections) -> Result<(), ApiError> {
        let client = connections.client().await?;
        let decoder = Decoder::new(&self.kind, &self.rules, Detail::Metadata, Labels::None);
        let path = path_of(&self.kind, self.namespace.as_deref());
        let mut pages = Pages::new(&client, &decoder, (&path, &self.filter), PAGE_ITEMS);
        while let Some(page) = pages.next().await? {
            self.list.version = page.resource_version.parse().unwrap_or_default();
            for item in page.objects {
                if let Item::Object(object) = item {
                    self.list.add(object);
                }
            }
            if self.list.is_over(LISTED_MAX) {
                break;
            }
        }
        Ok(())
    }
}
