//! The single watch of a store, which feeds its change log.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use etcd_client::{EventType, WatchOptions, WatchResponse, WatchStream};
use tokio::sync::watch::Sender;
use tokio::time::{sleep, timeout};

use super::failure::{Failure, clipped};
use super::key_space::Span;
use super::link::{Link, no_answer, number, on_the_wire};
use super::witness::Witness;
use crate::change_log::ChangeLog;
use crate::{Change, ChangeKind, Connection, Revision};

/// The first pause before the watch is restarted. It doubles with each failure.
const PAUSE: Duration = Duration::from_millis(50);
/// The longest pause before the watch is restarted.
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// The largest message of a watch, in bytes. Members split messages that are larger than a request.
const MESSAGE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The reason why a watch ended.
enum End {
    /// The watch broke, for this reason.
    Lost(String),
    /// The revision at which the watch should resume is compacted, or belongs to another etcd.
    Compacted,
}

/// Follows the changes in a span of keys.
pub(super) struct Follower {
    pub(super) link: Arc<Link>,
    pub(super) log: Arc<ChangeLog>,
    pub(super) connection: Arc<Sender<Connection>>,
    pub(super) span: Span,
    /// The revision up to which the log contains every change.
    pub(super) position: Revision,
    /// The last change that the watch received, if any.
    pub(super) witness: Option<Witness>,
    /// Changes of a split message, until its last part arrives.
    pub(super) split: Vec<(Revision, Change)>,
}

