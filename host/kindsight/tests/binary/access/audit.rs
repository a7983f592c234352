//! The audit log of a server.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{PATIENCE, path, write_files};
use crate::process::kindsight;

#[test]
fn each_command_is_logged_with_its_user_and_its_outcome() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let operator = "[[binding]]\nrole = \"operator\"\nusers = [\"token:ci\"]";
    fs::write(folder.path().join("roles.toml"), operator).unwrap();
    let [roles, tokens, data] =
        ["roles.toml", "tokens", "data"].map(|name| folder.path().join(name));
    let log = folder.path().join("log");
    let arguments = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--log-format",
        "json",
        "--data-dir",
        path(&data),
        "--roles",
        path(&roles),
        "--tokens",
        path(&tokens),
    ];
    let mut server = kindsight(&arguments)
        .stderr(fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let url = line_of(&log, |line| {
        let message = line["fields"]["message"].as_str()?;
        Some(message.strip_prefix("serving on ")?.to_owned())
    });
    let token = fs::read_to_string(folder.path().join("ci")).unwrap();
    let config = ureq::Agent::config_builder().http_status_as_error(false);
    let agent: ureq::Agent = config.build().into();
    let send = |command: &str, id: &str| {
        let request = agent.post(format!("{url}/v2/interpreters/{command}"));
        let request = request.header("Authorization", format!("Bearer {}", token.trim()));
        let answer = request.header("X-Request-Id", id).send_empty().unwrap();
        answer.status().as_u16()
    };
    assert_eq!(send("apps/disable", "first"), 200);
    assert_eq!(send("nothing/rollback", "second"), 404);
    let audited = |id: &str| {
        line_of(&log, |line| {
            let is_audit = line["target"] == "audit" && line.to_string().contains(id);
            is_audit.then(|| line["fields"].clone())
        })
    };
    let disabled = audited("first");
    assert_eq!(disabled["user"], "token:ci");
    assert_eq!(disabled["action"], "disable");
    assert_eq!(disabled["interpreter"], "apps");
    assert!(
        disabled["from"].as_str().unwrap().starts_with("sha256:"),
        "{disabled}"
    );
    let refused = audited("second");
    assert_eq!(refused["action"], "rollback");
    let outcome = refused["outcome"].as_str().unwrap();
    assert!(outcome.starts_with("refused: "), "{outcome}");
    server.kill().unwrap();
    server.wait().unwrap();
    let text = fs::read_to_string(&log).unwrap();
    assert!(!text.contains(token.trim()));
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
