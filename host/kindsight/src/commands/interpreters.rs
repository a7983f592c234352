//! `kindsight interpreters`: shows and changes the interpreters of a server.
//!
//! command line -> **request** -> server -> table, or JSON as the server sent it
//!
//! `check`, `diff` and `inspect` of a file need no server: they run in this process.

pub(crate) mod args;
pub(crate) mod component;
pub(crate) mod diff;
mod digest;
pub(crate) mod missing;
pub(crate) mod requests;
pub(crate) mod tables;

use std::io::{self, StdoutLock, Write as _};
use std::process::ExitCode;

use anstream::AutoStream;
use kindsight_api::interpreters::{
    InterpreterDetail, InterpreterList, MissingRules, Outcome, OutcomeStatus, Promotion, Recorded,
    RemovedNames, ShadowReport,
};
use serde::de::DeserializeOwned;

use crate::FOUND;
use crate::cli;
use crate::client::{self, Request};
use crate::commands::interpreters::args::{
    Action, InterpretersArgs, LoadArgs, Name, RecordArgs, SettingsArgs, ShadowArgs, ShadowFailure,
    To,
};
use crate::output_format::OutputFormat;
use crate::progress::Progress;
use crate::table::{clean, clean_lines};

/// Runs the command; returns the exit code of the process.
///
/// # Errors
/// When a file cannot be read, or the server cannot be reached or refuses.
pub(crate) fn run(args: &InterpretersArgs) -> anyhow::Result<ExitCode> {
    let to = &args.to;
    match &args.action {
        Action::Diff(args) => return diff::run(args, to.output.into()),
        Action::List => show(to, &requests::list(), |out, answer: &InterpreterList| {
            tables::list(out, answer)
        })?,
        Action::Missing => show(to, &requests::missing(), |out, answer: &MissingRules| {
            missing::table(out, answer)
        })?,
        Action::Check(args) => component::check(args, to.output)?,
        Action::Inspect(of) => {
            if let Some(file) = of.file() {
                component::inspect(file, to.output)?;
                return Ok(ExitCode::SUCCESS);
            }
            let request = requests::inspect(&of.name);
            show(to, &request, |out, answer: &InterpreterDetail| {
                tables::inspect(out, answer)
            })?;
        }
        Action::Record(args) => record(to, args)?,
        Action::Load(args) => load(to, args)?,
        Action::Shadow(args) => return shadow(to, args),
        Action::Promote(args) => {
            let digest = whole_digest(to, &args.of, args.digest.as_deref())?;
            change(to, &requests::promote(args, digest)?)?;
        }
        Action::Rollback(args) => {
            let digest = whole_digest(to, &args.of, args.digest.as_deref())?;
            change(to, &requests::rollback(&args.of.name, digest.as_deref()))?;
        }
        Action::Disable(of) => change(to, &requests::command(&of.name, "disable"))?,
        Action::Enable(of) => change(to, &requests::command(&of.name, "enable"))?,
        Action::Settings(args) => settings(to, args)?,
        Action::Remove(args) => match &args.name {
            Some(name) => change(to, &requests::remove(name))?,
            None => show(
                to,
                &requests::remove_unused(),
                |out, names: &RemovedNames| tables::removed(out, names),
            )?,
        },
    }
    Ok(ExitCode::SUCCESS)
}

