//! The table of Kinds without a rule of their own, for `interpreters missing` and `interpret --missing`.

use std::io::{self, Write};

use kindsight_api::interpreters::{KindWithoutRule, MissingRules};

use crate::table::{Cell, Table};

/// Number of states of a Kind that the table shows.
const STATES_SHOWN_MAX: usize = 4;

const HEAD: [&str; 6] = [
    "KIND",
    "GROUP",
    "OBJECTS",
    "CLUSTERS",
    "STATES",
    "CATALOGUE",
];

/// Prints one line per Kind.
pub(crate) fn table(mut to: impl Write, missing: &MissingRules) -> io::Result<()> {
    if missing.kinds.is_empty() {
        return writeln!(to, "every Kind has a rule of its own");
    }
    let mut table = Table::new(&mut to, &HEAD);
    for kind in &missing.kinds {
        let clusters = kind.clusters.map(|count| count.to_string());
        table.cells(&[
            Cell::plain(&*kind.kind),
            Cell::plain(&*kind.group),
            Cell::plain(kind.objects.to_string()),
            Cell::plain(clusters.unwrap_or_default()),
            Cell::plain(states(kind)),
            Cell::plain(kind.catalogue.as_deref().unwrap_or_default()),
        ])?;
    }
    table.flush()?;
    drop(table);
    if missing.omitted > 0 {
        writeln!(to, "{} more Kinds have fewer objects", missing.omitted)?;
    }
    Ok(())
}

/// The states with their counts.
fn states(of: &KindWithoutRule) -> String {
    let shown = of.states.iter().take(STATES_SHOWN_MAX);
    let mut shown: Vec<String> = shown
        .map(|state| format!("{} {}", state.objects, state.state))
        .collect();
    if of.states.len() > STATES_SHOWN_MAX {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}
