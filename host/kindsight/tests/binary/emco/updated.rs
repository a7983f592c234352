//! Updated groups: since EMCO 21.03, the status context of a group holds its statuses, bundles and labels.

use serde_json::json;

use super::laid::{Generation, Laid};
use super::stage::{etcd, lines, observe, status_of, wait};
use crate::monitor::deployment;

const DIG: &str = "p/ca/v1/updated";
const EDGE: &str = "provider+edge01";
/// The first instance, which remains the status context.
const FIRST: &str = "100";
/// The instance that an update made.
const SECOND: &str = "200";

fn below(app: &str) -> String {
    format!("app/{app}/cluster/{EDGE}/")
}

/// The first instance after the update: its resources, and the statuses of both.
fn first() -> Laid {
    let mut laid = Laid::new(Generation::V22, FIRST, DIG);
    laid.cluster(
        "web",
        EDGE,
        &[
            ("web", "Deployment", "apps/v1"),
            ("settings", "ConfigMap", "v1"),
            ("old", "ConfigMap", "v1"),
        ],
    );
    laid.ordered().status("Updated").rsync("Applied");
    let web = below("web");
    // The statuses that rsync wrote: of the resource that the update added, and of the changed and unchanged ones.
    laid.put(&format!("{web}resource/new+ConfigMap/"), "\"nil\"");
    laid.put(
        &format!("{web}resource/new+ConfigMap/status/"),
        r#"{"Status":"Applied"}"#,
    );
    laid.put(
        &format!("{web}resource/old+ConfigMap/status/"),
        r#"{"Status":"Deleted"}"#,
    );
    for (name, acting) in [
        ("web+Deployment", SECOND),
        ("new+ConfigMap", SECOND),
        ("settings+ConfigMap", FIRST),
        ("old+ConfigMap", FIRST),
    ] {
        laid.put(
            &format!("{web}resource/{name}/reference/"),
            format!("\"{acting}\""),
        );
    }
    laid.put(&format!("{web}reference/"), format!("\"{SECOND}\""));
    laid.put(&format!("{web}readystatus/"), "\"Available\"");
    laid.bundle(
        "web",
        EDGE,
        &json!({"deploymentStatuses": [deployment("web", 1, 1)]}),
    );
    laid
}

/// The second instance, without statuses of resources.
fn second() -> Laid {
    let mut laid = Laid::new(Generation::V22, SECOND, DIG);
    laid.cluster(
        "web",
        EDGE,
        &[
            ("web", "Deployment", "apps/v1"),
            ("settings", "ConfigMap", "v1"),
            ("new", "ConfigMap", "v1"),
        ],
    );
    laid.ordered().status("Instantiated");
    laid.put("statusappctxid/", format!("\"{FIRST}\""));
    laid.put(&format!("{}readystatus/", below("web")), "\"Available\"");
    laid
}

