//! `kindsight plugin build`.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kindsight_authoring::Project;

/// `kindsight plugin build`.
#[derive(Debug, Args)]
#[command(after_help = "\
It writes NAME.wasm into the project. If a tool is missing, the error names the command that installs
it. A component imports nothing but the log: the build puts constants in place of WASI's clock and
random source, and drops output.")]
pub(crate) struct BuildArgs {
    /// Folder of the project.
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    folder: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// When a tool is missing or fails.
pub(crate) fn run(args: &BuildArgs) -> anyhow::Result<ExitCode> {
    let file = Project::open(&args.folder)?.build()?;
    let kib = std::fs::metadata(&file)?.len().div_ceil(1024);
    writeln!(io::stdout(), "{} ({kib} KiB)", file.display())?;
    Ok(ExitCode::SUCCESS)
}
