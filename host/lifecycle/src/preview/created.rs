//! Namespaces and Kinds that a dry run would create: a cluster cannot check their objects before they exist.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use kindsight_model::ClusterName;
use serde_json::Value;

/// The namespaces and Kinds that would be created, by cluster.
#[derive(Default)]
pub(super) struct Created(Mutex<BTreeMap<ClusterName, BTreeSet<Prerequisite>>>);

/// A condition for an object to be created.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Prerequisite {
    Namespace(String),
    Kind { group: String, kind: String },
}

impl Created {
    /// Notes an object that would be created. `manifest` is JSON.
    pub(super) fn note(&self, cluster: &ClusterName, manifest: &str) {
        let manifest: Option<Value> = serde_json::from_str(manifest).ok();
        if let Some(created) = manifest.as_ref().and_then(Prerequisite::made_by) {
            let mut clusters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            clusters.entry(cluster.clone()).or_default().insert(created);
        }
    }

    /// The reason why a cluster cannot check an object yet; none if it can. `manifest` is JSON.
    pub(super) fn before(&self, cluster: &ClusterName, manifest: &str) -> Option<String> {
        let manifest: Value = serde_json::from_str(manifest).ok()?;
        let clusters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let created = clusters.get(cluster)?;
        let needed = Prerequisite::needed_by(&manifest);
        let needed = needed.into_iter().find(|needed| created.contains(needed))?;
        Some(match needed {
            Prerequisite::Namespace(name) => {
                format!("not checked, because the namespace `{name}` is new")
            }
            Prerequisite::Kind { kind, .. } => {
                format!("not checked, because the Kind {kind} is new")
            }
        })
    }
}

impl Prerequisite {
    fn made_by(manifest: &Value) -> Option<Self> {
        let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str);
        match (text("/apiVersion")?, text("/kind")?) {
            ("v1", "Namespace") => {
                text("/metadata/name").map(|name| Self::Namespace(name.to_owned()))
            }
            (version, "CustomResourceDefinition")
                if version.starts_with("apiextensions.k8s.io/") =>
            {
                Some(Self::Kind {
                    group: text("/spec/group")?.to_owned(),
                    kind: text("/spec/names/kind")?.to_owned(),
                })
            }
            _ => None,
        }
    }

    fn needed_by(manifest: &Value) -> Vec<Self> {
        let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str);
        let namespace = text("/metadata/namespace").map(|name| Self::Namespace(name.to_owned()));
        let group = text("/apiVersion").and_then(|version| version.split_once('/'));
        let kind = group
            .zip(text("/kind"))
            .map(|((group, _), kind)| Self::Kind {
                group: group.to_owned(),
                kind: kind.to_owned(),
            });
        kind.into_iter().chain(namespace).collect()
    }
}
