//! The Kinds that an API server serves.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use kindsight_cluster_index::ApiKind;
use kindsight_model::Gvk;
use serde::Deserialize;
use tokio::time::timeout;

use super::connection::{ApiClient, ApiError, ResponseClass};

/// Requests all groups at once. An older server may answer with only their names.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
const JSON: &str = "application/json";

/// Maximum number of Kinds of one cluster, first by name.
pub(super) const KINDS_MAX: usize = 2_000;

/// Requests for the Kinds of groups at a time.
const GROUPS_AT_A_TIME: usize = 8;

/// Kinds whose objects are Kinds.
const KINDS_OF_KINDS: [&str; 2] = ["CustomResourceDefinition", "APIService"];

/// Returns whether the objects of a Kind are Kinds.
pub(super) fn is_of_kinds(kind: &ApiKind) -> bool {
    KINDS_OF_KINDS.contains(&&*kind.gvk.kind)
}

/// The path of the list of a Kind, in one namespace or in all.
pub(super) fn path_of(kind: &ApiKind, namespace: Option<&str>) -> String {
    let version = match &*kind.gvk.group {
        "" => format!("/api/{}", kind.gvk.version),
        group => format!("/apis/{group}/{}", kind.gvk.version),
    };
    match namespace {
        Some(namespace) => format!("{version}/namespaces/{namespace}/{}", kind.plural),
        None => format!("{version}/{}", kind.plural),
    }
}

/// The Kinds that a server serves, and the API groups that do not answer.
#[derive(Debug, Default)]
pub(super) struct Discovered {
    pub(super) kinds: BTreeSet<ApiKind>,
    /// Versions of groups that do not answer, as `group/version`, with the reason. Versions that the server does
    /// not serve are not included.
    pub(super) silent: BTreeMap<String, String>,
}

/// Requests the Kinds of a server. Each group has this time to answer.
///
/// # Errors
/// The server lists no groups. A group that does not answer is [silent](Discovered::silent) and affects no other.
pub(super) async fn discover(
    client: &ApiClient,
    group_max: Duration,
) -> Result<Discovered, ApiError> {
    let mut found = Discovered::default();
    for root in ["/api", "/apis"] {
        let bytes = client.get(root, AGGREGATED).await?;
        let answer: Answer = read(&bytes)?;
        for group in answer.items {
            found.take_group(&group);
        }
        // An older server sends only the names and versions of its groups.
        let core = answer.versions.into_iter();
        let core = core.map(|version| (String::new(), version));
        let groups = answer.groups.into_iter();
        let groups =
            groups.filter_map(|group| Some((group.name, group.preferred_version?.version)));
        let lists = core.chain(groups).map(|(group, version)| async move {
            let list = timeout(group_max, kinds_of(client, &group, &version)).await;
            let list = list.unwrap_or_else(|_| {
                let seconds = group_max.as_secs();
                Err(ApiError::TimedOut(format!("no answer in {seconds} s")))
            });
            (group, version, list)
        });
        let mut lists = stream::iter(lists).buffer_unordered(GROUPS_AT_A_TIME);
        while let Some((group, version, list)) = lists.next().await {
            found.take_version(&group, &version, list);
        }
    }
    while found.kinds.len() > KINDS_MAX {
        found.kinds.pop_last();
    }
    Ok(found)
}

/// Requests the Kinds of one version of a group.
async fn kinds_of(
    client: &ApiClient,
    group: &str,
    version: &str,
) -> Result<ResourceList, ApiError> {
    let path = match group {
        "" => format!("/api/{version}"),
        group => format!("/apis/{group}/{version}"),
    };
    read(&client.get(&path, JSON).await?)
}

/// The Kinds in the answer about one version of a group whose objects can be applied and deleted.
///
/// # Errors
/// [`ApiError::Unreadable`].
pub(super) fn appliable_kinds(
    group: &str,
    version: &str,
    answer: &[u8],
) -> Result<Vec<ApiKind>, ApiError> {
    let list: ResourceList = read(answer)?;
    let can =
        |resource: &ApiResource, verb: &str| resource.verbs.iter().any(|allowed| allowed == verb);
    let kinds = list.resources.into_iter().filter(|resource| {
        !resource.name.contains('/') && can(resource, "patch") && can(resource, "delete")
    });
    let kinds = kinds.map(|resource| ApiKind {
        gvk: Gvk::new(group, version, &resource.kind),
        plural: resource.name,
        is_namespaced: resource.namespaced,
    });
    Ok(kinds.collect())
}

fn read<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes).map_err(|error| ApiError::Unreadable(error.to_string()))
}

impl Discovered {
    /// Returns whether the server serves a Kind, in any version.
    pub(super) fn has(&self, kind: &ApiKind) -> bool {
        self.kinds.iter().any(|known| known.is_same_kind(kind))
    }

    /// Returns whether the server answers without a Kind. A group that does not answer may have it.
    pub(super) fn omits(&self, kind: &ApiKind) -> bool {
        let is_of_group = |version: &String| {
            let group = version.split_once('/').map_or("", |(group, _)| group);
            *group == *kind.gvk.group
        };
        !self.has(kind) && !self.silent.keys().any(is_of_group)
    }

    /// Takes each Kind of a group at the first version that serves it: versions are in order of preference.
    fn take_group(&mut self, group: &Group) {
        let name = &*group.metadata.name;
        let mut taken = BTreeSet::new();
        for version in &group.versions {
            if version.freshness == "Stale" {
                let why = "the API server cannot reach the server of this group";
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

    /// Takes the Kinds of one version of a group.
    fn take_version(&mut self, group: &str, version: &str, list: Result<ResourceList, ApiError>) {
        match list {
            Ok(list) => {
                let of_objects = list
                    .resources
                    .into_iter()
                    .filter(|resource| !resource.name.contains('/'));
                let kinds = of_objects.filter(|resource| is_watchable(&resource.verbs));
                self.kinds.extend(kinds.map(|resource| ApiKind {
                    gvk: Gvk::new(group, version, &resource.kind),
                    plural: resource.name,
                    is_namespaced: resource.namespaced,
                }));
            }
            Err(error) if error.response() == ResponseClass::Unserved => {}
            Err(error) => {
                let name = format!("{group}/{version}");
                self.silent.insert(name, error.to_string());
            }
        }
    }
}

fn is_watchable(verbs: &[String]) -> bool {
    ["list", "watch"]
        .iter()
        .all(|verb| verbs.iter().any(|known| known == verb))
}

/// A response in either form.
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
