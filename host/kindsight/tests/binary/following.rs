//! `kindsight status --wait` and `--watch`, against a server whose cluster sends reports while they run.

use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::goldens::{CONTEXT, DIG, NETWORK, fill_store};
use crate::monitor::{Monitor, deployment};
use crate::process::{Server, kindsight, run, text};

const CLUSTER: &str = "vfw-cluster-provider+edge01";

fn report(deployment: &Value) -> String {
    let objects = json!({"deploymentStatuses": [deployment]});
    let report = Monitor::Onap.bundle(&format!("{CONTEXT}-sink"), &objects);
    report.to_string()
}

fn ready() -> String {
    report(&deployment("fw0-sink", 1, 1))
}

fn failed() -> String {
    let mut late = deployment("fw0-sink", 1, 0);
    let reason = "ProgressDeadlineExceeded";
    late["status"]["conditions"] =
        json!([{"type": "Progressing", "status": "False", "reason": reason}]);
    report(&late)
}

/// A ready Deployment whose only Pod runs again after this number of crashes.
fn restarted(restarts: u32) -> String {
    let mut report: Value = serde_json::from_str(&ready()).unwrap();
    let labels = json!({"app": "sink"});
    let status = &mut report["status"];
    status["deploymentStatuses"][0]["spec"]["selector"] = json!({"matchLabels": labels});
    let running = json!({"running": {"startedAt": "2026-01-22T10:00:00Z"}});
    let now = jiff::Timestamp::now().to_string();
    status["podStatuses"] = json!([{
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "fw0-sink-1-a", "namespace": "default", "labels": labels,
            "ownerReferences": [{"kind": "ReplicaSet", "name": "fw0-sink-1", "uid": "r", "controller": true}],
        },
        "spec": {"containers": [{"name": "sink"}]},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{
                "name": "sink", "ready": true, "restartCount": restarts, "state": running,
                "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": now}},
            }],
        },
    }]);
    report.to_string()
}

/// A report without any resource.
fn empty() -> String {
    let mut report: Value = serde_json::from_str(&ready()).unwrap();
    report["status"] = json!({"deploymentStatuses": []});
    report.to_string()
}

/// A server with one cluster that has not reported yet.
struct Stage {
    server: Server,
    reports: TempDir,
    _data: TempDir,
}

impl Stage {
    fn new() -> Self {
        let (data, reports) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fill_store(data.path());
        let cluster = format!("{CLUSTER}={}", reports.path().display());
        Self {
            server: Server::start(data.path(), &[cluster]),
            reports,
            _data: data,
        }
    }

    fn write(&self, report: &str) {
        let file: &Path = &self.reports.path().join("sink.json");
        std::fs::write(file, report).unwrap();
    }

    /// Follows the Deployment.
    fn follow(&self, more: &[&str]) -> Child {
        let only = [
            "--app",
            "sink",
            "--resource",
            "fw0-sink",
            "--cluster",
            CLUSTER,
        ];
        let mut command = kindsight(&["status", DIG, "--server", &self.server.url]);
        command.args(only).args(more);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }
}

/// Reads lines until one has this text.
fn read_until(lines: &mut impl Iterator<Item = String>, told: &str) {
    let mut read = Vec::new();
    let found = lines.any(|line| {
        read.push(line);
        read.last().is_some_and(|line| line.contains(told))
    });
    assert!(found, "no `{told}` in {read:#?}");
}

/// Calls `meanwhile` once the command waits, then waits for its end; returns the exit code and the rest of the output.
fn ended(mut child: Child, meanwhile: impl FnOnce()) -> (Option<i32>, String) {
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let mut lines = stderr.lines().map(Result::unwrap);
    read_until(&mut lines, " is Unknown");
    meanwhile();
    let rest: Vec<String> = lines.collect();
    (child.wait().unwrap().code(), rest.join("\n"))
}

#[test]
fn wait_ends_when_the_cluster_reports_a_final_state() {
    for (report, code, told) in [
        (ready(), 0, "is ready"),
        (failed(), 4, "ProgressDeadlineExceeded"),
    ] {
        let stage = Stage::new();
        let child = stage.follow(&["--wait", "--timeout", "2m"]);
        let (ended, said) = ended(child, || stage.write(&report));
        assert_eq!(ended, Some(code), "{said}");
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn a_failed_application_is_present_and_is_terminated_when_it_is_gone() {
    let stage = Stage::new();
    let present = stage.follow(&["--wait", "--for", "present", "--timeout", "2m"]);
    let mut terminated = stage.follow(&["--wait", "--for", "terminated", "--timeout", "2m"]);
    let (code, said) = ended(present, || stage.write(&failed()));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("is present"), "{said}");

    let stderr = BufReader::new(terminated.stderr.take().unwrap());
    let mut lines = stderr.lines().map(Result::unwrap);
    read_until(&mut lines, "is Failed (ProgressDeadlineExceeded)");
    stage.write(&empty());
    read_until(&mut lines, "is terminated");
    assert_eq!(terminated.wait().unwrap().code(), Some(0));
}

#[test]
fn recent_restarts_are_ready_with_for_ready_and_not_without_it() {
    let stage = Stage::new();
    let strict = stage.follow(&["--wait", "--timeout", "20s"]);
    let child = stage.follow(&["--wait", "--for", "ready", "--timeout", "2m"]);
    let (code, said) = ended(child, || stage.write(&restarted(3)));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("is ready"), "{said}");
    let (code, said) = ended(strict, || {});
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("is Degraded (RecentRestarts)"), "{said}");
}

