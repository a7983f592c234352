//! Started processes are always stopped.

use std::env;
use std::io::{BufRead, BufReader};
use std::panic;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kindsight_cluster::{Cluster, Etcd, Options};

use crate::{STEP_MAX, api_server_binaries, is_running};

/// Set for the child that is killed.
const CHILD: &str = "KINDSIGHT_CLUSTER_TEST_CHILD";

fn started() -> Option<(Etcd, Cluster, Vec<u32>)> {
    let etcd = Etcd::start(&api_server_binaries()?);
    let cluster = Cluster::start(&etcd, &Options::api_server("edge01"));
    let ids = cluster.process_ids().into_iter().chain(etcd.process_id());
    let ids: Vec<u32> = ids.collect();
    assert!(ids.len() == 2 && ids.iter().all(|id| is_running(*id)));
    Some((etcd, cluster, ids))
}

#[test]
fn processes_and_files_are_gone_after_drop() {
    let Some((etcd, cluster, ids)) = started() else {
        return;
    };
    let folder = cluster.folder().to_owned();
    drop((cluster, etcd));
    assert!(!ids.iter().any(|id| is_running(*id)));
    assert!(!folder.exists());
}

#[test]
fn processes_are_gone_after_a_panic_even_if_they_were_paused() {
    let Some((etcd, mut cluster, ids)) = started() else {
        return;
    };
    cluster.pause();
    let unwound = panic::catch_unwind(panic::AssertUnwindSafe(move || {
        let _owned = (etcd, cluster);
        panic::resume_unwind(Box::new("a test that fails"));
    }));
    assert!(unwound.is_err());
    assert!(!ids.iter().any(|id| is_running(*id)));
}

#[test]
fn processes_and_files_are_gone_after_the_test_process_is_killed() {
    if api_server_binaries().is_none() {
        return;
    }
    let name = "lifetime::a_child_starts_a_cluster_and_waits_to_be_killed";
    let mut child = Command::new(env::current_exe().expect("this executable"))
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env(CHILD, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let output = BufReader::new(child.stdout.take().expect("its output"));
    let mut lines = output.lines().map_while(Result::ok);
    let line = lines.find_map(|line| Some(line.split_once("started ")?.1.to_owned()));
    child.kill().expect("a child that runs");
    child.wait().expect("its end");
    let line = line.expect("a child that started its cluster");
    let (folder, ids) = line.split_once(' ').expect("a folder and ids");
    let ids: Vec<u32> = ids
        .split(' ')
        .map(|id| id.parse().expect("an id"))
        .collect();
    let folder = std::path::Path::new(folder);
    let begin = Instant::now();
    while folder.exists() || ids.iter().any(|id| is_running(*id)) {
        assert!(begin.elapsed() < STEP_MAX, "{line} still exist");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[ignore = "part of another test, which kills it"]
fn a_child_starts_a_cluster_and_waits_to_be_killed() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    let Some((_etcd, cluster, ids)) = started() else {
        return;
    };
    let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
    println!("started {} {}", cluster.folder().display(), ids.join(" "));
    thread::sleep(STEP_MAX);
}
