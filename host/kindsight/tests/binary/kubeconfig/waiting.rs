//! `kindsight status --wait` for an application that was found on a real API server.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use kindsight_cluster::{Binaries, Binary, Cluster, Etcd, Options, write_kubeconfig};

use super::{config_map, wait_for_shop};
use crate::process::{Server, kindsight};

/// Deletes the objects of the application while a command waits for its end.
fn deleted_while_waiting(gone_for: &str) {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let cluster = Cluster::start(&etcd, &Options::api_server("one"));
    let objects = ["one", "two"].map(config_map);
    for object in &objects {
        cluster.apply(object);
    }
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("kubeconfig");
    write_kubeconfig(&file, &[("a", &cluster, cluster.admin())]);
    let kubeconfig = format!("--kubeconfig={}", file.display());
    let server = Server::start_with(data.path(), &[], &[&kubeconfig, "--gone-for", gone_for]);
    wait_for_shop(
        &server,
        &["kubeconfig+a one Present", "kubeconfig+a two Present"],
    );

    let mut command = kindsight(&["status", "shop", "--server", &server.url]);
    command.args(["--wait", "--for", "terminated", "--timeout", "2m"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut read = |told: &str| lines.any(|line| line.unwrap().contains(told));
    assert!(read("ConfigMap one of "));
    let [one, two] = objects.map(|object| cluster.client().path(&object));
    assert!(cluster.delete(&one));
    assert!(read("ConfigMap two of "));
    assert!(cluster.delete(&two));
    assert!(read("shop is terminated"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_deleted_application_is_terminated_while_its_objects_are_listed_as_gone() {
    deleted_while_waiting("10m");
}

#[test]
fn a_deleted_application_is_terminated_although_the_server_removes_it_at_once() {
    deleted_while_waiting("0s");
}
