//! The details of one interpreter.

use std::io::{self, Write};
use std::path::Path;

use kindsight_api::interpreters::{InterpreterDetail, Latency};
use kindsight_model::{Digest, Source, VersionOutcome};
use serde_json::Map;

use crate::commands::interpreters::tables::{self, text};
use crate::table::{Table, clean};

/// Prints a section for each part of the details; empty ones are omitted.
pub(crate) fn inspect(mut to: impl Write, detail: &InterpreterDetail) -> io::Result<()> {
    let to = &mut to;
    component(&mut *to, detail)?;
    limits(to, detail)?;
    statistics(to, detail)?;
    versions(to, detail)?;
    history(to, detail)
}

/// Prints the sections about the component itself, without those about its use in a server.
pub(crate) fn component(mut to: impl Write, detail: &InterpreterDetail) -> io::Result<()> {
    let to = &mut to;
    head(to, detail)?;
    kinds(to, detail)?;
    states(to, detail)?;
    reasons(to, detail)?;
    warnings(to, detail)?;
    if let Some(settings) = &detail.settings {
        let declared = detail.settings_declared_in.as_deref();
        let declared = declared.map_or_else(String::new, |place| format!(" (declared in {place})"));
        writeln!(
            to,
            "\nSETTINGS{}\n{}",
            clean(&declared),
            tables::json(settings)
        )?;
    }
    if let Some(schema) = &detail.settings_schema {
        writeln!(to, "\nSETTINGS SCHEMA\n{}", tables::json(schema))?;
    }
    Ok(())
}

/// Prints that a component in a file was accepted, and its warnings.
pub(crate) fn checked(
    mut to: impl Write,
    file: &Path,
    detail: &InterpreterDetail,
) -> io::Result<()> {
    let to = &mut to;
    let (file, name) = (file.display().to_string(), &detail.name);
    let version = text(detail.version.as_ref());
    writeln!(to, "{}: {name} {version} is accepted", clean(&file))?;
    let digest = detail.digest.as_ref().map_or("", Digest::as_str);
    writeln!(to, "digest {digest}")?;
    warnings(to, detail)
}

/// The settings as JSON that can be sent back; `{}` if there are none.
pub(crate) fn settings(detail: &InterpreterDetail) -> String {
    tables::json(detail.settings.as_ref().unwrap_or(&Map::new()))
}

fn head(to: &mut impl Write, detail: &InterpreterDetail) -> io::Result<()> {
    let mut versions = detail.versions.iter();
    let candidate = versions.find(|version| version.outcome == VersionOutcome::Candidate);
    let candidate =
        candidate.map(|candidate| format!("{} {}", candidate.version, candidate.digest));
    let faulting = detail.faulting.as_ref();
    let faulting = faulting.map(|faulting| {
        format!(
            "{} of {} calls since {}",
            faulting.faults, faulting.calls, faulting.since
        )
    });
    for (name, value) in [
        ("name", detail.name.as_str()),
        ("status", detail.status.as_str()),
        ("version", text(detail.version.as_ref())),
        ("source", detail.source.map_or("", Source::as_str)),
        ("digest", detail.digest.as_ref().map_or("", Digest::as_str)),
        ("candidate", text(candidate.as_ref())),
        ("faulting", text(faulting.as_ref())),
        ("summary", &detail.summary),
    ] {
        if !value.is_empty() {
            writeln!(to, "{name:<11}{}", clean(value))?;
        }
    }
    Ok(())
}

fn kinds(to: &mut impl Write, detail: &InterpreterDetail) -> io::Result<()> {
    let mut table = section(to, &["KIND", "RELATED", "FIELDS"], detail.kinds.len())?;
    for kind in &detail.kinds {
        let (related, fields) = (kind.related.join(", "), kind.fields.join(", "));
        let pattern = match &kind.when {
            Some(when) => format!("{} when {when}", kind.pattern),
            None => kind.pattern.clone(),
        };
        table.row(&[&pattern, &related, &fields])?;
    }
    table.flush()
}

fn states(to: &mut impl Write, detail: &InterpreterDetail) -> io::Result<()> {
    let mut table = section(to, &["STATE", "PHASE", "MEANING"], detail.states.len())?;
    for state in &detail.states {
        let end = if state.is_final { " (final)" } else { "" };
        let meaning = format!("{}{end}", state.summary);
        table.row(&[&state.name, state.phase.as_str(), &meaning])?;
    }
    table.flush()
}

