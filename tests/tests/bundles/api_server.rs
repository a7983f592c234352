//! Reports that are written to a real API server.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kindsight_cluster::{Binaries, Binary, Client, Cluster, Etcd, Options};
use kindsight_model::{
    BundleDialect, BundlePart, BundleWrite, EncodedBundle, KindState, PART_LABEL, REPORT_BYTES_MAX,
    Scope, StoredBundle, status_digest,
};
use serde_json::{Value, json};

use crate::objects::{contents, deployment, encode, manifests, read, report};

const STATES: &str = "/apis/k8splugin.io/v1alpha1/namespaces/default/resourcebundlestates";
const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/resourcebundlestates.k8splugin.io";
const PATIENCE: Duration = Duration::from_mins(1);
const MERGE: &str = "application/merge-patch+json";

/// The definition of `deploy/monitor-crd.yaml`.
fn definition() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/monitor-crd.yaml");
    let text = std::fs::read_to_string(path).expect("deploy/monitor-crd.yaml");
    serde_saphyr::from_str(&text).expect("a definition")
}

/// The definition with the schema of EMCO's, which keeps only some members of the metadata of items.
fn original_definition() -> Value {
    let mut definition = definition();
    let kept = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let metadata = json!({"type": "object", "properties": {
        "annotations": kept, "labels": kept, "name": {"type": "string"}, "namespace": {"type": "string"},
        "finalizers": {"type": "array", "items": {"type": "string"}},
    }});
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = "/spec/versions/0/schema/openAPIV3Schema/properties/status";
    let status = definition
        .pointer_mut(schema)
        .expect("a schema")
        .as_object_mut();
    let status = status.expect("a schema");
    status.remove("x-kubernetes-preserve-unknown-fields");
    let lists = status["properties"].as_object_mut().expect("properties");
    for (name, list) in lists {
        if name.ends_with("Statuses") && name != "resourceStatuses" {
            list["items"] = json!({"type": "object", "properties": {
                "apiVersion": {"type": "string"}, "kind": {"type": "string"},
                "metadata": metadata, "spec": open, "status": open, "data": open,
            }});
        }
    }
    definition
}

/// An API server with a definition of the Kind.
struct Stage {
    cluster: Cluster,
    _etcd: Etcd,
}

impl Stage {
    fn start(definition: &Value) -> Option<Self> {
        let binaries = Binaries::or_skip(Binary::API_SERVER)?;
        let etcd = Etcd::start(&binaries);
        let cluster = Cluster::start(&etcd, &Options::api_server("edge01"));
        cluster.apply(definition);
        cluster.client().wait_for_status(STATES, 200, PATIENCE);
        Some(Self {
            cluster,
            _etcd: etcd,
        })
    }

    fn client(&self) -> &Client {
        self.cluster.client()
    }

    /// Applies objects, and returns them as the API server has them.
    fn apply(&self, manifests: &[Value]) -> Vec<Value> {
        let objects = manifests
            .iter()
            .map(|manifest| self.cluster.apply(manifest));
        objects.collect()
    }

    fn create(&self, part: &BundlePart) {
        if self
            .client()
            .get(&format!("{STATES}/{}", part.name))
            .is_none()
        {
            self.client().create(STATES, &part.manifest("default"));
        }
    }

    fn put_status(&self, name: &str, status: &str) -> Value {
        let status: Value = serde_json::from_str(status).expect("a status");
        let path = format!("{STATES}/{name}/status");
        let patch = json!([{"op": "add", "path": "/status", "value": status}]);
        self.client()
            .patch(&path, "application/json-patch+json", &patch)
    }

    fn first(&self) -> Value {
        let path = format!("{STATES}/{}", deployment());
        self.client().get(&path).expect("the first object")
    }

    fn further(&self) -> BTreeMap<String, Value> {
        let list = self
            .client()
            .get(&format!("{STATES}?labelSelector={PART_LABEL}"));
        let list = list.expect("a list");
        let items = list["items"].as_array().expect("items").iter();
        let items = items.map(|item| {
            (
                item["metadata"]["name"].as_str().unwrap_or("").to_owned(),
                item.clone(),
            )
        });
        items.collect()
    }

