//! The named limits of this crate.

use std::time::Duration;

use kindsight_model::OBJECT_BYTES_MAX;

/// Interval of the epoch clock, which is the resolution of every deadline.
pub(crate) const TICK: Duration = Duration::from_millis(5);
/// Interval of the epoch clock after an interval without the begin of a call. The deadline of the next call is longer by
/// at most this time. So the clock wakes an idle process 50 times a second.
pub(crate) const IDLE_TICK: Duration = Duration::from_millis(20);
/// Interval of the epoch clock while a call runs that has already met a tick. It is the longest
/// time for which such a call keeps other threads from its processor.
pub(crate) const LATE_TICK: Duration = Duration::from_micros(100);
/// Processor time that a call may use for each MiB of its input, in addition to
/// [`Limits::call_deadline`]. The built-in interpreters use up to 50 ms for a MiB in the worst case
/// (`tests/benches/worst.rs`), and twice that on a slow machine.
pub const CALL_DEADLINE_PER_MIB: Duration = Duration::from_millis(100);
/// The part of [`Limits::call_deadline`] that making an instance may use, as a divisor. A component
/// that needs more is refused, because the first call of each instance includes this time.
pub(crate) const START_SHARE: u32 = 2;
/// Maximum size of the input of a call: the object and its related objects, reduced to the
/// requested fields, in bytes. An object always fits, as text or as a view, which contains the
/// nodes of all values besides the text. Related objects that do not fit are omitted, and the total
/// of their set shows this. The memory that a guest needs to read such an input is within its
/// limit, and the deadline of such a call is below a second.
pub const INPUT_BYTES_MAX: usize = 4 * OBJECT_BYTES_MAX;
/// Maximum total size of the related objects that are read for one call, in bytes before they are
/// reduced. Reading takes the host some milliseconds per MiB, which no deadline covers. Further
/// related objects are omitted, as above.
pub(crate) const RELATED_BYTES_READ_MAX: usize = 8 * OBJECT_BYTES_MAX;
/// Maximum size of an input buffer that a worker keeps, in bytes. Nearly all inputs are smaller.
pub(crate) const BUFFER_BYTES_KEPT_MAX: usize = 64 * 1024;
/// Maximum length of wasmtime's text about a call, in bytes. The text may contain names from a
/// component.
pub(crate) const FAULT_TEXT_BYTES_MAX: usize = 1024;
/// Maximum number of problems that a refusal lists, including failed fixtures.
pub(crate) const REFUSAL_PROBLEMS_MAX: usize = 16;
/// Maximum length of one of several problems, in bytes.
pub(crate) const REFUSAL_PROBLEM_BYTES_MAX: usize = 1024;
/// Maximum number of failed inputs that are kept for each interpreter, to judge them again with
/// another version. It is large enough to recognise a version that fails on most inputs.
pub(crate) const FAILED_INPUTS_MAX: usize = 8;
/// Maximum total size of the failed inputs that are kept for each interpreter, in bytes. The
/// smallest are kept, and at least one of any size.
pub(crate) const FAILED_INPUT_BYTES_MAX: usize = 2 * OBJECT_BYTES_MAX;
/// Maximum number of failed inputs of one interpreter that are distinguished within a minute, which
/// is 128 KiB of hashes. If there are more, a new minute begins.
pub(crate) const FAULTS_KNOWN_MAX: usize = 4096;
/// The period in which the log lines of one interpreter are counted.
pub(crate) const LOG_SPAN: Duration = Duration::from_secs(10);
/// Maximum number of lines that one interpreter may log in [`LOG_SPAN`].
pub const LOG_LINES_PER_SPAN_MAX: u32 = 100;
/// Maximum number of faults of one interpreter that are logged in [`LOG_SPAN`].
pub const FAULT_LINES_PER_SPAN_MAX: u32 = 20;
/// Number of objects in one slice of a request: small, so that all workers share the work.
pub(crate) const SENT_SLICE_OBJECTS: usize = 8;
/// Time for which a worker judges objects of requests before it checks for reports. A single object
/// may take longer.
pub(crate) const SENT_TURN: Duration = Duration::from_millis(2);
/// Factor between the duration of a turn for requests and the following turn for reports, if
/// reports wait. Requests get a fifth of the workers' time while reports use the rest, and all the
/// time that reports do not use.
pub(crate) const REPORTS_PER_SENT: u32 = 4;
/// The deadline of `describe` and `fixtures`, in processor time.
pub(crate) const LOAD_DEADLINE: Duration = Duration::from_secs(1);
/// Maximum size of the text in one call's answer, in bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Maximum size of the text in the answer of `describe` or `fixtures`, in bytes.
pub(crate) const LOAD_ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Maximum length of a summary, and of a warning about a description, in bytes.
pub(crate) const SUMMARY_BYTES_MAX: usize = 256;
/// Maximum number of log lines of one call.
pub const LOG_LINES_MAX: u32 = 32;
/// Maximum length of a log line, in bytes. Longer lines are truncated.
pub(crate) const LOG_LINE_BYTES_MAX: usize = 1024;
/// Maximum number of core instances, of memories and of tables of one component that an operator
/// can permit. Each memory uses 4 GiB of address space.
pub const PARTS_MAX: u16 = 256;
/// Maximum number of elements of all tables of one component. Components written in Python have
/// about 6,000.
pub(crate) const TABLE_ELEMENTS_MAX: usize = 20_000;
/// Maximum size of the stack of one guest, in bytes.
pub(crate) const STACK_BYTES_MAX: usize = 256 * 1024;
/// Maximum address space of the compile process, in bytes. Built-in components need 36 MiB, and 27
/// MB of dense Wasm need 1 GiB.
pub(crate) const COMPILE_MEMORY_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// Maximum processor time of the compile process. Built-in components need half a second. A component
/// in Python needs 22 s, and 27 MB of dense Wasm need 27 s. Both need twice as much if other work
/// occupies the second thread of the core.
pub(crate) const COMPILE_CPU_TIME_MAX: Duration = Duration::from_mins(1);
/// Wall-clock time after which the compile process is killed. It is four times the processor time,
/// because the process has a lower priority than the workers.
pub(crate) const COMPILE_WALL_TIME_MAX: Duration = Duration::from_mins(4);
/// Maximum length of a refusal's text that repeats a part of a component, in bytes.
pub(crate) const REFUSAL_TEXT_BYTES_MAX: usize = 4096;

