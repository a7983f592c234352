//! The one watch of a store, which feeds its log of changes.

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

/// The first pause before the watch is begun again, which doubles.
const PAUSE: Duration = Duration::from_millis(50);
/// The longest pause before the watch is begun again.
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// The largest message of a watch, in bytes. Members split what is larger than a request.
const MESSAGE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The end of one watch.
enum End {
    /// It broke, for this reason.
    Lost(String),
    /// The revision it was to go on from is compacted, or is none of this etcd.
    Compacted,
}

/// Follows what changes in a span of keys.
pub(super) struct Follower {
    pub(super) link: Arc<Link>,
    pub(super) log: Arc<ChangeLog>,
    pub(super) connection: Arc<Sender<Connection>>,
    pub(super) span: Span,
    /// The revision up to which every change is in the log.
    pub(super) position: Revision,
    /// The last change that was seen; none where there was none yet.
    pub(super) witness: Option<Witness>,
    /// Changes of a message that was split, until its end comes.
    pub(super) split: Vec<(Revision, Change)>,
}

impl Follower {
    /// Runs until it is dropped.
    pub(super) async fn run(mut self) {
        let mut pause = PAUSE;
        let mut lost_ms = None;
        loop {
            let position = self.position;
            let was_heard = self.watch(&mut lost_ms).await;
            let (is_heard, end) = was_heard;
            match end {
                End::Lost(reason) => {
                    // A watch that breaks is begun again at once; one that cannot be begun is away.
                    let since_ms = *lost_ms.get_or_insert_with(now_ms);
                    if !is_heard {
                        self.tell(&Connection::Away { since_ms, reason });
                    }
                }
                End::Compacted => self.begin_anew().await,
            }
            if is_heard || position != self.position {
                pause = PAUSE;
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Watches until that ends. Answers whether it was heard at all, and the end.
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
                self.tell(&Connection::Connected);
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

    /// The next message. Where a call gets no answer meanwhile, or the watch is new, one must come
    /// soon.
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
                    // It has ended where it cannot be asked, which the next message says.
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

    /// The end that a message tells of.
    async fn ended(&self, message: &WatchResponse) -> Option<End> {
        if message.compact_revision() > 0 {
            return Some(End::Compacted);
        }
        if message.canceled() {
            // With users, the token may have ended: the next watch is begun with a new one.
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

    /// Returns whether the watch goes on where the one before it ended: the etcd may be another one now, or an
    /// earlier state of this one that others wrote to since.
    async fn is_continued(&self, created: &WatchResponse) -> Result<bool, Failure> {
        let revision = created.header().map_or(0, |it| number(it.revision()));
        // A member may lag behind the others.
        let is_behind = Revision::new(revision) < self.position;
        if is_behind && super::now(&self.link, &self.span).await?.revision < self.position {
            return Ok(false);
        }
        match &self.witness {
            Some(witness) => witness.is_known_to(&self.link).await,
            None => Ok(true),
        }
    }

    /// The end of a watch that a failure broke.
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

    /// Adds the changes of a message to the log, once all of each revision are there.
    fn take(&mut self, message: &WatchResponse) {
        for event in message.events() {
            let Some(stored) = event.kv() else {
                continue;
            };
            let kind = match event.event_type() {
                EventType::Put => ChangeKind::Put,
                EventType::Delete => ChangeKind::Delete,
            };
            let revision = Revision::new(number(stored.mod_revision()));
            self.witness = Some(Witness::new(stored.key(), revision, kind));
            if let Some(key) = self.link.keys.stripped(stored.key()) {
                self.split.push((revision, Change { key, kind }));
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
        // Of a question that was asked by hand the answer may be ahead of the changes.
        let is_progress = message.events().is_empty() && message.watch_id() >= 0;
        if let Some(header) = message
            .header()
            .filter(|_| is_progress && !message.created())
        {
            let reached = Revision::new(number(header.revision()));
            self.position = self.position.max(reached);
        }
    }

    /// Lets all readers read again, and goes on from now.
    async fn begin_anew(&mut self) {
        self.link.forget();
        if let Ok(now) = super::now(&self.link, &self.span).await {
            self.log.forget_until(now.revision);
            self.position = now.revision;
            self.witness = now.witness;
        }
    }

    fn tell(&self, connection: &Connection) {
        self.connection.send_if_modified(|told| {
            let is_new = match (&*told, connection) {
                // The reason may become another one, and is told anew.
                (Connection::Away { reason, .. }, Connection::Away { reason: new, .. }) => {
                    reason != new
                }
                (told, connection) => told != connection,
            };
            if is_new {
                *told = connection.clone();
            }
            is_new
        });
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the time of a loss is told to people, and decides nothing"
)]
fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}
