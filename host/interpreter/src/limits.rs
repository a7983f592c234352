//! Limits of the crate, by name.

use std::time::Duration;

use kindsight_model::OBJECT_BYTES_MAX;

/// Interval of the epoch clock: the resolution of every deadline.
pub(crate) const TICK: Duration = Duration::from_millis(5);
/// Interval of the epoch clock while a call runs that has met a tick before: the longest time such
/// a call keeps others from its processor.
pub(crate) const LATE_TICK: Duration = Duration::from_micros(100);
/// Processor time that a call may take for each MiB of its input, beside [`Limits::call_deadline`].
/// The built-in interpreters take up to 50 ms for a MiB of the worst shape (`tests/benches/worst.rs`);
/// a slow machine takes twice that.
pub const CALL_DEADLINE_PER_MIB: Duration = Duration::from_millis(100);
/// The part of [`Limits::call_deadline`] that making an instance may take, as a divisor: a component
/// that takes more is refused, since the first call of each instance has to pay for it.
pub(crate) const START_SHARE: u32 = 2;
/// Largest input of a call: the object and its related objects, cut, in bytes. An object always fits, as
/// text or as a view, which has the nodes of all its values beside the text; related objects that do not
/// are left out, and their set says that there were more. What a guest takes to read that fits its memory,
/// and the deadline of such a call is below a second.
pub const INPUT_BYTES_MAX: usize = 4 * OBJECT_BYTES_MAX;
/// Bytes of related objects, before they are trimmed, that are gone through for one call: reading takes
/// the host some milliseconds a MiB, which no deadline counts. Those beyond are left out as above.
pub(crate) const RELATED_BYTES_READ_MAX: usize = 8 * OBJECT_BYTES_MAX;
/// Buffer for inputs that a worker keeps, in bytes: nearly all inputs are smaller.
pub(crate) const BUFFER_BYTES_KEPT_MAX: usize = 64 * 1024;
/// Longest text of wasmtime about a call, in bytes; it may repeat names from a component.
pub(crate) const FAULT_TEXT_BYTES_MAX: usize = 1024;
/// Problems that a refusal lists, fixtures that do not hold among them.
pub(crate) const REFUSAL_PROBLEMS_MAX: usize = 16;
/// Longest text of one of several problems, in bytes.
pub(crate) const REFUSAL_PROBLEM_BYTES_MAX: usize = 1024;
/// Failing inputs that are kept of one interpreter, to judge them again by another version: enough to
/// tell a version that fails on most from one that does not.
pub(crate) const FAILED_INPUTS_MAX: usize = 8;
/// Bytes of all failing inputs that are kept of one interpreter, the smallest ones: at least one of
/// any size.
pub(crate) const FAILED_INPUT_BYTES_MAX: usize = 2 * OBJECT_BYTES_MAX;
/// Failing inputs that are told apart within a minute, of one interpreter: 128 KiB of hashes. More than
/// these begin a new minute.
pub(crate) const FAULTS_KNOWN_MAX: usize = 4096;
/// Span in which the lines of one interpreter in the log are counted.
pub(crate) const LOG_SPAN: Duration = Duration::from_secs(10);
/// Lines of its own that one interpreter may log in [`LOG_SPAN`].
pub const LOG_LINES_PER_SPAN_MAX: u32 = 100;
/// Faults of one interpreter that are logged in [`LOG_SPAN`].
pub const FAULT_LINES_PER_SPAN_MAX: u32 = 20;
/// Objects of one slice of a request: few, so that all workers share its work.
pub(crate) const SENT_SLICE_OBJECTS: usize = 8;
/// Time for which a worker judges objects that were sent with a request before it looks for reports;
/// one object may take longer.
pub(crate) const SENT_TURN: Duration = Duration::from_millis(2);
/// Times the duration of a turn for requests that reports get afterwards, as long as any wait: requests
/// get a fifth of the workers' time where reports take the rest, and all that reports leave.
pub(crate) const REPORTS_PER_SENT: u32 = 4;
/// The deadline for `describe` and `fixtures`, in processor time.
pub(crate) const LOAD_DEADLINE: Duration = Duration::from_secs(1);
/// Limit of the text in one call's answer, in bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Limit of the text in the answer of `describe` or `fixtures`, in bytes.
pub(crate) const LOAD_ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Longest summary, and longest warning about a description, in bytes.
pub(crate) const SUMMARY_BYTES_MAX: usize = 256;
/// Log lines of one call.
pub const LOG_LINES_MAX: u32 = 32;
/// Longest log line, in bytes; longer ones are truncated.
pub(crate) const LOG_LINE_BYTES_MAX: usize = 1024;
/// Core instances, memories and tables of one component, each, whatever an operator asks for: each memory
/// takes 4 GiB of address space.
pub const PARTS_MAX: u16 = 256;
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

/// Limits that an operator may set.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Processor time one `interpret` may take, with making the instance where there is none, and
    /// without what [`CALL_DEADLINE_PER_MIB`] adds. Rounded up to a multiple of 5 ms.
    pub call_deadline: Duration,
    /// Memory of one instance, all its linear memories together, in bytes.
    pub memory_bytes_max: usize,
    /// Largest component that is loaded, in bytes.
    pub component_bytes_max: usize,
    /// Core instances, memories and tables of one component, each; at most [`PARTS_MAX`]. What the tools for
    /// Rust and JavaScript make has some 5, what those for Python make 33.
    pub parts_max: u16,
    /// Calls after which a pooled instance is retired.
    pub calls_max: u32,
    /// Memory above which a pooled instance is retired after its call, in bytes.
    pub memory_high_water_bytes: usize,
    /// Time after which an unused pooled instance is retired.
    pub idle_max: Duration,
    /// Bytes of inputs and their verdicts that are remembered.
    pub memo_bytes_max: usize,
    /// Threads that run guests.
    pub workers: usize,
    /// Slices of batches that wait for a worker, of reports and of requests each; when the queue is
    /// full, callers wait.
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

impl Limits {
    /// The deadline of a call with an input of that many bytes: [`Self::call_deadline`], and
    /// [`CALL_DEADLINE_PER_MIB`] for each MiB.
    pub fn deadline_of(&self, input_bytes: usize) -> Duration {
        const MIB: u64 = 1024 * 1024;
        let bytes = u64::try_from(input_bytes).unwrap_or(u64::MAX);
        let per_mib = u64::try_from(CALL_DEADLINE_PER_MIB.as_millis()).unwrap_or(u64::MAX);
        self.call_deadline + Duration::from_millis(bytes.saturating_mul(per_mib) / MIB)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            call_deadline: Duration::from_millis(50),
            memory_bytes_max: 64 * 1024 * 1024,
            component_bytes_max: 32 * 1024 * 1024,
            parts_max: 64,
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
