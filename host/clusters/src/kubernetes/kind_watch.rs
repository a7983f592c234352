//! The watch of one Kind: listed in pages, then followed, for as long as the cluster is.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use super::connection::{ApiClient, ApiError};
use super::decode::{Decoded, Decoder, Detail, WatchEvent};
use super::discovery::ApiKind;
use super::jitter::Backoff;

/// Number of objects in one page of a list.
const PAGE_ITEMS: usize = 500;

/// The number of a watch among those of its cluster.
pub(super) type WatchId = usize;

/// News of one watch, by its number.
#[derive(Debug)]
pub(super) struct WatchNews {
    pub(super) watch: WatchId,
    pub(super) what: News,
}

/// News of one watch.
#[derive(Debug)]
pub(super) enum News {
    /// A list begins: what is not in it is not there.
    ListBegins(Detail),
    /// Some objects of the list.
    Listed(Vec<Decoded>),
    /// The list is whole.
    ListEnds,
    /// An object was added or changed.
    Applied(Box<Decoded>),
    /// An object was deleted.
    Deleted(Box<Decoded>),
    /// The watch is followed, after it was listed or could not be.
    Following,
    /// It cannot be listed or followed, and is tried again.
    Failed(ApiError),
}

/// The receiver of news is gone.
struct Closed;

/// The reason why a watch ends.
enum End {
    /// By itself, or from a lost connection: it is resumed.
    Resume,
    /// It has to be listed again, since another amount is asked for.
    Relist,
    /// It has to be listed again, since the server does not know the version any more.
    TooOld,
    /// It failed.
    Failed(ApiError),
    Closed,
}

impl From<Closed> for End {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

/// One watch.
pub(super) struct KindWatch {
    pub(super) id: WatchId,
    pub(super) kind: Arc<ApiKind>,
    /// The only namespace it is about; none for all.
    pub(super) namespace: Option<Arc<str>>,
    pub(super) client: ApiClient,
    pub(super) decoder: Decoder,
    /// The amount that is asked for; a change begins a new list.
    pub(super) detail: watch::Receiver<Detail>,
    pub(super) news: mpsc::Sender<WatchNews>,
    /// Time until the server ends a watch by itself: rights that were withdrawn show then.
    pub(super) lifetime: Duration,
}

impl KindWatch {
    /// Follows the Kind until the receiver of its news is gone.
    pub(super) async fn run(mut self) {
        let mut backoff = Backoff::default();
        // Of its own: a server that forgets versions at once must not be asked for lists in a circle.
        let mut too_old = Backoff::default();
        // Its Kind is not served any more where nobody asks for an amount.
        while self.detail.has_changed().is_ok() {
            self.decoder.detail = *self.detail.borrow_and_update();
            let end = match self.list().await {
                Ok(version) => {
                    backoff = Backoff::default();
                    self.follow(version).await
                }
                Err(end) => end,
            };
            match end {
                End::Closed => return,
                End::TooOld => {
                    sleep(too_old.next()).await;
                    continue;
                }
                End::Relist | End::Resume => {}
                End::Failed(error) => {
                    if self.tell(News::Failed(error)).await.is_err() {
                        return;
                    }
                    sleep(backoff.next()).await;
                }
            }
            too_old = Backoff::default();
        }
    }

    /// Lists all objects, and returns the version to follow from.
    async fn list(&mut self) -> Result<String, End> {
        self.tell(News::ListBegins(self.decoder.detail)).await?;
        let path = self.kind.path(self.namespace.as_deref());
        let mut next: Option<String> = None;
        loop {
            let from = next.map(|it| format!("&continue={}", url_encoded(&it)));
            let path = format!("{path}?limit={PAGE_ITEMS}{}", from.unwrap_or_default());
            let answer = self
                .client
                .get(&path, self.accept("PartialObjectMetadataList"));
            let bytes = answer.await.map_err(|error| match error {
                // The list took longer than the server remembers: it begins again.
                ApiError::Gone(_) => End::TooOld,
                error => End::Failed(error),
            })?;
            let page = self.decoder.page(&bytes);
            let page = page.map_err(|error| End::Failed(ApiError::Unreadable(error)))?;
            self.tell(News::Listed(page.objects)).await?;
            next = page.next;
            if next.is_none() {
                self.tell(News::ListEnds).await?;
                return Ok(page.resource_version);
            }
        }
    }

