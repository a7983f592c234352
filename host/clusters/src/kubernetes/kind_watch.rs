//! The watch of one Kind: it lists the Kind in pages, and then follows the changes until the session ends.

mod retry;
mod waits;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kindsight_cluster_index::ApiKind;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::connection::{ApiClient, ApiError, Connections, Line, Lines, Seat};
use super::decode::{Decoder, WatchEvent};
use super::discovery::path_of;
use super::jitter::{Backoff, jittered};
use super::list::{PAGE_ITEMS, Pages, SMALLER, url_encoded};
use super::news::{News, WatchId, WatchNews, WatchRequest};
use super::stream::ListStreams;
use super::turn::ClusterTurns;
pub(super) use retry::{Refusals, Retry};
use waits::is_brief;

/// Time after which an outdated version is no sign of a server that forgets versions at once.
const LONG: Duration = Duration::from_mins(1);

/// Time for the server to end a watch after its lifetime. A watch that is still open then is silent.
#[cfg(not(test))]
const GRACE: Duration = Duration::from_secs(10);
#[cfg(test)]
const GRACE: Duration = Duration::from_secs(1);
/// Time between a dropped event and the list that replaces it.
#[cfg(not(test))]
const RELIST_AFTER: Duration = Duration::from_mins(1);
#[cfg(test)]
const RELIST_AFTER: Duration = Duration::from_millis(500);
/// Lifetime of a watch that ends the backoff.
const LASTING: Duration = Duration::from_secs(10);

/// The receiver of news is dropped, or the Kind is no longer watched.
pub(super) struct Closed;

/// The reason why a watch ends.
pub(super) enum End {
    /// The server ended it, or the connection was lost: the watch is resumed.
    Resume,
    /// The requested part of each object changed: the watch continues at the same version.
    Switch,
    /// A new list is requested.
    Relist,
    /// The server no longer knows the version: the Kind is listed again.
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
    /// The only watched namespace; none for all.
    pub(super) namespace: Option<Arc<str>>,
    pub(super) connections: Connections,
    /// Its place on a connection; none before the first request.
    pub(super) seat: Option<Seat>,
    pub(super) decoder: Decoder,
    /// The part of the last query that leaves out objects.
    pub(super) filter: Arc<str>,
    /// The requested objects.
    pub(super) asked: watch::Receiver<WatchRequest>,
    pub(super) news: mpsc::Sender<WatchNews>,
    pub(super) streams: ListStreams,
    pub(super) turns: ClusterTurns,
    pub(super) retry: Retry,
    /// The last version that the watch has seen; 0 if it is not a number.
    pub(super) seen: Arc<AtomicU64>,
    /// Number of objects in a page of a list.
    pub(super) page_items: usize,
    /// Time of the next list, if an event was dropped since the last one.
    pub(super) relist_at: Option<Instant>,
    /// Time until the server ends a watch. A new watch shows withdrawn permissions.
    pub(super) lifetime: Duration,
}

impl KindWatch {
    /// Follows the Kind until the session ends or the Kind is no longer watched.
    pub(super) async fn run(mut self) {
        // Outdated versions have their own backoff. Otherwise, a server that forgets versions at once would get
        // list requests without end.
        let mut too_old = Backoff::default();
        while self.asked.has_changed().is_ok() {
            let Ok(turn) = self.turn().await else {
                return;
            };
            let list = self.take_asked();
            let listed = turn.during(self.list(list)).await;
            let began = Instant::now();
            let end = match listed {
                Ok((version, lines)) => {
                    self.retry.succeeded();
                    self.follow(version, lines, list).await
                }
                Err(end) => end,
            };
            let waited = match end {
                End::Closed => return,
                End::TooOld => {
                    if began.elapsed() >= LONG {
                        too_old = Backoff::default();
                    }
                    if self.pause_before_list(too_old.next()).await.is_err() {
                        return;
                    }
                    continue;
                }
                End::Relist | End::Switch | End::Resume => Ok(false),
                End::Failed(error) => self.fail(error).await,
            };
            if waited.is_err() {
                return;
            }
            too_old = Backoff::default();
        }
    }

