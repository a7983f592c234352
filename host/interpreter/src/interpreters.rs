//! The entry point of the crate: loads interpreters, publishes sets of them, and judges batches of
//! objects.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use arc_swap::ArcSwap;
use crossbeam_channel::{Sender, bounded};
use kindsight_code_cache::CodeCache;
use kindsight_model::{Coverage, Object, Source, Verdict};
use tracing::Span;

use crate::compile::Compiler;
use crate::engine::Engine;
use crate::examination::Examination;
use crate::failed_input::{FailedInput, count_failures};
use crate::guarded_worker::{Case, GuardedWorker, lost};
use crate::interpreter::Interpreter;
use crate::limits::{Limits, SENT_SLICE_OBJECTS};
use crate::load_error::LoadError;
use crate::memo::{Memo, MemoStats};
use crate::parts;
use crate::priority::lower_priority;
use crate::published::{PublishError, Published, SetMember};
use crate::related::Siblings;
use crate::worker::Purpose;
use crate::worker_thread::{Queues, Slice, WorkerThread, queues};

/// Number of objects in one slice of a batch: large enough to outweigh the cost of passing it on,
/// and small enough that the workers share a batch.
const SLICE_OBJECTS: usize = 64;

/// Maximum number of objects in a batch that the caller's own thread judges. Passing a batch to
/// another thread and waiting for it takes longer than some calls.
const INLINE_OBJECTS_MAX: usize = 8;

/// Failures to start the engine or its workers.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// This machine cannot run compiled Wasm.
    #[error("failed to start the Wasm engine: {0}")]
    Engine(String),
    /// The system cannot start another thread.
    #[error("failed to start a worker thread")]
    Thread(#[from] io::Error),
}

/// Numbers of slices of batches that wait for a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedSlices {
    /// Slices of objects that clusters reported.
    pub reported: usize,
    /// Slices of objects that were sent with requests.
    pub sent: usize,
}

/// The live interpreters and the threads that run them. The threads end when it is dropped.
pub struct Interpreters {
    engine: Engine,
    limits: Limits,
    compiler: Compiler,
    cache: Option<CodeCache>,
    published: ArcSwap<Published>,
    /// The last generation that was assigned to a set.
    generation: AtomicU64,
    memo: Arc<Memo>,
    /// Judges small batches on a caller's thread.
    inline: Arc<Mutex<GuardedWorker>>,
    queues: Option<Queues>,
    workers: Vec<JoinHandle<()>>,
}

impl Interpreters {
    /// Starts the engine and its workers. No interpreter is live yet.
    ///
    /// # Errors
    /// If the machine has no threads or cannot run compiled Wasm.
    pub fn start(limits: Limits, cache: Option<CodeCache>) -> Result<Self, StartError> {
        let engine = Engine::new().map_err(|error| StartError::Engine(format!("{error:#}")))?;
        let memo = Arc::new(Memo::new(limits.memo_bytes_max));
        let (queues, work) = queues(limits.queue_max);
        let worker = || GuardedWorker::new(limits.clone(), Arc::clone(&memo));
        let inline = Arc::new(Mutex::new(worker()));
        let workers = (0..limits.workers.max(1))
            .map(|number| {
                let mut running = WorkerThread::new(worker(), work.clone(), limits.idle_max);
                if number == 0 {
                    running = running.sweeping(Arc::clone(&inline));
                }
                let thread = thread::Builder::new().name(format!("interpreter-{number}"));
                thread.spawn(move || running.run())
            })
            .collect::<io::Result<_>>()?;
        Ok(Self {
            engine,
            limits,
            compiler: Compiler::InProcess,
            cache,
            published: ArcSwap::default(),
            generation: AtomicU64::new(0),
            inline,
            memo,
            queues: Some(queues),
            workers,
        })
    }

    /// Sets the compiler of [`Self::load`]. The default compiles in this process.
    #[must_use]
    pub fn with_compiler(mut self, compiler: Compiler) -> Self {
        self.compiler = compiler;
        self
    }

    /// Loads a component: every step except publication. Blocks for milliseconds if the component
    /// is cached, and up to seconds otherwise.
    ///
    /// # Errors
    /// The step that refused the component. Live interpreters are not affected.
    pub fn load(&self, bytes: &[u8]) -> Result<Arc<Interpreter>, LoadError> {
        self.load_with(&self.compiler, bytes)
    }

