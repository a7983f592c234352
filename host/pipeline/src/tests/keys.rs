//! Changed keys of contexts in a store that counts its reads.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use kindsight_appcontext::{AppContexts, NewResource, ResourceName, StatusChange};
use kindsight_model::{ContextId, RsyncStatus};
use kindsight_store::{
    Batch, Connection, Entry, Keys, Leased, Range, Result, Revision, Store, StoreLimits, Watch,
};
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::watch::Receiver;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::stage::{Stage, context, deployments};
use crate::{PipelineRun, QueuedEvent, Stores, Unsynced, follow};

/// A store that counts its reads, and can hold them up.
struct Counting {
    store: Arc<dyn Store>,
    reads: AtomicUsize,
    is_held: Mutex<bool>,
    released: Condvar,
}

impl Counting {
    fn count(&self) -> &dyn Store {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let held = self.is_held.lock().unwrap();
        drop(self.released.wait_while(held, |held| *held).unwrap());
        &*self.store
    }

    /// Holds up all reads, or lets them continue.
    fn hold(&self, is_held: bool) {
        *self.is_held.lock().unwrap() = is_held;
        self.released.notify_all();
    }
}

impl Store for Counting {
    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        self.count().entry(key)
    }

    fn range(&self, prefix: &str) -> Result<Range> {
        self.count().range(prefix)
    }

    fn keys(&self, prefix: &str) -> Result<Keys> {
        self.count().keys(prefix)
    }

    fn apply(&self, batch: &Batch) -> Result<Revision> {
        self.store.apply(batch)
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch> {
        self.store.watch(prefix, after)
    }

    fn lease(&self, name: &str) -> Result<Leased> {
        self.store.lease(name)
    }

    fn limits(&self) -> StoreLimits {
        self.store.limits()
    }

    fn connection(&self) -> Receiver<Connection> {
        self.store.connection()
    }
}

/// Resources of context 1.
const RESOURCES: usize = 20;

fn resource(number: usize) -> ResourceName {
    ResourceName::new(&format!("d{number}"), "Deployment").unwrap()
}

/// Contexts 1 and 2. Context 1 has many resources.
fn stage() -> Stage {
    let stage = Stage::new(&[("2", &["a"])]);
    let mut new = context(&["a"]);
    let resources = (0..RESOURCES).map(|number| NewResource {
        resource: resource(number),
        manifest: format!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d{number}\n"),
    });
    new.apps[0].clusters[0].resources = resources.collect();
    let contexts = AppContexts::new(Arc::clone(&stage.store));
    contexts.create_as(&"1".parse().unwrap(), &new).unwrap();
    stage
}

/// The orchestrator writes the status of one resource of context 1.
fn write_status(contexts: &AppContexts, number: usize, status: RsyncStatus) {
    let (id, cluster): (ContextId, _) = ("1".parse().unwrap(), "p+c".parse().unwrap());
    let change = StatusChange {
        app: "a",
        cluster: &cluster,
        resource: &resource(number),
        status,
    };
    let _ = contexts.record_resource_statuses(&id, &[change]).unwrap();
}

/// The number of resources of context 1 with the status `Applied`.
fn applied(stage: &Stage) -> usize {
    let view = stage.view("1");
    let resources = view.apps[0].clusters()[0].resources().iter();
    let applied = resources.filter(|resource| resource.rsync == Some(RsyncStatus::Applied));
    applied.count()
}

/// A running pipeline over a store that counts.
struct Running {
    stage: Stage,
    store: Arc<Counting>,
    events_tx: Sender<QueuedEvent>,
    shutdown: CancellationToken,
    tasks: TaskTracker,
    connection: watch::Sender<Connection>,
}

impl Running {
    fn start() -> Self {
        let mut stage = stage();
        let store = Arc::new(Counting {
            store: Arc::clone(&stage.store),
            reads: AtomicUsize::new(0),
            is_held: Mutex::new(false),
            released: Condvar::new(),
        });
        stage.store = Arc::clone(&store) as Arc<dyn Store>;
        stage.start_again(&[], crate::GONE_FOR, 0);
        let mut pipeline = stage.take_pipeline();
        stage.read_model = pipeline.read_model().clone();
        let reader = pipeline.load(0).unwrap();
        let (events_tx, events_rx) = channel(8);
        let (_, reported_rx) = channel(1);
        let (connection, receiver) = watch::channel(Connection::Connected);
        let (shutdown, tasks) = (CancellationToken::new(), TaskTracker::new());
        let run = PipelineRun {
            pipeline,
            events_rx,
            swapped: Arc::new(Notify::new()),
            reported_rx,
            unsynced: Arc::new(Unsynced::new(BTreeSet::new())),
            handled: Arc::new(|_, _| {}),
            clock: || 1000,
        };
        let stores = Stores {
            reader,
            connection: receiver,
            clock: || 1000,
        };
        tasks.spawn(run.run(shutdown.clone()));
        tasks.spawn(follow(stores, events_tx.clone(), shutdown.clone()));
        Self {
            stage,
            store,
            events_tx,
            shutdown,
            tasks,
            connection,
        }
    }

    /// Waits until the read model shows this.
    async fn wait(&self, is_shown: impl Fn(&Stage) -> bool) {
        let ((), mut changes) = self.stage.read_model.subscribe(|_| ());
        while !is_shown(&self.stage) {
            changes.next().await.unwrap();
        }
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

#[tokio::test]
async fn status_writes_to_a_context_are_not_followed_by_reads_of_the_context() {
    let running = Running::start();
    let contexts = AppContexts::new(Arc::clone(&running.store.store));
    running.store.reads.store(0, Ordering::SeqCst);
    for number in 0..RESOURCES {
        write_status(&contexts, number, RsyncStatus::Applied);
    }
    running.wait(|stage| applied(stage) == RESOURCES).await;
    assert_eq!(running.store.reads.load(Ordering::SeqCst), 0);
    running.stop().await;
}

#[tokio::test]
async fn a_report_is_shown_while_the_store_does_not_answer_a_read() {
    let running = Running::start();
    running.store.hold(true);
    // Everything is read again after an outage.
    running.connection.send_replace(Connection::Away {
        since_ms: 0,
        reason: "connection refused".to_owned(),
    });
    let is_away = |stage: &Stage| {
        stage
            .read_model
            .inspect(|model| model.store_away().is_some())
    };
    running.wait(is_away).await;
    running.connection.send_replace(Connection::Connected);
    let reports = deployments(3).event("2", "a");
    running.events_tx.send(reports.into()).await.unwrap();
    let shows = |stage: &Stage| {
        let view = stage.view("2");
        view.apps[0].clusters()[0].resources().len() == 3
    };
    running.wait(shows).await;
    assert!(is_away(&running.stage), "the store has not answered");
    running.store.hold(false);
    running.wait(|stage| !is_away(stage)).await;
    running.stop().await;
}

#[test]
fn changes_that_wait_for_the_pipeline_are_one_step() {
    let mut stage = stage();
    stage.follow_stores(1000);
    let contexts = AppContexts::new(Arc::clone(&stage.store));
    for number in 0..RESOURCES {
        write_status(&contexts, number, RsyncStatus::Failed);
        write_status(&contexts, number, RsyncStatus::Applied);
    }
    let ((), mut published) = stage.read_model.subscribe(|_| ());
    stage.follow_stores(2000);
    assert_eq!(applied(&stage), RESOURCES);
    assert!(published.next_now().unwrap().is_some());
    assert_eq!(published.next_now(), Ok(None));
}
