//! Notifications of a real server: to a real Alertmanager and to receivers of webhooks and `CloudEvents`, across a kill.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kindsight_cluster::Alertmanager;
use serde_json::{Value, json};

use crate::goldens::{CONTEXT, fill_store};
use crate::monitor::{Monitor, deployment};
use crate::process::{Server, run, text};

const PATIENCE: Duration = Duration::from_mins(1);
const SUBJECT: &str = "fw0-sink";

/// Bodies that arrived at a receiver, which accepts each.
#[derive(Clone, Default)]
pub(crate) struct Bodies(Arc<Mutex<Vec<Value>>>);

impl Bodies {
    /// Starts a receiver; returns its URL.
    pub(crate) fn listen(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let bodies = self.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client may disconnect at any time.
                let _ = bodies.take(stream);
            }
        });
        url
    }

    /// Reads requests of a connection until it ends.
    fn take(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream);
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line)? == 0 {
                    return Ok(());
                }
                let line = line.to_ascii_lowercase();
                if let Some(value) = line.strip_prefix("content-length: ") {
                    length = value.trim().parse().unwrap();
                }
                if line == "\r\n" {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body)?;
            let body = serde_json::from_slice(&body).unwrap();
            self.0.lock().unwrap().push(body);
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            reader.get_mut().write_all(answer.as_bytes())?;
        }
    }

    /// The different bodies, in order. After a kill, an event may be repeated, with the same id or with a remark.
    pub(crate) fn different(&self) -> Vec<Value> {
        let mut different = Vec::new();
        for body in &*self.0.lock().unwrap() {
            let text = body["text"].as_str().unwrap_or_default();
            let is_repetition = text.contains("may be a repetition");
            if !is_repetition && !different.contains(body) {
                different.push(body.clone());
            }
        }
        different
    }

    fn wait_for(&self, count: usize) -> Vec<Value> {
        let begin = Instant::now();
        loop {
            let bodies = self.different();
            if bodies.len() >= count {
                return bodies;
            }
            assert!(begin.elapsed() < PATIENCE, "{bodies:#?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Writes the report of a monitor on one Deployment of the app `sink`.
fn report(folder: &Path, ready: u32) {
    let objects = json!({"deploymentStatuses": [deployment(SUBJECT, 1, ready)]});
    let report = Monitor::V22.bundle(&format!("{CONTEXT}-sink"), &objects);
    fs::write(folder.join("sink.json"), report.to_string()).unwrap();
}

fn wait_until_sending(server: &Server) {
    let begin = Instant::now();
    while server.get("/v2/notify").1["receivers"][0]["sends"] != true {
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until as many alerts about the Deployment fire.
fn wait_for_alerts(alertmanager: &Alertmanager, count: usize) -> Value {
    let begin = Instant::now();
    loop {
        let alerts = alertmanager.firing(&format!("name={SUBJECT}"));
        let alerts: Value = serde_json::from_str(&alerts).unwrap();
        if alerts.as_array().unwrap().len() == count {
            return alerts;
        }
        assert!(begin.elapsed() < PATIENCE, "{alerts:#}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn succeed(server: &Server, args: &[&str]) -> String {
    let output = run(&[args, &["--server", &server.url]].concat(), "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn transitions_reach_alertmanager_and_webhooks_also_after_a_kill() {
    let Some(alertmanager) = Alertmanager::or_skip() else {
        return;
    };
    let (data, reports) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill_store(data.path());
    let (events, messages) = (Bodies::default(), Bodies::default());
    let urls = [events.listen(), alertmanager.url(), messages.listen()];
    let formats = ["cloudevents", "alertmanager", "slack"];
    let tables = formats.iter().zip(urls).map(|(format, url)| {
        format!(
            "[[notify]]\nname = \"my-{format}\"\nformat = \"{format}\"\nurl = \"{url}\"\nfor = \"300ms\"\n\
             transitions = [\"resource\"]\nresources = [\"Deployment/{SUBJECT}\"]\nphases = [\"pending\"]\n"
        )
    });
    let tables: String = tables.collect();
    let config = data.path().join("kindsight.toml");
    let outgoing = "[outgoing]\naddresses = [\"127.0.0.0/8\"]\n";
    fs::write(&config, format!("{outgoing}{tables}")).unwrap();
    let config = format!("--config={}", config.display());
    let cluster = format!("vfw-cluster-provider+edge01={}", reports.path().display());
    let clusters = [cluster];
    report(reports.path(), 1);
    let server = Server::start_with(data.path(), &clusters, &[&config]);
    wait_until_sending(&server);
    report(reports.path(), 0);
    let event = events.wait_for(1).swap_remove(0);
    assert_eq!(event["data"]["name"], SUBJECT, "{event:#}");
    assert_eq!(event["data"]["from"]["phase"], "ready", "{event:#}");
    assert_eq!(event["data"]["to"]["phase"], "pending", "{event:#}");
    let message = messages.wait_for(1).swap_remove(0);
    let words = message["text"].as_str().unwrap();
    assert!(
        words.contains("fw0-sink") && words.contains("*Pending*"),
        "{words}"
    );
    let alerts = wait_for_alerts(&alertmanager, 1);
    assert_eq!(
        alerts[0]["labels"]["cluster"],
        "vfw-cluster-provider+edge01"
    );
    assert_eq!(alerts[0]["annotations"]["phase"], "pending");
    server.kill();
    // It is ready again while no server runs.
    report(reports.path(), 1);
    let server = Server::start_with(data.path(), &clusters, &[&config]);
    wait_for_alerts(&alertmanager, 0);
    let event = events.wait_for(2).pop().unwrap();
    assert_eq!(event["data"]["to"]["phase"], "ready", "{event:#}");
    messages.wait_for(2);
    let tested = succeed(&server, &["notify", "test", "my-slack"]);
    assert_eq!(tested, "my-slack accepted the test event (200)\n");
    assert_eq!(messages.wait_for(3).len(), 3);
    succeed(&server, &["notify", "test", "my-alertmanager"]);
    let listed = succeed(&server, &["notify", "list"]);
    for format in formats {
        let row = listed
            .lines()
            .find(|line| line.contains(&format!("my-{format}")));
        let words: Vec<&str> = row.unwrap().split_whitespace().collect();
        assert_eq!(words[1..4], [format, "yes", "0"], "{listed}");
    }
    let unknown = run(&["notify", "test", "other", "--server", &server.url], "");
    assert!(!unknown.status.success());
    let why = text(&unknown.stderr);
    assert!(why.contains("the receivers are `my-alertmanager`"), "{why}");
    assert!(server.stop());
    assert_eq!(events.different().len(), 2, "present states are not events");
}

#[test]
fn invalid_receivers_are_refused_at_the_start() {
    let data = tempfile::tempdir().unwrap();
    let config = data.path().join("kindsight.toml");
    let folder = data.path().display().to_string();
    let table = |more: &str| format!("[[notify]]\nname = \"ops\"\n{more}\n");
    for (content, expected) in [
        (table("url = \"http://127.0.0.1:1\""), "127.0.0.1"),
        (table("url = \"ftp://a\""), "https://HOST"),
        (
            table("url = \"https://a\"\nkey-file = \"/nonexistent/key\""),
            "the key of the receiver `ops` cannot be used: /nonexistent/key",
        ),
        (
            table("url = \"https://a\"").repeat(2),
            "the receiver `ops` is there twice",
        ),
        (
            "notify = \"https://a\"".to_owned(),
            "write `[[notify]]` tables",
        ),
    ] {
        fs::write(&config, content).unwrap();
        let config = format!("--config={}", config.display());
        let output = run(
            &[
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--data-dir",
                &folder,
                &config,
            ],
            "",
        );
        let error = text(&output.stderr);
        assert_ne!(output.status.code(), Some(0), "{error}");
        assert!(error.contains(expected), "{expected}: {error}");
    }
}
