//! The phase of one connection, and how late its client is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::Connections;
use crate::Limits;

/// Delay from which on a client that sends a body or reads an answer counts as slow: a shorter pause may be caused by
/// the network.
const LATE_MIN: Duration = Duration::from_secs(1);
/// The shortest time between two checks of a connection, so that a limit of zero does not cause a busy loop.
const LOOK_MIN: Duration = Duration::from_millis(1);

/// The activity on one connection; shared by its stream, its requests and its supervisor.
#[derive(Debug)]
pub(crate) struct Activity {
    state: Mutex<ActivityState>,
    closed: Notify,
    head_time_max: Duration,
    idle_max: Duration,
    pace: Pace,
    connections: Weak<Connections>,
}

#[derive(Debug)]
struct ActivityState {
    phase: Phase,
    /// End of the last request, or start of the connection.
    answered: Instant,
    /// The transfer since the client stopped accepting bytes; `None` while it accepts them.
    stuck: Option<Transfer>,
}

#[derive(Debug)]
enum Phase {
    /// Between requests; no byte of the next request has arrived.
    Waiting,
    /// The head of a request has been arriving since this time.
    Head(Instant),
    /// The body of a request is arriving.
    Body(Transfer),
    /// The server works on a request, or answers it.
    Working,
}

/// The action of a client that the server waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Any action.
    Any,
    /// Sending the rest of a body.
    Body,
    /// Reading an answer.
    Answer,
}

/// The minimum rate of a transfer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    window: Duration,
    rate_min: u64,
}

/// Number of bytes of a transfer in the current window, and since it last kept its pace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer {
    begun: Instant,
    bytes: u64,
    /// When the transfer last completed the minimum number of bytes of one second.
    on_pace_at: Instant,
    since: u64,
}

impl Pace {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            window: limits.stall_max,
            rate_min: limits.transfer_rate_min.max(1),
        }
    }

    /// Minimum number of bytes in each window.
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
            on_pace_at: now,
            since: 0,
        }
    }

    pub(crate) fn moved(&mut self, bytes: usize, pace: &Pace) {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        self.since = self.since.saturating_add(bytes as u64);
        if self.since >= pace.rate_min {
            self.since = 0;
            self.on_pace_at = Instant::now();
        }
    }

    /// Restarts the measurement, after a time in which the server did not wait for the client.
    pub(crate) fn resume(&mut self) {
        *self = Self::begin();
    }

    /// Time until the end of the window.
    pub(crate) fn left(&self, pace: &Pace) -> Duration {
        pace.window.saturating_sub(self.begun.elapsed())
    }

    /// Returns `false` if the window has ended with too few bytes. Begins the next window if the window has ended.
    pub(crate) fn keeps(&mut self, pace: &Pace) -> bool {
        if !self.left(pace).is_zero() {
            return true;
        }
        let is_kept = self.bytes >= pace.bytes_min();
        self.begun = Instant::now();
        self.bytes = 0;
        is_kept
    }

    /// Time since the transfer last kept its pace. A fast beginning does not compensate for a later stall.
    fn late(&self) -> Duration {
        self.on_pace_at.elapsed()
    }
}

impl Activity {
    pub(super) fn new(limits: &Limits, connections: Weak<Connections>) -> Self {
        Self {
            state: Mutex::new(ActivityState {
                phase: Phase::Waiting,
                answered: Instant::now(),
                stuck: None,
            }),
            closed: Notify::new(),
            // The head of a request must not take longer than an idle connection may last.
            head_time_max: limits.head_time_max.min(limits.idle_max),
            idle_max: limits.idle_max,
            pace: Pace::new(limits),
            connections,
        }
    }

    /// All connections; `None` after the server has stopped.
    pub(crate) fn connections(&self) -> Option<Arc<Connections>> {
        self.connections.upgrade()
    }

    /// The longest that a TLS handshake or the head of a request may take.
    pub(super) fn head_time_max(&self) -> Duration {
        self.head_time_max
    }

    /// Notes received bytes of a request.
    pub(super) fn received(&self) {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Waiting) {
            state.phase = Phase::Head(Instant::now());
        }
    }

    /// Notes sent bytes.
    pub(super) fn sent(&self, bytes: usize) {
        if let Some(stuck) = &mut self.lock().stuck {
            stuck.moved(bytes, &self.pace);
        }
    }

    /// Notes that the client currently accepts no bytes.
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

    /// Notes the progress of a body.
    pub(crate) fn body(&self, transfer: Transfer) {
        self.lock().phase = Phase::Body(transfer);
    }

    /// Notes that a body is complete.
    pub(crate) fn work(&self) {
        self.lock().phase = Phase::Working;
    }

    /// Returns whether no request is in progress and no answer waits to be sent.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.stuck.is_none() && matches!(state.phase, Phase::Waiting | Phase::Head(_))
    }

    /// The delay of the client in this action; `None` if the client is not slow.
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

    /// Waits until the connection must be closed, because its client exceeds a limit or is the slowest client.
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

    /// Time left for the current action of the client; `None` if this type does not limit the action. The middleware
    /// that reads bodies limits the time for bodies.
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

    fn lock(&self) -> MutexGuard<'_, ActivityState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in progress. It ends when this value is dropped, after the last bytes of its answer were passed to the
/// connection.
#[derive(Debug)]
pub(crate) struct InRequest(Arc<Activity>);

impl Drop for InRequest {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.phase = Phase::Waiting;
        state.answered = Instant::now();
    }
}
