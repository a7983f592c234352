use expect_test::expect_file;
use kindsight_clusters::RemoteInventories;
use kindsight_model::{Digest, INSTANCE_LABEL, InterpretedBy, Object, Phase, RsyncStatus, Verdict};
use kindsight_status::{
    AppView, ClusterInput, ContextView, Expected, LastKnown, PhaseState, Recorded, Reported,
    ResourceId, Transition, TransitionCause, Unseen, Why, project,
};
use kindsight_store::RedbStore;

use super::pending::Pending;
use super::writer::Writer;
use super::*;
use kindsight_read_model::ReadModelWriter;

impl RememberedFile {
    /// The keys in the file.
    pub(crate) fn keys(&self) -> Vec<String> {
        let mut all: Vec<String> = self.contents.keys(keys::PREFIX).cloned().collect();
        for application in self.contents.applications() {
            let ids = self.contents.transitions(application).into_iter().flatten();
            all.extend(ids.map(|(id, _)| keys::transition(application, *id)));
        }
        all.sort();
        all
    }

    /// Keys and values in the file.
    pub(crate) fn values(&self) -> Vec<(String, Vec<u8>)> {
        let entries = self.store.range(keys::PREFIX).unwrap().entries;
        entries
            .into_iter()
            .map(|entry| (entry.key, entry.value))
            .collect()
    }
}

fn object(name: &str) -> Object {
    let json = format!(
        r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"{name}","namespace":"web"}}}}"#
    );
    Object::from_json(json).unwrap()
}

fn by() -> Arc<InterpretedBy> {
    Arc::new(InterpretedBy::new(
        "apps".parse().unwrap(),
        "1.0.0",
        Digest::of(b"apps"),
    ))
}

fn shop() -> DigName {
    DigName::found("shop", Some("web")).unwrap()
}

/// An object that does not exist since then.
fn removed(object: Object, since_ms: i64) -> Unseen {
    Unseen {
        last: LastKnown {
            gvk: object.gvk.clone(),
            namespace: Arc::clone(&object.namespace),
            name: Arc::clone(&object.name),
            object: Some(object),
        },
        why: Why::Gone(since_ms),
        owner: None,
        is_hook: false,
    }
}

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

#[test]
fn the_stored_form_of_a_placement_is_what_was_reviewed() {
    let verdict = Verdict {
        since_ms: Some(500),
        ..Verdict::host(Phase::Failed, "Crashing", "it crashes").given_by(&by())
    };
    let input = ClusterInput {
        cluster: "p+c".parse().unwrap(),
        namespace: "".into(),
        expected: Vec::new(),
        reported: Some(Reported {
            objects: [object("front")].into(),
            verdicts: vec![verdict],
            ..Reported::default()
        }),
        unseen: vec![removed(object("side"), 700)],
        faults: Vec::new(),
    };
    let view = project(input, None, 1000);
    let stored = StoredPlacement::of(&shop(), &"front".into(), &view);
    let text = pretty(&stored);
    expect_file!["tests/placement.json"].assert_eq(&(text.clone() + "\n"));
    assert!(!text.contains("metadata"), "an object is kept");
    let read: StoredPlacement = serde_json::from_str(&text).unwrap();
    let read = read.read().unwrap();
    let stale = kindsight_status::Staleness {
        since_ms: 0,
        reason: "".into(),
    };
    let again = kindsight_status::ClusterView::remembered(read.cluster, read.resources, stale);
    let again = StoredPlacement::of(&shop(), &"front".into(), &again);
    assert_eq!(pretty(&again), text);
}

#[test]
fn a_placement_keeps_that_an_object_has_the_label_of_its_instance() {
    let vfw = DigName::found("vfw", None).unwrap();
    let stored = |id: &str| {
        let json = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a","labels":{{"{INSTANCE_LABEL}":"{id}"}}}}}}"#
        );
        let input = ClusterInput {
            cluster: "p+c".parse().unwrap(),
            namespace: "".into(),
            expected: Vec::new(),
            reported: Some(Reported {
                objects: [Object::from_json(json).unwrap()].into(),
                verdicts: vec![Verdict::host(Phase::Ready, "Test", "")],
                ..Reported::default()
            }),
            unseen: Vec::new(),
            faults: Vec::new(),
        };
        StoredPlacement::of(&vfw, &"a".into(), &project(input, None, 0))
    };
    let text = pretty(&stored("vfw"));
    let read: StoredPlacement = serde_json::from_str(&text).unwrap();
    let read = read.read().unwrap();
    assert_eq!(read.instance.as_deref(), Some("vfw"));
    let stale = kindsight_status::Staleness {
        since_ms: 0,
        reason: "".into(),
    };
    // The state is written again before the cluster is heard.
    let again = kindsight_status::ClusterView::remembered(read.cluster, read.resources, stale)
        .with_last_instance(read.instance);
    let again = StoredPlacement::of(&vfw, &"a".into(), &again);
    assert_eq!(pretty(&again), text);
    // Another mark names the application. An earlier release wrote the same form for each application.
    let other = stored("other");
    assert!(!pretty(&other).contains("is-instance"));
    assert_eq!(other.read().unwrap().instance, None);
}

