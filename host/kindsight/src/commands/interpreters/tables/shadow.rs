//! Reports on the changes a candidate would make.

use std::io::{self, Write};

use kindsight_api::interpreters::{
    ChangeSample, Latency, SampledVerdict, ShadowReport, ShadowedVersion, VerdictChange,
};

use crate::commands::interpreters::tables::counted;
use crate::table::Table;

/// Labels of the two components that are compared.
struct Sides {
    old: &'static str,
    new: &'static str,
}

/// Prints a server's report on a candidate.
pub(crate) fn shadow(to: impl Write, report: &ShadowReport) -> io::Result<()> {
    let sides = Sides {
        old: "live",
        new: "candidate",
    };
    compared(to, report, &sides)
}

/// Prints the differences between two components in files. The report has the old one as the live
/// one.
pub(crate) fn diff(to: impl Write, report: &ShadowReport) -> io::Result<()> {
    let sides = Sides {
        old: "old",
        new: "new",
    };
    compared(to, report, &sides)
}

/// Prints the totals, the latency of both, and every change with its samples.
fn compared(mut to: impl Write, report: &ShadowReport, sides: &Sides) -> io::Result<()> {
    writeln!(
        to,
        "{} of {} verdicts would change, {} of them the phase, {} ({} {})\n",
        report.changed,
        report.objects,
        report.phases_changed,
        counted(report.faults.candidate, "fault"),
        sides.old,
        report.faults.live
    )?;
    components(&mut to, report, sides)?;
    applications(&mut to, report)?;
    if !report.changes.is_empty() {
        writeln!(to)?;
        let mut table = Table::new(&mut to, &["KIND", "FROM", "TO", "COUNT"]);
        for change in &report.changes {
            print(&mut table, change)?;
        }
        table.flush()?;
    }
    let listed = report.changes.iter().map(|change| change.count);
    let listed = listed.fold(0, u64::saturating_add);
    match report.changed.saturating_sub(listed) {
        0 => Ok(()),
        more => writeln!(to, "\n{more} more verdicts would change (not listed)"),
    }
}

/// Prints the applications with verdicts that would change.
fn applications(mut to: impl Write, report: &ShadowReport) -> io::Result<()> {
    if report.applications.is_empty() {
        return Ok(());
    }
    writeln!(to)?;
    let mut table = Table::new(&mut to, &["APPLICATION", "CHANGED", "PHASES"]);
    for of in &report.applications {
        let (changed, phases) = (of.changed.to_string(), of.phases_changed.to_string());
        table.row(&[&of.name, &changed, &phases])?;
    }
    table.flush()?;
    drop(table);
    let shown = report.applications.len() as u64;
    match report.applications_changed.saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(to, "\n{more} more applications would change (not listed)"),
    }
}

/// Prints the components and their latency. Digests are in full: `promote` needs them.
fn components(to: &mut impl Write, report: &ShadowReport, sides: &Sides) -> io::Result<()> {
    let head = [
        "COMPONENT",
        "VERSION",
        "P50-US",
        "P90-US",
        "P99-US",
        "MAX-US",
        "DIGEST",
    ];
    let mut table = Table::new(to, &head);
    let mut row = |which: &str, of: &ShadowedVersion, took: Latency| {
        table.row(&[
            which,
            &of.version,
            &took.p50.to_string(),
            &took.p90.to_string(),
            &took.p99.to_string(),
            &took.max.to_string(),
            of.digest.as_str(),
        ])
    };
    row(sides.new, &report.candidate, report.latency_us.candidate)?;
    if let Some(live) = &report.live {
        row(sides.old, live, report.latency_us.live)?;
    }
    table.flush()
}

fn print(table: &mut Table<impl Write>, change: &VerdictChange) -> io::Result<()> {
    table.row(&[
        &change.kind,
        &change.from,
        &change.to,
        &change.count.to_string(),
    ])?;
    for sample in &change.samples {
        table.note(&format!("  {}", subject(sample)))?;
        table.note(&format!("    from {}", described(&sample.from)))?;
        table.note(&format!("    to   {}", described(&sample.to)))?;
    }
    Ok(())
}

/// `namespace/name in place`.
fn subject(sample: &ChangeSample) -> String {
    let (namespace, name) = (&sample.namespace, &sample.name);
    let slash = if namespace.is_empty() { "" } else { "/" };
    format!("{namespace}{slash}{name} in {}", sample.place)
}

/// `state: reason: message`, without empty parts.
fn described(verdict: &SampledVerdict) -> String {
    let parts = [&verdict.state, &verdict.reason, &verdict.message];
    let parts = parts.map(String::as_str).into_iter();
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join(": ")
}
