//! `kindsight man`: the manual pages, generated from the command line.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;

use crate::cli::{Cli, hint};

/// `kindsight man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kindsight man | man -l -
  kindsight man ~/.local/share/man/man1 && man kindsight-status")]
pub(crate) struct ManArgs {
    /// Directory for one page for each command; created if it does not exist. Without it, the main page is printed.
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// The command line as the pages describe it: with the settings that the help of a command hides.
fn complete(command: Command) -> Command {
    let command = command.mut_args(|flag| flag.hide_short_help(false));
    command
        .disable_help_subcommand(true)
        .mut_subcommands(complete)
}

/// Runs the command.
///
/// # Errors
/// The directory or a page cannot be written.
pub(crate) fn run(args: &ManArgs) -> anyhow::Result<()> {
    let command = complete(Cli::command());
    let Some(directory) = &args.directory else {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        return Ok(io::stdout().lock().write_all(&page)?);
    };
    let shown = directory.display();
    fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(command, directory))
        .with_context(|| format!("write the manual pages to {shown}"))?;
    hint(&format!("wrote the manual pages to {shown}"));
    Ok(())
}
