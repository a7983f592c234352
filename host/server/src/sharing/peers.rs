//! The followers of the other hosts: each sends its clusters to the pipeline of this host.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_leases::{HostId, HostUrl, Table};
use kindsight_pipeline::QueuedEvent;
use kindsight_replication::{
    FeedScope, Upstream, UpstreamChange, UpstreamEvent, UpstreamSettings, UpstreamSettingsError,
    UpstreamState,
};
use kindsight_rest::PEERS_MAX;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::clock::now_ms;
use crate::sources::Closed;
use crate::tasks::{Tasks, infallible};

/// Time after the end of a host for which its last state is kept. Until another host has listed a cluster, answers show
/// this state as stale.
const KEPT: Duration = Duration::from_mins(10);

/// The credentials for the other hosts.
#[derive(Debug, Clone, Default)]
pub struct PeerSettings {
    /// File with the token of a user with the role `viewer` for everything. Read for each connection.
    pub token_file: Option<PathBuf>,
    /// PEM file with the authorities that may sign the certificates of the hosts, instead of the system's authorities.
    pub ca: Option<PathBuf>,
}

/// The followed hosts.
pub(super) struct Peers {
    settings: PeerSettings,
    tasks: Tasks,
    events_tx: mpsc::Sender<QueuedEvent>,
    followed: BTreeMap<HostId, Peer>,
    /// The live hosts that are not followed, because [`PEERS_MAX`] hosts are.
    refused: BTreeSet<HostId>,
}

/// A followed host.
struct Peer {
    url: HostUrl,
    /// The name of the upstream host in events.
    name: Arc<str>,
    stop: CancellationToken,
    /// Cancelled when the follower has ended. It sends no event afterwards.
    ended: CancellationToken,
    /// The time at which the host ended; `None` while it is live.
    left: Option<Instant>,
    state: watch::Receiver<UpstreamState>,
}

impl PeerSettings {
    /// The host at a URL. This host follows the clusters that the other host owns.
    ///
    /// # Errors
    /// The URL or a file is invalid.
    pub(super) fn upstream(&self, url: &HostUrl) -> Result<Upstream, UpstreamSettingsError> {
        Upstream::new(UpstreamSettings {
            url: url.as_str().to_owned(),
            token_file: self.token_file.clone(),
            ca: self.ca.clone(),
            scope: FeedScope::Own,
        })
    }
}

impl Peers {
    pub(super) fn new(
        settings: PeerSettings,
        tasks: &Tasks,
        events_tx: mpsc::Sender<QueuedEvent>,
    ) -> Self {
        Self {
            settings,
            tasks: tasks.clone(),
            events_tx,
            followed: BTreeMap::new(),
            refused: BTreeSet::new(),
        }
    }

    /// The live hosts that are not followed, because too many others are.
    pub(super) fn refused(&self) -> &BTreeSet<HostId> {
        &self.refused
    }

    /// Returns whether the complete state of a live host has not arrived yet.
    pub(super) fn are_awaited(&self) -> bool {
        let live = self.followed.values().filter(|peer| peer.left.is_none());
        live.into_iter()
            .any(|peer| !peer.state.borrow().has_snapshot)
    }

    /// Follows each other live host, and ends to follow a host some time after its end.
    pub(super) async fn follow(
        &mut self,
        table: &Table,
        me: &HostId,
        now: Instant,
    ) -> Result<(), Closed> {
        for (id, peer) in &mut self.followed {
            let host = table.hosts().get(id);
            let is_live = host.is_some_and(|host| host.url == peer.url);
            peer.left = (!is_live).then(|| peer.left.unwrap_or(now));
        }
        let has_moved = |id: &HostId, peer: &Peer| {
            let host = table.hosts().get(id);
            host.is_some_and(|host| host.url != peer.url)
        };
        let is_over = |id: &HostId, peer: &Peer| {
            let is_kept = |left: Instant| now.saturating_duration_since(left) < KEPT;
            has_moved(id, peer) || peer.left.is_some_and(|left| !is_kept(left))
        };
        let over = self.followed.iter().filter(|(id, peer)| is_over(id, peer));
        let over: Vec<HostId> = over.map(|(id, _)| id.clone()).collect();
        for id in over {
            self.end(&id).await?;
        }
        self.refused.retain(|id| table.hosts().contains_key(id));
        for (id, host) in table.hosts() {
            if id == me || self.followed.contains_key(id) {
                continue;
            }
            if self.followed.len() < PEERS_MAX {
                self.refused.remove(id);
                self.begin(id, &host.url);
            } else if self.refused.insert(id.clone()) {
                tracing::warn!(host = %id, hosts_max = PEERS_MAX, "this host already follows the maximum number of hosts; it does not show the clusters of this one");
            }
        }
        Ok(())
    }

