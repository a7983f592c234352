//! The objects that a session asks for, where the configuration wants those with some labels alone.

use std::sync::Arc;

use kindsight_cluster_index::{ApiKind, ScopeId};
use kindsight_model::ReportMode;

use super::Session;

impl Session {
    /// The part of a query that leaves out objects of a Kind; empty where all of them are needed.
    pub(super) fn filter(&self, kind: &ApiKind) -> Arc<str> {
        let selection = self.cluster.options.selection.as_ref();
        let selection = selection.filter(|_| !self.is_related(kind) && !self.is_sent_to());
        selection.map_or_else(Arc::default, |selector| selector.filter(kind))
    }

    /// Requests needed objects that a selector left out. They are requested until the session ends.
    pub(super) fn widen(&mut self) {
        if self.cluster.options.selection.is_none() {
            return;
        }
        let needed = self.watches.iter();
        let needed = needed.filter(|state| self.filter(&state.kind).is_empty());
        let needed: Vec<ScopeId> = needed.map(|state| state.scope).collect();
        for scope in needed {
            if let Some(state) = self.watches.of_scope(scope) {
                state.widen();
            }
        }
    }

    /// Returns whether a relation needs objects of a Kind, in any application or in none. A relation of Kinds that the
    /// cluster does not have needs nothing.
    fn is_related(&self, kind: &ApiKind) -> bool {
        let rules = self.needs.related.borrow();
        rules.with(kind.names()).any(|rule| {
            let watched = self.watches.kinds().map(|kind| &**kind);
            let mut kinds = self.discovered.kinds.iter().chain(watched);
            kinds.any(|kind| {
                let (group, version, kind) = kind.names();
                rule.judged.matches(group, version, kind)
            })
        })
    }

    /// Returns whether `AppContext`s send apps to the cluster that are reported from objects. These objects have
    /// another label, and a selector cannot combine both labels with `or`.
    fn is_sent_to(&self) -> bool {
        let recorded = self.needs.recorded.borrow().of(&self.cluster.name);
        !recorded.is_empty() && self.cluster.options.mode != ReportMode::Bundles
    }
}