    /// Lists all objects. Returns the version to follow from, with an open watch if the list was a stream.
    async fn list(&mut self, number: u64) -> Result<(String, Option<Lines>), End> {
        match self.stream(number).await? {
            Some(opened) => Ok((opened.version, Some(opened.lines))),
            None => Ok((self.list_pages(number).await?, None)),
        }
    }

    /// Lists all objects in pages, and returns the version to follow from.
    async fn list_pages(&mut self, number: u64) -> Result<String, End> {
        let client = self.client().await.map_err(End::Failed)?;
        self.send(News::ListBegins(number)).await?;
        let path = path_of(&self.kind, self.namespace.as_deref());
        let mut pages = Pages::new(
            &client,
            &self.decoder,
            (&path, &self.filter),
            self.page_items,
        );
        let mut version = String::new();
        loop {
            let page = pages.next().await.map_err(|error| match error {
                // The list took longer than the server keeps versions: it is requested again.
                ApiError::Gone { .. } => End::TooOld,
                error => End::Failed(error),
            });
            // The server may need less time for fewer objects.
            self.page_items = match &page {
                Err(End::Failed(ApiError::TimedOut(_))) => PAGE_ITEMS / SMALLER,
                _ => PAGE_ITEMS,
            };
            let Some(page) = page? else {
                self.send(News::ListEnds).await?;
                return Ok(version);
            };
            version = page.resource_version;
            self.send(News::Listed(page.objects)).await?;
        }
    }

    /// Follows the Kind from a version, and resumes when the server ends a watch. The first watch may be open
    /// already.
    async fn follow(&mut self, mut version: String, mut open: Option<Lines>, listed: u64) -> End {
        self.see(&version);
        self.relist_at = None;
        let mut is_first = true;
        loop {
            let lines = match open.take() {
                Some(lines) => Ok(lines),
                // Some extension servers have no versions. A watch that begins again would miss objects that were
                // deleted in between.
                None if version.is_empty() && !is_first => return End::TooOld,
                None => self.open(&version).await,
            };
            let end = match lines {
                Ok(lines) => self.follow_lines(lines, &mut version, listed).await,
                Err(end) => end,
            };
            is_first = false;
            let waited = match end {
                End::Switch => Ok(false),
                // An event was dropped since the last list.
                End::Resume if self.relist_at.is_some() => return End::Relist,
                // The next list has its own pause.
                End::Resume if version.is_empty() => return End::TooOld,
                End::Resume => self.pause_before_resuming().await,
                // After the first failure, the request is repeated without a report.
                End::Failed(error) if self.retry.is_fresh() && is_brief(&error) => {
                    tracing::debug!(kind = %self.kind.gvk, %error, "watch failed; it is resumed");
                    let (_, wait) = self.retry.failed(error);
                    self.pause(wait).await
                }
                End::Failed(error) => self.fail(error).await,
                end => return end,
            };
            match waited {
                Err(Closed) => return End::Closed,
                Ok(is_changed) => {
                    if is_changed && self.take_asked() != listed {
                        return End::Relist;
                    }
                }
            }
        }
    }

    /// Opens a watch from a version.
    async fn open(&mut self, version: &str) -> Result<Lines, End> {
        let client = self.client().await.map_err(End::Failed)?;
        let target = self.watch_target(&format!("resourceVersion={}", url_encoded(version)));
        let answer = client.lines(&target, self.decoder.accept_watch());
        answer.await.map_err(|error| match error {
            ApiError::Gone { .. } => End::TooOld,
            error => End::Failed(error),
        })
    }

    /// The client of its connection.
    pub(super) async fn client(&mut self) -> Result<ApiClient, ApiError> {
        let seat = match self.seat.take().filter(|seat| !seat.client.is_closed()) {
            Some(seat) => seat,
            None => self.connections.seat().await?,
        };
        Ok(self.seat.insert(seat).client.clone())
    }