    fn stored(&self) -> StoredBundle {
        let first = self.first();
        let annotations = first["metadata"]["annotations"].clone();
        StoredBundle {
            annotations: serde_json::from_value(annotations).unwrap_or_default(),
            is_status_current: false,
            status: first
                .get("status")
                .map(|status| status_digest(&status.to_string())),
            parts: self.further().into_keys().collect(),
            damaged: BTreeSet::new(),
        }
    }

    /// Makes the writes of a report. `check` is called after each.
    fn write(&self, encoded: &EncodedBundle, mut check: impl FnMut(&Self)) {
        let path = format!("{STATES}/{}", encoded.first.name);
        let annotate = |annotations: &BTreeMap<String, String>| {
            let patch = json!({"metadata": {"annotations": annotations}});
            self.client().patch(&path, MERGE, &patch);
        };
        let mut digest = None;
        for write in encoded.writes(&self.stored()) {
            match write {
                BundleWrite::Part(part) => {
                    self.create(part);
                    self.put_status(&part.name, &part.status);
                }
                BundleWrite::Annotations(annotations) => annotate(&annotations),
                BundleWrite::Status(status) => {
                    let stored = self.put_status(&encoded.first.name, status);
                    digest = Some(status_digest(&stored["status"].to_string()));
                }
                BundleWrite::AnnotationsOfStatus => annotate(&encoded.annotations(digest.as_ref())),
                BundleWrite::Delete(name) => {
                    self.client().delete(&format!("{STATES}/{name}"));
                }
            }
            check(self);
        }
    }

    /// Creates the first object as a sender does.
    fn begin(&self) {
        let mut first = encode(&report(&[]), BundleDialect::V22, REPORT_BYTES_MAX).first;
        first.annotations.clear();
        self.create(&first);
    }
}

#[test]
fn the_definition_keeps_the_reports_of_both_generations() {
    let Some(stage) = Stage::start(&definition()) else {
        return;
    };
    let version = &stage.client().get(DEFINITION).expect("the definition")["spec"]["versions"][0];
    let columns = version["additionalPrinterColumns"]
        .as_array()
        .expect("columns");
    let columns: Vec<&str> = columns
        .iter()
        .filter_map(|column| column["name"].as_str())
        .collect();
    assert_eq!(columns, ["Resources", "Continues", "Age"]);
    stage.begin();
    let name = deployment().to_string();
    let pod = json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": "p", "namespace": "default", "uid": "u", "creationTimestamp": null,
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "r"}]},
        "status": {"phase": "Running", "new": {"deep": [1, 2.5, {"a": null}]}},
    });
    // The first generation has no `omitempty`.
    let onap = json!({
        "ready": false, "resourceCount": 0, "podStatuses": [pod], "serviceStatuses": null,
        "configMapStatuses": [], "deploymentStatuses": null, "secretStatuses": [{"metadata": {"name": "s"}}],
        "daemonSetStatuses": null, "ingressStatuses": [{"kind": "Ingress", "apiVersion": "extensions/v1beta1",
            "metadata": {"name": "i"}, "status": {"loadBalancer": {}}}],
        "jobStatuses": null, "statefulSetStatuses": null, "csrStatuses": null,
    });
    let v22 = json!({
        "ready": false, "resourceCount": 0, "podStatuses": [pod],
        "resourceStatuses": [{"group": "", "version": "v1", "kind": "Namespace", "name": "n", "res": "e30="}],
    });
    for status in [onap, v22] {
        stage.put_status(&name, &status.to_string());
        assert_eq!(stage.first()["status"], status);
    }
}

