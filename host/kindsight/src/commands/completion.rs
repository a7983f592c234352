//! `kindsight completion`: prints the script with which a shell completes commands, flags and values.

use std::io::{self, Write as _};

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::{Cli, NAME};

/// `kindsight completion`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  source <(kindsight completion bash)
  kindsight completion bash > ~/.local/share/bash-completion/completions/kindsight
  kindsight completion zsh > ~/.zfunc/_kindsight
  kindsight completion fish > ~/.config/fish/completions/kindsight.fish")]
pub(crate) struct CompletionArgs {
    /// Shell that reads the script.
    shell: Shell,
}

/// Runs the command.
///
/// # Errors
/// The output fails.
pub(crate) fn run(args: &CompletionArgs) -> io::Result<()> {
    // The generator panics if its writer fails, so the script is complete before it is printed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut script);
    io::stdout().lock().write_all(&script)
}
