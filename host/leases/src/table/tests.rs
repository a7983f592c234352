use std::collections::BTreeSet;

use kindsight_store::{Batch, RedbStore, Store};

use super::*;

fn key(name: &str) -> String {
    format!("{LEASES_PREFIX}{name}/")
}

fn read(store: &RedbStore) -> Table {
    Table::of(&store.range(LEASES_PREFIX).unwrap())
}

#[test]
fn the_values_of_this_release_are_read() {
    let store = RedbStore::in_memory().unwrap();
    let url: HostUrl = "http://10.0.0.1:9015".parse().unwrap();
    let me = Identity {
        host: url.id().clone(),
        started_ms: 7,
    };
    let digest = Digest::of(&BTreeSet::from(["lab+a".parse().unwrap()]));
    let host = HostValue::new(&url, "0.1.0", 7, Weight::nearest(3));
    let cluster: ClusterName = "lab+a".parse().unwrap();
    let batch = Batch::new()
        .put(key(&me.host.lease_name()), host.encode())
        .put(key(&me.host.configured_lease_name()), digest.encode())
        .put(key(&Owner::lease_name(&cluster)), me.owner_value());
    let revision = store.apply(&batch).unwrap();
    let table = read(&store);
    let known = &table.hosts()[&me.host];
    assert_eq!(
        (&known.url, known.weight.number(), &*known.release),
        (&url, 3, "0.1.0")
    );
    assert!(table.agrees(digest));
    let owner = table.owner(&cluster).unwrap();
    assert_eq!(owner.process.as_ref(), Some(&me));
    assert_eq!(owner.number(), revision.number());
}

#[test]
fn the_values_of_a_later_release_are_read_without_the_members_that_this_release_does_not_know() {
    let store = RedbStore::in_memory().unwrap();
    let batch = Batch::new()
        .put(
            key("hosts/b:1"),
            r#"{"version":9,"url":"https://b:1","weight":99,"zone":{"name":"eu"}}"#,
        )
        .put(
            key("configured/b:1"),
            r#"{"version":9,"digest":"00000000000000ff","of":["x"]}"#,
        )
        .put(
            key("clusters/lab+a"),
            r#"{"version":9,"host":"b:1","since":[1]}"#,
        )
        .put(key("clusters/lab+b"), "[]")
        .put(key("hosts/c:1"), r#"{"version":9}"#)
        .put(key("later/c:1"), "{}")
        .put(key("work/shop"), "7");
    store.apply(&batch).unwrap();
    let table = read(&store);
    let hosts: Vec<_> = table
        .hosts()
        .iter()
        .map(|(id, host)| (id.as_str(), host.weight.number()))
        .collect();
    assert_eq!(hosts, [("b:1", crate::WEIGHT_MAX)]);
    assert!(table.agrees(Digest::decode(br#"{"digest":"ff"}"#).unwrap()));
    let owner = |name: &str| table.owner(&name.parse().unwrap()).unwrap().process.clone();
    assert_eq!(owner("lab+a").unwrap().host.as_str(), "b:1");
    assert_eq!(owner("lab+b"), None, "it has an owner that is not known");
}

#[test]
fn changes_lead_to_the_same_table_as_a_read() {
    let store = RedbStore::in_memory().unwrap();
    let begin = store.range(LEASES_PREFIX).unwrap().revision;
    let mut watch = store.watch(LEASES_PREFIX, begin).unwrap();
    let mut followed = read(&store);
    let steps = [
        Batch::new()
            .put(key("hosts/b:1"), r#"{"url":"https://b:1"}"#)
            .put(key("configured/b:1"), r#"{"digest":"1"}"#),
        Batch::new()
            .put(key("clusters/lab+a"), r#"{"host":"b:1"}"#)
            .put(key("clusters/lab+b"), r#"{"host":"b:1"}"#),
        Batch::new().delete(key("clusters/lab+a")),
        Batch::new().put(key("configured/b:1"), "x"),
        Batch::new().put(key("hosts/b:1"), "x"),
        Batch::new()
            .delete(key("hosts/b:1"))
            .delete(key("configured/b:1"))
            .delete(key("clusters/lab+b")),
    ];
    for step in steps {
        store.apply(&step).unwrap();
        let changes = watch.try_next().unwrap().unwrap();
        assert!(followed.apply(&changes));
        assert_eq!(followed, read(&store));
    }
    assert_eq!(followed, Table::default());
    let unknown = Changes {
        revision: begin,
        changes: vec![Change {
            key: key("hosts/b:1"),
            kind: ChangeKind::Put,
            value: None,
        }],
    };
    assert!(!followed.apply(&unknown));
}
