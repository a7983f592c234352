//! The responses that the specification prescribes, from contexts that an orchestrator wrote into etcd key by key.

use kindsight_model::{ContextStatus, RsyncStatus};
use kindsight_store::{EtcdOptions, StoreAddress};

use super::laid::{Generation, Laid};
use super::stage::{address, etcd};
use crate::goldens::{check_all, fill, golden, reports};
use crate::process::Server;

fn word(status: &ContextStatus) -> &'static str {
    match status {
        ContextStatus::Terminated => "Terminated",
        _ => "Instantiated",
    }
}

fn rsync_word(status: RsyncStatus) -> &'static str {
    match status {
        RsyncStatus::Deleted => "Deleted",
        _ => "Applied",
    }
}

#[test]
fn the_specified_responses_come_from_contexts_laid_down_key_by_key() {
    let Some(etcd) = etcd() else { return };
    let keys = etcd.keys();
    for generation in [Generation::Onap, Generation::V22] {
        keys.delete_under("/");
        let store: StoreAddress = address(&etcd).parse().unwrap();
        let store = kindsight_store::open(&store, &EtcdOptions::default()).unwrap();
        fill(
            &store,
            &golden("dig-default.json"),
            &|id, dig, (apps, clusters), (status, rsync)| {
                let mut laid = Laid::new(generation, id.as_str(), &dig.to_string());
                for (app, resources) in apps {
                    for cluster in clusters {
                        laid.cluster(app, cluster, resources);
                    }
                }
                laid.ordered();
                laid.status(word(&status)).rsync(rsync_word(rsync));
                keys.put_all(&laid.keys);
            },
        );
        let data = tempfile::tempdir().unwrap();
        let address = address(&etcd);
        let arguments = ["--store", &address];
        let reports = reports(data.path(), generation.monitor());
        let server = Server::start_with(data.path(), &reports, &arguments);
        check_all(&server, generation.monitor());
    }
}