fn reasons(to: &mut impl Write, detail: &InterpreterDetail) -> io::Result<()> {
    let mut table = section(to, &["REASON", "HELP", "MEANING"], detail.reasons.len())?;
    for reason in &detail.reasons {
        let help = text(reason.help_url.as_ref());
        table.row(&[&reason.name, help, &reason.summary])?;
    }
    table.flush()
}

fn warnings(to: &mut impl Write, detail: &InterpreterDetail) -> io::Result<()> {
    let mut table = section(to, &["WARNING"], detail.warnings.len())?;
    for warning in &detail.warnings {
        table.row(&[warning])?;
    }
    table.flush()
}

/// Prints the limits. Where a flag of `kindsight serve` sets one, it has that name.
fn limits(to: &mut impl Write, detail: &InterpreterDetail) -> io::Result<()> {
    let limits = &detail.limits;
    let rows = [
        ("call-deadline-ms", limits.call_deadline_ms),
        ("call-deadline-per-mib-ms", limits.call_deadline_per_mib_ms),
        ("input-bytes-max", limits.input_bytes_max),
        ("memory-bytes-max", limits.memory_bytes_max),
        ("calls-max", limits.calls_max),
        ("log-lines-max", limits.log_lines_max),
    ];
    let mut table = section(to, &["LIMIT", "VALUE"], rows.len())?;
    for (name, value) in rows {
        table.row(&[name, &value.to_string()])?;
    }
    table.flush()
}

fn statistics(to: &mut impl Write, detail: &InterpreterDetail) -> io::Result<()> {
    let statistics = &detail.statistics;
    let Latency { p50, p90, p99, max } = statistics.latency_us;
    let total = statistics.faults.values().copied();
    let total = total.fold(0, u64::saturating_add).to_string();
    let each = statistics.faults.iter();
    let each = each.map(|(name, count)| format!("{count} {name}"));
    let faults = match each.collect::<Vec<_>>().join(", ").as_str() {
        "" => total,
        each => format!("{total}: {each}"),
    };
    let rows = [
        ("calls", statistics.calls.to_string()),
        ("faults", faults),
        ("trips", detail.trips.to_string()),
        (
            "latency-us",
            format!("p50 {p50}, p90 {p90}, p99 {p99}, max {max}"),
        ),
        (
            "memory-high-water-bytes",
            statistics.memory_high_water_bytes.to_string(),
        ),
        ("instances", statistics.instances.to_string()),
        (
            "log-lines-dropped",
            statistics.log_lines_dropped.to_string(),
        ),
    ];
    let mut table = section(to, &["STATISTIC", "VALUE"], rows.len())?;
    for (name, value) in rows {
        table.row(&[name, &value])?;
    }
    table.flush()
}

fn versions(to: &mut impl Write, detail: &InterpreterDetail) -> io::Result<()> {
    let head = ["VERSION", "DIGEST", "SOURCE", "OUTCOME", "RECEIVED", "WHY"];
    let mut table = section(to, &head, detail.versions.len())?;
    for it in &detail.versions {
        table.row(&[
            &it.version,
            it.digest.short(),
            it.source.as_str(),
            it.outcome.as_str(),
            &it.received.to_string(),
            &it.why,
        ])?;
    }
    table.flush()
}

fn history(to: &mut impl Write, detail: &InterpreterDetail) -> io::Result<()> {
    let head = ["TIME", "ACTION", "BY", "VERSION", "DIGEST", "OUTCOME"];
    let mut table = section(to, &head, detail.history.len())?;
    for it in &detail.history {
        table.row(&[
            &it.time.to_string(),
            it.action.as_str(),
            it.source.as_str(),
            &it.version,
            it.digest.as_ref().map_or("", Digest::short),
            &it.outcome,
        ])?;
    }
    table.flush()
}

/// A table after an empty line, if it will have rows.
fn section<'a, W: Write>(
    to: &'a mut W,
    head: &[&str],
    rows: usize,
) -> io::Result<Table<&'a mut W>> {
    if rows > 0 {
        writeln!(to)?;
    }
    Ok(Table::new(to, head))
}
