//! The role for the Kinds that a cluster serves and that the built-in role does not name.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_cluster_index::ApiKind;
use kindsight_clusters::LEFT_OUT;
use serde_json::{Value, json};

use super::manifests::{AGGREGATED, Manifest};

/// The name of the role.
const NAME: &str = "kindsight-monitor-discovered";

/// The role; none if every served Kind is granted already. Secrets and the Kinds that no report needs are never granted.
pub(super) fn role(kinds: &[ApiKind], granted: &[Manifest]) -> Option<Manifest> {
    let granted: BTreeSet<(String, String)> = granted.iter().flat_map(named).collect();
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for kind in kinds {
        let key = (kind.gvk.group.to_string(), kind.plural.clone());
        let is_secret = kind.gvk.group.is_empty() && &*kind.gvk.kind == "Secret";
        let is_needless = LEFT_OUT.contains(&&*kind.name());
        if !is_secret && !is_needless && !granted.contains(&key) {
            let plurals = groups.entry(&kind.gvk.group).or_default();
            plurals.insert(&kind.plural);
        }
    }
    if groups.is_empty() {
        return None;
    }
    let rules = groups.into_iter().map(|(group, plurals)| {
        json!({"apiGroups": [group], "resources": plurals, "verbs": ["get", "list", "watch"]})
    });
    let rules: Vec<Value> = rules.collect();
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": NAME, "labels": {AGGREGATED: "true"}},
        "rules": rules,
    });
    Manifest::of(role).ok()
}

/// The groups and resources that a role names.
fn named(role: &Manifest) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let rules = role.object.get("rules").and_then(Value::as_array);
    let rules = rules.into_iter().flatten();
    for rule in rules {
        for group in texts(&rule["apiGroups"]) {
            let resources = texts(&rule["resources"]);
            found.extend(resources.map(|resource| (group.to_owned(), resource.to_owned())));
        }
    }
    found
}

fn texts(values: &Value) -> impl Iterator<Item = &str> {
    let values = values.as_array().into_iter().flatten();
    values.filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use kindsight_model::Gvk;

    use super::*;
    use crate::install::InstallOptions;
    use crate::install::manifests::objects;

    #[test]
    fn discovered_kinds_are_granted_by_name_and_without_secrets() {
        let kind = |group: &str, kind: &str, plural: &str| ApiKind {
            gvk: Gvk::new(group, "v1", kind),
            plural: plural.to_owned(),
            is_namespaced: true,
        };
        let kinds = [
            kind("", "Secret", "secrets"),
            kind("", "Event", "events"),
            kind("", "Pod", "pods"),
            kind("apps", "Deployment", "deployments"),
            kind("example.org", "Crane", "cranes"),
            kind("example.org", "Secret", "secrets"),
        ];
        let granted = objects(&InstallOptions::default()).unwrap();
        let role = role(&kinds, &granted).unwrap();
        assert_eq!(
            role.object["rules"],
            json!([{"apiGroups": ["example.org"], "resources": ["cranes", "secrets"],
                "verbs": ["get", "list", "watch"]}])
        );
        assert!(super::role(&kinds[..4], &granted).is_none());
    }
}
