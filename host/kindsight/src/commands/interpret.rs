//! `kindsight interpret`: judges objects as `kubectl get` prints them.
//!
//! input files -> **documents** (single objects, or groups of related ones) -> verdicts -> output

pub(crate) mod input;
mod output;

use std::sync::Arc;

use kindsight_api::interpret::ObjectVerdict;
use kindsight_model::Object;
use kindsight_server::interpreter::{Interpreters, Limits};
use kindsight_server::{
    Document, Group, LogFormat, cache_folder, now_ms, start_interpreters, start_logging,
};

use crate::cli::{self, InterpretArgs};
use crate::commands::interpret::output::Printer;

/// Runs the command.
///
/// # Errors
/// When an interpreter is refused, an input cannot be read, or the output cannot be written. Input
/// that can be read is judged and printed all the same.
pub(crate) fn run(args: &InterpretArgs) -> anyhow::Result<()> {
    start_logging("error", LogFormat::Text)?;
    let cache = cache_folder();
    let interpreters = start_interpreters(Limits::default(), cache.as_deref(), &args.interpreters)?;
    let now_ms = args
        .now
        .map_or_else(now_ms, jiff::Timestamp::as_millisecond);
    let mut printer = Printer::new(std::io::stdout().lock(), args.output, args.explain);
    let mut unread = 0;
    for source in input::sources(&args.inputs) {
        let outcome = source.and_then(|mut source| {
            source.read(|group| printer.print(&judged(&interpreters, group, now_ms)))
        });
        if let Err(error) = outcome {
            if crate::is_broken_pipe(&error) {
                return Err(error);
            }
            unread += 1;
            cli::complain(&error);
        }
    }
    printer.finish()?;
    anyhow::ensure!(
        unread == 0,
        "{unread} of the inputs could not be read completely"
    );
    Ok(())
}

/// One verdict per document, in order.
fn judged(interpreters: &Interpreters, group: Group, now_ms: i64) -> Vec<ObjectVerdict> {
    let mut objects: Vec<Object> = Vec::with_capacity(group.documents.len());
    let inputs: Vec<Result<(), String>> = group
        .documents
        .into_iter()
        .map(|document| match document {
            Document::Object(object) => {
                objects.push(object);
                Ok(())
            }
            Document::Other(why) => Err(why),
        })
        .collect();
    let objects: Arc<[Object]> = objects.into();
    let judged = if group.related {
        interpreters.judge(&objects, now_ms)
    } else {
        interpreters.judge_each(&objects, now_ms)
    };
    let mut verdicts = objects
        .iter()
        .zip(judged)
        .map(|(object, verdict)| ObjectVerdict::new(object, verdict));
    let lines = inputs.into_iter().filter_map(|input| match input {
        Ok(()) => verdicts.next(),
        Err(why) => Some(ObjectVerdict::not_an_object(why)),
    });
    lines.collect()
}
