//! The audit log of a server.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use ureq::http::{Method, Request};

use super::{PATIENCE, path, write_files};
use crate::compiled;
use crate::interpreters::stage::{crane, digest, version};
use crate::process::kindsight;

/// A server whose user `token:ci` is an operator, and its log.
struct Stage {
    folder: TempDir,
    server: Child,
    url: String,
}

impl Stage {
    fn start() -> Self {
        Self::start_as("operator", &[])
    }

    /// A server with further arguments, whose user has another role.
    fn start_as(role: &str, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_files(folder.path());
        let binding = format!("[[binding]]\nrole = \"{role}\"\nusers = [\"token:ci\"]");
        fs::write(folder.path().join("roles.toml"), binding).unwrap();
        let file = |name: &str| folder.path().join(name);
        compiled::share(&file("data"));
        let server = kindsight(&["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
            .args(["--data-dir", path(&file("data"))])
            .args(["--roles", path(&file("roles.toml"))])
            .args(["--tokens", path(&file("tokens"))])
            .args(more)
            .stderr(fs::File::create(file("log")).unwrap())
            .spawn()
            .unwrap();
        let url = line_of(&file("log"), |line| {
            let message = line["fields"]["message"].as_str()?;
            Some(message.strip_prefix("serving on ")?.to_owned())
        });
        Self {
            folder,
            server,
            url,
        }
    }

    fn token(&self) -> String {
        let token = fs::read_to_string(self.folder.path().join("ci")).unwrap();
        token.trim().to_owned()
    }

    /// Sends a command with a component or nothing, and returns the status code.
    fn send(&self, path: &str, component: &[u8], id: &str) -> u16 {
        self.send_as(
            Method::POST,
            &format!("/interpreters{path}"),
            "application/wasm",
            component,
            id,
        )
    }

    fn send_as(&self, method: Method, path: &str, content: &str, body: &[u8], id: &str) -> u16 {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let agent: ureq::Agent = config.build().into();
        let request = Request::builder()
            .method(method)
            .uri(format!("{}/v2{path}", self.url))
            .header("Authorization", format!("Bearer {}", self.token()))
            .header("Content-Type", content)
            .header("X-Request-Id", id)
            .body(body)
            .unwrap();
        agent.run(request).unwrap().status().as_u16()
    }

    /// The line of the audit log about a request.
    fn audited(&self, id: &str) -> Value {
        line_of(&self.folder.path().join("log"), |line| {
            let is_audit = line["target"] == "audit" && line.to_string().contains(id);
            is_audit.then(|| line["fields"].clone())
        })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn each_command_is_logged_with_its_user_and_its_outcome() {
    let stage = Stage::start();
    assert_eq!(stage.send("/apps/disable", b"", "first"), 200);
    assert_eq!(stage.send("/nothing/rollback", b"", "second"), 404);
    let disabled = stage.audited("first");
    assert_eq!(disabled["user"], "token:ci");
    assert_eq!(disabled["action"], "disable");
    assert_eq!(disabled["interpreter"], "apps");
    let from = disabled["from"].as_str().unwrap();
    assert!(from.starts_with("sha256:"), "{disabled}");
    let refused = stage.audited("second");
    assert_eq!(refused["action"], "rollback");
    let outcome = refused["outcome"].as_str().unwrap();
    assert!(outcome.starts_with("refused: "), "{outcome}");
    let log = fs::read_to_string(stage.folder.path().join("log")).unwrap();
    assert!(!log.contains(&stage.token()));
}

/// The server knows the name and the old version only after the load.
#[test]
fn a_load_under_the_declared_name_is_logged_with_both_versions() {
    let stage = Stage::start();
    let (v1, v2) = (crane(), version(2));
    assert_eq!(stage.send("", v1, "first"), 200);
    assert_eq!(stage.send("", &v2, "second"), 200);
    let loads = [
        ("first", Value::Null, digest(v1)),
        ("second", digest(v1).into(), digest(&v2)),
    ];
    for (id, from, to) in loads {
        let loaded = stage.audited(id);
        assert_eq!(loaded["action"], "load", "{loaded}");
        assert_eq!(loaded["interpreter"], "crane", "{loaded}");
        assert_eq!(loaded["from"], from, "{loaded}");
        assert_eq!(loaded["to"], *to, "{loaded}");
    }
}

#[test]
fn the_line_about_settings_has_the_digests_of_the_old_and_the_new_settings() {
    let stage = Stage::start();
    assert_eq!(stage.send("", crane(), "load"), 200);
    let set = |settings: &str, id: &str| {
        let (path, json) = ("/interpreters/crane/settings", "application/json");
        let method = if settings.is_empty() {
            Method::DELETE
        } else {
            Method::PUT
        };
        let status = stage.send_as(method, path, json, settings.as_bytes(), id);
        assert_eq!(status, 200, "{id}");
        stage.audited(id)
    };
    let settings = r#"{"ready":"Draining"}"#;
    let line = set(settings, "set");
    assert_eq!(line["action"], "set-settings", "{line}");
    assert_eq!(line["from"], Value::Null, "{line}");
    assert_eq!(line["to"], *digest(settings.as_bytes()), "{line}");
    assert_eq!(line["component"], *digest(crane()), "{line}");
    let line = set("", "clear");
    assert_eq!(line["action"], "clear-settings", "{line}");
    assert_eq!(line["from"], *digest(settings.as_bytes()), "{line}");
    assert_eq!(line["to"], Value::Null, "{line}");
}

#[test]
fn the_lines_about_a_candidate_and_about_removed_names_identify_them() {
    let stage = Stage::start();
    assert_eq!(stage.send("?candidate=true", crane(), "candidate"), 200);
    let line = stage.audited("candidate");
    assert_eq!(line["interpreter"], "crane", "{line}");
    assert_eq!(line["component"], *digest(crane()), "{line}");
    assert_eq!(line["to"], Value::Null, "no version is live: {line}");
    let remove = |path: &str, id: &str| {
        let path = format!("/interpreters{path}");
        let status = stage.send_as(Method::DELETE, &path, "application/json", b"", id);
        assert_eq!(status, 200, "{id}");
        stage.audited(id)
    };
    assert_eq!(stage.send("/crane/promote", b"", "promote"), 200);
    remove("/crane", "remove");
    let line = remove("?unused=true", "unused");
    assert_eq!(line["action"], "remove-unused", "{line}");
    assert_eq!(line["interpreter"], "crane", "{line}");
}

/// The change of a group happens also if its client disconnects, so the line is written where the change is made.
#[test]
fn each_change_of_a_group_is_logged_with_its_user_and_its_outcome() {
    let stage = Stage::start_as("deployer", &["--lifecycle"]);
    let group = "/projects/shop/composite-apps/web/v1/deployment-intent-groups/prod";
    let content = br#"{"apps": [{"name": "front", "clusters": ["lab+edge01"], "manifests":
        ["{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}}"]}]}"#;
    let send = |method: Method, path: &str, body: &[u8], id: &str| {
        let path = format!("{group}{path}");
        stage.send_as(method, &path, "application/json", body, id)
    };
    assert_eq!(send(Method::PUT, "", content, "first"), 201);
    assert_eq!(send(Method::POST, "/instantiate", b"", "second"), 409);
    assert_eq!(send(Method::DELETE, "", b"", "third"), 204);
    for (id, action, outcome) in [
        ("first", "apply", "done"),
        (
            "second",
            "instantiate",
            "refused: `instantiate` is not possible",
        ),
        ("third", "delete", "done"),
    ] {
        let line = stage.audited(id);
        assert_eq!(line["user"], "token:ci", "{line}");
        assert_eq!(line["action"], action, "{line}");
        assert_eq!(line["group"], "shop/web/v1/prod", "{line}");
        assert!(
            line["outcome"].as_str().unwrap().starts_with(outcome),
            "{line}"
        );
    }
}

#[test]
fn each_change_of_network_intents_is_logged_with_its_cluster() {
    let stage = Stage::start_as("deployer", &["--lifecycle"]);
    let path = "/cluster-providers/lab/clusters/edge01/network-intents";
    let content = br#"{"manifests": ["apiVersion: k8s.plugin.opnfv.org/v1alpha1\nkind: Network\nmetadata: {name: a}\n"]}"#;
    let json = "application/json";
    let status = stage.send_as(Method::PUT, path, json, content, "put");
    assert_eq!(status, 201);
    let terminate = format!("{path}/terminate");
    let status = stage.send_as(Method::POST, &terminate, json, b"", "terminate");
    assert_eq!(status, 409);
    for (id, outcome) in [
        ("put", "done"),
        ("terminate", "refused: `terminate` is not"),
    ] {
        let line = stage.audited(id);
        assert_eq!(line["action"], format!("{id}-network-intents"), "{line}");
        assert_eq!(line["cluster"], "lab+edge01", "{line}");
        let told = line["outcome"].as_str().unwrap();
        assert!(told.starts_with(outcome), "{line}");
    }
}

/// Waits for a line of a log in JSON.
fn line_of<T>(log: &Path, find: impl Fn(&Value) -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        let text = fs::read_to_string(log).unwrap();
        let mut lines = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        if let Some(found) = lines.find_map(|line: Value| find(&line)) {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "no such line: {text}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
