//! The status of a scope as the body of a server-side apply, in two forms.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::health::{Health, ScopeStatus, WorkloadHealth};
use crate::scope::{HealthScope, TRANSITION, WorkloadRef};
use crate::{API_VERSION, KIND};

/// The message about active probes.
const NO_PROBES: &str = "kindsight sends no active probes, and `probe-method` and `probe-endpoint` have no effect: the users of the cluster would choose the requests that kindsight sends with its own network access. The health follows from the objects of the workloads.";

/// The forms of a status in the order of the attempts: for the schema of kindsight's definition, and for the schema of OAM's
/// runtime. An API server refuses a form with members that the schema of the Kind does not declare.
pub(crate) fn forms(scope: &HealthScope, status: &ScopeStatus) -> [Value; 2] {
    let conditions = conditions(scope, status);
    [own(scope, status, &conditions), oam(status, &conditions)]
}

/// A form as the body of an application.
pub(crate) fn body(scope: &HealthScope, status: &Value) -> String {
    let place = &scope.place;
    let body = json!({
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"namespace": place.namespace, "name": place.name},
        "status": status,
    });
    body.to_string()
}

/// Sets the time of the last transition of each condition: the time in the object if its status is the same, else now.
pub(crate) fn set_times(scope: &HealthScope, status: &mut Value, now_ms: i64) {
    let now = Timestamp::from_millisecond(now_ms).unwrap_or_default();
    // Times of Kubernetes have no fractions of a second.
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        let text = |member: &str| {
            condition
                .get(member)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let key = (text("type").to_owned(), text("status").to_owned());
        let time = scope.transitions.get(&key).unwrap_or(&now);
        if let Some(members) = condition.as_object_mut() {
            members.insert(TRANSITION.to_owned(), time.as_str().into());
        }
    }
}

fn own(scope: &HealthScope, status: &ScopeStatus, conditions: &Value) -> Value {
    let counts = status.counts.iter();
    let counts = counts.map(|(health, count)| (health.as_str().to_owned(), Value::from(*count)));
    let total: usize = status.counts.values().sum();
    let workloads: Vec<Value> = status.workloads.iter().map(own_workload).collect();
    let mut own = json!({
        "health": status.health.as_str(),
        "counts": counts.collect::<serde_json::Map<_, _>>(),
        "workloads": workloads,
        "conditions": conditions,
    });
    let omitted = total.saturating_sub(status.workloads.len());
    if let Some(members) = own.as_object_mut() {
        if omitted > 0 {
            members.insert("workloadsOmitted".to_owned(), omitted.into());
        }
        if let Some(generation) = scope.generation {
            members.insert("observedGeneration".to_owned(), generation.into());
        }
    }
    own
}

fn own_workload(of: &WorkloadHealth) -> Value {
    let WorkloadRef {
        api_version,
        kind,
        name,
    } = &of.workload;
    let mut workload = json!({
        "apiVersion": api_version, "kind": kind, "name": name,
        "health": of.health.as_str(), "state": of.state,
    });
    add(&mut workload, "reason", &of.reason);
    add(&mut workload, "message", &of.message);
    workload
}

fn oam(status: &ScopeStatus, conditions: &Value) -> Value {
    let workloads: Vec<Value> = status.workloads.iter().map(oam_workload).collect();
    json!({
        "scopeHealthCondition": {
            "healthStatus": status.health.oam(), "diagnosis": status.message,
        },
        "healthConditions": workloads,
        "conditions": conditions,
    })
}

fn oam_workload(of: &WorkloadHealth) -> Value {
    let WorkloadRef {
        api_version,
        kind,
        name,
    } = &of.workload;
    let mut workload = json!({
        "targetWorkload": {"apiVersion": api_version, "kind": kind, "name": name},
        "healthStatus": of.health.oam(),
    });
    let texts = [&of.state, &of.reason, &of.message].into_iter();
    let texts: Vec<&str> = texts
        .map(|text| &**text)
        .filter(|text| !text.is_empty())
        .collect();
    let diagnosis: Arc<str> = texts.join(": ").into();
    add(&mut workload, "diagnosis", &diagnosis);
    if of.health == Health::Unknown {
        // OAM's runtime shows the state of workloads that it cannot judge.
        add(&mut workload, "workloadStatus", &of.state);
    }
    workload
}

fn add(to: &mut Value, member: &str, text: &Arc<str>) {
    if let Some(members) = to.as_object_mut().filter(|_| !text.is_empty()) {
        members.insert(member.to_owned(), (&**text).into());
    }
}

/// The conditions, without the times of their transitions.
fn conditions(scope: &HealthScope, status: &ScopeStatus) -> Value {
    let is_healthy = match status.health {
        Health::Healthy => "True",
        Health::Progressing | Health::Unhealthy => "False",
        Health::Unknown => "Unknown",
    };
    let mut conditions = vec![json!({
        "type": "Healthy", "status": is_healthy,
        "reason": status.health.reason(), "message": status.message,
    })];
    if scope.wants_probes {
        conditions.push(json!({
            "type": "ActiveProbes", "status": "False",
            "reason": "NotSupported", "message": NO_PROBES,
        }));
    }
    conditions.into()
}
