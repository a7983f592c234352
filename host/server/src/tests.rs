//! Tests of a server that is started from settings, as in production.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use kindsight_appcontext::{
    AppContexts, ContextMeta, NewApp, NewCluster, NewContext, NewResource, Record, Records,
    ResourceName,
};
use kindsight_clusters::{ClusterSource, FolderCluster};
use kindsight_model::{ContextId, DigName};
use kindsight_store::{Batch, RedbStore, Store, chain};
use serde_json::json;
use tempfile::TempDir;

use super::*;

const CLUSTER: &str = "provider+edge01";

/// Settings over a store in memory and one empty folder as a cluster.
fn settings(reports: &Path) -> Settings {
    let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().unwrap());
    let cluster = FolderCluster::new(CLUSTER.parse().unwrap(), reports);
    Settings {
        cache: cache_folder(),
        clusters: vec![ClusterSource::Folder(cluster)],
        ..Settings::new(store)
    }
}

async fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let url = format!("http://{address}{path}");
    let asked = tokio::task::spawn_blocking(move || {
        let agent = ureq::Agent::config_builder().http_status_as_error(false);
        let mut answer = ureq::Agent::from(agent.build()).get(url).call().unwrap();
        let body = answer.body_mut().read_to_string().unwrap();
        (answer.status().as_u16(), body)
    });
    asked.await.unwrap()
}

fn dig() -> DigName {
    DigName::new("p", "c", "v1", "d").unwrap()
}

fn context() -> NewContext {
    NewContext {
        meta: ContextMeta::of_dig(&dig()),
        apps: vec![NewApp {
            name: "sink".to_owned(),
            clusters: vec![NewCluster {
                cluster: CLUSTER.parse().unwrap(),
                group: None,
                resources: vec![NewResource {
                    resource: ResourceName::new("settings", "ConfigMap").unwrap(),
                    manifest: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
                        .to_owned(),
                }],
            }],
        }],
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_ready_when_its_clusters_are_listed_and_follows_its_store() {
    let reports = TempDir::new().unwrap();
    let settings = settings(reports.path());
    let store = Arc::clone(&settings.store);
    let server = Server::start(settings).await.unwrap();
    server.synced().await;
    assert_eq!(get(server.address(), "/readyz").await.0, 200);

    let path = "/v2/projects/p/composite-apps/c/v1/deployment-intent-groups/d/status?type=cluster";
    let before = get(server.address(), path).await;
    assert_eq!(before.0, 404, "{}", before.1);
    let id: ContextId = "7".parse().unwrap();
    let contexts = AppContexts::new(Arc::clone(&store));
    contexts.create_as(&id, &context()).unwrap();
    let action = json!({"state": "Instantiated", "instance": "7", "time": "2026-11-22T12:00:00Z"});
    let record = Record {
        profile: None,
        actions: vec![serde_json::from_value(action).unwrap()],
    };
    Records::new(store).create(&dig(), &record).unwrap();
    let begin = std::time::Instant::now();
    let after = loop {
        let answer = get(server.address(), path).await;
        if answer.0 == 200 {
            break answer.1;
        }
        assert!(begin.elapsed().as_secs() < 60, "{}", answer.1);
        tokio::task::yield_now().await;
    };
    assert!(after.contains("settings"), "{after}");
    server.stop().await.unwrap();
}

#[test]
fn an_unreadable_file_of_last_known_state_is_set_aside_at_the_start() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("data");
    assert!(DataDir::open(&path).unwrap().remembered.is_some());
    let file = path.join("remembered.redb");
    let aside = path.join("remembered.set-aside");
    assert!(!aside.exists());
    let later = |file: &Path| {
        let store = RedbStore::open(file).unwrap();
        let mark = Batch::new().put("/kindsight/remembered/version/", r#"{"version": 99}"#);
        store.apply(&mark).unwrap();
    };
    let damaged = |file: &Path| std::fs::write(file, [7; 10_000]).unwrap();
    for spoil in [&later as &dyn Fn(&Path), &damaged] {
        spoil(&file);
        assert!(DataDir::open(&path).unwrap().remembered.is_some());
        std::fs::remove_file(&aside).unwrap();
        let again = DataDir::open(&path).unwrap();
        assert!(again.remembered.is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_taken_is_named() {
    let reports = TempDir::new().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let settings = Settings {
        listen: address,
        ..settings(reports.path())
    };
    let Err(error) = Server::start(settings).await else {
        panic!("{address} is taken");
    };
    let error = chain(&error);
    assert!(error.contains(&format!("listen on {address}")), "{error}");
}

#[test]
fn a_data_folder_is_its_owners_and_one_servers() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("data");
    let _first = DataDir::open(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let Err(error) = DataDir::open(&path) else {
        panic!("it is open");
    };
    let (error, store) = (chain(&error), path.join("store.redb"));
    let opened = format!("open the store file:{}: ", store.display());
    assert!(error.starts_with(&opened), "{error}");
}
