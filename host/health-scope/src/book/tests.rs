use std::collections::HashSet;
use std::sync::Arc;

use kindsight_model::{DigName, Object, Phase, Verdict};
use kindsight_read_model::ReadModelWriter;
use kindsight_status::{
    AppView, ClusterInput, ConnectionView, ContextView, Reported, Staleness, project,
};
use serde_json::{Value, json};

use super::*;
use crate::WORKLOADS_SHOWN_MAX;
use crate::health::Health;

const NOW_MS: i64 = 1_795_780_800_000;
/// A time at which every wait is over.
const LATER_MS: i64 = NOW_MS + SETTLE_MS;

fn cluster() -> ClusterName {
    "p+edge01".parse().unwrap()
}

/// A read model with a connected cluster.
fn model() -> ReadModelWriter {
    let mut writer = ReadModelWriter::default();
    let connection = ConnectionView {
        owner: kindsight_status::ClusterOwner::default(),
        state: ConnectionState::Connected,
        since_ms: NOW_MS,
        reason: None,
        faults: Arc::default(),
        heard_ms: None,
        facts: None,
        coverage: None,
    };
    writer.publish_connection(&cluster(), Some(connection));
    writer
}

fn scope_with(spec: &Value, status: &Value) -> Arc<HealthScope> {
    let object = json!({
        "metadata": {"namespace": "web", "name": "shop", "uid": "u1", "generation": 3},
        "spec": spec, "status": status,
    });
    Arc::new(HealthScope::read(object.to_string().as_bytes()).unwrap())
}

fn scope(status: &Value) -> Arc<HealthScope> {
    let front = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "front"});
    scope_with(&json!({"workloadRefs": [front]}), status)
}

/// Publishes the application with Deployments in these phases.
fn publish(writer: &mut ReadModelWriter, phases: &[(&str, Phase)], stale: Option<Staleness>) {
    let object = |name: &str| {
        let object = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"namespace": "web", "name": name, "uid": name}});
        Object::from_json(object.to_string()).unwrap()
    };
    let verdicts = phases.iter();
    let verdicts = verdicts.map(|(name, phase)| Verdict::host(*phase, "Why", format!("of {name}")));
    let reported = Reported {
        objects: phases.iter().map(|(name, _)| object(name)).collect(),
        verdicts: verdicts.collect(),
        stale,
        ..Reported::default()
    };
    let input = ClusterInput {
        cluster: cluster(),
        namespace: "web".into(),
        expected: Vec::new(),
        reported: Some(reported),
        unseen: Vec::new(),
        faults: Vec::new(),
    };
    let view = ContextView {
        apps: vec![AppView::new(
            "front".into(),
            vec![Arc::new(project(input, None, NOW_MS))],
        )],
        ..ContextView::default()
    };
    let name = DigName::health_scope("shop", "web").unwrap();
    writer.publish(&ApplicationKey::Found(name), view, Vec::new());
}

/// The only update, and its two forms of the status.
fn only(updates: &[StatusUpdate]) -> (StatusUpdate, [Value; 2]) {
    let [update] = updates else {
        unreachable!("one update: {updates:?}");
    };
    let status = |body: &String| {
        let mut body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["apiVersion"], crate::API_VERSION);
        assert_eq!(
            body["metadata"],
            json!({"namespace": "web", "name": "shop"})
        );
        body["status"].take()
    };
    (update.clone(), update.bodies.each_ref().map(status))
}

