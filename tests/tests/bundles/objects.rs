//! Reports for the tests, and their objects.

use std::collections::BTreeMap;

use kindsight_model::{
    Bundle, BundleDialect, BundleDocument, BundleFormat, DeploymentId, EncodedBundle, Object,
    Origin, PartDocument, Report, encode_bundle, read_bundle,
};
use serde_json::{Value, json};

pub(crate) fn deployment() -> DeploymentId {
    "4711-front".parse().expect("a deployment")
}

/// Objects of each Kind with a list of its own, and of other Kinds, as a user applies them.
pub(crate) fn manifests() -> Vec<Value> {
    let labels = json!({"app": "front"});
    let template = json!({
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "front", "image": "front:1", "ports": [{"containerPort": 80}],
            "resources": {"limits": {"cpu": "100m", "memory": "64Mi"}}}]},
    });
    let of = |api_version: &str, kind: &str, name: &str, spec: Value| {
        json!({
            "apiVersion": api_version, "kind": kind, "spec": spec,
            "metadata": {"name": name, "labels": {"emco/deployment-id": "4711-front"}},
        })
    };
    let workload = json!({"selector": {"matchLabels": labels}, "template": template});
    let mut stateful = workload.clone();
    stateful["serviceName"] = json!("front");
    let mut job = template.clone();
    job["spec"]["restartPolicy"] = json!("Never");
    let backend = json!({"service": {"name": "front", "port": {"number": 80}}});
    let path = json!({"path": "/", "pathType": "Prefix", "backend": backend});
    let mut objects = vec![
        of("v1", "Pod", "pod", template["spec"].clone()),
        of(
            "v1",
            "Service",
            "front",
            json!({"selector": labels, "ports": [{"port": 80}]}),
        ),
        of("apps/v1", "Deployment", "front", workload.clone()),
        of("apps/v1", "DaemonSet", "front", workload.clone()),
        of("apps/v1", "StatefulSet", "front", stateful),
        of("apps/v1", "ReplicaSet", "front-1", workload),
        of("batch/v1", "Job", "front", json!({"template": job})),
        of(
            "networking.k8s.io/v1",
            "Ingress",
            "front",
            json!({"rules": [{"http": {"paths": [path]}}]}),
        ),
    ];
    let plain = |kind: &str, member: &str, value: Value| {
        json!({
            "apiVersion": "v1", "kind": kind, member: value,
            "metadata": {"name": "front", "labels": {"emco/deployment-id": "4711-front"}},
        })
    };
    objects.push(plain(
        "ConfigMap",
        "data",
        json!({"colour": "blue<&>\u{2028}"}),
    ));
    objects.push(plain(
        "Secret",
        "stringData",
        json!({"password": "not to be seen"}),
    ));
    objects
}

pub(crate) fn report(objects: &[Value]) -> Report {
    let objects = objects
        .iter()
        .map(|object| Object::from_json(object.to_string()).expect("an object"));
    Report {
        objects: objects.collect(),
        ..Report::empty(Origin::Direct)
    }
}

pub(crate) fn encode(report: &Report, dialect: BundleDialect, bytes_max: usize) -> EncodedBundle {
    encode_bundle(&deployment(), report, &BundleFormat { dialect, bytes_max })
}

/// The report in the first object and the further objects, by their names.
pub(crate) fn read(first: &Value, further: &BTreeMap<String, Value>) -> Result<Bundle, String> {
    let document = |object: &Value| read_bundle(object.to_string().as_bytes());
    let further = further
        .iter()
        .filter_map(|(name, object)| match document(object) {
            Ok(BundleDocument::Part(part)) => Some((name.clone(), part)),
            _ => None,
        });
    let further: BTreeMap<String, PartDocument> = further.collect();
    match document(first).map_err(|error| error.to_string())? {
        BundleDocument::Whole(bundle) => Ok(*bundle),
        BundleDocument::Split(split) => {
            let joined = split.join(|name| further.get(name));
            joined.map_err(|error| error.to_string())
        }
        BundleDocument::Part(_) => Err("a further object".to_owned()),
    }
}

/// The objects of a report by Kind and name, without the content that no report has.
pub(crate) fn contents(report: &Report) -> BTreeMap<String, Value> {
    let contents = report.objects.iter().map(|object| {
        let mut json: Value = serde_json::from_str(&object.json).expect("JSON");
        let members = json.as_object_mut().expect("an object");
        if &*object.gvk.kind == "Secret" {
            members.retain(|name, _| ["apiVersion", "kind", "metadata"].contains(&&**name));
        }
        let metadata = members["metadata"].as_object_mut().expect("metadata");
        metadata.remove("managedFields");
        (
            format!("{} {}/{}", object.gvk, object.namespace, object.name),
            json,
        )
    });
    contents.collect()
}
