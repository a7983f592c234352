//! `kindsight plugin`: tools for authors of interpreters.
//!
//! All commands run in this process, without a server.

mod inspect;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// `kindsight plugin`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 success; 1 failure (the reason is on standard error); 2 invalid command line.")]
pub(crate) struct PluginArgs {
    #[command(subcommand)]
    command: PluginCommand,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
enum PluginCommand {
    /// Shows the description of a component: Kinds, states, reasons, settings and limits.
    Inspect(inspect::InspectArgs),
}

/// Runs the command; returns the exit code of the process.
///
/// # Errors
/// The reason why the command failed.
pub(crate) fn run(args: &PluginArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        PluginCommand::Inspect(args) => inspect::run(args),
    }
}
