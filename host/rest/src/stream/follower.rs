//! Follows one query: from the changes of the read model to events.

use std::any::Any;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use axum::body::Bytes;
use kindsight_access::Lease;
use kindsight_model::ClusterName;
use kindsight_read_model::{Changed, Lagged, Subscription, VisibleModel};
use kindsight_status::Snapshot;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep_until};

use super::event_id::EventId;
use super::{Reader, Streams, Watched, event};
use crate::answer::{Answers, Chunks, counted};
use crate::connections::Activity;
use crate::limits::SMALL_ANSWER_BYTES_MAX;
use crate::problem::Problem;

/// First event of a stream.
pub(super) struct Beginning<W> {
    pub(super) streams: Arc<Streams>,
    pub(super) reader: Reader,
    pub(super) answers: Arc<Answers>,
    pub(super) watched: W,
    /// Path and query.
    pub(super) name: String,
    /// The last event that the client got before.
    pub(super) last: Option<EventId>,
    pub(super) activity: Option<Arc<Activity>>,
    /// The signal of a stop; `None` if the server never stops.
    pub(super) stopping: Option<watch::Receiver<bool>>,
    pub(super) slot: OwnedSemaphorePermit,
}

/// One stream between two events. It holds no lock, and only the last sent state of the read model.
pub(super) struct Follower<W: Watched> {
    streams: Arc<Streams>,
    model: VisibleModel,
    lease: Option<Lease>,
    answers: Arc<Answers>,
    watched: Arc<W>,
    name: String,
    activity: Option<Arc<Activity>>,
    stopping: Option<watch::Receiver<bool>>,
    subscription: Subscription,
    /// Changes up to this generation were in the model before its state was read last.
    generation: u64,
    /// The last event that was sent, with a state that has the same answer.
    sent: Option<(EventId, Arc<W::State>)>,
    next: Next<W::State>,
    /// The clusters of the last state, which know that the reader waits.
    waits: Option<(BTreeSet<ClusterName>, Box<dyn Any + Send + Sync>)>,
    /// When to compare the state with the state that was sent; none if no change may have altered it.
    look_at: Option<Instant>,
    _slot: OwnedSemaphorePermit,
}

/// The next thing to do.
enum Next<S> {
    /// Send this as a snapshot.
    Snapshot(Arc<S>),
    /// Send at once the changes since the last sent state, or a comment.
    Resume,
    /// Wait for changes.
    Follow,
    /// End.
    End,
}

/// The reason why waiting ended.
enum Woken {
    /// Something may have changed, and the time for gathering changes is over.
    Changed,
    /// Changes were missed.
    Missed,
    /// No event was sent for [`HEARTBEAT`](crate::HEARTBEAT), so a comment is due.
    Silent,
    /// The server stops, or the reader's rights changed.
    Over,
}

impl<W: Watched> Follower<W> {
    /// Reads the state for the first event.
    pub(super) fn begin(of: Beginning<W>) -> Result<Self, Problem> {
        let (generation, subscription) = of.reader.model.model().subscribe(Snapshot::generation);
        let resumable = &of.streams.resumable;
        let last = of.last.and_then(|last| {
            let (name, visible) = (&of.name, of.reader.model.visible());
            let state = resumable.find::<W::State>(name, visible, last)?;
            Some((last, state))
        });
        // Also for a stream that is resumed: a name that does not exist any more is an error.
        let state = Arc::new(of.watched.read(&of.reader.model)?);
        let next = match &last {
            Some(_) => Next::Resume,
            None => Next::Snapshot(state),
        };
        Ok(Self {
            streams: of.streams,
            model: of.reader.model,
            lease: of.reader.lease,
            answers: of.answers,
            watched: Arc::new(of.watched),
            name: of.name,
            activity: of.activity,
            stopping: of.stopping,
            subscription,
            generation,
            sent: last,
            next,
            waits: None,
            look_at: None,
            _slot: of.slot,
        })
    }

    /// Waits for the next event, and makes it. None at the end.
    pub(super) async fn next(mut self) -> Option<(VecDeque<Bytes>, Self)> {
        match self.event().await {
            Ok(Some(parts)) => Some((parts, self)),
            Ok(None) => None,
            Err(problem) => {
                self.next = Next::End;
                Some(([event::problem(problem)].into(), self))
            }
        }
    }

    async fn event(&mut self) -> Result<Option<VecDeque<Bytes>>, Problem> {
        let silent_at = Instant::now() + self.streams.heartbeat;
        match std::mem::replace(&mut self.next, Next::Follow) {
            Next::End => return Ok(None),
            Next::Snapshot(state) => return self.snapshot(state).await.map(Some),
            Next::Resume => {
                let parts = self.look().await?;
                // A client that resumes is answered at once, even if the answer is the same.
                return Ok(Some(parts.unwrap_or_else(comment)));
            }
            Next::Follow => {}
        }
        loop {
            match self.woken(silent_at).await {
                Woken::Over => return Ok(None),
                Woken::Silent => return Ok(Some(comment())),
                Woken::Missed => return self.catch_up().await.map(Some),
                Woken::Changed => {
                    if let Some(parts) = self.look().await? {
                        return Ok(Some(parts));
                    }
                }
            }
        }
    }

