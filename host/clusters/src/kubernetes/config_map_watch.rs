//! One ConfigMap of a cluster, followed by its name.
//!
//! The watch has no [session](super::session), so that it needs only the rights for this one object.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use kindsight_model::{ClusterName, clean};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::watch::Sender;
use tokio::time::{Instant, sleep, timeout_at};

use super::connection::{ApiError, Line};
use super::decode::Status;
use super::jitter::{Backoff, jittered};
use super::kept_client::KeptClient;
use super::list::url_encoded;
use super::{KubernetesCluster, REASON_BYTES_MAX};
use crate::NamespacedName;

const JSON: &str = "application/json";
/// Time for the server to end a watch after its lifetime. A watch that is still open then is silent.
const GRACE: Duration = Duration::from_secs(10);
/// Time before a ConfigMap is read again after its watch ended.
const REREAD_AFTER: Duration = Duration::from_secs(1);

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
pub struct ConfigMapWatch {
    client: KeptClient,
    /// The path of the ConfigMaps of the namespace.
    path: String,
    /// The part of the query that selects the ConfigMap.
    selector: String,
    lifetime: Duration,
}

impl ConfigMapWatch {
    /// The watch of a ConfigMap of a cluster, which connects when it runs. It needs the rights to list and watch this
    /// one ConfigMap.
    pub fn new(cluster: &KubernetesCluster, object: &NamespacedName) -> Self {
        Self {
            client: KeptClient::new(cluster.access.clone()),
            path: format!("/api/v1/namespaces/{}/configmaps", object.namespace()),
            selector: format!("fieldSelector=metadata.name%3D{}", object.name()),
            lifetime: cluster.options.watch_lifetime,
        }
    }

    /// Sends the state of the ConfigMap after each change, until `state` has no receiver. Retries with backoff.
    pub async fn run(self, state: Sender<ConfigMapState>) {
        let mut backoff = Backoff::default();
        while !state.is_closed() {
            match self.follow(&state).await {
                Ok(()) => {
                    backoff = Backoff::default();
                    sleep(jittered(REREAD_AFTER)).await;
                }
                Err(error) => {
                    self.client.forget().await;
                    let why = clean(&error.to_string(), REASON_BYTES_MAX).into_owned();
                    send(&state, ConfigMapState::Away(why));
                    sleep(backoff.next()).await;
                }
            }
        }
    }

    /// Reads the ConfigMap, and follows its changes until the watch ends. It must then be read again.
    async fn follow(&self, state: &Sender<ConfigMapState>) -> Result<(), ApiError> {
        let client = self.client.get().await?.client;
        let Self { path, selector, .. } = self;
        let listed = client.get(&format!("{path}?{selector}"), JSON).await?;
        let listed: List = serde_json::from_slice(&listed).map_err(|error| unreadable(&error))?;
        let found = listed.items.into_iter().flatten().next();
        send(state, found.map_or(ConfigMapState::Missing, present));
        let lifetime = jittered(self.lifetime);
        let seconds = lifetime.as_secs().max(1);
        let from = url_encoded(&listed.metadata.resource_version);
        let watch =
            format!("{path}?watch=1&{selector}&timeoutSeconds={seconds}&resourceVersion={from}");
        let mut lines = client.lines(&watch, JSON).await?;
        let deadline = Instant::now() + lifetime + GRACE;
        loop {
            let line = tokio::select! {
                line = timeout_at(deadline, lines.next()) => line,
                () = state.closed() => return Ok(()),
            };
            match line {
                // The server ended the watch, it is silent, or an event was left out.
                Err(_) | Ok(Ok(None | Some(Line::TooLarge(_)))) => return Ok(()),
                Ok(Ok(Some(Line::Whole(line)))) => match read_event(&line) {
                    Ok(change) => change.into_iter().for_each(|change| send(state, change)),
                    Err(ApiError::Gone(_)) => return Ok(()),
                    Err(error) => return Err(error),
                },
                Ok(Err(error)) => return Err(error),
            }
        }
    }
}

/// Sends a state that differs from the last one.
fn send(state: &Sender<ConfigMapState>, now: ConfigMapState) {
    state.send_if_modified(|last| {
        let is_changed = *last != now;
        *last = now;
        is_changed
    });
}

fn present(item: Item) -> ConfigMapState {
    ConfigMapState::Present(Arc::new(item.data.unwrap_or_default()))
}

fn unreadable(error: &serde_json::Error) -> ApiError {
    ApiError::Unreadable(error.to_string())
}

/// The state of the ConfigMap after an event; none for an event that does not concern it.
fn read_event(line: &[u8]) -> Result<Option<ConfigMapState>, ApiError> {
    let event: WatchLine<'_> = serde_json::from_slice(line).map_err(|error| unreadable(&error))?;
    Ok(match event.kind {
        "ERROR" => {
            let status: Status = serde_json::from_str(event.object.get()).unwrap_or_default();
            return Err(ApiError::of_status(status));
        }
        "ADDED" | "MODIFIED" => {
            let item =
                serde_json::from_str(event.object.get()).map_err(|error| unreadable(&error))?;
            Some(present(item))
        }
        "DELETED" => Some(ConfigMapState::Missing),
        _ => None,
    })
}

/// A line of a watch.
#[derive(Deserialize)]
struct WatchLine<'j> {
    #[serde(rename = "type")]
    kind: &'j str,
    #[serde(borrow)]
    object: &'j RawValue,
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    metadata: ListMetadata,
    #[serde(default)]
    items: Option<Vec<Item>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListMetadata {
    resource_version: String,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    data: Option<BTreeMap<String, String>>,
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
    fn an_event_gives_the_state_of_the_config_map() {
        let present = |data: &[(&str, &str)]| {
            let data = data
                .iter()
                .map(|(key, text)| ((*key).into(), (*text).into()));
            Some(ConfigMapState::Present(Arc::new(data.collect())))
        };
        for (line, state) in [
            (
                r#"{"type":"ADDED","object":{"data":{"a":"1"}}}"#,
                present(&[("a", "1")]),
            ),
            (
                r#"{"type":"MODIFIED","object":{"data":null}}"#,
                present(&[]),
            ),
            (
                r#"{"type":"DELETED","object":{}}"#,
                Some(ConfigMapState::Missing),
            ),
            (r#"{"type":"BOOKMARK","object":{}}"#, None),
        ] {
            assert_eq!(read_event(line.as_bytes()), Ok(state), "{line}");
        }
        let gone = br#"{"type":"ERROR","object":{"code":410,"message":"old"}}"#;
        assert!(matches!(read_event(gone), Err(ApiError::Gone(_))));
        assert!(matches!(read_event(b"{"), Err(ApiError::Unreadable(_))));
    }
}