#[test]
fn the_stored_form_of_a_transition_is_what_was_reviewed() {
    let state = |phase: Phase| PhaseState {
        phase,
        state: phase.state().into(),
    };
    let transition = Transition {
        resource: Some(Arc::new(ResourceId {
            app: "front".into(),
            cluster: "p+c".parse().unwrap(),
            gvk: kindsight_model::Gvk::new("apps", "v1", "Deployment"),
            namespace: "web".into(),
            name: "front".into(),
        })),
        from: Some(state(Phase::Ready)),
        to: Some(state(Phase::Failed)),
        at_ms: 1000,
        since_ms: Some(500),
        reason: "Crashing".into(),
        message: "it crashes".into(),
        by: Some(by()),
        cause: TransitionCause::Interpreters,
    };
    let recorded = Recorded {
        id: 7,
        transition: Arc::new(transition),
    };
    let of = ApplicationKey::Found(shop());
    let text = pretty(&StoredTransition::of(&of, &recorded));
    expect_file!["tests/transition.json"].assert_eq(&(text.clone() + "\n"));
    let read: StoredTransition = serde_json::from_str(&text).unwrap();
    assert_eq!(transitions::application(&read.of), Some(of));
    assert_eq!(read.read(), Some(recorded));
}

#[test]
fn a_key_says_what_its_value_is_whatever_the_names() {
    let cluster = "p+c".parse().unwrap();
    let context = ApplicationKey::Context("7".parse().unwrap());
    for of in [context, ApplicationKey::Found(shop())] {
        let prefix = keys::application(&of);
        let like_transition = format!("a/transitions/{:020}/", 1);
        let kinds = [
            (keys::history(&prefix), keys::Kind::History),
            (keys::transition(&prefix, 1), keys::Kind::Transition),
            (
                keys::placement(&prefix, &cluster, "a/history/b"),
                keys::Kind::Placement,
            ),
            (
                keys::placement(&prefix, &cluster, &like_transition),
                keys::Kind::Placement,
            ),
        ];
        for (key, kind) in kinds {
            assert_eq!(keys::kind_of(&key), Some(kind), "{key}");
            assert!(key.starts_with(&prefix));
            let transition = (kind == keys::Kind::Transition).then_some((&*prefix, 1));
            assert_eq!(keys::transition_of(&key), transition);
        }
        let short = format!("{prefix}transitions/1/");
        assert_eq!(keys::transition_of(&short), None, "its key has 20 digits");
    }
    assert_eq!(
        keys::kind_of(&keys::cluster(&cluster)),
        Some(keys::Kind::Cluster)
    );
    assert_eq!(keys::kind_of("/kindsight/remembered/else/"), None);
}

