//! `kindsight interpret`: judges objects as `kubectl get` prints them.
//!
//! input files -> **documents** (single objects, or groups of related ones) -> verdicts -> output

mod findings;
pub(crate) mod input;
pub(crate) mod judged;
pub(crate) mod output;
mod shown;

use std::io::{self, Write};
use std::process::ExitCode;

use kindsight_model::Coverage;
use kindsight_server::interpreter::{Interpreters, LOG_LINES_MAX, LOG_LINES_PER_SPAN_MAX, Limits};
use kindsight_server::{
    SettingsByName, cache_folder, now_ms, start_interpreters, start_local_logging,
};

use crate::cli::{self, InterpretArgs, SettingsFile, VerdictOutput};
use crate::commands::interpret::findings::Findings;
use crate::commands::interpret::judged::{Show, judged};
use crate::commands::interpret::shown::Shown;
use crate::commands::interpreters::{requests, tables};
use crate::pipe::{self, UntilClosed};
use crate::progress::{self, LogLines};

/// Size of the memo of verdicts, in bytes. Within one run, mostly objects without a status have equal inputs, and these
/// inputs are small. Every other input only fills the memo.
const MEMO_BYTES_MAX: usize = 1024 * 1024;

/// Runs the command; the exit code says whether there was a verdict of `--fail-on`.
///
/// # Errors
/// When an interpreter or its settings are refused, an input cannot be read, or the output cannot be
/// written. Input that can be read is judged and printed all the same.
pub(crate) fn run(args: &InterpretArgs) -> anyhow::Result<ExitCode> {
    start_local_logging(|| LogLines)?;
    let settings = settings(&args.settings)?;
    let cache = cache_folder();
    let limits = Limits {
        memo_bytes_max: MEMO_BYTES_MAX,
        ..Limits::default()
    };
    let local = start_interpreters(
        limits,
        cache.as_deref(),
        &args.interpreters,
        &args.catalogue.components()?,
        &settings,
        &progress::of_interpreters(),
    )?;
    for hint in &local.hidden {
        cli::hint(hint);
    }
    let now_ms = args
        .now
        .map_or_else(now_ms, jiff::Timestamp::as_millisecond);
    let coverage = Coverage::from(args.coverage);
    let show = Show {
        explain: args.explain,
        input: args.show_input,
    };
    let mut shown = Shown::new(standard_output(args), args, &local.interpreters);
    let mut findings = Findings::new(&args.fail_on);
    let mut unread = 0;
    for source in input::sources(&args.inputs) {
        let outcome = source.and_then(|mut source| {
            source.read(|group| {
                let judged = judged(&local.interpreters, group, &coverage, now_ms, show)?;
                findings.add(&judged);
                shown.take(&judged)
            })
        });
        if let Err(error) = outcome {
            if pipe::is_unread(&error, &io::stdout()) {
                return Err(error);
            }
            unread += 1;
            cli::complain(&error);
        }
    }
    shown.finish()?;
    let dropped = dropped_lines(&local.interpreters);
    if findings.is_empty() && unread == 0 {
        cli::hint("the input holds no document: there is nothing to judge");
    }
    for hint in findings.hints(&local.from_files).into_iter().chain(dropped) {
        cli::hint(&hint);
    }
    anyhow::ensure!(
        unread == 0,
        "{unread} of the inputs could not be read completely"
    );
    Ok(findings.exit_code())
}

/// The standard output. Only tables have colors, which `anstream` removes where the output is no terminal.
///
/// With `--fail-on`, the exit code depends on every verdict, so a reader that closes the pipe ends only the output.
fn standard_output(args: &InterpretArgs) -> Box<dyn Write> {
    let output: Box<dyn Write> = match args.output {
        VerdictOutput::Table | VerdictOutput::Wide => Box::new(anstream::stdout().lock()),
        VerdictOutput::Json | VerdictOutput::Jsonl | VerdictOutput::Yaml => {
            Box::new(io::stdout().lock())
        }
    };
    if args.fail_on.is_empty() {
        output
    } else {
        Box::new(UntilClosed(output))
    }
}

/// One line per interpreter whose log lines were dropped, with their number.
fn dropped_lines(interpreters: &Interpreters) -> Vec<String> {
    let set = interpreters.published();
    let lines = set.interpreters().filter_map(|(_, interpreter)| {
        let name = &interpreter.by().name;
        let dropped = set.stats(name)?.snapshot().log_lines_dropped;
        (dropped > 0).then(|| {
            let lines = tables::counted(dropped, "log line");
            format!("{lines} of {name} were dropped: it may log {LOG_LINES_MAX} in a call, {LOG_LINES_PER_SPAN_MAX} in 10 s")
        })
    });
    lines.collect()
}

/// Reads the settings of `--settings`.
fn settings(files: &[SettingsFile]) -> anyhow::Result<SettingsByName> {
    let mut settings = SettingsByName::new();
    for SettingsFile { name, file } in files {
        let before = settings.insert(name.clone(), requests::settings_in(file)?);
        anyhow::ensure!(
            before.is_none(),
            "--settings has the settings of `{name}` twice"
        );
    }
    Ok(settings)
}
