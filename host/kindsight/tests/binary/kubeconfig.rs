//! `kindsight serve --kubeconfig` on real API servers: clusters that are added and removed with their files, and the
//! credentials in kubeconfigs.

mod selector;
mod waiting;
mod webhook;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use kindsight_cluster::{Binaries, Binary, Cluster, Credentials, Etcd, Options, write_kubeconfig};
use serde_json::{Value, json};

use crate::process::Server;
use webhook::Webhook;

/// Time in which a server must notice any change.
const PATIENCE: Duration = Duration::from_mins(1);

/// The clusters of a server as `name connection origin`.
fn clusters(server: &Server) -> Vec<String> {
    let (_, answer) = server.get("/v2/clusters");
    let clusters = answer["clusters"].as_array().into_iter().flatten();
    let told = clusters.map(|cluster| {
        let text = |key: &str| cluster[key].as_str().unwrap_or_default().to_owned();
        let [provider, name] = ["cluster-provider", "cluster"].map(text);
        let [connection, origin] = ["connection", "origin"].map(text);
        format!("{provider}+{name} {connection} {origin}")
    });
    told.collect()
}

/// Waits until these are the clusters.
fn wait_for(server: &Server, expected: &[&str]) {
    let began = Instant::now();
    while clusters(server) != expected {
        assert!(began.elapsed() < PATIENCE, "still {:#?}", clusters(server));
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Waits until the application `shop` has these ConfigMaps, as `cluster name state`.
fn wait_for_shop(server: &Server, expected: &[&str]) {
    let target = "/v2/projects/-/composite-apps/shop/-/deployment-intent-groups/-/status";
    let began = Instant::now();
    loop {
        let (_, answer) = server.get(target);
        let told = resources(&answer);
        if told == expected {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "still {told:#?}: {answer:#}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn resources(answer: &Value) -> Vec<String> {
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut told = Vec::new();
    for app in items(&answer["apps"]) {
        for cluster in items(&app["clusters"]) {
            for resource in items(&cluster["resources"]) {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let stale = cluster["stale-since"].as_str().map_or("", |_| " stale");
                told.push(format!(
                    "{}+{} {} {}{stale}",
                    text(&cluster["cluster-provider"]),
                    text(&cluster["cluster"]),
                    text(&resource["name"]),
                    text(&resource["cluster-status"]),
                ));
            }
        }
    }
    told.sort();
    told
}

fn config_map(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "labels": {"app.kubernetes.io/part-of": "shop"}},
    })
}

/// Replaces a kubeconfig as `kubectl config` does, by a new file of the same name.
fn replace(file: &Path, contexts: &[(&str, &Cluster, &Credentials)]) {
    write_kubeconfig(file, contexts);
}

#[test]
fn clusters_follow_the_contexts_of_a_kubeconfig() {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let [one, two] = ["one", "two"].map(|name| Cluster::start(&etcd, &Options::api_server(name)));
    for cluster in [&one, &two] {
        cluster.apply(&config_map(cluster.name()));
    }
    let wrong = Credentials::Token("wrong".to_owned());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kubeconfig");
    replace(&file, &[("a", &one, one.admin())]);
    let data = tempfile::tempdir().unwrap();
    let flag = format!("--kubeconfig={}", file.display());
    let server = Server::start_with(data.path(), &[], &[&flag]);
    wait_for_shop(&server, &["kubeconfig+a one Present"]);

    // One more, and a second context of the first: it is the same cluster.
    let all = [
        ("a", &one, one.admin()),
        ("admin@one", &one, one.admin()),
        ("b", &two, two.admin()),
    ];
    replace(&file, &all);
    wait_for(
        &server,
        &[
            "kubeconfig+a connected a, also admin@one",
            "kubeconfig+b connected b",
        ],
    );
    let both = ["kubeconfig+a one Present", "kubeconfig+b two Present"];
    wait_for_shop(&server, &both);

    // An invalid file changes nothing, and neither does an unfinished file.
    fs::write(&file, "{ half a kubecon").unwrap();
    std::thread::sleep(Duration::from_secs(3));
    wait_for_shop(&server, &both);

    // Other credentials are used without a restart. With wrong credentials, the known objects remain and are stale.
    replace(&file, &[("a", &one, one.admin()), ("b", &two, &wrong)]);
    wait_for(
        &server,
        &["kubeconfig+a connected a", "kubeconfig+b stale b"],
    );
    wait_for_shop(
        &server,
        &["kubeconfig+a one Present", "kubeconfig+b two Present stale"],
    );
    let certificate =
        Credentials::Certificate(two.authority().client("me", "system:masters", None));
    replace(
        &file,
        &[("a", &one, one.admin()), ("b", &two, &certificate)],
    );
    wait_for_shop(&server, &both);

    // A found application disappears with its cluster when the cluster is removed from the configuration.
    replace(&file, &[("b", &two, &certificate)]);
    wait_for(&server, &["kubeconfig+b connected b"]);
    wait_for_shop(&server, &["kubeconfig+b two Present"]);
}

#[test]
fn a_cluster_added_to_the_configuration_file_needs_no_restart() {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let one = Cluster::start(&etcd, &Options::api_server("one"));
    one.apply(&config_map("settings"));
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("kindsight.toml");
    fs::write(&config, "log = \"info\"\n").unwrap();
    let flag = format!("--config={}", config.display());
    let server = Server::start_with(&folder.path().join("data"), &[], &[&flag]);
    wait_for(&server, &[]);
    let kubeconfig = one.kubeconfig();
    let table = format!(
        "[[cluster]]\nname = \"edge+one\"\nkubeconfig = {:?}\n",
        kubeconfig.display().to_string()
    );
    fs::write(&config, &table).unwrap();
    wait_for_shop(&server, &["edge+one settings Present"]);
    // The context leads to the same cluster, which keeps the name from its table.
    let both = format!(
        "kubeconfig = {:?}\n{table}",
        kubeconfig.display().to_string()
    );
    fs::write(&config, both).unwrap();
    wait_for(&server, &["edge+one connected current, also one"]);
}

/// Gives an API server another certificate, and waits until it has it.
fn renew(cluster: &Cluster, until: Option<SystemTime>) {
    cluster.renew_certificate(until);
    let began = Instant::now();
    let is_refused = || !cluster.client_as(cluster.admin()).can_connect();
    while is_refused() != until.is_some() {
        assert!(began.elapsed() < PATIENCE, "it has the old certificate");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn an_expired_certificate_is_reported_and_its_renewal_ends_the_fault() {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let one = Cluster::start(&etcd, &Options::api_server("one"));
    one.apply(&config_map("settings"));
    let past = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365 * 40);
    renew(&one, Some(past));
    let data = tempfile::tempdir().unwrap();
    let flag = format!("--kubeconfig={}", one.kubeconfig().display());
    let server = Server::start_with(data.path(), &[], &[&flag]);
    wait_for(&server, &["kubeconfig+one stale one"]);
    let (_, answer) = server.get("/v2/clusters");
    let error = answer["clusters"][0]["error"].as_str().unwrap_or_default();
    assert!(error.to_lowercase().contains("expired"), "{error}");
    renew(&one, None);
    wait_for_shop(&server, &["kubeconfig+one settings Present"]);
}

/// A proxy that opens tunnels for clients with the right password, and counts them.
fn http_proxy() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let tunnels = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&tunnels);
    let serve = move |mut client: TcpStream, count: &AtomicUsize| -> Option<()> {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            client.read_exact(&mut byte).ok()?;
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).ok()?;
        let target = head.strip_prefix("CONNECT ")?.split(' ').next()?;
        // Of `me:p@ss`.
        if !head.to_lowercase().contains("basic bwu6cebzcw==") {
            client.write_all(b"HTTP/1.1 407 Who is that\r\n\r\n").ok()?;
            return None;
        }
        let mut server = TcpStream::connect(target).ok()?;
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok()?;
        count.fetch_add(1, Ordering::Relaxed);
        let (mut from, mut to) = (client.try_clone().ok()?, server.try_clone().ok()?);
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        std::io::copy(&mut server, &mut client).ok()?;
        Some(())
    };
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let count = Arc::clone(&count);
            std::thread::spawn(move || serve(client, &count));
        }
    });
    (format!("http://me:p%40ss@{address}"), tunnels)
}

