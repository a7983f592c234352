//! Runtime of interpreters: Wasm components that judge the objects of some Kinds, called safely and
//! efficiently.
//!
//! ```text
//! bytes ─▶ load ─▶ Interpreter ─▶ publish ─▶ Published (one immutable set, swapped atomically)
//!                                                │
//! objects ─▶ Interpreters::judge ─▶ workers ─▶ lookup ─▶ cut ─▶ memo ─▶ pooled instance ─▶ Verdict
//! ```
//!
//! Every object gets a verdict, in bounded time and memory. If an interpreter fails, only the
//! requested verdict is affected: it becomes `Unknown` with a reason that names the interpreter.
//! This crate has no async code: guests run on separate threads, never on a thread of an executor.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod accept;
mod aot;
mod bindings;
mod bounded_store;
mod call_input;
mod compare;
mod compile;
mod describe;
mod engine;
mod examination;
mod exports;
mod failed_input;
mod fault;
mod file_kind;
mod given_input;
mod guarded_worker;
mod guest_log;
mod imports;
mod instance_context;
mod interpreter;
mod interpreters;
mod limits;
mod load;
mod load_error;
mod log_rate;
mod memo;
mod module;
mod parts;
mod pool;
mod pooled_instance;
mod priority;
mod published;
mod recorded_fixture;
mod related;
mod settings_trial;
mod stats;
mod trial;
mod version_trial;
mod worker;
mod worker_thread;

pub use compare::{
    Change, ChangedApplication, Comparer, Comparison, ReportedGroup, Sample, compare,
};
pub use compile::{ChildCompiler, Compiler, compile_child, componentized};
pub use describe::{DeclaredState, Description, HandledKind, Reason, RelatedRule, Relation};
pub use engine::Engine;
pub use examination::{Examination, Examiner};
pub use failed_input::FailedInput;
pub use fault::Fault;
pub use given_input::GivenInput;
pub use guest_log::{GUEST_ERROR, GUEST_LOG_TARGET};
pub use interpreter::Interpreter;
pub use interpreters::{Interpreters, QueuedSlices, StartError};
pub use kindsight_code_cache::CodeCache;
pub use limits::{
    CALL_DEADLINE_PER_MIB, FAULT_LINES_PER_SPAN_MAX, INPUT_BYTES_MAX, Isolation, LOG_LINES_MAX,
    LOG_LINES_PER_SPAN_MAX, Limits, PARTS_MAX,
};
pub use load_error::LoadError;
pub use log_rate::LogRate;
pub use memo::{Memo, MemoStats};
pub use priority::lower_priority;
pub use published::{PublishError, Published, SetMember};
pub use recorded_fixture::{RecordError, RecordedFixture, record_fixture};
pub use related::Siblings;
pub use settings_trial::{SettingsRefused, SettingsTrial, TriedSettings};
pub use stats::{CallSnapshot, CallStats, Latency, Recent, TimedCalls};
pub use trial::TrialError;
pub use version_trial::{TriedVersion, try_version};
pub use worker::Worker;