#[test]
fn a_group_that_was_updated_is_answered_by_its_status_context() {
    let Some(etcd) = etcd() else { return };
    let keys = etcd.keys();
    keys.put_all(&first().keys);
    keys.put_all(&second().keys);
    let data = tempfile::tempdir().unwrap();
    let server = observe(&etcd, data.path());
    let (code, answer) = server.get(&status_of(DIG));
    assert_eq!(code, 200, "{answer:#}");
    assert_eq!(
        lines(&answer),
        [
            "web edge01 web Deployment Applied",
            "web edge01 settings ConfigMap Applied",
            "web edge01 new ConfigMap Applied",
        ]
    );
    assert_eq!(answer["status"], "Instantiated");
    let of_cluster = format!("{}?type=cluster", status_of(DIG));
    let (_, answer) = server.get(&of_cluster);
    assert_eq!(
        lines(&answer)[0],
        "web edge01 web Deployment Ready",
        "{answer:#}"
    );
    // The cluster is lost: rsync writes this to the instance that it works on.
    keys.put(
        &format!("/context/{SECOND}/{}readystatus/", below("web")),
        "\"Retrying\"",
    );
    wait(&server, &of_cluster, |answer| {
        !answer["stale-since"].is_null()
    });
    keys.put(
        &format!("/context/{SECOND}/{}readystatus/", below("web")),
        "\"Available\"",
    );
    wait(&server, &of_cluster, |answer| {
        answer["stale-since"].is_null()
    });
    // A status that rsync writes to the status context is shown for the acting instance.
    let web = format!(
        "/context/{FIRST}/{}resource/web+Deployment/status/",
        below("web")
    );
    keys.put(&web, r#"{"Status":"Failed"}"#);
    wait(&server, &status_of(DIG), |answer| {
        answer["rsync-status"] == json!({"Applied": 2, "Failed": 1})
    });
}

#[test]
fn a_rollback_brings_the_earlier_instance_back() {
    let Some(etcd) = etcd() else { return };
    let keys = etcd.keys();
    keys.put_all(&first().keys);
    keys.put_all(&second().keys);
    let data = tempfile::tempdir().unwrap();
    let server = observe(&etcd, data.path());
    let (_, answer) = server.get(&format!("{}?instance", status_of(DIG)));
    assert_eq!(answer["instances"], json!([FIRST, SECOND]), "{answer:#}");
    keys.put(
        &format!("/context/{SECOND}/status/"),
        r#"{"Status":"Updated"}"#,
    );
    keys.put(
        &format!("/context/{FIRST}/status/"),
        r#"{"Status":"Instantiated"}"#,
    );
    let web = format!("/context/{FIRST}/{}resource/", below("web"));
    keys.put(
        &format!("{web}old+ConfigMap/status/"),
        r#"{"Status":"Applied"}"#,
    );
    keys.put(
        &format!("{web}web+Deployment/reference/"),
        &format!("\"{FIRST}\""),
    );
    let answer = wait(&server, &status_of(DIG), |answer| {
        lines(answer).contains(&"web edge01 old ConfigMap Applied".to_owned())
    });
    assert_eq!(answer["status"], "Instantiated", "{answer:#}");
    assert_eq!(
        lines(&answer),
        [
            "web edge01 web Deployment Applied",
            "web edge01 settings ConfigMap Applied",
            "web edge01 old ConfigMap Applied",
        ]
    );
}

#[test]
fn hooks_that_have_not_run_do_not_turn_a_group_red() {
    let Some(etcd) = etcd() else { return };
    let keys = etcd.keys();
    let mut laid = Laid::new(Generation::V22, FIRST, DIG);
    laid.cluster(
        "web",
        EDGE,
        &[
            ("web", "Deployment", "apps/v1"),
            ("migrate", "Job", "batch/v1"),
            ("farewell", "Job", "batch/v1"),
        ],
    );
    laid.hooks(
        "web",
        EDGE,
        &json!({"pre-install": ["migrate+Job"], "post-delete": ["farewell+Job"]}),
    );
    laid.ordered().status("Instantiated").rsync("Applied");
    laid.put(
        &format!("{}resource/farewell+Job/status/", below("web")),
        r#"{"Status":"Pending"}"#,
    );
    let bundle = first();
    let (key, value) = bundle
        .keys
        .iter()
        .find(|(key, _)| key.ends_with("cluster/provider+edge01/status/"))
        .unwrap();
    laid.keys.push((key.clone(), value.clone()));
    keys.put_all(&laid.keys);
    let data = tempfile::tempdir().unwrap();
    let server = observe(&etcd, data.path());
    let (code, answer) = server.get(&format!("{}?type=cluster", status_of(DIG)));
    assert_eq!(code, 200, "{answer:#}");
    assert_eq!(answer["ready-status"], "Ready", "{answer:#}");
    // The Job ran and was removed. The Job of the deletion hook does not exist before the deletion.
    assert_eq!(
        lines(&answer),
        [
            "web edge01 web Deployment Ready",
            "web edge01 migrate Job NotPresent",
        ]
    );
    let hook = &answer["apps"][0]["clusters"][0]["resources"][1];
    assert_eq!(hook["hook"], true, "{answer:#}");
}

#[test]
fn an_update_is_not_confirmed_before_the_status_changes() {
    let Some(etcd) = etcd() else { return };
    let keys = etcd.keys();
    let sent = [("web", "Deployment", "apps/v1")];
    let mut first = Laid::new(Generation::V22, FIRST, DIG);
    first.cluster("web", EDGE, &sent);
    first.ordered().status("Instantiated").rsync("Applied");
    let mut reported = deployment("web", 1, 1);
    first.bundle("web", EDGE, &json!({"deploymentStatuses": [reported]}));
    keys.put_all(&first.keys);
    let data = tempfile::tempdir().unwrap();
    let server = observe(&etcd, data.path());
    let of_cluster = format!("{}?type=cluster", status_of(DIG));
    let ready = ["web edge01 web Deployment Ready".to_owned()];
    wait(&server, &of_cluster, |answer| lines(answer) == ready);

    // The orchestrator makes the second instance key by key. Then rsync replaces the first instance.
    let mut second = Laid::new(Generation::V22, SECOND, DIG);
    second.cluster("web", EDGE, &sent);
    let changed = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n\
        spec: {replicas: 1, minReadySeconds: 3}\n";
    let web = format!("{}resource/web+Deployment/", below("web"));
    second.put(&web, json!(changed).to_string());
    second.ordered();
    second.put("statusappctxid/", format!("\"{FIRST}\""));
    keys.put_all(&second.keys);
    let status = |id: &str, word: &str| {
        keys.put(
            &format!("/context/{id}/status/"),
            &json!({"Status": word}).to_string(),
        );
    };
    let sent = |word: &str| {
        let key = format!("/context/{FIRST}/{web}status/");
        keys.put(&key, &json!({"Status": word}).to_string());
    };
    status(FIRST, "Updating");
    sent("Pending");
    status(SECOND, "Instantiating");
    sent("Applied");
    status(FIRST, "Updated");
    status(SECOND, "Instantiated");
    let answer = wait(&server, &of_cluster, |answer| {
        let applied = &answer["state"]["Actions"][2]["State"];
        applied == "Instantiated" && answer["status"] == "Instantiated"
    });
    let resource = &answer["apps"][0]["clusters"][0]["resources"][0];
    assert_eq!(resource["cluster-status"], "Pending", "{answer:#}");
    assert_eq!(resource["reason"], "NotConfirmed", "{answer:#}");

    reported["status"]["observedGeneration"] = 2.into();
    let mut next = Laid::new(Generation::V22, FIRST, DIG);
    next.bundle("web", EDGE, &json!({"deploymentStatuses": [reported]}));
    let (key, value) = next.keys.last().unwrap();
    keys.put(key, value);
    wait(&server, &of_cluster, |answer| lines(answer) == ready);
}
