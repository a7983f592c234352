//! Entry point of the crate: loads interpreters, publishes sets of them, judges batches of objects.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use arc_swap::ArcSwap;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use kindsight_model::{Object, Source, Verdict, host_reason};

use crate::aot::AotCache;
use crate::compile::Compiler;
use crate::engine::Engine;
use crate::interpreter::Interpreter;
use crate::limits::Limits;
use crate::load_error::LoadError;
use crate::memo::{Memo, MemoStats};
use crate::priority::lower_priority;
use crate::published::{PublishError, Published, SetMember};
use crate::related::Siblings;
use crate::worker::Worker;

/// Objects in one slice of a batch: enough to outweigh handing them over, few enough that a batch
/// is shared among the workers.
const SLICE_OBJECTS: usize = 64;

/// Failure to start the engine or its workers.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// This machine cannot run compiled Wasm.
    #[error("start the Wasm engine: {0}")]
    Engine(String),
    /// The system has no thread left.
    #[error("start a worker thread")]
    Thread(#[from] io::Error),
}

/// The live interpreters and the threads that run them. Dropping it ends the threads.
pub struct Interpreters {
    engine: Engine,
    limits: Limits,
    compiler: Compiler,
    cache: Option<AotCache>,
    published: ArcSwap<Published>,
    /// The last generation that was given to a set.
    generation: AtomicU64,
    memo: Arc<Memo>,
    slices: Option<Sender<Slice>>,
    workers: Vec<JoinHandle<()>>,
}

/// Objects a worker judges before it yields to queries: some tenths of a millisecond. The
/// scheduler's own time slices are ten times as long, and a query is answered in less.
const OBJECTS_PER_YIELD: usize = 16;

/// A part of one batch, for one worker.
struct Slice {
    set: Arc<Published>,
    objects: Arc<[Object]>,
    range: Range<usize>,
    siblings: Arc<Siblings>,
    now_ms: i64,
    reply: Sender<(usize, Vec<Verdict>)>,
}

impl Interpreters {
    /// Starts the engine and its workers; nothing is live yet.
    ///
    /// # Errors
    /// When the machine has no threads or cannot run compiled Wasm.
    pub fn start(limits: Limits, cache: Option<AotCache>) -> Result<Self, StartError> {
        let engine = Engine::new().map_err(|error| StartError::Engine(format!("{error:#}")))?;
        let memo = Arc::new(Memo::new(limits.memo_bytes_max));
        let (slices, receiver) = bounded(limits.queue_max);
        let workers = (0..limits.workers.max(1))
            .map(|number| {
                let worker = Worker::new(limits.clone(), Arc::clone(&memo));
                let (receiver, idle_max) = (receiver.clone(), limits.idle_max);
                let thread = thread::Builder::new().name(format!("interpreter-{number}"));
                thread.spawn(move || work(worker, &receiver, idle_max))
            })
            .collect::<io::Result<_>>()?;
        Ok(Self {
            engine,
            limits,
            compiler: Compiler::InProcess,
            cache,
            published: ArcSwap::default(),
            generation: AtomicU64::new(0),
            memo,
            slices: Some(slices),
            workers,
        })
    }

    /// Sets the compiler of [`Self::load`]. The default compiles in this process.
    #[must_use]
    pub fn with_compiler(mut self, compiler: Compiler) -> Self {
        self.compiler = compiler;
        self
    }

    /// Loads a component: every step but publishing it. Takes milliseconds from the cache, up to
    /// seconds otherwise; blocks.
    ///
    /// # Errors
    /// The step that refused them; nothing that is live is touched.
    pub fn load(&self, bytes: &[u8]) -> Result<Arc<Interpreter>, LoadError> {
        self.load_with(&self.compiler, bytes)
    }

    /// As [`Self::load`], but compiles in this process: for built-in components, which are
    /// trusted and small.
    ///
    /// # Errors
    /// The step that refused them; nothing that is live is touched.
    pub fn load_built_in(&self, bytes: &[u8]) -> Result<Arc<Interpreter>, LoadError> {
        self.load_with(&Compiler::InProcess, bytes)
    }

    fn load_with(&self, compiler: &Compiler, bytes: &[u8]) -> Result<Arc<Interpreter>, LoadError> {
        let (limits, cache) = (&self.limits, self.cache.as_ref());
        Interpreter::load(&self.engine, limits, compiler, cache, bytes).map(Arc::new)
    }

    /// Makes a set live, at once and as a whole. Calls in flight finish on the set they began with.
    ///
    /// # Errors
    /// When two members of the set conflict; the previous set stays live.
    pub fn publish(
        &self,
        interpreters: Vec<(Source, Arc<Interpreter>)>,
    ) -> Result<u64, PublishError> {
        let set = self.prepare(interpreters.into_iter().map(SetMember::from).collect())?;
        let generation = set.generation();
        self.install(set);
        Ok(generation)
    }

