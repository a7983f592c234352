//! `kindsight plugin run`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::subject::component_of;
use crate::cli::InterpretArgs;
use crate::commands::interpret;

/// `kindsight plugin run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Component, or folder of a project (default: the project in the present folder).
    #[arg(
        long,
        value_name = "FILE.wasm|DIR",
        default_value = ".",
        hide_default_value = true
    )]
    component: PathBuf,
    #[command(flatten)]
    interpret: InterpretArgs,
}

/// Runs the command; the exit code says whether there was a verdict of `--fail-on`.
///
/// # Errors
/// When the component is refused, or an input cannot be read.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    let mut interpret = args.interpret.clone();
    interpret.interpreters.push(component_of(&args.component)?);
    interpret::run(&interpret)
}
