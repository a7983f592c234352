//! `kindsight serve` and `kindsight status`.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::goldens::{CONTEXT, DIG, fill_store, reports, status_path};
use crate::monitor::{Monitor, deployment};
use crate::process::{Server, kindsight, pause, run, text};

/// Number of kills until one must find the last report in the store.
const KILLS_MAX: usize = 10;

/// A report on one Deployment of the app `sink`.
fn report(ready: u32) -> String {
    let objects = json!({"deploymentStatuses": [deployment("fw0-sink", 1, ready)]});
    let report = Monitor::V22.bundle(&format!("{CONTEXT}-sink"), &objects);
    report.to_string()
}

fn state_of_sink(server: &Server) -> Value {
    let path = status_path(
        "?type=cluster&app=sink&resource=fw0-sink&cluster=vfw-cluster-provider%2Bedge01",
    );
    server.get(&path).1["apps"][0]["clusters"][0]["resources"][0]["cluster-status"].clone()
}

/// Queries until the state is the expected one, for one minute at most.
fn wait_for(server: &Server, expected: &str) {
    let begin = std::time::Instant::now();
    while state_of_sink(server) != expected {
        assert!(
            begin.elapsed().as_secs() < 60,
            "still {}",
            state_of_sink(server)
        );
        pause();
    }
}

fn cluster(folder: &Path) -> String {
    format!("vfw-cluster-provider+edge01={}", folder.display())
}

#[test]
fn reports_change_the_answer_and_survive_a_kill() {
    let (data, reports) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill_store(data.path());
    let file = reports.path().join("sink.json");
    let mut server = Server::start(data.path(), &[cluster(reports.path())]);
    assert_eq!(state_of_sink(&server), "Unknown");
    std::fs::write(&file, report(0)).unwrap();
    wait_for(&server, "Pending");
    std::fs::write(&file, report(1)).unwrap();
    wait_for(&server, "Ready");
    std::fs::write(&file, "{ half a rep").unwrap();
    std::fs::write(reports.path().join("other.json"), "[]").unwrap();
    assert_eq!(state_of_sink(&server), "Ready");
    // An answer shows a report before the store has it, so a kill can be earlier than the write.
    for _ in 0..KILLS_MAX {
        server.kill();
        server = Server::start(data.path(), &[]);
        if state_of_sink(&server) == "Ready" {
            assert!(server.stop(), "SIGTERM ends with exit code 0");
            return;
        }
        assert_eq!(state_of_sink(&server), "Pending", "the earlier report");
        assert!(server.stop(), "SIGTERM ends with exit code 0");
        std::fs::write(&file, report(1)).unwrap();
        server = Server::start(data.path(), &[cluster(reports.path())]);
        wait_for(&server, "Ready");
    }
    panic!("the store never has the last report");
}

#[test]
fn a_report_that_is_removed_leaves_its_last_status_marked_stale() {
    let (data, reports) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill_store(data.path());
    let file = reports.path().join("sink.json");
    std::fs::write(&file, report(1)).unwrap();
    let server = Server::start(data.path(), &[cluster(reports.path())]);
    wait_for(&server, "Ready");
    std::fs::remove_file(&file).unwrap();
    let path = status_path("?type=cluster&app=sink&cluster=vfw-cluster-provider%2Bedge01");
    let begin = std::time::Instant::now();
    while server.get(&path).1["apps"][0]["clusters"][0]["stale-since"].is_null() {
        assert!(begin.elapsed().as_secs() < 60, "not marked stale");
        pause();
    }
    assert_eq!(state_of_sink(&server), "Ready");
    assert!(server.stop());
    let server = Server::start(data.path(), &[cluster(reports.path())]);
    let cluster = &server.get(&path).1["apps"][0]["clusters"][0];
    assert!(
        cluster["stale-since"].is_string(),
        "kept in the store, and not reported since: {cluster}"
    );
}

#[test]
fn an_unreadable_report_is_shown_at_its_app_until_it_is_replaced() {
    let (data, reports) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill_store(data.path());
    // The file name does not name the app.
    let file = reports.path().join("sink.json");
    std::fs::write(&file, report(1)).unwrap();
    let server = Server::start(data.path(), &[cluster(reports.path())]);
    wait_for(&server, "Ready");
    let path = status_path("?type=cluster&app=sink&cluster=vfw-cluster-provider%2Bedge01");
    let faults = || server.get(&path).1["apps"][0]["clusters"][0]["faults"].clone();
    assert!(faults().is_null());
    for (content, is_bad) in [("{ half a rep", true), (&report(1), false)] {
        std::fs::write(&file, content).unwrap();
        let begin = std::time::Instant::now();
        while faults().to_string().contains("not a ResourceBundleState") != is_bad {
            assert!(begin.elapsed().as_secs() < 60, "still {}", faults());
            pause();
        }
        assert_eq!(state_of_sink(&server), "Ready");
    }
    assert!(server.stop());
}

