//! A host that is set to EMCO's newer dialect: its clients, and the command line.

use std::process::Output;

use serde_json::Value;

use crate::goldens::{fill_store, reports, status_path};
use crate::monitor::Monitor;
use crate::process::{Server, run, text};

const GROUP: &str = "vfw_deployment_intent_group";

fn ask(server: &Server, args: &[&str]) -> Output {
    run(&[args, &["--server", &server.url]].concat(), "")
}

#[test]
fn emcos_clients_and_the_command_line_read_the_same_host() {
    let data = tempfile::tempdir().unwrap();
    fill_store(data.path());
    let config = data.path().join("kindsight.toml");
    std::fs::write(&config, "dialect = \"v22\"\n").unwrap();
    let config = config.to_str().unwrap();
    let server = Server::start_with(
        data.path(),
        &reports(data.path(), Monitor::V22),
        &["--config", config],
    );

    let (status, answer) = server.get(&status_path("?app=sink&resource=sink-configmap"));
    assert_eq!(
        (status, &answer["rsyncStatus"]["Applied"]),
        (200, &2.into())
    );
    let (_, answer) = server.get(&status_path(
        "?status=ready&app=sink&resource=sink-configmap",
    ));
    assert_eq!(
        (&answer["readyStatus"], &answer["readyCounts"]["Ready"]),
        (&"Ready".into(), &2.into())
    );
    let at = |index: usize| &answer["apps"][0]["clusters"][index]["connectivity"];
    assert_eq!([at(0), at(1)], ["Available"; 2]);

    let shown = ask(&server, &["status", GROUP, "--app", "sink"]);
    assert_eq!(shown.status.code(), Some(0), "{shown:?}");
    assert!(text(&shown.stdout).contains("sink-configmap"), "{shown:?}");
    let json = text(&ask(&server, &["status", GROUP, "-o", "json"]).stdout);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(json["cluster-status"].is_object(), "{json}");
    let applications = ask(&server, &["applications", GROUP]);
    assert!(
        text(&applications.stdout).contains(GROUP),
        "{applications:?}"
    );
    // The command line prints a refusal with the text of the problem document.
    let refused = ask(&server, &["status", GROUP, "--app", "nobody"]);
    assert!(
        text(&refused.stderr).contains("one of `firewall`"),
        "{refused:?}"
    );
}

#[test]
fn an_unknown_dialect_is_refused_with_the_known_ones() {
    let refused = run(&["serve", "--dialect", "v23"], "");
    assert_eq!(refused.status.code(), Some(2));
    let told = text(&refused.stderr);
    assert!(
        told.contains("specification") && told.contains("v22"),
        "{told}"
    );
}
