//! The same requests to a simulated and to a real API server. The answers have the same form.
//!
//! Messages are not compared, because clients do not read them.

use std::thread;
use std::time::Duration;

use kindsight_simulator::{Seed, SimulatedCluster, Simulator, TOKEN};
use serde_json::{Value, json};

use crate::real::Real;
use crate::side::{JSON, Side};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/team-0000/deployments";
const CONFIG_MAPS: &str = "/api/v1/namespaces/team-0000/configmaps";
const WIDGETS: &str = "/apis/sim.example.org/v1/widgets";
/// Only metadata, in a list and in a watch.
const METADATA_LIST: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
const METADATA: &str =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/// Discovery in one answer.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Requests whose answers depend on no earlier answer: path and header `Accept`.
const REQUESTS: &[(&str, &str)] = &[
    ("/readyz", "*/*"),
    ("/api/v1/namespaces/kube-system", JSON),
    ("/api/v1/namespaces/team-0000", JSON),
    (
        "/apis/apps/v1/namespaces/team-0000/deployments/web-000000",
        JSON,
    ),
    // Lists.
    ("/apis/apps/v1/namespaces/team-0000/deployments", JSON),
    ("/apis/apps/v1/namespaces/team-0000/replicasets", JSON),
    ("/api/v1/namespaces/team-0000/pods?limit=500", JSON),
    ("/api/v1/namespaces/team-0000/services?limit=1", JSON),
    ("/apis/apps/v1/deployments?limit=1", JSON),
    ("/apis/apps/v1/deployments?limit=1&resourceVersion=0", JSON),
    (WIDGETS, JSON),
    (WIDGETS, METADATA_LIST),
    ("/apis/batch/v1/jobs?limit=500", JSON),
    (
        "/api/v1/namespaces/team-0000/configmaps?limit=1",
        METADATA_LIST,
    ),
    ("/api/v1/namespaces/none/configmaps", JSON),
    ("/api/v1/configmaps?labelSelector=app%3Dweb-000001", JSON),
    (
        "/api/v1/pods?limit=1&labelSelector=app+in+(web-000001,none),pod-template-hash",
        JSON,
    ),
    (
        "/apis/apps/v1/deployments?fieldSelector=metadata.name%3Dweb-000001",
        JSON,
    ),
    // Watches of existing objects.
    ("/apis/apps/v1/deployments?watch=1&timeoutSeconds=1", JSON),
    (
        "/api/v1/namespaces/team-0000/configmaps?watch=1&timeoutSeconds=1&resourceVersion=0",
        METADATA,
    ),
    (
        "/apis/sim.example.org/v1/widgets?watch=1&timeoutSeconds=1&sendInitialEvents=true\
         &resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
        JSON,
    ),
    (
        "/apis/apps/v1/deployments?watch=1&timeoutSeconds=1&sendInitialEvents=true\
         &resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
        METADATA,
    ),
    // Errors.
    ("/api/v1/nothings", JSON),
    ("/apis/apps/v1/nothings", JSON),
    ("/apis/none/v1/nothings", JSON),
    ("/api/v1/namespaces/team-0000/configmaps/none", JSON),
    ("/apis/apps/v1/namespaces/team-0000/deployments/none", JSON),
    ("/api/v1/configmaps?limit=2&continue=bad", JSON),
    ("/api/v1/configmaps?limit=x", JSON),
    ("/api/v1/configmaps?labelSelector=a%3D%3D%3D", JSON),
    ("/api/v1/configmaps?resourceVersion=abc", JSON),
    ("/api/v1/configmaps?watch=1&resourceVersion=abc", JSON),
    ("/api/v1/configmaps?resourceVersion=99999999", JSON),
    (
        "/api/v1/configmaps?watch=1&sendInitialEvents=true&timeoutSeconds=1",
        JSON,
    ),
    (
        "/api/v1/configmaps?watch=1&resourceVersionMatch=NotOlderThan&timeoutSeconds=1",
        JSON,
    ),
    ("/api/v1/configmaps", "application/x-none"),
];

