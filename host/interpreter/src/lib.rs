//! How each thing fares: one Wasm component per group of Kinds, called safely and fast.
//!
//! ```text
//! bytes ─▶ load ─▶ Interpreter ─▶ publish ─▶ Published (one immutable set, swapped atomically)
//!                                                │
//! objects ─▶ Interpreters::judge ─▶ workers ─▶ lookup ─▶ trim ─▶ memo ─▶ warm instance ─▶ Verdict
//! ```
//!
//! Always a verdict, in bounded time and memory: whatever an interpreter does costs exactly the
//! verdict it was asked for, which becomes `Unknown` with a reason that names the interpreter.
//! Nothing here is async: guests run on threads of their own, never on an executor's.
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
pub mod catalog;
mod compare;
mod compile;
mod describe;
mod engine;
mod fault;
mod imports;
mod interpreters;
mod limits;
mod load;
mod memo;
mod pattern;
mod prepared;
mod published;
mod related;
mod stats;
mod trial;
mod trim;
mod warm;
mod worker;

pub use aot::AotCache;
pub use compare::{Change, Comparer, Comparison, Place, Sample, compare};
pub use compile::{ChildCompiler, Compiler, compile_child};
pub use describe::{Description, HandledKind, RelatedRule, Relation, State};
pub use engine::Engine;
pub use fault::Fault;
pub use interpreters::{Interpreters, StartError, step_aside};
pub use limits::{Isolation, LOG_LINES_MAX, Limits};
pub use load::{Interpreter, LoadError};
pub use memo::{Memo, MemoStats};
pub use pattern::KindPattern;
pub use published::{Offer, PublishError, Published};
pub use related::Siblings;
pub use stats::{CallSnapshot, CallStats, Latency, Recent};
pub use trim::Fields;
pub use worker::Worker;