/// Sends a request and prints the answer in the output format.
fn show<T: DeserializeOwned>(
    to: &To,
    request: &Request,
    print: impl FnOnce(&mut AutoStream<StdoutLock<'static>>, &T) -> io::Result<()>,
) -> anyhow::Result<()> {
    let answer = request.ask(&to.server.connect()?)?;
    match to.output {
        OutputFormat::Json => client::print_as_is(io::stdout().lock(), &answer),
        OutputFormat::Table => {
            let mut out = anstream::stdout().lock();
            Ok(print(&mut out, &client::read(&answer)?)?)
        }
    }
}

/// Prints the fixture of an object as a list of one fixture in YAML, or the answer as JSON.
fn record(to: &To, args: &RecordArgs) -> anyhow::Result<()> {
    let answer = requests::record(args).ask(&to.server.connect()?)?;
    if to.output == OutputFormat::Json {
        return client::print_as_is(io::stdout().lock(), &answer);
    }
    let recorded: Recorded = client::read(&answer)?;
    let (interpreter, version) = (&recorded.interpreter, &recorded.version);
    let yaml = serde_saphyr::to_string(&[&recorded.fixture]);
    let yaml = yaml.map_err(|error| anyhow::anyhow!("write YAML: {error}"))?;
    let mut out = anstream::stdout().lock();
    writeln!(out, "# of {interpreter} {}", clean(version))?;
    Ok(writeln!(out, "{}", clean_lines(yaml.trim_end()))?)
}

/// Prints the report on the candidate; the exit code says whether it has what the command fails on.
fn shadow(to: &To, args: &ShadowArgs) -> anyhow::Result<ExitCode> {
    let request = requests::shadow(args)?;
    let server = to.server.connect()?;
    let progress = Progress::waiting("the server compares both versions on every object");
    let answer = request.ask(&server)?;
    drop(progress);
    let report: ShadowReport = client::read(&answer)?;
    let out = io::stdout().lock();
    match to.output {
        OutputFormat::Json => client::print_as_is(out, &answer)?,
        OutputFormat::Table => tables::shadow(out, &report)?,
    }
    Ok(exit_code(&args.fail_on, &report))
}

/// [`FOUND`] if the report on two versions has what the command fails on.
pub(crate) fn exit_code(fail_on: &[ShadowFailure], report: &ShadowReport) -> ExitCode {
    let is_found = |failure: &ShadowFailure| match failure {
        ShadowFailure::Changes => report.changed > 0,
        ShadowFailure::Phase => report.phases_changed > 0,
        ShadowFailure::Faults => report.faults.candidate > 0,
    };
    if fail_on.iter().any(is_found) {
        ExitCode::from(FOUND)
    } else {
        ExitCode::SUCCESS
    }
}

/// Uploads a component. With settings of its own, it is a candidate first and is then promoted with them, so that it
/// never has to fit the present ones.
fn load(to: &To, args: &LoadArgs) -> anyhow::Result<()> {
    let settings = args.settings.as_deref().map(requests::settings_in);
    let settings = settings.transpose()?;
    let request = requests::load(args)?;
    let progress = Progress::waiting(&format!(
        "uploading {}; the server compiles and tries it",
        args.file.display()
    ));
    let Some(settings) = settings else {
        return change(to, &request);
    };
    let outcome: Outcome = client::read(&request.ask(&to.server.connect()?)?)?;
    drop(progress);
    let name = outcome.name.as_str();
    if outcome.status == OutcomeStatus::Unchanged && outcome.detail.contains("is live already") {
        return change(to, &requests::set(name, &settings)?);
    }
    let promotion = Promotion {
        digest: outcome.digest.map(|digest| digest.to_string()),
        force: false,
        settings: Some(settings),
    };
    change(to, &requests::promotion(name, &promotion)?)
}

/// The complete digest of a version that a user gave, possibly by its beginning.
fn whole_digest(to: &To, of: &Name, digest: Option<&str>) -> anyhow::Result<Option<String>> {
    let completed = digest.map(|digest| digest::completed(to, &of.name, digest));
    completed.transpose()
}

/// Sends a command and prints its outcome, and the next steps for a candidate.
fn change(to: &To, request: &Request) -> anyhow::Result<()> {
    show(to, request, |out, outcome: &Outcome| {
        tables::outcome(&mut *out, outcome)?;
        out.flush()?;
        for line in tables::next_steps(outcome) {
            cli::hint(&line);
        }
        Ok(())
    })
}

fn settings(to: &To, args: &SettingsArgs) -> anyhow::Result<()> {
    let name = &args.of.name;
    match &args.file {
        Some(file) => change(to, &requests::settings(name, file)?),
        None if args.clear => change(to, &requests::clear_settings(name)),
        None => {
            let answer = requests::inspect(name).ask(&to.server.connect()?)?;
            let detail: InterpreterDetail = client::read(&answer)?;
            let settings = tables::settings(&detail);
            Ok(writeln!(io::stdout().lock(), "{settings}")?)
        }
    }
}
