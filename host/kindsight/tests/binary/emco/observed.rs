//! Contexts of an orchestrator, observed.

use serde_json::{Value, json};

use super::laid::{Generation, Laid};
use super::stage::{address, etcd, lines, observe, status_of, wait};
use crate::monitor::{Monitor, deployment};
use crate::process::{Server, run, text};

const DIG: &str = "testvfw/compositevfw/v1/vfw_deployment_intent_group";
const EDGE: &str = "vfw-cluster-provider+edge01";
/// Name of the longest kind that an orchestrator takes.
const LONG: usize = 128;

/// A group with two apps in one cluster.
fn vfw(generation: Generation, id: &str, dig: &str) -> Laid {
    let mut laid = Laid::new(generation, id, dig);
    laid.cluster(
        "packetgen",
        EDGE,
        &[
            ("fw0-packetgen", "Deployment", "apps/v1"),
            ("packetgen-service", "Service", "v1"),
        ],
    );
    laid.cluster("sink", EDGE, &[("sink-configmap", "ConfigMap", "v1")]);
    laid.ordered();
    laid
}

/// The Deployment of the app `packetgen`, with this number of ready replicas.
fn packetgen(ready: u32) -> Value {
    json!({"deploymentStatuses": [deployment("fw0-packetgen", 1, ready)]})
}

#[test]
fn contexts_of_both_generations_are_answered_without_a_write() {
    let Some(etcd) = etcd() else { return };
    let keys = etcd.keys();
    for (generation, id, dig) in [
        (Generation::Onap, "2755581958183303505", DIG),
        (Generation::V22, "11", "p/ca/v1/of-v22"),
    ] {
        let mut laid = vfw(generation, id, dig);
        laid.status("Instantiated").rsync("Applied");
        laid.bundle("packetgen", EDGE, &packetgen(1));
        keys.put_all(&laid.keys);
    }
    let before = keys.dump("/");
    let data = tempfile::tempdir().unwrap();
    let server = observe(&etcd, data.path());
    for dig in [DIG, "p/ca/v1/of-v22"] {
        let (code, answer) = server.get(&status_of(dig));
        assert_eq!(code, 200, "{answer:#}");
        assert_eq!(answer["status"], "Instantiated", "{answer:#}");
        assert_eq!(answer["rsync-status"], json!({"Applied": 3}), "{answer:#}");
        assert_eq!(
            lines(&answer),
            [
                "packetgen edge01 fw0-packetgen Deployment Applied",
                "packetgen edge01 packetgen-service Service Applied",
                "sink edge01 sink-configmap ConfigMap Applied",
            ]
        );
        let (_, answer) = server.get(&format!("{}?type=cluster", status_of(dig)));
        assert_eq!(
            lines(&answer)[0],
            "packetgen edge01 fw0-packetgen Deployment Ready",
            "{answer:#}"
        );
        // The other app has no report, and the old monitor reports no Services.
        assert_ne!(answer["ready-status"], "Ready", "{answer:#}");
    }
    let (_, list) = server.get("/v2/applications");
    assert_eq!(
        list["applications"].as_array().map(Vec::len),
        Some(2),
        "{list:#}"
    );
    assert!(server.stop());
    assert_eq!(keys.dump("/"), before, "something was written");
}

