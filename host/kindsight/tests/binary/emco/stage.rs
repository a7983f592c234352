//! An etcd with an orchestrator's contexts, and servers over it.

use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Etcd};
use serde_json::Value;

use crate::process::Server;

/// Time in which a server must notice any change.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// An etcd; `None` if its executable is not installed, so that the test ends.
pub(super) fn etcd() -> Option<Etcd> {
    Some(Etcd::start(&Binaries::or_skip(Binary::ETCD)?))
}

/// The address of a store in an etcd.
pub(super) fn address(etcd: &Etcd) -> String {
    let host = etcd.url().trim_start_matches("http://");
    format!("etcd://{host}")
}

/// Starts a server that only observes an orchestrator's etcd.
pub(super) fn observe(etcd: &Etcd, data: &std::path::Path) -> Server {
    Server::start_with(data, &[], &["--observe", "--store", &address(etcd)])
}

/// Path of the status of a group: `project/composite-app/version/dig`.
pub(super) fn status_of(dig: &str) -> String {
    let [project, composite_app, version, dig] = dig.split('/').collect::<Vec<_>>()[..] else {
        panic!("four parts");
    };
    let group = format!("deployment-intent-groups/{dig}");
    format!("/v2/projects/{project}/composite-apps/{composite_app}/{version}/{group}/status")
}

/// Asks until the answer is as expected.
pub(super) fn wait(server: &Server, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let begin = Instant::now();
    loop {
        let (status, answer) = server.get(path);
        if status == 200 && is_so(&answer) {
            return answer;
        }
        assert!(
            begin.elapsed() < PATIENCE,
            "{path} is still {status} {answer:#}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The resources of an answer, one a line: app, cluster, name, Kind, state and reason.
pub(super) fn lines(answer: &Value) -> Vec<String> {
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut lines = Vec::new();
    for app in items(&answer["apps"]) {
        for cluster in items(&app["clusters"]) {
            for resource in items(&cluster["resources"]) {
                let state = match text(&resource["rsync-status"]).as_str() {
                    "-" => text(&resource["cluster-status"]),
                    rsync => rsync.to_owned(),
                };
                let place = [&app["name"], &cluster["cluster"], &resource["name"]]
                    .map(text)
                    .join(" ");
                lines.push(format!(
                    "{place} {} {state}",
                    text(&resource["GVK"]["Kind"])
                ));
            }
        }
    }
    lines
}
