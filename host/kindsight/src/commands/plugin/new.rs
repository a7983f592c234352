//! `kindsight plugin new`.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kindsight_authoring::{KindName, Language, NewProject};

/// `kindsight plugin new`.
#[derive(Debug, Args)]
#[command(after_help = "\
For Rust, it writes the SDK beside the project, into `kindsight-sdk`, unless it is there already.
Files are never overwritten.

Examples:
  kindsight plugin new widgets --language python --kind example.com/v1/Widget
  kindsight plugin new pods --language go --kind v1/Pod")]
pub(crate) struct NewArgs {
    /// Name of the interpreter, and of the new folder.
    name: String,
    /// Language: c, go, javascript, python, rust or typescript.
    #[arg(long)]
    language: Language,
    /// Kind that the rule judges.
    #[arg(
        long,
        value_name = "GROUP/VERSION/KIND",
        default_value = "example.com/v1/Widget"
    )]
    kind: KindName,
    /// Folder for the new folder of the project.
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        hide_default_value = true
    )]
    parent: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// When the folder exists or a file cannot be written.
pub(crate) fn run(args: &NewArgs) -> anyhow::Result<ExitCode> {
    let project = NewProject {
        name: args.name.clone(),
        language: args.language,
        kind: args.kind.clone(),
    };
    let folder = project.write(&args.parent)?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{} is a new project; README.md in it has the next steps",
        folder.display()
    )?;
    writeln!(out, "its tools: {}", args.language.tools())?;
    Ok(ExitCode::SUCCESS)
}
