//! A store that does not answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use kindsight_appcontext::{AppContexts, Record, Records};
use kindsight_model::{ClusterName, ContextId, ContextStatus, DigName, SubjectSet};
use kindsight_status::StatusQuery;
use kindsight_store::{
    Batch, Connection, Entry, Error, Keys, Leased, Range, Result, Revision, Store, StoreLimits,
    Watch,
};
use tokio::sync::watch::Receiver;

use super::stage::{Stage, context, deployments, owner};
use crate::bundle_queue::BundleQueue;

/// A store that is away on demand, or cannot read one context.
struct OnDemand {
    store: Arc<dyn Store>,
    is_away: AtomicBool,
    /// The reason why context 1 cannot be read.
    fault: Mutex<Option<&'static str>>,
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
        let fault = *self.fault.lock().unwrap();
        if let Some(fault) = fault.filter(|_| prefix == "/context/1/") {
            return Err(Error::Backend(fault.into()));
        }
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

    fn lease(&self, name: &str) -> Result<Leased> {
        self.reached()?.lease(name)
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
        fault: Mutex::default(),
    });
    let contexts = AppContexts::new(Arc::clone(&store) as Arc<dyn Store>);
    let queue = BundleQueue::default();
    let cluster: ClusterName = "p+c".parse().unwrap();
    let push = |app: &str, count| {
        let bundle = deployments(count).bundle("1", app);
        let status = bundle.status_json();
        queue.push(bundle.deployment, cluster.clone(), status);
    };
    push("a", 1);
    push("b", 1);
    assert!(!queue.write_all(&contexts));
    push("a", 2);
    store.is_away.store(false, Ordering::Relaxed);
    assert!(queue.write_all(&contexts));
    let read = contexts.read(&"1".parse().unwrap()).unwrap().unwrap();
    let stored = read.apps.iter().map(|app| {
        let bundle = app.clusters[0].bundle.json();
        bundle
            .unwrap()
            .matches(r#""replicas": 1}, "status""#)
            .count()
    });
    assert_eq!(stored.collect::<Vec<_>>(), [2, 1]);
}

/// Contexts 1 and 2, read from a store that can be away.
fn on_demand() -> (Stage, Arc<OnDemand>) {
    let mut stage = Stage::new(&[("1", &["a"]), ("2", &["b"])]);
    stage.hear("1", "a", &deployments(1), 0);
    let store = Arc::new(OnDemand {
        store: Arc::clone(&stage.store),
        is_away: AtomicBool::new(false),
        fault: Mutex::default(),
    });
    stage.store = Arc::clone(&store) as Arc<dyn Store>;
    stage.start_again(&[], crate::GONE_FOR, 500);
    (stage, store)
}

fn is_told_away(stage: &Stage) -> bool {
    stage
        .read_model
        .inspect(|model| model.store_away().is_some())
}

#[test]
fn a_change_that_could_not_be_read_is_read_once_the_store_answers() {
    let id: ContextId = "1".parse().unwrap();
    for is_resync in [false, true] {
        let (mut stage, store) = on_demand();
        let contexts = AppContexts::new(Arc::clone(&stage.store));
        let _ = contexts
            .record_status(&id, ContextStatus::Terminated)
            .unwrap();
        let new = "3".parse().unwrap();
        contexts.create_as(&new, &context(&["c"])).unwrap();
        store.is_away.store(true, Ordering::Relaxed);
        if is_resync {
            stage.resync(1000);
        } else {
            // The new context is not in memory.
            stage.follow_stores(1000);
        }
        assert!(is_told_away(&stage), "what is shown is not what is stored");
        assert_eq!(stage.recheck(1500), Some(2000));
        assert_eq!(stage.recheck(2000), Some(3000));
        assert!(is_told_away(&stage));
        store.is_away.store(false, Ordering::Relaxed);
        stage.recheck(3000);
        assert!(!is_told_away(&stage));
        assert_eq!(stage.view("1").status, Some(ContextStatus::Terminated));
        assert_eq!(stage.view("3").apps.len(), 1);
    }
}

