//! All objects of one Kind of a cluster, or one of them, each decoded by the caller.
//!
//! The watch has no [session](super::session): the caller needs parts of the objects that the index does not pass on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use kindsight_model::clean;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::watch::Sender;
use tokio::time::{Instant, sleep, timeout_at};

use super::connection::{ApiClient, ApiError, Line, Lines};
use super::decode::Status;
use super::jitter::{Backoff, jittered};
use super::kept_client::KeptClient;
use super::list::{SMALLER, url_encoded};
use super::{KubernetesCluster, REASON_BYTES_MAX};
use crate::NamespacedName;

const JSON: &str = "application/json";
/// Number of objects in one page of a list. Fewer than elsewhere, because users may fill these objects.
const PAGE_ITEMS: usize = 100;
/// Time for the server to end a watch after its lifetime. A watch that is still open then is silent.
const GRACE: Duration = Duration::from_secs(10);
/// Time before the objects are listed again after their watch ended.
const RELIST_AFTER: Duration = Duration::from_secs(1);
/// Time between requests for a Kind that the server does not serve or does not allow.
const REFUSED_EVERY: Duration = Duration::from_secs(5);

/// The last known objects of a Kind.
#[derive(Debug)]
pub struct WatchedObjects<T> {
    /// The objects by namespace and name. Those that cannot be decoded are left out.
    pub objects: BTreeMap<(Arc<str>, Arc<str>), Arc<T>>,
    /// The reasons why objects cannot be read, by the path of their list.
    pub away: BTreeMap<String, String>,
    /// True once a list was read.
    pub is_listed: bool,
}

impl<T> Default for WatchedObjects<T> {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
            away: BTreeMap::new(),
            is_listed: false,
        }
    }
}

/// Follows all objects of a Kind in the namespaces of a cluster's watch, or one object.
pub struct ObjectWatch<T> {
    client: KeptClient,
    /// The path of each list, with its namespace; none for the entire cluster.
    lists: Vec<(String, Option<Arc<str>>)>,
    /// The parameter that selects objects, with a leading `&`; empty for all objects.
    selector: String,
    lifetime: Duration,
    objects_max: usize,
    decode: fn(&[u8]) -> Option<T>,
}

impl<T: PartialEq> ObjectWatch<T> {
    /// The watch of a namespaced Kind by its `group/version` and plural, which connects when it runs. It needs the rights to
    /// list and watch the Kind. Objects after the first `objects_max` of a list, and new ones beyond it, are left out.
    pub fn new(
        cluster: &KubernetesCluster,
        (api_version, plural): (&str, &str),
        objects_max: usize,
        decode: fn(&[u8]) -> Option<T>,
    ) -> Self {
        let root = format!("/apis/{api_version}");
        let namespaces = &cluster.options.namespaces;
        let lists = namespaces.iter().map(|namespace| {
            let path = format!("{root}/namespaces/{}/{plural}", url_encoded(namespace));
            (path, Some(Arc::clone(namespace)))
        });
        let mut lists: Vec<_> = lists.collect();
        if lists.is_empty() {
            lists.push((format!("{root}/{plural}"), None));
        }
        Self {
            client: KeptClient::new(cluster.access.clone()),
            lists,
            selector: String::new(),
            lifetime: cluster.options.watch_lifetime,
            objects_max,
            decode,
        }
    }

    /// The watch of one object by the path of the objects of its Kind in its namespace. It needs the rights to list and
    /// watch this object alone.
    pub(super) fn of_one(
        cluster: &KubernetesCluster,
        path: String,
        object: &NamespacedName,
        decode: fn(&[u8]) -> Option<T>,
    ) -> Self {
        Self {
            client: KeptClient::new(cluster.access.clone()),
            lists: vec![(path, None)],
            selector: format!("&fieldSelector=metadata.name%3D{}", object.name()),
            lifetime: cluster.options.watch_lifetime,
            objects_max: 1,
            decode,
        }
    }

    /// Sends the objects after each change, until `state` has no receiver. Retries with backoff.
    pub async fn run(self, state: Sender<WatchedObjects<T>>) {
        let lists = self.lists.iter();
        join_all(lists.map(|list| self.follow_list(list, &state))).await;
    }

    async fn follow_list(
        &self,
        (path, namespace): &(String, Option<Arc<str>>),
        state: &Sender<WatchedObjects<T>>,
    ) {
        let mut backoff = Backoff::default();
        while !state.is_closed() {
            match self.follow(path, namespace.as_ref(), state).await {
                Ok(()) => {
                    backoff = Backoff::default();
                    sleep(jittered(RELIST_AFTER)).await;
                }
                Err(error) => {
                    let is_refused =
                        matches!(error, ApiError::NotFound(_) | ApiError::Forbidden(_));
                    let why = clean(&error.to_string(), REASON_BYTES_MAX).into_owned();
                    let is_unserved = matches!(error, ApiError::NotFound(_));
                    state.send_if_modified(|state| {
                        let is_gone = is_unserved && !state.objects.is_empty();
                        if is_gone {
                            let own = namespace.as_ref();
                            state
                                .objects
                                .retain(|at, _| own.is_some_and(|own| at.0 != *own));
                        }
                        state.away.insert(path.clone(), why.clone()) != Some(why) || is_gone
                    });
                    if is_refused {
                        sleep(jittered(REFUSED_EVERY)).await;
                    } else {
                        self.client.forget().await;
                        sleep(backoff.next()).await;
                    }
                }
            }
        }
    }

