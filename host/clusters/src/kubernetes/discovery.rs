//! The Kinds that an API server serves, as it tells itself.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_model::Gvk;
use serde::Deserialize;

use super::bundle_states;
use super::connection::{ApiClient, ApiError};

/// Asks for all groups at once, and accepts that an older server answers with their names alone.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
const JSON: &str = "application/json";

/// Maximum number of Kinds of one cluster; of more, the first by name.
pub(super) const KINDS_MAX: usize = 2_000;

/// Kinds whose objects are Kinds.
const KINDS_OF_KINDS: [&str; 2] = ["CustomResourceDefinition", "APIService"];

/// A Kind of which objects can be listed and watched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ApiKind {
    pub(super) gvk: Gvk,
    /// Its name in paths, such as `deployments`.
    pub(super) plural: String,
    pub(super) is_namespaced: bool,
}

impl ApiKind {
    /// Its name for people and in settings: `Kind` in the core group, else `Kind.group`.
    pub(super) fn name(&self) -> String {
        match &*self.gvk.group {
            "" => self.gvk.kind.to_string(),
            group => format!("{}.{group}", self.gvk.kind),
        }
    }

    /// Returns whether its objects are the reports of monitors.
    pub(super) fn is_bundle_state(&self) -> bool {
        *self.gvk.group == *bundle_states::GROUP && *self.gvk.kind == *bundle_states::KIND
    }

    /// Returns whether its objects are Kinds.
    pub(super) fn is_of_kinds(&self) -> bool {
        KINDS_OF_KINDS.contains(&&*self.gvk.kind)
    }

    /// Its group, version and Kind.
    pub(super) fn names(&self) -> (&str, &str, &str) {
        let Gvk {
            group,
            version,
            kind,
        } = &self.gvk;
        (group, version, kind)
    }

    /// The path of its list, in one namespace or in all.
    pub(super) fn path(&self, namespace: Option<&str>) -> String {
        let version = match &*self.gvk.group {
            "" => format!("/api/{}", self.gvk.version),
            group => format!("/apis/{group}/{}", self.gvk.version),
        };
        match namespace {
            Some(namespace) => format!("{version}/namespaces/{namespace}/{}", self.plural),
            None => format!("{version}/{}", self.plural),
        }
    }
}

/// The Kinds of a cluster, and the groups that do not tell theirs.
#[derive(Debug, Default)]
pub(super) struct Discovered {
    pub(super) kinds: BTreeSet<ApiKind>,
    /// Groups of which the Kinds are not known now, with the reason.
    pub(super) silent: BTreeMap<String, String>,
}

/// Asks a server for its Kinds.
///
/// # Errors
/// The server tells none at all; a group that does not tell its own costs nothing else.
pub(super) async fn discover(client: &ApiClient) -> Result<Discovered, ApiError> {
    let mut found = Discovered::default();
    for root in ["/api", "/apis"] {
        let bytes = client.get(root, AGGREGATED).await?;
        let answer: Answer = read(&bytes)?;
        for group in answer.items {
            found.take_group(&group);
        }
        // An older server, which names its groups and versions alone.
        for version in answer.versions {
            found.ask(client, "", &version).await;
        }
        for group in answer.groups {
            if let Some(preferred) = group.preferred_version {
                found.ask(client, &group.name, &preferred.version).await;
            }
        }
    }
    while found.kinds.len() > KINDS_MAX {
        found.kinds.pop_last();
    }
    Ok(found)
}

fn read<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes).map_err(|error| ApiError::Unreadable(error.to_string()))
}

impl Discovered {
    /// Takes each Kind of a group at the first version that serves it: versions are in order of preference.
    fn take_group(&mut self, group: &Group) {
        let name = &*group.metadata.name;
        let mut taken = BTreeSet::new();
        for version in &group.versions {
            if version.freshness == "Stale" {
                let why = "the API server cannot reach what serves it";
                self.silent
                    .insert(format!("{name}/{}", version.version), why.to_owned());
            }
            for resource in &version.resources {
                let Some(kind) = &resource.response_kind else {
                    continue;
                };
                if is_watchable(&resource.verbs) && taken.insert(kind.kind.clone()) {
                    self.kinds.insert(ApiKind {
                        gvk: Gvk::new(name, &version.version, &kind.kind),
                        plural: resource.plural.clone(),
                        is_namespaced: resource.scope == "Namespaced",
                    });
                }
            }
        }
    }

    /// Asks for the Kinds of one version of a group.
    async fn ask(&mut self, client: &ApiClient, group: &str, version: &str) {
        let path = match group {
            "" => format!("/api/{version}"),
            group => format!("/apis/{group}/{version}"),
        };
        let answer = client.get(&path, JSON).await;
        let resources = answer.and_then(|bytes| read::<ResourceList>(&bytes));
        match resources {
            Ok(list) => {
                let of_objects = list
                    .resources
                    .into_iter()
                    .filter(|it| !it.name.contains('/'));
                let kinds = of_objects.filter(|it| is_watchable(&it.verbs));
                self.kinds.extend(kinds.map(|it| ApiKind {
                    gvk: Gvk::new(group, version, &it.kind),
                    plural: it.name,
                    is_namespaced: it.namespaced,
                }));
            }
            Err(error) => {
                self.silent
                    .insert(format!("{group}/{version}"), error.to_string());
            }
        }
    }
}

fn is_watchable(verbs: &[String]) -> bool {
    ["list", "watch"]
        .iter()
        .all(|verb| verbs.iter().any(|it| it == verb))
}

/// An answer of either form.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Answer {
    items: Vec<Group>,
    versions: Vec<String>,
    groups: Vec<ApiGroup>,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    metadata: Name,
    #[serde(default)]
    versions: Vec<GroupVersion>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Name {
    name: String,
}

#[derive(Deserialize)]
struct GroupVersion {
    version: String,
    #[serde(default)]
    resources: Vec<Resource>,
    #[serde(default)]
    freshness: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    #[serde(rename = "resource")]
    plural: String,
    response_kind: Option<ResponseKind>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    verbs: Vec<String>,
}

#[derive(Deserialize)]
struct ResponseKind {
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ApiGroup {
    name: String,
    preferred_version: Option<ApiVersion>,
}

#[derive(Deserialize)]
struct ApiVersion {
    version: String,
}

#[derive(Deserialize)]
struct ResourceList {
    #[serde(default)]
    resources: Vec<ApiResource>,
}

#[derive(Deserialize)]
struct ApiResource {
    name: String,
    kind: String,
    #[serde(default)]
    namespaced: bool,
    #[serde(default)]
    verbs: Vec<String>,
}
