//! The ResourceBundleStates of a cluster by their metadata, for the agent that writes them.
//!
//! The watch of a [session](super::session) reads the reports in these objects. This watch has no session: it begins
//! before the agent knows which deployments to report.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kindsight_model::{DeploymentId, clean, is_label_value};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep, timeout_at};

use super::connection::{ApiClient, ApiError, Line, Lines};
use super::decode::Status;
use super::jitter::{Backoff, jittered};
use super::kept_client::KeptClient;
use super::list::{PAGE_ITEMS, url_encoded};
use super::{KubernetesCluster, REASON_BYTES_MAX};

/// The path of the objects in all namespaces.
const PATH: &str = "/apis/k8splugin.io/v1alpha1/resourcebundlestates";
/// The media types of lists and events with only the metadata.
const LIST: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
const EVENT: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/// Prefix of the annotations that are kept.
const OWN_ANNOTATIONS: &str = "kindsight.dev/";
/// Maximum number of objects. Further objects are left out.
const STATES_MAX: usize = 20_000;
/// Time until the server ends a watch.
const LIFETIME: Duration = Duration::from_mins(5);
/// Time for the server to end a watch after its lifetime. A watch that is still open then is silent.
const GRACE: Duration = Duration::from_secs(10);
/// Time without a failure that ends the backoff.
const LASTING: Duration = Duration::from_secs(10);
/// Time before a watch that the server ended is resumed.
const RESUME_AFTER: Duration = Duration::from_millis(100);
/// Lifetime of a watch that is resumed without backoff.
const RESUMED_AT_ONCE: Duration = Duration::from_secs(1);
/// Time between requests for a Kind that the server does not serve or does not allow.
const REFUSED_EVERY: Duration = Duration::from_secs(5);

/// A ResourceBundleState without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateMetadata {
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its uid.
    pub uid: Arc<str>,
    /// Its version.
    pub version: Arc<str>,
    /// The deployment that its label names; none without a valid label.
    pub deployment: Option<DeploymentId>,
    /// Its annotations whose keys begin with `kindsight.dev/`.
    pub annotations: BTreeMap<String, String>,
    /// The uids of its owners.
    pub owners: Vec<Arc<str>>,
    /// The managers that wrote its status.
    pub status_managers: Vec<StatusManager>,
}

/// A manager of fields of a status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusManager {
    /// Its name, cleaned.
    pub name: String,
    /// The time of its last change in RFC 3339, as the API server writes it.
    pub time: String,
}

/// A change of the ResourceBundleStates of a cluster.
#[derive(Debug)]
pub enum BundleStateEvent {
    /// All objects. Objects that are not among them do not exist.
    Listed(Vec<StateMetadata>),
    /// An object was added or changed.
    Applied(Box<StateMetadata>),
    /// An object was deleted.
    Deleted(Box<StateMetadata>),
    /// The objects cannot be listed, for this reason. Sent for each attempt.
    Away(String),
}

/// Follows the ResourceBundleStates of a cluster.
pub struct BundleStateWatch {
    client: KeptClient,
}

/// The reason why a watch ends.
enum End {
    /// The receiver is dropped.
    Closed,
    /// The server ended it: it is resumed at its last version.
    Resume,
    /// The objects are listed again.
    Relist,
    Failed(ApiError),
}

impl From<ApiError> for End {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Gone { .. } => Self::Relist,
            error => Self::Failed(error),
        }
    }
}

impl BundleStateWatch {
    /// The watch of a cluster, which connects when it runs.
    pub fn new(cluster: &KubernetesCluster) -> Self {
        Self {
            client: KeptClient::new(cluster.access.clone()),
        }
    }

    /// Sends the objects and their changes, until `events` is closed. Waits while `events` is full. Retries with backoff.
    pub async fn run(self, events: Sender<BundleStateEvent>) {
        let mut backoff = Backoff::default();
        while !events.is_closed() {
            let began = Instant::now();
            let end = self.follow(&events).await;
            if began.elapsed() > LASTING {
                backoff = Backoff::default();
            }
            match end {
                End::Closed => return,
                End::Resume | End::Relist => sleep(backoff.next()).await,
                End::Failed(error) => {
                    let is_refused =
                        matches!(error, ApiError::NotFound(_) | ApiError::Forbidden(_));
                    if !is_refused {
                        self.client.forget().await;
                    }
                    let why = clean(&error.to_string(), REASON_BYTES_MAX).into_owned();
                    if events.send(BundleStateEvent::Away(why)).await.is_err() {
                        return;
                    }
                    let wait = if is_refused {
                        jittered(REFUSED_EVERY)
                    } else {
                        backoff.next()
                    };
                    sleep(wait).await;
                }
            }
        }
    }

