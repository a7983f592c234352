//! Discovery: the served groups and Kinds, in both forms.

use serde_json::{Value, json};

use crate::kinds::{KINDS, Kind};

/// The `apiVersion` of the form with all groups in one answer.
const AGGREGATED: &str = "apidiscovery.k8s.io/v2";

/// All Kinds of the core group, or of the other groups, in one answer.
pub(crate) fn aggregated(is_core: bool) -> Value {
    let groups = groups().into_iter();
    let groups = groups.filter(|group| group.is_empty() == is_core);
    let items: Vec<Value> = groups
        .map(|group| {
            let versions = versions(group).into_iter().map(|version| {
                let resources: Vec<Value> = kinds(group, version).map(aggregated_kind).collect();
                json!({"version": version, "resources": resources, "freshness": "Current"})
            });
            let versions: Vec<Value> = versions.collect();
            let metadata = if group.is_empty() {
                json!({})
            } else {
                json!({"name": group})
            };
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": AGGREGATED, "metadata": {}, "items": items})
}

/// Only the names of the groups, as an older server answers.
pub(crate) fn names(is_core: bool) -> Value {
    if is_core {
        return json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []});
    }
    let groups = groups().into_iter().filter(|group| !group.is_empty());
    let groups: Vec<Value> = groups
        .map(|group| {
            let versions = versions(group).into_iter();
            let versions: Vec<Value> = versions
                .map(|version| json!({"groupVersion": format!("{group}/{version}"), "version": version}))
                .collect();
            json!({"name": group, "versions": versions, "preferredVersion": versions.first()})
        })
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// The Kinds of one version of a group.
pub(crate) fn resources(group: &str, version: &str) -> Value {
    let resources: Vec<Value> = kinds(group, version)
        .map(|kind| {
            json!({
                "name": kind.plural, "singularName": kind.kind.to_lowercase(), "namespaced": kind.is_namespaced,
                "kind": kind.kind, "verbs": verbs(kind),
            })
        })
        .collect();
    let group_version = match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    };
    json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources,
    })
}

fn aggregated_kind(kind: &Kind) -> Value {
    let scope = if kind.is_namespaced {
        "Namespaced"
    } else {
        "Cluster"
    };
    // Kubernetes names the group and the version of custom Kinds only.
    let (group, version) = if kind.group.ends_with(".example.org") {
        (kind.group, kind.version)
    } else {
        ("", "")
    };
    json!({
        "resource": kind.plural, "scope": scope, "singularResource": kind.kind.to_lowercase(), "verbs": verbs(kind),
        "responseKind": {"group": group, "version": version, "kind": kind.kind},
    })
}

fn verbs(kind: &Kind) -> Vec<&'static str> {
    let all = [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    ];
    let is_served = |verb: &&str| *verb != "deletecollection" || !kind.is_deleted_singly();
    all.into_iter().filter(is_served).collect()
}

fn kinds(group: &str, version: &str) -> impl Iterator<Item = &'static Kind> {
    KINDS
        .iter()
        .filter(move |kind| kind.group == group && kind.version == version)
}

/// The groups, in the order of the table.
fn groups() -> Vec<&'static str> {
    let mut groups: Vec<&str> = KINDS.iter().map(|kind| kind.group).collect();
    groups.dedup();
    groups
}

/// The versions of a group, in the order of preference.
fn versions(group: &str) -> Vec<&'static str> {
    let of_group = KINDS.iter().filter(|kind| kind.group == group);
    let mut versions: Vec<&str> = of_group.map(|kind| kind.version).collect();
    versions.dedup();
    versions
}