#[test]
fn a_status_is_written_once_and_again_when_it_changes() {
    let mut writer = model();
    publish(&mut writer, &[("front", Phase::Ready)], None);
    let mut book = ScopeBook::new(cluster());
    book.set_scopes(&[scope(&Value::Null)], NOW_MS);
    let (update, [own, oam]) = only(&book.updates(writer.read_model(), NOW_MS));
    assert_eq!(own["health"], "healthy");
    assert_eq!(own["counts"]["healthy"], 1);
    assert_eq!(own["observedGeneration"], 3);
    assert_eq!(own["workloads"][0]["name"], "front");
    assert_eq!(own["workloads"][0]["state"], "Ready");
    assert_eq!(own["conditions"][0]["status"], "True");
    let oam_health = &oam["scopeHealthCondition"]["healthStatus"];
    assert_eq!(oam_health, "HEALTHY");
    assert_eq!(
        oam["healthConditions"][0]["targetWorkload"]["kind"],
        "Deployment"
    );
    assert!(oam["health"].is_null() && own["scopeHealthCondition"].is_null());
    book.written(&update, true, NOW_MS);
    // The event of the own write, in either form, causes no write.
    for shown in [&own, &oam] {
        book.set_scopes(&[scope(shown)], NOW_MS);
        assert_eq!(book.updates(writer.read_model(), NOW_MS), []);
    }
    // A change of another application causes none either.
    assert!(!book.note_changed(&ChangedSubjects::Some(HashSet::new())));
    assert_eq!(book.updates(writer.read_model(), NOW_MS), []);
    publish(&mut writer, &[("front", Phase::Failed)], None);
    book.note_changed(&ChangedSubjects::All);
    let (update, [own, oam]) = only(&book.updates(writer.read_model(), NOW_MS + 1));
    assert_eq!(own["health"], "unhealthy");
    assert_eq!(
        own["conditions"][0]["message"],
        "Deployment front is Failed: Why: of front"
    );
    assert_eq!(oam["scopeHealthCondition"]["healthStatus"], "UNHEALTHY");
    // A failed write is tried again later, and not before.
    book.written(&update, false, NOW_MS);
    assert_eq!(
        book.updates(writer.read_model(), NOW_MS + RETRY_AFTER_MS - 1),
        []
    );
    let again = book.updates(writer.read_model(), NOW_MS + RETRY_AFTER_MS);
    assert_eq!(again.len(), 1);
}

#[test]
fn another_writer_is_answered_at_most_once_in_a_minute() {
    let mut writer = model();
    publish(&mut writer, &[("front", Phase::Ready)], None);
    let mut book = ScopeBook::new(cluster());
    book.set_scopes(&[scope(&Value::Null)], NOW_MS);
    let (update, _) = only(&book.updates(writer.read_model(), NOW_MS));
    book.written(&update, true, NOW_MS);
    let mut writes = 0;
    for step in 0..120 {
        let now_ms = NOW_MS + step * 1_000;
        // The other writer answers each write.
        book.set_scopes(
            &[scope(&json!({"health": format!("other {step}")}))],
            now_ms,
        );
        for update in book.updates(writer.read_model(), now_ms) {
            writes += 1;
            book.written(&update, true, now_ms);
        }
    }
    assert_eq!(writes, 1);
}

