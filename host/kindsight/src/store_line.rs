//! The lines about stores that are away.

use std::io::{self, Write};

use kindsight_api::store::StoreState;

use crate::table::clean;

/// Prints that the store of `AppContext`s is away, if the answer says so.
pub(crate) fn print(to: &mut impl Write, store: Option<&StoreState<'_>>) -> io::Result<()> {
    line(
        to,
        store,
        "the store of AppContexts",
        "the answer contains the data that was last read from it",
    )
}

/// Prints that the store of lifecycle states is away, if the answer says so.
pub(crate) fn print_state_store(
    to: &mut impl Write,
    store: Option<&StoreState<'_>>,
) -> io::Result<()> {
    let effect = "actions and groups are shown as they were last read from it";
    line(to, store, "the store of lifecycle states", effect)
}

fn line(
    to: &mut impl Write,
    store: Option<&StoreState<'_>>,
    name: &str,
    effect: &str,
) -> io::Result<()> {
    let Some(store) = store else {
        return Ok(());
    };
    let since = store.since.map(|since| format!(" since {since}"));
    writeln!(
        to,
        "{name} is {}{}: {}; {effect}",
        store.state,
        since.unwrap_or_default(),
        clean(&store.reason)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unavailable_store_is_printed_with_its_reason() {
        let lines = |json: &str| {
            let mut out = Vec::new();
            let store: Option<StoreState<'_>> = serde_json::from_str(json).unwrap();
            print(&mut out, store.as_ref()).unwrap();
            print_state_store(&mut out, store.as_ref()).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(lines("null"), "");
        let away = r#"{"state": "away", "since": "2026-11-22T10:00:00Z", "reason": "etcd-0:2379: connection refused"}"#;
        let lines = lines(away);
        let lines: Vec<_> = lines.lines().collect();
        assert_eq!(
            lines[0],
            "the store of AppContexts is away since 2026-11-22T10:00:00Z: etcd-0:2379: connection refused; the answer contains the data that was last read from it"
        );
        assert_eq!(
            lines[1],
            "the store of lifecycle states is away since 2026-11-22T10:00:00Z: etcd-0:2379: connection refused; actions and groups are shown as they were last read from it"
        );
    }
}
