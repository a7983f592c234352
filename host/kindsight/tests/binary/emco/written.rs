//! Contexts that the library writes into etcd have the same bytes as contexts of an orchestrator.

use kindsight_appcontext::{AppContexts, Recorded};
use kindsight_model::{ContextId, ContextStatus, DigName, RsyncStatus};
use kindsight_store::{EtcdOptions, StoreAddress};

use super::laid::{Generation, Laid};
use super::stage::{address, etcd};
use crate::goldens::{Apps, instantiate};

const ID: &str = "2755581958183303505";
const CLUSTERS: [&str; 2] = ["vfw-cluster-provider+edge01", "vfw-cluster-provider+edge02"];
/// Meta as it is written since 21.03.
const META: &str = r#"{"Project":"testvfw","CompositeApp":"compositevfw","Version":"v1","Release":"","DeploymentIntentGroup":"vfw","Namespace":"default","Level":"0","ChildContextIDs":null}"#;
const APPS: Apps<'_> = &[
    (
        "packetgen",
        &[
            ("fw0-packetgen", "Deployment", "apps/v1"),
            ("packetgen-service", "Service", "v1"),
        ],
    ),
    (
        "sink",
        &[("system:sink", "ClusterRole", "rbac.authorization.k8s.io/v1")],
    ),
];

#[test]
fn the_library_writes_the_same_keys_as_an_orchestrator() {
    let Some(etcd) = etcd() else { return };
    let keys = etcd.keys();
    let mut laid = Laid::with_meta(Generation::Onap, ID, META);
    for (app, resources) in APPS {
        for cluster in CLUSTERS {
            laid.cluster(app, cluster, resources);
        }
    }
    laid.ordered().rsync("Applied");
    laid.put("status/", r#"{"Status":"Instantiated"}"#);
    laid.put("stopflag/", "false");
    // The orchestrator chooses the groups of clusters, so they may differ.
    laid.keys.retain(|(key, _)| !key.contains("metaGrp"));
    keys.put_all(&laid.keys);
    let by_hand = keys.dump("/context/");
    keys.delete_under("/");

    let store: StoreAddress = address(&etcd).parse().unwrap();
    let store = kindsight_store::open(&store, &EtcdOptions::default()).unwrap();
    let contexts = AppContexts::new(store);
    let id: ContextId = ID.parse().unwrap();
    let dig = DigName::new("testvfw", "compositevfw", "v1", "vfw").unwrap();
    let states = (ContextStatus::Instantiated, RsyncStatus::Applied);
    instantiate(&contexts, &id, &dig, (APPS, &CLUSTERS), states);
    let recorded = contexts.record_stop_flag(&id, false).unwrap();
    assert!(matches!(recorded, Recorded::Written(_)));
    assert_eq!(keys.dump("/context/"), by_hand);

    assert!(contexts.delete(&id).unwrap());
    assert_eq!(keys.dump("/context/"), []);
}
