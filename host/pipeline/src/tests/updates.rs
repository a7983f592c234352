//! Reports with later versions of the same objects: only these objects, and those that are related to them, are
//! judged and projected.

use kindsight_model::Object;
use kindsight_status::ApplicationKey;
use serde_json::{Value, json};

use super::found::{self, deployment, has, shop};
use super::stage::Stage;

/// A Deployment that owns a ReplicaSet, which owns two Pods, and a Service that selects them. Each state changes one
/// of them.
fn objects(states: [usize; 4]) -> Vec<Object> {
    let [deployment, replica_set, first, second] = states;
    let metadata = |name: &str, owner: Option<(&str, &str)>| {
        let mut metadata = json!({"name": name, "namespace": "web", "uid": format!("uid-{name}"), "generation": 1,
            "labels": {"app": "front"}});
        if let Some((kind, name)) = owner {
            let uid = format!("uid-{name}");
            metadata["ownerReferences"] = json!([{"kind": kind, "name": name, "uid": uid}]);
        }
        metadata
    };
    let pod = |name: &str, state: usize| {
        let is_ready = if state == 0 { "True" } else { "False" };
        let waiting = match state {
            0 => json!({"running": {}}),
            1 => json!({"waiting": {"reason": "ContainerCreating"}}),
            _ => json!({"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}),
        };
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata(name, Some(("ReplicaSet", "front-1"))),
            "spec": {"containers": [{"name": "web"}]},
            "status": {"phase": if state == 0 { "Running" } else { "Pending" },
                "conditions": [{"type": "Ready", "status": is_ready}],
                "containerStatuses": [{"name": "web", "ready": state == 0, "state": waiting}]}})
    };
    let workload = |kind: &str, name: &str, owner, ready: usize| {
        json!({"apiVersion": "apps/v1", "kind": kind, "metadata": metadata(name, owner),
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "front"}}},
            "status": {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": ready,
                "availableReplicas": ready}})
    };
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata("front", None),
        "spec": {"selector": {"app": "front"}, "ports": [{"port": 80}]}});
    let all = [
        workload("Deployment", "front", None, deployment),
        workload(
            "ReplicaSet",
            "front-1",
            Some(("Deployment", "front")),
            replica_set,
        ),
        pod("front-1-a", first),
        pod("front-1-b", second),
        service,
    ];
    let read = |object: &Value| Object::from_json(object.to_string()).unwrap();
    all.iter().map(read).collect()
}

/// A stage with the interpreters of all these Kinds, which the pipeline has taken.
fn new_stage() -> Stage {
    let mut stage = found::stage();
    stage.publish(&["generic", "core", "apps"]);
    stage.follow(0);
    stage
}

/// Addresses of the rows of the application.
fn rows(stage: &Stage) -> Vec<usize> {
    let key = ApplicationKey::Found(shop());
    let view = stage.read_model.application(&key).unwrap();
    let clusters = view.clusters();
    let rows = clusters.flat_map(|view| view.resources().iter());
    rows.map(|row| std::ptr::from_ref(row) as usize).collect()
}

#[test]
fn a_changed_object_replaces_its_own_row_alone() {
    let many = |ready: usize| {
        let others = (0..100).map(|at| deployment(&format!("d-{at}")));
        let changed = objects([ready, 2, 0, 0]).swap_remove(0);
        let objects: Vec<Object> = others.chain([changed]).collect();
        has("p+c", "front", objects)
    };
    let mut stage = new_stage();
    stage.tell(many(2), 1000);
    let before = rows(&stage);
    stage.tell(many(0), 2000);
    let after = rows(&stage);
    let changed = before
        .iter()
        .zip(&after)
        .filter(|(before, after)| before != after);
    assert_eq!((before.len(), changed.count()), (101, 1));
}

#[test]
fn the_verdicts_after_many_updates_are_those_of_the_last_report_alone() {
    let mut stage = new_stage();
    let mut states = [2, 2, 0, 0];
    let mut random = 7_u64;
    for step in 0..120 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let (which, state) = ((random >> 33) % 4, (random >> 40) % 3);
        states[usize::try_from(which).unwrap()] = usize::try_from(state).unwrap();
        stage.tell(has("p+c", "front", objects(states)), 1000 + step);
        let mut fresh = new_stage();
        fresh.tell(has("p+c", "front", objects(states)), 1000);
        let states_of = |stage: &Stage| -> Vec<String> {
            let lines = stage.lines().into_iter();
            // The last word is the time.
            let states = lines.map(|line| line.rsplit_once(' ').unwrap().0.to_owned());
            states.collect()
        };
        assert_eq!(
            states_of(&stage),
            states_of(&fresh),
            "step {step}: {states:?}"
        );
        assert_eq!(stage.ready(), fresh.ready());
    }
}
