//! Formats that commands print in.

use clap::ValueEnum;

/// Output format of `demo`, `status` and `interpreters`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// A table.
    Table,
    /// JSON as the server sent it.
    Json,
}
