//! The half of the upstream host: what to send to one follower.

mod lines;
mod plan;
mod sent;
mod write;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kindsight_model::{ClusterName, RecordSubject};
use kindsight_read_model::{Changed, Lagged, ReadModel, Subscription};
use kindsight_status::{ApplicationKey, ChangedSubject, ContextView, Snapshot};
use tokio::time::{Instant, sleep_until};

use crate::wire::{BeginLine, EndLine, FORMAT, Line};
use lines::Lines;
use plan::RowsLeft;
use sent::{Dirty, Sent};

/// Time for which changes are gathered into one batch. A thousand changes a second make twenty batches.
pub const GATHER: Duration = Duration::from_millis(50);
/// Time between two signs of life.
pub const HEARTBEAT: Duration = Duration::from_secs(2);
/// A chunk ends after the line that reaches this size, in bytes.
pub const CHUNK_BYTES: usize = 64 * 1024;

/// The clusters whose placements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedScope {
    /// All clusters, also clusters that this host itself follows from another host.
    Every,
    /// The clusters that this host watches.
    Own,
}

/// The stream for one follower. It holds no lock, and of the read model only the views that it sent last.
#[derive(Debug)]
pub struct Feed {
    model: ReadModel,
    scope: FeedScope,
    subscription: Subscription,
    refreshes: Subscription,
    sent: Sent,
    dirty: Dirty,
    /// The rest of the current batch.
    queue: VecDeque<Item>,
    /// Applications that the current batch removes.
    gone: Vec<ApplicationKey>,
    lines: Lines,
    /// The time when all connections were compared last. Their counts and times change without a publication.
    compared_at: Instant,
}

/// A part of a batch. Its content is read when it is written.
#[derive(Debug)]
enum Item {
    Connection(ClusterName),
    Application(ApplicationKey),
    Placement(PlacementItem),
    Rows(RowsLeft),
    History(Box<Line>),
    Record(RecordSubject),
    Stores,
    End,
}

/// One app in one cluster of two views of an application.
#[derive(Debug)]
struct PlacementItem {
    of: Arc<str>,
    before: Option<Arc<ContextView>>,
    after: Arc<ContextView>,
    /// Positions of the app, and of the cluster in the app.
    at: (usize, usize),
}

/// The reason why waiting ended.
enum Woken {
    Changed,
    Silent,
    Closed,
}

impl Feed {
    /// A follower that has nothing yet.
    pub fn new(model: ReadModel, scope: FeedScope) -> Self {
        let refreshes = model.subscribe_to_refreshes();
        let ((), subscription) = model.subscribe(|_| ());
        let mut feed = Self {
            model,
            scope,
            subscription,
            refreshes,
            sent: Sent::default(),
            dirty: Dirty::default(),
            queue: VecDeque::new(),
            gone: Vec::new(),
            lines: Lines::default(),
            compared_at: Instant::now(),
        };
        let heartbeat_ms = u64::try_from(HEARTBEAT.as_millis()).unwrap_or(u64::MAX);
        feed.lines.write(&Line {
            begin: Some(BeginLine {
                format: FORMAT,
                heartbeat_ms,
                histories: true,
            }),
            ..Line::default()
        });
        feed.dirty.everything();
        feed.begin_batch();
        feed
    }

    /// Waits for the next bytes, and returns them. `None` after the end of the read model.
    ///
    /// Called when the connection can take more. Not cancel-safe between calls of one stream: a follower whose stream
    /// ended begins again.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            if !self.queue.is_empty() || !self.lines.is_empty() {
                return Some(self.chunk());
            }
            if !self.dirty.is_empty() {
                self.begin_batch();
                continue;
            }
            match self.woken().await {
                Woken::Closed => return None,
                Woken::Changed => self.begin_batch(),
                Woken::Silent => self.beat(),
            }
        }
    }

    /// Waits for changes, and gathers them for a while.
    async fn woken(&mut self) -> Woken {
        let silent_at = self.compared_at + HEARTBEAT;
        let first = tokio::select! {
            changed = self.subscription.next() => changed,
            refreshed = self.refreshes.next() => refreshed,
            () = sleep_until(silent_at) => return Woken::Silent,
        };
        if !self.note(first) {
            return Woken::Closed;
        }
        sleep_until(Instant::now() + GATHER).await;
        self.gather();
        Woken::Changed
    }

    /// Notes a change. Returns false at the end of the read model.
    fn note(&mut self, changed: Result<Changed, Lagged>) -> bool {
        match changed {
            Ok(changed) => self.dirty.add(changed.subject),
            Err(Lagged::Missed(_)) => self.dirty.everything(),
            Err(Lagged::Closed) => return false,
        }
        true
    }

    /// Notes the changes that wait.
    fn gather(&mut self) {
        for is_refresh in [false, true] {
            loop {
                let subscription = if is_refresh {
                    &mut self.refreshes
                } else {
                    &mut self.subscription
                };
                match subscription.next_now() {
                    Ok(Some(changed)) => self.dirty.add(changed.subject),
                    Err(Lagged::Missed(_)) => self.dirty.everything(),
                    Ok(None) | Err(Lagged::Closed) => break,
                }
            }
        }
    }

    /// Queues all subjects that may have changed, in the order of publication: records name applications.
    fn begin_batch(&mut self) {
        if self.compared_at.elapsed() >= HEARTBEAT {
            self.queue_connections();
        }
        let dirty = std::mem::take(&mut self.dirty);
        let subjects = if dirty.is_everything() {
            self.model.inspect(|snapshot| self.sent.subjects(snapshot))
        } else {
            dirty.subjects()
        };
        let (mut applications, mut records, mut stores) = (Vec::new(), Vec::new(), false);
        for subject in subjects {
            match subject {
                ChangedSubject::Connection(cluster) => {
                    self.queue.push_back(Item::Connection(cluster));
                }
                ChangedSubject::Application(key) => applications.push(Item::Application(key)),
                // Hosts that share clusters share the store of the records too.
                ChangedSubject::Record(_) | ChangedSubject::Store | ChangedSubject::StateStore
                    if self.scope == FeedScope::Own => {}
                ChangedSubject::Record(subject) => records.push(Item::Record(subject)),
                ChangedSubject::Store | ChangedSubject::StateStore => stores = true,
            }
        }
        self.queue.extend(applications);
        self.queue.extend(records);
        self.queue.extend(stores.then_some(Item::Stores));
        self.queue.push_back(Item::End);
    }

    /// Queues the connections, and a sign of life.
    fn beat(&mut self) {
        self.queue_connections();
        self.queue.push_back(Item::End);
    }

    /// Queues all connections. A connection is written if its counts or times changed.
    fn queue_connections(&mut self) {
        self.compared_at = Instant::now();
        let names: Vec<ClusterName> = self.model.inspect(|snapshot| {
            let connections = snapshot.connections();
            connections.map(|(name, _)| name.clone()).collect()
        });
        self.queue.extend(names.into_iter().map(Item::Connection));
    }

    /// Writes parts of the batch until a chunk is full.
    fn chunk(&mut self) -> Vec<u8> {
        while self.lines.len() < CHUNK_BYTES {
            let Some(item) = self.queue.pop_front() else {
                break;
            };
            self.write_item(item);
        }
        self.lines.take()
    }

    fn end(&self) -> EndLine {
        EndLine {
            generation: self.model.inspect(Snapshot::generation),
        }
    }
}