    /// Lists the objects, and follows their changes until the watch ends. They must then be listed again.
    async fn follow(
        &self,
        path: &str,
        namespace: Option<&Arc<str>>,
        state: &Sender<WatchedObjects<T>>,
    ) -> Result<(), ApiError> {
        let client = self.client.get().await?.client;
        let (listed, version) = self.list(&client, path).await?;
        state.send_if_modified(|state| {
            let was_away = state.away.remove(path).is_some();
            let was_listed = std::mem::replace(&mut state.is_listed, true);
            let is_of_list = |at: &(Arc<str>, Arc<str>)| namespace.is_none_or(|own| at.0 == *own);
            let before = state.objects.len();
            state
                .objects
                .retain(|at, _| !is_of_list(at) || listed.contains_key(at));
            let mut is_changed = was_away || !was_listed || state.objects.len() != before;
            for (at, object) in listed {
                is_changed |= self.put(state, at, object);
            }
            is_changed
        });
        let lifetime = jittered(self.lifetime);
        let seconds = lifetime.as_secs().max(1);
        let from = url_encoded(&version);
        let selector = &self.selector;
        let watch =
            format!("{path}?watch=1&timeoutSeconds={seconds}&resourceVersion={from}{selector}");
        let mut lines = client.lines(&watch, JSON).await?;
        let deadline = Instant::now() + lifetime + GRACE;
        loop {
            let line = tokio::select! {
                line = next_line(&mut lines, deadline) => line?,
                () = state.closed() => return Ok(()),
            };
            let Some(line) = line else { return Ok(()) };
            match read_event(&line) {
                Ok(None) => {}
                Ok(Some((object, is_deleted))) => {
                    state.send_if_modified(|state| self.take(state, object, is_deleted));
                }
                Err(ApiError::Gone { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// The first objects of a list, and the version of the list. A page that is too large is requested again with a tenth of
    /// its objects.
    async fn list(&self, client: &ApiClient, path: &str) -> Result<(Listed<T>, String), ApiError> {
        let mut listed = BTreeMap::new();
        let (mut items, mut from) = (PAGE_ITEMS, String::new());
        let selector = &self.selector;
        loop {
            let bytes = match client
                .get(&format!("{path}?limit={items}{selector}{from}"), JSON)
                .await
            {
                Err(ApiError::TooLarge(_)) if items > 1 => {
                    items = (items / SMALLER).max(1);
                    continue;
                }
                answer => answer?,
            };
            let page: Page<'_> = serde_json::from_slice(&bytes).map_err(|it| unreadable(&it))?;
            for item in page.items.into_iter().flatten() {
                if listed.len() < self.objects_max
                    && let Some(at) = place(item)
                    && let Some(object) = (self.decode)(item.get().as_bytes())
                {
                    listed.insert(at, object);
                }
            }
            match page.metadata.r#continue.filter(|next| !next.is_empty()) {
                Some(next) => from = format!("&continue={}", url_encoded(&next)),
                None => return Ok((listed, page.metadata.resource_version)),
            }
        }
    }

    /// Takes an object of an event. Returns whether the objects changed.
    fn take(&self, state: &mut WatchedObjects<T>, object: &RawValue, is_deleted: bool) -> bool {
        let Some(at) = place(object) else {
            return false;
        };
        match (self.decode)(object.get().as_bytes()).filter(|_| !is_deleted) {
            None => state.objects.remove(&at).is_some(),
            Some(object) => self.put(state, at, object),
        }
    }

    fn put(&self, state: &mut WatchedObjects<T>, at: Place, object: T) -> bool {
        let known = state.objects.get(&at);
        let is_over = known.is_none() && state.objects.len() >= self.objects_max;
        if is_over || known.is_some_and(|known| **known == object) {
            return false;
        }
        state.objects.insert(at, Arc::new(object));
        true
    }
}

/// Namespace and name of an object.
type Place = (Arc<str>, Arc<str>);

/// The objects of a list.
type Listed<T> = BTreeMap<Place, T>;

/// The next line; none if the watch ended, is silent, or left out an event.
async fn next_line(lines: &mut Lines, deadline: Instant) -> Result<Option<Vec<u8>>, ApiError> {
    match timeout_at(deadline, lines.next()).await {
        Err(_) | Ok(Ok(None | Some(Line::TooLarge(_)))) => Ok(None),
        Ok(Ok(Some(Line::Whole(line)))) => Ok(Some(line)),
        Ok(Err(error)) => Err(error),
    }
}

fn unreadable(error: &serde_json::Error) -> ApiError {
    ApiError::Unreadable(error.to_string())
}

/// The object of an event, and whether it was deleted; none for an event without an object.
fn read_event(line: &[u8]) -> Result<Option<(&RawValue, bool)>, ApiError> {
    let event: WatchLine<'_> = serde_json::from_slice(line).map_err(|it| unreadable(&it))?;
    match event.kind {
        "ERROR" => {
            let status: Status = serde_json::from_str(event.object.get()).unwrap_or_default();
            Err(ApiError::of_status(status))
        }
        "ADDED" | "MODIFIED" => Ok(Some((event.object, false))),
        "DELETED" => Ok(Some((event.object, true))),
        _ => Ok(None),
    }
}

fn place(object: &RawValue) -> Option<Place> {
    let object: Named = serde_json::from_str(object.get()).ok()?;
    Some((object.metadata.namespace, object.metadata.name))
}

#[derive(Deserialize)]
struct Named {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    namespace: Arc<str>,
    name: Arc<str>,
}

/// A line of a watch.
#[derive(Deserialize)]
struct WatchLine<'j> {
    #[serde(rename = "type")]
    kind: &'j str,
    #[serde(borrow)]
    object: &'j RawValue,
}

/// A page of a list.
#[derive(Deserialize)]
struct Page<'j> {
    #[serde(default)]
    metadata: ListMetadata,
    #[serde(borrow, default)]
    items: Option<Vec<&'j RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListMetadata {
    resource_version: String,
    r#continue: Option<String>,
}
