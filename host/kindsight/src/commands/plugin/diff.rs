//! `kindsight plugin diff`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use kindsight_api::interpreters::ShadowReport;

use super::subject::component_of;
use crate::cli;
use crate::client;
use crate::client_config::ClientConfig;
use crate::commands::interpret::input::InputCoverage;
use crate::commands::interpreters::args::{Base, DiffArgs as CompareArgs, ShadowFailure};
use crate::commands::interpreters::diff::{self, BUILT_IN, DiffForm};
use crate::commands::interpreters::{exit_code, requests, tables};
use crate::progress::Progress;
use crate::server_args::CredentialArgs;

/// The word for the live version of a server in place of the old component.
const LIVE: &str = "live";

/// `kindsight plugin diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
It prints Markdown. A server compares the component with its live version, or with the built-in one,
on every object that it knows. Nothing is stored, and no verdict changes. The user needs the role
operator, and only objects that the user may see are compared:

  kindsight plugin diff live . --against https://kindsight.example >> \"$GITHUB_STEP_SUMMARY\"

Without a server, it compares as `kindsight interpreters diff` does. Take the objects from your
clusters:

  kubectl get widgets,pods -A -o json > dump.json
  kindsight plugin diff widgets-1.0.wasm . --against dump.json >> \"$GITHUB_STEP_SUMMARY\"

Exit codes: 0 the report has nothing of --fail-on; 1 a component was refused, some input could not be
read or is no object, or the server could not be reached; 2 invalid command line; 3 the report has
what --fail-on names.")]
pub(crate) struct DiffArgs {
    /// The old component; `built-in` for the built-in interpreters; `live` for the live version of a server.
    #[arg(value_name = "OLD.wasm|built-in|live")]
    old: PathBuf,
    /// The new component, or the folder of its project.
    #[arg(value_name = "NEW.wasm|DIR")]
    new: PathBuf,
    /// URL of one server, or its name in the client configuration; or files and directories with objects, as for
    /// `kindsight interpret`, which can be repeated; `-` is standard input. A file precedes a server of the same name.
    #[arg(long, value_name = "URL|NAME|FILE|DIR|-", required = true)]
    against: Vec<PathBuf>,
    /// Exits with 3 if the report has one of these (default: none).
    #[arg(long, value_enum, value_delimiter = ',')]
    fail_on: Vec<ShadowFailure>,
    /// Time to judge the objects of files at, in RFC 3339 (default: now). A server judges at the present time.
    #[arg(long, value_name = "RFC3339")]
    now: Option<jiff::Timestamp>,
    #[command(flatten)]
    credential: CredentialArgs,
}

/// Runs the command; the exit code says whether the report has what `--fail-on` names.
///
/// # Errors
/// When a component is refused, an input cannot be read, or the server cannot be reached.
pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    if let Some(server) = server(args)? {
        return on_server(args, server);
    }
    anyhow::ensure!(
        args.old != Path::new(LIVE),
        "`{LIVE}` is the live version of a server, so --against has to name the server: `--against https://HOST:PORT`, or its name in the client configuration; for files, the old component is a file or `{BUILT_IN}`"
    );
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

/// The server of `--against`: a URL, or a name of the client configuration that is no file.
///
/// # Errors
/// When a server is named beside other inputs, or the client configuration cannot be read.
fn server(args: &DiffArgs) -> anyhow::Result<Option<&str>> {
    for against in &args.against {
        let Some(text) = against.to_str() else {
            continue;
        };
        let is_name = || -> anyhow::Result<bool> {
            Ok(text != "-" && !against.exists() && ClientConfig::read()?.names(text))
        };
        if !text.contains("://") && !is_name()? {
            continue;
        }
        anyhow::ensure!(
            args.against.len() == 1,
            "`{text}` is a server: --against takes one server, or files without a server"
        );
        return Ok(Some(text));
    }
    Ok(None)
}

/// Lets the server compare the component with a version that it has.
fn on_server(args: &DiffArgs, server: &str) -> anyhow::Result<ExitCode> {
    let base = match args.old.to_str() {
        Some(LIVE) => Base::Live,
        Some(BUILT_IN) => Base::BuiltIn,
        _ => anyhow::bail!(
            "a server compares with a version that it has, so the old component has to be `{LIVE}` or `{BUILT_IN}`, not `{}`",
            args.old.display()
        ),
    };
    anyhow::ensure!(
        args.now.is_none(),
        "--now is for files: a server judges at the present time"
    );
    let file = component_of(&args.new)?;
    let request = requests::compare(&file, base)?;
    let server = args.credential.connect(server)?;
    let progress = Progress::waiting(&format!(
        "uploading {}; the server tries it on every object",
        file.display()
    ));
    let answer = request.ask(&server)?;
    drop(progress);
    let report: ShadowReport = client::read(&answer)?;
    let mut out = io::stdout().lock();
    tables::markdown(&mut out, &report, base)?;
    out.flush()?;
    if report.objects == 0 {
        cli::hint(
            "the server compared no object: it has no object of the Kinds of the component, the same component is live with the same settings, or its user may see no such object",
        );
    }
    Ok(exit_code(&args.fail_on, &report))
}