#[test]
fn a_wait_fails_if_a_container_restarts_too_often() {
    let stage = Stage::new();
    let mut command = kindsight(&["status", DIG, "--server", &stage.server.url]);
    command.args(["--app", "sink", "--cluster", CLUSTER]);
    command.args(["--wait", "--max-restarts", "2", "--timeout", "2m"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let (code, said) = ended(child.spawn().unwrap(), || stage.write(&restarted(3)));
    assert_eq!(code, Some(4), "{said}");
    let why = format!("a container of Pod fw0-sink-1-a of sink in {CLUSTER} restarted 3 times");
    assert!(said.contains(&why), "{said}");
}

#[test]
fn a_final_state_must_hold_for_the_given_time() {
    let stage = Stage::new();
    let child = stage.follow(&["--wait", "--timeout", "30s", "--hold", "1h"]);
    let (code, said) = ended(child, || stage.write(&ready()));
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("did not hold for 3600s yet"), "{said}");
}

#[test]
fn wait_ends_at_the_timeout_also_for_a_missing_application() {
    let stage = Stage::new();
    let (ended, said) = ended(stage.follow(&["--wait", "--timeout", "3s"]), || {});
    assert_eq!(ended, Some(5), "{said}");
    assert!(
        said.contains("is not ready after 3s: it is Unknown"),
        "{said}"
    );

    let url = stage.server.url.as_str();
    for (subject, cluster, url, why) in [
        (
            "nowhere",
            "edge01",
            url,
            "there is no application `nowhere` yet",
        ),
        (
            "p/ca/v1/nowhere",
            "edge01",
            url,
            "there is no application `p/ca/v1/nowhere` yet",
        ),
        (
            DIG,
            "nowhere",
            url,
            "the application has no cluster `nowhere` yet",
        ),
        // Nothing listens on port 1.
        (
            "nowhere",
            "edge01",
            "http://127.0.0.1:1",
            "Connection refused",
        ),
    ] {
        let args = ["status", subject, "--cluster", cluster, "--server", url];
        let args = [&args[..], &["--wait", "--timeout", "100ms"]].concat();
        let output = run(&args, "");
        assert_eq!(output.status.code(), Some(5), "{output:?}");
        let said = text(&output.stderr);
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn wait_follows_the_own_resources_of_a_cluster() {
    let stage = Stage::new();
    let mut command = kindsight(&["status", CLUSTER, "--server", &stage.server.url]);
    command.args(["--wait", "--for", "present", "--timeout", "2m"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let network = |kind: &str, name: &str| {
        let object = json!({"apiVersion": "k8s.plugin.opnfv.org/v1alpha1", "kind": kind,
            "metadata": {"name": name, "namespace": "default"}});
        let (group, version) = ("k8s.plugin.opnfv.org", "v1alpha1");
        json!({"group": group, "version": version, "kind": kind, "name": name, "namespace": "default",
            "res": BASE64_STANDARD.encode(object.to_string())})
    };
    let report = json!({
        "apiVersion": "k8splugin.io/v1alpha1",
        "kind": "ResourceBundleState",
        "metadata": {"labels": {"emco/deployment-id": format!("{NETWORK}-network-intents")}},
        "status": {"resourceStatuses": [
            network("ProviderNetwork", "emco-private-net"),
            network("Network", "protected-private-net"),
            network("ProviderNetwork", "unprotected-private-net"),
        ]},
    });
    let (code, said) = ended(child.spawn().unwrap(), || stage.write(&report.to_string()));
    assert_eq!(code, Some(0), "{said}");
    let end = format!("{CLUSTER} is present");
    assert!(said.contains(&end), "{said}");
}

#[test]
fn watching_prints_a_line_for_each_change_until_ctrl_c() {
    let stage = Stage::new();
    let mut child = stage.follow(&["--watch"]);
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let mut lines = stdout.lines().map(Result::unwrap);
    read_until(&mut lines, "Deployment/fw0-sink Unknown");
    stage.write(&ready());
    read_until(&mut lines, "Deployment/fw0-sink Ready");
    stage.write(&failed());
    read_until(
        &mut lines,
        "Deployment/fw0-sink Failed ProgressDeadlineExceeded",
    );
    let selected = format!(
        "vfw_deployment_intent_group (only app sink; cluster {CLUSTER}; resource fw0-sink)"
    );
    read_until(&mut lines, &format!("{selected}: Failed"));
    drop(stage.server);
    read_until(&mut lines, "connecting again");
    let pid = i32::try_from(child.id()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut errors = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut errors).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{errors}");
}
