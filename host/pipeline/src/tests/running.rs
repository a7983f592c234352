//! The pipeline with the executor around it, as a server runs it.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use kindsight_appcontext::AppContexts;
use kindsight_clusters::ClusterEvent;
use kindsight_model::{ClusterName, ContextStatus};
use tokio::sync::mpsc::channel;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::stage::{Stage, deployments};
use crate::bundle_queue::BundleQueue;
use crate::{Event, PipelineRun, Stores, Unsynced, follow};

fn now_ms() -> i64 {
    1000
}

#[tokio::test]
async fn a_running_pipeline_follows_swaps_and_the_store_and_tells_what_was_reported() {
    let mut stage = Stage::new(&[("1", &["a"])]);
    let (events_tx, events_rx) = channel(8);
    let (reported_tx, reported_rx) = channel(1);
    let (swapped, shutdown) = (Arc::new(Notify::new()), CancellationToken::new());
    let cluster: ClusterName = "p+c".parse().unwrap();
    let unsynced = Arc::new(Unsynced::new(BTreeSet::from([cluster.clone()])));
    let contexts = AppContexts::new(Arc::clone(&stage.store));
    let mut pipeline = stage.take_pipeline();
    let reader = pipeline.load(0).unwrap();
    let progress = pipeline.progress();
    let stores = Stores {
        reader,
        connection: stage.store.connection(),
        clock: now_ms,
    };
    let run = PipelineRun {
        pipeline,
        events_rx,
        swapped: Arc::clone(&swapped),
        reported_rx,
        unsynced: Arc::clone(&unsynced),
        handled: Arc::new(|_, _| {}),
        clock: now_ms,
    };
    let tasks = TaskTracker::new();
    let running = tasks.spawn(run.run(shutdown.clone()));
    let store = follow(stores, events_tx.clone(), shutdown.clone());
    tasks.spawn(store);

    let report = deployments(4500).event("1", "a");
    events_tx.send(report.into()).await.unwrap();
    let synced = Event::Cluster(ClusterEvent::Synced { cluster });
    events_tx.send(synced.into()).await.unwrap();
    let mut empty = unsynced.subscribe();
    empty.wait_for(BTreeSet::is_empty).await.unwrap();
    assert_eq!(stage.by_of("1", "Deployment"), "generic");

    // Nothing else happens that could wake it.
    stage.publish(&["generic", "apps"]);
    swapped.notify_one();
    let generation = stage.interpreters.published().generation();
    progress.reached(generation).await;
    assert_eq!(progress.objects(), 4500);
    assert_eq!(stage.by_of("1", "Deployment"), "apps");

    let (asker, answer) = oneshot::channel();
    reported_tx.send(asker).await.unwrap();
    let reported = answer.await.unwrap();
    assert_eq!(reported[0].placement, "1/a/p+c");
    assert_eq!(reported[0].objects.len(), 4500);

    let ((), mut changes) = stage.read_model.subscribe(|_| ());
    let id = "1".parse().unwrap();
    let _ = contexts
        .record_status(&id, ContextStatus::Terminating)
        .unwrap();
    changes.next().await.unwrap();
    let status = stage.view("1").status.clone();
    assert_eq!(status, Some(ContextStatus::Terminating));

    shutdown.cancel();
    tasks.close();
    tasks.wait().await;
    running.await.unwrap().unwrap();
}

/// Number of stops that are tried: whether a stop meets a write that has not begun depends on the threads.
const STOPS: usize = 20;

#[tokio::test]
async fn a_report_that_arrives_just_before_the_stop_is_stored() {
    let stage = Stage::new(&[("1", &["a"])]);
    let contexts = AppContexts::new(Arc::clone(&stage.store));
    for count in 0..STOPS {
        let queue = BundleQueue::default();
        let report = deployments(count).bundle("1", "a");
        let status_json = report.status_json();
        queue.push(
            report.deployment.clone(),
            "p+c".parse().unwrap(),
            Arc::clone(&status_json),
        );
        let shutdown = CancellationToken::new();
        let mut run = pin!(queue.run(contexts.clone(), shutdown.clone()));
        let is_running = poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx).is_pending())).await;
        assert!(is_running);
        shutdown.cancel();
        run.await.unwrap();
        let stored = contexts.read(&"1".parse().unwrap()).unwrap().unwrap();
        let stored = stored.apps[0].clusters[0].bundle.clone();
        assert_eq!(stored.json(), Some(&*status_json), "{count}");
    }
}
