//! The chart on a real API server: its objects are applied, and the image runs with the account, the settings and the
//! files of the Pods.

mod installation;
mod pod;

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::helm::{NAMESPACE, object};
use installation::{Installation, wait_until};
use pod::{Pod, items, text};

/// Time for the start of a build without optimizations.
const PATIENCE: Duration = Duration::from_mins(3);

/// Settings that name a file of `extraSecret`, which the server reads when it starts. No issuer has this address.
const OIDC: &str = r#"
oidc-issuer = "https://127.0.0.1:9"
oidc-audience = "kindsight"
oidc-ca = "/etc/kindsight-extra/ca.crt"
"#;

/// The account of a namespace variant with `namespaces=["web"]` has no right outside of `web`.
fn assert_only_rights_in_web(installed: &Installation) {
    installed.wait_for_applications(&["web/kindsight", "web/shop"]);
    for watched in installed.watched() {
        assert_eq!(watched["connection"], "connected");
    }
    for path in [
        "/api/v1/namespaces",
        "/api/v1/pods",
        "/api/v1/namespaces/other/configmaps",
        "/api/v1/namespaces/web/secrets",
    ] {
        installed.assert_forbidden(path);
    }
}

#[test]
fn the_chart_runs_with_the_rights_of_its_cluster_role() {
    let Some(installed) = Installation::with(&[]) else {
        return;
    };
    installed.wait_for_applications(&["kindsight/kindsight", "other/shop", "web/shop"]);
    for watched in installed.watched() {
        assert_eq!(watched["cluster"], "here");
        assert_eq!(watched["connection"], "connected");
        let mut refused = items(&watched["not-covered"]);
        assert!(
            refused.all(|kind| text(kind).starts_with("Secret")),
            "{watched:#}"
        );
    }
    installed.assert_forbidden("/api/v1/secrets");
    for pod in &installed.pods {
        pod.assert_probes(installed.authority());
    }
}

#[test]
fn the_namespace_variant_runs_without_rights_in_the_cluster() {
    let Some(installed) = Installation::with(&[r#"namespaces=["web"]"#]) else {
        return;
    };
    assert_only_rights_in_web(&installed);
}

#[test]
fn two_pods_over_an_etcd_run_without_rights_in_the_cluster() {
    let settings = json!(OIDC).to_string();
    let values = [
        r#"namespaces=["web"]"#,
        r#"extraSecret="kindsight-extra""#,
        &format!("extraSettings={settings}"),
    ];
    let Some(installed) = Installation::over_etcd(&values) else {
        return;
    };
    assert_only_rights_in_web(&installed);
}

#[test]
fn two_pods_over_an_etcd_answer_the_same() {
    let Some(mut installed) = Installation::over_etcd(&[]) else {
        return;
    };
    assert_eq!(installed.pods.len(), 2);
    for pod in &installed.pods {
        pod.assert_probes(installed.authority());
        pod.assert_metrics();
        assert_policy_permits(&installed, pod);
    }
    installed.wait_for_applications(&["kindsight/kindsight", "other/shop", "web/shop"]);
    assert_same_answers(&installed);
    let upload = installed.file("crane.wasm", crane());
    let upload = upload.to_str().expect("a UTF-8 path");
    let loaded = installed.run(&installed.pods[0], &["interpreters", "load", upload]);
    assert!(loaded.status.success(), "{loaded:?}");
    let other = &installed.users()[1];
    wait_until(|| {
        let answer = other.get("/v2/interpreters/crane");
        answer.map(drop).ok_or(Value::Null)
    });
    assert_same_answers(&installed);
    let budget = format!("/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets/kindsight");
    let budget = installed.cluster.get(&budget).expect("a budget");
    assert_eq!(budget["spec"]["maxUnavailable"], 1);
    // The other Pod serves alone while an eviction stops the first one.
    assert!(installed.pods.remove(0).stop());
    installed.wait_for_applications(&["kindsight/kindsight", "other/shop", "web/shop"]);
    assert!(installed.users()[0].get("/v2/interpreters/crane").is_some());
    installed.pods[0].assert_probes(installed.authority());
}

/// All Pods list the same applications with the same states, and the same interpreters. Times and calls may differ,
/// because each Pod has its own history.
fn assert_same_answers(installed: &Installation) {
    let users = installed.users();
    wait_until(|| {
        let answers = users.iter().map(|user| {
            let applications = user.get("/v2/applications").expect("applications");
            let interpreters = user.get("/v2/interpreters").expect("interpreters");
            let states = members(
                &applications["applications"],
                &["name", "composite-app-name", "clusters", "cluster-status"],
            );
            let live = members(&interpreters["interpreters"], &["name", "digest"]);
            json!([states, live])
        });
        let answers: Vec<Value> = answers.collect();
        if answers[0] == answers[1] {
            Ok(())
        } else {
            Err(json!(answers))
        }
    });
}

/// These members of each item of a list. Each item must have all of them.
fn members(list: &Value, names: &[&str]) -> Value {
    let members = items(list).map(|item| {
        let members = names.iter().map(|name| {
            assert!(!item[name].is_null(), "{item:#} has no {name}");
            item[name].clone()
        });
        members.collect::<Value>()
    });
    members.collect()
}

/// Asserts that the network policy permits exactly the ports that the Pod listens on, the ports that it connects to, and
/// the port of name servers.
fn assert_policy_permits(installed: &Installation, pod: &Pod) {
    let policy = &object(&installed.rendered, "NetworkPolicy")["spec"];
    let ports = |rules: &Value| -> BTreeSet<u64> {
        let rules = items(rules).flat_map(|rule| items(&rule["ports"]));
        rules.map(|port| pod.port(&port["port"])).collect()
    };
    let sockets = pod.sockets();
    let listening: BTreeSet<u64> = sockets.listening.iter().map(|&port| port.into()).collect();
    assert_eq!(ports(&policy["ingress"]), listening);
    let peers = sockets.peers.iter().map(|peer| format!("https://{peer}"));
    let servers = [installed.cluster.url(), installed.etcd.url()];
    assert_eq!(
        peers.collect::<BTreeSet<_>>(),
        servers.map(str::to_owned).into()
    );
    let connected = sockets.peers.iter().map(|peer| u64::from(peer.port()));
    let connected: BTreeSet<u64> = connected.chain([NAME_SERVER]).collect();
    assert_eq!(ports(&policy["egress"]), connected);
}

/// The port of name servers.
const NAME_SERVER: u64 = 53;

/// The component of an interpreter that is not built in.
fn crane() -> &'static [u8] {
    let mut guests = kindsight_tests::GUESTS.iter();
    let crane = guests.find(|guest| guest.name == "crane");
    crane.expect("the guest was built").wasm
}
