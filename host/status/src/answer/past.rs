//! Names that occur in a history and may not exist any more.

use std::collections::BTreeSet;

use kindsight_model::ClusterName;

use crate::history::{Bounded, HistoryQuery};

/// Names of a query that occur in a history.
#[derive(Debug, Default)]
pub(crate) struct PastNames {
    pub(super) apps: BTreeSet<String>,
    pub(super) clusters: BTreeSet<ClusterName>,
    pub(super) resources: BTreeSet<String>,
}

impl PastNames {
    /// The names of the query that occur in a transition.
    pub(crate) fn of(history: &Bounded, query: &HistoryQuery) -> Self {
        let asked = &query.selection;
        let mut past = Self::default();
        for id in history
            .iter()
            .filter_map(|recorded| recorded.transition.resource.as_ref())
        {
            past.apps.extend(asked.apps.get(&*id.app).cloned());
            past.clusters
                .extend(asked.clusters.get(&id.cluster).cloned());
            past.resources
                .extend(asked.resources.get(&*id.name).cloned());
        }
        past
    }
}