/// Changes of the objects of one server.
trait Actor: Sync {
    fn change_deployment(&self);
    fn delete_config_map(&self);
    fn create_config_map(&self);
    /// Forgets all versions before the current version.
    fn forget(&mut self);
}

struct Simulated<'s>(&'s SimulatedCluster);

impl Actor for Simulated<'_> {
    fn change_deployment(&self) {
        self.0.change_status(0);
    }

    fn delete_config_map(&self) {
        self.0.delete_unit(1);
    }

    fn create_config_map(&self) {
        self.0.create_unit(1);
    }

    fn forget(&mut self) {
        self.0.compact();
    }
}

impl Actor for (Real, Seed) {
    fn change_deployment(&self) {
        self.0.change_status(&format!("{DEPLOYMENTS}/web-000000"));
    }

    fn delete_config_map(&self) {
        self.0.delete(&format!("{CONFIG_MAPS}/web-000001-settings"));
    }

    fn create_config_map(&self) {
        let manifests = self.1.manifests().into_iter();
        let mut of_unit = manifests.filter(|(collection, object)| {
            collection == CONFIG_MAPS && object["metadata"]["name"] == "web-000001-settings"
        });
        let (collection, object) = of_unit.next().expect("a ConfigMap");
        self.0.create(&collection, object);
    }

    fn forget(&mut self) {
        self.0.forget();
    }
}

