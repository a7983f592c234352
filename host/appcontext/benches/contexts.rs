//! Contexts of 10, 100 and 1,000 resources, created and read, and the start with 1,000 contexts; on the
//! embedded store in a file, and on an etcd where its binary is there.
//!
//! A context is read with one range, also here; `snapshot/tests/updated.rs` counts them.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use kindsight_appcontext::{
    AppContexts, ContextMeta, NewApp, NewCluster, NewContext, NewResource, ResourceName,
};
use kindsight_cluster::{Binaries, Binary, Etcd};
use kindsight_store::{EtcdOptions, RedbStore};

/// Bytes of a manifest, as large as the manifest of a Deployment.
const MANIFEST_BYTES: usize = 1_200;
/// Contexts that a start reads.
const CONTEXTS: usize = 1_000;
/// Resources of each of them.
const RESOURCES: usize = 100;

fn context(resources: usize) -> NewContext {
    let resource = |number| NewResource {
        resource: ResourceName::new(&format!("x{number}"), "Deployment").expect("a name"),
        manifest: "a: b\n".repeat(MANIFEST_BYTES / 5),
    };
    NewContext {
        meta: ContextMeta::default(),
        apps: vec![NewApp {
            name: "a".to_owned(),
            clusters: vec![NewCluster {
                cluster: "p+c".parse().expect("a cluster"),
                group: None,
                resources: (0..resources).map(resource).collect(),
            }],
        }],
    }
}

fn create_and_read(criterion: &mut Criterion, name: &str, contexts: &AppContexts) {
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(20)
        .measurement_time(Duration::from_secs(3));
    for resources in [10, 100, 1_000] {
        let new = context(resources);
        group.bench_function(BenchmarkId::new("create", resources), |bencher| {
            bencher.iter(|| contexts.create(black_box(&new)).expect("a context"));
        });
        let id = contexts.create(&new).expect("a context");
        group.bench_function(BenchmarkId::new("read", resources), |bencher| {
            bencher.iter(|| contexts.read(black_box(&id)).expect("an answer"));
        });
    }
    group.finish();
}

/// Reads every context, as a start does.
fn start(criterion: &mut Criterion, name: &str, contexts: &AppContexts) {
    for id in contexts.list().expect("a list").ids {
        contexts.delete(&id).expect("a deletion");
    }
    let new = context(RESOURCES);
    for _ in 0..CONTEXTS {
        contexts.create(&new).expect("a context");
    }
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(10));
    group.bench_function("start with 1,000 contexts of 100", |bencher| {
        let list = || contexts.list().expect("a list").ids;
        bencher.iter_batched(
            || (),
            |()| {
                for id in list() {
                    black_box(contexts.read(&id).expect("an answer"));
                }
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn embedded(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = RedbStore::open(&folder.path().join("store.redb")).expect("a store");
    let contexts = AppContexts::new(Arc::new(store));
    create_and_read(criterion, "redb", &contexts);
    start(criterion, "redb", &contexts);
}

fn etcd(criterion: &mut Criterion) {
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let (_, endpoint) = etcd.url().split_once("://").expect("a URL");
    let address = format!("etcd://{endpoint}").parse().expect("an address");
    let store = kindsight_store::open(&address, &EtcdOptions::default()).expect("a store");
    let contexts = AppContexts::new(store);
    create_and_read(criterion, "etcd", &contexts);
    start(criterion, "etcd", &contexts);
}

criterion_group!(benches, embedded, etcd);
criterion_main!(benches);
