//! Pods that are being deleted, from the index of a cluster to the answer.

use std::sync::Arc;

use kindsight_cluster_index::{
    ApiKind, Body, ClusterIndex, Decoded, Labels, MembershipRules, ScopeId,
};
use kindsight_clusters::ClusterEvent;
use kindsight_contract::Tree;
use kindsight_model::{Coverage, Gvk, KindCoverage, KindState, Object, Removal};
use kindsight_status::ApplicationKey;
use serde_json::{Value, json};

use super::reports::{shop, stage};
use crate::Event;
use crate::tests::stage::Stage;

/// Deletion time of the Pod: 2026-11-23T17:00:00Z.
const DUE_MS: i64 = 1_795_453_200_000;
/// The time at which the verdict begins to name a cause.
const DELAYED_MS: i64 = DUE_MS + 600_000;

/// A cluster with Pods and Nodes, and a pipeline that receives its reports.
struct Cluster {
    stage: Stage,
    index: ClusterIndex,
    pods: ScopeId,
    nodes: ScopeId,
}

impl Cluster {
    fn new() -> Self {
        let mut stage = stage();
        stage.publish(&["generic", "core"]);
        stage.follow(0);
        let mut index = ClusterIndex::default();
        index.set_rules(Arc::clone(&stage.pipeline.needs().related.borrow()));
        let mut watch = |kind: &str, is_namespaced: bool| {
            let kind = ApiKind {
                gvk: Gvk::new("", "v1", kind),
                plural: kind.to_lowercase(),
                is_namespaced,
            };
            let scope = index.watch(&Arc::new(kind), None, &Labels::None);
            index.set_coverage(scope, KindCoverage::new(KindState::Complete), true);
            scope
        };
        let (pods, nodes) = (watch("Pod", true), watch("Node", false));
        Self {
            stage,
            index,
            pods,
            nodes,
        }
    }

    /// The cluster reports at a time. Returns state, reason and message of the Pod.
    fn report(&mut self, now_ms: i64) -> String {
        let reports = self.index.take_reports(&Coverage::default());
        let event = ClusterEvent::Reports {
            cluster: "p+a".parse().unwrap(),
            reports,
            missing: Vec::new(),
        };
        self.stage.pipeline.handle(Event::Cluster(event), now_ms);
        self.recheck(now_ms)
    }

    /// State, reason and message of the Pod at a time.
    fn recheck(&mut self, now_ms: i64) -> String {
        self.stage.pipeline.recheck(|| now_ms);
        let key = ApplicationKey::Found(shop());
        let view = self.stage.read_model.application(&key).unwrap();
        let resources = view.apps[0].clusters()[0].resources();
        let verdict = &resources.iter().next().unwrap().verdict;
        format!("{} {}: {}", verdict.state, verdict.reason, verdict.message)
    }
}

/// An object as connections decode it: Nodes without their content.
fn decoded(kind: &str, object: &Value) -> Decoded {
    let gvk = Gvk::new("", "v1", kind);
    let text = object.to_string();
    let tree = Tree::read(&text).unwrap();
    let body = match kind {
        "Node" => Body::NotAsked,
        _ => Body::Whole(Object::from_json_as(text.clone(), &gvk).unwrap()),
    };
    let rules = MembershipRules::default();
    Decoded::read(
        &gvk,
        tree.document(&text).root(),
        &rules,
        &Labels::None,
        body,
    )
}

#[test]
fn a_pod_names_its_node_after_ten_minutes_and_whether_the_node_exists() {
    let node = || decoded("Node", &json!({"metadata": {"name": "worker"}}));
    let pod = json!({
        "metadata": {
            "name": "front", "namespace": "web", "uid": "uid-pod",
            "labels": {"app.kubernetes.io/instance": "shop"},
            "deletionTimestamp": "2026-11-23T17:00:00Z",
        },
        "spec": {"nodeName": "worker"},
        "status": {"phase": "Running"},
    });
    let mut cluster = Cluster::new();
    let (pods, nodes) = (cluster.pods, cluster.nodes);
    cluster.index.apply(nodes, node());
    cluster.index.apply(pods, decoded("Pod", &pod));
    let early = "Terminating Deleting: being deleted";
    assert_eq!(cluster.report(DUE_MS), early);
    assert_eq!(cluster.recheck(DELAYED_MS - 1), early);
    let waits = "Terminating NotConfirmedByKubelet: its deletion is delayed for more than ten minutes: the kubelet of its Node worker has not confirmed that its containers have ended";
    assert_eq!(cluster.recheck(DELAYED_MS), waits);
    // The Node is deleted. Then the permission to list Nodes is withdrawn, and granted again.
    cluster.index.delete(nodes, &node(), Removal::Deleted);
    let gone = "Terminating NodeNotFound: its deletion is delayed for more than ten minutes: its Node worker does not exist, so no kubelet confirms the deletion; `kubectl delete pod --force` deletes the Pod";
    assert_eq!(cluster.report(DELAYED_MS), gone);
    let forbidden = KindCoverage::new(KindState::Forbidden);
    cluster.index.set_coverage(nodes, forbidden, false);
    assert_eq!(cluster.report(DELAYED_MS), waits);
    let complete = KindCoverage::new(KindState::Complete);
    cluster.index.set_coverage(nodes, complete, true);
    assert_eq!(cluster.report(DELAYED_MS), gone);
}