#[test]
fn changes_in_the_store_are_in_the_answer() {
    let Some(etcd) = etcd() else { return };
    let keys = etcd.keys();
    let data = tempfile::tempdir().unwrap();
    let server = observe(&etcd, data.path());
    let path = status_of(DIG);
    let mut laid = vfw(Generation::Onap, "7", DIG);
    keys.put_all(&laid.keys);
    // Its rsync has not begun: most of it may still be unwritten.
    let (code, answer) = server.get(&path);
    assert_ne!(code, 200, "{answer:#}");
    laid.status("Instantiating").rsync("Pending");
    keys.put_all(&laid.keys);
    wait(&server, &path, |answer| {
        answer["rsync-status"] == json!({"Pending": 3})
    });
    laid.status("Instantiated").rsync("Applied");
    keys.put_all(&laid.keys);
    wait(&server, &path, |answer| {
        answer["rsync-status"] == json!({"Applied": 3}) && answer["status"] == "Instantiated"
    });
    let of_clusters = format!("{path}?type=cluster");
    let sink = "/context/7/app/packetgen/cluster/vfw-cluster-provider+edge01/status/";
    for (ready, state) in [(0, "Pending"), (1, "Ready")] {
        let text = Monitor::Onap.status(&packetgen(ready)).to_string();
        keys.put(sink, &Value::String(text).to_string());
        wait(&server, &of_clusters, |answer| {
            lines(answer).contains(&format!(
                "packetgen edge01 fw0-packetgen Deployment {state}"
            ))
        });
    }
    keys.put(
        "/context/7/app/packetgen/cluster/vfw-cluster-provider+edge01/readystatus/",
        "\"Retrying\"",
    );
    let answer = wait(&server, &of_clusters, |answer| {
        !answer["stale-since"].is_null()
    });
    let state = "packetgen edge01 fw0-packetgen Deployment Ready".to_owned();
    assert!(
        lines(&answer).contains(&state),
        "it keeps its state: {answer:#}"
    );
    keys.delete_under("/context/7/");
    let (code, _) = loop {
        let got = server.get(&path);
        if got.0 != 200 {
            break got;
        }
    };
    assert_eq!(code, 404);
    let (_, list) = server.get("/v2/applications");
    assert_eq!(list["applications"], json!([]));
}

