//! The phase of one connection, and how late its client is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::Connections;
use crate::Limits;

/// Lateness from which on a client that sends a body or reads an answer counts as slow: what stands
/// still for less may be waiting for the network.
const LATE_MIN: Duration = Duration::from_secs(1);
/// The shortest time between two looks at a connection: a limit of nothing must not spin.
const LOOK_MIN: Duration = Duration::from_millis(1);

/// The activity on one connection; shared by its stream, its requests and its supervisor.
#[derive(Debug)]
pub(crate) struct Activity {
    state: Mutex<State>,
    closed: Notify,
    head_time_max: Duration,
    idle_max: Duration,
    pace: Pace,
    connections: Weak<Connections>,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// The end of the last request, or the begin of the connection.
    answered: Instant,
    /// A write that the client's side does not take: the transfer since it got stuck.
    stuck: Option<Transfer>,
}

#[derive(Debug)]
enum Phase {
    /// Between requests, without a byte of the next.
    Waiting,
    /// The head of a request comes, since then.
    Head(Instant),
    /// The body of a request comes.
    Body(Transfer),
    /// The server works on a request, or answers it.
    Working,
}

/// The part of a request that a client is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Anything that it has to do.
    Any,
    /// The rest of a body.
    Body,
    /// Reading an answer.
    Answer,
}

/// The slowest that a transfer may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    window: Duration,
    rate_min: u64,
}

/// Bytes that moved in the current window of a transfer, and since it last got on well.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer {
    begun: Instant,
    bytes: u64,
    /// When the bytes of one second, at the slowest rate, were last complete.
    got_on: Instant,
    since: u64,
}

impl Pace {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            window: limits.stall_max,
            rate_min: limits.transfer_rate_min.max(1),
        }
    }

    /// Bytes that have to move in each window.
    pub(crate) fn bytes_min(&self) -> u64 {
        let millis = u64::try_from(self.window.as_millis()).unwrap_or(u64::MAX);
        self.rate_min.saturating_mul(millis) / 1000
    }

    pub(crate) fn window(&self) -> Duration {
        self.window
    }
}

impl Transfer {
    pub(crate) fn begin() -> Self {
        let now = Instant::now();
        Self {
            begun: now,
            bytes: 0,
            got_on: now,
            since: 0,
        }
    }

    pub(crate) fn moved(&mut self, bytes: usize, pace: &Pace) {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        self.since = self.since.saturating_add(bytes as u64);
        if self.since >= pace.rate_min {
            self.since = 0;
            self.got_on = Instant::now();
        }
    }

    /// Begins again, after a time in which its client was not waited for.
    pub(crate) fn resume(&mut self) {
        *self = Self::begin();
    }

    /// Time until the end of the window.
    pub(crate) fn left(&self, pace: &Pace) -> Duration {
        pace.window.saturating_sub(self.begun.elapsed())
    }

    /// False if its window is over and too little moved in it; else begins the next where it is over.
    pub(crate) fn keeps(&mut self, pace: &Pace) -> bool {
        if !self.left(pace).is_zero() {
            return true;
        }
        let is_kept = self.bytes >= pace.bytes_min();
        self.begun = Instant::now();
        self.bytes = 0;
        is_kept
    }

    /// Time since it last got on well. What came quickly at first does not excuse what stands still.
    fn late(&self) -> Duration {
        self.got_on.elapsed()
    }
}

impl Activity {
    pub(super) fn new(limits: &Limits, connections: Weak<Connections>) -> Self {
        Self {
            state: Mutex::new(State {
                phase: Phase::Waiting,
                answered: Instant::now(),
                stuck: None,
            }),
            closed: Notify::new(),
            // A head is no longer than a silence.
            head_time_max: limits.head_time_max.min(limits.idle_max),
            idle_max: limits.idle_max,
            pace: Pace::new(limits),
            connections,
        }
    }

