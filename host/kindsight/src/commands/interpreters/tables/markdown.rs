//! The changes that a component would make, in Markdown for a pull request.

use std::io::{self, Write};

use kindsight_api::interpreters::{SampledVerdict, ShadowReport};

use crate::commands::interpreters::tables::counted;
use crate::table::clean;

/// Prints the totals, and a table of the changes with examples.
pub(crate) fn markdown(mut to: impl Write, report: &ShadowReport) -> io::Result<()> {
    let version = report
        .live
        .as_ref()
        .map_or("the built-in rules", |live| &*live.version);
    writeln!(
        to,
        "### `{}`: {} to {}\n",
        report.name,
        cell(version),
        cell(&report.candidate.version)
    )?;
    writeln!(
        to,
        "{} of {} would change, {} of them the phase. {} would fail (now {}).",
        report.changed,
        counted(report.objects, "verdict"),
        report.phases_changed,
        report.faults.candidate,
        report.faults.live
    )?;
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
