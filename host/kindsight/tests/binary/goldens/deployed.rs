//! The responses about a group that went through its lifecycle: with the ids and times of the response, over folder
//! clusters. Every status of a resource is the work of the lifecycle.

use std::fs;
use std::path::{Path, PathBuf};

use kindsight_api::lifecycle::{AppIntent, GroupIntent};
use kindsight_model::LifecycleState;
use kindsight_server::clusters::{ClusterSource, FolderCluster};
use kindsight_server::rest::GroupCommand;
use kindsight_server::{DataDir, Deployer, Settings};

use super::*;

/// The group that the specification describes.
fn intent() -> GroupIntent {
    let apps = VFW.iter().map(|(name, resources)| AppIntent {
        name: (*name).to_owned(),
        clusters: CLUSTERS.map(str::to_owned).to_vec(),
        any_of: Vec::new(),
        manifests: resources.iter().copied().map(manifest).collect(),
        depends_on: Vec::new(),
        resource_dependencies: Vec::new(),
    });
    GroupIntent {
        profile: Some("vfw_composite-profile".to_owned()),
        apps: apps.collect(),
        controllers: Vec::new(),
    }
}

/// Takes the group through the actions of a response, at their times and with their ids of instances.
fn deploy(data: &Path, response: &Value) {
    let mut settings = Settings::new(DataDir::open(data).unwrap().store);
    for name in CLUSTERS {
        fs::create_dir(data.join(name)).unwrap();
        let folder = FolderCluster::new(name.parse().unwrap(), data.join(name));
        settings.clusters.push(ClusterSource::Folder(folder));
    }
    let actions = actions(response);
    let instantiated = actions.iter();
    let instantiated = instantiated.filter(|action| action.state == LifecycleState::Instantiated);
    let ids: Vec<ContextId> = instantiated
        .map(|action| action.instance.clone().unwrap())
        .collect();
    let deployer = Deployer::new(&settings, &ids);
    let name = DIG.parse().unwrap();
    for Action { state, time, .. } in &actions {
        let command = match state {
            LifecycleState::Created => {
                deployer.put(&name, intent(), time).unwrap();
                continue;
            }
            LifecycleState::Approved => GroupCommand::Approve,
            LifecycleState::Instantiated => GroupCommand::Instantiate,
            LifecycleState::Terminated => GroupCommand::Terminate,
            other => panic!("{other}"),
        };
        deployer.act(&name, command, time).unwrap();
    }
}

/// The folders of manifests in a cluster.
fn sent(data: &Path, cluster: &str) -> Vec<PathBuf> {
    let folders = fs::read_dir(data.join(cluster).join("manifests")).unwrap();
    let mut folders: Vec<_> = folders.map(|folder| folder.unwrap().path()).collect();
    folders.sort();
    folders
}

#[test]
fn the_lifecycle_produces_the_specified_responses() {
    for monitor in Monitor::ALL {
        let data = tempfile::tempdir().unwrap();
        deploy(data.path(), &golden("dig-default.json"));
        // The manifests of the terminated instance are gone.
        for cluster in CLUSTERS {
            let sent = sent(data.path(), cluster);
            let expected = ["firewall", "packetgen", "sink"].map(|app| {
                let folder = data.path().join(cluster).join("manifests");
                folder.join(format!("{CONTEXT}-{app}"))
            });
            assert_eq!(sent, expected);
        }
        let clusters = reports(data.path(), monitor);
        let server = Server::start_with(data.path(), &clusters, &["--lifecycle"]);
        check_group(&server, monitor);
    }
}

#[test]
fn the_lifecycle_produces_the_specified_response_from_another_state() {
    let data = tempfile::tempdir().unwrap();
    let file = "dig-by-cluster.json";
    deploy(data.path(), &golden(file));
    let server = Server::start(data.path(), &[]);
    check(
        &server,
        &status_path("?cluster=vfw-cluster-provider%2Bedge02"),
        file,
    );
}