#[test]
fn a_record_that_could_not_be_read_is_read_once_the_store_answers() {
    for is_resync in [false, true] {
        let (mut stage, store) = on_demand();
        let records = Records::new(Arc::clone(&stage.store));
        let seen = records.get(&owner()).unwrap().unwrap();
        records.delete(&owner(), &seen).unwrap();
        store.is_away.store(true, Ordering::Relaxed);
        if is_resync {
            stage.resync_records(1000);
        } else {
            stage.follow_stores(1000);
        }
        let query = StatusQuery::default();
        let is_known = |stage: &Stage| {
            stage
                .read_model
                .visible_to(&SubjectSet::Everything)
                .dig(&owner(), &query)
                .is_ok()
        };
        assert!(is_known(&stage));
        store.is_away.store(false, Ordering::Relaxed);
        stage.recheck(2000);
        assert!(!is_known(&stage));
    }
}

/// The reason why a context cannot be read.
const FAULT: &str = "a value is too large to read";

/// The fault of a context that cannot be read.
const UNREADABLE: &str =
    "the AppContext cannot be read: the store failed: a value is too large to read";

fn faults(stage: &Stage, id: &str) -> Vec<String> {
    let view = stage.view(id);
    view.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn a_context_that_alone_cannot_be_read_costs_no_other_and_is_read_again() {
    let (mut stage, store) = on_demand();
    *store.fault.lock().unwrap() = Some(FAULT);
    stage.start_again(&[], crate::GONE_FOR, 1000);
    assert_eq!(faults(&stage, "1"), [UNREADABLE]);
    assert_eq!(stage.view("2").apps.len(), 1);
    assert!(!is_told_away(&stage), "the store answers");
    // A report on it waits, and is not lost.
    stage.hear("1", "a", &deployments(3), 2000);
    assert_eq!(stage.recheck(2000), Some(61_000));
    stage.recheck(61_000);
    assert_eq!(faults(&stage, "1"), [UNREADABLE]);
    *store.fault.lock().unwrap() = None;
    stage.recheck(121_000);
    assert_eq!(faults(&stage, "1"), [""; 0]);
    let view = stage.view("1");
    assert_eq!(view.apps[0].clusters()[0].resources().len(), 3);
}

#[test]
fn a_context_that_cannot_be_read_for_another_reason_says_the_last_one_alone() {
    let (mut stage, store) = on_demand();
    for fault in ["a value of 9 MiB", "a value of 10 MiB", FAULT] {
        *store.fault.lock().unwrap() = Some(fault);
        stage.resync(1000);
    }
    assert_eq!(faults(&stage, "1"), [UNREADABLE]);
}

#[test]
fn a_context_that_cannot_be_read_any_more_stays_and_says_so() {
    for is_resync in [false, true] {
        let (mut stage, store) = on_demand();
        *store.fault.lock().unwrap() = Some(FAULT);
        stage.resync(1000);
        assert_eq!(faults(&stage, "1"), [UNREADABLE]);
        assert_eq!(stage.view("1").apps.len(), 1, "what was known stays");
        assert!(!is_told_away(&stage));
        let view = stage.view("1");
        stage.resync(2000);
        assert!(stage.shows_still(&view), "the fault is shown once");
        *store.fault.lock().unwrap() = None;
        if is_resync {
            stage.resync(3000);
        } else {
            let contexts = AppContexts::new(Arc::clone(&stage.store));
            let id = "1".parse().unwrap();
            let _ = contexts.record_stop_flag(&id, true).unwrap();
            stage.follow_stores(3000);
        }
        assert_eq!(faults(&stage, "1"), [""; 0]);
        assert!(stage.recheck(99_000).is_none());
    }
}

#[test]
fn a_record_that_cannot_be_read_stays_and_keeps_no_other_that_is_gone() {
    let (mut stage, _) = on_demand();
    let records = Records::new(Arc::clone(&stage.store));
    let gone = DigName::new("p", "ca", "v1", "gone").unwrap();
    records.create(&gone, &Record::default()).unwrap();
    stage.resync_records(1000);
    let query = StatusQuery::default();
    let is_known = |stage: &Stage, name: &DigName| {
        stage
            .read_model
            .visible_to(&SubjectSet::Everything)
            .dig(name, &query)
            .is_ok()
    };
    assert!(is_known(&stage, &gone));
    records.delete(&gone, &Record::default()).unwrap();
    let key = format!("/kindsight/digs/{}/", owner());
    assert!(stage.store.get(&key).unwrap().is_some());
    stage.store.apply(&Batch::new().put(key, "{")).unwrap();
    stage.resync_records(2000);
    assert!(is_known(&stage, &owner()));
    assert!(!is_known(&stage, &gone));
}