    /// All connections, as long as they are served.
    pub(crate) fn connections(&self) -> Option<Arc<Connections>> {
        self.connections.upgrade()
    }

    /// Notes bytes that came.
    pub(super) fn received(&self) {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Waiting) {
            state.phase = Phase::Head(Instant::now());
        }
    }

    /// Notes bytes that went.
    pub(super) fn sent(&self, bytes: usize) {
        if let Some(stuck) = &mut self.lock().stuck {
            stuck.moved(bytes, &self.pace);
        }
    }

    /// Notes that the client's side takes no more bytes for now.
    pub(super) fn is_stuck(&self) {
        self.lock().stuck.get_or_insert_with(Transfer::begin);
    }

    /// Notes that everything was sent.
    pub(super) fn flushed(&self) {
        self.lock().stuck = None;
    }

    /// Notes that the head of a request is complete; the request ends when the answer is dropped.
    pub(crate) fn begin_request(self: &Arc<Self>) -> InRequest {
        self.lock().phase = Phase::Working;
        InRequest(Arc::clone(self))
    }

    /// Notes how much of a body has come.
    pub(crate) fn body(&self, transfer: Transfer) {
        self.lock().phase = Phase::Body(transfer);
    }

    /// Notes that a body is complete.
    pub(crate) fn work(&self) {
        self.lock().phase = Phase::Working;
    }

    /// True while there is no request in progress, and no answer still to be sent.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.stuck.is_none() && matches!(state.phase, Phase::Waiting | Phase::Head(_))
    }

    /// Time by which the client is late in what it has to do; `None` where it is not slow.
    pub(super) fn late(&self, wait: Wait) -> Option<Duration> {
        let state = self.lock();
        let slow = |transfer: &Transfer| {
            let late = transfer.late();
            (late >= LATE_MIN).then_some(late)
        };
        let reading = state.stuck.as_ref().and_then(slow);
        let sending = match &state.phase {
            Phase::Body(transfer) => slow(transfer),
            _ => None,
        };
        let asking = match &state.phase {
            Phase::Waiting | Phase::Head(_) if state.stuck.is_none() => {
                Some(state.answered.elapsed())
            }
            _ => None,
        };
        match wait {
            Wait::Any => reading.max(sending).max(asking),
            Wait::Body => sending,
            Wait::Answer => reading,
        }
    }

    /// Closes the connection.
    pub(super) fn close(&self) {
        self.closed.notify_one();
    }

    /// Waits until the connection has to be closed, because its client is too slow or the slowest.
    pub(crate) async fn over(&self) {
        let look = self.idle_max.min(self.pace.window);
        let look = look.min(self.head_time_max / 4).max(LOOK_MIN);
        loop {
            let next = match self.left() {
                None => look,
                Some(left) if left.is_zero() => return,
                Some(left) => left.min(look).max(LOOK_MIN),
            };
            tokio::select! {
                () = self.closed.notified() => return,
                () = sleep(next) => {}
            }
        }
    }

    /// Time until the client has to have done something; `None` where it has not to do anything that
    /// is watched here. The middleware that reads bodies watches these.
    fn left(&self) -> Option<Duration> {
        let mut state = self.lock();
        if let Some(stuck) = &mut state.stuck {
            let is_kept = stuck.keeps(&self.pace);
            return Some(if is_kept {
                stuck.left(&self.pace)
            } else {
                Duration::ZERO
            });
        }
        match &state.phase {
            Phase::Waiting => Some(self.idle_max.saturating_sub(state.answered.elapsed())),
            Phase::Head(begun) => Some(self.head_time_max.saturating_sub(begun.elapsed())),
            Phase::Body(_) | Phase::Working => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in progress: until this is dropped, which is when the last of its answer was handed on.
#[derive(Debug)]
pub(crate) struct InRequest(Arc<Activity>);

impl Drop for InRequest {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.phase = Phase::Waiting;
        state.answered = Instant::now();
    }
}
