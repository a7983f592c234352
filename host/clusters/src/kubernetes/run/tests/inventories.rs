//! Inventories of one cluster that list resources of another one.

use super::*;

/// An API server with an Argo CD Application that lists two Services of the cluster with this address.
fn hub(address: &str) -> Api {
    let service =
        |name: &str| json!({"version": "v1", "kind": "Service", "namespace": "web", "name": name});
    let application = json!({
        "metadata": {"namespace": "argocd", "name": "shop", "uid": "shop", "resourceVersion": "5"},
        "spec": {"destination": {"server": address}},
        "status": {"resources": [service("front"), service("gone")]},
    });
    Api::new(move |target| {
        if target == "/apis" {
            let kind = json!({"resource": "applications", "responseKind": {"kind": "Application"},
                "scope": "Namespaced", "verbs": ["list", "watch"]});
            let version = json!({"version": "v1alpha1", "resources": [kind]});
            let group = json!({"metadata": {"name": "argoproj.io"}, "versions": [version]});
            return Some(Answer::Json(200, json!({"items": [group]})));
        }
        let path = target.strip_prefix("/apis/argoproj.io/v1alpha1/")?;
        let lists = ["applications?limit", "namespaces/argocd/applications?"];
        let is_list = lists.iter().any(|list| path.starts_with(list));
        is_list.then(|| Answer::Json(200, list(std::slice::from_ref(&application))))
    })
}

fn named(name: &str) -> impl FnOnce(KubernetesCluster) -> KubernetesCluster {
    let name = name.parse().unwrap();
    |cluster| KubernetesCluster { name, ..cluster }
}

impl Source {
    /// The next missing resources: the application, and the names of the resources.
    async fn next_missing(&mut self) -> String {
        loop {
            if let ClusterEvent::Reports { missing, .. } = self.events.recv().await.unwrap()
                && let Some(missing) = missing.first()
            {
                let names: Vec<&str> = missing.resources.iter().map(|it| &*it.name).collect();
                return format!("{}: {}", missing.application, names.join(" "));
            }
        }
    }
}

#[tokio::test]
async fn the_source_of_a_cluster_receives_the_inventories_of_others_while_they_run() {
    let edge = Api::new(|target| {
        let is_front = is_list_of_services(target) || is_part_of_services(target);
        is_front.then(front)
    });
    let hub = hub(&edge.url);
    let needs = Needs::default();
    let mut edge = Source::begin_as(&edge, needs.clone(), named("p+edge"));
    let hub = Source::begin_as(&hub, needs, named("p+hub"));
    assert_eq!(edge.next_missing().await, "-/shop/-/-: gone");
    drop(hub);
    assert_eq!(edge.next_missing().await, "-/shop/-/-: ");
}
