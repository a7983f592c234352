//! An etcd that is killed, paused or compacted, or whose answers are lost.

use kindsight_cluster::Proxy;

use super::*;

#[test]
fn an_etcd_that_is_killed_and_started_again_loses_nothing() {
    let Some(mut etcd) = started() else {
        return;
    };
    let store = opened(etcd.url(), &short());
    let before = put(&store, "/t/a/", "1").unwrap();
    let mut watch = store.watch("/t/", before).unwrap();
    etcd.kill();
    let Connection::Away { since_ms, reason } = wait_for(&store, is_away) else {
        unreachable!("it is away");
    };
    assert!(since_ms > 0 && !reason.is_empty());
    for failed in [
        put(&store, "/t/b/", "1"),
        store.keys("/").map(|it| it.revision),
    ] {
        match failed {
            Err(Error::Unavailable { reason }) => assert!(reason.contains("refused"), "{reason}"),
            other => panic!("expected Unavailable, got {other:?}"),
        }
    }
    etcd.start_again();
    wait_for(&store, is_connected);
    let after = put(&store, "/t/c/", "1").unwrap();
    assert_eq!(wait(watch.next()).unwrap().revision, after);
    assert_eq!(store.keys("/t/").unwrap().keys, ["/t/a/", "/t/c/"]);
}

#[test]
fn an_etcd_that_was_replaced_is_read_again_although_it_counted_further() {
    let Some(mut etcd) = started() else {
        return;
    };
    let proxy = Proxy::before(etcd.url());
    let store = opened(&proxy.url(), &short());
    let before = put(&store, "/t/a/", "1").unwrap();
    let mut watch = store.watch("/t/", before).unwrap();
    proxy.close();
    wait_for(&store, is_away);
    etcd.kill();
    etcd.start_empty();
    let keys = etcd.keys();
    for number in 0..before.number() + 9 {
        keys.put(&format!("/t/other-{number}/"), "1");
    }
    proxy.open();
    compacted_to(wait(watch.next()));
    wait_for(&store, is_connected);
    let now = store.keys("/t/").unwrap();
    assert!(now.revision > before);
    let mut watch = store.watch("/t/", now.revision).unwrap();
    let after = put(&store, "/t/b/", "1").unwrap();
    assert_eq!(wait(watch.next()).unwrap().revision, after);
}

#[test]
fn a_paused_etcd_is_away_until_it_continues() {
    let Some(mut etcd) = started() else {
        return;
    };
    let store = opened(etcd.url(), &short());
    let before = put(&store, "/t/a/", "1").unwrap();
    let mut watch = store.watch("/t/", before).unwrap();
    etcd.pause();
    match store.get("/t/a/") {
        Err(Error::Unavailable { reason }) => assert_eq!(reason, "no answer within 2s"),
        other => panic!("expected Unavailable, got {other:?}"),
    }
    wait_for(&store, is_away);
    let unknown = put(&store, "/t/b/", "1");
    assert!(
        matches!(&unknown, Err(Error::OutcomeUnknown { key, .. }) if key == "/t/b/"),
        "{unknown:?}"
    );
    etcd.resume();
    wait_for(&store, is_connected);
    let after = put(&store, "/t/c/", "1").unwrap();
    let mut heard = Vec::new();
    while !heard.contains(&"/t/c/".to_owned()) {
        let changes = wait(watch.next()).unwrap().changes;
        heard.extend(changes.into_iter().map(|it| it.key));
    }
    let stored = store.keys("/t/").unwrap();
    assert!(stored.revision >= after);
    assert_eq!(
        ["/t/a/".to_owned()]
            .into_iter()
            .chain(heard)
            .collect::<Vec<_>>(),
        stored.keys
    );
}

#[test]
fn changes_that_are_compacted_before_they_are_heard_are_read_again() {
    let Some(etcd) = started() else {
        return;
    };
    let proxy = Proxy::before(etcd.url());
    let store = opened(&proxy.url(), &short());
    let before = put(&store, "/t/a/", "1").unwrap();
    let mut watch = store.watch("/t/", before).unwrap();
    proxy.close();
    wait_for(&store, is_away);
    let keys = etcd.keys();
    for value in 0..10 {
        keys.put("/t/b/", &value.to_string());
    }
    keys.compact();
    proxy.open();
    compacted_to(wait(watch.next()));
    compacted_to(wait(watch.next()));
    wait_for(&store, is_connected);
    let range = store.range("/t/").unwrap();
    assert_eq!(range.entries.len(), 2);
    let mut watch = store.watch("/t/", range.revision).unwrap();
    compacted_to(store.watch("/t/", before));
    let after = put(&store, "/t/c/", "1").unwrap();
    assert_eq!(wait(watch.next()).unwrap().revision, after);
}

