use std::path::PathBuf;
use std::time::Duration;

use kindsight_cluster::{Binaries, Binary, Etcd};

use super::*;
use crate::store::contract::{self, compacted_to, wait};
use crate::{Change, ChangeKind, Changes};

mod access;
mod faults;
mod leases;
mod members;
mod sizes;
mod snapshot;

/// The deadline of calls that a test makes while a member is away on purpose.
const SHORT: Duration = Duration::from_secs(2);

/// The binaries. If they are not available, prints a line that says so, and the test ends.
fn binaries() -> Option<Binaries> {
    Binaries::or_skip(Binary::ETCD)
}

fn started() -> Option<Etcd> {
    Some(Etcd::start(&binaries()?))
}

/// The endpoint at a URL.
fn endpoint(url: &str) -> String {
    let (_, endpoint) = url.split_once("://").unwrap();
    endpoint.to_owned()
}

fn opened(url: &str, options: &EtcdOptions) -> EtcdStore {
    EtcdStore::connect(&[endpoint(url)], options).unwrap()
}

fn refusal(url: &str, options: &EtcdOptions) -> Error {
    match EtcdStore::connect(&[endpoint(url)], options) {
        Ok(_) => panic!("{url} was opened"),
        Err(error) => error,
    }
}

fn short() -> EtcdOptions {
    EtcdOptions {
        deadline: SHORT,
        ..EtcdOptions::default()
    }
}

fn put(store: &dyn Store, key: &str, value: &str) -> Result<Revision> {
    store.apply(&Batch::new().put(key, value))
}

fn value(store: &dyn Store, key: &str) -> Option<String> {
    let value = store.get(key).unwrap()?;
    Some(String::from_utf8(value).unwrap())
}

/// Waits until the connection of a store meets a condition.
fn wait_for(store: &dyn Store, is_so: impl Fn(&Connection) -> bool) -> Connection {
    let mut connection = store.connection();
    wait(async { connection.wait_for(is_so).await.unwrap().clone() })
}

fn is_away(connection: &Connection) -> bool {
    matches!(connection, Connection::Away { .. })
}

fn is_connected(connection: &Connection) -> bool {
    *connection == Connection::Connected
}

#[test]
fn an_etcd_keeps_the_contract() {
    let Some(etcd) = started() else {
        return;
    };
    let count = std::cell::Cell::new(0);
    contract::check(|| {
        count.set(count.get() + 1);
        let options = EtcdOptions {
            key_prefix: format!("/clause-{}", count.get()),
            ..EtcdOptions::default()
        };
        Arc::new(opened(etcd.url(), &options))
    });
}

#[test]
fn nothing_is_written_before_the_first_batch() {
    let Some(etcd) = started() else {
        return;
    };
    let keys = etcd.keys();
    keys.put("/context/1/", "\"1\"");
    let before = keys.revision();
    let store = opened(etcd.url(), &EtcdOptions::default());
    let read_only = crate::read_only(Arc::new(store));
    assert_eq!(value(&*read_only, "/context/1/").as_deref(), Some("\"1\""));
    let revision = read_only.range("/").unwrap().revision;
    read_only.watch("/context/", revision).unwrap();
    assert!(matches!(put(&*read_only, "/a/", ""), Err(Error::ReadOnly)));
    drop(read_only);
    assert_eq!(keys.revision(), before);
    let store = opened(etcd.url(), &EtcdOptions::default());
    put(&store, "/kindsight/a/", "1").unwrap();
    let written = keys.dump("/kindsight/");
    let mark = (
        "/kindsight/format/".to_owned(),
        r#"{"version":2}"#.to_owned(),
    );
    assert_eq!(
        written,
        [("/kindsight/a/".to_owned(), "1".to_owned()), mark]
    );
}

#[test]
fn an_etcd_that_a_later_release_wrote_to_is_refused() {
    let Some(etcd) = started() else {
        return;
    };
    etcd.keys().put("/kindsight/format/", r#"{"version":3}"#);
    let refused = refusal(etcd.url(), &EtcdOptions::default());
    assert!(
        matches!(refused, Error::UnknownVersion { found: 3, .. }),
        "{refused}"
    );
    let contexts = EtcdOptions {
        watched: "/context/".to_owned(),
        ..EtcdOptions::default()
    };
    let store = opened(etcd.url(), &contexts);
    let refused = put(&store, "/kindsight/a/", "");
    assert!(
        matches!(refused, Err(Error::UnknownVersion { .. })),
        "{refused:?}"
    );
}

#[test]
fn writes_of_other_programs_are_reported() {
    let Some(etcd) = started() else {
        return;
    };
    let store = opened(etcd.url(), &EtcdOptions::default());
    let revision = store.range("/context/").unwrap().revision;
    let mut watch = store.watch("/context/", revision).unwrap();
    let keys = etcd.keys();
    keys.put("/other/", "x");
    keys.put("/context/1/", "x");
    keys.put("/context/1/", "x");
    keys.delete_under("/context/");
    let heard = [(); 3].map(|()| {
        let changes = wait(watch.next()).unwrap().changes;
        changes.into_iter().map(|it| it.kind).collect::<Vec<_>>()
    });
    let (put, delete) = (ChangeKind::Put, ChangeKind::Delete);
    assert_eq!(heard, [vec![put], vec![put], vec![delete]]);
    match store.watch("/", revision).and(store.watch("", revision)) {
        Err(Error::NotWatched { prefix, watched }) => assert_eq!((&*prefix, &*watched), ("", "/")),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn a_store_is_dropped_anywhere() {
    let Some(etcd) = started() else {
        return;
    };
    let store = opened(etcd.url(), &EtcdOptions::default());
    let mut watch = store.watch("/", store.keys("/").unwrap().revision).unwrap();
    wait(async {
        let read = store.get("/a/").unwrap();
        assert_eq!(read, None, "a call blocks, also in another runtime");
        drop(store);
        assert!(matches!(watch.next().await, Err(Error::Closed)));
    });
}
