//! The watch of one Kind: listed in pages, then followed, for as long as the cluster is.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};

use super::connection::{ApiClient, ApiError, Lines};
use super::decode::{Decoder, WatchEvent};
use super::discovery::ApiKind;
use super::jitter::Backoff;
use super::list::{Pages, url_encoded};
use super::news::{Asked, News, WatchId, WatchNews};
use super::stream::ListStreams;

/// Time after which a version that is too old is no sign of a server that forgets versions at once.
const LONG: Duration = Duration::from_mins(1);

/// The receiver of news is gone.
pub(super) struct Closed;

/// The reason why a watch ends.
pub(super) enum End {
    /// By itself, or from a lost connection: it is resumed.
    Resume,
    /// It goes on from where it is with another amount of each object.
    Switch,
    /// It has to be listed again, since that is asked for.
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
    /// The part of the query that leaves out objects, as it was last asked for.
    pub(super) filter: Arc<str>,
    /// The objects that are asked for.
    pub(super) asked: watch::Receiver<Asked>,
    pub(super) news: mpsc::Sender<WatchNews>,
    pub(super) streams: ListStreams,
    /// Time until the server ends a watch by itself: rights that were withdrawn show then.
    pub(super) lifetime: Duration,
}

impl KindWatch {
    /// Follows the Kind until the receiver of its news is gone.
    pub(super) async fn run(mut self) {
        let mut backoff = Backoff::default();
        // Of its own: a server that forgets versions at once must not be asked for lists in a circle.
        let mut too_old = Backoff::default();
        // Its Kind is not served any more where nobody asks for its objects.
        while self.asked.has_changed().is_ok() {
            let list = self.take_asked();
            let listed = match self.stream(list).await {
                Ok(Some(it)) => Ok((it.version, Some(it.lines))),
                Ok(None) => self.list(list).await.map(|version| (version, None)),
                Err(end) => Err(end),
            };
            let began = Instant::now();
            let end = match listed {
                Ok((version, lines)) => {
                    backoff = Backoff::default();
                    self.follow(version, lines, list).await
                }
                Err(end) => end,
            };
            match end {
                End::Closed => return,
                End::TooOld => {
                    if began.elapsed() >= LONG {
                        too_old = Backoff::default();
                    }
                    sleep(too_old.next()).await;
                    continue;
                }
                End::Relist | End::Switch | End::Resume => {}
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

    /// Lists all objects in pages, and returns the version to follow from.
    async fn list(&self, number: u64) -> Result<String, End> {
        self.tell(News::ListBegins(number)).await?;
        let path = self.kind.path(self.namespace.as_deref());
        let mut pages = Pages::new(&self.client, &self.decoder, &path, &self.filter);
        let mut version = String::new();
        loop {
            let page = pages.next().await.map_err(|error| match error {
                // The list took longer than the server remembers: it begins again.
                ApiError::Gone(_) => End::TooOld,
                error => End::Failed(error),
            })?;
            let Some(page) = page else {
                self.tell(News::ListEnds).await?;
                return Ok(version);
            };
            version = page.resource_version;
            self.tell(News::Listed(page.objects)).await?;
        }
    }

    /// Follows the Kind from a version, and resumes where the server ends a watch.
    /// The first watch may be open already.
    async fn follow(&mut self, mut version: String, mut open: Option<Lines>, listed: u64) -> End {
        let mut backoff = Backoff::default();
        loop {
            let lines = match open.take() {
                Some(lines) => Ok(lines),
                None => self.open(&version).await,
            };
            let end = match lines {
                Ok(lines) => {
                    backoff = Backoff::default();
                    self.follow_lines(lines, &mut version, listed).await
                }
                Err(end) => end,
            };
            match end {
                End::Switch => {}
                // Some extension servers know no versions: what was deleted in between would be missed.
                End::Resume if version.is_empty() => return End::TooOld,
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

    /// Opens a watch from a version.
    async fn open(&self, version: &str) -> Result<Lines, End> {
        let target = self.watch_target(&format!("resourceVersion={}", url_encoded(version)));
        let answer = self.client.lines(&target, self.decoder.accept_watch());
        answer.await.map_err(|error| match error {
            ApiError::Gone(_) => End::TooOld,
            error => End::Failed(error),
        })
    }

    /// The path and the query of a watch that begins in this way.
    pub(super) fn watch_target(&self, begin: &str) -> String {
        let path = self.kind.path(self.namespace.as_deref());
        let (seconds, filter) = (self.lifetime.as_secs().max(1), &self.filter);
        format!("{path}?watch=1&allowWatchBookmarks=true&timeoutSeconds={seconds}&{begin}{filter}")
    }

    async fn follow_lines(&mut self, mut lines: Lines, version: &mut String, listed: u64) -> End {
        if self.tell(News::Following).await.is_err() {
            return End::Closed;
        }
        loop {
            let line = tokio::select! {
                line = lines.next() => line,
                changed = self.asked.changed() => {
                    return match changed {
                        Err(_) => End::Closed,
                        Ok(()) if self.take_asked() == listed => End::Switch,
                        Ok(()) => End::Relist,
                    };
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

    /// Reads from now on what is asked for. Returns the number of the list that is asked for.
    fn take_asked(&mut self) -> u64 {
        let asked = self.asked.borrow_and_update();
        self.decoder.detail = asked.detail;
        self.decoder.labels = asked.labels.clone();
        self.filter = Arc::clone(&asked.filter);
        asked.list
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
            WatchEvent::Bookmark(at) | WatchEvent::AllSent(at) => *version = at,
            WatchEvent::Error(status) => {
                return Err(match ApiError::of_status(status) {
                    ApiError::Gone(_) => End::TooOld,
                    error => End::Failed(error),
                });
            }
        }
        Ok(())
    }

    pub(super) async fn tell(&self, what: News) -> Result<(), Closed> {
        let watch = self.id;
        let sent = self.news.send(WatchNews { watch, what }).await;
        sent.map_err(|_| Closed)
    }
}
