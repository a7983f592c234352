//! The files in `deploy`, checked with the tools of Prometheus.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::process::{Command, Output, Stdio};

use crate::{root, scraped};

pub(crate) const ALERTS: &str = "deploy/prometheus/alerts.yaml";
pub(crate) const ALERTS_TEST: &str = "deploy/prometheus/alerts_test.yaml";
pub(crate) const DASHBOARD: &str = "deploy/grafana/kindsight.json";

/// Runs `promtool`; `None` if it is not installed. With `CI=true`, that fails the test.
fn promtool(arguments: &[&str], input: &str) -> Option<Output> {
    let mut command = Command::new("promtool");
    let command = command.args(arguments).current_dir(root());
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = match piped.stderr(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let line = "promtool NOT RUN: it is not installed (Debian package `prometheus`)";
            assert!(env::var("CI").as_deref() != Ok("true"), "{line}");
            let _ = writeln!(io::stderr(), "{line}");
            return None;
        }
        Err(error) => panic!("promtool: {error}"),
    };
    let mut stdin = child.stdin.take().expect("its input");
    stdin.write_all(input.as_bytes()).expect("its input");
    drop(stdin);
    Some(child.wait_with_output().expect("promtool"))
}

fn accepted(arguments: &[&str], input: &str) {
    let Some(output) = promtool(arguments, input) else {
        return;
    };
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{arguments:?}: {said}");
}

#[test]
fn promtool_accepts_the_metrics() {
    accepted(&["check", "metrics"], scraped());
}

#[test]
fn promtool_accepts_the_alerts() {
    accepted(&["check", "rules", ALERTS], "");
}

#[test]
fn the_tests_of_the_alerts_pass() {
    accepted(&["test", "rules", ALERTS_TEST], "");
}

#[test]
fn each_alert_has_a_test_in_which_it_fires_and_one_in_which_it_does_not() {
    let read = |file| fs::read_to_string(root().join(file)).expect("a file");
    let (alerts, tests) = (read(ALERTS), read(ALERTS_TEST));
    let names = alerts
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "));
    let names: Vec<&str> = names.collect();
    assert!(!names.is_empty());
    for name in names {
        let lines = [
            format!("        alertname: {name}\n        exp_alerts:\n"),
            format!("        alertname: {name}\n        exp_alerts: []\n"),
        ];
        for lines in lines {
            assert!(tests.contains(&lines), "{ALERTS_TEST} lacks {lines}");
        }
    }
}

#[test]
fn the_dashboard_is_json_with_a_query_in_each_panel() {
    let text = fs::read_to_string(root().join(DASHBOARD)).expect("a file");
    let dashboard: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    for panel in panels.iter().filter(|panel| panel["type"] != "row") {
        let targets = panel["targets"].as_array().expect("targets");
        assert!(!targets.is_empty(), "{}", panel["title"]);
        for target in targets {
            let expr = target["expr"].as_str().expect("an expression");
            assert!(expr.contains("kindsight_"), "{expr}");
        }
    }
}