    /// Makes a set without publishing it: to inspect it, to judge by it, or to install it.
    ///
    /// An interpreter that is live now with the same settings keeps its
    /// [`CallStats`](crate::CallStats) in this set; every other one starts with empty ones.
    ///
    /// # Errors
    /// When two members of the set conflict.
    pub fn prepare(&self, members: Vec<SetMember>) -> Result<Arc<Published>, PublishError> {
        let generation = self.generation.fetch_add(1, Ordering::Relaxed) + 1;
        Published::new(generation, members, &self.published.load()).map(Arc::new)
    }

    /// Makes a prepared set live: one atomic exchange. The caller must install sets in the order in
    /// which they were prepared.
    pub fn install(&self, set: Arc<Published>) {
        self.published.store(set);
    }

    /// The set that is live now.
    pub fn published(&self) -> Arc<Published> {
        self.published.load_full()
    }

    /// Judges objects that were reported together: they are each other's related objects. Answers
    /// in their order. Blocks until the last is judged; never call it on an executor's thread.
    pub fn judge(&self, objects: &Arc<[Object]>, now_ms: i64) -> Vec<Verdict> {
        let siblings = Arc::new(Siblings::of(Arc::clone(objects)));
        self.judge_among(&self.published(), objects, &siblings, now_ms)
    }

    /// As [`Self::judge`], each object on its own.
    pub fn judge_each(&self, objects: &Arc<[Object]>, now_ms: i64) -> Vec<Verdict> {
        let siblings = Arc::new(Siblings::none());
        self.judge_among(&self.published(), objects, &siblings, now_ms)
    }

    /// As [`Self::judge`], by a set of the caller's choice, where `siblings` may hold more than
    /// `objects`: after a swap only some objects of a report are judged again.
    pub fn judge_among(
        &self,
        set: &Arc<Published>,
        objects: &Arc<[Object]>,
        siblings: &Arc<Siblings>,
        now_ms: i64,
    ) -> Vec<Verdict> {
        let (reply, replies) = bounded(objects.len().div_ceil(SLICE_OBJECTS));
        for start in (0..objects.len()).step_by(SLICE_OBJECTS) {
            let slice = Slice {
                set: Arc::clone(set),
                objects: Arc::clone(objects),
                range: start..objects.len().min(start + SLICE_OBJECTS),
                siblings: Arc::clone(siblings),
                now_ms,
                reply: reply.clone(),
            };
            if let Some(slices) = &self.slices
                && slices.send(slice).is_err()
            {
                break;
            }
        }
        drop(reply);
        let mut parts: Vec<(usize, Vec<Verdict>)> = replies.iter().collect();
        parts.sort_unstable_by_key(|(start, _)| *start);
        let mut judged = Vec::with_capacity(objects.len());
        for (start, part) in parts {
            // Verdicts of a thread that panicked are missing; the others must stay with their
            // objects.
            judged.resize_with(start, lost);
            judged.extend(part);
        }
        judged.resize_with(objects.len(), lost);
        judged
    }

    /// Statistics of the memo.
    pub fn memo(&self) -> MemoStats {
        self.memo.stats()
    }
}

impl Drop for Interpreters {
    fn drop(&mut self) {
        self.slices = None;
        for worker in self.workers.drain(..) {
            // The result of a worker that panicked does not matter; its thread is gone either way.
            let _ = worker.join();
        }
    }
}

/// The verdict on an object whose worker thread panicked.
fn lost() -> Verdict {
    let message = "the worker thread that judged it panicked; this is a bug in the host";
    Verdict::unknown(host_reason::NO_ANSWER, message)
}

/// Main loop of a worker thread: judges slices as they come, and sweeps idle instances when none
/// comes.
fn work(mut worker: Worker, slices: &Receiver<Slice>, idle_max: std::time::Duration) {
    lower_priority();
    loop {
        match slices.recv_timeout(idle_max) {
            Ok(slice) => {
                let objects = slice.objects.get(slice.range.clone()).unwrap_or_default();
                let mut judged = Vec::with_capacity(objects.len());
                for part in objects.chunks(OBJECTS_PER_YIELD) {
                    judged.extend(part.iter().map(|object| {
                        worker.judge(&slice.set, object, &slice.siblings, slice.now_ms)
                    }));
                    thread::yield_now();
                }
                // The caller may have ended; its verdicts are in the memo all the same.
                let _ = slice.reply.send((slice.range.start, judged));
            }
            Err(RecvTimeoutError::Timeout) => worker.sweep(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
