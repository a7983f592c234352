use std::fmt::Write as _;
use std::thread;

use expect_test::{Expect, expect};
use kindsight_model::{ClusterName, DigName};
use kindsight_store::RedbStore;

use super::*;

fn records() -> Records {
    Records::new(Arc::new(RedbStore::in_memory().unwrap()))
}

fn name() -> DigName {
    DigName::new("testvfw", "compositevfw", "v1", "vfw_dig").unwrap()
}

fn edge() -> ClusterName {
    "vfw-cluster-provider+edge01".parse().unwrap()
}

fn action(state: LifecycleState, instance: Option<&str>, time: &str) -> Action {
    Action {
        state,
        instance: instance.map(|id| id.parse().unwrap()),
        time: time.to_owned(),
        revision: 0,
    }
}

fn created() -> Action {
    action(LifecycleState::Created, None, "2020-08-21T05:36:54.186Z")
}

fn new_dig() -> Record {
    Record {
        profile: Some("vfw_composite-profile".to_owned()),
        actions: vec![created()],
    }
}

fn check_stored(records: &Records, expect: &Expect) {
    let mut text = String::new();
    for prefix in [keys::DIGS, keys::CLUSTERS] {
        for stored in records.store.range(prefix).unwrap().entries {
            let value = String::from_utf8(stored.value).unwrap();
            writeln!(text, "{}\n    {value}", stored.key).unwrap();
        }
    }
    expect.assert_eq(&text);
}

fn put(records: &Records, key: &str, value: &str) {
    records.store.apply(&Batch::new().put(key, value)).unwrap();
}

