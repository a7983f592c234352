//! The metrics of a running server: their list in `docs/metrics.md`, and the alerts and the dashboard that use them.
//!
//! `UPDATE_EXPECT=1 cargo test -p kindsight-tests --test metrics` writes the list again.

mod deploy;
mod exposition;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use kindsight_server::{Demo, Server};
use tokio::runtime::Runtime;

use exposition::{Family, families};

/// The list of all metrics, from the root of the repository.
const DOCUMENT: &str = "docs/metrics.md";
/// The lines around the list.
const BEGIN: &str = "<!-- metrics: made from a running server by tests/tests/metrics -->\n";
const END: &str = "<!-- end of metrics -->\n";

/// Metrics without a series in these tests, with their labels: nothing fails, no cluster is watched, and there is no
/// receiver of notifications.
const WITHOUT_SERIES: &[(&str, &str)] = &[
    (
        "kindsight_health_scope_health",
        "cluster, health, namespace, scope",
    ),
    ("kindsight_cluster_kinds", "cluster, coverage"),
    ("kindsight_interpreter_faults_total", "interpreter, reason"),
    ("kindsight_notification_requests_failed_total", "receiver"),
    ("kindsight_notifications_delivered_total", "receiver"),
    ("kindsight_notifications_given_up_total", "receiver"),
    ("kindsight_notifications_merged_total", "receiver"),
    ("kindsight_notifications_waiting", "receiver"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The metrics of a server over the recorded application, after some requests. Both listeners answer with metrics.
fn scraped() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let mut settings = Demo::write_to(folder.path()).expect("the demo").settings;
        settings.metrics.listen = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        settings.metrics.names_applications = true;
        let runtime = Runtime::new().expect("an executor");
        let server = runtime.block_on(Server::start(settings)).expect("a server");
        runtime.block_on(server.synced());
        let url = |address: SocketAddr, path| format!("http://{address}{path}");
        let (rest, metrics) = (server.address(), server.metrics_address());
        let metrics = metrics.expect("the listener of metrics");
        assert_eq!(get(&url(rest, "/v2/applications")).0, 200);
        assert_eq!(get(&url(rest, "/no/such/path")).0, 404);
        assert_eq!(get(&url(rest, "/metrics")).0, 200);
        assert_eq!(get(&url(metrics, "/healthz")), (200, "ok".to_owned()));
        for path in ["/", "/readyz", "/v2/applications", "/openapi.json"] {
            assert_eq!(get(&url(metrics, path)).0, 404, "{path}");
        }
        let (status, text) = get(&url(metrics, "/metrics"));
        assert_eq!(status, 200, "{text}");
        runtime.block_on(server.stop()).expect("a stop");
        text
    })
}

fn get(url: &str) -> (u16, String) {
    let agent = ureq::Agent::config_builder().http_status_as_error(false);
    let answer = ureq::Agent::from(agent.build()).get(url).call();
    let mut answer = answer.expect("an answer");
    let body = answer.body_mut().read_to_string().expect("a text");
    (answer.status().as_u16(), body)
}

#[test]
fn the_document_lists_every_metric() {
    let path = root().join(DOCUMENT);
    let document = fs::read_to_string(&path).expect("the document");
    let (before, rest) = document.split_once(BEGIN).expect("the begin of the list");
    let (found, after) = rest.split_once(END).expect("the end of the list");
    let expected = list(&families(scraped()));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let document = [before, BEGIN, &expected, END, after].concat();
        fs::write(path, document).expect("the document is written");
        return;
    }
    assert!(
        found == expected,
        "{DOCUMENT} differs from the server; `UPDATE_EXPECT=1 cargo test -p kindsight-tests \
         --test metrics` writes it again. Expected:\n{expected}"
    );
}

fn list(families: &BTreeMap<String, Family>) -> String {
    let mut text = String::from("\n| metric | type | labels | |\n|---|---|---|---|\n");
    for (name, family) in families {
        let unseen = WITHOUT_SERIES.iter().find(|(unseen, _)| unseen == name);
        let labels = if let Some((_, labels)) = unseen {
            assert_eq!(family.series, 0, "{name} has series");
            (*labels).to_owned()
        } else {
            assert!(family.series > 0, "{name} has no series");
            let labels: Vec<&str> = family.labels.iter().map(String::as_str).collect();
            labels.join(", ")
        };
        let Family { kind, help, .. } = family;
        let _ = writeln!(text, "| `{name}` | {kind} | {labels} | {help} |");
    }
    text.push('\n');
    text
}

#[test]
fn requests_are_counted_by_route_and_not_by_path() {
    let series = |start: &str| {
        let mut lines = scraped().lines();
        let line = lines.find(|line| line.starts_with(start));
        line.unwrap_or_else(|| panic!("no {start}"))
    };
    // The listener of metrics got four of the requests for unknown paths.
    for (route, code, count) in [("/v2/applications", "2xx", " 1"), ("other", "4xx", " 5")] {
        let start = format!(
            r#"kindsight_http_requests_total{{route="{route}",method="GET",code="{code}"}}"#
        );
        assert!(series(&start).ends_with(count), "{}", series(&start));
    }
    let routes = scraped().matches("no/such/path").count();
    assert_eq!(routes, 0);
}

#[test]
fn values_match_the_recorded_application() {
    let text = scraped();
    for line in [
        "kindsight_clusters{state=\"connected\"} 2.0",
        "kindsight_clusters_unsynced 0.0",
        "kindsight_store_away{store=\"contexts\"} 0.0",
        "kindsight_queue_limit{queue=\"pipeline-events\"} 64.0",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "no {line} in {text}"
        );
    }
    let sum = |start: &str| -> f64 {
        let lines = text.lines().filter(|line| line.starts_with(start));
        let values = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        values.sum()
    };
    assert!((sum("kindsight_applications{") - 1.0).abs() < 0.5);
    assert!((sum("kindsight_application_phase{") - 1.0).abs() < 0.5);
    for start in [
        "kindsight_resources{",
        "kindsight_interpreter_verdicts_total{",
        "kindsight_interpreter_call_duration_seconds_count{",
        "kindsight_pipeline_event_delay_seconds_count{",
        "kindsight_store_operation_duration_seconds_count{",
        "kindsight_memory_bytes{part=\"trees\"}",
        "kindsight_memory_bytes{part=\"texts\"}",
        "kindsight_memory_bytes{part=\"memo\"}",
    ] {
        assert!(sum(start) > 0.0, "{start} in {text}");
    }
}

#[test]
fn alerts_and_dashboard_use_metrics_that_exist() {
    let families = families(scraped());
    let known: BTreeSet<&str> = families.keys().map(String::as_str).collect();
    for file in [deploy::ALERTS, deploy::ALERTS_TEST, deploy::DASHBOARD] {
        let text = fs::read_to_string(root().join(file)).expect("a file");
        let used = exposition::used_metrics(&text);
        assert!(!used.is_empty(), "{file} uses no metric");
        for name in used {
            let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| {
                let base = name.strip_suffix(end)?;
                let family = families.get(base)?;
                (family.kind == "histogram").then_some(base)
            });
            let name = base.unwrap_or(&name);
            assert!(
                known.contains(name),
                "{file} uses {name}, which does not exist"
            );
        }
    }
}