    /// Lists the objects, and follows their changes.
    async fn follow(&self, events: &Sender<BundleStateEvent>) -> End {
        let client = match self.client.get().await {
            Ok(kept) => kept.client,
            Err(error) => return End::Failed(error),
        };
        let (states, mut version) = match list(&client).await {
            Ok(listed) => listed,
            Err(error) => return error.into(),
        };
        if events.send(BundleStateEvent::Listed(states)).await.is_err() {
            return End::Closed;
        }
        let mut backoff = Backoff::default();
        loop {
            let began = Instant::now();
            match watch(&client, &mut version, events).await {
                Err(End::Resume) | Ok(()) => {
                    sleep(pause_after(began.elapsed(), &mut backoff)).await;
                }
                Err(end) => return end,
            }
        }
    }
}

/// The pause before a watch that the server ended after some time is resumed.
fn pause_after(lasted: Duration, backoff: &mut Backoff) -> Duration {
    if lasted < RESUMED_AT_ONCE {
        return backoff.next();
    }
    *backoff = Backoff::default();
    jittered(RESUME_AFTER)
}

/// All objects, and the version of the list.
async fn list(client: &ApiClient) -> Result<(Vec<StateMetadata>, String), ApiError> {
    let mut states = Vec::new();
    let mut from = String::new();
    loop {
        let target = format!("{PATH}?limit={PAGE_ITEMS}{from}");
        let bytes = client.get(&target, LIST).await?;
        let unreadable = |error: serde_json::Error| ApiError::Unreadable(error.to_string());
        let page: Page = serde_json::from_slice(&bytes).map_err(unreadable)?;
        let items = page.items.into_iter().flatten();
        states.extend(items.map(|item| item.metadata.into_state()));
        states.truncate(STATES_MAX);
        match page.metadata.r#continue.filter(|next| !next.is_empty()) {
            Some(next) => from = format!("&continue={}", url_encoded(&next)),
            None => return Ok((states, page.metadata.resource_version)),
        }
    }
}

/// Follows the changes from a version until the watch ends.
async fn watch(
    client: &ApiClient,
    version: &mut String,
    events: &Sender<BundleStateEvent>,
) -> Result<(), End> {
    let lifetime = jittered(LIFETIME);
    let (seconds, from) = (lifetime.as_secs(), url_encoded(version));
    let target = format!(
        "{PATH}?watch=1&allowWatchBookmarks=true&timeoutSeconds={seconds}&resourceVersion={from}"
    );
    let mut lines = client.lines(&target, EVENT).await?;
    let deadline = Instant::now() + lifetime + GRACE;
    loop {
        let line = tokio::select! {
            line = next_line(&mut lines, deadline) => line?,
            () = events.closed() => return Err(End::Closed),
        };
        let (at, event) = read_event(&line)?;
        *version = at;
        if let Some(event) = event
            && events.send(event).await.is_err()
        {
            return Err(End::Closed);
        }
    }
}

async fn next_line(lines: &mut Lines, deadline: Instant) -> Result<Vec<u8>, End> {
    match timeout_at(deadline, lines.next()).await {
        // The watch is silent after its end.
        Err(_) | Ok(Ok(None)) => Err(End::Resume),
        Ok(Ok(Some(Line::Whole(line)))) => Ok(line),
        Ok(Ok(Some(Line::TooLarge(_)))) => Err(End::Relist),
        Ok(Err(error)) => Err(error.into()),
    }
}

/// The version of an event, and the event; none for a bookmark.
fn read_event(line: &[u8]) -> Result<(String, Option<BundleStateEvent>), End> {
    let unreadable = |error: serde_json::Error| ApiError::Unreadable(error.to_string());
    let event: WatchLine<'_> = serde_json::from_slice(line).map_err(unreadable)?;
    if event.kind == "ERROR" {
        let status: Status = serde_json::from_str(event.object.get()).unwrap_or_default();
        return Err(ApiError::of_status(status).into());
    }
    let item: Item = serde_json::from_str(event.object.get()).map_err(unreadable)?;
    let version = item.metadata.resource_version.clone();
    let state = || Box::new(item.metadata.into_state());
    let event = match &*event.kind {
        "ADDED" | "MODIFIED" => Some(BundleStateEvent::Applied(state())),
        "DELETED" => Some(BundleStateEvent::Deleted(state())),
        _ => None,
    };
    Ok((version, event))
}

