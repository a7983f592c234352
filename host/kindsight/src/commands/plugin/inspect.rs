//! `kindsight plugin inspect`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::commands::interpreters::component;
use crate::output_format::OutputFormat;

/// `kindsight plugin inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Component, or core module built with the SDK for `wasm32-unknown-unknown`.
    #[arg(value_name = "FILE.wasm")]
    file: PathBuf,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Table)]
    output: OutputFormat,
}

/// Runs the command.
///
/// # Errors
/// When the component is refused, or the file cannot be read.
pub(crate) fn run(args: &InspectArgs) -> anyhow::Result<ExitCode> {
    component::inspect(&args.file, args.output)?;
    Ok(ExitCode::SUCCESS)
}
