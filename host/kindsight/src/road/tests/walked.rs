//! The same with the executor around it, as `serve` walks it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use kindsight_clusters::ClusterEvent;
use tokio::sync::mpsc::channel;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::stage::{Stage, deployments};
use crate::aside::Aside;
use crate::road::walk;

#[tokio::test]
async fn walking_the_road_follows_a_swap_and_tells_what_it_holds() {
    let mut stage = Stage::new(&[("1", &["a"])]);
    let (events_tx, events_rx) = channel(8);
    let (inventories_tx, inventories_rx) = channel(1);
    let (swapped, shutdown) = (Arc::new(Notify::new()), CancellationToken::new());
    let cluster: kindsight_model::ClusterName = "p+c".parse().unwrap();
    let unsynced = Arc::new(Mutex::new(BTreeSet::from([cluster.clone()])));
    let progress = stage.road.progress();
    let tasks = TaskTracker::new();
    tasks.spawn(walk(
        stage.take_road(),
        Aside::start("road").unwrap(),
        events_rx,
        Arc::clone(&swapped),
        inventories_rx,
        Arc::clone(&unsynced),
        shutdown.clone(),
    ));

    events_tx
        .send(deployments(4500).event("1", "a"))
        .await
        .unwrap();
    events_tx
        .send(ClusterEvent::Synced { cluster })
        .await
        .unwrap();
    until(|| unsynced.lock().unwrap().is_empty()).await;
    assert_eq!(stage.by_of("1", "Deployment"), "generic");

    // Nothing else happens that could wake it.
    stage.publish(&["generic", "apps"]);
    swapped.notify_one();
    let generation = stage.interpreters.published().generation();
    until(|| progress.generation() == generation).await;
    assert_eq!(progress.objects(), 4500);
    assert_eq!(stage.by_of("1", "Deployment"), "apps");

    let (asker, answer) = oneshot::channel();
    inventories_tx.send(asker).await.unwrap();
    let held = answer.await.unwrap();
    assert_eq!(
        (held[0].place.as_str(), held[0].objects.len()),
        ("1/a/p+c", 4500)
    );

    shutdown.cancel();
    tasks.close();
    tasks.wait().await;
}

/// Waits without a clock: the test ends with the test runner's patience.
async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::task::yield_now().await;
    }
}
