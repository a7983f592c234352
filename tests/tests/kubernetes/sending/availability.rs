//! API servers that do not answer, start again, or do not accept credentials.

use kindsight_cluster::Credentials;
use serde_json::json;

use super::{NAMESPACE, Sent, Stage, config_map, refused, sender, unreachable};

#[test]
fn an_api_server_that_was_killed_is_used_again() {
    let Some(mut stage) = Stage::without_controllers() else {
        return;
    };
    let map = config_map("front", "blue");
    let uid = stage.apply(&map).unwrap();
    stage.cluster.kill();
    for why in [
        unreachable(stage.vet(&map)),
        unreachable(stage.apply(&map)),
        unreachable(stage.preview(&map).map(drop)),
        unreachable(stage.delete(&map)),
    ] {
        assert!(!why.is_empty());
    }
    std::thread::scope(|scope| {
        // Requests during the start get no refusal.
        let (cluster, sender, runtime) = (&mut stage.cluster, &stage.sender, &stage.runtime);
        let starting = scope.spawn(|| cluster.start_again());
        let deployment = "7-front".parse().unwrap();
        let rights = kindsight_clusters::ProjectRights::default();
        let manifest = map.manifest.to_string();
        while !starting.is_finished() {
            let object = kindsight_clusters::SentObject {
                manifest: &manifest,
                deployment: &deployment,
                rights: &rights,
                uid: None,
                force: false,
            };
            let applied = runtime.block_on(sender.apply(&object));
            let is_refused = matches!(applied, Err(kindsight_clusters::ObjectError::Refused(_)));
            assert!(!is_refused, "{applied:?}");
        }
        starting.join().unwrap();
    });
    assert_eq!(stage.apply_eventually(&map), uid);
}

#[test]
fn credentials_that_are_not_accepted_are_read_again() {
    let Some(mut stage) = Stage::without_controllers() else {
        return;
    };
    let map = config_map("front", "blue");
    let wrong = Credentials::Token("wrong".to_owned());
    stage.sender = sender(&stage.cluster, &wrong);
    let why = unreachable(stage.apply(&map));
    assert!(why.contains("credentials"), "{why}");
    // The same file gets other credentials.
    drop(sender(&stage.cluster, stage.cluster.admin()));
    stage.apply(&map).unwrap();
}

#[test]
fn a_kubeconfig_that_impersonates_does_not_replace_the_account_of_a_project() {
    let Some(mut stage) = Stage::without_controllers() else {
        return;
    };
    let file = stage.cluster.folder().join("sender.kubeconfig");
    let kubeconfig = std::fs::read_to_string(&file).unwrap();
    let mut kubeconfig: serde_json::Value = serde_json::from_str(&kubeconfig).unwrap();
    kubeconfig["users"][0]["user"]["as"] = "kubernetes-admin".into();
    kubeconfig["users"][0]["user"]["as-groups"] = json!(["system:masters"]);
    std::fs::write(&file, kubeconfig.to_string()).unwrap();
    let name = "lab+edge01".parse().unwrap();
    let cluster = kindsight_clusters::KubernetesCluster::from_kubeconfig(name, file, None);
    stage.sender = kindsight_clusters::ObjectSender::new(cluster);
    let role = Sent::new(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": "front", "namespace": NAMESPACE}, "rules": [],
    }));
    let why = refused(stage.apply(&role.by_account("shop")));
    assert!(why.contains("the kubeconfig impersonates a user"), "{why}");
    stage.apply(&config_map("front", "blue")).unwrap();
}