#[test]
fn a_cluster_is_reached_through_the_proxy_of_its_kubeconfig() {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let one = Cluster::start(&etcd, &Options::api_server("one"));
    one.apply(&config_map("settings"));
    let (url, tunnels) = http_proxy();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kubeconfig");
    write_kubeconfig(&file, &[("one", &one, one.admin())]);
    let mut kubeconfig: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    kubeconfig["clusters"][0]["cluster"]["proxy-url"] = url.into();
    fs::write(&file, kubeconfig.to_string()).unwrap();
    let flag = format!("--kubeconfig={}", file.display());
    let server = Server::start_with(&folder.path().join("data"), &[], &[&flag]);
    wait_for_shop(&server, &["kubeconfig+one settings Present"]);
    assert!(tunnels.load(Ordering::Relaxed) > 0, "it went another way");
}

/// A kubeconfig with a credential plugin. The plugin returns a token with the time of the call, and logs the call.
fn with_plugin(cluster: &Cluster, folder: &Path, expiration: &str) -> std::path::PathBuf {
    let file = folder.join("kubeconfig");
    write_kubeconfig(&file, &[("edge", cluster, &Credentials::Nobody)]);
    let script = format!(
        "echo asked >> {asked}; echo '{{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{{\"token\":\"t'$(date +%s)'\"{expiration}}}}}'",
        asked = folder.join("asked").display(),
    );
    let mut kubeconfig: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    kubeconfig["users"][0]["user"] = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script],
        "interactiveMode": "Never",
    }});
    fs::write(&file, kubeconfig.to_string()).unwrap();
    file
}

