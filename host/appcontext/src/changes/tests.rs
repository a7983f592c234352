use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

use kindsight_model::{ClusterName, ContextStatus, DigName, LifecycleState, RsyncStatus};
use kindsight_store::{Batch, CHANGES_KEPT_MAX, Error as StoreError, RedbStore, Store};

use super::*;
use crate::{
    Action, AppContexts, Error, NewApp, NewCluster, NewContext, NewResource, Record, Recorded,
    Records, ResourceName, StatusChange,
};

struct Stage {
    store: Arc<dyn Store>,
    contexts: AppContexts,
    records: Records,
}

impl Stage {
    fn new() -> Self {
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().unwrap());
        Self {
            contexts: AppContexts::new(Arc::clone(&store)),
            records: Records::new(Arc::clone(&store)),
            store,
        }
    }

    fn watch(&self) -> AppContextWatch {
        let revision = self.contexts.list().unwrap().revision;
        self.contexts.watch(revision).unwrap()
    }

    fn watch_records(&self) -> AppContextWatch {
        let revision = self.records.list().unwrap().revision;
        self.records.watch(revision).unwrap()
    }

    fn put(&self, key: &str) -> Revision {
        self.store.apply(&Batch::new().put(key, "{}")).unwrap()
    }
}

/// The next changes, if there are any yet.
fn poll(watch: &mut AppContextWatch) -> Option<Result<AppContextChanges>> {
    match pin!(watch.next()).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

fn next(watch: &mut AppContextWatch) -> AppContextChanges {
    poll(watch).expect("a change").unwrap()
}

/// Contexts and subjects that changed, as text.
fn changed_keys(changes: &AppContextChanges) -> [Vec<String>; 2] {
    let contexts = changes.contexts.iter().map(|id| id.as_str().to_owned());
    let subjects = changes.subjects.iter().map(ToString::to_string);
    [contexts.collect(), subjects.collect()]
}

fn only_context(id: &str) -> [Vec<String>; 2] {
    [vec![id.to_owned()], Vec::new()]
}

fn id(number: usize) -> ContextId {
    number.to_string().parse().unwrap()
}

fn dig(name: &str) -> DigName {
    DigName::new("p", "ca", "v1", name).unwrap()
}

fn edge() -> ClusterName {
    "p+edge".parse().unwrap()
}

fn pod() -> ResourceName {
    ResourceName::new("a", "Pod").unwrap()
}

fn context() -> NewContext {
    let cluster = NewCluster {
        cluster: edge(),
        group: None,
        resources: vec![NewResource {
            resource: pod(),
            manifest: String::new(),
        }],
    };
    NewContext {
        apps: vec![NewApp {
            name: "sink".to_owned(),
            clusters: vec![cluster],
        }],
        ..NewContext::default()
    }
}

fn revision_of(recorded: Result<Recorded>) -> Revision {
    match recorded.unwrap() {
        Recorded::Written(revision) => revision,
        other => panic!("{other:?}"),
    }
}

fn approved() -> Action {
    Action {
        state: LifecycleState::Approved,
        instance: None,
        time: "2020-08-21T05:36:54Z".to_owned(),
        revision: 0,
    }
}

#[test]
fn a_new_context_is_one_change() {
    let stage = Stage::new();
    let mut watch = stage.watch();
    stage.contexts.create_as(&id(7), &context()).unwrap();
    assert_eq!(changed_keys(&next(&mut watch)), only_context("7"));
    assert!(poll(&mut watch).is_none());
}

#[test]
fn every_change_of_a_context_is_told_to_its_writer_by_its_revision() {
    let stage = Stage::new();
    let contexts = &stage.contexts;
    contexts.create_as(&id(7), &context()).unwrap();
    let mut watch = stage.watch();
    let (cluster, resource) = (edge(), pod());
    let change = StatusChange {
        app: "sink",
        cluster: &cluster,
        resource: &resource,
        status: RsyncStatus::Applied,
    };
    for recorded in [
        contexts.record_status(&id(7), ContextStatus::Instantiated),
        contexts.record_stop_flag(&id(7), true),
        contexts.record_bundle(&id(7), "sink", &cluster, "{}"),
        contexts.record_resource_statuses(&id(7), &[change]),
    ] {
        let revision = revision_of(recorded);
        let changes = next(&mut watch);
        assert_eq!(changed_keys(&changes), only_context("7"));
        assert_eq!(changes.revision, revision);
    }
    let again = contexts.record_stop_flag(&id(7), true).unwrap();
    assert_eq!(again, Recorded::Unchanged);
    assert!(poll(&mut watch).is_none());
}

#[test]
fn a_deleted_context_is_told_and_cannot_be_found() {
    let stage = Stage::new();
    for number in [1, 12] {
        stage.contexts.create_as(&id(number), &context()).unwrap();
    }
    let mut watch = stage.watch();
    assert!(stage.contexts.delete(&id(1)).unwrap());
    assert!(!stage.contexts.delete(&id(1)).unwrap());
    assert_eq!(changed_keys(&next(&mut watch)), only_context("1"));
    assert_eq!(stage.contexts.read(&id(1)).unwrap(), None);
    assert!(poll(&mut watch).is_none());
}

#[test]
fn every_change_of_a_record_is_told() {
    let stage = Stage::new();
    let records = &stage.records;
    let mut watch = stage.watch_records();
    let group = [Vec::new(), vec![RecordSubject::from(&dig("a")).to_string()]];
    records.create(&dig("a"), &Record::default()).unwrap();
    assert_eq!(changed_keys(&next(&mut watch)), group);
    let seen = Record::default();
    let seen = records.append(&dig("a"), &seen, approved()).unwrap();
    assert_eq!(changed_keys(&next(&mut watch)), group);
    records.delete(&dig("a"), &seen).unwrap();
    assert_eq!(changed_keys(&next(&mut watch)), group);
    let record = Record::default();
    records.create(&edge(), &record).unwrap();
    let cluster = [Vec::new(), vec![RecordSubject::from(&edge()).to_string()]];
    assert_eq!(changed_keys(&next(&mut watch)), cluster);
    records.append(&edge(), &record, approved()).unwrap();
    assert_eq!(changed_keys(&next(&mut watch)), cluster);
    assert!(poll(&mut watch).is_none());
}

#[test]
fn a_batch_of_another_writer_is_told_as_a_whole() {
    let stage = Stage::new();
    let mut watches = [stage.watch(), stage.watch_records()];
    let batch = Batch::new()
        .put("/context/8/", "\"8\"")
        .put("/context/7/status/", "{}")
        .put("/context/7/rsync/state/", "{}")
        .put("/kindsight/digs/p/ca/v1/b/", "{}")
        .put("/kindsight/digs/p/ca/v1/a/", "{}")
        .put("/kindsight/clusters/p+edge/", "{}");
    let revision = stage.store.apply(&batch).unwrap();
    let ids = ["7", "8"].map(str::to_owned);
    let groups = ["a", "b"].map(|name| RecordSubject::from(&dig(name)));
    let subjects = groups.into_iter().chain([RecordSubject::from(&edge())]);
    let subjects: Vec<String> = subjects.map(|subject| subject.to_string()).collect();
    for (watch, expect) in watches
        .iter_mut()
        .zip([[ids.into(), Vec::new()], [Vec::new(), subjects]])
    {
        let changes = next(watch);
        assert_eq!(changes.revision, revision);
        assert_eq!(changed_keys(&changes), expect);
        assert!(poll(watch).is_none());
    }
}

#[test]
fn keys_that_are_not_read_are_passed_over() {
    let stage = Stage::new();
    let mut watches = [stage.watch(), stage.watch_records()];
    for key in [
        "/kindsight/interpreters/book/",
        "/kindsight/digs/p/",
        "/kindsight/clusters/edge/",
        "/context/",
        "/context/7",
        "/context/--7/status/",
        "/context/7/rsync/AppContextEventQueue/",
        "/context/7/app/sink/cluster/p+edge/resourcesready/",
        "/activecontext/7/",
        "context/7/",
    ] {
        stage.put(key);
        for watch in &mut watches {
            assert!(poll(watch).is_none(), "{key}");
        }
    }
    let revision = stage.put("/context/7/meta/");
    assert_eq!(next(&mut watches[0]).revision, revision);
}

#[test]
fn a_reader_that_is_too_far_behind_is_told_to_read_again() {
    let stage = Stage::new();
    let mut watch = stage.watch();
    let keys = (0..=CHANGES_KEPT_MAX).map(|number| format!("/other/{number}/"));
    let batch = keys.fold(Batch::new(), |batch, key| batch.put(key, ""));
    stage.store.apply(&batch).unwrap();
    let outcome = poll(&mut watch).unwrap();
    assert!(
        matches!(&outcome, Err(Error::Store(StoreError::Compacted { .. }))),
        "{outcome:?}"
    );
    let mut watch = stage.watch();
    stage.contexts.create_as(&id(7), &context()).unwrap();
    assert_eq!(changed_keys(&next(&mut watch)), only_context("7"));
}

/// A reader that loads everything while another thread writes, and then follows the changes, knows
/// of everything that was written.
#[test]
fn nothing_is_missed_between_loading_and_watching() {
    const CONTEXTS: usize = 60;
    let stage = Stage::new();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..CONTEXTS {
                let name = dig(&format!("d{number}"));
                let record = Record::default();
                stage.contexts.create_as(&id(number), &context()).unwrap();
                stage.records.create(&name, &record).unwrap();
            }
        });
        let mut readers = Vec::new();
        while !writer.is_finished() {
            let list = stage.contexts.list().unwrap();
            let listed = stage.records.list().unwrap();
            let mut contexts: BTreeSet<_> = list.ids.into_iter().collect();
            let mut names: BTreeSet<_> = listed.records.into_iter().map(|it| it.0).collect();
            let watches = [
                stage.contexts.watch(list.revision).unwrap(),
                stage.records.watch(listed.revision).unwrap(),
            ];
            readers.push(move || {
                for mut watch in watches {
                    while let Some(changes) = poll(&mut watch) {
                        let changes = changes.unwrap();
                        contexts.extend(changes.contexts);
                        names.extend(changes.subjects);
                    }
                }
                (contexts.len(), names.len())
            });
        }
        writer.join().unwrap();
        assert!(!readers.is_empty());
        for reader in readers {
            assert_eq!(reader(), (CONTEXTS, CONTEXTS));
        }
    });
}
