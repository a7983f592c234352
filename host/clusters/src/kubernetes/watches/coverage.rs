//! Coverage of the watches of one cluster: the Kinds of which everything is seen, and why it is not of others.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{WatchState, Watches};
use crate::kubernetes::connection::ApiError;
use crate::kubernetes::discovery::ApiKind;
use crate::kubernetes::news::WatchId;

impl Watches {
    /// The reason why the cluster as a whole is not heard: what is known of it may be out of date.
    ///
    /// A watch that fails costs more than its Kind only where the server cannot be reached, or where
    /// applications have objects of it or are judged by some.
    pub(in crate::kubernetes) fn trouble(
        &self,
        is_used: impl Fn(WatchId, &ApiKind, &ApiError) -> bool,
    ) -> Option<String> {
        self.by_id.iter().find_map(|(id, it)| {
            let failure = it.failure()?;
            if matches!(failure, ApiError::Unreachable(_)) {
                return Some(failure.of_cluster());
            }
            let told = || format!("a Kind cannot be followed any more: {}", it.told(failure));
            is_used(*id, &it.kind, failure).then(told)
        })
    }

    /// The Kinds of which every object is seen, in each namespace that is watched. One that cannot be followed
    /// for a moment, since the server cannot be reached, stays among them: what is known of the whole cluster
    /// is stale then.
    pub(in crate::kubernetes) fn covered(&self) -> BTreeSet<&ApiKind> {
        let is_covered = |it: &&WatchState| {
            let is_away = |error: &ApiError| matches!(error, ApiError::Unreachable(_));
            it.extent.is_everything() && it.failure.as_ref().is_none_or(is_away)
        };
        let (covered, others): (Vec<_>, Vec<_>) = self.by_id.values().partition(is_covered);
        let others: BTreeSet<&ApiKind> = others.into_iter().map(|it| &*it.kind).collect();
        let covered = covered.into_iter().map(|it| &*it.kind);
        covered.filter(|it| !others.contains(it)).collect()
    }

    /// The Kinds of which the credentials do not allow to see all.
    pub(in crate::kubernetes) fn forbidden(&self) -> impl Iterator<Item = &ApiKind> {
        let is_forbidden = |it: &&WatchState| matches!(it.failure(), Some(ApiError::Forbidden(_)));
        let forbidden = self.by_id.values().filter(is_forbidden);
        forbidden.map(|it| &*it.kind)
    }

    /// The Kinds that are not watched, with the reason.
    pub(in crate::kubernetes) fn not_covered(&self) -> Vec<Arc<str>> {
        let failed = self.by_id.values();
        let failed = failed.filter_map(|it| Some(it.told(it.failure()?).into()));
        failed.collect()
    }
}

impl WatchState {
    /// A failure in words, with the Kind and the namespace.
    fn told(&self, failure: &ApiError) -> String {
        let kind = self.kind.name();
        match &self.namespace {
            Some(namespace) => format!("{kind} in {namespace}: {failure}"),
            None => format!("{kind}: {failure}"),
        }
    }
}