/// Case: each request gets an answer of the same form from both servers.
pub(crate) fn the_simulator_answers_as_a_real_api_server_does() {
    let seed = Seed::new(0, 3);
    let Some(real) = Real::or_skip(&seed) else {
        return;
    };
    let simulator = Simulator::start(&[seed]);
    let (url, authority) = simulator.access(0);
    let simulated = Side::new((&url, authority), TOKEN);
    let of_real = real.side();
    discovery(&simulated, &of_real);
    let mut real = (real, seed);
    let mut actor = Simulated(simulator.cluster(0));
    let (expected, found) = thread::scope(|scope| {
        let expected = scope.spawn(|| sequence(&of_real, &mut real));
        let found = sequence(&simulated, &mut actor);
        (expected.join().expect("the real server"), found)
    });
    assert_eq!(expected.len(), found.len());
    let mut differences = Vec::new();
    for ((what, expected), (_, found)) in expected.iter().zip(&found) {
        if expected != found {
            differences.push(format!("{what}:\n real {expected:#}\n simulated {found:#}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// The forms of all answers, each with its request.
fn sequence(side: &Side, actor: &mut dyn Actor) -> Vec<(String, Value)> {
    let mut forms = Vec::new();
    for (path, accept) in REQUESTS {
        let answer = side.get_as(path, accept);
        forms.push((format!("{path} as {accept}"), answer.form()));
    }
    let refused = side.with_token("none").get(DEPLOYMENTS);
    forms.push(("a wrong token".to_owned(), refused.form()));
    forms.push(("all pages".to_owned(), pages(side)));
    let first = side.get(&format!("{CONFIG_MAPS}?limit=1"));
    let old_version = first.text("/metadata/resourceVersion");
    let old_token = first.text("/metadata/continue");
    forms.push(("events".to_owned(), events(side, actor)));
    forms.push(("bookmarks".to_owned(), bookmarks(side, actor)));
    actor.forget();
    for (what, query) in [
        (
            "a compacted watch",
            format!("watch=1&timeoutSeconds=5&resourceVersion={old_version}"),
        ),
        ("a compacted list", format!("limit=1&continue={old_token}")),
        (
            "a compacted version",
            format!("resourceVersion={old_version}&resourceVersionMatch=Exact"),
        ),
    ] {
        let answer = side.get(&format!("{CONFIG_MAPS}?{query}"));
        forms.push((what.to_owned(), answer.form()));
        if what == "a compacted list" {
            let next = answer.text("/metadata/continue");
            let rest = side.get(&format!("{CONFIG_MAPS}?limit=1&continue={next}"));
            forms.push(("the rest of a compacted list".to_owned(), rest.form()));
        }
    }
    forms
}

/// All pages of a list. Each has the version of the first, although an object changes in between.
fn pages(side: &Side) -> Value {
    let mut forms = Vec::new();
    let mut page = side.get(&format!("{DEPLOYMENTS}?limit=1"));
    let version = page.text("/metadata/resourceVersion");
    loop {
        assert_eq!(page.text("/metadata/resourceVersion"), version);
        forms.push(page.form());
        let next = page.body.first().map(|body| &body["metadata"]["continue"]);
        let Some(next) = next.and_then(Value::as_str).map(str::to_owned) else {
            return forms.into();
        };
        page = side.get(&format!("{DEPLOYMENTS}?limit=1&continue={next}"));
    }
}

/// The events of two watches that begin before some changes.
fn events(side: &Side, actor: &dyn Actor) -> Value {
    let version = side.get(CONFIG_MAPS).text("/metadata/resourceVersion");
    actor.change_deployment();
    actor.delete_config_map();
    actor.create_config_map();
    let query = format!("watch=1&timeoutSeconds=2&resourceVersion={version}");
    let config_maps = side.get(&format!("{CONFIG_MAPS}?{query}"));
    let name = "fieldSelector=metadata.name%3Dweb-000000";
    let deployment = side.get(&format!("{DEPLOYMENTS}?{query}&{name}"));
    json!([config_maps.form(), deployment.form()])
}

/// The first bookmark of a watch that selects no changed object. A real server sends it shortly before the end of the
/// watch, if its version changed since the begin.
fn bookmarks(side: &Side, actor: &dyn Actor) -> Value {
    let version = side.get(CONFIG_MAPS).text("/metadata/resourceVersion");
    let query = "watch=1&allowWatchBookmarks=true&timeoutSeconds=10";
    let name = "fieldSelector=metadata.name%3Dweb-000000-settings";
    let path = format!("{CONFIG_MAPS}?{query}&{name}&resourceVersion={version}");
    thread::scope(|scope| {
        let answer = scope.spawn(|| side.get(&path));
        while !answer.is_finished() {
            actor.delete_config_map();
            actor.create_config_map();
            thread::sleep(Duration::from_secs(1));
        }
        let mut answer = answer.join().expect("an answer");
        answer.body.truncate(1);
        answer.form()
    })
}

/// Each simulated Kind is discovered as a real one.
fn discovery(simulated: &Side, real: &Side) {
    for (path, accept) in [
        ("/api", AGGREGATED),
        ("/apis", AGGREGATED),
        ("/api/v1", JSON),
        ("/apis/apps/v1", JSON),
        ("/apis/sim.example.org/v1", JSON),
    ] {
        let [expected, found] = [real, simulated].map(|side| kinds(side, path, accept));
        for kind in &found {
            assert!(expected.contains(kind), "{path}: {kind:#}\n{expected:#?}");
        }
        assert!(!found.is_empty(), "{path}");
    }
}

/// The Kinds in an answer of discovery, with the members that a client needs to list them.
fn kinds(side: &Side, path: &str, accept: &str) -> Vec<Value> {
    let answer = side.get_as(path, accept);
    let body = answer.body.first().cloned().unwrap_or_default();
    let mut found = Vec::new();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for resource in list(&body["resources"]) {
        let names = ["name", "singularName", "namespaced", "kind", "verbs"];
        found.push(only(&resource, &names));
    }
    for group in list(&body["items"]) {
        for version in list(&group["versions"]) {
            for resource in list(&version["resources"]) {
                let names = [
                    "resource",
                    "responseKind",
                    "scope",
                    "singularResource",
                    "verbs",
                ];
                let kind = only(&resource, &names);
                found.push(json!([
                    group["metadata"],
                    version["version"],
                    version["freshness"],
                    kind
                ]));
            }
        }
    }
    found
}

fn only(value: &Value, names: &[&str]) -> Value {
    let members = names.iter().map(|&name| {
        let mut member = value[name].clone();
        if let Some(verbs) = member.as_array_mut() {
            verbs.sort_by_key(Value::to_string);
        }
        (name.to_owned(), member)
    });
    Value::Object(members.collect())
}
