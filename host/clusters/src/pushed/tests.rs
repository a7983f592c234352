use std::time::Duration;

use kindsight_model::{ClusterFacts, Coverage, DeploymentId, InvolvedKinds};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::*;
use crate::{Recorded, RecordedDeployment};

/// A running source, with the channels to it.
struct Stage {
    name: ClusterName,
    needs: Needs,
    recorded: watch::Sender<Arc<Recorded>>,
    events: mpsc::Receiver<ClusterEvent>,
    running: JoinHandle<()>,
    _configured: watch::Sender<ClusterSource>,
}

impl Stage {
    /// Starts a source, whose channel of events has this size.
    #[expect(
        clippy::disallowed_methods,
        reason = "the runtime of the test ends the task"
    )]
    async fn start(size: usize) -> Self {
        let name: ClusterName = "p+edge".parse().unwrap();
        let cluster = PushedCluster::new(name.clone());
        let (recorded, recorded_rx) = watch::channel(Arc::default());
        let needs = Needs {
            recorded: recorded_rx,
            ..Needs::default()
        };
        let (configured, configured_rx) = watch::channel(ClusterSource::Pushed(cluster.clone()));
        let (events_tx, events) = mpsc::channel(size);
        let run = cluster.run(
            configured_rx,
            events_tx,
            needs.clone(),
            CancellationToken::new(),
        );
        let running = tokio::spawn(run);
        let mut stage = Self {
            name,
            needs,
            recorded,
            events,
            running,
            _configured: configured,
        };
        let first = stage.next().await;
        assert!(matches!(first, ClusterEvent::Facts { .. }), "{first:?}");
        stage
    }

    fn inlet(&self) -> Arc<PushInlet> {
        self.needs.pushed.get(&self.name).unwrap()
    }

    fn push(&self, batch: PushedBatch) {
        self.inlet().reserve().unwrap().send(batch);
    }

    fn synced(&self, lag: Duration) -> PushedBatch {
        let cluster = self.name.clone();
        PushedBatch {
            events: vec![ClusterEvent::Synced { cluster }],
            lag,
            ..PushedBatch::default()
        }
    }

    async fn next(&mut self) -> ClusterEvent {
        self.events.recv().await.unwrap()
    }

    async fn next_stale(&mut self) -> String {
        match self.next().await {
            ClusterEvent::Stale { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    }

    async fn next_synced(&mut self) {
        let event = self.next().await;
        assert!(matches!(event, ClusterEvent::Synced { .. }), "{event:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_agent_makes_its_cluster_stale_until_it_pushes_again() {
    let mut stage = Stage::start(8).await;
    assert!(stage.next_stale().await.contains("no agent has pushed"));
    stage.push(stage.synced(Duration::ZERO));
    stage.next_synced().await;
    assert!(stage.next_stale().await.contains("ten seconds"));
    stage.push(PushedBatch::default());
    stage.next_synced().await;
}

#[tokio::test(start_paused = true)]
async fn late_reports_are_stale_and_so_is_an_agent_that_begins_again() {
    let mut stage = Stage::start(8).await;
    stage.push(stage.synced(Duration::from_secs(11)));
    assert!(stage.next_stale().await.contains("late"));
    stage.push(PushedBatch::default());
    stage.next_synced().await;
    for _ in 0..6 {
        stage.push(PushedBatch {
            is_new_epoch: true,
            ..PushedBatch::default()
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        stage.push(PushedBatch::default());
    }
    // Each epoch was young, so the cluster remained synced.
    assert!(stage.events.try_recv().is_err());
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_secs(4)).await;
        stage.push(PushedBatch::default());
    }
    assert!(stage.next_stale().await.contains("has not listed"));
}

#[tokio::test(start_paused = true)]
async fn the_reason_of_the_agent_is_passed_on_and_its_origin_names_it() {
    let mut stage = Stage::start(8).await;
    let cluster = stage.name.clone();
    let facts = Arc::new(ClusterFacts {
        origin: "in-cluster".into(),
        ..ClusterFacts::default()
    });
    stage.push(PushedBatch {
        agent: "edge-1".into(),
        events: vec![
            ClusterEvent::Facts {
                cluster: cluster.clone(),
                facts,
            },
            ClusterEvent::Stale {
                cluster: cluster.clone(),
                reason: "the cluster\ncannot be reached".to_owned(),
            },
            ClusterEvent::Coverage {
                cluster,
                coverage: Coverage::nothing(),
            },
        ],
        ..PushedBatch::default()
    });
    match stage.next().await {
        ClusterEvent::Facts { facts, .. } => assert_eq!(&*facts.origin, "agent edge-1: in-cluster"),
        other => panic!("{other:?}"),
    }
    let event = stage.next().await;
    assert!(matches!(event, ClusterEvent::Coverage { .. }), "{event:?}");
    assert_eq!(stage.next_stale().await, "the cluster cannot be reached");
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_refused_while_the_pipeline_has_not_taken_the_last_ones() {
    let stage = Stage::start(1).await;
    let mut taken = 0;
    while let Some(permit) = stage.inlet().reserve() {
        permit.send(PushedBatch {
            events: vec![
                ClusterEvent::Heard {
                    cluster: stage.name.clone()
                };
                2
            ],
            ..PushedBatch::default()
        });
        taken += 1;
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(taken < 20, "batches are not bounded");
    }
    assert!(taken >= 4);
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_not_silent_while_the_pipeline_takes_its_batch() {
    let mut stage = Stage::start(1).await;
    let mut batch = stage.synced(Duration::ZERO);
    let heard = ClusterEvent::Heard {
        cluster: stage.name.clone(),
    };
    batch.events.extend([heard.clone(), heard]);
    stage.push(batch);
    tokio::time::sleep(SILENT_MAX * 2).await;
    for _ in 0..2 {
        let event = stage.next().await;
        assert!(matches!(event, ClusterEvent::Heard { .. }), "{event:?}");
    }
    stage.next_synced().await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_was_forgotten_is_connected_again_once_it_was_listed() {
    let mut stage = Stage::start(8).await;
    stage.push(stage.synced(Duration::ZERO));
    stage.next_synced().await;
    let cluster = stage.name.clone();
    stage.push(PushedBatch {
        events: vec![
            ClusterEvent::Removed {
                cluster: cluster.clone(),
            },
            ClusterEvent::Added { cluster },
        ],
        ..PushedBatch::default()
    });
    let events = [stage.next().await, stage.next().await];
    assert!(
        matches!(
            events,
            [ClusterEvent::Removed { .. }, ClusterEvent::Added { .. }]
        ),
        "{events:?}"
    );
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(stage.events.try_recv().is_err(), "it is not listed yet");
    stage.push(stage.synced(Duration::ZERO));
    stage.next_synced().await;
}

#[tokio::test(start_paused = true)]
async fn needs_have_another_revision_after_each_change() {
    let stage = Stage::start(8).await;
    let mut needs = stage.inlet().needs();
    let before = needs.borrow_and_update().revision;
    let id: DeploymentId = "7-front".parse().unwrap();
    let mut recorded = Recorded::default();
    let deployment = RecordedDeployment {
        namespace: "web".into(),
        number: 1,
    };
    recorded.insert(&stage.name, id.clone(), deployment);
    stage.recorded.send(Arc::new(recorded)).unwrap();
    needs.changed().await.unwrap();
    let now = needs.borrow().clone();
    assert_eq!(now.revision, before + 1);
    assert!(now.recorded.contains_key(&id));
    assert!(now.revision < 1 << 53);
}

#[tokio::test(start_paused = true)]
#[expect(
    clippy::disallowed_methods,
    reason = "the runtime of the test ends the task"
)]
async fn a_confirmation_waits_for_the_answer_of_the_agent() {
    let mut stage = Stage::start(8).await;
    let name = stage.name.clone();
    let clusters = || [(name.clone(), InvolvedKinds::default())].into();
    let confirmations = stage.needs.confirmations.clone();
    let early = confirmations.confirm(clusters()).await.unwrap_err();
    assert!(early.contains("no agent has pushed"), "{early}");
    stage.push(stage.synced(Duration::ZERO));
    stage.next_synced().await;
    for answer in [Ok(()), Err("a list failed".to_owned())] {
        let asking = clusters();
        let confirmations = confirmations.clone();
        let asked = tokio::spawn(async move { confirmations.confirm(asking).await });
        let mut needs = stage.inlet().needs();
        let needs = needs
            .wait_for(|needs| !needs.confirmations.is_empty())
            .await;
        let id = *needs.unwrap().confirmations.keys().next().unwrap();
        stage.push(PushedBatch {
            confirmed: vec![(id + 1, Ok(())), (id, answer.clone())],
            ..PushedBatch::default()
        });
        let got = asked.await.unwrap();
        assert_eq!(got.is_ok(), answer.is_ok(), "{got:?}");
    }
    let needs = stage.inlet().needs();
    assert!(needs.borrow().confirmations.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_source_that_ended_takes_no_batches() {
    let stage = Stage::start(8).await;
    stage.running.abort();
    let _ = stage.running.await;
    assert!(stage.needs.pushed.get(&stage.name).is_none());
}
