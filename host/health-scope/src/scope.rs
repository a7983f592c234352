//! Objects of the Kind `HealthScope`, as far as their status depends on them.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher};
use std::sync::Arc;

use kindsight_model::{DigName, clean};
use serde_json::Value;

use crate::WORKLOADS_SHOWN_MAX;

/// Maximum length of a name in an object, in bytes, as for names in Kubernetes. A longer text is cut.
const NAME_BYTES_MAX: usize = 253;
/// Maximum number of conditions of an object that are read. OAM and kindsight write two.
const CONDITIONS_MAX: usize = 16;
/// The member of a condition that does not belong to the content of a status.
pub(crate) const TRANSITION: &str = "lastTransitionTime";
/// The members of a spec that ask for active probes.
const PROBES: [&str; 2] = ["probe-method", "probe-endpoint"];

/// The place of a scope in its cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScopePlace {
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

/// A workload that a scope lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadRef {
    /// `group/version`, or `version` in the core group.
    pub api_version: Arc<str>,
    /// Kind.
    pub kind: Arc<str>,
    /// Name in the namespace of the scope.
    pub name: Arc<str>,
}

/// An object of the Kind `HealthScope`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthScope {
    /// Its place.
    pub place: ScopePlace,
    /// `metadata.uid`.
    pub uid: Arc<str>,
    /// `metadata.generation`.
    pub generation: Option<i64>,
    /// The first workloads that it lists, at most [`WORKLOADS_SHOWN_MAX`].
    pub workloads: Vec<WorkloadRef>,
    /// The number of workloads that it lists.
    pub workload_count: usize,
    /// True if it asks for active probes.
    pub wants_probes: bool,
    /// The time of the last transition of each condition, by its type and status, as text.
    pub(crate) transitions: BTreeMap<(String, String), String>,
    /// A digest of the status, without the times of transitions.
    pub(crate) status_digest: u64,
}

impl HealthScope {
    /// Reads an object. A member of another type counts as absent. `None` without a name or a namespace.
    ///
    /// The source of a cluster calls it for each object of a list and of an event.
    pub fn read(json: &[u8]) -> Option<Self> {
        let object: Value = serde_json::from_slice(json).ok()?;
        let text = |pointer: &str| object.pointer(pointer).map_or_else(|| "".into(), shown);
        let place = ScopePlace {
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        };
        if place.namespace.is_empty() || place.name.is_empty() {
            return None;
        }
        let spec = object.get("spec");
        let listed = spec.and_then(|spec| spec.get("workloadRefs"));
        let listed = listed
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let workloads = listed.iter().take(WORKLOADS_SHOWN_MAX).map(|listed| {
            let text = |member: &str| listed.get(member).map_or_else(|| "".into(), shown);
            WorkloadRef {
                api_version: text("apiVersion"),
                kind: text("kind"),
                name: text("name"),
            }
        });
        let wants = |member: &&str| spec.and_then(|spec| spec.get(*member)).is_some();
        Some(Self {
            uid: text("/metadata/uid"),
            generation: object
                .pointer("/metadata/generation")
                .and_then(Value::as_i64),
            workloads: workloads.collect(),
            workload_count: listed.len(),
            wants_probes: PROBES.iter().any(wants),
            transitions: transitions(&object),
            status_digest: digest(object.get("status").unwrap_or(&Value::Null)),
            place,
        })
    }

    /// The name of the application that it selects; none if its name or namespace cannot be the value of a label.
    pub fn application(&self) -> Option<DigName> {
        DigName::health_scope(&self.place.name, &self.place.namespace).ok()
    }
}

/// A text for readers; empty for another type.
fn shown(value: &Value) -> Arc<str> {
    clean(value.as_str().unwrap_or_default(), NAME_BYTES_MAX).into()
}

fn transitions(object: &Value) -> BTreeMap<(String, String), String> {
    let conditions = object
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    let conditions = conditions.into_iter().flatten().take(CONDITIONS_MAX);
    let known = conditions.filter_map(|condition| {
        let text = |member: &str| condition.get(member)?.as_str().map(str::to_owned);
        Some(((text("type")?, text("status")?), text(TRANSITION)?))
    });
    known.collect()
}

/// A digest of a status. It does not depend on the order of members and on the times of transitions.
pub(crate) fn digest(status: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    add(status, &mut hasher);
    hasher.finish()
}

fn add(value: &Value, to: &mut DefaultHasher) {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<&String, &Value> = members.iter().collect();
            let content = members.into_iter().filter(|(name, _)| *name != TRANSITION);
            for (name, member) in content {
                name.hash(to);
                add(member, to);
            }
            to.write_u8(0);
        }
        Value::Array(items) => {
            items.len().hash(to);
            for item in items {
                add(item, to);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.hash(to),
    }
}

impl fmt::Display for ScopePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(object: &Value) -> Option<HealthScope> {
        HealthScope::read(object.to_string().as_bytes())
    }

    #[test]
    fn an_object_with_other_types_is_a_scope_without_workloads() {
        let scope = read(&json!({
            "metadata": {"namespace": "web", "name": "shop", "uid": 7, "generation": "x"},
            "spec": {"workloadRefs": {"a": 1}}, "status": [],
        }));
        let scope = scope.unwrap();
        assert_eq!(scope.workload_count, 0);
        assert!(!scope.wants_probes && scope.generation.is_none());
        assert_eq!(
            scope.application().unwrap().to_string(),
            "-/shop/health-scope/web"
        );
        assert_eq!(read(&json!({"metadata": {"name": "shop"}})), None);
        assert_eq!(HealthScope::read(b"{"), None);
    }

    #[test]
    fn long_lists_and_names_are_cut() {
        let listed =
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "n".repeat(10_000)});
        let scope = read(&json!({
            "metadata": {"namespace": "web", "name": "x".repeat(200)},
            "spec": {"workloadRefs": vec![listed; 10_000], "probe-method": "GET"},
        }));
        let scope = scope.unwrap();
        assert_eq!(
            (scope.workloads.len(), scope.workload_count),
            (WORKLOADS_SHOWN_MAX, 10_000)
        );
        assert_eq!(scope.workloads[0].name.len(), NAME_BYTES_MAX);
        assert!(scope.wants_probes);
        // A label cannot name it.
        assert_eq!(scope.application(), None);
    }

    #[test]
    fn the_digest_is_of_the_content_alone() {
        let one =
            json!({"health": "healthy", "conditions": [{"type": "a", "lastTransitionTime": "1"}]});
        let same =
            json!({"conditions": [{"lastTransitionTime": "2", "type": "a"}], "health": "healthy"});
        assert_eq!(digest(&one), digest(&same));
        assert_ne!(digest(&one), digest(&json!({"health": "healthy"})));
        assert_ne!(
            digest(&json!({"a": [1], "b": []})),
            digest(&json!({"a": [], "b": [1]}))
        );
    }
}
