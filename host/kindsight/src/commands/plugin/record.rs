//! `kindsight plugin record`.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kindsight_authoring::{Recorded, Recorder};
use kindsight_model::Object;
use kindsight_server::{Document, now_ms, start_local_logging};
use serde_json::Value;

use super::subject::{component_of, engine};
use crate::cli;
use crate::commands::interpret::input;
use crate::commands::interpreters::requests;
use crate::progress::LogLines;

/// `kindsight plugin record`.
#[derive(Debug, Args)]
#[command(after_help = "\
It prints one fixture for each object that the component judges. A fixture has the fields that the
description requests, the name of the object, and the related objects that the rule received. Its
promise is the present verdict: correct it where the rule is wrong. Names are not removed.

Examples:
  kubectl get widgets -A -o yaml | kindsight plugin record >> fixtures/widgets.yaml
  kindsight plugin record --component widgets.wasm dump/")]
pub(crate) struct RecordArgs {
    /// Component, or folder of a project (default: the project in the present folder).
    #[arg(
        long,
        value_name = "FILE.wasm|DIR",
        default_value = ".",
        hide_default_value = true
    )]
    component: PathBuf,
    /// Time to judge at, in RFC 3339 (default: now).
    #[arg(long, value_name = "RFC3339")]
    now: Option<jiff::Timestamp>,
    /// Files, directories or `-`, as for `kindsight interpret`. The default is standard input.
    #[arg(value_name = "FILE|DIR|-")]
    inputs: Vec<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// When the component is refused, or an input cannot be read.
pub(crate) fn run(args: &RecordArgs) -> anyhow::Result<ExitCode> {
    start_local_logging(|| LogLines)?;
    let component = requests::bytes_of(&component_of(&args.component)?)?;
    let mut recorder = Recorder::new(engine(true)?, &component)?;
    let now_ms = args
        .now
        .map_or_else(now_ms, jiff::Timestamp::as_millisecond);
    let mut fixtures: Vec<Value> = Vec::new();
    for source in input::sources(&args.inputs) {
        source?.read(|group| {
            let objects = group
                .documents
                .into_iter()
                .filter_map(|document| match document {
                    Document::Object(object) => Some(object),
                    Document::Other(why) => {
                        cli::hint(&format!("skipped a document: {why}"));
                        None
                    }
                });
            let objects: Vec<Object> = objects.collect();
            for recorded in recorder.record(objects, now_ms)? {
                match recorded {
                    Recorded::Fixture(fixture) => fixtures.push(fixture),
                    Recorded::NotJudged(name) => {
                        cli::hint(&format!("skipped {name}: the component does not judge it"));
                    }
                    Recorded::Differs(name, why) => cli::hint(&format!(
                        "skipped {name}: its fixture would not hold: {why}"
                    )),
                }
            }
            Ok(())
        })?;
    }
    anyhow::ensure!(
        !fixtures.is_empty(),
        "no object of the input makes a fixture"
    );
    io::stdout().write_all(Recorder::yaml(&fixtures)?.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