/// A cluster that accepts tokens of a plugin for some seconds. The watches have the same lifetime.
fn with_tokens_that_end(expiration: &str) {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let webhook = Webhook::start(folder.path(), Duration::from_secs(8));
    let options = Options::api_server("edge")
        .argument(&format!(
            "--authentication-token-webhook-config-file={}",
            webhook.config().display()
        ))
        .argument("--authentication-token-webhook-version=v1")
        .argument("--authentication-token-webhook-cache-ttl=1s");
    let etcd = Etcd::start(&binaries);
    let cluster = Cluster::start(&etcd, &options);
    let kubeconfig = with_plugin(&cluster, folder.path(), expiration);
    let flag = format!("--kubeconfig={}", kubeconfig.display());
    let server = Server::start_with(
        &folder.path().join("data"),
        &[],
        &[&flag, "--watch-lifetime=3s"],
    );
    let mut expected = Vec::new();
    for number in 0..6 {
        let name = format!("c{number}");
        cluster.apply(&config_map(&name));
        expected.push(format!("kubeconfig+edge {name} Present"));
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        wait_for_shop(&server, &expected);
        wait_for(&server, &["kubeconfig+edge connected edge"]);
        std::thread::sleep(Duration::from_secs(3));
    }
    let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
    assert!(
        asked.lines().count() >= 2,
        "asked {} times",
        asked.lines().count()
    );
    assert!(
        webhook.refused() == 0 || expiration.is_empty(),
        "an ended token was used"
    );
}

#[test]
fn a_plugin_is_asked_again_before_its_token_ends() {
    with_tokens_that_end(
        ",\"expirationTimestamp\":\"'$(date -u -d '+5 seconds' +%Y-%m-%dT%H:%M:%SZ)'\"",
    );
}

#[test]
fn a_plugin_without_an_expiry_is_called_again_after_a_refusal() {
    with_tokens_that_end("");
}
