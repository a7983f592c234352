use std::fmt::Write as _;

use expect_test::{Expect, expect};
use kindsight_model::DigName;
use kindsight_store::RedbStore;

use super::*;
use crate::{ContextMeta, NewApp, NewCluster, NewResource};

fn contexts() -> AppContexts {
    AppContexts::new(Arc::new(RedbStore::in_memory().unwrap()))
}

fn resource(name: &str, kind: &str, manifest: &str) -> NewResource {
    NewResource {
        resource: ResourceName::new(name, kind).unwrap(),
        manifest: manifest.to_owned(),
    }
}

fn edge() -> ClusterName {
    "vfw-cluster-provider+edge01".parse().unwrap()
}

fn id() -> ContextId {
    "2755581958183303505".parse().unwrap()
}

fn firewall() -> NewContext {
    let name = DigName::new("testvfw", "compositevfw", "v1", "vfw_dig").unwrap();
    NewContext {
        meta: ContextMeta {
            release: "fw0".to_owned(),
            ..ContextMeta::of_dig(&name)
        },
        apps: vec![
            NewApp {
                name: "sink".to_owned(),
                clusters: vec![NewCluster {
                    cluster: edge(),
                    group: Some("1".to_owned()),
                    resources: vec![
                        resource(
                            "sink-configmap",
                            "ConfigMap",
                            "kind: ConfigMap\ndata: <&>\n",
                        ),
                        resource("fw0:sink+x", "Role", "kind: Role\n"),
                    ],
                }],
            },
            NewApp {
                name: "firewall".to_owned(),
                clusters: vec![NewCluster {
                    cluster: edge(),
                    group: None,
                    resources: Vec::new(),
                }],
            },
        ],
    }
}

fn is_written(recorded: Recorded) -> bool {
    matches!(recorded, Recorded::Written(_))
}

fn check_stored(contexts: &AppContexts, expect: &Expect) {
    let mut text = String::new();
    for stored in contexts.store.range("/context/").unwrap().entries {
        let value = String::from_utf8(stored.value).unwrap();
        writeln!(text, "{}\n    {value}", stored.key).unwrap();
    }
    expect.assert_eq(&text);
}

