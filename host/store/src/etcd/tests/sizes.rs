//! Ranges and changes that are larger than an answer, and keys that are not text.

use kindsight_cluster::Proxy;

use super::*;

#[test]
fn a_large_range_is_read_as_it_was_at_one_moment() {
    let Some(etcd) = started() else {
        return;
    };
    let store = opened(etcd.url(), &EtcdOptions::default());
    let small = (0..3000).map(|number| (format!("/t/{number:04}/"), "x".repeat(1024)));
    // The first page would be larger than the largest answer.
    let large = (0..20).map(|number| (format!("/t/0000/{number}/"), "x".repeat(1024 * 1024)));
    let mut expect: Vec<(String, usize)> = Vec::new();
    for (key, value) in small.chain(large) {
        expect.push((key.clone(), value.len()));
        store.apply(&Batch::new().put(key, value)).unwrap();
    }
    expect.sort();
    let writing = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Two keys that always have equal values and are far apart.
            for number in 0.. {
                let number = number.to_string();
                let both = Batch::new()
                    .put("/t/!/", number.as_str())
                    .put("/t/~/", number.as_str());
                store.apply(&both).unwrap();
                if !writing.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        for _ in 0..3 {
            let range = store.range("/t/").unwrap();
            let value = |key: &str| {
                let found = range.entries.iter().find(|entry| entry.key == key);
                found.map(|entry| entry.value.clone())
            };
            assert_eq!(value("/t/!/"), value("/t/~/"));
            let found = range
                .entries
                .iter()
                .map(|entry| (entry.key.clone(), entry.value.len()));
            let found: Vec<_> = found
                .filter(|sized| !["/t/!/", "/t/~/"].contains(&&*sized.0))
                .collect();
            assert_eq!(found, expect);
        }
        writing.store(false, Ordering::Relaxed);
    });
    assert_eq!(store.keys("/t/").unwrap().keys.len(), expect.len() + 2);
}

#[test]
fn missed_changes_are_reported_in_complete_batches_of_any_size() {
    const BATCHES: usize = 40;
    let Some(etcd) = started() else {
        return;
    };
    let proxy = Proxy::before(etcd.url());
    let store = opened(&proxy.url(), &short());
    let mut watch = store
        .watch("/t/", store.keys("/t/").unwrap().revision)
        .unwrap();
    proxy.close();
    wait_for(&store, is_away);
    let direct = opened(etcd.url(), &EtcdOptions::default());
    let part = vec![b'x'; 300 * 1024];
    let revisions: Vec<Revision> = (0..BATCHES)
        .map(|number| {
            let keys = (0..4).map(|part| format!("/t/{number}/{part}/"));
            let batch = keys.fold(Batch::new(), |batch, key| batch.put(key, part.clone()));
            direct.apply(&batch).unwrap()
        })
        .collect();
    proxy.open();
    for revision in revisions {
        let heard = wait(watch.next()).unwrap();
        assert_eq!((heard.revision, heard.changes.len()), (revision, 4));
    }
}

#[test]
fn keys_that_are_no_text_are_passed_over() {
    let Some(etcd) = started() else {
        return;
    };
    let store = opened(etcd.url(), &EtcdOptions::default());
    let begin = store.keys("/").unwrap().revision;
    let mut watch = store.watch("/t/", begin).unwrap();
    let link = Arc::clone(&store.link);
    let put_raw = async move {
        for key in [&b"/t/\xff/"[..], b"/t/a/", b"/t/\xfe"] {
            let mut client = link.client.kv_client();
            client.put(key, "x", None).await.unwrap();
        }
        Ok(())
    };
    store.runtime.wait(put_raw).unwrap();
    assert_eq!(store.keys("/t/").unwrap().keys, ["/t/a/"]);
    assert_eq!(store.range("/t/").unwrap().entries.len(), 1);
    let change = Change {
        key: "/t/a/".to_owned(),
        kind: ChangeKind::Put,
        value: Some(b"x".as_slice().into()),
    };
    assert_eq!(wait(watch.next()).unwrap().changes, [change]);
    let after = put(&store, "/t/b/", "").unwrap();
    assert_eq!(wait(watch.next()).unwrap().revision, after);
}
