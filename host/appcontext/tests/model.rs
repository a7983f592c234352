//! Random library calls of two clients, compared with a simple model in memory.
//!
//! Each client keeps its handles, even if the other client deletes their keys.

mod model {
    pub(crate) mod call;
    pub(crate) mod client;
    pub(crate) mod expected;
}

use std::sync::Arc;

use kindsight_appcontext::{AppContexts, ContextSnapshot};
use kindsight_cluster::{Binaries, Binary, Etcd};
use kindsight_store::{Batch, EtcdOptions, RedbStore, Store};
use model::call::{self, Call};
use model::client::Client;
use model::expected::Expected;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// One resource of a snapshot: app, cluster, group, resource, manifest, status.
fn lines(snapshot: &ContextSnapshot) -> Vec<String> {
    let mut lines = Vec::new();
    for app in &snapshot.apps {
        lines.push(app.name.clone());
        for cluster in &app.clusters {
            let group = cluster.group.as_deref().unwrap_or("none");
            lines.push(format!("{} {} {group}", app.name, cluster.cluster));
            for it in cluster.resources.iter() {
                let yaml = it.manifest.as_deref().unwrap_or("none");
                lines.push(format!("  {} {yaml} {:?}", it.name, it.status));
            }
        }
    }
    lines
}

/// Makes the calls, and compares each outcome and what is there in the end.
fn compare(store: &Arc<dyn Store>, calls: &[(bool, Call)]) {
    let contexts = AppContexts::new(Arc::clone(store));
    let context = contexts.create_composite_app().expect("a context");
    let mut clients = [Client::new(context.clone()), Client::new(context.clone())];
    let mut expected = Expected::default();
    for (number, (client, call)) in calls.iter().enumerate() {
        let outcome = clients[usize::from(*client)].make(call);
        assert_eq!(outcome, expected.make(call), "call {number}: {call:?}");
    }
    let snapshot = contexts.read(context.id()).expect("an answer");
    assert_eq!(snapshot.as_ref().map(lines), expected.lines());
    let order = context.app_order().get().expect("an order");
    assert_eq!(
        order.map(|it| it.apps).unwrap_or_default(),
        expected.order()
    );
    let keys = store.keys("/context/").expect("keys").keys;
    assert_eq!(keys.is_empty(), expected.lines().is_none(), "{keys:?}");
    if let Some(snapshot) = snapshot {
        assert_eq!(snapshot.unreadable, []);
    }
}

/// Fewer cases on a real etcd, where its binary is there or can be built.
#[test]
fn two_clients_of_an_etcd_do_what_the_model_does() {
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let (_, endpoint) = etcd.url().split_once("://").unwrap();
    let address = format!("etcd://{endpoint}").parse().unwrap();
    let store = kindsight_store::open(&address, &EtcdOptions::default()).unwrap();
    let mut runner = TestRunner::new(ProptestConfig::with_cases(20));
    let run = |calls: Vec<_>| {
        compare(&store, &calls);
        store
            .apply(&Batch::new().delete_prefix("/context/"))
            .unwrap();
        Ok(())
    };
    runner.run(&call::any_calls(40), run).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn two_clients_do_what_the_model_does(calls in call::any_calls(60)) {
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().unwrap());
        compare(&store, &calls);
    }
}