/// Limits that an operator can set.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum processor time of one call, including the time for making an instance if needed, and
    /// without the addition of [`CALL_DEADLINE_PER_MIB`]. Rounded up to a multiple of 5 ms.
    pub call_deadline: Duration,
    /// Maximum total size of all linear memories of one instance, in bytes.
    pub memory_bytes_max: usize,
    /// Maximum size of a component that is loaded, in bytes.
    pub component_bytes_max: usize,
    /// Maximum number of core instances, of memories and of tables of one component; at most
    /// [`PARTS_MAX`]. The tools for Rust and JavaScript make about 5 of them, and the tools for
    /// Python make 33.
    pub parts_max: u16,
    /// Number of calls after which a pooled instance is retired.
    pub calls_max: u32,
    /// Size of the memory above which a pooled instance is retired after its call, in bytes.
    pub memory_high_water_bytes: usize,
    /// Time after which an unused pooled instance is retired.
    pub idle_max: Duration,
    /// Maximum total size of inputs and verdicts in the memo, in bytes.
    pub memo_bytes_max: usize,
    /// Number of threads that run guests.
    pub workers: usize,
    /// Maximum number of waiting slices, separately for reports and for requests. If the queue is
    /// full, callers wait.
    pub queue_max: usize,
    /// The reuse of instances.
    pub isolation: Isolation,
}

/// The reuse of instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// An instance is kept and judges many objects. An interpreter could carry state from one
    /// object to the next until its instance is retired.
    Pooled,
    /// Every call uses a new instance, which takes about 20 microseconds.
    PerCall,
}

impl Limits {
    /// The deadline of a call with an input of this size: [`Self::call_deadline`], plus
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
