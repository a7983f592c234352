//! Answers of the catalog API as tables.

mod inspect;
mod markdown;
mod shadow;

use std::fmt::Write as _;
use std::io::{self, Write};

use kindsight_api::interpreters::{InterpreterList, Outcome, OutcomeStatus, RemovedNames};
use kindsight_model::{Digest, Source, clean_json};
use kindsight_server::catalog::takeover_lines;
use serde::Serialize;

use crate::color;
use crate::table::{Cell, Table, clean};

pub(crate) use inspect::{checked, component, inspect, settings};
pub(crate) use markdown::markdown;
pub(crate) use shadow::{diff, shadow};

/// Width of the column of Kinds in the list, in characters.
const KINDS_WIDTH: usize = 48;

const LIST_HEAD: [&str; 9] = [
    "NAME",
    "VERSION",
    "SOURCE",
    "STATUS",
    "DIGEST",
    "CALLS",
    "FAULTS",
    "CANDIDATE",
    "KINDS",
];

/// Prints one line per interpreter.
pub(crate) fn list(mut to: impl Write, list: &InterpreterList) -> io::Result<()> {
    if list.interpreters.is_empty() {
        return writeln!(to, "no interpreters");
    }
    let mut table = Table::new(&mut to, &LIST_HEAD);
    for it in &list.interpreters {
        let is_faulting = it.faulting.is_some();
        let status = if is_faulting {
            "faulting"
        } else {
            it.status.as_str()
        };
        table.cells(&[
            Cell::plain(&*it.name),
            Cell::plain(text(it.version.as_ref())),
            Cell::plain(it.source.map_or("", Source::as_str)),
            Cell::styled(status, color::of_interpreter(it.status, is_faulting)),
            Cell::plain(it.digest.as_ref().map_or("", Digest::short)),
            Cell::plain(number(it.calls)),
            Cell::plain(number(it.faults)),
            Cell::plain(it.candidate.as_ref().map_or("", Digest::short)),
            Cell::plain(cut(&it.kinds)),
        ])?;
    }
    table.flush()?;
    drop(table);
    for it in &list.interpreters {
        if let Some(why) = &it.unavailable {
            writeln!(to, "\n{}: not loaded: {}", clean(&it.name), clean(why))?;
        }
    }
    refused(to, list)
}

/// Prints the components that were refused last, if there are any.
fn refused(mut to: impl Write, list: &InterpreterList) -> io::Result<()> {
    if list.refused.is_empty() {
        return Ok(());
    }
    writeln!(to)?;
    let mut table = Table::new(to, &["REFUSED", "SOURCE", "DIGEST", "TIME", "WHY"]);
    for it in &list.refused {
        table.row(&[
            it.file
                .as_deref()
                .or(it.name.as_deref())
                .unwrap_or_default(),
            it.source.as_str(),
            it.digest.as_ref().map_or("", Digest::short),
            &it.time.to_string(),
            &format!("{}: {}", it.step, it.why),
        ])?;
    }
    table.flush()
}

/// Prints the names that were removed together.
pub(crate) fn removed(mut to: impl Write, names: &RemovedNames) -> io::Result<()> {
    for name in &names.removed {
        writeln!(to, "{name}")?;
    }
    writeln!(
        to,
        "{} removed",
        counted(names.removed.len() as u64, "name")
    )
}

/// Prints the outcome of a command: its detail, the Kinds that are taken over, and the digest of the
/// component.
pub(crate) fn outcome(mut to: impl Write, outcome: &Outcome) -> io::Result<()> {
    writeln!(to, "{}", clean(&outcome.detail))?;
    let verb = match outcome.status {
        OutcomeStatus::Candidate => "would take",
        _ => "takes",
    };
    for line in takeover_lines(&outcome.takes) {
        writeln!(to, "{verb} {}", clean(&line))?;
    }
    match &outcome.digest {
        Some(digest) => writeln!(to, "digest {digest}"),
        None => Ok(()),
    }
}

/// Commands to run next, a line each. Only for a candidate.
pub(crate) fn next_steps(outcome: &Outcome) -> Vec<String> {
    if outcome.status != OutcomeStatus::Candidate {
        return Vec::new();
    }
    let (name, digest) = (&outcome.name, outcome.digest.as_ref());
    let only = digest.map_or_else(String::new, |digest| format!(" --digest {digest}"));
    vec![
        format!("to see what it would change: kindsight interpreters shadow {name}"),
        format!("to make it live: kindsight interpreters promote {name}{only}"),
    ]
}

/// As many Kinds as fit, and the number of the others.
fn cut(kinds: &[String]) -> String {
    let mut shown = String::new();
    for (position, kind) in kinds.iter().enumerate() {
        let lead = if position == 0 { "" } else { ", " };
        let width = shown.chars().count() + lead.len() + kind.chars().count();
        if position > 0 && width > KINDS_WIDTH {
            // Writing to a String does not fail.
            let _ = write!(shown, " +{}", kinds.len() - position);
            break;
        }
        shown.extend([lead, kind]);
    }
    shown
}

/// Indented JSON. Control characters are escaped: the JSON means the same and cannot control a
/// terminal.
fn json(value: &impl Serialize) -> String {
    clean_json(&serde_json::to_string_pretty(value).unwrap_or_default()).into_owned()
}

/// `1 fault`, `2 faults`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// An optional text; empty if it is absent.
/// A count, or an empty text if the user may not see the count.
fn number(maybe: Option<u64>) -> String {
    maybe.map_or_else(String::new, |number| number.to_string())
}

fn text(maybe: Option<&String>) -> &str {
    maybe.map_or("", String::as_str)
}

#[cfg(test)]
mod tests;