/// A line of a watch.
#[derive(Deserialize)]
struct WatchLine<'j> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    object: &'j RawValue,
}

/// A page of a list.
#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    metadata: ListMetadata,
    #[serde(default)]
    items: Option<Vec<Item>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListMetadata {
    resource_version: String,
    r#continue: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: Arc<str>,
    namespace: Arc<str>,
    uid: Arc<str>,
    resource_version: String,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    owner_references: Vec<OwnerReference>,
    managed_fields: Vec<ManagedFields>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OwnerReference {
    uid: Arc<str>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ManagedFields {
    manager: String,
    subresource: String,
    time: String,
}

impl Metadata {
    fn into_state(self) -> StateMetadata {
        let label = self.labels.get(DeploymentId::LABEL);
        let label = label.filter(|label| is_label_value(label));
        let mut annotations = self.annotations;
        annotations.retain(|key, _| key.starts_with(OWN_ANNOTATIONS));
        let of_status = self.managed_fields.into_iter();
        let of_status = of_status.filter(|entry| entry.subresource == "status");
        StateMetadata {
            deployment: label.and_then(|label| label.parse().ok()),
            namespace: self.namespace,
            name: self.name,
            uid: self.uid,
            version: self.resource_version.into(),
            annotations,
            owners: self
                .owner_references
                .into_iter()
                .map(|owner| owner.uid)
                .collect(),
            status_managers: of_status
                .map(|entry| StatusManager {
                    name: clean(&entry.manager, REASON_BYTES_MAX).into_owned(),
                    time: entry.time,
                })
                .collect(),
        }
    }
}

impl StateMetadata {
    /// Reads the metadata of a ResourceBundleState in an answer of the API server. Returns `None` if the answer is no
    /// object.
    pub fn read(answer: &[u8]) -> Option<Self> {
        let item: Item = serde_json::from_slice(answer).ok()?;
        Some(item.metadata.into_state())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_metadata_that_a_writer_needs() {
        let line = br#"{"type":"MODIFIED","object":{"kind":"PartialObjectMetadata","metadata":{
            "name":"7-front","namespace":"default","uid":"u","resourceVersion":"12",
            "labels":{"emco/deployment-id":"7-front"},
            "annotations":{"kindsight.dev/monitor":"a","other":"b"},
            "ownerReferences":[{"uid":"o"}],
            "managedFields":[{"manager":"rsync","time":"2026-01-01T00:00:00Z"},
                {"manager":"monitor\u001b","subresource":"status","time":"2026-01-01T00:00:01Z"}]}}}"#;
        let Ok((version, Some(BundleStateEvent::Applied(state)))) = read_event(line) else {
            unreachable!("an event");
        };
        assert_eq!(version, "12");
        assert_eq!(state.deployment, "7-front".parse().ok());
        assert_eq!(state.annotations.len(), 1);
        assert_eq!(*state.owners, [Arc::from("o")]);
        let managers: Vec<&str> = state.status_managers.iter().map(|it| &*it.name).collect();
        assert_eq!(managers.len(), 1);
        assert!(!managers[0].contains('\u{1b}'));
    }

    #[test]
    fn a_server_that_ends_each_watch_at_once_is_not_asked_without_a_pause() {
        let mut backoff = Backoff::default();
        let pauses = (0..10).map(|_| pause_after(Duration::ZERO, &mut backoff));
        assert!(pauses.last().unwrap() > Duration::from_secs(1));
        let pause = pause_after(RESUMED_AT_ONCE, &mut backoff);
        assert!(pause < RESUME_AFTER * 2);
        assert!(backoff.is_fresh());
    }

    #[test]
    fn a_bookmark_has_a_version_and_an_old_version_needs_a_list() {
        let line = br#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"40"}}}"#;
        assert!(matches!(read_event(line), Ok((version, None)) if version == "40"));
        let line = br#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"old"}}"#;
        assert!(matches!(read_event(line), Err(End::Relist)));
        assert!(matches!(read_event(b"{"), Err(End::Failed(_))));
    }
}
