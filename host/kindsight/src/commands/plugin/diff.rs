//! `kindsight plugin diff`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::subject::component_of;
use crate::commands::interpret::input::InputCoverage;
use crate::commands::interpreters::args::{DiffArgs as CompareArgs, ShadowFailure};
use crate::commands::interpreters::diff::{self, DiffForm};

/// `kindsight plugin diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
It compares as `kindsight interpreters diff` does, and prints Markdown. Take the objects from your
clusters:

  kubectl get widgets,pods -A -o json > dump.json
  kindsight plugin diff widgets-1.0.wasm . --against dump.json >> \"$GITHUB_STEP_SUMMARY\"

For the objects of a running server, load the component as a candidate, and use
`kindsight interpreters shadow`.

Exit codes: 0 the report has nothing of --fail-on; 1 a component was refused or some input could not be
read; 2 invalid command line; 3 the report has what --fail-on names.")]
pub(crate) struct DiffArgs {
    /// The old component, or `built-in` for the built-in interpreters.
    #[arg(value_name = "OLD.wasm|built-in")]
    old: PathBuf,
    /// The new component, or the folder of its project.
    #[arg(value_name = "NEW.wasm|DIR")]
    new: PathBuf,
    /// File or directory with objects, as for `kindsight interpret`; `-` is standard input. Can be repeated.
    #[arg(long, value_name = "FILE|DIR|-", required = true)]
    against: Vec<PathBuf>,
    /// Exits with 3 if the report has one of these (default: none).
    #[arg(long, value_enum, value_delimiter = ',')]
    fail_on: Vec<ShadowFailure>,
    /// Time to judge at, in RFC 3339 (default: now).
    #[arg(long, value_name = "RFC3339")]
    now: Option<jiff::Timestamp>,
}

/// Runs the command; the exit code says whether the report has what `--fail-on` names.
///
/// # Errors
/// When a component is refused, or an input cannot be read.
pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let compare = CompareArgs {
        old: args.old.clone(),
        new: component_of(&args.new)?,
        settings: None,
        old_settings: None,
        fail_on: args.fail_on.clone(),
        coverage: InputCoverage::Partial,
        now: args.now,
        inputs: args.against.clone(),
    };
    diff::run(&compare, DiffForm::Markdown)
}
