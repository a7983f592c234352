//! Latencies of both stores and of a bare etcd client: `cargo bench -p kindsight-store`.
//!
//! The etcd is a real one on this machine that syncs each write to disk, as the embedded store
//! does. If no etcd is available, only the embedded store is measured.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark ends where a step fails, and prints its figures"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Etcd};
use kindsight_store::{Batch, EtcdOptions, EtcdStore, RedbStore, Store};

/// Number of calls per measurement. Its percentiles are printed.
const CALLS: usize = 500;
/// Value of a write, about as large as a status in a context.
const VALUE: [u8; 400] = [b'x'; 400];
/// Keys per batch: as many as one etcd transaction accepts.
const BATCH: usize = 100;
/// Keys per range: a context of 1,000 resources has about two keys for each resource.
const RANGE: usize = 2000;
/// Keys of the large file, which has about ten times the size of the page cache.
const LARGE: usize = 100_000;
/// Keys per batch while the large file is filled.
const LARGE_BATCH: usize = 2000;

fn main() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = RedbStore::open(&folder.path().join("store.redb")).unwrap();
    println!("{:<40}{:>10}{:>10}", "", "p50", "p99");
    measure_store("file", &file);
    let large = RedbStore::open(&folder.path().join("large.redb")).unwrap();
    measure_large(&large);
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let etcd = Etcd::start_with(&binaries, &[]);
    let endpoint = etcd.url().replace("http://", "");
    bare(etcd.url());
    let options = EtcdOptions {
        key_prefix: "/ours".to_owned(),
        ..EtcdOptions::default()
    };
    let store = EtcdStore::connect(&[endpoint], &options).unwrap();
    measure_store("etcd", &store);
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!("{what:<40}{:>10.1?}{:>10.1?}", at(50), at(99));
}

fn timed(calls: usize, mut call: impl FnMut(usize)) -> Vec<Duration> {
    let mut time = |number| {
        let begin = Instant::now();
        call(number);
        begin.elapsed()
    };
    (0..calls).map(&mut time).collect()
}

fn measure_store(name: &str, store: &dyn Store) {
    let put = |number: usize| Batch::new().put(format!("/put/{number}/"), VALUE);
    store.apply(&put(0)).unwrap();
    let times = timed(CALLS, |number| {
        store.apply(&put(number)).unwrap();
    });
    report(&format!("{name}: put"), times);
    let times = timed(CALLS, |number| {
        let key = format!("/put/{number}/");
        store
            .apply(&put(number).present("/put/0/").equals(key, VALUE))
            .unwrap();
    });
    report(&format!("{name}: put under two conditions"), times);
    let times = timed(CALLS / 10, |number| {
        let keys = (0..BATCH).map(|key| format!("/batch/{number}/{key}/"));
        store
            .apply(&keys.fold(Batch::new(), |batch, key| batch.put(key, VALUE)))
            .unwrap();
    });
    report(&format!("{name}: batch of {BATCH} keys"), times);
    for first in (0..RANGE).step_by(BATCH) {
        let keys = (first..first + BATCH).map(|key| format!("/range/{key}/"));
        store
            .apply(&keys.fold(Batch::new(), |batch, key| batch.put(key, VALUE)))
            .unwrap();
    }
    let times = timed(CALLS / 10, |_| {
        assert_eq!(store.range("/range/").unwrap().entries.len(), RANGE);
    });
    report(&format!("{name}: range of {RANGE} keys"), times);
    let times = timed(CALLS, |number| {
        assert!(store.get(&format!("/put/{number}/")).unwrap().is_some());
    });
    report(&format!("{name}: get"), times);
    let mut watch = store
        .watch("/heard/", store.keys("/heard/").unwrap().revision)
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let times = timed(CALLS, |number| {
        store
            .apply(&Batch::new().put(format!("/heard/{number}/"), VALUE))
            .unwrap();
        runtime.block_on(watch.next()).unwrap();
    });
    report(&format!("{name}: put until the watch reports it"), times);
}

/// Calls on a file that is larger than the page cache of redb. Each batch adds the newest keys and
/// deletes the oldest keys, as histories do.
fn measure_large(store: &dyn Store) {
    let key = |number: usize| format!("/large/{}/{number:020}/", number % 15);
    for first in (0..LARGE).step_by(LARGE_BATCH) {
        let keys = (first..first + LARGE_BATCH).map(key);
        store
            .apply(&keys.fold(Batch::new(), |batch, key| batch.put(key, VALUE)))
            .unwrap();
    }
    let times = timed(CALLS, |call| {
        let oldest = call * BATCH..(call + 1) * BATCH;
        let batch = oldest.fold(Batch::new(), |batch, number| {
            batch.put(key(number + LARGE), VALUE).delete(key(number))
        });
        store.apply(&batch).unwrap();
    });
    report(
        &format!("large file: {BATCH} keys added and deleted"),
        times,
    );
    let times = timed(CALLS, |call| {
        // A prime stride reads keys that are far from each other.
        let number = CALLS * BATCH + call * 7919 % (LARGE - CALLS * BATCH);
        assert!(store.get(&key(number)).unwrap().is_some());
    });
    report("large file: get", times);
    let times = timed(3, |_| {
        assert_eq!(store.range("/large/").unwrap().entries.len(), LARGE);
    });
    report("large file: range of all keys", times);
}

/// The same calls with the client only.
fn bare(url: &str) {
    let runtime = Arc::new(
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap(),
    );
    let mut client = runtime
        .block_on(etcd_client::Client::connect([url], None))
        .unwrap();
    let times = timed(CALLS, |number| {
        runtime
            .block_on(client.put(format!("/bare/{number}/"), VALUE, None))
            .unwrap();
    });
    report("bare etcd: put", times);
    let times = timed(CALLS / 10, |number| {
        let keys = (0..BATCH).map(|key| format!("/batch/{number}/{key}/"));
        let puts: Vec<_> = keys
            .map(|key| etcd_client::TxnOp::put(key, VALUE, None))
            .collect();
        runtime
            .block_on(client.txn(etcd_client::Txn::new().and_then(puts)))
            .unwrap();
    });
    report(&format!("bare etcd: transaction of {BATCH} keys"), times);
    let times = timed(CALLS, |number| {
        runtime
            .block_on(client.get(format!("/bare/{number}/"), None))
            .unwrap();
    });
    report("bare etcd: get", times);
}
