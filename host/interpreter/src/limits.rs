//! Limits of the crate, by name.

use std::time::Duration;

/// Interval of the epoch clock: the resolution of every deadline.
pub(crate) const TICK: Duration = Duration::from_millis(5);
/// Interval of the epoch clock while a call runs that has met a tick before: the longest time such
/// a call keeps others from its processor.
pub(crate) const LATE_TICK: Duration = Duration::from_micros(100);
/// The deadline for `describe`, `fixtures` and instantiation, in processor time.
pub(crate) const LOAD_DEADLINE: Duration = Duration::from_secs(1);
/// Limit of the text in one call's answer, in bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Limit of the text in the answer of `describe` or `fixtures`, in bytes.
pub(crate) const LOAD_ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Longest state name, in bytes.
pub(crate) const STATE_BYTES_MAX: usize = 64;
/// Longest reason, in bytes.
pub(crate) const REASON_BYTES_MAX: usize = 128;
/// Longest message, in bytes; longer ones are truncated.
pub(crate) const MESSAGE_BYTES_MAX: usize = 4096;
/// Longest `extras` of a verdict, in bytes.
pub(crate) const EXTRAS_BYTES_MAX: usize = 16 * 1024;
/// Log lines of one call.
pub const LOG_LINES_MAX: u32 = 32;
/// Longest log line, in bytes; longer ones are truncated.
pub(crate) const LOG_LINE_BYTES_MAX: usize = 1024;
/// Core instances, memories and tables of one component, each.
pub(crate) const PARTS_MAX: usize = 32;
/// Elements of all tables of one component. Python's components have about 6,000.
pub(crate) const TABLE_ELEMENTS_MAX: usize = 20_000;
/// Stack of one guest, in bytes.
pub(crate) const STACK_BYTES_MAX: usize = 256 * 1024;
/// Address space of the compile process, in bytes. Built-in components take 36 MiB, 27 MB of dense
/// Wasm 1 GiB.
pub(crate) const COMPILE_MEMORY_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// Processor time of the compile process. Built-in components take half a second, 27 MB of dense
/// Wasm 27 s.
pub(crate) const COMPILE_CPU_TIME_MAX: Duration = Duration::from_secs(30);
/// Wall-clock time until the compile process is killed: twice its processor time, since it has a
/// lower priority than the workers.
pub(crate) const COMPILE_WALL_TIME_MAX: Duration = Duration::from_mins(1);
/// Longest text of a refusal that repeats something of a component, in bytes.
pub(crate) const REFUSAL_TEXT_BYTES_MAX: usize = 4096;
/// Largest compiled component, in bytes. Machine code is three to five times as large as its Wasm.
pub(crate) const CODE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Bytes of all files in the folder of compiled components.
pub(crate) const CACHE_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Files in the folder of compiled components.
pub(crate) const CACHE_FILES_MAX: usize = 256;

/// Limits that an operator may set.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Processor time one `interpret` may take. Rounded up to a multiple of 5 ms.
    pub call_deadline: Duration,
    /// Memory of one instance, all its linear memories together, in bytes.
    pub memory_bytes_max: usize,
    /// Largest component that is loaded, in bytes.
    pub component_bytes_max: usize,
    /// Calls after which a pooled instance is retired.
    pub calls_max: u32,
    /// Memory above which a pooled instance is retired after its call, in bytes.
    pub memory_high_water_bytes: usize,
    /// Time after which an unused pooled instance is retired.
    pub idle_max: Duration,
    /// Bytes of inputs whose verdicts are remembered.
    pub memo_bytes_max: usize,
    /// Threads that run guests.
    pub workers: usize,
    /// Slices of batches that wait for a worker; when the queue is full, callers wait.
    pub queue_max: usize,
    /// The reuse of instances.
    pub isolation: Isolation,
}

/// The reuse of instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// An instance is kept and judges many objects: an interpreter could carry state from one
    /// object to the next until its instance is retired.
    Pooled,
    /// Every call gets an instance of its own, which costs some 20 microseconds.
    PerCall,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            call_deadline: Duration::from_millis(50),
            memory_bytes_max: 64 * 1024 * 1024,
            component_bytes_max: 32 * 1024 * 1024,
            calls_max: 1000,
            memory_high_water_bytes: 16 * 1024 * 1024,
            idle_max: Duration::from_mins(1),
            memo_bytes_max: 32 * 1024 * 1024,
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            queue_max: 256,
            isolation: Isolation::Pooled,
        }
    }
}