#[test]
fn a_user_that_may_read_contexts_alone_suffices() {
    let Some(etcd) = etcd() else { return };
    let keys = etcd.keys();
    let mut laid = vfw(Generation::Onap, "7", DIG);
    laid.status("Instantiated").rsync("Applied");
    keys.put_all(&laid.keys);
    keys.protect("root password", &[("kindsight", "a password", "/context/")]);
    let data = tempfile::tempdir().unwrap();
    let password = data.path().join("password");
    std::fs::write(&password, "a password\n").unwrap();
    let arguments = [
        "--observe".to_owned(),
        format!("--store={}", address(&etcd)),
        "--etcd-user=kindsight".to_owned(),
        format!("--etcd-password-file={}", password.display()),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let server = Server::start_with(data.path(), &[], &arguments);
    wait(&server, &status_of(DIG), |answer| {
        answer["rsync-status"] == json!({"Applied": 3})
    });
    let root = etcd.keys_of("root", "root password");
    let sink =
        format!("/context/7/app/sink/cluster/{EDGE}/resource/sink-configmap+ConfigMap/status/");
    root.put(&sink, r#"{"Status":"Failed"}"#);
    wait(&server, &status_of(DIG), |answer| {
        answer["rsync-status"]["Failed"] == 1
    });
}

#[test]
fn names_that_an_orchestrator_accepts_are_answered() {
    let Some(etcd) = etcd() else { return };
    let keys = etcd.keys();
    let long = "n".repeat(LONG);
    let dig = format!("_project-/-app_/v1/{long}");
    let cluster = format!("-provider_+{long}");
    let app = format!("_{}", "a".repeat(LONG - 1));
    let role = format!("system:{}", "r".repeat(200));
    let mut laid = Laid::new(Generation::V22, "5", &dig);
    laid.cluster(
        &app,
        &cluster,
        &[(&role, "ClusterRole", "rbac.authorization.k8s.io/v1")],
    );
    laid.ordered().status("Instantiated").rsync("Applied");
    keys.put_all(&laid.keys);
    // Its label could not be parsed; it is read all the same.
    let mut negative = Laid::new(Generation::V22, "-6", "p/ca/v1/negative");
    negative.cluster("app", EDGE, &[("settings", "ConfigMap", "v1")]);
    negative.ordered().status("Instantiated").rsync("Applied");
    keys.put_all(&negative.keys);
    let data = tempfile::tempdir().unwrap();
    let server = observe(&etcd, data.path());
    let (code, answer) = server.get(&status_of(&dig));
    assert_eq!(code, 200, "{answer:#}");
    assert_eq!(
        lines(&answer),
        [format!("{app} {long} {role} ClusterRole Applied")]
    );
    let filter = format!(
        "?app={app}&cluster={}&resource={role}",
        cluster.replace('+', "%2B")
    );
    let (_, filtered) = server.get(&format!("{}{filter}", status_of(&dig)));
    assert_eq!(lines(&filtered), lines(&answer));
    let (code, answer) = server.get(&status_of("p/ca/v1/negative"));
    assert_eq!(code, 200, "{answer:#}");
    assert_eq!(lines(&answer), ["app edge01 settings ConfigMap Applied"]);
}

/// The context of a logical cloud with one resource.
fn logical_cloud(id: &str) -> Laid {
    let of_cloud = r#"{"Project":"p","CompositeApp":"\u003cnil\u003e","Version":"\u003cnil\u003e","Release":"\u003cnil\u003e","DeploymentIntentGroup":"\u003cnil\u003e","Namespace":"ns","Level":"0","ChildContextIDs":[],"LogicalCloud":"lc1","LogicalCloudNamespace":"ns","LogicalCloudLevel":"1"}"#;
    let mut cloud = Laid::with_meta(Generation::V22, id, of_cloud);
    cloud.cluster("logical-cloud", EDGE, &[("ns", "Namespace", "v1")]);
    cloud.ordered().status("Instantiated").rsync("Applied");
    cloud
}

#[test]
fn contexts_that_belong_to_no_group_of_their_own_are_not_groups() {
    let Some(etcd) = etcd() else { return };
    let keys = etcd.keys();
    let mut networks = Laid::with_meta(Generation::Onap, "20", "{}");
    networks.cluster(
        "network-intents",
        EDGE,
        &[("net", "Network", "k8s.plugin.opnfv.org/v1alpha1")],
    );
    networks.ordered().status("Instantiated").rsync("Applied");
    keys.put_all(&networks.keys);
    keys.put_all(&logical_cloud("21").keys);
    let mut parent = vfw(Generation::V22, "22", "p/ca/v1/parent");
    let meta = parent.keys.iter().find(|(key, _)| key.ends_with("/meta/"));
    let meta = meta
        .unwrap()
        .1
        .replace(r#""ChildContextIDs":[]"#, r#""ChildContextIDs":["23"]"#);
    parent
        .put("meta/", meta)
        .status("Instantiated")
        .rsync("Applied");
    keys.put_all(&parent.keys);
    let mut child = vfw(Generation::V22, "23", "p/ca/v1/child");
    child.status("Instantiated").rsync("Applied");
    keys.put_all(&child.keys);
    let data = tempfile::tempdir().unwrap();
    let server = observe(&etcd, data.path());
    let (_, list) = server.get("/v2/applications");
    let found = list["applications"].as_array().unwrap().iter();
    let names: Vec<String> = found
        .map(|found| found["name"].as_str().unwrap_or("?").to_owned())
        .collect();
    assert_eq!(names.len(), 1, "{list:#}");
    let (code, _) = server.get(&status_of("p/ca/v1/child"));
    assert_eq!(code, 404);
    let (code, answer) =
        server.get("/v2/cluster-providers/vfw-cluster-provider/clusters/edge01/status");
    assert_eq!(code, 200, "{answer:#}");
    assert_eq!(
        lines(&answer),
        ["network-intents edge01 net Network Applied"],
        "{answer:#}"
    );
    let (code, answer) = server.get("/v2/projects/p/logical-clouds/lc1/status");
    assert_eq!(code, 200, "{answer:#}");
    assert_eq!(
        lines(&answer),
        ["logical-cloud edge01 ns Namespace Applied"],
        "{answer:#}"
    );
    assert_eq!(answer["state"]["Actions"][0]["ContextId"], "21");
}

#[test]
fn the_command_line_waits_for_a_logical_cloud() {
    let Some(etcd) = etcd() else { return };
    etcd.keys().put_all(&logical_cloud("21").keys);
    let data = tempfile::tempdir().unwrap();
    let server = observe(&etcd, data.path());
    let cloud = "p/logical-clouds/lc1";
    let args = [
        "status",
        cloud,
        "--wait",
        "--for",
        "present",
        "--timeout",
        "3s",
    ];
    let output = run(&[&args[..], &["--server", &server.url]].concat(), "");
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let said = text(&output.stderr);
    let missing = "Namespace ns of logical-cloud in vfw-cluster-provider+edge01 is Unknown";
    let end = format!("{cloud} is not present after 3s: {missing} (NoReportYet)");
    assert!(said.contains(&end), "{said}");
}