#[test]
fn the_time_of_a_transition_is_kept_while_the_status_is_the_same() {
    let mut writer = model();
    publish(&mut writer, &[("front", Phase::Ready)], None);
    let shown = json!({"conditions": [
        {"type": "Healthy", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"},
    ]});
    let mut book = ScopeBook::new(cluster());
    book.set_scopes(&[scope(&shown)], NOW_MS);
    let (_, [own, _]) = only(&book.updates(writer.read_model(), NOW_MS));
    assert_eq!(
        own["conditions"][0]["lastTransitionTime"],
        "2026-01-01T00:00:00Z"
    );
    publish(&mut writer, &[("front", Phase::Pending)], None);
    book.note_changed(&ChangedSubjects::All);
    let (_, [own, _]) = only(&book.updates(writer.read_model(), NOW_MS));
    assert_eq!(own["health"], "progressing");
    assert_eq!(
        own["conditions"][0]["lastTransitionTime"],
        "2026-11-27T12:00:00Z"
    );
}

#[test]
fn a_probe_is_answered_by_a_condition() {
    let mut writer = model();
    publish(&mut writer, &[("front", Phase::Ready)], None);
    let mut book = ScopeBook::new(cluster());
    let spec = json!({"probe-method": "GET", "probe-endpoint": "http://169.254.169.254/"});
    book.set_scopes(&[scope_with(&spec, &Value::Null)], NOW_MS);
    let (_, [own, oam]) = only(&book.updates(writer.read_model(), NOW_MS));
    for status in [own, oam] {
        assert_eq!(status["conditions"][1]["type"], "ActiveProbes");
        assert_eq!(status["conditions"][1]["status"], "False");
        let message = status["conditions"][1]["message"].as_str().unwrap();
        assert!(message.contains("would choose the requests"), "{message}");
    }
}

#[test]
fn a_scope_without_workloads_and_a_stale_one_are_unknown_after_a_while() {
    let mut writer = model();
    let mut book = ScopeBook::new(cluster());
    book.set_scopes(&[scope_with(&json!({}), &Value::Null)], NOW_MS);
    assert_eq!(book.updates(writer.read_model(), NOW_MS), []);
    let (update, [own, _]) = only(&book.updates(writer.read_model(), NOW_MS + EMPTY_MS));
    assert_eq!(own["health"], "unknown");
    let message = own["conditions"][0]["message"].as_str().unwrap();
    assert!(message.contains("selects no workload"), "{message}");
    book.written(&update, true, NOW_MS);
    let stale = Staleness {
        since_ms: NOW_MS,
        reason: "the cluster cannot be reached".into(),
    };
    publish(&mut writer, &[("front", Phase::Ready)], Some(stale));
    book.note_changed(&ChangedSubjects::All);
    assert_eq!(book.updates(writer.read_model(), NOW_MS + 1), []);
    let healths: Vec<Health> = book.statuses().map(|(_, status)| status.health).collect();
    assert_eq!(healths, [Health::Unknown]);
    let (_, [own, _]) = only(&book.updates(writer.read_model(), LATER_MS));
    let message = own["conditions"][0]["message"].as_str().unwrap();
    assert_eq!(
        message,
        "the report is stale: the cluster cannot be reached"
    );
}

#[test]
fn a_listed_workload_that_is_not_found_makes_the_scope_unknown() {
    let mut writer = model();
    publish(&mut writer, &[("front", Phase::Ready)], None);
    let front = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "front"});
    let node = json!({"apiVersion": "v1", "kind": "Node", "name": "n1"});
    let mut book = ScopeBook::new(cluster());
    let spec = json!({"workloadRefs": [front, node]});
    book.set_scopes(&[scope_with(&spec, &Value::Null)], NOW_MS);
    let (_, [own, _]) = only(&book.updates(writer.read_model(), NOW_MS));
    assert_eq!(own["health"], "unknown");
    assert_eq!(own["workloads"][0]["name"], "n1");
    assert_eq!(own["workloads"][0]["reason"], "NotFound");
    assert_eq!(
        own["counts"],
        json!({"healthy": 1, "progressing": 0, "unhealthy": 0, "unknown": 1})
    );
}

#[test]
fn the_workloads_of_a_status_and_the_scopes_of_a_cluster_are_limited() {
    let mut writer = model();
    let names: Vec<String> = (0..600).map(|number| format!("d{number:03}")).collect();
    let mut phases: Vec<(&str, Phase)> = names.iter().map(|it| (&**it, Phase::Ready)).collect();
    phases[599].1 = Phase::Failed;
    publish(&mut writer, &phases, None);
    let mut book = ScopeBook::new(cluster());
    book.set_scopes(&[scope_with(&json!({}), &Value::Null)], NOW_MS);
    let (update, [own, _]) = only(&book.updates(writer.read_model(), NOW_MS));
    assert_eq!(
        own["workloads"].as_array().unwrap().len(),
        WORKLOADS_SHOWN_MAX
    );
    assert_eq!(own["workloads"][0]["name"], "d599");
    assert_eq!(own["workloadsOmitted"], 350);
    assert!(update.bodies.iter().all(|body| body.len() < 512 * 1024));
    let many = (0..=SCOPES_MAX).map(|number| {
        let object = json!({"metadata": {"namespace": "web", "name": format!("s{number}")}});
        Arc::new(HealthScope::read(object.to_string().as_bytes()).unwrap())
    });
    assert!(book.set_scopes(&many.collect::<Vec<_>>(), NOW_MS));
    book.updates(writer.read_model(), LATER_MS);
    assert_eq!(book.statuses().count(), SCOPES_MAX);
}
