//! The objects that a session asks for, where the configuration wants those with some labels alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Session;
use crate::kubernetes::deployments::ReportMode;
use crate::kubernetes::discovery::ApiKind;
use crate::kubernetes::news::WatchId;
use crate::kubernetes::run::Run;

impl Session {
    /// The part of a query that leaves out objects of a Kind; empty where all of them are needed.
    pub(super) fn filter(&self, kind: &ApiKind) -> Arc<str> {
        let selection = self.cluster.options.selection.as_ref();
        let selection = selection.filter(|_| !self.is_related(kind) && !self.is_sent_to());
        selection.map_or_else(Arc::default, |it| it.filter(kind))
    }

    /// Asks for the objects that are needed by now and were left out. They are needed until the session ends.
    pub(super) fn widen(&mut self) {
        if self.cluster.options.selection.is_none() {
            return;
        }
        let needed = self.watches.iter();
        let needed = needed.filter(|(_, kind)| self.filter(kind).is_empty());
        let needed: Vec<WatchId> = needed.map(|(watch, _)| watch).collect();
        for watch in needed {
            if let Some(state) = self.watches.get_mut(watch) {
                state.widen();
                self.inventory.set_complete(watch, state.is_complete());
            }
        }
    }

    /// Returns whether objects of a Kind are looked for whoever they belong to.
    fn is_related(&self, kind: &ApiKind) -> bool {
        let rules = self.needs.related.borrow();
        rules.with(kind.names()).next().is_some()
    }

    /// Returns whether `AppContext`s send apps to the cluster that are told by objects: these have a label of
    /// their own, and a selector knows no `or`.
    fn is_sent_to(&self) -> bool {
        let recorded = self.needs.recorded.borrow().of(&self.cluster.name);
        !recorded.is_empty() && self.cluster.options.mode != ReportMode::Bundles
    }

    /// The Kinds of which a selector leaves out objects.
    pub(super) fn cut(&self) -> BTreeSet<Arc<ApiKind>> {
        self.watches.cut().cloned().collect()
    }

    /// Returns whether a selector leaves out objects of a Kind of which applications had some when everything
    /// was last told, and left out none then.
    pub(super) fn is_cut_anew<E>(&self, run: &Run<E>) -> bool {
        let mut cut = self.watches.cut();
        cut.any(|it| run.used.contains(it) && !run.cut.contains(it))
    }
}