    /// The same as [`Self::load`], but compiles in this process: for built-in components, which are
    /// trusted and small.
    ///
    /// # Errors
    /// The step that refused the component. Live interpreters are not affected.
    pub fn load_built_in(&self, bytes: &[u8]) -> Result<Arc<Interpreter>, LoadError> {
        self.load_with(&Compiler::InProcess, bytes)
    }

    /// Loads a component for its author, who examines it: every step of [`Self::load`] except its fixtures.
    ///
    /// # Errors
    /// The step that refused the component.
    pub fn examine(&self, bytes: &[u8]) -> Result<Examination, LoadError> {
        let (limits, cache) = (&self.limits, self.cache.as_ref());
        let examination = Examination::load(&self.engine, limits, &self.compiler, cache, bytes)?;
        parts::check(examination.interpreter(), limits)?;
        Ok(examination)
    }

    fn load_with(&self, compiler: &Compiler, bytes: &[u8]) -> Result<Arc<Interpreter>, LoadError> {
        let (limits, cache) = (&self.limits, self.cache.as_ref());
        let interpreter = Interpreter::load(&self.engine, limits, compiler, cache, bytes)?;
        parts::check(&interpreter, limits)?;
        Ok(Arc::new(interpreter))
    }

    /// Makes a set live atomically. Calls in progress complete with the set with which they began.
    ///
    /// # Errors
    /// If two members of the set conflict. The previous set stays live.
    pub fn publish(
        &self,
        interpreters: Vec<(Source, Arc<Interpreter>)>,
    ) -> Result<u64, PublishError> {
        let set = self.prepare(interpreters.into_iter().map(SetMember::from).collect())?;
        let generation = set.generation();
        self.install(set);
        Ok(generation)
    }

    /// Makes a set without publishing it: to inspect it, to judge with it, or to install it.
    ///
    /// An interpreter that is now live with the same settings keeps its
    /// [`CallStats`](crate::CallStats) in this set. Every other interpreter starts with empty
    /// statistics.
    ///
    /// # Errors
    /// If two members of the set conflict.
    pub fn prepare(&self, members: Vec<SetMember>) -> Result<Arc<Published>, PublishError> {
        let generation = self.generation.fetch_add(1, Ordering::Relaxed) + 1;
        Published::new(generation, members, &self.published.load()).map(Arc::new)
    }

    /// Makes a prepared set live in one atomic exchange. The caller must install sets in the order
    /// of their preparation.
    pub fn install(&self, set: Arc<Published>) {
        self.published.store(set);
    }

    /// The limits of calls.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The set that is live now.
    pub fn published(&self) -> Arc<Published> {
        self.published.load_full()
    }

    /// Judges objects that a cluster reported together. Related objects are searched among them.
    /// Returns the verdicts in the order of the objects. Blocks until the last object is judged:
    /// never call it on an executor's thread.
    ///
    /// Reports have priority over requests ([`Self::judge_sent`]), which get at least a fifth of
    /// the workers' time while requests wait.
    pub fn judge(&self, objects: &Arc<[Object]>, now_ms: i64) -> Vec<Verdict> {
        let siblings = Arc::new(Siblings::of(objects));
        self.judge_among(&self.published(), objects, &siblings, now_ms)
    }

    /// The same as [`Self::judge`], but each object is judged without the others.
    pub fn judge_each(&self, objects: &Arc<[Object]>, now_ms: i64) -> Vec<Verdict> {
        let siblings = Arc::new(Siblings::none());
        self.judge_among(&self.published(), objects, &siblings, now_ms)
    }

    /// The same as [`Self::judge`] with a set that the caller chooses. `siblings` may contain more
    /// than `objects`: after a swap, only some objects of a report are judged again.
    ///
    /// The caller's thread judges a batch of at most 8 objects, unless another caller does so at the
    /// same time.
    pub fn judge_among(
        &self,
        set: &Arc<Published>,
        objects: &Arc<[Object]>,
        siblings: &Arc<Siblings>,
        now_ms: i64,
    ) -> Vec<Verdict> {
        if objects.len() <= INLINE_OBJECTS_MAX
            && let Ok(mut worker) = self.inline.try_lock()
        {
            let verdicts = objects.iter().map(|object| {
                worker.judge(Case {
                    purpose: Purpose::Reported,
                    set,
                    object,
                    siblings,
                    now_ms,
                })
            });
            return verdicts.collect();
        }
        self.judge_reported(set, objects, siblings, now_ms)
    }

