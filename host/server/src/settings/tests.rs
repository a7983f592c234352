//! Tests of the checks of settings.

use kindsight_clusters::FolderCluster;
use kindsight_store::{RedbStore, chain};

use super::*;

fn settings() -> Settings {
    Settings::new(Arc::new(RedbStore::in_memory().unwrap()))
}

#[test]
fn a_cluster_that_is_given_twice_is_refused_with_both_sources() {
    let cluster = |folder: &str| {
        let name = "provider+edge01".parse().unwrap();
        ClusterSource::Folder(FolderCluster::new(name, folder))
    };
    let mut settings = settings();
    settings.clusters = vec![cluster("/a"), cluster("/b")];
    let error = chain(&settings.check().unwrap_err());
    for part in ["provider+edge01", "/a", "/b"] {
        assert!(error.contains(part), "{error}");
    }
    settings.clusters.pop();
    settings.check().unwrap();
}

#[test]
fn an_address_that_other_machines_reach_needs_tls_and_access_control() {
    let check = |listen: &str, no_tls, no_auth| {
        let mut settings = settings();
        settings.listen = listen.parse().unwrap();
        settings.insecure = Insecure { no_tls, no_auth };
        settings.check().map_err(|error| chain(&error))
    };
    for listen in ["127.0.0.1:0", "127.9.9.9:0", "[::1]:0"] {
        check(listen, false, false).unwrap();
    }
    for listen in ["0.0.0.0:0", "[::]:0", "10.0.0.1:0"] {
        let error = check(listen, false, true).unwrap_err();
        assert!(error.contains("--insecure-no-tls"), "{error}");
        let error = check(listen, true, false).unwrap_err();
        assert!(error.contains("--insecure-no-auth"), "{error}");
        check(listen, true, true).unwrap();
    }
}

#[test]
fn a_lifecycle_without_access_control_needs_loopback_addresses() {
    let mut settings = settings();
    settings.lifecycle = true;
    settings.check().unwrap();
    settings.metrics.listen = "0.0.0.0:0".parse().ok();
    let error = chain(&settings.check().unwrap_err());
    assert!(error.contains("--lifecycle"), "{error}");
    settings.metrics.listen = None;
    settings.listen = "0.0.0.0:0".parse().unwrap();
    settings.insecure = Insecure {
        no_tls: true,
        no_auth: true,
    };
    let error = chain(&settings.check().unwrap_err());
    assert!(error.contains("--lifecycle"), "{error}");
}

#[test]
fn the_server_of_rsync_needs_the_lifecycle_its_own_store_and_certificates_or_loopback() {
    let refused = |change: fn(&mut Settings), part: &str| {
        let mut settings = settings();
        settings.lifecycle = true;
        settings.rsync_listen = "127.0.0.1:0".parse().ok();
        settings.check().unwrap();
        change(&mut settings);
        let error = chain(&settings.check().unwrap_err());
        assert!(error.contains(part), "{error}");
    };
    refused(|settings| settings.lifecycle = false, "--lifecycle");
    refused(
        |settings| settings.contexts = Arc::new(RedbStore::in_memory().unwrap()),
        "--observe",
    );
    refused(
        |settings| settings.rsync_listen = "0.0.0.0:0".parse().ok(),
        "tls-client-ca",
    );
}

#[test]
fn the_server_of_notifications_needs_certificates_or_loopback() {
    let mut settings = settings();
    settings.status_notify_listen = "127.0.0.1:0".parse().ok();
    settings.check().unwrap();
    settings.status_notify_listen = "0.0.0.0:0".parse().ok();
    let error = chain(&settings.check().unwrap_err());
    assert!(error.contains("--status-notify-listen"), "{error}");
    assert!(error.contains("tls-client-ca"), "{error}");
}

#[test]
fn a_limit_of_zero_is_refused_with_its_name() {
    let check = |change: fn(&mut Settings), name: &str| {
        let mut settings = settings();
        change(&mut settings);
        let error = chain(&settings.check().unwrap_err());
        assert!(error.contains(&format!("`{name}` is 0")), "{error}");
    };
    check(
        |settings| settings.rest_limits.connections_max = 0,
        "connections-max",
    );
    check(
        |settings| settings.interpreter_limits.queue_max = 0,
        "queue-max",
    );
    check(
        |settings| settings.rest_limits.idle_max = Duration::ZERO,
        "connection-idle-seconds-max",
    );
}
