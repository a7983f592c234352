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
/// the lines of the answers.
///
/// # Panics
/// If the answers still differ after [`SAME_MAX`].
pub(crate) fn compare(server: &Client, fresh: &Client) -> BTreeSet<String> {
    let began = Instant::now();
    loop {
        match (lines(server), lines(fresh)) {
            (Ok(found), Ok(expected)) if !found.is_empty() && found == expected => return found,
            (found, expected) if began.elapsed() > SAME_MAX => differ(found, expected),
            _ => sleep(COMPARE_EVERY),
        }
    }
}

/// Ends the test with the differences of two answers.
fn differ(
    found: Result<BTreeSet<String>, String>,
    expected: Result<BTreeSet<String>, String>,
) -> ! {
    let (found, expected) = match (found, expected) {
        (Ok(found), Ok(expected)) => (found, expected),
        (found, expected) => panic!(
            "an answer is not complete.\nThe read model: {:?}\nThe fresh listing: {:?}",
            found.map(|lines| lines.len()),
            expected.map(|lines| lines.len())
        ),
    };
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

/// The state of all applications, apps and resources, one per line.
///
/// # Errors
/// The request without an answer, or the stale part of an answer, as text.
fn lines(server: &Client) -> Result<BTreeSet<String>, String> {
    let get = |path: &str| server.get(path).ok_or_else(|| format!("no answer: {path}"));
    let list = get("/v2/applications")?;
    let mut lines = BTreeSet::new();
    for application in list["applications"].as_array().into_iter().flatten() {
        let text = |key: &str| application[key].as_str().unwrap_or("-");
        let path = format!(
            "/v2/projects/{}/composite-apps/{}/{}/deployment-intent-groups/{}/status",
            text("project"),
            text("composite-app-name"),
            text("composite-app-version"),
            text("name"),
        );
        let status = get(&path)?;
        if status.get("stale-since").is_some() {
            let clusters = get("/v2/clusters")?;
            return Err(format!("stale: {path}; clusters: {clusters}"));
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
    Ok(lines)
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
