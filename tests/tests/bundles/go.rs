//! The structs of the original programs, which refuse unknown members.

use std::io::Write as _;
use std::process::{Command, Stdio};

use kindsight_cluster::{Binaries, Binary};
use kindsight_model::{
    BundleDialect, BundlePart, KindCoverage, KindState, REPORT_BYTES_MAX, Report, Scope,
};
use serde_json::{Value, json};

use crate::objects::{encode, manifests, report};

/// The text of an object as an API server returns it.
fn document(part: &BundlePart) -> String {
    let mut document = part.manifest("default");
    document["status"] = serde_json::from_str(&part.status).expect("a status");
    document.to_string()
}

/// The numbers of items of each list, as the Go program reads them. A missing list has the number `-`.
fn read(binaries: &Binaries, generation: &str, documents: &[String]) -> Vec<String> {
    let mut child = Command::new(binaries.path(Binary::BundleReader))
        .arg(generation)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the reader");
    let mut input = child.stdin.take().expect("its input");
    for document in documents {
        writeln!(input, "{document}").expect("a reader of the input");
    }
    drop(input);
    let output = child.wait_with_output().expect("its output");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{generation}: {errors}");
    let lines = String::from_utf8(output.stdout).expect("text");
    lines.lines().map(str::to_owned).collect()
}

/// The objects of the test as an API server has them, with statuses of controllers.
fn objects() -> Vec<Value> {
    let mut objects = manifests();
    objects.push(json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"name": "front"},
        "spec": {"request": "e30=", "signerName": "example.org/s", "expirationSeconds": 3600, "usages": ["client auth"]},
        "status": {"conditions": [{"type": "Approved", "status": "True", "reason": "r", "message": "m",
            "lastUpdateTime": "2026-01-01T00:00:00Z"}], "certificate": "e30="},
    }));
    for object in &mut objects {
        object["metadata"]["uid"] = json!("5f0c");
        object["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
        object["metadata"]["generation"] = json!(1);
        match object["kind"].as_str() {
            Some("Pod") => {
                object["status"] = json!({"phase": "Running", "qosClass": "Burstable", "startTime": "2026-01-01T00:00:00Z",
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "containerStatuses": [{"name": "front", "ready": true, "restartCount": 0, "image": "front:1", "imageID": "",
                        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "m"}}}]});
            }
            Some("Deployment") => {
                object["status"] = json!({"replicas": 1, "observedGeneration": 1,
                    "conditions": [{"type": "Available", "status": "True", "message": "m"}]});
            }
            Some("Ingress") => {
                object["status"] = json!({"loadBalancer": {"ingress": [{"ip": "10.0.0.1", "ports": [{"port": 80, "protocol": "TCP"}]}]}});
            }
            _ => {}
        }
    }
    objects
}

fn without_secrets(mut report: Report) -> Report {
    let forbidden = KindCoverage::new(KindState::Forbidden);
    report.coverage.set("", "Secret", Scope::Cluster, forbidden);
    let objects = report
        .objects
        .iter()
        .filter(|object| &*object.gvk.kind != "Secret");
    report.objects = objects.cloned().collect();
    report
}

#[test]
fn programs_of_emco_read_the_reports() {
    let Some(binaries) = Binaries::or_skip(&[Binary::BundleReader]) else {
        return;
    };
    let whole = report(&objects());
    let empty = report(&[]);
    let small = encode(&whole, BundleDialect::V22, 6000);
    let mut documents = vec![
        document(&encode(&whole, BundleDialect::V22, REPORT_BYTES_MAX).first),
        document(&encode(&empty, BundleDialect::V22, REPORT_BYTES_MAX).first),
        document(
            &encode(
                &without_secrets(whole),
                BundleDialect::V22,
                REPORT_BYTES_MAX,
            )
            .first,
        ),
        document(&small.first),
    ];
    documents.extend(small.further.iter().map(document));
    let lines = read(&binaries, "v22", &documents);
    assert_eq!(lines.len(), documents.len());
    let eight = "podStatuses=1 serviceStatuses=1 configMapStatuses=1 deploymentStatuses=1 daemonSetStatuses=1 csrStatuses=1 jobStatuses=1 statefulSetStatuses=1";
    assert_eq!(lines[0], format!("{eight} resourceStatuses=3"));
    assert_eq!(
        lines[1],
        format!("{} resourceStatuses=0", eight.replace("=1", "=0"))
    );
    assert_eq!(lines[2], format!("{eight} resourceStatuses=2"));
}

#[test]
fn programs_of_onap_read_the_reports() {
    let Some(binaries) = Binaries::or_skip(&[Binary::BundleReader]) else {
        return;
    };
    let whole = report(&objects());
    let documents = [
        document(&encode(&whole, BundleDialect::Onap, REPORT_BYTES_MAX).first),
        document(
            &encode(
                &without_secrets(whole),
                BundleDialect::Onap,
                REPORT_BYTES_MAX,
            )
            .first,
        ),
    ];
    let lines = read(&binaries, "onap", &documents);
    let ten = "podStatuses=1 serviceStatuses=1 configMapStatuses=1 deploymentStatuses=1 secretStatuses=1 daemonSetStatuses=1 ingressStatuses=1 csrStatuses=1 jobStatuses=1 statefulSetStatuses=1";
    // Without the right to read Secrets, their list is absent.
    assert_eq!(
        lines,
        [ten, &ten.replace("secretStatuses=1", "secretStatuses=-")]
    );
}
