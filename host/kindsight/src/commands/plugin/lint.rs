//! `kindsight plugin lint`.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;
use kindsight_authoring::findings;

use super::subject::Subject;
use crate::commands::interpreters::tables::counted;
use crate::table::clean;

/// `kindsight plugin lint`.
#[derive(Debug, Args)]
#[command(after_help = "\
Rules:
  no-fixtures                there is no example at all
  undeclared-field           a verdict depends on a field that the description does not request
  unreached-state            no fixture reaches a declared state
  no-fixture-without-status  no fixture of a Kind has an object without a status, although the rule
                             reads the status
  wrong-green                an object is ready although its status, spec or numbers are damaged
  wrong-by-absence           a verdict is wrong because the host does not know all related objects
  fails-on-damage            the component fails on a damaged object

Exit codes: 0 nothing was found; 1 there are findings, or the component is refused; 2 invalid command
line.")]
pub(crate) struct LintArgs {
    #[command(flatten)]
    subject: Subject,
}

/// Runs the command; the exit code says whether there are findings.
///
/// # Errors
/// When the component is refused.
pub(crate) fn run(args: &LintArgs) -> anyhow::Result<ExitCode> {
    let found = findings(&args.subject.examined()?)?;
    let mut out = io::stdout().lock();
    for finding in &found {
        writeln!(out, "{}: {}", finding.rule.as_str(), clean(&finding.what))?;
    }
    writeln!(out, "{}", counted(found.len() as u64, "finding"))?;
    Ok(if found.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
