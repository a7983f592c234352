//! The changes that a component would make, in Markdown for a pull request.

use std::io::{self, Write};

use kindsight_api::interpreters::{SampledVerdict, ShadowReport};

use crate::commands::interpreters::args::Base;
use crate::commands::interpreters::tables::counted;
use crate::table::clean;

/// Prints the totals, a table of the changes with examples, and a table of the applications that would change. The
/// report has the version of `base` as the live one.
pub(crate) fn markdown(mut to: impl Write, report: &ShadowReport, base: Base) -> io::Result<()> {
    let new = cell(&report.candidate.version);
    let versions = match (&report.live, base) {
        (Some(live), _) => format!("{} to {new}", cell(&live.version)),
        (None, Base::BuiltIn) => format!("the built-in rules to {new}"),
        (None, Base::Live) => format!("{new} (no version of it is live)"),
    };
    writeln!(to, "### `{}`: {versions}\n", report.name)?;
    writeln!(
        to,
        "{} of {} would change, {} of them the phase. {} would fail (now {}).",
        report.changed,
        counted(report.objects, "verdict"),
        report.phases_changed,
        report.faults.candidate,
        report.faults.live
    )?;
    changes(&mut to, report)?;
    applications(&mut to, report)
}

/// Prints the changes, each with an example.
fn changes(mut to: impl Write, report: &ShadowReport) -> io::Result<()> {
    if report.changes.is_empty() {
        return Ok(());
    }
    writeln!(
        to,
        "\n| Kind | from | to | objects | for example |\n|---|---|---|--:|---|"
    )?;
    for change in &report.changes {
        let example = change.samples.first().map_or_else(String::new, |sample| {
            let slash = if sample.namespace.is_empty() { "" } else { "/" };
            let name = cell(&format!("{}{slash}{}", sample.namespace, sample.name));
            format!("`{name}`: {} → {}", told(&sample.from), told(&sample.to))
        });
        writeln!(
            to,
            "| {} | {} | {} | {} | {example} |",
            cell(&change.kind),
            cell(&change.from),
            cell(&change.to),
            change.count
        )?;
    }
    let listed = report.changes.iter().map(|change| change.count);
    let listed = listed.fold(0, u64::saturating_add);
    match report.changed.saturating_sub(listed) {
        0 => Ok(()),
        more => writeln!(to, "\n{more} more verdicts would change (not listed)."),
    }
}

/// Prints the applications with verdicts that would change.
fn applications(mut to: impl Write, report: &ShadowReport) -> io::Result<()> {
    if report.applications.is_empty() {
        return Ok(());
    }
    writeln!(
        to,
        "\n| application | verdicts that would change | phases that would change |\n|---|--:|--:|"
    )?;
    for of in &report.applications {
        let name = cell(&of.name);
        writeln!(to, "| {name} | {} | {} |", of.changed, of.phases_changed)?;
    }
    let listed = report.applications.len() as u64;
    match report.applications_changed.saturating_sub(listed) {
        0 => Ok(()),
        more => writeln!(to, "\n{more} more applications would change (not listed)."),
    }
}

/// The reason of a verdict with its message.
fn told(verdict: &SampledVerdict) -> String {
    let parts = [&verdict.reason, &verdict.message].map(String::as_str);
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    cell(&parts.join(": "))
}

/// A text of a cluster in a cell: it can end neither the cell nor begin markup.
fn cell(text: &str) -> String {
    let mut cell = String::new();
    for character in clean(text).chars() {
        if matches!(
            character,
            '|' | '`' | '<' | '*' | '_' | '[' | ']' | '\\' | '@' | '#'
        ) {
            cell.push('\\');
        }
        cell.push(character);
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_clusters_are_no_markup() {
        assert_eq!(
            cell("a|b <i> `c`\n[d](e)"),
            "a\\|b \\<i> \\`c\\` \\[d\\](e)"
        );
    }
}