#[test]
fn a_report_that_is_given_another_name_and_overwritten_is_stale_on_every_level() {
    let (data, reports) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill_store(data.path());
    let (file, other) = (
        reports.path().join("sink.json"),
        reports.path().join("other.json"),
    );
    std::fs::write(&file, report(1)).unwrap();
    let server = Server::start(data.path(), &[cluster(reports.path())]);
    wait_for(&server, "Ready");
    std::fs::rename(&file, &other).unwrap();
    std::fs::write(&other, "junk").unwrap();
    let summary = status_path("?type=cluster&output=summary");
    let answer = || server.get(&summary).1;
    let begin = std::time::Instant::now();
    while answer()["stale-since"].is_null() || answer()["faults"].is_null() {
        assert!(begin.elapsed().as_secs() < 60, "no mark: {}", answer());
        pause();
    }
    assert_eq!(state_of_sink(&server), "Ready", "the last verdict stays");
    let text_of = |answer: &Value| answer.to_string();
    assert!(text_of(&answer()).contains("report `other.json`: not a ResourceBundleState"));
    let everything = server.get(&status_path("?type=cluster")).1;
    let path = reports.path().display().to_string();
    for answer in [answer(), everything] {
        assert!(!text_of(&answer).contains(&path), "{answer}");
    }
    let output = run(&["status", DIG, "--server", &server.url], "");
    let table = text(&output.stdout);
    assert!(table.contains("Ready (stale)"), "{table}");
    assert!(table.contains("report `other.json`"), "{table}");
    let last = table.lines().last().unwrap();
    assert!(last.starts_with("as a whole: "), "{table}");
    assert!(last.contains("; stale since "), "{table}");
    assert!(last.contains(" could not be read"), "{table}");
}

#[test]
fn an_invalid_query_is_answered_with_the_reason() {
    let data = tempfile::tempdir().unwrap();
    fill_store(data.path());
    let server = Server::start(data.path(), &[]);
    for (query, code, word) in [
        ("?typ=cluster", 400, "unknown parameter"),
        ("?type=x", 400, "type"),
        ("?output=x", 400, "output"),
        ("?cluster=edge01", 400, "%2B"),
        ("?app=nothing", 404, "packetgen"),
        ("?cluster=p%2Bnothing", 404, "edge02"),
        ("?resource=nothing", 404, "sink-configmap"),
        ("?instance=123", 404, CONTEXT),
        ("?app=sink&resource=fw0-packetgen", 200, "Instantiated"),
    ] {
        let (status, answer) = server.get(&status_path(query));
        assert_eq!(status, code, "{query}: {answer}");
        assert!(answer.to_string().contains(word), "{query}: {answer}");
    }
    let (status, problem) = server.get("/v2/nothing");
    assert_eq!((status, &problem["status"]), (404, &json!(404)));
    assert_eq!(
        server.get("/openapi.json").1["openapi"]
            .as_str()
            .unwrap()
            .get(..2),
        Some("3.")
    );
    assert_eq!(server.get("/healthz").0, 200);
}

#[test]
fn objects_that_are_sent_are_judged() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]);
    let (status, answer) = server.post(
        "/v2/interpret",
        r#"[{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}, 3]"#,
    );
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["verdicts"][0]["state"], "Present");
    assert_eq!(answer["verdicts"][1]["reason"], "NotAnObject");
    assert_eq!(server.post("/v2/interpret", "{").0, 400);
    assert_eq!(server.post("/v2/interpret", &" ".repeat(9 << 20)).0, 413);
}

#[test]
fn the_status_command_prints_the_answer_of_a_server() {
    let data = tempfile::tempdir().unwrap();
    fill_store(data.path());
    let server = Server::start(data.path(), &[]);
    let output = run(
        &["status", DIG, "--server", &server.url, "--type", "rsync"],
        "",
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("12 Applied"),
        "{}",
        text(&output.stdout)
    );
    let output = run(
        &["status", DIG, "--server", &server.url, "--app", "nothing"],
        "",
    );
    assert_eq!(output.status.code(), Some(1));
    let errors = text(&output.stderr);
    assert!(
        errors.contains("404") && errors.contains("packetgen"),
        "{errors}"
    );
    let output = run(&["status", "edge01"], "");
    assert!(text(&output.stderr).contains("provider+cluster"));
    let output = run(
        &["status", DIG, "--server", &server.url, "--instance", ""],
        "",
    );
    assert!(text(&output.stdout).contains(CONTEXT));
}

