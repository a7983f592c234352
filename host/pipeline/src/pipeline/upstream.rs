//! Batches of other hosts, and outages of the connections to them.

use std::sync::Arc;

use kindsight_model::ClusterName;
use kindsight_replication::{Batch, FeedScope, UpstreamChange, UpstreamEvent};
use kindsight_status::{ApplicationKey, ContextView, HistoryChange, Staleness};

use super::Pipeline;
use crate::publisher::SentHistory;

impl Pipeline {
    pub(super) fn take_upstream(&mut self, event: UpstreamEvent, now_ms: i64) {
        let UpstreamEvent {
            upstream,
            scope,
            change,
        } = event;
        let is_mirror = scope == FeedScope::Every;
        match change {
            UpstreamChange::Batch(batch) => self.take_batch(&upstream, *batch, is_mirror, now_ms),
            UpstreamChange::Away(staleness) => {
                self.upstream_is_away(&upstream, staleness, is_mirror, now_ms);
            }
            UpstreamChange::Removed => self.forget_upstream(&upstream, is_mirror, now_ms),
        }
    }

    /// Publishes a batch: applications, records, connections, then removals. Records name applications. Both precede the
    /// connections, because a connected cluster shows that an application without a view does not exist there.
    fn take_batch(&mut self, upstream: &Arc<str>, batch: Batch, is_mirror: bool, now_ms: i64) {
        let host = self.publisher.remotes().host(upstream);
        host.has_histories = batch.has_histories && !is_mirror;
        let (was_away, has_histories) = (host.away.take(), host.has_histories);
        let (mut connected, mut taken_over) = (Vec::new(), Vec::new());
        for (cluster, connection) in batch.connections {
            let owners = self.publisher.remotes().owners(&cluster);
            let host = self.publisher.remotes().host(upstream);
            match connection {
                Some(connection) => host.connections.insert(cluster.clone(), connection),
                None => host.connections.remove(&cluster),
            };
            if self.publisher.remotes().owners(&cluster) != owners {
                taken_over.push(cluster.clone());
            }
            connected.push(cluster);
        }
        for change in batch.applications {
            let host = self.publisher.remotes().host(upstream);
            host.views.insert(change.key.clone(), Arc::new(change.view));
            let history = if is_mirror {
                SentHistory::Mirrored(change.history)
            } else if has_histories {
                SentHistory::Shared {
                    upstream,
                    change: change.history,
                }
            } else {
                SentHistory::Nothing
            };
            self.publish_remote(&change.key, history, now_ms);
        }
        for (subject, record) in batch.records {
            self.publisher.publish_record(&subject, record);
        }
        for cluster in &connected {
            self.publisher.publish_joined_connection(cluster);
        }
        for cluster in taken_over {
            self.release(&cluster, now_ms);
            self.publish_joined(&cluster, now_ms);
        }
        if was_away.is_some() {
            tracing::info!(%upstream, "upstream host answers");
            self.publish_upstream(upstream, is_mirror, now_ms);
        }
        if let Some(stores) = batch.stores {
            let host = self.publisher.remotes().host(upstream);
            host.store = stores.contexts;
            let shown = host.shown_store();
            self.publisher.publish_store(shown);
            self.publisher.publish_state_store(stores.states);
        }
        for key in batch.gone {
            self.publisher.remotes().host(upstream).views.remove(&key);
            self.publish_remote(&key, SentHistory::Nothing, now_ms);
        }
    }

    fn upstream_is_away(
        &mut self,
        upstream: &Arc<str>,
        staleness: Staleness,
        is_mirror: bool,
        now_ms: i64,
    ) {
        let Staleness { since_ms, reason } = staleness;
        tracing::warn!(%upstream, %reason, "upstream host not heard; its last state is shown as stale");
        let reason = format!("the upstream host {upstream} is not heard: {reason}");
        self.publisher.remotes().host(upstream).away = Some(Staleness {
            since_ms,
            reason: reason.into(),
        });
        self.publish_upstream(upstream, is_mirror, now_ms);
    }

    /// Publishes everything that a host sent, with its present staleness.
    fn publish_upstream(&mut self, upstream: &Arc<str>, is_mirror: bool, now_ms: i64) {
        let host = self.publisher.remotes().host(upstream);
        let clusters: Vec<ClusterName> = host.connections.keys().cloned().collect();
        let keys: Vec<ApplicationKey> = host.views.keys().cloned().collect();
        let store = host.shown_store();
        for cluster in clusters {
            self.publisher.publish_joined_connection(&cluster);
        }
        for key in keys {
            let history = if is_mirror {
                SentHistory::Mirrored(HistoryChange::default())
            } else {
                SentHistory::Nothing
            };
            self.publish_remote(&key, history, now_ms);
        }
        if is_mirror {
            self.publisher.publish_store(store);
        }
    }

    fn forget_upstream(&mut self, upstream: &Arc<str>, is_mirror: bool, now_ms: i64) {
        let Some(host) = self.publisher.remotes().remove_host(upstream) else {
            return;
        };
        for cluster in host.connections.keys() {
            self.publisher.publish_joined_connection(cluster);
        }
        for key in host.views.keys() {
            self.publish_remote(key, SentHistory::Nothing, now_ms);
        }
        if is_mirror {
            self.publisher.publish_store(None);
        }
    }

    /// Publishes the applications that other hosts show in a cluster, because the cluster has another owner, or its owner
    /// has listed it.
    pub(super) fn publish_joined(&mut self, cluster: &ClusterName, now_ms: i64) {
        for key in self.publisher.remotes().keys_in(cluster) {
            self.publish_remote(&key, SentHistory::Nothing, now_ms);
        }
    }

    /// Publishes an application that another host shows or showed.
    pub(super) fn publish_remote(
        &mut self,
        key: &ApplicationKey,
        history: SentHistory<'_>,
        now_ms: i64,
    ) {
        let own: Option<ContextView> = self.applications.get(key).map(|state| state.view(key));
        self.publisher.publish_remote(key, own, history, now_ms);
    }
}
