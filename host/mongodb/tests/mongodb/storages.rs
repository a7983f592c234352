//! Places of states.

use kindsight_cluster::bson::doc;

use crate::stage::{Follower, RESOURCES, action, group, mongodb, options, state};

#[test]
fn states_of_the_newer_generation_are_read_and_nothing_is_written() {
    let Some(server) = mongodb() else { return };
    let documents = server.documents();
    let lived = [
        action("Created", "", 0),
        action("Approved", "", 0),
        action("Instantiated", "11", 1),
        action("Updated", "11", 1),
        action("Instantiated", "12", 2),
    ];
    documents.insert(
        RESOURCES,
        &[
            group("lived", state("11", &lived)),
            group("new", state("", &lived[..1])),
            doc! {
                "clusterProvider": "cp", "cluster": "edge01", "keyId": "{cluster,clusterProvider}",
                "stateInfo": state("", &[action("Created", "", 0), action("Applied", "13", 0)]),
            },
            doc! {
                "project": "p", "logicalCloud": "lc", "keyId": "{logicalCloud,project}",
                "stateInfo": state("14", &[action("Created", "", 0), action("Instantiated", "14", 0)]),
            },
            // A document that has a state but is of no known kind.
            doc! {
                "project": "p", "logicalCloud": "lc", "caCert": "ca", "keyId": "{caCert,logicalCloud,project}",
                "stateInfo": state("15", &[action("Instantiated", "15", 0)]),
            },
            doc! {"project": "p", "keyId": "{project}", "data": {"metadata": {"name": "p"}}},
        ],
    );
    let before = documents.dump();
    assert!(!before.is_empty());
    let mut follower = Follower::begin(&options(&server.url()));
    assert_eq!(
        follower.all(),
        [
            "deployment intent group p/ca/v1/lived: 11 of cp Created/-/0 Approved/-/0 Instantiated/11/1 Updated/11/1 \
             Instantiated/12/2",
            "deployment intent group p/ca/v1/new: - of cp Created/-/0",
            "cluster cp+edge01: - Created/-/0 Applied/13/0",
            "logical cloud p/lc: 14 Created/-/0 Instantiated/14/0",
        ]
    );
    follower.end();
    assert_eq!(documents.dump(), before, "something was written");
}

#[test]
fn states_of_the_older_generation_are_read() {
    let Some(server) = mongodb() else { return };
    let documents = server.documents();
    documents.insert(
        "mco.orchestrator",
        &[doc! {
            "project": "p", "compositeapp": "ca", "compositeappversion": "v1", "deploymentintentgroup": "dig",
            "key": "{compositeapp,compositeappversion,deploymentintentgroup,project,}",
            "deploymentintentgroupmetadata": {"metadata": {"name": "dig"}, "spec": {"profile": "cp"}},
            "stateInfo": {"actions": [action("Created", "", 0)]},
        }],
    );
    documents.insert(
        "mco.cluster",
        &[doc! {
            "provider": "cp", "cluster": "edge01", "key": "{cluster,provider,}",
            "clustermetadata": {"metadata": {"name": "edge01"}}, "clustercontent": {"kubeconfig": "c2VjcmV0"},
            "stateInfo": {"actions": [action("Applied", "5", 0)]},
        }],
    );
    let mut follower = Follower::begin(&options(&server.url()));
    let expected = [
        "deployment intent group p/ca/v1/dig: - of cp Created/-/0",
        "cluster cp+edge01: - Applied/5/0",
    ];
    assert_eq!(follower.all(), expected);
    // A database in the URI has priority over all others.
    documents.insert(
        RESOURCES,
        &[group("new", state("", &[action("Created", "", 0)]))],
    );
    let mut named = Follower::begin(&options(&format!("{}/mco", server.url())));
    assert_eq!(named.all(), expected);
    let mut unnamed = Follower::begin(&options(&server.url()));
    assert_eq!(
        unnamed.all(),
        ["deployment intent group p/ca/v1/new: - of cp Created/-/0"]
    );
    let mut wrong = Follower::begin(&options(&format!("{}/other", server.url())));
    assert_eq!(
        wrong.away(),
        "the database other has neither a collection `resources` nor `orchestrator` or `cluster`"
    );
}
