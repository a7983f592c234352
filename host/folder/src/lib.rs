//! One safe, bounded watcher of a folder of files.
//!
//! ```text
//! listing ─▶ state of each file ─▶ unchanged for the quiet time? ─▶ read ─▶ other bytes? ─▶ Change
//! ```
//!
//! [`Folder`] finds the differences between two looks, and [`Watcher`] knows when to look: when the
//! kernel notifies of a change, once more when the folder is quiet after it, and now and then anyway.
//! The files mean nothing here: an owner chooses their names and the limits in [`FolderOptions`] and
//! decodes the bytes.
//!
//! - Nothing outside of the folder is read. A link is followed as long as it stays within the folder,
//!   as those of a mounted ConfigMap do, no matter who switches a link at which moment.
//! - Half-written files are not reported: the state of a file has to be the same at two looks, and
//!   its stamp the same before and after it is read.
//! - Memory is bounded: by the number of files, the size of each, and the bytes of one look. Bytes
//!   are handed on and not kept; a hash remains.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod change;
mod folder;
mod listing;
mod options;
mod read;
mod state;
mod tracked;
mod wake;
mod watcher;

pub use change::{Change, ContentHash, LeftOut, Rejection};
pub use folder::Folder;
pub use options::FolderOptions;
pub use wake::Pace;
pub use watcher::Watcher;

#[cfg(test)]
mod tests;