#[test]
fn a_whole_context_is_stored_in_the_reference_layout() {
    let contexts = contexts();
    contexts.create_as(&id(), &firewall()).unwrap();
    let change = StatusChange {
        app: "sink",
        cluster: &edge(),
        resource: &ResourceName::new("sink-configmap", "ConfigMap").unwrap(),
        status: RsyncStatus::Applied,
    };
    for recorded in [
        contexts.record_status(&id(), ContextStatus::Instantiated),
        contexts.record_stop_flag(&id(), false),
        contexts.record_resource_statuses(&id(), &[change]),
        contexts.record_connectivity(&id(), "sink", &edge(), Connectivity::Available),
        contexts.record_bundle(
            &id(),
            "sink",
            &edge(),
            r#"{"ready":false,"podStatuses":[]}"#,
        ),
    ] {
        assert!(is_written(recorded.unwrap()));
    }
    check_stored(
        &contexts,
        &expect![[r#"
        /context/2755581958183303505/
            "2755581958183303505"
        /context/2755581958183303505/app/firewall/
            "firewall"
        /context/2755581958183303505/app/firewall/cluster/vfw-cluster-provider+edge01/
            "vfw-cluster-provider+edge01"
        /context/2755581958183303505/app/instruction/dependency/
            "{\"appdependency\":{\"firewall\":\"go\",\"sink\":\"go\"}}"
        /context/2755581958183303505/app/instruction/order/
            "{\"apporder\":[\"sink\",\"firewall\"]}"
        /context/2755581958183303505/app/sink/
            "sink"
        /context/2755581958183303505/app/sink/cluster/vfw-cluster-provider+edge01/
            "vfw-cluster-provider+edge01"
        /context/2755581958183303505/app/sink/cluster/vfw-cluster-provider+edge01/!@#metaGrp/
            "1"
        /context/2755581958183303505/app/sink/cluster/vfw-cluster-provider+edge01/readystatus/
            "Available"
        /context/2755581958183303505/app/sink/cluster/vfw-cluster-provider+edge01/resource/fw0:sink+x+Role/
            "kind: Role\n"
        /context/2755581958183303505/app/sink/cluster/vfw-cluster-provider+edge01/resource/instruction/dependency/
            "{\"resdependency\":{\"fw0:sink+x+Role\":\"go\",\"sink-configmap+ConfigMap\":\"go\"}}"
        /context/2755581958183303505/app/sink/cluster/vfw-cluster-provider+edge01/resource/instruction/order/
            "{\"resorder\":[\"sink-configmap+ConfigMap\",\"fw0:sink+x+Role\"]}"
        /context/2755581958183303505/app/sink/cluster/vfw-cluster-provider+edge01/resource/sink-configmap+ConfigMap/
            "kind: ConfigMap\ndata: \u003c\u0026\u003e\n"
        /context/2755581958183303505/app/sink/cluster/vfw-cluster-provider+edge01/resource/sink-configmap+ConfigMap/status/
            {"Status":"Applied"}
        /context/2755581958183303505/app/sink/cluster/vfw-cluster-provider+edge01/status/
            "{\"ready\":false,\"podStatuses\":[]}"
        /context/2755581958183303505/meta/
            {"Project":"testvfw","CompositeApp":"compositevfw","Version":"v1","Release":"fw0","DeploymentIntentGroup":"vfw_dig","Namespace":"default","Level":"0","ChildContextIDs":null}
        /context/2755581958183303505/status/
            {"Status":"Instantiated"}
        /context/2755581958183303505/stopflag/
            false
    "#]],
    );
}

#[test]
fn an_id_that_is_taken_is_not_overwritten() {
    let contexts = contexts();
    contexts.create_as(&id(), &firewall()).unwrap();
    let before = contexts.read(&id()).unwrap();
    let again = contexts.create_as(&id(), &NewContext::default());
    assert!(
        matches!(again, Err(Error::Store(StoreError::Conflict { key })) if key.ends_with("505/"))
    );
    assert_eq!(contexts.read(&id()).unwrap(), before);
}

#[test]
fn new_contexts_have_ids_of_their_own() {
    let contexts = contexts();
    let mut made: Vec<_> = (0..20)
        .map(|_| contexts.create(&NewContext::default()).unwrap())
        .collect();
    made.sort();
    made.dedup();
    assert_eq!(made.len(), 20);
    assert_eq!(contexts.list().unwrap().ids.len(), 20);
}

#[test]
fn a_context_that_names_something_twice_is_refused() {
    let contexts = contexts();
    let mut two_apps = firewall();
    two_apps.apps[1].name = "sink".to_owned();
    let mut two_clusters = firewall();
    let cluster = two_clusters.apps[0].clusters[0].clone();
    two_clusters.apps[0].clusters.push(cluster);
    let mut two_resources = firewall();
    let same = two_resources.apps[0].clusters[0].resources[0].clone();
    two_resources.apps[0].clusters[0].resources.push(same);
    for new in [two_apps, two_clusters, two_resources] {
        assert!(matches!(
            contexts.create(&new),
            Err(Error::Store(StoreError::DuplicateKey { .. }))
        ));
    }
    assert_eq!(contexts.list().unwrap().ids, []);
}

#[test]
fn an_app_with_an_impossible_name_is_refused() {
    let mut new = firewall();
    new.apps[0].name = "instruction".to_owned();
    assert!(matches!(contexts().create(&new), Err(Error::Name { .. })));
}

#[test]
fn what_is_unchanged_is_not_written_again() {
    let contexts = contexts();
    contexts.create_as(&id(), &firewall()).unwrap();
    let record = |bundle| {
        contexts
            .record_bundle(&id(), "sink", &edge(), bundle)
            .unwrap()
    };
    assert!(is_written(record(r#"{"a":1}"#)));
    assert_eq!(record(r#"{"a":1}"#), Recorded::Unchanged);
    assert!(is_written(record(r#"{"a":2}"#)));
}

#[test]
fn what_belongs_to_nothing_is_not_recorded() {
    let contexts = contexts();
    let recorded = || {
        let sink = ResourceName::new("sink-configmap", "ConfigMap").unwrap();
        let role = ResourceName::new("other", "Role").unwrap();
        let cluster = edge();
        let change = |resource| StatusChange {
            app: "sink",
            cluster: &cluster,
            resource,
            status: RsyncStatus::Pending,
        };
        [
            contexts.record_status(&id(), ContextStatus::Instantiating),
            contexts.record_stop_flag(&id(), true),
            contexts.record_connectivity(&id(), "other", &edge(), Connectivity::Retrying),
            contexts.record_bundle(&id(), "other", &edge(), "{}"),
            contexts.record_resource_statuses(&id(), &[change(&sink), change(&role)]),
        ]
        .map(Result::unwrap)
    };
    assert_eq!(recorded(), [Recorded::NotFound; 5]);
    assert_eq!(contexts.store.keys("/context/").unwrap().keys, [""; 0]);
    contexts.create_as(&id(), &firewall()).unwrap();
    assert_eq!(recorded()[2..], [Recorded::NotFound; 3]);
    let snapshot = contexts.read(&id()).unwrap().unwrap();
    assert_eq!(snapshot.apps[0].clusters[0].resources[0].status, None);
}

#[test]
fn statuses_of_many_resources_are_one_write() {
    let contexts = contexts();
    contexts.create_as(&id(), &firewall()).unwrap();
    let names = [
        ResourceName::new("sink-configmap", "ConfigMap").unwrap(),
        ResourceName::new("fw0:sink+x", "Role").unwrap(),
    ];
    let record = |statuses: [RsyncStatus; 2]| {
        let cluster = edge();
        let changes = [0, 1].map(|at| StatusChange {
            app: "sink",
            cluster: &cluster,
            resource: &names[at],
            status: statuses[at],
        });
        contexts.record_resource_statuses(&id(), &changes).unwrap()
    };
    let statuses = || {
        let snapshot = contexts.read(&id()).unwrap().unwrap();
        let resources = &snapshot.apps[0].clusters[0].resources;
        [0, 1].map(|at| resources[at].status.unwrap())
    };
    let half = [RsyncStatus::Applied, RsyncStatus::Failed];
    for (expected, is_new) in [
        ([RsyncStatus::Pending; 2], true),
        (half, true),
        (half, false),
    ] {
        let recorded = record(expected);
        assert_eq!(is_written(recorded), is_new);
        assert_eq!(recorded == Recorded::Unchanged, !is_new);
        assert_eq!(statuses(), expected);
    }
}

#[test]
fn a_deleted_context_leaves_its_neighbours() {
    let contexts = contexts();
    let [one, twelve] = ["1", "12"].map(|id| id.parse::<ContextId>().unwrap());
    contexts.create_as(&one, &firewall()).unwrap();
    contexts.create_as(&twelve, &firewall()).unwrap();
    assert!(contexts.delete(&one).unwrap());
    assert!(!contexts.delete(&one).unwrap());
    assert_eq!(contexts.read(&one).unwrap(), None);
    assert_eq!(contexts.list().unwrap().ids, [twelve]);
}

#[test]
fn a_bundle_over_the_limit_leaves_the_old_one() {
    let contexts = contexts();
    contexts.create_as(&id(), &firewall()).unwrap();
    let record = |bundle: &str| contexts.record_bundle(&id(), "sink", &edge(), bundle);
    assert!(is_written(record("{}").unwrap()));
    let huge = "x".repeat(contexts.store.limits().value_bytes + 1);
    assert!(matches!(
        record(&huge),
        Err(Error::Store(StoreError::TooLarge { .. }))
    ));
    let snapshot = contexts.read(&id()).unwrap().unwrap();
    let bundle = &snapshot.apps[0].clusters[0].bundle;
    assert_eq!(bundle.json(), Some("{}"));
}

#[test]
fn a_context_is_read_as_it_was_created() {
    let contexts = contexts();
    let new = firewall();
    contexts.create_as(&id(), &new).unwrap();
    let snapshot = contexts.read(&id()).unwrap().unwrap();
    assert_eq!(snapshot.meta, Some(new.meta));
    assert_eq!(snapshot.unreadable, []);
    for (app, new) in snapshot.apps.iter().zip(&new.apps) {
        assert_eq!(app.name, new.name);
        for (cluster, new) in app.clusters.iter().zip(&new.clusters) {
            assert_eq!(
                (&cluster.cluster, &cluster.group),
                (&new.cluster, &new.group)
            );
            let read = cluster.resources.iter().map(|read| NewResource {
                resource: ResourceName::new(&read.name, &read.kind).unwrap(),
                manifest: read.manifest.as_deref().unwrap().to_owned(),
            });
            assert_eq!(read.collect::<Vec<_>>(), new.resources);
        }
    }
}
