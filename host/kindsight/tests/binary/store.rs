//! `serve --store` and `serve --observe` over a real etcd.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Etcd, KeyValue};
use serde_json::{Value, json};

use crate::process::{Server, free_address, run, text};

const STATUS: &str =
    "/v2/projects/p/composite-apps/shop/v1/deployment-intent-groups/web/status?type=cluster";

/// Time until a change has to be in the answer; the aim is a second, and the machine is busy.
const ANSWERED_MAX: Duration = Duration::from_mins(1);

/// The report of a monitor: a ConfigMap of this name.
fn report(name: &str) -> String {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    json!({ "configMapStatuses": [object] }).to_string()
}

/// A context of another orchestrator, key by key as it writes them.
fn context(id: &str) -> Vec<KeyValue> {
    let cluster = "app/front/cluster/p+edge/";
    let entries = [
        ("", format!("\"{id}\"")),
        (
            "meta/",
            json!({"Project": "p", "CompositeApp": "shop", "Version": "v1", "Release": "r",
                "DeploymentIntentGroup": "web", "Namespace": "default", "Level": "0",
                "ChildContextIDs": null, "LogicalCloud": "lc"})
            .to_string(),
        ),
        (
            "app/instruction/order/",
            json!(r#"{"apporder":["front"]}"#).to_string(),
        ),
        ("app/front/", json!("front").to_string()),
        (cluster, json!("p+edge").to_string()),
        (
            "app/front/cluster/p+edge/status/",
            json!(report("one")).to_string(),
        ),
        ("status/", json!({"Status": "Instantiated"}).to_string()),
    ];
    let entries = entries.into_iter();
    entries
        .map(|(key, value)| (format!("/context/{id}/{key}"), value))
        .collect()
}

fn address(etcd: &Etcd) -> String {
    etcd.url().replace("http://", "etcd://")
}

/// Waits for an answer.
fn wait(server: &Server, path: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let begin = Instant::now();
    loop {
        let (_, answer) = server.get(path);
        if is_it(&answer) {
            return answer;
        }
        assert!(begin.elapsed() < ANSWERED_MAX, "{answer:#}");
        sleep(Duration::from_millis(20));
    }
}

/// The names of the resources of an answer.
fn resources(answer: &Value) -> Vec<&str> {
    let resources = answer.pointer("/apps/0/clusters/0/resources");
    let resources = resources.and_then(Value::as_array);
    let resources = resources.map_or(&[][..], Vec::as_slice);
    resources
        .iter()
        .filter_map(|resource| resource["name"].as_str())
        .collect()
}

fn refused(data: &Path, args: &[&str]) -> String {
    let data = data.to_str().unwrap();
    let listen = ["serve", "--listen", "127.0.0.1:0", "--data-dir", data];
    let output = run(&[&listen[..], args].concat(), "");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    text(&output.stderr)
}

#[test]
fn observing_an_orchestrator_needs_only_permission_to_read_contexts() {
    let Some(binaries) = Binaries::or_skip(&[Binary::Etcd]) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    etcd.keys().put_all(&context("7"));
    etcd.keys()
        .protect("root's", &[("reader", "let me in", "/context/")]);
    let keys = etcd.keys_of("root", "root's");
    let folder = tempfile::tempdir().unwrap();
    let password = folder.path().join("password");
    std::fs::write(&password, "let me in\n").unwrap();
    let (password, store) = (password.to_str().unwrap(), address(&etcd));
    let args = ["--observe", "--store", &store, "--etcd-user", "reader"];
    let args = [&args[..], &["--etcd-password-file", password]].concat();
    let before = keys.dump("\0");

    let server = Server::start_with(&folder.path().join("data"), &[], &args);
    let answer = wait(&server, STATUS, |answer| resources(answer) == ["one"]);
    assert_eq!(answer["status"], "Instantiated");
    assert_eq!(
        answer["state"]["Actions"],
        json!([{"State": "Instantiated", "ContextId": "7"}])
    );
    let listed = run(&["applications", "--server", &server.url], "");
    assert!(text(&listed.stdout).contains("p/shop/v1/web"), "{listed:?}");
    assert_eq!(keys.dump("\0"), before);

    // The orchestrator's monitor stores another report.
    let key = "/context/7/app/front/cluster/p+edge/status/";
    keys.put(key, &json!(report("two")).to_string());
    wait(&server, STATUS, |answer| resources(answer) == ["two"]);
    let others = |all: Vec<KeyValue>| -> Vec<KeyValue> {
        all.into_iter().filter(|(name, _)| name != key).collect()
    };
    assert_eq!(others(keys.dump("\0")), others(before));
    drop(server);

    std::fs::write(password, "let me out").unwrap();
    let why = refused(&folder.path().join("data"), &args);
    assert!(why.contains(&format!("open the store {store}")), "{why}");
    assert!(!why.contains("let me out"), "{why}");
}

#[test]
fn an_unavailable_store_is_reported_until_it_is_back() {
    let Some(binaries) = Binaries::or_skip(&[Binary::Etcd]) else {
        return;
    };
    let mut etcd = Etcd::start(&binaries);
    etcd.keys().put_all(&context("7"));
    let (data, store) = (tempfile::tempdir().unwrap(), address(&etcd));
    let server = Server::start_with(data.path(), &[], &["--store", &store]);
    wait(&server, STATUS, |answer| resources(answer) == ["one"]);

    etcd.kill();
    let away = wait(&server, STATUS, |answer| answer["store"]["state"] == "away");
    assert_eq!(resources(&away), ["one"], "it is answered from memory");
    assert!(away["store"]["reason"].is_string(), "{away}");
    assert!(away["stale-since"].is_string(), "{away}");
    for path in ["/v2/applications", "/v2/clusters"] {
        assert_eq!(server.get(path).1["store"]["state"], "away");
    }
    let shown = run(&["status", "p/shop/v1/web", "--server", &server.url], "");
    let shown = text(&shown.stdout);
    assert!(
        shown.contains("the store of AppContexts is away"),
        "{shown}"
    );

    let command = ["interpreters", "disable", "apps", "--server", &server.url];
    let refused = text(&run(&command, "").stderr);
    assert!(refused.contains("nothing changed"), "{refused}");

    etcd.start_again();
    let back = wait(&server, STATUS, |answer| answer["store"].is_null());
    assert_eq!(resources(&back), ["one"]);
    let key = "/context/7/app/front/cluster/p+edge/status/";
    etcd.keys().put(key, &json!(report("two")).to_string());
    let answer = wait(&server, STATUS, |answer| resources(answer) == ["two"]);
    assert!(answer["stale-since"].is_null(), "{answer}");
}

#[test]
fn an_unusable_store_is_refused_with_a_correction() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let why = refused(&data, &["--observe"]);
    assert!(why.contains("--store etcd://HOST:2379"), "{why}");
    let file = format!("file:{}", data.join("store.redb").display());
    for own in [&*file, "memory:"] {
        let why = refused(&data, &["--observe", "--store", own]);
        assert!(why.contains("name the etcd of an orchestrator"), "{why}");
    }
    // A port without a listener.
    let store = format!("etcd://{}", free_address());
    let why = refused(&data, &["--store", &store]);
    assert!(why.contains(&store.replace("etcd://", "")), "{why}");
    assert!(why.contains("cannot be reached"), "{why}");
}
