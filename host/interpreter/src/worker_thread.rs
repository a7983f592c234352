//! Threads of workers: reports have priority, and requests get a fixed share of the time.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, select};
use kindsight_model::{Object, Verdict};
use tracing::Span;

use crate::guarded_worker::{Case, GuardedWorker};
use crate::limits::{REPORTS_PER_SENT, SENT_TURN};
use crate::priority::lower_priority;
use crate::published::Published;
use crate::related::Siblings;
use crate::worker::Purpose;

/// Number of objects that a worker judges before it yields to queries: some tenths of a
/// millisecond. The scheduler's own time slices are ten times as long, and a query is answered in
/// less time.
const OBJECTS_PER_YIELD: usize = 16;

/// A part of one batch, for one worker.
pub(crate) struct Slice {
    pub(crate) set: Arc<Published>,
    pub(crate) objects: Arc<[Object]>,
    pub(crate) range: Range<usize>,
    pub(crate) siblings: Arc<Siblings>,
    pub(crate) now_ms: i64,
    /// Set when the client no longer waits for the verdicts.
    pub(crate) is_gone: Arc<AtomicBool>,
    /// The request with the objects, for log lines; none for reports.
    pub(crate) request: Span,
    pub(crate) reply: Sender<(usize, Vec<Verdict>)>,
}

/// The sending ends of the two queues of batches.
pub(crate) struct Queues {
    pub(crate) reported: Sender<Slice>,
    pub(crate) sent: Sender<Slice>,
}

/// The receiving ends of the two queues, from which workers take slices.
#[derive(Clone)]
pub(crate) struct Work {
    reported: Receiver<Slice>,
    sent: Receiver<Slice>,
}

/// Makes two queues of `queue_max` slices each.
pub(crate) fn queues(queue_max: usize) -> (Queues, Work) {
    let (reported, reported_rx) = bounded(queue_max);
    let (sent, sent_rx) = bounded(queue_max);
    let work = Work {
        reported: reported_rx,
        sent: sent_rx,
    };
    (Queues { reported, sent }, work)
}

/// One worker and its work.
pub(crate) struct WorkerThread {
    worker: GuardedWorker,
    work: Work,
    idle_max: Duration,
    /// A worker without a thread of its own, whose idle instances this thread retires.
    inline: Option<Arc<Mutex<GuardedWorker>>>,
    /// A slice of a request that is judged in turns, and its verdicts so far.
    begun: Option<(Slice, Vec<Verdict>)>,
    /// The time that reports must get before the next turn of a request.
    owed: Duration,
}

impl WorkerThread {
    /// Makes a thread without any work.
    pub(crate) fn new(worker: GuardedWorker, work: Work, idle_max: Duration) -> Self {
        Self {
            worker,
            work,
            idle_max,
            inline: None,
            begun: None,
            owed: SENT_TURN * REPORTS_PER_SENT,
        }
    }

    /// Also retires the idle instances of a worker without a thread of its own.
    pub(crate) fn sweeping(mut self, inline: Arc<Mutex<GuardedWorker>>) -> Self {
        self.inline = Some(inline);
        self
    }

    /// Judges slices as they arrive, and sweeps idle instances when no slice arrives, until both
    /// queues are closed.
    pub(crate) fn run(mut self) {
        lower_priority();
        while self.turn() {}
    }

    /// Does the next piece of work. Returns whether more may follow. Reports are judged as long as
    /// there are any, except for one turn of [`SENT_TURN`] after each [`REPORTS_PER_SENT`] times
    /// this time.
    fn turn(&mut self) -> bool {
        if self.begun.is_none()
            && let Ok(slice) = self.work.sent.try_recv()
        {
            self.begun = Some((slice, Vec::new()));
        }
        if (self.begun.is_none() || !self.owed.is_zero())
            && let Ok(slice) = self.work.reported.try_recv()
        {
            self.report(&slice);
            return true;
        }
        if let Some((slice, judged)) = self.begun.take() {
            self.begun = self.go_on(slice, judged);
            return true;
        }
        let work = self.work.clone();
        select! {
            recv(work.reported) -> slice => slice.map(|slice| self.report(&slice)).is_ok(),
            recv(work.sent) -> slice => {
                self.begun = slice.ok().map(|slice| (slice, Vec::new()));
                self.begun.is_some()
            }
            default(self.idle_max) => {
                self.sweep();
                true
            }
        }
    }

    /// Judges a slice of a report, one Kind after the other, so that the code and the memory of an interpreter stay in the
    /// caches of the processor.
    fn report(&mut self, slice: &Slice) {
        let begin = Instant::now();
        let objects = slice.objects.get(slice.range.clone()).unwrap_or_default();
        let mut by_kind: Vec<(usize, &Object)> = objects.iter().enumerate().collect();
        by_kind.sort_by(|(_, one), (_, other)| one.gvk.cmp(&other.gvk));
        let mut judged = Vec::with_capacity(objects.len());
        for part in by_kind.chunks(OBJECTS_PER_YIELD) {
            for (position, object) in part {
                judged.push((*position, self.judge(slice, object, Purpose::Reported)));
            }
            thread::yield_now();
        }
        judged.sort_unstable_by_key(|(position, _)| *position);
        let judged = judged.into_iter().map(|(_, verdict)| verdict).collect();
        // The caller may have ended. Its verdicts are still stored in the memo.
        let _ = slice.reply.send((slice.range.start, judged));
        self.owed = self.owed.saturating_sub(begin.elapsed());
    }

    /// Judges objects of a request for one turn. Returns the slice if it has remaining objects.
    fn go_on(&mut self, slice: Slice, mut judged: Vec<Verdict>) -> Option<(Slice, Vec<Verdict>)> {
        let begin = Instant::now();
        let _request = slice.request.clone().entered();
        let next = slice.range.start + judged.len();
        let objects = slice.objects.get(next..slice.range.end);
        for object in objects.unwrap_or_default() {
            if slice.is_gone.load(Ordering::Relaxed) {
                return None;
            }
            judged.push(self.judge(&slice, object, Purpose::Sent));
            if begin.elapsed() >= SENT_TURN {
                break;
            }
        }
        thread::yield_now();
        self.owed = begin.elapsed() * REPORTS_PER_SENT;
        if judged.len() < slice.range.len() {
            return Some((slice, judged));
        }
        let _ = slice.reply.send((slice.range.start, judged));
        None
    }

    /// Judges one object of a slice.
    fn judge(&mut self, slice: &Slice, object: &Object, purpose: Purpose) -> Verdict {
        self.worker.judge(Case {
            purpose,
            set: &slice.set,
            object,
            siblings: &slice.siblings,
            now_ms: slice.now_ms,
        })
    }

    fn sweep(&mut self) {
        self.worker.sweep();
        let inline = self.inline.as_ref();
        // A worker that judges now is not idle.
        if let Some(mut inline) = inline.and_then(|inline| inline.try_lock().ok()) {
            inline.sweep();
        }
    }
}

#[cfg(test)]
mod tests;
