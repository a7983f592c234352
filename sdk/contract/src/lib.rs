//! The contract between the kindsight host and an interpreter, as both sides read and check it.
//!
//! ```text
//! JSON ─▶ Tree ─▶ Node (reads it) ─▶ write_object (cuts it to Fields) ─▶ TextWriter: JSON text
//!                                                                     └▶ ViewWriter: the view ─▶ Document ─▶ Node
//! ```
//!
//! The host uses it to judge, and the SDK in components and in their authors' tests: what is right
//! natively is right in the host, since both ask the same code.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod document;
mod entry;
mod fields;
mod input;
mod limits;
mod node;
mod text_writer;
pub mod time;
mod trace;
mod tree;
mod view;
mod view_writer;
mod writer;

pub use document::Document;
pub use entry::{KEY_BYTES_MAX, NODE_BYTES};
pub use fields::{EVERY_ITEM, Fields, escaped};
pub use input::{Coverage, InputWriter, member};
pub use limits::TREE_NODES_MAX;
pub use node::Node;
pub use text_writer::TextWriter;
pub use trace::Trace;
pub use tree::{ReadError, Tree};
pub use view::ViewError;
pub use view_writer::ViewWriter;
pub use writer::{Identity, Writer, write_object};
