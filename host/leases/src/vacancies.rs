//! Clusters without an owner.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use kindsight_model::ClusterName;

use crate::Table;

/// Time after which any host takes a cluster without an owner. The assigned host may not have the cluster
/// in its configuration.
pub const VACANT_MAX: Duration = Duration::from_secs(5);

/// The clusters without an owner, with the time at which each was first seen without one.
#[derive(Debug, Clone, Default)]
pub struct Vacancies(BTreeMap<ClusterName, Instant>);

impl Vacancies {
    /// Follows the owners at a time.
    pub fn follow(&mut self, table: &Table, configured: &BTreeSet<ClusterName>, now: Instant) {
        let vacant = configured
            .iter()
            .filter(|cluster| table.owner(cluster).is_none());
        let before = std::mem::take(&mut self.0);
        let since = |cluster: &ClusterName| before.get(cluster).copied().unwrap_or(now);
        self.0 = vacant
            .map(|cluster| (cluster.clone(), since(cluster)))
            .collect();
    }

    /// The clusters that were without an owner for [`VACANT_MAX`].
    pub fn long(&self, now: Instant) -> BTreeSet<ClusterName> {
        let long = self
            .0
            .iter()
            .filter(|(_, since)| now.saturating_duration_since(**since) >= VACANT_MAX);
        long.map(|(cluster, _)| cluster.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_vacant_for_long_after_its_time() {
        let configured = BTreeSet::from(["lab+a".parse().unwrap()]);
        let mut vacancies = Vacancies::default();
        let begin = Instant::now();
        vacancies.follow(&Table::default(), &configured, begin);
        vacancies.follow(&Table::default(), &configured, begin + VACANT_MAX / 2);
        assert!(vacancies.long(begin + VACANT_MAX / 2).is_empty());
        assert_eq!(vacancies.long(begin + VACANT_MAX), configured);
        vacancies.follow(&Table::default(), &BTreeSet::new(), begin + VACANT_MAX);
        assert!(vacancies.long(begin + VACANT_MAX).is_empty());
    }
}