    fn judge_reported(
        &self,
        set: &Arc<Published>,
        objects: &Arc<[Object]>,
        siblings: &Arc<Siblings>,
        now_ms: i64,
    ) -> Vec<Verdict> {
        let slice = |reply| Slice {
            set: Arc::clone(set),
            objects: Arc::clone(objects),
            range: 0..0,
            siblings: Arc::clone(siblings),
            now_ms,
            is_gone: Arc::default(),
            request: Span::none(),
            reply,
        };
        let queue = self.queues.as_ref().map(|queues| &queues.reported);
        judge_in_slices(queue, objects.len(), SLICE_OBJECTS, slice)
    }

    /// Judges objects that were sent with a request, in the same way as [`Self::judge`]. They have
    /// no effect on anything else: statistics, circuit breaker and memo do not change, and reports
    /// are judged first (see `Purpose::Sent`).
    ///
    /// Once `is_gone` is true, the remaining objects are not judged, because the client no longer
    /// waits for the verdicts.
    pub fn judge_sent(
        &self,
        objects: &Arc<[Object]>,
        now_ms: i64,
        is_gone: &Arc<AtomicBool>,
    ) -> Vec<Verdict> {
        let siblings = Siblings::of(objects);
        let siblings = Arc::new(siblings.covered(Coverage::partial()));
        let set = self.published();
        let slice = |reply| Slice {
            set: Arc::clone(&set),
            objects: Arc::clone(objects),
            range: 0..0,
            siblings: Arc::clone(&siblings),
            now_ms,
            is_gone: Arc::clone(is_gone),
            request: Span::current(),
            reply,
        };
        let queue = self.queues.as_ref().map(|queues| &queues.sent);
        judge_in_slices(queue, objects.len(), SENT_SLICE_OBJECTS, slice)
    }

    /// Counts the inputs on which an interpreter with these settings fails, including objects that
    /// it does not handle. Used to compare two versions on the inputs on which one of them failed
    /// ([`CallStats::failed_inputs`](crate::CallStats::failed_inputs)).
    ///
    /// Runs on a separate thread with a lower priority than queries, within the usual limits.
    /// Blocks until it has completed, at most for 8 deadlines.
    pub fn judge_again(
        &self,
        interpreter: &Arc<Interpreter>,
        settings: Option<&Arc<str>>,
        inputs: &[FailedInput],
    ) -> usize {
        let judging = || {
            lower_priority();
            count_failures(&self.limits, interpreter, settings, inputs)
        };
        let judged = thread::scope(|scope| scope.spawn(judging).join());
        // A panic is a bug of the host and is no evidence in favour of the interpreter.
        judged.unwrap_or(inputs.len())
    }

    /// Slices of batches that wait for a worker now. Each queue holds at most [`Limits::queue_max`].
    pub fn queued(&self) -> QueuedSlices {
        let queues = self.queues.as_ref();
        QueuedSlices {
            reported: queues.map_or(0, |queues| queues.reported.len()),
            sent: queues.map_or(0, |queues| queues.sent.len()),
        }
    }

    /// Statistics of the memo.
    pub fn memo(&self) -> MemoStats {
        self.memo.stats()
    }
}

/// Puts slices of a batch into a queue, and waits for all verdicts. `slice` makes a slice without
/// its range.
fn judge_in_slices(
    queue: Option<&Sender<Slice>>,
    count: usize,
    slice_objects: usize,
    slice: impl Fn(Sender<(usize, Vec<Verdict>)>) -> Slice,
) -> Vec<Verdict> {
    let (reply, replies) = bounded(count.div_ceil(slice_objects));
    for start in (0..count).step_by(slice_objects) {
        let mut slice = slice(reply.clone());
        slice.range = start..count.min(start + slice_objects);
        if queue.is_none_or(|queue| queue.send(slice).is_err()) {
            break;
        }
    }
    drop(reply);
    let mut parts: Vec<(usize, Vec<Verdict>)> = replies.iter().collect();
    parts.sort_unstable_by_key(|(start, _)| *start);
    let mut judged = Vec::with_capacity(count);
    for (start, part) in parts {
        // The verdicts of a panicked thread are missing. The other verdicts must keep their
        // positions.
        judged.resize_with(start, lost);
        judged.extend(part);
    }
    judged.resize_with(count, lost);
    judged
}

impl Drop for Interpreters {
    fn drop(&mut self) {
        self.queues = None;
        for worker in self.workers.drain(..) {
            // The result of a panicked worker is not needed, because its thread has ended in any
            // case.
            let _ = worker.join();
        }
    }
}
