//! The newer dialect of the status API, over HTTP: answers that were derived from the source of emco-base v22.09 by
//! hand, each with its place named in its file, from contexts laid down key by key.

mod golden;
mod scene;

use super::stage::{etcd, observe};

#[test]
fn every_answer_is_the_one_that_clients_of_v22_expect() {
    let Some(etcd) = etcd() else { return };
    scene::lay(&etcd.keys());
    let data = tempfile::tempdir().unwrap();
    let server = observe(&etcd, data.path());
    let wrong: Vec<String> = golden::all()
        .iter()
        .filter_map(|golden| golden.check(&server.url, golden.accept()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_server_set_to_the_newer_dialect_uses_it_without_a_header() {
    let Some(etcd) = etcd() else { return };
    scene::lay(&etcd.keys());
    let data = tempfile::tempdir().unwrap();
    let server = crate::process::Server::start_with(
        data.path(),
        &[],
        &[
            "--observe",
            "--store",
            &super::stage::address(&etcd),
            "--dialect",
            "v22",
        ],
    );
    let wrong: Vec<String> = golden::all()
        .iter()
        .filter_map(|golden| golden.check(&server.url, None))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
