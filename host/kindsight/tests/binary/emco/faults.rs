//! Faults of etcd: it is killed, hangs, compacts its history or loses a member. Answers remain true, and no state is
//! lost.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use kindsight_cluster::{Binaries, Binary, Etcd, Proxy};
use serde_json::{Value, json};

use super::laid::{Generation, Laid};
use super::stage::{etcd, lines, observe, status_of, wait};
use crate::process::Server;

const DIG: &str = "p/ca/v1/dig";
const EDGE: &str = "provider+edge01";
/// Number of ConfigMaps of the group.
const RESOURCES: usize = 5;
/// Environment variable that enables the test with an etcd of three members.
const MEMBERS: &str = "KINDSIGHT_ETCD_MEMBERS";
/// Time for which etcd hangs.
const HANGS: Duration = Duration::from_secs(30);

fn names() -> Vec<String> {
    (0..RESOURCES)
        .map(|number| format!("settings{number}"))
        .collect()
}

fn group() -> Laid {
    let names = names();
    let resources: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), "ConfigMap", "v1"))
        .collect();
    let mut laid = Laid::new(Generation::V22, "7", DIG);
    laid.cluster("app", EDGE, &resources);
    laid.ordered().status("Instantiated").rsync("Applied");
    laid
}

fn status_key(resource: &str) -> String {
    format!("/context/7/app/app/cluster/{EDGE}/resource/{resource}+ConfigMap/status/")
}

fn failed(count: usize) -> impl Fn(&Value) -> bool {
    move |answer| answer["rsync-status"]["Failed"] == json!(count)
}

/// Checks that the answer has the same lines as before, and reports that the store is away.
fn assert_store_is_away(server: &Server, before: &[String]) {
    let answer = wait(server, &status_of(DIG), |answer| !answer["store"].is_null());
    assert_eq!(lines(&answer), before, "{answer:#}");
    let (code, list) = server.get("/v2/applications");
    assert_eq!(code, 200);
    assert!(!list["store"].is_null(), "{list:#}");
}

/// Waits until the answer no longer reports the store as away, and `is_so` holds.
fn wait_for_store(server: &Server, is_so: impl Fn(&Value) -> bool) {
    wait(server, &status_of(DIG), |answer| {
        answer["store"].is_null() && is_so(answer)
    });
}

#[test]
fn a_killed_and_restarted_etcd_changes_no_answer() {
    let Some(mut etcd) = etcd() else { return };
    let keys = etcd.keys();
    keys.put_all(&group().keys);
    let data = tempfile::tempdir().unwrap();
    let server = observe(&etcd, data.path());
    let before = lines(&server.get(&status_of(DIG)).1);
    let history = format!("{}/history", status_of(DIG).trim_end_matches("/status"));
    let told = server.get(&history).1["transitions"].clone();
    for turn in 1..=3 {
        etcd.kill();
        assert_store_is_away(&server, &before);
        etcd.start_again();
        wait_for_store(&server, |answer| lines(answer) == before);
        assert_eq!(server.get(&history).1["transitions"], told, "turn {turn}");
    }
    keys.put(&status_key("settings0"), r#"{"Status":"Failed"}"#);
    wait_for_store(&server, failed(1));
}

#[test]
fn an_etcd_that_hangs_is_reported_and_followed_again() {
    let Some(mut etcd) = etcd() else { return };
    let keys = etcd.keys();
    keys.put_all(&group().keys);
    let data = tempfile::tempdir().unwrap();
    let server = observe(&etcd, data.path());
    let before = lines(&server.get(&status_of(DIG)).1);
    etcd.pause();
    let began = std::time::Instant::now();
    assert_store_is_away(&server, &before);
    std::thread::sleep(HANGS.saturating_sub(began.elapsed()));
    assert_store_is_away(&server, &before);
    etcd.resume();
    wait_for_store(&server, |answer| lines(answer) == before);
    keys.put(&status_key("settings0"), r#"{"Status":"Failed"}"#);
    wait_for_store(&server, failed(1));
}

#[test]
fn changes_lost_by_a_compaction_are_read_again() {
    let Some(etcd) = etcd() else { return };
    let keys = etcd.keys();
    keys.put_all(&group().keys);
    let proxy = Proxy::before(etcd.url());
    let data = tempfile::tempdir().unwrap();
    let address = format!("etcd://{}", proxy.address());
    let server = Server::start_with(data.path(), &[], &["--observe", "--store", &address]);
    let before = lines(&server.get(&status_of(DIG)).1);
    proxy.close();
    assert_store_is_away(&server, &before);
    for (count, name) in names().iter().enumerate() {
        keys.put(&status_key(name), r#"{"Status":"Retrying"}"#);
        keys.put(&status_key(name), r#"{"Status":"Failed"}"#);
        if count == 3 {
            keys.compact();
        }
    }
    let mut other = Laid::new(Generation::Onap, "8", "p/ca/v1/other");
    other.cluster("app", EDGE, &[("settings", "ConfigMap", "v1")]);
    other.ordered().status("Instantiated").rsync("Applied");
    keys.put_all(&other.keys);
    keys.compact();
    proxy.open();
    wait_for_store(&server, failed(RESOURCES));
    wait(&server, &status_of("p/ca/v1/other"), |answer| {
        answer["status"] == "Instantiated"
    });
    keys.delete_under("/context/8/");
    let path = status_of("p/ca/v1/other");
    while server.get(&path).0 == 200 {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_loss_of_one_of_three_members_is_no_outage() {
    if std::env::var_os(MEMBERS).is_none() {
        println!("not run: an etcd of three members is started where {MEMBERS} is set");
        return;
    }
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let mut members = Etcd::start_three(&binaries);
    members[0].keys().put_all(&group().keys);
    let hosts = members
        .each_ref()
        .map(|member| member.url().trim_start_matches("http://"));
    let address = format!("etcd://{}", hosts.join(","));
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_with(data.path(), &[], &["--observe", "--store", &address]);
    let before = lines(&server.get(&status_of(DIG)).1);
    for lost in 0..members.len() {
        let other = members[(lost + 1) % members.len()].keys();
        members[lost].kill();
        let name = status_key(&names()[lost]);
        // The other members accept no write until they have elected a leader.
        while std::panic::catch_unwind(AssertUnwindSafe(|| {
            other.put(&name, r#"{"Status":"Failed"}"#);
        }))
        .is_err()
        {}
        let answer = wait(&server, &status_of(DIG), failed(lost + 1));
        assert_eq!(lines(&answer).len(), before.len());
        members[lost].start_again();
    }
}