impl Follower {
    /// Runs until it is dropped.
    pub(super) async fn run(mut self) {
        let mut pause = PAUSE;
        let mut lost_ms = None;
        loop {
            let position = self.position;
            let watched = self.watch(&mut lost_ms).await;
            let (is_heard, end) = watched;
            match end {
                End::Lost(reason) => {
                    // A watch that breaks is restarted immediately. The store counts as away only
                    // if the restart fails.
                    let since_ms = *lost_ms.get_or_insert_with(now_ms);
                    if !is_heard {
                        self.report(&Connection::Away { since_ms, reason });
                    }
                }
                End::Compacted => self.restart_from_now().await,
            }
            if is_heard || position != self.position {
                pause = PAUSE;
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Watches until the watch ends. Returns whether the watch received anything, and why it ended.
    async fn watch(&mut self, lost_ms: &mut Option<u64>) -> (bool, End) {
        let mut stream = match self.begin().await {
            Ok(stream) => stream,
            Err(failure) => return (false, self.lost(failure).await),
        };
        let mut is_heard = false;
        loop {
            let message = match self.message(&mut stream, is_heard).await {
                Ok(message) => message,
                Err(end) => return (is_heard, end),
            };
            if let Some(end) = self.ended(&message).await {
                return (is_heard, end);
            }
            if !is_heard {
                is_heard = true;
                *lost_ms = None;
                self.report(&Connection::Connected);
            }
            self.take(&message);
        }
    }

    async fn begin(&mut self) -> Result<WatchStream, Failure> {
        self.split.clear();
        let options = WatchOptions::new()
            .with_range(self.span.end.clone())
            .with_start_revision(on_the_wire(self.position.next()))
            .with_progress_notify()
            .with_fragment();
        let client = self.link.client.watch_client();
        let mut client = client.max_decoding_message_size(MESSAGE_BYTES_MAX);
        let begun = client.watch(self.span.from.clone(), Some(options));
        match timeout(self.link.deadline, begun).await {
            Ok(begun) => Ok(begun?),
            Err(_) => Err(Failure::Unanswered(no_answer(self.link.deadline))),
        }
    }

    /// The next message. If a call got no answer in the meantime, or if the watch is new, a message
    /// must arrive before the deadline.
    async fn message(
        &self,
        stream: &mut WatchStream,
        is_heard: bool,
    ) -> Result<WatchResponse, End> {
        let link = &self.link;
        let received = if is_heard {
            tokio::select! {
                received = stream.message() => Some(received),
                () = link.doubt.notified() => {
                    // If the watch has ended, the request for progress fails, and the next message
                    // reports the end.
                    let _ = stream.request_progress().await;
                    timeout(link.deadline, stream.message()).await.ok()
                }
            }
        } else {
            timeout(link.deadline, stream.message()).await.ok()
        };
        match received {
            Some(Ok(Some(message))) => Ok(message),
            Some(Ok(None)) => Err(End::Lost("the member ended the watch".to_owned())),
            Some(Err(error)) => Err(self.lost(Failure::from(error)).await),
            None => Err(End::Lost(no_answer(link.deadline))),
        }
    }

    /// The end of the watch, if the message announces it.
    async fn ended(&self, message: &WatchResponse) -> Option<End> {
        if message.compact_revision() > 0 {
            return Some(End::Compacted);
        }
        if message.canceled() {
            // The user's token may have expired: the next watch starts with a new token.
            let _ = timeout(self.link.deadline, self.link.client.refresh_token()).await;
            let reason = clipped(message.cancel_reason());
            return Some(End::Lost(format!("the member ended the watch: {reason}")));
        }
        if !message.created() {
            return None;
        }
        match self.is_continued(message).await {
            Ok(true) => None,
            Ok(false) => Some(End::Compacted),
            Err(failure) => Some(self.lost(failure).await),
        }
    }

    /// Returns whether the watch continues the history of the previous watch. The endpoint may now
    /// be another etcd, or this etcd in an earlier state to which other programs have written
    /// since.
    async fn is_continued(&self, created: &WatchResponse) -> Result<bool, Failure> {
        let revision = created
            .header()
            .map_or(0, |header| number(header.revision()));
        // A member can lag behind the others.
        let is_behind = Revision::new(revision) < self.position;
        if is_behind && super::now(&self.link, &self.span).await?.revision < self.position {
            return Ok(false);
        }
        match &self.witness {
            Some(witness) => witness.is_known_to(&self.link).await,
            None => Ok(true),
        }
    }

    /// The end of a watch that failed.
    async fn lost(&self, failure: Failure) -> End {
        match failure {
            Failure::Compacted => End::Compacted,
            Failure::OldToken(reason) => {
                let _ = timeout(self.link.deadline, self.link.client.refresh_token()).await;
                End::Lost(reason)
            }
            failure => match failure.into_error() {
                crate::Error::Unavailable { reason } => End::Lost(reason),
                error => End::Lost(crate::chain(&error)),
            },
        }
    }

    /// Adds the changes of a message to the log, one revision at a time and only when the message
    /// is complete.
    fn take(&mut self, message: &WatchResponse) {
        for event in message.events() {
            let Some(stored) = event.kv() else {
                continue;
            };
            let (kind, value) = match event.event_type() {
                EventType::Put => (ChangeKind::Put, Some(stored.value().into())),
                EventType::Delete => (ChangeKind::Delete, None),
            };
            let revision = Revision::new(number(stored.mod_revision()));
            self.witness = Some(Witness::new(stored.key(), revision, kind));
            if let Some(key) = self.link.keys.stripped(stored.key()) {
                self.split.push((revision, Change { key, kind, value }));
            }
        }
        if message.0.fragment {
            return;
        }
        let mut changes = std::mem::take(&mut self.split).into_iter().peekable();
        while let Some((revision, first)) = changes.next() {
            let mut batch = vec![first];
            while let Some((_, change)) = changes.next_if(|(next, _)| *next == revision) {
                batch.push(change);
            }
            if self.position < revision {
                self.log.append(revision, batch);
                self.position = revision;
            }
        }
        // The answer to a manual progress request can be ahead of the changes, so it does not move
        // the position.
        let is_progress = message.events().is_empty() && message.watch_id() >= 0;
        if let Some(header) = message
            .header()
            .filter(|_| is_progress && !message.created())
        {
            let reached = Revision::new(number(header.revision()));
            self.position = self.position.max(reached);
        }
    }

    /// Makes all readers read again, and continues from the current revision.
    async fn restart_from_now(&mut self) {
        self.link.forget();
        if let Ok(now) = super::now(&self.link, &self.span).await {
            self.log.forget_until(now.revision);
            self.position = now.revision;
            self.witness = now.witness;
        }
    }

    fn report(&self, connection: &Connection) {
        self.connection.send_if_modified(|reported| {
            let is_new = match (&*reported, connection) {
                // A changed reason is reported again, but a changed start time is not.
                (Connection::Away { reason, .. }, Connection::Away { reason: new, .. }) => {
                    reason != new
                }
                (reported, connection) => reported != connection,
            };
            if is_new {
                *reported = connection.clone();
            }
            is_new
        });
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the time of a loss is only displayed and does not affect any decision"
)]
fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}
