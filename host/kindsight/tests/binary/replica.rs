//! `kindsight serve --replica-of`: a server that shows the state of another server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::goldens::{CONTEXT, fill_store, status_path};
use crate::monitor::{Monitor, deployment};
use crate::process::{Server, kindsight, run, text};

/// Maximum time until a replica shows a change or an outage.
const PATIENCE: Duration = Duration::from_mins(1);

const GROUP: &str = "/v2/projects/testvfw/composite-apps/compositevfw/v1/deployment-intent-groups/vfw_deployment_intent_group";

/// Queries whose answers a replica must give like its upstream host.
fn queries() -> Vec<String> {
    let cluster = "/v2/cluster-providers/vfw-cluster-provider/clusters/edge01/status";
    let mut all: Vec<String> = [
        "",
        "?type=cluster",
        "?type=rsync&output=all",
        "?type=cluster&output=all",
        "?type=cluster&output=detail",
        "?type=cluster&output=summary",
        "?type=cluster&explain=true",
        "?type=cluster&resource=fw0-sink",
        "?instance",
        "?apps",
        "?clusters",
        "?resources",
    ]
    .map(status_path)
    .into();
    all.extend([
        format!("{GROUP}/history?limit=1000"),
        cluster.to_owned(),
        format!("{cluster}?type=rsync&output=all"),
        "/v2/applications".to_owned(),
        "/v2/clusters".to_owned(),
    ]);
    all
}

/// Status code and body of an answer. The time of the last event of a cluster is left out, because a replica may show it
/// two seconds late.
fn answer(server: &Server, query: &str) -> (u16, Value) {
    let (status, mut body) = server.get(query);
    let clusters = body["clusters"].as_array_mut().into_iter().flatten();
    for cluster in clusters {
        if let Some(cluster) = cluster.as_object_mut() {
            cluster.remove("last-event");
        }
    }
    (status, body)
}

