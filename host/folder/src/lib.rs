//! A safe, bounded watcher of a folder of files.
//!
//! ```text
//! listing ─▶ state of each file ─▶ unchanged for the quiet time? ─▶ read ─▶ other bytes? ─▶ Change
//! ```
//!
//! [`Folder`] finds the differences between two looks. [`Watcher`] determines when to look: when
//! the kernel notifies it of a change, again when the folder is quiet after that change, and at
//! regular intervals. This crate does not interpret the files: the owner chooses their names and
//! the limits in [`FolderOptions`], and decodes the content.
//!
//! - Files outside the folder are never read. A link is followed only if its target is within the
//!   folder, as the links of a mounted ConfigMap are, even if links are switched at the same time.
//! - Partially written files are not reported: the state of a file must be the same at two looks,
//!   and its stamp must be the same before and after it is read.
//! - Memory is bounded by the number of files, the size of each file, and the bytes of one look.
//!   The content is passed on and not kept. Only a hash of it is kept.

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