    /// The path and the query of a watch whose query begins with `begin`.
    pub(super) fn watch_target(&self, begin: &str) -> String {
        let path = path_of(&self.kind, self.namespace.as_deref());
        let (seconds, filter) = (self.lifetime.as_secs().max(1), &self.filter);
        format!("{path}?watch=1&allowWatchBookmarks=true&timeoutSeconds={seconds}&{begin}{filter}")
    }

    /// Follows an open watch. A watch with a sufficient lifetime ends the backoff.
    async fn follow_lines(&mut self, mut lines: Lines, version: &mut String, listed: u64) -> End {
        if self.send(News::Following).await.is_err() {
            return End::Closed;
        }
        let opened = Instant::now();
        let deadline = opened + self.lifetime + GRACE;
        // Timers for each line would be entered and removed with each line.
        let mut lasts = pin!(sleep_until(opened + LASTING.min(self.lifetime / 2)));
        let mut ends = pin!(sleep_until(deadline));
        let mut is_lasting = false;
        loop {
            let line = tokio::select! {
                line = lines.next() => line,
                () = &mut lasts, if !is_lasting => {
                    is_lasting = true;
                    self.retry.succeeded();
                    continue;
                }
                () = sleep_until(self.relist_at.unwrap_or(deadline)), if self.relist_at.is_some() => {
                    return End::Relist;
                }
                () = &mut ends => {
                    tracing::debug!(kind = %self.kind.gvk, "watch is silent after its end; it is resumed");
                    return End::Resume;
                }
                changed = self.asked.changed() => {
                    return match changed {
                        Err(_) => End::Closed,
                        Ok(()) if self.take_asked() == listed => End::Switch,
                        Ok(()) => End::Relist,
                    };
                }
            };
            match line {
                Ok(Some(Line::Whole(line))) => match self.handle(&line, version).await {
                    Ok(()) => {}
                    Err(end) => return end,
                },
                Ok(Some(Line::TooLarge(why))) => {
                    if self.skip(why).await.is_err() {
                        return End::Closed;
                    }
                }
                Ok(None) => return End::Resume,
                Err(error) => return End::Failed(error),
            }
        }
    }

    /// Applies the current request. Returns the number of the requested list.
    fn take_asked(&mut self) -> u64 {
        let asked = self.asked.borrow_and_update();
        self.decoder.detail = asked.detail;
        self.decoder.labels = asked.labels.clone();
        self.filter = Arc::clone(&asked.filter);
        asked.list
    }

    /// Handles one event of a watch.
    async fn handle(&mut self, line: &[u8], version: &mut String) -> Result<(), End> {
        let event = match self.decoder.event(line) {
            Ok(event) => event,
            Err(why) => return Ok(self.skip(why).await?),
        };
        match event {
            WatchEvent::Applied(object, at) => {
                *version = at;
                self.send(News::Applied(object)).await?;
            }
            WatchEvent::Deleted(object, at) => {
                *version = at;
                self.send(News::Deleted(object)).await?;
            }
            WatchEvent::Bookmark(at) | WatchEvent::AllSent(at) => *version = at,
            WatchEvent::Error(status) => {
                return Err(match ApiError::of_status(status) {
                    ApiError::Gone { .. } => End::TooOld,
                    error => End::Failed(error),
                });
            }
        }
        self.see(version);
        Ok(())
    }

    /// Reports an undecodable event. The watch continues with the next event, and its Kind is listed again after
    /// [`RELIST_AFTER`].
    async fn skip(&mut self, why: String) -> Result<(), Closed> {
        let at = Instant::now() + jittered(RELIST_AFTER);
        self.relist_at.get_or_insert(at);
        self.send(News::Undecodable(why)).await
    }

    /// Notes the last version that the watch has seen.
    fn see(&self, version: &str) {
        let version = version.parse().unwrap_or_default();
        self.seen.store(version, Ordering::Relaxed);
    }

    pub(super) async fn send(&self, what: News) -> Result<(), Closed> {
        let watch = self.id;
        let sent = self.news.send(WatchNews { watch, what }).await;
        sent.map_err(|_| Closed)
    }
}
