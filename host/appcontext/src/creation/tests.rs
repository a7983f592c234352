//! Creations of several batches, and the remains of creations that ended early.

use std::sync::{Arc, Mutex};
use std::thread;

use kindsight_store::{RedbStore, StoreLimits};

use super::*;
use crate::context::counting::Counting;
use crate::{AppContexts, Creations};

/// A store that takes little at a time.
fn small(batch_writes: usize) -> Arc<Counting> {
    let store = RedbStore::in_memory().unwrap();
    let limits = StoreLimits {
        batch_writes,
        ..store.limits()
    };
    Arc::new(Counting::new(store).limited(limits))
}

fn contexts(store: &Arc<Counting>) -> AppContexts {
    AppContexts::new(Arc::clone(store) as Arc<dyn Store>)
}

fn id() -> ContextId {
    "7".parse().unwrap()
}

fn large(resources: usize) -> NewContext {
    let resource = |number| NewResource {
        resource: ResourceName::new(&format!("x{number}"), "Pod").unwrap(),
        manifest: "kind: Pod\n".to_owned(),
    };
    NewContext {
        meta: ContextMeta::default(),
        apps: vec![NewApp {
            name: "a".to_owned(),
            clusters: vec![NewCluster {
                cluster: "p+c".parse().unwrap(),
                group: None,
                resources: (0..resources).map(resource).collect(),
            }],
        }],
    }
}

fn all_keys(store: &Counting) -> Vec<String> {
    let mut keys = store.keys("/context/").unwrap().keys;
    keys.extend(store.keys(keys::CREATIONS).unwrap().keys);
    keys
}

#[test]
fn a_context_of_several_batches_is_seen_whole_or_not_at_all() {
    let store = small(16);
    let contexts = contexts(&store);
    let new = large(200);
    thread::scope(|scope| {
        let creating = scope.spawn(|| contexts.create_as(&id(), &new).unwrap());
        while !creating.is_finished() {
            if let Some(seen) = contexts.read(&id()).unwrap() {
                assert_eq!(seen.apps[0].clusters[0].resources.len(), 200);
            }
        }
    });
    let other = AppContexts::new(Arc::new(RedbStore::in_memory().unwrap()));
    other.create_as(&id(), &new).unwrap();
    let [grown, whole] = [&contexts, &other].map(|contexts| contexts.read(&id()).unwrap().unwrap());
    assert_eq!(grown.apps, whole.apps);
    assert_eq!(all_keys(&store).len(), 3 + 1 + 1 + 1 + 200 + 2);
}

#[test]
fn what_a_creation_left_that_died_is_swept_at_the_second_sweep() {
    let store = small(16);
    let contexts = contexts(&store);
    store.fail_after(3);
    contexts.create_as(&id(), &large(200)).unwrap_err();
    store.fail_after(usize::MAX);
    assert_eq!(contexts.read(&id()).unwrap(), None);
    assert!(all_keys(&store).len() > 40);
    let taken = contexts.create_as(&id(), &large(1)).unwrap_err();
    assert!(matches!(taken, Error::Store(StoreError::Conflict { .. })));
    let mut seen = Creations::default();
    assert_eq!(contexts.sweep(&mut seen).unwrap(), 0);
    assert_eq!(contexts.sweep(&mut seen).unwrap(), 1);
    assert_eq!(contexts.sweep(&mut seen).unwrap(), 0);
    assert_eq!(all_keys(&store), [""; 0]);
    contexts.create_as(&id(), &large(200)).unwrap();
}

#[test]
fn a_creation_that_is_swept_writes_nothing_more() {
    let store = small(16);
    let contexts = contexts(&store);
    store.on_batch(3, {
        let contexts = contexts.clone();
        move || {
            let mut seen = Creations::default();
            assert_eq!(contexts.sweep(&mut seen).unwrap(), 0);
            assert_eq!(contexts.sweep(&mut seen).unwrap(), 1);
        }
    });
    let outcome = contexts.create_as(&id(), &large(200));
    assert!(matches!(outcome, Err(Error::Swept { .. })), "{outcome:?}");
    assert_eq!(all_keys(&store), [""; 0]);
}

#[test]
fn a_creation_in_progress_is_not_swept() {
    let store = small(16);
    let contexts = contexts(&store);
    let seen = Arc::new(Mutex::new(Creations::default()));
    let sweep = {
        let (contexts, seen) = (contexts.clone(), Arc::clone(&seen));
        move || assert_eq!(contexts.sweep(&mut seen.lock().unwrap()).unwrap(), 0)
    };
    for number in [2, 4, 5] {
        store.on_batch(number, sweep.clone());
    }
    contexts.create_as(&id(), &large(200)).unwrap();
    sweep();
}

#[test]
fn a_creation_that_is_refused_leaves_nothing() {
    let store = small(16);
    let contexts = contexts(&store);
    let mut twice = large(200);
    let resources = &mut twice.apps[0].clusters[0].resources;
    resources.push(resources[0].clone());
    let refused = contexts.create_as(&id(), &twice).unwrap_err();
    assert!(matches!(
        refused,
        Error::Store(StoreError::DuplicateKey { .. })
    ));
    let negative = contexts.create_as(&"-5".parse().unwrap(), &large(1));
    assert!(matches!(negative, Err(Error::Name { .. })));
    assert_eq!(all_keys(&store), [""; 0]);
}
