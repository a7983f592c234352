//! A store that does not answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kindsight_appcontext::{AppContexts, Records};
use kindsight_model::{ClusterName, ContextId, ContextStatus};
use kindsight_status::StatusQuery;
use kindsight_store::{
    Batch, Connection, Entry, Error, Keys, Range, Result, Revision, Store, StoreLimits, Watch,
};
use tokio::sync::watch::Receiver;

use super::stage::{Stage, deployments, owner};
use crate::Event;
use crate::bundle_queue::BundleQueue;

/// A store that is away on demand.
struct OnDemand {
    store: Arc<dyn Store>,
    is_away: AtomicBool,
}

impl OnDemand {
    fn reached(&self) -> Result<&dyn Store> {
        if self.is_away.load(Ordering::Relaxed) {
            let reason = "it is away".to_owned();
            return Err(Error::Unavailable { reason });
        }
        Ok(&*self.store)
    }
}

impl Store for OnDemand {
    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        self.reached()?.entry(key)
    }

    fn range(&self, prefix: &str) -> Result<Range> {
        self.reached()?.range(prefix)
    }

    fn keys(&self, prefix: &str) -> Result<Keys> {
        self.reached()?.keys(prefix)
    }

    fn apply(&self, batch: &Batch) -> Result<Revision> {
        self.reached()?.apply(batch)
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch> {
        self.reached()?.watch(prefix, after)
    }

    fn limits(&self) -> StoreLimits {
        self.store.limits()
    }

    fn connection(&self) -> Receiver<Connection> {
        self.store.connection()
    }
}

#[test]
fn reports_wait_for_a_store_that_is_away_and_are_there_afterwards() {
    let stage = Stage::new(&[("1", &["a", "b"])]);
    let store = Arc::new(OnDemand {
        store: Arc::clone(&stage.store),
        is_away: AtomicBool::new(true),
    });
    let contexts = AppContexts::new(Arc::clone(&store) as Arc<dyn Store>);
    let queue = BundleQueue::default();
    let cluster: ClusterName = "p+c".parse().unwrap();
    let push = |app: &str, count| {
        let bundle = deployments(count).bundle("1", app);
        queue.push(bundle.deployment, cluster.clone(), bundle.status_json);
    };
    push("a", 1);
    push("b", 1);
    assert!(!queue.write_all(&contexts));
    push("a", 2);
    store.is_away.store(false, Ordering::Relaxed);
    assert!(queue.write_all(&contexts));
    let read = contexts.read(&"1".parse().unwrap()).unwrap().unwrap();
    let stored = read.apps.iter().map(|app| {
        let bundle = app.clusters[0].bundle_status_json.as_deref();
        bundle
            .unwrap()
            .matches(r#""replicas": 1}, "status""#)
            .count()
    });
    assert_eq!(stored.collect::<Vec<_>>(), [2, 1]);
}

/// Context 1, read from a store that can be away.
fn on_demand() -> (Stage, Arc<OnDemand>) {
    let mut stage = Stage::new(&[("1", &["a"])]);
    stage.hear("1", "a", &deployments(1), 0);
    let store = Arc::new(OnDemand {
        store: Arc::clone(&stage.store),
        is_away: AtomicBool::new(false),
    });
    stage.store = Arc::clone(&store) as Arc<dyn Store>;
    stage.start_again(&[], crate::GONE_FOR, 500);
    (stage, store)
}

fn is_told_away(stage: &Stage) -> bool {
    stage.read_model.inspect(|it| it.store_away().is_some())
}

#[test]
fn a_change_that_could_not_be_read_is_read_once_the_store_answers() {
    let id: ContextId = "1".parse().unwrap();
    let missed = [
        Event::Context {
            id: id.clone(),
            revision: Revision::default(),
        },
        Event::Resync,
    ];
    for event in missed {
        let (mut stage, store) = on_demand();
        let contexts = AppContexts::new(Arc::clone(&stage.store));
        let _ = contexts
            .record_status(&id, ContextStatus::Terminated)
            .unwrap();
        store.is_away.store(true, Ordering::Relaxed);
        stage.pipeline.handle(event, 1000);
        assert!(is_told_away(&stage), "what is shown is not what is stored");
        assert_eq!(stage.pipeline.recheck(|| 2000), Some(3000));
        assert!(is_told_away(&stage));
        store.is_away.store(false, Ordering::Relaxed);
        stage.pipeline.recheck(|| 3000);
        assert!(!is_told_away(&stage));
        assert_eq!(stage.view("1").status, Some(ContextStatus::Terminated));
    }
}

#[test]
fn a_record_that_could_not_be_read_is_read_once_the_store_answers() {
    for event in [Event::DigRecord(owner()), Event::ResyncRecords] {
        let (mut stage, store) = on_demand();
        let records = Records::new(Arc::clone(&stage.store));
        let seen = records.dig(&owner()).unwrap().unwrap();
        records.delete_dig(&owner(), &seen).unwrap();
        store.is_away.store(true, Ordering::Relaxed);
        stage.pipeline.handle(event, 1000);
        let query = StatusQuery::default();
        let is_known = |stage: &Stage| stage.read_model.dig(&owner(), &query).is_ok();
        assert!(is_known(&stage));
        store.is_away.store(false, Ordering::Relaxed);
        stage.pipeline.recheck(|| 2000);
        assert!(!is_known(&stage));
    }
}
