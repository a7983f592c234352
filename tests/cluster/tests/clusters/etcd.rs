//! etcd without an API server.

use kindsight_cluster::{Authority, Binaries, Binary, Client, Cluster, Credentials, Etcd, Options};
use ureq::http::Method;

use crate::api_server_binaries;

#[test]
fn an_etcd_with_tls_accepts_only_its_own_clients_and_serves_a_cluster() {
    let Some(binaries) = api_server_binaries() else {
        return;
    };
    let etcd = Etcd::start_with_tls(&binaries);
    let authority = etcd.authority().expect("it has one");
    let health = |credentials| {
        let client = Client::new(etcd.url(), Some(authority.certificate()), &credentials);
        client.request(Method::GET, "/health", None)
    };
    let own = authority.client("root", "clients", None);
    let answer = health(Credentials::Certificate(own)).expect("an answer");
    assert_eq!(answer.status, 200);
    let foreign = Authority::new("another").client("root", "clients", None);
    for stranger in [Credentials::Certificate(foreign), Credentials::Nobody] {
        assert!(health(stranger).is_err());
    }
    let cluster = Cluster::start(&etcd, &Options::api_server("edge01"));
    assert!(cluster.get("/api/v1/namespaces/kube-system").is_some());
}

#[test]
fn a_paused_etcd_hangs_until_it_is_resumed() {
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let mut etcd = Etcd::start(&binaries);
    let client = Client::new(etcd.url(), None, &Credentials::Nobody);
    let hasty = client.with_timeout(std::time::Duration::from_secs(1));
    etcd.pause();
    let answer = hasty.request(Method::GET, "/health", None);
    assert!(matches!(answer, Err(ureq::Error::Timeout(_))), "{answer:?}");
    etcd.resume();
    let answer = client.request(Method::GET, "/health", None);
    assert_eq!(answer.expect("an answer").status, 200);
}

#[test]
fn keys_are_written_read_and_deleted_and_a_reader_reads_only_its_own() {
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let keys = etcd.keys();
    for (key, value) in [
        ("/context/1/", "\"1\""),
        ("/context/1/meta/", "{}"),
        ("/other/", ""),
    ] {
        keys.put(key, value);
    }
    let root = ("/context/1/".to_owned(), "\"1\"".to_owned());
    let meta = ("/context/1/meta/".to_owned(), "{}".to_owned());
    assert_eq!(keys.dump("/context/"), [root.clone(), meta]);
    keys.delete_under("/context/1/meta/");
    assert_eq!(keys.dump("/context/"), std::slice::from_ref(&root));
    keys.compact();
    keys.protect("secret", &[("reader", "word", "/context/")]);
    let reader = etcd.keys_of("reader", "word");
    assert_eq!(reader.dump("/context/"), [root]);
    let forbidden = std::panic::AssertUnwindSafe(|| reader.dump("/other/"));
    let refused = std::panic::catch_unwind(forbidden);
    assert!(
        refused.is_err(),
        "it may read only the keys under its prefix"
    );
    assert_eq!(etcd.keys_of("root", "secret").dump("/other/").len(), 1);
}

#[test]
fn two_members_of_three_go_on() {
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let [mut first, second, third] = Etcd::start_three(&binaries);
    first.keys().put("/a", "1");
    first.kill();
    // If the stopped member was the leader, the others first elect a new one.
    let client = Client::new(second.url(), None, &Credentials::Nobody);
    client.wait_for_status("/health", 200, std::time::Duration::from_mins(1));
    second.keys().put("/b", "2");
    let names: Vec<String> = third.keys().dump("/").into_iter().map(|it| it.0).collect();
    assert_eq!(names, ["/a", "/b"]);
    first.start_again();
    assert_eq!(first.keys().dump("/").len(), 2);
}
