//! Follows one query: from the changes of the read model to events.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Bytes;
use kindsight_status::{Changed, ChangedSubject, Lagged, ReadModel, Snapshot, Subscription};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::{Streams, Watched, event};
use crate::answer::{Answers, Chunks, counted};
use crate::connections::Activity;
use crate::limits::SMALL_ANSWER_BYTES_MAX;
use crate::problem::Problem;

/// First event of a stream.
pub(super) struct Beginning<W> {
    pub(super) streams: Arc<Streams>,
    pub(super) model: Arc<ReadModel>,
    pub(super) answers: Arc<Answers>,
    pub(super) watched: W,
    /// Path and query.
    pub(super) name: String,
    /// The last event that the client got before.
    pub(super) last: Option<u64>,
    pub(super) activity: Option<Arc<Activity>>,
    /// None where nobody stops.
    pub(super) stopping: Option<watch::Receiver<bool>>,
    pub(super) slot: OwnedSemaphorePermit,
}

/// One stream between two events. Holds no lock, and of the read model what was sent last.
pub(super) struct Follower<W: Watched> {
    streams: Arc<Streams>,
    model: Arc<ReadModel>,
    answers: Arc<Answers>,
    watched: Arc<W>,
    name: String,
    activity: Option<Arc<Activity>>,
    stopping: Option<watch::Receiver<bool>>,
    subscription: Subscription,
    /// The generation that is known to be read.
    generation: u64,
    /// The state that was sent last, with its generation.
    sent: Option<(u64, Arc<W::State>)>,
    next: Next<W::State>,
    _slot: OwnedSemaphorePermit,
}

/// The next thing to do.
enum Next<S> {
    /// Send this as a snapshot.
    Snapshot(Arc<S>),
    /// Look at once for what changed since the state that was sent.
    Look,
    /// Wait for a change.
    Wait,
    /// End.
    End,
}

/// The reason why waiting ended.
enum Woken {
    /// Something changed.
    Changed,
    /// Changes were missed.
    Missed,
    /// Nothing changed for so long that a comment is due.
    Silent,
    /// The server stops.
    Over,
}

impl<W: Watched> Follower<W> {
    /// Reads the state that the first event tells.
    pub(super) fn begin(of: Beginning<W>) -> Result<Self, Problem> {
        let (generation, subscription) = of.model.subscribe(Snapshot::generation);
        let resumable = &of.streams.resumable;
        let last = of
            .last
            .and_then(|last| Some((last, resumable.find::<W::State>(&of.name, last)?)));
        // Also where it goes on: a name that is not there any more is an answer of its own.
        let state = Arc::new(of.watched.read(&of.model)?);
        let next = match &last {
            Some(_) => Next::Look,
            None => Next::Snapshot(state),
        };
        Ok(Self {
            streams: of.streams,
            model: of.model,
            answers: of.answers,
            watched: Arc::new(of.watched),
            name: of.name,
            activity: of.activity,
            stopping: of.stopping,
            subscription,
            generation,
            sent: last,
            next,
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
        loop {
            match std::mem::replace(&mut self.next, Next::Wait) {
                Next::End => return Ok(None),
                Next::Snapshot(state) => return self.snapshot(state).await.map(Some),
                Next::Look => {
                    let parts = self.look().await?;
                    // Who comes back is answered at once, also where nothing changed.
                    return Ok(Some(parts.unwrap_or_else(comment)));
                }
                Next::Wait => {}
            }
            match self.woken(silent_at).await {
                Woken::Over => return Ok(None),
                Woken::Silent => return Ok(Some(comment())),
                Woken::Missed => {
                    // What is still told of before is in the snapshot.
                    (self.generation, self.subscription) =
                        self.model.subscribe(Snapshot::generation);
                    let state = self.read()?;
                    return self.snapshot(state).await.map(Some);
                }
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
                // The sender is gone only where nobody serves any more.
                Some(stopping) => drop(stopping.wait_for(|it| *it).await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = over => Woken::Over,
            woken = self.change() => woken,
            () = sleep_until(silent_at) => Woken::Silent,
        }
    }

    /// Waits for changes of what is followed, and takes in those that came meanwhile.
    async fn change(&mut self) -> Woken {
        loop {
            let first = self.subscription.next().await;
            let is_concerned = self.takes_in(first.as_ref().ok());
            if let Err(missed) = first {
                return woken_by(missed);
            }
            if !is_concerned {
                continue;
            }
            if !W::GATHER.is_zero() {
                sleep(W::GATHER).await;
            }
            loop {
                match self.subscription.next_now() {
                    Ok(None) => return Woken::Changed,
                    Ok(changed) => self.takes_in(changed.as_ref()),
                    Err(missed) => return woken_by(missed),
                };
            }
        }
    }

    /// Notes a change; returns whether it may change the answer.
    fn takes_in(&mut self, changed: Option<&Changed>) -> bool {
        let Some(changed) = changed.filter(|it| it.generation > self.generation) else {
            return false;
        };
        self.generation = changed.generation;
        let concerns = |subject: &ChangedSubject| {
            let sent = self.sent.as_ref();
            sent.is_none_or(|(_, state)| self.watched.is_concerned_by(state, subject))
        };
        concerns(&changed.subject)
    }

    fn read(&self) -> Result<Arc<W::State>, Problem> {
        self.watched.read(&self.model).map(Arc::new)
    }

    /// The event of what changed since the state that was sent; none where nothing did.
    async fn look(&mut self) -> Result<Option<VecDeque<Bytes>>, Problem> {
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
        let (watched, told) = (Arc::clone(&self.watched), Arc::clone(&state));
        let write = move |to: &mut Chunks| watched.write_snapshot(&told, to);
        Ok(self.made(state, write).await?.unwrap_or_default())
    }

    /// Makes an event about a state, which counts as sent then; none where nothing is written.
    async fn made(
        &mut self,
        state: Arc<W::State>,
        write: impl Fn(&mut Chunks) -> Result<(), Problem> + Send + Sync + 'static,
    ) -> Result<Option<VecDeque<Bytes>>, Problem> {
        let is_small = self.watched.is_probably_small(&state);
        let (mut parts, bytes) = self.answers.written(is_small, write).await?.into_bytes();
        if parts.is_empty() {
            return Ok(None);
        }
        if bytes > SMALL_ANSWER_BYTES_MAX {
            let held = self
                .streams
                .bytes
                .hold(bytes as u64, self.activity.as_deref());
            let mut held = held.await.ok_or_else(Problem::busy)?;
            parts = parts.into_iter().map(|it| counted(it, &mut held)).collect();
        }
        parts.push_back(event::id(self.generation));
        self.sent = Some((self.generation, state));
        Ok(Some(parts))
    }
}

impl<W: Watched> Drop for Follower<W> {
    fn drop(&mut self) {
        if let Some((generation, state)) = self.sent.take() {
            let state: Arc<dyn Any + Send + Sync> = state;
            let name = std::mem::take(&mut self.name);
            self.streams.resumable.keep(name, generation, state);
        }
    }
}

fn woken_by(missed: Lagged) -> Woken {
    match missed {
        Lagged::Missed(_) => Woken::Missed,
        Lagged::Closed => Woken::Over,
    }
}

fn comment() -> VecDeque<Bytes> {
    [Bytes::from_static(event::COMMENT)].into()
}
