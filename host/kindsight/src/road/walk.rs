//! The walk: what happens on the road, one step after the other, for as long as the server runs.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kindsight_clusters::ClusterEvent;
use kindsight_model::ClusterName;
use tokio::sync::mpsc::Receiver;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use crate::aside::Aside;
use crate::judge::now_ms;
use crate::road::{Held, Road};

/// Events that are taken before what waits for longer has its turn: the next slice after a swap.
const EVENTS_PER_STEP_MAX: usize = 16;

/// Clusters that have not said everything yet.
pub(crate) type Unsynced = Arc<Mutex<BTreeSet<ClusterName>>>;

/// Walks the road: events as they come, what a swap of interpreters affects, and verdicts that want
/// to be looked at again. Who swaps says so to `swapped`. Who wants to know everything the road holds
/// sends to `inventories` where the answer goes. Steps block, so each is done on `thread`.
pub(crate) async fn walk(
    mut road: Road,
    thread: Aside,
    mut events: Receiver<ClusterEvent>,
    swapped: Arc<Notify>,
    mut inventories: Receiver<oneshot::Sender<Vec<Held>>>,
    unsynced: Unsynced,
    shutdown: CancellationToken,
) {
    let mut look_again_at_ms: Option<i64> = Some(now_ms());
    loop {
        let wait = look_again_at_ms.map_or(Duration::MAX, |at| {
            Duration::from_millis(u64::try_from(at - now_ms()).unwrap_or(0))
        });
        let is_pending = road.swap_pending();
        let first = tokio::select! {
            // In this order: an event never waits for more than one slice, and no slice for more than
            // one step of events.
            biased;
            () = shutdown.cancelled() => return,
            Some(asker) = inventories.recv() => {
                // Who asked may have gone.
                let _ = asker.send(road.inventory());
                continue;
            }
            // Without clusters there are no events; what is known may still want a look.
            Some(event) = events.recv() => Some(event),
            () = std::future::ready(()), if is_pending => None,
            () = swapped.notified() => None,
            () = tokio::time::sleep(wait) => None,
        };
        let rest = std::iter::from_fn(|| events.try_recv().ok());
        let taken: Vec<ClusterEvent> = first
            .into_iter()
            .chain(rest)
            .take(EVENTS_PER_STEP_MAX)
            .collect();
        let synced: Vec<ClusterName> = taken.iter().filter_map(synced).collect();
        let step = move || {
            for event in taken {
                road.take(event, now_ms());
            }
            road.follow_swap(now_ms());
            let next = road.look_again(now_ms());
            (road, next)
        };
        let Some((back, next)) = thread.run(step).await else {
            tracing::error!("the road broke; stopping");
            shutdown.cancel();
            return;
        };
        (road, look_again_at_ms) = (back, next);
        let mut unsynced = unsynced.lock().unwrap_or_else(PoisonError::into_inner);
        unsynced.retain(|cluster| !synced.contains(cluster));
    }
}

/// The cluster that has said everything, where an event says so.
fn synced(event: &ClusterEvent) -> Option<ClusterName> {
    match event {
        ClusterEvent::Synced { cluster } => Some(cluster.clone()),
        _ => None,
    }
}
