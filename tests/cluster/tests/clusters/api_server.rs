//! The API server, its users, and its interruptions.

use std::time::{Duration, Instant, UNIX_EPOCH};

use kindsight_cluster::{Client, Cluster, Credentials, Etcd, Options, write_kubeconfig};
use serde_json::{Value, json};
use ureq::http::Method;

use crate::{STEP_MAX, api_server_binaries};

const CONFIG_MAP: &str = "/api/v1/namespaces/default/configmaps/settings";

fn config_map() -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"},
        "data": {"colour": "blue"},
    })
}

#[test]
fn objects_are_applied_patched_and_deleted() {
    let Some(binaries) = api_server_binaries() else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let cluster = Cluster::start(&etcd, &Options::api_server("edge01"));
    assert_eq!(cluster.get(CONFIG_MAP), None);
    cluster.apply(&config_map());
    let patch = json!({"data": {"size": "small"}});
    let patched = cluster.patch(CONFIG_MAP, "application/merge-patch+json", &patch);
    assert_eq!(patched["data"], json!({"colour": "blue", "size": "small"}));
    assert!(cluster.delete(CONFIG_MAP));
    assert!(!cluster.delete(CONFIG_MAP));
}

#[test]
fn an_api_server_keeps_its_port_and_its_objects_when_it_is_stopped_and_when_it_is_killed() {
    let Some(binaries) = api_server_binaries() else {
        return;
    };
    let mut etcd = Etcd::start(&binaries);
    let mut cluster = Cluster::start(&etcd, &Options::api_server("edge01"));
    cluster.apply(&config_map());
    cluster.stop();
    assert!(cluster.client().request(Method::GET, "/", None).is_err());
    cluster.start_again();
    cluster.kill();
    etcd.kill();
    etcd.start_again();
    cluster.start_again();
    let kept = cluster.get(CONFIG_MAP).expect("what was applied");
    assert_eq!(kept["data"]["colour"], "blue");
}

#[test]
fn a_paused_api_server_hangs_until_it_is_resumed() {
    let Some(binaries) = api_server_binaries() else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let mut cluster = Cluster::start(&etcd, &Options::api_server("edge01"));
    cluster.pause();
    let patience = Duration::from_secs(1);
    let hasty = cluster.client().with_timeout(patience);
    let answer = hasty.request(Method::GET, CONFIG_MAP, None);
    assert!(matches!(answer, Err(ureq::Error::Timeout(_))), "{answer:?}");
    cluster.resume();
    cluster.wait(CONFIG_MAP, Value::is_null, STEP_MAX);
}

#[test]
fn users_have_the_rights_they_were_given() {
    let Some(binaries) = api_server_binaries() else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let options = Options::api_server("edge01").user("reader", &["readers"], "readerstoken");
    let cluster = Cluster::start(&etcd, &options);
    let reader = Credentials::Token("readerstoken".to_owned());
    let certificate = cluster.authority().client("other", "readers", None);
    let stranger = Credentials::Token("unknown".to_owned());
    let readers = [&reader, &Credentials::Certificate(certificate)]
        .map(|credentials| cluster.client_as(credentials));
    let status = |client: &Client| {
        let answer = client.request(Method::GET, CONFIG_MAP, None);
        answer.expect("an answer").status
    };
    cluster.apply(&config_map());
    assert_eq!(readers.each_ref().map(status), [403, 403]);
    assert_eq!(status(&cluster.client_as(&stranger)), 401);
    let group = "rbac.authorization.k8s.io";
    cluster.apply(&json!({
        "apiVersion": format!("{group}/v1"),
        "kind": "ClusterRole",
        "metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
    }));
    cluster.apply(&json!({
        "apiVersion": format!("{group}/v1"),
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "readers"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "reader"},
        "subjects": [{"apiGroup": group, "kind": "Group", "name": "readers"}],
    }));
    for client in &readers {
        client.wait_for_status(CONFIG_MAP, 200, STEP_MAX);
    }
}

#[test]
fn an_expired_certificate_is_refused_until_it_is_renewed() {
    let Some(binaries) = api_server_binaries() else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let cluster = Cluster::start(&etcd, &Options::api_server("edge01"));
    let past = UNIX_EPOCH + Duration::from_hours(24 * 365 * 40);
    for (until, is_refused) in [(Some(past), true), (None, false)] {
        cluster.renew_certificate(until);
        let begin = Instant::now();
        // A new client each time, because a connection keeps the certificate with which it was
        // opened.
        let request = || {
            let client = cluster.client_as(cluster.admin());
            client.request(Method::GET, "/readyz", None)
        };
        while request().is_err() != is_refused {
            assert!(begin.elapsed() < STEP_MAX, "{:?}", request());
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    let old = cluster
        .authority()
        .client("ann", "system:masters", Some(past));
    let client = cluster.client_as(&Credentials::Certificate(old));
    client.wait_for_status("/api", 401, STEP_MAX);
}

#[test]
fn a_kubeconfig_has_a_context_for_each_cluster_and_user() {
    let Some(binaries) = api_server_binaries() else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let cluster = Cluster::start(&etcd, &Options::api_server("edge01"));
    let identity = cluster.authority().client("ann", "system:masters", None);
    let ann = Credentials::Certificate(identity);
    let file = cluster.folder().join("two-contexts");
    write_kubeconfig(
        &file,
        &[
            ("admin", &cluster, cluster.admin()),
            ("ann", &cluster, &ann),
        ],
    );
    let text = std::fs::read_to_string(&file).expect("a file");
    let config: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(config["current-context"], "admin");
    assert_eq!(config["contexts"][1]["context"]["user"], "ann");
    assert_eq!(config["clusters"][1]["cluster"]["server"], cluster.url());
    for named in ["certificate-authority", "client-certificate", "client-key"] {
        let of = if named == "certificate-authority" {
            &config["clusters"][1]["cluster"][named]
        } else {
            &config["users"][1]["user"][named]
        };
        let name = of.as_str().expect("a file name");
        assert!(cluster.folder().join(name).is_file(), "{name}");
    }
}