    /// Waits for something to do.
    async fn woken(&mut self, silent_at: Instant) -> Woken {
        let mut over = self.stopping.clone();
        let over = async {
            match &mut over {
                // The sender is gone only after the server has stopped.
                Some(stopping) => drop(stopping.wait_for(|is_stopping| *is_stopping).await),
                None => std::future::pending().await,
            }
        };
        let mut lease = self.lease.take();
        let unentitled = async {
            match &mut lease {
                Some(lease) => lease.ended().await,
                None => std::future::pending().await,
            }
        };
        // No further event follows the end of the rights, even if a change waits. Changes come last, because many of them
        // would hold up a comment.
        let woken = tokio::select! {
            biased;
            () = over => Woken::Over,
            () = unentitled => Woken::Over,
            () = sleep_until(silent_at) => Woken::Silent,
            woken = self.changed() => woken,
        };
        self.lease = lease;
        woken
    }

    /// Waits for a change of the followed state, and for further changes during [`Watched::GATHER`].
    ///
    /// Cancel-safe: a change that was received is noted in `look_at` before the next wait.
    async fn changed(&mut self) -> Woken {
        loop {
            if self.look_at.is_some_and(|at| at <= Instant::now()) {
                return Woken::Changed;
            }
            let look_at = self.look_at;
            let gathered = async {
                match look_at {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = gathered => return Woken::Changed,
                changed = self.subscription.next() => match changed {
                    Ok(changed) => self.note(&changed),
                    Err(Lagged::Missed(_)) => return Woken::Missed,
                    Err(Lagged::Closed) => return Woken::Over,
                },
            }
        }
    }

    /// Notes a change of the read model.
    fn note(&mut self, changed: &Changed) {
        let state = self.sent.as_ref().map(|(_, state)| state);
        let is_read = changed.generation <= self.generation;
        let concerns =
            |state: &Arc<W::State>| self.watched.is_concerned_by(state, &changed.subject);
        if !is_read && state.is_none_or(concerns) {
            self.look_at
                .get_or_insert_with(|| Instant::now() + W::GATHER);
        }
    }

    /// Follows the read model from its current state on, after changes were missed.
    async fn catch_up(&mut self) -> Result<VecDeque<Bytes>, Problem> {
        self.look_at = None;
        (self.generation, self.subscription) = self.model.model().subscribe(Snapshot::generation);
        let state = self.read()?;
        self.snapshot(state).await
    }

    fn read(&self) -> Result<Arc<W::State>, Problem> {
        self.watched.read(&self.model).map(Arc::new)
    }

    /// The event with the changes since the state that was sent last; none if the answer is the same.
    async fn look(&mut self) -> Result<Option<VecDeque<Bytes>>, Problem> {
        self.look_at = None;
        // Before the state is read, which may have later changes too.
        self.generation = self.model.model().inspect(Snapshot::generation);
        let state = self.read()?;
        let Some((_, before)) = &self.sent else {
            return self.snapshot(state).await.map(Some);
        };
        if !self.watched.follows(before, &state) {
            return self.snapshot(state).await.map(Some);
        }
        let (watched, before, after) = (
            Arc::clone(&self.watched),
            Arc::clone(before),
            Arc::clone(&state),
        );
        let write = move |to: &mut Chunks| watched.write_change(&before, &after, to);
        self.made(state, write).await
    }

    async fn snapshot(&mut self, state: Arc<W::State>) -> Result<VecDeque<Bytes>, Problem> {
        let (watched, shown) = (Arc::clone(&self.watched), Arc::clone(&state));
        let write = move |to: &mut Chunks| watched.write_snapshot(&shown, to);
        Ok(self.made(state, write).await?.unwrap_or_default())
    }

    /// Notes for which clusters the reader waits.
    fn wait_for_clusters(&mut self, state: &W::State) {
        let clusters = self.watched.clusters(state);
        let known = self.waits.as_ref().map(|(known, _)| known);
        if known != Some(&clusters) {
            // The earlier wait ends after the new one has begun.
            let wait = self.streams.waits.begin(clusters.clone());
            self.waits = Some((clusters, wait));
        }
    }

    /// Makes an event about a state, which then counts as sent; `None` if `write` writes no bytes.
    async fn made(
        &mut self,
        state: Arc<W::State>,
        write: impl Fn(&mut Chunks) -> Result<(), Problem> + Send + Sync + 'static,
    ) -> Result<Option<VecDeque<Bytes>>, Problem> {
        self.wait_for_clusters(&state);
        let is_small = self.watched.is_probably_small(&state);
        let (mut parts, bytes) = self.answers.written(is_small, write).await?.into_bytes();
        if parts.is_empty() {
            // The same answer follows from it, and the older state can be dropped.
            if let Some((_, sent)) = &mut self.sent {
                *sent = state;
            }
            return Ok(None);
        }
        if bytes > SMALL_ANSWER_BYTES_MAX {
            let held = self
                .streams
                .bytes
                .hold(bytes as u64, self.activity.as_deref());
            let mut held = held.await.ok_or_else(Problem::busy)?;
            parts = parts
                .into_iter()
                .map(|part| counted(part, &mut held))
                .collect();
        }
        let id = self.streams.ids.next();
        parts.push_back(event::end(id));
        self.sent = Some((id, state));
        Ok(Some(parts))
    }
}

impl<W: Watched> Drop for Follower<W> {
    fn drop(&mut self) {
        if let Some((id, state)) = self.sent.take() {
            let state: Arc<dyn Any + Send + Sync> = state;
            let name = std::mem::take(&mut self.name);
            let of = (name, self.model.visible().clone());
            self.streams.resumable.keep(of, id, state);
        }
    }
}

fn comment() -> VecDeque<Bytes> {
    [Bytes::from_static(event::COMMENT)].into()
}