/// Waits until two servers give the same answers to all queries.
fn wait_for_same(upstream: &Server, replica: &Server) {
    let begin = Instant::now();
    for query in queries() {
        loop {
            let (expected, found) = (answer(upstream, &query), answer(replica, &query));
            if found == expected {
                break;
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "{query}: {:#}\ninstead of\n{:#}",
                found.1,
                expected.1
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn wait_until(server: &Server, query: &str, what: &str, is_so: impl Fn(&str) -> bool) {
    let begin = Instant::now();
    loop {
        let (_, body) = server.get(query);
        let text = body
            .as_str()
            .map_or_else(|| body.to_string(), str::to_owned);
        if is_so(&text) {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{what}: still {text}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A report on a Deployment of the app `sink`.
fn write(folder: &Path, ready: u32) {
    let objects = json!({"deploymentStatuses": [deployment("fw0-sink", 1, ready)]});
    let report = Monitor::Onap.bundle(&format!("{CONTEXT}-sink"), &objects);
    std::fs::write(folder.join("sink.json"), report.to_string()).unwrap();
}

/// An upstream host with one application in two clusters.
struct Upstream {
    data: TempDir,
    folder: TempDir,
}

impl Upstream {
    fn new() -> Self {
        let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fill_store(data.path());
        write(folder.path(), 0);
        Self { data, folder }
    }

    fn serve(&self, address: &str, more: &[&str]) -> Server {
        let clusters = [format!(
            "vfw-cluster-provider+edge01={}",
            self.folder.path().display()
        )];
        Server::start_on(address, self.data.path(), &clusters, more)
    }
}

fn replica_of(url: &str, data: &Path, more: &[&str]) -> Server {
    let arguments = [&["--replica-of", url], more].concat();
    Server::start_unready(data, &[], &arguments)
}

#[test]
fn a_replica_gives_the_same_answers_and_shows_an_outage_of_its_upstream_host() {
    let upstream = Upstream::new();
    let data = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let server = upstream.serve("127.0.0.1:0", &[]);
    let (url, address) = (
        server.url.clone(),
        server.url.trim_start_matches("http://").to_owned(),
    );
    let replica = replica_of(&url, data[0].path(), &[]);
    // A replica can follow a replica.
    let second = replica_of(&replica.url, data[1].path(), &[]);
    wait_for_same(&server, &replica);
    wait_for_same(&server, &second);
    assert_eq!(replica.get("/readyz").0, 200);
    for ready in [1, 0, 1] {
        write(upstream.folder.path(), ready);
        let state = if ready == 1 { "Ready" } else { "Pending" };
        let query = status_path("?type=cluster&app=sink&resource=fw0-sink");
        wait_until(&server, &query, state, |text| text.contains(state));
        wait_for_same(&server, &replica);
        wait_for_same(&server, &second);
    }
    for (method, path) in [("POST", "/approve"), ("GET", "")] {
        let path = format!("{GROUP}{path}");
        let (status, problem) = match method {
            "POST" => replica.post(&path, "{}"),
            _ => replica.get(&path),
        };
        assert_eq!(status, 421, "{problem}");
        assert!(problem["detail"].to_string().contains(&url), "{problem}");
    }
    server.kill();
    let cause = format!("the upstream host {url} is not heard");
    let stale = |text: &str| text.contains(&cause) && text.contains("stale");
    let query = status_path("?type=cluster&output=all");
    wait_until(&replica, &query, "stale", stale);
    wait_until(&replica, "/v2/clusters", "stale", stale);
    wait_until(&second, &query, "stale", stale);
    assert_eq!(replica.get("/readyz").0, 200);
    let metrics = replica.get("/metrics").1;
    assert!(
        metrics
            .to_string()
            .contains("kindsight_replica_connected 0")
    );
    // It evaluates no objects.
    assert!(metrics.to_string().contains("kindsight_interpreters 0"));
    // A change during the outage, and the start of another process at the address.
    write(upstream.folder.path(), 0);
    let server = upstream.serve(&address, &[]);
    wait_until(&replica, &query, "fresh", |text| !text.contains(&cause));
    wait_for_same(&server, &replica);
    wait_for_same(&server, &second);
}

#[test]
fn a_replica_needs_a_token_of_a_viewer_of_everything() {
    let upstream = Upstream::new();
    let path = |name: &str| upstream.data.path().join(name).display().to_string();
    let roles = "
[[binding]]
role = \"viewer\"
users = [\"token:replica\"]

[[binding]]
role = \"viewer\"
users = [\"token:one\"]
applications = [\"p/c/*/*\"]
";
    std::fs::write(path("roles.toml"), roles).unwrap();
    for name in ["replica", "one"] {
        let arguments = [
            "token",
            "new",
            name,
            "--expires",
            "1h",
            "--tokens",
            &path("tokens"),
        ];
        let token = kindsight(&arguments).output().unwrap();
        assert!(token.status.success());
        std::fs::write(path(name), token.stdout).unwrap();
    }
    std::fs::write(path("none"), "kst_not-a-token").unwrap();
    let access = [
        format!("--roles={}", path("roles.toml")),
        format!("--tokens={}", path("tokens")),
    ];
    let server = upstream.serve("127.0.0.1:0", &[&access[0], &access[1]]);
    for (token, expected) in [("none", "401"), ("one", "403")] {
        let data = tempfile::tempdir().unwrap();
        let file = path(token);
        let replica = replica_of(&server.url, data.path(), &["--replica-token-file", &file]);
        wait_until(&replica, "/readyz", expected, |text| {
            text.contains(&server.url) && text.contains(expected)
        });
        assert_eq!(replica.get("/readyz").0, 503);
    }
    let data = tempfile::tempdir().unwrap();
    let file = path("replica");
    // A replica applies its own roles to its users.
    let arguments = ["--replica-token-file", &file, &access[0], &access[1]];
    let replica = replica_of(&server.url, data.path(), &arguments);
    wait_until(&replica, "/readyz", "ok", |text| text.starts_with("ok"));
    for (user, sees) in [("replica", true), ("one", false)] {
        let file = path(user);
        let arguments = [
            "applications",
            "--server",
            &replica.url,
            "--token-file",
            &file,
        ];
        let shown = run(&arguments, "");
        assert_eq!(
            text(&shown.stdout).contains("compositevfw"),
            sees,
            "{shown:?}"
        );
    }
}

#[test]
fn another_version_of_the_format_is_refused_by_both_sides() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let mut head = lines
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty());
            assert!(head.next().unwrap().contains("format=1"));
            head.for_each(drop);
            let begin = "{\"begin\":{\"format\":2,\"heartbeat-ms\":2000}}\n";
            let answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
            stream
                .write_all(format!("{answer}{begin}").as_bytes())
                .unwrap();
        }
    });
    let data = tempfile::tempdir().unwrap();
    let replica = replica_of(&url, data.path(), &[]);
    wait_until(&replica, "/readyz", "the format", |text| {
        text.contains("it writes version 2 of the replication format")
    });
    let (status, problem) = replica.get("/v2/replication?format=7");
    assert_eq!(status, 406, "{problem}");
    assert_eq!(problem["problems"][0]["expected"], "1");
}

#[test]
fn a_replica_has_no_clusters_of_its_own() {
    let data = tempfile::tempdir().unwrap();
    let arguments = |more: &[&str]| {
        let data = data.path().to_str().unwrap();
        let all = ["serve", "--listen", "127.0.0.1:0", "--data-dir", data];
        let output = kindsight(&[&all, more].concat()).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let upstream = ["--replica-of", "http://127.0.0.1:9"];
    let folder = format!("p+c={}", data.path().display());
    let refused = arguments(&[&upstream[..], &["--cluster", &folder]].concat());
    assert!(
        refused.contains("--replica-of cannot be combined with clusters"),
        "{refused}"
    );
    let refused = arguments(&["--replica-of", "http://192.0.2.1:9015"]);
    assert!(refused.contains("has no TLS"), "{refused}");
}
