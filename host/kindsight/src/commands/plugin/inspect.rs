//! `kindsight plugin inspect`.

use std::process::ExitCode;

use clap::Args;

use super::subject::Subject;
use crate::commands::interpreters::component;
use crate::output_format::OutputFormat;

/// `kindsight plugin inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    subject: Subject,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Table)]
    output: OutputFormat,
}

/// Runs the command.
///
/// # Errors
/// When the component is refused, or the file cannot be read.
pub(crate) fn run(args: &InspectArgs) -> anyhow::Result<ExitCode> {
    component::inspect(&args.subject.file()?, args.output)?;
    Ok(ExitCode::SUCCESS)
}