#[test]
fn a_later_version_and_a_damaged_mark_are_refused_and_a_damaged_value_is_left_out() {
    let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().unwrap());
    let open = || RememberedFile::open(Arc::clone(&store));
    drop(open().unwrap());
    let bad = keys::history(&keys::application(&ApplicationKey::Found(shop())));
    let batch = Batch::new()
        .put(bad.clone(), "{")
        .put(keys::PREFIX.to_owned() + "x", "");
    store.apply(&batch).unwrap();
    let mut file = open().unwrap();
    assert!(file.take().histories.is_empty());
    assert_eq!(file.keys().len(), 2, "the next write deletes them");
    store
        .apply(&Batch::new().put(keys::VERSION, r#"{"version": 2}"#))
        .unwrap();
    let Err(error) = open() else {
        panic!("a later version")
    };
    assert!(
        matches!(
            error,
            Error::UnknownVersion {
                found: 2,
                known: 1,
                ..
            }
        ),
        "{error}"
    );
    store
        .apply(&Batch::new().put(keys::VERSION, "two"))
        .unwrap();
    let Err(error) = open() else {
        panic!("a damaged mark")
    };
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
}

#[test]
fn the_index_has_the_size_of_all_values() {
    let mut contents = Contents::default();
    let prefix = keys::application(&ApplicationKey::Found(shop()));
    let all = [
        keys::history(&prefix),
        keys::transition(&prefix, 1),
        keys::transition(&prefix, u64::MAX),
    ];
    for (key, value) in all.iter().zip(["a", "bb", "ccc"]) {
        contents.set(key.clone(), Some(Entry::of(key, value.as_bytes())));
        contents.set(key.clone(), Some(Entry::of(key, value.as_bytes())));
        assert_eq!(contents.bytes_of(key), Some(key.len() + value.len()));
    }
    let keys_size: usize = all.iter().map(String::len).sum();
    assert_eq!(contents.bytes(), keys_size + "abbccc".len());
    for key in all {
        contents.set(key.clone(), None);
        assert_eq!(contents.bytes_of(&key), None);
    }
    assert_eq!(contents.bytes(), 0);
    assert_eq!(contents.applications().count(), 0);
}

#[test]
fn what_has_no_place_is_not_kept_and_neither_is_its_old_value() {
    let entry = Entry::of("a", &[0; 9]);
    let mut contents = Contents::default();
    for key in ["a", "b"] {
        contents.set(key.to_owned(), Some(entry));
    }
    let mut pending = Pending::new(&contents).limited(25);
    pending.put("a".to_owned(), vec![0; 9]);
    assert!(pending.is_empty(), "it is the same");
    pending.put("c".to_owned(), vec![0; 5]);
    assert!(pending.is_full && pending.is_empty());
    pending.put("a".to_owned(), vec![0; 20]);
    pending.put("c".to_owned(), vec![0; 5]);
    let (_, changes) = pending.into_batch();
    let changes: Vec<_> = changes
        .iter()
        .map(|(key, value)| (&**key, value.is_some()))
        .collect();
    assert_eq!(changes, [("a", false), ("c", true)]);
}

#[test]
fn the_stored_form_of_statuses_is_what_was_reviewed() {
    let json = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "front"}, "spec": {"replicas": 2},
        "status": {"observedGeneration": 1}}"#;
    let manifest = Object::from_json(json).unwrap();
    let reported = Object::from_json(json.replace(r#""spec": {"replicas": 2},"#, "")).unwrap();
    let input = |reason: &str| ClusterInput {
        cluster: "p+c".parse().unwrap(),
        namespace: "".into(),
        expected: vec![Expected::new(manifest.clone(), Some(RsyncStatus::Applied))],
        reported: Some(Reported {
            objects: [reported.clone()].into(),
            verdicts: vec![Verdict::host(Phase::Pending, reason, "")],
            ..Reported::default()
        }),
        unseen: Vec::new(),
        faults: Vec::new(),
    };
    let stored = |reason: &str| {
        let app = AppView::new(
            "web".into(),
            vec![Arc::new(project(input(reason), None, 1000))],
        );
        let view = ContextView {
            apps: vec![app],
            status_context: Some("5".parse().unwrap()),
            ..ContextView::default()
        };
        StoredStatuses::of(&ApplicationKey::Context("7".parse().unwrap()), &view)
    };
    let texts = ["NotReady", "NotConfirmed"].map(|reason| pretty(&stored(reason).unwrap()));
    expect_file!["tests/statuses.json"].assert_eq(&(texts.join("\n") + "\n"));
    let (context, status_context) = ("7".parse().unwrap(), "5".parse().unwrap());
    for (text, has_spec) in texts.iter().zip([true, false]) {
        let mut read = RememberedStatuses::default();
        read.add(serde_json::from_str(text).unwrap()).unwrap();
        // Another instance of the group began since then.
        for id in [&context, &"8".parse().unwrap()] {
            let statuses = read.of(id, &status_context);
            let status = statuses[0];
            assert_eq!((&*status.app, &*status.name), ("web", "front"));
            assert_eq!((statuses.len(), status.spec.is_some()), (1, has_spec));
        }
        assert!(read.of(&"8".parse().unwrap(), &context).is_empty());
    }
    // As an earlier release wrote it.
    let earlier = texts[1].replace(r#""status-context": "5","#, "");
    let mut read = RememberedStatuses::default();
    read.add(serde_json::from_str(&earlier).unwrap()).unwrap();
    assert_eq!(read.of(&context, &status_context).len(), 1);
}

#[test]
fn inventories_of_watched_clusters_survive_a_restart() {
    let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().unwrap());
    let open = || RememberedFile::open(Arc::clone(&store)).unwrap();
    let inventory: RemoteInventory = serde_json::from_str(
        r#"{"application": "-/shop/-/-", "kind": "Application", "text": "Application argocd/shop",
            "destination": {"name": "edge"}, "listed": []}"#,
    )
    .unwrap();
    let hub: Arc<ClusterName> = Arc::new("p+hub".parse().unwrap());
    let inventories = RemoteInventories::default();
    inventories.restore(BTreeMap::from([(Arc::clone(&hub), vec![inventory])]));
    let mut writer = Writer::new(
        open(),
        ReadModelWriter::default().read_model().clone(),
        inventories.clone(),
    );
    writer.write(1_000, false);
    let key = "/kindsight/remembered/inventories/p+hub/Application argocd/shop/";
    let mut file = open();
    assert_eq!(file.keys(), [key]);
    let restored = file.take().inventories;
    assert_eq!(restored[&hub][0].kind().as_ref(), "Application");
    // The next write changes nothing. Later writes follow another inventory and the removal of all.
    writer.write(2_000, false);
    assert_eq!(open().keys(), [key]);
    let text = serde_json::to_string(&restored[&hub][0]).unwrap();
    let other = serde_json::from_str(&text.replace("argocd/shop", "argocd/base")).unwrap();
    inventories.restore(BTreeMap::from([(Arc::clone(&hub), vec![other])]));
    writer.write(2_500, false);
    let other_key = "/kindsight/remembered/inventories/p+hub/Application argocd/base/";
    assert_eq!(open().keys(), [other_key]);
    inventories.forget_restored(&hub);
    writer.write(3_000, false);
    assert!(open().keys().is_empty());
}
