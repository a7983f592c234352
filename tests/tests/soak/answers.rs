//! The answers of a server for all applications, without times.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use kindsight_cluster::Client;
use serde_json::Value;

/// Time for two servers to give the same answers once the clusters are quiet.
const SAME_MAX: Duration = Duration::from_mins(3);
/// Time between two comparisons.
const COMPARE_EVERY: Duration = Duration::from_millis(500);

/// Waits until the server gives the same answers as a server that listed and judged everything from scratch. Returns
/// the number of lines.
///
/// # Panics
/// If the answers still differ after [`SAME_MAX`].
pub(crate) fn compare(server: &Client, fresh: &Client) -> usize {
    let began = Instant::now();
    loop {
        let (found, expected) = (lines(server), lines(fresh));
        let is_whole = found.as_ref().is_some_and(|lines| !lines.is_empty());
        if is_whole && found == expected {
            return found.map_or(0, |lines| lines.len());
        }
        if began.elapsed() > SAME_MAX {
            let (found, expected) = (found.unwrap_or_default(), expected.unwrap_or_default());
            let only = |of: &BTreeSet<String>, other: &BTreeSet<String>| {
                let only: Vec<String> = of.difference(other).take(20).cloned().collect();
                only.join("\n")
            };
            panic!(
                "the read model differs from a fresh listing.\nOnly in the read model:\n{}\n\
                 Only in the fresh listing:\n{}",
                only(&found, &expected),
                only(&expected, &found)
            );
        }
        sleep(COMPARE_EVERY);
    }
}

/// The state of all applications, apps and resources, one per line; none while a part of it is stale.
fn lines(server: &Client) -> Option<BTreeSet<String>> {
    let list = server.get("/v2/applications")?;
    let mut lines = BTreeSet::new();
    for application in list["applications"].as_array()? {
        let text = |key: &str| application[key].as_str().unwrap_or("-");
        let path = format!(
            "/v2/projects/{}/composite-apps/{}/{}/deployment-intent-groups/{}/status",
            text("project"),
            text("composite-app-name"),
            text("composite-app-version"),
            text("name"),
        );
        let status = server.get(&path)?;
        if status.get("stale-since").is_some() {
            return None;
        }
        let name = format!("{} {}", text("composite-app-name"), text("name"));
        lines.insert(format!("{name}: {}", status["ready-status"]));
        for app in status["apps"].as_array().into_iter().flatten() {
            for cluster in app["clusters"].as_array().into_iter().flatten() {
                let resources = cluster["resources"].as_array().into_iter().flatten();
                let resources =
                    resources.map(|resource| resource_line(&name, app, cluster, resource));
                lines.extend(resources);
            }
        }
    }
    Some(lines)
}

fn resource_line(application: &str, app: &Value, cluster: &Value, resource: &Value) -> String {
    format!(
        "{application} {} {}: {}/{} {} {}",
        app["name"],
        cluster["cluster"],
        resource["GVK"]["Kind"],
        resource["name"],
        resource["cluster-status"],
        resource["reason"],
    )
}