#[test]
fn a_report_is_read_back_as_it_was_written() {
    let Some(stage) = Stage::start(&definition()) else {
        return;
    };
    let report = report(&stage.apply(&manifests()));
    let expected = contents(&report);
    assert!(expected.len() >= 10, "{expected:?}");
    stage.begin();
    for dialect in [BundleDialect::V22, BundleDialect::Onap, BundleDialect::V22] {
        stage.write(&encode(&report, dialect, REPORT_BYTES_MAX), |_| ());
        assert_eq!(
            stage.further().len(),
            usize::from(dialect == BundleDialect::Onap)
        );
        let bundle = read(&stage.first(), &stage.further()).expect("a report");
        assert!(
            bundle.report.faults.is_empty(),
            "{:?}",
            bundle.report.faults
        );
        let mut found = contents(&bundle.report);
        if dialect == BundleDialect::Onap {
            for (name, object) in &mut found {
                if name.contains("Ingress") {
                    object["spec"] = expected[name]["spec"].clone();
                }
            }
        }
        assert_eq!(found, expected, "{dialect:?}");
    }
    let text = stage.first().to_string() + &json!(stage.further()).to_string();
    assert!(
        !text.contains("bm90IHRvIGJlIHNlZW4"),
        "the content of a Secret"
    );
}

/// A report of many ConfigMaps; each has the same version.
fn settings(count: usize, version: usize) -> Vec<Value> {
    let settings = (0..count).map(|at| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"version": version.to_string()},
            "metadata": {"name": format!("c{at}"), "namespace": "default", "uid": format!("u{at}")},
        })
    });
    settings.collect()
}

#[test]
fn a_report_in_several_objects_never_mixes_old_and_new_ones() {
    for definition in [definition(), original_definition()] {
        let Some(stage) = Stage::start(&definition) else {
            return;
        };
        stage.begin();
        let mut shown = (0, 0);
        for next in [(30, 1), (40, 2), (3, 3), (35, 4)] {
            let encoded = encode(&report(&settings(next.0, next.1)), BundleDialect::V22, 3000);
            stage.write(&encoded, |stage| {
                let Ok(bundle) = read(&stage.first(), &stage.further()) else {
                    return;
                };
                let versions = bundle.report.objects.iter().map(|object| {
                    let json: Value = serde_json::from_str(&object.json).expect("JSON");
                    let version = json["data"]["version"]
                        .as_str()
                        .and_then(|text| text.parse().ok());
                    version.expect("a version")
                });
                let versions: Vec<usize> = versions.collect();
                let first = versions.first().copied().unwrap_or_default();
                assert!(
                    versions.iter().all(|version| *version == first),
                    "{versions:?}"
                );
                let found = (versions.len(), first);
                assert!(
                    found == shown || found == next,
                    "{found:?} between {shown:?} and {next:?}"
                );
                shown = found;
            });
            assert_eq!(shown, next);
            assert_eq!(stage.further().is_empty(), next.0 == 3);
        }
    }
}

#[test]
fn a_definition_that_removes_uids_is_reported_and_pods_have_owners_by_name() {
    let Some(stage) = Stage::start(&original_definition()) else {
        return;
    };
    let mut objects = stage.apply(&manifests());
    let set = objects
        .iter()
        .find(|object| object["kind"] == "ReplicaSet")
        .expect("a ReplicaSet");
    let owner = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "front-1",
        "uid": set["metadata"]["uid"]}]);
    let mut pod = manifests().swap_remove(0);
    pod["metadata"]["name"] = json!("front-1-abcde");
    pod["metadata"]["ownerReferences"] = owner;
    objects.push(stage.cluster.apply(&pod));
    stage.begin();
    stage.write(
        &encode(&report(&objects), BundleDialect::V22, REPORT_BYTES_MAX),
        |_| (),
    );
    let bundle = read(&stage.first(), &stage.further())
        .expect("a report")
        .report;
    assert_eq!(bundle.faults.len(), 1, "{:?}", bundle.faults);
    assert_eq!(bundle.objects.len(), objects.len());
    let mut pods = bundle.objects.iter();
    let pod = pods
        .find(|object| &*object.name == "front-1-abcde")
        .expect("the Pod");
    let owners: Vec<&str> = pod.owners.iter().map(|owner| &*owner.name).collect();
    assert_eq!(owners, ["front-1"]);
    let state = bundle.coverage.of(Some(""), "Pod", Scope::Cluster).state;
    assert_eq!(state, KindState::Complete);
}