#[test]
fn records_are_stored_with_their_version() {
    let records = records();
    records.create(&name(), &new_dig()).unwrap();
    let instantiated = action(
        LifecycleState::Instantiated,
        Some("2755581958183303505"),
        "2020-08-21T05:39:34.64Z",
    );
    records.append(&name(), &new_dig(), instantiated).unwrap();
    let plain = DigName::new("p", "ca", "v1", "d").unwrap();
    records.create(&plain, &Record::default()).unwrap();
    let cluster = Record {
        profile: None,
        actions: vec![action(
            LifecycleState::Applied,
            Some("7"),
            "2020-08-21T05:39:34Z",
        )],
    };
    records.create(&edge(), &cluster).unwrap();
    check_stored(
        &records,
        &expect![[r#"
        /kindsight/digs/p/ca/v1/d/
            {"version":1,"actions":[]}
        /kindsight/digs/testvfw/compositevfw/v1/vfw_dig/
            {"version":1,"profile":"vfw_composite-profile","actions":[{"state":"Created","instance":"","time":"2020-08-21T05:36:54.186Z"},{"state":"Instantiated","instance":"2755581958183303505","time":"2020-08-21T05:39:34.64Z"}]}
        /kindsight/clusters/vfw-cluster-provider+edge01/
            {"version":1,"actions":[{"state":"Applied","instance":"7","time":"2020-08-21T05:39:34Z"}]}
    "#]],
    );
}

#[test]
fn every_state_is_read_back() {
    let records = records();
    let mut record = new_dig();
    records.create(&name(), &record).unwrap();
    for state in [
        LifecycleState::Approved,
        LifecycleState::Applied,
        LifecycleState::Instantiated,
        LifecycleState::Terminated,
        LifecycleState::InstantiateStopped,
        LifecycleState::TerminateStopped,
        LifecycleState::Updated,
    ] {
        let next = action(state, Some("7"), "2020-08-21T05:39:34.64+02:00");
        record = records.append(&name(), &record, next.clone()).unwrap();
        assert_eq!(record.actions.last(), Some(&next));
        assert_eq!(records.get(&name()).unwrap().as_ref(), Some(&record));
    }
}

#[test]
fn what_exists_is_not_created_again() {
    let records = records();
    records.create(&name(), &new_dig()).unwrap();
    let again = records.create(&name(), &Record::default());
    assert!(matches!(
        again,
        Err(Error::Store(StoreError::Conflict { .. }))
    ));
    assert_eq!(records.get(&name()).unwrap(), Some(new_dig()));
}

#[test]
fn an_action_decided_on_an_old_record_is_refused() {
    let records = records();
    let old = new_dig();
    let approved = || action(LifecycleState::Approved, None, "2020-08-21T05:37:28.748Z");
    let missing = records.append(&name(), &old, approved());
    assert!(matches!(
        missing,
        Err(Error::Store(StoreError::Conflict { .. }))
    ));
    records.create(&name(), &old).unwrap();
    let new = records.append(&name(), &old, approved()).unwrap();
    let late = records.append(&name(), &old, approved());
    assert!(matches!(
        late,
        Err(Error::Store(StoreError::Conflict { .. }))
    ));
    assert!(matches!(
        records.delete(&name(), &old),
        Err(Error::Store(StoreError::Conflict { .. }))
    ));
    assert_eq!(records.get(&name()).unwrap().as_ref(), Some(&new));
    records.delete(&name(), &new).unwrap();
    assert_eq!(records.get(&name()).unwrap(), None);
}

#[test]
fn two_writers_lose_no_action() {
    const ACTIONS: usize = 10;
    let records = records();
    records.create(&edge(), &Record::default()).unwrap();
    let append = |time: &str| loop {
        let seen = records.get(&edge()).unwrap().unwrap();
        let next = action(LifecycleState::Applied, None, time);
        match records.append(&edge(), &seen, next) {
            Err(Error::Store(StoreError::Conflict { .. })) => {}
            done => break drop(done.unwrap()),
        }
    };
    thread::scope(|scope| {
        for writer in ["a", "b"] {
            let append = &append;
            scope.spawn(move || (0..ACTIONS).for_each(|_| append(writer)));
        }
    });
    let actions = records.get(&edge()).unwrap().unwrap().actions;
    for writer in ["a", "b"] {
        let by_writer = actions.iter().filter(|action| action.time == writer);
        assert_eq!(by_writer.count(), ACTIONS);
    }
}

#[test]
fn a_record_of_another_version_is_refused_by_its_number() {
    let records = records();
    put(
        &records,
        &keys::record(&RecordSubject::from(&name())),
        r#"{"version":2,"steps":{}}"#,
    );
    let expect =
        "`/kindsight/digs/testvfw/compositevfw/v1/vfw_dig/` has version 2, this release knows 1";
    assert_eq!(records.get(&name()).unwrap_err().to_string(), expect);
    let append = records.append(&name(), &new_dig(), created());
    assert!(matches!(
        append,
        Err(Error::UnknownVersion { found: 2, .. })
    ));
}

#[test]
fn a_damaged_record_costs_only_itself() {
    let records = records();
    records.create(&name(), &new_dig()).unwrap();
    for (key, value) in [
        ("/kindsight/digs/p/ca/v1/a/", "{"),
        (
            "/kindsight/digs/p/ca/v1/b/",
            r#"{"version":1,"actions":[{"state":"Undone","instance":"","time":""}]}"#,
        ),
        (
            "/kindsight/digs/p/ca/v1/c/",
            r#"{"version":1,"actions":[{"state":"Created","instance":"x","time":""}]}"#,
        ),
        ("/kindsight/digs/p/ca/v1/d/", r#"{"version":7}"#),
        ("/kindsight/digs/p/", r#"{"version":1,"actions":[]}"#),
    ] {
        put(&records, key, value);
    }
    let listed = records.list().unwrap();
    assert_eq!(listed.records, [(RecordSubject::from(&name()), new_dig())]);
    expect![[r#"
        [
            Unreadable {
                key: "/kindsight/digs/p/",
                why: "the key is not one of a record",
            },
            Unreadable {
                key: "/kindsight/digs/p/ca/v1/a/",
                why: "EOF while parsing an object at line 1 column 1",
            },
            Unreadable {
                key: "/kindsight/digs/p/ca/v1/b/",
                why: "unknown variant `Undone`, expected one of `Created`, `Approved`, `Applied`, `Instantiated`, `Terminated`, `InstantiateStopped`, `TerminateStopped`, `Updated` at line 1 column 68",
            },
            Unreadable {
                key: "/kindsight/digs/p/ca/v1/c/",
                why: "`x` is not an AppContext id: a decimal number below 2^63 at line 1 column 70",
            },
            Unreadable {
                key: "/kindsight/digs/p/ca/v1/d/",
                why: "`/kindsight/digs/p/ca/v1/d/` has version 7, this release knows 1",
            },
        ]
    "#]].assert_debug_eq(&listed.unreadable);
}

#[test]
fn records_survive_closing_the_store() {
    let folder = tempfile::TempDir::new().unwrap();
    let open = || Records::new(Arc::new(RedbStore::open(&folder.path().join("s")).unwrap()));
    let records = open();
    records.create(&name(), &new_dig()).unwrap();
    let record = records.append(&name(), &new_dig(), created()).unwrap();
    drop(records);
    assert_eq!(open().get(&name()).unwrap(), Some(record));
}
