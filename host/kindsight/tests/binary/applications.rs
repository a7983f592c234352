//! `kindsight applications`, `kindsight clusters`, and names as short as they are unique.

use std::path::Path;
use std::process::Output;
use std::sync::Arc;

use kindsight_appcontext::{Record, Records};
use kindsight_model::DigName;
use kindsight_store::RedbStore;
use serde_json::Value;

use crate::goldens::{DIG, fill_store};
use crate::process::{Server, run, text};

/// A second group of the same composite application, which was never instantiated.
fn add_group(data: &Path) {
    let store = RedbStore::open(&data.join("store.redb")).unwrap();
    let name = DigName::new("testvfw", "compositevfw", "v2", "planned").unwrap();
    let record = Record {
        profile: None,
        actions: Vec::new(),
    };
    let records = Records::new(Arc::new(store));
    records.create(&name, &record).unwrap();
}

fn ask(server: &Server, args: &[&str]) -> Output {
    run(&[args, &["--server", &server.url]].concat(), "")
}

#[test]
fn applications_and_clusters_are_listed_and_short_names_resolved() {
    let (data, reports) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill_store(data.path());
    add_group(data.path());
    let cluster = format!("vfw-cluster-provider+edge01={}", reports.path().display());
    let server = Server::start(data.path(), &[cluster]);

    let table = text(&ask(&server, &["applications"]).stdout);
    let line = |of: &str| table.lines().find(|line| line.starts_with(of)).unwrap();
    assert!(line("APPLICATION").contains("STATE"), "{table}");
    assert!(line(DIG).contains(" Unknown "), "{table}");
    let planned = line("testvfw/compositevfw/v2/planned");
    assert!(planned.ends_with("it was never instantiated"), "{table}");
    let json = text(&ask(&server, &["applications", "planned", "-o", "json"]).stdout);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["applications"][0]["name"], "planned");
    assert_eq!(json["applications"].as_array().unwrap().len(), 1);
    let refused = ask(&server, &["applications", "--state", "well"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("`failed`"), "{refused:?}");

    let table = text(&ask(&server, &["clusters"]).stdout);
    let line = table.lines().nth(1).unwrap();
    assert!(
        line.starts_with("vfw-cluster-provider+edge01  connected"),
        "{table}"
    );
    let json = text(&ask(&server, &["clusters", "-o", "json"]).stdout);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["clusters"][0]["connection"], "connected");

    let whole = ask(&server, &["status", DIG]);
    for short in [
        "vfw_deployment_intent_group",
        "compositevfw/vfw_deployment_intent_group",
    ] {
        let answer = ask(&server, &["status", short]);
        assert_eq!(answer.status.code(), Some(0), "{answer:?}");
        assert_eq!(text(&answer.stdout), text(&whole.stdout));
    }
    let in_cluster = |name: &str| ask(&server, &["status", DIG, "--cluster", name]);
    let short = in_cluster("edge01");
    assert_eq!(short.status.code(), Some(0), "{short:?}");
    let full = in_cluster("vfw-cluster-provider+edge01");
    assert_eq!(text(&short.stdout), text(&full.stdout));
    let unknown = in_cluster("edge99");
    assert_eq!(unknown.status.code(), Some(1));
    assert!(
        text(&unknown.stderr).contains("no cluster `edge99`"),
        "{unknown:?}"
    );
    let ambiguous = ask(&server, &["status", "compositevfw"]);
    assert_eq!(ambiguous.status.code(), Some(2));
    let told = text(&ambiguous.stderr);
    for name in [DIG, "testvfw/compositevfw/v2/planned"] {
        assert!(told.contains(name), "{told}");
    }
    let unknown = ask(&server, &["status", "plant"]);
    assert_eq!(unknown.status.code(), Some(1));
    let told = text(&unknown.stderr);
    assert!(
        told.contains("one of `testvfw/compositevfw/v2/planned`"),
        "{told}"
    );
}