#[test]
fn the_status_command_shows_what_was_sent_beside_what_the_clusters_report() {
    let data = tempfile::tempdir().unwrap();
    fill_store(data.path());
    let server = Server::start(data.path(), &reports(data.path(), Monitor::V22));
    let table = |subject: &str, kind: &str| {
        let args = ["status", subject, "--server", &server.url, "--type", kind];
        let output = run(&args, "");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let row = |table: &str, name: &str| {
        let found = table.lines().find(|line| line.contains(name));
        let found = found.unwrap_or_else(|| panic!("no {name} in {table}"));
        let cells: Vec<String> = found.split_whitespace().map(str::to_owned).collect();
        cells
    };
    let both = table(DIG, "all");
    assert_eq!(row(&both, "APP")[3..6], ["NAME", "SENT", "REPORTED"]);
    let config_map = row(&both, "sink-configmap");
    assert_eq!(config_map[4..6], ["Applied", "Present"], "{both}");
    let firewall = row(&both, "fw0-firewall");
    assert_eq!(firewall[4..6], ["Applied", "Unknown"], "{both}");
    assert!(both.contains("; sent 12 Applied; reported "), "{both}");
    assert!(both.contains("as a whole: "), "{both}");

    let of_cluster = table("vfw-cluster-provider+edge01", "all");
    let network = row(&of_cluster, "protected-private-net");
    assert_eq!(network[4..6], ["Applied", "Unknown"], "{of_cluster}");

    for (kind, state) in [("rsync", "Applied"), ("cluster", "Present")] {
        let one = table(DIG, kind);
        assert_eq!(row(&one, "APP")[3..6], ["NAME", "STATE", "REASON"]);
        assert_eq!(row(&one, "sink-configmap")[4], state, "{one}");
        assert!(!one.contains("; sent ") && !one.contains("; reported "));
    }
}

#[test]
fn two_servers_do_not_share_a_store() {
    let data = tempfile::tempdir().unwrap();
    let first = Server::start(data.path(), &[]);
    let second = kindsight(&["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(data.path())
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(
        text(&second.stderr).contains("open the store"),
        "{}",
        text(&second.stderr)
    );
    assert!(first.stop());
}

#[test]
fn serve_help_fits_on_one_screen_and_names_the_first_settings() {
    for flag in ["--help", "-h"] {
        let mut serve = kindsight(&["serve", flag]);
        let help = text(&serve.env("COLUMNS", "80").output().unwrap().stdout);
        assert!(help.lines().count() <= 40, "{help}");
        assert!(
            help.lines().all(|line| line.chars().count() <= 80),
            "{help}"
        );
        for shown in ["--kubeconfig", "--tls-cert", "--roles", "--help-limits"] {
            assert!(help.contains(shown), "{shown}: {help}");
        }
        for hidden in ["--call-deadline-ms", "--etcd-ca", "-table", "[env"] {
            assert!(!help.contains(hidden), "{hidden}: {help}");
        }
    }
}

#[test]
fn a_help_flag_is_no_setting_of_the_configuration_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kindsight.toml");
    for name in ["help", "help-limits"] {
        std::fs::write(&file, format!("{name} = true\n")).unwrap();
        let output = run(&["serve", "--config", file.to_str().unwrap()], "");
        let error = text(&output.stderr);
        assert!(
            error.contains(&format!("unknown setting `{name}`")),
            "{error}"
        );
        assert!(error.contains("serve --help-limits"), "{error}");
    }
}

#[test]
fn help_limits_names_every_limit_with_its_default() {
    let help = text(&run(&["serve", "--help-limits"], "").stdout);
    for (flag, default) in [
        ("--call-deadline-ms", "50"),
        ("--memory-bytes-max", "67108864"),
        ("--memo-bytes-max", "33554432"),
        ("--parsed-bytes-max", "67108864"),
        ("--interpret-bytes-max", "8388608"),
        ("--requests-max", "256"),
    ] {
        let (_, after) = help
            .split_once(flag)
            .unwrap_or_else(|| panic!("{flag} is not there"));
        let (section, _) = after.split_once("\n\n      --").unwrap_or((after, ""));
        assert!(
            section.contains(&format!("[default: {default}]")),
            "{flag}: {section}"
        );
    }
}

#[test]
fn one_line_at_the_start_lists_what_is_served() {
    let (data, reports) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let data = data.path().to_str().unwrap();
    let cluster = cluster(reports.path());
    let mut command = kindsight(&["serve", "--listen", "127.0.0.1:0", "--data-dir", data]);
    command.args(["--cluster", &cluster, "--metrics-listen", "127.0.0.1:0"]);
    command
        .args(["--log-format", "json"])
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("start the server");
    let log = BufReader::new(child.stderr.take().expect("its log"));
    let mut lines = log.lines().map_while(Result::ok);
    let line = lines.find(|line| line.contains("serving on"));
    child.kill().and_then(|()| child.wait()).expect("a stop");
    let line: Value = serde_json::from_str(&line.expect("the line")).expect("JSON");
    let fields = &line["fields"];
    let text = |name: &str| {
        fields[name]
            .as_str()
            .unwrap_or_else(|| panic!("{name}: {line}"))
    };
    let listeners: Vec<&str> = text("listeners").split(", ").collect();
    assert_eq!(listeners.len(), 2, "{line}");
    assert!(text("message").ends_with(listeners[0]), "{line}");
    assert!(listeners[1].ends_with("/metrics"), "{line}");
    assert_eq!(text("access_control"), "none");
    assert_eq!(text("store"), format!("file in {data}"));
    assert_eq!(text("clusters"), "vfw-cluster-provider+edge01");
    assert!(text("interpreters").contains("apps@"), "{line}");
}