#[test]
fn a_watch_that_is_cut_resumes_at_its_position() {
    let Some(etcd) = started() else {
        return;
    };
    let proxy = Proxy::before(etcd.url());
    let store = opened(&proxy.url(), &short());
    let begin = put(&store, "/t/", "").unwrap();
    let mut watch = store.watch("/t/", begin).unwrap();
    let keys = etcd.keys();
    for round in 0..5 {
        proxy.cut();
        for number in 0..20 {
            keys.put(&format!("/t/{round}-{number:02}/"), "");
        }
    }
    for round in 0..5 {
        for number in 0..20 {
            let heard = wait(watch.next()).unwrap().changes;
            let change = Change {
                key: format!("/t/{round}-{number:02}/"),
                kind: ChangeKind::Put,
                value: Some(b"".as_slice().into()),
            };
            assert_eq!(heard, [change]);
        }
    }
}

/// Discards the answer to a call, and forwards all other answers.
fn with_a_lost_answer<T>(proxy: &Proxy, call: impl FnOnce() -> T) -> T {
    proxy.mute();
    std::thread::scope(|scope| {
        let opening = scope.spawn(|| {
            // Shorter than the deadline of the call.
            std::thread::sleep(SHORT / 2);
            proxy.open();
        });
        let outcome = call();
        opening.join().unwrap();
        outcome
    })
}

#[test]
fn a_write_whose_answer_is_lost_is_read_back() {
    let Some(etcd) = started() else {
        return;
    };
    let proxy = Proxy::before(etcd.url());
    let store = opened(&proxy.url(), &short());
    put(&store, "/t/n/", "1").unwrap();
    let next = Batch::new()
        .equals("/t/n/", "1")
        .put("/t/n/", "2")
        .put("/t/m/", "2");
    let revision = with_a_lost_answer(&proxy, || store.apply(&next)).unwrap();
    let entry = store.entry("/t/n/").unwrap().unwrap();
    assert_eq!(
        (entry.value.as_slice(), entry.changed),
        (&b"2"[..], revision)
    );
    // The same batch again: its condition does not hold, whether the answer arrives or not.
    match with_a_lost_answer(&proxy, || store.apply(&next)) {
        Err(Error::Conflict { key }) => assert_eq!(key, "/t/n/"),
        other => panic!("expected a conflict, got {other:?}"),
    }
    let delete = Batch::new().present("/t/m/").delete("/t/m/");
    with_a_lost_answer(&proxy, || store.apply(&delete)).unwrap();
    assert_eq!(store.keys("/t/").unwrap().keys, ["/t/n/"]);
}

#[test]
fn a_write_that_another_overtook_is_found_among_earlier_values() {
    let Some(etcd) = started() else {
        return;
    };
    let proxy = Proxy::before(etcd.url());
    let store = opened(&proxy.url(), &short());
    put(&store, "/t/n/", "1").unwrap();
    let next = Batch::new().equals("/t/n/", "1").put("/t/n/", "2");
    let revision = with_a_lost_answer(&proxy, || {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let keys = etcd.keys();
                while !keys.dump("/t/n/").iter().any(|(_, value)| value == "2") {}
                keys.put("/t/n/", "3");
            });
            store.apply(&next)
        })
    });
    let entry = store.entry("/t/n/").unwrap().unwrap();
    assert_eq!(entry.value, b"3");
    assert!(revision.unwrap() < entry.changed);
}

#[test]
fn a_member_that_is_away_from_the_beginning_is_said() {
    let Some(etcd) = started() else {
        return;
    };
    let proxy = Proxy::before(etcd.url());
    proxy.close();
    match refusal(&proxy.url(), &short()) {
        Error::Unavailable { reason } => assert!(!reason.is_empty()),
        other => panic!("expected Unavailable, got {other}"),
    }
    // One reachable endpoint of several is sufficient.
    let endpoints = [endpoint(&proxy.url()), endpoint(etcd.url())];
    let store = EtcdStore::connect(&endpoints, &EtcdOptions::default()).unwrap();
    for number in 0..20 {
        put(&store, &format!("/t/{number}/"), "").unwrap();
    }
    assert_eq!(store.keys("/t/").unwrap().keys.len(), 20);
}
