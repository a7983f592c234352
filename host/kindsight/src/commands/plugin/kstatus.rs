//! `kindsight plugin kstatus`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::component;

/// `kindsight plugin kstatus`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  kindsight plugin kstatus -o kstatus.wasm
  kindsight interpret --interpreter kstatus.wasm widget.yaml")]
pub(crate) struct KstatusArgs {
    /// File for the component.
    #[arg(short, long, value_name = "FILE.wasm")]
    output: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn run(args: &KstatusArgs) -> anyhow::Result<ExitCode> {
    component::write(&args.output, kindsight_conversion::kstatus().to_vec())?;
    Ok(ExitCode::SUCCESS)
}