    /// Follows the Kind from a version, and resumes where the server ends a watch.
    async fn follow(&mut self, mut version: String) -> End {
        let mut backoff = Backoff::default();
        loop {
            match self.follow_once(&mut version, &mut backoff).await {
                End::Resume => sleep(backoff.next()).await,
                // A connection that is lost is tried again at once, and told only if that fails too.
                End::Failed(ApiError::Unreachable(why)) if backoff.is_fresh() => {
                    tracing::debug!(kind = %self.kind.gvk, why, "watch lost; it is resumed");
                    sleep(backoff.next()).await;
                }
                End::Failed(error) => {
                    if self.tell(News::Failed(error)).await.is_err() {
                        return End::Closed;
                    }
                    sleep(backoff.next()).await;
                }
                end => return end,
            }
        }
    }

    async fn follow_once(&mut self, version: &mut String, backoff: &mut Backoff) -> End {
        let path = self.kind.path(self.namespace.as_deref());
        let seconds = self.lifetime.as_secs().max(1);
        let from = url_encoded(version);
        let path = format!(
            "{path}?watch=1&allowWatchBookmarks=true&timeoutSeconds={seconds}&resourceVersion={from}"
        );
        let answer = self
            .client
            .lines(&path, self.accept("PartialObjectMetadata"));
        let mut lines = match answer.await {
            Ok(lines) => lines,
            Err(ApiError::Gone(_)) => return End::TooOld,
            Err(error) => return End::Failed(error),
        };
        *backoff = Backoff::default();
        if self.tell(News::Following).await.is_err() {
            return End::Closed;
        }
        loop {
            let line = tokio::select! {
                line = lines.next() => line,
                changed = self.detail.changed() => {
                    return if changed.is_ok() { End::Relist } else { End::Closed };
                }
            };
            match line {
                Ok(Some(line)) => match self.handle(&line, version).await {
                    Ok(()) => {}
                    Err(end) => return end,
                },
                Ok(None) => return End::Resume,
                Err(error) => return End::Failed(error),
            }
        }
    }

    /// Handles one event of a watch.
    async fn handle(&mut self, line: &[u8], version: &mut String) -> Result<(), End> {
        let event = self.decoder.event(line);
        match event.map_err(|error| End::Failed(ApiError::Unreadable(error)))? {
            WatchEvent::Applied(object, at) => {
                *version = at;
                self.tell(News::Applied(object)).await?;
            }
            WatchEvent::Deleted(object, at) => {
                *version = at;
                self.tell(News::Deleted(object)).await?;
            }
            WatchEvent::Bookmark(at) => *version = at,
            WatchEvent::Error(status) => {
                return Err(match ApiError::of_status(status) {
                    ApiError::Gone(_) => End::TooOld,
                    error => End::Failed(error),
                });
            }
        }
        Ok(())
    }

    fn accept(&self, partial: &str) -> &'static str {
        match (self.decoder.detail, partial) {
            (Detail::Whole, _) => "application/json",
            (_, "PartialObjectMetadataList") => {
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
            }
            _ => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
        }
    }

    async fn tell(&self, what: News) -> Result<(), Closed> {
        let watch = self.id;
        let sent = self.news.send(WatchNews { watch, what }).await;
        sent.map_err(|_| Closed)
    }
}

/// A value of a query, encoded.
fn url_encoded(value: &str) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    let encoded = value.bytes().map(|byte| {
        if is_plain(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    });
    encoded.collect()
}