    fn begin(&mut self, id: &HostId, url: &HostUrl) {
        let upstream = match self.settings.upstream(url) {
            Ok(upstream) => upstream,
            Err(error) => {
                tracing::warn!(host = %id, %error, "a host cannot be followed");
                return;
            }
        };
        tracing::info!(host = %id, "this host follows another host");
        let (name, state) = (Arc::clone(upstream.name()), upstream.state());
        let (stop, ended) = (
            self.tasks.shutdown().child_token(),
            CancellationToken::new(),
        );
        let end = ended.clone().drop_guard();
        let following = upstream.run(self.events_tx.clone(), now_ms, stop.clone());
        let following = async move {
            let _end = end;
            following.await;
        };
        self.tasks
            .spawn_until(&stop, "follower of another host", infallible(following));
        let peer = Peer {
            url: url.clone(),
            name,
            stop,
            ended,
            left: None,
            state,
        };
        self.followed.insert(id.clone(), peer);
    }

    async fn end(&mut self, id: &HostId) -> Result<(), Closed> {
        let Some(peer) = self.followed.remove(id) else {
            return Ok(());
        };
        peer.stop.cancel();
        peer.ended.cancelled().await;
        let event = UpstreamEvent {
            upstream: peer.name,
            scope: FeedScope::Own,
            change: UpstreamChange::Removed,
        };
        let sent = self.events_tx.send(event.into()).await;
        sent.map_err(|_| Closed)
    }
}

#[cfg(test)]
mod tests {
    use kindsight_leases::{HostValue, Weight};
    use kindsight_store::{Batch, LEASES_PREFIX, RedbStore, Store as _};

    use super::*;

    /// The table of hosts with these ports. No host answers there.
    fn table(ports: impl Iterator<Item = usize>) -> Table {
        let store = RedbStore::in_memory().unwrap();
        for port in ports {
            let url: HostUrl = format!("http://127.0.0.1:{port}").parse().unwrap();
            let value = HostValue::new(&url, "1.0.0", 0, Weight::default()).encode();
            let key = format!("{LEASES_PREFIX}{}/", url.id().lease_name());
            store.apply(&Batch::new().put(key, value)).unwrap();
        }
        Table::of(&store.range(LEASES_PREFIX).unwrap())
    }

    #[tokio::test]
    async fn a_host_above_the_limit_is_refused_until_a_place_is_free() {
        let tasks = Tasks::default();
        let (events_tx, mut events_rx) = mpsc::channel(1000);
        let mut peers = Peers::new(PeerSettings::default(), &tasks, events_tx);
        let me: HostId = "127.0.0.1:1".parse().unwrap();
        let now = Instant::now();
        // This host, the hosts that it follows, and two others.
        let all = table(1..PEERS_MAX + 4);
        let counts = |peers: &Peers| (peers.followed.len(), peers.refused().len());
        for _ in 0..2 {
            peers.follow(&all, &me, now).await.unwrap();
            assert_eq!(counts(&peers), (PEERS_MAX, 2));
        }
        // A followed host ends. Its last state is kept for a while, and then another host has its place.
        let ended = peers.followed.first_key_value().unwrap().0.to_string();
        let ended: usize = ended.rsplit(':').next().unwrap().parse().unwrap();
        let others = table((1..PEERS_MAX + 4).filter(|port| *port != ended));
        peers.follow(&others, &me, now).await.unwrap();
        assert_eq!(counts(&peers), (PEERS_MAX, 2));
        peers.follow(&others, &me, now + KEPT).await.unwrap();
        assert_eq!(counts(&peers), (PEERS_MAX, 1));
        // A refused host that ends is forgotten.
        peers.follow(&Table::default(), &me, now).await.unwrap();
        assert_eq!(counts(&peers), (PEERS_MAX, 0));
        events_rx.close();
        tasks.stop(Duration::from_mins(1)).await.unwrap();
    }
}
