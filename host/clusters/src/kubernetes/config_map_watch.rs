//! One ConfigMap of a cluster, followed by its name.
//!
//! The watch has no [session](super::session), so that it needs only the rights for this one object.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use kindsight_model::ClusterName;
use serde::Deserialize;
use tokio::sync::watch::{self, Sender};

use super::KubernetesCluster;
use super::object_watch::{ObjectWatch, WatchedObjects};
use crate::NamespacedName;

/// The name of a ConfigMap in a watched cluster: `PROVIDER+CLUSTER/NAMESPACE/NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigMapRef {
    /// The cluster.
    pub cluster: ClusterName,
    /// The ConfigMap in the cluster.
    pub object: NamespacedName,
}

/// The text is not the name of a ConfigMap.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected PROVIDER+CLUSTER/NAMESPACE/NAME, such as `kubeconfig+edge01/argocd/argocd-cm`")]
pub struct ConfigMapRefError;

impl FromStr for ConfigMapRef {
    type Err = ConfigMapRefError;

    fn from_str(text: &str) -> Result<Self, ConfigMapRefError> {
        let (cluster, object) = text.split_once('/').ok_or(ConfigMapRefError)?;
        Ok(Self {
            cluster: cluster.parse().map_err(|_| ConfigMapRefError)?,
            object: object.parse().map_err(|_| ConfigMapRefError)?,
        })
    }
}

impl fmt::Display for ConfigMapRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.cluster, self.object)
    }
}

/// The last known content of a ConfigMap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ConfigMapState {
    /// No answer was received yet.
    #[default]
    Unknown,
    /// Its `data`.
    Present(Arc<BTreeMap<String, String>>),
    /// It does not exist.
    Missing,
    /// It cannot be read, for this reason.
    Away(String),
}

/// Follows one ConfigMap of a cluster.
pub struct ConfigMapWatch(ObjectWatch<Data>);

/// The `data` of a ConfigMap.
type Data = BTreeMap<String, String>;

impl ConfigMapWatch {
    /// The watch of a ConfigMap of a cluster, which connects when it runs. It needs the rights to list and watch this
    /// one ConfigMap.
    pub fn new(cluster: &KubernetesCluster, object: &NamespacedName) -> Self {
        let path = format!("/api/v1/namespaces/{}/configmaps", object.namespace());
        Self(ObjectWatch::of_one(cluster, path, object, data))
    }

    /// Sends the state of the ConfigMap after each change, until `state` has no receiver. Retries with backoff.
    pub async fn run(self, state: Sender<ConfigMapState>) {
        let (objects, mut changes) = watch::channel(WatchedObjects::default());
        let forwarding = async {
            while changes.changed().await.is_ok() {
                let now = ConfigMapState::of(&changes.borrow_and_update());
                state.send_if_modified(|last| {
                    let is_changed = *last != now;
                    *last = now;
                    is_changed
                });
            }
        };
        tokio::select! {
            () = self.0.run(objects) => {}
            () = forwarding => {}
            () = state.closed() => {}
        }
    }
}

impl ConfigMapState {
    /// The state of the only watched object.
    fn of(watched: &WatchedObjects<Data>) -> Self {
        if let Some(why) = watched.away.values().next() {
            return Self::Away(why.clone());
        }
        match watched.objects.values().next() {
            Some(data) => Self::Present(Arc::clone(data)),
            None if watched.is_listed => Self::Missing,
            None => Self::Unknown,
        }
    }
}

/// The `data` of a ConfigMap; empty without `data`.
fn data(object: &[u8]) -> Option<Data> {
    let item: Item = serde_json::from_slice(object).ok()?;
    Some(item.data.unwrap_or_default())
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    data: Option<Data>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_cluster_namespace_and_name() {
        let text = "kubeconfig+edge01/argocd/argocd-cm";
        let name: ConfigMapRef = text.parse().unwrap();
        assert_eq!(name.cluster.to_string(), "kubeconfig+edge01");
        assert_eq!(name.object.name(), "argocd-cm");
        assert_eq!(name.to_string(), text);
        for wrong in [
            "",
            "argocd/argocd-cm",
            "edge01/argocd/argocd-cm",
            "a+b/argocd",
            "a+b/argocd/x/y",
        ] {
            assert_eq!(wrong.parse::<ConfigMapRef>(), Err(ConfigMapRefError));
        }
    }

    #[test]
    fn the_state_follows_from_the_watched_object() {
        let mut watched = WatchedObjects::default();
        assert_eq!(ConfigMapState::of(&watched), ConfigMapState::Unknown);
        watched.is_listed = true;
        assert_eq!(ConfigMapState::of(&watched), ConfigMapState::Missing);
        for (object, expected) in [
            (
                r#"{"data":{"a":"1"}}"#,
                BTreeMap::from([("a".into(), "1".into())]),
            ),
            (r#"{"data":null}"#, BTreeMap::new()),
            ("{}", BTreeMap::new()),
        ] {
            let place = ("argocd".into(), "argocd-cm".into());
            let decoded = Arc::new(data(object.as_bytes()).unwrap());
            watched.objects.insert(place, decoded);
            let present = ConfigMapState::Present(Arc::new(expected));
            assert_eq!(ConfigMapState::of(&watched), present, "{object}");
        }
        watched.away.insert("/api".into(), "refused".into());
        let away = ConfigMapState::Away("refused".into());
        assert_eq!(ConfigMapState::of(&watched), away);
    }
}
