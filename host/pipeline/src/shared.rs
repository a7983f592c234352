//! State that all placements share: interpreters, clusters and settings.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use kindsight_interpreter::{Interpreters, Published};
use kindsight_model::ClusterName;

use crate::cluster_state::{ClusterState, KIND_GRACE};
use crate::judge::Judge;
use crate::live_kinds::LiveKinds;
use crate::placement::Environment;

/// State that all placements share.
pub(crate) struct Shared {
    pub(crate) interpreters: Arc<Interpreters>,
    /// The Kinds that the goal of swaps names.
    pub(crate) kinds: LiveKinds,
    pub(crate) clusters: Clusters,
    pub(crate) timeouts: Timeouts,
}

/// Time for which an object of a found application that is there no more is listed, by default.
pub const GONE_FOR: Duration = Duration::from_mins(10);

/// Times after which waits of applications end.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// Time for which a deleted object of a found application is listed as gone. Zero lists no gone objects.
    pub gone_for: Duration,
    /// Maximum time that a resource waits for another status after its changed manifest was applied, if its status has no
    /// `observedGeneration`. Without this timeout, and for any other status, the wait ends only with another status.
    pub confirmation: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            gone_for: GONE_FOR,
            confirmation: None,
        }
    }
}

/// The state of each cluster.
pub(crate) struct Clusters {
    by_name: HashMap<ClusterName, ClusterState>,
    /// State of a cluster that was never configured.
    unknown: ClusterState,
    /// Time after the start of a cluster for which every unanswered Kind counts.
    pub(crate) grace: Duration,
}

impl Shared {
    pub(crate) fn new(interpreters: Arc<Interpreters>) -> Self {
        Self {
            kinds: LiveKinds::of(&interpreters.published()),
            interpreters,
            clusters: Clusters {
                by_name: HashMap::new(),
                unknown: ClusterState::default(),
                grace: KIND_GRACE,
            },
            timeouts: Timeouts::default(),
        }
    }

    /// The environment of a change of a placement in a cluster, which is judged by this set.
    pub(crate) fn environment<'s>(
        &'s self,
        cluster: &ClusterName,
        set: &'s Arc<Published>,
        now_ms: i64,
    ) -> Environment<'s> {
        Environment {
            judge: Judge {
                interpreters: &self.interpreters,
                set,
            },
            cluster: self.clusters.get(cluster),
            kinds: &self.kinds,
            timeouts: self.timeouts,
            now_ms,
        }
    }
}

impl Clusters {
    pub(crate) fn get(&self, cluster: &ClusterName) -> &ClusterState {
        self.by_name.get(cluster).unwrap_or(&self.unknown)
    }

    /// The state of a cluster that is configured. A new one is connecting since now.
    pub(crate) fn entry(&mut self, cluster: &ClusterName, now_ms: i64) -> &mut ClusterState {
        let state = self.by_name.entry(cluster.clone()).or_default();
        state.expect(self.grace, now_ms);
        state
    }

    /// The state of a cluster that was configured.
    pub(crate) fn get_mut(&mut self, cluster: &ClusterName) -> Option<&mut ClusterState> {
        self.by_name.get_mut(cluster)
    }

    /// When the first cluster with unanswered Kinds ends its grace time after `now_ms`.
    pub(crate) fn grace_ends_ms(&self, now_ms: i64) -> Option<i64> {
        let ends = self
            .by_name
            .values()
            .filter_map(ClusterState::grace_ends_ms);
        ends.filter(|at| *at > now_ms).min()
    }

    /// The clusters with unanswered Kinds whose grace time ended between two times.
    pub(crate) fn grace_ended(&self, after_ms: i64, now_ms: i64) -> Vec<ClusterName> {
        let ended = self.by_name.iter().filter(|(_, state)| {
            let ends_ms = state.grace_ends_ms();
            ends_ms.is_some_and(|at| after_ms < at && at <= now_ms)
        });
        ended.map(|(name, _)| name.clone()).collect()
    }
}
