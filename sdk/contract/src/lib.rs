//! The contract between the kindsight host and an interpreter: types, parsers and checks for both
//! sides.
//!
//! ```text
//! JSON ─▶ Tree ─▶ Node (reads it) ─▶ write_object (reduces it to Fields) ─▶ TextWriter: JSON text
//!                                                                        └▶ ViewWriter: the view ─▶ Document ─▶ Node
//! ```
//!
//! The host uses this crate to judge, and the SDK uses it in components and in their authors'
//! tests. A native test therefore gives the same result as the host. The crate uses no Wasm, no
//! clock and no I/O. Every reader is total, is bounded by [`limits`], and names each invalid value
//! by its place.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

pub mod damage;
pub mod description;
mod document;
mod entry;
mod fields;
pub mod fixture;
mod input;
pub mod json;
mod label_selector;
pub mod limits;
mod manifest_spec;
mod node;
pub mod pattern;
pub mod phase;
pub mod pointer;
mod promise;
mod reading;
pub mod relation;
mod relatives;
mod reported;
pub mod spliced;
mod text_writer;
pub mod time;
mod trace;
mod tree;
mod unasked;
mod view;
mod view_writer;
mod words;
mod writer;

pub use description::{Description, HandledKind, Reason, State};
pub use document::Document;
pub use entry::{KEY_BYTES_MAX, NODE_BYTES};
pub use fields::{EVERY_ITEM, Fields, escaped};
pub use fixture::{Coverage, Expectation, ExpectedFailure, Fixture};
pub use input::{InputWriter, member};
pub use label_selector::{LabelRequirement, LabelSelector, LabelTest};
pub use limits::TREE_NODES_MAX;
pub use manifest_spec::{
    MANIFEST, RESERVED_ANNOTATIONS, SCALED_BY, SCALED_BY_POINTER, SPEC_SOURCE, SPEC_SOURCE_POINTER,
    has_manifest_spec,
};
pub use node::Node;
pub use pattern::{Claim, KindPattern, Specificity, handled, ranked};
pub use phase::Phase;
pub use promise::{Given, RECHECK_WITHOUT_TIME};
pub use reading::cut;
pub use relation::{RelatedRule, Relation};
pub use relatives::{Found, Relative, RelativeList, Relatives};
pub use reported::Reported;
pub use text_writer::TextWriter;
pub use trace::{Reads, Trace};
pub use tree::{Cursor, ReadError, Tree};
pub use unasked::{Request, Wider, unasked};
pub use view::ViewError;
pub use view_writer::ViewWriter;
pub use writer::{Identity, Writer, write_object};
