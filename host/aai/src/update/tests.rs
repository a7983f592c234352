use std::sync::Arc;
use std::time::Instant;

use kindsight_api::onap::OnapState;
use kindsight_cluster::Inventory;
use kindsight_store::{Expiry, RedbStore};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::health::Health;
use crate::item::{Content, Vserver};
use crate::tests::{cluster, name, settings};

fn entry() -> Entry {
    Entry {
        application: name(),
        cluster: Some(cluster()),
        content: Some(Content::Vserver(Vserver {
            name: "a".into(),
            name2: "shop".into(),
            self_link: "kindsight:lab+a/default/Pod/a".into(),
            state: OnapState::Ready,
            address: None,
            vnf: "vnf-1".into(),
            vf_module: "module-1".into(),
        })),
    }
}

#[test]
fn no_write_follows_the_end_of_the_lease() {
    let inventory = Inventory::start();
    let settings = Arc::new(settings(&inventory));
    let ledger = Ledger(Arc::new(RedbStore::in_memory().unwrap()));
    let place = settings.clusters[&cluster()].clone();
    let run = |action: Action, entry: Option<Entry>, lease: Expiry| {
        let (health, stop) = (Health::default(), CancellationToken::new());
        let client = Client::new(Arc::clone(&settings), health, stop, lease);
        let key = ItemKey::vserver(&place, "uid-a");
        let job = Job { key, action, entry };
        let done = update(job, &ledger, &client);
        let methods = inventory.writes().into_iter().map(|it| it.method);
        let methods: Vec<String> = methods.collect();
        (done.is_lease_lost, methods)
    };
    let ended = || Expiry::until(Instant::now());
    let write = || Action::Write(Box::new(entry()));

    let (is_lease_lost, methods) = run(write(), None, ended());
    assert_eq!((is_lease_lost, methods.len()), (true, 0));
    assert_eq!(inventory.requests().len(), 1, "the object was read");
    let (is_lease_lost, methods) = run(write(), None, Expiry::default());
    assert_eq!((is_lease_lost, methods.len()), (false, 1));
    let (is_lease_lost, methods) = run(Action::Remove, Some(entry()), ended());
    assert_eq!((is_lease_lost, methods.len()), (true, 1));
    let (is_lease_lost, methods) = run(Action::Remove, Some(entry()), Expiry::default());
    assert_eq!(
        (is_lease_lost, methods),
        (false, vec!["PUT".to_owned(), "DELETE".to_owned()])
    );
}
