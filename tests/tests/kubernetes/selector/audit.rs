//! The requests to an API server, from its audit log.

use std::path::PathBuf;

use kindsight_cluster::Options;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The audit log of one API server.
pub(crate) struct Audit {
    folder: TempDir,
}

impl Audit {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let policy = json!({"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
            "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]});
        let file = folder.path().join("policy");
        std::fs::write(file, policy.to_string()).expect("a policy");
        Self { folder }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// An API server with these options that keeps the log.
    pub(crate) fn asked_of(&self, options: Options) -> Options {
        let policy = self.folder.path().join("policy");
        let policy = format!("--audit-policy-file={}", policy.display());
        let log = format!("--audit-log-path={}", self.log().display());
        options.argument(&policy).argument(&log)
    }

    /// The lists and watches of a Kind that the host asked for, by its name in paths.
    pub(crate) fn requests(&self, plural: &str) -> Vec<String> {
        let log = std::fs::read_to_string(self.log()).expect("the log");
        // The last line may be incomplete.
        let events = log
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let uris = events.filter_map(|event: Value| {
            let is_of_host = event["user"]["username"] == "admin";
            let uri = event["requestURI"].as_str().filter(|_| is_of_host)?;
            Some(uri.to_owned())
        });
        let of_kind = format!("/{plural}?");
        uris.filter(|uri| uri.contains(&of_kind)).collect()
    }
}
