//! Output for people, and the question before an installation.

use std::error::Error;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;

use kindsight_access::without_tokens;
use kindsight_model::clean;
use kindsight_monitor::install::Installer;

use crate::cli::InstallArgs;

/// Maximum length of an error, in bytes.
const ERROR_BYTES_MAX: usize = 4 * 1024;

/// Shows the changes of an installation, and makes them if the user agrees.
///
/// # Errors
/// The API server refuses the installation, or standard output cannot be written.
pub(crate) async fn install(args: &InstallArgs) -> Result<ExitCode, Box<dyn Error>> {
    let installer = Installer::new(&args.cluster.cluster(None)?, args.options());
    let plan = installer.plan().await?;
    let mut out = io::stdout();
    write!(out, "{plan}")?;
    if !plan.is_change() {
        writeln!(out, "The cluster has these objects already.")?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    if !args.yes && !agrees()? {
        writeln!(out, "Nothing was changed.")?;
        return Ok(ExitCode::FAILURE);
    }
    installer.apply(&plan).await?;
    writeln!(out, "The changes were made.")?;
    Ok(ExitCode::SUCCESS)
}

/// Asks the user. Without a terminal, nobody can answer, so the answer is no.
fn agrees() -> io::Result<bool> {
    let input = io::stdin();
    if !input.is_terminal() {
        complain(&io::Error::other(
            "there is no terminal for the question; `--yes` makes the changes without it",
        ));
        return Ok(false);
    }
    let mut out = io::stdout();
    write!(out, "Make these changes? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    input.lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Prints an error to standard error, without tokens and control characters.
pub(crate) fn complain(error: &dyn Error) {
    let text = error.to_string();
    let text = without_tokens(&text);
    let text = clean(&text, ERROR_BYTES_MAX);
    // If standard error is closed, the failure cannot be reported anywhere.
    let _ = writeln!(io::stderr(), "kindsight-monitor: {text}");
}
