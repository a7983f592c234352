//! Bundles of the original monitors: decoded and encoded again, they do not change.

use std::path::Path;

use kindsight_model::{
    BundleDialect, BundleFormat, REPORT_BYTES_MAX, Report, decode_bundle, encode_bundle,
};
use serde_json::{Value, json};

/// The file of each bundle of the recorded application.
fn recorded() -> Vec<Value> {
    let root = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../host/server/recording/clusters"
    );
    let folders = std::fs::read_dir(Path::new(root)).expect("the recording");
    let files = folders.flat_map(|folder| {
        let folder = folder.expect("a folder").path();
        std::fs::read_dir(folder).expect("a folder")
    });
    let files = files.map(|file| {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("a file");
        serde_json::from_str(&text).expect("a bundle")
    });
    files.collect()
}

fn decoded(bundle: &Value) -> Report {
    let bundle = decode_bundle(bundle.to_string().as_bytes()).expect("a bundle");
    assert!(
        bundle.report.rejected.is_empty(),
        "{:?}",
        bundle.report.rejected
    );
    bundle.report
}

/// The status of a bundle that was decoded and encoded again.
fn again(bundle: &Value, dialect: BundleDialect) -> Value {
    let format = BundleFormat {
        dialect,
        bytes_max: REPORT_BYTES_MAX,
    };
    let deployment = "7-sink".parse().expect("a deployment");
    let encoded = encode_bundle(&deployment, &decoded(bundle), &format);
    assert!(encoded.further.is_empty());
    serde_json::from_str(&encoded.first.status).expect("a status")
}

/// Checks that each list is the same; lists that are missing on one side are empty on the other.
fn check(bundle: &Value, dialect: BundleDialect) {
    let again = again(bundle, dialect);
    let members = |status: &Value| status.as_object().expect("a status").clone();
    let (before, after) = (members(&bundle["status"]), members(&again));
    let names = before.keys().chain(after.keys());
    for name in names.filter(|name| name.ends_with("Statuses")) {
        let list = |status: &serde_json::Map<String, Value>| {
            let list = status.get(name).filter(|list| !list.is_null());
            list.cloned().unwrap_or_else(|| json!([]))
        };
        assert_eq!(list(&before), list(&after), "{name}");
    }
}

#[test]
fn recorded_bundles_do_not_change() {
    let mut bundles = recorded();
    assert!(bundles.len() >= 6, "{}", bundles.len());
    for bundle in &mut bundles {
        // The report of a Secret has only its metadata.
        if let Some(entries) = bundle["status"]["resourceStatuses"].as_array_mut() {
            entries.retain(|entry| entry["kind"] != "Secret");
        }
        check(bundle, BundleDialect::V22);
    }
}

fn bundle(status: &Value) -> Value {
    json!({
        "apiVersion": "k8splugin.io/v1alpha1", "kind": "ResourceBundleState",
        "metadata": {"name": "7-sink", "namespace": "default", "labels": {"emco/deployment-id": "7-sink"}},
        "spec": {"selector": {"matchLabels": {"emco/deployment-id": "7-sink"}}},
        "status": status,
    })
}

/// An item as the monitors of EMCO write it: metadata without uid, and an empty annotation.
fn item(kind: &str, api_version: &str) -> Value {
    json!({
        "kind": kind, "apiVersion": api_version,
        "metadata": {"name": "one", "namespace": "default", "labels": {"emco/deployment-id": "7-sink"}},
        "spec": {"replicas": 2}, "status": {"replicas": 1},
    })
}

#[test]
fn bundles_of_emco_do_not_change() {
    let status = json!({
        "ready": false, "resourceCount": 0,
        "podStatuses": [item("Pod", "v1")],
        "serviceStatuses": [item("Service", "v1"), {"metadata": {"name": "untyped"}}],
        "deploymentStatuses": [item("Deployment", "apps/v1")],
        "csrStatuses": [item("CertificateSigningRequest", "certificates.k8s.io/v1")],
        "resourceStatuses": [{
            "group": "", "version": "v1", "kind": "Namespace", "name": "n",
            // {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}}
            "res": "eyJhcGlWZXJzaW9uIjoidjEiLCJraW5kIjoiTmFtZXNwYWNlIiwibWV0YWRhdGEiOnsibmFtZSI6Im4ifX0=",
        }],
    });
    check(&bundle(&status), BundleDialect::V22);
}

#[test]
fn bundles_of_onap_do_not_change() {
    let without_spec = |kind: &str, api_version: &str| {
        let mut item = item(kind, api_version);
        item.as_object_mut().expect("an object").remove("spec");
        item
    };
    let status = json!({
        "ready": false, "resourceCount": 2,
        "podStatuses": [without_spec("Pod", "v1")],
        "serviceStatuses": [], "configMapStatuses": null,
        "deploymentStatuses": [without_spec("Deployment", "apps/v1")],
        "secretStatuses": [{"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s"}}],
        "daemonSetStatuses": [], "jobStatuses": [], "statefulSetStatuses": [],
        "ingressStatuses": [without_spec("Ingress", "extensions/v1beta1")],
        "csrStatuses": [without_spec("CertificateSigningRequest", "certificates.k8s.io/v1beta1")],
    });
    check(&bundle(&status), BundleDialect::Onap);
    // The sample in the documentation of EMCO has ten empty lists.
    let empty = json!({
        "ready": false, "resourceCount": 0, "configMapStatuses": [], "daemonSetStatuses": [],
        "deploymentStatuses": [], "ingressStatuses": [], "jobStatuses": [], "podStatuses": [],
        "secretStatuses": [], "serviceStatuses": [], "statefulSetStatuses": [],
    });
    check(&bundle(&empty), BundleDialect::Onap);
}
